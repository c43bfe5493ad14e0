//! Rules about calls, and a person's questions and answers. `agent-core` decides what follows from them.

mod exclusions;
mod glob;
mod rule;

pub use exclusions::Exclusions;
pub use rule::{Rule, RuleError, RuleSource};

use crate::conversation::{Arguments, ToolCall};
use crate::tool::Subject;
use alloc::string::String;
use alloc::vec::Vec;
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
    /// For all calls of this session that the rules match.
    Session(#[serde(with = "one_or_more")] Vec<Rule>),
    /// The same, and the host keeps the rules for sessions to come, where the user keeps rules; never in the repository.
    Always(#[serde(with = "one_or_more")] Vec<Rule>),
}

/// One rule stands alone, as it did when an answer had one only.
mod one_or_more {
    use super::Rule;
    use alloc::vec;
    use alloc::vec::Vec;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMore {
        One(Rule),
        More(Vec<Rule>),
    }

    pub(super) fn serialize<S: Serializer>(rules: &[Rule], serializer: S) -> Result<S::Ok, S::Error> {
        match rules {
            [rule] => rule.serialize(serializer),
            rules => rules.serialize(serializer),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Rule>, D::Error> {
        Ok(match OneOrMore::deserialize(deserializer)? {
            OneOrMore::One(rule) => vec![rule],
            OneOrMore::More(rules) => rules,
        })
    }
}
