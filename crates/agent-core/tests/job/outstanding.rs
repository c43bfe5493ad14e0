//! A host that restarts: the job that it reads back says what it waits for, and goes on from there.

use crate::harness::{Harness, agent, spent, success, system};
use crate::malformed::places;
use agent_core::budget::Limits;
use agent_core::job::{
    Action, AuditRecord, Event, FailureKind, Job, JobConfig, JobStatus, Spent, State, TierModels, Verdict,
};

fn kept(job: &Job) -> Job {
    serde_json::from_str(&serde_json::to_string(job).unwrap()).unwrap()
}

/// A job in every state, and a cancelled one in every state that hears of it.
fn all_places() -> Vec<Harness> {
    let mut out = places();
    for mut place in places() {
        // Later, so that the time of the cancel is not that of what was asked.
        place.now_ms += 5_000;
        if place.take(Event::CancelRequested).is_ok() {
            out.push(place);
        }
    }
    out
}

/// What a host says that knows nothing but what is outstanding.
fn answer(job: &Job) -> Event {
    let outstanding = job.outstanding();
    let is_stopped = matches!(outstanding.last(), Some(Action::StopWork { .. }));
    let failure = || FailureKind::System("stopped".to_owned());
    match outstanding.first().cloned() {
        None => Event::Started,
        Some(Action::ValidateJob { ticket }) if is_stopped => Event::ValidationFailed { ticket, failure: failure() },
        Some(Action::ValidateJob { ticket }) => Event::ValidationPassed { ticket, tiers: TierModels::all("m") },
        Some(Action::DefineAgent { ticket, .. }) if is_stopped => {
            Event::RoutingFailed { ticket, failure: failure(), spent: Spent::default() }
        }
        Some(Action::DefineAgent { ticket, suggestion, .. }) => {
            Event::AgentDefined { ticket, agent: suggestion, spent: Spent::default() }
        }
        Some(Action::RunAgent { ticket, attempt }) => {
            let verdict = if is_stopped { Verdict::Stopped } else { success() };
            Event::AttemptEnded { ticket, verdict, spent: spent(1), session_id: format!("s{}", attempt.number) }
        }
        Some(Action::ScheduleRetry { ticket, .. }) => Event::RetryTimeout { ticket },
        Some(Action::WriteAuditRecord { ticket, .. }) => Event::RecordWritten { ticket },
        Some(other) => panic!("{other:?} cannot be answered"),
    }
}

#[test]
fn a_job_that_is_read_back_waits_for_what_was_asked_last() {
    for place in all_places() {
        let state = place.job.state();
        assert_eq!(kept(&place.job).outstanding(), place.asked, "in {state:?}");
        let waits = !matches!(state, State::Pending | State::Completed | State::Failed);
        assert_eq!(!place.asked.is_empty(), waits, "in {state:?}");
    }
}

#[test]
fn a_host_that_restarts_before_every_answer_gets_to_the_end_and_has_the_record() {
    for place in all_places() {
        let (from, is_finished) = (place.job.state(), place.job.is_finished());
        let (mut job, mut unkept) = (place.job.clone(), place.job);
        let mut record: Option<AuditRecord> = None;
        while !job.is_finished() {
            job = kept(&job);
            if let Some(Action::WriteAuditRecord { record: asked, .. }) = job.outstanding().first() {
                record = Some((**asked).clone());
            }
            let event = answer(&job);
            let _ = unkept.step(9_000, event.clone()).unwrap();
            let _ = job.step(9_000, event).unwrap();
            assert_eq!(job, unkept, "from {from:?}");
        }
        assert_eq!(record.is_none(), is_finished, "from {from:?}");
        assert!(record.is_none_or(|record| record.status == job.status()), "from {from:?}");
    }
}

#[test]
fn what_was_told_to_stop_is_outstanding_with_its_stop() {
    let mut harness = Harness::processing(1);
    let ticket = harness.ticket;
    let [Action::RunAgent { .. }] = harness.job.outstanding()[..] else { panic!() };
    harness.go(Event::CancelRequested);
    let outstanding = kept(&harness.job).outstanding();
    let [Action::RunAgent { ticket: asked, .. }, Action::StopWork { ticket: stopped }] = outstanding[..] else {
        panic!("{outstanding:?}")
    };
    assert_eq!((asked, stopped), (ticket, ticket));
}

#[test]
fn a_cancel_while_the_record_is_written_does_not_change_the_record() {
    for (verdict, status) in [(success(), JobStatus::Completed), (system(), JobStatus::Failed)] {
        let mut harness = Harness::processing(0);
        harness.end_attempt(verdict);
        let asked = harness.job.outstanding();
        harness.now_ms += 1_000;
        harness.go(Event::CancelRequested);
        assert_eq!(kept(&harness.job).outstanding(), asked);
        assert_eq!(harness.records[0].status, status);
    }
}

#[test]
fn the_second_attempt_is_outstanding_with_what_is_left() {
    let limits = Limits { max_model_calls: Some(5), ..Limits::default() };
    let mut harness = Harness::new(JobConfig { limits, ..JobConfig::new("job-1", "fix the crash") });
    harness.start();
    harness.validate();
    harness.define();
    harness.end_attempt(system());
    harness.wait();
    let [Action::RunAgent { attempt, .. }] = &kept(&harness.job).outstanding()[..] else { panic!() };
    assert_eq!((attempt.number, &attempt.agent, attempt.limits.max_model_calls), (2, &agent(), Some(4)));
}

#[test]
fn a_stop_that_contradicts_the_job_is_refused() {
    let refused = |job: &Job, place: &str, value: bool| {
        let mut spoilt = serde_json::to_value(job).unwrap();
        *spoilt.pointer_mut(place).unwrap() = value.into();
        serde_json::from_value::<Job>(spoilt).unwrap_err().to_string()
    };
    let works = Harness::processing(1);
    for place in ["/is_cancelled", "/asked/is_stopped"] {
        let error = refused(&works.job, place, true);
        assert_eq!(error, "no job is ever in Process with a wrong stop of a request to the driver");
    }
    let mut waits = works.clone();
    waits.end_attempt(system());
    assert_eq!(refused(&waits.job, "/is_cancelled", true), "no job is ever in RetryWait although it was cancelled");
    let mut stops = works;
    stops.go(Event::CancelRequested);
    assert!(refused(&stops.job, "/is_cancelled", false).starts_with("no job is ever in Process "));
}
