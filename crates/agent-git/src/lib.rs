//! What happens in a git repository after a batch of tools: new commits are noticed, the agent's own changes are committed, and each turn
//! can be taken back.
//!
//! [`RepositoryHooks`] implements the [`Hook`](agent_types::ports::Hook) port:
//!
//! ```text
//! before_tool   remembers, in memory, how the files are that a call would change   (no process)
//! tool_begins   the call is permitted and runs: keeps it for undo                   (no process; looks, if another program announced it)
//! check_git     new commits? is formatting or committing due?                      (no process unless HEAD moved)
//! format        what the host gives as Formatting, on files as the agent left them  (what that runs)
//! commit        exactly what the agent changed, as one commit                      (git plumbing)
//! turn_ended    what no check followed, after an interruption: keeps it for undo   (no process; the host calls it)
//! ```
//!
//! 1. The user's own work is not touched: dirty, staged, untracked and ignored files, and their index entries, stay byte for byte.
//! 2. Nothing that the repository chooses is run by git: no hook, filter, `textconv`, fsmonitor or signing program.
//! 3. What is left out is said, with the reason, in the notes of the report.
//!
//! Processes are run by the host's [`CommandRunner`](agent_types::ports::CommandRunner), which gives them a clean environment. A commit
//! that finds the index locked waits a while, with tokio's timers: the hooks run in a tokio runtime with `enable_time`. In one without,
//! that wait panics; everything else works.

mod before;
mod checkpoint;
mod commit;
mod config;
mod decide;
mod draft;
mod files;
mod formatting;
mod gather;
mod git;
mod git_directories;
mod hooks;
mod image;
mod index;
mod index_lock;
mod message;
mod objects;
mod paths;
mod query;
mod repository;
mod secrets;
mod stat;
mod submodules;
mod tree;
mod undo;
mod users_files;
mod watch;
mod worktree;

pub use config::{HooksConfig, Identity};
pub use formatting::{ChangedFile, ChangedFiles, Formatted, Formatting};
pub use git_directories::{git_directories, kept_in, working_tree};
pub use hooks::RepositoryHooks;
pub use image::Image;
pub use submodules::submodules;
pub use tree::{Replaced, Tree, open_path, read_path};
pub use undo::{Contents, UndoError, Undone, undo, undo_begun};
pub use users_files::odd_users_file;
pub use worktree::{WorktreeLeft, WorktreePlace};
