//! What is different from when a session was last used, where that changes what may happen.

use crate::screen::terminal::{inline, say};
use crate::session::limits;
use agent_core::agent::SIGNAL_TOOL;
use agent_core::instructions::GivenInstructions;
use agent_core::journal::ToolPrint;
use agent_core::llm::Effort;
use agent_core::permission::{Permissions, Rule, RuleSource};
use agent_core::session::SessionConfig;
use std::collections::BTreeSet;

/// Tells what is different from when the session was last used, where that changes what may happen.
pub(crate) fn say_differences(old: &SessionConfig, new: &SessionConfig) {
    let id = |config: &SessionConfig| config.models.first().map(|model| model.id.to_string()).unwrap_or_default();
    if id(old) != id(new) {
        let text = format!("agent: continuing with the model {} (before: {})", id(new), id(old));
        say(&text);
    }
    let effort =
        |config: &SessionConfig| config.models.first().and_then(|model| model.effort).map_or("default", Effort::name);
    if effort(old) != effort(new) {
        say(&format!("agent: effort {} (before: {})", effort(new), effort(old)));
    }
    let changed = ToolChanges::between(old, new);
    for (word, mut names) in
        [("new tools", changed.new), ("removed tools", changed.gone), ("changed tools", changed.other)]
    {
        // It depends on who sits in front.
        names.retain(|name| name != SIGNAL_TOOL);
        if !names.is_empty() {
            say(&format!("agent: {word} since the last run: {}", names.join(", ")));
        }
    }
    for text in instructions_changed(&old.instructions, &new.instructions) {
        say(&format!("agent: instructions {text} since the last run"));
    }
    for text in limits::changed(&old.limits, &new.limits) {
        say(&format!("agent: {text}"));
    }
    for rule in old.permissions.deny.iter().filter(|rule| !is_among(&new.permissions.deny, rule)) {
        say(&format!("agent: no longer denied: `{rule}`, a rule{} before", rule.source().phrase()));
    }
    if old.permissions.mode != new.permissions.mode {
        say(&format!("agent: permission mode {} (before: {})", new.permissions.mode, old.permissions.mode));
    }
}

/// Which files of the system prompt are other ones, in words.
fn instructions_changed(old: &GivenInstructions, new: &GivenInstructions) -> Vec<String> {
    // A session of an earlier version names none.
    if old.is_none() {
        return Vec::new();
    }
    let all: BTreeSet<&String> = old.files.keys().chain(new.files.keys()).collect();
    let told = |path: &String| {
        let what = match (old.files.get(path), new.files.get(path)) {
            (None, Some(_)) => "added",
            (Some(_), None) => "removed",
            (before, now) if before != now => "changed",
            _ => return None,
        };
        Some(format!("{what}: {}", inline(path)))
    };
    all.into_iter().filter_map(told).collect()
}

/// What the command line of an earlier run forbade stays forbidden in its session: leaving an option out does not revoke it. A rule that
/// is gone from a file was removed on purpose.
pub(crate) fn stay_denied(old: &Permissions, new: &mut Permissions) {
    for rule in old.deny.iter().filter(|rule| rule.source() == RuleSource::CommandLine) {
        if !is_among(&new.deny, rule) {
            say(&format!("agent: still denied in this session: `{rule}`"));
            new.deny.push(rule.clone());
        }
    }
}

/// Whether the rule is there, from any source.
fn is_among(rules: &[Rule], rule: &Rule) -> bool {
    let said = rule.to_string();
    rules.iter().any(|other| other.to_string() == said)
}

/// Which tools are not what they were.
struct ToolChanges {
    new: Vec<String>,
    gone: Vec<String>,
    other: Vec<String>,
}

impl ToolChanges {
    fn between(old: &SessionConfig, new: &SessionConfig) -> Self {
        let prints = |config: &SessionConfig| config.tools.iter().map(ToolPrint::of).collect::<Vec<_>>();
        let (before, now) = (prints(old), prints(new));
        let lacks = |tools: &[ToolPrint], tool: &ToolPrint| tools.iter().all(|other| other.name != tool.name);
        let names = |tools: &[ToolPrint], differs: &dyn Fn(&ToolPrint) -> bool| {
            tools.iter().filter(|tool| differs(tool)).map(|tool| tool.name.clone()).collect()
        };
        Self {
            new: names(&now, &|tool| lacks(&before, tool)),
            gone: names(&before, &|tool| lacks(&now, tool)),
            other: names(&now, &|tool| !lacks(&before, tool) && !before.contains(tool)),
        }
    }
}
