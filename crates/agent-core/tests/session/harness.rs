//! A session with everything that was done with it, against a driver without an outside: whatever is reported, the invariants have to hold.
//!
//! [`generator`] turns small numbers into events that fit, or nearly fit, what the session waits for; [`invariants`] are looked at after
//! every event.

mod generator;
mod invariants;
mod request;

pub(crate) use generator::{CONFIGS, Choice, config};
pub(crate) use request::check_request;

use agent_check::invariants::Tally;
use agent_check::observed::{Edge, Observed};
use agent_check::request::FORMATS;
use agent_check::session::stop;
use agent_core::agent;
use agent_core::journal::{Entry, Header, Record, replay};
use agent_core::session::{Event, Rejected, Session, SessionConfig, State, Step};
use invariants::Seen;

/// A session, its journal, and what was seen of it.
pub(crate) struct Harness {
    pub(crate) session: Session,
    pub(crate) config: SessionConfig,
    /// The journal as it would stand in a file, line by line.
    journal: Vec<String>,
    /// The session that the journal makes: it is told nothing but the lines.
    rebuilt: Session,
    seen: Seen,
    observed: Observed,
    now_ms: u64,
    inputs: u64,
}

impl Harness {
    pub(crate) fn new(config: SessionConfig) -> Self {
        let session = Session::new(config.clone());
        let header = Header::new("s", "test", "/", config.clone());
        let record = Record { seq: 0, at_ms: 0, entry: Entry::Header(Box::new(header)) };
        let journal = vec![serde_json::to_string(&record).unwrap()];
        Self {
            rebuilt: session.clone(),
            session,
            config,
            journal,
            seen: Seen::default(),
            observed: Observed::default(),
            now_ms: 0,
            inputs: 0,
        }
    }

    /// Takes one event, and checks nothing.
    pub(crate) fn take_unchecked(&mut self, event: Event) -> Result<Step, Rejected> {
        self.now_ms += 7;
        let result = self.session.step(self.now_ms, event);
        if let Ok(step) = &result {
            self.seen.note_tickets(step);
        }
        result
    }

    /// Takes one event and checks everything that must hold after it.
    pub(crate) fn take(&mut self, event: Event) -> Result<Step, Rejected> {
        // Time goes on, and now and then a little back.
        self.now_ms = if self.journal.len() % 13 == 12 { self.now_ms - 5 } else { self.now_ms + 7 };
        let before = self.session.clone();
        let result = self.session.step(self.now_ms, event.clone());
        match &result {
            Err(rejected) => self.seen.check_refusal(&before, &self.session, &event, rejected),
            Ok(step) => {
                self.seen.check_step(&before, &self.session, &event, step);
                if !step.transitions.is_empty() {
                    let (event, after) = (&event, &self.session);
                    let edge = Edge { before: &before, event, step, after, formats: FORMATS };
                    let next = self.observed.next(&edge, &mut Tally::default());
                    self.observed = next.unwrap_or_else(|fault| panic!("{fault:?} after {event:?}"));
                }
            }
        }
        self.observed.agrees_with(&self.session).unwrap_or_else(|fault| panic!("{fault:?} after {event:?}"));
        self.seen.check_session(&self.session);
        self.write(event);
        self.check_rebuilt();
        check_ways_out(&self.session, self.now_ms);
        result
    }

    pub(crate) fn input(&mut self) -> Event {
        self.inputs += 1;
        Event::UserInput { text: format!("input-{}", self.inputs).into() }
    }

    /// The journal, line by line.
    pub(crate) fn lines(&self) -> &[String] {
        &self.journal
    }

    /// Writes the event as a driver would: what is transient is not kept.
    fn write(&mut self, event: Event) {
        if event.is_transient() {
            return;
        }
        let record = Record { seq: self.journal.len() as u64, at_ms: self.now_ms, entry: Entry::Event(event.into()) };
        let line = serde_json::to_string(&record).unwrap();
        let read: Record = serde_json::from_str(&line).unwrap();
        assert_eq!(read, record);
        let Entry::Event(agent::Event::Session(event)) = read.entry else { panic!("{line}") };
        let _ = self.rebuilt.step(read.at_ms, event);
        self.journal.push(line);
    }

    /// Same events, same session, bytes equal: after every event, from the lines alone.
    fn check_rebuilt(&self) {
        assert_eq!(self.rebuilt, self.session);
        let (kept, rebuilt) = (serde_json::to_vec(&self.session).unwrap(), serde_json::to_vec(&self.rebuilt).unwrap());
        assert!(kept == rebuilt, "equal, but not to the byte");
        // Reading takes longest of all.
        if self.journal.len().is_multiple_of(4) {
            assert_eq!(serde_json::from_slice::<Session>(&kept).unwrap(), self.session);
        }
    }

    /// The whole journal once more, and the session as it is kept.
    pub(crate) fn check_replay(&self) {
        let records = self.journal.iter().map(|line| serde_json::from_str::<Record>(line).unwrap());
        let (_, again) = replay(records).unwrap();
        assert_eq!(again, self.session);
        let kept = serde_json::to_vec(&self.session).unwrap();
        assert_eq!(serde_json::to_vec(&again).unwrap(), kept);
        let restored: Session = serde_json::from_slice(&kept).unwrap();
        assert_eq!((&restored, restored.outstanding()), (&again, again.outstanding()));
    }
}

/// From anywhere, a cancel leads to the prompt and a shutdown to the end, given that the driver answers: one answer for each thing in
/// flight.
fn check_ways_out(session: &Session, now_ms: u64) {
    if matches!(session.state(), State::Ready | State::ShuttingDown) {
        return;
    }
    let mut session = session.clone();
    let _ = session.step(now_ms, Event::CancelRequested);
    let mut answers = 0;
    while session.state() != State::WaitingForUserInput {
        let action = session.outstanding().remove(0).action;
        let _ = session.step(now_ms, stop(&action, &session)).unwrap();
        answers += 1;
        assert!(answers <= WAY_OUT, "still in {:?} after {answers} answers", session.state());
    }
    let end = session.step(now_ms, Event::ShutdownRequested).unwrap();
    assert_eq!((session.state(), end.transitions.len()), (State::ShuttingDown, 1));
    assert!(session.step(now_ms, Event::UserInput { text: "after the end".into() }).is_err());
}

/// The most calls that an answer of the generator has: each of a group that runs may have to be answered.
const WAY_OUT: u32 = 3;
