//! The user's own hooks, formatters for what the agent changed, and the directories in which a repository's programs are trusted.
//!
//! [`UserHooks`] runs the user's own hooks, at the points of a session that the user configured. [`Formatters`] formats the files that
//! [`agent_git::RepositoryHooks`] hands to it, if they were formatted before or are new. A host that gives it the formatters of a
//! repository asks the [`TrustStore`] first.
//!
//! Processes are run by the host's [`CommandRunner`](agent_types::ports::CommandRunner), which gives them a clean environment.

mod formatters;
mod trust;
mod user;

pub use formatters::{FormatterConfig, FormatterInput, Formatters, SettingsFile, recipe_programs, recipes};
pub use trust::{Place, Programs, Standing, TrustStore};
pub use user::{
    FirstLine, Grounds, HookConfigError, Matcher, MatcherError, OnFailure, PinnedScript, Runs, Script, UserHook,
    UserHooks,
};
