//! What a parent and a child have to take of each other: the whole protocol between them, as one function without a state.

use super::event::{Event, Gate};
use super::outcome::{Outcome, Rest, Word};
use super::table::State;
use super::{Child, lease::Spent};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use serde::{Deserialize, Serialize};

/// What a child's journal says. Only what is durable there counts: what a crash could take back is not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildView<'a> {
    /// There is no journal.
    Absent,
    /// It cannot be read, and something below the child may still be at work.
    Unreadable {
        /// What was found.
        found: &'a str,
    },
    /// It cannot be read, and nothing below the child is at work.
    Alone {
        /// What was found.
        found: &'a str,
        /// What those below it spent.
        spent: Spent,
    },
    /// It can be read.
    Present(Present<'a>),
}

/// The levels that a child's journal has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Present<'a> {
    /// The newest run that was begun.
    pub run: u32,
    /// How many messages it took in that run.
    pub messages: u32,
    /// How many questions it asked in that run.
    pub questions: u32,
    /// What it asks, while it waits.
    pub question: Option<&'a str>,
    /// The outcome of that run, once it has one.
    pub rest: Option<&'a Rest>,
    /// The last thing that it took from its parent about the run as a whole.
    pub order: Option<&'a Order>,
}

/// What a child takes from its parent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// It is to stop, with all below it.
    Stop,
    /// A message.
    Message {
        /// Its number, counted from 1 over the run.
        number: u32,
        /// The message.
        text: String,
    },
    /// It answers to its parent no more.
    TakeOver,
    /// Its outcome is in the parent's journal: it may let go of what it keeps for another run.
    Dismiss,
}

/// One thing that has to be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Due {
    /// By the parent's machine of the child.
    Parent(Box<Event>),
    /// By the child.
    Child(Order),
}

/// The next thing that one of the two has to take, or nothing when each has what the other's journal says. Stops come first: nothing else
/// happens below an agent that is being stopped before all know it.
///
/// Both sides are what is durable. `gate` is what would stand in the way of another run of the child.
#[must_use]
pub fn due(child: &Child, view: &ChildView<'_>, gate: &Gate) -> Option<Due> {
    match view {
        ChildView::Absent if child.begun == child.run => lost(child, "there is no journal", None, gate),
        ChildView::Absent => None,
        ChildView::Unreadable { found } => lost(child, found, None, gate),
        ChildView::Alone { found, spent } => lost(child, found, Some(spent), gate),
        // A run that is wanted is begun by its action; until then the journal has an earlier one.
        ChildView::Present(present) if present.run != child.run => None,
        ChildView::Present(present) => down(child, present).or_else(|| up(child, present, gate)),
    }
}

fn down(child: &Child, present: &Present<'_>) -> Option<Due> {
    let is_over = present.rest.is_some();
    let order = match child.state {
        State::Stopping if !is_over => Order::Stop,
        State::Detached => Order::TakeOver,
        State::Clearing | State::Ended | State::Told if is_over => Order::Dismiss,
        State::Working | State::Asking if !is_over => {
            let ahead = present.messages.checked_sub(child.taken)?;
            let text = child.waiting.get(usize::try_from(ahead).ok()?)?.clone();
            return Some(Due::Child(Order::Message { number: present.messages.saturating_add(1), text }));
        }
        State::Planned
        | State::Wanted
        | State::Starting
        | State::Working
        | State::Asking
        | State::Stopping
        | State::Clearing
        | State::Ended
        | State::Told => return None,
    };
    (present.order != Some(&order)).then_some(Due::Child(order))
}

fn parent(event: Event) -> Option<Due> {
    Some(Due::Parent(Box::new(event)))
}

fn up(child: &Child, present: &Present<'_>, gate: &Gate) -> Option<Due> {
    let run = child.run;
    if child.has_rested() {
        return None;
    }
    if child.begun != run {
        return parent(Event::Begun { run });
    }
    if present.messages > child.taken && !child.waiting.is_empty() {
        return parent(Event::MessageTaken { run, number: child.taken.saturating_add(1) });
    }
    if let Some(rest) = present.rest {
        return parent(Event::Rested { run, rest: rest.clone(), gate: gate.clone() });
    }
    let is_new = present.questions > child.questions;
    match present.question {
        // It continued and asks again.
        Some(_) if is_new && child.state == State::Asking => parent(Event::WentOn { run }),
        Some(question) if is_new => {
            parent(Event::Asked { run, number: present.questions, question: question.to_string() })
        }
        None if child.state == State::Asking => parent(Event::WentOn { run }),
        Some(_) | None => None,
    }
}

/// A child whose journal cannot be read: what is below it is stopped first, and then it has an outcome.
fn lost(child: &Child, found: &str, below: Option<&Spent>, gate: &Gate) -> Option<Due> {
    let run = child.run;
    if child.has_rested() {
        return None;
    }
    if child.lost.is_none() {
        return parent(Event::Lost { run, found: found.to_string() });
    }
    let rest = Rest { outcome: Outcome::new(Word::Lost, ""), spent: *below?, is_repeatable: false };
    parent(Event::Rested { run, rest, gate: gate.clone() })
}
