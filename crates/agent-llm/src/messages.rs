//! What the formats of one kind share: a list of whole items, in which adjacent inputs of the user become one message.

use crate::history::Fragment;
use crate::pictures::{Hole, Painter, PictureShape};
use crate::wire::push_element;
use agent_types::conversation::ToolResult;
use serde::Serialize;
use std::borrow::Cow;

/// How a user's message is written.
pub(crate) struct UserShape {
    /// Writes one of these inputs, whole.
    pub(crate) push: fn(&mut Vec<u8>, &[&Fragment], &mut Painter<'_>),
    pub(crate) picture: PictureShape,
}

/// Writes the messages after an opening bracket, or after the messages already there.
pub(crate) fn push_messages(
    out: &mut Vec<u8>,
    items: &mut dyn Iterator<Item = &Fragment>,
    user: &UserShape,
    mut painter: Painter<'_>,
) {
    let mut items = items.peekable();
    let mut said = Vec::new();
    while let Some(fragment) = items.next() {
        if !fragment.answer.is_empty() {
            push_separator(out);
            painter.fill(out, &fragment.answer, &fragment.answer_holes, &user.picture);
        }
        if !fragment.user.is_empty() {
            said.push(fragment);
        }
        // The message goes on until the next answer.
        let is_whole = items.peek().is_none_or(|next| !next.answer.is_empty());
        if is_whole && !said.is_empty() {
            push_separator(out);
            (user.push)(out, &said, &mut painter);
            said.clear();
        }
    }
}

/// Before an element of a list that is open, or of one whose beginning is written elsewhere.
pub(crate) fn push_separator(out: &mut Vec<u8>) {
    if !out.is_empty() && !out.ends_with(b"[") {
        out.push(b',');
    }
}

/// Before the next element of a list that may have a hole for its last one.
pub(crate) fn push_next(out: &mut Vec<u8>, holes: &[Hole]) {
    // What stands in a hole is not written yet.
    if holes.last().is_some_and(|Hole(at)| *at == out.len()) {
        out.push(b',');
    } else {
        push_separator(out);
    }
}

/// Leaves a place for a picture as an element of a list.
pub(crate) fn push_hole(out: &mut Vec<u8>, holes: &mut Vec<Hole>) {
    push_next(out, holes);
    holes.push(Hole(out.len()));
}

/// Writes the member `tools` with a comma in front; nothing when there are none.
pub(crate) fn push_tools<T: Serialize>(out: &mut Vec<u8>, tools: impl Iterator<Item = T>) -> serde_json::Result<()> {
    let mut list = Vec::new();
    for tool in tools {
        push_element(&mut list, &tool)?;
    }
    if !list.is_empty() {
        out.extend_from_slice(b",\"tools\":[");
        out.extend_from_slice(&list);
        out.push(b']');
    }
    Ok(())
}

/// A result's text. These formats have no mark for a failed call, so that the text must say it.
pub(crate) fn result_text(result: &ToolResult) -> Cow<'_, str> {
    let content = result.content();
    let says_so = || content.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("error"));
    if result.is_error() && !says_so() { Cow::Owned(format!("Error: {content}")) } else { Cow::Borrowed(content) }
}
