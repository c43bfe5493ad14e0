//! Work that may take its time, apart from the thread that listens for signals: a signal must not wait for a disk, a program or a lock.

use crate::failure::Failure;
use crate::signals::{self, Signal};
use tokio::sync::mpsc;

/// Does it on another thread. Whoever stops waiting leaves it behind: it ends with the program.
pub(crate) async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
    let working = tokio::task::spawn_blocking(work).await;
    working.map_err(|error| Failure::internal(format!("set up the session: {error}")))
}

/// Waits for what has to be done before a session begins, or for a signal.
pub(crate) async fn unless_signalled<T>(
    signals: &mut mpsc::UnboundedReceiver<Signal>,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::select! {
        biased;
        Some(signal) = signals.recv() => Err(Failure::stopped(signal)),
        done = work => done,
    }
}

/// Listens for signals from now on.
pub(crate) fn listen() -> Result<mpsc::UnboundedReceiver<Signal>, Failure> {
    signals::listen().map_err(|error| Failure::internal(format!("listen for signals: {error}")))
}
