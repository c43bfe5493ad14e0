//! Summarising the conversation: what is sent, what replaces what, and whether it helped.
//!
//! The history is cut before the last round whose results the model has not seen; a summary replaces what is before the
//! cut; what is after it stays unchanged.

use super::Summaries;
use super::word_for_word::{Kept, word_for_word};
use crate::conversation::{Answer, Block, Conversation, Input, Item, Summary, UserMessage};
use crate::llm::{LlmResponse, ResponseBlock, StopReason};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use serde::{Deserialize, Serialize};

/// Where summarising stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Compaction {
    /// Why the next model call must be a summary.
    pub(super) due: Option<Cause>,
    /// Whether a summary was made or tried since the model last answered: then none is made because the conversation may be too long.
    tried: bool,
    /// Whether that was in this turn: then none is made either because the conversation is too long.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    tried_in_turn: bool,
    /// Times in a row that the provider found the conversation too long.
    pub(super) overflows: u32,
    /// Summaries of this turn that the user did not ask for, made or not.
    #[serde(default, skip_serializing_if = "is_zero")]
    in_turn: u32,
    /// How many of them were not made, in a row.
    #[serde(default, skip_serializing_if = "is_zero")]
    failures: u32,
    /// Whether the one that the user asked for comes before one that was due already, which stays due if it is not made.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    too_long: bool,
    /// What the one that the user asked for has to keep, if the user said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    focus: Option<Box<str>>,
}

impl Compaction {
    /// The user asks for one, which has to keep what the focus names.
    pub(super) fn request(&mut self, focus: Option<String>) {
        self.focus = focus.map(String::into_boxed_str);
        self.too_long |= self.due == Some(Cause::TooLong);
        self.due = Some(Cause::Requested);
    }

    /// It is made, or will not be. Returns why it was to be.
    pub(super) fn end(&mut self, is_made: bool) -> Option<Cause> {
        self.focus = None;
        if self.due == Some(Cause::TooLong) {
            self.in_turn = self.in_turn.saturating_add(1);
            self.failures = if is_made { 0 } else { self.failures.saturating_add(1) };
        }
        let is_still_due = self.too_long && !is_made;
        self.too_long = false;
        core::mem::replace(&mut self.due, if is_still_due { Some(Cause::TooLong) } else { None })
    }

    /// Whether the user asked for the one that is due.
    pub(super) fn is_requested(&self) -> bool {
        self.due == Some(Cause::Requested)
    }

    /// One is made, or was not wanted, without the user's asking.
    pub(super) const fn try_it(&mut self) {
        (self.tried, self.tried_in_turn) = (true, true);
    }

    /// Whether one may be made because the conversation may be too long, or because it is: once between two answers, and once more if
    /// needed after a message of the user. A failed summary does not lock up the session.
    pub(super) const fn may_try(&self, is_too_long: bool, max_per_turn: Option<u32>) -> bool {
        let is_left = match max_per_turn {
            Some(most) => self.in_turn < most && self.failures < MOST_FAILURES,
            None => true,
        };
        is_left && if is_too_long { !self.tried_in_turn } else { !self.tried }
    }

    /// How many were made or failed in this turn that the user did not ask for.
    pub(super) const fn in_turn(&self) -> u32 {
        self.in_turn
    }

    /// What the summary that is due has to keep.
    pub(super) fn focus(&self) -> Option<&str> {
        self.focus.as_deref()
    }

    /// The user has said something.
    pub(super) const fn begin_turn(&mut self) {
        (self.tried_in_turn, self.overflows) = (false, 0);
        (self.in_turn, self.failures) = (0, 0);
    }

    /// The model has answered.
    pub(super) const fn answered(&mut self) {
        (self.tried, self.tried_in_turn, self.overflows) = (false, false, 0);
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Cause {
    /// The user asked for it.
    Requested,
    /// The conversation does not fit, or soon will not.
    TooLong,
}

/// Number of items before the cut. Nothing of an answer that is going to be continued can be left out.
pub(super) fn cut(conversation: &Conversation, is_continuing: bool) -> usize {
    if is_continuing {
        return 0;
    }
    conversation.len() - usize::from(conversation.has_results_due())
}

/// Whether a summary, however short, could save a fifth: what is after the cut stays.
pub(super) fn may_help(conversation: &Conversation, is_continuing: bool) -> bool {
    let kept = conversation.last().filter(|_| conversation.has_results_due()).map_or(0, |item| item.bytes());
    cut(conversation, is_continuing) > 0 && saves_a_fifth(kept, conversation.bytes())
}

/// What the model is asked to summarise: everything before the cut, long results clipped so that it fits, then the instruction.
pub(super) fn request(
    conversation: &Conversation,
    is_continuing: bool,
    window_tokens: Option<u64>,
    focus: Option<&str>,
) -> Conversation {
    let cut = cut(conversation, is_continuing);
    // About three bytes a token leaves room for the instruction and the summary.
    let room = window_tokens.map_or(DEFAULT_ROOM_BYTES, |tokens| tokens.saturating_mul(3));
    let results: usize = conversation.iter().take(cut).map(|item| results_in(item)).sum();
    let share = usize::try_from(room).unwrap_or(usize::MAX) / (results + cut + 1);
    let mut out = Conversation::new();
    for item in conversation.iter().take(cut) {
        push(&mut out, clipped(item, share.max(MIN_SHARE_BYTES)));
    }
    let instruction = focus.map_or_else(|| INSTRUCTION.into(), |focus| format!("{INSTRUCTION}\n\n{FOCUS}\n{focus}"));
    if let Ok(instruction) = Input::new(vec![instruction.into()]) {
        out.push_input(instruction);
    }
    out
}

/// The summary in an answer, or why there is none.
pub(super) fn summary(response: &LlmResponse) -> Result<String, String> {
    match &response.stop {
        StopReason::EndTurn | StopReason::StopSequence => {}
        StopReason::ToolUse => return Err(String::from("the model asked for tools instead of a summary")),
        StopReason::MaxTokens => return Err(String::from("the summary is longer than an answer may be")),
        StopReason::Paused => return Err(String::from("the provider paused the summary")),
        StopReason::Refusal => return Err(String::from("the model refused to summarise")),
        StopReason::ContextWindow => return Err(String::from("the summary does not fit the context window")),
        StopReason::Other(reason) => return Err(format!("the summary ended for another reason: {reason}")),
    }
    let mut text = String::new();
    for block in &response.blocks {
        match block {
            ResponseBlock::Text(piece) => text.push_str(piece),
            ResponseBlock::Call(_) => return Err(String::from("the model asked for tools instead of a summary")),
            ResponseBlock::Thinking { .. } | ResponseBlock::RedactedThinking { .. } | ResponseBlock::Opaque { .. } => {}
        }
    }
    if text.trim().is_empty() { Err(String::from("the summary is empty")) } else { Ok(text) }
}

/// The conversation with everything before the cut replaced by the summary that a model wrote, or `None` if that saves less than a fifth.
pub(super) fn replaced(
    conversation: &Conversation,
    is_continuing: bool,
    summary: &str,
    model: &Arc<str>,
    config: &Summaries,
) -> Option<Conversation> {
    let cut = cut(conversation, is_continuing);
    let after: u64 = conversation.iter().skip(cut).map(|item| item.bytes()).sum();
    // What stays word for word takes what the summary leaves of four fifths, so that it never stands in the way.
    let written = (Summary::HEADINGS_BYTES + summary.len()) as u64;
    let room = (conversation.bytes().saturating_mul(4) / 5).saturating_sub(after).saturating_sub(written);
    let share = conversation.bytes().saturating_mul(u64::from(config.kept_permille)) / 1_000;
    let allowed = usize::try_from(room.min(share)).unwrap_or(usize::MAX).min(MOST_KEPT_BYTES);
    let Kept { said, results, attached } = word_for_word(conversation, cut, allowed, config);
    let mut out = Conversation::new();
    let summary = Summary::new(summary, model.clone(), said, results).ok()?.with_attached(attached);
    if config.is_of_earlier_versions() {
        // They took it for a message of the user's, and replay as they were.
        out.push_input(Input::new(summary.texts().map(UserMessage::from).collect()).ok()?);
    } else {
        out.push_summary(summary);
    }
    for item in conversation.iter().skip(cut) {
        push(&mut out, item.clone());
    }
    saves_a_fifth(out.bytes(), conversation.bytes()).then_some(out)
}

const fn saves_a_fifth(after: u64, before: u64) -> bool {
    after.saturating_mul(5) <= before.saturating_mul(4)
}

/// The conversation with the results of its last round clipped, or `None` if there is nothing to clip.
pub(super) fn last_round_clipped(conversation: &Conversation) -> Option<Conversation> {
    let last = conversation.last()?;
    let Item::Round(round) = last.as_ref() else { return None };
    let limit = usize::try_from(last.bytes() / 4).unwrap_or(usize::MAX) / round.results().len().max(1);
    let shorter = Arc::new(Item::Round(round.clipped(limit.max(MIN_SHARE_BYTES))?));
    if shorter.bytes() >= last.bytes() {
        return None;
    }
    let mut out = Conversation::new();
    for item in conversation.iter().take(conversation.len() - 1) {
        push(&mut out, item.clone());
    }
    push(&mut out, shorter);
    Some(out)
}

/// Appends an item that stood in a valid history. Where its neighbour was left out, it is kept as user content.
fn push(out: &mut Conversation, item: Arc<Item>) {
    if out.push_shared(item.clone()).is_ok() {
        return;
    }
    // A round or an answer opens the new history or follows an answer: a filler keeps roles alternating.
    if let Ok(filler) = Input::new(vec![FILLER.into()]) {
        out.push_input(filler);
        let _ = out.push_shared(item);
    }
}

fn results_in(item: &Item) -> usize {
    match item {
        Item::Round(round) => round.results().len(),
        Item::Input(_) | Item::Answer(_) | Item::Summary(_) => 0,
    }
}

/// The item as it is summarised: pictures named instead of sent, long results clipped, thinking left out. Shared when nothing of it is
/// left out.
fn clipped(item: &Arc<Item>, limit_bytes: usize) -> Arc<Item> {
    let named = item.with_pictures_named("not sent with the history that is summarised").map(Arc::new);
    let item = named.as_ref().unwrap_or(item);
    match item.as_ref() {
        Item::Round(round) => {
            round.clipped(limit_bytes).map_or_else(|| item.clone(), |round| Arc::new(Item::Round(round)))
        }
        Item::Answer(answer) if answer.blocks().iter().any(is_thinking) => {
            let blocks = answer.blocks().iter().filter(|block| !is_thinking(block)).cloned().collect();
            Answer::new(blocks).map_or_else(|_| item.clone(), |answer| Arc::new(Item::Answer(answer)))
        }
        Item::Answer(_) | Item::Input(_) | Item::Summary(_) => item.clone(),
    }
}

fn is_thinking(block: &Block) -> bool {
    matches!(block, Block::Thinking { .. } | Block::RedactedThinking { .. })
}

const INSTRUCTION: &str = "Summarise this conversation so that the work can go on without it. State the user's goal and constraints, what \
    was done and found (files, commands, results that still matter), decisions with their reasons, and what remains to be done. \
    Write plain text only and call no tools.";
const FOCUS: &str = "Keep in detail what the user names here:";
/// Stands where user content has to stand and nothing was said.
pub(super) const FILLER: &str = "[continued]";
/// Failures in a row after which a turn makes no more summaries by itself.
const MOST_FAILURES: u32 = 3;
const MOST_KEPT_BYTES: usize = 64 * 1024;
const DEFAULT_ROOM_BYTES: u64 = 400_000;
const MIN_SHARE_BYTES: usize = 200;
