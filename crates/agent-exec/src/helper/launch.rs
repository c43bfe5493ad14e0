//! Becomes a program, prepared as a sandbox asks.

use super::arguments::Arguments;
use crate::limits;
use rustix::process::{Signal, getppid, set_parent_process_death_signal, setsid};
use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

/// What is done before the program is started, besides what always is: a session of its own, limits, no descriptor of ours, an end with
/// the host's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Preparation {
    /// Nothing.
    None,
    /// The program is `bwrap`: it gets the filters of system calls as descriptors.
    Bubblewrap,
    /// Landlock and a filter.
    Landlock,
}

impl Preparation {
    const ALL: [Self; 3] = [Self::None, Self::Bubblewrap, Self::Landlock];

    const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "landlock",
        }
    }
}

/// Completes a command of the helper. What follows is the program and its arguments.
pub(crate) fn add_arguments(command: &mut Command, preparation: Preparation, writable: &[OsString]) {
    command.arg(std::process::id().to_string()).arg(preparation.word());
    command.arg(writable.len().to_string()).args(writable);
}

/// Returns only when the program could not be started, with what a shell would say.
pub(crate) fn run(mut arguments: Arguments) -> ExitCode {
    let read = |arguments: &mut Arguments| {
        let parent: i32 = arguments.parse()?;
        let word: String = arguments.parse()?;
        let preparation = Preparation::ALL.into_iter().find(|known| known.word() == word)?;
        Some((parent, preparation, arguments.list()?, arguments.next()?))
    };
    let Some((parent, preparation, writable, program)) = read(&mut arguments) else {
        return failed("the helper was called wrongly");
    };
    match become_program(parent, preparation, &writable, &program, arguments.rest()) {
        Err(what) => failed(&what),
        Ok(never) => match never {},
    }
}

fn become_program(
    parent: i32,
    preparation: Preparation,
    writable: &[OsString],
    program: &OsString,
    arguments: Vec<OsString>,
) -> Result<std::convert::Infallible, String> {
    let failed = |what: &'static str| move |error| format!("{what}: {error}");
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(failed("ask to end with the agent"))?;
    // Whoever started this may have ended before that was asked.
    if getppid().map(|pid| pid.as_raw_pid()) != Some(parent) {
        return Err("the agent has ended".to_owned());
    }
    setsid().map_err(failed("begin a session"))?;
    limits::limit_this_process();
    #[cfg(target_os = "linux")]
    let _descriptors = prepare(preparation, writable)?;
    #[cfg(not(target_os = "linux"))]
    if preparation != Preparation::None || !writable.is_empty() {
        return Err("there is no sandbox on this system".to_owned());
    }
    let mut command = Command::new(program);
    #[cfg(target_os = "linux")]
    for descriptor in &_descriptors {
        use std::os::fd::AsRawFd as _;
        command.arg("--add-seccomp-fd").arg(descriptor.as_raw_fd().to_string());
    }
    let error = command.args(arguments).exec();
    Err(format!("start {}: {error}", program.display()))
}

/// The descriptors that the program is to have, the filters for `bwrap`.
#[cfg(target_os = "linux")]
fn prepare(preparation: Preparation, writable: &[OsString]) -> Result<Vec<std::fs::File>, String> {
    use crate::sandbox::{landlock, seccomp};
    let filters = |surroundings| seccomp::programs(surroundings).map_err(|error| format!("make the filter: {error}"));
    close_fds::set_fds_cloexec(3, &[]);
    match preparation {
        Preparation::None => Ok(Vec::new()),
        Preparation::Bubblewrap => {
            let programs = filters(seccomp::Surroundings::Namespaces)?;
            programs.iter().map(|program| in_memory(&seccomp::bytes(program))).collect()
        }
        Preparation::Landlock => {
            landlock::confine(writable)?;
            drop_capabilities().map_err(|error| format!("give up capabilities: {error}"))?;
            for program in filters(seccomp::Surroundings::Landlock)? {
                seccompiler::apply_filter(&program).map_err(|error| format!("install the filter: {error}"))?;
            }
            Ok(Vec::new())
        }
    }
}

/// Root's power over files and processes of others. It does not come back with the next program, because privileges cannot be gained any
/// more.
#[cfg(target_os = "linux")]
fn drop_capabilities() -> rustix::io::Result<()> {
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}

/// A file without a name that the next program inherits.
#[cfg(target_os = "linux")]
fn in_memory(content: &[u8]) -> Result<std::fs::File, String> {
    use rustix::fs::{MemfdFlags, memfd_create};
    use std::io::Seek as _;
    let fill = || {
        let mut file = std::fs::File::from(memfd_create("filter", MemfdFlags::empty())?);
        file.write_all(content)?;
        file.rewind()?;
        Ok(file)
    };
    fill().map_err(|error: std::io::Error| format!("hand over the filter: {error}"))
}

/// As a shell reports a program that it cannot start. It goes where the program's errors would have gone.
fn failed(what: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "{NOT_STARTED_WORDS}{what}");
    ExitCode::from(NOT_STARTED)
}

/// The helper's report, if a program's status and errors are that: nothing was started.
pub(crate) fn not_started(code: i32, errors: &[u8]) -> Option<String> {
    let words = errors.strip_prefix(NOT_STARTED_WORDS.as_bytes()).filter(|_| code == i32::from(NOT_STARTED))?;
    Some(String::from_utf8_lossy(words).trim_end().to_owned())
}

const NOT_STARTED: u8 = 126;
const NOT_STARTED_WORDS: &str = "agent: not started: ";
