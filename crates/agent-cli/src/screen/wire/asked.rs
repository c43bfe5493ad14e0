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

/// A question of a server of tools, in the middle of a call.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ServerQuestionReport {
    /// Names the question in its answer.
    pub(crate) id: String,
    /// The server.
    pub(crate) server: String,
    /// The call: the name of a tool.
    pub(crate) call: String,
    /// What the server says: its words, and not those of the agent.
    pub(crate) message: String,
    /// The values that it wants: a JSON schema of an object with plain values. Left out where it wants none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) schema: Option<Value>,
    /// Where the person is to go, in place of a `schema`. It is to be shown, and not opened by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    /// Whether its words sound as if it wanted a password, a key or a token, which servers must not ask for in this way.
    pub(crate) seems_to_want_secrets: bool,
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
