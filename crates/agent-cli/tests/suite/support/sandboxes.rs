//! Which sandboxes this machine has, as the program says it. A check tries many things, so it is made once for all tests of a process.

use super::scratch::Scratch;
use serde_json::Value;
use std::sync::OnceLock;

/// Whether commands can be held by bubblewrap here.
pub(crate) fn has_bubblewrap() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| has_kind("bubblewrap"))
}

/// Whether commands can be held back here in any way.
pub(crate) fn has_any_sandbox() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    has_bubblewrap() || *FOUND.get_or_init(|| has_kind("landlock"))
}

/// Says so where not.
#[expect(clippy::print_stdout, reason = "what was skipped is said")]
fn has_kind(kind: &str) -> bool {
    let checked = Scratch::repository_in("/var/tmp").ended(&["sandbox", "check", "--json", "--with", kind]);
    let report: Value = serde_json::from_str(&checked.out).unwrap();
    if report["mechanism"].is_null() {
        println!("skipped: {}", report["error"]);
    }
    !report["mechanism"].is_null()
}
