//! What is asked of the system: signals, statuses, adoption, time.

use super::registry;
use super::table::{self, Process};
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, test_kill_process_group, waitpid};

/// Makes this process adopt orphans among its descendants.
#[cfg(target_os = "linux")]
pub(crate) fn become_subreaper() {
    if rustix::process::set_child_subreaper(Some(rustix::process::getpid())).is_ok() {
        registry::now_subreaper();
    }
}

/// Only Linux has this; elsewhere daemons get away.
#[cfg(not(target_os = "linux"))]
pub(crate) fn become_subreaper() {}

/// Whether the process group has a member, a zombie included.
pub(super) fn group_exists(group: i32) -> bool {
    match Pid::from_raw(group).map(test_kill_process_group) {
        Some(Ok(())) => true,
        // Elsewhere a group of zombies is reported like this.
        Some(Err(error)) => cfg!(target_os = "linux") && error == rustix::io::Errno::PERM,
        None => false,
    }
}

/// Signals a whole group at once, which a process that forks all the time cannot outrun.
pub(super) fn send_to_group(group: i32, signal: Signal) {
    if let Some(group) = Pid::from_raw(group) {
        // No process left to signal is the goal.
        let _ = kill_process_group(group, signal);
    }
}

/// Signals a process. `false` when it is there and must not be signalled by us.
#[cfg(target_os = "linux")]
pub(super) fn send(process: &Process, signal: Signal) -> bool {
    use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
    let Some(pid) = Pid::from_raw(process.pid) else {
        return true;
    };
    let sent = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(descriptor) if is_still(process) => pidfd_send_signal(descriptor, signal),
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) if is_still(process) => {
            rustix::process::kill_process(pid, signal)
        }
        Ok(_) | Err(_) => Ok(()),
    };
    sent != Err(rustix::io::Errno::PERM)
}

/// Signals a process. `false` when it is there and must not be signalled by us.
#[cfg(not(target_os = "linux"))]
pub(super) fn send(process: &Process, signal: Signal) -> bool {
    let Some(pid) = Pid::from_raw(process.pid).filter(|_| is_still(process)) else {
        return true;
    };
    rustix::process::kill_process(pid, signal) != Err(rustix::io::Errno::PERM)
}

/// Kills a child of ours by its number, which stays its own until we take its status: faster than [`send`]. As there, `false` when it must
/// not be signalled by us.
pub(super) fn kill_child(process: &Process) -> bool {
    let Some(pid) = Pid::from_raw(process.pid) else {
        return true;
    };
    rustix::process::kill_process(pid, Signal::KILL) != Err(rustix::io::Errno::PERM)
}

/// Takes the status of an adopted process that has ended. Never of a program of ours: that one has a waiter.
pub(super) fn reap(process: &Process) {
    if process.is_zombie
        && process.parent == own_pid()
        && !registry::is_root(process.pid)
        && let Some(pid) = Pid::from_raw(process.pid)
    {
        // Another run may have been faster.
        let _ = waitpid(Some(pid), WaitOptions::NOHANG);
    }
}

pub(super) fn own_pid() -> i32 {
    rustix::process::getpid().as_raw_pid()
}

/// Session of this process; 0 where its leader is outside of our pid namespace, as under `docker exec`. The process table says the same of
/// everything that stayed in it. Asked there, because the system call's wrapper takes a 0 for impossible.
pub(super) fn own_session() -> i32 {
    table::process(own_pid()).map_or(0, |own| own.session)
}

/// The clock of process start times.
pub(crate) fn ticks_since_boot() -> u64 {
    let nanoseconds = u128::from(nanoseconds_since_boot());
    let ticks = nanoseconds * u128::from(rustix::param::clock_ticks_per_second()) / 1_000_000_000;
    u64::try_from(ticks).unwrap_or(u64::MAX)
}

pub(super) fn nanoseconds_since_boot() -> u64 {
    #[cfg(target_os = "linux")]
    let clock = rustix::time::ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = rustix::time::ClockId::Monotonic;
    let now = rustix::time::clock_gettime(clock);
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    let rest = u64::try_from(now.tv_nsec).unwrap_or_default();
    seconds * 1_000_000_000 + rest
}

fn is_still(process: &Process) -> bool {
    table::process(process.pid).is_some_and(|found| found.born == process.born)
}
