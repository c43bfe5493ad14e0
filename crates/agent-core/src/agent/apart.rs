//! Journals up to format 4 recorded the session and the lifecycle separately: what followed from the session is there as an event of
//! the lifecycle, and every message twice. They are read as they were written; the first event of a program that resumes such an agent
//! joins both machines.

use super::{Agent, Oversight, Step, signals};
use crate::conversation::{Item, UserMessage};
use crate::lifecycle::{self, Lifecycle, LifecycleConfig};
use crate::session::{self, Session, Transition, Trigger};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use statetable::Rendering;

/// What lies between the two machines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Apart {
    /// Messages given to the session that it has not taken, oldest first.
    given: VecDeque<UserMessage>,
    /// Whether the session took a message that did not come from the lifecycle: then its runs do not concern the lifecycle.
    is_passed_over: bool,
}

impl Oversight {
    pub(super) fn is_passed_over(&self) -> bool {
        self.apart.as_ref().is_some_and(|apart| apart.is_passed_over)
    }
}

impl Apart {
    fn session_moved(&mut self, transition: &Transition) {
        if transition.on == Trigger::UserInput && self.given.pop_front().is_none() {
            self.is_passed_over = true;
        }
    }
}

impl Agent {
    /// A lifecycle begins whose events are all recorded.
    pub(crate) fn bind_apart(&mut self, config: LifecycleConfig) {
        let oversight = Oversight { apart: Some(Apart::default()), ..Oversight::new(Lifecycle::new(config)) };
        self.oversight = Some(Box::new(oversight));
    }

    /// Whether a journal is read that recorded both machines separately.
    pub(super) fn is_apart(&self) -> bool {
        self.oversight.as_deref().is_some_and(|oversight| oversight.apart.is_some())
    }

    /// A message as the lifecycle gave it: the record of what the session took does not say whose words it is.
    pub(super) fn as_given(&self, event: session::Event) -> session::Event {
        let given = self.oversight.as_deref().and_then(|oversight| oversight.apart.as_ref()?.given.front());
        match (event, given) {
            (session::Event::UserInput { text }, Some(given)) if text.text == given.text => {
                session::Event::UserInput { text: UserMessage { author: given.author, ..text } }
            }
            (event, _) => event,
        }
    }

    pub(super) fn session_moved_apart(&mut self, transitions: &[Transition]) {
        if let Some(apart) = self.oversight.as_deref_mut().and_then(|oversight| oversight.apart.as_mut()) {
            transitions.iter().for_each(|transition| apart.session_moved(transition));
        }
    }

    /// Lets the lifecycle alone take an event of such a journal; `None` if there is no such lifecycle.
    pub(crate) fn lifecycle_apart(
        &mut self,
        at_ms: u64,
        event: lifecycle::Event,
    ) -> Option<Result<lifecycle::Step, lifecycle::Rejected>> {
        let oversight = self.oversight.as_deref_mut()?;
        let apart = oversight.apart.as_mut()?;
        let is_turn = matches!(event, lifecycle::Event::TurnEnded { .. });
        let step = match oversight.lifecycle.step(at_ms, event) {
            Ok(step) => step,
            Err(rejected) => return Some(Err(rejected)),
        };
        for action in &step.actions {
            if let lifecycle::Action::SendInput { text } = action {
                apart.given.push_back(text.clone());
            }
            if let lifecycle::Action::SendGapReport { text, .. } = action {
                apart.given.push_back(UserMessage::of_agent(text.as_str()));
            }
        }
        if let Some(turn) = self.session.outcome().filter(|_| is_turn) {
            oversight.turns.add(&turn);
        }
        Some(Ok(step))
    }

    /// From here on both machines take one step. What the program before had not passed on is passed on now.
    pub(super) fn join(&mut self, at_ms: u64, left_ms: u64, step: &mut Step, rendering: Rendering) {
        if let Some(oversight) = self.oversight.as_deref_mut() {
            oversight.lifecycle.resume(at_ms, left_ms);
        }
        let Some(apart) = self.oversight.as_deref_mut().and_then(|oversight| oversight.apart.take()) else { return };
        if apart.is_passed_over {
            step.down.actions = self.release();
            return;
        }
        // A signal is in the session's history before it was recorded as one.
        if apart.given.is_empty() && self.session.pending_input().next().is_none() {
            let signals = last_signals(&self.session);
            if let Some(oversight) = self.oversight.as_deref_mut().filter(|over| over.lifecycle.takes_signals()) {
                signals.into_iter().for_each(|signal| oversight.tell(at_ms, signal, &mut step.up));
            }
        }
        let mut one = session::Step::empty();
        for text in apart.given {
            // A session that has ended takes nothing, and says so to the lifecycle.
            if self.session.step_into(at_ms, session::Event::UserInput { text }, &mut one, rendering).is_ok() {
                step.session.transitions.append(&mut one.transitions);
                step.session.actions.append(&mut one.actions);
            }
        }
        self.report(at_ms, self.session.conversation().len(), step);
    }
}

/// The signals of the last answer that called tools, when nothing was said to the model since.
fn last_signals(session: &Session) -> Vec<lifecycle::Event> {
    let items: Vec<_> = session.conversation().iter().collect();
    let since =
        items.iter().rev().take(2).take_while(|item| !matches!(item.as_ref(), Item::Input(_) | Item::Summary(_)));
    let last = since.into_iter().find_map(|item| match item.as_ref() {
        Item::Round(round) => Some(signals(round)),
        Item::Input(_) | Item::Summary(_) | Item::Answer(_) => None,
    });
    last.unwrap_or_default()
}
