//! What the commands at the prompt do. Each is called with what follows its name, and returns whether to leave.

use super::Screen;
use super::custom::Custom;
use super::desk::{EDITING_HELP, HELP, LINES_HELP};
use super::of_servers::prompt_named;
use super::registry::{self, Builtin, Meant, When};
use crate::mcp::session::Mcp;
use crate::screen::attached::{Attached, with_files};
use crate::screen::choose::Chooser;
use crate::screen::counted::counted;
use crate::screen::terminal::{clean, inline, unmistakable};
use crate::session::limits::{next_raise, raised};
use crate::session::pictured::Pictured;
use agent_core::agent::Turns;
use agent_core::budget::Limits;
use agent_core::conversation::UserMessage;

impl Screen {
    /// A line that is no answer: a command, or a message. Returns whether to leave.
    pub(super) fn command_or_message(&mut self, line: &str) -> bool {
        // What a pipe holds may be of anybody.
        if let Some(command) = for_the_shell(line).filter(|_| self.is_typed) {
            match self.is_idle() {
                true => self.run_as_person(command),
                false => self.not_done(line, "`!` runs commands when the agent rests: Esc or Ctrl-C stops it"),
            }
            return false;
        }
        if let Some((server, name, typed)) = prompt_named(self.mcp.as_ref(), line) {
            let named = (server, name.to_owned(), typed.to_owned());
            self.use_prompt(line, named);
            return false;
        }
        let customs = self.customs.clone();
        match registry::meant(line, &customs) {
            Meant::Message => self.send_line(line),
            Meant::Custom(custom, argument) => self.use_custom(line, custom, argument),
            Meant::Builtin(builtin, argument) => return self.command(line, builtin, argument),
            Meant::Unknown(near) => {
                let name = inline(line.split_whitespace().next().unwrap_or_default());
                let near = near.map(|near| format!("did you mean /{near}? ")).unwrap_or_default();
                self.not_done(line, &format!("unknown command {name}; {near}/help lists the commands"));
            }
        }
        false
    }

    /// A message with the files and the pictures that it names. A picture that cannot go keeps it back.
    fn send_line(&mut self, line: &str) {
        if let Some(message) = self.attached(line) {
            self.handle.input(message);
        }
    }

    /// The message of a line that the person sends; nothing if it is not sent. What a pipe holds names no files, only pictures.
    pub(super) fn attached(&mut self, line: &str) -> Option<UserMessage> {
        let Pictured { mut message, told } = match self.attaching.to(line, &[]) {
            Ok(pictured) => pictured,
            Err(why) => {
                self.not_done(line, &inline(&format!("not sent: {why}")));
                return None;
            }
        };
        told.iter().for_each(|told| self.view.tell(&inline(&format!("  attached {told}"))));
        if self.is_typed {
            let Attached { mut files, notes } = with_files(line, &self.attaching);
            let is_read =
                |note: &&String| !self.read_resources.iter().any(|read| note.contains(&*format!("@{}:", read.name)));
            notes.iter().filter(is_read).for_each(|note| self.view.tell(&format!("  {note}")));
            for read in &self.read_resources {
                let lines = counted(read.text.lines().count() as u64, "line");
                let part = if read.part.is_empty() { "" } else { "its first " };
                self.view.tell(&format!("  attached {} ({part}{lines})", read.name));
            }
            files.append(&mut self.read_resources);
            message.attached = files.into();
        }
        Some(message)
    }

    /// The text of a command in a file goes to the agent; one of the repository's not before it was seen whole.
    fn use_custom(&mut self, line: &str, custom: &Custom, argument: &str) {
        let message = custom.message(argument);
        if message.trim().is_empty() {
            return self.not_done(line, &format!("/{} has no text", custom.name));
        }
        if !custom.is_of_repository || self.agreed.contains(&message) {
            self.view.said(&message);
            return self.handle.input(message);
        }
        if !self.offer_text(&format!("/{} is a command of the repository", custom.name), message) {
            self.not_done(line, "not sent: a command of the repository is agreed to with a key, in the line editor");
        }
    }

    /// Shows a text of others whole, and sends it once the person agrees. Returns whether the person can be asked.
    pub(super) fn offer_text(&mut self, whose: &str, text: String) -> bool {
        self.view.tell(&format!("{whose}, which would say to the agent:"));
        clean(&text).lines().for_each(|row| self.view.tell(&format!("  | {}", unmistakable(row))));
        let choices = [('y', "yes, send it".to_owned()), ('n', "no".to_owned())];
        self.choose_later(Chooser::by_letter("Send this?", choices, 1), move |screen, at| {
            if at == 0 {
                screen.agreed.insert(text.clone());
                screen.handle.input(text);
            }
            false
        })
    }

    fn command(&mut self, line: &str, builtin: &Builtin, argument: &str) -> bool {
        if builtin.when == When::AtRest && !self.is_idle() {
            let name = builtin.name;
            self.not_done(line, &format!("/{name} cannot run while the agent works: Esc or Ctrl-C stops it"));
            return false;
        }
        if builtin.arguments.is_empty() && !argument.is_empty() {
            self.not_done(line, &format!("/{} takes no arguments", builtin.name));
            return false;
        }
        let leaves = (builtin.run)(self, argument);
        // What the command writes stands before the next line, see `reported`.
        if !leaves && self.report.is_none() {
            self.prompt_if_idle();
        }
        leaves
    }

    /// A command is not carried out. In the line editor it stands in the line again.
    pub(super) fn not_done(&mut self, line: &str, why: &str) {
        self.view.tell(why);
        self.desk.iter_mut().for_each(|desk| desk.editor.give_back(&[line.to_owned()]));
        self.prompt_if_idle();
    }
}

/// The command of a line that the person's shell is to run.
pub(super) fn for_the_shell(line: &str) -> Option<&str> {
    line.strip_prefix('!').map(str::trim).filter(|command| !command.is_empty())
}

pub(super) fn compact(screen: &mut Screen, focus: &str) -> bool {
    if focus.is_empty() {
        screen.handle.compact();
    } else {
        screen.handle.compact_keeping(focus);
    }
    false
}

pub(super) fn cost(screen: &mut Screen, _: &str) -> bool {
    let used = screen.used;
    screen.tell_spent(&used, false);
    false
}

pub(super) fn help(screen: &mut Screen, _: &str) -> bool {
    let keys = if screen.desk.is_some() { EDITING_HELP } else { LINES_HELP };
    let commands = registry::help_lines();
    for (usage, help) in &commands {
        screen.view.tell_beside(usage, help);
    }
    for custom in screen.customs.clone() {
        let whose = if custom.is_of_repository { "the repository's" } else { "yours" };
        let told = format!("/{} {}  {} ({whose})", custom.name, custom.hint, custom.description);
        screen.view.tell(&inline(&told));
    }
    let prompts: Vec<String> = screen.mcp.iter().flat_map(Mcp::prompt_lines).collect();
    prompts.iter().for_each(|line| screen.view.tell(line));
    let columns = HELP.iter().chain(keys).map(|(key, _)| key.len()).max().unwrap_or_default();
    for (key, does) in HELP.iter().chain(keys) {
        screen.view.tell_beside(&format!("{key:<columns$}"), does);
    }
    false
}

pub(super) fn more(screen: &mut Screen, _: &str) -> bool {
    if screen.limits == Limits::default() {
        screen.view.tell("no limit is set, so there is none to raise");
        return false;
    }
    let needed = screen.reached.as_ref().map(|reached| (reached.kind, reached.spent));
    screen.raises = next_raise(&screen.limits, screen.raises, &screen.used, needed);

    // What the limit cut short goes on, and may end well.
    screen.turns = Turns::default();
    let raised = raised(&screen.limits, screen.raises);
    screen.view.watch(raised);
    screen.handle.set_limits(raised);
    false
}

pub(super) const fn quit(_: &mut Screen, _: &str) -> bool {
    true
}
