//! What the calls of an answer say about the model's progress: counted in call order, whatever the order in which they end, so that an
//! answer with very many calls that fail, or that are the same, is not worked off whole.

use super::super::loops::{Most, Progress};
use super::{Batch, Status, not_run};
use crate::conversation::{CallId, ToolCall};
use crate::permission::Permissions;
use crate::tool::ToolStatus;
use alloc::borrow::Cow;
use serde::{Deserialize, Serialize};

/// What a call that has ended says about the model's progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::session) enum Counts {
    /// Nothing: it was not its turn any more.
    #[default]
    Nothing,
    /// It may be a repetition, and is not a failure of the model: a person said no, or it never began.
    Repetition,
    /// It failed, or could not have been run.
    Failure,
    /// It ran.
    Success,
}

/// What is to be known of a batch when one of its calls has ended.
pub(in crate::session) struct Count<'a> {
    pub(in crate::session) call: &'a CallId,
    /// Nothing where it is going to run.
    pub(in crate::session) ended: Option<Ended<'a>>,
    /// Where those stand that are counted already.
    pub(in crate::session) before: Progress,
    /// So many, and no further one runs.
    pub(in crate::session) most: Most,
    pub(in crate::session) permissions: &'a Permissions,
}

/// How a call ended: what that counts, and what the model reads.
pub(in crate::session) type Ended<'a> = (Counts, Cow<'a, str>);

impl Counts {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
    pub(super) const fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    /// What a call counts that ended like this.
    pub(in crate::session) const fn of(status: ToolStatus) -> Self {
        match status {
            ToolStatus::Failed => Self::Failure,
            ToolStatus::Ok | ToolStatus::Interrupted => Self::Success,
            ToolStatus::NotRun => Self::Repetition,
        }
    }

    /// Failing calls in a row, this one included.
    pub(in crate::session) const fn failures_after(self, before: u32) -> u32 {
        match self {
            Self::Failure => before.saturating_add(1),
            Self::Success => 0,
            Self::Nothing | Self::Repetition => before,
        }
    }
}

impl Batch {
    /// Calls that were given to the driver and are not answered. Groups are cut in call order: a waiting call comes after the running ones.
    pub(in crate::session) fn begun(&self) -> impl Iterator<Item = &ToolCall> {
        let begun = self.rest().iter().take_while(|open| open.status != Status::Cleared);
        begun.filter(|open| open.status == Status::Emitted).map(|open| &open.call)
    }

    /// The inspection failed, so none of the calls runs.
    pub(in crate::session) fn fail(&mut self, why: &str) {
        for open in self.calls.iter_mut().filter(|open| open.status == Status::New) {
            open.answer(not_run(why), Counts::Failure);
        }
    }

    /// The next call that has ended and was not counted yet, in call order, with what the model reads. One that may still run stops this.
    pub(in crate::session) fn count_next(&mut self) -> Option<(Counts, &ToolCall, &str)> {
        let open = self.calls.get(self.counted)?;
        let Status::Answered { content, .. } = &open.status else { return None };
        self.counted += 1;
        Some((open.counts, &open.call, content))
    }

    /// Whether the calls will have gone in circles for too long before the next one that may run, when this one has ended so; nothing
    /// stands for one that may run. In call order, whatever the order in which calls end.
    pub(in crate::session) fn will_be_cut(&self, so: &Count<'_>) -> bool {
        let mut progress = so.before;
        for open in self.rest() {
            let (counts, content) = match (&open.status, &so.ended) {
                (Status::Answered { content, .. }, _) => (open.counts, content.as_str()),
                (_, Some((counts, content))) if open.call.id == *so.call => (*counts, content.as_ref()),
                (_, None) if open.call.id == *so.call => return false,
                (Status::Cleared, _) if open.forbidden_by(so.permissions).is_some() => continue,
                (Status::New | Status::Asked(_) | Status::Cleared | Status::Emitted, _) => return false,
            };
            if counts == Counts::Nothing {
                continue;
            }
            progress.count(counts, &open.call, content);
            if so.most.reached(&progress).is_some() {
                return true;
            }
        }
        false
    }

    /// No further call is run, and of one that could not run nothing more is said. What ran beside those that failed stays.
    pub(in crate::session) fn cut(&mut self, why: &str) {
        for open in self.calls.get_mut(self.counted..).unwrap_or_default() {
            match &open.status {
                Status::Answered { .. } if open.ran.is_some() || open.counts != Counts::Failure => {}
                Status::New | Status::Asked(_) | Status::Cleared | Status::Emitted | Status::Answered { .. } => {
                    open.answer(not_run(why), Counts::Nothing);
                }
            }
        }
    }
}
