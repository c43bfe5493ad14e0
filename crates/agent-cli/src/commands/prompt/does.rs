//! What the commands at the prompt do. Each is called with what follows its name, and returns whether to leave.

use super::Screen;
use super::desk::{EDITING_HELP, HELP};
use super::registry::{self, Builtin, Meant, When};
use crate::screen::terminal::inline;
use crate::session::limits::{next_raise, raised};
use agent_core::agent::Turns;

impl Screen {
    /// A line that is no answer: a command, or a message. Returns whether to leave.
    pub(super) fn command_or_message(&mut self, line: &str) -> bool {
        match registry::meant(line) {
            Meant::Message => self.handle.input(line),
            Meant::Builtin(builtin, argument) => return self.command(line, builtin, argument),
            Meant::Unknown(near) => {
                let name = inline(line.split_whitespace().next().unwrap_or_default());
                let near = near.map(|near| format!("did you mean /{near}? ")).unwrap_or_default();
                self.not_done(line, &format!("unknown command {name}; {near}/help lists the commands"));
            }
        }
        false
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
        if !leaves {
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

pub(super) fn compact(screen: &mut Screen, _: &str) -> bool {
    screen.handle.compact();
    false
}

pub(super) fn cost(screen: &mut Screen, _: &str) -> bool {
    let used = screen.used;
    screen.view.spent(&used, false);
    false
}

pub(super) fn help(screen: &mut Screen, _: &str) -> bool {
    let editing = if screen.desk.is_some() { EDITING_HELP } else { &[] };
    registry::help_lines().iter().for_each(|line| screen.view.tell(line));
    HELP.iter().chain(editing).for_each(|line| screen.view.tell(line));
    false
}

pub(super) fn more(screen: &mut Screen, _: &str) -> bool {
    screen.raises = next_raise(&screen.limits, screen.raises, &screen.used);
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
