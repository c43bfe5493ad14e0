//! An agent that another one began: what it took from its parent, and what its parent can see of it.
//!
//! Parent and child send each other nothing: each looks at what the other's journal says ([`child::due`]). So all that is here follows from
//! what is recorded of this agent alone.

use super::{Agent, Event, Rejected, Step};
use crate::child::lease::Spent;
use crate::child::{ChildView, Order, Outcome, Present, Rest, Verified, Word};
use crate::lifecycle::{self, Lifecycle};
use crate::permission::Permissions;
use crate::session::{self, Denial, OutcomeKind};
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use statetable::Rendering;

/// What an agent has of its parent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Origin {
    /// Whether a question ends it: it may change its parent's files, so its parent waits for it.
    is_awaited: bool,
    /// Whether it has its task.
    has_task: bool,
    messages: u32,
    questions: u32,
    question: Option<String>,
    rest: Option<Rest>,
    order: Option<Order>,
    changed: BTreeSet<String>,
}

impl Agent {
    /// The same agent as the child of another. One that changes its parent's files does not wait: a question ends it.
    #[must_use]
    pub fn of_parent(mut self, changes_files: bool) -> Self {
        self.origin = Some(Box::new(Origin { is_awaited: changes_files, ..Origin::default() }));
        self
    }

    /// Whether another agent began it.
    #[must_use]
    pub const fn is_child(&self) -> bool {
        self.origin.is_some()
    }

    /// What its parent can see of it. A driver shows it what is durable.
    #[must_use]
    pub fn seen(&self) -> ChildView<'_> {
        let Some(origin) = self.origin.as_deref() else { return ChildView::Absent };
        ChildView::Present(Present {
            run: u32::from(origin.has_task),
            messages: origin.messages,
            questions: origin.questions,
            question: origin.question.as_deref(),
            rest: origin.rest.as_ref(),
            order: origin.order.as_ref(),
        })
    }

    /// Whether it has the task that it was begun with.
    #[must_use]
    pub fn has_task(&self) -> bool {
        self.origin.as_deref().is_some_and(|origin| origin.has_task)
    }

    /// Whether its parent has its outcome, so that nothing is expected of it any more.
    #[must_use]
    pub fn is_dismissed(&self) -> bool {
        self.origin.as_deref().is_some_and(|origin| origin.order == Some(Order::Dismiss))
    }

    /// It takes what its parent asks for.
    pub(super) fn ordered(
        &mut self,
        at_ms: u64,
        order: Order,
        step: &mut Step,
        rendering: Rendering,
    ) -> Result<(), Rejected> {
        let Some(origin) = self.origin.as_deref() else { return Err(Rejected::NoParent { event: "Ordered" }) };
        let next = origin.messages.saturating_add(1);
        let event = match &order {
            Order::Message { number, .. } if *number != next => return Err(Rejected::OutOfOrder { number: *number }),
            Order::Message { text, .. } => {
                session::Event::UserInput { text: crate::conversation::UserMessage::of_agent(text.as_str()) }
            }
            Order::Stop => session::Event::CancelRequested,
            Order::Dismiss | Order::TakeOver => {
                step.session = session::Step::empty();
                self.remember(order);
                return Ok(());
            }
        };
        self.dispatch(at_ms, Event::Session(event), step, rendering)?;
        self.remember(order);
        Ok(())
    }

    fn remember(&mut self, order: Order) {
        let Some(origin) = self.origin.as_deref_mut() else { return };
        match order {
            Order::Message { number, .. } => origin.messages = number,
            Order::Stop | Order::Dismiss | Order::TakeOver => origin.order = Some(order),
        }
    }

    /// The policies of those above it are others from here on.
    pub(super) fn held_below(&mut self, above: Vec<Permissions>, step: &mut Step) -> Result<(), Rejected> {
        if self.origin.is_none() {
            return Err(Rejected::NoParent { event: "HeldBelow" });
        }
        step.session = session::Step::empty();
        self.session.hold_below(above);
        Ok(())
    }

    /// What an event says about the files that the agent changes.
    pub(super) fn note_changes(&mut self, event: &Event) {
        let Some(origin) = self.origin.as_deref_mut() else { return };
        if let Event::Session(session::Event::ToolCompleted { outcome, .. }) = event {
            let room = MAX_CHANGED.saturating_sub(origin.changed.len());
            origin.changed.extend(outcome.changed_paths.iter().take(room).cloned());
        }
    }

    /// What its parent can see of it after a step.
    pub(super) fn show_to_parent(&mut self) {
        let Some(mut origin) = self.origin.take() else { return };
        origin.has_task |= !self.session.conversation().is_empty() || self.session.pending_input().next().is_some();
        let rests = origin.has_task && (self.is_idle() || self.has_ended() || self.session.is_over());
        if !rests {
            (origin.question, origin.rest) = (None, None);
        } else if origin.rest.is_none() {
            let is_stopped = origin.order == Some(Order::Stop);
            match self.asks().filter(|_| !is_stopped) {
                Some(_) if origin.question.is_some() => {}
                Some(question) if !origin.is_awaited => {
                    origin.questions = origin.questions.saturating_add(1);
                    origin.question = Some(question);
                }
                asked => {
                    origin.question = None;
                    origin.rest = Some(self.rest(asked, is_stopped, &origin.changed));
                }
            }
        }
        self.origin = Some(origin);
    }

    /// What it asks, where it waits for an answer.
    fn asks(&self) -> Option<String> {
        match self.lifecycle().and_then(Lifecycle::outcome)? {
            lifecycle::Outcome::Waiting { summary } => Some(summary.clone()),
            lifecycle::Outcome::Done { .. }
            | lifecycle::Outcome::TurnEnded
            | lifecycle::Outcome::TurnFailed
            | lifecycle::Outcome::Cancelled
            | lifecycle::Outcome::NotKept { .. }
            | lifecycle::Outcome::Uncheckable { .. }
            | lifecycle::Outcome::TimedOut { .. }
            | lifecycle::Outcome::TurnOutOfBudget
            | lifecycle::Outcome::BudgetExceeded
            | lifecycle::Outcome::SessionEnded
            | lifecycle::Outcome::Dismissed => None,
        }
    }

    fn rest(&self, asked: Option<String>, is_stopped: bool, changed: &BTreeSet<String>) -> Rest {
        let run = self.outcome();
        let kind = run.as_ref().map_or(OutcomeKind::Success, |run| run.kind);
        let last = run.as_ref().map_or("", |run| run.text.as_str());
        let mut outcome = match asked {
            Some(question) => Outcome::new(Word::Asks, &question),
            None if is_stopped => Outcome::new(Word::Cancelled, last),
            None => Outcome::new(self.word(kind), last),
        };
        outcome.reason = run.as_ref().and_then(|run| run.error.clone()).filter(|_| outcome.word != Word::Asks);
        let denials = run.as_ref().map_or(&[][..], |run| &run.denials);
        let unasked = denials.iter().filter(|denial: &&Denial| denial.nobody_to_ask).count();
        let below = self.family.as_deref().map_or(0, |family| family.denials());
        outcome.unasked_denials = u32::try_from(unasked).unwrap_or(u32::MAX).saturating_add(below);
        outcome.verified = self.verified();
        outcome.changed = changed.iter().cloned().collect();
        Rest { outcome, spent: self.spent(), is_repeatable: false }
    }

    fn word(&self, kind: OutcomeKind) -> Word {
        let is_late = self.session.ended_by_limit() == Some(crate::budget::LimitKind::WallTime);
        match kind {
            OutcomeKind::Success | OutcomeKind::Permission | OutcomeKind::Waiting => Word::Done,
            OutcomeKind::VerificationFailed => Word::NotKept,
            OutcomeKind::Failed | OutcomeKind::Authentication | OutcomeKind::Provider => Word::Failed,
            OutcomeKind::CallLimit | OutcomeKind::Budget if is_late => Word::TimedOut,
            OutcomeKind::CallLimit | OutcomeKind::Budget => Word::OutOfBudget,
            OutcomeKind::Cancelled if self.session.ended_by_limit().is_some() => Word::TimedOut,
            OutcomeKind::Cancelled => Word::Cancelled,
        }
    }

    fn verified(&self) -> Option<Verified> {
        let lifecycle = self.lifecycle()?;
        let of = u32::try_from(lifecycle.commitments().len()).unwrap_or(u32::MAX);
        let kept = match lifecycle.outcome()? {
            lifecycle::Outcome::Done { kept } => u32::try_from(*kept).unwrap_or(u32::MAX),
            lifecycle::Outcome::NotKept { gaps, .. } | lifecycle::Outcome::Uncheckable { gaps } => {
                of.saturating_sub(u32::try_from(gaps.len()).unwrap_or(u32::MAX))
            }
            lifecycle::Outcome::TurnEnded
            | lifecycle::Outcome::TurnFailed
            | lifecycle::Outcome::Cancelled
            | lifecycle::Outcome::Waiting { .. }
            | lifecycle::Outcome::TimedOut { .. }
            | lifecycle::Outcome::TurnOutOfBudget
            | lifecycle::Outcome::BudgetExceeded
            | lifecycle::Outcome::SessionEnded
            | lifecycle::Outcome::Dismissed => 0,
        };
        (of > 0).then_some(Verified { kept, of })
    }

    /// What it and those below it spent.
    #[must_use]
    pub fn spent(&self) -> Spent {
        self.session.ledger().whole()
    }
}

/// Most paths that a child names to its parent.
const MAX_CHANGED: usize = 1_000;
