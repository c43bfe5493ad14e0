//! An answer in Markdown as a terminal shows it, while it comes.
//!
//! ```text
//! pieces of text -> lines, by how they begin (fence, heading, list, quote, table) -> marks within a line -> words in rows
//! ```
//!
//! 1. What was given out is never taken back: a mark is waited for until it is closed, its line ends, or [`inline::LONGEST_MARKED`] bytes
//!    came; then it stands as it is written. Nothing that the model wrote is left out but marks that were understood.
//! 2. A row ends at a word, and in time: no row is as wide as the terminal. Code keeps its lines.
//! 3. What is kept is bounded: a mark, a word no wider than a row, a table of [`table::MOST_BYTES`].
//!
//! Absent: HTML, footnotes, headings that are underlined, code that is only indented: they stay as written. A library that reads whole
//! documents could not give out a line before its end, so the marks are read here.

mod inline;
mod page;
mod table;

use crate::screen::terminal::{Look, Span};
use page::Page;
use table::Table;

pub(crate) use inline::Marks;

/// An answer of which a part has come.
#[derive(Debug)]
pub(crate) struct Markdown {
    marks: Marks,
    /// What has come and is not given out.
    rest: String,
    line: Line,
    /// The letter before that.
    before: char,
    /// How the fence is written that is open.
    fence: Option<String>,
    /// Rows of a table that may go on.
    table: Vec<String>,
    page: Page,
}

/// What is known of the line that comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Not how it is to be read.
    Begins,
    /// It is text, marks included.
    Text(Look),
    /// It is code, or what is shown as code is.
    Code,
    /// It is needed whole.
    Whole,
}

impl Markdown {
    pub(crate) fn new(marks: Marks) -> Self {
        Self {
            marks,
            rest: String::new(),
            line: Line::Begins,
            before: ' ',
            fence: None,
            table: Vec::new(),
            page: Page::default(),
        }
    }

    /// Takes more of the answer, and returns what can be written now in rows of this width.
    pub(crate) fn push(&mut self, text: &str, columns: usize) -> Vec<Span> {
        self.page.set_columns(columns);
        for piece in text.split_inclusive('\n') {
            self.rest.push_str(piece);
            let is_end = self.rest.ends_with('\n');
            if is_end {
                self.rest.truncate(self.rest.trim_end_matches(['\n', '\r']).len());
            }
            self.take(is_end);
        }
        self.page.taken()
    }

    /// Something else is written next, in a row of its own. The answer may go on: behind that, with the word that has begun.
    pub(crate) fn pause(&mut self) -> Vec<Span> {
        let spans = self.page.taken();
        self.page.break_row();
        spans
    }

    /// Whether a row is open.
    pub(crate) const fn is_in_row(&self) -> bool {
        self.page.is_in_row()
    }

    /// The answer ends.
    pub(crate) fn end(&mut self) -> Vec<Span> {
        if !self.rest.is_empty() || self.line != Line::Begins {
            self.take(true);
        }
        self.end_table();
        let spans = self.page.taken();
        *self = Self::new(self.marks);
        spans
    }

    /// Gives out as much of the line as is certain.
    fn take(&mut self, is_end: bool) {
        if self.line == Line::Begins {
            self.begin(is_end);
        }
        match self.line {
            Line::Text(look) => {
                let put = &mut |text: &str, look| self.page.text(text, look);
                let used = inline::read(&self.rest, (look, self.marks), is_end, &mut self.before, put);
                self.rest.drain(..used);
            }
            Line::Code if is_end || self.rest.len() > LONGEST_HELD => {
                let rest = std::mem::take(&mut self.rest);
                // A row that is left open has no colours: where it ends is reckoned from its text.
                self.page.as_it_is(&rest, if is_end { Look::Code } else { Look::Plain });
            }
            Line::Whole if is_end => self.whole(),
            // What is so long is none of the lines that are needed whole.
            Line::Whole if self.rest.len() > LONGEST_HELD => {
                self.line = if self.fence.is_some() { Line::Code } else { Line::Text(Look::Plain) };
                self.take(false);
            }
            Line::Begins | Line::Code | Line::Whole => {}
        }
        if is_end {
            if self.line != Line::Whole {
                self.page.end_row();
            }
            (self.line, self.before) = (Line::Begins, ' ');
            self.rest.clear();
        }
    }

    /// Finds out how a line is to be read, once enough of it has come.
    fn begin(&mut self, is_end: bool) {
        let rest = self.rest.clone();
        let text = rest.trim_start_matches(' ');
        let is_short = !is_end && self.rest.len() <= LONGEST_BEGINNING;
        if self.fence.is_some() {
            self.line = match text.chars().next() {
                None if is_short => Line::Begins,
                Some('`' | '~') => Line::Whole,
                _ => Line::Code,
            };
            return;
        }
        let Some(first) = text.chars().next() else {
            self.line = if is_short { Line::Begins } else { Line::Text(Look::Plain) };
            return self.end_table_unless(is_short);
        };
        let word = text.split(' ').next().unwrap_or_default();
        if is_short && word.len() == text.len() && "#-*+>`~_0123456789".contains(first) {
            return;
        }
        let is_fence = word.starts_with("```") || word.starts_with("~~~");
        let is_rule = "-*_".contains(first) && word.len() >= 3 && word.chars().all(|c| c == first);
        if is_fence || is_rule || first == '|' {
            self.line = Line::Whole;
            return self.end_table_unless(first == '|');
        }
        self.end_table();
        let indent = self.rest.len() - text.len();
        let is_number =
            |digits: &str| (1..=9).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        let (mark, shown, look) = match word {
            "-" | "*" | "+" => (word.len(), format!("{word} "), Look::Plain),
            _ if word.strip_suffix(['.', ')']).is_some_and(is_number) => (word.len(), format!("{word} "), Look::Plain),
            _ if first == '>' => (1, String::from("> "), Look::Italic),
            _ if word.len() <= 6 && word.bytes().all(|byte| byte == b'#') => (0, String::new(), Look::Bold),
            _ => (0, String::new(), Look::Plain),
        };
        self.page.begin(indent.min(MOST_INDENT), &shown, first == '>');
        let blank = usize::from(mark > 0 && text.as_bytes().get(mark) == Some(&b' '));
        self.rest.drain(..indent + mark + blank);
        self.line = Line::Text(look);
    }

    /// A line that has come whole, and may be more than its text.
    fn whole(&mut self) {
        let line = std::mem::take(&mut self.rest);
        let text = line.trim();
        if let Some(fence) = &self.fence {
            let is_end = text.starts_with(fence.as_str()) && text.chars().all(|c| fence.starts_with(c));
            self.fence = self.fence.take().filter(|_| !is_end);
            self.page.as_it_is(&line, if is_end { Look::Dim } else { Look::Code });
            self.page.end_row();
        } else if text.starts_with('|') {
            self.table.push(line);
            if self.table.iter().map(String::len).sum::<usize>() > table::MOST_BYTES {
                self.end_table();
            }
        } else if text.starts_with(['`', '~']) {
            let mark = text.chars().next().unwrap_or('`');
            let length = text.chars().take_while(|c| *c == mark).count();
            let has_more = mark == '`' && text.chars().skip(length).any(|c| c == '`');
            if has_more {
                return self.text(&line);
            }
            self.fence = Some(mark.to_string().repeat(length));
            self.page.as_it_is(&line, Look::Dim);
            self.page.end_row();
        } else if text.chars().all(|c| c == ' ' || text.starts_with(c)) {
            self.page.rule();
        } else {
            // It begins as a rule does, and goes on.
            self.text(&line);
        }
    }

    /// A line that is text after all.
    fn text(&mut self, line: &str) {
        let page = &mut self.page;
        inline::read(line, (Look::Plain, self.marks), true, &mut ' ', &mut |text, look| page.text(text, look));
        page.end_row();
    }

    fn end_table_unless(&mut self, goes_on: bool) {
        if !goes_on {
            self.end_table();
        }
    }

    fn end_table(&mut self) {
        match table::laid_out(&std::mem::take(&mut self.table), self.page.columns(), self.marks) {
            Table::Rows(rows) => rows.into_iter().for_each(|row| {
                row.iter().for_each(|Span { text, look }| self.page.as_it_is(text, *look));
                self.page.end_row();
            }),
            Table::Entries(entries) => entries.into_iter().enumerate().for_each(|(at, entry)| {
                if at > 0 {
                    self.page.rule();
                }
                for (name, value) in entry {
                    self.page.begin(0, "", false);
                    self.page.text(&format!("{name}: "), Look::Bold);
                    value.iter().for_each(|Span { text, look }| self.page.text(text, *look));
                    self.page.end_row();
                }
            }),
        }
    }
}

/// More of a line that is needed whole is not waited for.
const LONGEST_HELD: usize = 1_000;
/// More is not needed to see how a line begins.
const LONGEST_BEGINNING: usize = 12;
/// A line does not begin further to the right, however it is written.
const MOST_INDENT: usize = 12;

#[cfg(test)]
mod tests;
