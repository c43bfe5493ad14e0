//! `!command`: runs as the person and shows what it writes, which then goes into the line if the person wants it to.

use super::Screen;
use super::reports::Report;
use crate::failure::Failure;
use crate::screen::choose::Chooser;
use crate::screen::edit::ahead::type_ahead;
use crate::screen::edit::editor::Input;
use crate::screen::keys::Keys;
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
        let is_edited = self.desk.is_some();
        let run = move || terminal::run_for_person(&command, &directory, &presses, is_edited);
        match &mut self.desk {
            Some(desk) => desk.run(run),
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
        // What was typed while it ran is no answer to what follows.
        let typed = terminal::take_typed();
        let mut keys = Keys::default();
        let mut inputs = keys.take(&typed);
        inputs.extend(keys.quiet());
        if let Some(desk) = &mut self.desk {
            inputs.iter().for_each(|input| type_ahead(&mut desk.editor, input));
        }
        let text = match result {
            Ok(text) => text,
            Err(error) => return self.view.error(&format!("cannot run the command: {}", inline(&error.to_string()))),
        };
        self.look_at_branch();
        let choices = [('y', "yes, it then stands in the line".to_owned()), ('n', "no".to_owned())];
        let chooser = Chooser::by_letter("Tell the agent the command and its output?", choices, 1);
        self.choose_later(chooser, move |screen, at| {
            match screen.desk.as_mut().filter(|_| at == 0) {
                // What was typed meanwhile stays a row of its own, below.
                Some(desk) if !desk.editor.line().is_empty() => {
                    desk.editor.give_back(&[text.trim_end_matches('\n').to_owned()]);
                }
                // As pasted: a long one is folded. What then is the line's is not asked for.
                Some(desk) => drop(desk.editor.input(&Input::Paste(text))),
                None => {}
            }
            false
        });
    }
}

/// The program of a command that needs the whole terminal: without it, it would wait for keys that never come. Each command of a list
/// or a pipe is looked at, in front of which variables and programs that run another one may stand.
fn needs_terminal(command: &str) -> Option<&str> {
    command.split(['\n', ';', '&', '|', '(', ')', '{', '}']).find_map(of_one)
}

fn of_one(command: &str) -> Option<&str> {
    let mut words = command.split_whitespace().skip_while(|word| is_in_front(word));
    let mut program = words.next()?;
    // Of options that take a word of their own, the next name that is known counts.
    if matches!(program, "sudo" | "doas") {
        let named =
            command.split_whitespace().find(|word| FULL_SCREEN.contains(&word.rsplit('/').next().unwrap_or(word)));
        program = named.unwrap_or(program);
    }
    let name = program.rsplit('/').next().unwrap_or(program);
    let arguments: Vec<&str> = words.collect();
    let has = |options: &[&str]| {
        let is_one = |word: &&str| options.iter().any(|option| word.split('=').next() == Some(option));
        arguments.iter().any(is_one)
    };
    let is_it = match name {
        "git" => git_edits(&arguments),
        "sudo" | "doas" => has(&["-e", "--edit"]),
        "sudoedit" | "visudo" | "vipw" | "vigr" => true,
        "crontab" => has(&["-e"]),
        "systemctl" | "kubectl" | "gh" => arguments.first() == Some(&"edit"),
        "man" => !has(&["-P", "--pager", "-w", "--where"]),
        _ => FULL_SCREEN.contains(&name),
    };
    is_it.then_some(program)
}

/// A variable that is set, a program that runs the rest, or an option of one.
fn is_in_front(word: &str) -> bool {
    let is_variable = word.split_once('=').is_some_and(|(name, _)| !name.starts_with('-'));
    is_variable || matches!(word, "exec" | "command" | "env" | "nohup" | "time" | "!" | "then" | "do" | "else")
}

/// Whether git opens an editor: for the message of a commit, a list of commits, or parts of a change.
fn git_edits(arguments: &[&str]) -> bool {
    let mut words = arguments.iter().copied();
    let sub_command = loop {
        match words.next() {
            Some("-c" | "-C") => drop(words.next()),
            Some(option) if option.starts_with('-') => {}
            found => break found,
        }
    };
    let rest: Vec<&str> = words.collect();
    let has = |long: &[&str], letters: &[char]| {
        rest.iter().any(|word| match word.strip_prefix("--") {
            Some(name) => long.contains(&name.split('=').next().unwrap_or(name)),
            None => word.strip_prefix('-').is_some_and(|short| short.contains(letters)),
        })
    };
    let is_given = has(&["message", "file", "reuse-message", "no-edit", "fixup", "dry-run"], &['m', 'F', 'C']);
    match sub_command {
        Some("commit") => has(&["edit", "patch", "interactive"], &['e', 'p']) || !is_given,
        Some("rebase") => has(&["interactive", "edit-todo"], &['i']),
        Some("add" | "checkout" | "reset" | "restore" | "stash") => has(&["patch", "interactive"], &['p', 'i']),
        Some("tag") => has(&["annotate", "sign"], &['a', 's']) && !has(&["message", "file"], &['m', 'F']),
        Some("config") => has(&["edit"], &['e']),
        Some("mergetool" | "difftool" | "gui" | "citool") => true,
        Some(_) | None => false,
    }
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
            ("sudo -u me vim x", Some("vim")),
            ("cd sub; vim x", Some("vim")),
            ("make && less log", Some("less")),
            ("git log | less", Some("less")),
            ("env X=1 vim", Some("vim")),
            ("(top)", Some("top")),
            ("sudo -e /etc/hosts", Some("sudo")),
            ("git commit", Some("git")),
            ("git add a && git commit --amend", Some("git")),
            ("git -c a=b commit -a", Some("git")),
            ("git rebase -i HEAD~3", Some("git")),
            ("git add -p", Some("git")),
            ("crontab -e", Some("crontab")),
            ("git commit -m 'vim'", None),
            ("git commit -am x", None),
            ("git commit --amend --no-edit", None),
            ("git rebase main", None),
            ("git status && git push", None),
            ("echo vim less", None),
            ("sudo ls", None),
            ("video.sh", None),
            ("", None),
        ] {
            assert_eq!(needs_terminal(command), expected, "{command}");
        }
    }
}
