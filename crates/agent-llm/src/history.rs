//! The history's wire form, serialised once.
//!
//! A request repeats everything said before it. Items are immutable and shared, so what was made of one stays true as long as the
//! pointer is the same: a request body is put together from kept bytes, and only what is new is serialised. Keeping the bytes also keeps
//! them equal from request to request, which is what the providers' prompt caches key on.

use crate::pictures::Hole;
use agent_types::conversation::{Conversation, Item};
use agent_types::tool::ToolSpec;
use core::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// What one item becomes on the wire. Either part may be empty.
#[derive(Debug, Default)]
pub(crate) struct Fragment {
    /// What the model said, in the form the provider's request needs.
    pub(crate) answer: Vec<u8>,
    /// The same where something else follows it than what continues it, if that makes a difference.
    pub(crate) closed_answer: Option<Vec<u8>>,
    /// Where the answer has pictures, as in the results of calls.
    pub(crate) answer_holes: Vec<Hole>,
    /// What the user's side said after it.
    pub(crate) user: Vec<u8>,
    /// Where that has pictures.
    pub(crate) user_holes: Vec<Hole>,
}

/// How a provider writes an item.
type Render = dyn Fn(&Item) -> serde_json::Result<Fragment> + Send + Sync;

/// How a provider writes the system prompt and the tools.
type RenderHead = fn(&str, &[ToolSpec]) -> serde_json::Result<Vec<u8>>;

/// The fragments of the conversations that were sent last.
pub(crate) struct Fragments {
    render: Box<Render>,
    render_head: RenderHead,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    head: Option<Head>,
    /// The one used last stands last.
    histories: Vec<Vec<Rendered>>,
}

#[derive(Debug)]
struct Head {
    system: Arc<str>,
    tools: Arc<[ToolSpec]>,
    bytes: Vec<u8>,
}

#[derive(Debug)]
struct Rendered {
    item: Arc<Item>,
    fragment: Fragment,
}

impl Fragments {
    pub(crate) fn new(
        render: impl Fn(&Item) -> serde_json::Result<Fragment> + Send + Sync + 'static,
        render_head: RenderHead,
    ) -> Self {
        Self { render: Box::new(render), render_head, kept: Mutex::default() }
    }

    /// Gives the wire form of the system prompt and the tools, and that of the conversation, to `write`; first of all about how many bytes
    /// they are, so that the body need not be moved while it grows.
    pub(crate) fn write(
        &self,
        system: &Arc<str>,
        tools: &Arc<[ToolSpec]>,
        conversation: &Conversation,
        write: impl FnOnce(usize, &[u8], &mut dyn Iterator<Item = &Fragment>),
    ) -> serde_json::Result<()> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Kept { head, histories } = &mut *kept;

        let head = match head.take() {
            Some(same) if same.is_of(system, tools) => same,
            _ => {
                Head { system: Arc::clone(system), tools: Arc::clone(tools), bytes: (self.render_head)(system, tools)? }
            }
        };
        let mut history = take_history(histories, conversation);
        let shared = history
            .iter()
            .zip(conversation.iter())
            .take_while(|(rendered, item)| Arc::ptr_eq(&rendered.item, item))
            .count();
        history.truncate(shared);
        for item in conversation.iter().skip(shared) {
            history.push(Rendered { item: Arc::clone(item), fragment: (self.render)(item)? });
        }
        let sizes = history.iter().map(|Rendered { fragment, .. }| fragment.answer.len() + fragment.user.len());
        let bytes = head.bytes.len() + sizes.map(|size| size + AROUND_AN_ITEM_BYTES).sum::<usize>();
        write(bytes, &head.bytes, &mut history.iter().map(|rendered| &rendered.fragment));
        histories.push(history);
        kept.head = Some(head);
        Ok(())
    }
}

impl fmt::Debug for Fragments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The texts may be private.
        f.debug_struct("Fragments").finish_non_exhaustive()
    }
}

impl Head {
    fn is_of(&self, system: &Arc<str>, tools: &Arc<[ToolSpec]>) -> bool {
        Arc::ptr_eq(&self.system, system) && Arc::ptr_eq(&self.tools, tools)
    }
}

/// Takes the history that begins as this conversation does, or an empty one in place of the one unused for longest.
fn take_history(histories: &mut Vec<Vec<Rendered>>, conversation: &Conversation) -> Vec<Rendered> {
    let first = conversation.iter().next();
    let same = histories.iter().position(|history| match (history.first(), first) {
        (Some(rendered), Some(first)) => Arc::ptr_eq(&rendered.item, first),
        _ => false,
    });
    match same {
        Some(index) => histories.remove(index),
        None => {
            if histories.len() >= KEPT_HISTORIES {
                histories.remove(0);
            }
            Vec::new()
        }
    }
}

/// Roles, brackets and cache marks.
const AROUND_AN_ITEM_BYTES: usize = 96;

/// A session, its compaction and a few agents it started may take turns with one provider.
const KEPT_HISTORIES: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;
    use agent_types::conversation::Input;
    use core::sync::atomic::{AtomicUsize, Ordering};

    static RENDERED: AtomicUsize = AtomicUsize::new(0);

    fn render(item: &Item) -> serde_json::Result<Fragment> {
        RENDERED.fetch_add(1, Ordering::Relaxed);
        let user = format!("{};", item.bytes()).into_bytes();
        Ok(Fragment { user, ..Fragment::default() })
    }

    fn written(fragments: &Fragments, conversation: &Conversation) -> String {
        let mut out = Vec::new();
        fragments
            .write(&Arc::from(""), &Arc::from([]), conversation, |_, _, items| {
                items.for_each(|fragment| out.extend_from_slice(&fragment.user));
            })
            .unwrap();
        String::from_utf8(out).unwrap()
    }

    fn input(bytes: usize) -> Input {
        Input::new(vec!["x".repeat(bytes).into()]).unwrap()
    }

    #[test]
    fn an_item_is_rendered_once_even_when_conversations_take_turns() {
        let fragments = Fragments::new(render, |_, _| Ok(Vec::new()));
        let (mut one, mut two) = (Conversation::new(), Conversation::new());
        for bytes in 1..=3 {
            one.push_input(input(bytes));
            two.push_input(input(bytes * 10));
            let expected: String = (1..=bytes).map(|n| format!("{n};")).collect();
            assert_eq!(written(&fragments, &one), expected);
            let expected: String = (1..=bytes).map(|n| format!("{}0;", n)).collect();
            assert_eq!(written(&fragments, &two), expected);
        }
        assert_eq!(RENDERED.load(Ordering::Relaxed), 6);
        assert_eq!(written(&fragments, &Conversation::new()), "");

        // A conversation that goes another way after the same beginning.
        let mut fork = Conversation::new();
        fork.push_input(input(7));
        let longer = {
            let mut longer = fork.clone();
            longer.push_input(input(8));
            longer
        };
        fork.push_input(input(9));
        assert_eq!(written(&fragments, &longer), "7;8;");
        assert_eq!(written(&fragments, &fork), "7;9;");
    }
}
