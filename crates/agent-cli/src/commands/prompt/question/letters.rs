//! A letter at a question: alone it is an answer; among others, beside a paste or before a key that edits it is the beginning of a message.

use super::PAUSE;
use crate::commands::prompt::Screen;
use crate::screen::answer::{self, Key};
use crate::screen::terminal::Tint;
use std::time::{Duration, Instant};

impl Screen {
    /// What was pressed before it could be read, or goes on with what was being typed, is no answer to it; and neither are letters that
    /// follow each other as those of a message do.
    pub(super) fn struck_at(&mut self, letter: char, now: Instant) {
        let Some(open) = self.question.as_mut() else { return };
        if now < open.ready {
            open.ready = now + PAUSE;
            if letter != '\r' {
                self.desk.iter_mut().for_each(|desk| desk.editor.type_on(letter));
            }
            return;
        }
        let is_held =
            matches!(answer::key(letter, open.sheet.is_seen()), None | Some(Key::Answer(_) | Key::Stop | Key::Edit));
        match open.held.take() {
            Some((first, _)) if letter == '\r' => self.struck(first),
            Some((first, _)) => {
                open.ready = now + PAUSE;
                if let Some(desk) = &mut self.desk {
                    [first, letter].into_iter().for_each(|letter| desk.editor.begin_message(letter));
                }
                self.put(Tint::Dim, NO_ANSWER);
            }
            None if is_held && !letter.is_whitespace() => open.held = Some((letter, now + ALONE)),
            None => self.struck(letter),
        }
    }

    /// A letter that was to answer was the beginning of something else. Returns whether there was one.
    pub(super) fn withdraw_letter(&mut self) -> bool {
        let held = self.question.as_mut().and_then(|open| open.held.take());
        let Some((letter, _)) = held else { return false };
        self.desk.iter_mut().for_each(|desk| desk.editor.begin_message(letter));
        self.put(Tint::Dim, NO_ANSWER);
        true
    }
}

/// A letter that answers comes alone: the next one of a message comes sooner than this.
const ALONE: Duration = Duration::from_millis(250);
const NO_ANSWER: &str = "  that is no answer: it stands in your line after one";
