//! One case a kind of event, more where the kind does different things.

use crate::driver::Driver;
use agent_core::session::{Event, Session};
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
    "InputAfterTurn",
    "InputWithdrawn",
    "BudgetRaised",
    "Reconfigured",
    "CancelRequested",
    "LeaveRequested",
    "ShutdownRequested",
    "SessionResumed",
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
pub const SUMMARIES: &[&str] = &["CompactionRequested", "FocusedCompactionRequested", "LlmCompleted (a summary)"];

/// The case on a session with a history: the driver is one whose model is being called.
pub fn case(name: &str, mut driver: Driver) -> Case {
    let (before, line) = told(name);
    for line in before {
        let event = driver.told(line);
        driver.take(event);
    }
    let event = match name {
        "refused (stale ticket)" => Event::RetryTimeout { ticket: driver.deadline },
        "ToolCompleted" => driver.completed(),
        _ => driver.told(line),
    };
    Case { session: driver.agent.into_session(), event }
}

/// What is told before the event of a case, and the event, in the words of the scenarios.
fn told(name: &str) -> (&'static [&'static str], &'static str) {
    match name {
        "UserInput" => (&[DONE], "input And now something else."),
        "UserInput (queued)" => (&[], "input And now something else."),
        "FollowUp" => (&[DONE], "follow-up 0 \"It is not done yet.\""),
        "InputAfterTurn" => (&[], "later And now something else."),
        "InputWithdrawn" => (&["later And now something else."], "withdraw And now something else."),
        "BudgetRaised" => (&[], "raise wall-ms=600000"),
        "Reconfigured" => (&[], "reconfigure same"),
        "CompactionRequested" => (&[DONE], "compact"),
        "FocusedCompactionRequested" => (&[DONE], "compact what the files are for"),
        "LlmCompleted (a summary)" => (&[DONE, "compact"], "answer \"It was about files.\""),
        "CancelRequested" => (&[], "cancel"),
        "LeaveRequested" => (&["reconfigure model=model wall-ms=600000 hooks=SessionEnd", DONE], "leave"),
        "HooksFinished" => (&["reconfigure model=model wall-ms=600000 hooks=Stop", DONE], "hooks"),
        "ShutdownRequested" => (&[], "shutdown"),
        "SessionResumed" => (&[], "resumed begun"),
        "LlmDelta" => (&[], "delta \"a few words\""),
        "LlmCompleted (text)" => (&[], DONE),
        "LlmCompleted (a call)" => (&[], CALL),
        "LlmFailed" => (&[], FAILED),
        "LlmAborted" => (&["cancel"], "aborted \"half an answer\""),
        "LlmInterrupted" => (&[], "interrupted"),
        "RetryTimeout" => (&[FAILED], "timer"),
        "DeadlineReached" => (&[], "deadline"),
        "ToolsPrepared" => (&[CALL], READS),
        "ApprovalAnswered" => (&["reconfigure model=model wall-ms=600000 mode=default", CALL, CHANGES], "allow 1"),
        "ToolProgress" => (&[CALL, READS], "progress 1 \"still at it\""),
        "ToolCompleted" => (&[CALL, READS], ""),
        "GitChecked" => (CHANGED, "git"),
        "HookFailed" => (CHANGED, "hook-failed \"git is gone\""),
        "HooksStoppedTurn" => (CHANGED, "hook-stop enough"),
        "FormattersFinished" => (&[CALL, CHANGES, "tool 1 ok done", "git formatting commit"], "formatted"),
        "ChangesCommitted" => (&[CALL, CHANGES, "tool 1 ok done", "git commit"], "committed"),
        "refused (stale ticket)" => (&[], ""),
        other => panic!("there is no case `{other}`"),
    }
}

/// The model's last words: the session waits for the user, or for hooks that look at the turn before it ends.
const DONE: &str = "answer \"That is all there is to it.\"";
const FAILED: &str = "fail network \"connection reset\" chance=500";
const CALL: &str = "answer \"I look into it.\" calls read_file#toolu_999999_0{\"path\":\"src/lib.rs\"} usage=1000,20";
const READS: &str = "prepared 1=read:src/lib.rs";
const CHANGES: &str = "prepared 1=change:src/lib.rs";
/// Something may have been changed.
const CHANGED: &[&str] = &[CALL, CHANGES, "tool 1 ok done"];

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
