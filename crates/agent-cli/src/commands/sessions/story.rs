//! A journal read from its beginning: each record with what it did, and what all of them came to.

use super::instructed::Instructed;
use super::name;
use super::said::Said;
use crate::failure::Failure;
use crate::screen::counted;
use crate::session::kept::unreadable;
use agent_core::agent::{self, Step};
use agent_core::budget::Ledger;
use agent_core::conversation::Item;
use agent_core::journal::{ActionStarted, Entry, Header, LifecycleEntry, Record, ReplayError, Replayed, Replayer};
use agent_core::lifecycle::{self, Lifecycle};
use agent_core::session::{self, Outcome, State, Ticket, Trigger};
use agent_runner::journal::Reader;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What a session's records came to.
pub(super) struct Story {
    pub(super) replayer: Replayer,
    pub(super) records: u64,
    pub(super) bytes: u64,
    pub(super) torn_bytes: u64,
    pub(super) format_version: u32,
    pub(super) started_ms: u64,
    pub(super) ended_ms: u64,
    /// What was said, also what is not in the history any more.
    pub(super) said: Said,
    /// The files of instructions that the model was given.
    pub(super) instructed: Instructed,
    /// How often each row fired.
    pub(super) rows: BTreeMap<(State, Trigger, State), u64>,
    /// The same of the lifecycle over the session.
    pub(super) lifecycle_rows: BTreeMap<(lifecycle::State, lifecycle::Trigger, lifecycle::State), u64>,
    /// By state: what was spent there.
    pub(super) spent: BTreeMap<State, Spent>,
    pub(super) retries: u64,
    pub(super) refused: u64,
    /// Where the tables of this program decide otherwise than the program that wrote the journal.
    pub(super) differences: Vec<Difference>,
    /// How the work ended before the summaries that the user asked for since: how they end says nothing about it.
    before_summary: Option<Outcome>,
    /// What the last event asked for and no note tells to have begun.
    awaited: BTreeSet<(Ticket, &'static str)>,
}

/// Whether a record is the user's wish for a summary.
const fn asks_for_summary(record: &Record) -> bool {
    use session::Event::{CompactionRequested, FocusedCompactionRequested};
    matches!(record.entry, Entry::Event(agent::Event::Session(CompactionRequested | FocusedCompactionRequested { .. })))
}

/// Whether a step has more to send than a request for a summary. A message may wait for the summary's end.
fn begins_work(step: &Step) -> bool {
    let work = [Trigger::UserInput, Trigger::InputAfterTurn, Trigger::AutoMessageDue, Trigger::BudgetRaisedWorkDue];
    step.session.transitions.iter().any(|transition| work.contains(&transition.on))
}

/// Time, tokens and money.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    pub(super) ms: u64,
    pub(super) tokens: u64,
    cost_nano_usd: u64,
    /// Whether something is in it whose price is not known.
    is_unpriced: bool,
}

impl Spent {
    /// The cost, where it is known.
    pub(super) fn known_cost_nano_usd(&self) -> Option<u64> {
        (!self.is_unpriced).then_some(self.cost_nano_usd)
    }
}

/// An amount as it is shown.
pub(super) fn usd(nano: Option<u64>) -> String {
    nano.map_or_else(|| String::from("unknown"), counted::usd)
}

/// A decision that is not the same any more.
#[derive(Debug)]
pub(super) struct Difference {
    pub(super) seq: u64,
    pub(super) text: String,
}

/// A record, and what it did.
pub(super) struct Told<'a> {
    pub(super) seq: u64,
    pub(super) at_ms: u64,
    pub(super) name: String,
    pub(super) record: &'a Record,
    pub(super) did: &'a Replayed,
    pub(super) header: &'a Header,
}

impl Told<'_> {
    /// Whether the record is of a timer, whose event may come late.
    pub(super) const fn is_of_timer(&self) -> bool {
        match &self.record.entry {
            Entry::Event(agent::Event::Session(event)) => {
                matches!(event, session::Event::RetryTimeout { .. } | session::Event::DeadlineReached { .. })
            }
            Entry::Event(agent::Event::Lifecycle(event)) | Entry::Lifecycle(LifecycleEntry::Event(event)) => {
                matches!(event, lifecycle::Event::TimedOut { .. })
            }
            _ => false,
        }
    }
}

impl Story {
    /// Reads a journal up to a record, and tells each record behind the header.
    pub(super) fn read(path: &Path, to: Option<u64>, mut tell: impl FnMut(&Told<'_>)) -> Result<Self, Failure> {
        let mut reader = Reader::open(path).map_err(|error| unreadable(&error))?;
        let Some(first) = reader.next() else {
            let found = if reader.torn_bytes() > 0 { "a crash cut its first record" } else { "it is empty" };
            return Err(Failure::input(format!("cannot read the journal {}: {found}", path.display())));
        };
        let mut story = Self::begin(first.map_err(|error| unreadable(&error))?)?;
        story.format_version = reader.format().map_or(0, |format| format.version());
        while let Some(record) = reader.next() {
            let record = record.map_err(|error| unreadable(&error))?;
            if to.is_some_and(|to| record.seq > to) {
                break;
            }
            story.take(record, &mut tell).map_err(|error| unreadable(&reader.misplaced(&error)))?;
        }
        (story.bytes, story.torn_bytes) = (reader.good_bytes(), reader.torn_bytes());
        match to {
            Some(to) if to >= story.replayer.next_seq() => {
                let last = story.replayer.next_seq() - 1;
                Err(Failure::input(format!("cannot replay to record {to}: the last one is {last}")))
            }
            _ => Ok(story),
        }
    }

    fn begin(record: Record) -> Result<Self, Failure> {
        let at_ms = record.at_ms;
        let replayer = Replayer::new(record).map_err(Failure::input)?;
        Ok(Self {
            instructed: Instructed::of(replayer.header()),
            replayer,
            records: 1,
            bytes: 0,
            torn_bytes: 0,
            format_version: 0,
            started_ms: at_ms,
            ended_ms: at_ms,
            said: Said::default(),
            rows: BTreeMap::new(),
            lifecycle_rows: BTreeMap::new(),
            spent: BTreeMap::new(),
            retries: 0,
            refused: 0,
            differences: Vec::new(),
            before_summary: None,
            awaited: BTreeSet::new(),
        })
    }

    fn take(&mut self, record: Record, tell: &mut impl FnMut(&Told<'_>)) -> Result<(), ReplayError> {
        let (seq, at_ms, name) = (record.seq, record.at_ms, name(&record));
        let (state, before) = (self.replayer.session().state(), *self.replayer.session().ledger());
        let said = self.replayer.session().conversation().clone();
        let kept = record.clone();
        let ended = asks_for_summary(&record).then(|| self.replayer.outcome()).flatten();
        let did = self.replayer.take(record)?;
        self.records += 1;
        self.ended_ms = self.ended_ms.max(at_ms);
        match &kept.entry {
            Entry::Event(_) => self.miss(seq),
            Entry::ActionStarted(started) => self.note(seq, started, &did),
            _ => {}
        }
        match &did {
            Replayed::Step(step) => {
                self.instructed.take(&kept.entry);
                self.said.follow(&said, self.replayer.session().conversation(), &step.session.transitions);
                self.step(state, &before, step);
                self.before_summary = self.before_summary.take().or(ended).filter(|_| !begins_work(step));
            }
            // Formats that recorded the lifecycle separately recorded only what it took.
            Replayed::Refused(rejected) if matches!(kept.entry, Entry::Lifecycle(_)) => {
                let text = format!("the lifecycle now refuses {}, which it accepted then", rejected.event());
                self.differences.push(Difference { seq, text });
            }
            Replayed::Refused(_) => self.refused += 1,
            Replayed::Begun { .. } => {}
        }
        tell(&Told { seq, at_ms, name, record: &kept, did: &did, header: self.replayer.header() });
        Ok(())
    }

    /// What the session cost, where that is known.
    pub(super) fn known_cost_nano_usd(&self) -> Option<u64> {
        let (session, ledger) = (self.replayer.session(), self.replayer.session().ledger());
        let is_known = ledger.unpriced_calls == 0 && !session.has_open_cost();
        is_known.then_some(ledger.cost_nano_usd)
    }

    /// Everything that was said, oldest first.
    pub(super) fn items(&self) -> impl Iterator<Item = &Item> {
        self.said.items(self.replayer.session().conversation())
    }

    /// How the last work ended; nothing while it is going on.
    pub(super) fn outcome(&self) -> Option<Outcome> {
        let last = self.replayer.outcome()?;
        Some(self.before_summary.clone().unwrap_or(last))
    }

    /// How the last work ended, in the words of the exit codes; nothing while it is going on.
    pub(super) fn ended(&self) -> Option<String> {
        let outcome = self.outcome()?;
        Some(format!("{} (exit code {})", outcome.kind.subtype(), outcome.kind.exit_code()))
    }

    /// The lifecycle that has the last word about the session, if there is one.
    pub(super) fn lifecycle(&self) -> Option<&Lifecycle> {
        self.replayer.agent().unless_passed_over()
    }

    fn step(&mut self, state: State, before: &Ledger, step: &Step) {
        for row in step.down.transitions.iter().chain(&step.up.transitions) {
            *self.lifecycle_rows.entry((row.from, row.on, row.to)).or_default() += 1;
        }
        for transition in &step.session.transitions {
            *self.rows.entry((transition.from, transition.on, transition.to)).or_default() += 1;
            if transition.from != transition.to {
                self.spent.entry(transition.from).or_default().ms += transition.spent_ms;
            }
            self.retries += u64::from(transition.on == Trigger::RetryTimeout);
        }
        let after = self.replayer.session().ledger();
        let spent = self.spent.entry(state).or_default();
        spent.tokens += after.usage.total_tokens().saturating_sub(before.usage.total_tokens());
        spent.cost_nano_usd += after.cost_nano_usd.saturating_sub(before.cost_nano_usd);
        spent.is_unpriced |= after.unpriced_calls > before.unpriced_calls;
        // Formats before the second have no notes to compare with.
        if self.format_version >= 2 {
            let started = step.session.actions.iter().filter_map(ActionStarted::of);
            self.awaited = started.map(|started| (started.ticket(), started.name())).collect();
        }
    }

    fn note(&mut self, seq: u64, started: &ActionStarted, did: &Replayed) {
        self.awaited.remove(&(started.ticket(), started.name()));
        if matches!(did, Replayed::Begun { was_asked: false, .. }) {
            let text = format!("{} was started then, but is not requested now", started.name());
            self.differences.push(Difference { seq, text });
        }
    }

    /// The next event came: what was asked for before it has begun, or was not asked for then. The program may have ended in between.
    fn miss(&mut self, seq: u64) {
        let session = self.replayer.session();
        let never = std::mem::take(&mut self.awaited);
        for (_, name) in never.into_iter().filter(|(ticket, _)| !session.is_open(*ticket)) {
            let text = format!("{name} is requested now, but was not started then");
            self.differences.push(Difference { seq: seq - 1, text });
        }
    }
}
