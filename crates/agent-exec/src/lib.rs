//! Processes that can be stopped.
//!
//! [`Processes`] runs one program to its end, its time-out or a cancel, and leaves nothing behind: not the program's children, not a daemon
//! that left its process group or its session, not a stopped process.
//!
//! ```text
//! start   clean environment + a marker, own process group, no descriptor of ours, perhaps in a sandbox
//! wait    for the program, the clock and the signal, while the output is drained (head and tail are kept, the rest is counted)
//! end     TERM to the whole tree, a short grace, KILL until nothing is left
//! ```
//!
//! 1. When a call returns, or its future is dropped, no process that it started is alive (within [`LIMIT_OF_ENDING`]).
//! 2. Memory is bounded by the output limit, whatever the program prints; a program that prints is never blocked by us.
//! 3. A process that the host started by itself is neither signalled nor reaped. One exception cannot be told apart: a child of the host
//!    that begins a session of its own while a run is going on looks like a daemon of that run, and is ended with it.
//! 4. Nothing is done between `fork` and `exec`: what has to be done there does a [`Helper`].
//!
//! A [`Sandbox`] holds commands to a [`Policy`]; [`check`](check()) finds out what it really enforces on a machine.
//!
//! Processes run in a tokio runtime with I/O and timers (`enable_all`); elsewhere tokio panics.
//!
//! Absent: shells (the caller names a program), signal handlers, opinions about what a command may touch.

mod apart;
mod capture;
#[cfg(target_os = "linux")]
mod check;
mod environment;
mod error;
mod fence;
mod first_line;
mod harden;
mod helper;
mod lasting;
mod leads;
pub mod leftovers;
mod limits;
mod mount_table;
mod program;
mod pump;
mod rename;
mod run;
mod sandbox;
mod search_path;
mod stamp;
mod start;
mod tree;

pub use capture::Captured;
#[cfg(target_os = "linux")]
pub use check::{CheckError, Finding, Held, Report, check};
pub use environment::Environment;
pub use error::StartError;
pub use fence::Fence;
pub use first_line::named_in_script;
pub use harden::keep_to_itself;
pub use helper::{Helper, help, help_with};
pub use leads::{has_another_name, leads_into};
pub use mount_table::{Location, MountTable};
pub use pump::OnOutput;
pub use rename::rename_to_free;
pub use run::{Finished, Processes, Streams, SystemRunner, Talk};
pub use sandbox::{Access, DoorError, Doors, Mechanism, Place, Policy, Sandbox, Unavailable, Watch, Within};
pub use search_path::SearchPath;
pub use stamp::Stamp;
pub use tree::LIMIT_OF_ENDING;
