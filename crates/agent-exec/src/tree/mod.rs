//! A program and everything it started: finding all of it, and ending it.
//!
//! A process belongs to a tree when one of these holds; each covers a way in which processes get away from the others:
//!
//! ```text
//! it is the program, or in the program's process group    children of the usual kind
//! its parent belongs to the tree                          setsid, setpgid, a cleared environment
//! its environment has the tree's marker                   a daemon whose parents are gone
//! we adopted it, it left our session, it has no marker    a daemon whose parents and environment are gone
//!   of a run, and no other tree was there when it started
//! ```
//!
//! Where there is a helper, a process of its own is put between us and every program, which adopts the program's orphans: then the second
//! line is enough, also where others run. Without one, or when the program has killed it, all of them are needed.
//!
//! Processes are identified by number and start time, and signalled through a descriptor that is checked after it was opened, so a number
//! that the system gave to another process meanwhile is never hit.

mod marker;
mod registry;
mod signal;
mod survey;
mod table;

pub(crate) use marker::{MARKER, marker_of_process, new_marker};
pub(crate) use registry::Unkept;
pub(crate) use signal::{become_subreaper, ticks_since_boot};

use crate::apart::apart;
#[cfg(target_os = "linux")]
use crate::helper::keep::Leash;
#[cfg(target_os = "linux")]
use rustix::process::Signal;
use std::io;
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use survey::Survey;
use tokio::process::Child;

/// The processes of one run. Ends them when dropped.
#[derive(Debug)]
pub(crate) struct ProcessTree {
    root: Root,
    /// Nothing is left to do at the end.
    is_ended: bool,
    /// Who starts the program and adopts its orphans, in a process between it and us; what is said of the program below is true of that
    /// one.
    #[cfg(target_os = "linux")]
    keeper: Option<Leash>,
    /// Why there is none, where there could be.
    unkept: Option<Unkept>,
}

/// What identifies a tree.
#[derive(Clone, Debug)]
struct Root {
    /// The program's process and process group.
    pid: i32,
    /// What its environment carries.
    marker: String,
    /// When it was started, in clock ticks since boot: nothing that is older belongs to it.
    born: u64,
    /// Whether its status was taken: from then on its number may, in theory, be another process's.
    is_reaped: bool,
    /// Whether the program only holds a pid namespace: all else is in there, and ends with it.
    holds_namespace: bool,
    /// Whether every orphan that comes to this process is the program's: there is no other program.
    has_all_orphans: bool,
}

/// What ending a tree came to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ended {
    /// Processes besides the program that were alive.
    pub(crate) found: usize,
    /// Processes that could not be ended.
    pub(crate) survivors: usize,
}

/// What a keeper has said when it has ended.
#[derive(Debug)]
pub(crate) enum Said {
    /// The program could not be started.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "there is no keeper"))]
    Refused(io::Error),
    /// It had to end processes.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "there is no keeper"))]
    Ended(Ended),
}

impl ProcessTree {
    /// Starts a program and takes charge of its processes.
    pub(crate) fn spawn(
        marker: String,
        unkept: Option<Unkept>,
        is_kept: bool,
        holds_namespace: bool,
        spawn: impl FnOnce() -> io::Result<Child>,
    ) -> io::Result<(Child, Self)> {
        let born = ticks_since_boot();
        let run = registry::Run { born, marker: marker.clone(), is_kept };
        let (child, pid) = registry::register(run, || {
            let child = spawn()?;
            let pid = child.id().and_then(|pid| i32::try_from(pid).ok());
            Ok((child, pid.ok_or(io::ErrorKind::Other)?))
        })?;
        let root = Root { pid, marker, born, is_reaped: false, holds_namespace, has_all_orphans: false };
        let tree = Self {
            root,
            is_ended: false,
            #[cfg(target_os = "linux")]
            keeper: None,
            unkept,
        };
        Ok((child, tree))
    }

    /// The program is a keeper, and this leads to it.
    #[cfg(target_os = "linux")]
    pub(crate) fn kept_by(mut self, keeper: Option<Leash>) -> Self {
        self.keeper = keeper;
        self
    }

    /// What the keeper said about the end of a program that ended by itself, if there is one and there was something to say.
    pub(crate) fn said(&mut self) -> Option<Said> {
        #[cfg(target_os = "linux")]
        if let Some(said) = self.keeper.take().and_then(|keeper| keeper.said()) {
            self.is_ended = true;
            return Some(said);
        }
        None
    }

    /// Notes that the program's status was taken.
    pub(crate) fn root_is_reaped(&mut self) {
        self.root.is_reaped = true;
    }

    /// Whether processes may be left after the program has ended. Costs microseconds, and takes the status of adopted ones that ended.
    pub(crate) fn may_have_survivors(&mut self) -> bool {
        let left = signal::group_exists(self.root.pid) || !registry::is_subreaper() || survey::has_adopted(&self.root);
        self.is_ended = !left;
        left
    }

    /// Ends the tree: asks all of it to end, and after a short grace makes it.
    pub(crate) async fn end(&mut self) -> Ended {
        let root = self.root.clone();
        #[cfg(target_os = "linux")]
        let keeper = self.keeper.take();
        let work = move || {
            #[cfg(target_os = "linux")]
            if let Some(ended) = end_kept(&root, keeper, true) {
                return ended;
            }
            end(&root, GRACE)
        };
        // Reading /proc takes milliseconds.
        let ended = apart(work).await.unwrap_or_else(|| end(&self.root, Duration::ZERO));
        self.is_ended = true;
        ended
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        if !self.is_ended && end_kept(&self.root, self.keeper.take(), false).is_some() {
            self.is_ended = true;
        }
        if !self.is_ended {
            end(&self.root, Duration::ZERO);
        }
        registry::forget(self.root.pid);
        drop(self.unkept.take());
    }
}

/// A program and whatever comes of it, in a process that has no other duty and adopts orphans: all of them are the program's.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(crate) struct Orphanage {
    root: Root,
    is_reaped: AtomicBool,
}

#[cfg(target_os = "linux")]
impl Orphanage {
    /// Starts the program.
    pub(crate) fn open(marker: String, spawn: impl FnOnce() -> io::Result<std::process::Child>) -> io::Result<Self> {
        let born = ticks_since_boot();
        let pid = i32::try_from(spawn()?.id()).map_err(io::Error::other)?;
        let root = Root { pid, marker, born, is_reaped: false, holds_namespace: false, has_all_orphans: true };
        Ok(Self { root, is_reaped: AtomicBool::new(false) })
    }

    /// The program's process.
    pub(crate) fn program(&self) -> i32 {
        self.root.pid
    }

    /// Notes that the program's status was taken.
    pub(crate) fn program_is_reaped(&self) {
        self.is_reaped.store(true, Ordering::Relaxed);
    }

    /// Ends all of it, at once or after a short grace.
    pub(crate) fn end(&self, gently: bool) -> Ended {
        let root = Root { is_reaped: self.is_reaped.load(Ordering::Relaxed), ..self.root.clone() };
        end(&root, if gently { GRACE } else { Duration::ZERO })
    }
}

/// Starts something of our own that belongs to no run.
pub(crate) fn spawn_beside(spawn: impl FnOnce() -> io::Result<std::process::Child>) -> io::Result<std::process::Child> {
    registry::register_beside(|| {
        let child = spawn()?;
        let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
        Ok((child, pid))
    })
}

/// Ends the runs of another process, which is gone: everything with its marker that was born since then, with its descendants.
pub(crate) fn end_marked(marker: String, born: u64) {
    // There is no program whose number or group could be asked for.
    let root = Root { pid: NOBODY, marker, born, is_reaped: true, holds_namespace: false, has_all_orphans: false };
    // A process that is becoming a program has no environment for a moment, and is not known then.
    let (mut quiet, mut enough, mut pause) = (0, 2, SWEEP_PAUSE);
    while quiet < enough {
        if end(&root, Duration::ZERO).found > 0 {
            (quiet, enough, pause) = (0, 5, SWEEP_PAUSE);
        } else {
            quiet += 1;
        }
        if quiet < enough {
            std::thread::sleep(pause);
            pause *= 2;
        }
    }
}

/// Has the keeper end what it keeps. Nothing when there is none, or it was killed by what it keeps.
#[cfg(target_os = "linux")]
fn end_kept(root: &Root, keeper: Option<Leash>, gently: bool) -> Option<Ended> {
    let keeper = keeper?;
    // It may have been stopped by what it keeps.
    if let Some(process) = table::process(root.pid).filter(|_| !root.is_reaped) {
        signal::send(&process, Signal::CONT);
    }
    let ended = keeper.end(gently, GRACE + 2 * LIMIT_OF_ENDING)?;
    // Nothing is left that it could be asked about.
    if let Some(process) = table::process(root.pid).filter(|_| !root.is_reaped) {
        signal::send(&process, Signal::KILL);
    }
    Some(ended)
}

/// Waits for the kernel, which ends what is left in a namespace without its first process. Whether it has.
fn namespace_has_ended(root: &Root) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < GRACE {
        if !signal::group_exists(root.pid) && !survey::has_adopted(root) {
            return true;
        }
        std::thread::sleep(SHORT_PAUSE);
    }
    false
}

fn end(root: &Root, grace: Duration) -> Ended {
    let begun = Instant::now();
    if root.holds_namespace && root.is_reaped && namespace_has_ended(root) {
        return Ended::default();
    }
    let mut survey = Survey::new(root);
    let mut alive = survey.take();
    if !grace.is_zero() {
        // What only holds a namespace would take all of it along before it could end by itself.
        for process in alive.iter().filter(|process| !root.holds_namespace || process.pid != root.pid) {
            survey.ask_to_end(process);
        }
        while !alive.is_empty() && begun.elapsed() < grace {
            std::thread::sleep(PAUSE);
            alive = survey.take();
        }
    }
    let mut pause = Duration::from_micros(500);
    let limit = grace + LIMIT_OF_ENDING;
    let mut is_quiet = false;
    while begun.elapsed() < limit {
        survey.kill(&alive);
        // Killed or not: what forks and leaves again and again is never in a list by the time it is read.
        is_quiet = survey.hunt(begun + limit);
        if alive.is_empty() && is_quiet {
            break;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(PAUSE);
        alive = survey.take();
    }
    // What still comes and goes is there, although no handle holds it.
    let uncaught = usize::from(alive.is_empty() && !is_quiet);
    Ended { found: survey.found(), survivors: alive.len() + uncaught + survey.beyond_reach() }
}

/// No process has this number.
const NOBODY: i32 = i32::MIN;
/// How long processes may take to end by themselves before they are killed.
const GRACE: Duration = Duration::from_millis(100);
/// Before the second search for what another process left; the pauses after it double.
const SWEEP_PAUSE: Duration = Duration::from_millis(20);
/// Between two looks that cost little.
const SHORT_PAUSE: Duration = Duration::from_micros(200);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(8);
/// How long killing is repeated at most. Only a process that the kernel holds, or one of another user, lives longer.
pub const LIMIT_OF_ENDING: Duration = Duration::from_secs(2);
