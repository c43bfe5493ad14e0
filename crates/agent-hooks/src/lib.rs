//! What happens after a batch of tools: new commits are noticed, changed files are formatted, the agent's own changes are committed.
//!
//! [`RepositoryHooks`] implements the [`Hook`](agent_core::ports::Hook) port:
//!
//! ```text
//! before_tool   remembers and keeps how the files were that a call is about to change  (no process)
//! check_git     new commits? is formatting or committing due?                      (no process unless HEAD moved)
//! format        the user's formatters, on files that were formatted before         (configured programs)
//! commit        exactly what the agent changed, as one commit                      (git plumbing)
//! ```
//!
//! 1. The user's own work is not touched: dirty, staged, untracked and ignored files, and their index entries, stay byte for byte.
//! 2. Nothing that the repository chooses is run: no hook, filter, `textconv`, fsmonitor, signing program or formatter of its own.
//! 3. What is left out is said, with the reason, in the notes of the report.
//!
//! Processes are run by the host's [`CommandRunner`](agent_core::ports::CommandRunner), which gives them a clean environment.
//! [`prices`] is the table of list prices with which a host supplies the budget.

mod before;
mod checkpoint;
mod commit;
mod config;
mod decide;
mod format;
mod git;
mod hooks;
mod image;
mod index_lock;
mod message;
mod paths;
pub mod prices;
mod query;
mod replace;
mod repository;
mod secrets;
mod undo;
mod watch;

pub use config::{FormatterConfig, FormatterInput, HooksConfig, Identity};
pub use hooks::RepositoryHooks;
pub use undo::{UndoError, Undone, undo, undo_begun};
