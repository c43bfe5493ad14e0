//! The session machine as a model: the real `step`, and what must hold on every edge and in every state.

pub(crate) mod key;

use super::events;
use super::explore::Model;
use super::world::{Bounds, World};
use crate::invariants::{Fault, Invariant, Tally, hold};
use crate::observed::{Edge, Inputs, Observed};
use crate::request::{self, FORMATS, Format};
use crate::session as notation;
use crate::session::commands::{Bound, bound};
use agent_core::budget::Limits;
use agent_core::llm::{ResponseBlock, StopReason};
use agent_core::session::{Action, Event, Objection, Rejected, Session, SessionConfig, SessionTable, State, Step};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A session with what is known of it from outside, and what its environment may still do.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) session: Session,
    pub(crate) observed: Observed,
    pub(crate) left: Bounds,
}

impl Node {
    /// A message that was never sent.
    pub(crate) fn next_input(&self) -> Event {
        Event::UserInput { text: self.next_text().into() }
    }

    pub(crate) fn next_text(&self) -> String {
        Inputs::text(self.observed.inputs.given.count_ones() + 1)
    }
}

/// Sessions in a world.
pub(crate) struct Sessions<'a> {
    world: &'a World,
    config: SessionConfig,
    table: &'static SessionTable,
    /// One state in so many is rebuilt from its events.
    pub(super) replay_one_in: u64,
    /// The machine's step. Only a test that plants a fault puts another one here.
    pub(super) step: Stepper,
    /// The formats that requests are judged by: all, but for a test of what each finds by itself.
    pub(super) formats: &'static [Format],
}

/// What a session does with an event.
pub(crate) type Stepper = fn(&mut Session, Event) -> Result<Step, Rejected>;

impl<'a> Sessions<'a> {
    pub(crate) fn new(world: &'a World, table: &'static SessionTable) -> Result<Self, String> {
        let config = world.session_config()?;
        world.other_configs().try_for_each(|other| other.map(drop))?;
        Ok(Self { world, config, table, replay_one_in: REPLAY_ONE_IN, step: true_step, formats: FORMATS })
    }

    /// A step that may panic, which is a fault.
    fn step(&self, session: &mut Session, event: Event) -> Result<Result<Step, Rejected>, Fault> {
        let name = event.name();
        catch_unwind(AssertUnwindSafe(|| (self.step)(session, event)))
            .map_err(|_| Fault::new(Invariant::NoPanic, format!("{name} panics")))
    }
}

pub(crate) fn true_step(session: &mut Session, event: Event) -> Result<Step, Rejected> {
    session.step(NOW_MS, event)
}

/// One state in so many is rebuilt from its events.
const REPLAY_ONE_IN: u64 = 64;
/// Time stands still: what it decides comes with events, as a deadline that is reached or a requested delay.
const NOW_MS: u64 = 0;

impl Model for Sessions<'_> {
    type Node = Node;
    type Choice = Event;

    fn initial(&self) -> Node {
        let session = Session::with_table(self.config.clone(), self.table);
        Node { session, observed: Observed::default(), left: self.world.bounds }
    }

    fn choices(&self, node: &Node) -> Vec<Event> {
        events::choices(self.world, node)
    }

    fn take(&self, node: &Node, event: &Event, tally: &mut Tally) -> Result<Option<Node>, Fault> {
        let mut session = node.session.clone();
        let step = match self.step(&mut session, event.clone())? {
            Ok(step) => step,
            Err(rejected) => {
                tally.refusals += 1;
                may_be_refused(node, event, &rejected)?;
                let is_same = session == node.session;
                hold(Invariant::RefusalChangesNothing, is_same, || format!("{} changed something", rejected.event))?;
                return Ok(None);
            }
        };
        let edge = Edge { before: &node.session, event, step: &step, after: &session, formats: self.formats };
        let observed = node.observed.next(&edge, tally)?;
        let answered = node.observed.open.as_ref().filter(|open| open.is_answered_by(event));
        hold(Invariant::NotStuck, answered.is_none() || observed.open != node.observed.open, || {
            format!("an answer changes nothing: {answered:?} is still open")
        })?;
        session.forget_trace();
        let mut left = node.left;
        spend(&mut left, event);
        Ok(Some(Node { session, observed, left }))
    }

    fn inspect(&self, node: &Node, path: &dyn Fn() -> Vec<Event>, tally: &mut Tally) -> Result<(), Fault> {
        let state = node.session.state();
        hold(Invariant::NotStuck, !self.table.is_passing(state), || format!("it rests in {state:?}"))?;
        node.observed.agrees_with(&node.session)?;
        self.judge_without_effect(node, tally)?;
        if !matches!(state, State::Ready | State::ShuttingDown) && node.left.inputs == 0 {
            let accepted = self.step(&mut node.session.clone(), node.next_input())?;
            hold(Invariant::InputAccepted, accepted.is_ok(), || format!("a message is refused in {state:?}"))?;
        }
        if state == State::WaitingForUserInput {
            self.judge_next_request(node, tally)?;
        }
        if (self.key(node) as u64).is_multiple_of(self.replay_one_in) {
            tally.replays += 1;
            self.judge_replay(node, path())?;
        }
        Ok(())
    }

    fn key(&self, node: &Node) -> u128 {
        key::of(self.world, node)
    }

    fn show(&self, node: &Node, event: &Event) -> String {
        let mut out = notation::line(event);
        let mut session = node.session.clone();
        match self.step(&mut session, event.clone()) {
            Ok(Ok(step)) => {
                let actions: Vec<String> = step.actions.iter().map(action_name).collect();
                out.push_str(&format!("\n    {:?} [{}]", session.state(), actions.join(", ")));
            }
            Ok(Err(rejected)) => out.push_str(&format!("\n    {rejected}")),
            Err(_) => out.push_str("\n    a panic"),
        }
        out
    }
}

impl Sessions<'_> {
    /// The same events give the same session. That records survive JSON is tested elsewhere: reading them here would take longer to
    /// build than everything else.
    fn judge_replay(&self, node: &Node, path: Vec<Event>) -> Result<(), Fault> {
        let mut again = Session::with_table(self.config.clone(), self.table);
        for event in path {
            // A refusal was a refusal then, too.
            let _ = self.step(&mut again, event)?;
        }
        again.forget_trace();
        hold(Invariant::ReplayEqual, again == node.session, || "the replayed session is another one".to_owned())?;
        let bytes = |session: &Session| {
            let wrong = |error: serde_json::Error| Fault::new(Invariant::ReplayEqual, error.to_string());
            serde_json::to_vec(session).map_err(wrong)
        };
        let (expected, found) = (bytes(&node.session)?, bytes(&again)?);
        hold(Invariant::ReplayEqual, expected == found, || "the replayed session has other bytes".to_owned())
    }

    /// Late, repeated and unknown answers are refused, pieces of text are shown, late timers pass, and none leaves a trace. All are given
    /// to one session, which must be the same at the end; only if it is not, each is given to one of its own.
    fn judge_without_effect(&self, node: &Node, tally: &mut Tally) -> Result<(), Fault> {
        let events = events::without_effect(node);
        let mut session = node.session.clone();
        for event in &events {
            let result = self.step(&mut session, event.clone())?;
            if event.is_transient() {
                let is_open = !matches!(result, Ok(Step { ref transitions, .. }) if !transitions.is_empty());
                hold(Invariant::RefusalChangesNothing, is_open, || format!("{} moves something", event.name()))?;
                continue;
            }
            if events::is_late(node, event) {
                hold(Invariant::LateTimersPass, matches!(&result, Ok(step) if step.is_empty()), || {
                    format!("{} that is late: {result:?}", event.name())
                })?;
                continue;
            }
            tally.refusals += 1;
            let invariant = match node.session.state() {
                State::ShuttingDown => Invariant::NothingAfterTheEnd,
                _ => Invariant::StaleRefused,
            };
            hold(invariant, result.is_err(), || {
                format!("accepted in {:?}: {}", node.session.state(), notation::line(event))
            })?;
        }
        if session == node.session {
            return Ok(());
        }
        for event in events {
            let mut session = node.session.clone();
            let name = event.name();
            let _ = self.step(&mut session, event)?;
            hold(Invariant::RefusalChangesNothing, session == node.session, || format!("{name} changed something"))?;
        }
        Err(Fault::new(Invariant::RefusalChangesNothing, "refusals change something together"))
    }

    /// From every prompt the history can be sent with the next message, once no limit is in the way.
    fn judge_next_request(&self, node: &Node, tally: &mut Tally) -> Result<(), Fault> {
        let mut session = node.session.clone();
        let mut sent = Vec::new();
        for event in [Event::BudgetRaised { limits: Limits::default() }, node.next_input()] {
            if let Ok(step) = self.step(&mut session, event)? {
                sent.extend(step.actions);
            }
        }
        // Hooks that let everything pass.
        while let Some(Action::RunHooks { ticket, .. }) = session.outstanding().first().map(|open| open.action.clone())
        {
            let passed = Event::HooksFinished { ticket, report: Box::default() };
            match self.step(&mut session, passed)? {
                Ok(step) => sent.extend(step.actions),
                Err(_) => break,
            }
        }
        let mut requests = sent.iter().filter_map(|action| match action {
            Action::SendLlmRequest { request, .. } => Some(request),
            _ => None,
        });
        let first =
            requests.next().ok_or_else(|| Fault::new(Invariant::ValidForMessages, "nothing is sent after a prompt"))?;
        request::judge(self.formats, first, tally)
    }
}

/// Of what is offered only a summary may be refused: when there is nothing to summarise.
fn may_be_refused(node: &Node, event: &Event, rejected: &Rejected) -> Result<(), Fault> {
    let invariant = match event {
        Event::CompactionRequested | Event::FocusedCompactionRequested { .. }
            if rejected.reason == Objection::NothingToCompact.into() =>
        {
            return Ok(());
        }
        message if message.message().is_some() => Invariant::InputAccepted,
        Event::CancelRequested => Invariant::CancelArrives,
        Event::ShutdownRequested => Invariant::ShutdownArrives,
        _ => Invariant::NotStuck,
    };
    Err(Fault::new(invariant, format!("{rejected}, while {:?} is open", node.observed.open)))
}

/// What an event takes from what may still happen.
fn spend(left: &mut Bounds, event: &Event) {
    let one = |left: &mut u8| *left = left.saturating_sub(1);
    match bound(event) {
        Some(Bound::Messages) => one(&mut left.inputs),
        Some(Bound::Raises) => one(&mut left.raises),
        Some(Bound::Changes) => one(&mut left.changes),
        Some(Bound::Summaries) => one(&mut left.summaries),
        Some(Bound::Deaths) => one(&mut left.deaths),
        Some(Bound::Cancels | Bound::Ends) | None => {}
    }
    if let Event::LlmCompleted { response, .. } = event {
        let has_calls = response.blocks.iter().any(|block| matches!(block, ResponseBlock::Call(_)));
        if has_calls {
            one(&mut left.rounds);
        } else if response.stop == StopReason::Paused {
            one(&mut left.pauses);
        }
    }
}

/// An action's name.
pub(crate) fn action_name(action: &Action) -> String {
    let shown = format!("{action:?}");
    shown.split([' ', '(', '{']).next().unwrap_or_default().to_owned()
}
