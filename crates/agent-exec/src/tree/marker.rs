//! The marker: a variable in the environment of every process of a run.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Name of the variable.
pub(crate) const MARKER: &str = "AGENT_EXEC_RUN";

/// A marker that no other run has.
pub(crate) fn new_marker() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    format!("{}/{}", marker_of_process(), COUNTER.fetch_add(1, Ordering::Relaxed))
}

/// What the markers of all runs of this process begin with. An agent that runs inside of a run puts its own behind the outer one, so that
/// both find theirs.
pub(crate) fn marker_of_process() -> &'static str {
    static MARKER_OF_PROCESS: OnceLock<String> = OnceLock::new();
    MARKER_OF_PROCESS.get_or_init(|| {
        let own = format!("{}-{}", std::process::id(), super::signal::nanoseconds_since_boot());
        match std::env::var(MARKER) {
            Ok(outer) if outer.len() < LONGEST => format!("{outer}/{own}"),
            Ok(_) | Err(_) => own,
        }
    })
}

/// The marker in an environment block.
pub(crate) fn marker_in(environment: &[u8]) -> Option<&[u8]> {
    environment.split(|&byte| byte == 0).find_map(|entry| {
        let value = entry.strip_prefix(MARKER.as_bytes())?;
        value.strip_prefix(b"=")
    })
}

/// Whether a marker is this run's, or one of an agent that runs inside of it.
pub(crate) fn is_within(marker: &[u8], run: &str) -> bool {
    marker.strip_prefix(run.as_bytes()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

/// Whether a marker is the one that this process itself was started with, so that a child of its own may have it.
pub(crate) fn is_inherited(marker: &[u8]) -> bool {
    std::env::var(MARKER).is_ok_and(|own| own.as_bytes() == marker)
}

/// Agents within agents to any depth must not make the environment grow without end.
const LONGEST: usize = 2_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nested_marker_belongs_to_both_runs() {
        let outer = "1-2-3";
        let inner = "1-2-3/4-5-6";
        let belongs = |value: &str, run: &str| {
            let environment = format!("A=b\0{MARKER}={value}\0C=d\0").into_bytes();
            is_within(marker_in(&environment).unwrap(), run)
        };
        assert!(belongs(outer, outer) && belongs(inner, outer) && belongs(inner, inner));
        assert!(!belongs(outer, inner) && !belongs("1-2-33", outer));
        assert_eq!(marker_in(b"A=b\0"), None);
        let (one, other) = (new_marker(), new_marker());
        assert!(belongs(&one, marker_of_process()) && !belongs(&one, &other));
    }
}
