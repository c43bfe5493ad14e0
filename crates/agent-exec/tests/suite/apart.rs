//! A process of its own for a test: with a terminal, with limits as high as they go, and with a descriptor that is inherited by whoever
//! does not take care.

use rustix::fs::OFlags;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, tcgetattr};
use std::fs::{File, OpenOptions};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::Command;

/// What came of a test that was run apart.
#[derive(Debug)]
pub(crate) struct Apart {
    pub(crate) succeeded: bool,
    pub(crate) printed: String,
    /// Whether the terminal was left as it was.
    pub(crate) kept_terminal: bool,
}

/// Runs one test of this program apart, and tells it what it is to do. Nothing where there is no program that begins a session.
#[expect(clippy::print_stdout, reason = "what was skipped is said")]
pub(crate) fn run(test: &str, duty: &str) -> Option<Apart> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = std::ffi::OsString::from_vec(ptsname(&master, Vec::new()).unwrap().into_bytes());
    let no_terminal_of_ours = i32::try_from(OFlags::NOCTTY.bits()).unwrap();
    let terminal = OpenOptions::new().read(true).write(true).custom_flags(no_terminal_of_ours).open(name).unwrap();
    let before = modes(&terminal);
    // With a shell in between: a child that begins a session could be taken for what a command of another test left behind.
    let mut command = Command::new("sh");
    command.args(["-c", "setsid --ctty --wait \"$@\"; exit $?", "sh"]);
    command.arg(std::env::current_exe().unwrap()).args(["--exact", test, "--nocapture"]);
    let output = command.env(DUTY, duty).stdin(terminal.try_clone().unwrap()).output().unwrap();
    if output.status.code() == Some(NO_SUCH_PROGRAM) {
        println!("skipped: there is no `setsid`");
        return None;
    }
    let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let kept_terminal = before == modes(&terminal);
    Some(Apart { succeeded: output.status.success(), printed: printed.into_owned(), kept_terminal })
}

/// What the test in this process is to do, if this is one apart.
pub(crate) fn duty() -> Option<String> {
    std::env::var(DUTY).ok()
}

/// Limits as high as they go, and something to be inherited by mistake; while it lasts.
pub(crate) fn surroundings() -> OwnedFd {
    for resource in [Resource::Core, Resource::Nproc] {
        let Rlimit { maximum, .. } = getrlimit(resource);
        setrlimit(resource, Rlimit { current: maximum, maximum }).unwrap();
    }
    let kept = rustix::io::fcntl_dupfd_cloexec(File::open("/dev/null").unwrap(), FIRST_OF_OURS).unwrap();
    rustix::io::fcntl_setfd(&kept, rustix::io::FdFlags::empty()).unwrap();
    kept
}

fn modes(terminal: &File) -> String {
    let Termios { input_modes, output_modes, local_modes, .. } = tcgetattr(terminal).unwrap();
    format!("{input_modes:?} {output_modes:?} {local_modes:?}")
}

/// From here on descriptors are ours and nobody else's.
pub(crate) const FIRST_OF_OURS: i32 = 600;
/// What a shell says of it.
const NO_SUCH_PROGRAM: i32 = 127;
const DUTY: &str = "AGENT_EXEC_TEST_DUTY";
