//! Every word that stands for a kind of something in a serialised form.

use crate::kept::{kinds, lines};
use agent_core::{budget, conversation, hook, job, journal, lifecycle, llm, permission, retry, session, tool};
use serde::de::DeserializeOwned;
use statetable::Reason;
use std::any::type_name;

/// One line a type: its name and its words.
pub(crate) fn all() -> String {
    let mut out = String::new();
    machines(&mut out);
    values(&mut out);
    out
}

fn machines(out: &mut String) {
    add::<journal::Entry>(out);
    add::<journal::ActionStarted>(out);
    add::<session::State>(out);
    add::<session::Trigger>(out);
    // Those of an agent are its own and its session's.
    out.push_str(&format!("agent::event::Event: {}\n", OF_AGENT.join(", ")));
    add::<session::Event>(out);
    add::<session::Action>(out);
    add_reasons::<session::Objection>(out);
    add::<session::OutcomeKind>(out);
    add::<lifecycle::State>(out);
    add::<lifecycle::Trigger>(out);
    add::<lifecycle::Event>(out);
    add::<lifecycle::Action>(out);
    add_reasons::<lifecycle::Objection>(out);
    add::<lifecycle::Outcome>(out);
    add::<lifecycle::CheckEnd>(out);
    add::<lifecycle::Origin>(out);
    add::<lifecycle::Signal>(out);
    add::<lifecycle::TaskMode>(out);
    add::<lifecycle::TurnEnd>(out);
    add::<job::State>(out);
    add::<job::Trigger>(out);
    add::<job::Event>(out);
    add::<job::Action>(out);
    add_reasons::<job::Objection>(out);
    add::<job::Verdict>(out);
    add::<job::JobStatus>(out);
    add::<job::ModelTier>(out);
}

fn values(out: &mut String) {
    add::<budget::LimitKind>(out);
    add::<hook::HookPoint>(out);
    add::<hook::HookOccasion>(out);
    add::<hook::HookEnd>(out);
    add::<conversation::Item>(out);
    add::<conversation::Block>(out);
    add::<llm::Delta>(out);
    add::<llm::LlmErrorKind>(out);
    add::<llm::Purpose>(out);
    add::<llm::ResponseBlock>(out);
    add::<llm::StopReason>(out);
    add::<permission::ApprovalAnswer>(out);
    add::<permission::ApprovalScope>(out);
    add::<permission::PermissionMode>(out);
    add::<retry::Backoff>(out);
    add::<tool::Effect>(out);
    add::<tool::Finding>(out);
    add::<tool::HookVerdict>(out);
    add::<tool::Subject>(out);
    add::<tool::ToolStatus>(out);
}

fn add<T: DeserializeOwned>(out: &mut String) {
    let name = match type_name::<T>() {
        // The line is kept under the name that it had when it was first written.
        "agent_types::signal::Signal" => "lifecycle::event::Signal",
        "agent_types::agents::TaskMode" => "lifecycle::TaskMode",
        name => name.trim_start_matches("agent_core::").trim_start_matches("agent_types::"),
    };
    out.push_str(&format!("{name}: {}\n", kinds::<T>().join(", ")));
}

/// The kernel's reasons, and a machine's own among them.
fn add_reasons<O: DeserializeOwned>(out: &mut String) {
    let words = ["NoRow", "StaleTicket"].into_iter().map(ToOwned::to_owned).chain(kinds::<O>());
    let words: Vec<String> = words.collect();
    for word in &words {
        let read: Result<Reason<O>, _> = serde_json::from_str(&format!("{word:?}"));
        assert!(read.is_ok(), "{word} is a reason");
    }
    let name = type_name::<O>().trim_start_matches("agent_core::").replace("Objection", "Reason");
    out.push_str(&format!("{name}: {}\n", words.join(", ")));
}

/// The words of an agent's events that are none of its session.
const OF_AGENT: &[&str] = &["Bound", "Released", "Attended", "Lifecycle"];

/// Of the kept entries, some is an event of the agent's own, of every kind.
pub(crate) fn check_all_agent_events(entries: &str) {
    let mut missing = OF_AGENT.to_vec();
    for line in lines(entries) {
        if let journal::Entry::Event(event) = serde_json::from_str(line).unwrap() {
            missing.retain(|kind| *kind != crate::kept::kind(&event));
        }
    }
    assert!(missing.is_empty(), "no story brings {missing:?} about");
}

/// Each line is a value of the type, and there is one of every kind.
pub(crate) fn check_all_kinds<T: DeserializeOwned + serde::Serialize>(text: &str) {
    let mut missing = kinds::<T>();
    assert!(!missing.is_empty());
    for line in lines(text) {
        let value: T = serde_json::from_str(line).unwrap();
        missing.retain(|kind| *kind != crate::kept::kind(&value));
    }
    assert!(missing.is_empty(), "{}: no story brings {missing:?} about", type_name::<T>());
}
