//! Sentences of seed 002 about the life of an agent.

use crate::walks::lifecycle;
use agent_check::lifecycle::{self as words, Tickets, event};
use agent_core::lifecycle::table::TABLE;
use agent_core::lifecycle::{
    Action, ActionKind, Event, Lifecycle, LifecycleConfig, Reason, State, TaskMode, Ticket, Trigger, TurnEnd,
};
use agent_core::table::Label;

fn config() -> LifecycleConfig {
    words::config("commitments=true idle-ms=1000 work-ms=2000 wait-ms=3000").unwrap()
}

fn message(text: &str) -> Event {
    Event::InputReceived { text: text.into() }
}

/// A life with everything in it, and refusals.
fn life() -> Vec<(u64, Event)> {
    let lines = [
        "input do it",
        "mode unify",
        "timeout",
        "cancel",
        "turn completed left 900",
        "input go on",
        "commit false",
        "turn completed left 900",
        "turn completed left 900",
        "input wait",
        "budget",
        "dismiss",
    ];
    let events = lines.map(|line| event(line, &Tickets::all(Ticket(99))).unwrap());
    (0..).step_by(10).zip(events).collect()
}

/// One-line summary: "runtime observability"; Pros: "Every transition is an event; metrics, logging, and UI updates hook into transitions".
#[test]
fn every_transition_of_an_agent_is_told() {
    let mut agent = Lifecycle::new(config());
    let mut told = Vec::new();
    for (at_ms, event) in life() {
        told.extend(agent.step(at_ms, event).into_iter().flat_map(|step| step.transitions));
    }
    assert!(told.len() > 8);
    assert!(agent.trace().recent().eq(&told), "the trace keeps what the steps told");
    assert!(told.windows(2).all(|pair| pair[0].to == pair[1].from));
    let spent_ms: u64 = State::ALL.iter().map(|state| agent.trace().total(*state).1).sum();
    assert_eq!(spent_ms, told.last().unwrap().at_ms - told[0].at_ms, "all the time is in some state");
}

/// Core concept: "Waiting for Input, Waiting for Wakeup".
#[test]
fn a_wait_ends_with_a_message_or_with_its_time() {
    let last = |words: &str| lifecycle(words).last().unwrap().2;
    assert_eq!(last("input do it; waiting; turn completed"), State::Waiting);
    assert_eq!(last("input do it; waiting; turn completed; input do it"), State::Working);
    assert_eq!(last("input do it; waiting; turn completed; timeout"), State::Reaped);
}

/// Core concept: "task modes (Execute, Delegate, Plan, Break up, Unify)".
#[test]
fn the_five_task_modes_are_seen_while_working_and_decide_nothing() {
    let modes = [TaskMode::Execute, TaskMode::Delegate, TaskMode::Plan, TaskMode::BreakUp, TaskMode::Unify];
    for mode in modes {
        let mut agent = Lifecycle::new(config());
        assert!(agent.step(0, Event::ModeChanged { mode }).is_err(), "idle agents work in no mode");
        let _ = agent.step(0, message("do it")).unwrap();
        assert_eq!(agent.mode(), Some(TaskMode::Execute));
        let step = agent.step(0, Event::ModeChanged { mode }).unwrap();
        assert_eq!((agent.mode(), agent.state(), step.actions.len()), (Some(mode), State::Working, 0));
        let step = agent.step(0, Event::TurnEnded { end: TurnEnd::Completed, time_left_ms: None }).unwrap();
        assert_eq!((agent.mode(), step.transitions[0].on), (None, Trigger::CompletionClaimed));
    }
}

/// Core concept: "explicit guards (conditions that must be true)"; the diagram: "DONE signal + has commitments".
#[test]
fn guard_of_a_claim_is_that_there_are_commitments() {
    let last = |words: &str| lifecycle(words).last().copied().unwrap();
    let claim = "input do it; done; turn completed";
    assert_eq!(last(claim), (State::Working, Trigger::CompletionClaimed, State::Verifying));
    let unbound = format!("config commitments=; {claim}");
    assert_eq!(last(&unbound), (State::Working, Trigger::CompletionClaimedUnbound, State::Done));
}

/// The diagram: "all passed", "any failed", "verification error".
#[test]
fn guard_of_done_is_that_every_check_passed() {
    let claim = "config resting; input do it; commit true; turn completed";
    let last = |answers: &str| lifecycle(&format!("{claim}; {answers}")).last().unwrap().2;
    assert_eq!(last("check 1 kept"), State::Verifying);
    assert_eq!(last("check 1 kept; check 2 kept"), State::Done);
    assert_eq!(last("check 1 kept; check 2 exit 1"), State::Idle);
    assert_eq!(last("check 1 exit 1; check 2 kept"), State::Idle);
    assert_eq!(
        last("check 1 not found; check 2 kept"),
        State::Idle,
        "one could be run, so it is no error of the whole"
    );
    assert_eq!(last("check 1 not found; check 2 not found"), State::Reaped);
}

/// Core concept: "effects (side effects triggered by transition)": what a step asks for is its row, in the row's order. Left out would be
/// what has nothing to say, as a timer without a limit; in this life everything has.
#[test]
fn effects_are_the_actions_of_the_row() {
    let mut agent = Lifecycle::new(config());
    let mut compared = 0;
    for (at_ms, event) in life() {
        let Ok(step) = agent.step(at_ms, event) else { continue };
        let labels = TABLE.row(step.transitions[0].from, step.transitions[0].on).unwrap().actions;
        assert_eq!(step.actions.len(), labels.len(), "{step:?} for {labels:?}");
        for (label, action) in labels.iter().zip(&step.actions) {
            assert!(*label == kind(action) || is_timer(*label, action), "{action:?} for {label:?} in {step:?}");
            compared += 1;
        }
    }
    assert!(compared > 15, "{compared}");
}

fn kind(action: &Action) -> ActionKind {
    match action {
        Action::SendInput { .. } => ActionKind::SendInput,
        Action::SendGapReport { .. } => ActionKind::SendGapReport,
        Action::RunChecks { .. } => ActionKind::RunChecks,
        Action::CancelChecks { .. } => ActionKind::CancelChecks,
        Action::CancelTurn => ActionKind::CancelTurn,
        Action::StartTimer { .. } => ActionKind::StartWorkTimer,
        Action::StopTimer { .. } => ActionKind::StopTimer,
        Action::ReportOutcome { .. } => ActionKind::ReportOutcome,
        Action::CleanUp { .. } => ActionKind::CleanUp,
        Action::ReleaseSession => ActionKind::ReleaseSession,
    }
}

fn is_timer(label: ActionKind, action: &Action) -> bool {
    let starts = matches!(
        label,
        ActionKind::StartIdleTimer
            | ActionKind::StartWaitTimer
            | ActionKind::StartWorkTimer
            | ActionKind::StartCheckTimer
    );
    starts && matches!(action, Action::StartTimer { .. })
}

/// Core concept: "entry/exit actions". Who enters a state does what entering it takes, on every row; who leaves it likewise.
#[test]
fn entry_and_exit_actions_stand_on_every_row_that_enters_or_leaves() {
    let timer = |state| match state {
        State::Idle => Some(ActionKind::StartIdleTimer),
        State::Working => Some(ActionKind::StartWorkTimer),
        State::Waiting => Some(ActionKind::StartWaitTimer),
        State::Verifying => Some(ActionKind::StartCheckTimer),
        _ => None,
    };
    for row in TABLE.rows.iter().filter(|row| row.from != row.to) {
        let has = |kind| row.actions.contains(&kind);
        assert_eq!(row.actions.iter().copied().rfind(|kind| is_start(*kind)), timer(row.to), "enters: {row:?}");
        // A timer that has run out needs no stop.
        let leaves_timed = timer(row.from).is_some() && row.on != Trigger::TimedOut;
        assert_eq!(has(ActionKind::StopTimer), leaves_timed, "leaves: {row:?}");
        let rests = matches!(row.to, State::Idle | State::Waiting | State::Done | State::Reaped);
        assert_eq!(has(ActionKind::ReportOutcome), rests, "comes to rest: {row:?}");
        assert_eq!(has(ActionKind::CleanUp), row.to == State::Reaped, "is given up: {row:?}");
        assert_eq!(has(ActionKind::RunChecks), row.to == State::Verifying, "claims: {row:?}");
        let has_answers = matches!(
            row.on,
            Trigger::ChecksPassed
                | Trigger::ChecksFailed
                | Trigger::ChecksFailedResting
                | Trigger::ChecksFailedForGood
                | Trigger::ChecksImpossible
        );
        let breaks_off = row.from == State::Verifying && !has_answers;
        assert_eq!(has(ActionKind::CancelChecks), breaks_off, "breaks checks off: {row:?}");
    }
}

const fn is_start(kind: ActionKind) -> bool {
    matches!(
        kind,
        ActionKind::StartIdleTimer
            | ActionKind::StartWorkTimer
            | ActionKind::StartWaitTimer
            | ActionKind::StartCheckTimer
    )
}

/// Core concept: invalid transitions are errors. At run time that is a typed refusal which changes nothing.
#[test]
fn an_event_at_the_wrong_time_is_refused_and_changes_nothing() {
    let mut agent = Lifecycle::new(config());
    let before = agent.clone();
    let rejected =
        agent.step(5, Event::Signalled { signal: agent_core::lifecycle::Signal::Done, summary: String::new() });
    let rejected = rejected.unwrap_err();
    assert_eq!((rejected.state, rejected.reason), (State::Idle, Reason::NoRow));
    assert_eq!(rejected.trigger, Some(Trigger::Signalled));
    assert!(rejected.accepted.contains(&Trigger::InputReceived));
    assert_eq!(agent, before);
}

/// Pros: "impossible to reach 'agent is working while done'".
#[test]
fn an_agent_is_in_one_state_and_works_only_in_working() {
    let mut agent = Lifecycle::new(config());
    for (at_ms, event) in life() {
        let _ = agent.step(at_ms, event);
        assert_eq!(agent.mode().is_some(), agent.state() == State::Working);
        assert!(!(agent.outcome().is_some() && agent.state() == State::Working && agent.mode().is_none()));
    }
    assert!(TABLE.rows_from(State::Done).all(|row| row.to == State::Ended), "nothing leads from done back to work");
}

/// Pros: "State machines are pure functions of (state, event) -> (state, effects)".
#[test]
fn same_state_and_event_give_same_state_and_effects() {
    let mut agent = Lifecycle::new(config());
    for (at_ms, event) in life() {
        let mut twin = agent.clone();
        assert_eq!(agent.step(at_ms, event.clone()), twin.step(at_ms, event));
        assert_eq!(agent, twin);
    }
}

/// Pros: "store transition log, replay to any point".
#[test]
fn a_replay_to_any_point_is_the_agent_at_that_point() {
    let events = life();
    let mut agent = Lifecycle::new(config());
    for point in 0..=events.len() {
        let mut again = Lifecycle::new(config());
        for (at_ms, event) in &events[..point] {
            let text = serde_json::to_string(event).unwrap();
            let _ = again.step(*at_ms, serde_json::from_str(&text).unwrap());
        }
        assert_eq!(again, agent, "after {point} events");
        if let Some((at_ms, event)) = events.get(point) {
            let _ = agent.step(*at_ms, event.clone());
        }
    }
    assert_eq!(agent.state(), State::Reaped);
}

/// When to choose 4: "Many agents each running their own machine; isolation by construction".
#[test]
fn two_agents_know_nothing_of_each_other() {
    let (mut one, mut other, mut alone) =
        (Lifecycle::new(config()), Lifecycle::new(config()), Lifecycle::new(config()));
    for (at_ms, event) in life() {
        let _ = other.step(at_ms / 2, message("something else"));
        assert_eq!(one.step(at_ms, event.clone()), alone.step(at_ms, event));
    }
    assert_eq!(one, alone);
}
