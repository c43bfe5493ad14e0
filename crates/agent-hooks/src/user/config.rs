//! What the user configures of a hook, checked.

use super::input;
use super::matcher::{Matcher, MatcherError};
use super::pinned::PinnedScript;
use super::script::Script;
use agent_types::hook::HookPoint;

/// A hook: when it runs, and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserHook {
    /// The point at which it runs.
    pub point: HookPoint,
    /// On what it runs there: a tool's name, `startup` or `resume` of a session, `manual` or `auto` of a summary.
    pub matcher: Matcher,
    /// The command line for a shell.
    pub command: String,
    /// Time that it may take, in milliseconds.
    pub timeout_ms: u64,
    /// The effect of a hook that fails.
    pub on_failure: OnFailure,
    /// Where it runs, if it does.
    pub runs: Runs,
    /// The script that it runs. If it is another by then, the hook is not run, which is a failure of it.
    pub script: Option<Script>,
    /// Whether it may allow a call in place of the user. Hooks that the model's commands can change may not.
    pub may_allow: bool,
}

/// Where a hook runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Runs {
    /// Its command, by a shell, as the user does.
    #[default]
    AsUser,
    /// Its command, by a shell, in the sandbox of the tools.
    Sandboxed,
    /// Nothing but this script, as the user does, from a copy of the bytes that were compared.
    Pinned(Box<PinnedScript>),
    /// Not at all, for this reason, which is a failure of it.
    Nowhere(String),
}

/// The effect of a hook that could not be started, failed, took too long, or gave an unreadable answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnFailure {
    /// The user is warned, and things take their course.
    #[default]
    Warn,
    /// It counts as an objection.
    Block,
}

impl UserHook {
    /// A hook at a point, by its name, with the limit of time that is customary there.
    ///
    /// # Errors
    /// [`HookConfigError`] when there is no such point, or nothing to run.
    pub fn new(event: &str, command: &str) -> Result<Self, HookConfigError> {
        let point = HookPoint::ALL.into_iter().find(|point| point.name() == event);
        let point = point.ok_or_else(|| HookConfigError::NoSuchEvent { event: event.to_owned() })?;
        if command.trim().is_empty() || command.contains('\0') {
            return Err(HookConfigError::NoCommand { point });
        }
        let timeout_ms = if point == HookPoint::SessionEnd { END_TIMEOUT_MS } else { TIMEOUT_MS };
        Ok(Self {
            point,
            matcher: Matcher::default(),
            command: command.to_owned(),
            timeout_ms,
            on_failure: OnFailure::Warn,
            runs: Runs::AsUser,
            script: None,
            may_allow: true,
        })
    }

    /// The same, only on what the pattern matches.
    ///
    /// # Errors
    /// [`HookConfigError`] when the pattern is invalid, or nothing at the point could match it.
    pub fn matching(mut self, pattern: &str) -> Result<Self, HookConfigError> {
        let point = self.point;
        let matcher = Matcher::parse(pattern).map_err(|error| HookConfigError::Matcher { point, error })?;
        if !matcher.is_any() && !takes_matcher(point) {
            return Err(HookConfigError::NothingToMatch { point });
        }
        let subjects = input::subjects(point);
        if let Some(name) = matcher.unfit(subjects).next().filter(|_| !subjects.is_empty()) {
            return Err(HookConfigError::NoSuchSubject { point, name: name.to_owned() });
        }
        self.matcher = matcher;
        Ok(self)
    }

    /// The same with another time limit.
    ///
    /// # Errors
    /// [`HookConfigError::Timeout`] when it is nothing or more than an hour.
    pub fn within_ms(mut self, timeout_ms: u64) -> Result<Self, HookConfigError> {
        if timeout_ms == 0 || timeout_ms > MAX_TIMEOUT_MS {
            return Err(HookConfigError::Timeout { point: self.point, timeout_ms });
        }
        self.timeout_ms = timeout_ms;
        Ok(self)
    }

    /// The same, but a failure is an objection.
    ///
    /// # Errors
    /// [`HookConfigError::CannotBlock`] where there is nothing to object to.
    pub fn blocking_on_failure(mut self) -> Result<Self, HookConfigError> {
        if matches!(self.point, HookPoint::SessionStart | HookPoint::SessionEnd | HookPoint::SubagentStart) {
            return Err(HookConfigError::CannotBlock { point: self.point });
        }
        self.on_failure = OnFailure::Block;
        Ok(self)
    }

    /// The same, but only while this script is unchanged.
    #[must_use]
    pub fn with_script(mut self, script: Option<Script>) -> Self {
        self.script = script;
        self
    }

    /// The same, run in that place.
    #[must_use]
    pub fn run(mut self, runs: Runs) -> Self {
        self.runs = runs;
        self
    }

    /// The same, but it cannot allow calls. It still may object.
    #[must_use]
    pub const fn without_allowing(mut self) -> Self {
        self.may_allow = false;
        self
    }
}

const fn takes_matcher(point: HookPoint) -> bool {
    matches!(
        point,
        HookPoint::PreToolUse
            | HookPoint::PostToolUse
            | HookPoint::SessionStart
            | HookPoint::PreCompact
            | HookPoint::SubagentStart
            | HookPoint::SubagentStop
    )
}

/// Why a hook cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HookConfigError {
    /// There is no such event.
    #[error("there is no event `{event}`; the events are {}", names())]
    NoSuchEvent {
        /// What was said.
        event: String,
    },
    /// It has nothing to run.
    #[error("the hook at {point} needs a command")]
    NoCommand {
        /// Where.
        point: HookPoint,
    },
    /// Its pattern cannot be used.
    #[error("the matcher of the hook at {point}: {error}")]
    Matcher {
        /// Where.
        point: HookPoint,
        /// Why.
        error: MatcherError,
    },
    /// There is nothing that a pattern could match.
    #[error("a hook at {point} takes no matcher")]
    NothingToMatch {
        /// Where.
        point: HookPoint,
    },
    /// It waits for what never comes.
    #[error("the hook at {point} matches `{name}`, which does not occur there; expected {}", input::subjects(*point).join(", "))]
    NoSuchSubject {
        /// Where.
        point: HookPoint,
        /// What was said.
        name: String,
    },
    /// It has no time, or too much.
    #[error("the time limit of the hook at {point} must be 1 to {MAX_TIMEOUT_MS} ms, not {timeout_ms}")]
    Timeout {
        /// Where.
        point: HookPoint,
        /// What was said.
        timeout_ms: u64,
    },
    /// There is nothing to object to.
    #[error("a hook at {point} has nothing to block")]
    CannotBlock {
        /// Where.
        point: HookPoint,
    },
}

fn names() -> String {
    HookPoint::ALL.map(HookPoint::name).join(", ")
}

const TIMEOUT_MS: u64 = 60_000;
/// A user who leaves does not want to wait.
const END_TIMEOUT_MS: u64 = 5_000;
const MAX_TIMEOUT_MS: u64 = 3_600_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn said(result: Result<UserHook, HookConfigError>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_used_says_what_can() {
        let hook = |event| UserHook::new(event, "true").unwrap();
        assert_eq!(
            said(UserHook::new("Notification", "true")),
            "there is no event `Notification`; the events are PreToolUse, PostToolUse, UserPromptSubmit, Stop, SessionStart, SessionEnd, \
             PreCompact, SubagentStart, SubagentStop"
        );
        assert_eq!(said(UserHook::new("Stop", "  ")), "the hook at Stop needs a command");
        assert_eq!(said(hook("Stop").matching("bash")), "a hook at Stop takes no matcher");
        assert_eq!(
            said(hook("Stop").within_ms(0)),
            "the time limit of the hook at Stop must be 1 to 3600000 ms, not 0"
        );
        assert_eq!(said(hook("SessionEnd").blocking_on_failure()), "a hook at SessionEnd has nothing to block");
        assert!(said(hook("PreToolUse").matching("mcp__.+")).starts_with("the matcher of the hook at PreToolUse: "));
        for (event, pattern, says) in [
            ("SessionStart", "clear", "matches `clear`, which does not occur there; expected startup, resume"),
            ("SessionStart", "startup|compact", "matches `compact`"),
            ("PreCompact", "man", "expected manual, auto"),
        ] {
            assert!(said(hook(event).matching(pattern)).contains(says), "{event} {pattern}");
        }
        for (event, pattern) in [("SessionStart", "startup|res*"), ("PreCompact", "auto"), ("PreToolUse", "clear")] {
            assert!(hook(event).matching(pattern).is_ok(), "{event} {pattern}");
        }
        assert!(hook("Stop").matching("*").unwrap().matcher.is_any());
        assert_eq!((hook("Stop").timeout_ms, hook("SessionEnd").timeout_ms), (60_000, 5_000));
    }
}
