//! Becomes a program, prepared as a sandbox asks.

use super::arguments::{Arguments, put_list};
#[cfg(target_os = "linux")]
use super::confine::PREPARED;
use crate::limits;
use rustix::process::{Signal, getppid, set_parent_process_death_signal, setsid};
use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

/// What is done before the program is started, besides what always is: a session of its own, limits, no descriptor of ours, an end with
/// the host's end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Preparation {
    /// The program is started by `bwrap`, and the helper in it does the rest.
    Bubblewrap {
        /// `bwrap` and its arguments.
        outer: Vec<OsString>,
        /// The helper's arguments where it looks at the mounts and prepares the program within.
        inner: Vec<OsString>,
        /// A file that is not there yet, in which the helper within says how the program ended; empty if it has no reader.
        status: OsString,
    },
    /// Landlock and a filter.
    Landlock {
        /// Whether it has the network.
        network: OsString,
        /// How much memory each process may have.
        bound: OsString,
        /// The places that may be written.
        writable: Vec<OsString>,
        /// The places that may be read although they lie in something hidden.
        readable: Vec<OsString>,
        /// What may not be read.
        hidden: Vec<OsString>,
    },
}

impl Preparation {
    fn put(&self, line: &mut Vec<OsString>) {
        match self {
            Self::Bubblewrap { outer, inner, status } => {
                line.extend([BUBBLEWRAP.into(), status.clone()]);
                [outer, inner].into_iter().for_each(|list| put_list(line, list));
            }
            Self::Landlock { network, bound, writable, readable, hidden } => {
                line.extend([LANDLOCK.into(), network.clone(), bound.clone()]);
                [writable, readable, hidden].into_iter().for_each(|list| put_list(line, list));
            }
        }
    }

    fn read(arguments: &mut Arguments) -> Option<Self> {
        Some(match arguments.parse::<String>()?.as_str() {
            BUBBLEWRAP => {
                Self::Bubblewrap { status: arguments.next()?, outer: arguments.list()?, inner: arguments.list()? }
            }
            LANDLOCK => Self::Landlock {
                network: arguments.next()?,
                bound: arguments.next()?,
                writable: arguments.list()?,
                readable: arguments.list()?,
                hidden: arguments.list()?,
            },
            _ => return None,
        })
    }
}

/// Completes a command of the helper. What follows is the program and its arguments.
pub(crate) fn add_arguments(command: &mut Command, preparation: &Preparation) {
    let mut line = vec![std::process::id().to_string().into()];
    preparation.put(&mut line);
    command.args(line);
}

/// Returns only when the program could not be started, with what a shell would say.
pub(crate) fn run(mut arguments: Arguments) -> ExitCode {
    let read = |arguments: &mut Arguments| {
        let parent: i32 = arguments.parse()?;
        Some((parent, Preparation::read(arguments)?, arguments.next()?))
    };
    let Some((parent, preparation, program)) = read(&mut arguments) else {
        return failed("the helper was called wrongly");
    };
    match become_program(parent, &preparation, &program, arguments.rest()) {
        Err(what) => failed(&what),
        Ok(never) => match never {},
    }
}

fn become_program(
    parent: i32,
    preparation: &Preparation,
    program: &OsString,
    arguments: Vec<OsString>,
) -> Result<std::convert::Infallible, String> {
    let failed = |what: &'static str| move |error| format!("{what}: {error}");
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(failed("ask to end with the agent"))?;
    // The starter may have ended before that was asked.
    if getppid().map(|pid| pid.as_raw_pid()) != Some(parent) {
        return Err("the agent has ended".to_owned());
    }
    setsid().map_err(failed("begin a session"))?;
    limits::limit_this_process();
    let (mut command, _descriptors) = prepare(preparation, program)?;
    let error = command.args(arguments).exec();
    Err(format!("start {}: {error}", program.display()))
}

/// What is to be started, but for the program's arguments, and the descriptors that it is to have.
#[cfg(target_os = "linux")]
fn prepare(preparation: &Preparation, program: &OsString) -> Result<(Command, Vec<File>), String> {
    use crate::sandbox::Network;
    use crate::sandbox::landlock::{self, Reach};
    use crate::sandbox::place::Place;
    use crate::sandbox::seccomp;
    close_fds::set_fds_cloexec(3, &[]);
    match preparation {
        Preparation::Bubblewrap { outer, inner, status } => {
            let status = new_file(status).map_err(|error| format!("make the file for the status: {error}"))?;
            bubblewrapped(outer, inner, program, status)
        }
        Preparation::Landlock { network, bound, writable, readable, hidden } => {
            super::set_bound(bound)?;
            let network = match network.to_str() {
                Some("true") => Network::OfTheMachine,
                Some("false") => Network::None,
                _ => return Err("the helper was called wrongly".to_owned()),
            };
            let places = |arguments: &[OsString]| -> Option<Vec<Place>> {
                arguments.iter().map(|argument| Place::read(argument)).collect()
            };
            let (Some(writable), Some(readable)) = (places(writable), places(readable)) else {
                return Err("the helper was called wrongly".to_owned());
            };
            landlock::confine(&Reach::Alone { network, writable: &writable, readable: &readable, hidden })?;
            drop_capabilities().map_err(|error| format!("give up capabilities: {error}"))?;
            seccomp::install(seccomp::Surroundings::Landlock(network))?;
            Ok((Command::new(program), Vec::new()))
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn prepare(_: &Preparation, _: &OsString) -> Result<(Command, Vec<File>), String> {
    Err("there is no sandbox on this system".to_owned())
}

/// `bwrap`, and in it the helper once more.
#[cfg(target_os = "linux")]
fn bubblewrapped(
    outer: &[OsString],
    inner: &[OsString],
    program: &OsString,
    status: File,
) -> Result<(Command, Vec<File>), String> {
    use std::os::fd::AsRawFd as _;
    let (bwrap, options) = outer.split_first().ok_or("the helper was called wrongly")?;
    let mut command = Command::new(bwrap);
    command.args(options).arg("--");
    let own = own_program().map_err(|error| format!("hand over the helper: {error}"))?;
    let path = |file: &File| format!("/proc/self/fd/{}", file.as_raw_fd());
    command.arg(path(&own)).args(inner).arg(PREPARED).arg(path(&status)).arg(program);
    Ok((command, vec![own, status]))
}

/// This very program, as a descriptor that the next one inherits.
#[cfg(target_os = "linux")]
fn own_program() -> rustix::io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};
    open("/proc/self/exe", OFlags::PATH, Mode::empty()).map(File::from)
}

/// A new file that the next program inherits.
#[cfg(target_os = "linux")]
fn new_file(path: &OsString) -> rustix::io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};
    if path.is_empty() {
        return open("/dev/null", OFlags::WRONLY, Mode::empty()).map(File::from);
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
    open(path, flags, Mode::RUSR | Mode::WUSR).map(File::from)
}

/// Root's power over files and processes of others. It does not come back with the next program, because privileges cannot be gained any
/// more.
#[cfg(target_os = "linux")]
fn drop_capabilities() -> rustix::io::Result<()> {
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}

/// As a shell reports a program that it cannot start. It goes where the program's errors would have gone.
pub(super) fn failed(what: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "{NOT_STARTED_WORDS}{what}");
    ExitCode::from(NOT_STARTED)
}

/// The helper's report, if a program's status and errors are that: nothing was started.
pub(crate) fn not_started(code: i32, errors: &[u8]) -> Option<String> {
    let words = errors.strip_prefix(NOT_STARTED_WORDS.as_bytes()).filter(|_| code == i32::from(NOT_STARTED))?;
    Some(String::from_utf8_lossy(words).trim_end().to_owned())
}

const BUBBLEWRAP: &str = "bubblewrap";
const LANDLOCK: &str = "landlock";
const NOT_STARTED: u8 = 126;
const NOT_STARTED_WORDS: &str = "agent: not started: ";
