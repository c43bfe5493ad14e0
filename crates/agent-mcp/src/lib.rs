//! Servers of the Model Context Protocol as tools of an agent.
//!
//! ```text
//! ServerConfig (what a file says)  ->  Servers::open  ->  tools of servers that are known, at once, from the record of what was trusted
//!                                          |
//!                                a task for each server: the machine of `agent_core::server`, and what it asks for
//!                                          |
//!     agent-exec (a sandbox for each program) or HTTP     rmcp (the protocol, behind one module)
//! ```
//!
//! 1. Nothing waits for a server but a call of one of its tools. What a server offers is known from the record before it answers.
//! 2. What was trusted is kept: the server's command with its program's digest, and each tool's name, description, schema, annotations.
//!    What differs is withheld until a person has reviewed it.
//! 3. No word of a server allows anything: not its annotations, not its results. A call is always one that may change something.
//! 4. A server gets the environment that its configuration names, and nothing else. It ends with the agent, with all that it started.
//! 5. Everything that a server says is bounded: lines, lists, texts, how long a call takes, how often it restarts, how often it asks.
//! 6. What it asks of a person is put to the host as a [`Question`], and ends with its call.
//!
//! Absent: proxies and certificates (the host makes the HTTP client), where the configuration stands, whom a person trusts, terminals.

mod ask;
mod client;
mod config;
mod content;
mod login;
mod names;
mod once;
mod reach;
mod servers;
mod shelf;
mod text;
mod tool;
mod trust;

pub use ask::{Choice, Field, FieldKind, Question, Reply, TextFormat, Wants};
pub use client::status::Status;
pub use client::wanted::{Offer, Offers};
pub use config::{ConfigError, Exposure, Policy, ServerConfig, Source, Times, WorkspaceAccess, parse};
pub use content::{RESULT_LIMIT_BYTES, ResultKeeper};
pub use login::kept::{Login, LoginStore};
pub use login::redirect::Redirect;
pub use login::{Account, Begun, Clients, LoginError};
pub use names::{family, tool_name};
pub use reach::{Endpoint, LoginSettings, Program, Reach};
pub use servers::{Change, Launched, Launcher, Outside, Servers, Tried};
pub use text::plain;
pub use trust::{FileRecord, Identity, Record, ToolRecord, TrustStore, UrlRecord, difference};
