//! Rebuilding a session from its records.

use super::{ActionStarted, Entry, FORMAT_VERSION, Header, LifecycleEntry, Record};
use crate::agent::{Agent, Rejected, Step};
use crate::conversation::CallId;
use crate::session::{HistoryError, Outcome, Session, SessionTable, Ticket};
use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use core::mem;
use statetable::Rendering;

/// Rebuilds a session from its records.
///
/// # Errors
/// [`ReplayError`] when the records do not make a session: no header, another format, a gap in the numbers.
pub fn replay<I: IntoIterator<Item = Record>>(records: I) -> Result<(Header, Session), ReplayError> {
    let mut records = records.into_iter();
    let mut replayer = Replayer::new(records.next().ok_or(ReplayError::NoHeader)?)?;
    for record in records {
        replayer.advance(record)?;
    }
    Ok((replayer.header, replayer.agent.into_session()))
}

/// Rebuilds a session record by record, and says what each of them did.
#[derive(Clone, Debug)]
pub struct Replayer {
    header: Header,
    agent: Agent,
    next_seq: u64,
    begun: BTreeSet<(Ticket, Option<CallId>)>,
    /// The buffer of steps whose content is not used.
    unseen: Step,
}

impl Replayer {
    /// Begins with the first record.
    ///
    /// # Errors
    /// [`ReplayError::NoHeader`] when it is not a header, [`ReplayError::Version`] when it has another format than today's.
    pub fn new(record: Record) -> Result<Self, ReplayError> {
        let header = Self::header_of(record)?;
        let session = Session::new(header.config.clone());
        Ok(Self::begun_with(header, session))
    }

    /// Begins with the first record, on another table, for tests that change rows and look for the difference.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    #[doc(hidden)]
    pub fn with_table(record: Record, table: &'static SessionTable) -> Result<Self, ReplayError> {
        let header = Self::header_of(record)?;
        let session = Session::with_table(header.config.clone(), table);
        Ok(Self::begun_with(header, session))
    }

    fn begun_with(header: Header, session: Session) -> Self {
        let unseen = Step::empty();
        let mut agent = Agent::over(session);
        if let Some(child) = &header.child {
            agent = agent.of_parent(child.changes_files);
        }
        Self { header, agent, next_seq: 1, begun: BTreeSet::new(), unseen }
    }

    fn header_of(record: Record) -> Result<Header, ReplayError> {
        let Record { seq: 0, entry: Entry::Header(header), .. } = record else {
            return Err(ReplayError::NoHeader);
        };
        match header.format_version {
            FORMAT_VERSION => Ok(*header),
            found => Err(ReplayError::Version { found }),
        }
    }

    /// Takes the next record in.
    ///
    /// # Errors
    /// [`ReplayError`] when it is not the next one, or a second header. Nothing has changed then.
    pub fn take(&mut self, record: Record) -> Result<Replayed, ReplayError> {
        let mut step = Step::empty();
        let other = self.pass(record, &mut step, Rendering::Actions)?;
        Ok(other.unwrap_or(Replayed::Step(step)))
    }

    /// Applies the next record without reporting what it did, which is quicker.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub fn advance(&mut self, record: Record) -> Result<(), ReplayError> {
        let mut step = mem::replace(&mut self.unseen, Step::empty());
        let passed = self.pass(record, &mut step, Rendering::Nothing);
        self.unseen = step;
        passed.map(drop)
    }

    /// Takes the next record in. Says what it did, unless it was a step: that is put into one that may have been used before.
    fn pass(&mut self, record: Record, step: &mut Step, rendering: Rendering) -> Result<Option<Replayed>, ReplayError> {
        if record.seq != self.next_seq {
            return Err(ReplayError::Gap { expected: self.next_seq, found: record.seq });
        }
        let other = match record.entry {
            Entry::Header(_) => return Err(ReplayError::SecondHeader { seq: record.seq }),
            Entry::History(item) => {
                let preceded = self.agent.precede(&item);
                preceded.map_err(|found| ReplayError::History { seq: record.seq, found })?;
                *step = Step::empty();
                None
            }
            Entry::Event(event) => match self.agent.step_into(record.at_ms, event, step, rendering) {
                Ok(()) => None,
                // A refusal was a refusal then, too.
                Err(rejected) => Some(Replayed::Refused(Box::new(rejected))),
            },
            Entry::ActionStarted(started) => Some(self.begin(started)),
            Entry::Lifecycle(entry) => self.oversee(record.seq, record.at_ms, entry, step)?,
        };
        self.next_seq += 1;
        Ok(other)
    }

    fn begin(&mut self, started: ActionStarted) -> Replayed {
        let ticket = started.ticket();
        let session = self.agent.session();
        // What is answered is not asked about any more; so this stays as small as what is in flight.
        self.begun.retain(|(ticket, _)| session.is_open(*ticket));
        match started {
            ActionStarted::ExecuteTools { calls, .. } => {
                self.begun.extend(calls.into_iter().map(|call| (ticket, Some(call))));
            }
            ActionStarted::SendLlmRequest { .. }
            | ActionStarted::RunAutoformatters { .. }
            | ActionStarted::CommitChanges { .. }
            | ActionStarted::RunHooks { .. } => {
                self.begun.insert((ticket, None));
            }
        }
        Replayed::Begun { ticket, was_asked: self.agent.session().is_open(ticket) }
    }

    /// A lifecycle that was recorded separately.
    fn oversee(
        &mut self,
        seq: u64,
        at_ms: u64,
        entry: LifecycleEntry,
        step: &mut Step,
    ) -> Result<Option<Replayed>, ReplayError> {
        let event = match entry {
            LifecycleEntry::Began(config) => {
                self.agent.bind_apart(*config);
                *step = Step::empty();
                return Ok(None);
            }
            LifecycleEntry::Event(event) => event,
        };
        let taken = self.agent.lifecycle_apart(at_ms, event).ok_or(ReplayError::NoLifecycle { seq })?;
        Ok(match taken {
            Ok(taken) => {
                *step = Step { down: taken, ..Step::empty() };
                None
            }
            Err(rejected) => Some(Replayed::Refused(Box::new(rejected.into()))),
        })
    }

    /// How the session was made.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// The session after the records so far.
    #[must_use]
    pub const fn session(&self) -> &Session {
        self.agent.session()
    }

    /// The agent after the records so far.
    #[must_use]
    pub const fn agent(&self) -> &Agent {
        &self.agent
    }

    /// How the last run ended; `None` while it is in progress.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        self.agent.outcome()
    }

    /// The number of the next record.
    #[must_use]
    pub const fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// What a driver needs to continue.
    #[must_use]
    pub fn finish(self) -> Rebuilt {
        let Self { header, agent, next_seq, begun, unseen: _ } = self;
        Rebuilt { header, agent, next_seq, begun: Begun { known: Some(begun) } }
    }
}

/// A session rebuilt from its journal.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rebuilt {
    /// How it was made.
    pub header: Header,
    /// The agent, as it was left.
    pub agent: Agent,
    /// The number of the next record.
    pub next_seq: u64,
    /// What of the outstanding had begun.
    pub begun: Begun,
}

impl Rebuilt {
    /// The same with other knowledge of what had begun.
    #[must_use]
    pub fn with_begun(self, begun: Begun) -> Self {
        Self { begun, ..self }
    }
}

/// What a record did.
#[derive(Clone, Debug, PartialEq)]
pub enum Replayed {
    /// The agent took a step.
    Step(Step),
    /// The agent refused the event, then as now.
    Refused(Box<Rejected>),
    /// An effect was about to begin.
    Begun {
        /// Of the action.
        ticket: Ticket,
        /// Whether the session had asked for it. If not, other rules wrote the journal than those that replay it.
        was_asked: bool,
    },
}

/// Which of the outstanding actions had begun when a journal ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Begun {
    known: Option<BTreeSet<(Ticket, Option<CallId>)>>,
}

impl Begun {
    /// Assumes that every requested action may have started.
    #[must_use]
    pub const fn unknown() -> Self {
        Self { known: None }
    }

    /// For a session whose journal notes no beginning: nothing has begun.
    #[must_use]
    pub const fn nothing() -> Self {
        Self { known: Some(BTreeSet::new()) }
    }

    /// Whether a call may have begun. One that has not is safe to run.
    #[must_use]
    pub fn has_call(&self, ticket: Ticket, call: &CallId) -> bool {
        self.known.as_ref().is_none_or(|known| known.contains(&(ticket, Some(call.clone()))))
    }

    /// Whether something that is not a tool call may have begun.
    #[must_use]
    pub fn has(&self, ticket: Ticket) -> bool {
        self.known.as_ref().is_none_or(|known| known.contains(&(ticket, None)))
    }
}

/// Why records do not make a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The first record is not a header.
    #[error("replay the journal: the first record is not a header")]
    NoHeader,
    /// It has another format. Lines of earlier formats are read by [`Format`](super::Format).
    #[error("replay the journal: it has format {found}, this program replays format {FORMAT_VERSION}")]
    Version {
        /// The format's number.
        found: u32,
    },
    /// A record is missing or occurs twice.
    #[error("replay the journal: record {expected} expected, {found} found")]
    Gap {
        /// The number that should come.
        expected: u64,
        /// The number that came.
        found: u64,
    },
    /// What is said to have been before the session cannot have been.
    #[error("replay the journal: record {seq} cannot {found}")]
    History {
        /// Its number.
        seq: u64,
        /// Why.
        found: HistoryError,
    },
    /// It belongs to a lifecycle that never began.
    #[error("replay the journal: record {seq} is an event of a lifecycle that has not begun")]
    NoLifecycle {
        /// Its number.
        seq: u64,
    },
    /// There is a second header.
    #[error("replay the journal: record {seq} is a second header")]
    SecondHeader {
        /// Its number.
        seq: u64,
    },
}
