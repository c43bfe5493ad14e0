//! The line editor at the prompt: what keys lead to, what the rows at the bottom show, and the person's own editor.

use super::Screen;
use super::back::Looked;
use super::choosing::Choosing;
use super::does::for_the_shell;
use super::of_servers::{Pending, prompt_named};
use super::question::{self, Entry};
use super::registry::{self, Meant};
use super::status::{Doing, Status};
use crate::config::file::{Call, EditMode, PromptConfig};
use crate::screen::choose;
use crate::screen::edit::completion::Completions;
use crate::screen::edit::editor::{Editor, Input, Wish};
use crate::screen::edit::history::History;
use crate::screen::edit::layout::cut;
use crate::screen::job_control::Change;
use crate::screen::keys::GiveUp;
use crate::screen::terminal::{self, Notification, Raw, Region, clean};
use crate::session::kept::store;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use termina::event::{KeyCode, KeyEventKind, Modifiers};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// What there is besides the screen where lines are edited.
pub(super) struct Desk {
    pub(super) editor: Editor,
    pub(super) raw: Raw,
    /// Drops a paste that has begun.
    pub(super) give_up: GiveUp,
    /// What stands before the line while a question waits.
    pub(super) label: &'static str,
    /// The row below the line.
    pub(super) status: Status,
    /// The name of the project, for the title of the window.
    project: String,
    /// When a key was last pressed.
    pub(super) last_key: Option<Instant>,
    /// How the person is called.
    call: Call,
    /// The person's own editor, while it runs.
    pub(super) writing: Option<Writing>,
    /// The list from which something is chosen, while it is open.
    pub(super) choosing: Option<Choosing>,
    /// A look into the journal or the repository, while it lasts.
    pub(super) looking: Option<JoinHandle<Looked>>,
    /// The line that waits for what is looked for.
    pub(super) pending: Option<Pending>,
    /// When Esc was last pressed with nothing to stop.
    pub(super) last_escape: Option<Instant>,
}

/// How the name of the file ends that the person's own editor has, and what comes of it.
pub(super) type Writing = (&'static str, JoinHandle<io::Result<String>>);

impl Desk {
    /// Takes the terminal, where it is capable and wanted.
    pub(super) fn take(
        is_plain: bool,
        is_coloured: bool,
        directory: &Path,
        status: Status,
        wanted: PromptConfig,
    ) -> Option<Self> {
        let raw = if is_plain { None } else { Raw::take(is_coloured) }?;
        let completions = Completions { commands: Vec::new(), offers: Vec::new(), directory: directory.to_owned() };
        let mut editor = Editor::new(History::load(history_file(directory)), completions);
        if wanted.edit_mode == EditMode::Vi {
            editor.use_vi();
        }
        let project = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Some(Self {
            editor,
            raw,
            give_up: GiveUp::default(),
            label: "> ",
            status,
            project,
            last_key: None,
            call: wanted.notify,
            writing: None,
            choosing: None,
            looking: None,
            pending: None,
            last_escape: None,
        })
    }
}

impl Desk {
    /// Calls the person, who may look elsewhere.
    pub(super) fn call(&self, why: &str) {
        let notification = match self.call {
            Call::Off => return,
            Call::Bell => None,
            Call::Osc9 => Some(Notification::Osc9),
            Call::Osc777 => Some(Notification::Osc777),
        };
        terminal::call(notification, why);
    }

    /// Says in the title of the window what the agent does, for a person who looks at another one.
    fn show_title(&mut self, doing: Doing) {
        let what = match doing {
            Doing::Rests => "agent",
            Doing::Works | Doing::Stops => "agent works",
            Doing::Asks => "agent asks",
        };
        if self.call != Call::Off {
            self.raw.set_title(&format!("{what} · {}", self.project));
        }
    }

    /// Gives the terminal to a command of the person's until it ends.
    pub(super) fn run(&mut self, command: impl FnOnce() -> io::Result<String> + Send + 'static) {
        // Before it begins: what it writes first is not to stand in the rows.
        self.raw.put_away();
        self.writing = Some((COMMAND, tokio::task::spawn_blocking(command)));
    }

    /// Opens a text in the person's editor.
    fn write(&mut self, program: String, text: String, suffix: &'static str) {
        self.raw.put_away();
        self.writing = Some((suffix, tokio::task::spawn_blocking(move || written_with(&program, &text, suffix))));
    }
}

impl Screen {
    /// A key was pressed, or something was pasted. Returns whether to leave.
    pub(super) fn edited(&mut self, input: &Input) -> bool {
        // A person who types does not mean to leave: the next Ctrl-C is a first one.
        self.last_interrupt = None;
        let is_taken = self.pressed(input);
        self.desk.iter_mut().for_each(|desk| desk.last_key = Some(Instant::now()));
        if is_taken {
            return false;
        }
        if let Some(leaves) = self.chosen(input) {
            return leaves;
        }
        let is_message = !self.is_asked();
        let meanwhile = self.is_working() && is_message;
        let Some(desk) = self.desk.as_mut() else { return false };
        if is_up(input) && is_message && desk.editor.is_blank() && self.take_back() {
            return false;
        }
        // A file that is dropped on the terminal is pasted as its path.
        let dropped = match input {
            Input::Paste(text) if is_message => self.attaching.pasted(text).map(Input::Paste),
            _ => None,
        };
        let Some(desk) = self.desk.as_mut() else { return false };
        match desk.editor.input(dropped.as_ref().unwrap_or(input)) {
            Wish::None => {}
            Wish::SendLater if meanwhile => {
                if let Wish::Send { text, shown } = desk.editor.send() {
                    return self.sent(&text, shown, true);
                }
            }
            Wish::SendLater => desk.editor.begin_row(),
            Wish::Send { text, shown } => return self.sent(&text, shown, false),
            Wish::Leave if self.is_idle() || self.is_asked() => {
                self.end_input();
                return true;
            }
            Wish::Leave => {
                self.view.tell("Ctrl-D quits only at rest: Ctrl-C or Esc stops the turn, Ctrl-C twice quits");
            }
            Wish::Stop if self.is_working() && !self.is_stopping() => {
                self.interrupt();
                self.last_interrupt = None;
            }
            // At rest only one is open that its server has taken back.
            Wish::Stop if self.is_idle() && self.asked.is_open() => drop(self.answers_server("")),
            Wish::Stop if self.is_idle() => self.escape_at_rest(),
            Wish::Stop => {}
            Wish::Write => self.write_elsewhere(),
            Wish::NextMode => self.next_mode(),
            Wish::Unfold => self.view.unfold(),
        }
        false
    }

    /// What stands in the line when the person leaves is found again with Up.
    pub(super) fn keep_draft(&mut self) {
        if let Some(desk) = &mut self.desk {
            let text = desk.editor.draft().text();
            if !text.trim().is_empty() {
                desk.editor.remember(clean(text.trim()).as_ref());
            }
        }
    }

    /// A line was ended. Returns whether to leave.
    fn sent(&mut self, text: &str, shown: String, is_for_later: bool) -> bool {
        let text = text.trim();
        let is_answer = self.is_asked();
        if text.is_empty() && !is_answer {
            return false;
        }
        if let Some(desk) = self.desk.as_mut().filter(|_| !is_answer) {
            desk.editor.remember(clean(text).as_ref());
        }
        if !is_answer && self.is_message(text) && self.reads_first(text, &shown, is_for_later) {
            return false;
        }
        self.sent_read(text, shown, is_for_later)
    }

    fn is_message(&self, text: &str) -> bool {
        for_the_shell(text).is_none()
            && prompt_named(self.mcp.as_ref(), text).is_none()
            && matches!(registry::meant(text, &self.customs), Meant::Message)
    }

    /// The same of a line of which all is there that it names of servers.
    pub(super) fn sent_read(&mut self, text: &str, shown: String, is_for_later: bool) -> bool {
        let is_answer = self.is_asked();
        // Those that wait go out before it, and are shown where they do.
        if (self.is_working() || !self.waiting.is_none()) && !is_answer && self.is_message(text) {
            self.send_meanwhile(text, shown, is_for_later);
            return false;
        }
        self.view.said(&shown);
        self.line(text)
    }

    /// Whether there is something to stop.
    fn is_working(&self) -> bool {
        !self.is_idle()
    }

    /// Puts what waits to be asked, and draws the rows at the bottom as they are now.
    pub(super) fn refresh(&mut self) {
        self.ask_for_servers();
        let is_asked = self.is_asked();
        let doing = match (self.is_working(), self.is_stopping()) {
            (false, _) => Doing::Rests,
            (true, true) => Doing::Stops,
            (true, false) if is_asked => Doing::Asks,
            (true, false) => Doing::Works,
        };
        let is_ready = self.ready().is_none();
        let mut waiting = self.waiting.rows(!is_asked, !self.is_working());
        waiting.splice(..0, self.view.reported().into_iter().chain(self.pending_row()));
        waiting.extend(super::status::background(&self.background.running()));
        let Some(desk) = self.desk.as_mut() else { return };
        if is_asked {
            desk.choosing = None;
            desk.editor.begin_answer();
            let entry = self.question.as_ref().map_or(Entry::Line, |open| open.entry);
            desk.editor.set_label(question::label(entry, is_ready, desk.label));
        } else {
            desk.editor.end_answer();
            desk.editor.set_label("> ");
        }
        let worked = desk.status.does(doing);
        if worked.is_some_and(|worked| worked >= LONG_WORK) {
            desk.call("done");
        }
        desk.show_title(doing);
        let (columns, height) = terminal::size();
        let room = (height - 1).clamp(1, choose::MOST_ROWS);
        if let Some(open) = &desk.choosing {
            let mut region = open.chooser.region(columns, room);
            if let (Some(_), Some(title)) = (open.waits_until(), region.rows.first_mut()) {
                *title = cut(&format!("… {title}"), columns);
            }
            return terminal::show(region);
        }
        let others = 2 + waiting.len().min(1);
        let (rows, hint) = desk.editor.rows(columns, room.saturating_sub(others).max(1));
        let state = Some(desk.status.row(doing, &self.used, &self.agents.at_work(&self.used), columns))
            .filter(|row| !row.is_empty());
        let room = room.saturating_sub(rows.rows.len());
        let waiting = waiting.iter().take(room.saturating_sub(hint.iter().chain(&state).count()).max(1));
        let below = hint.iter().chain(waiting).chain(&state).take(room).map(|row| cut(row, columns)).collect();
        terminal::show(Region { rows: rows.rows, cursor: rows.cursor, below, marked: None });
    }

    /// Which branch is checked out may have changed.
    pub(super) fn look_at_branch(&mut self) {
        if let Some(desk) = &mut self.desk {
            desk.status.set_branch(self.repository.branch());
        }
    }

    pub(super) fn prompt_if_idle(&mut self) {
        if self.is_idle() {
            self.prompt("> ");
        }
    }

    pub(super) fn prompt(&mut self, text: &'static str) {
        if let Some(desk) = &mut self.desk {
            desk.label = text;
            self.view.end_line();
        } else if self.is_typed {
            self.view.prompt(text);
        } else {
            self.view.end_line();
        }
    }

    /// The terminal was resized, or is to be given back and taken again.
    pub(super) async fn changed(&mut self, change: Change) {
        let Some(desk) = self.desk.as_mut() else { return };
        match change {
            Change::Resized => {}
            Change::Stopped if terminal::can_be_continued() => {
                if desk.writing.is_none() {
                    desk.raw.put_away();
                }
                // Where nothing is read, nothing is waited for long.
                let _ = timeout(Duration::from_millis(500), terminal::written()).await;
                terminal::stop();
            }
            Change::Stopped => {}
            Change::Continued if desk.writing.is_none() => desk.raw.bring_back(),
            Change::Continued => {}
        }
    }

    /// Opens the line in the person's editor.
    fn write_elsewhere(&mut self) {
        let Some(program) = own_editor() else {
            self.view.tell("Ctrl-G opens your editor: set VISUAL or EDITOR");
            return;
        };
        let Some(desk) = self.desk.as_mut().filter(|desk| desk.writing.is_none()) else { return };
        desk.write(program, desk.editor.line().text(), ".md");
    }

    /// Opens the arguments of a call in the person's editor. Returns whether there is one.
    pub(super) fn edit_elsewhere(&mut self, open: &question::Open) -> bool {
        let (Some(program), Some(desk)) = (own_editor(), self.desk.as_mut()) else {
            self.view.tell("e opens the arguments in your editor: set VISUAL or EDITOR, or type `:` and `e {…}`");
            return false;
        };
        desk.write(program, open.to_edit(), ".json");
        true
    }

    /// The person's editor has ended.
    pub(super) fn written(&mut self, result: io::Result<String>) {
        let Some(desk) = self.desk.as_mut() else { return };
        let kind = desk.writing.take().map_or("", |(kind, _)| kind);
        let is_json = kind == ".json";
        desk.raw.bring_back();
        if kind == COMMAND {
            return self.command_ended(result);
        }
        let is_for_question = self.question.as_ref().is_some_and(|open| open.entry == Entry::Editor);
        match result {
            Ok(text) if is_for_question => self.edited_arguments(&text),
            // The question was withdrawn meanwhile.
            Ok(_) if is_json => {}
            Ok(text) => desk.editor.replace(text.trim_end()),
            Err(error) if is_for_question => {
                self.view.error(&format!("the editor failed: {error}"));
                self.question.iter_mut().for_each(|open| open.entry = Entry::Key);
            }
            Err(error) => self.view.error(&format!("the text is as it was, the editor failed: {error}")),
        }
    }
}

/// The end of the person's editor, while one runs.
pub(super) async fn end_of_writing(writing: Option<&mut Writing>) -> io::Result<String> {
    match writing {
        Some((_, writing)) => writing.await.unwrap_or_else(|error| Err(io::Error::other(error))),
        None => std::future::pending().await,
    }
}

/// Up, in any of its names.
fn is_up(input: &Input) -> bool {
    match input {
        Input::Key(key) if key.kind != KeyEventKind::Release => match key.code {
            KeyCode::Up => key.modifiers.is_empty(),
            KeyCode::Char('p') => key.modifiers == Modifiers::CONTROL,
            _ => false,
        },
        Input::Key(_) | Input::Paste(_) | Input::PasteWaits { .. } => false,
    }
}

fn own_editor() -> Option<String> {
    let of = |name| std::env::var(name).ok().filter(|value: &String| !value.trim().is_empty());
    of("VISUAL").or_else(|| of("EDITOR"))
}

/// What becomes of a text in an editor. The file is the person's alone, and gone behind it.
fn written_with(program: &str, text: &str, suffix: &str) -> io::Result<String> {
    let mut file = tempfile::Builder::new().prefix("message-").suffix(suffix).tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    let status = terminal::run_editor(program, file.path())?;
    if status.success() { std::fs::read_to_string(file.path()) } else { Err(io::Error::other(status.to_string())) }
}

/// Where the messages of this project are kept, as its sessions are.
fn history_file(directory: &Path) -> Option<PathBuf> {
    let any = store(directory).ok()?.path("any").ok()?;
    let project = any.parent()?.file_name()?.to_str()?.to_owned();
    Some(crate::config::file::state_home()?.join("history").join(format!("{project}.history")))
}

/// Keys, and what they do.
pub(super) const HELP: &[(&str, &str)] = &[
    ("Enter", "sends the message; while the agent works, it goes out with the next results"),
    ("Ctrl-C", "stops the turn; twice quits"),
];
/// Where lines are read as a whole.
pub(super) const LINES_HELP: &[(&str, &str)] =
    &[("lines", "each line is a message; pasted lines are sent as one"), ("Ctrl-D", "quits at rest")];
pub(super) const EDITING_HELP: &[(&str, &str)] = &[
    ("Ctrl-D", "on an empty line: quits, at rest or at a question"),
    ("Ctrl-Z", "suspends the program; `fg` brings it back"),
    ("Esc", "stops the turn; Esc Esc at rest goes back to an earlier message"),
    ("Alt-Enter", "at rest, as Ctrl-J and `\\` at the end do: a new line in the message"),
    ("", "while the agent works: sends the message at the end of the turn"),
    ("Up, Down", "earlier messages; Up takes back a message that waits"),
    ("Ctrl-R", "searches the earlier messages"),
    ("Tab", "completes /commands and the paths behind @"),
    ("@path", "attaches a file or a picture to the message"),
    ("!command", "runs a command as you, outside of the sandbox"),
    ("Ctrl-O", "shows all of the last result, change or thinking; again: the one before"),
    ("Shift-Tab", "changes the permission mode"),
    ("Ctrl-G", "opens the message in $VISUAL or $EDITOR"),
    ("Ctrl-A, -E", "go to the start and the end of the line; Alt-B and Alt-F go by words"),
    ("Ctrl-W, -U", "remove the word or the line before the cursor; Alt-D and Ctrl-K what is behind it"),
    ("Ctrl-Y, -_", "insert again what was removed; undo"),
];
/// In the place of how a file's name ends: no file, but a command.
const COMMAND: &str = "!";
/// After less the person is still there.
const LONG_WORK: Duration = Duration::from_secs(10);
