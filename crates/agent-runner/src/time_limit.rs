//! The limit of time over a message: the session keeps it over each of its turns, this over the checks behind them and what follows.

use crate::supervisor::Message;
use agent_core::link;
use agent_core::ports::Clock;
use agent_core::session::Transition;
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

/// A watch that is read when checks begin. Waiting for approvals does not count, nor does what was before a restart.
pub(crate) struct TimeLimit {
    limit_ms: Option<u64>,
    began_ms: u64,
    /// Approvals since then: their time, and since when one is open.
    held_ms: u64,
    held_since_ms: Option<u64>,
    /// Whether checks have begun since the message.
    is_watched: bool,
    /// Stops the timer when it is dropped.
    timer: Option<DropGuard>,
    /// The number of the last timer: what an earlier one sends is late.
    last: u64,
}

impl TimeLimit {
    pub(crate) const fn new(limit_ms: Option<u64>, now_ms: u64) -> Self {
        Self { limit_ms, began_ms: now_ms, held_ms: 0, held_since_ms: None, is_watched: false, timer: None, last: 0 }
    }

    /// A message begins.
    pub(crate) fn begin(&mut self, now_ms: u64) {
        *self = Self { last: self.last, ..Self::new(self.limit_ms, now_ms) };
    }

    /// Checks begin: from now on it is kept until the agent rests.
    pub(crate) fn watch(&mut self, clock: &Arc<dyn Clock>, tasks: &TaskTracker, inbox: &Inbox) {
        self.is_watched = true;
        self.start(clock, tasks, inbox);
    }

    /// The agent rests.
    pub(crate) fn end(&mut self) {
        (self.is_watched, self.timer) = (false, None);
    }

    pub(crate) fn session_moved(
        &mut self,
        step: &Transition,
        clock: &Arc<dyn Clock>,
        tasks: &TaskTracker,
        inbox: &Inbox,
    ) {
        match (self.held_since_ms.is_some(), link::waits_for_person(step)) {
            (false, true) => (self.held_since_ms, self.timer) = (Some(clock.now_ms()), None),
            (true, false) => {
                let since_ms = self.held_since_ms.take().unwrap_or(clock.now_ms());
                self.held_ms += clock.now_ms().saturating_sub(since_ms);
                if self.is_watched {
                    self.start(clock, tasks, inbox);
                }
            }
            _ => {}
        }
    }

    /// The limit, if what a timer sent says that it is reached.
    pub(crate) fn reached_ms(&self, number: u64) -> Option<u64> {
        self.limit_ms.filter(|_| self.timer.is_some() && self.last == number)
    }

    fn start(&mut self, clock: &Arc<dyn Clock>, tasks: &TaskTracker, inbox: &Inbox) {
        let (Some(limit_ms), Some(inbox)) = (self.limit_ms, inbox.upgrade()) else { return };
        let used_ms = clock.now_ms().saturating_sub(self.began_ms).saturating_sub(self.held_ms);
        let left_ms = limit_ms.saturating_sub(used_ms);
        let stop = CancellationToken::new();
        self.last += 1;
        let (number, clock, stopped) = (self.last, Arc::clone(clock), stop.clone());
        tasks.spawn(async move {
            tokio::select! {
                () = stopped.cancelled() => {}
                () = clock.sleep_ms(left_ms) => {
                    // A supervisor that has ended needs it no more.
                    let _ = inbox.send(Message::TimeIsUp(number));
                }
            }
        });
        self.timer = Some(stop.drop_guard());
    }
}

type Inbox = mpsc::WeakUnboundedSender<Message>;
