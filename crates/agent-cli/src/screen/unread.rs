//! The program's last wait: for the reader to take what is still to be written.
//!
//! It lasts as long as the reader takes; after a signal, behind an editor that has closed its end, or where the run's time is up,
//! [`PATIENCE`] at most; after a second signal no longer than a reader needs who is there.

use crate::screen::signals::{Signal, Signals};
use crate::screen::terminal;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep_until, timeout};

/// Waits, and returns the exit code: the one that the work came to, or that of a signal which left something unread that the work had not.
pub(crate) async fn wait(code: u8, is_time_up: bool) -> u8 {
    let was_signalled = SIGNALLED.load(Relaxed);
    let is_hurried = is_time_up || was_signalled || [Signal::Interrupt, Signal::Terminate].map(code_of).contains(&code);
    if is_hurried {
        no_longer_than(if AT_ONCE.load(Relaxed) { A_MOMENT } else { PATIENCE });
    }
    let mut signals = Signals::again();
    let mut left_by = None;
    loop {
        tokio::select! {
            biased;
            () = terminal::written() => return code,
            () = end_of_patience() => break,
            Some(signal) = signals.recv() => {
                let is_first = left_by.is_none() && !is_hurried;
                no_longer_than(if is_first { PATIENCE } else { Duration::ZERO });
                left_by = Some(signal);
            }
        }
    }
    match left_by {
        Some(signal) if !is_hurried => code_of(signal),
        // The work had ended when the signal came; what nobody read is no success all the same.
        Some(_) | None if was_signalled && code == 0 => code_of(Signal::Interrupt),
        Some(_) | None => code,
    }
}

/// A signal was taken while the work went on: at its end no reader is waited for without limit.
pub(crate) fn signalled() {
    SIGNALLED.store(true, Relaxed);
}

/// The reader has said that it leaves: it may have stopped reading, and is not waited for without limit.
pub(crate) fn reader_leaves() {
    no_longer_than(PATIENCE);
}

/// From now on the program is to be left at once: two signals said so.
pub(crate) fn leave_at_once() {
    AT_ONCE.store(true, Relaxed);
}

/// The same, last of all: what is lost then is said, since standard error may have a reader where standard output has none.
pub(crate) async fn end(code: u8) -> u8 {
    let code = wait(code, false).await;
    // Of what is being written nobody knows how much was taken.
    let bytes = terminal::unread_bytes();
    if bytes > 0 {
        terminal::say(&format!("agent: the rest of the output was not read: up to {bytes} bytes are lost"));
        a_moment().await;
    }
    code
}

/// Waits for what takes no time where somebody reads, or nobody can any more; and for no reader that takes his time.
pub(crate) async fn a_moment() {
    let _ = timeout(A_MOMENT, terminal::written()).await;
}

fn code_of(signal: Signal) -> u8 {
    signal.failure().code
}

fn no_longer_than(patience: Duration) {
    let until = Instant::now() + patience;
    let mut ends = END.lock().unwrap_or_else(PoisonError::into_inner);
    *ends = Some(ends.map_or(until, |before| before.min(until)));
}

async fn end_of_patience() {
    let end = *END.lock().unwrap_or_else(PoisonError::into_inner);
    match end {
        Some(end) => sleep_until(end).await,
        None => std::future::pending().await,
    }
}

static AT_ONCE: AtomicBool = AtomicBool::new(false);
static SIGNALLED: AtomicBool = AtomicBool::new(false);
/// When the wait ends, once that is settled: what is waited for behind a result does not begin anew.
static END: Mutex<Option<Instant>> = Mutex::new(None);
const PATIENCE: Duration = Duration::from_secs(2);
const A_MOMENT: Duration = Duration::from_millis(300);
