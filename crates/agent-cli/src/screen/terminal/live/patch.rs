//! A change of the rows that writes only what has changed: a clock, a spinner.

use super::{Live, Region, down, escaped, up};
use unicode_width::UnicodeWidthStr as _;

impl Live {
    /// What leads from the rows that are shown to these, from the cursor and back to it; nothing where all has to be drawn anew.
    pub(super) fn patch(&self, region: &Region, size: (usize, usize)) -> Option<String> {
        let before = &self.region;
        let is_same_but_for_texts = self.is_drawn
            && size == self.size
            && (&before.rows, before.cursor, before.marked) == (&region.rows, region.cursor, region.marked)
            && before.below.len() == region.below.len();
        if !is_same_but_for_texts {
            return None;
        }
        let (row, column) = region.cursor;
        let mut out = String::new();
        for (at, (old, new)) in before.below.iter().zip(&region.below).enumerate().filter(|(_, (old, new))| old != new)
        {
            // It has a look of its own.
            if region.marked == Some(at) {
                return None;
            }
            let (at_column, text) = change(&escaped(old), &escaped(new))?;
            let rows = region.rows.len() + at - row;
            out.push_str(&format!("{}\x1b[{}G", down(rows), at_column + 1));
            match self.is_coloured {
                true => out.push_str(&format!("\x1b[2m{text}\x1b[0m")),
                false => out.push_str(&text),
            }
            out.push_str(&up(rows));
        }
        Some(format!("{out}\x1b[{}G", column + 1))
    }
}

/// The column from which on a row changes, and what stands there then; nothing where what is before or behind it would not stay in its
/// place.
fn change(old: &str, new: &str) -> Option<(usize, String)> {
    let same = |(a, b): &(char, char)| a == b;
    let start: usize = old.chars().zip(new.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let (old, head, new) = (old.get(start..)?, new.get(..start)?, new.get(start..)?);
    let end: usize = old.chars().rev().zip(new.chars().rev()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let (old, new) = (old.get(..old.len() - end)?, new.get(..new.len() - end)?);
    let is_in_place = [head, old, new].iter().all(|part| part.chars().all(is_one_column));
    (is_in_place && old.width() == new.width()).then(|| (head.width(), new.to_owned()))
}

/// Whether no terminal takes it for wider than a column.
const fn is_one_column(c: char) -> bool {
    matches!(c, ' '..='~' | '\u{2800}'..='\u{28FF}')
}
