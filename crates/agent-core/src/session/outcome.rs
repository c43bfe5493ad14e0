//! How a run ended: computed once by the session, the same in exit code, JSON and journal.

use super::batch::Denial;
use crate::budget::{LimitKind, LimitReached};
use crate::llm::LlmErrorKind;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// How the last run ended: from the input that started it to the prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Outcome {
    /// The kind of outcome.
    pub kind: OutcomeKind,
    /// The model's last text; empty if there is none.
    pub text: String,
    /// The error that ended it, if one did.
    pub error: Option<String>,
    /// Calls that were not allowed to run.
    pub denials: Vec<Denial>,
    /// How far the work was checked. A session checks nothing: commitments do.
    #[serde(default, skip_serializing_if = "Evidence::is_none")]
    pub evidence: Evidence,
}

/// How far work was checked. A check counts that passed, and since whose begin no file changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// No check counts, or there was none.
    #[default]
    Unverified,
    /// Some checks count, not all.
    PartlyVerified,
    /// All checks count.
    Verified,
}

impl Evidence {
    /// That so many checks count, of so many.
    #[must_use]
    pub const fn of(counting: usize, all: usize) -> Self {
        match counting {
            0 => Self::Unverified,
            _ if counting < all => Self::PartlyVerified,
            _ => Self::Verified,
        }
    }

    /// In words: `verified`, `partly verified`, `unverified`.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Unverified => "unverified",
            Self::PartlyVerified => "partly verified",
            Self::Verified => "verified",
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    const fn is_none(&self) -> bool {
        matches!(self, Self::Unverified)
    }
}

impl Outcome {
    /// An outcome of this kind without text, error or denials.
    #[must_use]
    pub const fn new(kind: OutcomeKind) -> Self {
        Self { kind, text: String::new(), error: None, denials: Vec::new(), evidence: Evidence::Unverified }
    }
}

/// The outcome of a run. The numbers are the exit codes of a headless run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OutcomeKind {
    /// The model ended its turn.
    Success,
    /// It failed for a reason that has no kind of its own.
    Failed,
    /// The provider refused the key, or no key is set.
    Authentication,
    /// A limit on calls ended it.
    CallLimit,
    /// A limit on money, tokens or time ended it.
    Budget,
    /// A call was denied because no one could be asked.
    Permission,
    /// The provider gave up, or its answer could not be used.
    Provider,
    /// The model ended its turn, but a commitment was not kept.
    VerificationFailed,
    /// The agent waits for an answer, and no one is there to give it.
    Waiting,
    /// It was interrupted.
    Cancelled,
}

impl OutcomeKind {
    /// The exit code of a headless run.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failed => 1,
            Self::Authentication => 41,
            Self::CallLimit => 53,
            Self::Budget => 60,
            Self::Permission => 61,
            Self::Provider => 62,
            Self::VerificationFailed => 63,
            Self::Waiting => 64,
            Self::Cancelled => 130,
        }
    }

    /// The word for it in machine-readable output.
    #[must_use]
    pub const fn subtype(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failed | Self::Provider => "error_during_execution",
            Self::Authentication => "error_authentication",
            Self::CallLimit => "error_max_turns",
            Self::Budget => "error_max_budget",
            Self::Permission => "error_permission",
            Self::VerificationFailed => "verification_failed",
            Self::Waiting => "waiting",
            Self::Cancelled => "cancelled",
        }
    }
}

/// The run that is going on, or the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct LastRun(Option<Run>);

impl LastRun {
    /// A run begins. Messages that were typed ahead belong to the one that is going on.
    pub(super) fn begin(&mut self) {
        if self.0.as_ref().is_none_or(|run| run.finished) {
            self.0 = Some(Run::default());
        }
    }

    /// The run that is going on, or the last one; there is one from here on.
    pub(super) fn current(&mut self) -> &mut Run {
        self.0.get_or_insert_default()
    }

    /// The run that is going on.
    pub(super) fn unfinished(&mut self) -> Option<&mut Run> {
        self.0.as_mut().filter(|run| !run.finished)
    }

    /// The last run, if none is going on.
    pub(super) fn finished(&self) -> Option<&Run> {
        self.0.as_ref().filter(|run| run.finished)
    }

    /// Whether one is going on that is to send something.
    pub(super) fn is_at_work(&self) -> bool {
        self.0.as_ref().is_some_and(|run| !run.finished && !run.is_summary)
    }

    /// The model's last text.
    pub(super) fn text(&self) -> &str {
        self.0.as_ref().map_or("", |run| &run.text)
    }
}

/// What happened in the run so far that matters for its outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Run {
    text: String,
    denials: Vec<Denial>,
    ending: Option<Ending>,
    error: Option<String>,
    finished: bool,
    /// The time that its last turn used, in milliseconds, where that is limited.
    #[serde(default, skip_serializing_if = "is_zero")]
    used_ms: u64,
    /// Whether the user asked for a summary and for nothing else: how it ends says nothing about the work before it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    is_summary: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
const fn is_zero(used_ms: &u64) -> bool {
    *used_ms == 0
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Ending {
    Cancelled,
    HookStopped,
    Limit(LimitKind),
    Llm(LlmErrorKind),
    Unusable,
}

impl super::Session {
    /// The limit that ended the last run, if one did.
    #[must_use]
    pub fn ended_by_limit(&self) -> Option<LimitKind> {
        self.run.finished().and_then(Run::limit_kind)
    }
}

impl Run {
    pub(super) fn outcome(&self) -> Outcome {
        let (text, error, denials) = (self.text.clone(), self.error.clone(), self.denials.clone());
        Outcome { text, error, denials, ..Outcome::new(self.kind()) }
    }

    pub(super) fn limit(&mut self, reached: &LimitReached) {
        self.end(Ending::Limit(reached.kind));
    }

    /// The outcome, unless the turn continues.
    pub(super) fn end(&mut self, ending: Ending) {
        self.ending = Some(ending);
    }

    /// What it failed for.
    pub(super) fn fail(&mut self, error: String) {
        self.error = Some(error);
    }

    /// Calls were not allowed to run.
    pub(super) fn deny(&mut self, denials: impl IntoIterator<Item = Denial>) {
        self.denials.extend(denials);
    }

    /// The model's last text.
    pub(super) const fn text_mut(&mut self) -> &mut String {
        &mut self.text
    }

    /// The user asked for a summary and for nothing else.
    pub(super) const fn is_for_summary(&mut self) {
        self.is_summary = true;
    }

    /// It has ended. Whether a limit ended it that can be raised, if it was to send something.
    pub(super) fn finish(&mut self, used_ms: u64) -> Option<bool> {
        (self.finished, self.used_ms) = (true, used_ms);
        (!self.is_summary).then(|| self.is_stopped_by_limit())
    }

    /// The time that its last turn used.
    pub(super) const fn used_ms(&self) -> u64 {
        self.used_ms
    }

    const fn limit_kind(&self) -> Option<LimitKind> {
        match self.ending {
            Some(Ending::Limit(kind)) => Some(kind),
            Some(Ending::Cancelled | Ending::HookStopped | Ending::Llm(_) | Ending::Unusable) | None => None,
        }
    }

    /// What it does from here on is another turn's: how it came here does not count.
    pub(super) fn go_on(&mut self) {
        (self.ending, self.error, self.is_summary) = (None, None, false);
    }

    /// Whether a limit ended it that, once raised, lets it continue. A timeout stops what is in flight, as the user does: nothing is held
    /// back by it, and the session waits for the user.
    const fn is_stopped_by_limit(&self) -> bool {
        match &self.ending {
            Some(Ending::Limit(kind)) => match kind {
                LimitKind::ModelCalls
                | LimitKind::ToolCalls
                | LimitKind::TotalTokens
                | LimitKind::Cost
                | LimitKind::FailuresInRow
                | LimitKind::Repetitions => true,
                LimitKind::WallTime => false,
            },
            Some(Ending::Cancelled | Ending::HookStopped | Ending::Llm(_) | Ending::Unusable) | None => false,
        }
    }

    fn kind(&self) -> OutcomeKind {
        match &self.ending {
            Some(Ending::Cancelled) => OutcomeKind::Cancelled,
            Some(Ending::HookStopped) => OutcomeKind::Failed,
            Some(Ending::Limit(LimitKind::Cost | LimitKind::TotalTokens | LimitKind::WallTime)) => OutcomeKind::Budget,
            Some(Ending::Limit(
                LimitKind::ModelCalls | LimitKind::ToolCalls | LimitKind::FailuresInRow | LimitKind::Repetitions,
            )) => OutcomeKind::CallLimit,
            Some(Ending::Llm(LlmErrorKind::Authentication)) => OutcomeKind::Authentication,
            Some(Ending::Llm(_) | Ending::Unusable) => OutcomeKind::Provider,
            None if self.denials.iter().any(|denial| denial.nobody_to_ask) => OutcomeKind::Permission,
            None => OutcomeKind::Success,
        }
    }
}
