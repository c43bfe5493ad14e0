//! All that a call would do, as a person reads it before it is allowed: every argument decoded, every line of it, part by part.
//!
//! 1. A line of the sheet shows one line of an argument, or a piece of a long one, which fits the terminal.
//! 2. What cannot be seen is made visible, and what could push text out of sight is counted.
//! 3. The sheet knows what of it was shown. Whether a call may be allowed before that is decided by the screen.

use crate::screen::change::Changes;
use crate::screen::terminal::{self, Tint, clean, one_line, unmistakable};
use crate::screen::view::{call_line, telling};
use agent_core::conversation::ToolCall;
use serde_json::Value;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// A line as it is shown.
pub(crate) type Row = (Tint, String);

/// The lines, and how many of them were shown.
pub(crate) struct Sheet {
    lines: Vec<Row>,
    shown: usize,
}

impl Sheet {
    pub(crate) fn of(call: &ToolCall) -> Self {
        let mut lines = Vec::new();
        match serde_json::from_str::<Value>(call.arguments.as_str()) {
            Ok(arguments) => flatten("", &arguments, &mut lines),
            // What is no JSON reaches no tool; it is shown as it is.
            Err(_) => text("arguments", call.arguments.as_str(), &mut lines),
        }
        Self { lines, shown: 0 }
    }

    /// The same below a heading that has the [line](call_line) of the call: what stands there whole is not shown again.
    pub(crate) fn below_heading(call: &ToolCall) -> Self {
        let is_in_heading = |arguments: &Value| {
            let text = telling(arguments)?;
            let is_whole = one_line(text, COLUMNS_OF_A_PIECE) == text && call_line(call).contains(text);
            let is_alone = arguments.as_object()?.len() == 1;
            (is_whole && is_alone).then_some(())
        };
        match serde_json::from_str::<Value>(call.arguments.as_str()).ok().as_ref().and_then(is_in_heading) {
            Some(()) => Self { lines: Vec::new(), shown: 0 },
            None => Self::of(call),
        }
    }

    /// The same of a call that changes files, as the lines that it changes.
    pub(crate) fn of_changes(changes: &Changes) -> Self {
        Self { lines: changes.rows(), shown: 0 }
    }

    /// The next part that was not shown yet.
    pub(crate) fn next_part(&mut self) -> &[Row] {
        self.show(LINES_OF_A_PART)
    }

    /// All that was not shown yet.
    pub(crate) fn rest(&mut self) -> &[Row] {
        self.show(usize::MAX)
    }

    /// Whether all of it was shown.
    pub(crate) const fn is_seen(&self) -> bool {
        self.shown == self.lines.len()
    }

    /// How much was shown, for people.
    pub(crate) fn how_far(&self) -> String {
        format!("{} of {} rows shown", self.shown, self.lines.len())
    }

    fn show(&mut self, most: usize) -> &[Row] {
        let from = self.shown;
        self.shown = from.saturating_add(most).min(self.lines.len());
        self.lines.get(from..self.shown).unwrap_or_default()
    }
}

/// A value with everything in it, each part under its own name.
fn flatten(name: &str, value: &Value, lines: &mut Vec<Row>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let dot = if name.is_empty() { "" } else { "." };
            for (member, value) in members {
                flatten(&format!("{name}{dot}{member}"), value, lines);
            }
        }
        Value::Array(elements) if !elements.is_empty() => {
            for (number, value) in elements.iter().enumerate() {
                flatten(&format!("{name}[{number}]"), value, lines);
            }
        }
        Value::String(string) => text(name, string, lines),
        other => text(name, &other.to_string(), lines),
    }
}

/// A text: behind its name when it is one line, else below it, with the numbers of its lines.
fn text(name: &str, text: &str, lines: &mut Vec<Row>) {
    // Before it is cut: a piece of a secret would not be known as one.
    let text = &*clean(text);
    let name = unmistakable(&name.replace('\n', "\\n"));
    let all: Vec<&str> = text.split('\n').collect();
    if let [line] = all[..] {
        pieces(&format!("  {name}: "), line, Tint::Dim, lines);
        return;
    }
    // A line break at the end begins no further line.
    let all = if all.last() == Some(&"") { all.get(..all.len() - 1).unwrap_or_default() } else { &all[..] };
    let many = if all.len() == 1 { ", ending in a line break" } else { "s" };
    lines.push((Tint::Dim, format!("  {name}: {} line{many}", all.len())));
    let width = all.len().to_string().len();
    let mut number = 0;
    while let Some(line) = all.get(number) {
        let empty = all.iter().skip(number).take_while(|line| line.trim_matches([' ', '\t']).is_empty()).count();
        if empty > MOST_EMPTY_LINES {
            lines.push((Tint::Dim, format!("  {:>width$} | [{empty} empty lines]", number + 1)));
            number += empty;
            continue;
        }
        pieces(&format!("  {:>width$} | ", number + 1), line, Tint::Dim, lines);
        number += 1;
    }
}

/// A line, cut where a terminal would break it, so that its further pieces cannot pass for lines of their own.
pub(super) fn pieces(before: &str, line: &str, tint: Tint, lines: &mut Vec<Row>) {
    // Where it has fewer columns, a piece has them: broken by the program and by the terminal, it would be hard to read.
    let room = |before: &str| terminal::size().0.saturating_sub(before.width()).clamp(8, COLUMNS_OF_A_PIECE);
    let (mut piece, mut columns, mut most) = (before.to_owned(), 0, room(before));
    for sign in unmistakable(line).chars() {
        let width = columns_of(sign);
        if columns + width > most {
            lines.push((tint, std::mem::replace(&mut piece, CONTINUED.to_owned())));
            (columns, most) = (0, room(CONTINUED));
        }
        piece.push(sign);
        columns += width;
    }
    lines.push((tint, piece));
}

/// A line in rows that a terminal of this width does not break by itself: whoever wrote the text in it, no row but the first begins with
/// it.
pub(crate) fn wrapped(line: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(CONTINUED.len() + 4);
    let (mut rows, mut row, mut width) = (Vec::new(), String::new(), 0);
    for sign in line.chars() {
        if width + columns_of(sign) > columns {
            rows.push(std::mem::replace(&mut row, CONTINUED.to_owned()));
            width = CONTINUED.len();
        }
        row.push(sign);
        width += columns_of(sign);
    }
    rows.push(row);
    rows
}

/// A line of the program's own in rows that end between words; all but the first begin with so many blanks. A word that fills more than a
/// row is cut.
pub(crate) fn at_words(line: &str, columns: usize, indent: usize) -> Vec<String> {
    let indent = if indent * 2 > columns { LEAST_INDENT.min(columns / 3) } else { indent };
    let (mut rows, mut row, mut width, mut is_empty) = (Vec::new(), String::new(), 0, true);
    let next = |rows: &mut Vec<String>, row: &mut String| {
        let whole = std::mem::replace(row, " ".repeat(indent));
        rows.push(whole.trim_end().to_owned());
        indent
    };
    for word in line.split_inclusive(' ') {
        let word_width: usize = word.trim_end().chars().map(columns_of).sum();
        if width + word_width > columns && !is_empty {
            width = next(&mut rows, &mut row);
        }
        for sign in word.chars() {
            if width + columns_of(sign) > columns && sign != ' ' {
                width = next(&mut rows, &mut row);
            }
            row.push(sign);
            width += columns_of(sign);
        }
        is_empty = false;
    }
    rows.push(row);
    rows
}

/// The columns that a terminal may give a sign. A mark that joins the letter before it counts too: not every terminal joins them.
fn columns_of(sign: char) -> usize {
    sign.width().unwrap_or(1).max(1)
}

/// How a row begins that continues the one before.
const CONTINUED: &str = "    > ";
/// How far a continued row is indented where its line would leave too little room.
const LEAST_INDENT: usize = 2;
const LINES_OF_A_PART: usize = 60;
const COLUMNS_OF_A_PIECE: usize = 72;
const MOST_EMPTY_LINES: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use agent_core::conversation::{Arguments, CallId};
    use serde_json::json;

    fn sheet(arguments: &Value) -> Sheet {
        let arguments = Arguments::parse(&arguments.to_string()).unwrap();
        Sheet::of(&ToolCall { id: CallId::new("c"), name: "bash".into(), arguments })
    }

    fn lines(arguments: &Value) -> Vec<String> {
        sheet(arguments).rest().iter().map(|(_, line)| line.clone()).collect()
    }

    #[test]
    fn every_line_of_a_command_is_a_line() {
        assert_eq!(lines(&json!({"command": "cargo test"})), ["  command: cargo test"]);
        assert_eq!(
            lines(&json!({"command": "cargo test\n\u{74}ouch PWNED", "timeout_ms": 5})),
            ["  command: 2 lines", "  1 | cargo test", "  2 | touch PWNED", "  timeout_ms: 5"]
        );
        assert_eq!(
            lines(&json!({"a": {"b": ["x", "y\n", null]}})),
            ["  a.b[0]: x", "  a.b[1]: 1 line, ending in a line break", "  1 | y", "  a.b[2]: null"]
        );
        assert_eq!(lines(&json!({"content": ""})), ["  content: "]);
        assert_eq!(lines(&json!({"x\ny": "1"})), ["  x\\ny: 1"], "a name is no line either");
    }

    #[test]
    fn nothing_is_pushed_out_of_sight() {
        let far = format!("ls{};touch x", " ".repeat(9_000));
        assert_eq!(lines(&json!({"command": far})), ["  command: ls[9000 blanks];touch x"]);
        let below = format!("ls{}touch x", "\n \t".repeat(500));
        assert_eq!(
            lines(&json!({"command": below})),
            ["  command: 501 lines", "    1 | ls", "    2 | [499 empty lines]", "  501 |      touch x"]
        );
        let long = lines(&json!({"command": "x".repeat(200)}));
        assert_eq!(long.len(), 3);
        assert!(long[1].starts_with("    > x") && long.iter().all(|line| line.chars().count() < 90), "{long:?}");
        for hidden in [
            "a\u{2800}b",
            "a\u{200b}b",
            "a\u{a0}b",
            "a\u{3000}b",
            "a\rb",
            "a\u{1b}[2Kb",
            "a\u{202e}b",
            "a\u{200d}b",
            "a\tb",
        ] {
            let shown = lines(&json!({"command": hidden})).concat();
            let code = format!("{:x}", hidden.chars().nth(1).map_or(0, u32::from));
            assert!(shown.contains(&code) || shown.contains("\\t"), "{hidden:?}: {shown}");
            assert!(!shown.contains(hidden), "{hidden:?}: {shown}");
        }
        assert_eq!(lines(&json!({"command": "über 'ß' 日本"})), ["  command: über 'ß' 日本"], "control");
    }

    /// A terminal of 80 columns must not break a piece by itself: what follows would begin where lines begin.
    #[test]
    fn wide_signs_count_as_two_columns() {
        for wide in ["日", "한", "Ａ", "🦀", "\u{20000}"] {
            let shown = lines(&json!({"command": format!("{}  asked because it is safe", wide.repeat(72))}));
            let first = shown.first().unwrap().trim_start_matches("  command: ");
            assert_eq!(first.chars().count(), 34, "{wide}: {shown:?}");
            assert!(shown.len() == 3 && shown.iter().skip(1).all(|line| line.starts_with("    > ")), "{shown:?}");
        }
        assert_eq!(lines(&json!({"command": "ü".repeat(69)})).len(), 1, "control");
    }

    /// Whatever the width: the first row begins as the line does, and every other with the mark of a continued one.
    #[test]
    fn no_row_begins_with_what_a_line_holds() {
        let line = format!("allow this call? bash {}answer: y {}", "x".repeat(50), "日".repeat(40));
        for columns in [1, 5, 20, 40, 80, 200] {
            let rows = wrapped(&line, columns);
            let most = columns.max(10);
            assert!(rows.iter().all(|row| row.chars().map(columns_of).sum::<usize>() <= most), "{columns}: {rows:?}");
            assert!(rows[1..].iter().all(|row| row.starts_with(CONTINUED)), "{rows:?}");
            let joined = rows.iter().map(|row| row.strip_prefix(CONTINUED).unwrap_or(row)).collect::<String>();
            assert_eq!(joined, line);
        }
    }

    #[test]
    fn rows_end_between_words() {
        let line = "/model [ID]  changes the model, from a list without ID; the provider stays";
        assert_eq!(at_words(line, 80, 13), [line]);
        assert_eq!(
            at_words(line, 40, 13),
            [
                "/model [ID]  changes the model, from a",
                "             list without ID; the",
                "             provider stays"
            ]
        );
        assert_eq!(at_words("a https://example.com/long b", 12, 2), ["a", "  https://ex", "  ample.com/", "  long b"]);
        assert_eq!(at_words("  | text of it", 9, 2), ["  | text", "  of it"]);
        assert_eq!(at_words("", 9, 2), [""]);
    }

    /// Whatever the width and the words: no row is wider, and no letter is lost.
    #[test]
    fn rows_of_words_fit_and_lose_nothing() {
        let line = "whatever  the widths 日本語日本語 are, e\u{301} counts   as two ".repeat(3);
        let signs = |text: &str| text.chars().filter(|sign| *sign != ' ').collect::<String>();
        for columns in 2..90 {
            for indent in [0, 2, 13, 60] {
                let rows = at_words(&line, columns, indent);
                let width = |row: &String| row.trim_end().chars().map(columns_of).sum::<usize>();
                assert!(rows.iter().all(|row| width(row) <= columns), "{columns} {indent}: {rows:?}");
                assert_eq!(signs(&rows.concat()), signs(&line), "{columns} {indent}");
            }
        }
    }

    #[test]
    fn it_knows_what_was_shown() {
        let content: String = (0..150).map(|number| format!("line {number}\n")).collect();
        let mut sheet = sheet(&json!({"content": content}));
        let mut seen = Vec::new();
        let mut parts = 0;
        while !sheet.is_seen() {
            seen.extend_from_slice(sheet.next_part());
            parts += 1;
        }
        assert_eq!((parts, seen.len()), (3, 151));
        assert!(seen[150].1.ends_with("line 149"));
        assert!(sheet.next_part().is_empty());
    }
}
