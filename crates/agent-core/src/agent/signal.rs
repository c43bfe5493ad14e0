//! The tool by which an agent says that it is done or waits.

use crate::conversation::{Arguments, Round};
use crate::lifecycle::{self, Signal};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Deserialize;

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

/// The signals in a round of tool calls that the tool took, in order.
#[must_use]
pub fn signals(round: &Round) -> Vec<lifecycle::Event> {
    let calls = round.answer().calls().filter(|call| call.name.as_ref() == SIGNAL_TOOL);
    let taken = calls.filter(|call| {
        let result = round.results().iter().find(|result| *result.call() == call.id);
        result.is_some_and(|result| !result.is_error())
    });
    let read = taken.filter_map(|call| SignalArguments::read(&call.arguments).ok());
    read.map(|SignalArguments { status, summary }| lifecycle::Event::Signalled { signal: status, summary }).collect()
}
