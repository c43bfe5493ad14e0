//! What is written can be read, here and by programs that know the record's fields.

use crate::harness::{Harness, events, success, system};
use agent_core::job::{Action, AuditRecord, Event, Job};
use proptest::prelude::*;
use serde_json::{Value, json};

fn record() -> AuditRecord {
    let mut harness = Harness::processing(1);
    harness.end_attempt(system());
    harness.wait();
    harness.end_attempt(success());
    harness.records.remove(0)
}

#[test]
fn the_record_has_the_fields_that_programs_know() {
    let expected = json!({
        "format_version": 1,
        "job_id": "job-1",
        "description": "fix the crash",
        "status": "completed",
        "state_transitions": ["Init", "DefineAgent", "Process", "RetryWait", "Process", "End"],
        "agent": {"skill": null, "tier": "sonnet", "model": "m"},
        "retry_count": 1,
        "max_retries": 1,
        "cost_usd": 0.000_003,
        "llm_response": "done",
        "started_at": "1970-01-01T00:00:01.000Z",
        "completed_at": "1970-01-01T00:00:02.000Z",
        "duration_ms": 1_000,
        "failure": null,
        "usage": {"input_tokens": 0, "output_tokens": 200, "cache_read_tokens": 0, "cache_write_tokens": 0},
        "model_calls": 2,
        "session_ids": ["s1", "s2"],
    });
    assert_eq!(serde_json::to_value(record()).unwrap(), expected);
    assert_eq!(serde_json::from_value::<AuditRecord>(expected).unwrap(), record());
}

#[test]
fn a_failure_is_written_with_its_kind() {
    let mut harness = Harness::processing(0);
    harness.end_attempt(system());
    let value = serde_json::to_value(&harness.records[0]).unwrap();
    assert_eq!(
        (&value["status"], &value["failure"]),
        (&json!("failed"), &json!({"kind": "system", "message": "rate limit"}))
    );
}

#[test]
fn a_record_without_a_time_says_what_a_time_is() {
    let mut value = serde_json::to_value(record()).unwrap();
    for wrong in [json!("yesterday"), json!(5)] {
        value["started_at"] = wrong;
        let error = serde_json::from_value::<AuditRecord>(value.clone()).unwrap_err().to_string();
        assert!(error.ends_with("expected a time such as 2026-01-02T03:04:05.678Z"), "{error}");
    }
}

#[test]
fn events_and_actions_read_back() {
    let mut harness = Harness::processing(1);
    for event in events(harness.ticket) {
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event);
    }
    let ticket = harness.ticket;
    let step = harness.take(events(ticket)[8].clone()).unwrap();
    let text = serde_json::to_string(&step.actions).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Action>>(&text).unwrap(), step.actions);
}

#[test]
fn what_is_not_a_job_is_an_error() {
    let whole = serde_json::to_string(&Harness::processing(1).job).unwrap();
    for end in 0..whole.len() {
        assert!(serde_json::from_str::<Job>(&whole[..end]).is_err());
    }
    let mut value: Value = serde_json::from_str(&whole).unwrap();
    value["state"] = json!("Dancing");
    assert!(serde_json::from_value::<Job>(value).is_err());
}

proptest! {
    #[test]
    fn money_is_exact_up_to_half_a_million_dollars(nano in 0..(1_u64 << 49)) {
        let mut written = record();
        written.cost_nano_usd = Some(nano);
        let text = serde_json::to_string(&written).unwrap();
        prop_assert_eq!(serde_json::from_str::<AuditRecord>(&text).unwrap(), written);
    }
}
