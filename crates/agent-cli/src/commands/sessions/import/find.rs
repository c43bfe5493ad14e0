//! Where other programs keep their sessions, and which one is meant.

use super::super::lint::lines::{Found, each_within};
use super::From;
use crate::failure::Failure;
use agent_runner::journal::read_regular;
use serde_json::Value;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The file of a session by its id, or the newest one of the directory.
pub(super) fn find(from: From, id: Option<&str>, directory: &Path) -> Result<PathBuf, Failure> {
    let root = root(from)?;
    let mut files = files(&root);
    files.sort_by(|(one, _), (other, _)| other.cmp(one));
    let shown = root.display();
    let Some(id) = id else {
        let of_directory = files.into_iter().find(|(_, path)| works_in(path).is_some_and(|place| place == directory));
        let missing = || format!("cannot import: {shown} has no session of {}", directory.display());
        return of_directory.map(|(_, path)| path).ok_or_else(|| Failure::input(missing()));
    };
    // The names of two programs' files have the time before the id.
    let is_meant = |path: &Path| path.file_stem().and_then(|stem| stem.to_str()).is_some_and(|stem| stem.ends_with(id));
    let found: Vec<PathBuf> = files.into_iter().map(|(_, path)| path).filter(|path| is_meant(path)).collect();
    match found.as_slice() {
        [path] => Ok(path.clone()),
        [] => Err(Failure::input(format!("cannot import: {shown} has no session whose file name ends in `{id}`"))),
        [first, ..] => {
            let (count, first) = (found.len(), first.display());
            Err(Failure::input(format!(
                "cannot import: {count} files in {shown} end in `{id}`, such as {first}; name the file"
            )))
        }
    }
}

fn root(from: From) -> Result<PathBuf, Failure> {
    let (variable, below_home, below) = match from {
        From::Claude => ("CLAUDE_CONFIG_DIR", ".claude", "projects"),
        From::Codex => ("CODEX_HOME", ".codex", "sessions"),
        From::Pi => ("PI_CODING_AGENT_DIR", ".pi/agent", "sessions"),
    };
    let set = std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = set.or_else(|| std::env::home_dir().map(|home| home.join(below_home)));
    let home = home.ok_or_else(|| Failure::input("cannot import: there is no home directory; name the file"))?;
    Ok(home.join(below))
}

/// The session files below a directory, with when each was written. Links are not followed. Files of sub-agents are none.
fn files(root: &Path) -> Vec<(SystemTime, PathBuf)> {
    let (mut files, mut folders) = (Vec::new(), vec![(root.to_owned(), 0)]);
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_ENTRIES) {
            let (path, Ok(found)) = (entry.path(), entry.metadata()) else { continue };
            let name = entry.file_name();
            let is_session = name.to_str().is_some_and(|name| name.ends_with(".jsonl") && !name.starts_with("agent-"));
            if found.is_dir() && depth < DEEPEST {
                folders.push((path, depth + 1));
            } else if found.is_file() && is_session && files.len() < MOST_ENTRIES {
                files.push((found.modified().unwrap_or(SystemTime::UNIX_EPOCH), path));
            }
        }
    }
    files
}

/// The directory that a session works in, as one of its first lines says.
fn works_in(path: &Path) -> Option<PathBuf> {
    let file = read_regular(path).ok()?.take(MOST_HEAD_BYTES);
    let mut place = None;
    // A head that cannot be read says nothing.
    let _ = each_within(path, file, MOST_HEAD_BYTES, |found| {
        if let (Found::Line(line), None) = (found, &place)
            && let Ok(value) = line.value()
        {
            let of = |value: &Value| value["cwd"].as_str().map(PathBuf::from);
            place = of(&value).or_else(|| of(&value["payload"]));
        }
        Ok(())
    });
    place
}

const DEEPEST: usize = 4;
const MOST_ENTRIES: usize = 100_000;
const MOST_HEAD_BYTES: u64 = 256 * 1024;
