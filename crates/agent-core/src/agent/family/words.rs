//! What the model reads of its children. The words of a child are data: they stand behind a line that says whose they are.

use super::Kin;
use crate::child::{Child, Counts, State, Verified};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The outcome of a child, and how the call counts.
pub(super) fn outcome(kin: &Kin) -> Option<(Counts, String)> {
    let outcome = kin.child.outcome()?;
    let mut head = format!("The agent `{}` has ended: {}", kin.child.name(), outcome.word);
    if let Some(reason) = &outcome.reason {
        head.push_str(&format!(" ({reason})"));
    }
    match outcome.verified {
        Some(Verified { kept, of }) => head.push_str(&format!(", {kept} of {of} checks passed")),
        None if outcome.word == crate::child::Word::Done => head.push_str(", unverified"),
        None => {}
    }
    if outcome.unasked_denials > 0 {
        head.push_str(&format!(", {} of its calls denied because no one could be asked", outcome.unasked_denials));
    }
    if !outcome.changed.is_empty() {
        head.push_str(&format!(", changed {}", outcome.changed.join(", ")));
    }
    let text = outcome.text.trim();
    let said = if text.is_empty() { String::from(".") } else { format!(". It says:\n{text}") };
    Some((outcome.word.counts(), head + &said))
}

/// What a child asks.
pub(super) fn question(kin: &Kin) -> Option<String> {
    let question = kin.child.question()?;
    let name = kin.child.name();
    Some(format!("The agent `{name}` waits for an answer (send_agent answers it). It asks:\n{question}"))
}

/// A child in a line of a list.
pub(super) fn line(child: &Child) -> String {
    let state = match child.state() {
        State::Planned | State::Wanted | State::Starting => "starting",
        State::Working => "working",
        State::Asking => "waits for an answer",
        State::Stopping => "stopping",
        State::Ended => "ended, its outcome is not read yet",
        State::Told => "ended",
        State::Detached => "continues on its own",
    };
    let task: String = child.task().lines().next().unwrap_or_default().chars().take(MAX_TASK_CHARS).collect();
    format!("{}: {state}; task: {task}", child.name())
}

/// That there is no child of this name.
pub(super) fn unknown<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let known = if names.is_empty() { "you have none".to_string() } else { format!("yours are {}", names.join(", ")) };
    format!("there is no agent `{name}`: {known}")
}

const MAX_TASK_CHARS: usize = 100;
