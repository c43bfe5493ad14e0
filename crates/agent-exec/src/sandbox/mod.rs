//! Sandboxes: what a command may touch, and what holds it to that on this machine.
//!
//! | | bubblewrap and a filter | Landlock and a filter |
//! |---|---|---|
//! | writes outside of the workspace | no | no |
//! | permissions and times of files outside | no | **yes** |
//! | writes to `.git` and the configuration | no | **yes** |
//! | makes or replaces them | not for longer than it runs | as on the left |
//! | network | none; a loopback of its own | no socket at all |
//! | sees the agent's processes, and others | no | **yes**, but not their environment or memory |
//! | outlives its end, or the agent's | no | **yes**, what it detached: the agent looks for it |
//! | `/tmp` | its own | cannot be written; `TMPDIR` can |

pub(crate) mod attempt;
mod bubblewrap;
mod guard;
#[cfg(target_os = "linux")]
mod kept;
#[cfg(not(target_os = "linux"))]
mod kept_elsewhere;
#[cfg(target_os = "linux")]
pub(crate) mod landlock;
mod placeholder;
mod scratch;
#[cfg(target_os = "linux")]
pub(crate) mod seccomp;

use crate::environment::Environment;
use crate::helper::launch::{self, Preparation};
use crate::helper::{Helper, LAUNCH};
use crate::search_path::SearchPath;
use bubblewrap::{Bubblewrap, Run};
use guard::Guard;
pub(crate) use guard::Guarded;
pub use guard::Watch;
use placeholder::Placeholder;
use scratch::Scratch;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// What commands may touch. They may read everything that the user may, but not the temporary files of others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// What may be written.
    pub access: Access,
    /// The directory of the work; absolute, without links.
    pub workspace: PathBuf,
    /// What stays as it is although it lies in the workspace, such as `.git`; for what is not there see `kept`.
    pub protected: Vec<PathBuf>,
    /// What of the workspace must neither come into being nor be replaced by commands: afterwards it is set aside under another name.
    pub kept: Vec<PathBuf>,
    /// Directories of the workspace that, where they are not there, are made empty for as long as the sandbox lasts, so that commands can
    /// make nothing there. Without bubblewrap they are not made.
    pub placeholders: Vec<PathBuf>,
    /// Directories outside of the workspace that may be written, such as a compiler's cache.
    pub writable: Vec<PathBuf>,
}

/// What a command may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The workspace and a temporary directory.
    WorkspaceWrite,
    /// A temporary directory.
    ReadOnly,
}

/// How a policy is enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mechanism {
    /// Namespaces made by `bwrap`, and a filter of system calls.
    Bubblewrap,
    /// Landlock and a filter of system calls: weaker.
    Landlock,
}

impl Mechanism {
    /// Its name, for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "Landlock",
        }
    }

    /// What it does not do although the other one does, for people.
    #[must_use]
    pub const fn weaknesses(self) -> &'static [&'static str] {
        match self {
            Self::Bubblewrap => &[],
            Self::Landlock => &[
                "commands can write .git and the configuration in the workspace",
                "commands can change permissions and times of files outside",
                "commands can read files of others in /tmp, and see other processes",
                "what a command detaches may outlive an agent that is killed",
            ],
        }
    }
}

/// Why no sandbox can be enforced on this machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no sandbox can be enforced here: {bubblewrap}; {landlock}")]
pub struct Unavailable {
    /// Why not with `bwrap`.
    pub bubblewrap: String,
    /// Why not with Landlock.
    pub landlock: String,
}

/// A sandbox that was found to work on this machine. Cheap to clone; the temporary directory goes with the last clone.
#[derive(Clone)]
pub struct Sandbox(Arc<Parts>);

struct Parts {
    policy: Policy,
    mechanism: Mechanism,
    helper: Helper,
    bubblewrap: Option<Bubblewrap>,
    scratch: Scratch,
    guard: Option<Guard>,
    /// Made before it was tried, and gone with it.
    _placeholders: Vec<Placeholder>,
}

impl Sandbox {
    /// Finds out how the policy can be enforced here, the stronger way first, by starting a program in it.
    ///
    /// # Errors
    /// [`Unavailable`] when neither way works. Nothing is then to be started that needs a sandbox.
    pub fn new(policy: Policy, helper: Helper, environment: &Environment) -> Result<Self, Unavailable> {
        let bubblewrap = match Self::with(Mechanism::Bubblewrap, policy.clone(), helper.clone(), environment) {
            Ok(sandbox) => return Ok(sandbox),
            Err(why) => why,
        };
        Self::with(Mechanism::Landlock, policy, helper, environment)
            .map_err(|landlock| Unavailable { bubblewrap, landlock })
    }

    /// The same one way.
    ///
    /// # Errors
    /// Why this way does not work here, as words.
    pub fn with(
        mechanism: Mechanism,
        policy: Policy,
        helper: Helper,
        environment: &Environment,
    ) -> Result<Self, String> {
        // A `bwrap` that a command planted would be no sandbox.
        let untrusted = policy.writable.iter().chain([&policy.workspace]);
        let programs = SearchPath::outside(environment.value("PATH"), untrusted);
        let bubblewrap = match mechanism {
            Mechanism::Bubblewrap => Some(Bubblewrap::find(&programs)?),
            Mechanism::Landlock => {
                #[cfg(target_os = "linux")]
                landlock::available()?;
                None
            }
        };
        if cfg!(not(target_os = "linux")) {
            return Err(format!("{} is a part of Linux", mechanism.name()));
        }
        let scratch = Scratch::new().map_err(|error| format!("make a temporary directory: {error}"))?;
        let writes = policy.access == Access::WorkspaceWrite;
        let wanted = policy.placeholders.iter().filter(|_| writes && bubblewrap.is_some());
        let placeholders = wanted.filter_map(|path| Placeholder::at(path)).collect();
        let guard = writes.then(|| Guard::new(&policy.workspace, &policy.kept));
        let parts = Parts { policy, mechanism, helper, bubblewrap, scratch, guard, _placeholders: placeholders };
        let sandbox = Self(Arc::new(parts));
        sandbox.attempt(environment, &programs)?;
        Ok(sandbox)
    }

    /// The same with somebody who is to hear when commands make what other programs act on; once.
    #[must_use]
    pub fn watched_by(self, watch: Arc<dyn Watch>) -> Self {
        if let Some(guard) = self.guard() {
            guard.watch(watch);
        }
        self
    }

    /// How it is enforced.
    #[must_use]
    pub fn mechanism(&self) -> Mechanism {
        self.0.mechanism
    }

    /// What it enforces.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.0.policy
    }

    /// A directory that the commands may write and that has the same path for them as for this process. Theirs is `TMPDIR`.
    #[must_use]
    pub fn scratch(&self) -> &Path {
        self.0.scratch.path()
    }

    /// A command that starts a program in it. Environment, pipes and working directory are still to be set: `directory` is where the
    /// program will be.
    pub(crate) fn command(&self, program: &Path, directory: &Path, environment: &Environment) -> Command {
        let Parts { policy, helper, bubblewrap, scratch, .. } = &*self.0;
        let mut command = helper.command(LAUNCH);
        match bubblewrap {
            Some(bubblewrap) => {
                launch::add_arguments(&mut command, Preparation::Bubblewrap, &[]);
                command.arg(bubblewrap.program());
                let found = self.guard().map(Guard::protected).unwrap_or_default();
                let run = Run { program, directory, environment, found: &found };
                command.args(bubblewrap.arguments(policy, scratch.path(), run));
                command.arg("--").arg(program);
            }
            None => {
                let writable: Vec<OsString> = self.writable().into_iter().map(OsString::from).collect();
                launch::add_arguments(&mut command, Preparation::Landlock, &writable);
                command.arg(program);
            }
        }
        command
    }

    /// Whether the process that this process starts only holds a pid namespace in which the program is.
    pub(crate) fn has_namespace(&self) -> bool {
        self.0.bubblewrap.is_some()
    }

    /// What is looked at around every command, where commands may write the workspace.
    fn guard(&self) -> Option<&Guard> {
        self.0.guard.as_ref()
    }

    fn writable(&self) -> Vec<PathBuf> {
        let Parts { policy, scratch, .. } = &*self.0;
        let mut writable = vec![scratch.path().to_path_buf()];
        if policy.access == Access::WorkspaceWrite {
            writable.push(policy.workspace.clone());
            writable.extend(policy.writable.iter().cloned());
        }
        writable
    }

    /// Starts a program that does nothing.
    fn attempt(&self, environment: &Environment, programs: &SearchPath) -> Result<(), String> {
        let program = programs.find("true").map_err(|error| format!("`true`: {error}"))?;
        let mut command = self.command(&program, &self.0.policy.workspace, environment);
        command.env_clear().envs(environment.iter()).current_dir("/");
        let name = self.0.mechanism.name();
        let output = attempt::output(command).map_err(|error| format!("{name} could not be tried: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let line = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it does not say why");
        Err(format!("{name} does not work here: {line}"))
    }
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandbox").field("mechanism", &self.0.mechanism).field("policy", &self.0.policy).finish()
    }
}

/// What is in force, in one line.
impl fmt::Display for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let writes = match self.0.policy.access {
            Access::WorkspaceWrite => "commands write in the workspace and a temporary directory only",
            Access::ReadOnly => "commands write in a temporary directory only",
        };
        let name = self.0.mechanism.name();
        write!(f, "{writes}, and have no network ({name})")?;
        match self.0.mechanism.weaknesses() {
            [] => Ok(()),
            weaknesses => write!(f, "; weaker than with bubblewrap: {}", weaknesses.join("; ")),
        }
    }
}
