//! A session put together: tools, hooks, journal, system prompt, and what differs from the last time.

pub(crate) mod apart;
pub(crate) mod binding;
pub(crate) mod differences;
pub(crate) mod instructions;
pub(crate) mod limits;
pub(crate) mod setup;
