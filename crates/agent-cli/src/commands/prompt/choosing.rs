//! A list at the prompt from which the person chooses: it has the rows at the bottom and the keys until then, and what stood in the line is
//! there again behind it.

use super::Screen;
use crate::screen::choose::{Choice, Chooser};
use crate::screen::edit::editor::Input;

/// A list that is open, and what follows from the choice.
pub(super) struct Choosing {
    pub(super) chooser: Chooser,
    then: Then,
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
        let Some(desk) = &mut self.desk else { return false };
        desk.choosing = Some(Choosing { chooser, then: Box::new(then) });
        true
    }

    /// Something was pressed or pasted: where a list is open, it is meant for the list. Returns then whether to leave.
    pub(super) fn chosen(&mut self, input: &Input) -> Option<bool> {
        let desk = self.desk.as_mut()?;
        let mut open = desk.choosing.take()?;
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
