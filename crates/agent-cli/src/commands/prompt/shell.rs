//! `!command`: runs as the person and shows what it writes, which then goes into the line if the person wants it to.

use super::Screen;
use super::reports::Report;
use crate::failure::Failure;
use crate::screen::choose::Chooser;
use crate::screen::edit::editor::Input;
use crate::screen::terminal::{self, inline};
use std::io;
use std::sync::Arc;

impl Screen {
    /// Runs a command of the person's, outside of the sandbox: it is the person's own.
    pub(super) fn run_as_person(&mut self, command: &str) {
        if let Some(program) = needs_terminal(command).filter(|_| self.desk.is_some()) {
            let (line, program) = (format!("!{command}"), inline(program));
            return self.not_done(
                &line,
                &format!("`{program}` needs the whole terminal, which `!` keeps: Ctrl-Z, then {program}, then `fg` brings you back"),
            );
        }
        let (command, directory) = (command.to_owned(), self.directory.clone());
        self.view.end_line();
        self.presses = Arc::default();
        let presses = Arc::clone(&self.presses);
        let run = move || terminal::run_for_person(&command, &directory, &presses);
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

/// The program of a command that draws on the whole terminal: without it, it would wait for keys that never come.
fn needs_terminal(command: &str) -> Option<&str> {
    let is_set = |word: &&str| word.contains('=') || matches!(*word, "sudo" | "exec" | "command" | "env");
    let program = command.split_whitespace().find(|word| !is_set(word))?;
    let name = program.rsplit('/').next().unwrap_or(program);
    FULL_SCREEN.contains(&name).then_some(program)
}

#[rustfmt::skip]
const FULL_SCREEN: &[&str] = &[
    "btop", "emacs", "gitui", "helix", "htop", "hx", "joe", "kak", "lazygit", "less", "mc", "micro", "more", "nano", "nvim", "pico", "ranger",
    "screen", "tig", "tmux", "top", "vi", "view", "vim", "vimdiff", "zellij",
];

#[cfg(test)]
mod tests {
    use super::needs_terminal;

    #[test]
    fn programs_that_draw_on_the_terminal_are_known_by_name() {
        for (command, expected) in [
            ("vi a.txt", Some("vi")),
            ("/usr/bin/vim", Some("/usr/bin/vim")),
            ("EDITOR=x sudo nano /etc/hosts", Some("nano")),
            ("git log | less", None),
            ("video.sh", None),
            ("", None),
        ] {
            assert_eq!(needs_terminal(command), expected, "{command}");
        }
    }
}
