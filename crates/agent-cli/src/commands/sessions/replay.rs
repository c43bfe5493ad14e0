//! `agent replay` and `agent sessions verify`.

use super::args::{One, Replay};
use super::export::conversation;
use super::story::{Story, Told};
use super::write;
use crate::failure::Failure;
use crate::screen::counted::counted;
use crate::screen::terminal::{escaped, inline, say};
use agent_core::agent;
use agent_core::conversation::{Arguments, CallId};
use agent_core::journal::{Entry, Record, Replayed, Replayer};
use agent_core::permission::ApprovalAnswer;
use agent_core::session::{Action, Event};
use agent_core::table::Label;
use agent_core::trace::Transition;
use std::collections::VecDeque;
use std::fmt::Write as _;

/// Prints the trace: each record, and the rows it fired.
pub(crate) fn replay(arguments: &Replay) -> Result<u8, Failure> {
    let (_, path) = arguments.session.find()?;
    let mut lines: VecDeque<String> = VecDeque::new();
    let most = arguments.last.map_or(usize::MAX, |last| last as usize);
    let mut twin = Twin::default();
    let story = Story::read(&path, arguments.to, |told| {
        twin.step(told);
        if !arguments.against_current {
            if lines.len() == most {
                lines.pop_front();
            }
            lines.push_back(line(told));
        }
    })?;
    if arguments.against_current {
        return differences(&story);
    }
    twin.check(&story)?;
    let mut trace: String = lines.into_iter().collect();
    if arguments.to.is_some() {
        let session = story.replayer.session();
        let over = story.lifecycle().map(|over| format!(", its agent {:?}", over.state())).unwrap_or_default();
        let _ = writeln!(trace, "\n{:?}{over}", session.state());
        trace.push_str(&conversation(&story));
    }
    write(&trace)?;
    say(&format!("agent: {}, replayed twice with the same result", counted(story.records, "record")));
    Ok(0)
}

fn line(told: &Told<'_>) -> String {
    let mut text = String::new();
    let out = &mut text;
    let _ = write!(out, "{:>6}  {}", told.seq, told.name);
    for change in changed_arguments(told.record) {
        let _ = write!(out, "\n        {}", inline(&change));
    }
    match told.did {
        Replayed::Step(step) => {
            if step.is_empty() && told.is_of_timer() {
                out.push_str(LATE);
            }
            rows(out, &step.down.transitions);
            rows(out, &step.session.transitions);
            rows(out, &step.up.transitions);
        }
        Replayed::Refused(rejected) => {
            let _ = write!(out, "\n        {}", escaped(&rejected.to_string()));
        }
        Replayed::Begun { ticket, .. } => {
            let _ = write!(out, " {ticket}");
        }
    }
    out.push('\n');
    text
}

/// The rows that fired, and how long the machine was in the states that it left.
fn rows<S: Label, T: Label>(out: &mut String, transitions: &[Transition<S, T>]) {
    for row in transitions {
        let _ = write!(out, "\n        {:?} + {:?} => {:?}", row.from, row.on, row.to);
        if row.spent_ms > 0 && row.from != row.to {
            let _ = write!(out, "  after {} ms", row.spent_ms);
        }
    }
}

/// What calls were to run with instead of the model's arguments.
fn changed_arguments(record: &Record) -> Vec<String> {
    match &record.entry {
        Entry::Event(agent::Event::Session(Event::ApprovalAnswered {
            call,
            answer: ApprovalAnswer::Allow { arguments: Some(arguments), .. },
            ..
        })) => vec![format!("the user changed the arguments of {call} to {}", arguments.as_str())],
        Entry::Event(agent::Event::Session(Event::ToolsPrepared { facts, .. })) => {
            let changed = facts.iter().filter_map(|fact| Some((&fact.call, fact.hooks.as_ref()?.arguments.as_ref()?)));
            let told = |(call, arguments): (&CallId, &Arguments)| {
                format!("a hook changed the arguments of {call} to {}", arguments.as_str())
            };
            changed.map(told).collect()
        }
        _ => Vec::new(),
    }
}

fn differences(story: &Story) -> Result<u8, Failure> {
    if story.format_version < 2 {
        return Err(Failure::input(
            "cannot compare the decisions: the journal's format does not record which actions started",
        ));
    }
    let mut out = String::new();
    for difference in &story.differences {
        let _ = writeln!(out, "{:>6}  {}", difference.seq, difference.text);
    }
    write(&out)?;
    say(&format!("agent: different decisions: {}", story.differences.len()));
    Ok(u8::from(!story.differences.is_empty()))
}

/// Reads a journal to its end and says whether it is whole.
pub(crate) fn verify(arguments: &One) -> Result<u8, Failure> {
    let (id, path) = arguments.find()?;
    let mut twin = Twin::default();
    let story = Story::read(&path, None, |told| twin.step(told))?;
    twin.check(&story)?;
    let (records, bytes, state) = (story.records, story.bytes, story.replayer.session().state());
    write(&format!(
        "{id}: {}, {}, format {}, {state:?}\n",
        counted(records, "record"),
        counted(bytes, "byte"),
        story.format_version
    ))?;
    if story.torn_bytes > 0 {
        let torn = story.torn_bytes;
        say(&format!("agent: the last record is cut ({torn} bytes); resuming keeps them in a separate file"));
    }
    for difference in &story.differences {
        say(&format!("agent: record {}: {}", difference.seq, difference.text));
    }
    Ok(u8::from(!story.differences.is_empty()))
}

/// The session once more, told the same records: what it is asked and where it ends has to be the same to the byte.
#[derive(Default)]
struct Twin {
    replayer: Option<Replayer>,
    /// The first record at which they were not the same.
    parted: Option<u64>,
}

impl Twin {
    fn step(&mut self, told: &Told<'_>) {
        if self.parted.is_none() && !self.takes_the_same(told) {
            self.parted = Some(told.seq);
        }
    }

    fn takes_the_same(&mut self, told: &Told<'_>) -> bool {
        if self.replayer.is_none() {
            let entry = Entry::Header(Box::new(told.header.clone()));
            self.replayer = Replayer::new(Record { seq: 0, at_ms: told.at_ms, entry }).ok();
        }
        let took = self.replayer.as_mut().map(|twin| twin.take(told.record.clone()));
        match (took, told.did) {
            (Some(Ok(Replayed::Step(step))), Replayed::Step(other)) => {
                same_bytes(&step.session.transitions, &other.session.transitions)
                    && same_actions(&step.session.actions, &other.session.actions)
                    && same_bytes(&step.down, &other.down)
                    && same_bytes(&step.up, &other.up)
            }
            (Some(Ok(did)), other) => did == *other,
            (Some(Err(_)) | None, _) => false,
        }
    }

    fn check(&self, story: &Story) -> Result<(), Failure> {
        let (one, other) = (self.replayer.as_ref(), &story.replayer);
        let ends_alike =
            one.is_none_or(|one| same_bytes(one.session(), other.session()) && one.agent() == other.agent());
        match self.parted {
            None if ends_alike => Ok(()),
            Some(seq) => {
                Err(Failure::internal(format!("cannot replay: record {seq} had a different effect the second time")))
            }
            None => Err(Failure::internal("cannot replay: the session ended differently the second time")),
        }
    }
}

fn same_bytes<T: serde::Serialize>(one: &T, other: &T) -> bool {
    matches!((serde_json::to_vec(one), serde_json::to_vec(other)), (Ok(one), Ok(other)) if one == other)
}

/// A request carries the whole history, which is compared at the end: here its ticket and its length.
fn same_actions(ones: &[Action], others: &[Action]) -> bool {
    let same = |(one, other): (&Action, &Action)| match (one, other) {
        (
            Action::SendLlmRequest { ticket, request },
            Action::SendLlmRequest { ticket: other_ticket, request: other },
        ) => {
            ticket == other_ticket
                && request.conversation.len() == other.conversation.len()
                && request.model == other.model
        }
        _ => same_bytes(one, other),
    };
    ones.len() == others.len() && ones.iter().zip(others).all(same)
}

/// What stands beside a timer that fired when nothing waited for it any more.
const LATE: &str = "\n        late: no effect";
