//! Rows of a width: the label, the text, and where the cursor stands in them.

use super::line::Line;
use crate::screen::counted::counted;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// What is to be drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) rows: Vec<String>,
    /// The row of the cursor, and its column, both from zero.
    pub(crate) cursor: (usize, usize),
    /// The same of every place where the cursor can stand.
    pub(crate) places: Vec<(usize, usize)>,
}

/// Lays a line out: the label before the first row, as many blanks before the others. No row is wider than `columns`, and the cursor
/// always has a column to stand in.
pub(crate) fn laid_out(label: &str, line: &Line, columns: usize) -> Rows {
    let columns = columns.max(1);
    // Where there is no room for both, the text matters more.
    let label = if label.width() + MOST_CELL < columns { label } else { "" };
    let mut page = Page { indent: label.width(), columns, rows: vec![label.to_owned()], column: label.width() };
    let mut places = Vec::with_capacity(line.cells().len() + 1);
    for cell in line.cells() {
        page.make_room(cell.width().min(columns - page.indent).max(1));
        places.push(page.place());
        if cell.is_break() {
            page.begin_row();
        } else if cell.width() > columns - page.indent {
            // A cell that is wider than a row, such as a placeholder, is laid out letter by letter.
            cell.shown().graphemes(true).for_each(|letter| page.put(letter));
        } else {
            page.put(cell.shown());
        }
    }
    page.make_room(1);
    places.push(page.place());
    let cursor = places.get(line.cursor()).copied().unwrap_or_default();
    Rows { rows: page.rows, cursor, places }
}

/// Rows while they are made.
struct Page {
    indent: usize,
    columns: usize,
    rows: Vec<String>,
    column: usize,
}

impl Page {
    fn place(&self) -> (usize, usize) {
        (self.rows.len() - 1, self.column)
    }

    fn begin_row(&mut self) {
        self.rows.push(" ".repeat(self.indent));
        self.column = self.indent;
    }

    fn make_room(&mut self, width: usize) {
        if self.column + width > self.columns {
            self.begin_row();
        }
    }

    /// A letter that no row has room for is not shown.
    fn put(&mut self, text: &str) {
        let width = text.width();
        if width <= self.columns - self.indent {
            self.make_room(width);
            self.rows.last_mut().into_iter().for_each(|row| row.push_str(text));
            self.column += width;
        }
    }
}

/// The part of the rows around the cursor that a height has room for.
pub(crate) fn around_cursor(rows: Rows, height: usize) -> Rows {
    let height = height.max(1);
    let (row, column) = rows.cursor;
    let first = row.saturating_sub(height - 1);
    let shown: Vec<String> = rows.rows.into_iter().skip(first).take(height).collect();
    Rows { rows: shown, cursor: (row - first, column), places: Vec::new() }
}

/// How many rows a height leaves out above and below those around the cursor, if any.
pub(crate) fn unseen(rows: &Rows, height: usize) -> Option<String> {
    let (all, height) = (rows.rows.len(), height.max(1));
    let above = rows.cursor.0.saturating_sub(height - 1);
    let below = all.saturating_sub(above + height);
    let part = |count: usize, side: &str| (count > 0).then(|| format!("{} {side}", counted(count as u64, "row")));
    let parts: Vec<String> = [part(above, "above"), part(below, "below")].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

impl Rows {
    /// The place for the cursor in this row, at this column or before it.
    pub(crate) fn nearest(&self, row: usize, column: usize) -> Option<usize> {
        let here = |place: &&(usize, &(usize, usize))| place.1.0 == row;
        let in_row: Vec<_> = self.places.iter().enumerate().collect();
        let mut in_row = in_row.iter().filter(here).peekable();
        let first = in_row.peek().map(|place| place.0);
        in_row.filter(|place| place.1.1 <= column).map(|place| place.0).max().or(first)
    }
}

/// A row cut to a width, with a mark where something is left out.
pub(crate) fn cut(row: &str, columns: usize) -> String {
    if row.width() <= columns {
        return row.to_owned();
    }
    let mut out = String::new();
    let mut width = 0;
    for letter in row.graphemes(true) {
        width += letter.width();
        if width >= columns {
            break;
        }
        out.push_str(letter);
    }
    out.push('…');
    out
}

/// Room for the widest letter must be left.
const MOST_CELL: usize = 4;
