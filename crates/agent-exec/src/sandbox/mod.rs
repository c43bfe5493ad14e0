//! Sandboxes: what a command may touch, and what holds it to that on this machine.
//!
//! | | bubblewrap and a filter | Landlock and a filter |
//! |---|---|---|
//! | writes outside of the workspace | no | no |
//! | writes to named pipes outside | no, by Landlock | no |
//! | permissions and times of files outside | no | **yes** |
//! | makes set-user-id files | no | no |
//! | reads what is hidden | no | no, but in the workspace |
//! | writes to `.git` and the configuration | no | **yes** |
//! | makes or replaces them | not for longer than it runs | as on the left |
//! | network | none; a loopback of its own | no socket at all |
//! | sees the agent's processes, and others | no | **yes**, but not their environment or memory |
//! | limits, priorities, shared memory, terminals of others | no | no |
//! | outlives its end, or the agent's | no | **yes**, what it detached: the agent looks for it |
//! | `/tmp` | its own | cannot be written; `TMPDIR` can |

mod absences;
pub(crate) mod attempt;
mod besides;
mod bubblewrap;
#[cfg(target_os = "linux")]
mod carve;
mod doors;
mod guard;
mod hidden;
#[cfg(target_os = "linux")]
mod kept;
#[cfg(not(target_os = "linux"))]
mod kept_elsewhere;
#[cfg(target_os = "linux")]
pub(crate) mod landlock;
pub(crate) mod mounts;
pub(crate) mod place;
mod placeholder;
mod prepared;
mod removal;
mod scratch;
#[cfg(target_os = "linux")]
pub(crate) mod seccomp;
mod spellings;
mod status_file;
mod unavailable;

use crate::environment::Environment;
use crate::helper::Helper;
use crate::leads::leads_into;
use crate::mount_table::MountTable;
use crate::search_path::SearchPath;
pub use besides::Within;
use bubblewrap::Bubblewrap;
use doors::Difference;
pub(crate) use doors::Network;
pub use doors::{DoorError, Doors};
use guard::Guard;
pub(crate) use guard::Guarded;
pub use guard::Watch;
use hidden::Hidden;
pub use place::Place;
use placeholder::Placeholder;
pub(crate) use prepared::Input;
#[cfg(target_os = "linux")]
pub(crate) use scratch::LOCK;
use scratch::Scratch;
use spellings::Spellings;
pub(crate) use status_file::StatusFile;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
pub(crate) use unavailable::Refusal;
pub use unavailable::Unavailable;

/// What commands may touch. They may read what the user may, but not the temporary files of others, and nothing hidden.
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
    /// Files and directories that cannot be read, such as keys; those that are not there yet are hidden when they are. A link hides what it
    /// leads to. The workspace, and what is writable or readable by its own name, is never hidden; what of them lies in something hidden
    /// can be seen.
    pub hidden: Vec<PathBuf>,
    /// What can be read although it lies in something hidden.
    pub readable: Vec<PathBuf>,
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
    /// Landlock and a system call filter: weaker.
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
}

/// The places of a policy, as they were when the sandbox was made. Commands may put something else at their paths; nobody gets that.
#[derive(Debug)]
pub(crate) struct Fixed {
    writable: Vec<Place>,
    readable: Vec<Place>,
}

impl Fixed {
    fn of(policy: &Policy) -> Self {
        let places = |paths: &[PathBuf]| -> Vec<Place> {
            paths.iter().filter_map(|path| Place::at(&path.canonicalize().ok()?)).collect()
        };
        let mut wanted = policy.writable.clone();
        if policy.access == Access::WorkspaceWrite {
            wanted.push(policy.workspace.clone());
        }
        Self { writable: places(&wanted), readable: places(&policy.readable) }
    }
}

/// A sandbox that was found to work on this machine. Cheap to clone; the temporary directory goes with the last clone.
#[derive(Clone)]
pub struct Sandbox(Arc<Parts>, Option<Arc<Difference>>);

struct Parts {
    policy: Policy,
    fixed: Fixed,
    mechanism: Mechanism,
    helper: Helper,
    /// Whether the scratch directory has a copy of the helper.
    has_copy: bool,
    bubblewrap: Option<Bubblewrap>,
    scratch: Scratch,
    hidden: Hidden,
    spellings: Spellings,
    guard: Option<Guard>,
    /// Who finds what other programs act on.
    watch: OnceLock<Arc<dyn Watch>>,
    /// What the kernel can do besides.
    has_landlock: bool,
    keeps_signals: bool,
    /// Made before it was tried, and gone with it.
    _placeholders: Vec<Placeholder>,
}

impl Sandbox {
    /// Finds out how the policy can be enforced here, the stronger way first, by starting a program in it.
    ///
    /// # Errors
    /// [`Unavailable`] when neither way works. Nothing is then to be started that needs a sandbox.
    pub fn new(policy: Policy, helper: Helper, environment: &Environment) -> Result<Self, Unavailable> {
        let bubblewrap = match Self::made(Mechanism::Bubblewrap, policy.clone(), helper.clone(), environment) {
            Ok(sandbox) => return Ok(sandbox),
            Err(Refusal::NotHere(why)) => why,
            Err(Refusal::TooMuch(bubblewrap)) => {
                let landlock = "Landlock alone would be weaker, and was not tried".to_owned();
                return Err(Unavailable { bubblewrap, landlock, is_for_size: true });
            }
        };
        Self::with(Mechanism::Landlock, policy, helper, environment).map_err(|landlock| Unavailable {
            bubblewrap,
            landlock,
            is_for_size: false,
        })
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
        Self::made(mechanism, policy, helper, environment).map_err(|why| why.to_string())
    }

    fn made(mechanism: Mechanism, policy: Policy, helper: Helper, environment: &Environment) -> Result<Self, Refusal> {
        // A `bwrap` that a command planted would be no sandbox.
        let untrusted = policy.writable.iter().chain([&policy.workspace]);
        let programs = SearchPath::outside(environment.value("PATH"), untrusted);
        let fixed = Fixed::of(&policy);
        let bubblewrap = match mechanism {
            Mechanism::Bubblewrap => Some(Bubblewrap::find(&programs)?),
            Mechanism::Landlock => {
                #[cfg(target_os = "linux")]
                landlock::available()?;
                None
            }
        };
        if cfg!(not(target_os = "linux")) {
            return Err(format!("{} exists only on Linux", mechanism.name()).into());
        }
        let taken: Vec<PathBuf> = fixed.writable.iter().map(|place| place.path.clone()).collect();
        let scratch = Scratch::beside(&taken).map_err(|error| format!("make a temporary directory: {error}"))?;
        let writes = policy.access == Access::WorkspaceWrite;
        let wanted = policy.placeholders.iter().filter(|_| writes && bubblewrap.is_some());
        let placeholders: Vec<_> = wanted.filter_map(|path| Placeholder::at(path)).collect();
        let guard = writes.then(|| Guard::new(&policy.workspace, &policy.kept));
        let hidden = Hidden::new(&policy.hidden);
        let has_copy = bubblewrap.is_some() && prepared::copy(&helper, &policy, &scratch);
        let parts = Parts {
            policy,
            fixed,
            mechanism,
            helper,
            has_copy,
            bubblewrap,
            scratch,
            hidden,
            spellings: Spellings::default(),
            guard,
            watch: OnceLock::new(),
            #[cfg(target_os = "linux")]
            has_landlock: landlock::available().is_ok(),
            #[cfg(not(target_os = "linux"))]
            has_landlock: false,
            #[cfg(target_os = "linux")]
            keeps_signals: landlock::keeps_signals(),
            #[cfg(not(target_os = "linux"))]
            keeps_signals: false,
            _placeholders: placeholders,
        };
        let mut sandbox = Self(Arc::new(parts), None);
        let tried = sandbox.attempt(environment, &programs);
        match Arc::get_mut(&mut sandbox.0).filter(|parts| parts.has_copy && tried.is_err()) {
            None => tried?,
            // It may lie where nothing may be run.
            Some(parts) => {
                parts.has_copy = false;
                sandbox.attempt(environment, &programs)?;
            }
        }
        Ok(sandbox)
    }

    /// The same with somebody who is to hear when commands make what other programs act on; once.
    #[must_use]
    pub fn watched_by(self, watch: Arc<dyn Watch>) -> Self {
        let watch = self.0.watch.get_or_init(|| watch);
        if let Some(guard) = self.guard() {
            guard.watch(Arc::clone(watch));
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

    /// What it does not hold on this machine although a sandbox can, for people.
    #[must_use]
    pub fn weaknesses(&self) -> Vec<&'static str> {
        let Parts { mechanism, has_landlock, keeps_signals, .. } = &*self.0;
        let mut found = Vec::new();
        match mechanism {
            Mechanism::Bubblewrap if *has_landlock => {}
            Mechanism::Bubblewrap => {
                found.push("commands can write to named pipes outside the workspace: this kernel has no Landlock");
            }
            Mechanism::Landlock => {
                found.extend(WITHOUT_NAMESPACES);
                found.extend(
                    (!keeps_signals)
                        .then_some("commands can end your other processes: this kernel is older than Linux 6.12"),
                );
                found.extend(
                    (!self.not_hidden().is_empty()).then_some("commands can read hidden files in the workspace"),
                );
            }
        }
        found
    }

    /// What should be hidden and is not: Landlock takes nothing out of what may be written.
    #[must_use]
    pub fn not_hidden(&self) -> Vec<PathBuf> {
        let Parts { mechanism, hidden, .. } = &*self.0;
        if *mechanism == Mechanism::Bubblewrap {
            return Vec::new();
        }
        let shown = self.writable();
        // Landlock's rights are those of a directory by whatever path.
        let is_shown = |hidden: &PathBuf| !shown.contains(hidden) && leads_into(hidden, &shown);
        hidden.now(&MountTable::now().unwrap_or_default()).into_iter().filter(is_shown).collect()
    }

    /// A place where it is told how a command ended, where the number that its process ends with does not.
    pub(crate) fn status_file(&self) -> Option<StatusFile> {
        self.has_namespace().then(|| StatusFile::beside(&self.0.scratch))
    }

    /// Whether the process that this process starts only holds a pid namespace in which the program is.
    pub(crate) fn has_namespace(&self) -> bool {
        self.0.bubblewrap.is_some()
    }

    /// What is looked at around every command that may write the workspace.
    fn guard(&self) -> Option<&Guard> {
        self.0.guard.as_ref().filter(|_| self.access() == Access::WorkspaceWrite)
    }

    fn writable(&self) -> Vec<PathBuf> {
        self.writable_places().into_iter().map(|place| place.path).collect()
    }

    fn writable_places(&self) -> Vec<Place> {
        Place::at(self.0.scratch.path()).into_iter().chain(self.given()).collect()
    }

    /// What is never hidden as a whole.
    fn shown(&self) -> Vec<PathBuf> {
        let Parts { policy, fixed, .. } = &*self.0;
        let mut shown = self.writable();
        shown.extend(fixed.readable.iter().map(|place| place.path.clone()).chain([policy.workspace.clone()]));
        shown
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
        let workspace = match self.0.policy.access {
            Access::WorkspaceWrite => "the workspace and ",
            Access::ReadOnly => "",
        };
        let others = match self.0.policy.writable.len() {
            0 => String::new(),
            1 => " and 1 other directory".to_owned(),
            count => format!(" and {count} other directories"),
        };
        let name = self.0.mechanism.name();
        write!(f, "commands can write only to {workspace}a temporary directory{others}, and have no network ({name})")?;
        match self.weaknesses().as_slice() {
            [] => Ok(()),
            weaknesses => write!(f, "; weaker than it could be: {}", weaknesses.join("; ")),
        }
    }
}

/// What Landlock and a filter leave open.
const WITHOUT_NAMESPACES: [&str; 5] = [
    "commands can write .git and the configuration in the workspace",
    "commands can change the permissions, times and attributes of files outside the workspace",
    "commands can list the names of files everywhere",
    "commands can see other processes",
    "detached processes of a command may outlive an agent that is killed",
];
