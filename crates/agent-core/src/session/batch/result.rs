//! What comes of calls, in the words that the model reads.

use super::{Batch, Counts, OpenCall, Status};
use crate::conversation::{CallId, ItemError, NO_OUTPUT, Round, ToolResult, cut, non_blank};
use crate::tool::{ToolOutcome, ToolStatus};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

impl Batch {
    /// Takes the outcome of a running call in.
    pub(in crate::session) fn complete(&mut self, call: &CallId, outcome: ToolOutcome, limit_bytes: usize) {
        let ToolOutcome { status, content, changed_paths: _, pictures, instructions: _ } = outcome;
        let Some(at) = self.place(call) else { return };
        let Some(open) = self.calls.get_mut(at) else { return };
        self.places.note_end(at);
        let content = told(status, Cow::Owned(content), limit_bytes).into_owned();
        open.pictures = pictures;
        open.counts = Counts::of(status);
        open.ran = (status != ToolStatus::NotRun).then_some(status);
        open.status = Status::Answered { content, is_error: status != ToolStatus::Ok };
    }

    /// Closes the batch: what never ran is answered with the reason, what runs as interrupted.
    pub(in crate::session) fn close(self, why: &str) -> Result<Round, ItemError> {
        let results = self.calls.into_iter().map(|open| {
            let told = open.told_change();
            let (content, is_error) = match open.status {
                Status::New | Status::Asked(_) | Status::Cleared => (not_run(why), true),
                Status::Emitted => (format!("interrupted, outcome unknown ({why})"), true),
                Status::Answered { content, is_error } => (content, is_error),
            };
            let content = match told {
                Some(told) => format!("{told}\n{content}"),
                None => content,
            };
            ToolResult::new(open.call.id, content, is_error).with_pictures(open.pictures)
        });
        // Room of its own size: collected as they stand they would keep the larger one of the open calls, as long as the history.
        let mut kept = Vec::with_capacity(results.len());
        kept.extend(results);
        Round::new(self.answer, kept)
    }
}

impl OpenCall {
    /// That it ran with other arguments than the model's, which are in the history: the result must say which, or it reads as one of
    /// the model's own call.
    pub(super) fn told_change(&self) -> Option<String> {
        let has_begun = self.ran.is_some() || self.status == Status::Emitted;
        let arguments = self.call.arguments.as_str();
        let shown = || cut(arguments, CHANGE_LIMIT_BYTES).unwrap_or_else(|| arguments.to_string());
        (self.is_changed && has_begun).then(|| format!("[The user changed the arguments; it ran with {}]", shown()))
    }
}

/// What the model reads of a call that ended so.
pub(in crate::session) fn told(status: ToolStatus, content: Cow<'_, str>, limit_bytes: usize) -> Cow<'_, str> {
    let told = cut(&content, limit_bytes).map_or(content, Cow::Owned);
    match status {
        ToolStatus::NotRun => Cow::Owned(not_run(&told)),
        ToolStatus::Ok | ToolStatus::Failed if !non_blank(&told) => Cow::Borrowed(NO_OUTPUT),
        ToolStatus::Ok | ToolStatus::Failed => told,
        ToolStatus::Interrupted if !non_blank(&told) => Cow::Borrowed("interrupted, outcome unknown"),
        ToolStatus::Interrupted => Cow::Owned(format!("interrupted, outcome unknown\n{told}")),
    }
}

/// The message to the model about a call that never ran.
pub(super) fn not_run(why: &str) -> String {
    format!("not run: {why}")
}

/// Most bytes of changed arguments that the model is shown.
const CHANGE_LIMIT_BYTES: usize = 8 * 1024;
