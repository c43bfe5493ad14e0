//! The answer while it comes.

use super::View;
use crate::screen::terminal::{put, size};

impl View {
    pub(super) fn piece(&mut self, text: &str) {
        self.thought();
        self.showed_pieces = true;
        let text = self.letters.push(text);
        self.write(&text);
    }

    /// What waited for more of a letter.
    pub(super) fn end_letter(&mut self) {
        let rest = self.letters.rest();
        if !rest.is_empty() {
            self.write(&rest);
        }
    }

    fn write(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        // That it is lost is seen where the work is watched.
        let _ = if let Some(markdown) = &mut self.markdown {
            let spans = markdown.push(text, size().0);
            self.in_line = markdown.is_in_row();
            self.style.put(&spans)
        } else {
            self.in_line = !text.ends_with('\n');
            put(text)
        };
    }

    /// What of the answer waited for more is shown as it is.
    pub(super) fn end_answer(&mut self) {
        self.end_letter();
        if let Some(markdown) = &mut self.markdown {
            let spans = markdown.end();
            self.in_line |= !spans.is_empty();
            self.in_line &= spans.last().is_none_or(|span| !span.text.ends_with('\n'));
            let _ = self.style.put(&spans);
        }
    }

    /// An answer that is stopped ends where it stands.
    pub(crate) fn break_off(&mut self) {
        self.end_answer();
        self.end_line();
    }

    /// Nothing more of the answer comes.
    pub(super) fn rested(&mut self) {
        if std::mem::take(&mut self.showed_pieces) {
            self.break_off();
        }
    }
}
