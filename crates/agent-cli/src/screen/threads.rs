//! Threads for work that waits, where the system has any left.

use crate::failure::Failure;
use crate::screen::terminal;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// One thread is enough: the work is waiting, and what computes runs on threads of its own. What is shown gets its turn as often as what
/// makes it: by itself the runtime would let sixty other turns pass, and an answer pile up that comes quickly.
pub(crate) fn runtime() -> Result<Runtime, Failure> {
    let built = Builder::new_current_thread().event_interval(TURNS).thread_keep_alive(FOR_EVER).enable_all().build();
    built.map_err(|error| Failure::internal(format!("cannot start the runtime: {error}")))
}

/// Starts the first thread for work that blocks, which stays. Where there is one, work for which the system gives no second one waits for
/// it; where there is none, the runtime panics: here and now, unheard, and nowhere else.
pub(crate) fn keep_one(runtime: &Runtime) -> Result<(), Failure> {
    let started = terminal::without_a_word(|| runtime.spawn_blocking(|| ()));
    started.map(drop).map_err(|said| {
        let said = said.downcast_ref::<String>().map_or("the system does not allow more", String::as_str);
        none_left("work", said)
    })
}

/// Starts a thread of its own.
pub(crate) fn start(what: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Failure> {
    let started = std::thread::Builder::new().name(format!("agent-{what}")).spawn(work);
    started.map(drop).map_err(|error| none_left(what, &error.to_string()))
}

fn none_left(what: &str, error: &str) -> Failure {
    Failure::internal(format!(
        "cannot start the thread `agent-{what}`: {error}; end other processes of this user or raise the process limit (`ulimit -u`)"
    ))
}

/// The call of the model, the session and the agent over it.
const TURNS: u32 = 3;
const FOR_EVER: Duration = Duration::from_secs(u64::MAX / 4);
