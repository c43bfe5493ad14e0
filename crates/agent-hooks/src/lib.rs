//! What happens after a batch of tools: new commits are noticed, changed files are formatted, the agent's own changes are committed.
//!
//! [`RepositoryHooks`] implements the [`Hook`](agent_core::ports::Hook) port:
//!
//! ```text
//! before_tool   remembers, in memory, how the files are that a call would change   (no process)
//! tool_begins   the call is permitted and runs: keeps it for undo                   (no process)
//! check_git     new commits? is formatting or committing due?                      (no process unless HEAD moved)
//! format        formatters, on files that were formatted before                     (configured programs, one process for many files)
//! commit        exactly what the agent changed, as one commit                      (git plumbing)
//! ```
//!
//! 1. The user's own work is not touched: dirty, staged, untracked and ignored files, and their index entries, stay byte for byte.
//! 2. Nothing that the repository chooses is run by git: no hook, filter, `textconv`, fsmonitor or signing program. A host that gives the
//!    formatters of a repository asks the [`TrustStore`] first.
//! 3. What is left out is said, with the reason, in the notes of the report.
//!
//! [`UserHooks`] runs the user's own hooks, at the points of a session that the user configured.
//!
//! Processes are run by the host's [`CommandRunner`](agent_core::ports::CommandRunner), which gives them a clean environment. A commit that
//! finds the index locked waits a while, with tokio's timers: the hooks run in a tokio runtime with `enable_time`. In one without,
//! that wait panics; everything else works.
//! [`prices`] is the table of list prices with which a host supplies the budget.

mod attributes;
mod before;
mod checkpoint;
mod commit;
mod config;
mod copies;
mod decide;
mod draft;
mod edition;
mod format;
mod formatting;
mod gather;
mod git;
mod git_directories;
mod hooks;
mod ignored;
mod image;
mod index;
mod index_lock;
mod message;
mod objects;
mod paths;
pub mod prices;
mod query;
mod recipes;
mod repository;
mod secrets;
mod stat;
mod submodules;
mod tree;
mod trust;
mod undo;
mod user;
mod watch;

pub use config::{FormatterConfig, FormatterInput, HooksConfig, Identity, SettingsFile};
pub use git_directories::{git_directories, kept_in};
pub use hooks::RepositoryHooks;
pub use recipes::{recipe_programs, recipes};
pub use submodules::submodules;
pub use trust::{Place, Programs, Standing, TrustStore};
pub use undo::{UndoError, Undone, undo, undo_begun};
pub use user::{
    FirstLine, Grounds, HookConfigError, Matcher, MatcherError, OnFailure, PinnedScript, Runs, Script, UserHook,
    UserHooks,
};
