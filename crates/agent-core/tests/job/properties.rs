//! Event sequences, long and hostile: the job's invariants hold after every event, and what was written makes the same job.
//! `PROPTEST_CASES=10000` looks longer.

use crate::harness::{Harness, events};
use agent_core::job::{Event, Job, JobConfig, JobStatus, RetryConfig, State, Trace};
use agent_core::session::Ticket;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

fn check(harness: &Harness) {
    let job = &harness.job;
    let is_recorded = matches!(job.state(), State::End | State::Recording | State::Completed | State::Failed);
    assert_eq!(harness.records.len(), usize::from(is_recorded), "exactly one record for a job that finishes");
    assert!(harness.attempts <= job.config().retry.max_retries + 1);
    assert_eq!(job.retry_count(), harness.attempts.saturating_sub(1));
    assert_eq!(*job.spent(), harness.spent, "everything that was spent is counted, once");
    assert!(job.trace().recent().count() <= Trace::CAPACITY);
    for (retry, delay_ms) in (1..).zip(&harness.delays_ms) {
        assert_eq!(*delay_ms, job.config().retry.delay_ms(retry));
    }
    if let Some(record) = harness.records.first() {
        assert_eq!(record.cost_nano_usd, harness.spent.known_cost_nano_usd());
        assert_eq!(record.llm_response.is_some(), record.status == JobStatus::Completed);
        assert_eq!(record.failure.is_some(), record.status == JobStatus::Failed);
        assert_eq!(record.retry_count, job.retry_count());
    }
    let text = serde_json::to_string(job).unwrap();
    let kept: Job = serde_json::from_str(&text).unwrap();
    assert_eq!(&kept, job, "a job reads back as it was written");
    assert_eq!(kept.outstanding(), harness.asked, "and waits for what was asked last");
}

proptest! {
    #![proptest_config(sequences())]

    #[test]
    fn invariants_hold_after_every_event(
        max_retries in 0..5_u32,
        base_delay_ms in prop_oneof![0..10_u64, Just(u64::MAX)],
        description in prop_oneof![9 => Just("fix the crash"), 1 => Just(" ")],
        choices in prop::collection::vec((any::<u8>(), 0..10_u8, 0..2_000_u64), 1..80),
    ) {
        let retry = RetryConfig { max_retries, base_delay_ms };
        let mut harness = Harness::new(JobConfig { retry, ..JobConfig::new("job-1", description) });
        let mut rebuilt = Job::new(harness.job.config().clone(), 1_000);
        for (choice, ticket, moved_ms) in choices {
            // Mostly the open ticket, at times an old or unknown one; time may run backwards.
            let ticket = if ticket < 8 { harness.ticket } else { Ticket(u64::from(choice) % 7) };
            harness.now_ms = (harness.now_ms + moved_ms).saturating_sub(500);
            let all = events(ticket);
            let wanted = all.len() + 3;
            let event = match usize::from(choice) % wanted {
                index if index < all.len() => all[index].clone(),
                // Weighted towards getting somewhere.
                _ => next(&harness),
            };
            let line = serde_json::to_string(&(harness.now_ms, &event)).unwrap();
            let _ = harness.take(event);
            check(&harness);
            let (at_ms, event) = serde_json::from_str(&line).unwrap();
            let _ = rebuilt.step(at_ms, event);
            prop_assert_eq!(&rebuilt, &harness.job, "same events, same job");
            let bytes = [&rebuilt, &harness.job].map(|job| serde_json::to_vec(job).unwrap());
            prop_assert!(bytes[0] == bytes[1], "equal, but not to the byte");
        }
    }

    #[test]
    fn every_job_can_be_brought_to_its_end(steps in 0..12_usize, stop in any::<bool>()) {
        let mut harness = Harness::with_retries(2);
        for _ in 0..steps {
            if harness.job.is_finished() {
                break;
            }
            let event = next(&harness);
            harness.go(event);
        }
        if stop && !harness.job.is_finished() {
            harness.go(Event::CancelRequested);
        }
        for _ in 0..12 {
            if !harness.job.is_finished() {
                let event = next(&harness);
                harness.go(event);
            }
        }
        prop_assert!(harness.job.is_finished());
        check(&harness);
        for event in events(harness.ticket) {
            let is_timer = matches!(event, Event::RetryTimeout { .. });
            let nothing = harness.take(event).map_or(!is_timer, |step| is_timer && step.is_empty());
            prop_assert!(nothing, "nothing happens after the end");
        }
    }
}

/// An answer that brings the job on: attempts fail.
fn next(harness: &Harness) -> Event {
    let all = events(harness.ticket);
    let index = match harness.job.state() {
        State::Pending => 0,
        State::Init => 2,
        State::DefineAgent => 4,
        State::Process => 9,
        State::RetryWait => 12,
        State::End | State::Recording | State::Completed | State::Failed => 13,
        other => panic!("nobody knows how to bring a job on in {other:?}"),
    };
    all[index].clone()
}

fn sequences() -> ProptestConfig {
    let failure_persistence = FileFailurePersistence::WithSource("proptest-regressions");
    let config = ProptestConfig { max_shrink_iters: 4_000, ..ProptestConfig::default() };
    let config = ProptestConfig { failure_persistence: Some(Box::new(failure_persistence)), ..config };
    // Unless the environment says otherwise: enough to meet what goes wrong often, and soon done.
    if std::env::var_os("PROPTEST_CASES").is_some() { config } else { ProptestConfig { cases: 96, ..config } }
}
