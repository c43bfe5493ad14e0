//! Commands that the person or the repository wrote: a text for the agent in a file, with places for what is typed behind the name.
//!
//! A repository's text is not trusted: the prompt shows all of it and asks before it is sent. Nothing in a text is ever run.

use crate::config::file::{config_home, read_capped};
use crate::config::project;
use crate::skills::Skill;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A command that stands in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Custom {
    pub(crate) name: String,
    /// What may follow, and what it does, as the file says.
    pub(crate) hint: String,
    pub(crate) description: String,
    body: String,
    pub(crate) is_of_repository: bool,
}

impl Custom {
    /// What the file makes of the name and the text.
    fn new(name: &str, text: &str, is_of_repository: bool) -> Self {
        let (head, body) = parted(text);
        let value = |key: &str| {
            let line = head.lines().find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix(':'));
            line.map(|value| value.trim().trim_matches(['"', '\'']).to_owned()).unwrap_or_default()
        };
        Self {
            name: name.to_owned(),
            hint: value("argument-hint"),
            description: value("description"),
            body: body.trim().to_owned(),
            is_of_repository,
        }
    }

    /// The message: `$ARGUMENTS` is all that was typed behind the name, `$1` to `$9` a word of it. Where the text has no place for them,
    /// they follow it.
    pub(crate) fn message(&self, arguments: &str) -> String {
        let words: Vec<&str> = arguments.split_whitespace().collect();
        let (mut out, mut rest, mut has_place) = (String::new(), self.body.as_str(), false);
        while let Some((before, after)) = rest.split_once('$') {
            out.push_str(before);
            let digit = after.chars().next().and_then(|c| c.to_digit(10)).filter(|digit| *digit > 0);
            if let Some(after) = after.strip_prefix("ARGUMENTS") {
                out.push_str(arguments);
                (rest, has_place) = (after, true);
            } else if let Some(digit) = digit {
                out.push_str(words.get(digit as usize - 1).copied().unwrap_or_default());
                (rest, has_place) = (after.get(1..).unwrap_or_default(), true);
            } else {
                out.push('$');
                rest = after;
            }
        }
        out.push_str(rest);
        if !has_place && !arguments.is_empty() {
            out.push_str(&format!("\n\n{arguments}"));
        }
        out
    }
}

/// The lines between two rows of `---` at the beginning, and the text behind them.
fn parted(text: &str) -> (&str, &str) {
    let head = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---"));
    match head {
        Some((head, rest)) => (head, rest.split_once('\n').map_or("", |(_, body)| body)),
        None => ("", text),
    }
}

/// All there are for a directory, by name, and what could not be read. The person's own stand above the repository's, and the closer
/// folder's above those of the others.
pub(crate) fn found(directory: &Path) -> (Vec<Custom>, Vec<String>) {
    let mut folders: Vec<(PathBuf, bool)> = Vec::new();
    if project::of_another_user(directory).is_none() {
        folders.extend(project::folders(directory).iter().map(|folder| (folder.join(".agent").join("commands"), true)));
    }
    folders.extend(config_home().map(|home| (home.join("commands"), false)));
    let (mut all, mut unreadable) = (BTreeMap::new(), Vec::new());
    for (folder, is_of_repository) in folders {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten().take(MOST_FILES) {
            let path = entry.path();
            let Some(name) = name_of(&path) else { continue };
            match text_of(&path, is_of_repository) {
                Ok(Some(text)) => drop(all.insert(name.clone(), Custom::new(&name, &text, is_of_repository))),
                Ok(None) => {}
                Err(why) => unreadable.push(format!("cannot read the command /{name}: {why}")),
            }
        }
    }
    (all.into_values().collect(), unreadable)
}

/// A skill as a command, `/skill:NAME`: its text goes to the agent with what is typed behind it.
pub(crate) fn of_skill(skill: &Skill) -> Custom {
    Custom {
        name: format!("skill:{}", skill.name),
        hint: String::from("[WORDS]"),
        description: skill.description.clone(),
        body: format!("<skill_content name=\"{}\">\n{}\n</skill_content>", skill.name, skill.body),
        is_of_repository: false,
    }
}

/// The name of the command in such a file, where it is one that can be typed.
fn name_of(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?.strip_suffix(".md")?;
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
    (!name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(is_plain)).then(|| name.to_owned())
}

/// A repository's link could show the agent any file of the person: only files that stand there themselves are read.
fn text_of(path: &Path, is_of_repository: bool) -> Result<Option<String>, String> {
    if is_of_repository {
        let real = path.canonicalize().map_err(|error| error.to_string())?;
        let own = path.parent().and_then(|folder| folder.parent()?.parent()?.canonicalize().ok());
        if own.is_none_or(|own| real != own.join(".agent/commands").join(path.file_name().unwrap_or_default())) {
            return Err(String::from("it is a link, or lies behind one"));
        }
    }
    read_capped(path).map_err(|error| error.to_string())
}

const MOST_FILES: usize = 200;
const LONGEST_NAME: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_have_their_places_and_are_not_read_again() {
        let message = |body: &str, arguments: &str| Custom::new("x", body, false).message(arguments);
        assert_eq!(message("Fix $1 in $2; all: $ARGUMENTS.", "a  b"), "Fix a in b; all: a  b.");
        assert_eq!(message("Fix $1.", "$ARGUMENTS $2"), "Fix $ARGUMENTS.");
        assert_eq!(message("Costs $ and $x, $0 $3", "a"), "Costs $ and $x, $0 ");
        assert_eq!(message("Review.", "the parser"), "Review.\n\nthe parser");
        assert_eq!(message("Review.", ""), "Review.");
    }

    #[test]
    fn the_head_of_a_file_describes_it() {
        let text = "---\ndescription: \"Looks at it\"\nargument-hint: FILE\nmodel: x\n---\n\nLook at $1.\n";
        let custom = Custom::new("look", text, true);
        assert_eq!((custom.description.as_str(), custom.hint.as_str()), ("Looks at it", "FILE"));
        assert_eq!(custom.message("a.rs"), "Look at a.rs.");
        assert_eq!(Custom::new("look", "--- no head", true).message(""), "--- no head");
    }

    #[test]
    fn names_that_cannot_be_typed_are_none() {
        for (path, name) in [
            ("/x/look-at_2.md", Some("look-at_2")),
            ("/x/Look.md", None),
            ("/x/.md", None),
            ("/x/a b.md", None),
            ("/x/a\u{1b}.md", None),
            ("/x/look.txt", None),
        ] {
            assert_eq!(name_of(Path::new(path)).as_deref(), name, "{path}");
        }
    }
}
