//! What the policy says about a call, and why.

use super::{PermissionMode, Rule, RuleSource};
use crate::conversation::CallId;
use crate::protected;
use crate::tool::{Opening, Subject};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use serde::{Deserialize, Serialize};

/// What the policy says about a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Decision {
    /// It runs.
    Run(Basis),
    /// A person is asked.
    Ask(Basis),
    /// It does not run.
    Deny(Basis),
}

/// What a decision rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Basis {
    /// The call changes nothing.
    Reads,
    /// Allow rules, which cover it together.
    Allowed(Vec<Rule>),
    /// A deny rule.
    Denied(Rule),
    /// A deny rule that the call cannot be checked against.
    Unchecked(Rule),
    /// A deny rule about files, of which the call may show some.
    MayShow(Rule),
    /// What of the sandbox the call asks to have opened.
    Opens(Opening),
    /// One of the user's hooks, with what it said.
    Hook(String),
    /// One of the user's hooks, which lets it run, with what it said; may be empty.
    HookAllowed(String),
    /// The permission mode.
    Mode(PermissionMode),
    /// A person's answer, with what was said; may be empty.
    Person(String),
    /// There is no one to ask.
    Nobody,
    /// A person changed the arguments, and what the call would do with them was not checked.
    UncheckedArguments,
}

impl Decision {
    /// The decision as a word: `run`, `ask` or `deny`.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Run(_) => "run",
            Self::Ask(_) => "ask",
            Self::Deny(_) => "deny",
        }
    }

    /// Whether it runs because a person answered so for the session.
    pub(crate) fn is_answered(&self) -> bool {
        let of_session = |rule: &Rule| rule.source() == RuleSource::Session;
        matches!(self, Self::Run(Basis::Allowed(rules)) if !rules.is_empty() && rules.iter().all(of_session))
    }

    /// How much it lets happen: nothing, what a person allows, all of it.
    pub(crate) const fn freedom(&self) -> u8 {
        match self {
            Self::Deny(_) => 0,
            Self::Ask(_) => 1,
            Self::Run(_) => 2,
        }
    }

    /// Why, as a sentence: for the model that is denied a call, for the person who is asked, for the trace.
    #[must_use]
    pub fn reason(&self, tool: &str) -> String {
        match (self, self.basis()) {
            (Self::Ask(_), Basis::Mode(_)) => format!("`{tool}` may change something"),
            (Self::Ask(_), Basis::Hook(said)) => said.clone(),
            (Self::Run(_), Basis::Person(said)) if said.is_empty() => String::from("the user allowed it"),
            (Self::Run(_), Basis::Person(said)) => format!("the user allowed it: {said}"),
            (_, basis) => basis.to_string(),
        }
    }

    /// Why a person is asked, with what the tool says about the call: the mode alone would say the same of every call.
    #[must_use]
    pub fn question(&self, tool: &str, subject: &Subject) -> String {
        let (Self::Ask(Basis::Mode(mode)), subject) = (self, subject) else { return self.reason(tool) };
        match subject {
            Subject::Command { beyond_reading: Some(why), .. } => why.clone(),
            // What it changes is not known here.
            Subject::Files { paths, akin, .. } if paths.is_empty() && !akin.is_empty() => {
                format!("in mode `{mode}` calls of `{}` are asked about", akin.join("`, `"))
            }
            Subject::Files { paths, .. } | Subject::Paths(paths) => {
                match paths.iter().find(|path| protected::is_instructions(path)) {
                    Some(path) => format!("later sessions read `{path}` as instructions"),
                    None => format!("in mode `{mode}` changes of files are asked about"),
                }
            }
            Subject::None | Subject::Command { .. } | _ => self.reason(tool),
        }
    }

    /// What it rests on.
    #[must_use]
    pub const fn basis(&self) -> &Basis {
        match self {
            Self::Run(basis) | Self::Ask(basis) | Self::Deny(basis) => basis,
        }
    }
}

impl fmt::Display for Basis {
    /// As the reason of a denial, and of what runs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reads => f.write_str("it changes nothing"),
            Self::Allowed(rules) => {
                f.write_str("allowed by ")?;
                for (number, rule) in rules.iter().enumerate() {
                    let before = if number == 0 { "" } else { ", " };
                    write!(f, "{before}the rule `{rule}`{}", rule.source().phrase())?;
                }
                Ok(())
            }
            Self::Denied(rule) => write!(f, "the rule `{rule}`{} denies it", rule.source().phrase()),
            Self::Unchecked(rule) => write!(
                f,
                "the rule `{rule}`{} denies it or cannot be checked: write the command as plain commands",
                rule.source().phrase()
            ),
            Self::MayShow(rule) => {
                write!(f, "it may show files that the rule `{rule}`{} denies", rule.source().phrase())
            }
            Self::Opens(opening) => write!(f, "it asks to {}: {}", opening.phrase(), opening.reason),
            Self::Hook(said) => write!(f, "a hook denied it: {said}"),
            Self::HookAllowed(said) if said.trim().is_empty() => f.write_str("a hook allowed it"),
            Self::HookAllowed(said) => write!(f, "a hook allowed it: {said}"),
            Self::Mode(PermissionMode::Plan) => f.write_str("plan mode: only reads run"),
            Self::Mode(mode) => {
                f.write_str("permission mode ")?;
                mode.fmt(f)
            }
            Self::Person(said) if said.trim().is_empty() => f.write_str("denied by the user"),
            Self::Person(said) => f.write_str(said),
            Self::Nobody => f.write_str("no one could be asked"),
            Self::UncheckedArguments => f.write_str("the changed arguments were not checked"),
        }
    }
}

/// What was decided about a call, for the trace and for observers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ruling {
    /// The call.
    pub call: CallId,
    /// Its tool.
    pub tool: Arc<str>,
    /// What was decided.
    pub decision: Decision,
}

impl Ruling {
    /// Why, as a sentence.
    #[must_use]
    pub fn reason(&self) -> String {
        self.decision.reason(&self.tool)
    }

    /// The whole as a line of the trace. Every call has one, so it is put together without the formatting machinery.
    pub(crate) fn sentence(&self) -> String {
        [self.decision.word(), " ", &self.tool, " ", self.call.as_str(), ": ", &self.reason()].concat()
    }
}

impl fmt::Display for Ruling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence())
    }
}
