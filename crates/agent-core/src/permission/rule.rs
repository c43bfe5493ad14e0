//! Permission rules: `tool` or `tool(pattern)`.

use super::glob;
use crate::tool::Subject;
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Serialize};

/// Names calls: a tool, or a tool and a pattern over what the call is about.
///
/// For files the pattern is a glob (`edit_file(src/**)`). For commands it is the exact command (`bash(git status)`) or, with `:*`, every
/// command that starts with these words (`bash(git status:*)`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Rule {
    tool: String,
    pattern: Option<String>,
}

impl Rule {
    /// The tool it names.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Whether an allow rule covers the call: everything the call is about matches, and all of it is known.
    #[must_use]
    pub fn matches(&self, tool: &str, subject: &Subject) -> bool {
        if self.tool != tool {
            return false;
        }
        let Some(pattern) = &self.pattern else {
            return true;
        };
        match subject {
            Subject::None | Subject::Command { plain: None, .. } => false,
            Subject::Paths(paths) => !paths.is_empty() && paths.iter().all(|path| glob::matches(pattern, path)),
            Subject::Command { plain: Some(plain), text } => {
                let each = || plain.iter().all(|command| command_matches(pattern, command));
                !plain.is_empty() && (text == pattern || each())
            }
        }
    }

    /// Whether a deny rule covers the call: something it is about matches, or nobody can tell.
    #[must_use]
    pub fn may_match(&self, tool: &str, subject: &Subject) -> bool {
        if self.tool != tool {
            return false;
        }
        let Some(pattern) = &self.pattern else {
            return true;
        };
        match subject {
            Subject::None | Subject::Command { plain: None, .. } => true,
            Subject::Paths(paths) => paths.iter().any(|path| glob::matches(pattern, path)),
            Subject::Command { plain: Some(plain), .. } => {
                plain.iter().any(|command| command_matches(pattern, command))
            }
        }
    }
}

fn command_matches(pattern: &str, command: &str) -> bool {
    match pattern.strip_suffix(":*") {
        Some(prefix) => match command.strip_prefix(prefix) {
            Some(rest) => rest.is_empty() || rest.starts_with(' ') || prefix.is_empty(),
            None => false,
        },
        None => pattern == command,
    }
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let wrong = || RuleError { rule: text.to_string() };
        let (tool, pattern) = match text.split_once('(') {
            None => (text, None),
            Some((tool, rest)) => (tool, Some(rest.strip_suffix(')').ok_or_else(wrong)?)),
        };
        let is_name =
            !tool.is_empty() && tool.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
        if !is_name || pattern.is_some_and(str::is_empty) {
            return Err(wrong());
        }
        Ok(Self { tool: tool.to_string(), pattern: pattern.map(ToString::to_string) })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.pattern {
            Some(pattern) => write!(f, "{}({pattern})", self.tool),
            None => f.write_str(&self.tool),
        }
    }
}

impl TryFrom<String> for Rule {
    type Error = RuleError;

    fn try_from(text: String) -> Result<Self, RuleError> {
        text.parse()
    }
}

impl From<Rule> for String {
    fn from(rule: Rule) -> Self {
        rule.to_string()
    }
}

/// A rule that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read the rule `{rule}`: expected `tool` or `tool(pattern)`")]
pub struct RuleError {
    /// The rule as it was written.
    pub rule: String,
}
