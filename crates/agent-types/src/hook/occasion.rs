//! The user's own hooks: programs that run at fixed points of a session, what they receive, and what they answer.

use crate::conversation::{Arguments, CallId, ToolCall};
use crate::tool::{HookVerdict, ToolStatus};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

/// A point of a session at which the user's hooks run. The names are the field's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum HookPoint {
    /// Before a call runs, and before it is decided whether it may.
    PreToolUse,
    /// After the calls of an answer ended.
    PostToolUse,
    /// Before a message of the user goes to the model.
    UserPromptSubmit,
    /// When the model ended its turn and nothing is left to do.
    Stop,
    /// Before the first request of a session, and of one that is resumed.
    SessionStart,
    /// When the host leaves the session.
    SessionEnd,
    /// Before the conversation is summarised.
    PreCompact,
    /// Before the first request of an agent below the session's own.
    SubagentStart,
    /// When the model of an agent below ended its turn and nothing is left to do.
    SubagentStop,
}

impl HookPoint {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::PreToolUse,
        Self::PostToolUse,
        Self::UserPromptSubmit,
        Self::Stop,
        Self::SessionStart,
        Self::SessionEnd,
        Self::PreCompact,
        Self::SubagentStart,
        Self::SubagentStop,
    ];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::Stop => "Stop",
            Self::SessionStart => "SessionStart",
            Self::SessionEnd => "SessionEnd",
            Self::PreCompact => "PreCompact",
            Self::SubagentStart => "SubagentStart",
            Self::SubagentStop => "SubagentStop",
        }
    }

    /// Whether hooks may run on it again when the program ended while they ran. Those that look at a thing before it is done are asked once
    /// more; what follows on it, or on the whole session, is not.
    #[must_use]
    pub const fn may_be_repeated(self) -> bool {
        match self {
            Self::PreToolUse
            | Self::UserPromptSubmit
            | Self::Stop
            | Self::SessionStart
            | Self::PreCompact
            | Self::SubagentStart
            | Self::SubagentStop => true,
            Self::PostToolUse | Self::SessionEnd => false,
        }
    }
}

impl fmt::Display for HookPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What hooks run on: a point and its data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum HookOccasion {
    /// See [`HookPoint::PreToolUse`].
    PreToolUse {
        /// The call, as it would run.
        call: ToolCall,
    },
    /// See [`HookPoint::PostToolUse`].
    PostToolUse {
        /// The calls that ran, in call order.
        calls: Vec<EndedCall>,
    },
    /// See [`HookPoint::UserPromptSubmit`].
    UserPromptSubmit {
        /// The message; several that are sent together are separated by a blank line.
        prompt: String,
    },
    /// See [`HookPoint::Stop`].
    Stop {
        /// What the model said last; may be empty.
        text: String,
        /// Whether a hook kept this turn from ending before.
        is_held: bool,
    },
    /// See [`HookPoint::SessionStart`].
    SessionStart {
        /// Whether there is a history already.
        is_resumed: bool,
    },
    /// See [`HookPoint::SessionEnd`].
    SessionEnd,
    /// See [`HookPoint::PreCompact`].
    PreCompact {
        /// Whether the user asked for the summary.
        is_requested: bool,
        /// What the user wants kept in detail.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        focus: Option<String>,
    },
    /// See [`HookPoint::SubagentStart`].
    SubagentStart {
        /// The agent's id.
        agent_id: String,
        /// Its name.
        agent_name: String,
        /// Whether there is a history already.
        is_resumed: bool,
    },
    /// See [`HookPoint::SubagentStop`].
    SubagentStop {
        /// The agent's id.
        agent_id: String,
        /// Its name.
        agent_name: String,
        /// What its model said last; may be empty.
        text: String,
        /// Whether a hook kept this turn from ending before.
        is_held: bool,
    },
}

impl HookOccasion {
    /// The same for an agent below the session's own: its start and the end of its turns are points of their own.
    #[must_use]
    pub fn of_subagent(&self, agent_id: &str, agent_name: &str) -> Self {
        let (agent_id, agent_name) = (String::from(agent_id), String::from(agent_name));
        match self.clone() {
            Self::SessionStart { is_resumed } => Self::SubagentStart { agent_id, agent_name, is_resumed },
            Self::Stop { text, is_held } => Self::SubagentStop { agent_id, agent_name, text, is_held },
            other @ (Self::PreToolUse { .. }
            | Self::PostToolUse { .. }
            | Self::UserPromptSubmit { .. }
            | Self::SessionEnd
            | Self::PreCompact { .. }
            | Self::SubagentStart { .. }
            | Self::SubagentStop { .. }) => other,
        }
    }

    /// The point.
    #[must_use]
    pub const fn point(&self) -> HookPoint {
        match self {
            Self::PreToolUse { .. } => HookPoint::PreToolUse,
            Self::PostToolUse { .. } => HookPoint::PostToolUse,
            Self::UserPromptSubmit { .. } => HookPoint::UserPromptSubmit,
            Self::Stop { .. } => HookPoint::Stop,
            Self::SessionStart { .. } => HookPoint::SessionStart,
            Self::SessionEnd => HookPoint::SessionEnd,
            Self::PreCompact { .. } => HookPoint::PreCompact,
            Self::SubagentStart { .. } => HookPoint::SubagentStart,
            Self::SubagentStop { .. } => HookPoint::SubagentStop,
        }
    }
}

/// A call that ended, as hooks see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndedCall {
    /// The call, as it ran.
    pub call: ToolCall,
    /// How it ended.
    pub status: ToolStatus,
    /// What the model reads of it.
    pub content: String,
}

/// What the hooks of one point answered, taken together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HookReport {
    /// Each program that ran, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<HookRun>,
    /// Text for the model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<String>,
    /// Why the hooks object. What that means depends on the point: a message does not go out, a turn does not end, a summary is not made,
    /// and the model gets a note about calls that have run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<String>,
    /// Why the turn ends here, whatever else would come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<String>,
    /// Before a call: whether it may run.
    #[serde(skip_serializing_if = "HookVerdict::is_none")]
    pub verdict: HookVerdict,
    /// Before a call: the arguments to run it with instead of the model's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Arguments>,
}

/// One program that ran.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookRun {
    /// Where it ran.
    pub point: HookPoint,
    /// What the user wrote to have it run.
    pub command: String,
    /// The call that it ran for, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// How it ended.
    pub end: HookEnd,
    /// The message for the user: why it blocks, what went wrong, or its own message; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

impl fmt::Display for HookRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { point, command, call, took_ms, end, message } = self;
        write!(f, "hook {point} `{command}`")?;
        if let Some(call) = call {
            write!(f, " for {call}")?;
        }
        write!(f, ": {} after {took_ms} ms", end.word())?;
        if message.is_empty() { Ok(()) } else { write!(f, ": {message}") }
    }
}

/// How a program of a hook ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HookEnd {
    /// It let pass what it was asked about.
    Passed,
    /// It objected.
    Blocked,
    /// It did not do its work: it could not be started, failed, took too long or said what cannot be understood.
    Failed,
}

impl HookEnd {
    /// The end as a word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Blocked => "blocked",
            Self::Failed => "failed",
        }
    }
}
