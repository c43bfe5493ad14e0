//! The system's time.

use agent_core::ports::Clock;
use async_trait::async_trait;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// Wall-clock time that runs at the pace of tokio's clock: it cannot jump backwards, and in tests it stands still with tokio's.
#[derive(Clone, Debug)]
pub struct SystemClock {
    epoch_ms: u64,
    started: Instant,
}

impl SystemClock {
    /// A clock that starts at the system's time.
    #[must_use]
    pub fn new() -> Self {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { epoch_ms: to_ms(since_epoch), started: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Clock for SystemClock {
    fn now_ms(&self) -> u64 {
        self.epoch_ms.saturating_add(to_ms(self.started.elapsed()))
    }

    async fn sleep_ms(&self, duration_ms: u64) {
        tokio::time::sleep(Duration::from_millis(duration_ms)).await;
    }
}

fn to_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
