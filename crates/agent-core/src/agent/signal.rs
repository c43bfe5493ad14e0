//! The signals that a round of tool calls carries.

use crate::conversation::Round;
use crate::lifecycle;
use agent_types::signal::{SIGNAL_TOOL, SignalArguments};
use alloc::vec::Vec;

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
