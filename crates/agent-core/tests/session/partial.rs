//! An answer that breaks off is paid for as far as it came.

use agent_core::budget::{LimitKind, Price};
use agent_core::llm::{LlmError, LlmErrorKind, PartialAnswer, Usage};
use agent_core::session::{Action, Event, ModelConfig, Session, SessionConfig, State};

/// What is left of the fourth attempt when each of them breaks off like this.
fn broken_off(partial: Option<PartialAnswer>) -> Session {
    let model = ModelConfig { max_output_tokens: 1_000, price: Some(PRICE), ..ModelConfig::new("m") };
    let mut config = SessionConfig::new(model);
    config.limits.max_cost_nano_usd = Some(25_000_000);
    let mut session = Session::new(config);
    let mut now_ms = 0;
    let mut take = |session: &mut Session, event| {
        now_ms += 60_000;
        drop(session.step(now_ms, event).unwrap());
    };
    take(&mut session, Event::Started);
    take(&mut session, Event::UserInput { text: "Go on with it, please.".into() });
    while session.state() != State::WaitingForUserInput {
        let event = match session.outstanding().remove(0).action {
            Action::SendLlmRequest { ticket, .. } => {
                let error = LlmError {
                    partial: partial.map(Box::new),
                    ..LlmError::new(LlmErrorKind::Network, "the line broke")
                };
                Event::LlmFailed { ticket, error, chance_permille: 0 }
            }
            Action::ScheduleRetry { ticket, .. } => Event::RetryTimeout { ticket },
            other => panic!("{other:?}"),
        };
        take(&mut session, event);
    }
    session
}

const PRICE: Price =
    Price { input_nano_usd: 1_000, output_nano_usd: 10_000, cache_read_nano_usd: 100, cache_write_nano_usd: 1_250 };

#[test]
fn what_the_provider_stated_counts_and_what_came_of_the_output() {
    let usage = Some(Usage { input_tokens: 100, output_tokens: 1, ..Usage::default() });
    let ledger = *broken_off(Some(PartialAnswer { usage, bytes: 400 })).ledger();
    let each = Usage { input_tokens: 100, output_tokens: 100, ..Usage::default() };
    assert_eq!(ledger.usage, each.plus(&each).plus(&each).plus(&each), "four attempts");
    assert_eq!((ledger.cost_nano_usd, ledger.estimated_calls), (4 * 1_100_000, 4));
}

#[test]
fn what_was_not_stated_is_estimated() {
    let session = broken_off(Some(PartialAnswer { usage: None, bytes: 400 }));
    assert!(session.ledger().usage.input_tokens >= 4 * 5, "{:?}", session.ledger());
    assert_eq!(session.ledger().usage.output_tokens, 400);
}

#[test]
fn a_refused_call_costs_nothing() {
    let ledger = *broken_off(None).ledger();
    assert_eq!((ledger.usage, ledger.cost_nano_usd, ledger.model_calls), (Usage::default(), 0, 4));
}

#[test]
fn attempts_that_break_off_do_not_run_past_the_limit() {
    let session = broken_off(Some(PartialAnswer { usage: None, bytes: 4_000 }));
    assert_eq!(session.limit_reached().map(|reached| reached.kind), Some(LimitKind::Cost));
    assert_eq!(session.ledger().model_calls, 2, "{:?}", session.ledger());
}
