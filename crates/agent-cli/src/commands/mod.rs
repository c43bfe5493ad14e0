//! The command line, and a file or folder for each command.

pub(crate) mod acp;
pub(crate) mod agents;
pub(crate) mod args;
pub(crate) mod config_show;
mod conversation;
pub(crate) mod demo;
pub(crate) mod diagram;
pub(crate) mod doctor;
mod examples;
pub(crate) mod help_pages;
pub(crate) mod job;
pub(crate) mod listing;
pub(crate) mod mcp;
pub(crate) mod models;
pub(crate) mod prompt;
pub(crate) mod run;
pub(crate) mod sessions;
mod task;
pub(crate) mod tools;
pub(crate) mod trust;
pub(crate) mod undo;
