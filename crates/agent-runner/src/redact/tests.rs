//! A secret in any text of any event is taken out: every string of the serialised form in turn.

use super::Redactor;
use agent_core::agent;
use agent_core::conversation::{Arguments, CallId};
use agent_core::hook::{CommitInfo, CommitReport, FormatReport, GitReport, HookEnd, HookPoint, HookReport, HookRun};
use agent_core::lifecycle::{self, CheckEnd, CheckReport, Commitment, CommitmentId, LifecycleConfig};
use agent_core::llm::{Delta, LlmError, LlmErrorFacts, LlmErrorKind, LlmResponse, RateLimit, RawCall, ResponseBlock};
use agent_core::permission::{ApprovalAnswer, ApprovalScope};
use agent_core::session::{Event, ModelConfig, SessionConfig, Ticket};
use agent_core::tool::{CallFacts, Effect, Finding, HookVerdict, Inspection, Subject, ToolOutcome, ToolSpec, Walls};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const SECRET: &str = "sk-live-0123456789";

fn text() -> String {
    String::from("some text")
}

fn arguments() -> Arguments {
    Arguments::parse(r#"{"path":"a"}"#).unwrap()
}

fn commit() -> CommitInfo {
    CommitInfo { id: text(), subject: text(), stat: None }
}

fn hook_report() -> HookReport {
    let run = HookRun {
        point: HookPoint::PreToolUse,
        command: text(),
        call: Some(CallId::new("c1")),
        took_ms: 1,
        end: HookEnd::Passed,
        message: text(),
    };
    HookReport {
        runs: vec![run],
        context: vec![text()],
        block: Some(text()),
        stop: Some(text()),
        verdict: HookVerdict::Ask { reason: text() },
        arguments: Some(arguments()),
    }
}

fn facts() -> Vec<CallFacts> {
    let runnable = |subject| Finding::Runnable(Inspection { effect: Effect::Reads, subject });
    let findings = [
        runnable(Subject::None),
        runnable(Subject::Paths(vec![text()])),
        runnable(Subject::Files { paths: vec![text()], families: vec![text()], akin: vec![text()] }),
        runnable(Subject::command(text(), Some(vec![text()]))),
        runnable(Subject::Command {
            text: text(),
            plain: None,
            carries_over: false,
            beyond_reading: Some(text()),
            walls: Walls::Usual,
        }),
        Finding::UnknownTool { message: text() },
        Finding::InvalidArguments { message: text() },
    ];
    let verdicts = [HookVerdict::Allow { reason: text() }, HookVerdict::Deny { reason: text() }, HookVerdict::None];
    let facts = findings.into_iter().zip(verdicts.into_iter().cycle());
    facts
        .map(|(finding, verdict)| CallFacts {
            foreseen: Some(text()),
            call: CallId::new("c1"),
            finding,
            verdict,
            hooks: Some(Box::new(hook_report())),
        })
        .collect()
}

fn response() -> LlmResponse {
    let call = RawCall { id: text(), name: text(), arguments: r#"{"a":"b"}"#.to_owned(), complete: true };
    let blocks = vec![
        ResponseBlock::Text(text()),
        ResponseBlock::Thinking { text: text(), signature: Some(text()) },
        ResponseBlock::RedactedThinking { data: text() },
        ResponseBlock::Call(call),
        ResponseBlock::Opaque { dialect: text(), json: r#"{"a":"b"}"#.to_owned() },
    ];
    LlmResponse { blocks, stop: serde_json::from_value(json!({"Other": text()})).unwrap(), usage: None, model: text() }
}

fn config() -> SessionConfig {
    let model =
        ModelConfig { id: "m".into(), max_output_tokens: 1, context_window_tokens: None, price: None, effort: None };
    let schema = json!({"type": "object", "properties": {"p": {"description": text(), "enum": [text()]}}});
    let tool = ToolSpec { name: "t".into(), description: text().into(), input_schema: schema.into() };
    SessionConfig { system: text().into(), tools: [tool].into(), ..SessionConfig::new(model) }
}

/// Every kind of event that holds a text, with a text in every place.
fn events() -> Vec<Event> {
    let ticket = Ticket(1);
    let call = || CallId::new("c1");
    let error = LlmError {
        facts: Some(Box::new(LlmErrorFacts {
            rate_limits: vec![RateLimit { name: text(), ..RateLimit::default() }],
            ..LlmErrorFacts::default()
        })),
        ..LlmError::new(LlmErrorKind::Server, text())
    };
    let allow = |scope| ApprovalAnswer::Allow { scope, arguments: Some(arguments()) };
    let answers = [
        allow(ApprovalScope::Once),
        allow(ApprovalScope::Session(vec!["bash(ls)".parse().unwrap()])),
        ApprovalAnswer::Deny { reason: text() },
    ];
    let changed = || facts().into_iter().next().map(Box::new);
    let answered = answers.map(|answer| Event::ApprovalAnswered { ticket, call: call(), answer, changed: changed() });
    let outcome = ToolOutcome::ok(text()).with_changed_paths(vec![text()]);
    let git = GitReport { commits: vec![commit()], notes: vec![text()], ..GitReport::default() };
    let format = FormatReport { changed_paths: vec![text()], commit_due: false, notes: vec![text()] };
    let mut events = vec![
        Event::UserInput { text: text().into() },
        Event::Reconfigured { config: Box::new(config()) },
        Event::LlmDelta { ticket, delta: Delta::Text(text()) },
        Event::LlmDelta { ticket, delta: Delta::Thinking(text()) },
        Event::LlmCompleted { ticket, response: response() },
        Event::LlmFailed { ticket, error, chance_permille: 1 },
        Event::LlmAborted { ticket, partial_text: text() },
        Event::ToolsPrepared { ticket, facts: facts() },
        Event::ToolProgress { ticket, call: call(), text: text() },
        Event::FollowUp { text: text(), used_ms: 0 },
        Event::FocusedCompactionRequested { focus: text() },
        Event::ToolCompleted { ticket, call: call(), outcome },
        Event::GitChecked { ticket, report: git },
        Event::FormattersFinished { ticket, report: format },
        Event::ChangesCommitted { ticket, report: CommitReport { commit: Some(commit()), notes: vec![text()] } },
        Event::HooksFinished { ticket, report: Box::new(hook_report()) },
        Event::HookFailed { ticket, message: text() },
        Event::HooksStoppedTurn { ticket, reason: text() },
    ];
    events.extend(answered);
    events
}

fn lifecycle_events() -> Vec<lifecycle::Event> {
    let ends = [CheckEnd::Broke { found: text() }, CheckEnd::NotStarted { found: text() }, CheckEnd::TimedOut];
    let completed = |end| lifecycle::Event::CheckCompleted {
        ticket: Ticket(1),
        commitment: CommitmentId(1),
        report: CheckReport::new(end, text()),
    };
    let mut events: Vec<lifecycle::Event> = ends.map(completed).into();
    events.extend([
        lifecycle::Event::InputReceived { text: text().into() },
        lifecycle::Event::CommitmentAdded { commitment: Commitment::of_command(&text(), 1) },
        lifecycle::Event::Signalled { signal: lifecycle::Signal::Done, summary: text() },
    ]);
    events
}

/// The places of all strings, as JSON pointers.
fn strings(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::String(_) => found.push(at.to_owned()),
        Value::Array(values) => {
            values.iter().enumerate().for_each(|(index, value)| strings(value, &format!("{at}/{index}"), found));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| strings(value, &format!("{at}/{name}"), found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Puts the secret into one string after the other; gives how many of them can be anything.
fn checked<T: Serialize + DeserializeOwned>(
    event: &T,
    is_left: impl Fn(&str) -> bool,
    clean: impl Fn(T) -> T,
) -> usize {
    let written = serde_json::to_value(event).unwrap();
    let mut places = Vec::new();
    strings(&written, "", &mut places);
    // A text; the arguments of a call; a rule. What takes none of them is a name of ours.
    let values = [format!("a {SECRET} b"), format!(r#"{{"path":"{SECRET}"}}"#), format!("bash({SECRET})")];
    let mut count = 0;
    for place in places.iter().filter(|place| !is_left(place)) {
        for value in &values {
            let mut with_secret = written.clone();
            *with_secret.pointer_mut(place).unwrap() = Value::from(value.as_str());
            let Ok(event) = serde_json::from_value::<T>(with_secret) else { continue };
            count += 1;
            let kept = serde_json::to_string(&clean(event)).unwrap();
            assert!(!kept.contains("0123456789"), "{place}: {kept}");
        }
    }
    count
}

#[test]
fn a_secret_in_any_text_of_an_event_is_taken_out() {
    let redactor = Redactor::new(&[SECRET.to_owned()]);
    let clean = |event| redactor.event(event);
    // The core's own numbers of calls, and what a host configured.
    let is_left = |place: &str| {
        place.ends_with("/call")
            || ["models", "tools/0/name", "permissions"]
                .iter()
                .any(|part| place.starts_with(&format!("/Reconfigured/config/{part}")))
    };
    for event in events().into_iter().map(agent::Event::from) {
        let count = checked(&event, is_left, clean);
        assert!(count > 0, "nothing of {} was looked at", event.name());
        assert_eq!(clean(event.clone()), event, "the control: without a secret nothing changes");
    }
}

/// The commands of commitments, too: what runs is the original, which the runner keeps beside the machines.
#[test]
fn a_secret_in_any_text_about_commitments_is_taken_out() {
    let redactor = Redactor::new(&[SECRET.to_owned()]);
    let clean = |event| redactor.event(event);
    let bound = LifecycleConfig::headless(vec![Commitment::of_command(&text(), 1)]);
    let of_lifecycle = lifecycle_events().into_iter().map(agent::Event::from);
    for event in of_lifecycle.chain([agent::Event::Bound(Box::new(bound))]) {
        assert!(checked(&event, |_| false, clean) > 0, "nothing of {} was looked at", event.name());
        assert_eq!(clean(event.clone()), event, "the control");
    }
}

/// What a server says of its tools enters the head of every request.
#[test]
fn a_secret_in_what_describes_a_tool_is_taken_out() {
    let redactor = Redactor::new(&[SECRET.to_owned(), "string".to_owned()]);
    let mut config = config();
    let schema =
        json!({"type": "object", "properties": {SECRET: {"type": ["string", "null"], "const": format!("a{SECRET}")}}});
    let clean =
        json!({"type": "object", "properties": {"[redacted]": {"type": ["string", "null"], "const": "a[redacted]"}}});
    let spec = |description: &str, schema: Value| ToolSpec {
        name: "t".into(),
        description: description.into(),
        input_schema: schema.into(),
    };
    config.tools = [spec(&format!("uses {SECRET}"), schema), spec("plain", json!({"type": "object"}))].into();
    redactor.config(&mut config);
    assert_eq!(*config.tools, [spec("uses [redacted]", clean), spec("plain", json!({"type": "object"}))]);
}
