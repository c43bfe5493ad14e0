//! Journals of this program. A checksum a line tells what is damaged; replaying tells the rest, up to the first damage.

use super::{Finding, Kind};
use crate::failure::Failure;
use crate::screen::terminal::say;
use agent_core::agent;
use agent_core::conversation::CallId;
use agent_core::journal::{Entry, Record, ReplayError, Replayed, Replayer};
use agent_core::lifecycle;
use agent_core::picture::Picture;
use agent_core::ports::PictureKeeper as _;
use agent_core::session::{Action, Event, Ticket};
use agent_runner::journal::{ReadError, Reader, SessionPictures, salvage};
use std::collections::HashSet;
use std::path::Path;

/// The number of lines, and what is wrong with them.
pub(super) fn look(path: &Path) -> Result<(usize, Vec<Finding>), Failure> {
    let mut reader = Reader::open(path).map_err(Failure::input)?;
    let mut look = Look { pictures: SessionPictures::of_journal(path), ..Look::default() };
    while let Some(record) = reader.next() {
        match record {
            Ok(record) => look.record(record),
            Err(ReadError::Damaged { damage, .. }) => {
                look.lines += 1;
                look.error(Kind::Damaged, damage.found);
                look.replayer = None;
                if !reader.pass_over() {
                    return Ok((look.lines, look.findings));
                }
            }
            Err(error) => return Err(Failure::input(error)),
        }
    }
    look.unanswered();
    if reader.torn_bytes() > 0 {
        look.lines += 1;
        look.error(Kind::Torn, format!("the last record is cut ({} bytes)", reader.torn_bytes()));
    }
    Ok((look.lines, look.findings))
}

/// Copies what comes before the first damage.
pub(super) fn repair(path: &Path, out: &Path) -> Result<(), Failure> {
    let salvaged = salvage(path, out).map_err(Failure::input)?;
    if salvaged.left_bytes > 0 {
        let (records, bytes) = (salvaged.records, salvaged.left_bytes);
        say(&format!(
            "agent: copied the first {records} records, but not the {bytes} bytes after them, which may depend on what was lost"
        ));
    }
    Ok(())
}

#[derive(Default)]
struct Look {
    lines: usize,
    findings: Vec<Finding>,
    /// As long as nothing is damaged.
    replayer: Option<Replayer>,
    answered: HashSet<(Ticket, CallId)>,
    /// The record before.
    last: Option<Record>,
    /// What is beside the journal.
    pictures: SessionPictures,
}

impl Look {
    fn record(&mut self, record: Record) {
        self.lines += 1;
        if self.lines == 1 {
            match Replayer::new(record) {
                Ok(replayer) => self.replayer = Some(replayer),
                Err(error) => self.error(Kind::MissingMessage, error.to_string()),
            }
            return;
        }
        let result = match &record.entry {
            Entry::Event(agent::Event::Session(Event::ToolCompleted { ticket, call, .. })) => {
                Some((*ticket, call.clone()))
            }
            _ => None,
        };
        if self.last.as_ref() == Some(&record) {
            self.error(Kind::DuplicateMessage, format!("the record {} is there already", record.seq));
            return;
        }
        self.last = Some(record.clone());
        if let Entry::Event(event) = &record.entry {
            self.compare(pictures(event));
        }
        match (self.replayer.as_mut().map(|replayer| replayer.take(record)), result) {
            (Some(Err(ReplayError::Gap { expected, found })), _) if found < expected => {
                self.error(Kind::DuplicateMessage, format!("the record {found} is there already; expected {expected}"));
                self.replayer = None;
            }
            (Some(Err(error)), _) => {
                self.error(Kind::MissingMessage, error.to_string());
                self.replayer = None;
            }
            (Some(Ok(Replayed::Refused(_))), Some(result)) => self.refused(&result),
            (Some(Ok(_)), Some(result)) => drop(self.answered.insert(result)),
            _ => {}
        }
    }

    /// The program that resumes the session names such a picture to the model.
    fn compare(&mut self, pictures: &[Picture]) {
        for picture in pictures {
            if let Err(error) = self.pictures.bytes_of(picture) {
                let message =
                    format!("the picture {} with the digest {}: {}", picture.name, picture.digest, error.found);
                self.note(Kind::MissingPicture, message);
            }
        }
    }

    /// A refused answer changes nothing.
    fn refused(&mut self, result: &(Ticket, CallId)) {
        let (is_second, call) = (self.answered.contains(result), &result.1);
        let (kind, what) = match is_second {
            true => (Kind::DuplicateResult, "the call already had a result"),
            false => (Kind::UnknownResult, "it was not requested"),
        };
        self.note(kind, format!("the result of the call {call} was refused: {what}"));
    }

    /// What was asked and not answered is dealt with when the session is resumed.
    fn unanswered(&mut self) {
        let outstanding = self.replayer.as_ref().map(|replayer| replayer.session().outstanding()).unwrap_or_default();
        for open in outstanding {
            if let Action::ExecuteTools { calls, .. } = open.action {
                for call in calls {
                    let message = format!(
                        "the call {} of {} has no result; resuming the session reports this to the model",
                        call.id, call.name
                    );
                    self.note(Kind::Unanswered, message);
                }
            }
        }
    }

    fn error(&mut self, kind: Kind, message: String) {
        self.findings.push(Finding::error(self.lines, kind, message));
    }

    fn note(&mut self, kind: Kind, message: String) {
        self.findings.push(Finding::note(self.lines, kind, message));
    }
}

/// The pictures that an event brings.
fn pictures(event: &agent::Event) -> &[Picture] {
    match event {
        agent::Event::Session(Event::ToolCompleted { outcome, .. }) => &outcome.pictures,
        agent::Event::Session(event) => event.said().map_or(&[], |said| &said.pictures),
        agent::Event::Lifecycle(lifecycle::Event::InputReceived { text }) => &text.pictures,
        _ => &[],
    }
}
