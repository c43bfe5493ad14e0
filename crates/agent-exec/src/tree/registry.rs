//! The programs that run now, of the whole process: adopting orphans is a property of the process, so runs must know of each other.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Starts a program and registers it. The lock is held meanwhile: nobody may see the new child and not know whose it is.
pub(super) fn register<T>(born: u64, spawn: impl FnOnce() -> io::Result<(T, i32)>) -> io::Result<(T, i32)> {
    let mut roots = roots();
    let (child, pid) = spawn()?;
    roots.insert(pid, born);
    Ok((child, pid))
}

pub(super) fn forget(pid: i32) {
    roots().remove(&pid);
}

/// Whether somebody waits for this process: a program of a run, or what was started beside the runs.
pub(super) fn is_root(pid: i32) -> bool {
    roots().contains_key(&pid) || beside().contains(&pid)
}

/// Starts something of our own that belongs to no run. As with programs nobody may see it and not know it.
pub(super) fn register_beside<T>(spawn: impl FnOnce() -> io::Result<(T, i32)>) -> io::Result<T> {
    let mut beside = beside();
    let (child, pid) = spawn()?;
    beside.insert(pid);
    Ok(child)
}

/// Whether a process born then can only come from this run: no other one was there.
pub(super) fn only_run_at(born: u64, root: i32) -> bool {
    roots().iter().all(|(&pid, &run_born)| pid == root || run_born > born)
}

pub(super) fn is_subreaper() -> bool {
    IS_SUBREAPER.load(Ordering::Relaxed)
}

pub(super) fn now_subreaper() {
    IS_SUBREAPER.store(true, Ordering::Relaxed);
}

fn roots() -> MutexGuard<'static, BTreeMap<i32, u64>> {
    ROOTS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn beside() -> MutexGuard<'static, BTreeSet<i32>> {
    BESIDE.lock().unwrap_or_else(PoisonError::into_inner)
}

static ROOTS: Mutex<BTreeMap<i32, u64>> = Mutex::new(BTreeMap::new());
static BESIDE: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());
static IS_SUBREAPER: AtomicBool = AtomicBool::new(false);
