//! Tables: columns side by side where there is room, else an entry for each row, with a line for each of its cells.

use super::inline::{self, Marks};
use crate::screen::terminal::{Look, Span, inline as visible};
use unicode_width::UnicodeWidthStr as _;

/// A table as it is shown.
pub(super) enum Table {
    /// Rows that have room.
    Rows(Vec<Vec<Span>>),
    /// Rows that have none: lines of `name: value`, which wrap. Each is with the name before it.
    Entries(Vec<Vec<(String, Vec<Span>)>>),
}

/// Rows of a table, as they were written, laid out for a width.
pub(super) fn laid_out(rows: &[String], columns: usize, marks: Marks) -> Table {
    let written = || rows.iter().map(|row| vec![Span { text: visible(row), look: Look::Plain }]).collect();
    let cells: Vec<Vec<Cell>> = rows.iter().map(|row| cells(row, marks)).collect();
    let is_table = rows.get(1).is_some_and(|row| is_divider(row));
    let count = cells.iter().map(Vec::len).max().unwrap_or_default();
    let width_of = |column| cells.iter().filter_map(|row| row.get(column)).map(Cell::width).max().unwrap_or_default();
    let divided: Vec<bool> = rows.iter().map(|row| is_divider(row)).collect();
    if !is_table {
        return Table::Rows(written());
    }
    let widths: Vec<usize> = (0..count)
        .map(|column| {
            let kept = cells
                .iter()
                .zip(&divided)
                .filter(|(_, is_divider)| !**is_divider)
                .filter_map(|(row, _)| row.get(column));
            kept.map(Cell::width).max().unwrap_or_else(|| width_of(column))
        })
        .collect();
    if widths.iter().sum::<usize>() + 3 * count.saturating_sub(1) > columns {
        return Table::Entries(entries(cells, &divided));
    }
    let sides: Vec<Side> = cells.get(1).into_iter().flatten().map(Side::of).collect();
    let rows = cells
        .into_iter()
        .zip(divided)
        .enumerate()
        .map(|(number, (row, is_divider))| match is_divider {
            true => {
                let lines: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                vec![Span { text: lines.join("─┼─"), look: Look::Dim }]
            }
            false => beside(row, &widths, &sides, number == 0),
        })
        .collect();
    Table::Rows(rows)
}

fn entries(cells: Vec<Vec<Cell>>, divided: &[bool]) -> Vec<Vec<(String, Vec<Span>)>> {
    let mut rows = cells.into_iter().zip(divided).filter(|(_, is_divider)| !**is_divider).map(|(row, _)| row);
    let names: Vec<String> = rows.next().unwrap_or_default().iter().map(Cell::text).collect();
    let entry = |row: Vec<Cell>| {
        let named = |(at, cell): (usize, Cell)| (names.get(at).cloned().unwrap_or_default(), cell.0);
        row.into_iter().enumerate().map(named).collect()
    };
    rows.map(entry).collect()
}

fn beside(row: Vec<Cell>, widths: &[usize], sides: &[Side], is_head: bool) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut row = row.into_iter();
    for (column, width) in widths.iter().enumerate() {
        let cell = row.next().unwrap_or_default();
        let is_last = column + 1 == widths.len();
        let free = width.saturating_sub(cell.width());
        let before = match sides.get(column) {
            Some(Side::Right) => free,
            Some(Side::Middle) => free / 2,
            Some(Side::Left) | None => 0,
        };
        // Nothing is written behind the last one.
        let blanks = if is_last { 0 } else { free - before };
        if column > 0 {
            spans.push(Span { text: String::from(" │ "), look: Look::Dim });
        }
        spans.push(Span { text: " ".repeat(before), look: Look::Plain });
        spans.extend(cell.0.into_iter().map(|span| match span.look {
            Look::Plain if is_head => Span { look: Look::Bold, ..span },
            _ => span,
        }));
        spans.push(Span { text: " ".repeat(blanks), look: Look::Plain });
    }
    spans
}

/// On which side of its column a cell stands, as the row of dashes says with colons.
#[derive(Clone, Copy, Debug)]
enum Side {
    Left,
    Middle,
    Right,
}

impl Side {
    fn of(dashes: &Cell) -> Self {
        let text = dashes.text();
        match (text.starts_with(':'), text.ends_with(':')) {
            (true, true) => Self::Middle,
            (false, true) => Self::Right,
            (true | false, false) => Self::Left,
        }
    }
}

#[derive(Debug, Default)]
struct Cell(Vec<Span>);

impl Cell {
    fn text(&self) -> String {
        self.0.iter().map(|span| span.text.as_str()).collect()
    }

    fn width(&self) -> usize {
        self.0.iter().map(|span| span.text.width()).sum()
    }
}

fn cells(row: &str, marks: Marks) -> Vec<Cell> {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let row = row.strip_suffix('|').filter(|row| !row.ends_with('\\')).unwrap_or(row);
    // A bar behind a backslash, or in code, divides nothing.
    let (mut parts, mut is_code, mut is_escaped) = (vec![String::new()], false, false);
    for c in row.chars() {
        is_code ^= c == '`';
        match parts.last_mut() {
            Some(part) if c == '|' && is_escaped => {
                part.pop();
                part.push(c);
            }
            Some(part) if c != '|' || is_code => part.push(c),
            _ => parts.push(String::new()),
        }
        is_escaped = c == '\\';
    }
    parts
        .iter()
        .map(|part| {
            let mut spans = Vec::new();
            inline::read(part.trim(), (Look::Plain, marks), true, &mut ' ', &mut |text, look| {
                spans.push(Span { text: visible(text), look });
            });
            Cell(spans)
        })
        .collect()
}

/// The row below the names of the columns.
fn is_divider(row: &str) -> bool {
    row.contains('-') && row.chars().all(|c| "|-: \t".contains(c))
}

/// A table that is longer is not waited for.
pub(super) const MOST_BYTES: usize = 16 * 1024;
