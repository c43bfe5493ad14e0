//! Confines commands and the agent's own programs: sandbox, hidden and protected places, the fence around git.

pub(crate) mod hard_links;
pub(crate) mod hidden;
pub(crate) mod own_git;
pub(crate) mod own_programs;
mod own_within;
pub(crate) mod protected;
pub(crate) mod sandbox;
pub(crate) mod search_path;
pub(crate) mod whole_home;
