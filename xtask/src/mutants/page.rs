//! `docs/mutants.md`: the mutants that no test notices, each with its reason. The reasons are written into the page by hand and stay when
//! it is written anew; all else comes from the run.

use crate::figures::Figures;
use std::collections::BTreeMap;

/// A page.
pub(super) struct Page {
    pub(super) text: String,
    /// What has no reason yet.
    pub(super) unexplained: Vec<String>,
}

/// Writes the page from the names of what was missed, with the reasons of the page before.
pub(super) fn page<'a>(before: &str, missed: impl Iterator<Item = &'a str>, figures: &Figures) -> Page {
    let reasons: BTreeMap<String, String> = before.lines().filter_map(row).collect();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for name in missed {
        *places.entry(place(name)).or_default() += 1;
    }
    let mut text =
        format!("{INTRODUCTION}\nBy `{}`, from the sources with the hash `{}`:\n", figures.command, figures.hash);
    text.push_str("\n| Figure | Value |\n|---|---|\n");
    for (name, value) in &figures.figures {
        text.push_str(&format!("| {name} | {value} |\n"));
    }
    text.push_str(HEAD);
    let mut unexplained = Vec::new();
    for (place, count) in &places {
        let times = if *count > 1 { format!(" ({count} times)") } else { String::new() };
        let reason = reasons.get(place).map_or(NO_REASON, String::as_str);
        if reason == NO_REASON {
            unexplained.push(place.clone());
        }
        text.push_str(&format!("| `{}`{times} | {reason} |\n", place.replace('|', "\\|")));
    }
    Page { text, unexplained }
}

/// A mutant's name without line and column, which change with every edit above it, and without the directory that they share.
fn place(name: &str) -> String {
    let mut parts = name.splitn(4, ':');
    let (file, what) = (parts.next().unwrap_or_default(), parts.nth(2).unwrap_or_default());
    format!("{}:{what}", file.trim_start_matches(super::tree::SOURCES).trim_start_matches("crates/"))
}

/// Place and reason of a line of the table.
fn row(line: &str) -> Option<(String, String)> {
    let (place, rest) = line.strip_prefix("| `")?.split_once('`')?;
    let (_, reason) = rest.split_once(" | ")?;
    Some((place.replace("\\|", "|"), reason.strip_suffix(" |")?.to_owned()))
}

const NO_REASON: &str = "**no reason yet**";
const INTRODUCTION: &str = "<!-- Written by `cargo xtask mutants`, but for the reasons, which are written by hand and kept. -->

# Mutants that no test notices

`cargo xtask mutants` changes the code of `agent-core` and `agent-types` in the small ways that cargo-mutants lists, and runs the
tests of both on each change. All mutants are compiled in at once and one is chosen for each run of the tests, with the same seed for
every random test; the few that cannot
be chosen so (of functions that return `impl Trait` or that are called at compile time) are left to cargo-mutants itself. A change that a
test notices is caught, and so is one that keeps a test from coming to an end.
";
const HEAD: &str = "
What is missed has its reason here, by the mutant's name without line and column; a miss without a reason fails the command. The sources
change; `cargo xtask proof --check`, which CI runs, says when they are no longer those of the hash.

| Mutant | Why it makes no difference that a test could notice |
|---|---|
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_stay() {
        let figures = Figures::of_sources(
            "1".to_owned(),
            "cargo xtask mutants",
            vec![("caught".to_owned(), "1 of 3".to_owned())],
        );
        let names = [
            "crates/agent-core/src/a.rs:1:2: replace || with && in f",
            "crates/agent-core/src/a.rs:8:2: replace || with && in f",
        ];
        let first = page("", names.into_iter(), &figures);
        assert_eq!(first.unexplained, ["a.rs: replace || with && in f"]);
        assert!(first.text.contains("| caught | 1 of 3 |"));
        let explained = first.text.replace(NO_REASON, "equal either way");
        let again = page(&explained, names.into_iter(), &figures);
        assert!(again.unexplained.is_empty());
        assert_eq!(again.text, explained);
        assert!(
            again.text.contains("| `a.rs: replace \\|\\| with && in f` (2 times) | equal either way |"),
            "{explained}"
        );
        assert!(
            !page(&explained, std::iter::empty(), &figures).text.contains("equal either way"),
            "what is caught needs none"
        );
    }
}
