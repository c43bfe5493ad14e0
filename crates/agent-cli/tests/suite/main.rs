//! The program as its users and scripts meet it: a real process, a real directory, a real socket.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod acp;
mod acp_hostile;
mod acp_of_others;
mod agents;
mod agents_apart;
mod agents_reached;
mod bad_input;
mod changed_arguments;
mod charset;
mod commands;
mod config_errors;
mod configuration;
mod conversation;
mod custom_commands;
mod demo;
mod doors;
mod efforts;
mod exit_codes;
mod file_rules;
mod heads;
mod hints;
mod hook_operands;
mod hooks;
mod hooks_of_repositories;
mod how_it_ended;
mod import;
mod instructed;
mod interrupts;
mod journals;
mod kept;
mod kill_loop;
mod leftovers;
mod limits_of_the_system;
mod lint;
mod mcp;
mod mcp_asks;
mod mcp_login;
mod mcp_of_others;
mod mcp_rules;
mod mcp_secrets;
mod odd_servers;
mod output;
mod own_directories;
mod own_providers;
mod permissions;
mod pictures;
mod prompt;
mod providers;
mod pty;
mod pty_back;
mod pty_beside;
mod pty_keys;
mod pty_queue;
mod resized;
mod resumed;
mod sandbox;
mod schema;
mod second_mounts;
mod secrets;
mod seen;
mod servers;
mod sessions;
mod shared_index;
#[path = "../common/signals.rs"]
mod signals;
mod skills;
mod slash;
mod stdio;
mod summaries;
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
mod widths;
mod write_doors;

/// This program is an MCP server, too, where it is started as one.
#[ctor::ctor]
fn serve() {
    agent_testkit::mcp::serve_if_asked();
}
