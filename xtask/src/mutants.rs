//! Mutation of the code of `agent-core`, of `agent-types` and of the kernel, `statetable`: cargo-mutants says what small changes there
//! are, the tests are run on each, the figures are kept, and whatever no test noticed needs a reason in `docs/mutants.md`.
//!
//! All mutants of `agent-core` and `agent-types` are compiled in at once, so that one costs a run of the tests and no build; those of the
//! kernel are left to cargo-mutants. Results are kept in `target/mutants` as they are found: a run that was broken off is taken up again.

mod found;
mod list;
mod page;
mod tree;
mod trial;
mod weave;

use crate::figures::{self, Figures};
use crate::say;
use found::{Found, Outcome};
use list::{INSTALL, Mutant, cargo_mutants};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use trial::Trial;

/// Without arguments everything is tried that has not been; with `--again` also what was missed, for tests that are new; with `--only TEXT
/// …` just the mutants with one of these in their names, whatever is known of them; with `--report` nothing.
///
/// # Errors
/// When cargo-mutants cannot be run, something is still to be tried, or a missed mutant has no reason.
pub(crate) fn run(arguments: &[&str]) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let root = root.canonicalize().map_err(|error| format!("find {}: {error}", root.display()))?;
    let mutants = list::all(&root)?;
    let hash = sources_hash()?;
    let mut found = Found::open(&root.join("target/mutants/results.tsv"), &hash)?;
    let is_due = |mutant: &Mutant| match (arguments, found.get(&mutant.name)) {
        (["--report"], _) | ([], Some(_)) => false,
        (["--only", parts @ ..], _) => parts.iter().any(|part| mutant.name.contains(part)),
        (["--again"], Some(outcome)) => *outcome == Outcome::Missed,
        (_, None) => true,
        (_, Some(_)) => false,
    };
    let due: BTreeSet<usize> =
        (1..).zip(&mutants).filter(|(_, mutant)| is_due(mutant)).map(|(number, _)| number).collect();
    if !due.is_empty() {
        attempt(&root, &mutants, &due, &mut found)?;
    }
    let left = mutants.iter().filter(|mutant| found.get(&mutant.name).is_none()).count();
    if left > 0 {
        return Err(format!("{left} of {} mutants are still to be tried: run `{COMMAND}` again", mutants.len()));
    }
    report(&root, &found, hash)
}

fn report(root: &Path, found: &Found, hash: String) -> Result<(), String> {
    let figures = Figures::of_sources(hash, COMMAND, found.figures());
    figures.keep("cargo-mutants")?;
    let path = root.join(PAGE);
    let page = page::page(&fs::read_to_string(&path).unwrap_or_default(), found.missed(), &figures);
    fs::write(&path, page.text).map_err(|error| format!("write {PAGE}: {error}"))?;
    if page.unexplained.is_empty() { Ok(()) } else { Err(format!("no reason in {PAGE} for {:#?}", page.unexplained)) }
}

/// Tries the mutants of these numbers, which count from 1.
fn attempt(root: &Path, mutants: &[Mutant], due: &BTreeSet<usize>, found: &mut Found) -> Result<(), String> {
    let is_unviable = |mutant: &Mutant| found.get(&mutant.name) == Some(&Outcome::Unviable);
    let unviable = (1..).zip(mutants).filter(|(_, mutant)| is_unviable(mutant)).map(|(number, _)| number).collect();
    let tests = tree::build(root, mutants, unviable)?;
    for number in due.intersection(&tests.unviable) {
        found.add(&mutants[number - 1].name, Outcome::Unviable)?;
    }
    let chosen: Vec<&usize> = due.intersection(&tests.woven).collect();
    let trial = Trial::prepare(&tests)?;
    let mut unnoticed = Vec::new();
    for number in chosen {
        let Mutant { name, file, .. } = &mutants[number - 1];
        match trial.run(*number, file, false)? {
            Outcome::Missed => {
                say(&format!("not noticed by the quick tests: {name}\n"));
                unnoticed.push(*number);
            }
            outcome => found.add(name, outcome)?,
        }
    }
    for number in unnoticed {
        let Mutant { name, file, .. } = &mutants[number - 1];
        let outcome = trial.run(number, file, true)?;
        say(&format!("{outcome:?}: {name}\n"));
        found.add(name, outcome)?;
    }
    let is_alone = |number: &&usize| !tests.woven.contains(number) && !tests.unviable.contains(number);
    let left: Vec<&Mutant> = due.iter().filter(is_alone).map(|number| &mutants[number - 1]).collect();
    // The crate is `no_std`.
    let (unviable, left): (Vec<_>, Vec<_>) =
        left.into_iter().partition(|mutant| mutant.replacement.contains("::std::"));
    unviable.iter().try_for_each(|mutant| found.add(&mutant.name, Outcome::Unviable))?;
    alone(root, &left, found)
}

/// Leaves to cargo-mutants what cannot be chosen at run time.
fn alone(root: &Path, mutants: &[&Mutant], found: &mut Found) -> Result<(), String> {
    if mutants.is_empty() {
        return Ok(());
    }
    let directory = root.join("target/mutants/alone");
    let patterns = mutants.iter().map(|mutant| format!("^{}$", escaped(&mutant.name)));
    let mut command = cargo_mutants(root);
    command.args(patterns.flat_map(|pattern| ["--re".to_owned(), pattern])).arg("--output").arg(&directory);
    command.args(["--cap-lints", "true", "--", "--lib", "--tests"]);
    let status = command.status().map_err(|error| format!("run cargo mutants: {error} ({INSTALL})"))?;
    // 2 and 3: some were missed, or ran out of time.
    if !matches!(status.code(), Some(0 | 2 | 3)) {
        return Err(format!("cargo mutants failed: {status} ({INSTALL})"));
    }
    let by = || "cargo-mutants".to_owned();
    let lists = [
        ("caught.txt", Outcome::Caught(by())),
        ("timeout.txt", Outcome::TimedOut(by())),
        ("missed.txt", Outcome::Missed),
        ("unviable.txt", Outcome::Unviable),
    ];
    for (list, outcome) in lists {
        let text = fs::read_to_string(directory.join("mutants.out").join(list)).unwrap_or_default();
        text.lines().try_for_each(|name| found.add(name, outcome.clone()))?;
    }
    Ok(())
}

/// A text as a pattern that only it matches. Not everything may be escaped: `\<` and `\>` are the edges of a word.
fn escaped(text: &str) -> String {
    let escape = |c: char| if r"\.+*?()|[]{}^$".contains(c) { format!("\\{c}") } else { c.to_string() };
    text.chars().map(escape).collect()
}

/// Hash of the sources of `agent-core`, `agent-types` and the kernel, without their tests.
pub(crate) fn sources_hash() -> Result<String, String> {
    let hashes = [hash_of(tree::SOURCES)?, hash_of(tree::TYPES)?, hash_of(tree::KERNEL)?];
    Ok(figures::hash(&hashes.concat()))
}

/// Hash of the Rust files in a directory of the workspace, without their tests.
pub(crate) fn hash_of(directory: &str) -> Result<String, String> {
    let code = |(path, text): (String, String)| {
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        format!("{path}\n{code}")
    };
    let is_test = |path: &str| path.ends_with("/tests.rs") || path.contains("/tests/");
    let files = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."), directory)?.into_iter();
    Ok(figures::hash(&files.filter(|(path, _)| !is_test(path)).map(code).collect::<String>()))
}

/// The Rust files in a directory, sorted: paths in the workspace, and texts.
fn sources(root: &Path, directory: &str) -> Result<Vec<(String, String)>, String> {
    let (mut found, mut left) = (Vec::new(), vec![root.join(directory)]);
    let wrong = |path: &PathBuf, error| format!("read {}: {error}", path.display());
    while let Some(path) = left.pop() {
        if path.is_dir() {
            for entry in fs::read_dir(&path).map_err(|error| wrong(&path, error))? {
                left.push(entry.map_err(|error| wrong(&path, error))?.path());
            }
        } else if is_rust(&path) {
            let text = fs::read_to_string(&path).map_err(|error| wrong(&path, error))?;
            found.push((path.strip_prefix(root).unwrap_or(&path).display().to_string(), text));
        }
    }
    found.sort();
    Ok(found)
}

/// The same of several directories.
fn sources_in(root: &Path, directories: &[&str]) -> Result<Vec<(String, String)>, String> {
    let found: Result<Vec<_>, String> = directories.iter().map(|directory| sources(root, directory)).collect();
    Ok(found?.concat())
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

const COMMAND: &str = "cargo xtask mutants";
const PAGE: &str = "docs/mutants.md";

#[cfg(test)]
mod tests {
    #[test]
    fn a_name_is_its_own_pattern() {
        assert_eq!(super::escaped("a.rs:1: replace |= with > in A<B>"), r"a\.rs:1: replace \|= with > in A<B>");
    }
}
