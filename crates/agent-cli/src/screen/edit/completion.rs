//! What Tab can make of the word before the cursor: a command, or the path of a file after an `@`.

use std::fs;
use std::path::{Path, PathBuf};

/// What there is to choose from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Completions {
    /// Commands, each with its slash.
    pub(crate) commands: &'static [&'static str],
    /// Where paths begin.
    pub(crate) directory: PathBuf,
}

/// The word that is completed, and what it can become, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) word: String,
    pub(crate) choices: Vec<String>,
}

impl Completions {
    /// What the text before the cursor can become.
    pub(crate) fn of(&self, before: &str) -> Option<Found> {
        let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
        let choices = if word.starts_with('/') && word.len() == before.len() {
            self.commands
                .iter()
                .filter(|command| command.starts_with(word))
                .map(|&command| command.to_owned())
                .collect()
        } else if let Some(path) = word.strip_prefix('@') {
            self.paths(path)
        } else {
            return None;
        };
        Some(Found { word: word.to_owned(), choices })
    }

    fn paths(&self, path: &str) -> Vec<String> {
        let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (folder, name));
        let prefix = if path.contains('/') { format!("@{folder}/") } else { String::from("@") };
        let place = if path.starts_with('/') { Path::new("/").join(folder) } else { self.directory.join(folder) };
        let entries = fs::read_dir(place).into_iter().flatten().flatten().take(MOST_ENTRIES);
        let mut found: Vec<String> = entries
            .filter_map(|entry| {
                let entry_name = entry.file_name().into_string().ok()?;
                let is_meant = entry_name.starts_with(name) && (!entry_name.starts_with('.') || name.starts_with('.'));
                let is_plain = !entry_name.contains(|c: char| c.is_whitespace() || c.is_control());
                let end = if entry.path().is_dir() { "/" } else { "" };
                (is_meant && is_plain).then(|| format!("{prefix}{entry_name}{end}"))
            })
            .collect();
        found.sort();
        found
    }
}

/// How the choices all begin.
pub(crate) fn common_start(choices: &[String]) -> &str {
    let Some((first, rest)) = choices.split_first() else { return "" };
    let shared = rest.iter().fold(first.len(), |shared, choice| {
        first
            .char_indices()
            .zip(choice.chars())
            .take_while(|((at, a), b)| at < &shared && a == b)
            .map(|((at, a), _)| at + a.len_utf8())
            .last()
            .unwrap_or(0)
    });
    first.get(..shared).unwrap_or_default()
}

/// Of a folder with more, only these are looked at.
const MOST_ENTRIES: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_paths() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        for name in ["src/main.rs", "src/map.rs", ".hidden", "read me"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let completions =
            Completions { commands: &["/help", "/compact", "/command"], directory: folder.path().to_owned() };
        let of = |text: &str| completions.of(text).map(|found| found.choices);
        assert_eq!(of("/co").unwrap(), ["/compact", "/command"]);
        assert_eq!(of("look at @s").unwrap(), ["@src/"]);
        assert_eq!(of("@src/ma").unwrap(), ["@src/main.rs", "@src/map.rs"]);
        assert_eq!(of("@").unwrap(), ["@src/"]);
        assert_eq!(of("@.h").unwrap(), ["@.hidden"]);
        assert_eq!(of("plain /co"), None);
        assert_eq!(common_start(&of("@src/ma").unwrap()), "@src/ma");
        assert_eq!(common_start(&of("/co").unwrap()), "/com");
    }
}
