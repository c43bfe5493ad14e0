//! The tools of a coding agent: files in one workspace, search, and a shell.
//!
//! ```text
//! arguments (JSON) -> typed, checked -> inspect: effect and subject, for the permission policy
//!                                    -> run: the work, off the async threads, with an outcome that a model can act on
//! ```
//!
//! 1. No file tool leaves the workspace, whatever links point where ([`Workspace`]).
//! 2. A file is replaced as a whole or not at all, and only if it is as the model last saw it.
//! 3. Every output is bounded, and says what is missing and how to get it.
//!
//! Calls run in a tokio runtime with I/O and timers (`enable_all`); elsewhere, and where the system gives no thread for work that blocks,
//! tokio panics.
//!
//! Absent: escaping for terminals (the program that prints does it) and permission (the session decides from what `inspect` says).

mod agents;
mod apply_patch;
mod arguments;
mod background;
mod bash;
mod bash_later;
mod counted;
mod edit;
mod edit_file;
mod editable;
mod file_tool;
#[doc(hidden)]
pub mod fuzz;
mod glob;
mod grep;
mod list_files;
mod patch;
mod plain_commands;
mod preview;
mod read_file;
mod read_picture;
mod signal;
mod spec;
mod text;
mod todo_write;
mod walk;
mod workspace;
mod write_file;

pub use agents::agent_tools;
pub use background::{BackgroundCommands, RunningCommand};
pub use preview::{FileChange, FileText, preview};
pub use signal::signal_tool;
pub use workspace::{Look, OpenError, Workspace};

use agent_exec::Processes;
use agent_types::ports::Tool;
use background::Background;
use std::sync::Arc;

/// The families of tools that permission rules may name instead of a tool.
#[must_use]
pub const fn tool_families() -> &'static [&'static str] {
    file_tool::FAMILIES
}

/// Whether a program with these arguments runs another command that they name, or changes what later commands do. It uses the lists by
/// which permission rules take a command for unknown.
#[must_use]
pub fn runs_another_command(program: &str, arguments: &[String]) -> bool {
    plain_commands::runs_another(program, arguments)
}

/// The tools, always in the same order: the prompt cache of a provider keys on it.
#[must_use]
pub fn standard_tools(workspace: &Arc<Workspace>, processes: Processes) -> Vec<Arc<dyn Tool>> {
    standard_tools_seen(workspace, processes).0
}

/// The same, and what shows which commands run in the background.
pub fn standard_tools_seen(
    workspace: &Arc<Workspace>,
    processes: Processes,
) -> (Vec<Arc<dyn Tool>>, BackgroundCommands) {
    let background = Background::default();
    let seen = background.seen();
    let tools: Vec<Arc<dyn Tool>> = vec![
        file_tool::boxed::<read_file::ReadFile>(workspace),
        file_tool::boxed::<write_file::WriteFile>(workspace),
        file_tool::boxed::<edit_file::EditFile>(workspace),
        file_tool::boxed::<apply_patch::ApplyPatch>(workspace),
        file_tool::boxed::<list_files::ListFiles>(workspace),
        file_tool::boxed::<glob::Glob>(workspace),
        file_tool::boxed::<grep::Grep>(workspace),
        Arc::new(bash::Bash::new(Arc::clone(workspace), processes, background.clone())),
        Arc::new(bash_later::BashOutput::new(background.clone())),
        Arc::new(bash_later::BashKill::new(background)),
        Arc::new(todo_write::TodoWrite::new()),
    ];
    (tools, seen)
}
