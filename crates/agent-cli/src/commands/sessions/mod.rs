//! Kept sessions: listed, shown, exported, verified, removed, replayed, explained, branched; and session files looked at and repaired.
//!
//! Everything here reads a journal record by record through [`story`], and changes none. Text of models and tools reaches the terminal
//! through `terminal::escaped` only.

pub(crate) mod args;
mod back;
mod context;
mod explain;
mod export;
mod html;
mod lint;
mod replay;
mod rewind;
mod said;
mod story;

use crate::config::project::working_directory;
use crate::failure::Failure;
use crate::screen::choose::{self, Chooser};
use crate::screen::terminal::{Style, clean, escaped, inline, one_line, print, print_json, say};
use crate::session::kept::{self, store};
use agent_core::agent;
use agent_core::journal::{Entry, LifecycleEntry, Record};
use agent_runner::journal::{OpenError, Said, SessionStore, StoreError};
use args::{Branch, List, One, Place, Rename, Sessions, SessionsCommand};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub(crate) use back::{Earlier, branched, earlier, outlook, take_files_back};
pub(crate) use context::context;
pub(crate) use explain::explain;
pub(crate) use export::export;
pub(crate) use replay::replay;
pub(crate) use rewind::rewind;

pub(crate) fn dispatch(arguments: &Sessions) -> Result<u8, Failure> {
    match &arguments.command {
        SessionsCommand::List(arguments) => list(arguments),
        SessionsCommand::Show(arguments) => export::show(arguments),
        SessionsCommand::Export(arguments) => export(arguments),
        SessionsCommand::Verify(arguments) => replay::verify(arguments),
        SessionsCommand::Rename(arguments) => {
            let Rename { id, name, place } = arguments;
            let directory = place.directory.clone();
            rename(&One { id: Some(id.clone()), place: Place { directory } }, &name.join(" "))
        }
        SessionsCommand::Rm(arguments) => remove(arguments),
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

fn list(arguments: &List) -> Result<u8, Failure> {
    let store = arguments.place.store()?;
    let newest = store.newest_said(arguments.number, arguments.all).map_err(|error| failed(&error))?;
    let mut out = String::new();
    for (session, said) in &newest.sessions {
        let words = match said {
            Said::Words(words) => words,
            Said::Unreadable => "(cannot be read; `agent sessions verify` says why)",
            _ => "(no message)",
        };
        let name = store.name(&session.id).map(|name| format!("{name}: ")).unwrap_or_default();
        let words = &format!("{name}{words}");
        let _ = writeln!(out, "{:<24} {:>9}  {}", inline(&session.id), age(session.modified), one_line(words, 80));
    }
    write(&out)?;
    let shown = newest.sessions.len();
    if newest.others > 0 {
        say(&format!("agent: {shown} of {} sessions; `-n` shows more", shown + newest.others));
    }
    if newest.empty > 0 {
        let empty = newest.empty;
        say(&format!("agent: not listed: {empty} without a message, which `--continue` skips; `--all` lists them"));
    } else if shown == 0 && newest.others == 0 {
        say("agent: there is no session for this directory");
    }
    Ok(0)
}

/// Sessions that can be resumed, each with a line that shows it, the newest first.
pub(crate) fn sessions_to_choose(store: &SessionStore) -> Result<Vec<(String, String)>, Failure> {
    let newest = store.newest_said(MOST_TO_CHOOSE, false).map_err(|error| failed(&error))?;
    let shown = newest.sessions.into_iter().filter_map(|(session, said)| {
        let Said::Words(words) = said else { return None };
        let name = store.name(&session.id).map(|name| format!("{name}: ")).unwrap_or_default();
        let shown = format!("{:>8}  {}", age(session.modified), one_line(&format!("{name}{words}"), 80));
        Some((session.id, shown))
    });
    Ok(shown.collect())
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
    let chooser = Chooser::new("Resume", sessions.iter().map(|(_, shown)| shown), 0);
    let at = choose::ask(chooser, Style::for_stderr().is_on())
        .map_err(|error| Failure::internal(format!("cannot read the choice: {error}")))?;
    let session = at.and_then(|at| sessions.into_iter().nth(at));
    Ok(session.map_or(Picked::None, |(id, _)| Picked::Session(id)))
}

const MOST_TO_CHOOSE: usize = 200;

fn age(modified: SystemTime) -> String {
    let seconds = SystemTime::now().duration_since(modified).unwrap_or_default().as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// Gives a session a name, or takes it away.
pub(crate) fn rename(arguments: &One, name: &str) -> Result<u8, Failure> {
    let (id, _) = arguments.find()?;
    let name = inline(clean(name.trim()).as_ref());
    if name.chars().count() > LONGEST_NAME {
        return Err(Failure::input(format!("cannot rename the session: a name has at most {LONGEST_NAME} characters")));
    }
    arguments.place.store()?.rename(&id, &name).map_err(|error| failed(&error))?;
    say(&match name.as_str() {
        "" => format!("agent: the session {id} has no name any more"),
        name => format!("agent: the session {id} is now called {name}"),
    });
    Ok(0)
}

/// Of a session.
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
    print(text).map_err(|error| Failure::internal(format!("cannot write to standard output: {error}")))
}

/// What a record says, in a word.
fn name(record: &Record) -> String {
    match &record.entry {
        Entry::Header(_) => String::from("Header"),
        Entry::Event(agent::Event::Lifecycle(event)) => format!("Lifecycle {}", event.name()),
        Entry::Event(event) => event.name().to_owned(),
        Entry::ActionStarted(started) => escaped(&format!("{} begins", started.name())),
        Entry::Lifecycle(LifecycleEntry::Began(_)) => String::from("Lifecycle begins"),
        Entry::Lifecycle(LifecycleEntry::Event(event)) => format!("Lifecycle {}", event.name()),
        _ => String::from("(unknown)"),
    }
}
