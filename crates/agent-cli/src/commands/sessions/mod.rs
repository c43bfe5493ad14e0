//! Kept sessions: listed, searched, shown, exported, verified, removed, replayed, explained, branched; and session files looked at and
//! repaired.
//!
//! Everything here reads a journal record by record through [`story`], and changes none. Text of models and tools reaches the terminal
//! through `terminal::escaped` only.

pub(crate) mod args;
mod back;
mod context;
mod explain;
mod export;
mod gc;
mod html;
mod import;
mod instructed;
mod lint;
mod list;
mod replay;
mod rewind;
mod said;
mod search;
mod story;
mod undone;

use crate::config::project::working_directory;
use crate::failure::Failure;
use crate::screen::choose::{self, Chooser};
use crate::screen::terminal::{Style, clean, escaped, in_rows, inline, one_line, print, print_json, say};
use crate::session::kept::{self, store};
use agent_core::agent;
use agent_core::conversation::Item;
use agent_core::journal::{Entry, LifecycleEntry, Record};
use agent_runner::journal::{OpenError, SessionStore, StoreError};
use args::{Branch, One, Place, Rename, Sessions, SessionsCommand};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use story::Story;

pub(crate) use back::{Earlier, branched, earlier, outlook, take_files_back};
pub(crate) use context::context;
pub(crate) use explain::explain;
pub(crate) use export::export;
pub(crate) use gc::outlook as gc_outlook;
pub(crate) use list::sessions_to_choose;
pub(crate) use replay::replay;
pub(crate) use rewind::rewind;
pub(crate) use undone::{Undos, undo_turns_of};

pub(crate) fn dispatch(arguments: &Sessions) -> Result<u8, Failure> {
    match &arguments.command {
        SessionsCommand::List(arguments) => list::list(arguments),
        SessionsCommand::Search(arguments) => search::search(arguments),
        SessionsCommand::Show(arguments) => export::show(arguments),
        SessionsCommand::Export(arguments) => export(arguments),
        SessionsCommand::Verify(arguments) => replay::verify(arguments),
        SessionsCommand::Rename(arguments) => {
            let Rename { id, name, place } = arguments;
            let directory = place.directory.clone();
            rename(&One { id: Some(id.clone()), place: Place { directory } }, &name.join(" "))
        }
        SessionsCommand::Rm(arguments) => remove(arguments),
        SessionsCommand::Gc(arguments) => gc::gc(arguments),
        SessionsCommand::Import(arguments) => import::import(arguments),
        SessionsCommand::Lint(arguments) => lint::lint(arguments),
    }
}

/// `agent branch`: a new session with the records of another one up to there.
pub(crate) fn branch(arguments: &Branch) -> Result<u8, Failure> {
    cut(&arguments.place, &arguments.id, arguments.at)
}

fn cut(place: &Place, id: &str, at: u64) -> Result<u8, Failure> {
    let new_id = SessionStore::new_id();
    let store = place.store()?;
    let id = &store.id_of(id).map_err(|error| failed(&error))?;
    let parent = store.branch(id, Some(at), &new_id).map_err(|error| failed(&error))?;
    write(&format!("{new_id}\n"))?;
    say(&format!(
        "agent: started a new session with the records of {id} up to {}; `agent resume {new_id}` resumes it",
        parent.seq
    ));
    Ok(0)
}

impl Place {
    fn store(&self) -> Result<SessionStore, Failure> {
        store(&working_directory(self.directory.as_deref())?)
    }
}

impl One {
    /// The id and the journal of the session that is meant.
    fn find(&self) -> Result<(String, PathBuf), Failure> {
        let store = self.place.store()?;
        let id = match &self.id {
            Some(id) => store.id_of(id).map_err(|error| failed(&error))?,
            None => match store.newest().map_err(|error| failed(&error))? {
                Some(newest) => newest.id,
                None => return Err(Failure::input("cannot find the session: there is none for this directory")),
            },
        };
        let path = store.existing(&id).map_err(|error| failed(&error))?;
        Ok((id, path))
    }
}

/// Everything that was said in a session, also what a summary has replaced since.
pub(crate) fn said_in(path: &Path) -> Result<Vec<Arc<Item>>, Failure> {
    let story = Story::read(path, None, |_| {})?;
    let now = story.replayer.session().conversation();
    Ok(story.said.shared(now).cloned().collect())
}

/// Which session the person wants to resume.
pub(crate) enum Picked {
    /// None, after all.
    None,
    /// This one.
    Session(String),
    /// The newest: there are not several.
    Newest,
}

/// Has the person at the terminal choose a session, where there are several.
pub(crate) fn picked(directory: Option<&Path>) -> Result<Picked, Failure> {
    let sessions = sessions_to_choose(&store(&working_directory(directory)?)?)?;
    if sessions.len() < 2 {
        return Ok(Picked::Newest);
    }
    let chooser = Chooser::new("Resume", sessions.iter().map(|session| &session.shown), 0);
    let at = choose::ask(chooser, Style::for_stderr().is_on())
        .map_err(|error| Failure::internal(format!("cannot read the choice: {error}")))?;
    let session = at.and_then(|at| sessions.into_iter().nth(at));
    Ok(session.map_or(Picked::None, |session| Picked::Session(session.id)))
}

/// Gives a session a name, or takes it away.
pub(crate) fn rename(arguments: &One, name: &str) -> Result<u8, Failure> {
    let (id, _) = arguments.find()?;
    let name = checked_name(name)?;
    arguments.place.store()?.rename(&id, &name).map_err(|error| failed(&error))?;
    say(&match name.as_str() {
        "" => format!("agent: the session {id} has no name any more"),
        name => format!("agent: the session {id} is now called `{name}`"),
    });
    Ok(0)
}

/// A name as it is kept. Lists show it as it is, so nothing in it may act on a terminal or be invisible.
fn checked_name(name: &str) -> Result<String, Failure> {
    let name = clean(name.trim());
    let wrong = |why: String| Err(Failure::input(format!("cannot rename the session: {why}")));
    let shown = inline(&name);
    if shown != name {
        return wrong(format!("the name has control characters or invisible ones: {}", one_line(&shown, 200)));
    }
    match name.chars().count() {
        0..=LONGEST_NAME => Ok(name.into_owned()),
        length => wrong(format!("the name has {length} characters; the limit is {LONGEST_NAME}")),
    }
}

/// Characters of a session's name.
const LONGEST_NAME: usize = 80;

fn remove(arguments: &One) -> Result<u8, Failure> {
    // The newest is quickly another one than was meant.
    let Some(id) = &arguments.id else { return Err(Failure::usage("give the id of the session to remove")) };
    let store = arguments.place.store()?;
    let id = store.id_of(id).map_err(|error| failed(&error))?;
    store.remove(&id).map_err(|error| failed(&error))?;
    say(&format!("agent: removed the session {id}"));
    Ok(0)
}

fn failed(error: &StoreError) -> Failure {
    match error {
        StoreError::Io { .. } => Failure::internal(error),
        StoreError::NoSuchSession { .. } | StoreError::Open(OpenError::Read(_) | OpenError::NotOwn(_)) => {
            kept::failed(error)
        }
        _ => Failure::input(error),
    }
}

fn write_json(json: &str) -> Result<(), Failure> {
    print_json(json).map_err(|error| Failure::internal(format!("cannot write to standard output: {error}")))
}

fn write(text: &str) -> Result<(), Failure> {
    print(&in_rows(text)).map_err(|error| Failure::internal(format!("cannot write to standard output: {error}")))
}

/// What a record says, in a word.
fn name(record: &Record) -> String {
    match &record.entry {
        Entry::Header(_) => String::from("Header"),
        Entry::History(_) => String::from("History"),
        Entry::Event(agent::Event::Lifecycle(event)) => format!("Lifecycle {}", event.name()),
        Entry::Event(event) => event.name().to_owned(),
        Entry::ActionStarted(started) => escaped(&format!("{} begins", started.name())),
        Entry::Lifecycle(LifecycleEntry::Began(_)) => String::from("Lifecycle begins"),
        Entry::Lifecycle(LifecycleEntry::Event(event)) => format!("Lifecycle {}", event.name()),
        _ => String::from("(unknown)"),
    }
}
