//! The arguments of `bwrap`, which makes the namespaces.

use super::doors::{Network, of_the_network};
use super::mounts::{Made, Mounts, TooMany};
use super::place::{Led, Place, led};
use super::scratch::Scratch;
use super::{Access, Fixed, Policy};
use crate::environment::Environment;
use crate::mount_table::MountTable;
use crate::program;
use crate::search_path::SearchPath;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The program `bwrap`.
#[derive(Debug)]
pub(crate) struct Bubblewrap {
    program: PathBuf,
}

impl Bubblewrap {
    /// Looks where the system keeps it before it looks where the user says.
    pub(crate) fn find(programs: &SearchPath) -> Result<Self, String> {
        let found = program::find(NAME, Some(OsStr::new(SYSTEM_PATH))).or_else(|_| programs.find(NAME));
        let program = found.map_err(|_| "bubblewrap (the program bwrap) is not installed".to_owned())?;
        Ok(Self { program })
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    /// Everything between `bwrap` and the program, and the mounts that are to be found within.
    pub(crate) fn arguments(
        &self,
        policy: &Policy,
        fixed: &Fixed,
        hidden: Vec<PathBuf>,
        scratch: &Scratch,
        run: Run<'_>,
    ) -> Result<(Vec<OsString>, Vec<Made>), TooMany> {
        let has_network = run.network == Network::OfTheMachine;
        let of_network = |option: &&str| has_network && *option == NO_NETWORK;
        let options = OPTIONS.iter().copied().filter(|option| !of_network(option));
        let mut line: Vec<OsString> = options.map(OsString::from).collect();
        line.extend(["--bind".into(), scratch.path().into(), "/tmp".into()]);
        let mut mounts = Mounts::default();
        mounts.named(covered_but_named(run.program, run.environment));
        mounts.named(of_the_network().filter(|path| has_network && is_covered(path)));
        mounts.readable(fixed.readable.iter().map(|place| place.path.clone()));
        let (placeholders, protected): (Vec<_>, Vec<_>) =
            protected(policy, &run).into_iter().partition(|path| is_placeholder(policy, path));
        for place in run.given {
            // What commands have closed as a whole stays closed: nobody can see what to protect in it.
            let is_closed = protected.contains(&place.path) || hidden.contains(&place.path);
            if is_closed { mounts.readable([place.path.clone()]) } else { mounts.writable([place.path.clone()]) }
        }
        if run.access == Access::ReadOnly {
            mounts.readable([policy.workspace.clone()]);
        }
        mounts.writable([scratch.path().to_path_buf()]);
        mounts.protected(protected);
        // There is nothing in it to be seen, and one of the sandbox's own costs a tenth of a bind.
        mounts.hidden(placeholders.into_iter().chain(hidden));
        let places: Vec<Place> = run.given.iter().chain(&fixed.readable).cloned().collect();
        let (arguments, made) = mounts.arguments(scratch.empty_file(), &COVERED, &places)?;
        line.extend(arguments);
        // Without this, root's commands could change the kernel's settings: what a user id owns there, it may write in any namespace.
        line.extend(["--remount-ro".into(), "/proc".into()]);
        line.extend(["--chdir".into(), run.directory.into()]);
        Ok((line, made))
    }
}

/// What is to be run.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) program: &'a Path,
    pub(crate) directory: &'a Path,
    pub(crate) environment: &'a Environment,
    /// What is protected besides: it was found after the policy was made.
    pub(crate) found: &'a [PathBuf],
    pub(crate) mounts: &'a MountTable,
    /// What it may write.
    pub(crate) given: &'a [Place],
    /// What stays protected in what was opened.
    pub(crate) sealed: &'a [PathBuf],
    pub(crate) access: Access,
    pub(crate) network: Network,
}

/// What is there of the protected paths, and where links among them lead; where something cannot be seen, what hides it.
fn protected(policy: &Policy, run: &Run<'_>) -> Vec<PathBuf> {
    let mut found = BTreeSet::new();
    for path in policy.protected.iter().chain(run.found).chain(run.sealed) {
        let (real, is_closed) = match led(path) {
            // A link cannot be mounted over. What it leads to can.
            Led::To(real) => (real, false),
            Led::Nowhere => continue,
            // A command that can change nothing there cannot open it either.
            Led::Behind(closed) => (closed, true),
        };
        // Elsewhere nothing can be written anyway; and a link of the repository's must not bring in what is hidden, such as `/tmp`.
        let is_within = |real: &PathBuf| {
            // What is given itself is not protected as a whole, wherever it lies.
            let is_given = !is_closed && run.given.iter().any(|place| place.path == *real);
            !is_given && run.given.iter().any(|place| real.starts_with(&place.path))
        };
        let aliases = run.mounts.aliases(&real);
        found.extend(aliases.into_iter().chain([real]).filter(is_within));
    }
    found.into_iter().collect()
}

/// Whether it is an empty directory that was made so that commands make nothing there.
fn is_placeholder(policy: &Policy, path: &Path) -> bool {
    let is_empty = || path.read_dir().is_ok_and(|mut entries| entries.next().is_none());
    policy.placeholders.iter().any(|placeholder| placeholder == path) && is_empty()
}

/// What is named and the sandbox's own `/tmp` and `/run` would cover: the program, a home in a test's directory, programs of a system that
/// keeps them there.
pub(super) fn covered_but_named(program: &Path, environment: &Environment) -> Vec<PathBuf> {
    let values = environment.iter().filter(|(name, _)| *name != "TMPDIR" && *name != "XDG_RUNTIME_DIR");
    let paths = values.flat_map(|(_, value)| std::env::split_paths(value));
    let mut found: Vec<PathBuf> = paths.filter(|path| is_covered(path) && path.is_dir()).collect();
    found.extend(Some(program.to_path_buf()).filter(|path| is_covered(path)));
    found
}

fn is_covered(path: &Path) -> bool {
    COVERED.iter().any(|covered| path.starts_with(covered) && path != Path::new(covered))
}

const NAME: &str = "bwrap";
const SYSTEM_PATH: &str = "/usr/bin:/usr/local/bin:/bin";
const NO_NETWORK: &str = "--unshare-net";
const COVERED: [&str; 2] = ["/tmp", "/run"];
/// Nothing is shared but the file system, which is read only; the daemons' sockets in `/run` and the files of others in `/tmp` are not
/// seen.
const OPTIONS: &[&str] = &[
    "--unshare-user",
    "--unshare-pid",
    NO_NETWORK,
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--die-with-parent",
    "--new-session",
    // The helper within is the first process, and takes the statuses of the others.
    "--as-pid-1",
    "--cap-drop",
    "ALL",
    "--ro-bind",
    "/",
    "/",
    "--dev",
    "/dev",
    "--proc",
    "/proc",
    "--perms",
    "0555",
    "--tmpfs",
    "/run",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_protected_lies_over_what_is_writable() {
        let workspace = tempfile::tempdir().unwrap();
        let workspace = workspace.path().canonicalize().unwrap();
        let git = workspace.join(".git");
        std::fs::create_dir(&git).unwrap();
        for (link, to) in [("to-hidden", "/run"), ("to-all", "/"), ("to-itself", ".")] {
            std::os::unix::fs::symlink(to, workspace.join(link)).unwrap();
        }
        let policy = |access| Policy {
            access,
            workspace: workspace.clone(),
            protected: [".git", "absent", "to-hidden", "to-all", "to-itself"].map(|name| workspace.join(name)).to_vec(),
            kept: Vec::new(),
            placeholders: Vec::new(),
            writable: vec![PathBuf::from("/absent/at/all")],
            hidden: Vec::new(),
            readable: Vec::new(),
        };
        let scratch = Scratch::beside(&[]).unwrap();
        let bubblewrap = Bubblewrap { program: NAME.into() };
        let arguments = |access| {
            let environment = Environment::filtered([]);
            let program = Path::new("/tmp/program");
            let mounts = MountTable::default();
            let policy = policy(access);
            let fixed = Fixed::of(&policy);
            let run = Run {
                program,
                directory: &workspace,
                environment: &environment,
                found: &[],
                mounts: &mounts,
                given: &fixed.writable,
                sealed: &[],
                access,
                network: Network::None,
            };
            let (arguments, made) = bubblewrap.arguments(&policy, &fixed, Vec::new(), &scratch, run).unwrap();
            assert!(
                made.iter().any(|made| matches!(made, Made::ReadOnly(place) if place.path == git))
                    || access == Access::ReadOnly
            );
            arguments.into_iter().map(|argument| argument.into_string().unwrap()).collect::<Vec<_>>().join(" ")
        };
        let (workspace, git) = (workspace.display(), git.display());
        let writing = arguments(Access::WorkspaceWrite);
        let bound = writing.find(&format!("--bind {workspace} {workspace}")).unwrap();
        assert!(writing[bound..].contains(&format!("--ro-bind {git} {git}")), "{writing}");
        assert!(!writing.contains("absent"), "{writing}");
        assert!(!writing[bound + 1..].contains("--ro-bind / /") && !writing.contains("--ro-bind /run"), "{writing}");
        assert_eq!(writing.matches("--ro-bind").count(), 3, "the root, the program, and what is protected: {writing}");
        assert!(writing.contains("--ro-bind /tmp/program /tmp/program"), "{writing}");
        assert!(arguments(Access::ReadOnly).contains(&format!("--ro-bind {workspace} {workspace}")));
    }
}
