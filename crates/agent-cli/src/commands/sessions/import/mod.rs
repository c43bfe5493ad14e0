//! `agent sessions import`: another program's session becomes one of ours.
//!
//! ```text
//! file -> select (the lines of the conversation) -> parts (what they say) -> history (valid items) -> a journal that waits for a message
//! ```
//!
//! The file is read twice, a line at a time, and never changed. It is not trusted: only words, calls and results come from it. Permissions,
//! limits, instructions and the provider are those of the person who resumes the session.

mod changes;
mod find;
mod history;
mod parts;
mod select;
#[cfg(test)]
mod tests;

use super::args::Import;
use super::lint::dialect::Format;
use super::{failed, write};
use crate::config::options::Options;
use crate::config::project::working_directory;
use crate::config::settings::{users_config, users_mode};
use crate::failure::Failure;
use crate::model::secrets;
use crate::screen::counted::counted;
use crate::screen::terminal::{inline, one_line, say};
use crate::session::kept::store;
use agent_core::conversation::{Input, Item, UserMessage};
use agent_core::journal::{Header, Imported};
use agent_core::permission::Permissions;
use agent_core::redact::Redactor;
use agent_core::session::SessionConfig;
use agent_runner::journal::{SessionStore, read_regular};
use changes::Changes;
use clap::ValueEnum;
use history::History;
use select::{Selected, select};
use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

/// A program whose sessions can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum From {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// pi.
    Pi,
}

pub(super) fn import(arguments: &Import) -> Result<u8, Failure> {
    let directory = working_directory(arguments.place.directory.as_deref())?;
    let path = match (&arguments.from, &arguments.which) {
        (Some(from), which) => {
            if which.is_none() && !arguments.last {
                return Err(Failure::usage(
                    "name the session: its id, or `--last` for the newest one of this directory",
                ));
            }
            find::find(*from, which.as_deref(), &directory)?
        }
        (None, Some(file)) => file.into(),
        (None, None) => return Err(Failure::usage("name the file, or the program with `--from`")),
    };
    let read = read(&path, &secrets::redactor())?;
    let store = store(&directory)?;
    if let Some(id) = store.find_imported(&read.imported).map_err(|error| failed(&error))?.filter(|_| !arguments.again)
    {
        write(&format!("{id}\n"))?;
        say(&format!(
            "agent: this was imported before, as {id}; `agent resume {id}` resumes it, `--again` imports it anew"
        ));
        return Ok(0);
    }
    let id = SessionStore::new_id();
    let count = read.items.len();
    keep(&store, &id, &directory, &read)?;
    write(&format!("{id}\n"))?;
    let from = origin(&read.imported);
    say(&format!("agent: imported {} of {from}; `agent resume {id}` resumes it", counted(count as u64, "item")));
    for change in read.changes.told() {
        say(&format!("agent:   {change}"));
    }
    if !read.directory.is_empty() && Path::new(&read.directory) != directory {
        say(&format!("agent:   it worked in {}; the session works here", one_line(&read.directory, 200)));
    }
    say("agent:   what does not fit the model's context window is summarised when the session is resumed");
    Ok(0)
}

/// Where a session comes from, in a line.
pub(super) fn origin(imported: &Imported) -> String {
    let Imported { program, session_id, file, model, .. } = imported;
    let id = if session_id.is_empty() { String::new() } else { format!(" {}", inline(session_id)) };
    let model = if model.is_empty() { String::new() } else { format!(", answered by {model}") };
    inline(&format!("the {} session{id} ({file}){model}", inline(program)))
}

/// What a file says.
struct Foreign {
    imported: Imported,
    directory: String,
    items: Vec<Arc<Item>>,
    changes: Changes,
}

fn read(path: &Path, redactor: &Redactor) -> Result<Foreign, Failure> {
    let unreadable = |error: std::io::Error| Failure::input(format!("cannot read {}: {error}", path.display()));
    let file = read_regular(path).map_err(unreadable)?;
    let selected = select(path, &file)?;
    let program = match selected.format {
        Format::ClaudeCode => "Claude Code",
        Format::Codex => "Codex",
        Format::Pi => "pi",
        Format::Agent => {
            let path = path.display();
            return Err(Failure::input(format!(
                "cannot import {path}: it is a session of this program, which `agent resume` resumes"
            )));
        }
    };
    let Selected { session_id, directory, fingerprint, model, .. } = &selected;
    let file_name = path.canonicalize().unwrap_or_else(|_| path.to_owned()).display().to_string();
    let imported = Imported {
        program: String::from(program),
        session_id: redactor.redacted(session_id),
        file: redactor.redacted(&file_name),
        fingerprint: fingerprint.clone(),
        model: redactor.redacted(model),
    };
    let directory = redactor.redacted(directory);
    let (items, changes) = items(&file, selected, redactor).map_err(unreadable)?;
    if items.is_empty() {
        return Err(Failure::input(format!("cannot import {}: nothing was said in it", path.display())));
    }
    Ok(Foreign { imported, directory, items, changes })
}

/// The second reading: the lines of the conversation, one at a time.
fn items(file: &File, selected: Selected, redactor: &Redactor) -> std::io::Result<(Vec<Arc<Item>>, Changes)> {
    let mut history = History::new(redactor.clone(), selected.changes);
    let mut file = BufReader::with_capacity(64 * 1024, file);
    let (mut at, mut bytes) = (file.seek(SeekFrom::Start(0))?, Vec::new());
    for (offset, length) in selected.places {
        // A short way stays within what was read already.
        file.seek_relative(offset.cast_signed() - at.cast_signed())?;
        bytes.resize(length, 0);
        file.read_exact(&mut bytes)?;
        at = offset + length as u64;
        match serde_json::from_slice(&bytes) {
            Ok(line) => parts::of(selected.format, &line).into_iter().for_each(|part| history.take(part)),
            // The file was changed meanwhile.
            Err(_) => history.changes.damaged += 1,
        }
    }
    Ok(history.finish())
}

fn keep(store: &SessionStore, id: &str, directory: &Path, read: &Foreign) -> Result<(), Failure> {
    let mode = users_mode(&Options::default(), &users_config()?);
    let config =
        SessionConfig { permissions: Permissions { mode, ..Permissions::default() }, ..SessionConfig::default() };
    let program = concat!("agent ", env!("CARGO_PKG_VERSION"));
    let mut header = Header::new(id, program, directory.display().to_string(), config);
    header.imported = Some(read.imported.clone());
    let note = Input::new(vec![UserMessage::of_agent(note(read))]).ok().map(|note| Arc::new(Item::Input(note)));
    let history = read.items.iter().cloned().chain(note);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let at_ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
    store.import(at_ms, header, history).map_err(|error| failed(&error))
}

/// What the model has to know of it: the last thing before the next message.
fn note(read: &Foreign) -> String {
    let changes = read.changes.told();
    let changed = if changes.is_empty() { String::new() } else { format!(" On import: {}.", changes.join("; ")) };
    format!(
        "[The conversation until here was imported from another agent, {}. Its tools may not exist here: use the tools that you have, \
         and look at the files again before you rely on what was said about them.{changed}]",
        read.imported.program
    )
}
