//! Words in rows.

use crate::screen::terminal::{Look, Span, inline};
use std::mem;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// Rows while they are made.
#[derive(Debug, Default)]
pub(super) struct Page {
    columns: usize,
    out: Vec<Span>,
    /// Where the row ends that is open.
    column: usize,
    /// What is put before the first row of a line, and before the next ones.
    first: String,
    next: String,
    /// A word that may go on.
    word: Vec<Span>,
    word_width: usize,
    /// Whether a blank stands before it.
    has_blank: bool,
    /// How it looks what was given out last.
    last: Option<Look>,
}

impl Page {
    /// The terminal's width. A row that is as wide as the terminal is never begun: where the cursor stands behind it, terminals disagree.
    pub(super) fn set_columns(&mut self, columns: usize) {
        self.columns = columns.saturating_sub(1).max(NARROWEST);
    }

    pub(super) const fn columns(&self) -> usize {
        self.columns
    }

    pub(super) const fn is_in_row(&self) -> bool {
        self.column > 0
    }

    pub(super) fn taken(&mut self) -> Vec<Span> {
        mem::take(&mut self.out)
    }

    /// Begins a line: so far to the right, with this before its first row. Its other rows stand below its text.
    pub(super) fn begin(&mut self, indent: usize, before: &str, is_repeated: bool) {
        let indent = " ".repeat(if indent + before.width() + NARROWEST > self.columns { 0 } else { indent });
        self.first = format!("{indent}{before}");
        self.next = if is_repeated { self.first.clone() } else { " ".repeat(self.first.width()) };
        let first = mem::take(&mut self.first);
        self.put(&first, Look::Dim);
    }

    /// Text of the line, part of which may be a part of a word.
    pub(super) fn text(&mut self, text: &str, look: Look) {
        for letter in text.graphemes(true) {
            if letter.chars().all(char::is_whitespace) {
                self.end_word();
                self.has_blank |= self.column > self.next.width();
                continue;
            }
            let shown = inline(letter);
            let width = shown.width();
            // Between letters as wide as these a row may end anywhere.
            if width > 1 && shown == letter {
                self.end_word();
            }
            self.add(&shown, width, look);
            if width > 1 && shown == letter || self.word_width + self.next.width() >= self.columns {
                self.end_word();
            }
        }
    }

    fn add(&mut self, shown: &str, width: usize, look: Look) {
        match self.word.last_mut().filter(|span| span.look == look) {
            Some(span) => span.text.push_str(shown),
            None => self.word.push(Span { text: shown.to_owned(), look }),
        }
        self.word_width += width;
    }

    /// Puts the word into the row, or into the next one.
    pub(super) fn end_word(&mut self) {
        if self.word.is_empty() {
            return;
        }
        if self.column == 0 {
            let next = self.next.clone();
            self.put(&next, Look::Dim);
        }
        let blank = usize::from(mem::take(&mut self.has_blank));
        if self.column > self.next.width() && self.column + blank + self.word_width > self.columns {
            self.put("\n", Look::Plain);
            let next = self.next.clone();
            self.put(&next, Look::Dim);
        } else if blank > 0 {
            // Between two words that look the same it does, too.
            let look = self.word.first().map(|span| span.look).filter(|look| self.last == Some(*look));
            self.put(" ", look.unwrap_or(Look::Plain));
        }
        for Span { text, look } in mem::take(&mut self.word) {
            self.put(&text, look);
        }
        self.word_width = 0;
    }

    /// A text that keeps its row, however wide.
    pub(super) fn as_it_is(&mut self, text: &str, look: Look) {
        self.put(text, look);
    }

    /// Ends the row, and the line.
    pub(super) fn end_row(&mut self) {
        self.end_word();
        self.put("\n", Look::Plain);
        self.begin_anew();
    }

    /// The next word begins a row of the same line.
    pub(super) const fn break_row(&mut self) {
        (self.column, self.has_blank) = (0, false);
    }

    /// The next word begins a row, and a line.
    pub(super) fn begin_anew(&mut self) {
        (self.column, self.has_blank) = (0, false);
        self.next.clear();
    }

    /// A line across.
    pub(super) fn rule(&mut self) {
        let width = self.columns.min(WIDEST_RULE);
        self.put(&"─".repeat(width), Look::Dim);
        self.end_row();
    }

    fn put(&mut self, text: &str, look: Look) {
        if text.is_empty() {
            return;
        }
        self.last = Some(look);
        self.column = if text == "\n" { 0 } else { self.column + text.width() };
        match self.out.last_mut().filter(|span| span.look == look) {
            Some(span) => span.text.push_str(text),
            None => self.out.push(Span { text: text.to_owned(), look }),
        }
    }
}

const NARROWEST: usize = 8;
const WIDEST_RULE: usize = 40;
