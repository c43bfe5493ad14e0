//! Work that takes milliseconds, apart from a runtime's thread.
//!
//! A runtime's own threads for blocking work are not used: where the system has none left, asking the runtime for one is a panic.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use tokio::sync::oneshot;

/// Does it on a thread of its own, or here and now where there can be no thread. When this future is dropped, what began is done all the
/// same.
pub(crate) async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let work = Arc::new(Mutex::new(Some(work)));
    let take = |work: &Mutex<Option<_>>| work.lock().unwrap_or_else(PoisonError::into_inner).take();
    let (answer, answered) = oneshot::channel();
    let for_thread = Arc::clone(&work);
    let run = move || {
        if let Some(work) = take(&for_thread) {
            // It has no reader only if the future is gone.
            let _ = answer.send(work());
        }
    };
    match thread::Builder::new().name("agent-exec-work".to_owned()).spawn(run) {
        Ok(_) => answered.await.ok(),
        Err(_) => take(&work).map(|work| work()),
    }
}
