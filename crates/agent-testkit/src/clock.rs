//! Clocks for tests: one that a test moves by hand, and one that follows tokio's time.

use agent_core::ports::Clock;
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// Time that stands still until a test moves it. Clones are the same clock.
///
/// Sleepers whose time has come wake when the test's task next waits. When time jumps over several deadlines, all of them wake with
/// the clock at the end of the jump; [`advance_to_next`](Self::advance_to_next) goes from one to the next.
#[derive(Clone, Debug)]
pub struct ManualClock {
    time: watch::Sender<Time>,
}

#[derive(Debug)]
struct Time {
    now_ms: u64,
    /// Deadlines by sleeper.
    sleepers: BTreeMap<u64, u64>,
    next_sleeper: u64,
}

impl ManualClock {
    /// A clock that shows that many milliseconds since the Unix epoch.
    #[must_use]
    pub fn new(now_ms: u64) -> Self {
        Self { time: watch::Sender::new(Time { now_ms, sleepers: BTreeMap::new(), next_sleeper: 0 }) }
    }

    /// Moves time on by that many milliseconds; it stops at the end of time.
    pub fn advance_ms(&self, duration_ms: u64) {
        self.time.send_modify(|time| time.now_ms = time.now_ms.saturating_add(duration_ms));
    }

    /// Moves time to the earliest deadline of a sleeper and returns by how many milliseconds; nothing without a sleeper.
    pub fn advance_to_next(&self) -> Option<u64> {
        let mut moved_ms = None;
        self.time.send_modify(|time| {
            if let Some(deadline_ms) = time.sleepers.values().min().copied() {
                moved_ms = Some(deadline_ms.saturating_sub(time.now_ms));
                time.now_ms = time.now_ms.max(deadline_ms);
            }
        });
        moved_ms
    }

    /// When the sleepers want to wake, in milliseconds since the Unix epoch, earliest first.
    #[must_use]
    pub fn deadlines_ms(&self) -> Vec<u64> {
        let mut deadlines: Vec<u64> = self.time.borrow().sleepers.values().copied().collect();
        deadlines.sort_unstable();
        deadlines
    }

    /// Resolves when at least so many are asleep.
    pub async fn wait_for_sleepers(&self, count: usize) {
        let mut time = self.time.subscribe();
        // The sender lives in `self`, so waiting cannot fail.
        let _ = time.wait_for(|time| time.sleepers.len() >= count).await;
    }

    fn fall_asleep(&self, duration_ms: u64) -> (Sleeper<'_>, u64) {
        let mut sleeper = (0, 0);
        self.time.send_modify(|time| {
            sleeper = (time.next_sleeper, time.now_ms.saturating_add(duration_ms));
            time.sleepers.insert(sleeper.0, sleeper.1);
            time.next_sleeper += 1;
        });
        let (id, deadline_ms) = sleeper;
        (Sleeper { clock: self, id }, deadline_ms)
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now_ms(&self) -> u64 {
        self.time.borrow().now_ms
    }

    async fn sleep_ms(&self, duration_ms: u64) {
        let mut time = self.time.subscribe();
        let (_sleeper, deadline_ms) = self.fall_asleep(duration_ms);
        let _ = time.wait_for(|time| time.now_ms >= deadline_ms).await;
    }
}

/// Takes a sleeper off the list when it wakes or is dropped.
struct Sleeper<'a> {
    clock: &'a ManualClock,
    id: u64,
}

impl Drop for Sleeper<'_> {
    fn drop(&mut self) {
        self.clock.time.send_modify(|time| {
            time.sleepers.remove(&self.id);
        });
    }
}

/// Time as tokio sees it, counted from a given moment.
///
/// With tokio's time paused it moves by itself, and only when nothing else can run: waiting costs nothing and a time-out does not
/// overtake the work that it guards.
#[derive(Clone, Copy, Debug)]
pub struct TokioClock {
    start_ms: u64,
    started: Instant,
}

impl TokioClock {
    /// A clock that shows that many milliseconds since the Unix epoch now.
    #[must_use]
    pub fn new(start_ms: u64) -> Self {
        Self { start_ms, started: Instant::now() }
    }
}

#[async_trait]
impl Clock for TokioClock {
    fn now_ms(&self) -> u64 {
        let elapsed_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.start_ms.saturating_add(elapsed_ms)
    }

    async fn sleep_ms(&self, duration_ms: u64) {
        tokio::time::sleep(Duration::from_millis(duration_ms)).await;
    }
}
