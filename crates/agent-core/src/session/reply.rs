//! What an answer of the model amounts to: which of its parts can be used, and what follows.

use super::used_ids::UsedIds;
use crate::conversation::{Answer, Arguments, Block, CallId, ToolCall, non_blank};
use crate::llm::{LlmResponse, RawCall, ResponseBlock, StopReason};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// An answer, judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Reply {
    /// It asks for tools. `unusable` has calls with unusable arguments, each with the message for the model.
    Calls { answer: Answer, unusable: BTreeMap<CallId, String> },
    /// The provider paused it; sending it back continues it.
    Paused(Answer),
    /// It ends the turn.
    Done(Answer),
    /// It cannot be used; another try may bring a better one.
    Unusable { reason: String },
    /// It cannot be used and another try is no use.
    UnusableForGood {
        reason: String,
        /// What is shown of it.
        shown: Vec<Block>,
        /// What of it stays in the history.
        keep: Option<Kept>,
        /// Whether the message that led to it goes back to the user: sending it again would bring the same.
        hand_back: bool,
    },
}

/// What is kept of an answer without a proper end, and the note about it that goes to the model with the next message. The answer itself
/// is kept unchanged: text that the model did not write is never attributed to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) answer: Answer,
    pub(super) note: String,
}

/// Judges an answer. `next_call` numbers the ids that replace empty and repeated ones; `is_new` tells whether an id is free.
/// What was odd about it goes into `notes`.
pub(super) fn judge(
    response: LlmResponse,
    next_call: &mut u64,
    is_new: impl Fn(&str) -> bool,
    notes: &mut Vec<String>,
) -> Reply {
    let LlmResponse { blocks: parts, stop, .. } = response;
    let blocks = Vec::with_capacity(parts.len());
    let calls = parts.iter().filter(|part| matches!(part, ResponseBlock::Call(_))).count();
    let (ids, unusable) = ((calls > FEW_CALLS).then(|| UsedIds::with_room(calls)), BTreeMap::new());
    let mut reader = Reader { next_call, is_new, notes, blocks, ids, unusable, complete_calls: 0 };
    parts.into_iter().for_each(|part| reader.read(part));
    let Reader { blocks, unusable, complete_calls, .. } = reader;
    let has_calls = blocks.iter().any(|block| matches!(block, Block::Call(_)));
    if let StopReason::Other(reason) = &stop
        && (has_calls || reason.is_empty())
    {
        notes.push(format!("the answer ended for an unknown reason: `{reason}`"));
    }
    match &stop {
        StopReason::Refusal => {
            let reason = String::from("the model refused to answer");
            Reply::UnusableForGood { reason, shown: without_calls(blocks), keep: None, hand_back: true }
        }
        StopReason::ContextWindow => {
            cut(blocks, "the model's context window was full", "was cut: the context window was full")
        }
        StopReason::MaxTokens if complete_calls == 0 => {
            cut(blocks, "the answer was cut by the limit on output tokens", "was cut by the limit on output tokens")
        }
        // A call in a form that no provider knows, or that was lost: the model waits for its result, whatever it said before.
        StopReason::ToolUse if !has_calls => {
            Reply::Unusable { reason: String::from("the answer ends with a tool call, but has none in a known form") }
        }
        StopReason::Other(reason) if !has_calls && blocks.iter().all(is_silent) => {
            Reply::Unusable { reason: format!("the answer is empty and ended for an unknown reason: `{reason}`") }
        }
        // The model may or may not be done. For a server that gives no reason at all, the adapter has detected the end by another sign.
        StopReason::Other(reason) if !has_calls && !reason.is_empty() => {
            let why = format!("the answer ended for an unknown reason: `{reason}`");
            cut(blocks, &why, "ended for an unknown reason")
        }
        StopReason::EndTurn
        | StopReason::ToolUse
        | StopReason::MaxTokens
        | StopReason::StopSequence
        | StopReason::Paused
        | StopReason::Other(_) => match Answer::new(blocks) {
            Ok(answer) if has_calls => Reply::Calls { answer, unusable },
            Ok(answer) if stop == StopReason::Paused => Reply::Paused(answer.paused()),
            Ok(answer) if answer.blocks().iter().all(is_silent) => {
                Reply::Unusable { reason: String::from("the answer has neither text nor tool calls") }
            }
            Ok(answer) => Reply::Done(answer),
            Err(_) => Reply::Unusable { reason: String::from("the answer is empty") },
        },
    }
}

/// A block that says nothing to the user: an answer of such blocks alone is as good as empty.
fn is_silent(block: &Block) -> bool {
    match block {
        Block::Text(text) => text.trim().is_empty(),
        Block::Thinking { .. } | Block::RedactedThinking { .. } => true,
        Block::Call(_) | Block::Opaque { .. } => false,
    }
}

/// An answer that was cut without a call that could run: its text is kept, its calls are not. `what` says what became of it.
fn cut(blocks: Vec<Block>, reason: &str, what: &str) -> Reply {
    let shown = without_calls(blocks);
    let keep = kept(shown.clone(), what);
    Reply::UnusableForGood { reason: String::from(reason), shown, keep, hand_back: true }
}

fn without_calls(mut blocks: Vec<Block>) -> Vec<Block> {
    blocks.retain(|block| !matches!(block, Block::Call(_)));
    blocks
}

/// What stays of an answer without its proper end, or `None` if it has no text. Thinking without a signature is left out, and so is
/// thinking at the end, which led to nothing: providers refuse an answer that ends with it.
pub(super) fn kept(mut blocks: Vec<Block>, what: &str) -> Option<Kept> {
    blocks.retain(|block| !matches!(block, Block::Thinking { signature: None, .. }));
    while let Some(Block::Thinking { .. } | Block::RedactedThinking { .. }) = blocks.last() {
        blocks.pop();
    }
    if blocks.iter().all(is_silent) {
        return None;
    }
    let note = format!("[Your last answer {what}.]");
    Answer::new(blocks).ok().map(|answer| Kept { answer, note })
}

impl Reply {
    /// The same answer as one that is of no use any more: the pauses or the repetitions are used up.
    pub(super) fn given_up(self) -> Self {
        match self {
            Self::Paused(answer) => {
                let shown = answer.blocks().to_vec();
                let keep = kept(shown.clone(), "was paused too often and is not continued");
                let reason = String::from("the provider paused the answer too often");
                Self::UnusableForGood { reason, shown, keep, hand_back: true }
            }
            // The message stays pending: the next answer to it may be better.
            Self::Unusable { reason } => {
                Self::UnusableForGood { reason, shown: Vec::new(), keep: None, hand_back: false }
            }
            other @ (Self::Calls { .. } | Self::Done(_) | Self::UnusableForGood { .. }) => other,
        }
    }

    /// What is shown of the answer.
    pub(super) fn shown(&self) -> &[Block] {
        match self {
            Self::Calls { answer, .. } | Self::Paused(answer) | Self::Done(answer) => answer.blocks(),
            Self::UnusableForGood { shown, .. } => shown,
            Self::Unusable { .. } => &[],
        }
    }
}

struct Reader<'a, F> {
    next_call: &'a mut u64,
    is_new: F,
    notes: &'a mut Vec<String>,
    blocks: Vec<Block>,
    /// Those of the calls among them, where there are many.
    ids: Option<UsedIds>,
    unusable: BTreeMap<CallId, String>,
    complete_calls: usize,
}

impl<F: Fn(&str) -> bool> Reader<'_, F> {
    fn read(&mut self, part: ResponseBlock) {
        let block = match part {
            ResponseBlock::Text(text) => Block::Text(text),
            ResponseBlock::Thinking { text, signature } => Block::Thinking { text, signature },
            ResponseBlock::RedactedThinking { data } => Block::RedactedThinking { data },
            ResponseBlock::Opaque { dialect, json } => Block::Opaque { dialect, json },
            ResponseBlock::Call(raw) => Block::Call(self.call(&raw)),
        };
        self.blocks.push(block);
    }

    /// A call as it may be in the history: with an id of its own and arguments that are an object.
    fn call(&mut self, raw: &RawCall) -> ToolCall {
        let id = self.id(&raw.id);
        let arguments = if raw.complete {
            self.complete_calls += 1;
            Arguments::parse(&raw.arguments).map_err(|error| {
                format!("not run: the arguments are not a JSON object ({}): {}", error.found, quoted(&raw.arguments))
            })
        } else {
            Err(format!("not run: the arguments were cut: {}", quoted(&raw.arguments)))
        };
        let arguments = arguments.unwrap_or_else(|message| {
            self.unusable.insert(id.clone(), message);
            Arguments::empty()
        });
        if let Some(ids) = &mut self.ids {
            ids.add(id.clone());
        }
        ToolCall { id, name: self.name(&raw.name), arguments }
    }

    /// Calls of the same tool in a row share its name.
    fn name(&self, given: &str) -> Arc<str> {
        match self.blocks.last() {
            Some(Block::Call(last)) if *last.name == *given => Arc::clone(&last.name),
            _ => Arc::from(given),
        }
    }

    fn id(&mut self, given: &str) -> CallId {
        if non_blank(given) && self.is_free(given) {
            return CallId::new(given);
        }
        loop {
            // Around, not up to the end: there is always one that is free.
            *self.next_call = self.next_call.wrapping_add(1);
            let id = format!("call_{}", self.next_call);
            if self.is_free(&id) {
                self.notes.push(format!("the call id `{given}` was empty or used before; it became `{id}`"));
                return CallId::new(&id);
            }
        }
    }

    /// Whether no call has this id, neither an earlier one nor one of this answer.
    fn is_free(&self, id: &str) -> bool {
        let is_taken = match &self.ids {
            Some(ids) => ids.contains(id),
            None => self.blocks.iter().any(|block| matches!(block, Block::Call(call) if call.id.as_str() == id)),
        };
        !is_taken && (self.is_new)(id)
    }
}

/// Size of what a block holds, in bytes.
pub(super) fn bytes(block: &ResponseBlock) -> u64 {
    let length = match block {
        ResponseBlock::Text(text) | ResponseBlock::Thinking { text, .. } => text.len(),
        ResponseBlock::RedactedThinking { data } => data.len(),
        ResponseBlock::Call(raw) => raw.name.len() + raw.arguments.len(),
        ResponseBlock::Opaque { json, .. } => json.len(),
    };
    length as u64
}

/// The beginning of a text that the model got wrong, to be shown to it.
fn quoted(text: &str) -> String {
    let end = text.floor_char_boundary(QUOTE_BYTES);
    let more = if end < text.len() { " …" } else { "" };
    format!("`{}`{more}", text.get(..end).unwrap_or_default())
}

const QUOTE_BYTES: usize = 300;
/// Calls of one answer whose ids are compared one by one; of more, a table is made.
const FEW_CALLS: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn judged(blocks: Vec<ResponseBlock>, stop: StopReason) -> Reply {
        let response = LlmResponse { blocks, stop, usage: None, model: String::new() };
        judge(response, &mut 0, |_| true, &mut Vec::new())
    }

    fn opaque(json: &str) -> ResponseBlock {
        ResponseBlock::Opaque { dialect: "d".into(), json: json.into() }
    }

    #[test]
    fn a_wish_for_a_tool_that_is_no_call_does_not_end_the_turn() {
        let odd = || opaque("{\"type\":\"odd_tool_use\"}");
        let text = |text: &str| ResponseBlock::Text(text.into());
        for blocks in [vec![odd()], vec![text(" \n"), odd()], vec![text("Here."), odd()], vec![text("I look.")]] {
            let reply = judged(blocks, StopReason::ToolUse);
            assert!(matches!(&reply, Reply::Unusable { reason } if reason.contains("a known form")), "{reply:?}");
        }
        // What a tool of the server's own made is an answer.
        assert!(matches!(judged(vec![odd()], StopReason::EndTurn), Reply::Done(_)));
    }

    #[test]
    fn an_answer_that_ends_for_a_reason_that_is_not_known_is_no_end_of_the_turn() {
        let text = || vec![ResponseBlock::Text("half".into())];
        let reply = judged(text(), StopReason::Other("foo".into()));
        let Reply::UnusableForGood { reason, keep: Some(kept), .. } = reply else { panic!("{reply:?}") };
        assert_eq!(reason, "the answer ended for an unknown reason: `foo`");
        assert_eq!(
            (kept.answer.text(), &*kept.note),
            ("half".into(), "[Your last answer ended for an unknown reason.]")
        );
        let reply = judged(text(), StopReason::Other(String::new()));
        assert!(
            matches!(reply, Reply::Done(_)),
            "the control: no reason, where the adapter has seen the end: {reply:?}"
        );
    }

    #[test]
    fn what_stays_of_a_cut_answer_is_as_it_came_and_does_not_end_with_thinking() {
        let thinking = || ResponseBlock::Thinking { text: "hm".into(), signature: Some("seal".into()) };
        let blocks = vec![thinking(), ResponseBlock::Text("half".into()), thinking()];
        let Reply::UnusableForGood { keep: Some(kept), .. } = judged(blocks, StopReason::MaxTokens) else { panic!() };
        assert_eq!(kept.answer.blocks().len(), 2);
        assert_eq!(kept.answer.text(), "half");
        assert_eq!(kept.note, "[Your last answer was cut by the limit on output tokens.]");
        let only_thinking = judged(vec![thinking()], StopReason::MaxTokens);
        assert!(matches!(only_thinking, Reply::UnusableForGood { keep: None, .. }));
    }

    #[test]
    fn a_long_text_is_quoted_up_to_a_whole_character_and_says_that_it_goes_on() {
        let long = format!("{}é and more", "x".repeat(QUOTE_BYTES - 1));
        assert_eq!(quoted(&long), format!("`{}` …", "x".repeat(QUOTE_BYTES - 1)));
        let fitting = "x".repeat(QUOTE_BYTES);
        assert_eq!(quoted(&fitting), format!("`{fitting}`"));
    }
}
