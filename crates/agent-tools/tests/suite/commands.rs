//! What `bash` runs is what the permission rules were shown: bash itself is asked.

use crate::support::Bench;
use agent_types::tool::Subject;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

/// Pieces of commands. No program has these names, and nothing here can define a function.
const PIECES: &[&str] = &[
    "a",
    "b",
    "ab",
    " ",
    " ",
    " ",
    "'c d'",
    "\"e\"",
    "''",
    "\"'\"",
    "; ",
    " && ",
    " || ",
    " | ",
    "\n",
    "$a",
    "\\",
    "\\\n",
    " 2>&1",
    " >/dev/null",
    " >x",
    " #",
    "~",
    "*",
    "{",
    "}",
    ",",
    "!",
    "&",
    "|&",
    "=",
    "-",
    "\t",
    "\r",
    "<",
    "`",
    "'",
    "\"",
    "[",
    "]",
];

#[test]
fn bash_runs_exactly_what_a_rule_sees() {
    let bench = Bench::new();
    // More cases than are needed: how many of the texts are plain is left to chance.
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(8_000) });
    let pieces = prop::collection::vec(prop::sample::select(PIECES), 1..9).prop_map(|pieces| pieces.concat());
    let tried = std::cell::Cell::new(0);
    let result = runner.run(&pieces, |text| {
        if let Some(seen) = seen(&bench, &text) {
            tried.set(tried.get() + 1);
            let ran: BTreeSet<Vec<String>> =
                [0, 1].iter().flat_map(|status| run_by_bash(&bench, &text, *status)).collect();
            prop_assert_eq!(ran, BTreeSet::from_iter(seen), "{:?}", text);
        }
        Ok(())
    });
    result.unwrap();
    assert!(tried.get() > 100, "enough of them were plain: {}", tried.get());
}

/// The question can be answered wrongly: a reader that only splits at operators is caught.
#[test]
fn a_wrong_reading_is_noticed() {
    let bench = Bench::new();
    let wrong = |text: &str| -> BTreeSet<Vec<String>> { text.split("; ").map(words).collect() };
    for text in ["a; b", "a 'c d'; b"] {
        assert_eq!(run_by_bash(&bench, text, 0), wrong(text), "control: {text}");
    }
    for text in ["a `b`", "a $(b)", "a & b", "'a; b'", "a; b #; ab", "{ a; }", "x=1 a"] {
        assert_ne!(run_by_bash(&bench, text, 0), wrong(text), "{text}");
    }
}

/// The commands of a text as a rule sees them, as words.
pub(crate) fn seen(bench: &Bench, text: &str) -> Option<Vec<Vec<String>>> {
    match bench.inspect("bash", &json!({"command": text})).ok()?.subject {
        Subject::Command { plain: Some(plain), .. } => Some(plain.iter().map(|command| words(command)).collect()),
        _ => None,
    }
}

/// What bash looks for when it runs a text in which no program exists, and each ends with this status.
fn run_by_bash(bench: &Bench, text: &str, status: u8) -> BTreeSet<Vec<String>> {
    let log = bench.outside.path().join("log");
    std::fs::write(&log, "").unwrap();
    let note = format!("() {{ printf '%s\\001' \"$@\" $'\\002' >> '{}'; return {status}; }}", log.display());
    let bash = if Path::new("/bin/bash").exists() { "/bin/bash" } else { "/usr/bin/bash" };
    let mut command = Command::new(bash);
    command.args(["--norc", "-c", text]).env_clear().env("PATH", "/nowhere").current_dir(&bench.root);
    command.env("BASH_FUNC_command_not_found_handle%%", note);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    let log = std::fs::read_to_string(&log).unwrap();
    let runs = log.split('\u{2}').map(|run| run.split_terminator('\u{1}').map(String::from).collect::<Vec<String>>());
    let runs = runs.map(|run| run.into_iter().skip_while(String::is_empty).collect::<Vec<String>>());
    runs.filter(|run| !run.is_empty()).collect()
}

/// The words of a command as rules see it.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut quoted, mut rest) = (false, command.chars());
    while let Some(c) = rest.next() {
        let word = words.last_mut().unwrap();
        match c {
            '\'' => quoted = !quoted,
            '\\' if !quoted => word.extend(rest.next()),
            ' ' if !quoted => words.push(String::new()),
            _ => word.push(c),
        }
    }
    words
}

/// Commands that cannot be: nothing runs, the model is told, and what differs in that point only is fine.
#[test]
fn commands_that_cannot_be_are_refused_before_they_run() {
    let bench = Bench::new();
    let inspect = |command: &str| bench.inspect("bash", &json!({"command": command})).map(|_| ());
    let long = "x".repeat(3_000_000);
    for (command, expected, control) in [
        ("", "empty", "ls"),
        (" \n\t", "empty", " ls"),
        ("echo a\0b", "NUL", "echo ab"),
        (long.as_str(), "write a script", &long[..100_000]),
    ] {
        let refused = inspect(command).unwrap_err();
        assert!(refused.contains(expected), "{refused}");
        assert_eq!(inspect(control), Ok(()), "control");
    }
}
