//! The keys of vi in the line: normal mode with counts, motions and the operators `d`, `c` and `y`; in insert mode keys mean what they mean
//! without vi, but for Esc.

use super::editor::{Editor, Wish};
use super::line::Move;
use termina::event::{KeyCode, KeyEvent, Modifiers};

/// What is known of a command that has begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Vi {
    mode: Mode,
    /// `d`, `c`, `y`, and `r` and `g`, which wait for more.
    begun: Option<char>,
    count: usize,
    /// `f`, `F`, `t` or `T`, which wait for a letter.
    finds: Option<char>,
    /// The last of these with its letter, for `;` and `,`.
    found: Option<(char, char)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Insert,
    Normal,
}

impl Vi {
    /// Nothing has begun.
    const fn normal(self) -> Self {
        Self { mode: Mode::Normal, begun: None, count: 0, finds: None, found: self.found }
    }

    const fn insert(self) -> Self {
        Self { mode: Mode::Insert, ..self.normal() }
    }

    /// What stands below the line.
    pub(super) fn hint(self) -> Option<&'static str> {
        (self.mode == Mode::Normal).then_some("normal mode: i inserts, Esc stops the turn")
    }
}

impl Editor {
    /// What the key means in vi, if it means anything else there.
    pub(super) fn vi_key(&mut self, key: KeyEvent) -> Option<Wish> {
        let vi = self.vi?;
        if key.modifiers.intersects(Modifiers::CONTROL | Modifiers::ALT) {
            return None;
        }
        match (vi.mode, key.code) {
            (Mode::Insert, KeyCode::Escape) => {
                self.vi = Some(vi.normal());
                self.left_within_row();
                Some(Wish::None)
            }
            (Mode::Insert, KeyCode::Enter) | (Mode::Normal, KeyCode::Enter) => {
                self.vi = Some(vi.insert());
                None
            }
            (Mode::Normal, KeyCode::Escape) if vi.begun.is_some() || vi.count > 0 || vi.finds.is_some() => {
                self.vi = Some(vi.normal());
                Some(Wish::None)
            }
            (Mode::Normal, KeyCode::Char(c)) => {
                self.command(vi, c);
                Some(Wish::None)
            }
            (Mode::Insert | Mode::Normal, _) => None,
        }
    }

    fn command(&mut self, vi: Vi, c: char) {
        self.vi = Some(vi.normal());
        let count = vi.count.max(1);
        if let Some(how) = vi.finds {
            self.vi = Some(Vi { found: Some((how, c)), ..vi.normal() });
            return self.seek(vi.begun, (how, c), count, false);
        }
        match (vi.begun, c) {
            (Some('r'), c) => {
                self.line.delete(Move::Right);
                self.line.insert(c.encode_utf8(&mut [0; 4]));
                self.line.move_to(Move::Left);
            }
            (Some('g'), 'g') => self.line.move_to(Move::Start),
            (None | Some('d' | 'c' | 'y'), '1'..='9') | (None | Some('d' | 'c' | 'y'), '0')
                if c != '0' || vi.count > 0 =>
            {
                let digit = c.to_digit(10).unwrap_or_default() as usize;
                self.vi = Some(Vi { count: (vi.count * 10 + digit).min(MOST_TIMES), ..vi });
            }
            (None | Some('d' | 'c' | 'y'), 'f' | 'F' | 't' | 'T') => self.vi = Some(Vi { finds: Some(c), ..vi }),
            (None | Some('d' | 'c' | 'y'), ';' | ',') => {
                let Some((how, letter)) = vi.found else { return };
                let how = if c == ';' { how } else { opposite(how) };
                self.seek(vi.begun, (how, letter), count, true);
            }
            (Some(operator), c) if operator == c => self.on_row(operator),
            (Some(operator), c) => self.over(operator, c, count),
            (None, 'd' | 'c' | 'y' | 'r' | 'g') => self.vi = Some(Vi { begun: Some(c), ..vi }),
            (None, c) => self.alone(c, count),
        }
    }

    /// `dd` and the like: the row, and for `d` the line break behind it.
    fn on_row(&mut self, operator: char) {
        self.line.move_to(Move::RowStart);
        let start = self.line.cursor();
        self.line.move_to(Move::RowEnd);
        if operator == 'd' {
            self.line.move_to(Move::Right);
        }
        self.take(operator, start, self.line.cursor());
    }

    /// An operator over a motion.
    fn over(&mut self, operator: char, motion: char, count: usize) {
        let start = self.line.cursor();
        // As vi does it, `cw` leaves the blank behind the word.
        let motion = if operator == 'c' && motion == 'w' { 'e' } else { motion };
        if !self.moves(motion, count) {
            return;
        }
        if motion == 'e' {
            self.line.move_to(Move::Right);
        }
        self.take(operator, start, self.line.cursor());
    }

    /// To a letter of the row, or beside it, alone or with an operator. Where the row has too few of them, nothing happens.
    fn seek(&mut self, operator: Option<char>, (how, letter): (char, char), count: usize, is_repeated: bool) {
        let (start, is_onwards) = (self.line.cursor(), matches!(how, 'f' | 't'));
        let beside = |found: usize| match how {
            't' => found - 1,
            'T' => found + 1,
            _ => found,
        };
        // A search that is repeated does not stay beside the letter it has found.
        let nth = |count| self.line.letter(letter, is_onwards, count).map(beside);
        let to =
            nth(count).filter(|to| *to != start || !is_repeated).or_else(|| nth(count + 1).filter(|_| is_repeated));
        let Some(to) = to else { return };
        match operator {
            // Onwards, the letter under the cursor is part of it.
            Some(operator) => self.take(operator, start, if is_onwards { to + 1 } else { to }),
            None => self.line.move_to(Move::To(to)),
        }
    }

    fn take(&mut self, operator: char, from: usize, to: usize) {
        let (from, to) = (from.min(to), from.max(to));
        self.line.move_to(Move::To(from));
        match operator {
            'y' => self.line.copy(to),
            _ => self.line.kill(Move::To(to)),
        }
        if operator == 'c' {
            self.vi = self.vi.map(Vi::insert);
        } else {
            self.stay_on_a_letter();
        }
    }

    /// Moves, and says whether that was a motion.
    fn moves(&mut self, motion: char, count: usize) -> bool {
        for _ in 0..count {
            match motion {
                'h' => self.left_within_row(),
                'l' | ' ' => self.line.move_to(Move::Right),
                '0' => self.line.move_to(Move::RowStart),
                '^' => self.line.move_to(Move::RowText),
                '$' => self.line.move_to(Move::RowEnd),
                'w' => self.line.move_to(Move::NextWord),
                'b' => self.line.move_to(Move::WordBack),
                'e' => self.line.move_to(Move::WordEnd),
                'G' => self.line.move_to(Move::End),
                _ => return false,
            }
        }
        true
    }

    fn alone(&mut self, c: char, count: usize) {
        let mut inserts = true;
        match c {
            'i' => {}
            'a' => self.line.move_to(Move::RightInRow),
            'I' => self.line.move_to(Move::RowText),
            'A' => self.line.move_to(Move::RowEnd),
            'o' => {
                self.line.move_to(Move::RowEnd);
                self.line.insert("\n");
            }
            'O' => {
                self.line.move_to(Move::RowStart);
                self.line.insert("\n");
                self.line.move_to(Move::Left);
            }
            'C' => self.line.kill(Move::RowEnd),
            'S' => self.on_row('c'),
            's' => self.letters(count),
            _ => inserts = false,
        }
        if inserts {
            self.vi = self.vi.map(Vi::insert);
            return;
        }
        match c {
            'x' => self.letters(count),
            'X' => (0..count).for_each(|_| self.line.delete(Move::Left)),
            'D' => self.line.kill(Move::RowEnd),
            'p' => {
                self.line.move_to(Move::RightInRow);
                self.line.yank();
            }
            'P' => self.line.yank(),
            'u' => drop(self.line.undo()),
            'j' => self.down(),
            'k' => self.up(),
            '/' => self.begin_search(),
            motion => drop(self.moves(motion, count)),
        }
        self.stay_on_a_letter();
    }

    /// Removes letters from the cursor on, and keeps them.
    fn letters(&mut self, count: usize) {
        let from = self.line.cursor();
        (0..count).for_each(|_| self.line.move_to(Move::RightInRow));
        let to = self.line.cursor();
        self.line.move_to(Move::To(from));
        self.line.kill(Move::To(to));
    }

    fn left_within_row(&mut self) {
        let before = self.line.last_before();
        if !before.is_empty() && before != "\n" {
            self.line.move_to(Move::Left);
        }
    }

    /// In normal mode the cursor stands on a letter, where the row has one.
    fn stay_on_a_letter(&mut self) {
        if self.line.is_at_row_end() {
            self.left_within_row();
        }
    }
}

/// The same search the other way.
const fn opposite(how: char) -> char {
    match how {
        'f' => 'F',
        'F' => 'f',
        't' => 'T',
        _ => 't',
    }
}

const MOST_TIMES: usize = 1_000;
