//! Events in few words, told to a real machine: the transitions that came of them.

mod job;
mod lifecycle;

pub(crate) use job::job;
pub(crate) use lifecycle::lifecycle;

use crate::scenario::script::{Command, Script};
use agent_core::session::table::TABLE;
use agent_core::session::{State, Step, Trigger};

/// A session after these words, and what the last of them did.
pub(crate) fn told(words: &str) -> (Script, Step) {
    let (mut script, mut last) = (Script::default(), None);
    for line in words.split("; ") {
        last = tell(&mut script, line).or(last);
    }
    let last = last.unwrap_or_else(|| panic!("{words}: nothing happened"));
    (script, last)
}

/// One more line. Nothing where it is no event.
pub(crate) fn tell(script: &mut Script, line: &str) -> Option<Step> {
    let Command::Take(event) = script.read(line) else { return None };
    let step = script.session.step(script.now_ms, event).unwrap_or_else(|no| panic!("{line}: {no}"));
    script.note(&step.actions);
    Some(step)
}

/// The words of the session's scenarios. Pieces of text leave no transition of their own; their row is told all the same.
pub(crate) fn session(words: &str) -> Vec<(State, Trigger, State)> {
    let (mut script, mut out) = (Script::default(), Vec::new());
    for line in words.split("; ") {
        let from = script.session.state();
        let Some(step) = tell(&mut script, line) else { continue };
        out.extend(step.transitions.iter().map(|done| (done.from, done.on, done.to)));
        if step.transitions.is_empty() {
            let on = if line.starts_with("delta") { Trigger::LlmDelta } else { Trigger::ToolProgress };
            let row = TABLE.row(from, on).unwrap();
            out.push((row.from, row.on, row.to));
        }
    }
    out
}
