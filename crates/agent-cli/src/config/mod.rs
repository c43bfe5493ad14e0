//! Configuration: options, the user's file, the repository's file, and the settings of a session that follow from them.

pub(crate) mod agents;
pub(crate) mod beneath;
pub(crate) mod entries;
pub(crate) mod file;
pub(crate) mod homes;
pub(crate) mod kept_rules;
pub(crate) mod kept_server;
pub(crate) mod options;
pub(crate) mod own_project;
pub(crate) mod places;
pub(crate) mod project;
pub(crate) mod project_programs;
pub(crate) mod providers;
pub(crate) mod repository;
pub(crate) mod rule_patterns;
pub(crate) mod server_rules;
pub(crate) mod settings;
pub(crate) mod units;
