//! The journal: what happened in a session, in order, enough to rebuild it.
//!
//! The first record is the [`Header`]. What another program's session brought follows it ([`Entry::History`]). Every other record is an
//! event from outside with its time, or a note that an effect is about to begin.
//! Replaying the events through an [`Agent`](crate::agent::Agent) made from the header gives the same agent, because it reads nothing else.
//! Refused events are recorded too, and refused again. What follows from an event is not recorded.
//!
//! [`Replayer`] takes records one by one, in little memory; [`replay`] takes them all. [`Format`] reads the lines that this and earlier
//! versions wrote.

mod format;
mod replay;
mod resumption;

pub use format::{Format, FormatError};
pub use replay::{Begun, Rebuilt, ReplayError, Replayed, Replayer, replay};

use crate::agent::Event;
use crate::conversation::{CallId, Item};
use crate::lifecycle::{self, LifecycleConfig};
use crate::session::{Action, SessionConfig, Ticket};
use crate::tool::ToolSpec;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// One line of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Position, counted from 0 for the header.
    pub seq: u64,
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// What.
    pub entry: Entry,
}

/// What a record says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Entry {
    /// How the session was made. Only the first record.
    Header(Box<Header>),
    /// What was said before the session, in another program. Stands between the header and the first event, an entry for each item.
    History(Arc<Item>),
    /// Something happened to the agent: to its session, or to its commitments.
    Event(Event),
    /// Something that the last event asked for is about to begin. Replaying passes over it.
    ActionStarted(ActionStarted),
    /// Of a lifecycle, in journals up to format 4: they recorded it separately. No program writes this any more.
    Lifecycle(LifecycleEntry),
}

/// What a record says about an agent's lifecycle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum LifecycleEntry {
    /// A new one begins here, made so. One that was there before is over.
    Began(Box<LifecycleConfig>),
    /// Something happened that the lifecycle took. What it refuses is not recorded.
    Event(lifecycle::Event),
}

/// How a session was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the journal's format, [`FORMAT_VERSION`] when written by this program.
    pub format_version: u32,
    /// The session's id.
    pub session_id: String,
    /// Program and version that wrote it.
    pub program: String,
    /// Directory the session works in.
    pub directory: String,
    /// The session that this one was branched off, and where.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// The session of another program that this one continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// Whose child it is, where another agent began it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub child: Option<ChildOf>,
    /// The tools, in the order in which they are offered, each with a fingerprint of what the model reads about it.
    pub tools: Vec<ToolPrint>,
    /// The session's configuration.
    pub config: SessionConfig,
}

impl Header {
    /// The header of a new session, in today's format.
    #[must_use]
    pub fn new(
        session_id: impl Into<String>,
        program: impl Into<String>,
        directory: impl Into<String>,
        config: SessionConfig,
    ) -> Self {
        Self {
            format_version: FORMAT_VERSION,
            session_id: session_id.into(),
            program: program.into(),
            directory: directory.into(),
            parent: None,
            imported: None,
            child: None,
            tools: config.tools.iter().map(ToolPrint::of).collect(),
            config,
        }
    }
}

/// The point at which a session branched off another. The records up to it are in both journals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// The other session's id.
    pub session_id: String,
    /// The last record that both have.
    pub seq: u64,
}

/// Whose child an agent is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChildOf {
    /// The session id of the agent at the root of the tree.
    pub root: String,
    /// Where it stands below the root: the numbers of its ancestors among their parents' children, and its own.
    pub place: Vec<u32>,
    /// Its name.
    pub name: String,
    /// Whether it may change the files of its parent.
    pub changes_files: bool,
}

/// The session of another program that a session continues. Its words are in [`Entry::History`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// The program that wrote it.
    pub program: String,
    /// The session's id there; empty where it had none.
    pub session_id: String,
    /// The file that it was read from.
    pub file: String,
    /// Tells this content of the file from another.
    pub fingerprint: String,
    /// The model that answered there last; empty where that is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
}

/// A tool by its name and a fingerprint: enough to tell whether it is still the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolPrint {
    /// The tool's name.
    pub name: String,
    /// FNV-1a of its description and its schema, in 16 hexadecimal digits. Recognises a change, not a forger.
    pub schema_hash: String,
}

impl ToolPrint {
    /// The fingerprint of a tool.
    #[must_use]
    pub fn of(spec: &ToolSpec) -> Self {
        let schema = spec.input_schema.to_string();
        // A byte that is in no text keeps the two apart.
        let bytes = spec.description.bytes().chain([0xFF]).chain(schema.bytes());
        let hash = bytes
            .fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3));
        Self { name: spec.name.to_string(), schema_hash: format!("{hash:016x}") }
    }
}

/// An effect that is about to start. It is in the journal before the effect starts, so an effect that is not there has not started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ActionStarted {
    /// A model call, which costs money.
    SendLlmRequest {
        /// Of the call.
        ticket: Ticket,
    },
    /// A group of tool calls.
    ExecuteTools {
        /// Of the group.
        ticket: Ticket,
        /// The calls that begin.
        calls: Vec<CallId>,
    },
    /// The formatters.
    RunAutoformatters {
        /// Of the run.
        ticket: Ticket,
    },
    /// A commit.
    CommitChanges {
        /// Of the commit.
        ticket: Ticket,
    },
    /// The user's hooks.
    RunHooks {
        /// Of the run.
        ticket: Ticket,
    },
}

impl ActionStarted {
    /// The note for an action; nothing for one that has no effect outside the program and its screen.
    #[must_use]
    pub fn of(action: &Action) -> Option<Self> {
        match action {
            Action::SendLlmRequest { ticket, .. } => Some(Self::SendLlmRequest { ticket: *ticket }),
            Action::ExecuteTools { ticket, calls } => {
                Some(Self::ExecuteTools { ticket: *ticket, calls: calls.iter().map(|call| call.id.clone()).collect() })
            }
            Action::RunAutoformatters { ticket, .. } => Some(Self::RunAutoformatters { ticket: *ticket }),
            Action::CommitChanges { ticket, .. } => Some(Self::CommitChanges { ticket: *ticket }),
            Action::RunHooks { ticket, .. } => Some(Self::RunHooks { ticket: *ticket }),
            Action::CancelLlmRequest { .. }
            | Action::PrepareTools { .. }
            | Action::RequestApproval { .. }
            | Action::WithdrawApproval { .. }
            | Action::CancelTools { .. }
            | Action::CheckGitCommits { .. }
            | Action::CancelHooks { .. }
            | Action::ScheduleRetry { .. }
            | Action::CancelRetry { .. }
            | Action::StartDeadline { .. }
            | Action::HoldDeadline { .. }
            | Action::DisplayText { .. }
            | Action::DisplayProgress { .. }
            | Action::DisplayMessage { .. }
            | Action::DisplayError { .. }
            | Action::DisplaySummary { .. }
            | Action::DiscardPartial
            | Action::PromptForInput
            | Action::ReturnQueuedInput { .. }
            | Action::Shutdown => None,
        }
    }

    /// The ticket of the action.
    #[must_use]
    pub const fn ticket(&self) -> Ticket {
        match self {
            Self::SendLlmRequest { ticket }
            | Self::ExecuteTools { ticket, .. }
            | Self::RunAutoformatters { ticket }
            | Self::RunHooks { ticket }
            | Self::CommitChanges { ticket } => *ticket,
        }
    }

    /// The name of the action.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::SendLlmRequest { .. } => "SendLlmRequest",
            Self::ExecuteTools { .. } => "ExecuteTools",
            Self::RunAutoformatters { .. } => "RunAutoformatters",
            Self::CommitChanges { .. } => "CommitChanges",
            Self::RunHooks { .. } => "RunHooks",
        }
    }
}

/// The format that this version writes. It also reads the earlier ones.
pub const FORMAT_VERSION: u32 = 5;
