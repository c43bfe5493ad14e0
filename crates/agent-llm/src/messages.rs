//! What the formats of one kind share: a list of whole items, in which adjacent inputs of the user become one message.

use crate::history::Fragment;
use crate::wire::push_element;
use agent_types::conversation::ToolResult;
use serde::Serialize;
use std::borrow::Cow;

/// How a user's message is written.
pub(crate) struct UserShape {
    pub(crate) open: &'static [u8],
    /// Between the inputs that it consists of.
    pub(crate) between: &'static [u8],
    pub(crate) close: &'static [u8],
}

/// Writes the messages after an opening bracket, or after the messages already there.
pub(crate) fn push_messages(out: &mut Vec<u8>, items: &mut dyn Iterator<Item = &Fragment>, user: &UserShape) {
    let mut in_user = false;
    for fragment in items {
        if !fragment.answer.is_empty() {
            close_user(out, &mut in_user, user);
            push_separator(out);
            out.extend_from_slice(&fragment.answer);
        }
        if !fragment.user.is_empty() {
            if in_user {
                out.extend_from_slice(user.between);
            } else {
                push_separator(out);
                out.extend_from_slice(user.open);
                in_user = true;
            }
            out.extend_from_slice(&fragment.user);
        }
    }
    close_user(out, &mut in_user, user);
}

fn close_user(out: &mut Vec<u8>, in_user: &mut bool, user: &UserShape) {
    if core::mem::take(in_user) {
        out.extend_from_slice(user.close);
    }
}

fn push_separator(out: &mut Vec<u8>) {
    if !out.ends_with(b"[") {
        out.push(b',');
    }
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
