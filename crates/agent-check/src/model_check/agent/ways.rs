//! The ways out that every state has: a stop, a shutdown, a dismissal, each followed by what comes by itself and nothing else.

use super::seen::has_ended;
use super::{Agents, Together, choices, judge};
use crate::invariants::{Fault, Invariant, Tally, hold};
use agent_core::agent::Event;
use agent_core::lifecycle::{self, Lifecycle, State};
use agent_core::session;

/// A stop, then one answer after another: at most as many as calls run beside each other, and the whole agent rests.
pub(super) fn cancel(model: &Agents<'_>, node: &Together) -> Result<(), Fault> {
    if node.agent.is_over() {
        return Ok(());
    }
    let mut node = taken(model, node, &session::Event::CancelRequested.into(), Invariant::CancelArrives)?;
    let most = judge::answers_left(&node.agent);
    for _ in 0..most {
        if node.agent.session().is_idle() {
            break;
        }
        let answer = choices::answers(model.setup, &node).into_iter().next();
        let Some(answer) = answer else { break };
        node = taken(model, &node, &answer, Invariant::CancelArrives)?;
    }
    hold(Invariant::CancelArrives, node.agent.is_idle() || node.agent.is_over(), || {
        format!("after {most} answers {}", stands(&node))
    })
}

/// A shutdown ends both at once, but for what the lifecycle has to clean up: one event more.
pub(super) fn shutdown(model: &Agents<'_>, node: &Together, tally: &mut Tally) -> Result<(), Fault> {
    if node.agent.is_over() {
        return Ok(());
    }
    let mut node = taken(model, node, &session::Event::ShutdownRequested.into(), Invariant::ShutdownArrives)?;
    let mut events = 1;
    tally.shutdowns += 1;
    let is_quiet = node.agent.is_over()
        && node.agent.lifecycle().is_none_or(|lifecycle| has_ended(lifecycle.state()))
        && node.driver.timer.is_none()
        && node.driver.checks.is_none();
    hold(Invariant::ShutdownArrives, is_quiet, || format!("at once {}", stands(&node)))?;
    if let Some(ticket) = node.driver.cleanup {
        let event = lifecycle::Event::CleanupCompleted { ticket }.into();
        node = taken(model, &node, &event, Invariant::ShutdownArrives)?;
        events += 1;
    }
    tally.shutdown_events = tally.shutdown_events.max(events);
    let is_over = node.agent.lifecycle().is_none_or(Lifecycle::is_over);
    hold(Invariant::ShutdownArrives, is_over, || format!("after {events} events {}", stands(&node)))
}

/// A dismissal, the cleanup, the end of a session that is let go of: the lifecycle ends, and a session that outlives it is being stopped or
/// makes a requested summary.
pub(super) fn dismissal(model: &Agents<'_>, node: &Together, tally: &mut Tally) -> Result<(), Fault> {
    let Some(lifecycle) = node.agent.lifecycle() else { return Ok(()) };
    let (mut node, mut events) = (node.clone(), 0);
    let is_due = !matches!(lifecycle.state(), State::Reaped | State::Ended);
    let next = |node: &Together| {
        let cleanup = node.driver.cleanup.map(|ticket| lifecycle::Event::CleanupCompleted { ticket }.into());
        let is_let_go = node.agent.has_ended() && !node.agent.is_over();
        cleanup.or_else(|| is_let_go.then(|| session::Event::ShutdownRequested.into()))
    };
    let first = is_due.then(|| lifecycle::Event::Dismissed.into());
    let mut coming: Option<Event> = first.or_else(|| next(&node));
    while let Some(event) = coming {
        hold(Invariant::DismissalArrives, events < MOST_EVENTS, || format!("after {events} events {}", stands(&node)))?;
        node = taken(model, &node, &event, Invariant::DismissalArrives)?;
        events += 1;
        coming = next(&node);
    }
    tally.dismissal_steps = tally.dismissal_steps.max(events);
    let (session, lifecycle) = (node.agent.session(), node.agent.lifecycle());
    let is_renewed = lifecycle.is_some_and(|lifecycle| lifecycle.config().is_renewed);
    let is_left_alone = session.is_idle() || session.is_cancel_pending() || node.seen.is_errand;
    let is_over = lifecycle.is_some_and(Lifecycle::is_over) && (session.is_over() || is_renewed && is_left_alone);
    hold(Invariant::DismissalArrives, is_over, || format!("after {events} events {}", stands(&node)))
}

/// What must be taken.
fn taken(model: &Agents<'_>, node: &Together, event: &Event, invariant: Invariant) -> Result<Together, Fault> {
    let after = model.after(node, event, &mut Tally::default())?;
    after.ok_or_else(|| Fault::new(invariant, format!("{} is refused {}", event.name(), stands(node))))
}

fn stands(node: &Together) -> String {
    let lifecycle = node.agent.lifecycle().map(Lifecycle::state);
    format!("the session is in {:?}, the lifecycle {lifecycle:?}", node.agent.session().state())
}

/// The dismissal, the cleanup, and the end of the session.
const MOST_EVENTS: u64 = 3;
