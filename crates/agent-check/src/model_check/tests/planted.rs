//! Faults that no table of a session shows: in what a step does with its data, and in how an agent joins session and lifecycle. Each is
//! planted as a step or a row that goes wrong in one way, and must be found by the invariant that it breaks, and by no other.

use super::super::explore::{Reach, explore};
use super::super::session::{Sessions, Stepper, true_step};
use super::super::world::{Bounds, PLAIN, Variety, World};
use super::{REACH, world};
use crate::invariants::{Fault, Invariant};
use crate::request::{FORMATS, Format};
use agent_core::conversation::Conversation;
use agent_core::hook::HookOccasion;
use agent_core::llm::{LlmRequest, ResponseBlock};
use agent_core::session::table::TABLE;
use agent_core::session::{Action, Event, Rejected, Session, SessionConfig, State, Step, Ticket};
use serde_json::{Value, json};

/// A test for each fault, and the list of what they break.
macro_rules! planted {
    ($($fault:ident: $invariant:ident,)*) => {
        /// What the faults break.
        pub(crate) const BROKEN: &[Invariant] = &[$(Invariant::$invariant),*];

        mod found {
            use super::Invariant;

            $(#[test]
            fn $fault() {
                let found = super::$fault();
                assert_eq!(found.invariant, Invariant::$invariant, "{}", found.found);
            })*
        }
    };
}

pub(super) mod agents;
pub(super) mod trees;

planted! {
    a_queue_that_loses_a_message: InputKept,
    a_failure_that_forgets_what_was_asked: InputKept,
    a_result_that_says_that_nothing_ran: CallsAnswered,
    a_request_without_the_history: ValidForMessages,
    retries_that_are_not_counted: RetriesBounded,
    calls_that_are_not_charged: WithinLimits,
    a_cancel_that_is_forgotten: CancelStopsAll,
    an_answer_that_is_taken_whatever_its_ticket: StaleRefused,
    a_late_timer_that_is_refused: LateTimersPass,
    a_call_that_runs_without_all_its_arguments: RunsCompleteCalls,
    a_refusal_that_changes_something: RefusalChangesNothing,
    a_shutdown_that_keeps_the_messages: InputKept,
    a_shutdown_that_nobody_is_told_of: ShutdownArrives,
    tickets_that_outstanding_does_not_know: OutstandingAgrees,
    a_panic: NoPanic,
    a_step_that_remembers_what_is_in_no_event: ReplayEqual,
    actions_that_are_asked_twice: OneAtATime,
    a_message_that_is_refused: InputAccepted,
    a_failure_that_takes_the_history_along: HistoryGrows,
    a_cancel_that_is_charged: OvershootOfOneCall,
    an_end_that_can_be_cancelled: NothingAfterTheEnd,
    a_call_without_a_name: ValidForChat,
    a_request_without_the_history_in_the_third_format: ValidForResponses,
    hooks_of_the_end_that_end_a_run: OutcomeKept,
    a_raise_that_is_only_data: LimitsContinue,
    a_message_that_no_hook_has_seen: HooksAsked,
    a_message_that_does_not_wait: InputKept,
    a_summary_that_is_longer_than_what_was_said: SummariesShrink,
    summaries_that_are_not_counted: SummariesBounded,
    a_message_that_is_taken_back_and_stays: InputKept,
}

fn a_message_that_does_not_wait() -> Fault {
    // No hook is in its way.
    let world = World { config: "mode=bypass retries=0", ..world("messages-wait") };
    found_in(FORMATS, &world, |session, event| match event {
        Event::InputAfterTurn { text } => true_step(session, Event::UserInput { text }),
        event => true_step(session, event),
    })
}

fn a_message_that_is_taken_back_and_stays() -> Fault {
    found("messages-wait", |session, event| match event {
        Event::InputWithdrawn { text } => {
            let step = true_step(session, Event::InputWithdrawn { text: text.clone() })?;
            let _ = true_step(session, Event::InputAfterTurn { text: text.into() });
            Ok(step)
        }
        event => true_step(session, event),
    })
}

/// The history shares nothing with what it was after a summary, so it may be read back.
fn after_a_summary(session: &mut Session, event: Event, spoil: fn(&mut Value)) -> Result<Step, Rejected> {
    let answers = session.state() == State::Compacting && matches!(event, Event::LlmCompleted { .. });
    and_then(session, event, |session, step| {
        let is_made = step.actions.iter().any(|action| matches!(action, Action::DisplaySummary { .. }));
        if answers && is_made {
            let mut all = serde_json::to_value(&*session).unwrap();
            spoil(&mut all);
            *session = serde_json::from_value(all).unwrap();
        }
    })
}

fn a_summary_that_is_longer_than_what_was_said() -> Fault {
    found("window", |session, event| {
        after_a_summary(session, event, |all| all["conversation"][0]["Summary"]["text"] = json!("x".repeat(5_000)))
    })
}

fn summaries_that_are_not_counted() -> Fault {
    // No failure is in its way.
    let world = World {
        config: "mode=bypass retries=0 window=120 summaries=1",
        bounds: Bounds { inputs: 1, rounds: 3, calls: 1, ..PLAIN.smoke },
        failures: Variety::Few,
        outcomes: &["ok long=600"],
        ..world("window")
    };
    found_in(FORMATS, &world, |session, event| {
        after_a_summary(session, event, |all| all["compaction"]["in_turn"] = json!(0))
    })
}

/// The checker's verdict on a session with this step.
fn found(name: &str, step: Stepper) -> Fault {
    found_by(FORMATS, name, step)
}

/// What it says when it judges requests by these formats only.
fn found_by(formats: &'static [Format], name: &str, step: Stepper) -> Fault {
    found_in(formats, &world(name), step)
}

fn found_in(formats: &'static [Format], world: &World, step: Stepper) -> Fault {
    let mut model = Sessions::new(world, &TABLE).unwrap();
    (model.step, model.replay_one_in, model.formats) = (step, 1, formats);
    explore(&model, Reach { max_states: 50_000, ..REACH }).violation.expect("nothing is found").fault
}

/// Changes a session's data behind its back. One with a history is left alone: what is read back shares nothing with what was, and that
/// would be the fault that is found.
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

/// The session is left before anything ran, and has come to something all the same.
fn hooks_of_the_end_that_end_a_run() -> Fault {
    let step: Stepper = |session, event| {
        let is_left = matches!(event, Event::LeaveRequested);
        and_then(session, event, |session, _| {
            if is_left {
                let run = json!({"text": "", "denials": [], "ending": "Cancelled", "error": null, "finished": true});
                spoil(session, "/run", run);
            }
        })
    };
    found("hooks", step)
}

/// In a resting session, raised limits act like any new configuration: nothing continues.
fn a_raise_that_is_only_data() -> Fault {
    let step: Stepper = |session, event| match event {
        Event::BudgetRaised { limits } if session.state() == State::WaitingForUserInput => {
            let config = SessionConfig { limits, ..session.config().clone() };
            true_step(session, Event::Reconfigured { config: Box::new(config) })
        }
        other => true_step(session, other),
    };
    found("limits", step)
}

/// The hooks are asked about another message than the one that goes out.
fn a_message_that_no_hook_has_seen() -> Fault {
    let step: Stepper = |session, event| {
        and_then(session, event, |_, step| {
            for action in &mut step.actions {
                if let Action::RunHooks { occasion, .. } = action
                    && let HookOccasion::UserPromptSubmit { prompt } = occasion.as_mut()
                {
                    *prompt = "something else".to_owned();
                }
            }
        })
    };
    found("hooks", step)
}

fn a_queue_that_loses_a_message() -> Fault {
    let step: Stepper = |session, event| {
        let is_input = matches!(event, Event::UserInput { .. });
        and_then(session, event, |session, _| {
            if is_input {
                spoil(session, "/queue", json!([]));
            }
        })
    };
    found("tools", step)
}

fn a_failure_that_forgets_what_was_asked() -> Fault {
    let step: Stepper = |session, event| {
        let is_failure = matches!(event, Event::LlmFailed { .. });
        and_then(session, event, |session, _| {
            if is_failure {
                spoil(session, "/pending", json!(["something else"]));
            }
        })
    };
    found("tools", step)
}

fn a_result_that_says_that_nothing_ran() -> Fault {
    let step: Stepper = |session, mut event| {
        if let Event::ToolCompleted { outcome, .. } = &mut event {
            outcome.content = "not run: forgotten".to_owned();
        }
        true_step(session, event)
    };
    found("tools", step)
}

/// A step whose requests are changed.
fn with_requests(session: &mut Session, event: Event, change: fn(&mut LlmRequest)) -> Result<Step, Rejected> {
    and_then(session, event, |_, step| {
        for action in &mut step.actions {
            if let Action::SendLlmRequest { request, .. } = action {
                change(request);
            }
        }
    })
}

fn without_history(session: &mut Session, event: Event) -> Result<Step, Rejected> {
    with_requests(session, event, |request| request.conversation = Conversation::new())
}

fn a_request_without_the_history() -> Fault {
    found("tools", without_history)
}

/// What breaks a rule of this format breaks one of another, too, so the others do not look.
fn a_request_without_the_history_in_the_third_format() -> Fault {
    found_by(&FORMATS[2..], "tools", without_history)
}

/// Messages does not say that a tool's name is not empty.
fn a_call_without_a_name() -> Fault {
    fn unname(value: &mut Value) {
        match value {
            Value::Object(object) => {
                if let Some(name) = object.get_mut("name") {
                    *name = json!("");
                }
                object.values_mut().for_each(unname);
            }
            Value::Array(values) => values.iter_mut().for_each(unname),
            _ => {}
        }
    }
    let step: Stepper = |session, event| {
        with_requests(session, event, |request| {
            let mut all = serde_json::to_value(&request.conversation).unwrap();
            unname(&mut all);
            request.conversation = serde_json::from_value(all).unwrap();
        })
    };
    found("tools", step)
}

fn actions_that_are_asked_twice() -> Fault {
    let step: Stepper = |session, event| {
        and_then(session, event, |_, step| {
            let twice = step.actions.iter().find(|action| matches!(action, Action::SendLlmRequest { .. })).cloned();
            step.actions.extend(twice);
        })
    };
    found("tools", step)
}

/// While the model answers, every message is taken for a blank one.
fn a_message_that_is_refused() -> Fault {
    let step: Stepper = |session, mut event| {
        if let Event::UserInput { text } = &mut event
            && session.state() == State::CallingLlm
        {
            *text = " ".into();
        }
        true_step(session, event)
    };
    found("tools", step)
}

fn a_failure_that_takes_the_history_along() -> Fault {
    let step: Stepper = |session, event| {
        let is_failure = matches!(event, Event::LlmFailed { .. });
        and_then(session, event, |session, _| {
            if is_failure {
                let mut all = serde_json::to_value(&*session).unwrap();
                all["conversation"] = json!([]);
                *session = serde_json::from_value(all).unwrap();
            }
        })
    };
    found("tools", step)
}

/// The second one goes over the limit although no call was in flight that began below it.
fn a_cancel_that_is_charged() -> Fault {
    let step: Stepper = |session, event| {
        let is_cancel = matches!(event, Event::CancelRequested);
        and_then(session, event, |session, _| {
            if is_cancel {
                let spent = session.ledger().usage.output_tokens + 700;
                spoil(session, "/ledger/usage/output_tokens", json!(spent));
            }
        })
    };
    found("money", step)
}

fn an_end_that_can_be_cancelled() -> Fault {
    let step: Stepper = |session, event| match (session.state(), &event) {
        (State::ShuttingDown, Event::CancelRequested) => {
            true_step(&mut Session::new(session.config().clone()), Event::Started)
        }
        _ => true_step(session, event),
    };
    found("tools", step)
}

fn retries_that_are_not_counted() -> Fault {
    let step: Stepper = |session, event| {
        let is_failure = matches!(event, Event::LlmFailed { .. });
        and_then(session, event, |session, _| {
            if is_failure {
                spoil(session, "/failed_attempts", json!(0));
            }
        })
    };
    found("tools", step)
}

fn calls_that_are_not_charged() -> Fault {
    let step: Stepper =
        |session, event| and_then(session, event, |session, _| spoil(session, "/ledger/model_calls", json!(0)));
    found("limits", step)
}

fn a_cancel_that_is_forgotten() -> Fault {
    let step: Stepper = |session, event| {
        let is_cancel = matches!(event, Event::CancelRequested);
        and_then(session, event, |session, _| {
            if is_cancel {
                spoil(session, "/cancel", Value::Null);
            }
        })
    };
    found("tools", step)
}

fn an_answer_that_is_taken_whatever_its_ticket() -> Fault {
    let step: Stepper = |session, mut event| {
        let open = session.outstanding().into_iter().next().map(|asked| asked.action);
        if let (Event::LlmCompleted { ticket, .. }, Some(Action::SendLlmRequest { ticket: right, .. })) =
            (&mut event, open)
        {
            *ticket = right;
        }
        true_step(session, event)
    };
    found("tools", step)
}

/// As if its ticket had never been given.
fn a_late_timer_that_is_refused() -> Fault {
    let step: Stepper = |session, mut event| {
        if let Event::RetryTimeout { ticket } | Event::DeadlineReached { ticket } = &mut event
            && !session.is_open(*ticket)
        {
            *ticket = Ticket(u64::MAX);
        }
        true_step(session, event)
    };
    found("tools", step)
}

fn a_call_that_runs_without_all_its_arguments() -> Fault {
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
    found("tools", step)
}

fn a_refusal_that_changes_something() -> Fault {
    let step: Stepper =
        |session, event| true_step(session, event).inspect_err(|_| spoil(session, "/next_call", json!(7)));
    found("tools", step)
}

fn a_shutdown_that_keeps_the_messages() -> Fault {
    let step: Stepper = |session, event| {
        and_then(session, event, |_, step| {
            step.actions.retain(|action| !matches!(action, Action::ReturnQueuedInput { .. }));
        })
    };
    found("tools", step)
}

fn a_shutdown_that_nobody_is_told_of() -> Fault {
    let step: Stepper = |session, event| {
        and_then(session, event, |_, step| step.actions.retain(|action| !matches!(action, Action::Shutdown)))
    };
    found("tools", step)
}

fn tickets_that_outstanding_does_not_know() -> Fault {
    let step: Stepper = |session, event| {
        and_then(session, event, |_, step| {
            for action in &mut step.actions {
                if let Action::SendLlmRequest { ticket, .. } = action {
                    *ticket = Ticket(ticket.0 + 1);
                }
            }
        })
    };
    found("tools", step)
}

fn a_panic() -> Fault {
    let step: Stepper = |session, event| match event {
        Event::ToolCompleted { .. } => panic!("planted"),
        event => true_step(session, event),
    };
    found("tools", step)
}

fn a_step_that_remembers_what_is_in_no_event() -> Fault {
    use std::sync::atomic::{AtomicU64, Ordering};
    static STEPS: AtomicU64 = AtomicU64::new(0);
    let step: Stepper = |session, event| {
        let number = STEPS.fetch_add(1, Ordering::Relaxed);
        let is_piece = event.is_transient();
        and_then(session, event, |session, _| {
            if !is_piece {
                spoil(session, "/next_call", json!(number));
            }
        })
    };
    found("tools", step)
}
