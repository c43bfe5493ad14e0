//! What became of each mutant, kept in a file as it is found, so that a long run can be broken off and taken up again.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The results so far, by the mutants' names.
#[derive(Default)]
pub(super) struct Found {
    path: PathBuf,
    results: BTreeMap<String, Outcome>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// By the tests of this name.
    Caught(String),
    /// By the tests of this name, which did not come to an end.
    TimedOut(String),
    Missed,
    /// Does not compile.
    Unviable,
}

impl Found {
    /// Reads what was found before. The results of other sources than those of this hash are put aside.
    pub(super) fn open(path: &Path, sources: &str) -> Result<Self, String> {
        let wrong = |error| format!("keep {}: {error}", path.display());
        let text = fs::read_to_string(path).unwrap_or_default();
        let mut lines = text.lines();
        if lines.next() != Some(sources) {
            if path.exists() {
                fs::rename(path, path.with_extension("old")).map_err(wrong)?;
            }
            path.parent().map_or(Ok(()), fs::create_dir_all).map_err(wrong)?;
            fs::write(path, format!("{sources}\n")).map_err(wrong)?;
            return Ok(Self { path: path.to_owned(), ..Self::default() });
        }
        Ok(Self { path: path.to_owned(), results: lines.filter_map(parsed).collect() })
    }

    pub(super) fn get(&self, name: &str) -> Option<&Outcome> {
        self.results.get(name)
    }

    /// Keeps a result; a later one counts.
    pub(super) fn add(&mut self, name: &str, outcome: Outcome) -> Result<(), String> {
        let (word, by) = match &outcome {
            Outcome::Caught(by) => ("caught", by.as_str()),
            Outcome::TimedOut(by) => ("timed out", by.as_str()),
            Outcome::Missed => ("missed", ""),
            Outcome::Unviable => ("unviable", ""),
        };
        let line = format!("{word}\t{by}\t{name}\n");
        let written =
            OpenOptions::new().append(true).open(&self.path).and_then(|mut file| file.write_all(line.as_bytes()));
        written.map_err(|error| format!("keep {}: {error}", self.path.display()))?;
        self.results.insert(name.to_owned(), outcome);
        Ok(())
    }

    /// The mutants that no test notices, in the order of their names.
    pub(super) fn missed(&self) -> impl Iterator<Item = &str> {
        self.results.iter().filter(|(_, outcome)| **outcome == Outcome::Missed).map(|(name, _)| name.as_str())
    }

    /// Names and values for the proof sheet.
    pub(super) fn figures(&self) -> Vec<(String, String)> {
        let count = |is: fn(&Outcome) -> bool| self.results.values().filter(|outcome| is(outcome)).count();
        let timed_out = count(|outcome| matches!(outcome, Outcome::TimedOut(_)));
        let caught = count(|outcome| matches!(outcome, Outcome::Caught(_))) + timed_out;
        let viable = caught + count(|outcome| *outcome == Outcome::Missed);
        let permille = caught * 1_000 / viable.max(1);
        [
            ("mutants of the crate, all tried", self.results.len().to_string()),
            ("do not compile", (self.results.len() - viable).to_string()),
            ("caught", format!("{caught} of {viable} ({}.{} %)", permille / 10, permille % 10)),
            ("of these by running out of time", timed_out.to_string()),
            ("caught first by the tests of", self.shares()),
            ("missed, with the reasons in `docs/mutants.md`", (viable - caught).to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    /// How many each program of tests caught, the most first.
    fn shares(&self) -> String {
        let mut shares = BTreeMap::new();
        for outcome in self.results.values() {
            if let Outcome::Caught(by) | Outcome::TimedOut(by) = outcome {
                *shares.entry(by.as_str()).or_insert(0_usize) += 1;
            }
        }
        let mut shares: Vec<_> = shares.into_iter().collect();
        shares.sort_by_key(|(_, count)| usize::MAX - count);
        shares.iter().map(|(by, count)| format!("`{by}` {count}")).collect::<Vec<_>>().join(", ")
    }
}

fn parsed(line: &str) -> Option<(String, Outcome)> {
    let mut parts = line.splitn(3, '\t');
    let (word, by, name) = (parts.next()?, parts.next()?.to_owned(), parts.next()?.to_owned());
    let outcome = match word {
        "caught" => Outcome::Caught(by),
        "timed out" => Outcome::TimedOut(by),
        "missed" => Outcome::Missed,
        "unviable" => Outcome::Unviable,
        _ => return None,
    };
    Some((name, outcome))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_taken_up_again_and_counted() {
        let path = std::env::temp_dir().join(format!("xtask-found-{}/results.tsv", std::process::id()));
        let mut found = Found::open(&path, "one").unwrap();
        found.add("a", Outcome::Missed).unwrap();
        found.add("b", Outcome::Unviable).unwrap();
        found.add("c", Outcome::TimedOut("job".to_owned())).unwrap();
        found.add("d", Outcome::Missed).unwrap();
        found.add("d", Outcome::Caught("job".to_owned())).unwrap();
        let again = Found::open(&path, "one").unwrap();
        assert_eq!(again.results, found.results);
        assert_eq!(again.missed().collect::<Vec<_>>(), ["a"]);
        assert_eq!(again.get("b"), Some(&Outcome::Unviable));
        let figure = |name| again.figures().into_iter().find(|(known, _)| known == name).unwrap().1;
        assert_eq!(figure("mutants of the crate, all tried"), "4");
        assert_eq!(figure("caught"), "2 of 3 (66.6 %)");
        assert_eq!(figure("caught first by the tests of"), "`job` 2");
        assert!(Found::open(&path, "two").unwrap().results.is_empty(), "other sources, other results");
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }
}
