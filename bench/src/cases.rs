//! One case a kind of event, more where the kind does different things.

use crate::driver::{Driver, config, facts, outcome};
use agent_core::conversation::CallId;
use agent_core::hook::{CommitReport, FormatReport, GitReport, HookPoint};
use agent_core::llm::{Delta, LlmError, LlmErrorKind, LlmResponse};
use agent_core::permission::{ApprovalAnswer, ApprovalScope, PermissionMode};
use agent_core::session::{Event, Session, SessionConfig};
use agent_core::tool::Effect;

/// A session and the event that is measured on it.
pub struct Case {
    pub session: Session,
    pub event: Event,
}

/// Names of the cases, in the order of the events' declaration, each beginning with its event's. `Started` has no history to speak of.
pub const NAMES: &[&str] = &[
    "UserInput",
    "UserInput (queued)",
    "FollowUp",
    "BudgetRaised",
    "Reconfigured",
    "CancelRequested",
    "LeaveRequested",
    "ShutdownRequested",
    "LlmDelta",
    "LlmCompleted (text)",
    "LlmCompleted (a call)",
    "LlmFailed",
    "LlmAborted",
    "LlmInterrupted",
    "RetryTimeout",
    "DeadlineReached",
    "ToolsPrepared",
    "ApprovalAnswered",
    "ToolProgress",
    "ToolCompleted",
    "GitChecked",
    "FormattersFinished",
    "ChangesCommitted",
    "HooksFinished",
    "HookFailed",
    "HooksStoppedTurn",
    "refused (stale ticket)",
];

/// Cases whose work is the whole history: the request for a summary, and the summary.
pub const SUMMARIES: &[&str] = &["CompactionRequested", "LlmCompleted (a summary)"];

/// The case on a session with a history: the driver is one whose model is being called.
pub fn case(name: &str, mut driver: Driver) -> Case {
    let event = match name {
        "UserInput" => {
            idle(&mut driver);
            Event::UserInput { text: "And now something else.".into() }
        }
        "UserInput (queued)" => Event::UserInput { text: "And now something else.".into() },
        "FollowUp" => {
            idle(&mut driver);
            Event::FollowUp { text: "It is not done yet.".into(), used_ms: 0 }
        }
        "BudgetRaised" => Event::BudgetRaised { limits: config().limits },
        "Reconfigured" => Event::Reconfigured { config: Box::new(config()) },
        "CompactionRequested" => {
            idle(&mut driver);
            Event::CompactionRequested
        }
        "LlmCompleted (a summary)" => {
            idle(&mut driver);
            driver.take(Event::CompactionRequested);
            Event::LlmCompleted { ticket: driver.ticket, response: LlmResponse::text("It was about files.") }
        }
        "CancelRequested" => Event::CancelRequested,
        "LeaveRequested" => {
            run_hooks_on(HookPoint::SessionEnd, &mut driver);
            idle(&mut driver);
            Event::LeaveRequested
        }
        "HooksFinished" => {
            run_hooks_on(HookPoint::Stop, &mut driver);
            idle(&mut driver);
            Event::HooksFinished { ticket: driver.ticket, report: Box::default() }
        }
        "ShutdownRequested" => Event::ShutdownRequested,
        "LlmDelta" => Event::LlmDelta { ticket: driver.ticket, delta: Delta::Text("a few words".into()) },
        "LlmCompleted (text)" => driver.done(),
        "LlmCompleted (a call)" => driver.calls(1).0,
        "LlmFailed" => failed(&driver),
        "LlmAborted" => {
            driver.take(Event::CancelRequested);
            Event::LlmAborted { ticket: driver.ticket, partial_text: "half an answer".into() }
        }
        "LlmInterrupted" => Event::LlmInterrupted { ticket: driver.ticket },
        "RetryTimeout" => {
            let event = failed(&driver);
            driver.take(event);
            Event::RetryTimeout { ticket: driver.ticket }
        }
        "DeadlineReached" => Event::DeadlineReached { ticket: driver.deadline },
        "refused (stale ticket)" => Event::RetryTimeout { ticket: driver.deadline },
        of_tools => of_the_tools(of_tools, &mut driver),
    };
    Case { session: driver.agent.into_session(), event }
}

fn of_the_tools(name: &str, driver: &mut Driver) -> Event {
    if name == "ApprovalAnswered" {
        let mut config = config();
        config.permissions.mode = PermissionMode::Default;
        driver.take(Event::Reconfigured { config: Box::new(config) });
    }
    let ids = driver.answer_with_calls(1);
    let call: CallId = ids[0].clone();
    if name == "ToolsPrepared" {
        return Event::ToolsPrepared { ticket: driver.ticket, facts: facts(&ids, Effect::Reads) };
    }
    driver
        .prepare(&ids, if matches!(name, "ToolProgress" | "ToolCompleted") { Effect::Reads } else { Effect::Changes });
    let ticket = driver.ticket;
    match name {
        "ToolProgress" => return Event::ToolProgress { ticket, call, text: "still at it".into() },
        "ToolCompleted" => return Event::ToolCompleted { ticket, call, outcome: outcome() },
        "ApprovalAnswered" => {
            let answer = ApprovalAnswer::Allow { scope: ApprovalScope::Once, arguments: None };
            return Event::ApprovalAnswered { ticket, call, answer, changed: None };
        }
        _ => driver.complete(&call),
    }
    let ticket = driver.ticket;
    let due = |formatting_due| GitReport { formatting_due, commit_due: true, ..GitReport::default() };
    match name {
        "GitChecked" => return Event::GitChecked { ticket, report: GitReport::default() },
        "HookFailed" => return Event::HookFailed { ticket, message: "git is gone".into() },
        "HooksStoppedTurn" => return Event::HooksStoppedTurn { ticket, reason: "enough".into() },
        _ => driver.take(Event::GitChecked { ticket, report: due(name == "FormattersFinished") }),
    }
    let ticket = driver.ticket;
    match name {
        "FormattersFinished" => Event::FormattersFinished { ticket, report: FormatReport::default() },
        "ChangesCommitted" => Event::ChangesCommitted { ticket, report: CommitReport::default() },
        other => panic!("there is no case `{other}`"),
    }
}

fn run_hooks_on(point: HookPoint, driver: &mut Driver) {
    let config = SessionConfig { hooks: [point].into(), ..config() };
    driver.take(Event::Reconfigured { config: Box::new(config) });
}

/// The model's last words: the session waits for the user, or for hooks that look at the turn before it ends.
fn idle(driver: &mut Driver) {
    let done = driver.done();
    driver.take(done);
}

fn failed(driver: &Driver) -> Event {
    let error = LlmError::new(LlmErrorKind::Network, "connection reset");
    Event::LlmFailed { ticket: driver.ticket, error, chance_permille: 500 }
}

/// The case at so many lengths of history from this one on: what a step costs depends on how full the newest chunk is, so that
/// only the mean over a whole chunk can be compared.
pub fn cases(name: &str, length: usize, count: usize) -> Vec<Case> {
    let mut driver = Driver::with_history(length);
    let mut cases = Vec::with_capacity(count);
    for _ in 0..count {
        // A round after the copy, so that the copy has room to grow as a session has that was never copied.
        let mut copy = driver.clone();
        copy.round();
        cases.push(case(name, copy));
        driver.round();
    }
    cases
}

/// One turn with eight tools, from the input to the prompt: twelve events.
pub fn turn_with_eight_tools(driver: &mut Driver) {
    driver.take(Event::UserInput { text: "Read these eight files.".into() });
    let ids = driver.answer_with_calls(8);
    driver.prepare(&ids, Effect::Reads);
    for id in &ids {
        driver.complete(id);
    }
    let done = driver.done();
    driver.take(done);
}

#[cfg(test)]
mod tests {
    use super::{NAMES, SUMMARIES, case};
    use crate::driver::Driver;
    use agent_core::session::Event;

    fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().chain(SUMMARIES).copied()
    }

    #[test]
    fn every_kind_of_event_has_a_case() {
        // Who reads an unknown kind tells all there are.
        let told = serde_json::from_str::<Event>("\"None\"").expect_err("no kind has this name").to_string();
        let (_, kinds) = told.split_once("expected one of ").expect("a list");
        let kinds: Vec<&str> = kinds.split('`').skip(1).step_by(2).collect();
        assert!(kinds.contains(&"UserInput") && kinds.contains(&"HooksStoppedTurn"), "{kinds:?}");
        let has_case = |kind: &&str| names().any(|name| name.split(" (").next() == Some(*kind));
        let without: Vec<&str> = kinds.into_iter().filter(|kind| !has_case(kind)).collect();
        assert_eq!(without, ["Started"]);
    }

    #[test]
    fn a_case_is_of_the_event_that_it_is_named_after_and_the_session_takes_it() {
        for name in names() {
            let mut case = case(name, Driver::with_history(10));
            let kind = case.event.name();
            let is_taken = case.session.step(1, case.event).is_ok();
            match name.strip_prefix("refused") {
                Some(_) => assert!(!is_taken, "{name}"),
                None => assert!(is_taken && name.split(" (").next() == Some(kind), "{name}: {kind}"),
            }
        }
    }
}
