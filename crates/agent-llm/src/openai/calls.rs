//! Tool calls that arrive in pieces, several at a time.
//!
//! A piece belongs to the call of its index. Servers bend that: some leave the index out, some number every call 0 and tell them apart by
//! id, some give neither, some repeat the name in every piece, some make up a new id for every piece.

use super::wire::{CallIn, CalledIn};
use super::{CALL_FRAME, DIALECT};
use crate::frame::Frame;
use crate::seam::Seam;
use crate::wire::{count, is_object, is_whole, text};
use agent_types::llm::{RawCall, ResponseBlock};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The calls of one answer.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: Vec<OpenCall>,
    /// The only call of a server that writes it in the member `function_call`, which is older than lists of calls.
    legacy: Option<OpenCall>,
}

#[derive(Debug, Default)]
struct OpenCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    seam: Seam,
    /// Members that this format does not know, of the call and of its function.
    extras: Map<String, Value>,
    function_extras: Map<String, Value>,
}

/// What the end of an answer says about its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The answer ended for a reason that is no cut.
    Whole,
    /// The server said that nothing follows, and gave no reason: calls with whole arguments are whole.
    Unexplained,
    /// The answer was cut, perhaps in its last call.
    Cut,
}

impl Calls {
    pub(super) const fn is_empty(&self) -> bool {
        self.open.is_empty() && self.legacy.is_none()
    }

    /// Takes in the calls of a chunk. In a document, every element is a call of its own.
    pub(super) fn add(&mut self, list: &[CallIn<'_>], are_whole: bool) -> Result<(), String> {
        for (at, piece) in list.iter().enumerate() {
            let index = count(piece.index);
            let id = text(piece.id).unwrap_or_default();
            let called = piece.function.as_ref().or(piece.custom.as_ref());
            // Without a number and an id, the second element of a list cannot be a piece of the first.
            let is_new = are_whole || (at > 0 && index.is_none() && id.is_empty());
            let position = if is_new { None } else { self.position(index, &id, called) };
            let position = position.unwrap_or_else(|| {
                self.open.push(OpenCall { index, ..OpenCall::default() });
                self.open.len() - 1
            });
            let Some(call) = self.open.get_mut(position) else {
                continue;
            };
            if call.id.is_empty() {
                call.id.push_str(&id);
            }
            keep(&mut call.extras, &piece.others);
            if let Some(called) = called {
                call.add(called)?;
            }
        }
        Ok(())
    }

    /// Takes in a piece of the member `function_call`.
    pub(super) fn add_legacy(&mut self, piece: Option<&RawValue>) -> Result<(), String> {
        let Some(Ok(called)) = piece.map(|raw| serde_json::from_str::<CalledIn<'_>>(raw.get())) else {
            return Ok(());
        };
        self.legacy.get_or_insert_default().add(&called)
    }

    /// Whether half of a character is missing in the arguments of a call.
    pub(super) fn is_open(&self) -> bool {
        self.open.iter().chain(&self.legacy).any(|call| call.seam.is_open())
    }

    /// The calls in the order they began, each with its frame.
    pub(super) fn finish(&mut self, ending: Ending) -> Vec<ResponseBlock> {
        let Self { mut open, legacy } = core::mem::take(self);
        // Some servers write the call in both places.
        if open.is_empty() {
            open.extend(legacy);
        }
        let last = open.len().saturating_sub(1);
        let mut blocks = Vec::new();
        for (position, call) in open.into_iter().enumerate() {
            let complete = match ending {
                Ending::Whole => true,
                Ending::Unexplained => is_whole(&call.arguments),
                // Arguments that look whole may have lost their end.
                Ending::Cut => position != last && is_whole(&call.arguments),
            };
            let mut members = call.extras;
            if !call.function_extras.is_empty() {
                members.insert("function".to_owned(), Value::Object(call.function_extras));
            }
            let (id, name, arguments) = (call.id, call.name, call.arguments);
            blocks.push(ResponseBlock::Call(RawCall { id, name, arguments, complete }));
            blocks.extend(Frame { of: CALL_FRAME.to_owned(), members }.into_block(DIALECT));
        }
        blocks
    }

    /// Where the call stands that a piece belongs to; `None` if it begins a new one.
    fn position(&self, index: Option<u64>, id: &str, called: Option<&CalledIn<'_>>) -> Option<usize> {
        let position = match index {
            Some(_) => self.open.iter().rposition(|call| call.index == index)?,
            None => self.open.len().checked_sub(1)?,
        };
        let call = self.open.get(position)?;
        let has_name = called.is_some_and(|called| called.name().is_some_and(|name| !name.is_empty()));
        let other_id = !id.is_empty() && !call.id.is_empty() && call.id != id;
        // Whole arguments have no room for more: what has a name and arguments and no id to go by is the next call.
        let is_next = id.is_empty() && is_object(&call.arguments) && called.is_some_and(CalledIn::has_arguments);
        // An id alone begins nothing: see the servers that make up a new one every time.
        (!has_name || !(other_id || is_next)).then_some(position)
    }
}

impl OpenCall {
    fn add(&mut self, called: &CalledIn<'_>) -> Result<(), String> {
        if self.name.is_empty() {
            self.name.push_str(&called.name().unwrap_or_default());
        }
        keep(&mut self.function_extras, &called.others);
        match called.arguments {
            Some(raw) if raw.get().starts_with('"') => self.arguments.push_str(&self.seam.piece(Some(raw))?),
            // Some servers write the object itself. A null says nothing.
            Some(raw) if raw.get() != "null" => self.arguments.push_str(raw.get()),
            Some(_) | None => {}
        }
        Ok(())
    }
}

/// Keeps members that are not null. Of a member that comes again the last counts; objects are joined.
fn keep(kept: &mut Map<String, Value>, members: &[(Cow<'_, str>, &RawValue)]) {
    for (name, raw) in members {
        if let Ok(value) = serde_json::from_str::<Value>(raw.get()) {
            join(kept, name, value);
        }
    }
}

/// Puts a member into an object as above.
pub(super) fn join(kept: &mut Map<String, Value>, name: &str, value: Value) {
    match (kept.get_mut(name), value) {
        (_, Value::Null) => {}
        (Some(Value::Object(there)), Value::Object(more)) => {
            more.into_iter().for_each(|(name, value)| join(there, &name, value));
        }
        (_, value) => {
            kept.insert(name.to_owned(), value);
        }
    }
}
