//! The commands that start programs in a sandbox.
//!
//! ```text
//! bubblewrap, a copy of the helper, no input    bwrap, helper, program           an `exec` of this whole program less
//! bubblewrap otherwise                          helper, bwrap, helper, program
//! Landlock                                      helper, program
//! ```

use super::bubblewrap::{Run, covered_but_named};
use super::doors::{Network, of_the_network};
use super::place::Place;
use super::scratch::Scratch;
use super::{Parts, Policy, Refusal, Sandbox, StatusFile, attempt};
use crate::environment::Environment;
use crate::helper::launch::{self, Preparation};
use crate::helper::{Helper, LAUNCH, bound_argument};
use crate::mount_table::MountTable;
use crate::search_path::SearchPath;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a program gets to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Nothing,
    /// A pipe, which is still to be set.
    Piped,
}

impl Sandbox {
    /// A command that starts a program in it. Environment, output, working directory and the program's arguments are still to be set:
    /// `directory` is where the program will be.
    ///
    /// # Errors
    /// Why not all that is to be held can be; then nothing may be started.
    pub(crate) fn command(
        &self,
        program: &Path,
        directory: &Path,
        environment: &Environment,
        status: Option<&StatusFile>,
        input: Input,
    ) -> Result<Command, Refusal> {
        let mounts = MountTable::now().map_err(|error| format!("read the mount table: {error}"))?;
        let Parts { policy, fixed, helper, bubblewrap, scratch, hidden, has_landlock, .. } = &*self.0;
        let preparation = match bubblewrap {
            Some(bubblewrap) => {
                let found = self.guard().map(super::Guard::protected).unwrap_or_default();
                let (given, sealed) = (self.given(), self.difference().map(|difference| &*difference.sealed));
                let run = Run {
                    program,
                    directory,
                    environment,
                    found: &found,
                    mounts: &mounts,
                    given: &given,
                    sealed: sealed.unwrap_or_default(),
                    access: self.access(),
                    network: self.network(),
                };
                let hidden = [hidden.now(&mounts), self.like_records(&found)].concat();
                let arguments = bubblewrap.arguments(policy, fixed, hidden, scratch, run);
                let (options, made) = arguments.map_err(|why| Refusal::TooMuch(why.to_string()))?;
                if let Some(place) = self.0.spellings.many_for_one(&made, &mounts) {
                    return Err(Refusal::several_spellings(&place));
                }
                // Without Landlock the helper only looks at the mounts.
                let writable = if *has_landlock { self.writable_places() } else { Vec::new() };
                let inner = helper.within(&made, &writable, self.bound());
                if let Some(mut command) = self.direct(&options, &inner, status, input) {
                    command.arg(program);
                    return Ok(command);
                }
                let outer = [vec![bubblewrap.program().as_os_str().to_owned()], options].concat();
                let status = status.map(|status| status.path().as_os_str().to_owned()).unwrap_or_default();
                Preparation::Bubblewrap { outer, inner, status }
            }
            None => {
                let named = covered_but_named(program, environment);
                let workspace = Place::at(&policy.workspace);
                let readable = fixed.readable.iter().cloned().chain(workspace);
                let has_network = self.network() == Network::OfTheMachine;
                let named = named.into_iter().chain(of_the_network().filter(|_| has_network));
                let named = named.filter_map(|path| Place::at(&path.canonicalize().ok()?));
                let shown = self.shown();
                Preparation::Landlock {
                    network: has_network.to_string().into(),
                    bound: bound_argument(self.bound()),
                    writable: as_arguments(&self.writable_places()),
                    readable: as_arguments(&readable.chain(named).collect::<Vec<_>>()),
                    hidden: os_strings(hidden.now(&mounts).into_iter().filter(|path| !shown.contains(path)).collect()),
                }
            }
        };
        let mut command = helper.command(LAUNCH);
        command.stdin(Stdio::null());
        launch::add_arguments(&mut command, &preparation);
        command.arg(program);
        Ok(command)
    }

    /// `bwrap` itself, which starts the copy of the helper. Its input leads there, and no other descriptor has to be handed over.
    #[cfg(target_os = "linux")]
    fn direct(
        &self,
        options: &[OsString],
        inner: &[OsString],
        status: Option<&StatusFile>,
        input: Input,
    ) -> Option<Command> {
        use super::scratch::HELPER;
        use crate::helper::confine::{SCRATCH, UNPREPARED};
        use std::os::unix::process::CommandExt as _;
        let Parts { bubblewrap, scratch, .. } = &*self.0;
        let bubblewrap = bubblewrap.as_ref().filter(|_| self.0.has_copy && input == Input::Nothing)?;
        let within = Path::new(SCRATCH);
        let status = status.and_then(|status| status.path().file_name());
        let mut command = Command::new(bubblewrap.program());
        command.args(options).arg("--").arg(within.join(HELPER)).args(inner).arg(UNPREPARED);
        command.arg(status.map_or_else(|| PathBuf::from("/dev/null"), |name| within.join(name)));
        command.stdin(scratch.descriptor().ok()?).process_group(0);
        Some(command)
    }

    #[cfg(not(target_os = "linux"))]
    fn direct(&self, _: &[OsString], _: &[OsString], _: Option<&StatusFile>, _: Input) -> Option<Command> {
        None
    }

    /// Starts a program that does nothing, where nothing can be written: what is protected in what can be written is mounted one by one,
    /// and each mount costs more than the one before. That all of it can be held is found out without a start; a mount that fails later
    /// ends its command.
    pub(super) fn attempt(&self, environment: &Environment, programs: &SearchPath) -> Result<(), Refusal> {
        let program = programs.find("true").map_err(|error| format!("`true`: {error}"))?;
        let directory = &self.0.policy.workspace;
        self.command(&program, directory, environment, None, Input::Nothing)?;
        let mut command = self.reading().command(&program, directory, environment, None, Input::Nothing)?;
        command.env_clear().envs(environment.iter()).current_dir("/");
        let name = self.0.mechanism.name();
        let output = attempt::output(command).map_err(|error| format!("{name} could not be tried: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it gives no reason");
        Err(format!("{name} does not work here: {line}").into())
    }
}

/// Keeps a copy of the helper beside what commands may write, if it is small. Whether there is one.
#[cfg(target_os = "linux")]
pub(super) fn copy(helper: &Helper, policy: &Policy, scratch: &Scratch) -> bool {
    let untrusted: Vec<&Path> = policy.writable.iter().chain([&policy.workspace]).map(PathBuf::as_path).collect();
    helper.small(&untrusted).is_some_and(|content| scratch.keep_helper(&content).is_ok())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn copy(_: &Helper, _: &Policy, _: &Scratch) -> bool {
    false
}

fn as_arguments(places: &[Place]) -> Vec<OsString> {
    places.iter().map(Place::to_argument).collect()
}

fn os_strings(paths: Vec<PathBuf>) -> Vec<OsString> {
    paths.into_iter().map(OsString::from).collect()
}
