//! Back to an earlier message of a session, as the prompt does it: the same as `agent rewind` to the record before the message.

use super::rewind::Behind;
use super::story::Story;
use crate::commands::undo::begun;
use crate::failure::Failure;
use crate::screen::attached::typed;
use crate::session::kept::{failed, store};
use agent_core::agent;
use agent_core::conversation::{Author, Item};
use agent_core::journal::{Entry, Replayed};
use agent_core::session::Event;
use agent_git::{Undone, working_tree};
use agent_runner::journal::SessionStore;
use std::path::{Path, PathBuf};

/// A message that a turn began with: one that was sent while a turn went on belongs to that turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Earlier {
    pub(crate) text: String,
    /// The last record before it.
    pub(crate) before: u64,
}

/// The messages of a session, oldest first.
pub(crate) fn earlier(directory: &Path, id: &str) -> Result<Vec<Earlier>, Failure> {
    let mut found = Vec::new();
    let mut is_at_rest = true;
    Story::read(&journal(directory, id)?, None, |told| {
        let message = match &told.record.entry {
            Entry::Event(agent::Event::Session(Event::UserInput { text } | Event::InputAfterTurn { text })) => {
                Some(text)
            }
            // What was said in another program stands before the session's first event.
            Entry::History(item) => {
                if let (Some(said), Some(before)) = (persons(item), told.seq.checked_sub(1)) {
                    found.push(Earlier { text: typed(said).to_owned(), before });
                }
                return;
            }
            _ => None,
        };
        let was_at_rest = is_at_rest;
        if let Replayed::Step(step) = told.did {
            is_at_rest = step.session.transitions.last().map_or(is_at_rest, |last| !super::rewind::is_at_work(last.to));
            if let (Some(text), true, Some(before)) = (message, was_at_rest, told.seq.checked_sub(1)) {
                found.push(Earlier { text: typed(text).to_owned(), before });
            }
        }
    })?;
    Ok(found)
}

/// The first words of the person in an item.
fn persons(item: &Item) -> Option<&str> {
    match item {
        Item::Input(input) => input.messages().iter().find(|said| said.author == Author::User).map(|said| &**said),
        Item::Answer(_) | Item::Round(_) | Item::Summary(_) => None,
    }
}

/// What would become of the files, where that would change any.
pub(crate) async fn outlook(directory: &Path, id: &str, before: u64) -> Result<Option<Undone>, Failure> {
    if working_tree(directory).is_none() {
        return Ok(None);
    }
    let behind = Behind::read(&journal(directory, id)?, before)?;
    let undone = begun(directory, &|began_ms| behind.is_meant(began_ms), true).await?;
    Ok(undone.filter(|undone| !(undone.restored.is_empty() && undone.removed.is_empty())))
}

/// Takes the files back.
pub(crate) async fn take_files_back(directory: &Path, id: &str, before: u64) -> Result<Undone, Failure> {
    let behind = Behind::read(&journal(directory, id)?, before)?;
    Ok(begun(directory, &|began_ms| behind.is_meant(began_ms), false).await?.unwrap_or_default())
}

/// A new session with the records up to there, or all of them, and its id.
pub(crate) fn branched(directory: &Path, id: &str, before: Option<u64>) -> Result<String, Failure> {
    let new_id = SessionStore::new_id();
    store(directory)?.branch(id, before, &new_id).map_err(|error| failed(&error))?;
    Ok(new_id)
}

fn journal(directory: &Path, id: &str) -> Result<PathBuf, Failure> {
    let store = store(directory)?;
    store.id_of(id).and_then(|id| store.existing(&id)).map_err(|error| failed(&error))
}
