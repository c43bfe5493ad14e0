//! Where the user's messages are: each in one place, and in order.

use super::{Edge, Observed};
use crate::invariants::{Fault, Invariant, hold};
use agent_core::conversation::{Conversation, Item};
use agent_core::session::{Action, Event, Session, State, Transition, Trigger};

/// The user's messages, as bits by their numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inputs {
    /// Accepted.
    pub(crate) given: u128,
    /// Handed back.
    pub(crate) returned: u128,
    /// In the history, until a summary replaced them.
    pub(crate) summarised: u128,
    /// Typed while a cancel was pending.
    pub(crate) under_cancel: u128,
    /// Sent while a turn was going on, to wait for its end.
    later: u128,
    /// Those of them whose turn is still going on.
    waiting: u128,
}

impl Inputs {
    /// The text of a message.
    pub(crate) fn text(number: u32) -> String {
        format!("input-{number:02}")
    }

    /// What is known of messages that may not go out yet, as a number.
    pub(crate) const fn word(&self) -> u64 {
        let waiting = self.waiting & !self.returned;
        (self.under_cancel.count_ones() as u64) << 32 | waiting.count_ones() as u64
    }

    pub(super) fn number(text: &str) -> Option<u32> {
        text.strip_prefix("input-")?.parse().ok().filter(|number| *number < u128::BITS)
    }

    fn history(&self, conversation: &Conversation) -> Result<u128, Fault> {
        let texts = conversation.iter().filter_map(|item| match item.as_ref() {
            Item::Input(input) => Some(input.texts()),
            Item::Summary(summary) => Some(summary.said().iter().map(String::as_str).collect()),
            Item::Answer(_) | Item::Round(_) => None,
        });
        self.gathered(texts.flatten(), "the history")
    }

    /// The messages among these texts, each once; those that waited for the end of a turn are in order, and so are the others.
    fn gathered<'a>(&self, texts: impl Iterator<Item = &'a str>, place: &str) -> Result<u128, Fault> {
        let mut bits = 0_u128;
        for number in texts.filter_map(Self::number) {
            let bit = 1 << number;
            let alike = if self.later & bit == 0 { bits & !self.later } else { bits & self.later };
            hold(Invariant::InputKept, alike >> number == 0, || {
                format!("{} stands twice or late in {place}", Self::text(number))
            })?;
            bits |= bit;
        }
        Ok(bits)
    }
}

impl Observed {
    pub(super) fn follow_inputs(&mut self, edge: &Edge<'_>) -> Result<(), Fault> {
        if let Some(text) = edge.event.message() {
            let bit = Inputs::number(text).map_or(0, |number| 1 << number);
            self.inputs.given |= bit;
            // At rest it does not wait.
            let waits = matches!(edge.event, Event::InputAfterTurn { .. });
            if waits && edge.before.state() != State::WaitingForUserInput {
                self.inputs.later |= bit;
                self.inputs.waiting |= bit;
            }
            if self.is_cancelled {
                self.inputs.under_cancel |= bit;
            }
        }
        self.judge_waiting(edge)?;
        for action in &edge.step.actions {
            if let Action::DisplayError { returned_input: texts, .. } | Action::ReturnQueuedInput { texts } = action {
                let handed_back = self.inputs.gathered(texts.iter().map(String::as_str), "what is handed back")?;
                let twice = handed_back & self.inputs.returned;
                hold(Invariant::InputKept, twice == 0, || format!("{twice:b} handed back twice"))?;
                self.inputs.returned |= handed_back;
            }
        }
        let in_history = self.inputs.history(edge.after.conversation())?;
        let lost = self.inputs.history(edge.before.conversation())? & !in_history;
        let may_summarise =
            matches!(edge.event, Event::LlmCompleted { .. }) && edge.before.state() == State::Compacting;
        hold(Invariant::InputKept, lost == 0 || may_summarise, || format!("{lost:b} left the history"))?;
        self.inputs.summarised |= lost;
        self.judge_places(edge.after, in_history)?;
        self.judge_typed_ahead(edge.after)
    }

    /// What waits for the end of the turn is in no request of it.
    fn judge_waiting(&mut self, edge: &Edge<'_>) -> Result<(), Fault> {
        let over = |done: &Transition| done.on == Trigger::CompactionCompletedWorkDue;
        if edge.step.notes.begins_turn || edge.step.transitions.iter().any(over) {
            self.inputs.waiting = 0;
        }
        for action in &edge.step.actions {
            let Action::SendLlmRequest { request, .. } = action else { continue };
            let early = self.inputs.history(&request.conversation)? & self.inputs.waiting;
            hold(Invariant::InputKept, early == 0, || format!("{early:b} does not wait for the end of the turn"))?;
        }
        Ok(())
    }

    fn judge_places(&self, after: &Session, in_history: u128) -> Result<(), Fault> {
        let pending = self.inputs.gathered(after.pending_input(), "what is pending")?;
        let Inputs { given, returned, summarised, .. } = self.inputs;
        let places = [in_history, pending, returned, summarised];
        let all = places.iter().fold(0, |all, place| all | place);
        let once = places.iter().map(|place| place.count_ones()).sum::<u32>() == all.count_ones();
        hold(Invariant::InputKept, once, || format!("a message stands twice: {places:?}"))?;
        hold(Invariant::InputKept, all == given, || format!("accepted {given:b}, found {places:?}"))?;
        let is_over = after.state() == State::ShuttingDown;
        hold(Invariant::ShutdownArrives, !is_over || pending == 0, || format!("{pending:b} pending after the end"))
    }

    /// What was typed under a cancel is handed back with its end.
    fn judge_typed_ahead(&mut self, after: &Session) -> Result<(), Fault> {
        if self.is_cancelled {
            return Ok(());
        }
        let kept = self.inputs.under_cancel & !self.inputs.returned;
        self.inputs.under_cancel = 0;
        hold(Invariant::CancelStopsAll, kept == 0, || format!("{kept:b} not handed back in {:?}", after.state()))
    }
}
