//! A valid history from parts in whatever order: every call has its result, and nothing is empty.
//!
//! ```text
//! parts -> an open answer (its calls wait for their results) -> closed by what comes next -> items, of which the newest are kept
//! ```
//!
//! Calls get ids of their own, which every service takes. A text is redacted before it is kept.

use super::super::lint::dialect::UNKNOWN;
use super::changes::Changes;
use super::parts::{Left, Part};
use agent_core::conversation::{
    Answer, Arguments, Author, Block, CallId, Input, Item, Round, ToolCall, ToolResult, UserMessage, cut, non_blank,
};
use agent_core::redact::Redactor;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The items so far.
pub(super) struct History {
    items: VecDeque<Arc<Item>>,
    bytes: u64,
    /// Without the results of calls.
    said_bytes: u64,
    open: Option<Open>,
    /// What the user said while calls of the open answer waited.
    held: Vec<UserMessage>,
    next_call: u64,
    redactor: Redactor,
    pub(super) changes: Changes,
}

/// An answer that may get more blocks, or results.
struct Open {
    name: Option<String>,
    blocks: Vec<Block>,
    calls: HashMap<String, usize>,
    /// By the number of the call.
    results: Vec<(CallId, Option<(String, bool)>)>,
    bytes: usize,
    /// Whether a result has come: an answer without a name is over then.
    has_results: bool,
}

impl Open {
    fn new(name: Option<String>) -> Self {
        Self { name, blocks: Vec::new(), calls: HashMap::new(), results: Vec::new(), bytes: 0, has_results: false }
    }

    fn is_complete(&self) -> bool {
        self.results.iter().all(|(_, result)| result.is_some())
    }

    fn has_room(&self) -> bool {
        self.results.len() < MOST_CALLS && self.bytes < MOST_ANSWER_BYTES
    }
}

impl History {
    pub(super) fn new(redactor: Redactor, changes: Changes) -> Self {
        let (items, held) = (VecDeque::new(), Vec::new());
        Self { items, bytes: 0, said_bytes: 0, open: None, held, next_call: 0, redactor, changes }
    }

    pub(super) fn take(&mut self, part: Part) {
        match part {
            Part::User(text) => self.user(&text, Author::User),
            Part::Note(text) => self.user(&text, Author::Agent),
            Part::Said { answer, text } => {
                let text = self.text(&text);
                if non_blank(&text) {
                    let open = self.answer(answer);
                    open.bytes += text.len();
                    open.blocks.push(Block::Text(text));
                }
            }
            Part::Call { answer, id, name, arguments } => self.call(answer, id, &name, &arguments),
            Part::Result { id, content, is_error } => self.result(&id, &content, is_error),
            Part::Left(left) => {
                let count = match left {
                    Left::Thinking => &mut self.changes.thinking,
                    Left::Image => &mut self.changes.images,
                    Left::Unknown => &mut self.changes.unknown,
                    Left::Own => &mut self.changes.own,
                    Left::Void => &mut self.changes.void,
                };
                *count += 1;
            }
        }
    }

    fn user(&mut self, text: &str, author: Author) {
        let text = self.text(text);
        if !non_blank(&text) {
            return;
        }
        let text = UserMessage { author, ..text.into() };
        let held: usize = self.held.iter().map(|said| said.len()).sum();
        if self.open.as_ref().is_some_and(|open| !open.is_complete()) && held < MOST_ANSWER_BYTES {
            self.held.push(text);
        } else {
            self.close();
            self.input(vec![text]);
        }
    }

    /// The open answer, if it has this name; another one is begun otherwise.
    fn answer(&mut self, name: Option<String>) -> &mut Open {
        let goes_on = self.open.as_ref().is_some_and(|open| {
            open.name == name && open.has_room() && (name.is_some() || (!open.has_results && self.held.is_empty()))
        });
        if !goes_on {
            self.close();
        }
        self.open.get_or_insert_with(|| Open::new(name))
    }

    fn call(&mut self, answer: Option<String>, id: String, name: &str, arguments: &str) {
        let name = self.tool_name(name);
        let arguments = self.arguments(arguments);
        self.next_call += 1;
        let own = CallId::new(&format!("imported_{}", self.next_call));
        let open = self.answer(answer);
        open.bytes += name.len() + arguments.as_str().len();
        open.calls.insert(id, open.results.len());
        open.results.push((own.clone(), None));
        open.blocks.push(Block::Call(ToolCall { id: own, name: name.into(), arguments }));
    }

    fn result(&mut self, id: &str, content: &str, is_error: bool) {
        let content = self.text(content);
        let place = self.open.as_mut().and_then(|open| {
            let at = *open.calls.get(id)?;
            open.has_results = true;
            open.results.get_mut(at).filter(|(_, result)| result.is_none())
        });
        match place {
            Some((_, result)) => *result = Some((content, is_error)),
            None => self.changes.stray_results += 1,
        }
    }

    /// Nothing comes to the open answer any more.
    fn close(&mut self) {
        if let Some(mut open) = self.open.take() {
            self.redact_across(&mut open.blocks);
            let mut results = Vec::new();
            for (call, result) in open.results {
                self.changes.unanswered += u64::from(result.is_none());
                let (content, is_error) = result.unwrap_or_else(|| (String::from(UNKNOWN), true));
                results.push(ToolResult::new(call, content, is_error));
            }
            // An answer without anything in it says nothing.
            if let Ok(answer) = Answer::new(open.blocks) {
                let item = match results.is_empty() {
                    true => Some(Item::Answer(answer)),
                    false => Round::new(answer, results).ok().map(Item::Round),
                };
                if matches!(self.items.back().map(AsRef::as_ref), Some(Item::Answer(_))) {
                    self.changes.fillers += 1;
                    self.input(vec![UserMessage::of_agent("[continued]")]);
                }
                item.into_iter().for_each(|item| self.push(item));
            }
        }
        let held = std::mem::take(&mut self.held);
        self.input(held);
    }

    fn input(&mut self, messages: Vec<UserMessage>) {
        if let Ok(input) = Input::new(messages) {
            self.push(Item::Input(input));
        }
    }

    fn push(&mut self, item: Item) {
        self.bytes += item.bytes();
        self.said_bytes += said_bytes(&item);
        self.items.push_back(Arc::new(item));
        while (self.bytes > MOST_BYTES || self.said_bytes > MOST_SAID_BYTES) && self.items.len() > 1 {
            let Some(old) = self.items.pop_front() else { return };
            self.bytes -= old.bytes();
            self.said_bytes -= said_bytes(&old);
            self.changes.older += 1;
        }
    }

    /// All that was kept; nothing where nothing was said.
    pub(super) fn finish(mut self) -> (Vec<Arc<Item>>, Changes) {
        self.close();
        if !matches!(self.items.front().map(AsRef::as_ref), None | Some(Item::Input(_)))
            && let Ok(begin) = Input::new(vec![UserMessage::of_agent("[what was said before is left out]")])
        {
            self.items.push_front(Arc::new(Item::Input(begin)));
        }
        (self.items.into(), self.changes)
    }

    /// Each text was redacted by itself. A secret of which two hold a part each is found in all of them together, and then these are one.
    fn redact_across(&self, blocks: &mut Vec<Block>) {
        let text_in = |block: &Block| match block {
            Block::Text(text) => Some(text.clone()),
            _ => None,
        };
        let all: String = blocks.iter().filter_map(text_in).collect();
        if !self.redactor.finds(&all) {
            return;
        }
        let mut redacted = Some(self.redactor.redacted(&all));
        blocks.retain_mut(|block| match block {
            Block::Text(text) => redacted.take().map(|all| *text = all).is_some(),
            _ => true,
        });
    }

    /// A text as it is kept.
    fn text(&mut self, text: &str) -> String {
        // A secret of which a part is cut off would not be known for one any more.
        let text = if self.redactor.finds(text) { self.redactor.redacted(text) } else { text.to_owned() };
        let text = match cut(&text, MOST_TEXT_BYTES) {
            Some(shorter) => {
                self.changes.cut += 1;
                shorter
            }
            None => text,
        };
        // Some services refuse it, and it says nothing.
        if text.contains('\0') { text.replace('\0', "\u{FFFD}") } else { text }
    }

    fn tool_name(&mut self, name: &str) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let mut plain: String = name.chars().take(LONGEST_NAME).map(|c| if is_plain(c) { c } else { '_' }).collect();
        if plain.is_empty() {
            plain = String::from("unknown");
        }
        self.changes.renamed += u64::from(plain != name);
        self.redactor.redacted(&plain)
    }

    fn arguments(&mut self, arguments: &str) -> Arguments {
        let mut redacted = arguments.to_owned();
        self.redactor.json(&mut redacted);
        let is_short = redacted.len() <= MOST_TEXT_BYTES;
        if let Some(arguments) = Arguments::parse(&redacted).ok().filter(|_| is_short && !redacted.contains("\\u0000"))
        {
            return arguments;
        }
        self.changes.rewritten += 1;
        let text = self.text(&redacted);
        Arguments::parse(&serde_json::json!({ "input": text }).to_string()).unwrap_or_else(|_| Arguments::empty())
    }
}

/// Of an item, without results.
fn said_bytes(item: &Item) -> u64 {
    match item {
        Item::Round(round) => round.answer().bytes(),
        Item::Input(_) | Item::Summary(_) | Item::Answer(_) => item.bytes(),
    }
}

/// Of all items that are kept. What of it does not fit the model's window is summarised when the session is resumed.
pub(super) const MOST_BYTES: u64 = 4 * 1024 * 1024;
/// The same without results: a summary clips those and nothing else, and its request has to fit a window of 200,000 tokens.
pub(super) const MOST_SAID_BYTES: u64 = 512 * 1024;
const MOST_TEXT_BYTES: usize = 128 * 1024;
const MOST_ANSWER_BYTES: usize = 256 * 1024;
const MOST_CALLS: usize = 1_000;
const LONGEST_NAME: usize = 64;
