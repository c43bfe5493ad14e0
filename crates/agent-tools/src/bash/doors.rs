//! What of the sandbox a call of `bash` asks to have opened.
//!
//! ```text
//! arguments -> doors, as a person is asked about them -> the places of today that they stand for -> the sandbox of this one call
//! ```
//!
//! 1. A path is named as it is, without links, so what a person reads is what is opened. What is there when the question is made is known
//!    by device and number; if something else is there when the call runs, nothing is opened.
//! 2. Nothing is opened in which other programs find what they run by themselves: no protected name, no directory of `PATH`,
//!    and none of the system's.
//! 3. Git's records are opened to git alone, by sub-commands that record, and without hooks: what a repository's files name does not run
//!    there.

use crate::plain_commands::Plain;
use agent_exec::{Doors, Place, Processes};
use agent_types::tool::{Door, Opening, PlaceMark};
use agent_types::{git_programs, protected};
use schemars::JsonSchema;
use serde::Deserialize;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

/// Opens the sandbox for this one call. The user is asked each time; ask only when a call failed for want of it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SandboxArguments {
    /// Why, in one sentence, for the user who decides.
    reason: String,
    /// Use the network.
    #[serde(default)]
    network: bool,
    /// Write git's objects, branches and index: for `git add`, `git commit` and the like, written out as plain commands. Hooks do not
    /// run, and git's configuration cannot be changed.
    #[serde(default)]
    git: bool,
    /// Write these existing files or directories outside the workspace, each by its absolute path.
    #[serde(default)]
    write: Vec<String>,
    /// Run without the sandbox, with all rights of the user. Excludes the others.
    #[serde(default)]
    outside: bool,
}

impl SandboxArguments {
    /// What a person is asked about, for a command and what it is as plain commands.
    ///
    /// # Errors
    /// Why it cannot be opened, for the model.
    pub(super) fn opening(
        &self,
        (command, plain): (&str, Option<&Plain>),
        is_background: bool,
        root: &Path,
        processes: &Processes,
    ) -> Result<Opening, String> {
        if processes.sandbox().is_none() {
            return Err("there is no sandbox here, so nothing can be opened: leave `sandbox` out".into());
        }
        let reason = self.reason.trim();
        if reason.is_empty() || reason.len() > LONGEST_REASON_BYTES {
            return Err(format!("`sandbox.reason` must say why, in at most {LONGEST_REASON_BYTES} bytes"));
        }
        if self.write.len() > MOST_PATHS {
            return Err(format!("`sandbox.write` may name at most {MOST_PATHS} paths"));
        }
        let (mut doors, mut places) = (Vec::new(), Vec::new());
        doors.extend(self.network.then_some(Door::Network));
        doors.extend(self.git.then_some(Door::Git));
        for path in &self.write {
            let place = writable(path, root, processes)?;
            doors.push(Door::Write(place.path().to_string_lossy().into_owned()));
            places.push(mark(&place));
        }
        if self.outside && !doors.is_empty() {
            return Err("`sandbox.outside` opens everything: leave the others out".into());
        }
        doors.extend(self.outside.then_some(Door::Outside));
        if doors.is_empty() {
            return Err("`sandbox` opens nothing: set `network`, `git`, `write` or `outside`".into());
        }
        if self.git {
            check_git(plain, is_background)?;
        }
        if self.git || self.network {
            match plain {
                Some(plain) => check_directories(plain, root)?,
                None if names_git(command) => return Err(format!("{IN_THE_WORKSPACE}: {AS_PLAIN_COMMANDS}")),
                None => {}
            }
        }
        let opening = Opening { doors, reason: reason.to_owned(), places };
        // What cannot be opened is not asked for.
        opened(&opening, root, processes)?;
        Ok(opening)
    }
}

/// The same opening, with the places that were there when a person or a rule decided about it. Names may be redacted in what was decided.
///
/// # Errors
/// That something else was decided about, for the model.
pub(super) fn decided(opening: &Opening, judged: Option<&Opening>) -> Result<Opening, String> {
    let words = |opening: &Opening| opening.doors.iter().map(Door::word).collect::<Vec<_>>();
    let is_same = |judged: &&Opening| words(judged) == words(opening) && judged.places.len() == opening.places.len();
    let judged = judged.filter(is_same).ok_or("other doors were decided about than this call opens: call again")?;
    Ok(Opening { places: judged.places.clone(), ..opening.clone() })
}

/// What runs a call with these doors. A place is opened if it is the one that the opening was made for.
///
/// # Errors
/// Why it cannot be opened, for the model.
pub(super) fn opened(opening: &Opening, root: &Path, processes: &Processes) -> Result<Processes, String> {
    let mut doors = Doors::default();
    let mut places = opening.places.iter();
    for door in &opening.doors {
        match door {
            Door::Outside => return Ok(processes.outside()),
            Door::Network => doors.network = true,
            Door::Write(path) => {
                let place = writable(path, root, processes)?;
                if places.next() != Some(&mark(&place)) {
                    return Err(format!(
                        "`{path}` was replaced after the question about it, so nothing was opened: call again, and another question is made \
                         about what is there now"
                    ));
                }
                let entries = place.entries().map_err(|error| format!("`{path}` cannot be read: {error}"))?;
                let entries = entries.into_iter().map(|name| place.path().join(name));
                doors.sealed.extend(entries.filter(|entry| is_sealed_everywhere(entry)));
                doors.writable.push(place);
            }
            Door::Git => {
                let git = repository(root)?;
                doors.sealed.extend(entries(&git).filter(|entry| !is_record(entry)));
                doors.sealed.extend(ELSEWHERE.map(|path| git.join(path)).into_iter().filter(|path| path.exists()));
                doors.records = Some(git);
            }
        }
    }
    processes.opened(&doors).map_err(|error| format!("the sandbox cannot be opened so: {error}"))
}

/// The directory whose records these doors open.
pub(super) fn records(opening: &Opening, root: &Path) -> Option<PathBuf> {
    opening.doors.contains(&Door::Git).then(|| repository(root).ok()).flatten()
}

/// Git's variables for a call with open doors, or for one that reads: no program of a repository's configuration that it can do without.
pub(super) fn git_environment(has_records: bool) -> impl Iterator<Item = (String, String)> {
    let of_records = if has_records { OF_RECORDS } else { &[] };
    let all: Vec<(&str, &str)> = git_programs::values().chain(of_records.iter().copied()).collect();
    let count = ("GIT_CONFIG_COUNT".to_owned(), all.len().to_string());
    let settings = all.into_iter().enumerate().flat_map(|(number, (key, value))| {
        [(format!("GIT_CONFIG_KEY_{number}"), key), (format!("GIT_CONFIG_VALUE_{number}"), value)]
    });
    let fixed = VARIABLES.iter().copied().chain(git_programs::variables());
    let fixed = fixed.map(|(name, value)| (name.to_owned(), value.to_owned()));
    fixed.chain([count]).chain(settings.map(|(name, value)| (name, value.to_owned())))
}

/// A path that may be written, without links, and what is there.
fn writable(given: &str, root: &Path, processes: &Processes) -> Result<Place, String> {
    let path = Path::new(given);
    let refuse = |why: &str| Err(format!("`{given}` cannot be opened for writing: {why}"));
    if !path.is_absolute() || path.components().any(|part| matches!(part, Component::ParentDir | Component::CurDir)) {
        return refuse("name it by its absolute path, without `.` and `..`");
    }
    let path: PathBuf = path.components().collect();
    let Ok(real) = path.canonicalize() else { return refuse("it does not exist; name a directory that exists") };
    if real != path {
        return refuse(&format!("it is a link or lies behind one; it is `{}`", real.display()));
    }
    if root.starts_with(&path) {
        return refuse("the workspace lies in it");
    }
    let is_open = |sandbox: &agent_exec::Sandbox| sandbox.policy().access == agent_exec::Access::WorkspaceWrite;
    if path.starts_with(root) && processes.sandbox().is_some_and(is_open) {
        return refuse("commands can write the workspace, but for what is protected in it, without asking");
    }
    if path.symlink_metadata().is_ok_and(|found| found.is_file() && found.nlink() > 1) {
        return refuse("it has another name, a hard link, which would change with it; make a copy of it");
    }
    let text = path.to_string_lossy();
    if let Some(reason) = protected::reason(text.trim_start_matches('/')) {
        return refuse(&format!("it {reason}"));
    }
    let is_repository =
        |folder: &&Path| protected::makes_repository(|name| folder.join(name).symlink_metadata().is_ok());
    if let Some(folder) = path.ancestors().find(is_repository) {
        return refuse(&format!("`{}` is git's own data", folder.display()));
    }
    if protected::is_instructions(&text) {
        return refuse("agents take instructions from it");
    }
    let touches = |other: &Path| other.starts_with(&path) || path.starts_with(other);
    if programs(processes).any(|programs| touches(&programs)) {
        return refuse("programs on `PATH`, or the agent, lie there");
    }
    if OF_THE_SYSTEM.iter().any(|place| touches(Path::new(place))) {
        return refuse("it belongs to the system");
    }
    Place::at(&path).ok_or_else(|| format!("`{given}` cannot be opened for writing: it was replaced just now"))
}

const fn mark(place: &Place) -> PlaceMark {
    let (device, number) = place.mark();
    PlaceMark { device, number }
}

/// Where programs are found by their names, and this one is, by the names of the directories and by where they lead.
fn programs(processes: &Processes) -> impl Iterator<Item = PathBuf> {
    let trusted = processes.programs().map(|programs| programs.directories().to_owned());
    let of_commands = processes.environment().value("PATH").map(ToOwned::to_owned);
    let named = trusted.iter().chain(&of_commands).flat_map(|path| std::env::split_paths(path).collect::<Vec<_>>());
    let own = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.to_path_buf()));
    let all: Vec<PathBuf> = named.chain(own).collect();
    all.into_iter().filter(|path| path.is_absolute()).flat_map(|path| {
        let real = path.canonicalize().ok();
        real.into_iter().chain([path])
    })
}

/// The directory of the repository that the workspace belongs to.
fn repository(root: &Path) -> Result<PathBuf, String> {
    let found = root.ancestors().map(|folder| folder.join(".git")).find(|path| path.symlink_metadata().is_ok());
    let Some(git) = found else { return Err("`sandbox.git`: the workspace is in no git repository".into()) };
    let has = |name: &str, is_directory: bool| {
        git.join(name).symlink_metadata().is_ok_and(|found| !found.is_symlink() && found.is_dir() == is_directory)
    };
    let is_plain = has("", true) && has("objects", true) && has("refs", true) && has("HEAD", false);
    if is_plain && !has("commondir", false) {
        return Ok(git);
    }
    Err(format!(
        "`sandbox.git`: `{}` is no plain repository but leads to one elsewhere, as that of a linked worktree or a submodule; let the user commit",
        git.display()
    ))
}

/// Git obeys the configuration of the repository in which it stands. That of the workspace is protected; one elsewhere, also in the
/// directory for temporary files, may have been made by commands, and names programs that nobody was asked about. Options and variables
/// that lead git elsewhere are not plain commands.
fn check_directories(plain: &Plain, root: &Path) -> Result<(), String> {
    let is_git = |word: &String| word == "git" || word.ends_with("/git");
    if !plain.words().flatten().any(is_git) {
        return Ok(());
    }
    let root = root.canonicalize().map_err(|error| format!("the workspace cannot be found: {error}"))?;
    let mut directory = root.clone();
    for words in plain.words() {
        match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["cd" | "pushd", to] if !to.starts_with('-') => {
                let moved = directory.join(to).canonicalize().ok().filter(|moved| moved.starts_with(&root));
                directory =
                    moved.ok_or_else(|| format!("{IN_THE_WORKSPACE}: `cd {to}` leads out of it, or to nothing"))?;
            }
            ["cd" | "pushd" | "popd", ..] => {
                return Err(format!("{IN_THE_WORKSPACE}: name the directory of `cd`, without options"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether git stands as a word in a text, with or without quotes. A text that hides the word better is shown whole to the person who is
/// asked, as all others are.
fn names_git(text: &str) -> bool {
    let plain: String = text.chars().filter(|sign| !matches!(sign, '\'' | '"' | '\\')).collect();
    let is_of_word = |sign: char| sign.is_alphanumeric() || matches!(sign, '.' | '_' | '-');
    plain.split(|sign| !is_of_word(sign)).any(|word| word == "git")
}

const IN_THE_WORKSPACE: &str = "with `sandbox`, git runs in the workspace alone";
const AS_PLAIN_COMMANDS: &str =
    "write it as plain commands, without variables, substitutions, loops, here-documents and redirects";

/// Only git may write its records: other programs could lay down there what git acts on later.
fn check_git(plain: Option<&Plain>, is_background: bool) -> Result<(), String> {
    if is_background {
        return Err("`sandbox.git` is not for the background: what git made is looked at when it has ended".into());
    }
    let Some(plain) = plain else {
        return Err("`sandbox.git` takes plain git commands only: no expansions, here-documents or redirects, and `git commit -m 'one text'` or \
                    `-F FILE` for a message"
            .into());
    };
    if plain.words().flatten().any(|word| OF_SUBMODULES.iter().any(|option| word.starts_with(option))) {
        return Err("`sandbox.git` does not reach into submodules: leave out options about them".into());
    }
    if let Some(why) = plain.words().find_map(|words| running_option(words)) {
        return Err(format!("`sandbox.git`: {why}"));
    }
    let is_recorder = |name: &String| RECORDERS.contains(&name.as_str());
    let records =
        |words: &[String]| matches!(words, [program, subcommand, ..] if program == "git" && is_recorder(subcommand));
    match plain.beyond_reading().find(|words| !records(words)) {
        None => Ok(()),
        Some(words) => Err(format!(
            "`sandbox.git` is for git alone: `{}` must be another call; the sub-commands are {}",
            words.join(" "),
            RECORDERS.join(", ")
        )),
    }
}

/// Why a git command cannot have the records: an option of it starts a program.
fn running_option(words: &[String]) -> Option<&'static str> {
    let [program, subcommand, arguments @ ..] = words else { return None };
    if program != "git" {
        return None;
    }
    let has =
        |is_meant: &dyn Fn(&str) -> bool| arguments.iter().take_while(|word| *word != "--").any(|word| is_meant(word));
    // Letters may stand together, and long names may be cut.
    let is_letter =
        |word: &str, letter: char| !word.starts_with("--") && word.starts_with('-') && word.contains(letter);
    let is_exec = |word: &str| word.starts_with("--ex") || is_letter(word, 'x');
    if subcommand == "rebase" && has(&is_exec) {
        return Some("`--exec` runs commands, and only git writes its records: run them in another call");
    }
    let is_signature = |word: &str| word.starts_with("-S") || word.starts_with("--gpg");
    let is_tags = |word: &str| ["-s", "-u", "--sign", "--local-user"].iter().any(|option| word.starts_with(option));
    if has(&is_signature)
        || subcommand == "tag" && has(&is_tags)
        || subcommand == "push" && has(&|word| word.starts_with("--signed"))
    {
        return Some("the keys for signatures are hidden from commands: leave the option out, or ask for `outside`");
    }
    None
}

/// Git runs a strategy of another name as a program, `git-merge-NAME`.
pub(super) fn is_built_in(strategy: &str) -> bool {
    ["ort", "recursive", "resolve", "octopus", "ours", "subtree"].contains(&strategy)
}

/// Whether a call makes commits, which a configuration may want signed.
pub(super) fn makes_commits(plain: &Plain) -> bool {
    plain.words().any(|words| {
        matches!(words.as_slice(), [program, subcommand, ..] if program == "git" && COMMITTERS.contains(&&**subcommand))
    })
}

fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// What other programs act on by themselves, wherever it lies.
fn is_sealed_everywhere(entry: &Path) -> bool {
    let name = entry.file_name().unwrap_or_default().to_string_lossy();
    protected::is_protected_name(&name) || protected::is_instructions(&name)
}

/// What git writes when it records.
pub(super) fn is_record(entry: &Path) -> bool {
    let name = entry.file_name().unwrap_or_default().to_string_lossy();
    RECORDS.contains(&&*name) || name.ends_with("_HEAD") || name.starts_with("sharedindex.")
}

#[rustfmt::skip]
const RECORDERS: &[&str] = &[
    "add", "branch", "checkout", "cherry-pick", "commit", "fetch", "merge", "mv", "pull", "push", "rebase", "reset", "restore", "revert", "rm", "stash",
    "switch", "tag",
];
/// Lists of other directories in which git looks for objects.
pub(super) const ELSEWHERE: [&str; 2] = ["objects/info/alternates", "objects/info/http-alternates"];
const COMMITTERS: &[&str] = &["commit", "merge", "cherry-pick", "revert", "rebase", "pull"];
/// The rest of a repository's directory steers git: configuration, hooks, attributes, other working trees, submodules. So does what is
/// not known.
#[rustfmt::skip]
const RECORDS: &[&str] = &[
    "HEAD", "index", "objects", "refs", "logs", "packed-refs", "shallow", "COMMIT_EDITMSG", "MERGE_MSG", "MERGE_MODE", "SQUASH_MSG", "TAG_EDITMSG",
    "AUTO_MERGE", "rebase-merge", "rebase-apply", "sequencer", "gc.log", "lfs",
];
/// Git runs itself in submodules, by their own settings: those that a command has made are obeyed there.
const OF_RECORDS: &[(&str, &str)] = &[
    ("diff.ignoreSubmodules", "all"),
    ("submodule.recurse", "false"),
    ("fetch.recurseSubmodules", "false"),
    ("push.recurseSubmodules", "no"),
    ("status.submoduleSummary", "false"),
];
const OF_SUBMODULES: &[&str] = &["--recurse-s", "--no-recurse-s", "--ignore-s", "--submodule"];
const VARIABLES: &[(&str, &str)] = &[
    ("GIT_TERMINAL_PROMPT", "0"),
    // Another repository on this machine has hooks and settings of its own, which a command may have written, and git obeys them there.
    ("GIT_ALLOW_PROTOCOL", "http:https:git:ssh"),
];
/// What is made up by the kernel, or holds the sockets of services; where the system's programs find their settings, their libraries and
/// further programs that they run (git has those of its sub-commands in a directory of its own).
#[rustfmt::skip]
const OF_THE_SYSTEM: &[&str] = &[
    "/proc", "/sys", "/dev", "/run", "/usr", "/etc", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/boot", "/nix/store", "/snap",
];
const LONGEST_REASON_BYTES: usize = 500;
const MOST_PATHS: usize = 8;
