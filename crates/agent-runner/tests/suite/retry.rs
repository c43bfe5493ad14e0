//! Failed model calls: when they are repeated, and when not.

use crate::support::{Host, builder, config, elapsed_ms, is_sendable, ms, with_config};
use agent_core::llm::{LlmError, LlmErrorKind};
use agent_core::ports::Observer;
use agent_core::session::{ModelConfig, OutcomeKind, State, Step};
use agent_runner::Notice;
use agent_testkit::{Reply, Script, ScriptedProvider};
use std::pin::pin;
use std::sync::mpsc;
use tokio::time::{Instant, timeout};

fn overloaded() -> LlmError {
    LlmError::new(LlmErrorKind::Overloaded, "overloaded")
}

fn delays(seen: &[Notice]) -> Vec<u64> {
    let delay = |notice: &Notice| match notice {
        Notice::RetryScheduled { delay_ms, .. } => Some(*delay_ms),
        _ => None,
    };
    seen.iter().filter_map(delay).collect()
}

#[tokio::test(start_paused = true)]
async fn a_call_is_tried_four_times_with_growing_delays() {
    let script = (0..4).fold(Script::new(), |script, _| script.error(overloaded())).text("later");
    let provider = ScriptedProvider::new(script);
    let mut host = Host::start(builder(provider.clone()));
    let start = Instant::now();
    let outcome = host.ask("go").await;
    assert_eq!((outcome.kind, elapsed_ms(start)), (OutcomeKind::Provider, 7_000));
    assert_eq!(delays(&host.seen), [1_000, 2_000, 4_000]);
    assert_eq!(outcome.error.unwrap(), "overloaded; gave up after 4 attempts");
    // The message is kept and goes out with the next one.
    assert_eq!(host.ask("again").await.text, "later");
    let last = provider.requests().last().unwrap();
    assert_eq!(crate::support::last_input(&last), ["go", "again"]);
    assert!(is_sendable(&last.conversation));
}

#[tokio::test(start_paused = true)]
async fn the_provider_says_how_long_to_wait() {
    let error = LlmError { retry_after_ms: Some(9_500), ..overloaded() };
    let mut host = Host::start(builder(ScriptedProvider::new(Script::new().error(error).text("well"))));
    let start = Instant::now();
    assert_eq!(host.ask("go").await.text, "well");
    assert_eq!((elapsed_ms(start), delays(&host.seen)), (9_500, vec![9_500]));
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_too_long_is_not_begun() {
    let error = LlmError { retry_after_ms: Some(3_600_000), ..overloaded() };
    let mut host = Host::start(builder(ScriptedProvider::new(Script::new().error(error))));
    let start = Instant::now();
    let outcome = host.ask("go").await;
    assert_eq!((outcome.kind, elapsed_ms(start)), (OutcomeKind::Provider, 0));
    assert!(outcome.error.unwrap().contains("asks to wait 3600 s"));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_succeed_is_not_repeated() {
    for kind in [LlmErrorKind::Authentication, LlmErrorKind::InvalidRequest, LlmErrorKind::NotFound] {
        let provider = ScriptedProvider::new(Script::new().error(LlmError::new(kind, "no")).text("never"));
        let mut host = Host::start(builder(provider.clone()));
        let start = Instant::now();
        assert_ne!(host.ask("go").await.kind, OutcomeKind::Success);
        assert_eq!((provider.requests().len(), elapsed_ms(start)), (1, 0));
        assert!(host.text().contains(r#"returned_input: ["go"]"#), "{}", host.text());
    }
}

#[tokio::test(start_paused = true)]
async fn an_overloaded_model_hands_over_to_the_next() {
    let mut config = config();
    config.models.push(ModelConfig::new("model-b"));
    let provider = ScriptedProvider::new(Script::new().error(overloaded()).text("from b"));
    let mut host = Host::start(with_config(config, provider.clone()));
    let start = Instant::now();
    assert_eq!(host.ask("go").await.text, "from b");
    let models: Vec<String> = provider.requests().all().iter().map(|request| request.model.to_string()).collect();
    assert_eq!((models, elapsed_ms(start)), (vec!["model-a".to_owned(), "model-b".to_owned()], 0));
    assert!(host.text().contains("continuing with model model-b instead of model-a"));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_breaks_off_is_discarded_and_asked_again() {
    let network = LlmError::new(LlmErrorKind::Network, "connection reset");
    let script = Script::new().error_after(Reply::new().text("half an answer").pieces_of(4), 2, network).text("whole");
    let mut host = Host::start(builder(ScriptedProvider::new(script)));
    assert_eq!(host.ask("go").await.text, "whole");
    assert!(host.text().contains("Discarded"));
    let (_, session, _) = host.detach().await;
    assert_eq!(session.conversation().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_user_can_tell_waiting_from_idle() {
    let mut host = Host::start(builder(ScriptedProvider::new(Script::new().error(overloaded()).text("well"))));
    host.handle.input("go");
    host.state(State::Error).await;
    let notice = host.until(|notice| matches!(notice, Notice::RetryScheduled { .. })).await;
    let Notice::RetryScheduled { failed_attempts, reason, .. } = notice else { panic!("{notice:?}") };
    assert_eq!((failed_attempts, reason.as_str()), (1, "overloaded"));
}

/// The timer fires in the moment of the cancel, and is heard behind it.
#[tokio::test(start_paused = true)]
async fn a_timer_that_is_heard_behind_a_cancel_is_no_error() {
    struct Late(mpsc::Sender<bool>);
    impl Observer for Late {
        fn on_step(&mut self, step: &Step) {
            let _ = self.0.send(step.is_empty());
        }
    }
    let (sender, steps) = mpsc::channel();
    let provider = ScriptedProvider::new(Script::new().error(overloaded()).text("well"));
    let mut host = Host::start(builder(provider).observer(Box::new(Late(sender))));
    // Begun before the retry's timer, and so woken before it.
    let mut moment = pin!(tokio::time::sleep(ms(1_000)));
    let _ = timeout(ms(0), &mut moment).await;
    host.handle.input("go");
    host.state(State::Error).await;
    moment.await;
    host.handle.cancel();
    assert_eq!(host.outcome().await.kind, OutcomeKind::Cancelled);
    assert_eq!(host.ask("again").await.text, "well");
    assert!(!host.seen.iter().any(|notice| matches!(notice, Notice::Refused(_))), "{}", host.text());
    let _ = host.detach().await;
    // The observers' thread ends with the runner, and the channel with it.
    assert_eq!(steps.iter().filter(|is_late| *is_late).count(), 1);
}
