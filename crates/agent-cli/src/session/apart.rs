//! Work that may take its time, apart from the thread that listens for signals: a signal must not wait for a disk, a program or a lock.

use crate::config::options::{Options, Seat};
use crate::config::settings::Settings;
use crate::failure::Failure;
use crate::model::provider::Chosen;
use crate::screen::signals::{Signal, Signals};
use crate::screen::unread;
use crate::session::kept;
use crate::session::setup::{self, Opened};
use agent_core::lifecycle::Commitment;
use agent_core::ports::Approver;
use std::sync::Arc;
use tokio::task::{JoinError, JoinHandle};

/// Does it on another thread. An abandoned one ends with the program.
pub(crate) async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
    let working = tokio::task::spawn_blocking(work).await;
    working.map_err(|error| Failure::internal(format!("cannot set up the session: {error}")))
}

/// Waits for what has to be done before a session begins, or for a signal.
pub(crate) async fn unless_signalled<T>(
    signals: &mut Signals,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::select! {
        biased;
        Some(signal) = signals.recv() => Err(signal.failure()),
        done = work => done,
    }
}

/// What holds for a session.
pub(crate) async fn settings(options: &Options, seat: Seat) -> Result<Settings, Failure> {
    let options = options.clone();
    apart(move || {
        kept::check_named(&options)?;
        Settings::resolve(&options, seat)
    })
    .await?
}

/// Opens the session.
pub(crate) async fn opened(
    settings: Settings,
    options: &Options,
    chosen: Chosen,
    approver: Option<Arc<dyn Approver>>,
    commitments: Vec<Commitment>,
) -> Result<(Opened, Settings), Failure> {
    let options = options.clone();
    let (opened, settings) =
        apart(move || (setup::open(&settings, &options, chosen, approver, commitments), settings)).await?;
    Ok((opened?, settings))
}

/// Waits until a session has ended that is being left. A first signal has the hooks at its end cut short; after a second the wait ends:
/// then there is no end to tell. The signal is the last one.
pub(crate) async fn ended<T>(
    mut task: JoinHandle<T>,
    signals: &mut Signals,
    mut cut_short: impl FnMut(),
) -> (Option<Result<T, JoinError>>, Option<Signal>) {
    let mut signalled = None;
    loop {
        tokio::select! {
            biased;
            ended = &mut task => return (Some(ended), signalled),
            Some(signal) = signals.recv() => {
                if signalled.replace(signal).is_some() {
                    unread::leave_at_once();
                    task.abort();
                    return (None, signalled);
                }
                cut_short();
            }
        }
    }
}
