//! The program as its users and scripts meet it: a real process, a real directory, a real socket.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bad_input;
mod commands;
mod configuration;
mod demo;
mod exit_codes;
mod interrupts;
mod output;
mod permissions;
mod prompt;
mod pty;
mod schema;
mod sessions;
mod stdio;
mod support;
mod terminal;
mod undo;
mod verify;
