//! What a journal knows of the effects that were outstanding when it ended.

use agent_check::session::{Command, Script};
use agent_core::conversation::CallId;
use agent_core::journal::{ActionStarted, Begun, Entry, Header, Rebuilt, Record, Replayer};
use agent_core::session::{Action, Ticket};

/// A session and its journal.
struct Journal {
    script: Script,
    replayer: Replayer,
    records: u64,
}

impl Journal {
    fn of(lines: &[&str]) -> Self {
        let mut script = Script::default();
        let Command::Nothing = script.read("not-started mode=bypass") else { panic!() };
        let header = Header::new("s", "test", "/", script.session.config().clone());
        let first = Record { seq: 0, at_ms: 0, entry: Entry::Header(Box::new(header)) };
        let mut journal = Self { script, replayer: Replayer::new(first).unwrap(), records: 1 };
        ["start"].iter().chain(lines).for_each(|line| journal.take(line));
        journal
    }

    fn take(&mut self, line: &str) {
        let Command::Take(event) = self.script.read(line) else { panic!("{line}") };
        let step = self.script.session.step(0, event.clone()).unwrap();
        self.script.note(&step.actions);
        self.note(Entry::Event(event.into()));
    }

    fn note(&mut self, entry: Entry) {
        self.replayer.advance(Record { seq: self.records, at_ms: 0, entry }).unwrap();
        self.records += 1;
        assert_eq!(self.replayer.next_seq(), self.records);
    }

    fn outstanding(&self) -> Action {
        self.script.session.outstanding().remove(0).action
    }

    fn rebuilt(self) -> Rebuilt {
        assert_eq!(self.replayer.session(), &self.script.session);
        self.replayer.finish()
    }
}

#[test]
fn a_request_has_begun_once_that_is_noted() {
    let mut journal = Journal::of(&["input go"]);
    let started = ActionStarted::of(&journal.outstanding()).unwrap();
    let ticket = started.ticket();
    assert!(!journal.replayer.clone().finish().begun.has(ticket));
    journal.note(Entry::ActionStarted(started));
    let records = journal.records;
    let rebuilt = journal.rebuilt();
    assert_eq!((rebuilt.begun.has(ticket), rebuilt.next_seq), (true, records));
    assert!(!rebuilt.begun.has(Ticket(ticket.0 + 1)));
}

#[test]
fn of_several_calls_those_have_begun_that_are_noted() {
    let mut journal = Journal::of(&["input go", "answer calls read{} read{}", "prepared"]);
    let Action::ExecuteTools { ticket, calls } = journal.outstanding() else { panic!() };
    let ids: Vec<CallId> = calls.into_iter().map(|call| call.id).collect();
    journal.note(Entry::ActionStarted(ActionStarted::ExecuteTools { ticket, calls: vec![ids[0].clone()] }));
    let begun = journal.rebuilt().begun;
    assert_eq!([begun.has_call(ticket, &ids[0]), begun.has_call(ticket, &ids[1])], [true, false]);
}

#[test]
fn without_notes_everything_may_have_begun() {
    let journal = Journal::of(&["input go", "answer calls read{}", "prepared"]);
    let Action::ExecuteTools { ticket, calls } = journal.outstanding() else { panic!() };
    let rebuilt = journal.rebuilt();
    assert!(!rebuilt.begun.has_call(ticket, &calls[0].id), "nothing is noted");
    let begun = rebuilt.with_begun(Begun::unknown()).begun;
    assert!(begun.has_call(ticket, &calls[0].id) && begun.has(ticket));
}

#[test]
fn what_begins_has_the_name_of_its_action() {
    let journal = Journal::of(&["input go"]);
    assert_eq!(ActionStarted::of(&journal.outstanding()).unwrap().name(), "SendLlmRequest");
    let none = ActionStarted::ExecuteTools { ticket: Ticket(1), calls: Vec::new() };
    assert_eq!(none.name(), "ExecuteTools");
}
