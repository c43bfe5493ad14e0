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

/// What the environment of a process says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marked {
    /// It belongs to the run.
    Ours,
    /// It belongs to another run.
    Others,
    /// It has no marker.
    No,
}

/// Reads it from an environment block.
pub(crate) fn marked(environment: &[u8], own: &str) -> Marked {
    let value = environment.split(|&byte| byte == 0).find_map(|entry| {
        let value = entry.strip_prefix(MARKER.as_bytes())?;
        value.strip_prefix(b"=")
    });
    match value {
        None => Marked::No,
        Some(value) => {
            let ours = value.strip_prefix(own.as_bytes()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"));
            if ours { Marked::Ours } else { Marked::Others }
        }
    }
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
        let environment = |value: &str| format!("A=b\0{MARKER}={value}\0C=d\0").into_bytes();
        assert_eq!(marked(&environment(outer), outer), Marked::Ours);
        assert_eq!(marked(&environment(inner), outer), Marked::Ours);
        assert_eq!(marked(&environment(inner), inner), Marked::Ours);
        assert_eq!(marked(&environment(outer), inner), Marked::Others);
        assert_eq!(marked(&environment("1-2-33"), outer), Marked::Others);
        assert_eq!(marked(b"A=b\0", outer), Marked::No);
        let (one, other) = (new_marker(), new_marker());
        assert_ne!(one, other);
        assert_eq!(marked(&environment(&one), marker_of_process()), Marked::Ours);
        assert_eq!(marked(&environment(&one), &other), Marked::Others);
    }
}
