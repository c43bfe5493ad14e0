//! The programs that a repository's configuration names: each with the place where it does, and all of them in the form in which they are
//! trusted.

use crate::config_file::{FormatterEntry, HookEntry, UserConfig};
use crate::formatters::program_of;
use crate::hook_places::{self, Ground};
use crate::project;
use crate::repository_config::RepositoryConfig;
use agent_hooks::{Programs, Script};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use toml::Spanned;

/// An entry of a configuration file.
#[derive(Debug)]
pub(crate) struct Named<T> {
    pub(crate) file: PathBuf,
    /// Counted from 1.
    pub(crate) line: usize,
    pub(crate) entry: T,
}

impl<T> Named<T> {
    /// For people: where it stands.
    pub(crate) fn place(&self) -> String {
        format!("{}, line {}", self.file.display(), self.line)
    }

    /// The folder that the configuration is for.
    pub(crate) fn folder(&self) -> &Path {
        self.file.parent().and_then(Path::parent).unwrap_or(Path::new("/"))
    }
}

/// What a project runs where it is trusted, as a session in this directory reads it: the entries of each file, and the scripts that they begin
/// with.
pub(crate) fn named(directory: &Path, config: &RepositoryConfig) -> Programs {
    let root = project::root(directory);
    let file_of = |folder: &Path| folder.join(".agent").join("config.toml");
    // A file that names nothing, or is not there, is told from one that did.
    let mut programs: Programs =
        project::folders(directory).into_iter().map(|folder| (name(&file_of(folder), &root), Vec::new())).collect();
    let mut add = |file: &Path, line: String| programs.entry(name(file, &root)).or_default().push(line);
    for hook in &config.hooks {
        add(&hook.file, line("hook", &hook.entry));
    }
    for formatter in &config.formatters {
        add(&formatter.file, line("formatter", &formatter.entry));
    }
    let of_hooks = config.hooks.iter().filter_map(|hook| Script::named(&hook.entry.command, directory, &root));
    let of_formatters = config.formatters.iter().filter_map(|formatter| Script::at(&program_of(formatter), &root));
    // What may be pinned is found by other rules than what a shell begins with.
    let ground = Ground { directory, user: &UserConfig::default(), has_sandbox: false };
    let pinned = config.hooks.iter().filter_map(|hook| hook_places::script(&hook.entry, ground, &root));
    for script in of_hooks.chain(of_formatters).chain(pinned) {
        programs.insert(name(script.path(), &root), vec![format!("{CONTENT}{}", script.content())]);
    }
    programs
}

/// The content that a script was trusted with.
pub(crate) fn content(programs: &Programs, script: &Path, root: &Path) -> Option<String> {
    let [line] = programs.get(&name(script, root))?.as_slice() else { return None };
    line.strip_prefix(CONTENT).map(str::to_owned)
}

/// Says where the hooks are to run; part of what is kept, and of no place that a repository could name.
pub(crate) fn run_outside(programs: &mut Programs, is_outside: bool) {
    let word = if is_outside { OUTSIDE } else { INSIDE };
    programs.insert(WHERE.to_owned(), vec![word.to_owned()]);
}

/// Whether the user let them run outside of the sandbox.
pub(crate) fn is_outside(programs: &Programs) -> bool {
    programs.get(WHERE).is_some_and(|lines| *lines == [OUTSIDE])
}

/// What is different, for people.
pub(crate) fn differences(trusted: &Programs, now: &Programs) -> Vec<String> {
    let mut said = Vec::new();
    for (place, lines) in now {
        let before = trusted.get(place).map_or(&[][..], Vec::as_slice);
        let told = |word: &str, line: &String| format!("{word} in {place}: {line}");
        said.extend(before.iter().filter(|line| !lines.contains(line)).map(|line| told("gone", line)));
        said.extend(lines.iter().filter(|line| !before.contains(line)).map(|line| told("new", line)));
        if before != lines && before.len() == lines.len() && before.iter().all(|line| lines.contains(line)) {
            said.push(format!("in another order in {place}"));
        }
    }
    said
}

/// All that an entry says, also what it says by saying nothing.
fn line(kind: &str, entry: &impl Serialize) -> String {
    let said = serde_json::to_string(entry).unwrap_or_else(|error| error.to_string());
    format!("{kind} {said}")
}

/// A path below the root, with every byte that is no text told apart.
fn name(path: &Path, root: &Path) -> String {
    let path = path.strip_prefix(root).unwrap_or(path);
    path.to_str().map_or_else(|| format!("{path:?}"), str::to_owned)
}

/// The formatters of a file, or why they cannot be used.
pub(crate) fn formatters(file: &Path, text: &str) -> Result<Vec<Named<FormatterEntry>>, String> {
    read(file, text, "formatters", |found: Formatters| found.formatters)
}

/// The hooks of a file, or why they cannot be used.
pub(crate) fn hooks(file: &Path, text: &str) -> Result<Vec<Named<HookEntry>>, String> {
    read(file, text, "hooks", |found: Hooks| found.hooks)
}

const CONTENT: &str = "its content is ";
/// No path has this byte.
const WHERE: &str = "\0where hooks run";
const OUTSIDE: &str = "outside of the sandbox, where they can be pinned";
const INSIDE: &str = "in the sandbox";

#[derive(Deserialize)]
struct Formatters {
    formatters: Vec<Spanned<FormatterEntry>>,
}

#[derive(Deserialize)]
struct Hooks {
    hooks: Vec<Spanned<HookEntry>>,
}

/// Reads the text once more, because only in it an entry has a place.
fn read<T: DeserializeOwned, E>(
    file: &Path,
    text: &str,
    key: &str,
    entries: impl FnOnce(T) -> Vec<Spanned<E>>,
) -> Result<Vec<Named<E>>, String> {
    let line = |at: usize| text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
    let found: T = toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| format!(", line {}", line(span.start))).unwrap_or_default();
        format!("use `{key}` of {}{line}: {}", file.display(), error.message())
    })?;
    let named = |entry: Spanned<E>| Named {
        file: file.to_path_buf(),
        line: line(entry.span().start),
        entry: entry.into_inner(),
    };
    Ok(entries(found).into_iter().map(named).collect())
}
