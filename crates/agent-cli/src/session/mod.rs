//! Assembles a session: tools, hooks, journal, system prompt, and the differences from its last use.

pub(crate) mod above;
pub(crate) mod apart;
mod attached;
pub(crate) mod binding;
pub(crate) mod children;
pub(crate) mod differences;
pub(crate) mod door;
pub(crate) mod instructions;
mod instructions_below;
pub(crate) mod kept;
pub(crate) mod limits;
pub(crate) mod own;
mod parts;
pub(crate) mod pictured;
pub(crate) mod project_instructions;
pub(crate) mod setup;
mod worktrees;
