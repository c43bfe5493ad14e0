//! Model calls: which model is asked, with what, and how often in vain.

use super::replaced::Replaced;
use alloc::boxed::Box;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// The model call in flight, or the next one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ModelCalls {
    /// Where the model stands among those that are configured.
    model_index: usize,
    /// What the model in flight was called with, while another configuration has come since.
    #[serde(default, rename = "replaced_model", skip_serializing_if = "Option::is_none")]
    replaced: Option<Box<Replaced>>,
    failed_attempts: u32,
    retry: Option<Box<Retry>>,
    /// Times in a row that an answer was paused.
    pauses: u32,
}

impl ModelCalls {
    /// A turn begins: with the first model, and nothing has failed.
    pub(super) const fn begin_turn(&mut self) {
        (self.failed_attempts, self.model_index, self.pauses) = (0, 0, 0);
    }

    /// A turn has ended: the next one begins with the first model.
    pub(super) const fn end_turn(&mut self) {
        self.model_index = 0;
    }

    /// Where the model stands among those that are configured.
    pub(super) const fn model_index(&self) -> usize {
        self.model_index
    }

    /// What the model in flight was called with, if another configuration has come since.
    pub(super) fn replaced(&self) -> Option<&Replaced> {
        self.replaced.as_deref()
    }

    /// Another configuration has come. What the call in flight was made with is kept where it is another.
    pub(super) fn reconfigure(&mut self, asked: Option<Box<Replaced>>) {
        (self.replaced, self.model_index) = (asked, 0);
    }

    /// What the call in flight was made with before the last configuration.
    pub(super) const fn take_replaced(&mut self) -> Option<Box<Replaced>> {
        self.replaced.take()
    }

    /// A call is made, as it is configured now.
    pub(super) fn begin(&mut self) {
        self.replaced = None;
    }

    /// Another model takes over.
    pub(super) fn fall_back(&mut self, model_index: usize) {
        (self.model_index, self.replaced, self.failed_attempts) = (model_index, None, 0);
    }

    /// How many calls failed in a row.
    pub(super) const fn failed_attempts(&self) -> u32 {
        self.failed_attempts
    }

    /// How many calls failed in a row, if this one does.
    pub(super) const fn attempt(&self) -> u32 {
        self.failed_attempts.saturating_add(1)
    }

    /// The call failed, and is repeated after a while.
    pub(super) fn fail(&mut self, delay_ms: u64, reason: String) {
        self.failed_attempts = self.attempt();
        self.retry = Some(Box::new(Retry { delay_ms, reason }));
    }

    /// The wait before a repetition.
    pub(super) fn retry(&self) -> Option<&Retry> {
        self.retry.as_deref()
    }

    /// The wait is over, or cancelled.
    pub(super) fn end_wait(&mut self) {
        self.retry = None;
    }

    /// A call succeeded.
    pub(super) const fn succeed(&mut self) {
        self.failed_attempts = 0;
    }

    /// The answer is whole.
    pub(super) const fn complete(&mut self) {
        self.pauses = 0;
    }

    /// The answer was paused.
    pub(super) const fn pause(&mut self) {
        self.pauses = self.pauses.saturating_add(1);
    }

    /// Whether an answer may be paused once more.
    pub(super) const fn may_pause(&self) -> bool {
        self.pauses < MAX_PAUSES
    }
}

/// The wait before a repetition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Retry {
    pub(super) delay_ms: u64,
    pub(super) reason: String,
}

/// Times in a row that an answer may be paused.
const MAX_PAUSES: u32 = 8;
