//! Rules about calls, and a person's questions and answers. `agent-core` decides what follows from them.

mod exclusions;
mod glob;
mod rule;

pub use exclusions::Exclusions;
pub use rule::{Rule, RuleError, RuleSource};

use crate::conversation::{Arguments, ToolCall};
use crate::tool::Subject;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// A question to a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalQuestion {
    /// The call.
    pub call: ToolCall,
    /// What it is about.
    pub subject: Subject,
    /// Why it is asked.
    pub reason: String,
}

/// A person's answer, or that there is no one to ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ApprovalAnswer {
    /// It may run.
    Allow {
        /// For how long this holds.
        scope: ApprovalScope,
        /// Arguments to run it with instead of the model's. They are checked like those: see
        /// `ApprovalAnswered` of the session's events.
        arguments: Option<Arguments>,
    },
    /// It must not run.
    Deny {
        /// Why, for the model; may be empty.
        reason: String,
    },
    /// No one can be asked, which denies the call.
    Nobody,
}

/// For how long an approval holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ApprovalScope {
    /// For this call.
    Once,
    /// For all calls of this session that the rule matches.
    Session(Rule),
    /// The same, and the host keeps the rule for sessions to come, where the user keeps rules; never in the repository.
    Always(Rule),
}
