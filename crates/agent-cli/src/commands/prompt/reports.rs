//! Commands at the prompt that do what a command of the program does, with this session: they run to their end before the next line is
//! read, and write what they have to say themselves.

use super::Screen;
use super::status::duration;
use crate::commands::args::Trust;
use crate::commands::sessions::args::{Export, One, Place, Replay};
use crate::commands::sessions::{self, context, outlook, rename, replay, undo_turns_of};
use crate::commands::trust;
use crate::failure::Failure;
use crate::screen::change::Changes;
use crate::screen::counted::counted;
use crate::screen::terminal::{Style, Tint, in_rows, inline, one_line};
use std::path::PathBuf;
use tokio::task::JoinHandle;

/// A command that runs, and what comes of it.
pub(super) type Report = JoinHandle<Result<u8, Failure>>;

impl Screen {
    /// A command has ended.
    pub(super) fn reported(&mut self, result: Result<u8, Failure>) {
        self.report = None;
        if let Err(failure) = result {
            self.view.error(&failure.to_string());
        }
        self.look_at_branch();
        self.prompt_if_idle();
    }

    fn apart(&mut self, work: impl FnOnce() -> Result<u8, Failure> + Send + 'static) {
        self.view.end_line();
        self.report = Some(tokio::task::spawn_blocking(work));
    }

    fn place(&self) -> Place {
        Place { directory: Some(self.directory.clone()) }
    }

    /// This session, where it is kept; otherwise that is said.
    fn one(&mut self) -> Option<One> {
        if self.id.is_empty() {
            self.view.tell("this session is not kept (`--no-session`), so there is nothing to read");
            return None;
        }
        Some(One { id: Some(self.id.clone()), place: self.place() })
    }
}

/// The end of a command, while one runs.
pub(super) async fn end_of_report(report: Option<&mut Report>) -> Result<u8, Failure> {
    match report {
        Some(report) => report.await.unwrap_or_else(|error| Err(Failure::internal(error))),
        None => std::future::pending().await,
    }
}

pub(super) fn show_context(screen: &mut Screen, _: &str) -> bool {
    if let Some(one) = screen.one() {
        screen.apart(move || context(&one));
    }
    false
}

pub(super) fn export(screen: &mut Screen, argument: &str) -> bool {
    if argument.is_empty() {
        screen.view.tell("name the file: `/export notes.md`, or `/export notes.html` for a browser");
        return false;
    }
    let output = screen.directory.join(argument);
    if let Some(session) = screen.one() {
        screen.apart(move || sessions::export(&Export { session, format: None, output: Some(PathBuf::from(&output)) }));
    }
    false
}

pub(super) fn name(screen: &mut Screen, argument: &str) -> bool {
    let name = argument.to_owned();
    if let Some(one) = screen.one() {
        screen.apart(move || rename(&one, &name));
    }
    false
}

pub(super) fn trace(screen: &mut Screen, argument: &str) -> bool {
    let Some(last) = number(screen, argument, LAST_RECORDS) else { return false };
    if let Some(session) = screen.one() {
        screen.apart(move || replay(&Replay { session, to: None, last: Some(last), against_current: false }));
    }
    false
}

/// Between now and how the files were before the first turn of this session.
pub(super) fn diff(screen: &mut Screen, _: &str) -> bool {
    if screen.one().is_none() {
        return false;
    }
    let (directory, id, style) = (screen.directory.clone(), screen.id.clone(), screen.style);
    screen.view.end_line();
    screen.report = Some(tokio::spawn(async move {
        let Some(undone) = outlook(&directory, &id, 0).await? else {
            style.say(
                Tint::Dim,
                &in_rows(&format!("this session changed no file of which the old content is kept; {NOT_COMMANDS}")),
            );
            return Ok(0);
        };
        for (path, old, new) in &undone.contents {
            show_change(style, path, old.as_deref(), new.as_deref());
        }
        for (path, reason) in &undone.left {
            style.say(Tint::Dim, &in_rows(&format!("  {}: not shown, {}", inline(path), inline(reason))));
        }
        style.say(Tint::Dim, &in_rows(NOT_COMMANDS));
        Ok(0)
    }));
    false
}

fn show_change(style: Style, path: &str, old: Option<&[u8]>, new: Option<&[u8]>) {
    match Changes::between(path, old, new) {
        Some(changes) => changes.rows().iter().for_each(|(tint, row)| style.say(*tint, row)),
        None => style.say(Tint::Dim, &in_rows(&format!("  {} changed, and is no text", inline(path)))),
    }
}

pub(super) fn running(screen: &mut Screen, _: &str) -> bool {
    let running = screen.background.running();
    if running.is_empty() {
        screen.view.tell("no command runs in the background");
    }
    for command in running {
        let age = duration(command.age);
        screen.view.tell(&format!("{}  {age}  {}", command.id, one_line(&command.command, LONGEST_COMMAND)));
    }
    false
}

impl Screen {
    /// The session is left: which commands end with it.
    pub(super) fn tell_what_ends(&mut self) {
        let running = self.background.running();
        if running.is_empty() {
            return;
        }
        let named: Vec<String> =
            running.iter().map(|command| format!("`{}`", one_line(&command.command, SHORT))).collect();
        let count = counted(running.len() as u64, "background command");
        self.view.tell(&format!("ends {count} with the session: {}", named.join(", ")));
    }
}

pub(super) fn trust_workspace(screen: &mut Screen, argument: &str) -> bool {
    let (yes, revoke) = (argument == "yes", argument == "no");
    if !(yes || revoke || argument.is_empty()) {
        screen.view.tell("`/trust` shows what trust enables, `/trust yes` trusts, `/trust no` withdraws that");
        return false;
    }
    let directory = Some(screen.directory.clone());
    let asked = Trust { show: !yes && !revoke, revoke, outside_sandbox: false, yes, directory };
    screen.apart(move || trust::run(&asked));
    false
}

pub(super) fn undo_turns(screen: &mut Screen, argument: &str) -> bool {
    let Some(turns) = number(screen, argument, 1) else { return false };
    screen.view.end_line();
    if screen.id.is_empty() {
        screen.view.tell("this session is not kept, so its turns are not known: `agent undo` in a shell takes the last turn here back");
        return false;
    }
    let (directory, id, undos) = (screen.directory.clone(), screen.id.clone(), screen.undos.clone());
    screen.report = Some(tokio::spawn(async move { undo_turns_of(&directory, &id, turns, &undos).await }));
    false
}

/// A number above zero, or what holds without one.
fn number(screen: &mut Screen, argument: &str, otherwise: u32) -> Option<u32> {
    if argument.is_empty() {
        return Some(otherwise);
    }
    let number = argument.parse().ok().filter(|number| *number > 0);
    if number.is_none() {
        screen.view.tell("what follows the command has to be a number above zero");
    }
    number
}

const NOT_COMMANDS: &str = "what commands changed is not recorded, and not shown";
const LONGEST_COMMAND: usize = 200;
const SHORT: usize = 60;
const LAST_RECORDS: u32 = 20;
