//! Stand-ins for everything outside the engine, for its own tests and for those of hosts.
//!
//! ```text
//! the model       ScriptedProvider (the port)   http::ScriptedServer (a real server on loopback, two wire formats)
//! the tools       FakeTool                      tool_context, ManualCancel, RecordingProgress
//! time            ManualClock (by hand)         TokioClock (tokio's time, which tests can pause)
//! other ports     RecordingHook, FailingHook, ScriptedApprover, ScriptedCommands
//! the rules       conformance: what every provider, every tool and every journal must hold, as checks for one of your own
//! servers of tools   mcp: a server of the Model Context Protocol that misbehaves as it is told
//! the demo        demo: a repository with a bug, the model that mends it, and the check that it is mended
//! ```
//!
//! Every stand-in is scripted beforehand, records its requests, and reports clearly when a request has no script:
//! a scripted provider that has run out answers with an error instead of inventing something.
//!
//! Absent on purpose: assertions (a test makes its own from the records), randomness, and any knowledge of the driver.

#![forbid(unsafe_code)]

pub mod conformance;
pub mod demo;
pub mod http;
pub mod mcp;

mod approver;
mod clock;
mod commands;
mod context;
mod hook;
mod log;
mod provider;
mod reply;
mod script;
mod tool;

pub use approver::ScriptedApprover;
pub use clock::{ManualClock, TokioClock};
pub use commands::ScriptedCommands;
pub use context::{ManualCancel, RecordingProgress, tool_context};
pub use hook::{FailingHook, HookCall, RecordingHook};
pub use log::Log;
pub use provider::ScriptedProvider;
pub use reply::{DEFAULT_MODEL, DEFAULT_USAGE, Reply};
pub use script::{Respond, Script, Step};
pub use tool::{FakeTool, ToolLog};
