//! Chores of the project, run as `cargo xtask <chore>`.

mod api;
mod big_journals;
mod big_trees;
mod deny;
mod docs;
mod editor;
mod figures;
mod instructions;
mod long;
mod mcp_conformance;
mod mcp_servers;
mod model_check;
mod mutants;
mod phases;
mod proof;
mod rowmutation;
#[cfg(test)]
mod schema;
mod source;
mod start;
mod tidy;

use std::io::{self, Write as _};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["tidy"] => tidy::run(),
        ["docs"] => docs::run(false),
        ["docs", "--check"] => docs::run(true),
        ["proof"] => proof::run(false),
        ["proof", "--check"] => proof::run(true),
        ["mutate-rows"] => rowmutation::run(),
        ["model-check", words @ ..] => model_check::run(words),
        ["mutants", rest @ ..] => mutants::run(rest),
        ["fuzz", words @ ..] => long::fuzz(words),
        ["fuzz-bash", words @ ..] => long::fuzz_bash(words),
        ["instructions"] => instructions::run(),
        ["big-trees"] => big_trees::run(),
        ["big-journals", words @ ..] => big_journals::run(words),
        ["editor", words @ ..] => editor::run(words),
        ["start", words @ ..] => start::run(words),
        ["kill-loop"] => long::kill_loop(2_000),
        ["kill-loop", runs] => runs.parse().map_err(|_| USAGE.to_owned()).and_then(long::kill_loop),
        ["journal-damage"] => long::journal_damage(),
        ["mcp-conformance"] => mcp_conformance::run(),
        ["mcp-servers"] => mcp_servers::run(),
        ["api"] => api::run(false),
        ["api", "--check"] => api::run(true),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            // Where not even this can be written, the exit code has to do.
            let _ = writeln!(io::stderr(), "{message}");
            ExitCode::FAILURE
        }
    }
}

/// Prints a result.
fn say(text: &str) {
    // A reader that closes the pipe has read enough.
    let _ = io::stdout().write_all(text.as_bytes());
}

const USAGE: &str = "usage: cargo xtask tidy | docs [--check] | api [--check] | proof [--check] | mutate-rows | \
    mutants [--again | --only TEXT … | --report] | instructions | kill-loop [RUNS] | journal-damage | big-journals [--smoke] | big-trees | editor [PROGRAM] | start [PROGRAM] | fuzz [SECONDS] | \
    fuzz-bash [--count N] [--seed N] | mcp-servers | mcp-conformance | model-check [--smoke] …";
