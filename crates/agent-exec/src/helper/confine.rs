//! Starts a program within bubblewrap: looks whether the mounts are the ones that were decided about, goes under Landlock and behind the
//! filter of system calls, and says how the program ended.
//!
//! Mounts are made by name, while other commands may rename what lies on the way. So each is compared here, where no mount changes any
//! more: it has to be at its path, and to be what was seen. One that was made elsewhere is missing at its own path. A process under
//! Landlock may not mount, so this cannot be done before `bwrap`. The helper's program is not looked up here, where its file may not be
//! seen: a descriptor leads to it.
//!
//! ```text
//! prepared     by `launch`, which has become `bwrap`: the descriptors are those of the helper's program and of the file for the status
//! unprepared   `bwrap` was started by the host, which is quicker by an `exec`: its input is the sandbox's own directory, in which a
//!              copy of the helper and the file for the status are; the program has no input
//! ```
//!
//! It is the first process of the namespace, in the place of `bwrap`'s own: signals do not end it, and it takes the statuses of all
//! orphans. `bwrap` tells only a number, the same for `exit 137` and for a program that was killed; the file for the status tells which it
//! was.

use super::arguments::Arguments;
use super::launch::failed;
use super::set_bound;
use crate::limits;
use crate::sandbox::landlock::{self, Reach};
use crate::sandbox::mounts::Made;
use crate::sandbox::place::Place;
use crate::sandbox::{LOCK, seccomp};
use rustix::fs::{AtFlags, CWD, FsWord, StatVfsMountFlags, StatxAttributes, StatxFlags, statfs, statvfs, statx};
use rustix::process::{DumpableBehavior, WaitOptions, WaitStatus, set_dumpable_behavior, wait};
use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Ends when the program does. What cannot be started is said as a shell would.
pub(super) fn run(mut arguments: Arguments) -> ExitCode {
    let read = |arguments: &mut Arguments| {
        let lists = (arguments.list()?, arguments.list()?);
        let bound = arguments.next()?;
        Some((lists.0, lists.1, bound, arguments.next()?, arguments.next()?, arguments.next()?))
    };
    let Some((mounts, writable, bound, prepared, status, program)) = read(&mut arguments) else {
        return failed("the helper was called wrongly");
    };
    // While Landlock does not hold yet, and what leads out of the sandbox is still open.
    let status = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(status);
    if prepared != PREPARED
        && let Err(what) = prepare()
    {
        return failed(&what);
    }
    // The program gets neither this nor the descriptor of the helper's program.
    close_fds::set_fds_cloexec(3, &[]);
    // This process stays, and the program must not reach its descriptors: those lead out of the sandbox.
    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        return failed(&format!("keep the helper to itself: {error}"));
    }
    let filter = || seccomp::install(seccomp::Surroundings::Namespaces);
    let hold =
        || check(&mounts).and_then(|()| confine(&writable)).and_then(|()| set_bound(&bound)).and_then(|()| filter());
    if let Err(what) = hold() {
        return failed(&what);
    }
    let child = match Command::new(&program).args(arguments.rest()).spawn() {
        Ok(child) => child,
        Err(error) => return failed(&format!("start {}: {error}", program.display())),
    };
    let ended = wait_for(child.id());
    let code = match ended.terminating_signal() {
        Some(signal) => {
            // Without it the number has to do.
            let _ = status.and_then(|mut status| write!(status, "{signal}"));
            SIGNALLED.saturating_add(signal)
        }
        None => ended.exit_status().unwrap_or(1),
    };
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}

/// What `launch` does otherwise, but for what the host does.
fn prepare() -> Result<(), String> {
    let failed = |what: &'static str| move |error| format!("{what}: {error}");
    // `bwrap` ends with the host once it has asked for that. A host that ended before does not hold the lock any more.
    let lock = File::open(Path::new(SCRATCH).join(LOCK)).map_err(failed("look for the agent"))?;
    if !matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) {
        return Err("the agent has ended".to_owned());
    }
    // From within, `/proc` is read only.
    limits::limit_this_process_from(Path::new(SCRATCH));
    let nothing = File::open("/dev/null").map_err(failed("open the input"))?;
    rustix::stdio::dup2_stdin(&nothing).map_err(|error| format!("close the sandbox's directory: {error}"))
}

/// Takes the statuses of all that ends here, until the program has.
fn wait_for(program: u32) -> WaitStatus {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if u32::try_from(pid.as_raw_pid()) == Ok(program) => return status,
            Ok(_) | Err(_) => {}
        }
    }
}

fn confine(writable: &[OsString]) -> Result<(), String> {
    let places: Option<Vec<Place>> = writable.iter().map(|argument| Place::read(argument)).collect();
    match places.as_deref() {
        None => Err("the helper was called wrongly".to_owned()),
        Some([]) => Ok(()),
        Some(writable) => landlock::confine(&Reach::InNamespaces { writable }),
    }
}

fn check(mounts: &[OsString]) -> Result<(), String> {
    for each in mounts.chunks(Made::ARGUMENTS) {
        let [word, path, place] = each else { return Err("the helper was called wrongly".to_owned()) };
        let made = Made::read(word, path, place).ok_or("the helper was called wrongly")?;
        if !is_as_decided(&made) {
            let path = Path::new(path).display();
            return Err(format!("{path} changed while the sandbox was set up, perhaps by another command: try again"));
        }
    }
    Ok(())
}

fn is_as_decided(made: &Made) -> bool {
    match made {
        Made::Writable(place) => is_mount(&place.path) && place.is_there(),
        Made::ReadOnly(place) => is_mount(&place.path) && place.is_there() && is_read_only(&place.path),
        Made::Empty(path) => is_mount(path) && statfs(path).is_ok_and(|found| found.f_type == TMPFS),
        Made::File(path, empty) => is_mount(path) && Place::at(path).is_some_and(|found| found.is_same_as(empty)),
    }
}

fn is_mount(path: &Path) -> bool {
    let found = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT, StatxFlags::empty());
    // A kernel before 5.8 does not tell.
    found.is_ok_and(|found| {
        let known = StatxAttributes::from_bits_retain(found.stx_attributes_mask.bits());
        !known.contains(StatxAttributes::MOUNT_ROOT) || found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT)
    })
}

fn is_read_only(path: &Path) -> bool {
    statvfs(path).is_ok_and(|found| found.f_flag.contains(StatVfsMountFlags::RDONLY))
}

/// Where an unprepared helper finds what the host has laid down for it.
pub(crate) const SCRATCH: &str = "/proc/self/fd/0";
pub(super) const PREPARED: &str = "prepared";
pub(crate) const UNPREPARED: &str = "unprepared";
/// `TMPFS_MAGIC` of the kernel's headers.
const TMPFS: FsWord = 0x0102_1994;
/// What shells and `bwrap` add to a signal's number.
pub(crate) const SIGNALLED: i32 = 128;
