//! What must hold of a session and its agent together.

use super::super::invariants::{Fault, Invariant, Tally, hold};
use super::choices::{self, Choice};
use super::{Down, Together};
use agent_core::lifecycle::{self, Lifecycle, State};
use agent_core::session::{self, OutcomeKind};

/// In every state: somebody will go on, the outcome is the agent's, and there is a way out.
pub(super) fn state(node: &Together, tally: &mut Tally) -> Result<(), Fault> {
    let agent = node.agent.state();
    hold(Invariant::NoDeadlock, goes_on(node), || format!("agent {agent:?}, session {:?}", node.session.state()))?;
    let (counted, reports) = (node.agent.rounds(), node.reports);
    hold(Invariant::RoundsBounded, reports <= 1, || {
        format!("{reports} reports, of which the agent counted {counted}")
    })?;
    if let Some(outcome) = node.agent.outcome() {
        let run = (node.steps.outcome)(&node.turns, outcome);
        let is_success = run.as_ref().is_some_and(|run| run.kind == OutcomeKind::Success);
        let is_agents = matches!(outcome, lifecycle::Outcome::Done { .. } | lifecycle::Outcome::TurnEnded);
        hold(Invariant::OneOutcome, is_agents || !is_success, || format!("a success of {outcome:?}"))?;
    }
    dismissal(node, tally)
}

/// Whether something is on its way, or it is for the host to go on.
fn goes_on(node: &Together) -> bool {
    let mut coming = Vec::new();
    choices::on_the_way(node, &mut coming);
    let session_works = !node.is_over && !node.session.outstanding().is_empty();
    match node.agent.state() {
        State::Idle | State::Waiting | State::Done | State::Ended => true,
        State::Working => session_works || !coming.is_empty(),
        State::Verifying => node.open_checks().next().is_some() || node.is_over && !node.is_told,
        // Whatever else there is, something has to come.
        _ => !coming.is_empty(),
    }
}

/// The end of a turn was taken: the session has everything, and rests.
pub(super) fn rest(node: &Together, before: &Lifecycle) -> Result<(), Fault> {
    if before.state() != State::Working {
        return Ok(());
    }
    let is_sent = |down: &Down| matches!(down, Down::Event(session::Event::UserInput { .. }));
    let underway = node.down.iter().any(is_sent);
    hold(Invariant::RestsTogether, !underway, || "a message is still on its way to the session".to_owned())?;
    let rests = node.is_over || node.session.state() == session::State::WaitingForUserInput;
    hold(Invariant::RestsTogether, rests, || format!("the session is in {:?}", node.session.state()))
}

/// Who has just become done has had every commitment checked, by the checks that were asked for last.
pub(super) fn claim(node: &Together, before: &Lifecycle) -> Result<(), Fault> {
    let is_new = node.agent.state() == State::Done && before.state() != State::Done;
    let commitments = node.agent.commitments().len();
    if !is_new || commitments == 0 {
        return Ok(());
    }
    let answers = node.checks.as_ref().map(|(_, answers)| answers.as_slice()).unwrap_or_default();
    let all_kept = answers.len() == commitments && answers.iter().all(|answer| *answer == Some(true));
    hold(Invariant::ClaimsVerified, all_kept, || format!("done with {answers:?} of {commitments} commitments"))
}

/// A dismissal, and then only what comes by itself.
fn dismissal(node: &Together, tally: &mut Tally) -> Result<(), Fault> {
    let mut node = node.clone();
    let mut steps = 1;
    if !node.agent.is_over() {
        node.apply(&Choice::Agent(lifecycle::Event::Dismissed))?;
    }
    while !node.agent.is_over() {
        let mut coming = Vec::new();
        choices::on_the_way(&node, &mut coming);
        let Some(next) = coming.first() else { break };
        node.apply(next)?;
        steps += 1;
        if steps > MOST_STEPS {
            break;
        }
    }
    tally.dismissal_steps = tally.dismissal_steps.max(steps);
    let agent = node.agent.state();
    hold(Invariant::DismissalArrives, node.agent.is_over(), || format!("{agent:?} {steps} steps after a dismissal"))
}

const MOST_STEPS: u64 = 100;
