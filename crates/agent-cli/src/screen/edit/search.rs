//! Searching the history: Ctrl-R, and `/` of vi.

use super::editor::{Editor, Wish};
use super::line::Line;
use termina::event::{KeyCode, KeyEvent, Modifiers};

/// A search in the history.
#[derive(Debug)]
pub(super) struct Search {
    pub(super) query: String,
    /// The entry that is shown.
    pub(super) hit: Option<usize>,
    before: Line,
}

impl Search {
    /// Whether no entry has what is looked for.
    pub(super) const fn is_in_vain(&self) -> bool {
        !self.query.is_empty() && self.hit.is_none()
    }

    /// Small letters find capitals, too.
    fn is_in(&self, entry: &str) -> bool {
        let has_capitals = self.query.chars().any(char::is_uppercase);
        !self.query.is_empty()
            && if has_capitals { entry.contains(&self.query) } else { entry.to_lowercase().contains(&self.query) }
    }
}

impl Editor {
    pub(super) fn begin_search(&mut self) {
        if self.interrupted.is_none() {
            let before = self.line.clone();
            self.search = Some(Search { query: String::new(), hit: None, before });
        }
    }

    pub(super) fn search_key(&mut self, key: KeyEvent) -> Wish {
        let is_control = key.modifiers.contains(Modifiers::CONTROL);
        match key.code {
            KeyCode::Char('r') if is_control => self.find_before(self.search.as_ref().and_then(|search| search.hit)),
            KeyCode::Char('g') if is_control => {
                if let Some(search) = self.search.take() {
                    self.line = search.before;
                }
            }
            KeyCode::Char(c) if !is_control && !key.modifiers.contains(Modifiers::ALT) => {
                self.search.iter_mut().for_each(|search| search.query.push(c));
                // What is shown may match the longer one, too.
                self.find_before(self.search.as_ref().and_then(|search| search.hit).map(|hit| hit + 1));
            }
            KeyCode::Backspace => {
                if let Some(search) = &mut self.search {
                    search.query.pop();
                }
                self.find_before(None);
            }
            KeyCode::Escape | KeyCode::Tab => self.leave_search(),
            // What was not found is not sent, and neither is what stood there before.
            KeyCode::Enter if self.search.as_ref().is_some_and(Search::is_in_vain) => self.leave_search(),
            _ => {
                self.leave_search();
                return self.key(key);
            }
        }
        Wish::None
    }

    /// Shows the newest entry before this one that holds what is looked for. Where none does, the one that is shown stays if it does.
    fn find_before(&mut self, before: Option<usize>) {
        let Some(search) = &mut self.search else { return };
        let entries = self.history.entries();
        let before = before.unwrap_or(entries.len()).min(entries.len());
        let mut older = entries.iter().enumerate().take(before).rev();
        let shown = search.hit.and_then(|at| entries.get(at).map(|entry| (at, entry)));
        let hit = older.find(|(_, entry)| search.is_in(entry)).or(shown.filter(|(_, entry)| search.is_in(entry)));
        search.hit = hit.map(|(at, _)| at);
        match hit.map(|(at, entry)| (at, entry.clone())) {
            Some((at, entry)) => {
                self.at = at;
                self.line.set(&entry);
            }
            None if search.query.is_empty() => self.line = search.before.clone(),
            None => self.line.set(""),
        }
    }

    /// What was found stays in the line; what stood there before is back where nothing was.
    pub(super) fn leave_search(&mut self) {
        let Some(search) = self.search.take() else { return };
        if search.hit.is_some() {
            self.draft = search.before;
        } else {
            self.line = search.before;
            self.at = self.history.entries().len();
        }
    }
}
