//! A list in the rows at the bottom, from which one entry is chosen: Up and Down move, what is typed leaves the entries that hold its
//! words, Enter takes one, Esc takes none.
//!
//! It reads no terminal and writes to none: keys go in, rows come out. [`ask`] plays it where no session has the terminal.

use crate::screen::edit::editor::Input;
use crate::screen::edit::layout::{Rows, around_cursor, cut, laid_out};
use crate::screen::edit::line::{Line, Move};
use crate::screen::keys::{Keys, next};
use crate::screen::signals;
use crate::screen::terminal::{self, KeyByKey, Region, clean, inline};
use std::io;
use termina::event::{KeyCode, KeyEvent, KeyEventKind, Modifiers};
use unicode_width::UnicodeWidthStr as _;

/// What there is to choose from, and where the person is in it.
#[derive(Clone, Debug)]
pub(crate) struct Chooser {
    title: String,
    /// As they are shown: nothing in them acts on a terminal, and each is one line.
    choices: Vec<String>,
    words: Line,
    /// Where one key chooses: the keys, one for each entry. Nothing is looked for then.
    letters: Vec<char>,
    /// Which of those that are left is marked.
    at: usize,
}

/// What a key led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Choice {
    /// Nothing is chosen yet.
    Open,
    /// This entry, as they were given.
    Taken(usize),
    /// None: the person goes back.
    Left,
}

impl Chooser {
    /// A list under a title; the entry `at` is marked first.
    pub(crate) fn new(title: &str, choices: impl IntoIterator<Item = impl AsRef<str>>, at: usize) -> Self {
        let shown = |choice: &str| inline(clean(choice).trim());
        let choices: Vec<String> = choices.into_iter().map(|choice| shown(choice.as_ref())).collect();
        let at = at.min(choices.len().saturating_sub(1));
        Self { title: inline(title), choices, words: Line::default(), letters: Vec::new(), at }
    }

    /// A few entries of which a key each chooses one.
    pub(crate) fn by_letter(title: &str, choices: impl IntoIterator<Item = (char, String)>, at: usize) -> Self {
        let (letters, choices): (Vec<char>, Vec<String>) =
            choices.into_iter().map(|(letter, choice)| (letter, format!("{letter}  {choice}"))).unzip();
        Self { letters, ..Self::new(title, choices, at) }
    }

    /// Whether a key each chooses an entry.
    pub(crate) const fn has_letters(&self) -> bool {
        !self.letters.is_empty()
    }

    /// Marks the entry that this key chooses. Returns whether there is one.
    pub(crate) fn mark(&mut self, letter: char) -> bool {
        let place = self.letters.iter().position(|own| *own == letter);
        self.at = place.unwrap_or(self.at);
        place.is_some()
    }

    pub(crate) fn input(&mut self, input: &Input) -> Choice {
        match input {
            Input::Key(key) if key.kind == KeyEventKind::Release => Choice::Open,
            Input::Key(key) => self.key(*key),
            Input::Paste(text) => self.narrowed(|words| words.insert(text.lines().next().unwrap_or_default())),
            Input::PasteWaits { .. } => Choice::Open,
        }
    }

    fn key(&mut self, key: KeyEvent) -> Choice {
        let is = |modifier| key.modifiers.contains(modifier);
        match key.code {
            KeyCode::Escape => return Choice::Left,
            KeyCode::Enter => return self.take(),
            KeyCode::Char(c) if is(Modifiers::CONTROL) => match c {
                // What Enter is where the terminal makes a line feed of it.
                'j' => return self.take(),
                'c' | 'd' | 'g' => return Choice::Left,
                'p' => self.go(-1),
                'n' => self.go(1),
                'h' => return self.narrowed(|words| words.delete(Move::Left)),
                'u' => return self.narrowed(|words| words.delete(Move::Start)),
                'w' => return self.narrowed(|words| words.delete(Move::BlankLeft)),
                _ => {}
            },
            KeyCode::Char(c) if !self.letters.is_empty() => {
                let place = self.letters.iter().position(|letter| *letter == c && !is(Modifiers::ALT));
                return place.map_or(Choice::Open, Choice::Taken);
            }
            KeyCode::Char(c) if !is(Modifiers::ALT) => {
                return self.narrowed(|words| words.insert(c.encode_utf8(&mut [0; 4])));
            }
            KeyCode::Backspace => return self.narrowed(|words| words.delete(Move::Left)),
            KeyCode::Up => self.go(-1),
            KeyCode::Down => self.go(1),
            KeyCode::PageUp => self.go(-PAGE),
            KeyCode::PageDown => self.go(PAGE),
            KeyCode::Home => self.go(isize::MIN),
            KeyCode::End => self.go(isize::MAX),
            _ => {}
        }
        Choice::Open
    }

    fn take(&self) -> Choice {
        self.left().get(self.at).map_or(Choice::Open, |at| Choice::Taken(*at))
    }

    /// Changes the words. The mark stays with its entry where that is left.
    fn narrowed(&mut self, change: impl FnOnce(&mut Line)) -> Choice {
        if !self.letters.is_empty() {
            return Choice::Open;
        }
        let before = self.left().get(self.at).copied();
        change(&mut self.words);
        let left = self.left();
        self.at = left.iter().position(|choice| Some(*choice) == before).unwrap_or(0);
        Choice::Open
    }

    /// The entries that hold every word that was typed, whatever its case.
    fn left(&self) -> Vec<usize> {
        let text = self.words.text().to_lowercase();
        let holds_all = |choice: &str| text.split_whitespace().all(|word| choice.contains(word));
        let choices = self.choices.iter().enumerate();
        choices.filter(|(_, choice)| holds_all(&choice.to_lowercase())).map(|(at, _)| at).collect()
    }

    fn go(&mut self, by: isize) {
        let last = self.left().len().saturating_sub(1);
        self.at = self.at.saturating_add_signed(by).min(last);
    }

    /// The title, which asks, with the words behind it. Where one key chooses there are no words, and a long title takes several rows.
    fn title_rows(&self, columns: usize) -> Rows {
        if self.letters.is_empty() {
            let title = cut(&self.title, columns.saturating_sub(FEWEST_COLUMNS_OF_WORDS));
            return around_cursor(laid_out(&format!("{title}: "), &self.words, columns), 1);
        }
        let mut rows: Vec<String> = vec![String::new()];
        for word in self.title.split(' ') {
            let row = rows.last().map_or(0, |row| row.width());
            match rows.last_mut() {
                Some(last) if row == 0 => last.push_str(&cut(word, columns.saturating_sub(1))),
                Some(last) if row + 2 + word.width() < columns => last.push_str(&format!(" {word}")),
                _ => rows.push(cut(word, columns.saturating_sub(1))),
            }
        }
        // The cursor stands behind it.
        rows.iter_mut().last().into_iter().for_each(|last| last.push(' '));
        let end = rows.last().map_or(0, |row| row.width()).min(columns.saturating_sub(1));
        Rows { cursor: (rows.len().saturating_sub(1), end), rows, places: Vec::new() }
    }

    /// The rows that show it: the title and the words, the entries around the mark, and which keys there are.
    pub(crate) fn region(&self, columns: usize, height: usize) -> Region {
        let rows = self.title_rows(columns);
        let left = self.left();
        // Where there is little room, the keys are known or tried.
        let keys = usize::from(height > FEWEST_ROWS_WITH_KEYS);
        let room = height.saturating_sub(rows.rows.len() + keys);
        let first = self.at.saturating_sub(room / 2).min(left.len().saturating_sub(room));
        let shown = left.iter().enumerate().skip(first).take(room);
        let mut below: Vec<String> = shown
            .map(|(place, choice)| {
                let mark = if place == self.at { "> " } else { "  " };
                let choice = self.choices.get(*choice).map_or("", String::as_str);
                cut(&format!("{mark}{choice}"), columns)
            })
            .collect();
        let marked = self.at.checked_sub(first).filter(|row| *row < below.len());
        let how_far = match left.len() {
            0 => String::from("none has these words"),
            all => format!("{} of {all}", self.at + 1),
        };
        below.extend((keys > 0).then(|| cut(&format!("{how_far} · Enter chooses · Esc closes"), columns)));
        Region { rows: rows.rows, cursor: rows.cursor, below, marked }
    }
}

/// Has the person choose at the terminal, where no session has it. Nothing where none is chosen.
///
/// # Errors
/// Standard input is no terminal.
pub(crate) fn ask(mut chooser: Chooser, is_coloured: bool) -> io::Result<Option<usize>> {
    signals::end_in_order().map_err(io::Error::other)?;
    let _terminal = KeyByKey::take()?;
    let _rows = terminal::Shown::begin(is_coloured);
    let mut keys = Keys::default();
    let mut bytes = [0; 64];
    loop {
        let (columns, height) = terminal::size();
        terminal::show(chooser.region(columns, (height - 1).clamp(1, MOST_ROWS)));
        let inputs = match next(&mut bytes, keys.patience()) {
            Some(0) => keys.quiet(),
            Some(length) => keys.take(bytes.get(..length).unwrap_or_default()),
            None => return Ok(None),
        };
        for input in inputs {
            match chooser.input(&input) {
                Choice::Open => {}
                Choice::Taken(at) => return Ok(Some(at)),
                Choice::Left => return Ok(None),
            }
        }
    }
}

/// The list takes no more of the screen.
pub(crate) const MOST_ROWS: usize = 12;
/// What a title leaves to the words behind it.
const FEWEST_COLUMNS_OF_WORDS: usize = 8;
const FEWEST_ROWS_WITH_KEYS: usize = 3;
const PAGE: isize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn press(chooser: &mut Chooser, code: KeyCode) -> Choice {
        chooser.input(&Input::Key(KeyEvent::new(code, Modifiers::NONE)))
    }

    fn typed(chooser: &mut Chooser, text: &str) {
        text.chars().for_each(|c| assert_eq!(press(chooser, KeyCode::Char(c)), Choice::Open));
    }

    #[test]
    fn a_question_that_is_wider_than_the_terminal_is_shown_whole() {
        let title = "Tell the agent the command and its output?";
        let chooser = Chooser::by_letter(title, [('y', "yes".to_owned()), ('n', "no".to_owned())], 1);
        for columns in [16, 24, 40, 80] {
            let region = chooser.region(columns, MOST_ROWS);
            assert_eq!(region.rows.join(" ").trim_end(), title, "{columns}");
            assert!(region.rows.iter().all(|row| row.width() < columns), "{columns}: {:?}", region.rows);
            assert_eq!(region.cursor.0, region.rows.len() - 1);
            assert!(region.rows.len() + region.below.len() <= MOST_ROWS);
        }
        let listed = Chooser::new(title, ["a", "b"], 0).region(24, MOST_ROWS);
        assert!(listed.rows[0].starts_with("Tell the agent"), "{:?}", listed.rows);
    }

    fn fruit() -> Chooser {
        Chooser::new("Fruit", ["Red apple", "green pear", "Red cherry", "yellow lemon"], 3)
    }

    #[test]
    fn an_entry_is_chosen_by_arrows_and_by_words() {
        let mut chooser = fruit();
        assert_eq!(press(&mut chooser, KeyCode::Enter), Choice::Taken(3), "the mark begins where it was put");
        assert_eq!(press(&mut chooser, KeyCode::Up), Choice::Open);
        assert_eq!(press(&mut chooser, KeyCode::Enter), Choice::Taken(2));
        typed(&mut chooser, "red");
        assert_eq!(press(&mut chooser, KeyCode::Enter), Choice::Taken(2), "the mark stays with its entry");
        assert_eq!(press(&mut chooser, KeyCode::Up), Choice::Open);
        assert_eq!(press(&mut chooser, KeyCode::Enter), Choice::Taken(0));
        typed(&mut chooser, " CH");
        assert_eq!(press(&mut chooser, KeyCode::Enter), Choice::Taken(2), "all words count, in any case");
        typed(&mut chooser, "x");
        assert_eq!(press(&mut chooser, KeyCode::Enter), Choice::Open, "there is nothing to take");
        assert_eq!(press(&mut chooser, KeyCode::Backspace), Choice::Open);
        assert_eq!(press(&mut chooser, KeyCode::Enter), Choice::Taken(2));
        assert_eq!(press(&mut chooser, KeyCode::Escape), Choice::Left);
    }

    #[test]
    fn one_key_chooses_where_there_are_letters() {
        let choices = [('y', String::from("yes")), ('n', String::from("no"))];
        let mut chooser = Chooser::by_letter("The files, too?", choices, 1);
        assert_eq!(chooser.input(&Input::Paste(String::from("y"))), Choice::Open, "a paste is no answer");
        typed(&mut chooser, "x");
        assert_eq!(chooser.region(80, 9).rows, ["The files, too? "]);
        assert_eq!(chooser.region(80, 9).below[..2], ["  y  yes", "> n  no"]);
        assert_eq!(press(&mut chooser, KeyCode::Char('y')), Choice::Taken(0));
        assert_eq!(press(&mut chooser, KeyCode::Enter), Choice::Taken(1));
        assert_eq!(press(&mut chooser, KeyCode::Escape), Choice::Left);
    }

    #[test]
    fn the_mark_stops_at_both_ends() {
        let mut chooser = fruit();
        for (key, expected) in [
            (KeyCode::Down, 3),
            (KeyCode::Home, 0),
            (KeyCode::Up, 0),
            (KeyCode::PageDown, 3),
            (KeyCode::PageUp, 0),
            (KeyCode::End, 3),
        ] {
            assert_eq!(press(&mut chooser, key), Choice::Open);
            assert_eq!(press(&mut chooser, KeyCode::Enter), Choice::Taken(expected), "{key:?}");
        }
        let mut empty = Chooser::new("None", Vec::<String>::new(), 4);
        assert_eq!(press(&mut empty, KeyCode::Down), Choice::Open);
        assert_eq!(press(&mut empty, KeyCode::Enter), Choice::Open);
        assert!(empty.region(80, 12).below.concat().contains("none has these words"));
    }

    #[test]
    fn the_rows_fit_every_terminal_and_show_the_mark() {
        let long = |number: usize| format!("{number} 修正してください\x1b[2J\u{202E} {}", "word ".repeat(60));
        for columns in [1, 2, 5, 40, 80, 140] {
            for height in [1, 2, 3, 4, 12] {
                for at in [0, 7, 29] {
                    let mut chooser = Chooser::new("Go back to which message", (0..30).map(long), at);
                    typed(&mut chooser, "word");
                    let region = chooser.region(columns, height);
                    assert!(region.rows.len() + region.below.len() <= height, "{columns}x{height}: {region:?}");
                    for row in region.rows.iter().chain(&region.below) {
                        assert!(row.width() <= columns.max(2), "{columns}x{height}: {row:?}");
                        assert!(!row.contains(['\x1b', '\u{202E}']), "{row:?}");
                    }
                    if height > 1 {
                        let marked = &region.below[region.marked.unwrap()];
                        let expected = cut(&format!("> {at} "), columns);
                        assert!(
                            marked.starts_with(expected.trim_end_matches(['…', ' '])),
                            "{columns}x{height}: {marked:?}"
                        );
                    }
                }
            }
        }
        let region = fruit().region(40, 12);
        assert_eq!(region.rows, ["Fruit: "]);
        assert_eq!(region.below[3], "> yellow lemon");
        assert_eq!(region.below[4], "4 of 4 · Enter chooses · Esc closes");
        assert_eq!(fruit().region(5, 12).below[1], "  gr…");
    }
}
