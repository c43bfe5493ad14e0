//! What must hold of an agent: on every edge, in every state, and of what has no effect.

use super::seen::{claims, ends_turn, has_ended, is_stop};
use super::{Agents, Together, guarded};
use crate::invariants::{Fault, Invariant, Tally, hold};
use crate::observed::Asked;
use agent_core::agent::{Agent, Event, Rejected, Step};
use agent_core::lifecycle::{
    self, Action, CheckEnd, CheckReport, Commitment, CommitmentId, Lifecycle, Signal, State, Ticket, Trigger, TurnEnd,
};
use agent_core::session::{self, Objection, Outcome, OutcomeKind};

/// What is offered may be refused only where the agent has no use for it; what is waited for never is.
pub(super) fn refusal(node: &Together, event: &Event, rejected: &Rejected) -> Result<(), Fault> {
    let state = node.agent.lifecycle().map(Lifecycle::state);
    let (invariant, may_be) = match event {
        Event::Bound(_) | Event::Released | Event::Attended => (Invariant::NotStuck, false),
        // No agent of these worlds has children, or is one.
        Event::Child { .. } | Event::Ordered(_) | Event::HeldBelow(_) => (Invariant::NotStuck, true),
        Event::Lifecycle(event) => match event {
            lifecycle::Event::CheckCompleted { .. }
            | lifecycle::Event::TimedOut { .. }
            | lifecycle::Event::CleanupCompleted { .. } => (Invariant::NotStuck, false),
            lifecycle::Event::Dismissed => {
                (Invariant::DismissalArrives, matches!(state, Some(State::Reaped | State::Ended)))
            }
            _ => (Invariant::NotStuck, state.is_some_and(has_ended)),
        },
        Event::Session(event) => match event {
            message if message.message().is_some() => (Invariant::InputAccepted, is_final(&node.agent)),
            session::Event::CancelRequested => (Invariant::CancelArrives, false),
            session::Event::ShutdownRequested => (Invariant::ShutdownArrives, false),
            session::Event::CompactionRequested | session::Event::FocusedCompactionRequested { .. } => {
                let reason = Objection::NothingToCompact.into();
                (Invariant::NotStuck, matches!(rejected, Rejected::Session(rejected) if rejected.reason == reason))
            }
            _ => (Invariant::NotStuck, false),
        },
    };
    hold(invariant, may_be, || format!("{} is refused, lifecycle {state:?}: {rejected}", event.name()))
}

/// Whether the agent has come to an end that no message begins anew.
fn is_final(agent: &Agent) -> bool {
    agent.lifecycle().is_some_and(|lifecycle| has_ended(lifecycle.state()) && !lifecycle.config().is_renewed)
}

/// On every edge: what the lifecycle commands is done, turns end where the session rests, claims are verified, a stop comes nearer.
pub(super) fn edge(
    before: &Together,
    event: &Event,
    step: &Step,
    after: &Together,
    tally: &mut Tally,
) -> Result<(), Fault> {
    commands(event, step, &after.agent)?;
    turns(before, step, after)?;
    claimed(step, after)?;
    nearer(&before.agent, event, &after.agent, tally)
}

/// A command of the lifecycle is what the session did, whole, and nothing that comes up commands anything.
fn commands(event: &Event, step: &Step, after: &Agent) -> Result<(), Fault> {
    let fired = |on| step.session.transitions.first().is_some_and(|first| first.on == on);
    let mut pending = after.session().pending_input();
    let waits = matches!(event, Event::Session(session::Event::InputAfterTurn { .. }));
    let trigger = if waits { session::Trigger::InputAfterTurn } else { session::Trigger::UserInput };
    // One that goes out now comes before those that wait.
    let mut is_sent = |text: &str| {
        fired(trigger) && (pending.any(|pending| pending == text) || after.session().pending_input().next().is_none())
    };
    let mut is_commanded = false;
    for action in step.down.actions.iter().filter(|action| action.is_command()) {
        is_commanded = true;
        let is_done = match action {
            Action::SendInput { text } => is_sent(text),
            Action::SendGapReport { text, .. } => is_sent(text),
            Action::CancelTurn => fired(session::Trigger::CancelRequested),
            _ => false,
        };
        hold(Invariant::CommandsTaken, is_done, || {
            format!("{action:?} is commanded, the session does {:?}", step.session.transitions)
        })?;
    }
    let moves_alone = matches!(event, Event::Lifecycle(_)) && !is_commanded && !step.session.is_empty();
    hold(Invariant::CommandsTaken, !moves_alone, || format!("{} moves the session without a command", event.name()))?;
    let commands_down = step.up.actions.iter().any(Action::is_command);
    hold(Invariant::CommandsTaken, !commands_down, || "what comes up commands something down".to_owned())
}

/// A turn ends for the lifecycle when it ends for the session, in the same step, and only then.
fn turns(before: &Together, step: &Step, after: &Together) -> Result<(), Fault> {
    let session = after.agent.session();
    hold(Invariant::RestsTogether, !step.rests || after.agent.is_idle(), || {
        "it is said to rest, and works".to_owned()
    })?;
    let ended: Vec<Trigger> =
        step.up.transitions.iter().map(|transition| transition.on).filter(|on| ends_turn(*on)).collect();
    if ended.is_empty() {
        return Ok(());
    }
    let prompts = step.session.actions.contains(&session::Action::PromptForInput);
    let rests = session.is_idle() && prompts && ended.len() == 1;
    hold(Invariant::RestsTogether, rests, || format!("{ended:?} while the session is in {:?}", session.state()))?;
    // A requested stop is never a claim, whatever the turn's outcome.
    let is_claim = ended.iter().any(|on| claims(*on));
    let was_stopped = before.seen.is_stopped && after.seen.is_stopped;
    hold(Invariant::ClaimsVerified, !(is_claim && was_stopped), || format!("{ended:?} after a stop was asked for"))
}

/// An agent has just become done: every commitment was checked, by the checks that were asked for last.
fn claimed(step: &Step, after: &Together) -> Result<(), Fault> {
    let Some(lifecycle) = after.agent.lifecycle() else { return Ok(()) };
    let commitments = lifecycle.commitments().len();
    let mut transitions = step.down.transitions.iter().chain(&step.up.transitions);
    if transitions.any(|transition| transition.to == State::Done && transition.from != State::Done) {
        let answers = after.driver.checks.as_ref().map(|checks| checks.answers.as_slice()).unwrap_or_default();
        let all_kept = answers.len() == commitments && answers.iter().all(|answer| *answer == Some(true));
        hold(Invariant::ClaimsVerified, all_kept || commitments == 0, || {
            format!("done with {answers:?} of {commitments} commitments")
        })?;
    }
    let is_signalled = step.up.transitions.iter().any(|transition| transition.on == Trigger::Signalled);
    let has_seen_all = after.agent.session().pending_input().next().is_none();
    hold(Invariant::ClaimsVerified, !is_signalled || has_seen_all, || {
        "a signal counts that says nothing of the last message".to_owned()
    })
}

/// Under a stop each answer brings the prompt nearer, and nothing moves it away; at the prompt the whole agent rests.
fn nearer(before: &Agent, event: &Event, after: &Agent, tally: &mut Tally) -> Result<(), Fault> {
    let state = after.session().state();
    let (left_before, left) = (answers_left(before), answers_left(after));
    if before.session().is_cancel_pending() && !before.is_over() {
        let mut open = asked(before);
        let is_answer = matches!(event, Event::Session(event) if open.any(|asked| asked.is_answered_by(event)));
        let is_nearer = left < left_before || !is_answer && left == left_before;
        hold(Invariant::CancelArrives, is_nearer, || {
            format!("{} is no nearer to the prompt in {state:?}", event.name())
        })?;
    }
    if after.session().is_cancel_pending() && !after.is_over() {
        tally.cancel_answers = tally.cancel_answers.max(left);
        return hold(Invariant::CancelArrives, left > 0, || format!("{state:?} waits for nothing"));
    }
    // Where the lifecycle alone was asked, a summary that the session makes continues.
    let was_stopped = before.session().is_cancel_pending() || is_stop(event) && matches!(event, Event::Session(_));
    hold(Invariant::CancelArrives, !was_stopped || after.is_idle() || after.is_over(), || {
        format!("the stop ends in {state:?}, lifecycle {:?}", after.lifecycle().map(Lifecycle::state))
    })
}

/// Answers that the session still waits for.
pub(super) fn answers_left(agent: &Agent) -> u64 {
    asked(agent).map(|asked| asked.answers_left()).sum()
}

fn asked(agent: &Agent) -> impl Iterator<Item = Asked> {
    agent.session().outstanding().into_iter().filter_map(|asked| Asked::by(&asked.action))
}

/// In every state: the agent continues, is overseen, and its outcome follows from its turns and its commitments.
pub(super) fn state(model: &Agents<'_>, node: &Together) -> Result<(), Fault> {
    let agent = &node.agent;
    let session = agent.session();
    let rests = session.is_idle() || session.is_over();
    let waits = answers_left(agent) > 0;
    hold(Invariant::NoDeadlock, rests != waits, || format!("{:?} waits for something: {waits}", session.state()))?;
    let expected = match agent.lifecycle() {
        None => session.outcome(),
        Some(lifecycle) => {
            overseen(node, lifecycle)?;
            let (reports, most) = (node.seen.reports, model.bound.max_rounds);
            hold(Invariant::RoundsBounded, reports <= most, || {
                format!("{reports} reports, of which the agent counted {}", lifecycle.rounds())
            })?;
            node.seen.turns.outcome(lifecycle.outcome())
        }
    };
    let mut outcome = (model.steps.outcome)(agent);
    // The limit of time that ended the checks is named in place of the budget that they are part of.
    let out_of_time = |outcome: &&mut Outcome| {
        outcome.error.as_deref().is_some_and(|error| error.starts_with("time limit of the turn and its checks reached"))
    };
    if agent.lifecycle().and_then(Lifecycle::outcome) == Some(&lifecycle::Outcome::BudgetExceeded)
        && let Some(outcome) = outcome.as_mut().filter(out_of_time)
    {
        outcome.error = expected.as_ref().and_then(|expected| expected.error.clone());
    }
    hold(Invariant::OneOutcome, outcome == expected, || format!("{outcome:?} instead of {expected:?}"))?;
    let is_success = outcome.is_some_and(|outcome| outcome.kind == OutcomeKind::Success);
    let of_lifecycle = agent.lifecycle().map(Lifecycle::outcome);
    let is_agents =
        matches!(of_lifecycle, None | Some(Some(lifecycle::Outcome::Done { .. } | lifecycle::Outcome::TurnEnded)));
    hold(Invariant::OneOutcome, is_agents || !is_success, || format!("a success of {of_lifecycle:?}"))
}

/// The lifecycle waits for what is on its way, and works whenever its session does.
fn overseen(node: &Together, lifecycle: &Lifecycle) -> Result<(), Fault> {
    let (session, driver, state) = (node.agent.session(), &node.driver, lifecycle.state());
    let goes_on = match state {
        State::Working => !session.is_idle() && !session.is_over(),
        State::Verifying => driver.open_checks().next().is_some(),
        State::Reaped => driver.cleanup.is_some(),
        // The host decides about continuing, or nothing is left to do.
        _ => true,
    };
    hold(Invariant::NoDeadlock, goes_on, || format!("lifecycle {state:?}, session {:?}", session.state()))?;
    let is_at_work = !session.is_idle() && !session.is_over() && !session.is_cancel_pending() && !node.seen.is_errand;
    let is_overseen = state == State::Working || is_final(&node.agent);
    hold(Invariant::WorkIsOverseen, !is_at_work || is_overseen, || {
        format!("the session works in {:?}, the lifecycle is {state:?}", session.state())
    })?;
    agrees(node, lifecycle)
}

/// What the lifecycle says to be open is what it was seen to ask.
fn agrees(node: &Together, lifecycle: &Lifecycle) -> Result<(), Fault> {
    let (mut checks, mut timer, mut cleanup) = (Vec::new(), None, None);
    for action in lifecycle.outstanding() {
        match action {
            Action::RunChecks { ticket, checks: open } => {
                checks = open.into_iter().map(|check| (ticket, check.commitment)).collect();
            }
            Action::StartTimer { ticket, .. } => timer = Some(ticket),
            Action::CleanUp { ticket } => cleanup = Some(ticket),
            _ => {}
        }
    }
    let said = (checks, timer, cleanup);
    let seen = (node.driver.open_checks().collect::<Vec<_>>(), node.driver.timer, node.driver.cleanup);
    hold(Invariant::OutstandingAgrees, said == seen, || format!("{said:?} is said to be open, {seen:?} is"))
}

/// What follows from the session is refused from outside, as are late and unknown answers; late timers pass. None leaves a trace.
pub(super) fn without_effect(model: &Agents<'_>, node: &Together, tally: &mut Tally) -> Result<(), Fault> {
    let mut agent = node.agent.clone();
    for event in refused(node) {
        tally.refusals += 1;
        let name = event.name();
        let taken = guarded(name, || (model.steps.step)(&mut agent, event))?;
        hold(Invariant::StaleRefused, taken.is_err(), || format!("{name} is taken"))?;
    }
    let late = node.driver.late_timer.filter(|_| node.agent.lifecycle().is_some());
    let late = late.map(|ticket| Event::from(lifecycle::Event::TimedOut { ticket }));
    if let Some(event) = late {
        let name = event.name();
        let taken = guarded(name, || (model.steps.step)(&mut agent, event))?;
        let passes = taken.as_ref().is_ok_and(Step::is_empty);
        hold(Invariant::LateTimersPass, passes, || format!("{name} that is late: {taken:?}"))?;
    }
    hold(Invariant::RefusalChangesNothing, agent == node.agent, || "what has no effect changed something".to_owned())
}

fn refused(node: &Together) -> Vec<Event> {
    use lifecycle::Event as Of;
    let unknown = Ticket(u64::MAX);
    let kept = || CheckReport::new(CheckEnd::Exited { code: 0 }, String::new());
    let check = |ticket, number| Of::CheckCompleted { ticket, commitment: CommitmentId(number), report: kept() };
    let mut events = vec![
        Of::InputReceived { text: "go".into() },
        Of::Signalled { signal: Signal::Done, summary: String::new() },
        Of::TurnEnded { end: TurnEnd::Completed, time_left_ms: None },
        Of::WorkResumed,
        Of::SessionEnded,
        Of::CommitmentAdded { commitment: Commitment::of_command(" ", 1_000) },
        Of::TimedOut { ticket: unknown },
        Of::CleanupCompleted { ticket: unknown },
        check(unknown, 0),
    ];
    events.extend(node.driver.late_checks.map(|ticket| check(ticket, 0)));
    events.extend(node.driver.late_cleanup.map(|ticket| Of::CleanupCompleted { ticket }));
    // Each check answers once.
    if let Some(checks) = &node.driver.checks {
        let answered = (0..).zip(&checks.answers).filter(|(_, answer)| answer.is_some());
        events.extend(answered.map(|(number, _)| check(checks.ticket, number)));
        events.push(check(checks.ticket, checks.answers.len()));
    }
    let blank = session::Event::UserInput { text: " \n".into() };
    events.into_iter().map(Event::from).chain([session::Event::Started, blank].map(Event::from)).collect()
}
