//! What programs read in a conversation besides what happens: questions, and what became of what they said.

use serde::Serialize;
use serde_json::Value;

/// A question: whether a call may run.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct QuestionReport {
    /// Names the question in its answer.
    pub(crate) id: String,
    /// The call.
    pub(crate) tool_use_id: String,
    /// The tool.
    pub(crate) tool_name: String,
    /// Its arguments.
    pub(crate) tool_input: Value,
    /// The call in one line, for people.
    pub(crate) title: String,
    /// Why it is asked.
    pub(crate) reason: String,
    /// What the call would make of files, as they are now; left out where that cannot be shown as text. An `allow` holds for this alone: if
    /// the files are others when it comes, the question is put again under a new id.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) changes: Vec<ChangeReport>,
    /// The rules that an `allow` for the session, or for always, keeps. Empty where no rule can name the call, and where a hook asked,
    /// which no rule overrides.
    pub(crate) rules: Vec<String>,
    /// The session's id.
    pub(crate) session_id: String,
}

/// What a call would make of a file.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ChangeReport {
    /// The file's path, absolute.
    pub(crate) path: String,
    /// Its text now; null where it is new.
    pub(crate) old: Option<String>,
    /// Its text afterwards; empty where it is removed.
    pub(crate) new: String,
}
