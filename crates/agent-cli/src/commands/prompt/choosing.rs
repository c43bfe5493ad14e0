//! A list at the prompt from which the person chooses: it has the rows at the bottom and the keys until then, and what stood in the line is
//! there again behind it.

use super::Screen;
use crate::screen::choose::{Choice, Chooser};
use crate::screen::edit::ahead::type_ahead;
use crate::screen::edit::editor::Input;
use std::time::{Duration, Instant};
use termina::event::{KeyCode, KeyEventKind, Modifiers};

/// A list that is open, and what follows from the choice.
pub(super) struct Choosing {
    pub(super) chooser: Chooser,
    then: Then,
    /// Of a list that nobody asked for: from then on keys are meant for it. What was typed before it could be read goes into the line.
    ready: Option<Instant>,
    /// The letter of an entry, which may be the first of a message: only Enter behind it chooses.
    letter: Option<char>,
}

impl Choosing {
    /// When keys begin to be meant for it, if they are not yet.
    pub(super) fn waits_until(&self) -> Option<Instant> {
        self.ready.filter(|ready| *ready > Instant::now())
    }
}

/// Is given what was chosen, and returns whether to leave the prompt.
type Then = Box<dyn FnOnce(&mut Screen, usize) -> bool + Send>;

impl Screen {
    /// Opens a list, where there is a line editor. Returns whether there is.
    pub(super) fn choose(
        &mut self,
        chooser: Chooser,
        then: impl FnOnce(&mut Self, usize) -> bool + Send + 'static,
    ) -> bool {
        self.open(chooser, None, then)
    }

    /// The same with a list that nobody asked for: it opens while the person may be typing.
    pub(super) fn choose_unasked(
        &mut self,
        chooser: Chooser,
        then: impl FnOnce(&mut Self, usize) -> bool + Send + 'static,
    ) -> bool {
        self.open(chooser, Some(Instant::now() + DEAD_TIME), then)
    }

    /// The same with a list that follows from what the person did a while ago: it takes keys at once.
    pub(super) fn choose_later(
        &mut self,
        chooser: Chooser,
        then: impl FnOnce(&mut Self, usize) -> bool + Send + 'static,
    ) -> bool {
        self.open(chooser, Some(Instant::now()), then)
    }

    fn open(
        &mut self,
        chooser: Chooser,
        ready: Option<Instant>,
        then: impl FnOnce(&mut Self, usize) -> bool + Send + 'static,
    ) -> bool {
        let Some(desk) = &mut self.desk else { return false };
        desk.choosing = Some(Choosing { chooser, then: Box::new(then), ready, letter: None });
        true
    }

    /// Something was pressed or pasted: where a list is open, it is meant for the list. Returns then whether to leave.
    pub(super) fn chosen(&mut self, input: &Input) -> Option<bool> {
        let desk = self.desk.as_mut()?;
        let mut open = desk.choosing.take()?;
        let now = Instant::now();
        if open.ready.is_some_and(|ready| now < ready) && !is_escape(input) {
            open.ready = Some(now + PAUSE);
            desk.choosing = Some(open);
            type_ahead(&mut desk.editor, input);
            return Some(false);
        }
        if open.ready.is_some() && is_text(input) {
            match letter_of(input).filter(|letter| open.letter.is_none() && open.chooser.mark(*letter)) {
                Some(letter) => {
                    open.letter = Some(letter);
                    desk.choosing = Some(open);
                }
                // Somebody writes a message: it is in the line from its first letter on, and nothing is chosen.
                None => {
                    let first = open.letter.map(|letter| Input::Paste(letter.to_string()));
                    first.iter().chain([input]).for_each(|input| type_ahead(&mut desk.editor, input));
                }
            }
            return Some(false);
        }
        // Up is for an earlier message, too: Enter behind it must choose nothing here.
        if open.ready.is_some() && open.chooser.has_letters() && is_up_or_down(input) {
            return None;
        }
        open.letter = None;
        match open.chooser.input(input) {
            Choice::Open => desk.choosing = Some(open),
            Choice::Taken(at) => return Some((open.then)(self, at)),
            Choice::Left => {}
        }
        Some(false)
    }

    /// Closes the list without a choice. Returns whether one was open.
    pub(super) fn close_list(&mut self) -> bool {
        self.desk.as_mut().and_then(|desk| desk.choosing.take()).is_some()
    }
}

fn is_escape(input: &Input) -> bool {
    matches!(input, Input::Key(key) if key.code == KeyCode::Escape)
}

fn is_up_or_down(input: &Input) -> bool {
    let Input::Key(key) = input else { return false };
    match key.code {
        KeyCode::Up | KeyCode::Down | KeyCode::PageUp | KeyCode::PageDown => true,
        KeyCode::Char(letter) => key.modifiers.contains(Modifiers::CONTROL) && matches!(letter, 'p' | 'n' | 'r'),
        _ => false,
    }
}

fn letter_of(input: &Input) -> Option<char> {
    let Input::Key(key) = input else { return None };
    match key.code {
        KeyCode::Char(letter) if !key.modifiers.intersects(Modifiers::CONTROL | Modifiers::ALT) => Some(letter),
        _ => None,
    }
}

/// Whether it would stand in the line.
fn is_text(input: &Input) -> bool {
    match input {
        Input::Key(key) => key.kind != KeyEventKind::Release && letter_of(input).is_some(),
        Input::Paste(_) => true,
        Input::PasteWaits { .. } => false,
    }
}

/// A list that has just appeared was not read.
const DEAD_TIME: Duration = Duration::from_millis(300);
/// Who is typing goes on for a while.
const PAUSE: Duration = Duration::from_millis(500);
