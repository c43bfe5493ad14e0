//! What a command may take before it takes the agent with it.
//!
//! The kernel's choice when memory runs out falls on the command and not on the agent; a fork bomb of an ordinary user comes to an end
//! (Linux does not count the processes of root); no core is dumped.
//!
//! Commands that run unasked have a bound on memory besides, each process by itself, and on files: nobody has agreed to their taking all
//! of either. It is one on what a process can write to (`RLIMIT_DATA`), so files that are mapped to be read do not count. Others have
//! none: sanitizers and language runtimes reserve more than there is. A bound for all processes together would need a cgroup, and those of
//! a terminal's session are not the user's to change.

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use std::fs;
use std::sync::OnceLock;

/// Limits a process that was just started. What cannot be limited is not: these limits are no fence.
pub(crate) fn limit(pid: i32) {
    let Some(process) = Pid::from_raw(pid) else {
        return;
    };
    lower(Some(process));
    let _ = fs::write(format!("/proc/{pid}/oom_score_adj"), oom_score());
}

/// Limits this process and what it becomes.
pub(crate) fn limit_this_process() {
    lower(None);
    let _ = fs::write("/proc/self/oom_score_adj", oom_score());
}

/// Limits this process, which sees processes where nothing can be written, and what it starts. Another directory leads to where it can.
#[cfg(target_os = "linux")]
pub(crate) fn limit_this_process_from(outside: &std::path::Path) {
    lower(None);
    // The root is above itself, so there may be more steps up than directories.
    let mut path = outside.to_path_buf();
    path.extend(std::iter::repeat_n("..", MOST_STEPS));
    let _ = fs::write(path.join("proc/self/oom_score_adj"), oom_score());
}

/// Limits this process and what it starts. The kernel's choice falls on what it starts meanwhile, and not on itself.
#[cfg(target_os = "linux")]
pub(crate) fn limit_children_of<T>(start: impl FnOnce() -> T) -> T {
    let own = fs::read("/proc/self/oom_score_adj");
    limit_this_process();
    let started = start();
    if let Ok(own) = own {
        let _ = fs::write("/proc/self/oom_score_adj", own);
    }
    started
}

#[cfg(target_os = "linux")]
fn lower(process: Option<Pid>) {
    let mut wanted = vec![(Resource::Core, 0)];
    if let Some(running) = threads_of_all() {
        wanted.push((Resource::Nproc, running + MORE_PROCESSES));
    }
    for (resource, most) in wanted {
        let old = getrlimit(resource);
        let least = |limit: Option<u64>| Some(limit.map_or(most, |limit| limit.min(most)));
        let new = Rlimit { current: least(old.current), maximum: least(old.maximum) };
        let _ = prlimit(process, resource, new);
    }
}

/// Limits what this process, and what it starts, each may write to: memory, and any one file.
///
/// # Errors
/// Why it cannot be limited; then nothing may be started.
#[cfg(target_os = "linux")]
pub(crate) fn bound(bytes: u64) -> Result<(), String> {
    for resource in [Resource::Data, Resource::Fsize] {
        let old = getrlimit(resource);
        let least = |limit: Option<u64>| Some(limit.map_or(bytes, |limit| limit.min(bytes)));
        let new = Rlimit { current: least(old.current), maximum: least(old.maximum) };
        prlimit(None, resource, new).map_err(|error| format!("bound the memory: {error}"))?;
    }
    Ok(())
}

/// The bound for commands that run unasked: a sixteenth of what the machine has, within reason.
#[cfg(target_os = "linux")]
pub(crate) fn bound_of_reading() -> u64 {
    static BOUND: OnceLock<u64> = OnceLock::new();
    *BOUND.get_or_init(|| {
        let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
        let kibibytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
        (kibibytes.unwrap_or_default() / 16 * 1024).clamp(LEAST_MEMORY_BYTES, MOST_MEMORY_BYTES)
    })
}

#[cfg(not(target_os = "linux"))]
fn lower(_process: Option<Pid>) {}

/// Threads on this machine, of all users: never fewer than those of this one, and read at once.
fn threads_of_all() -> Option<u64> {
    let line = fs::read_to_string("/proc/loadavg").ok()?;
    line.split_ascii_whitespace().nth(3)?.split_once('/')?.1.parse().ok()
}

/// More than the agent's own, so that a command is ended in its place.
fn oom_score() -> &'static str {
    static SCORE: OnceLock<String> = OnceLock::new();
    SCORE.get_or_init(|| {
        let own = fs::read_to_string("/proc/self/oom_score_adj").unwrap_or_default();
        (own.trim().parse::<i32>().unwrap_or(0) + 300).min(1_000).to_string()
    })
}

/// Directories above a temporary one.
#[cfg(target_os = "linux")]
const MOST_STEPS: usize = 64;
/// Processes and threads that a command may have at once, roughly: enough for a build on a large machine.
const MORE_PROCESSES: u64 = 4_096;
#[cfg(target_os = "linux")]
const LEAST_MEMORY_BYTES: u64 = 512 * 1024 * 1024;
#[cfg(target_os = "linux")]
const MOST_MEMORY_BYTES: u64 = 4 * 1024 * 1024 * 1024;
