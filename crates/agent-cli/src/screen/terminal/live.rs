//! The rows at the bottom of the terminal that are drawn anew: the line that is edited and the state of the work. What is written goes
//! above them.
//!
//! 1. A finished line is never written again: only the live rows are erased, and no sequence here clears a screen or its scrollback.
//! 2. The terminal may be resized at any time, and what is on its way was made for its old size. So no place is named that a new layout
//!    moves: the cursor goes up only over rows that are drawn here, each counted once however the terminal breaks it, and goes down by line
//!    feeds, which no bottom of a screen stops. Remains of the rows may stay above; a finished line is never written over. Text that the
//!    terminal breaks in another place than was thought runs into the rows, which it joins to finished lines when it becomes wider. So
//!    after a resize a row stays free between both, and for a while the rows are erased before a text.
//! 3. A line that has no end yet goes on where it stopped. What a terminal may take to be wider than it seems is written again from its
//!    start. After a resize the line goes on in a new row.
//! 4. A drawing that the terminal has not been sent yet is left out when the next one of its kind follows.
//! 5. Plain text makes room for itself above the rows, which are pushed down and not sent again: text that streams costs little more than
//!    its own bytes. What is no ASCII may be wider than it seems, so the rows are drawn anew after it.
//! 6. Where only a clock or a spinner has moved, only that is written.

mod patch;

use super::queue::{self, Kind};
use super::{escaped, is_on_terminal};
use std::borrow::Cow;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
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
    /// That line as it was written; empty where the terminal broke it.
    row: String,
    /// Whether its row was left when the terminal was resized: a line end or a blank that comes next is that one.
    is_cut: bool,
    /// Whether a text was written above since the rows were drawn for another size, and when that was.
    is_written: bool,
    resized: Option<Instant>,
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
            && self.is_calm()
            && self.region.height() > 0
            && is_plain(&self.held)
            && is_plain(&unstyled(text));
        let before = self.open;
        let (goto, end) = (self.goto(), self.end_of_row(size.0));
        let (erase, row_end) = if can_push { Default::default() } else { self.erase(size) };
        self.is_written |= !text.is_empty();
        let text = self.above(row_end, text, size.0);
        let pushed = if can_push {
            rows_of(&unstyled(&text), before, size.0).saturating_sub(usize::from(before > 0))
        } else {
            0
        };
        if !can_push {
            Update { before: erase, text, after: self.draw(size), is_whole: true }
        } else if self.region.height() + pushed < size.1 {
            let text = self.room(pushed, before, &end) + &text;
            let before = if pushed == 0 { goto + &end } else { goto };
            Update { before, text, after: self.back(), is_whole: false }
        } else {
            // More than a screen: the rows would scroll away.
            self.is_drawn = false;
            Update { before: format!("{BEGIN}{goto}{end}\x1b[J"), text, after: self.draw(size), is_whole: true }
        }
    }

    /// Whether no other resize may be on its way.
    fn is_calm(&self) -> bool {
        self.resized.is_none_or(|resized| resized.elapsed() > CALM)
    }

    /// What has to be written so that these rows stand there.
    fn drawn(&mut self, region: Region, size: (usize, usize)) -> Update {
        let (before, row_end) = self.erase(size);
        let text = self.above(row_end, "", size.0);
        self.region = region;
        Update { before, text, after: self.draw(size), is_whole: true }
    }

    /// From the cursor in the rows to the row above them that has no end yet, or to the first of them.
    fn goto(&self) -> String {
        let (row, column) = self.region.cursor;
        format!("{}{}", left(column), up(row + usize::from(self.open > 0)))
    }

    /// From anywhere in the row that has no end yet to its end. Where it is plain its last letter is written again: in a terminal that has
    /// become narrower meanwhile, the column may be that letter's. After a resize all of it is: the column may be any.
    fn end_of_row(&self, columns: usize) -> String {
        let column = self.open % columns;
        match last_letter(&self.row) {
            _ if self.open == 0 => String::new(),
            None => format!("\x1b[{}G", column + 1),
            Some(letter) if self.is_calm() && is_plain(&unstyled(&self.row)) => format!("\x1b[{column}G{letter}"),
            Some(_) => format!("\x1b[G{}", self.row),
        }
    }

    /// Pushes the rows down by so many, from where the text goes on and back to it. At the bottom of the screen what is above scrolls up
    /// instead.
    fn room(&self, rows: usize, open: usize, end: &str) -> String {
        if rows == 0 {
            return String::new();
        }
        let is_open = usize::from(open > 0);
        let to_last = self.region.height() - 1 + is_open + rows;
        let back = if open > 0 { up(1) + end } else { String::from("\r") };
        format!("{}{}\x1b[{rows}L{back}", down(to_last), up(to_last - is_open))
    }

    /// From the end of the text to the cursor in the rows, which are as they were.
    fn back(&self) -> String {
        let (row, column) = self.region.cursor;
        format!("{}\x1b[{}G", down(row + usize::from(self.open > 0)), column + 1)
    }

    /// The text as it can be written now, behind the end of a row.
    fn above(&mut self, row_end: &str, text: &str, columns: usize) -> String {
        let is_cut = self.is_cut && !text.is_empty() && std::mem::take(&mut self.is_cut) && self.held.is_empty();
        let text = if is_cut { text.strip_prefix(['\n', ' ']).unwrap_or(text) } else { text };
        let mut text = format!("{row_end}{}{text}", std::mem::take(&mut self.held));
        let last = match text.rsplit_once('\n') {
            Some((_, last)) => {
                self.open = 0;
                self.row.clear();
                last
            }
            None => &text,
        };
        let is_broken = self.open > 0 && self.row.is_empty();
        self.row.push_str(last);
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
            self.row.truncate(self.row.len() - self.held.len());
        } else {
            self.open = width;
        }
        if is_broken || self.open >= columns {
            self.row.clear();
        }
        text
    }

    /// Back to the place where what was written above ends, with nothing below it. And what is written there first: after a resize, the
    /// end of a row, which leaves one free or ends one that was open. It stays where the drawing is taken back that this undoes.
    fn erase(&mut self, size: (usize, usize)) -> (String, &'static str) {
        if !std::mem::take(&mut self.is_drawn) {
            return Default::default();
        }
        if size == self.size {
            return (format!("{BEGIN}{}{}\x1b[J", self.goto(), self.end_of_row(size.0)), "");
        }
        // Where the end of an open line is now depends on the terminal.
        self.is_cut |= self.open > 0;
        self.open = 0;
        self.row.clear();
        self.resized = Some(Instant::now());
        let row_end = if std::mem::take(&mut self.is_written) { "\n" } else { "" };
        (format!("{BEGIN}{}\x1b[J", self.goto()), row_end)
    }

    fn draw(&mut self, size: (usize, usize)) -> String {
        let height = self.region.height();
        if height == 0 {
            return String::new();
        }
        let mut out = String::from(BEGIN);
        if self.open > 0 {
            out.push_str("\r\n");
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
    let update = live.drawn(region, size);
    let _ = queue::write_live(Kind::Aside, &update);
}

/// Shows none any more, and leaves the cursor where a line can begin.
pub(super) fn end() {
    let taken = lock().take();
    if let Some(mut live) = taken {
        let (before, row_end) = live.erase(size());
        let text = live.above(row_end, "", size().0) + &std::mem::take(&mut live.held) + END;
        let _ = queue::write_live(Kind::Aside, &Update { before, text, is_whole: true, ..Update::default() });
        for (kind, text) in live.kept.into_iter().flatten() {
            let _ = queue::write(kind, &text);
        }
    }
}

/// Another program has the terminal: nothing is shown there, and what is written waits.
pub(super) fn put_away() {
    if let Some(live) = lock().as_mut().filter(|live| live.kept.is_none()) {
        let (before, row_end) = live.erase(size());
        let mut text = live.above(row_end, "", size().0) + END;
        // What the other program writes is no part of that line.
        live.is_cut |= live.open > 0;
        text.push_str(if live.open > 0 { "\r\n" } else { "" });
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
        live.row.clear();
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

/// The last letter of a row as it was written, with its style.
fn last_letter(row: &str) -> Option<String> {
    let Some((styled, "0m")) = row.rsplit_once("\x1b[") else { return row.chars().next_back().map(String::from) };
    let (style, text) = styled.rsplit_once("\x1b[")?.1.split_once('m')?;
    text.chars().next_back().map(|letter| format!("\x1b[{style}m{letter}\x1b[0m"))
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

/// In the same column. At the bottom what is above scrolls up, so that the same number of rows leads back from everywhere.
fn down(rows: usize) -> String {
    "\x0b".repeat(rows)
}

/// To the beginning of a row, also where the terminal has joined it to the one before.
fn left(columns: usize) -> String {
    if columns == 0 { String::new() } else { format!("\x1b[{columns}D") }
}

fn up(rows: usize) -> String {
    if rows == 0 { String::new() } else { format!("\x1b[{rows}A") }
}

static LIVE: Mutex<Option<Live>> = Mutex::new(None);

/// A terminal that knows these marks shows what lies between them at once; another one ignores them.
const BEGIN: &str = "\x1b[?2026h";
const END: &str = "\x1b[?2026l";
/// How long after a resize another one may be on its way.
const CALM: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests;
