//! What the design that this machine grew from says, sentence by sentence, and what it leaves open.

use crate::harness::{Harness, agent, business, events, for_good, spent, success, system};
use agent_core::budget::Limits;
use agent_core::job::{
    Action, Event, FailureKind, Invalid, JobConfig, JobStatus, RetryConfig, Spent, State, TierModels, Verdict,
};
use agent_core::session::Ticket;

fn failure() -> FailureKind {
    FailureKind::Business("no".to_owned())
}

#[test]
fn init_success_leads_to_define_agent() {
    let mut harness = Harness::with_retries(3);
    assert_eq!(harness.start(), State::Init);
    assert_eq!(harness.validate(), State::DefineAgent);
}

#[test]
fn init_failure_completes_with_failure_no_retries_for_validation() {
    let mut harness = Harness::with_retries(3);
    harness.start();
    let ticket = harness.ticket;
    harness.go(Event::ValidationFailed { ticket, failure: failure() });
    assert_eq!((harness.write(), harness.job.status()), (State::Failed, JobStatus::Failed));
    assert_eq!((harness.attempts, harness.job.retry_count(), harness.delays_ms.len()), (0, 0, 0));
}

#[test]
fn define_agent_success_leads_to_process() {
    let mut harness = Harness::with_retries(3);
    harness.start();
    harness.validate();
    assert_eq!(harness.define(), State::Process);
}

#[test]
fn define_agent_failure_completes_with_failure_no_retries_for_routing() {
    let mut harness = Harness::with_retries(3);
    harness.start();
    harness.validate();
    let ticket = harness.ticket;
    harness.go(Event::RoutingFailed { ticket, failure: failure(), spent: spent(10) });
    assert_eq!((harness.write(), harness.attempts, harness.delays_ms.len()), (State::Failed, 0, 0));
    assert_eq!(harness.records[0].cost_nano_usd, Some(150), "the router's call is paid for all the same");
}

#[test]
fn process_success_leads_to_end() {
    assert_eq!(Harness::processing(3).end_attempt(success()), State::End);
}

#[test]
fn process_failure_with_retries_left_is_retried_whatever_its_kind() {
    for verdict in [business(), system()] {
        let mut harness = Harness::processing(1);
        assert_eq!(harness.end_attempt(verdict), State::RetryWait);
        assert_eq!((harness.wait(), harness.job.retry_count()), (State::Process, 1));
    }
}

#[test]
fn process_failure_with_retries_exhausted_completes_with_failure() {
    let mut harness = Harness::processing(2);
    for _ in 0..2 {
        assert_eq!(harness.end_attempt(system()), State::RetryWait);
        harness.wait();
    }
    assert_eq!(harness.end_attempt(business()), State::Recording);
    assert_eq!((harness.write(), harness.attempts), (State::Failed, 3));
    assert_eq!(harness.records[0].failure, Some(FailureKind::Business("wrong output".to_owned())));
}

#[test]
fn end_success_completes_with_success_and_end_failure_with_failure() {
    let mut harness = Harness::processing(0);
    harness.end_attempt(success());
    assert_eq!((harness.write(), harness.job.status()), (State::Completed, JobStatus::Completed));
    let mut harness = Harness::processing(0);
    harness.end_attempt(success());
    let ticket = harness.ticket;
    harness.go(Event::RecordFailed { ticket, message: "disk full".to_owned() });
    assert_eq!((harness.job.state(), harness.job.status()), (State::Failed, JobStatus::Failed));
    assert_eq!(harness.job.failure(), Some(&FailureKind::System("disk full".to_owned())));
}

#[test]
fn the_delay_is_the_base_times_two_to_the_attempt_less_one() {
    let retry = RetryConfig { max_retries: 4, base_delay_ms: 1_000 };
    assert_eq!([1, 2, 3, 4].map(|attempt| retry.delay_ms(attempt)), [1_000, 2_000, 4_000, 8_000]);
    let mut harness = Harness::processing(4);
    for _ in 0..4 {
        harness.end_attempt(system());
        harness.wait();
    }
    assert_eq!(harness.delays_ms, [1_000, 2_000, 4_000, 8_000]);
}

#[test]
fn delays_saturate() {
    let retry = RetryConfig { max_retries: 100, base_delay_ms: 3 };
    assert_eq!(retry.delay_ms(0), 3);
    assert_eq!(retry.delay_ms(63), 3 << 62);
    for attempt in [64, 65, 66, 1_000, u32::MAX] {
        assert_eq!(retry.delay_ms(attempt), u64::MAX, "{attempt}");
    }
    assert_eq!(RetryConfig { base_delay_ms: 0, ..retry }.delay_ms(u32::MAX), 0);
}

#[test]
fn retries_default_to_three_after_a_second() {
    assert_eq!(RetryConfig::default(), RetryConfig { max_retries: 3, base_delay_ms: 1_000 });
}

#[test]
fn the_retry_count_is_not_reset_between_states() {
    let mut harness = Harness::processing(3);
    harness.end_attempt(system());
    harness.wait();
    assert_eq!(harness.end_attempt(success()), State::End);
    assert_eq!(harness.job.retry_count(), 1);
    harness.write();
    assert_eq!((harness.job.retry_count(), harness.records[0].retry_count), (1, 1));
}

#[test]
fn the_state_history_is_the_trail_of_visited_states() {
    let mut harness = Harness::processing(1);
    harness.end_attempt(system());
    harness.wait();
    harness.end_attempt(success());
    harness.write();
    use State::{DefineAgent, End, Init, Process, RetryWait};
    let trail = [Init, DefineAgent, Process, RetryWait, Process, End];
    assert_eq!(harness.job.state_history(), trail);
    assert_eq!(harness.records[0].state_transitions, trail);
}

#[test]
fn the_audit_record_has_what_happened() {
    let mut harness = Harness::processing(2);
    harness.now_ms += 500;
    harness.end_attempt(system());
    harness.wait();
    harness.end_attempt(success());
    let record = &harness.records[0];
    assert_eq!((record.job_id.as_str(), record.description.as_str()), ("job-1", "fix the crash"));
    assert_eq!((record.status, record.agent.clone()), (JobStatus::Completed, Some(agent())));
    assert_eq!((record.retry_count, record.max_retries), (1, 2));
    assert_eq!((record.cost_nano_usd, record.usage.output_tokens, record.model_calls), (Some(3_000), 200, 2));
    assert_eq!(record.llm_response.as_deref(), Some("done"));
    assert_eq!((record.started_at_ms, record.completed_at_ms, record.duration_ms), (1_000, 2_500, 1_500));
    assert_eq!((record.failure.clone(), record.session_ids.clone()), (None, vec!["s1".to_owned(), "s2".to_owned()]));
}

#[test]
fn what_repetition_cannot_cure_is_not_repeated() {
    let mut harness = Harness::processing(3);
    assert_eq!((harness.end_attempt(for_good()), harness.delays_ms.len()), (State::Recording, 0));
}

#[test]
fn a_job_that_says_nothing_or_too_much_fails_whatever_the_host_says() {
    assert_eq!(JobConfig::MAX_DESCRIPTION_BYTES, 262_144);
    let long = "x".repeat(JobConfig::MAX_DESCRIPTION_BYTES + 1);
    let greedy = RetryConfig { max_retries: 101, base_delay_ms: 1 };
    let fitting = "x".repeat(JobConfig::MAX_DESCRIPTION_BYTES);
    let patient = RetryConfig { max_retries: RetryConfig::MAX_RETRIES, base_delay_ms: 1 };
    let cases = [
        (JobConfig::new("j", " \n\t"), Some(Invalid::NoDescription)),
        (JobConfig::new("j", &long), Some(Invalid::LongDescription { bytes: long.len() })),
        (JobConfig { retry: greedy, ..JobConfig::new("j", "x") }, Some(Invalid::TooManyRetries { max_retries: 101 })),
        (JobConfig::new("j", &fitting), None),
        (JobConfig { retry: patient, ..JobConfig::new("j", "x") }, None),
    ];
    for (config, wrong) in cases {
        assert_eq!(config.check().err(), wrong);
        let mut harness = Harness::new(config);
        harness.start();
        let state = if wrong.is_some() { State::Recording } else { State::DefineAgent };
        assert_eq!(harness.validate(), state);
        assert_eq!(harness.job.failure().cloned(), wrong.map(|wrong| wrong.failure()));
    }
}

#[test]
fn a_tier_without_a_model_fails_the_routing() {
    let mut harness = Harness::with_retries(3);
    harness.start();
    let ticket = harness.ticket;
    let step = harness.take(Event::ValidationPassed { ticket, tiers: TierModels::default() }).unwrap();
    let [Action::DefineAgent { ticket, suggestion, .. }] = &step.actions[..] else { panic!("{step:?}") };
    let (ticket, agent) = (*ticket, suggestion.clone());
    harness.go(Event::AgentDefined { ticket, agent, spent: Spent::default() });
    assert_eq!(harness.job.state(), State::Recording);
    assert_eq!(harness.job.failure().unwrap().to_string(), "define the agent: there is no model for the tier Sonnet");
}

#[test]
fn a_cancel_at_any_time_leaves_a_record() {
    for stage in 0..5 {
        let mut harness = Harness::with_retries(3);
        let stages: [fn(&mut Harness) -> State; 4] =
            [Harness::start, Harness::validate, Harness::define, |h| h.end_attempt(system())];
        stages.iter().take(stage).for_each(|go| {
            go(&mut harness);
        });
        let before = harness.job.state();
        harness.go(Event::CancelRequested);
        let again = harness.take(Event::CancelRequested).unwrap();
        assert!(again.actions.is_empty(), "a second cancel finds nothing to stop in {before:?}");
        if harness.records.is_empty() {
            // What is in flight answers, and even an answer that would go on does not.
            let answers: Vec<_> = events(harness.ticket).into_iter().skip(2).collect();
            assert!(answers.into_iter().filter(|event| !is_success(event)).any(|event| harness.take(event).is_ok()));
        }
        assert_eq!((harness.job.state(), harness.records.len()), (State::Recording, 1), "{before:?}");
        assert_eq!((harness.records[0].status, harness.records[0].failure.clone()), (JobStatus::Cancelled, None));
        assert_eq!((harness.write(), harness.job.status()), (State::Failed, JobStatus::Cancelled));
    }
}

const fn is_success(event: &Event) -> bool {
    matches!(event, Event::AttemptEnded { verdict: Verdict::Success { .. }, .. })
}

#[test]
fn work_that_was_done_when_it_was_stopped_stays_done() {
    let mut harness = Harness::processing(0);
    harness.go(Event::CancelRequested);
    assert_eq!(harness.end_attempt(success()), State::End);
    assert_eq!((harness.write(), harness.records[0].status), (State::Completed, JobStatus::Completed));
}

#[test]
fn the_attempts_share_the_limits_of_the_job() {
    let limits = Limits { max_cost_nano_usd: Some(2_000), max_model_calls: Some(1), ..Limits::default() };
    let mut harness = Harness::new(JobConfig { limits, ..JobConfig::new("j", "x") });
    harness.start();
    harness.validate();
    harness.define();
    harness.end_attempt(system());
    let ticket = harness.ticket;
    let step = harness.take(Event::RetryTimeout { ticket }).unwrap();
    let [Action::RunAgent { attempt, .. }] = &step.actions[..] else { panic!("{step:?}") };
    assert_eq!((attempt.limits.max_cost_nano_usd, attempt.limits.max_model_calls), (Some(500), Some(0)));
    assert_eq!(attempt.limits.max_total_tokens, None);
}

#[test]
fn a_cost_that_is_not_known_is_not_told() {
    let mut harness = Harness::processing(0);
    let ticket = harness.ticket;
    let spent = Spent::of_call(agent_core::llm::Usage::default(), None);
    let session_id = String::new();
    harness.go(Event::AttemptEnded { ticket, verdict: success(), spent, session_id });
    assert_eq!((harness.records[0].cost_nano_usd, harness.records[0].session_ids.len()), (None, 0));
}

#[test]
fn a_job_knows_what_is_open_and_when_it_is_over() {
    let mut harness = Harness::processing(0);
    let ticket = harness.ticket;
    assert!(harness.job.is_open(ticket) && !harness.job.is_open(Ticket(ticket.0 + 1)));
    assert!(!harness.job.is_finished());
    harness.end_attempt(success());
    assert!(!harness.job.is_open(ticket) && !harness.job.is_finished(), "it is done, but not recorded");
    harness.write();
    assert!(harness.job.is_finished() && !harness.job.is_open(harness.ticket));
}

/// All of them, to be run on changed tables.
pub(crate) const RULES: &[fn()] = &[
    init_success_leads_to_define_agent,
    init_failure_completes_with_failure_no_retries_for_validation,
    define_agent_success_leads_to_process,
    define_agent_failure_completes_with_failure_no_retries_for_routing,
    process_success_leads_to_end,
    process_failure_with_retries_left_is_retried_whatever_its_kind,
    process_failure_with_retries_exhausted_completes_with_failure,
    end_success_completes_with_success_and_end_failure_with_failure,
    the_delay_is_the_base_times_two_to_the_attempt_less_one,
    delays_saturate,
    retries_default_to_three_after_a_second,
    the_retry_count_is_not_reset_between_states,
    the_state_history_is_the_trail_of_visited_states,
    the_audit_record_has_what_happened,
    what_repetition_cannot_cure_is_not_repeated,
    a_job_that_says_nothing_or_too_much_fails_whatever_the_host_says,
    a_tier_without_a_model_fails_the_routing,
    a_cancel_at_any_time_leaves_a_record,
    work_that_was_done_when_it_was_stopped_stays_done,
    the_attempts_share_the_limits_of_the_job,
    a_cost_that_is_not_known_is_not_told,
    a_job_knows_what_is_open_and_when_it_is_over,
];
