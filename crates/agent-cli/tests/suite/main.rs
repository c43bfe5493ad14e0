//! The program as its users and scripts meet it: a real process, a real directory, a real socket.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bad_input;
mod commands;
mod configuration;
mod demo;
mod exit_codes;
mod file_rules;
mod hooks;
mod interrupts;
mod journals;
mod kill_loop;
mod lint;
mod output;
mod permissions;
mod prompt;
mod pty;
mod sandbox;
mod schema;
mod secrets;
mod sessions;
mod stdio;
mod support;
mod tape;
mod terminal;
mod tls;
mod tools;
mod trust;
mod undo;
mod verify;
mod walls;
