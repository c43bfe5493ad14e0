//! Sentences about the session: of seed 000, 001 and 003.

use crate::walks::told;
use agent_core::llm::{LlmError, LlmErrorKind};
use agent_core::retry::{Backoff, RetryPolicy};
use agent_core::session::table::TABLE;
use agent_core::session::{
    Action, ActionKind, Event, ModelConfig, OutcomeKind, Reason, Session, SessionConfig, State, Step, Ticket, Trace,
    Trigger,
};
use agent_core::table::Label;
use agent_core::tool::ToolStatus;

/// A place in every waiting state after the start.
const PLACES: &[(State, &str)] = &[
    (State::WaitingForUserInput, "input go; answer hi"),
    (State::CallingLlm, "input go"),
    (State::SendingToolResults, "input go; answer calls read{}; prepared; tool 1 ok x"),
    (State::PreparingTools, "input go; answer calls read{}"),
    (State::AwaitingApproval, "config mode=default; input go; answer calls change{}; prepared"),
    (State::ExecutingTools, "input go; answer calls read{}; prepared"),
    (State::CheckingGitCommits, "input go; answer calls change{}; prepared; tool 1 ok x"),
    (State::RunningAutoformatters, "input go; answer calls change{}; prepared; tool 1 ok x; git formatting"),
    (State::CommittingChanges, "input go; answer calls change{}; prepared; tool 1 ok x; git commit"),
    (State::RunningHooks, "config hooks=Stop; input go; answer hi"),
    (State::Compacting, "input go; answer long=100; compact"),
    (State::Error, "input go; fail network"),
];

#[test]
fn the_places_are_all_places() {
    let is_place = |state: &State| !TABLE.is_passing(*state) && !matches!(state, State::Ready | State::ShuttingDown);
    let waiting: Vec<State> = State::ALL.iter().copied().filter(is_place).collect();
    for (state, words) in PLACES {
        assert_eq!(told(words).0.session.state(), *state);
    }
    assert!(waiting.iter().all(|state| PLACES.iter().any(|place| place.0 == *state)), "{waiting:?}");
}

/// Seed 000, Core principle: "pure and synchronous". Seed 003, Design principles 3: "No async in state machine; caller drives I/O".
/// The step is a plain function of session, time and event: its type says so, and two sessions that are told the same do the same.
#[test]
fn the_machine_is_pure_and_synchronous() {
    let step: fn(&mut Session, u64, Event) -> Result<Step, agent_core::session::Rejected> = Session::step;
    let mut pair = [Session::new(SessionConfig::default()), Session::new(SessionConfig::default())];
    for (at_ms, event) in
        [(5, Event::Started), (9, Event::UserInput { text: "go".into() }), (9, Event::CancelRequested)]
    {
        let [one, other] = &mut pair;
        assert_eq!(step(one, at_ms, event.clone()), step(other, at_ms, event));
        assert_eq!(one, other);
    }
}

/// Seed 000, Core principle: "The caller (runner) executes actions and feeds results back as events". Nothing moves by itself, and what no
/// action asked for is no answer.
#[test]
fn every_answer_comes_from_an_action_that_was_performed() {
    let (mut script, step) = told("input go");
    let [Action::SendLlmRequest { ticket, .. }] = step.actions[..] else { panic!("{step:?}") };
    let response = agent_core::llm::LlmResponse::text("hi");
    let unasked = Event::LlmCompleted { ticket: Ticket(ticket.0 + 1), response: response.clone() };
    assert_eq!(script.session.step(0, unasked).unwrap_err().reason, Reason::StaleTicket);
    assert_eq!(script.session.state(), State::CallingLlm);
    let _ = script.session.step(0, Event::LlmCompleted { ticket, response }).unwrap();
    assert_eq!(script.session.state(), State::WaitingForUserInput);
}

/// Seed 000, States: `CallingLlm` "tracks retry count". Seed 003, States: `CallingLlm` has `retries`.
#[test]
fn calling_the_model_counts_what_failed() {
    let (mut script, _) = told("input go");
    let mut counted = Vec::new();
    for _ in 0..3 {
        let step = script.tell("fail network").unwrap();
        counted.extend(step.actions.iter().filter_map(|action| match action {
            Action::ScheduleRetry { failed_attempts, .. } => Some(*failed_attempts),
            _ => None,
        }));
        let _ = script.tell("timer");
    }
    assert_eq!(counted, [1, 2, 3]);
}

/// Seed 000, States: `ProcessingLlmResponse` is a "Transient state".
#[test]
fn the_look_at_an_answer_is_passed_at_once() {
    assert!(TABLE.is_passing(State::ProcessingLlmResponse));
    let (script, step) = told("input go; answer hi");
    assert!(step.transitions.iter().any(|done| done.to == State::ProcessingLlmResponse));
    assert_ne!(script.session.state(), State::ProcessingLlmResponse);
}

/// Seed 000, States: `Error` is "Recoverable error, will retry", `ShuttingDown` a "Terminal state".
#[test]
fn an_error_is_repeated_and_the_end_is_final() {
    let (script, step) = told("input go; fail network; timer");
    assert_eq!(script.session.state(), State::CallingLlm);
    assert!(matches!(step.actions[..], [Action::SendLlmRequest { .. }]));
    assert_eq!(TABLE.terminal, [State::ShuttingDown]);
    let (mut script, _) = told("shutdown");
    assert!(script.session.step(0, Event::UserInput { text: "more".into() }).is_err());
}

/// Seed 000, Actions: `WaitForEvent` is "No action needed". Here that is a step without actions, and the machine still waits for something.
#[test]
fn a_step_without_actions_is_a_wait() {
    let (script, step) = told("input go; answer calls read{} read{}; prepared; tool 1 ok x");
    assert_eq!(step.actions, []);
    assert_eq!(script.session.outstanding().len(), 1);
}

fn linear() -> SessionConfig {
    let retry = RetryPolicy { backoff: Backoff::Linear, jitter_permille: 0, ..RetryPolicy::default() };
    SessionConfig { retry, ..SessionConfig::new(ModelConfig::new("m")) }
}

/// Fails every call of a session; the delays, and what the last failure led to.
fn fail_until_given_up(config: SessionConfig) -> (Vec<u64>, Session, Step) {
    let mut session = Session::new(config);
    let _ = session.step(0, Event::Started).unwrap();
    let mut step = session.step(0, Event::UserInput { text: "go".into() }).unwrap();
    let mut delays_ms = Vec::new();
    loop {
        step = match step.actions.last().unwrap() {
            Action::SendLlmRequest { ticket, .. } => {
                let error = LlmError::new(LlmErrorKind::Network, "the line is down");
                session.step(0, Event::LlmFailed { ticket: *ticket, error, chance_permille: 0 }).unwrap()
            }
            Action::ScheduleRetry { ticket, delay_ms, .. } => {
                delays_ms.push(*delay_ms);
                session.step(0, Event::RetryTimeout { ticket: *ticket }).unwrap()
            }
            _ => return (delays_ms, session, step),
        };
    }
}

/// Seed 000, Retry logic: "Max retries: 3" and the delays "1s, 2s, 3s"; Actions: `ScheduleRetry` has a delay, its end is `RetryTimeout`.
#[test]
fn retries_are_three_after_1_2_and_3_seconds() {
    let (delays_ms, session, _) = fail_until_given_up(linear());
    assert_eq!(delays_ms, [1_000, 2_000, 3_000]);
    assert_eq!(session.ledger().model_calls, 4, "three retries are four attempts");
}

/// Seed 000, Retry logic, calls the delays "Exponential backoff". The default is that.
#[test]
fn the_default_delays_are_exponential() {
    let (delays_ms, ..) = fail_until_given_up(SessionConfig::new(ModelConfig::new("m")));
    assert_eq!(delays_ms, [1_000, 2_000, 4_000]);
}

/// Seed 000, Retry logic: "After max retries, returns to `WaitingForUserInput` with error message".
#[test]
fn after_the_last_retry_it_prompts_with_an_error() {
    let (_, session, step) = fail_until_given_up(linear());
    assert_eq!(session.state(), State::WaitingForUserInput);
    let [Action::DiscardPartial, Action::DisplayError { message, .. }, Action::PromptForInput] = &step.actions[..]
    else {
        panic!("{step:?}")
    };
    assert_eq!(message, "the line is down; gave up after 4 attempts");
}

/// Seed 000, State transitions: "`ShutdownRequested` transitions to `ShuttingDown` from any state". Seed 003, Transition table: "*any*",
/// with the action `Shutdown`.
#[test]
fn a_shutdown_ends_every_waiting_state() {
    let places = PLACES.iter().copied().chain([(State::Ready, "not-started")]);
    for (state, words) in places {
        let (script, step) = told(&format!("{words}; shutdown"));
        assert_eq!(script.session.state(), State::ShuttingDown, "from {state:?}");
        assert_eq!(step.actions.last(), Some(&Action::Shutdown), "from {state:?}");
        assert_eq!(step.transitions.len(), 1, "from {state:?}");
    }
}

/// Seed 000, Key design decisions 3: "Conversation travels with state".
#[test]
fn the_conversation_can_be_read_in_every_state() {
    for (state, words) in PLACES.iter().filter(|place| !matches!(place.0, State::CallingLlm | State::Error)) {
        for words in [String::from(*words), format!("{words}; shutdown")] {
            let (script, _) = told(&words);
            assert!(!script.session.conversation().is_empty(), "{state:?} after {words}");
        }
    }
}

/// Seed 001, State descriptions: "Processing completed without tool use, turn ends".
#[test]
fn the_end_of_a_turn_is_an_answer_without_tools() {
    let passed = |words: &str| told(words).1.transitions.iter().any(|done| done.to == State::EndOfTurn);
    assert!(passed("input go; answer hi"));
    assert!(!passed("input go; answer hi calls read{}"));
}

/// Seed 001, State descriptions: `Cancelled`, `BudgetExceeded` and `Error` each say what happened; Implementation details 6: "Error state
/// detection".
#[test]
fn an_error_a_stop_and_a_spent_budget_can_be_told_apart() {
    let kind = |words: &str| told(words).0.session.outcome().map(|outcome| outcome.kind);
    assert_eq!(kind("input go; answer hi"), Some(OutcomeKind::Success));
    assert_eq!(kind("input go; cancel; aborted"), Some(OutcomeKind::Cancelled));
    assert_eq!(kind("config model-calls=0; input go"), Some(OutcomeKind::CallLimit));
    assert_eq!(kind("config retries=0; input go; fail network"), Some(OutcomeKind::Provider));
    let (script, _) = told("input go; fail network");
    assert_eq!(
        (script.session.state(), script.session.outcome()),
        (State::Error, None),
        "waiting to repeat is not idle"
    );
    let entered = |words: &str, state| told(words).0.session.trace().total(state).0;
    assert_eq!(entered("input go; cancel; aborted", State::Cancelled), 1);
    assert_eq!(entered("config model-calls=0; input go", State::BudgetExceeded), 1);
}

/// Seed 001, Implementation details 2: "Validation of state transitions".
#[test]
fn a_transition_that_is_not_drawn_is_refused_and_says_what_is() {
    let (mut script, _) = told("input go");
    let rejected = script.session.step(0, Event::Started).unwrap_err();
    assert_eq!(
        (rejected.state, rejected.trigger, rejected.reason),
        (State::CallingLlm, Some(Trigger::Started), Reason::NoRow)
    );
    assert!(rejected.accepted.contains(&Trigger::LlmCompleted) && !rejected.accepted.contains(&Trigger::Started));
}

/// Seed 001, Implementation details 3: "History tracking for debugging". It is bounded, and says what it dropped.
#[test]
fn the_history_keeps_the_newest_transitions_in_order() {
    let (mut script, _) = told("wait 1; cancel");
    let mut all = Vec::new();
    for _ in 0..30 {
        for line in ["input go", "answer hi"] {
            all.extend(script.tell(line).unwrap().transitions);
        }
    }
    let trace = script.session.trace();
    let kept: Vec<_> = trace.recent().copied().collect();
    assert_eq!((kept.len(), kept.as_slice()), (Trace::CAPACITY, &all[all.len() - Trace::CAPACITY..]));
    assert_eq!(trace.dropped() as usize + kept.len(), all.len() + 2, "the start and the idle cancel are counted too");
}

/// Seed 001, Implementation details 4: "Event recording for each transition".
#[test]
fn every_transition_says_what_brought_it_about() {
    let (script, _) = told("input go; answer calls read{}; prepared; tool 1 ok x; answer hi");
    let mut at = State::Ready;
    for done in script.session.trace().recent() {
        assert_eq!(TABLE.row(done.from, done.on).map(|row| row.to), Some(done.to));
        assert_eq!(done.from, at, "each begins where the one before ended");
        at = done.to;
    }
    assert_eq!(at, script.session.state());
}

/// Seed 001, Implementation details 5: "Timing information for performance analysis".
#[test]
fn the_time_in_each_state_is_added_up() {
    let (script, step) = told("wait 5; input go; wait 70; answer hi; wait 900; input more; wait 30; answer hi");
    let trace = script.session.trace();
    assert_eq!(trace.total(State::CallingLlm), (2, 100));
    assert_eq!(trace.total(State::WaitingForUserInput), (3, 905));
    assert_eq!(trace.total(State::EndOfTurn), (2, 0), "a passing state takes no time");
    assert_eq!((step.transitions[0].at_ms, step.transitions[0].spent_ms), (1_005, 30));
}

/// Seed 003, Design principles 2: "Each state carries its required context".
#[test]
fn a_session_that_is_read_back_knows_what_it_waits_for() {
    for (state, words) in PLACES {
        let (script, _) = told(words);
        let text = serde_json::to_string(&script.session).unwrap();
        let read: Session = serde_json::from_str(&text).unwrap();
        assert_eq!((read.state(), read.outstanding()), (*state, script.session.outstanding()));
        assert_eq!(read.outstanding().is_empty(), *state == State::WaitingForUserInput);
    }
}

/// Seed 003, States: `PostToolsHook` has `completed_tools`.
#[test]
fn the_hooks_are_told_which_tools_ran_and_how() {
    let words =
        "input go; answer look calls read{} change{} nothing{}; prepared; tool 1 ok x; tool 2 failed y changed=a.rs";
    let (_, step) = told(words);
    let [Action::CheckGitCommits { changes, .. }] = &step.actions[..] else { panic!("{step:?}") };
    let ran: Vec<_> = changes.tools.iter().map(|tool| (tool.name.as_ref(), tool.status)).collect();
    assert_eq!(ran, [("read", ToolStatus::Ok), ("change", ToolStatus::Failed)], "not the one that does not exist");
    assert_eq!((changes.paths.as_slice(), changes.intent.as_str()), (&[String::from("a.rs")][..], "look"));
}

/// Seed 003, States: `Error` has `error` and `retries`.
#[test]
fn an_error_says_what_failed_and_how_often() {
    let (_, step) = told("input go; fail network; timer; fail server");
    let retry = step.actions.iter().find_map(|action| match action {
        Action::ScheduleRetry { failed_attempts, reason, .. } => Some((*failed_attempts, reason.as_str())),
        _ => None,
    });
    assert_eq!(retry, Some((2, "server")));
}

/// Seed 003, Mutating tools, lists two names. Here a tool of any name runs the hooks if its call may change something, and only then.
#[test]
fn whether_hooks_run_is_no_matter_of_names() {
    let leads_to = |words: &str| told(words).0.session.state();
    assert_eq!(leads_to("input go; answer calls read{}; prepared 1=change; tool 1 ok x"), State::CheckingGitCommits);
    assert_eq!(
        leads_to("input go; answer calls edit_file{} bash{}; prepared 1=read 2=read; tool 1 ok x; tool 2 ok x"),
        State::SendingToolResults
    );
    assert!(TABLE.rows.iter().all(|row| !row.actions.contains(&ActionKind::CheckGitCommits)
        || matches!(row.on, Trigger::ToolsAllCompletedMutating | Trigger::AutoGitCheckDue)));
}
