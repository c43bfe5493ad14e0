//! What a line of a session says, in no program's own form, and which program wrote it.

use super::{claude, codex, lines, pi};
use crate::failure::Failure;
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

/// Who wrote a session file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::commands::sessions) enum Format {
    /// A journal of this program.
    Agent,
    ClaudeCode,
    Codex,
    Pi,
}

impl Format {
    /// The format of a file, by the first line that is of any.
    pub(super) fn of(path: &Path) -> Result<Self, Failure> {
        let mut found = None;
        lines::each(path, |line| {
            if found.is_none()
                && let Ok(value) = line.value()
            {
                found = Self::of_line(&value);
            }
            Ok(())
        })?;
        let unknown = || format!("cannot read {}: no line belongs to a known kind of session", path.display());
        found.ok_or_else(|| Failure::input(unknown()))
    }

    pub(in crate::commands::sessions) fn of_line(line: &Value) -> Option<Self> {
        let has = |name: &str| line.get(name).is_some();
        let kind = line["type"].as_str().unwrap_or_default();
        if has("entry") && has("seq") {
            Some(Self::Agent)
        } else if has("payload") && matches!(kind, "session_meta" | "response_item" | "event_msg" | "turn_context") {
            Some(Self::Codex)
        } else if has("sessionId") || has("parentUuid") || has("leafUuid") {
            Some(Self::ClaudeCode)
        } else if kind == "session" && has("id") || kind == "message" && line["message"]["role"].is_string() {
            Some(Self::Pi)
        } else {
            None
        }
    }

    /// What a line says.
    pub(in crate::commands::sessions) fn entry(self, line: &Value) -> Entry {
        match self {
            Self::ClaudeCode => claude::entry(line),
            Self::Codex => codex::entry(line),
            Self::Pi => pi::entry(line),
            Self::Agent => Entry::default(),
        }
    }

    /// A result for a call, as this program would have written it behind the call's line.
    pub(super) fn answer(self, call_line: &Value, call: &Call) -> Value {
        match self {
            Self::ClaudeCode => claude::answer(call_line, call),
            Self::Codex | Self::Agent => codex::answer(call_line, call),
            Self::Pi => pi::answer(call_line, call),
        }
    }

    /// Where a line says behind which one it stands.
    pub(in crate::commands::sessions) const fn parent_field(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some("parentUuid"),
            Self::Pi => Some("parentId"),
            Self::Codex | Self::Agent => None,
        }
    }

    /// Whether the results of one answer stand behind each other; otherwise each stands behind its own call.
    pub(super) const fn chains_results(self) -> bool {
        matches!(self, Self::Pi)
    }

    /// Whether the two sides take turns. Where the provider keeps a list of items, they need not.
    pub(super) const fn takes_turns(self) -> bool {
        matches!(self, Self::ClaudeCode | Self::Pi)
    }
}

/// What a line says.
#[derive(Debug, Default)]
pub(in crate::commands::sessions) struct Entry {
    pub(in crate::commands::sessions) id: Option<String>,
    /// What it stands behind.
    pub(in crate::commands::sessions) parent: Option<String>,
    /// What it speaks of besides and cannot be without.
    pub(in crate::commands::sessions) needs: Option<String>,
    /// Whether it belongs to another conversation in the same file.
    pub(in crate::commands::sessions) is_aside: bool,
    pub(in crate::commands::sessions) said: Said,
}

#[derive(Debug, Default)]
pub(in crate::commands::sessions) enum Said {
    /// Nothing of the conversation.
    #[default]
    Nothing,
    /// What the user said.
    User,
    /// What the model said, or a part of it: parts of one answer have its name in common.
    Model { answer: Option<String>, calls: Vec<Call> },
    /// Results of calls: their ids, each with its place in the line. None when something else stands there than what the two say.
    Results(Vec<(usize, String)>),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::commands::sessions) struct Call {
    pub(in crate::commands::sessions) id: String,
    pub(in crate::commands::sessions) name: String,
    /// The type of its result, where there are several.
    pub(in crate::commands::sessions) result_type: &'static str,
    /// Whether it was given up together with the answer that it stands in.
    pub(in crate::commands::sessions) is_void: bool,
}

/// A text of an object.
pub(in crate::commands::sessions) fn text(value: &Value, name: &str) -> Option<String> {
    value[name].as_str().map(str::to_owned)
}

/// The result that a call without a known one gets.
pub(in crate::commands::sessions) const UNKNOWN: &str = "interrupted, outcome unknown";
