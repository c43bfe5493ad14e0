//! The program's own lines, beside the answer.

use super::{Level, View};
use crate::screen::counted::{short, usd};
use crate::screen::sheet::at_words;
use crate::screen::terminal::{Tint, clean, inline, size};
use agent_core::session::Summarised;

impl View {
    /// A line in the background.
    pub(crate) fn tell(&mut self, line: &str) {
        self.tell_below(line, 2);
    }

    /// A line that the person may copy: the terminal breaks it, and copies it whole.
    pub(crate) fn tell_whole(&mut self, line: &str) {
        if self.level > Level::Quiet {
            self.end_line();
            self.style.say(Tint::Dim, line);
        }
    }

    /// A line whose further rows begin below the column where its text does, where the terminal's width is known.
    pub(crate) fn tell_below(&mut self, line: &str, column: usize) {
        if self.level > Level::Quiet {
            self.end_line();
            let columns = if self.folded.is_some() { size().0 } else { usize::MAX };
            for line in clean(line).split('\n') {
                let column = column + line.len() - line.trim_start_matches(' ').len();
                at_words(line, columns, column).iter().for_each(|row| self.style.say(Tint::Dim, row));
            }
        }
    }

    /// A name in a column of its own, and what it stands for; below each other where there is no room for both.
    pub(crate) fn tell_beside(&mut self, name: &str, what: &str) {
        let column = name.len() + 2;
        if self.folded.is_none() || column * 3 <= size().0 {
            return self.tell_below(&format!("{name}  {what}"), column);
        }
        if !name.trim().is_empty() {
            self.tell(name.trim_end());
        }
        self.tell_below(&format!("    {what}"), 4);
    }

    /// The error that a run ended with, unless it was shown when it came.
    pub(crate) fn last_error(&mut self, message: &str) {
        if self.told_error.as_deref() != Some(message) {
            self.error(message);
        }
    }

    /// An error, whatever the level.
    pub(crate) fn error(&mut self, message: &str) {
        self.told_error = Some(message.to_owned());
        self.end_line();
        let columns = if self.folded.is_some() { size().0 } else { usize::MAX };
        let line = format!("agent: {message}");
        at_words(&clean(&line), columns, 2).iter().for_each(|row| self.style.say(Tint::Red, row));
    }
}

/// What a summary changed, and what it cost.
pub(super) fn summarised_line(summarised: &Summarised) -> String {
    let Summarised { before_tokens, after_tokens, model, cost_nano_usd, .. } = summarised;
    let cost = cost_nano_usd.filter(|nano| *nano > 0).map(|nano| format!(", {} USD", usd(nano))).unwrap_or_default();
    let model = inline(model);
    let (before, after) = (short(*before_tokens), short(*after_tokens));
    let saved = before_tokens.saturating_sub(*after_tokens);
    if before == after {
        return format!("summarised, which saves little: {saved} of about {before} tokens ({model}{cost})");
    }
    format!("summarised: about {before} tokens became {after} ({model}{cost})")
}
