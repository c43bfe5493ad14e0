//! Scenarios in text: what is reported to a session, and what it asks for. `INSTA_UPDATE=always` rewrites the answers in the files.
//!
//! ```text
//! == a title begins a new, started session
//! # a comment
//! > input hello
//!     CallingLlm
//!     - send #1 to first: user "hello"
//! ```
//!
//! Lines that begin with `>` are read (see `agent_check::session`), indented lines are what came of them (see `show`). Whatever a scenario
//! does, a refusal must leave the session as it was, and at the end the history must be sendable.

use crate::stage::table;
use agent_check::quiet;
use agent_check::request;
use agent_check::scenarios::{self, Story};
use agent_check::session::{Command, Script, show, stop};
use agent_core::budget::Limits;
use agent_core::journal::{self, Entry, Format, Header, Record};
use agent_core::session::{Action, Event, Session, State};
use std::collections::BTreeSet;
use std::fs;

#[test]
fn every_scenario_reads_as_written() {
    scenarios::check("session", &play);
}

/// As if the program ended after every event, and another one went on with what stands in the journal.
#[test]
fn every_scenario_reads_the_same_when_the_session_is_rebuilt_after_every_event() {
    let play = |text: &str| {
        let mut reborn = Reborn { script: Script::on(table()), journal: Vec::new() };
        scenarios::play(text, &mut reborn)
    };
    let differing = scenarios::differing("session", &play);
    assert!(differing.is_empty(), "{:?}", differing.iter().map(|(path, ..)| path).collect::<Vec<_>>());
}

/// All scenarios, one by one, with the rows that each fires: to find out whether they notice a change of the table.
pub(crate) struct Scenarios(Vec<(String, BTreeSet<String>)>);

impl Scenarios {
    /// Reads them and plays each once.
    pub(crate) fn read() -> Self {
        let texts = scenarios::paths("session").into_iter().map(|path| fs::read_to_string(path).unwrap());
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
    let mut told = Told { script: Script::on(table()), fired: BTreeSet::new() };
    (scenarios::play(text, &mut told), told.fired)
}

struct Told {
    script: Script,
    fired: BTreeSet<String>,
}

impl Story for Told {
    fn begin(&mut self) {
        check_sendable(&self.script.session);
        self.script = Script::on(table());
    }

    fn perform(&mut self, line: &str) -> String {
        perform(&mut self.script, line, &mut self.fired)
    }
}

/// A session that is made anew from the lines of its journal after every event.
struct Reborn {
    script: Script,
    journal: Vec<String>,
}

impl Reborn {
    /// A journal of the session that a scenario begins with.
    fn open(&mut self) {
        let header = Header::new("s", "test", "/", self.script.session.config().clone());
        self.journal.clear();
        self.write(0, Entry::Header(Box::new(header)));
        if self.script.session.state() != State::Ready {
            self.write(0, Entry::Event(Event::Started.into()));
        }
    }

    fn write(&mut self, at_ms: u64, entry: Entry) {
        let record = Record { seq: self.journal.len() as u64, at_ms, entry };
        self.journal.push(serde_json::to_string(&record).unwrap());
    }

    fn rebuilt(&self) -> Session {
        let format = Format::of(&self.journal[0]).unwrap();
        let records = self.journal.iter().map(|line| format.read(line).unwrap());
        journal::replay(records).unwrap().1
    }
}

impl Story for Reborn {
    fn begin(&mut self) {
        self.script = Script::on(table());
        self.open();
    }

    fn perform(&mut self, line: &str) -> String {
        let mut script = self.script.clone();
        let told = match script.read(line) {
            Command::Take(event) if !event.is_transient() => {
                self.write(script.now_ms, Entry::Event(event.into()));
                perform(&mut self.script, line, &mut BTreeSet::new())
            }
            Command::Take(_) | Command::Show(_) => perform(&mut self.script, line, &mut BTreeSet::new()),
            Command::Nothing => {
                let told = perform(&mut self.script, line, &mut BTreeSet::new());
                if matches!(line.split(' ').next(), Some("config" | "not-started")) {
                    self.open();
                }
                told
            }
        };
        let rebuilt = self.rebuilt();
        assert!(rebuilt == self.script.session, "after `{line}` the journal makes another session");
        self.script.session = rebuilt;
        told
    }
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
                    if step.is_empty() && piece.is_none() {
                        assert_eq!(script.session, before, "a late timer changed the session: {line}");
                        return show::late(&script.session);
                    }
                    fired.extend(piece);
                    fired.extend(step.transitions.iter().map(|done| format!("{:?} + {:?}", done.from, done.on)));
                    script.note(&step.actions);
                    for action in &step.actions {
                        if let Action::SendLlmRequest { request, .. } = action {
                            request::check(&request.conversation).unwrap();
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
        let _ = session.step(0, stop(&action, &session)).unwrap();
    }
    assert_eq!(session.state(), State::WaitingForUserInput);
    let _ = session.step(0, Event::BudgetRaised { limits: Limits::default() }).unwrap();
    if session.state() == State::WaitingForUserInput {
        let _ = session.step(0, Event::UserInput { text: "and now?".into() }).unwrap();
    }
    // Hooks that fail let everything pass.
    while let Some(action @ Action::RunHooks { .. }) = session.outstanding().first().map(|open| open.action.clone()) {
        let _ = session.step(0, stop(&action, &session)).unwrap();
    }
    let sent = session.outstanding().into_iter().find_map(|outstanding| match outstanding.action {
        Action::SendLlmRequest { request, .. } => Some(request),
        _ => None,
    });
    request::check(&sent.unwrap().conversation).unwrap();
}

/// Answers of a driver that stops everything, before the session has come to rest.
const MAX_STOPS: usize = 40;
