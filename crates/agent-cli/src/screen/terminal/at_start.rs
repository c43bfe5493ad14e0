//! Whether the program was started with standard output closed (`agent … >&-`).
//!
//! Before `main` the standard library opens `/dev/null` in place of every standard descriptor that is closed. So no file of the agent's
//! ever gets one of these numbers; but afterwards a closed output cannot be told from a null device, which takes everything. Hence the look
//! before that. It makes one system call, and uses nothing of the standard library, which is not ready yet.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub(super) fn output_was_closed() -> bool {
    OUTPUT_WAS_CLOSED.load(Relaxed)
}

#[ctor::ctor]
fn look() {
    OUTPUT_WAS_CLOSED.store(rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err(), Relaxed);
}

static OUTPUT_WAS_CLOSED: AtomicBool = AtomicBool::new(false);
