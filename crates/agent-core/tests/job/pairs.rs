//! Every state with every event and every guard: the row that fires, or the refusal.

use crate::harness::{Harness, business, events, success};
use crate::stage::table;
use agent_check::action_name;
use agent_core::job::table::TABLE;
use agent_core::job::{Event, JobConfig, Objection, Reason, RetryConfig, State, Trigger};
use agent_core::session::Ticket;
use agent_core::table::Label;
use std::collections::BTreeSet;

/// A job that stands in this state, with what the guards look at as told.
fn standing_in(state: State, is_cancelled: bool, retry_left: bool, is_valid: bool) -> Option<Harness> {
    let retry = RetryConfig { max_retries: u32::from(retry_left), ..RetryConfig::default() };
    let description = if is_valid { "fix the crash" } else { " \n" };
    let mut harness = Harness::new(JobConfig { retry, ..JobConfig::new("job-1", description) });
    if state != State::Pending {
        harness.start();
    }
    let goes_on = !matches!(state, State::Pending | State::Init);
    if goes_on && is_valid {
        harness.validate();
    }
    if is_valid && matches!(state, State::Process | State::RetryWait | State::End | State::Completed) {
        harness.define();
    }
    match state {
        State::Pending | State::Init | State::DefineAgent | State::Process => {}
        State::RetryWait if !retry_left || !is_valid => return None,
        State::RetryWait => drop(harness.end_attempt(business())),
        State::End | State::Completed if !is_valid => return None,
        State::End | State::Completed => drop(harness.end_attempt(success())),
        State::Recording | State::Failed => {
            let ticket = harness.ticket;
            let failure = agent_core::job::FailureKind::System("x".to_owned());
            let spent = agent_core::job::Spent::default();
            if is_valid {
                harness.go(Event::RoutingFailed { ticket, failure, spent });
            } else {
                harness.go(Event::ValidationFailed { ticket, failure });
            }
        }
        other => panic!("nobody knows how to bring a job to {other:?}"),
    }
    if matches!(state, State::Completed | State::Failed) {
        harness.write();
    }
    if is_cancelled
        && matches!(state, State::Init | State::DefineAgent | State::Process | State::End | State::Recording)
    {
        harness.go(Event::CancelRequested);
    }
    (harness.job.state() == state).then_some(harness)
}

/// What the event is, said independently of the machine: a trigger, or refused before it is one.
fn expected(
    event: &Event,
    state: State,
    is_cancelled: bool,
    retry_left: bool,
    is_valid: bool,
) -> Result<Trigger, Reason> {
    use agent_core::job::Verdict;
    let stopped_or = |trigger| if is_cancelled { Trigger::WorkStopped } else { trigger };
    let waits = !matches!(state, State::Pending | State::Completed | State::Failed);
    let on = |there: &[State], trigger| match there.contains(&state) {
        true => Ok(trigger),
        false if waits => Err(Objection::WrongAnswer.into()),
        false => Err(Reason::StaleTicket),
    };
    let recording = [State::End, State::Recording];
    match event {
        Event::Started => Ok(Trigger::Started),
        Event::CancelRequested => Ok(Trigger::CancelRequested),
        Event::ValidationPassed { .. } => {
            let plain = if is_valid { Trigger::ValidationPassed } else { Trigger::ValidationFailed };
            on(&[State::Init], stopped_or(plain))
        }
        Event::ValidationFailed { .. } => on(&[State::Init], stopped_or(Trigger::ValidationFailed)),
        Event::AgentDefined { agent, .. } => {
            let plain = if agent.model.trim().is_empty() { Trigger::RoutingFailed } else { Trigger::AgentDefined };
            on(&[State::DefineAgent], stopped_or(plain))
        }
        Event::RoutingFailed { .. } => on(&[State::DefineAgent], stopped_or(Trigger::RoutingFailed)),
        Event::AttemptEnded { verdict, .. } => {
            let trigger = match verdict {
                Verdict::Success { .. } => Trigger::AttemptSucceeded,
                Verdict::Stopped => Trigger::WorkStopped,
                Verdict::Failure(_) if retry_left => stopped_or(Trigger::AttemptFailedRetryable),
                Verdict::Failure(_) | Verdict::FailureForGood(_) => stopped_or(Trigger::AttemptFailedForGood),
            };
            on(&[State::Process], trigger)
        }
        Event::RetryTimeout { .. } => on(&[State::RetryWait], Trigger::RetryDue),
        Event::RecordWritten { .. } => on(&recording, Trigger::RecordWritten),
        Event::RecordFailed { .. } => on(&recording, Trigger::RecordNotWritten),
    }
}

/// What each row does, once more and independent of the table: from, triggers, to, actions.
#[rustfmt::skip]
const EXPECTED: &[(State, &[Trigger], State, &[&str])] = &[
    (State::Pending, &[Trigger::Started], State::Init, &["ValidateJob"]),
    (State::Pending, &[Trigger::CancelRequested], State::Recording, &["WriteAuditRecord"]),
    // A stop asks for what is in flight to be stopped, and stays until it has answered.
    (State::Init, &[Trigger::CancelRequested], State::Init, &["StopWork"]),
    (State::DefineAgent, &[Trigger::CancelRequested], State::DefineAgent, &["StopWork"]),
    (State::Process, &[Trigger::CancelRequested], State::Process, &["StopWork"]),
    (State::RetryWait, &[Trigger::CancelRequested], State::Recording, &["CancelRetry", "WriteAuditRecord"]),
    (State::End, &[Trigger::CancelRequested], State::End, &[]),
    (State::Recording, &[Trigger::CancelRequested], State::Recording, &[]),

    (State::Init, &[Trigger::ValidationPassed], State::DefineAgent, &["DefineAgent"]),
    (State::DefineAgent, &[Trigger::AgentDefined], State::Process, &["RunAgent"]),
    (State::Process, &[Trigger::AttemptSucceeded], State::End, &["WriteAuditRecord"]),
    (State::Process, &[Trigger::AttemptFailedRetryable], State::RetryWait, &["ScheduleRetry"]),
    (State::RetryWait, &[Trigger::RetryDue], State::Process, &["RunAgent"]),

    (State::Init, &[Trigger::ValidationFailed, Trigger::WorkStopped], State::Recording, &["WriteAuditRecord"]),
    (State::DefineAgent, &[Trigger::RoutingFailed, Trigger::WorkStopped], State::Recording, &["WriteAuditRecord"]),
    (State::Process, &[Trigger::AttemptFailedForGood, Trigger::WorkStopped], State::Recording, &["WriteAuditRecord"]),

    (State::End, &[Trigger::RecordWritten], State::Completed, &[]),
    (State::End, &[Trigger::RecordNotWritten], State::Failed, &[]),
    (State::Recording, &[Trigger::RecordWritten, Trigger::RecordNotWritten], State::Failed, &[]),
];

#[test]
fn every_state_with_every_event_and_every_guard() {
    let fired = every_event_in(State::ALL);
    let all: BTreeSet<_> = TABLE.rows.iter().map(|row| (row.from, row.on)).collect();
    assert_eq!(fired, all, "every row fires somewhere");
}

/// What fired in these states.
pub(crate) fn every_event_in(states: &[State]) -> BTreeSet<(State, Trigger)> {
    let mut fired = BTreeSet::new();
    let flags = [false, true];
    for state in states.iter().copied() {
        let mut stood = false;
        for guards in 0..8_usize {
            let (is_cancelled, retry_left, is_valid) = (flags[guards & 1], flags[guards >> 1 & 1], flags[guards >> 2]);
            let Some(there) = standing_in(state, is_cancelled, retry_left, is_valid) else { continue };
            stood = true;
            for event in events(there.ticket) {
                let mut harness = there.clone();
                let said = expected(&event, state, is_cancelled, retry_left, is_valid);
                let row = said.ok().and_then(|on| {
                    let row = EXPECTED.iter().find(|(from, ons, ..)| *from == state && ons.contains(&on));
                    // What is being stopped already is not stopped again.
                    let again = is_cancelled && on == Trigger::CancelRequested;
                    row.map(|(_, _, to, actions)| {
                        (on, *to, if again && *actions == ["StopWork"] { &[] } else { *actions })
                    })
                });
                let bytes = serde_json::to_string(&harness.job).unwrap();
                let shown = format!("{state:?} + {event:?}, cancelled {is_cancelled}, retry {retry_left}");
                match (harness.take(event), row) {
                    (Ok(step), Some((on, to, actions))) => {
                        let transition = step.transitions[0];
                        assert_eq!((transition.from, transition.on, transition.to), (state, on, to), "{shown}");
                        assert_eq!(harness.job.state(), to, "{shown}");
                        let names: Vec<String> = step.actions.iter().map(action_name).collect();
                        assert_eq!(names, actions, "{shown}");
                        fired.insert((state, on));
                    }
                    (Ok(step), None) => {
                        let is_over = matches!(state, State::Completed | State::Failed);
                        assert!(step.is_empty() && is_over && said == Err(Reason::StaleTicket), "{shown}");
                        assert_eq!(serde_json::to_string(&harness.job).unwrap(), bytes, "{shown}");
                    }
                    (Err(rejected), None) => {
                        let why = said.map_or_else(|reason| (None, reason), |on| (Some(on), Reason::NoRow));
                        assert_eq!((rejected.trigger, rejected.reason), why, "{shown}");
                        assert_eq!(serde_json::to_string(&harness.job).unwrap(), bytes, "{shown}");
                        let accepted: Vec<_> = table().rows_from(state).map(|row| row.on).collect();
                        assert_eq!(rejected.accepted, accepted, "{shown}");
                        let (no_row, why) = (rejected.reason == Reason::NoRow, rejected.refusal(&TABLE));
                        assert_eq!(no_row, why.is_some(), "{shown}");
                    }
                    (result, row) => panic!("{shown}: {result:?}, expected {row:?}"),
                }
            }
        }
        assert!(stood, "{state:?} was never stood in");
    }
    fired
}

#[test]
fn stale_and_unknown_tickets_are_refused_everywhere() {
    for state in State::ALL.iter().copied() {
        let there = standing_in(state, false, true, true).unwrap();
        let unknown = Ticket(there.ticket.0.wrapping_add(1_000));
        for event in events(unknown).into_iter().skip(2) {
            let mut harness = standing_in(state, false, true, true).unwrap();
            assert_eq!(harness.take(event).unwrap_err().reason, Reason::StaleTicket, "{state:?}");
        }
    }
}

/// The first ticket is that of the validation: closed in every later state, and so is every other that was given before.
#[test]
fn a_late_timer_changes_nothing_and_other_late_answers_are_refused() {
    for state in State::ALL.iter().copied().filter(|state| !matches!(state, State::Pending | State::Init)) {
        let there = standing_in(state, false, true, true).unwrap();
        let bytes = serde_json::to_string(&there.job).unwrap();
        for event in events(Ticket(0)).into_iter().skip(2) {
            let (mut harness, is_timer) = (there.clone(), matches!(event, Event::RetryTimeout { .. }));
            match harness.take(event) {
                Ok(step) => assert!(is_timer && step.is_empty(), "{state:?}: {step:?}"),
                Err(rejected) => assert!(!is_timer && rejected.reason == Reason::StaleTicket, "{state:?}: {rejected}"),
            }
            assert_eq!(serde_json::to_string(&harness.job).unwrap(), bytes, "{state:?}");
        }
    }
}

#[test]
fn an_answer_to_another_question_is_refused_although_its_ticket_is_open() {
    let mut harness = Harness::processing(0);
    let ticket = harness.ticket;
    let rejected = harness.take(Event::RetryTimeout { ticket }).unwrap_err();
    assert_eq!((rejected.reason, rejected.trigger), (Objection::WrongAnswer.into(), None));
    assert_eq!(rejected.to_string(), "RetryTimeout refused in Process: its ticket asks for something else");
    let again = harness.take(Event::Started).unwrap_err();
    assert_eq!((again.reason, again.trigger), (Reason::NoRow, Some(Trigger::Started)));
    assert_eq!(again.refusal(&TABLE).unwrap().to_string(), "expected only in `Pending`");
}
