//! The programs that a repository's configuration names, in the form in which they are trusted.

use crate::mcp::files;
use crate::skills::Found;
use agent_hooks::Programs;
use serde::Serialize;
use std::path::Path;

/// Whether the programs are used that a project names, and what there is to say about it.
#[derive(Debug, Default)]
pub(crate) struct Trust {
    pub(crate) is_given: bool,
    /// Whether its programs may run outside of the sandbox, where that can be done.
    pub(crate) is_outside: bool,
    /// What was compared with what was trusted.
    pub(crate) programs: Programs,
    /// The skills of the project, which are used where the trust is given.
    pub(crate) skills: Found,
    /// The MCP servers of the project, as they were compared: its file is not read again.
    pub(crate) servers: files::Found,
    pub(crate) told: Vec<String>,
}

/// The content that a script was trusted with.
pub(crate) fn content(programs: &Programs, script: &Path, root: &Path) -> Option<String> {
    let [line] = programs.get(&name(script, root))?.as_slice() else { return None };
    line.strip_prefix(CONTENT).map(str::to_owned)
}

/// The line that says with which content a script is trusted.
pub(crate) fn content_line(content: &str) -> String {
    format!("{CONTENT}{content}")
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
        said.extend(before.iter().filter(|line| !lines.contains(line)).map(|line| told("removed", line)));
        said.extend(lines.iter().filter(|line| !before.contains(line)).map(|line| told("added", line)));
        if before != lines && before.len() == lines.len() && before.iter().all(|line| lines.contains(line)) {
            said.push(format!("reordered in {place}"));
        }
    }
    said
}

/// All that an entry says, also what it says by saying nothing.
pub(crate) fn line(kind: &str, entry: &impl Serialize) -> String {
    let said = serde_json::to_string(entry).unwrap_or_else(|error| error.to_string());
    format!("{kind} {said}")
}

/// A path below the root, with every byte that is no text told apart.
pub(crate) fn name(path: &Path, root: &Path) -> String {
    let path = path.strip_prefix(root).unwrap_or(path);
    path.to_str().map_or_else(|| format!("{path:?}"), str::to_owned)
}

const CONTENT: &str = "its content is ";
/// No path has this byte.
const WHERE: &str = "\0where hooks run";
const OUTSIDE: &str = "outside of the sandbox, where they can be pinned";
const INSIDE: &str = "in the sandbox";
