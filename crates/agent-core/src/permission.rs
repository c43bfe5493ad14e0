//! Who may do what: a pure policy over the facts that the driver reports about each call.
//!
//! ```text
//! deny rule > hook's denial > plan mode > hook's question > allow rule > mode
//! ```
//!
//! A deny rule wins over everything, bypass included. What cannot be checked against a deny rule is denied.

mod glob;
mod rule;

pub use rule::{Rule, RuleError};

use crate::conversation::{Arguments, ToolCall};
use crate::tool::{Effect, HookVerdict, Inspection, Subject};
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

/// How much may happen without asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PermissionMode {
    /// Reading runs, everything else is asked.
    #[default]
    Default,
    /// Reading and editing files in the workspace runs, everything else is asked.
    AcceptEdits,
    /// Nothing that may change anything runs.
    Plan,
    /// Everything runs that no rule denies.
    Bypass,
}

impl fmt::Display for PermissionMode {
    /// The name under which it is chosen and serialised.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Default => "default",
            Self::AcceptEdits => "accept-edits",
            Self::Plan => "plan",
            Self::Bypass => "bypass",
        })
    }
}

/// The whole policy of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Permissions {
    /// What happens to calls that no rule names.
    pub mode: PermissionMode,
    /// Calls that run without asking.
    pub allow: Vec<Rule>,
    /// Calls that never run.
    pub deny: Vec<Rule>,
}

impl Permissions {
    /// Decides about one call.
    #[must_use]
    pub fn decide(&self, tool: &str, inspection: &Inspection, verdict: &HookVerdict) -> Decision {
        if let Some(rule) = self.deny.iter().find(|rule| rule.may_match(tool, &inspection.subject)) {
            return Decision::Deny(denial_by(rule, &inspection.subject));
        }
        if let HookVerdict::Deny { reason } = verdict {
            return Decision::Deny(format!("a hook denied it: {reason}"));
        }
        let changes = inspection.effect == Effect::Changes;
        if changes && self.mode == PermissionMode::Plan {
            return Decision::Deny(String::from("plan mode: nothing that may change anything runs"));
        }
        if let HookVerdict::Ask { reason } = verdict {
            return Decision::Ask(reason.clone());
        }
        if !changes || self.allows(tool, &inspection.subject) {
            return Decision::Run;
        }
        match (self.mode, &inspection.subject) {
            (PermissionMode::Bypass, _) | (PermissionMode::AcceptEdits, Subject::Paths(_)) => Decision::Run,
            (PermissionMode::AcceptEdits, Subject::None | Subject::Command { .. })
            | (PermissionMode::Default | PermissionMode::Plan, _) => {
                Decision::Ask(format!("`{tool}` may change something"))
            }
        }
    }
}

impl Permissions {
    /// Whether the allow rules cover everything that the call is about: one rule as a whole, or one rule each of its paths or commands.
    fn allows(&self, tool: &str, subject: &Subject) -> bool {
        let any = |subject: &Subject| self.allow.iter().any(|rule| rule.matches(tool, subject));
        match subject {
            Subject::Paths(paths) if paths.len() > 1 => {
                paths.iter().all(|path| any(&Subject::Paths(vec![path.clone()])))
            }
            Subject::Command { text, plain: Some(plain) } if plain.len() > 1 => {
                any(subject)
                    || plain.iter().all(|command| {
                        any(&Subject::Command { text: text.clone(), plain: Some(vec![command.clone()]) })
                    })
            }
            Subject::None | Subject::Paths(_) | Subject::Command { .. } => any(subject),
        }
    }

    /// The deny rule that stands in the way of running a tool with other arguments than those that were inspected, if any: nobody has
    /// checked the new ones against it.
    #[must_use]
    pub fn forbids_editing(&self, tool: &str) -> Option<&Rule> {
        self.deny.iter().find(|rule| rule.tool() == tool)
    }
}

fn denial_by(rule: &Rule, subject: &Subject) -> String {
    match subject {
        Subject::Command { plain: None, .. } => {
            format!("the rule `{rule}` denies it, or cannot be checked: write the command as plain commands")
        }
        Subject::None | Subject::Paths(_) | Subject::Command { .. } => {
            format!("the rule `{rule}` denies it")
        }
    }
}

/// What the policy says about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It runs.
    Run,
    /// A person is asked; the reason is for that person.
    Ask(String),
    /// It does not run; the reason is for the model.
    Deny(String),
}

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

/// A person's answer, or that there is nobody to ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ApprovalAnswer {
    /// It may run.
    Allow {
        /// For how long this holds.
        scope: ApprovalScope,
        /// Arguments to run it with instead of the model's.
        arguments: Option<Arguments>,
    },
    /// It must not run.
    Deny {
        /// Why, for the model; may be empty.
        reason: String,
    },
    /// There is nobody who could be asked, which denies it.
    Nobody,
}

/// For how long an approval holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ApprovalScope {
    /// For this call.
    Once,
    /// For all calls of this session that the rule matches.
    Session(Rule),
}

#[cfg(test)]
mod tests;
