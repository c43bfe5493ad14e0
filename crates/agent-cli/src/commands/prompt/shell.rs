//! `!command`: runs as the person and shows what it writes, which then goes into the line if the person wants it to.

use super::Screen;
use super::reports::Report;
use crate::failure::Failure;
use crate::screen::choose::Chooser;
use crate::screen::edit::editor::Input;
use crate::screen::terminal::{self, inline};
use std::io;

impl Screen {
    /// Runs a command of the person's, outside of the sandbox: it is the person's own.
    pub(super) fn run_as_person(&mut self, command: &str) {
        let (command, directory) = (command.to_owned(), self.directory.clone());
        self.view.end_line();
        let run = move || terminal::run_for_person(&command, &directory);
        match &mut self.desk {
            Some(desk) => desk.run(tokio::task::spawn_blocking(run)),
            None => {
                let report: Report = tokio::task::spawn_blocking(move || {
                    run().map(|_| 0).map_err(|error| Failure::internal(format!("cannot run the command: {error}")))
                });
                self.report = Some(report);
            }
        }
    }

    /// Such a command has ended. What it wrote was shown, and is the person's until they give it away.
    pub(super) fn command_ended(&mut self, result: io::Result<String>) {
        let text = match result {
            Ok(text) => text,
            Err(error) => return self.view.error(&format!("cannot run the command: {}", inline(&error.to_string()))),
        };
        self.look_at_branch();
        let choices = [('y', "yes, it then stands in the line".to_owned()), ('n', "no".to_owned())];
        let chooser = Chooser::by_letter("Tell the agent the command and its output?", choices, 1);
        self.choose(chooser, move |screen, at| {
            if let Some(desk) = screen.desk.as_mut().filter(|_| at == 0) {
                // As pasted: a long one is folded. What then is the line's is not asked for.
                let _ = desk.editor.input(&Input::Paste(text));
            }
            false
        });
    }
}
