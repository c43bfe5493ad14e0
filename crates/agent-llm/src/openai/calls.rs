//! Tool calls that arrive in pieces, several at a time.
//!
//! A piece belongs to the call of its index. Servers bend that: some leave the index out, some number every call 0 and tell them apart by
//! id, some repeat the name in every piece, some make up a new id for every piece.

use super::wire::CallIn;
use crate::wire::{count, is_object, text};
use agent_core::llm::RawCall;

/// The calls of one answer.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<OpenCall>);

#[derive(Debug)]
struct OpenCall {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

impl Calls {
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn add(&mut self, piece: &CallIn<'_>) {
        let index = count(piece.index);
        let id = text(piece.id).unwrap_or_default();
        let function = piece.function.as_ref();
        let name = function.and_then(|function| text(function.name));
        let name = name.unwrap_or_default();

        let position = self.position(index, &id, &name);
        let position = position.unwrap_or_else(|| {
            self.0.push(OpenCall { index, id: String::new(), name: String::new(), arguments: String::new() });
            self.0.len() - 1
        });
        let Some(call) = self.0.get_mut(position) else {
            return;
        };
        if call.id.is_empty() {
            call.id.push_str(&id);
        }
        if call.name.is_empty() {
            call.name.push_str(&name);
        }
        if let Some(raw) = function.and_then(|function| function.arguments) {
            match text(Some(raw)) {
                Some(piece) => call.arguments.push_str(&piece),
                None => call.arguments.push_str(raw.get()),
            }
        }
    }

    /// The calls in the order they began. When the answer may have been cut, the last one is not complete, whatever its arguments look like.
    pub(super) fn finish(&mut self, may_be_cut: bool) -> impl Iterator<Item = RawCall> {
        let calls = core::mem::take(&mut self.0);
        let last = calls.len().saturating_sub(1);
        calls.into_iter().enumerate().map(move |(position, call)| {
            let complete = !may_be_cut || (position != last && is_object(&call.arguments));
            RawCall { id: call.id, name: call.name, arguments: call.arguments, complete }
        })
    }

    /// Where the call stands that a piece belongs to; nothing when it begins a new one.
    fn position(&self, index: Option<u64>, id: &str, name: &str) -> Option<usize> {
        let position = match index {
            Some(_) => self.0.iter().rposition(|call| call.index == index)?,
            None => self.0.len().checked_sub(1)?,
        };
        let call = self.0.get(position)?;
        let other_id = !id.is_empty() && !call.id.is_empty() && call.id != id;
        // An id alone begins nothing: see the servers that make up a new one every time.
        (!other_id || name.is_empty()).then_some(position)
    }
}
