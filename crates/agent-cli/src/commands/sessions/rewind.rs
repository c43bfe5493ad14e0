//! `agent rewind`: a new session with the records up to there, and if wanted the files as they were then.
//!
//! The git hook keeps how files were before each turn, by the time at which the turn began to change them. Those of the session's turns
//! behind the record are taken back; turns of others in the same working tree are not, nor is a file that somebody changed since. Taking
//! back is a turn itself: `agent undo` takes it back.

use super::args::Rewind;
use super::back::earlier;
use super::story::{Story, Told};
use super::{cut, failed, write};
use crate::commands::undo::{begun, files, say_notes};
use crate::config::project::working_directory;
use crate::failure::Failure;
use crate::screen::choose::{Chooser, ask};
use crate::screen::confirm::confirmed;
use crate::screen::counted::counted;
use crate::screen::terminal::{Style, is_watched, say};
use agent_core::journal::Replayed;
use agent_core::session::State;
use std::io::IsTerminal as _;
use std::ops::RangeInclusive;
use std::path::Path;

/// Exit code 0 when everything is as it was there; 1 when files were left as they are, or the user said no.
pub(crate) async fn rewind(arguments: &Rewind) -> Result<u8, Failure> {
    let Some(to) = record(arguments)? else {
        say("agent: nothing was changed");
        return Ok(1);
    };
    if !arguments.files {
        let code = cut(&arguments.place, &arguments.id, to)?;
        say(
            "agent: files are unchanged; `--files` restores them, and `agent undo` restores what the last turns changed",
        );
        return Ok(code);
    }
    let store = arguments.place.store()?;
    let path = store.id_of(&arguments.id).and_then(|id| store.existing(&id)).map_err(|error| failed(&error))?;
    let behind = Behind::read(&path, to)?;
    let directory = working_directory(arguments.place.directory.as_deref())?;
    let is_meant = |began_ms: u64| behind.is_meant(began_ms);
    let Some(outlook) = begun(&directory, &is_meant, true).await? else {
        let code = cut(&arguments.place, &arguments.id, to)?;
        say("agent: no later turn changed a file whose old content was kept");
        return Ok(code);
    };
    write(&files(&outlook, ["restore", "remove"]))?;
    say_notes(&outlook);
    if behind.is_in_turn {
        say("agent: the record is in the middle of a turn; changes of that turn from before the record stay");
    }
    if !arguments.yes && !is_agreed()? {
        say("agent: nothing was changed");
        return Ok(1);
    }
    cut(&arguments.place, &arguments.id, to)?;
    let undone = begun(&directory, &is_meant, false).await?.unwrap_or_default();
    let (changed, left) = (undone.restored.len() + undone.removed.len(), undone.left.len());
    say(&format!(
        "agent: {} restored, {left} left unchanged; commits stay; `agent undo` reverses this",
        counted(changed as u64, "file")
    ));
    Ok(u8::from(left > 0))
}

/// The last record to keep: the one that was named, or the one before a message that the person chooses. Nothing where none is chosen.
fn record(arguments: &Rewind) -> Result<Option<u64>, Failure> {
    if let Some(to) = arguments.to {
        return Ok(Some(to));
    }
    if !std::io::stdin().is_terminal() || !is_watched() {
        return Err(Failure::usage("no one is at a terminal to choose a message: name the last record with `--to N`"));
    }
    let id = arguments.place.store()?.id_of(&arguments.id).map_err(|error| failed(&error))?;
    let messages = earlier(&working_directory(arguments.place.directory.as_deref())?, &id)?;
    if messages.is_empty() {
        return Err(Failure::input(format!("cannot rewind the session {}: there is no message in it", arguments.id)));
    }
    let chooser = Chooser::new("Back to before", messages.iter().map(|message| &message.text), messages.len());
    let chosen = ask(chooser, Style::for_stderr().is_on());
    let chosen = chosen.map_err(|error| Failure::internal(format!("cannot read the choice: {error}")))?;
    Ok(chosen.and_then(|at| messages.get(at)).map(|message| message.before))
}

/// Asks the person at the terminal.
fn is_agreed() -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::usage("no one is at a terminal to confirm changes to files: use `--yes`"));
    }
    confirmed("agent: go back to this state?")
        .map_err(|error| Failure::internal(format!("cannot read the answer: {error}")))
}

/// When the session was at work behind a record.
#[derive(Default)]
pub(super) struct Behind {
    /// Between the record and the next one, a turn went on.
    is_in_turn: bool,
    /// When the first record behind it happened.
    from_ms: Option<u64>,
    work: Vec<RangeInclusive<u64>>,
}

impl Behind {
    pub(super) fn read(path: &Path, to: u64) -> Result<Self, Failure> {
        let mut behind = Self::default();
        let (mut state, mut since, mut last_ms) = (State::Ready, 0, 0);
        let story = Story::read(path, None, |told| {
            if told.seq.checked_sub(1) == Some(to) {
                behind.from_ms = Some(told.at_ms);
                behind.is_in_turn = is_at_work(state);
            }
            let before = state;
            state = after(state, told);
            last_ms = told.at_ms;
            match (is_at_work(before), is_at_work(state)) {
                (false, true) => since = told.at_ms,
                (true, false) => behind.work.push(since..=told.at_ms),
                _ => {}
            }
        })?;
        if is_at_work(state) {
            behind.work.push(since..=last_ms);
        }
        match to >= story.replayer.next_seq() {
            true => Err(Failure::input(format!(
                "cannot rewind to record {to}: the last one is {}",
                story.replayer.next_seq() - 1
            ))),
            false => Ok(behind),
        }
    }

    pub(super) fn is_meant(&self, began_ms: u64) -> bool {
        let is_behind = self.from_ms.is_some_and(|from_ms| began_ms >= from_ms);
        is_behind && self.work.iter().any(|work| work.contains(&began_ms))
    }
}

pub(super) const fn is_at_work(state: State) -> bool {
    !matches!(state, State::Ready | State::WaitingForUserInput | State::ShuttingDown)
}

fn after(state: State, told: &Told<'_>) -> State {
    match told.did {
        Replayed::Step(step) => step.session.transitions.last().map_or(state, |last| last.to),
        Replayed::Refused(_) | Replayed::Begun { .. } => state,
    }
}
