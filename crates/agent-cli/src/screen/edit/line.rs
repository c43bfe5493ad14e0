//! The text that is edited, and the cursor in it.
//!
//! A cell is what one step of the cursor passes: a grapheme cluster, a line break, or a whole paste. So the cursor cannot stand within a
//! letter.

use crate::screen::terminal::inline;
use std::mem;
use std::sync::Arc;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// What one step of the cursor passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    /// What is sent. Undo keeps many lines, and a paste may be long: they share it.
    text: Arc<str>,
    /// What is shown where that is something else.
    shown: Option<String>,
    is_paste: bool,
}

impl Cell {
    fn letter(text: &str) -> Self {
        let shown = match text {
            "\n" => String::new(),
            "\t" => String::from("    "),
            _ => inline(text),
        };
        Self { text: text.into(), shown: (shown != text).then_some(shown), is_paste: false }
    }

    /// A long paste: its place is taken by words that say how long it is.
    fn paste(text: &str) -> Self {
        let shown = match text.lines().count() {
            0 | 1 => format!("[Pasted {} characters]", text.chars().count()),
            lines => format!("[Pasted {lines} lines]"),
        };
        Self { text: text.into(), shown: Some(shown), is_paste: true }
    }

    /// What is shown of it. A line break shows nothing: it ends the row.
    pub(crate) fn shown(&self) -> &str {
        self.shown.as_deref().unwrap_or(&self.text)
    }

    /// Columns that it takes.
    pub(crate) fn width(&self) -> usize {
        self.shown().width()
    }

    pub(crate) fn is_break(&self) -> bool {
        &*self.text == "\n" && !self.is_paste
    }

    fn is_in_word(&self) -> bool {
        self.is_paste || self.text.chars().any(|c| c.is_alphanumeric() || c == '_')
    }

    /// Blanks, letters and signs.
    fn class(&self) -> u8 {
        match (self.is_blank(), self.is_in_word()) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 2,
        }
    }

    fn is_blank(&self) -> bool {
        !self.is_paste && self.text.chars().all(char::is_whitespace)
    }
}

/// A text, its cursor, what undo brings back and what yank inserts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    cells: Vec<Cell>,
    cursor: usize,
    undo: Vec<(Vec<Cell>, usize)>,
    killed: Vec<Cell>,
    /// Whether the last change was a letter: letters in a row are undone together.
    is_typing: bool,
}

impl Line {
    pub(crate) fn cells(&self) -> &[Cell] {
        &self.cells
    }

    pub(crate) const fn cursor(&self) -> usize {
        self.cursor
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// What is sent.
    pub(crate) fn text(&self) -> String {
        self.cells.iter().map(|cell| &*cell.text).collect()
    }

    /// What is sent of the cells before the cursor.
    pub(crate) fn before(&self) -> String {
        self.cells.iter().take(self.cursor).map(|cell| &*cell.text).collect()
    }

    /// The last cell before the cursor, as it is sent.
    pub(crate) fn last_before(&self) -> &str {
        self.cursor.checked_sub(1).and_then(|at| self.cells.get(at)).map_or("", |cell| &cell.text)
    }

    /// Replaces all of it, as one step of undo.
    pub(crate) fn set(&mut self, text: &str) {
        self.keep();
        self.cells = cells(&with_line_feeds(text));
        self.cursor = self.cells.len();
    }

    /// Empties it for the next message; what was killed can still be inserted.
    pub(crate) fn take(&mut self) -> String {
        let text = self.text();
        *self = Self { killed: mem::take(&mut self.killed), ..Self::default() };
        text
    }

    /// Inserts what was typed or completed.
    pub(crate) fn insert(&mut self, text: &str) {
        if !self.is_typing {
            self.keep();
        }
        self.is_typing = text.chars().all(char::is_alphanumeric);
        self.put(&with_line_feeds(text));
    }

    /// Inserts what was pasted: a long text as one cell.
    pub(crate) fn paste(&mut self, text: &str) {
        let text = &with_line_feeds(text);
        self.keep();
        if text.lines().count() > SHOWN_PASTED_LINES || text.len() > SHOWN_PASTED_BYTES {
            self.cells.insert(self.cursor, Cell::paste(text));
            self.cursor += 1;
        } else {
            self.put(text);
        }
    }

    /// Inserts these texts before all that is there, each on a row of its own; the cursor goes to the end.
    pub(crate) fn give_back(&mut self, texts: &[String]) {
        let rest = !self.is_empty();
        self.cursor = 0;
        for (at, text) in texts.iter().enumerate() {
            self.paste(text);
            if rest || at + 1 < texts.len() {
                self.insert("\n");
            }
        }
        self.cursor = self.cells.len();
    }

    /// Puts a text at the cursor. With its neighbours it may make other letters: an accent joins the letter before it, and a half of a flag
    /// changes all the flags behind it.
    fn put(&mut self, text: &str) {
        let is_letter = |cell: &&Cell| !cell.is_paste && !cell.is_break();
        let before = self.cursor.checked_sub(1).filter(|at| self.cells.get(*at).as_ref().is_some_and(is_letter));
        let start = before.unwrap_or(self.cursor);
        let head = before.and_then(|at| self.cells.get(at)).map_or("", |cell| &cell.text);
        let mut joined = cells(&format!("{head}{text}"));
        let until = head.len() + text.len();
        let mut end = self.cursor;
        while let (Some(last), Some(next)) = (joined.last(), self.cells.get(end).filter(is_letter)) {
            let both = cells(&format!("{}{}", last.text, next.text));
            if both.first() == Some(last) {
                break;
            }
            joined.pop();
            joined.extend(both);
            end += 1;
        }
        let mut passed = 0;
        let cursor = joined.iter().take_while(|cell| (passed < until, passed += cell.text.len()).0).count();
        self.cells.splice(start..end, joined);
        self.cursor = start + cursor;
    }

    /// Takes back the last change. Returns whether there was one.
    pub(crate) fn undo(&mut self) -> bool {
        self.is_typing = false;
        let Some((cells, cursor)) = self.undo.pop() else { return false };
        (self.cells, self.cursor) = (cells, cursor);
        true
    }

    pub(crate) fn move_to(&mut self, to: Move) {
        self.is_typing = false;
        self.cursor = self.target(to);
    }

    /// Removes what lies between the cursor and there.
    pub(crate) fn delete(&mut self, to: Move) {
        drop(self.removed(to));
    }

    /// The same, and keeps it for [`yank`](Self::yank).
    pub(crate) fn kill(&mut self, to: Move) {
        if let Some(killed) = self.removed(to) {
            self.killed = killed;
        }
    }

    /// Keeps what lies between the cursor and there, for [`yank`](Self::yank).
    pub(crate) fn copy(&mut self, to: usize) {
        self.is_typing = false;
        self.killed = self.cells.get(self.cursor..to).unwrap_or_default().to_vec();
    }

    /// The cell of the row that holds this letter, as often as that on from the cursor, or back.
    pub(crate) fn letter(&self, letter: char, is_onwards: bool, count: usize) -> Option<usize> {
        let is_it = |at: &usize| self.cells.get(*at).is_some_and(|cell| cell.text.chars().eq([letter]));
        let is_in_row = |at: &usize| self.cells.get(*at).is_some_and(|cell| !cell.is_break());
        let nth = count.checked_sub(1)?;
        if is_onwards {
            (self.cursor + 1..self.cells.len()).take_while(is_in_row).filter(is_it).nth(nth)
        } else {
            (0..self.cursor).rev().take_while(is_in_row).filter(is_it).nth(nth)
        }
    }

    /// Whether nothing more of the row stands behind the cursor.
    pub(crate) fn is_at_row_end(&self) -> bool {
        self.cells.get(self.cursor).is_none_or(Cell::is_break)
    }

    pub(crate) fn yank(&mut self) {
        if !self.killed.is_empty() {
            self.keep();
            let count = self.killed.len();
            self.cells.splice(self.cursor..self.cursor, self.killed.iter().cloned());
            self.cursor += count;
            self.join_all();
        }
    }

    /// Swaps the two letters before the cursor, or around it.
    pub(crate) fn transpose(&mut self) {
        let right = self.cursor.min(self.cells.len().saturating_sub(1));
        if right > 0 && self.cells.len() > 1 {
            self.keep();
            self.cells.swap(right - 1, right);
            self.cursor = right + 1;
            self.join_all();
        }
    }

    fn removed(&mut self, to: Move) -> Option<Vec<Cell>> {
        let target = self.target(to);
        let (start, end) = (self.cursor.min(target), self.cursor.max(target));
        if start == end {
            return None;
        }
        self.keep();
        let removed = self.cells.drain(start..end).collect();
        self.cursor = start;
        self.join_all();
        Some(removed)
    }

    /// Cells that came to stand side by side may make one letter.
    fn join_all(&mut self) {
        let (mut joined, mut cursor, mut run) = (Vec::with_capacity(self.cells.len()), None, String::new());
        let (cells_before, at) = (mem::take(&mut self.cells), self.cursor);
        let mut cursor_byte = None;
        let mut flush = |run: &mut String, byte: &mut Option<usize>, joined: &mut Vec<Cell>| {
            let mut passed = 0;
            let begin = joined.len();
            let letters = cells(run);
            if let Some(byte) = byte.take() {
                let count = letters.iter().take_while(|cell| (passed < byte, passed += cell.text.len()).0).count();
                cursor = Some(begin + count);
            }
            joined.extend(letters);
            run.clear();
        };
        for (index, cell) in cells_before.into_iter().enumerate() {
            if index == at {
                cursor_byte = Some(run.len());
            }
            if cell.is_paste {
                flush(&mut run, &mut cursor_byte, &mut joined);
                joined.push(cell);
            } else {
                run.push_str(&cell.text);
            }
        }
        flush(&mut run, &mut cursor_byte, &mut joined);
        self.cursor = cursor.unwrap_or(joined.len());
        self.cells = joined;
    }

    fn target(&self, to: Move) -> usize {
        let last = self.cells.len();
        let backwards = |from: usize, is_passed: &dyn Fn(&Cell) -> bool| {
            let passed = self.cells.iter().take(from).rev().take_while(|cell| is_passed(cell)).count();
            from - passed
        };
        let onwards = |from: usize, is_passed: &dyn Fn(&Cell) -> bool| {
            from + self.cells.iter().skip(from).take_while(|cell| is_passed(cell)).count()
        };
        match to {
            Move::Left => self.cursor.saturating_sub(1),
            Move::Right => (self.cursor + 1).min(last),
            Move::WordLeft => backwards(backwards(self.cursor, &|cell| !cell.is_in_word()), &Cell::is_in_word),
            Move::WordRight => onwards(onwards(self.cursor, &|cell| !cell.is_in_word()), &Cell::is_in_word),
            Move::BlankLeft => backwards(backwards(self.cursor, &Cell::is_blank), &|cell| !cell.is_blank()),
            Move::RowStart => backwards(self.cursor, &|cell| !cell.is_break()),
            Move::RowEnd => onwards(self.cursor, &|cell| !cell.is_break()),
            Move::RightInRow => self.cursor + usize::from(!self.is_at_row_end()),
            Move::RowText => onwards(self.target(Move::RowStart), &|cell| cell.is_blank() && !cell.is_break()),
            Move::NextWord => {
                let here = self.cells.get(self.cursor).map(Cell::class);
                let end = onwards(self.cursor, &|cell| !cell.is_blank() && Some(cell.class()) == here);
                onwards(end, &Cell::is_blank)
            }
            Move::WordEnd => {
                let start = onwards((self.cursor + 1).min(last), &Cell::is_blank);
                let here = self.cells.get(start).map(Cell::class);
                let end = onwards(start, &|cell| Some(cell.class()) == here);
                end.saturating_sub(1).max(self.cursor)
            }
            Move::WordBack => {
                let end = backwards(self.cursor, &Cell::is_blank);
                let here = end.checked_sub(1).and_then(|at| self.cells.get(at)).map(Cell::class);
                backwards(end, &|cell| Some(cell.class()) == here)
            }
            Move::Start => 0,
            Move::End => last,
            Move::To(cell) => cell.min(last),
        }
    }

    fn keep(&mut self) {
        self.is_typing = false;
        if self.undo.len() == MOST_UNDO {
            self.undo.remove(0);
        }
        self.undo.push((self.cells.clone(), self.cursor));
    }
}

/// Where to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    Left,
    Right,
    /// To the start of this word or the one before.
    WordLeft,
    /// To the end of this word or the next.
    WordRight,
    /// To the blank before.
    BlankLeft,
    RowStart,
    RowEnd,
    /// To the first letter of the row.
    RowText,
    RightInRow,
    /// As vi has words: letters, or signs, between blanks. To the start of the next, to the end of this or the next, to the start of this
    /// or the one before.
    NextWord,
    WordEnd,
    WordBack,
    Start,
    End,
    /// To this cell.
    To(usize),
}

fn cells(text: &str) -> Vec<Cell> {
    text.graphemes(true).map(Cell::letter).collect()
}

/// A terminal pastes carriage returns for line ends.
fn with_line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// A paste with more lines or bytes is shown as a placeholder.
const SHOWN_PASTED_LINES: usize = 6;
const SHOWN_PASTED_BYTES: usize = 1_000;
const MOST_UNDO: usize = 200;
