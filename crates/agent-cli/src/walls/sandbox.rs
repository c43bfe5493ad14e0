//! What holds commands back: which sandbox is wanted, which can be had, what is said about it, and whether it is true.

use crate::commands::args::{SandboxArguments, SandboxCheck, SandboxCommand, SandboxKind};
use crate::config::file::{UserConfig, make_state_home, state_home};
use crate::config::options::{Options, Sandbox as Wanted, Seat};
use crate::config::repository::RepositoryConfig;
use crate::failure::Failure;
use crate::screen::terminal::{escaped, print, say, shown_path};
use crate::walls::hard_links;
use crate::walls::hidden::{self, Hidden};
use crate::walls::own_within;
use crate::walls::protected::{GitSettings, Protection, git_settings, other_names};
use crate::walls::whole_home;
use agent_exec::{
    Access, CheckError, Environment, Finding, Held, Helper, Mechanism, MountTable, Policy, Report, Sandbox, SearchPath,
    Unavailable,
};
use serde::Serialize;
use std::io::{ErrorKind, IsTerminal as _, stdin};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The sandbox of a session, and a word about it. None where none is wanted; or where none can be had, the user insists on none, and sits
/// at the prompt.
pub(crate) fn for_session(
    options: &Options,
    user: &UserConfig,
    repository: &RepositoryConfig,
    place: Place<'_>,
    seat: Seat,
) -> Result<Option<Sandbox>, Failure> {
    let by_user = options.sandbox.or(user.sandbox);
    // Whoever is stricter wins; to ask for none is not to insist on anything.
    let wanted = by_user.unwrap_or(Wanted::WorkspaceWrite).min(repository.sandbox.unwrap_or(Wanted::Off));
    let access = match wanted {
        Wanted::Off => return Ok(None),
        Wanted::ReadOnly => Access::ReadOnly,
        Wanted::WorkspaceWrite => Access::WorkspaceWrite,
    };
    if let Some(warning) = place.protection.warning().filter(|_| !options.quiet) {
        say(&escaped(&format!("agent: sandbox: {warning}")));
    }
    make_state()?;
    let hidden = hidden::of(user, &repository.hidden)?;
    let asked = hidden.asked.clone();
    let writable = writable(user)?;
    own_within::check_writable(&writable)?;
    let own = own_within::protected(place.directory, &writable)?;
    let policy = policy(access, &place, own, writable, hidden);
    match Sandbox::new(policy, helper(), &Environment::inherited()) {
        Ok(sandbox) => {
            check_hidden(&sandbox, &asked)?;
            whole_home::check_held(&sandbox, &place.git, options, seat)?;
            if !options.quiet {
                match seat {
                    Seat::Interactive => tell_shortly(&sandbox, access),
                    Seat::Headless | Seat::Editor | Seat::Looking => {
                        say(&escaped(&format!("agent: sandbox: {sandbox}")));
                    }
                }
                if access == Access::WorkspaceWrite && seat != Seat::Looking {
                    hard_links::tell(place.directory);
                }
            }
            Ok(Some(sandbox.watched_by(Arc::new(place.protection.later(&place.git)))))
        }
        Err(why) => {
            let insists =
                by_user.is_some() || why.is_for_size || repository.sandbox.is_some_and(|wanted| wanted != Wanted::Off);
            without(&why, insists, seat).map(|()| None)
        }
    }
}

/// The same sandbox for a worktree: what is hidden in the tree that it was made of is hidden there, too.
pub(crate) fn in_worktree(
    sandbox: &Sandbox,
    user: &UserConfig,
    (from, to): (&Path, &Path),
    place: Place<'_>,
) -> Result<Sandbox, Failure> {
    let old = sandbox.policy();
    let writable = writable(user)?;
    let own = own_within::protected(place.directory, &writable)?;
    let there = |path: &PathBuf| path.strip_prefix(from).ok().map(|below| to.join(below));
    let also = old.hidden.iter().filter_map(there).filter(|path| path.symlink_metadata().is_ok());
    let asked: Vec<PathBuf> = also.collect();
    let paths = old.hidden.iter().cloned().chain(asked.iter().cloned()).collect();
    let hidden = Hidden { paths, asked: asked.clone(), readable: old.readable.clone() };
    let policy = policy(old.access, &place, own, writable, hidden);
    let made = Sandbox::new(policy, helper(), &Environment::inherited())
        .map_err(|why| Failure::config(format!("cannot enforce the sandbox of the worktree: {why}")))?;
    check_hidden(&made, &asked)?;
    Ok(made.watched_by(Arc::new(place.protection.later(&place.git))))
}

/// What to do where no sandbox can be had. A script has nobody to whom it could be said, so it has to say by itself that it wants none.
fn without(why: &Unavailable, insists: bool, seat: Seat) -> Result<(), Failure> {
    let is_attended = seat == Seat::Interactive && stdin().is_terminal();
    if seat != Seat::Looking && (insists || !is_attended) {
        return Err(Failure::config(format!(
            "cannot enforce the sandbox: {why}; `--sandbox off` runs commands as you, and permission rules still apply"
        )));
    }
    // Also where little is to be said: from here on a command can do what the user can.
    say(&escaped(&format!(
        "agent: NO SANDBOX: allowed commands run as you, with all your files and the network: {why} (`--sandbox off` accepts this)"
    )));
    Ok(())
}

/// One row, and once in a program: `/permissions` has the whole text.
fn tell_shortly(sandbox: &Sandbox, access: Access) {
    static TOLD: Mutex<String> = Mutex::new(String::new());
    let workspace = if access == Access::WorkspaceWrite { "the workspace" } else { "temporary files" };
    let weaker = if sandbox.weaknesses().is_empty() { "" } else { "; weaker than it could be, see /permissions" };
    let name = sandbox.mechanism().name();
    let text = format!("agent: sandbox: commands write only to {workspace}, no network ({name}){weaker}");
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if *told != text {
        say(&escaped(&text));
        *told = text;
    }
}

/// What somebody asked for by name is hidden, or nothing runs.
fn check_hidden(sandbox: &Sandbox, asked: &[PathBuf]) -> Result<(), Failure> {
    let open = sandbox.not_hidden();
    let is_open = |asked: &&PathBuf| asked.canonicalize().is_ok_and(|asked| open.contains(&asked));
    match asked.iter().find(is_open) {
        Some(path) => Err(Failure::config(format!(
            "cannot hide {} (`sandbox_hidden`): commands may write there, and {} cannot hide anything in such a place; install \
             bubblewrap or remove the entry",
            shown_path(path),
            sandbox.mechanism().name()
        ))),
        None => Ok(()),
    }
}

/// What formatters run in where commands run in a sandbox: they write copies, and nothing of the workspace.
pub(crate) fn for_formatters(
    user: &UserConfig,
    directory: &Path,
    commands: Option<&Sandbox>,
) -> Result<Sandbox, Failure> {
    make_state()?;
    // Nothing there can be written, so nothing has to be protected by name.
    let hidden = hidden::of(user, &[])?;
    let mut policy = Policy {
        access: Access::ReadOnly,
        workspace: directory.to_path_buf(),
        protected: Vec::new(),
        kept: Vec::new(),
        placeholders: Vec::new(),
        writable: writable(user)?,
        hidden: hidden.paths,
        readable: hidden.readable,
    };
    // What the repository hides, too.
    if let Some(commands) = commands {
        policy.hidden.clone_from(&commands.policy().hidden);
    }
    Sandbox::new(policy, helper(), &Environment::inherited())
        .map_err(|why| Failure::config(format!("cannot enforce the sandbox of the formatters: {why}")))
}

/// A sandbox of this policy.
pub(crate) fn of_policy(policy: Policy) -> Result<Sandbox, Unavailable> {
    Sandbox::new(policy, helper(), &Environment::inherited())
}

/// This program, and the small one that is installed with it.
fn helper() -> Helper {
    Helper::own_program().beside("agent-helper")
}

/// Where the state cannot be kept at all, nothing is to be hidden there. Where it can be later, it could be read.
fn make_state() -> Result<(), Failure> {
    make_state_home().or_else(|error| match error.kind() {
        ErrorKind::PermissionDenied
        | ErrorKind::ReadOnlyFilesystem
        | ErrorKind::NotADirectory
        // A file stands in its place.
        | ErrorKind::AlreadyExists => Ok(()),
        _ => Err(Failure::config(format!(
            "cannot create the state directory: {error}; set AGENT_STATE_HOME to another directory"
        ))),
    })
}

/// What a session in this directory would get.
pub(crate) fn strongest(
    directory: &Path,
    writable: Vec<PathBuf>,
    programs: &SearchPath,
) -> Result<Sandbox, Unavailable> {
    // Where it fails, the sandbox is tried all the same: what runs in it is known.
    let _ = make_state();
    let protection = Protection::find(directory, programs);
    let place = Place { directory, git: git_settings(directory, programs, &protection.folders()), protection };
    let own = own_within::protected(directory, &writable).unwrap_or_default();
    let policy = policy(Access::WorkspaceWrite, &place, own, writable, hidden::usual());
    Sandbox::new(policy, helper(), &Environment::inherited())
}

/// What other programs act on stays as it is: the repository's own files, and what this program reads and keeps.
fn policy(access: Access, place: &Place<'_>, own: Vec<PathBuf>, writable: Vec<PathBuf>, hidden: Hidden) -> Policy {
    let directory = place.directory;
    let mut kept = place.protection.kept();
    kept.extend(place.git.kept().cloned());
    let mut protected = vec![directory.join(".git"), directory.join(".agent")];
    protected.extend(place.protection.paths());
    protected.extend(place.git.paths().cloned());
    protected.extend(other_names(directory, place.git.paths()));
    protected.extend(own);
    // Elsewhere commands write nothing, but for what of that is mounted here.
    if MountTable::now().is_ok_and(|mounts| mounts.has_mount_in(directory)) {
        protected.extend(place.git.elsewhere.iter().cloned());
        kept.extend(own_within::absent_in(directory, &place.git.elsewhere));
    }
    let copies = hidden::copies(directory, &place.protection.folders());
    Policy {
        access,
        workspace: directory.to_path_buf(),
        protected,
        kept,
        // Nobody else looks at it, so it is in nobody's way. A `.git` in which there is nothing would be.
        placeholders: vec![directory.join(".agent")],
        writable,
        hidden: hidden.paths.into_iter().chain(copies).collect(),
        readable: hidden.readable,
    }
}

/// Where commands run.
pub(crate) struct Place<'a> {
    pub(crate) directory: &'a Path,
    /// What git's configuration names there.
    pub(crate) git: GitSettings,
    pub(crate) protection: Protection,
}

fn writable(user: &UserConfig) -> Result<Vec<PathBuf>, Failure> {
    hidden::absolute("sandbox_writable", &user.sandbox_writable)
}

/// `agent sandbox check`: exit code 0 when all of it is enforced, 1 when something is not, or there is no sandbox.
pub(crate) fn run(arguments: &SandboxArguments) -> Result<u8, Failure> {
    let SandboxCommand::Check(options) = &arguments.command;
    let home = state_home().ok_or_else(|| {
        Failure::config("cannot create files for the check: there is no home directory; set AGENT_STATE_HOME")
    })?;
    make_state()?;
    let mechanism = options.with.map(|kind| match kind {
        SandboxKind::Bubblewrap => Mechanism::Bubblewrap,
        SandboxKind::Landlock => Mechanism::Landlock,
    });
    let (text, code) = match agent_exec::check(&home, mechanism, &helper()) {
        Ok(report) => (shown(&report, options), u8::from(!report.is_good())),
        Err(error @ (CheckError::Unavailable(_) | CheckError::NotThisWay(_))) => (missing(&error, options), 1),
        Err(error) => return Err(Failure::internal(error)),
    };
    print(&text).map_err(|error| Failure::internal(format!("cannot write the report: {error}")))?;
    Ok(code)
}

fn missing(error: &CheckError, options: &SandboxCheck) -> String {
    let why = error.to_string();
    if options.json {
        return as_json(&Checked { mechanism: None, good: false, error: Some(&why), probes: Vec::new() });
    }
    format!("NOT   {}\n", escaped(&why))
}

fn shown(report: &Report, options: &SandboxCheck) -> String {
    if options.json {
        let probes = report.findings.iter().map(Probed::of).collect();
        let mechanism = Some(report.mechanism.name());
        return as_json(&Checked { mechanism, good: report.is_good(), error: None, probes });
    }
    let mut text = format!("sandbox: {} and a system call filter\n", report.mechanism.name());
    for finding in &report.findings {
        let mark = match finding.held {
            Held::Yes => "ok  ",
            Held::No => "OPEN",
            Held::Known => "note",
            Held::Unknown => "?   ",
        };
        let can = if finding.is_allowed || finding.held == Held::Known { "can" } else { "cannot" };
        let can = if finding.held == Held::No && !finding.is_allowed { "CAN" } else { can };
        let detail = escaped(&finding.detail).replace('\n', " ");
        text.push_str(&format!("{mark}  a command {can} {}: {detail}\n", finding.what));
    }
    let count = |held: Held| report.findings.iter().filter(|finding| finding.held == held).count();
    text.push_str(&format!(
        "{} enforced, {} not enforced, {} beyond any sandbox (see the documentation), {} could not be tried here. Each enforced attempt \
         succeeded without the sandbox.\n",
        count(Held::Yes),
        count(Held::No),
        count(Held::Known),
        count(Held::Unknown)
    ));
    text
}

/// The object of `--json`.
#[derive(Serialize)]
struct Checked<'a> {
    mechanism: Option<&'static str>,
    good: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    probes: Vec<Probed<'a>>,
}

#[derive(Serialize)]
struct Probed<'a> {
    id: &'static str,
    what: &'static str,
    expected: &'static str,
    /// `held`, `open`, `known` or `unknown`.
    result: &'static str,
    detail: &'a str,
}

impl<'a> Probed<'a> {
    fn of(finding: &'a Finding) -> Self {
        let result = match finding.held {
            Held::Yes => "held",
            Held::No => "open",
            Held::Known => "known",
            Held::Unknown => "unknown",
        };
        let expected = if finding.is_allowed { "works" } else { "refused" };
        Self { id: finding.id, what: finding.what, expected, result, detail: &finding.detail }
    }
}

fn as_json(checked: &Checked<'_>) -> String {
    // It holds nothing that JSON could not.
    serde_json::to_string_pretty(checked).unwrap_or_default() + "\n"
}
