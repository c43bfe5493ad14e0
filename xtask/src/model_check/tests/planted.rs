//! Faults that no table shows: in what a step does with its data, and in what passes between a session and its agent. Each is planted as a
//! step that goes wrong in one way, and has to be found by the invariant that it breaks.

use super::super::explore::{Reach, explore};
use super::super::invariants::{Fault, Invariant};
use super::super::link::{Joined, PAIRS, Pair, Steppers};
use super::super::session::{Sessions, Stepper, true_step};
use super::{REACH, world};
use agent_core::conversation::Conversation;
use agent_core::lifecycle::{self, CheckEnd, Lifecycle};
use agent_core::llm::ResponseBlock;
use agent_core::session::table::TABLE;
use agent_core::session::{Action, Event, Rejected, Session, Step, Ticket};
use serde_json::{Value, json};

/// What the checker says of a session whose step is this one.
fn found(name: &str, step: Stepper) -> Fault {
    let world = world(name);
    let mut model = Sessions::new(&world, &TABLE).unwrap();
    (model.step, model.replay_one_in) = (step, 1);
    explore(&model, Reach { max_states: 50_000, ..REACH }).violation.expect("nothing is found").fault
}

/// What it says of a session and its agent.
fn found_between(name: &str, steps: Steppers) -> Fault {
    let pair = PAIRS.iter().find(|pair| pair.name == name).unwrap();
    let pair = Pair { left: pair.smoke, ..*pair };
    let mut model = Joined::new(&pair).unwrap();
    model.steps = steps;
    explore(&model, Reach { max_states: 50_000, ..REACH }).violation.expect("nothing is found").fault
}

/// Of a fault that breaks several invariants, the nearest is found.
fn assert_found(found: &Fault, expected: &[Invariant]) {
    assert!(expected.contains(&found.invariant), "{found:?}");
}

/// Changes a session's data behind its back. One with a history is left alone: what is read back shares nothing with what was, and that would
/// be the fault that is found.
fn spoil(session: &mut Session, place: &str, value: Value) {
    if !session.conversation().is_empty() {
        return;
    }
    let mut all = serde_json::to_value(&*session).unwrap();
    *all.pointer_mut(place).expect("there is no such place") = value;
    *session = serde_json::from_value(all).unwrap();
}

/// A true step, and then something else when it was accepted.
fn and_then(
    session: &mut Session,
    event: Event,
    spoil: impl FnOnce(&mut Session, &mut Step),
) -> Result<Step, Rejected> {
    let mut step = true_step(session, event)?;
    spoil(session, &mut step);
    Ok(step)
}

#[test]
fn a_queue_that_loses_a_message_is_found() {
    let step: Stepper = |session, event| {
        let is_input = matches!(event, Event::UserInput { .. });
        and_then(session, event, |session, _| {
            if is_input {
                spoil(session, "/queue", json!([]));
            }
        })
    };
    assert_found(&found("tools", step), &[Invariant::InputKept]);
}

#[test]
fn a_failure_that_forgets_what_was_asked_is_found() {
    let step: Stepper = |session, event| {
        let is_failure = matches!(event, Event::LlmFailed { .. });
        and_then(session, event, |session, _| {
            if is_failure {
                spoil(session, "/pending", json!([]));
            }
        })
    };
    assert_found(&found("tools", step), &[Invariant::InputKept]);
}

#[test]
fn a_result_that_says_that_nothing_ran_is_found() {
    let step: Stepper = |session, mut event| {
        if let Event::ToolCompleted { outcome, .. } = &mut event {
            outcome.content = "not run: forgotten".to_owned();
        }
        true_step(session, event)
    };
    assert_found(&found("tools", step), &[Invariant::CallsAnswered]);
}

#[test]
fn a_request_without_the_history_is_found() {
    let step: Stepper = |session, event| {
        and_then(session, event, |_, step| {
            for action in &mut step.actions {
                if let Action::SendLlmRequest { request, .. } = action {
                    request.conversation = Conversation::new();
                }
            }
        })
    };
    assert_found(&found("tools", step), &[Invariant::ValidForMessages, Invariant::InputKept]);
}

#[test]
fn retries_that_are_not_counted_are_found() {
    let step: Stepper = |session, event| {
        let is_failure = matches!(event, Event::LlmFailed { .. });
        and_then(session, event, |session, _| {
            if is_failure {
                spoil(session, "/failed_attempts", json!(0));
            }
        })
    };
    assert_found(&found("tools", step), &[Invariant::RetriesBounded]);
}

#[test]
fn calls_that_are_not_charged_are_found() {
    let step: Stepper =
        |session, event| and_then(session, event, |session, _| spoil(session, "/ledger/model_calls", json!(0)));
    assert_found(&found("limits", step), &[Invariant::WithinLimits]);
}

#[test]
fn a_cancel_that_is_forgotten_is_found() {
    let step: Stepper = |session, event| {
        let is_cancel = matches!(event, Event::CancelRequested);
        and_then(session, event, |session, _| {
            if is_cancel {
                spoil(session, "/cancel", Value::Null);
            }
        })
    };
    assert_found(&found("tools", step), &[Invariant::CancelStopsAll, Invariant::CancelArrives]);
}

#[test]
fn an_answer_that_is_taken_whatever_its_ticket_is_found() {
    let step: Stepper = |session, mut event| {
        let open = session.outstanding().into_iter().next().map(|asked| asked.action);
        if let (Event::LlmCompleted { ticket, .. }, Some(Action::SendLlmRequest { ticket: right, .. })) =
            (&mut event, open)
        {
            *ticket = right;
        }
        true_step(session, event)
    };
    assert_found(&found("tools", step), &[Invariant::StaleRefused, Invariant::RefusalChangesNothing]);
}

#[test]
fn a_call_that_runs_without_all_its_arguments_is_found() {
    let step: Stepper = |session, mut event| {
        if let Event::LlmCompleted { response, .. } = &mut event {
            for block in &mut response.blocks {
                if let ResponseBlock::Call(raw) = block {
                    (raw.complete, raw.arguments) = (true, "{}".to_owned());
                }
            }
        }
        true_step(session, event)
    };
    assert_found(&found("tools", step), &[Invariant::RunsCompleteCalls, Invariant::CallsAnswered]);
}

#[test]
fn a_refusal_that_changes_something_is_found() {
    let step: Stepper =
        |session, event| true_step(session, event).inspect_err(|_| spoil(session, "/next_call", json!(7)));
    assert_found(&found("tools", step), &[Invariant::RefusalChangesNothing]);
}

#[test]
fn a_shutdown_that_keeps_the_messages_is_found() {
    let step: Stepper = |session, event| {
        and_then(session, event, |_, step| {
            step.actions.retain(|action| !matches!(action, Action::ReturnQueuedInput { .. }));
        })
    };
    assert_found(&found("tools", step), &[Invariant::ShutdownArrives, Invariant::InputKept, Invariant::CancelStopsAll]);
}

#[test]
fn tickets_that_outstanding_does_not_know_are_found() {
    let step: Stepper = |session, event| {
        and_then(session, event, |_, step| {
            for action in &mut step.actions {
                if let Action::SendLlmRequest { ticket, .. } = action {
                    *ticket = Ticket(ticket.0 + 1);
                }
            }
        })
    };
    assert_found(&found("tools", step), &[Invariant::OutstandingAgrees]);
}

#[test]
fn a_panic_is_found() {
    let step: Stepper = |session, event| match event {
        Event::ToolCompleted { .. } => panic!("planted"),
        event => true_step(session, event),
    };
    assert_found(&found("tools", step), &[Invariant::NoPanic]);
}

#[test]
fn a_step_that_remembers_what_is_in_no_event_is_found() {
    use std::sync::atomic::{AtomicU64, Ordering};
    static STEPS: AtomicU64 = AtomicU64::new(0);
    let step: Stepper = |session, event| {
        let number = STEPS.fetch_add(1, Ordering::Relaxed);
        and_then(session, event, |session, _| spoil(session, "/next_call", json!(number)))
    };
    assert_found(&found("tools", step), &[Invariant::ReplayEqual, Invariant::RefusalChangesNothing]);
}

type AgentStep = Result<lifecycle::Step, lifecycle::Rejected>;

fn agent_step(agent: &mut Lifecycle, event: lifecycle::Event) -> AgentStep {
    (Steppers::default().agent)(agent, event)
}

#[test]
fn a_failed_check_that_counts_as_kept_is_found() {
    let agent = |agent: &mut Lifecycle, mut event: lifecycle::Event| {
        if let lifecycle::Event::CheckCompleted { report, .. } = &mut event {
            report.end = CheckEnd::Exited { code: 0 };
        }
        agent_step(agent, event)
    };
    assert_found(
        &found_between("bound-alone", Steppers { agent, ..Steppers::default() }),
        &[Invariant::ClaimsVerified],
    );
}

#[test]
fn a_report_that_is_not_sent_is_found() {
    let agent = |agent: &mut Lifecycle, event: lifecycle::Event| -> AgentStep {
        let mut step = agent_step(agent, event)?;
        step.actions.retain(|action| !matches!(action, lifecycle::Action::SendGapReport { .. }));
        Ok(step)
    };
    assert_found(&found_between("bound-alone", Steppers { agent, ..Steppers::default() }), &[Invariant::NoDeadlock]);
}

#[test]
fn rounds_that_are_not_counted_are_found() {
    let agent = |agent: &mut Lifecycle, event: lifecycle::Event| -> AgentStep {
        let step = agent_step(agent, event)?;
        let mut all = serde_json::to_value(&*agent).unwrap();
        all["rounds"] = json!(0);
        *agent = serde_json::from_value(all).unwrap();
        Ok(step)
    };
    assert_found(&found_between("bound-alone", Steppers { agent, ..Steppers::default() }), &[Invariant::RoundsBounded]);
}

#[test]
fn the_end_of_an_older_turn_that_counts_is_found() {
    let agent = |agent: &mut Lifecycle, mut event: lifecycle::Event| {
        if let lifecycle::Event::TurnEnded { inputs_taken, .. } = &mut event {
            *inputs_taken = u64::MAX;
        }
        agent_step(agent, event)
    };
    let found = found_between("unbound", Steppers { agent, ..Steppers::default() });
    assert_found(&found, &[Invariant::RestsTogether]);
}

#[test]
fn a_message_that_the_session_swallows_is_found() {
    let session: Stepper = |session, event| {
        let before = session.clone();
        let is_input = matches!(event, Event::UserInput { .. });
        and_then(session, event, |session, step| {
            if is_input {
                *session = before;
                step.transitions.clear();
                step.actions.clear();
            }
        })
    };
    let found = found_between("unbound", Steppers { session, ..Steppers::default() });
    assert_found(&found, &[Invariant::NoDeadlock, Invariant::RestsTogether]);
}

#[test]
fn an_agent_that_cannot_be_dismissed_is_found() {
    let agent = |agent: &mut Lifecycle, event: lifecycle::Event| match event {
        lifecycle::Event::Dismissed => {
            agent_step(&mut agent.clone(), lifecycle::Event::CleanupCompleted { ticket: lifecycle::Ticket(u64::MAX) })
        }
        event => agent_step(agent, event),
    };
    assert_found(&found_between("unbound", Steppers { agent, ..Steppers::default() }), &[Invariant::DismissalArrives]);
}
