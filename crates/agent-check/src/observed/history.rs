//! How the history changes: it grows, a paused answer is continued, a summary or a clipped result shortens it.

use super::{Edge, Observed, Seen};
use crate::invariants::{Fault, Invariant, hold};
use agent_core::conversation::{Block, CallId, Item, Round, ToolCall};
use agent_core::llm::{LlmErrorKind, ResponseBlock};
use agent_core::session::{Event, State};
use std::sync::Arc;

impl Observed {
    pub(super) fn follow_history(&mut self, edge: &Edge<'_>) -> Result<(), Fault> {
        let before: Vec<&Arc<Item>> = edge.before.conversation().iter().collect();
        let after: Vec<&Arc<Item>> = edge.after.conversation().iter().collect();
        let same = before.iter().zip(&after).take_while(|(a, b)| Arc::ptr_eq(a, b)).count();
        if edge.before.state() == State::Compacting && matches!(edge.event, Event::LlmCompleted { .. }) {
            // What a summary leaves is judged with the next request.
            return self.judge_rest(edge);
        }
        let gone = before.len() - same;
        let fits = match (before.last(), after.get(same)) {
            _ if gone == 0 => true,
            (Some(old), Some(new)) if gone == 1 => {
                continues(old, new) || is_closed(old, new) || is_clipped(edge.event, old, new)
            }
            _ => false,
        };
        hold(Invariant::HistoryGrows, fits, || format!("{gone} items of the history are gone"))?;
        let is_shortened =
            gone == 1 && before.last().zip(after.get(same)).is_some_and(|(old, new)| is_clipped(edge.event, old, new));
        for item in after.iter().skip(same).filter(|_| !is_shortened) {
            if let Item::Round(round) = item.as_ref() {
                self.judge_round(round, edge.event)?;
            }
        }
        self.judge_rest(edge)
    }

    /// A round that was closed: the calls that were told of, each answered in its place.
    fn judge_round(&mut self, round: &Round, event: &Event) -> Result<(), Fault> {
        let calls: Vec<&CallId> = round.answer().calls().map(|call| &call.id).collect();
        let batch = std::mem::take(&mut self.batch);
        // Without preparation: a complete answer that came under a cancel.
        let expected = if batch.is_empty() { calls_in(event) } else { batch.len() };
        hold(Invariant::CallsAnswered, calls.len() == expected, || {
            format!("{} of {expected} calls in history", calls.len())
        })?;
        let same = batch.iter().zip(&calls).all(|(seen, call)| seen.id == **call);
        hold(Invariant::CallsAnswered, same, || "the calls in history are others than those prepared".to_owned())?;
        let in_order = round.results().len() == calls.len()
            && round.results().iter().zip(&calls).all(|(result, call)| result.call() == *call);
        hold(Invariant::CallsAnswered, in_order, || format!("{:?} do not answer {calls:?}", round.results()))?;
        for (number, result) in round.results().iter().enumerate() {
            let is_run = batch.get(number).is_some_and(|seen: &Seen| seen.is_run && !seen.is_unbegun);
            let (content, says_not_run) = (result.content(), result.content().starts_with("not run"));
            let fits = if is_run { !says_not_run } else { result.is_error() && !content.starts_with("interrupted") };
            hold(Invariant::CallsAnswered, fits, || {
                format!("{} (run: {is_run}) is answered `{content}`", result.call())
            })?;
        }
        Ok(())
    }

    /// At rest no call is open.
    fn judge_rest(&self, edge: &Edge<'_>) -> Result<(), Fault> {
        let rests = matches!(edge.after.state(), State::WaitingForUserInput | State::ShuttingDown | State::CallingLlm);
        hold(Invariant::CallsAnswered, !rests || self.batch.is_empty(), || {
            format!("{} calls are open in {:?}", self.batch.len(), edge.after.state())
        })
    }
}

/// Calls of an answer, complete or not: all of them are in the history.
fn calls_in(event: &Event) -> usize {
    match event {
        Event::LlmCompleted { response, .. } => {
            response.blocks.iter().filter(|block| matches!(block, ResponseBlock::Call(_))).count()
        }
        _ => 0,
    }
}

/// Whether an item begins with a paused answer.
fn continues(old: &Item, new: &Item) -> bool {
    let Item::Answer(paused) = old else { return false };
    let longer: &[Block] = match new {
        Item::Answer(answer) => answer.blocks(),
        Item::Round(round) => round.answer().blocks(),
        Item::Input(_) | Item::Summary(_) => return false,
    };
    paused.is_paused() && longer.len() > paused.blocks().len() && longer.starts_with(paused.blocks())
}

/// Whether an item is a paused answer that nothing continues any more.
fn is_closed(old: &Item, new: &Item) -> bool {
    match (old, new) {
        (Item::Answer(old), Item::Answer(new)) => old.is_paused() && !new.is_paused() && old.blocks() == new.blocks(),
        _ => false,
    }
}

/// Whether an item is a round whose results were clipped after an overflow.
fn is_clipped(event: &Event, old: &Item, new: &Item) -> bool {
    let is_overflow = matches!(event, Event::LlmFailed { error, .. } if error.kind == LlmErrorKind::ContextOverflow);
    match (old, new) {
        (Item::Round(old), Item::Round(new)) => {
            let ids = |round: &Round| round.answer().calls().cloned().collect::<Vec<ToolCall>>();
            is_overflow && ids(old) == ids(new) && old.results().len() == new.results().len()
        }
        _ => false,
    }
}
