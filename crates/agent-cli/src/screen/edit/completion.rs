//! What Tab can make of the word before the cursor: a command, or the path of a file after an `@`.

use ignore::WalkBuilder;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What there is to choose from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Completions {
    /// Commands, each with its slash.
    pub(crate) commands: Vec<String>,
    /// What servers offer, each with its sign: `@server:uri`, `/server:prompt`.
    pub(crate) offers: Vec<String>,
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
            let all = self.commands.iter().chain(&self.offers);
            let mut choices: Vec<String> = all.filter(|command| command.starts_with(word)).cloned().collect();
            choices.sort();
            choices
        } else if let Some(path) = word.strip_prefix('@') {
            let offered = self.offers.iter().filter(|offer| path.contains(':') && offer.starts_with(word));
            let offered: Vec<String> = offered.cloned().collect();
            if offered.is_empty() { self.with_servers(path) } else { offered }
        } else {
            return None;
        };
        Some(Found { word: word.to_owned(), choices })
    }

    /// Paths, and the servers that have something to attach.
    fn with_servers(&self, path: &str) -> Vec<String> {
        let mut found = self.paths(path);
        let mut servers: Vec<String> = self
            .offers
            .iter()
            .filter(|offer| offer.starts_with(&format!("@{path}")))
            .collect::<Vec<_>>()
            .into_iter()
            .filter_map(|offer| offer.split_once(':').map(|(server, _)| format!("{server}:")))
            .collect();
        servers.dedup();
        found.extend(servers);
        found
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
        if found.is_empty() { self.like(path) } else { found }
    }

    /// Files of the project whose paths have these letters in this order, the nearest first. What git ignores is left out.
    fn like(&self, letters: &str) -> Vec<String> {
        if letters.chars().count() < FEWEST_LETTERS || letters.starts_with('/') {
            return Vec::new();
        }
        let since = Instant::now();
        let entries = WalkBuilder::new(&self.directory).build().flatten();
        let entries = entries.take(MOST_ENTRIES).take_while(|_| since.elapsed() < LONGEST_LOOK);
        let mut found: Vec<(usize, String)> = entries
            .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()))
            .filter_map(|entry| {
                let path = entry.path().strip_prefix(&self.directory).ok()?.to_str()?.to_owned();
                let is_plain = !path.contains(|c: char| c.is_whitespace() || c.is_control());
                is_plain.then(|| Some((distance(letters, &path)?, path))).flatten()
            })
            .collect();
        found.sort();
        found.into_iter().take(MOST_LIKE).map(|(_, path)| format!("@{path}")).collect()
    }
}

/// How far apart these letters stand in a path, looked for from its end; nothing where they do not stand there in this order.
fn distance(letters: &str, path: &str) -> Option<usize> {
    let path = path.to_lowercase();
    let (mut end, mut last) = (path.len(), None);
    for letter in letters.to_lowercase().chars().rev() {
        let at = path.get(..end)?.rfind(letter)?;
        last.get_or_insert(at);
        end = at;
    }
    let last = last?;
    // Among those that are as near, the one at the end of a short path.
    Some((last - end) * 1_000 + (path.len() - last) + path.len())
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

/// Of a folder, or a project, with more, only these are looked at, and not for longer.
const MOST_ENTRIES: usize = 10_000;
const LONGEST_LOOK: Duration = Duration::from_millis(150);
const MOST_LIKE: usize = 12;
const FEWEST_LETTERS: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_some_of_their_letters() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(".git")).unwrap();
        fs::create_dir_all(folder.path().join("src/screen")).unwrap();
        fs::write(folder.path().join(".gitignore"), "ignored-editor.rs\n").unwrap();
        for name in ["src/screen/editor.rs", "src/edit_error.rs", "src/main.rs", "ignored-editor.rs"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let completions = Completions { commands: Vec::new(), offers: Vec::new(), directory: folder.path().to_owned() };
        let of = |text: &str| completions.of(text).unwrap().choices;
        assert_eq!(of("see @editor"), ["@src/screen/editor.rs", "@src/edit_error.rs"]);
        assert_eq!(of("@EDT"), ["@src/screen/editor.rs", "@src/edit_error.rs"], "whatever their case");
        assert_eq!(of("@scrmn"), Vec::<String>::new());
        assert_eq!(of("@src/ma"), ["@src/main.rs"], "what begins so comes first");
    }

    #[test]
    fn commands_and_paths() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        for name in ["src/main.rs", "src/map.rs", ".hidden", "read me"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let completions = Completions {
            commands: ["/help", "/compact", "/command"].map(String::from).to_vec(),
            offers: ["@files:docs://a", "@files:docs://b", "/files:review"].map(String::from).to_vec(),
            directory: folder.path().to_owned(),
        };
        let of = |text: &str| completions.of(text).map(|found| found.choices);
        assert_eq!(of("/co").unwrap(), ["/command", "/compact"]);
        assert_eq!(of("look at @s").unwrap(), ["@src/"]);
        assert_eq!(of("see @f").unwrap(), ["@files:"]);
        assert_eq!(of("see @files:").unwrap(), ["@files:docs://a", "@files:docs://b"]);
        assert_eq!(of("/fi").unwrap(), ["/files:review"]);
        assert_eq!(of("@src/ma").unwrap(), ["@src/main.rs", "@src/map.rs"]);
        assert_eq!(of("@").unwrap(), ["@src/", "@files:"]);
        assert_eq!(of("@.h").unwrap(), ["@.hidden"]);
        assert_eq!(of("plain /co"), None);
        assert_eq!(common_start(&of("@src/ma").unwrap()), "@src/ma");
        assert_eq!(common_start(&of("/co").unwrap()), "/com");
    }
}
