//! What keys mean at the prompt.

use super::completion::{Completions, Found, common_start};
use super::history::History;
use super::layout::{Rows, around_cursor, laid_out, unseen};
use super::line::{Line, Move};
use super::search::Search;
use super::vi::Vi;
use crate::screen::terminal::inline;
use std::mem;
use termina::event::{KeyCode, KeyEvent, KeyEventKind, Modifiers};

/// What a person did at the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Key(KeyEvent),
    Paste(String),
    /// A paste has begun and paused: these many bytes of it have come.
    PasteWaits {
        bytes: usize,
    },
}

/// What is asked for with it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Wish {
    /// Nothing but to see it.
    None,
    /// To send this.
    Send { text: String, shown: String },
    /// To send it once the work that goes on has ended; at rest it begins a new row.
    SendLater,
    /// To leave: Ctrl-D on an empty line.
    Leave,
    /// To stop what goes on: Esc.
    Stop,
    /// To write the text in a program of its own.
    Write,
    /// The next permission mode: Shift-Tab.
    NextMode,
    /// To see what was left out: Ctrl-O.
    Unfold,
}

/// The line, and what it can be filled from.
#[derive(Debug)]
pub(crate) struct Editor {
    label: String,
    pub(super) line: Line,
    /// Where the person wants the keys of vi.
    pub(super) vi: Option<Vi>,
    pub(super) history: History,
    /// The entry of the history that is shown; behind the last one there is the draft.
    pub(super) at: usize,
    pub(super) draft: Line,
    pub(super) search: Option<Search>,
    completions: Completions,
    /// What Tab found last, and which of it stands in the line.
    found: Option<(Found, Option<usize>)>,
    /// What was being written when a question came.
    pub(super) interrupted: Option<Line>,
    /// Bytes of a paste that has paused.
    waiting_paste_bytes: Option<usize>,
    columns: usize,
}

impl Editor {
    pub(crate) fn new(history: History, completions: Completions) -> Self {
        let at = history.entries().len();
        Self {
            label: String::new(),
            line: Line::default(),
            vi: None,
            history,
            at,
            draft: Line::default(),
            search: None,
            completions,
            found: None,
            interrupted: None,
            waiting_paste_bytes: None,
            columns: 80,
        }
    }

    /// Tab completes these commands from now on.
    pub(crate) fn know_commands<'a>(&mut self, names: impl Iterator<Item = &'a str>) {
        self.completions.commands = names.map(|name| format!("/{name}")).collect();
    }

    /// Tab completes these, too, each of which begins with its sign.
    pub(crate) fn know_offers(&mut self, offers: Vec<String>) {
        self.completions.offers = offers;
    }

    /// Keys mean from now on what they mean in vi.
    pub(crate) fn use_vi(&mut self) {
        self.vi = Some(Vi::default());
    }

    pub(crate) const fn line(&self) -> &Line {
        &self.line
    }

    /// What is being written, also while a question waits for its answer.
    pub(crate) fn draft(&self) -> &Line {
        self.interrupted.as_ref().unwrap_or(&self.line)
    }

    pub(crate) fn set_label(&mut self, label: &str) {
        label.clone_into(&mut self.label);
    }

    /// Puts the text away while a question is answered: it is no answer.
    pub(crate) fn begin_answer(&mut self) {
        if self.interrupted.is_none() {
            self.leave_search();
            self.interrupted = Some(mem::take(&mut self.line));
        }
    }

    /// A person types on over a question that has just come: the letter belongs to the text that was put away, if there is one.
    pub(crate) fn type_on(&mut self, letter: char) {
        if self.interrupted.as_ref().is_some_and(|line| !line.is_empty()) {
            self.begin_message(letter);
        }
    }

    /// The same, where the letter may begin a text.
    pub(crate) fn begin_message(&mut self, letter: char) {
        if let Some(line) = &mut self.interrupted {
            line.insert(letter.encode_utf8(&mut [0; 4]));
        }
    }

    /// Brings it back.
    pub(crate) fn end_answer(&mut self) {
        if let Some(line) = self.interrupted.take() {
            self.line = line;
        }
    }

    /// Empties the line; undo brings it back.
    pub(crate) fn clear(&mut self) {
        (self.search, self.found, self.waiting_paste_bytes) = (None, None, None);
        self.line.set("");
        self.at = self.history.entries().len();
    }

    /// Whether nothing stands in the line, and nothing is looked for.
    pub(crate) fn is_blank(&self) -> bool {
        self.line.is_empty() && self.search.is_none() && self.interrupted.is_none()
    }

    /// Messages that came back stand in the line again, a row each, before what was typed since.
    pub(crate) fn give_back(&mut self, texts: &[String]) {
        self.leave_search();
        self.found = None;
        self.at = self.history.entries().len();
        self.interrupted.as_mut().unwrap_or(&mut self.line).give_back(texts);
    }

    /// What an external editor made of the text.
    pub(crate) fn replace(&mut self, text: &str) {
        self.line.set(text);
    }

    /// Keeps what was sent.
    pub(crate) fn remember(&mut self, text: &str) {
        self.history.add(text);
        self.at = self.history.entries().len();
    }

    /// The rows that show it, no more than a height has room for; and what else there is to know, below.
    pub(crate) fn rows(&mut self, columns: usize, height: usize) -> (Rows, Option<String>) {
        self.columns = columns;
        let whole = laid_out(&self.shown_label(), &self.line, columns);
        let unseen = unseen(&whole, height);
        let rows = around_cursor(whole, height);
        if let Some(bytes) = self.waiting_paste_bytes {
            return (rows, Some(format!("pasting: {bytes} bytes so far; Ctrl-C drops the paste")));
        }
        let mode = self.vi.and_then(Vi::hint).map(ToOwned::to_owned);
        let hint = self.found.as_ref().filter(|(found, _)| found.choices.len() > 1);
        (rows, hint.map(|(found, _)| inline(&found.choices.join("  "))).or(unseen).or(mode))
    }

    fn shown_label(&self) -> String {
        match &self.search {
            Some(search) if search.is_in_vain() => format!("(no message has `{}`) ", inline(&search.query)),
            Some(search) => format!("(search `{}`) ", inline(&search.query)),
            None => self.label.clone(),
        }
    }

    /// The line as it stays on the screen once it is sent.
    fn shown(&self) -> String {
        let shown =
            |cell: &super::line::Cell| if cell.is_break() { "\n  ".to_owned() } else { cell.shown().to_owned() };
        self.line.cells().iter().map(shown).collect()
    }

    pub(crate) fn input(&mut self, input: &Input) -> Wish {
        self.waiting_paste_bytes = None;
        match input {
            Input::PasteWaits { bytes } => {
                self.waiting_paste_bytes = Some(*bytes);
                Wish::None
            }
            Input::Paste(text) => {
                self.leave_search();
                self.found = None;
                self.line.paste(text);
                Wish::None
            }
            Input::Key(key) if key.kind == KeyEventKind::Release => Wish::None,
            Input::Key(key) if self.search.is_some() => self.search_key(*key),
            Input::Key(key) => self.key(*key),
        }
    }

    pub(super) fn key(&mut self, key: KeyEvent) -> Wish {
        if key.code == KeyCode::BackTab {
            return Wish::NextMode;
        }
        if key.code == KeyCode::Tab {
            self.complete();
            return Wish::None;
        }
        self.found = None;
        if let Some(wish) = self.vi_key(key) {
            return wish;
        }
        let is = |modifier| key.modifiers.contains(modifier);
        let (control, alt) = (is(Modifiers::CONTROL), is(Modifiers::ALT));
        match key.code {
            KeyCode::Enter if alt && self.interrupted.is_none() => return Wish::SendLater,
            KeyCode::Enter if alt || control || is(Modifiers::SHIFT) => self.begin_row(),
            KeyCode::Enter => return self.enter(),
            KeyCode::Escape => return Wish::Stop,
            KeyCode::Char(c) if control && !alt => return self.control(c),
            KeyCode::Char(c) if alt && !control => self.alt(c),
            KeyCode::Char(c) if !control => self.line.insert(c.encode_utf8(&mut [0; 4])),
            KeyCode::Backspace if alt || control => self.line.kill(Move::WordLeft),
            KeyCode::Backspace => self.line.delete(Move::Left),
            KeyCode::Delete if alt || control => self.line.kill(Move::WordRight),
            KeyCode::Delete => self.line.delete(Move::Right),
            KeyCode::Left => self.line.move_to(if alt || control { Move::WordLeft } else { Move::Left }),
            KeyCode::Right => self.line.move_to(if alt || control { Move::WordRight } else { Move::Right }),
            KeyCode::Home => self.line.move_to(if control { Move::Start } else { Move::RowStart }),
            KeyCode::End => self.line.move_to(if control { Move::End } else { Move::RowEnd }),
            KeyCode::Up => self.up(),
            KeyCode::Down => self.down(),
            // Keys without a meaning have none, and none of their bytes becomes text.
            _ => {}
        }
        Wish::None
    }

    fn control(&mut self, c: char) -> Wish {
        match c {
            'a' => self.line.move_to(Move::RowStart),
            'b' => self.line.move_to(Move::Left),
            'd' if self.line.is_empty() => return Wish::Leave,
            'd' => self.line.delete(Move::Right),
            'e' => self.line.move_to(Move::RowEnd),
            'f' => self.line.move_to(Move::Right),
            'g' => return Wish::Write,
            'h' => self.line.delete(Move::Left),
            'j' => self.line.insert("\n"),
            'k' => self.line.kill(Move::RowEnd),
            'n' => self.down(),
            'o' => return Wish::Unfold,
            'p' => self.up(),
            'r' => self.begin_search(),
            't' => self.line.transpose(),
            'u' => self.line.kill(Move::RowStart),
            'w' => self.line.kill(Move::BlankLeft),
            'y' => self.line.yank(),
            // The same byte has all three names.
            '_' | '/' | '7' => drop(self.line.undo()),
            _ => {}
        }
        Wish::None
    }

    fn alt(&mut self, c: char) {
        match c {
            'b' => self.line.move_to(Move::WordLeft),
            'f' => self.line.move_to(Move::WordRight),
            'd' => self.line.kill(Move::WordRight),
            '<' => self.line.move_to(Move::Start),
            '>' => self.line.move_to(Move::End),
            _ => {}
        }
    }

    /// Sends the line, or goes on with it on the next row after a `\`.
    fn enter(&mut self) -> Wish {
        if self.interrupted.is_none() && self.line.last_before() == "\\" {
            self.line.delete(Move::Left);
            self.begin_row();
            return Wish::None;
        }
        self.send()
    }

    /// Begins a new row of the message.
    pub(crate) fn begin_row(&mut self) {
        self.line.insert("\n");
    }

    /// The line as it is, which is empty then.
    pub(crate) fn send(&mut self) -> Wish {
        self.at = self.history.entries().len();
        let shown = self.shown();
        Wish::Send { text: self.line.take(), shown: format!("{}{shown}", self.label) }
    }

    pub(super) fn up(&mut self) {
        if !self.moves_by_row(false) && self.interrupted.is_none() {
            self.show_entry(self.at.checked_sub(1));
        }
    }

    pub(super) fn down(&mut self) {
        if !self.moves_by_row(true) && self.interrupted.is_none() {
            self.show_entry(Some(self.at + 1).filter(|at| *at <= self.history.entries().len()));
        }
    }

    /// Moves the cursor to the row before or after, where there is one.
    fn moves_by_row(&mut self, is_down: bool) -> bool {
        let rows = laid_out(&self.shown_label(), &self.line, self.columns);
        let (row, column) = rows.cursor;
        let row = if is_down { Some(row + 1) } else { row.checked_sub(1) };
        let place = row.and_then(|row| rows.nearest(row, column));
        place.is_some_and(|place| (self.line.move_to(Move::To(place)), true).1)
    }

    fn show_entry(&mut self, at: Option<usize>) {
        let Some(at) = at else { return };
        if self.at == self.history.entries().len() {
            self.draft = self.line.clone();
        }
        match self.history.entries().get(at) {
            Some(text) => self.line.set(text),
            None => self.line = mem::take(&mut self.draft),
        }
        self.at = at;
    }

    /// Puts in what all choices begin with; then one after the other.
    fn complete(&mut self) {
        if let Some((found, chosen)) = self.found.take()
            && found.choices.len() > 1
        {
            let next = chosen.map_or(0, |chosen| (chosen + 1) % found.choices.len());
            let standing =
                chosen.and_then(|chosen| found.choices.get(chosen)).map_or(found.word.as_str(), String::as_str);
            let choice = found.choices.get(next).cloned().unwrap_or_default();
            self.put_for(standing, &choice);
            self.found = Some((found, Some(next)));
            return;
        }
        let Some(mut found) = self.completions.of(&self.line.before()) else { return };
        let common = common_start(&found.choices).to_owned();
        if common.len() > found.word.len() && (common.starts_with(&found.word) || found.choices.len() == 1) {
            self.put_for(&found.word, &common);
            found.word = common;
        }
        if let [only] = found.choices.as_slice() {
            if !only.ends_with('/') {
                self.line.insert(" ");
            }
            return;
        }
        self.found = Some((found, None));
    }

    /// Puts a text in the place of the word that stands before the cursor.
    fn put_for(&mut self, word: &str, text: &str) {
        let cells = unicode_segmentation::UnicodeSegmentation::graphemes(word, true).count();
        self.line.delete(Move::To(self.line.cursor().saturating_sub(cells)));
        self.line.insert(text);
    }
}
