//! The hunks of one section, applied to the text of its file.
//!
//! 1. A hunk is applied where its lines stand, exactly or but for blanks at line ends; what stays, stays as it is in the file.
//! 2. Hunks are in the order of the file. Where lines stand twice, an anchor must say which is meant.
//! 3. Finding a hunk takes a time that grows with the file and with the hunk, not with both; of all hunks together it has a limit, and can
//!    be stopped.
//! 4. New lines end as the lines of the file do, and a file without a final line end has none afterwards.

use super::{Hunk, Line};
use std::cell::Cell;

/// The result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Applied {
    pub(crate) text: String,
    pub(crate) added: usize,
    pub(crate) removed: usize,
    /// The first line that changed, counted from 1 in the result.
    pub(crate) first_line: usize,
}

/// Applies the hunks.
///
/// # Errors
/// Which of them does not fit, and why, for a model.
pub(crate) fn apply(text: &str, hunks: &[Hunk], is_stopped: &dyn Fn() -> bool) -> Result<Applied, String> {
    let file = File { lines: text.split_inclusive('\n').collect(), looked_at: Cell::new(0), is_stopped };
    let line_end = if text.matches("\r\n").count() * 2 > text.matches('\n').count() { "\r\n" } else { "\n" };
    let mut result: Vec<String> = Vec::with_capacity(file.lines.len());
    let (mut added, mut removed, mut first_line) = (0, 0, None);
    let mut done = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        let at = file.place_of(hunk, done).map_err(|reason| format!("change {} {reason}", index + 1))?;
        result.extend(file.slice(done, at));
        done = at;
        for line in &hunk.lines {
            match line {
                Line::Keep(_) => {
                    result.extend(file.slice(done, done + 1));
                    done += 1;
                    continue;
                }
                Line::Remove(_) => {
                    first_line.get_or_insert(result.len() + 1);
                    removed += 1;
                    done += 1;
                }
                Line::Add(line) => {
                    first_line.get_or_insert(result.len() + 1);
                    added += 1;
                    result.push(format!("{line}{line_end}"));
                }
            }
        }
    }
    result.extend(file.slice(done, file.lines.len()));
    let ends_open = !text.is_empty() && !text.ends_with('\n');
    Ok(Applied { text: join(result, line_end, ends_open), added, removed, first_line: first_line.unwrap_or(1) })
}

fn join(mut lines: Vec<String>, line_end: &str, ends_open: bool) -> String {
    let last = lines.len().saturating_sub(1);
    for (index, line) in lines.iter_mut().enumerate() {
        if index < last && !line.ends_with('\n') {
            line.push_str(line_end);
        }
        if index == last && ends_open {
            let end = line.trim_end_matches(['\r', '\n']).len();
            line.truncate(end);
        }
    }
    lines.concat()
}

struct File<'a> {
    /// With their ends.
    lines: Vec<&'a str>,
    /// Lines that were compared so far.
    looked_at: Cell<u64>,
    is_stopped: &'a dyn Fn() -> bool,
}

impl File<'_> {
    fn slice(&self, from: usize, to: usize) -> impl Iterator<Item = String> {
        self.lines.get(from..to).unwrap_or_default().iter().map(|line| (*line).to_owned())
    }

    /// The line, counted from 0, at which a hunk begins.
    fn place_of(&self, hunk: &Hunk, from: usize) -> Result<usize, String> {
        let mut from = from;
        for anchor in &hunk.anchors {
            from = 1 + self.find(&[anchor], from)?.ok_or_else(|| {
                format!("cannot be placed: the file has no line `{anchor}` at or after line {}", from + 1)
            })?;
        }
        let old: Vec<&str> = hunk
            .lines
            .iter()
            .filter_map(|line| match line {
                Line::Keep(line) | Line::Remove(line) => Some(line.as_str()),
                Line::Add(_) => None,
            })
            .collect();
        if old.is_empty() {
            return Ok(if hunk.anchors.is_empty() || hunk.is_at_end { self.lines.len() } else { from });
        }
        if hunk.is_at_end {
            let start = self.lines.len().checked_sub(old.len()).filter(|start| *start >= from);
            return start
                .filter(|start| LIKENESS.iter().any(|alike| self.stands(&old, *start, *alike)))
                .ok_or_else(|| String::from("does not fit: its lines are not at the end of the file"));
        }
        let Some(first) = self.find(&old, from)? else { return Err(self.absence(&old, from)?) };
        match self.find(&old, first + 1)? {
            Some(second) if hunk.anchors.is_empty() => Err(format!(
                "fits at line {} and at line {}: add lines around it, or an `@@` with a line above it",
                first + 1,
                second + 1
            )),
            Some(_) | None => Ok(first),
        }
    }

    /// The first place at or after a line where these lines stand.
    fn find(&self, old: &[&str], from: usize) -> Result<Option<usize>, String> {
        for alike in LIKENESS {
            if let Some(at) = self.find_alike(old, from, alike)? {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// By the method of Knuth, Morris and Pratt: no line of the file is gone back to.
    fn find_alike(&self, old: &[&str], from: usize, alike: Likeness) -> Result<Option<usize>, String> {
        let old: Vec<&str> = old.iter().map(|line| (alike.of_patch)(line)).collect();
        let shorter = self.shorter(&old)?;
        let mut fit = 0;
        for (at, line) in self.lines.iter().enumerate().skip(from) {
            self.look()?;
            let line = (alike.of_file)(line);
            while fit > 0 && old.get(fit) != Some(&line) {
                fit = shorter.get(fit - 1).copied().unwrap_or_default();
            }
            fit += usize::from(old.get(fit) == Some(&line));
            if fit == old.len() {
                return Ok(Some(at + 1 - fit));
            }
        }
        Ok(None)
    }

    /// For each number of lines that fit, how many of the last of them are also the first.
    fn shorter(&self, old: &[&str]) -> Result<Vec<usize>, String> {
        let mut shorter: Vec<usize> = vec![0];
        let mut fit = 0;
        for line in old.iter().skip(1) {
            self.look()?;
            while fit > 0 && old.get(fit) != Some(line) {
                fit = shorter.get(fit - 1).copied().unwrap_or_default();
            }
            fit += usize::from(old.get(fit) == Some(line));
            shorter.push(fit);
        }
        Ok(shorter)
    }

    /// Counts a line that is looked at.
    fn look(&self) -> Result<(), String> {
        let looked_at = self.looked_at.get() + 1;
        self.looked_at.set(looked_at);
        if looked_at > MOST_LOOKED_AT {
            return Err(format!(
                "takes too long to place: more than {MOST_LOOKED_AT} lines were compared; make fewer changes at once, or put an `@@` \
                 with a line above each"
            ));
        }
        match looked_at.is_multiple_of(LINES_BETWEEN_LOOKS) && (self.is_stopped)() {
            true => Err(String::from("was stopped")),
            false => Ok(()),
        }
    }

    fn stands(&self, old: &[&str], at: usize, alike: Likeness) -> bool {
        let here = self.lines.get(at..).unwrap_or_default();
        here.len() >= old.len()
            && here.iter().zip(old).all(|(line, old)| (alike.of_file)(line) == (alike.of_patch)(old))
    }

    fn absence(&self, old: &[&str], from: usize) -> Result<String, String> {
        let first = old.first().copied().unwrap_or_default();
        let near = match self.find(&[first], from)? {
            Some(at) => format!("line {} is its first line, but the lines after it differ", at + 1),
            None => format!("no line at or after line {} is `{first}`", from + 1),
        };
        Ok(format!("does not fit: {near}; copy the lines exactly from what `read_file` shows, without line numbers"))
    }
}

/// The part in which a line of the file and one of the patch must agree.
#[derive(Clone, Copy)]
struct Likeness {
    of_file: fn(&str) -> &str,
    of_patch: fn(&str) -> &str,
}

fn without_end(line: &str) -> &str {
    line.trim_end_matches(['\r', '\n'])
}

/// Exactly, or but for blanks at the end.
const LIKENESS: [Likeness; 2] = [
    Likeness { of_file: without_end, of_patch: |line| line },
    Likeness { of_file: str::trim_end, of_patch: str::trim_end },
];
/// Lines compared for one file: some seconds.
const MOST_LOOKED_AT: u64 = 100_000_000;
const LINES_BETWEEN_LOOKS: u64 = 16_384;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::{Change, parse};
    use proptest::prelude::*;

    fn patched(text: &str, body: &str) -> Result<String, String> {
        let sections = parse(&format!("*** Begin Patch\n*** Update File: f\n{body}\n*** End Patch")).unwrap();
        let Change::Update { hunks, .. } = &sections[0].change else { panic!("no update") };
        apply(text, hunks, &|| false).map(|applied| applied.text)
    }

    #[test]
    fn hunks_by_example() {
        let cases = [
            ("a\nb\nc\n", " a\n-b\n+x\n+y\n c", "a\nx\ny\nc\n"),
            ("a\nb", "-b\n+x", "a\nx"),
            ("a\nb", " b\n+c", "a\nb\nc"),
            ("a\r\nb\r\n", "-b\n+x", "a\r\nx\r\n"),
            ("a\r\nb\nc\n", "-b\n+x", "a\r\nx\nc\n"),
            ("a\n", "+b", "a\nb\n"),
            ("", "+b", "b\n"),
            ("a  \nb\n", " a\n-b", "a  \n"),
            ("f\nx\ng\nx\n", "@@ g\n-x\n+y", "f\nx\ng\ny\n"),
            ("x\nf\nx\n", "@@ f\n+in", "x\nf\nin\nx\n"),
            ("x\ny\nx\n", "-x\n+z\n*** End of File", "x\ny\nz\n"),
            ("a\nb\nc\nd\n", "-a\n+A\n@@\n-c\n+C", "A\nb\nC\nd\n"),
            ("a\n\nb\n", " a\n\n-b\n+c", "a\n\nc\n"),
            ("only", "-only", ""),
        ];
        for (text, body, expected) in cases {
            assert_eq!(patched(text, body).as_deref(), Ok(expected), "{text:?} {body:?}");
        }
    }

    #[test]
    fn what_does_not_fit_exactly_once_is_refused() {
        let cases = [
            ("x\nx\n", "-x\n+y", "fits at line 1 and at line 2"),
            ("a\nb\n", "-z\n+y", "no line at or after line 1 is `z`"),
            ("a\nb\n", " a\n-c\n+y", "line 1 is its first line, but the lines after it differ"),
            ("a\nb\n", "@@ z\n-b\n+c", "no line `z`"),
            ("a\nb\n", "-a\n+x\n*** End of File", "not at the end"),
            ("a\nb\n", "-b\n+x\n@@\n-a\n+y", "change 2"),
        ];
        for (text, body, expected) in cases {
            let error = patched(text, body).unwrap_err();
            assert!(error.contains(expected), "{body}: {error}");
        }
    }

    /// What grows with both, the file and the hunk, would not end here.
    #[test]
    fn many_equal_lines_are_looked_through_once() {
        let keep = |lines: usize| (0..lines).map(|_| Line::Keep(String::new())).collect::<Vec<_>>();
        let with = |last: Line| {
            let lines = keep(20_000).into_iter().chain([last]).collect();
            Hunk { anchors: vec![], lines, is_at_end: false }
        };
        let text = "\n".repeat(200_000) + "x\n";
        let applied = apply(&text, &[with(Line::Remove("x".into()))], &|| false).unwrap();
        assert_eq!((applied.removed, applied.first_line), (1, 200_001));
        assert!(apply(&text, &[with(Line::Remove("y".into()))], &|| false).unwrap_err().contains("does not fit"));
        let looks = Cell::new(0_u64);
        let stop = || {
            looks.set(looks.get() + 1);
            looks.get() == 3
        };
        assert!(apply(&text, &[with(Line::Remove("y".into()))], &stop).unwrap_err().contains("was stopped"));
        assert_eq!(looks.get(), 3, "it stops when it is asked to");
    }

    proptest! {
        #[test]
        fn lines_are_found_where_they_first_stand(
            text in prop::collection::vec("[ab]? ?", 0..14), old in prop::collection::vec("[ab]? ?", 1..5), from in 0usize..4,
        ) {
            let ends: Vec<String> = text.iter().map(|line| format!("{line}\n")).collect();
            let file = File { lines: ends.iter().map(String::as_str).collect(), looked_at: Cell::new(0), is_stopped: &|| false };
            let old: Vec<&str> = old.iter().map(String::as_str).collect();
            for alike in LIKENESS {
                let plainly = (from..text.len()).find(|at| file.stands(&old, *at, alike));
                prop_assert_eq!(file.find_alike(&old, from, alike).unwrap(), plainly);
            }
        }

        #[test]
        fn replacing_all_lines_gives_exactly_the_new_ones(
            old in prop::collection::vec("[a-c]{0,2}", 1..6), new in prop::collection::vec("[a-d]{0,2}", 1..6),
        ) {
            let text: String = old.iter().map(|line| format!("{line}\n")).collect();
            let marked = old.iter().map(|line| Line::Remove(line.clone())).chain(new.iter().map(|line| Line::Add(line.clone())));
            let hunk = Hunk { anchors: vec![], lines: marked.collect(), is_at_end: true };
            let wanted: String = new.iter().map(|line| format!("{line}\n")).collect();
            prop_assert_eq!(apply(&text, &[hunk], &|| false).unwrap().text, wanted);
        }
    }
}
