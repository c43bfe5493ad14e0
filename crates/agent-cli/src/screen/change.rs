//! What a call changes in files, as lines with numbers: before it is decided about, and after it ran.
//!
//! 1. Every line that is added or removed is there, whole. Lines that stay as they are may be left out, and are counted.
//! 2. What cannot be seen is made visible, and what could push text out of sight is counted, as in the rest of a question.
//! 3. Where a secret that is known would have to be replaced there is no such view: it could hide a change.

use crate::screen::counted::counted;
use crate::screen::sheet::{Row, pieces};
use crate::screen::terminal::{Tint, clean, judged};
use agent_core::conversation::ToolCall;
use agent_tools::{FileChange, FileText, preview};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// The files that a call changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Changes(Vec<FileChange>);

impl Changes {
    /// What the call would make of the files as they are; nothing where that cannot be shown as lines.
    pub(crate) fn of(call: &ToolCall, directory: &Path) -> Option<Self> {
        Self::after(call, directory, &BTreeMap::new())
    }

    /// The same after other calls have changed these files.
    pub(crate) fn after(call: &ToolCall, directory: &Path, changed: &BTreeMap<String, String>) -> Option<Self> {
        let read = |path: &str| match changed.get(path) {
            Some(text) => FileText::Text(text.clone()),
            None => text_of(&directory.join(path)),
        };
        let changes = preview(&call.name, &call.arguments, &read)?;
        let is_clean =
            |text: &Option<String>| text.as_deref().is_none_or(|text| matches!(clean(text), Cow::Borrowed(_)));
        changes.iter().all(|change| is_clean(&change.old) && is_clean(&change.new)).then_some(Self(changes))
    }

    /// A file that was so and is so now. Text alone is shown.
    pub(crate) fn between(path: &str, old: Option<&[u8]>, new: Option<&[u8]>) -> Option<Self> {
        let text = |bytes: Option<&[u8]>| match bytes {
            None => Some(None),
            Some(bytes) => std::str::from_utf8(bytes).ok().map(|text| Some(clean(text).into_owned())),
        };
        let (old, new) = (text(old)?, text(new)?);
        Some(Self(vec![FileChange { path: path.to_owned(), moved_to: None, old, new }]))
    }

    /// The files' texts afterwards.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (String, String)> {
        self.0.iter().filter_map(|change| {
            let path = change.moved_to.as_ref().unwrap_or(&change.path);
            Some((path.clone(), change.new.clone()?))
        })
    }

    /// Each file.
    pub(crate) fn files(&self) -> &[FileChange] {
        &self.0
    }

    /// All of it.
    pub(crate) fn rows(&self) -> Vec<Row> {
        self.0.iter().flat_map(rows_of).collect()
    }
}

fn rows_of(change: &FileChange) -> Vec<Row> {
    let path = judged(&change.path);
    let (old, new) = (change.old.as_deref(), change.new.as_deref());
    let mut rows = Rows::default();
    let (Some(before), Some(after)) = (old.or(Some("")), new) else {
        let lines = counted(old.unwrap_or_default().lines().count() as u64, "line");
        return vec![(Tint::Red, format!("  removes {path} ({lines})"))];
    };
    let is_crlf = is_crlf(before) && is_crlf(after);
    let lines = |text: &str| -> Vec<String> {
        let lines = text.split_inclusive('\n');
        lines.map(|line| if is_crlf { line.replace("\r\n", "\n") } else { line.to_owned() }).collect()
    };
    let (before, after) = (lines(before), lines(after));
    let deadline = Instant::now() + LONGEST;
    let all = in_order(capture_diff_slices_deadline(Algorithm::Myers, &before, &after, Some(deadline)));
    let count =
        |of: fn(&DiffOp) -> usize| all.iter().filter(|op| !matches!(op, DiffOp::Equal { .. })).map(of).sum::<usize>();
    let (removed, added) = (count(|op| op.old_range().len()), count(|op| op.new_range().len()));
    let what = match (old, &change.moved_to) {
        (None, _) => format!("  {path} (new, {})", counted(added as u64, "line")),
        (Some(_), Some(to)) => format!("  {path} -> {} (+{added} -{removed})", judged(to)),
        (Some(_), None) => format!("  {path} (+{added} -{removed})"),
    };
    rows.width = before.len().max(after.len()).to_string().len();
    rows.all.push((Tint::Dim, what));
    let mut shown_until = 0;
    for group in group_diff_ops(all, CONTEXT_LINES) {
        let begin = group.first().map_or(0, |op| op.old_range().start);
        rows.skipped(begin - shown_until);
        group.iter().for_each(|op| rows.op(op, &before, &after));
        shown_until = group.last().map_or(begin, |op| op.old_range().end);
    }
    rows.skipped(before.len() - shown_until);
    if after.last().is_some_and(|line| !line.ends_with('\n')) {
        rows.all.push((Tint::Dim, format!("  {:>width$}   [no line break at the end]", "", width = rows.width)));
    }
    rows.all
}

/// The same steps, each where the ones before end: what the library says of that is not always so for what it has moved together.
fn in_order(steps: Vec<DiffOp>) -> Vec<DiffOp> {
    let (mut old, mut new) = (0, 0);
    let mut placed = |step: DiffOp| {
        let (old_index, new_index) = (old, new);
        let (old_len, new_len) = (step.old_range().len(), step.new_range().len());
        (old, new) = (old + old_len, new + new_len);
        match step {
            DiffOp::Equal { len, .. } => DiffOp::Equal { old_index, new_index, len },
            DiffOp::Delete { .. } => DiffOp::Delete { old_index, old_len, new_index },
            DiffOp::Insert { .. } => DiffOp::Insert { old_index, new_index, new_len },
            DiffOp::Replace { .. } => DiffOp::Replace { old_index, old_len, new_index, new_len },
        }
    };
    steps.into_iter().map(&mut placed).collect()
}

#[derive(Default)]
struct Rows {
    all: Vec<Row>,
    /// Of the numbers.
    width: usize,
}

impl Rows {
    fn skipped(&mut self, lines: usize) {
        if lines > 0 {
            let lines = counted(lines as u64, "unchanged line");
            self.all.push((Tint::Dim, format!("  {:>width$}   [{lines}]", "", width = self.width)));
        }
    }

    fn op(&mut self, op: &DiffOp, before: &[String], after: &[String]) {
        if let DiffOp::Equal { .. } = op {
            return self.lines(Tint::Dim, ' ', op.new_range().start, after.get(op.new_range()).unwrap_or_default());
        }
        self.lines(Tint::Red, '-', op.old_range().start, before.get(op.old_range()).unwrap_or_default());
        self.lines(Tint::Green, '+', op.new_range().start, after.get(op.new_range()).unwrap_or_default());
    }

    fn lines(&mut self, tint: Tint, mark: char, from: usize, lines: &[String]) {
        let width = self.width;
        let mut at = 0;
        while let Some(line) = lines.get(at) {
            let empty =
                lines.iter().skip(at).take_while(|line| line.trim_matches([' ', '\t', '\n']).is_empty()).count();
            let head = format!("  {:>width$} {mark} ", from + at + 1);
            if empty > MOST_EMPTY_LINES {
                self.all.push((tint, format!("{head}[{empty} empty lines]")));
                at += empty;
                continue;
            }
            pieces(&head, line.strip_suffix('\n').unwrap_or(line), tint, &mut self.all);
            at += 1;
        }
    }
}

/// Whether every line ends as on Windows; then that is no news.
fn is_crlf(text: &str) -> bool {
    text.matches('\n').count() == text.matches("\r\n").count()
}

/// What is at a path, read without waiting for anyone: a pipe is no file.
fn text_of(path: &Path) -> FileText {
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap_or_default();
    let file = match fs::OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return FileText::Absent,
        Err(_) => return FileText::Other,
    };
    if !file.metadata().is_ok_and(|about| about.is_file() && about.len() <= MOST_BYTES) {
        return FileText::Other;
    }
    let mut text = String::new();
    match file.take(MOST_BYTES).read_to_string(&mut text) {
        Ok(_) if !text.contains('\0') => FileText::Text(text.strip_prefix('\u{FEFF}').unwrap_or(&text).to_owned()),
        _ => FileText::Other,
    }
}

const CONTEXT_LINES: usize = 3;
const MOST_EMPTY_LINES: usize = 3;
const MOST_BYTES: u64 = 2 * 1024 * 1024;
/// Later the difference is given as larger than it is.
const LONGEST: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn change(old: Option<&str>, new: Option<&str>) -> Vec<String> {
        let owned = |text: Option<&str>| text.map(ToOwned::to_owned);
        let change = FileChange { path: "a.rs".into(), moved_to: None, old: owned(old), new: owned(new) };
        rows_of(&change).into_iter().map(|(_, row)| row).collect()
    }

    #[test]
    fn lines_have_their_numbers_and_marks() {
        let old: String = (1..=12).map(|number| format!("line {number}\n")).collect();
        let new = old.replace("line 6\n", "six\nand a half\n");
        assert_eq!(
            change(Some(&old), Some(&new)),
            [
                "  a.rs (+2 -1)",
                "       [2 unchanged lines]",
                "   3   line 3",
                "   4   line 4",
                "   5   line 5",
                "   6 - line 6",
                "   6 + six",
                "   7 + and a half",
                "   8   line 7",
                "   9   line 8",
                "  10   line 9",
                "       [3 unchanged lines]",
            ]
        );
        assert_eq!(change(None, Some("x\n")), ["  a.rs (new, 1 line)", "  1 + x"]);
        assert_eq!(change(Some("x\ny\n"), None), ["  removes a.rs (2 lines)"]);
        assert_eq!(
            change(Some("x\n"), Some("x")),
            ["  a.rs (+1 -1)", "  1 - x", "  1 + x", "      [no line break at the end]"]
        );
    }

    #[test]
    fn nothing_in_them_is_invisible() {
        let new = format!("a\u{202e}b\x1b[2J\r\n{}end\n", "\n".repeat(500));
        let rows = change(Some("x\r\n"), Some(&new));
        assert!(rows.iter().all(|row| !row.contains(['\u{202e}', '\x1b', '\r'])), "{rows:?}");
        assert!(rows.iter().any(|row| row.contains("[500 empty lines]")) && rows.len() < 10, "{rows:?}");
        assert!(change(Some("x\r\n"), Some("y\r\n")).iter().all(|row| !row.contains("u{d}")));
    }

    proptest! {
        /// The new text is what is shown of it and what the counts say that stayed.
        #[test]
        fn every_new_line_is_shown_or_was_there(
            old in prop::collection::vec("[ab]{1,2}", 0..30), new in prop::collection::vec("[ab]{1,2}", 0..30)
        ) {
            let text = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
            let rows = change(Some(&text(&old)), Some(&text(&new)));
            let (mut seen, mut at) = (Vec::new(), 0);
            for row in &rows[1..] {
                if let Some(count) = row.trim().strip_prefix('[').and_then(|row| row.split(' ').next()?.parse::<usize>().ok()) {
                    seen.extend_from_slice(&old[at..at + count]);
                    at += count;
                    continue;
                }
                let (number, rest) = row.trim_start().split_once(' ').unwrap();
                let (mark, line) = rest.split_at(2);
                let number: usize = number.parse().unwrap();
                if mark == "- " {
                    prop_assert_eq!((number, line), (at + 1, old[at].as_str()));
                } else {
                    prop_assert_eq!(number, seen.len() + 1);
                    seen.push(line.to_owned());
                }
                at += usize::from(mark != "+ ");
            }
            prop_assert_eq!((seen, at), (new, old.len()));
        }
    }
}
