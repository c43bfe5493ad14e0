//! On which thread to wait for the disk.
//!
//! Handing the wait to another thread and being woken by it takes some 40 µs, a quarter of what a quick disk takes itself. So a disk that
//! has been quick is waited for on the thread that asks. Whatever else runs there, Ctrl-C, deltas and timers among it, then waits as long
//! as the disk does. One answer that is late is therefore enough to go back to the other thread, until the disk has been quick for a while.
//! A disk that is always slow never holds up more than its own session.

use crate::runtime::start_blocking;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// What is known of the disk. A clone shares it.
#[derive(Clone, Debug, Default)]
pub(super) struct DiskWait {
    /// How often in a row it answered in time.
    quick: Arc<AtomicU32>,
}

impl DiskWait {
    /// Does what waits for the disk: here, or on a thread for blocking work. When this future is dropped, what began is done all the same.
    pub(super) async fn run(&self, wait: impl FnOnce() -> io::Result<()> + Send + 'static) -> io::Result<()> {
        let timed = move || {
            let start = Instant::now();
            let answer = wait();
            (answer, start.elapsed())
        };
        let (answer, took) = match self.quick.load(Ordering::Relaxed) >= TRUSTED {
            true => timed(),
            false => start_blocking(timed)?.await?,
        };
        if took < QUICK {
            // It stops where it is enough: a sum that overflows would be no trust at all.
            let more = |quick: u32| (quick < TRUSTED).then_some(quick + 1);
            let _ = self.quick.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        } else {
            self.quick.store(0, Ordering::Relaxed);
        }
        answer
    }
}

/// In time: a frame of a terminal takes longer, and a Ctrl-C that is read this much later feels immediate.
const QUICK: Duration = Duration::from_millis(1);
/// So many quick answers in a row, and the next one is waited for here.
const TRUSTED: u32 = 16;

#[cfg(test)]
mod tests {
    use super::{DiskWait, QUICK, TRUSTED};
    use std::io;
    use std::sync::atomic::Ordering;
    use std::sync::{Arc, Mutex};
    use std::thread::{self, ThreadId};
    use std::time::Duration;

    /// Where a disk that takes so long was waited for.
    async fn waited_on(wait: &DiskWait, takes: Duration) -> ThreadId {
        let place = Arc::new(Mutex::new(None));
        let told = place.clone();
        let answer = wait.run(move || {
            thread::sleep(takes);
            *told.lock().unwrap() = Some(thread::current().id());
            Ok(())
        });
        answer.await.unwrap();
        place.lock().unwrap().unwrap()
    }

    #[tokio::test]
    async fn a_slow_disk_is_never_waited_for_here() {
        let wait = DiskWait::default();
        for _ in 0..2 * TRUSTED {
            assert_ne!(waited_on(&wait, QUICK).await, thread::current().id());
        }
    }

    #[tokio::test]
    async fn a_disk_that_was_quick_is_waited_for_here_until_it_is_late_once() {
        let wait = DiskWait { quick: Arc::new(TRUSTED.into()) };
        assert_eq!(waited_on(&wait, QUICK).await, thread::current().id());
        for _ in 0..2 {
            assert_ne!(waited_on(&wait, QUICK).await, thread::current().id());
        }
    }

    #[tokio::test]
    async fn quick_answers_are_counted_and_errors_told() {
        let wait = DiskWait::default();
        // Another program may hold up any single one.
        for _ in 0..10_000 {
            let _ = wait.run(|| Ok(())).await;
            if wait.quick.load(Ordering::Relaxed) == TRUSTED {
                break;
            }
        }
        assert_eq!(wait.quick.load(Ordering::Relaxed), TRUSTED);
        for quick in [TRUSTED, 0] {
            wait.quick.store(quick, Ordering::Relaxed);
            let error = wait.run(|| Err(io::Error::other("no space left"))).await.unwrap_err();
            assert_eq!(error.to_string(), "no space left");
        }
    }
}
