//! Scenarios in text: what is reported to a session, and what it asks for. `UPDATE=1` rewrites the answers in the files.
//!
//! ```text
//! == a title begins a new, started session
//! # a comment
//! > input hello
//!     CallingLlm
//!     - send #1 to first: user "hello"
//! ```
//!
//! Lines that begin with `>` are read (see `script`), indented lines are what came of them (see `show`). Whatever a scenario does, a
//! refusal must leave the session as it was, and at the end the history must be sendable.

mod hook_words;
pub(crate) mod script;
mod show;

use crate::harness::{check_request, stop};
use crate::stage::table;
use crate::support::quiet;
use agent_core::budget::Limits;
use agent_core::session::{Action, Event, Session, State};
use script::{Command, Script};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn every_scenario_reads_as_written() {
    let mut wrong = Vec::new();
    for path in paths() {
        let written = fs::read_to_string(&path).unwrap();
        let found = play(&written);
        if written == found {
            continue;
        }
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&path, found).unwrap();
        } else {
            wrong.push(format!("{}\n{}", path.file_name().unwrap().display(), difference(&written, &found)));
        }
    }
    assert!(wrong.is_empty(), "UPDATE=1 accepts:\n{}", wrong.join("\n"));
}

fn paths() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/session/scenarios");
    let mut paths: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

/// All scenarios, one by one, with the rows that each fires: to find out whether they notice a change of the table.
pub(crate) struct Scenarios(Vec<(String, BTreeSet<String>)>);

impl Scenarios {
    /// Reads them and plays each once.
    pub(crate) fn read() -> Self {
        let texts = paths().into_iter().map(|path| fs::read_to_string(path).unwrap());
        let single = |text: String| text.split("\n== ").skip(1).map(|one| format!("== {one}\n")).collect::<Vec<_>>();
        let all = texts.flat_map(|text| single(format!("\n{text}")));
        let played = |text: String| {
            let (found, fired) = play_noting(&text);
            assert_eq!(found, text);
            (text, fired)
        };
        Self(all.map(played).collect())
    }

    /// Whether one that fires a row reads otherwise than written, or breaks.
    pub(crate) fn notice(&self, cell: &str) -> bool {
        let firing = self.0.iter().filter(|(_, fired)| fired.contains(cell));
        firing.into_iter().any(|(text, _)| quiet::caught(|| play(text)).map_or(true, |found| found != *text))
    }
}

/// The same text with the answers that the session gives now.
fn play(text: &str) -> String {
    play_noting(text).0
}

/// Besides, the cells of all rows that fired.
fn play_noting(text: &str) -> (String, BTreeSet<String>) {
    let (mut out, mut fired) = (String::new(), BTreeSet::new());
    let mut script = Script::on(table());
    for line in text.lines().filter(|line| !line.starts_with("    ")) {
        out.push_str(line);
        out.push('\n');
        if line.starts_with("==") {
            check_sendable(&script.session);
            script = Script::on(table());
        } else if let Some(command) = line.strip_prefix("> ") {
            for answer in perform(&mut script, command, &mut fired).lines() {
                let _ = writeln!(out, "    {answer}");
            }
        } else {
            assert!(line.is_empty() || line.starts_with('#'), "neither command nor comment: {line}");
        }
    }
    check_sendable(&script.session);
    (out, fired)
}

fn perform(script: &mut Script, line: &str, fired: &mut BTreeSet<String>) -> String {
    match script.read(line) {
        Command::Nothing => String::new(),
        Command::Show(text) => text,
        Command::Take(event) => {
            let before = script.session.clone();
            // Pieces of text leave no transition.
            let piece = event.is_transient().then(|| format!("{:?} + {}", before.state(), event.name()));
            match script.session.step(script.now_ms, event) {
                Ok(step) => {
                    fired.extend(piece);
                    fired.extend(step.transitions.iter().map(|done| format!("{:?} + {:?}", done.from, done.on)));
                    script.note(&step.actions);
                    for action in &step.actions {
                        if let Action::SendLlmRequest { request, .. } = action {
                            check_request(&request.conversation);
                        }
                    }
                    show::step(&script.session, &step)
                }
                Err(rejected) => {
                    assert_eq!(script.session, before, "a refusal changed the session: {line}");
                    show::refusal(&rejected)
                }
            }
        }
    }
}

/// From wherever a scenario ends: a driver that stops everything brings the prompt, and the next input a request that can be sent.
fn check_sendable(session: &Session) {
    let mut session = session.clone();
    if matches!(session.state(), State::Ready | State::ShuttingDown) {
        return;
    }
    let _ = session.step(0, Event::CancelRequested);
    for _ in 0..MAX_STOPS {
        if session.state() == State::WaitingForUserInput {
            break;
        }
        let action = session.outstanding().remove(0).action;
        let _ = session.step(0, stop(&action)).unwrap();
    }
    assert_eq!(session.state(), State::WaitingForUserInput);
    let _ = session.step(0, Event::BudgetRaised { limits: Limits::default() }).unwrap();
    if session.state() == State::WaitingForUserInput {
        let _ = session.step(0, Event::UserInput { text: "and now?".into() }).unwrap();
    }
    // Hooks that fail let everything pass.
    while let Some(action @ Action::RunHooks { .. }) = session.outstanding().first().map(|open| open.action.clone()) {
        let _ = session.step(0, stop(&action)).unwrap();
    }
    let sent = session.outstanding().into_iter().find_map(|outstanding| match outstanding.action {
        Action::SendLlmRequest { request, .. } => Some(request),
        _ => None,
    });
    check_request(&sent.unwrap().conversation);
}

/// The first lines that differ, with the last one that does not.
fn difference(written: &str, found: &str) -> String {
    let (written, found): (Vec<_>, Vec<_>) = (written.lines().collect(), found.lines().collect());
    let same = written.iter().zip(&found).take_while(|(a, b)| a == b).count();
    let mut out = String::new();
    let heading = found[..same].iter().rev().find(|line| line.starts_with("==")).unwrap_or(&"");
    let _ = writeln!(out, "  line {} ({heading})", same + 1);
    for line in written.iter().skip(same.saturating_sub(1)).take(9) {
        let _ = writeln!(out, "  -{line}");
    }
    for line in found.iter().skip(same.saturating_sub(1)).take(9) {
        let _ = writeln!(out, "  +{line}");
    }
    out
}

/// Answers of a driver that stops everything, before the session has come to rest.
const MAX_STOPS: usize = 40;
