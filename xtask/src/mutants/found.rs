//! What cargo-mutants found, read from the lists that it writes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The results of all parts and shards. A name is of the form `file:line:column: what`.
#[derive(Default)]
pub(super) struct Found {
    pub(super) caught: BTreeSet<String>,
    pub(super) missed: BTreeSet<String>,
    timed_out: BTreeSet<String>,
    unviable: BTreeSet<String>,
}

impl Found {
    /// Reads the results of every part. What any tests noticed is not missed.
    pub(super) fn read(directory: &Path) -> Result<Self, String> {
        let mut found = Self::default();
        let wrong = |error| format!("list {}: {error}", directory.display());
        for part in fs::read_dir(directory).map_err(wrong)? {
            found.add(&part.map_err(wrong)?.path());
        }
        found.timed_out.retain(|name| !found.caught.contains(name));
        found.missed.retain(|name| !found.caught.contains(name) && !found.timed_out.contains(name));
        Ok(found)
    }

    fn add(&mut self, part: &Path) {
        let lines = |name: &str| {
            let text = fs::read_to_string(part.join("mutants.out").join(name)).unwrap_or_default();
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        };
        self.caught.extend(lines("caught.txt"));
        self.missed.extend(lines("missed.txt"));
        self.timed_out.extend(lines("timeout.txt"));
        self.unviable.extend(lines("unviable.txt"));
    }

    /// Names and values for the proof sheet, given the number of all mutants.
    pub(super) fn figures(&self, all: usize) -> Vec<(String, String)> {
        let caught = self.caught.len() + self.timed_out.len();
        let viable = caught + self.missed.len();
        let tried = viable + self.unviable.len();
        let coverage = if tried < all { "**a part only**" } else { "all" };
        let permille = caught * 1_000 / viable.max(1);
        [
            ("mutants of the crate", all.to_string()),
            ("tried", format!("{tried}: {coverage}")),
            ("do not compile", self.unviable.len().to_string()),
            ("caught", format!("{caught} of {viable} ({}.{} %)", permille / 10, permille % 10)),
            ("of these by running out of time", self.timed_out.len().to_string()),
            ("missed, with the reasons in `docs/mutants.md`", self.missed.len().to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }
}

/// A mutant's name without line and column, which change with every edit above it.
pub(super) fn place(name: &str) -> String {
    let mut parts = name.splitn(4, ':');
    let (file, what) = (parts.next().unwrap_or_default(), parts.nth(2).unwrap_or_default());
    format!("{file}:{what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_called_a_part() {
        let names = |count: usize| (0..count).map(|n| n.to_string()).collect();
        let found = Found { caught: names(2), missed: names(1), unviable: names(1), ..Found::default() };
        let figure = |name, all| found.figures(all).into_iter().find(|(known, _)| known == name).unwrap().1;
        assert_eq!(figure("tried", 4), "4: all");
        assert_eq!(figure("tried", 5), "4: **a part only**");
        assert_eq!(figure("caught", 4), "2 of 3 (66.6 %)");
    }

    #[test]
    fn a_place_has_no_line() {
        assert_eq!(place("a/b.rs:12:5: replace f with true in x::y"), "a/b.rs: replace f with true in x::y");
    }
}
