//! What a driver hands to a running tool, made by hand.

use crate::log::Log;
use agent_core::permission::Exclusions;
use agent_core::ports::{CancelSignal, ProgressSink, ToolContext};
use agent_core::tool::Effect;
use async_trait::async_trait;
use std::sync::Arc;
use tokio::sync::watch;

/// A context for running a tool without a driver: the signal to stop it, and what it reports.
#[must_use]
pub fn tool_context() -> (ToolContext, ManualCancel, RecordingProgress) {
    let cancel = ManualCancel::new();
    let progress = RecordingProgress::default();
    let context = ToolContext {
        progress: Arc::new(progress.clone()),
        cancel: Arc::new(cancel.clone()),
        exclusions: Exclusions::default(),
        effect: Effect::Changes,
        known: Default::default(),
        opening: None,
    };
    (context, cancel, progress)
}

/// A signal that fires when the test says so. Clones are the same signal.
#[derive(Clone, Debug)]
pub struct ManualCancel {
    fired: watch::Sender<bool>,
}

impl ManualCancel {
    /// A signal that has not fired.
    #[must_use]
    pub fn new() -> Self {
        Self { fired: watch::Sender::new(false) }
    }

    /// Fires it. Firing again changes nothing.
    pub fn cancel(&self) {
        self.fired.send_replace(true);
    }
}

impl Default for ManualCancel {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl CancelSignal for ManualCancel {
    fn is_cancelled(&self) -> bool {
        *self.fired.borrow()
    }

    async fn cancelled(&self) {
        // The sender lives in `self`, so waiting cannot fail before the signal fires.
        let _ = self.fired.subscribe().wait_for(|fired| *fired).await;
    }
}

/// Keeps what a tool reports. Clones share what they keep.
#[derive(Clone, Debug, Default)]
pub struct RecordingProgress {
    reports: Log<String>,
}

impl RecordingProgress {
    /// The reports so far.
    #[must_use]
    pub fn reports(&self) -> Vec<String> {
        self.reports.all()
    }
}

impl ProgressSink for RecordingProgress {
    fn report(&self, text: &str) {
        self.reports.push(text.to_owned());
    }
}
