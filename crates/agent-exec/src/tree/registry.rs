//! The programs that run now, of the whole process: adopting orphans is a property of the process, so runs must know of each other.

use super::marker::is_within;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A program that runs.
#[derive(Debug)]
pub(super) struct Run {
    /// When it was started, in clock ticks since boot.
    pub(super) born: u64,
    pub(super) marker: String,
    /// Whether a keeper adopts its orphans: then none of them comes to us.
    pub(super) is_kept: bool,
}

/// The right to run without a keeper, which costs the start of another program: one run at a time has it, and the others' orphans go to
/// their keepers. So what is orphaned in here is its.
#[derive(Debug)]
pub(crate) struct Unkept(());

impl Unkept {
    /// Nothing while another run has it.
    pub(crate) fn claim() -> Option<Self> {
        // Not made where it is not given: it would be given back when it is dropped.
        (!UNKEPT.swap(true, Ordering::Relaxed)).then(|| Self(()))
    }
}

impl Drop for Unkept {
    fn drop(&mut self) {
        UNKEPT.store(false, Ordering::Relaxed);
    }
}

static UNKEPT: AtomicBool = AtomicBool::new(false);

/// Starts a program and registers it. The lock is held meanwhile: no survey may see the new child without its run.
pub(super) fn register<T>(run: Run, spawn: impl FnOnce() -> io::Result<(T, i32)>) -> io::Result<(T, i32)> {
    let mut roots = roots();
    let (child, pid) = spawn()?;
    roots.insert(pid, run);
    Ok((child, pid))
}

pub(super) fn forget(pid: i32) {
    roots().remove(&pid);
}

/// Whether this process has a waiter: a program of a run, or what was started beside the runs.
pub(super) fn is_root(pid: i32) -> bool {
    roots().contains_key(&pid) || beside().contains(&pid)
}

/// Starts something of our own that belongs to no run. As with programs, no survey may see it unregistered.
pub(super) fn register_beside<T>(spawn: impl FnOnce() -> io::Result<(T, i32)>) -> io::Result<T> {
    let mut beside = beside();
    let (child, pid) = spawn()?;
    beside.insert(pid);
    Ok(child)
}

/// Whether a process born then can only come from this run: no other one was there.
pub(super) fn only_run_at(born: u64, root: i32) -> bool {
    roots().iter().all(|(&pid, run)| pid == root || run.is_kept || run.born > born)
}

/// Whether a run that goes on has this marker. Any other is made up: a process that wants to escape may claim anything.
pub(super) fn has_marker(marker: &[u8]) -> bool {
    roots().values().any(|run| is_within(marker, &run.marker))
}

pub(super) fn is_subreaper() -> bool {
    IS_SUBREAPER.load(Ordering::Relaxed)
}

pub(super) fn now_subreaper() {
    IS_SUBREAPER.store(true, Ordering::Relaxed);
}

fn roots() -> MutexGuard<'static, BTreeMap<i32, Run>> {
    ROOTS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn beside() -> MutexGuard<'static, BTreeSet<i32>> {
    BESIDE.lock().unwrap_or_else(PoisonError::into_inner)
}

static ROOTS: Mutex<BTreeMap<i32, Run>> = Mutex::new(BTreeMap::new());
static BESIDE: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());
static IS_SUBREAPER: AtomicBool = AtomicBool::new(false);
