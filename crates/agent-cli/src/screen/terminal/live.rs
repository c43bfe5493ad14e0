//! The rows at the bottom of the terminal that are drawn anew: the line that is edited and the state of the work. What is written goes
//! above them.
//!
//! 1. A finished line is never written again: only the live rows are erased, and no sequence here clears a screen or its scrollback.
//! 2. A line that has no end yet goes on where it stopped: the terminal itself keeps that place (DECSC), so nothing depends on how wide it
//!    takes a letter to be. After a resize it has forgotten, and the place is worked out.
//! 3. A drawing that the terminal has not been sent yet is left out when the next one of its kind follows.
//! 4. Plain text makes room for itself above the rows, which are pushed down and not sent again: text that streams costs little more than
//!    its own bytes. What is no ASCII may be wider than it seems, so the rows are drawn anew after it.
//! 5. Where only a clock or a spinner has moved, only that is written.

mod patch;

use super::queue::{self, Kind};
use super::{escaped, is_on_terminal};
use std::borrow::Cow;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// What is to be seen at the bottom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Region {
    /// Rows of the line that is edited, none wider than the terminal.
    pub(crate) rows: Vec<String>,
    /// Where the cursor stands in them: row and column, from zero.
    pub(crate) cursor: (usize, usize),
    /// Rows below, in the background.
    pub(crate) below: Vec<String>,
    /// Which of them stands out.
    pub(crate) marked: Option<usize>,
}

impl Region {
    fn height(&self) -> usize {
        self.rows.len() + self.below.len()
    }
}

/// A text on its way to the terminal, and what moves the rows out of its way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Update {
    /// From the cursor in the rows to where the text goes.
    pub(super) before: String,
    pub(super) text: String,
    /// Back to the cursor in the rows.
    pub(super) after: String,
    /// Whether the rows are erased and drawn anew; else they stay.
    pub(super) is_whole: bool,
}

/// The region, and what the terminal shows above it.
#[derive(Debug, Default)]
pub(super) struct Live {
    region: Region,
    is_coloured: bool,
    /// Columns and rows of the terminal when it was drawn.
    size: (usize, usize),
    is_drawn: bool,
    /// Columns of the line above that has no end yet.
    open: usize,
    /// The last letter of a line that fills its row: where the cursor stands behind it, terminals disagree.
    held: String,
    /// What is written while another program has the terminal.
    kept: Option<Vec<(Kind, String)>>,
}

impl Live {
    /// What has to be written so that a text stands above the region.
    fn around(&mut self, text: &str, size: (usize, usize)) -> Update {
        // What is held goes before the text, and may be no plain letter.
        let can_push = self.is_drawn
            && size == self.size
            && self.region.height() > 0
            && is_plain(&self.held)
            && is_plain(&unstyled(text));
        let before = self.open;
        let goto = self.goto();
        let erase = if can_push { String::new() } else { self.erase(size) };
        let text = self.above(text, size.0);
        let pushed = if can_push {
            rows_of(&unstyled(&text), before, size.0).saturating_sub(usize::from(before > 0))
        } else {
            0
        };
        if !can_push {
            Update { before: erase, text, after: self.draw(size), is_whole: true }
        } else if self.region.height() + pushed < size.1 {
            Update {
                before: goto,
                text: self.room(pushed, before, size.0) + &text,
                after: self.back(),
                is_whole: false,
            }
        } else {
            // More than a screen: the rows would scroll away.
            self.is_drawn = false;
            Update { before: format!("{BEGIN}{goto}\x1b[J"), text, after: self.draw(size), is_whole: true }
        }
    }

    /// From the cursor in the rows to the place where the text above them ends.
    fn goto(&self) -> String {
        if self.open > 0 { String::from(RESTORE) } else { format!("\r{}", up(self.region.cursor.0)) }
    }

    /// Pushes the rows down by so many, from that place and back to it. At the bottom of the screen what is above scrolls up instead.
    fn room(&self, rows: usize, open: usize, columns: usize) -> String {
        if rows == 0 {
            return String::new();
        }
        let last = self.region.height() - usize::from(open == 0);
        let insert = format!("{}{}", "\x0b".repeat(rows), up(last + rows - usize::from(open > 0)));
        let back = if open > 0 { format!("\x1b[A\x1b[{}G", open % columns + 1) } else { String::from("\r") };
        format!("{}{insert}\x1b[{rows}L{back}", down(last))
    }

    /// From the end of the text to the cursor in the rows, which are as they were.
    fn back(&self) -> String {
        let (row, column) = self.region.cursor;
        let (save, rows) = if self.open > 0 { (SAVE, row + 1) } else { ("", row) };
        format!("{save}{}\x1b[{}G", down(rows), column + 1)
    }

    /// The text as it can be written now.
    fn above(&mut self, text: &str, columns: usize) -> String {
        let mut text = std::mem::take(&mut self.held) + text;
        let last = match text.rsplit_once('\n') {
            Some((_, last)) => {
                self.open = 0;
                last
            }
            None => &text,
        };
        let last = &*unstyled(last);
        let mut width = self.open;
        for letter in last.graphemes(true) {
            width = advanced(width, letter, columns);
        }
        // A text in colours is no wider than its row.
        if width > 0
            && width.is_multiple_of(columns)
            && text.ends_with(last)
            && let Some((at, letter)) = last.grapheme_indices(true).next_back()
        {
            self.held = letter.to_owned();
            self.open = last
                .get(..at)
                .unwrap_or_default()
                .graphemes(true)
                .fold(self.open, |width, letter| advanced(width, letter, columns));
            text.truncate(text.len() - self.held.len());
        } else {
            self.open = width;
        }
        text
    }

    /// Back to the place where what was written above ends, with nothing below it.
    fn erase(&mut self, size: (usize, usize)) -> String {
        if !std::mem::take(&mut self.is_drawn) {
            return String::new();
        }
        let mut out = String::from(BEGIN);
        let columns = size.0;
        if size == self.size {
            out.push_str(&self.goto());
        } else {
            // The terminal has laid the rows out anew for its width, and the cursor with them.
            let (row, column) = self.region.cursor;
            let above: usize = self.region.rows.iter().take(row).map(|row| row.width().max(1).div_ceil(columns)).sum();
            out.push_str(&format!("\r{}", up(above + column / columns)));
            let at = self.open % columns;
            if at > 0 {
                out.push_str(&format!("\x1b[J\x1b[A\x1b[{}G", at + 1));
            }
        }
        out.push_str("\x1b[J");
        out
    }

    fn draw(&mut self, size: (usize, usize)) -> String {
        let height = self.region.height();
        if height == 0 {
            return String::new();
        }
        let mut out = String::from(BEGIN);
        if self.open > 0 {
            // Room is made without leaving the column, so that the place which is kept does not scroll away.
            out.push_str(&"\x0b".repeat(height));
            out.push_str(&format!("{}{SAVE}\r\n", up(height)));
        }
        // A letter that is wider than it should be must not begin a row.
        out.push_str("\x1b[?7l");
        let rows = self.region.rows.iter().map(|row| escaped(row));
        let below = self.region.below.iter().enumerate().map(|(at, row)| match self.is_coloured {
            true if self.region.marked == Some(at) => format!("\x1b[1m{}\x1b[0m", escaped(row)),
            true => format!("\x1b[2m{}\x1b[0m", escaped(row)),
            false => escaped(row),
        });
        out.push_str(&rows.chain(below).collect::<Vec<_>>().join("\r\n"));
        let (row, column) = self.region.cursor;
        out.push_str(&format!("\x1b[?7h{}\x1b[{}G{END}", up(height - 1 - row.min(height - 1)), column + 1));
        (self.is_drawn, self.size) = (true, size);
        out
    }
}

/// Writes a text above the region, where there is one.
pub(super) fn write(kind: Kind, text: &str) -> io::Result<()> {
    let mut live = lock();
    match live.as_mut() {
        Some(live) if is_on_terminal(kind) => {
            if let Some(kept) = &mut live.kept {
                kept.push((kind, text.to_owned()));
                return Ok(());
            }
            let update = live.around(text, size());
            queue::write_live(kind, &update)
        }
        _ => {
            drop(live);
            queue::write(kind, text)
        }
    }
}

/// Shows a region from now on.
pub(super) fn begin(is_coloured: bool) {
    *lock() = Some(Live { is_coloured, ..Live::default() });
}

/// Rows at the bottom, as long as this is kept: for a list outside of a session.
pub(crate) struct Shown(());

impl Shown {
    pub(crate) fn begin(is_coloured: bool) -> Self {
        begin(is_coloured);
        Self(())
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        end();
    }
}

/// Shows this at the bottom.
pub(crate) fn show(region: Region) {
    let mut live = lock();
    let Some(live) = live.as_mut().filter(|live| live.kept.is_none()) else { return };
    let size = size();
    if live.is_drawn && live.region == region && live.size == size {
        return;
    }
    if let Some(patch) = live.patch(&region, size) {
        live.region = region;
        let _ = queue::write(Kind::Aside, &patch);
        return;
    }
    let before = live.erase(size);
    live.region = region;
    let after = live.draw(size);
    let _ = queue::write_live(Kind::Aside, &Update { before, after, is_whole: true, ..Update::default() });
}

/// Shows none any more, and leaves the cursor where a line can begin.
pub(super) fn end() {
    let taken = lock().take();
    if let Some(mut live) = taken {
        let before = live.erase(size());
        let text = std::mem::take(&mut live.held) + END;
        let _ = queue::write_live(Kind::Aside, &Update { before, text, is_whole: true, ..Update::default() });
        for (kind, text) in live.kept.into_iter().flatten() {
            let _ = queue::write(kind, &text);
        }
    }
}

/// Another program has the terminal: nothing is shown there, and what is written waits.
pub(super) fn put_away() {
    if let Some(live) = lock().as_mut().filter(|live| live.kept.is_none()) {
        let before = live.erase(size());
        let text = END.to_owned();
        let _ = queue::write_live(Kind::Aside, &Update { before, text, is_whole: true, ..Update::default() });
        live.region = Region::default();
        live.kept = Some(Vec::new());
    }
}

/// It is this program's again, wherever its cursor stands. What waited is written.
pub(super) fn bring_back() {
    let mut kept = Vec::new();
    if let Some(live) = lock().as_mut() {
        (live.is_drawn, live.open) = (false, 0);
        kept = live.kept.take().unwrap_or_default();
    }
    for (kind, text) in kept {
        let _ = write(kind, &text);
    }
}

/// Columns of the terminal, where rows at the bottom are drawn: what is written above them is broken by the program.
pub(super) fn columns() -> Option<usize> {
    lock().as_ref().map(|_| size().0)
}

/// Columns and rows of the terminal; it always has one of each.
pub(crate) fn size() -> (usize, usize) {
    let size = rustix::termios::tcgetwinsize(io::stdout());
    let of = |cells: u16, usual| if cells == 0 { usual } else { usize::from(cells) };
    size.map_or((80, 24), |size| (of(size.ws_col, 80), of(size.ws_row, 24)))
}

fn lock() -> MutexGuard<'static, Option<Live>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How far a line reaches with one letter more. A wide letter does not stand half in a row.
fn advanced(width: usize, letter: &str, columns: usize) -> usize {
    let at = width % columns;
    match letter {
        "\t" => width + (8 - at % 8).min(columns.saturating_sub(at + 1)),
        _ if at > 0 && at + letter.width() > columns => width + (columns - at) + letter.width(),
        _ => width + letter.width(),
    }
}

/// The text without this program's own styles, which are its only escape sequences.
fn unstyled(text: &str) -> Cow<'_, str> {
    if !text.contains('\x1b') {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split('\x1b');
    let mut out = parts.next().unwrap_or_default().to_owned();
    parts.for_each(|part| out.push_str(part.split_once('m').map_or(part, |(_, text)| text)));
    Cow::Owned(out)
}

/// Whether every terminal takes it to be as wide as it is long.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte == b'\n' || matches!(byte, b' '..=b'~'))
}

/// Rows that a plain text takes, from the one where it begins on; the one where the next text begins counts only if something stands in it.
fn rows_of(text: &str, open: usize, columns: usize) -> usize {
    let first_row = open.saturating_sub(1) / columns;
    let mut lines = text.split('\n');
    let first = open + lines.next().map_or(0, str::len);
    let rest: usize = lines.clone().map(|line| line.len().div_ceil(columns).max(1)).sum();
    let rows_of_first = if first == 0 { usize::from(rest > 0) } else { (first - 1) / columns - first_row + 1 };
    let ends_empty = rest > 0 && lines.next_back().is_some_and(str::is_empty);
    rows_of_first + rest - usize::from(ends_empty)
}

fn down(rows: usize) -> String {
    if rows == 0 { String::new() } else { format!("\x1b[{rows}B") }
}

fn up(rows: usize) -> String {
    if rows == 0 { String::new() } else { format!("\x1b[{rows}A") }
}

static LIVE: Mutex<Option<Live>> = Mutex::new(None);

/// A terminal that knows these marks shows what lies between them at once; another one ignores them.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[?2026l";
const SAVE: &str = "\x1b7";
const RESTORE: &str = "\x1b8";

#[cfg(test)]
mod tests;
