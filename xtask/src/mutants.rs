//! Mutation of the code of `agent-core` with cargo-mutants: runs it part by part, keeps its figures, and demands a reason for whatever no test
//! noticed.
//!
//! Every part runs with the quick tests of its own machine first; what these miss gets a second look with all tests of the crate. Parts and
//! shards keep their results in `target/mutants`, so that a run of hours can be done in pieces.

mod found;

use crate::figures::Figures;
use found::Found;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Without arguments everything is run; `K/N …` runs these shards, `--again` only takes the second look, `--report` only counts.
///
/// # Errors
/// When cargo-mutants cannot be run, or a missed mutant has no reason in `docs/mutants.md`.
pub(crate) fn run(arguments: &[&str]) -> Result<(), String> {
    match arguments {
        ["--report"] => {}
        ["--again"] => look_again()?,
        [] => {
            run_shard("0/1")?;
            look_again()?;
        }
        shards => {
            shards.iter().try_for_each(|shard| run_shard(shard))?;
            look_again()?;
        }
    }
    let found = Found::read(&output())?;
    let all = listed()?;
    Figures::of_today("cargo xtask mutants", found.figures(all)).keep("cargo-mutants")?;
    let reasons = fs::read_to_string(root().join(REASONS)).unwrap_or_default();
    let unexplained: Vec<&String> = found.missed.iter().filter(|name| !reasons.contains(&found::place(name))).collect();
    if unexplained.is_empty() { Ok(()) } else { Err(format!("no reason in {REASONS} for {unexplained:#?}")) }
}

fn run_shard(shard: &str) -> Result<(), String> {
    for Part { name, only, but, tests } in PARTS {
        let mut command = mutants();
        let directory = output().join(format!("{name}-{}", shard.replace('/', "-of-")));
        command.args(["--shard", shard, "--sharding", "round-robin", "--output"]).arg(directory);
        command.args(only.iter().flat_map(|glob| ["--file".to_owned(), format!("{SOURCES}{glob}")]));
        command.args(but.iter().flat_map(|glob| ["--exclude".to_owned(), format!("{SOURCES}{glob}")]));
        command.arg("--").args(*tests).arg("--").args(SLOW.iter().flat_map(|test| ["--skip", test]));
        perform(command)?;
    }
    Ok(())
}

/// All tests for what the quick ones missed.
fn look_again() -> Result<(), String> {
    let directory = output().join("again");
    if directory.exists() {
        // What it noticed before is tried once more: tests may have changed.
        fs::remove_dir_all(&directory).map_err(|error| format!("remove {}: {error}", directory.display()))?;
    }
    let found = Found::read(&output())?;
    if found.missed.is_empty() {
        return Ok(());
    }
    let mut command = mutants();
    let patterns = found.missed.iter().map(|name| format!("^{}$", escaped(name)));
    command.args(patterns.flat_map(|pattern| ["--re".to_owned(), pattern]));
    command.arg("--output").arg(&directory).args(["--", "--lib", "--tests"]);
    perform(command)
}

fn perform(mut command: Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("run cargo mutants: {error} ({INSTALL})"))?;
    // 2 and 3: some were missed, or ran out of time.
    if matches!(status.code(), Some(0 | 2 | 3)) {
        Ok(())
    } else {
        Err(format!("cargo mutants failed: {status} ({INSTALL})"))
    }
}

/// How many mutants there are.
fn listed() -> Result<usize, String> {
    let output = mutants().arg("--list").output().map_err(|error| format!("run cargo mutants: {error} ({INSTALL})"))?;
    let count = String::from_utf8_lossy(&output.stdout).lines().count();
    if count == 0 { Err(format!("list the mutants: {INSTALL}")) } else { Ok(count) }
}

fn mutants() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["mutants", "--package", "agent-core", "--no-times", "--colors", "never"]).current_dir(root());
    command
}

/// A text as a pattern that only it matches.
fn escaped(text: &str) -> String {
    let escape = |c: char| if c.is_alphanumeric() || c == ' ' { c.to_string() } else { format!("\\{c}") };
    text.chars().map(escape).collect()
}

fn output() -> PathBuf {
    root().join("target/mutants")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Files whose mutants are tried with some of the tests first.
struct Part {
    name: &'static str,
    only: &'static [&'static str],
    but: &'static [&'static str],
    tests: &'static [&'static str],
}

const PARTS: &[Part] = &[
    Part {
        name: "session",
        only: &["session/**", "budget.rs", "llm.rs", "hook.rs", "tool.rs", "journal.rs", "ports.rs"],
        but: &[],
        tests: &["--test", "session"],
    },
    Part {
        name: "lifecycle",
        only: &["lifecycle/**", "link.rs", "link/**"],
        but: &[],
        tests: &["--test", "lifecycle"],
    },
    Part {
        name: "job",
        only: &["job/**"],
        but: &["job/time.rs", "job/routing.rs", "job/verdict.rs"],
        tests: &["--test", "job"],
    },
    Part {
        name: "units",
        only: &[
            "conversation/**",
            "diagram.rs",
            "diagram/**",
            "job/routing.rs",
            "job/time.rs",
            "job/verdict.rs",
            "permission.rs",
            "permission/**",
            "retry.rs",
            "table.rs",
            "table/**",
        ],
        but: &[],
        tests: &["--lib"],
    },
];
const SOURCES: &str = "crates/agent-core/src/";
/// Tests that take many seconds: left for the second look.
const SLOW: &[&str] = &["properties", "coverage", "every_change_of_the_table_is_noticed"];
const REASONS: &str = "docs/mutants.md";
const INSTALL: &str = "install it with `cargo install cargo-mutants --locked`";

#[cfg(test)]
mod tests {
    #[test]
    fn a_name_is_its_own_pattern() {
        assert_eq!(super::escaped("a.rs:1: replace |= with &="), "a\\.rs\\:1\\: replace \\|\\= with \\&\\=");
    }
}
