//! The program as its users and scripts meet it: a real process, a real directory, a real socket.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bad_input;
mod changed_arguments;
mod commands;
mod config_errors;
mod configuration;
mod demo;
mod exit_codes;
mod file_rules;
mod hints;
mod hook_operands;
mod hooks;
mod hooks_of_repositories;
mod how_it_ended;
mod interrupts;
mod journals;
mod kill_loop;
mod leftovers;
mod limits_of_the_system;
mod lint;
mod odd_servers;
mod output;
mod own_directories;
mod permissions;
mod prompt;
mod providers;
mod pty;
mod pty_back;
mod pty_keys;
mod pty_queue;
mod sandbox;
mod schema;
mod second_mounts;
mod secrets;
mod seen;
mod sessions;
mod shared_index;
#[path = "../common/signals.rs"]
mod signals;
mod stdio;
mod support;
mod surroundings;
mod tape;
mod terminal;
mod tls;
mod tools;
mod trust;
mod undo;
mod unread;
mod verify;
mod verify_at_prompt;
mod walls;
mod walls_links;
mod walls_own;
mod whose;
