//! `/undo`: takes back what the last turns of one session changed in files, however many other sessions worked here meanwhile.
//!
//! 1. A turn goes from a message to the next rest. Turns that changed no file are passed over, and so are those that are taken back
//!    already: each further `/undo` goes one turn further back.
//! 2. Where the session has none, nothing is touched: the answer says whose turn was the last one here.

use super::list::age;
use super::rewind;
use super::story::Story;
use crate::commands::undo::{begun, files, say_notes};
use crate::failure::Failure;
use crate::screen::attached::typed;
use crate::screen::counted::counted;
use crate::screen::terminal::{inline, one_line, print, say};
use crate::session::kept::{failed, store};
use agent_core::agent;
use agent_core::journal::{Entry, Replayed};
use agent_core::session::{Event, State};
use agent_git::Undone;
use agent_runner::journal::Said;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What a prompt took back itself: what it did then is part of what it takes back next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Undos(Arc<Mutex<TakenBack>>);

#[derive(Debug, Default)]
struct TakenBack {
    /// When that happened.
    times: Vec<RangeInclusive<u64>>,
    /// When the turns began.
    turns: BTreeSet<u64>,
}

impl Undos {
    fn note<'a>(&self, time: RangeInclusive<u64>, turns: impl Iterator<Item = &'a Worked>) {
        let mut taken = self.lock();
        taken.times.push(time);
        taken.turns.extend(turns.map(|turn| *turn.time.start()));
    }

    fn include(&self, ms: u64) -> bool {
        self.lock().times.iter().any(|time| time.contains(&ms))
    }

    fn have(&self, turn: &Worked) -> bool {
        self.lock().turns.contains(turn.time.start())
    }

    fn lock(&self) -> MutexGuard<'_, TakenBack> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A turn, and what was said at its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Worked {
    text: String,
    time: RangeInclusive<u64>,
}

/// Takes back the last turns of a session that changed files, and says what became of each file.
pub(crate) async fn undo_turns_of(directory: &Path, id: &str, turns: u32, undos: &Undos) -> Result<u8, Failure> {
    let began = all_began(directory).await?;
    let mut worked = turns_of(directory, id)?;
    worked.retain(|turn| began.iter().any(|ms| turn.time.contains(ms)));
    let mut taken: Vec<&Worked> = Vec::new();
    for turn in worked.iter().rev().filter(|turn| !undos.have(turn)) {
        // What another program took back before is as it was, too.
        let changes = |look: &Undone| !look.contents.is_empty() || !look.left.is_empty();
        if !taken.is_empty()
            || begun(directory, &meant(turn, &worked, undos), true).await?.as_ref().is_some_and(changes)
        {
            taken.push(turn);
        }
        if taken.len() as u64 >= u64::from(turns) {
            break;
        }
    }
    let Some(first) = taken.last() else { return nothing(directory, worked.is_empty(), began.iter().max()) };
    let from = now_ms();
    let undone = begun(directory, &meant(first, &worked, undos), false).await?.unwrap_or_default();
    undos.note(from..=now_ms(), taken.iter().copied());
    let written = print(&files(&undone, ["restored", "removed"]));
    written.map_err(|error| Failure::internal(format!("cannot report what was undone: {error}")))?;
    say_notes(&undone);
    say_taken(&taken, turns, &undone);
    Ok(u8::from(!undone.left.is_empty()))
}

fn say_taken(taken: &[&Worked], asked: u32, undone: &Undone) {
    let changed = (undone.restored.len() + undone.removed.len()) as u64;
    let words = taken.iter().map(|turn| format!("\"{}\"", one_line(&turn.text, 60))).collect::<Vec<_>>().join(", ");
    let count = taken.len() as u64;
    let all = if count < u64::from(asked) { ", all that changed files" } else { "" };
    let what = format!("{} of this session ({words}){all}", counted(count, "turn"));
    say(&match (changed, undone.left.len() as u64) {
        (0, left) => format!("agent: nothing undone of {what}: {} as it is, see above", stays(left)),
        (_, 0) => format!("agent: took back {what}; commits stay; `agent undo` reverses this"),
        (_, left) => {
            format!("agent: took back part of {what}: {} as it is, see above; `agent undo` reverses this", stays(left))
        }
    });
}

fn stays(left: u64) -> String {
    let word = if left == 1 { "stays" } else { "stay" };
    format!("{} {word}", counted(left, "file"))
}

/// There is nothing of this session to take back. Says what the last turn here was, so that nobody has to guess.
fn nothing(directory: &Path, is_without: bool, last_ms: Option<&u64>) -> Result<u8, Failure> {
    say(if is_without {
        "agent: this session has changed no files, as far as it can be undone: nothing is taken back"
    } else {
        "agent: every turn of this session that changed files is taken back already"
    });
    let Some(last_ms) = last_ms.filter(|_| is_without) else { return Ok(0) };
    let when = age(UNIX_EPOCH + Duration::from_millis(*last_ms));
    let whose = match session_at(directory, *last_ms) {
        Some((id, words)) => format!("in the session {} (\"{}\")", inline(&id), one_line(&words, 60)),
        None => String::from("by an undo, or in a session that is not kept"),
    };
    say(&format!(
        "agent: the last change of the agent here was made {when} ago {whose}; `agent undo` in a shell takes it back"
    ));
    Ok(0)
}

/// The times at which turns of any session began to change files here.
async fn all_began(directory: &Path) -> Result<Vec<u64>, Failure> {
    let seen = Mutex::new(Vec::new());
    let note = |ms: u64| {
        seen.lock().unwrap_or_else(PoisonError::into_inner).push(ms);
        false
    };
    begun(directory, &note, true).await?;
    Ok(seen.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// What this session changed since a turn began: in its turns, and by taking some back.
fn meant<'a>(first: &'a Worked, worked: &'a [Worked], undos: &'a Undos) -> impl Fn(u64) -> bool + Sync + 'a {
    move |ms| ms >= *first.time.start() && (worked.iter().any(|turn| turn.time.contains(&ms)) || undos.include(ms))
}

/// The session that was at work at a time, and what was said to it: among those that were written last.
fn session_at(directory: &Path, ms: u64) -> Option<(String, String)> {
    let store = store(directory).ok()?;
    let newest = store.newest_said(MOST_SESSIONS, false).ok()?;
    newest.sessions.into_iter().find_map(|(session, said)| {
        let turns = turns_of(directory, &session.id).ok()?;
        let turn = turns.into_iter().find(|turn| turn.time.contains(&ms))?;
        let words = if let Said::Words(words) = said { words } else { turn.text };
        Some((session.id, words))
    })
}

/// The turns of a session, oldest first.
fn turns_of(directory: &Path, id: &str) -> Result<Vec<Worked>, Failure> {
    let store = store(directory)?;
    let path = store.id_of(id).and_then(|id| store.existing(&id)).map_err(|error| failed(&error))?;
    let mut turns = Vec::new();
    let (mut is_at_work, mut open, mut last_ms) = (false, Worked { text: String::new(), time: 0..=0 }, 0);
    Story::read(&path, None, |told| {
        last_ms = told.at_ms;
        let Replayed::Step(step) = told.did else { return };
        let now = step.session.transitions.last().map(|last| last.to);
        let now = now.map_or(is_at_work, |state: State| rewind::is_at_work(state));
        if now && !is_at_work {
            let text = match &told.record.entry {
                Entry::Event(agent::Event::Session(Event::UserInput { text } | Event::InputAfterTurn { text })) => {
                    typed(&text.text).to_owned()
                }
                _ => String::from("without a message"),
            };
            open = Worked { text, time: told.at_ms..=told.at_ms };
        } else if is_at_work && !now {
            turns.push(Worked { text: std::mem::take(&mut open.text), time: *open.time.start()..=told.at_ms });
        }
        is_at_work = now;
    })?;
    if is_at_work {
        turns.push(Worked { time: *open.time.start()..=last_ms, ..open });
    }
    Ok(turns)
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// How many sessions are looked through for the one that made the last change.
const MOST_SESSIONS: usize = 20;
