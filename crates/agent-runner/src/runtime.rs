//! What the drivers need of the runtime they run in.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use tokio::task::JoinHandle;

/// Panics here, in tokio's words, where a runtime without timers would later let a wait panic in a task of its own: its session would wait
/// forever.
pub(crate) fn expect_timers() {
    drop(tokio::time::sleep(Duration::ZERO));
}

/// Does work that blocks on another thread.
///
/// # Errors
/// When there is no runtime, or the system gives it no thread: tokio panics then.
pub(crate) fn start_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    let runtime = tokio::runtime::Handle::try_current().map_err(io::Error::other)?;
    catch_unwind(AssertUnwindSafe(|| runtime.spawn_blocking(work))).map_err(|said| {
        let said = said.downcast_ref::<String>().map_or("the system does not allow another thread", String::as_str);
        io::Error::other(said.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::start_blocking;

    #[test]
    fn without_a_runtime_blocking_work_is_an_error() {
        let error = start_blocking(|| ()).unwrap_err();
        assert!(error.to_string().contains("no reactor running"), "{error}");
    }

    #[tokio::test]
    async fn blocking_work_is_done() {
        assert_eq!(start_blocking(|| 7).unwrap().await.unwrap(), 7);
    }
}
