//! Tests that are started with signals ignored, as a script's `cargo test &` and `nohup` do. Ignored signals stay ignored in whatever is
//! started, handled ones do not: programs under test start with the usual meaning of each.

use std::sync::Once;
use tokio::signal::unix::{SignalKind, signal};

/// Handles what is ignored here, for as long as these tests run.
pub(crate) fn are_heard() {
    static ONCE: Once = Once::new();
    // A test may run in a runtime of its own, in which no other begins.
    ONCE.call_once(|| std::thread::spawn(handle_ignored).join().unwrap());
}

fn handle_ignored() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _entered = runtime.enter();
    let is_ignored = |number: i32| ignored() & (1 << (number - 1)) != 0;
    // Python programs, for one, start others with the last one ignored.
    let large_file = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
    let usual = [SignalKind::interrupt(), SignalKind::hangup(), SignalKind::quit(), SignalKind::terminate()];
    for kind in usual.into_iter().chain([large_file]).filter(|kind| is_ignored(kind.as_raw_value())) {
        // The handler stays when its stream goes.
        drop(signal(kind).unwrap());
    }
}

/// The signals that are ignored, a bit each. Where that is not said, none.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}
