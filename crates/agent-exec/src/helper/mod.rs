//! The helper: this library as a program of its own.
//!
//! What has to happen between the start of a process and the start of its program (a session of its own, a filter of system calls, no
//! descriptor of ours) is done by a small program and not between `fork` and `exec` in the host: there, little is allowed, and the cost
//! grows with the host's memory. The program that embeds this library can be its own helper: it calls [`help`] first thing in `main`.
//!
//! ```text
//! launch   prepares itself as a sandbox asks, and becomes the program          helper/launch.rs
//! confine  the same within bubblewrap, for what can only be done there         helper/confine.rs
//! keep     starts a command and adopts its orphans, so that all of it is known  helper/keep.rs
//! watch    waits for the end of the host, however it ends, and ends its commands   helper/watch.rs
//! probe    tries something that a sandbox should refuse                         check/probes.rs
//! ```

pub(crate) mod arguments;
#[cfg(target_os = "linux")]
pub(crate) mod confine;
#[cfg(target_os = "linux")]
pub(crate) mod keep;
pub(crate) mod launch;
#[cfg(target_os = "linux")]
mod small;
pub(crate) mod watch;

use crate::sandbox::mounts::Made;
use crate::sandbox::place::Place;
use arguments::Arguments;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// How the helper is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Helper {
    program: PathBuf,
    arguments: Vec<OsString>,
    /// The name of a small one beside this program.
    beside: Option<OsString>,
}

impl Helper {
    /// This very program, which calls [`help`] first thing in its `main`. It is found also when its file was replaced meanwhile.
    #[must_use]
    pub fn own_program() -> Self {
        let program = if cfg!(target_os = "linux") {
            PathBuf::from("/proc/self/exe")
        } else {
            std::env::current_exe().unwrap_or_default()
        };
        Self { program, arguments: Vec::new(), beside: None }
    }

    /// Another program that does so. It gets these arguments before the helper's own, and has to take them away.
    #[must_use]
    pub fn program(program: PathBuf, arguments: Vec<OsString>) -> Self {
        Self { program, arguments, beside: None }
    }

    /// The same with the name of a small program in this one's directory, which calls [`help`] and does nothing else: with it sandboxed
    /// commands start quicker. It is not used where it is missing, of another build or another owner, or where commands may write.
    #[must_use]
    pub fn beside(mut self, name: impl Into<OsString>) -> Self {
        self.beside = Some(name.into());
        self
    }

    /// A program that can be a helper from a copy, where there is a small one; what lies in the untrusted places does not count.
    #[cfg(target_os = "linux")]
    pub(crate) fn small(&self, untrusted: &[&Path]) -> Option<Vec<u8>> {
        let beside = self.beside.as_deref().and_then(|name| small::beside_own(name, untrusted));
        beside.or_else(|| small::content(&self.program))
    }

    /// A command that starts it. The path to the program may have to mean the same elsewhere, such as in a sandbox.
    pub(crate) fn command(&self, duty: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).arg(WORD).arg(duty);
        command
    }

    /// Its arguments where it starts a program within bubblewrap, after a look at the mounts. Where nothing is named as writable there
    /// is no Landlock; where no bound is given there is none on memory. How far it is prepared, the file for its status and the program
    /// follow.
    #[cfg(target_os = "linux")]
    pub(crate) fn within(&self, made: &[Made], writable: &[Place], bound: Option<u64>) -> Vec<OsString> {
        let mut line = self.arguments.clone();
        line.extend([WORD.into(), CONFINE.into()]);
        let mut mounts = Vec::with_capacity(made.len() * Made::ARGUMENTS);
        made.iter().for_each(|made| made.put(&mut mounts));
        arguments::put_list(&mut line, &mounts);
        arguments::put_list(&mut line, &writable.iter().map(Place::to_argument).collect::<Vec<_>>());
        line.push(bound_argument(bound));
        line
    }

    /// Whether it can be found: this program's own file is named by way of `/proc`, which some places do not have.
    #[cfg(target_os = "linux")]
    pub(crate) fn is_there(&self) -> bool {
        self.program.exists()
    }

    /// Program and arguments as they are where `/proc` shows other processes.
    pub(crate) fn elsewhere(&self) -> std::io::Result<(PathBuf, &[OsString])> {
        Ok((self.program.canonicalize()?, &self.arguments))
    }
}

/// A bound as an argument: no number is none.
pub(crate) fn bound_argument(bound: Option<u64>) -> OsString {
    bound.map_or_else(|| NO_BOUND.into(), |bytes| bytes.to_string().into())
}

/// What [`bound_argument`] wrote.
#[cfg(target_os = "linux")]
pub(crate) fn set_bound(argument: &OsStr) -> Result<(), String> {
    if argument == NO_BOUND {
        return Ok(());
    }
    let bytes = argument.to_str().and_then(|text| text.parse().ok()).ok_or("the helper was called wrongly")?;
    crate::limits::bound(bytes)
}

/// Does the helper's work when this process was started as a helper, and says with what to end it. Otherwise it does nothing.
///
/// Call it first thing in `main`, before threads are started: what is prepared here is prepared for one thread.
#[must_use]
pub fn help() -> Option<ExitCode> {
    help_with(std::env::args_os().skip(1))
}

/// The same for a program that has other arguments before the helper's own.
#[must_use]
pub fn help_with(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter();
    if arguments.next()? != OsStr::new(WORD) {
        return None;
    }
    let duty = arguments.next().unwrap_or_default();
    let arguments = Arguments::new(arguments.collect());
    Some(match duty.to_str() {
        Some(LAUNCH) => launch::run(arguments),
        Some(WATCH) => watch::run(arguments),
        #[cfg(target_os = "linux")]
        Some(CONFINE) => confine::run(arguments),
        #[cfg(target_os = "linux")]
        Some(KEEP) => keep::run(arguments),
        #[cfg(target_os = "linux")]
        Some(PROBE) => crate::check::probe(arguments),
        #[cfg(target_os = "linux")]
        Some(BUILD) => launch::failed(small::BUILD),
        Some(_) | None => ExitCode::from(MISUSED),
    })
}

const NO_BOUND: &str = "unbounded";
/// The first argument of a helper. Users do not type it.
pub(crate) const WORD: &str = "agent-exec-helper";
pub(crate) const LAUNCH: &str = "launch";
const CONFINE: &str = "confine";
pub(crate) const WATCH: &str = "watch";
#[cfg(target_os = "linux")]
pub(crate) const KEEP: &str = "keep";
pub(crate) const PROBE: &str = "probe";
/// Says of what build it is; this is what makes the words stand in the program.
#[cfg(target_os = "linux")]
const BUILD: &str = "build";
const MISUSED: u8 = 2;
