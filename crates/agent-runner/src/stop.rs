//! Stopping what runs: the signal that tools and hooks know, and how long they must end by themselves.

use agent_core::ports::CancelSignal;
use async_trait::async_trait;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Resolves a moment after stopping was asked for.
pub(crate) async fn past_grace(stop: &CancellationToken) {
    stop.cancelled().await;
    tokio::time::sleep(Duration::from_millis(GRACE_MS)).await;
}

/// A token as the port that tools know.
pub(crate) struct Stop(pub(crate) CancellationToken);

#[async_trait]
impl CancelSignal for Stop {
    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    async fn cancelled(&self) {
        self.0.cancelled().await;
    }
}

/// How long a tool or hook may take to end after a cancel, in milliseconds.
pub(crate) const GRACE_MS: u64 = 180;
