//! Esc Esc: a list of the person's messages, from which one is chosen to go back to, with the files as they were then or without. The
//! session stays as it is; the prompt goes on in a new one with the records from before the message, which stands in the line again.

use super::Screen;
use super::desk::Desk;
use super::of_servers::Given;
use super::sitting::Next;
use crate::commands::sessions::{Earlier, earlier, outlook};
use crate::commands::undo::files;
use crate::failure::Failure;
use crate::screen::choose::Chooser;
use crate::screen::counted::counted;
use agent_git::Undone;
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

/// What was looked for in the session's journal, in the repository, and at the server.
pub(super) enum Looked {
    Messages(Result<Vec<Earlier>, Failure>),
    Files(Earlier, Result<Option<Undone>, Failure>),
    /// All models that are known, and why the server's list is missing.
    Models(Vec<String>, Option<Failure>),
    /// What a message names of a server.
    OfServer(Given),
}

impl Screen {
    /// Esc was pressed where there is nothing to stop and nothing in the line.
    pub(super) fn escape_at_rest(&mut self) {
        if self.stop_reading() {
            return;
        }
        let Some(desk) = self.desk.as_mut().filter(|desk| desk.editor.is_blank()) else { return };
        let before = desk.last_escape.replace(Instant::now());
        if before.is_none_or(|before| before.elapsed() > DOUBLE) {
            return;
        }
        desk.last_escape = None;
        self.choose_earlier();
    }

    /// Looks for the messages to which the person can go back.
    pub(super) fn choose_earlier(&mut self) {
        if self.desk.is_none() {
            return self.view.tell("`agent rewind ID --to N` goes back where there is no line editor");
        }
        if self.id.is_empty() {
            return self.view.tell("this session is not kept, so there is no way back in it");
        }
        let (directory, id) = (self.directory.clone(), self.id.clone());
        self.look(tokio::task::spawn_blocking(move || Looked::Messages(earlier(&directory, &id))));
    }

    /// Looks for something else from now on. A line that waited for what was looked for stands in the editor again.
    pub(super) fn look(&mut self, look: JoinHandle<Looked>) {
        self.stop_reading();
        if let Some(desk) = &mut self.desk {
            desk.looking = Some(look);
        }
    }

    /// What was looked for is there. Where the agent has been sent something meanwhile, it is of no use.
    pub(super) fn looked(&mut self, looked: Looked) {
        self.desk.iter_mut().for_each(|desk| desk.looking = None);
        if !self.is_idle() && !matches!(looked, Looked::Models(..) | Looked::OfServer(_)) {
            return;
        }
        match looked {
            Looked::OfServer(given) => self.given(given),
            Looked::Models(models, failure) => self.choose_model(models, failure.as_ref()),
            Looked::Messages(Ok(messages)) if messages.is_empty() => {
                self.view.tell("there is no message to go back to");
            }
            Looked::Messages(Ok(messages)) => self.choose_message(messages),
            Looked::Files(message, Ok(Some(undone))) => self.choose_files(message, &undone),
            Looked::Files(message, Ok(None)) => self.go_back(message, false),
            Looked::Messages(Err(failure)) | Looked::Files(_, Err(failure)) => {
                self.view.error(&format!("cannot go back: {failure}"));
            }
        }
    }

    fn choose_message(&mut self, messages: Vec<Earlier>) {
        let chooser = Chooser::new("Back to before", messages.iter().map(|message| &message.text), messages.len());
        self.choose(chooser, move |screen, at| {
            if let Some(message) = messages.into_iter().nth(at) {
                let (directory, id) = (screen.directory.clone(), screen.id.clone());
                screen.look(tokio::spawn(async move {
                    let outlook = outlook(&directory, &id, message.before).await;
                    Looked::Files(message, outlook)
                }));
            }
            false
        });
    }

    /// Files have changed since: says which, and asks.
    fn choose_files(&mut self, message: Earlier, undone: &Undone) {
        let rows = files(undone, ["would restore", "would remove"]);
        let mut rows = rows.lines();
        rows.by_ref().take(MOST_ROWS).for_each(|row| self.view.tell(&format!("  {row}")));
        let more = rows.count();
        if more > 0 {
            self.view.tell(&format!("  … and {}", counted(more as u64, "more file")));
        }
        let changed = counted((undone.restored.len() + undone.removed.len()) as u64, "file");
        let choices =
            [('y', format!("yes, the conversation and {changed}")), ('n', "no, the conversation only".to_owned())];
        let chooser = Chooser::by_letter("Take the files back, too?", choices, 1);
        self.choose(chooser, move |screen, at| {
            screen.go_back(message, at == 0);
            false
        });
    }

    fn go_back(&mut self, message: Earlier, with_files: bool) {
        self.next = Some(Next::Before { message, with_files });
    }
}

/// What was looked for, while something is.
pub(super) async fn end_of_look(looking: Option<&mut JoinHandle<Looked>>) -> Looked {
    match looking {
        Some(looking) => match looking.await {
            Ok(looked) => looked,
            Err(error) => Looked::Messages(Err(Failure::internal(error))),
        },
        None => std::future::pending().await,
    }
}

impl Desk {
    /// What was begun elsewhere and is waited for: a text in the person's editor, a look into the journal.
    pub(super) fn begun(&mut self) -> (Option<&mut super::desk::Writing>, Option<&mut JoinHandle<Looked>>) {
        (self.writing.as_mut(), self.looking.as_mut())
    }
}

/// The second Esc comes so soon.
const DOUBLE: Duration = Duration::from_secs(1);
const MOST_ROWS: usize = 12;
