//! The tool by which an agent says that it is done or waits.

use crate::conversation::Arguments;
use alloc::format;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// Name of the tool by which an agent signals that it is done or waits.
pub const SIGNAL_TOOL: &str = "signal";

/// The arguments of the signal tool.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignalArguments {
    /// What is signalled.
    pub status: Signal,
    /// What was done, or what is asked.
    pub summary: String,
}

impl SignalArguments {
    /// Reads the arguments of a call.
    ///
    /// # Errors
    /// A message that tells the model how to correct the call.
    pub fn read(arguments: &Arguments) -> Result<Self, String> {
        arguments.read().map_err(|error| format!("{error}"))
    }
}

/// What an agent says about its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// It is done.
    Done,
    /// It needs an answer to continue.
    Waiting,
}
