//! The text of a patch, into its sections.

use super::{Change, Hunk, Line, Section};

/// Reads a patch.
///
/// # Errors
/// The line that does not fit, and what would, for a model.
pub(crate) fn parse(patch: &str) -> Result<Vec<Section>, String> {
    let mut lines = Lines::new(patch)?;
    let mut sections: Vec<Section> = Vec::new();
    while let Some(line) = lines.next() {
        let section = section(line, &mut lines)?;
        let paths = |section: &Section| {
            let moved = match &section.change {
                Change::Update { move_to, .. } => move_to.clone(),
                Change::Add { .. } | Change::Delete => None,
            };
            [Some(section.path.clone()), moved].into_iter().flatten().collect::<Vec<_>>()
        };
        let named: Vec<String> = sections.iter().flat_map(paths).collect();
        if let Some(twice) = paths(&section).iter().find(|path| named.contains(path)) {
            return Err(format!("the patch names `{twice}` twice: put everything about a file into one section"));
        }
        sections.push(section);
    }
    if sections.is_empty() {
        return Err(format!("the patch changes nothing: between `{BEGIN}` and `{END}` there is no section"));
    }
    Ok(sections)
}

fn section(line: &str, lines: &mut Lines<'_>) -> Result<Section, String> {
    let (path, change) = if let Some(path) = line.strip_prefix(ADD) {
        (path, Change::Add { content: added(lines)? })
    } else if let Some(path) = line.strip_prefix(DELETE) {
        (path, Change::Delete)
    } else if let Some(path) = line.strip_prefix(UPDATE) {
        (path, update(lines)?)
    } else {
        return Err(lines.unexpected(line, &format!("`{ADD}PATH`, `{UPDATE}PATH` or `{DELETE}PATH`")));
    };
    match path.trim() {
        "" => Err(format!("line {} of the patch names no file", lines.number)),
        path => Ok(Section { path: path.to_owned(), change }),
    }
}

fn added(lines: &mut Lines<'_>) -> Result<String, String> {
    let mut content = String::new();
    while let Some(line) = lines.next_of_section() {
        let Some(line) = line.strip_prefix('+') else {
            return Err(lines.unexpected(line, "`+` before every line of a new file"));
        };
        content.push_str(line);
        content.push('\n');
    }
    Ok(content)
}

fn update(lines: &mut Lines<'_>) -> Result<Change, String> {
    let move_to = lines.peek().and_then(|line| line.strip_prefix(MOVE)).map(|path| path.trim().to_owned());
    if move_to.is_some() {
        lines.next();
    }
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut open = Hunk::default();
    while let Some(line) = lines.next_of_section() {
        if let Some(anchor) = line.strip_prefix(ANCHOR) {
            if !open.lines.is_empty() {
                hunks.push(std::mem::take(&mut open));
            }
            let anchor = anchor.strip_prefix(' ').unwrap_or(anchor);
            if !anchor.trim().is_empty() {
                open.anchors.push(anchor.to_owned());
            }
        } else if line == END_OF_FILE {
            open.is_at_end = true;
            hunks.push(std::mem::take(&mut open));
        } else {
            open.lines.push(marked(line).ok_or_else(|| {
                lines.unexpected(line, "a space, `-` or `+` before every line, or a line that begins with `@@`")
            })?);
        }
    }
    if !open.lines.is_empty() {
        hunks.push(open);
    } else if !open.anchors.is_empty() {
        return Err(format!("the `@@` before line {} of the patch is followed by no change", lines.number + 1));
    }
    let is_change = |hunk: &Hunk| hunk.lines.iter().any(|line| !matches!(line, Line::Keep(_)));
    if let Some(hunk) = hunks.iter().find(|hunk| !is_change(hunk)) {
        let Some(Line::Keep(first) | Line::Remove(first) | Line::Add(first)) = hunk.lines.first() else {
            return Err(format!("`{END_OF_FILE}` must come after a change"));
        };
        return Err(format!("a change that begins with `{first}` has no line with `+` or `-`: leave it out"));
    }
    if hunks.is_empty() && move_to.is_none() {
        return Err(format!("the section before line {} of the patch changes nothing", lines.number + 1));
    }
    Ok(Change::Update { move_to, hunks })
}

fn marked(line: &str) -> Option<Line> {
    let rest = |mark: char| line.strip_prefix(mark).map(str::to_owned);
    // An empty line that stays often comes without its space.
    if line.is_empty() {
        return Some(Line::Keep(String::new()));
    }
    rest(' ').map(Line::Keep).or_else(|| rest('-').map(Line::Remove)).or_else(|| rest('+').map(Line::Add))
}

/// The lines between the first and the last one.
struct Lines<'a> {
    lines: Vec<&'a str>,
    next: usize,
    /// Of the line that was taken last, counted from 1 in the whole patch.
    number: usize,
    offset: usize,
}

impl<'a> Lines<'a> {
    fn new(patch: &'a str) -> Result<Self, String> {
        let all: Vec<&str> = patch.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
        let first = all.iter().position(|line| !line.trim().is_empty()).unwrap_or_default();
        let last = all.iter().rposition(|line| !line.trim().is_empty()).unwrap_or_default();
        if all.get(first).is_none_or(|line| line.trim() != BEGIN) {
            return Err(format!("the first line of the patch must be `{BEGIN}`"));
        }
        if last == first || all.get(last).is_none_or(|line| line.trim() != END) {
            return Err(format!("the last line of the patch must be `{END}`: was it cut?"));
        }
        let lines = all.get(first + 1..last).unwrap_or_default().to_vec();
        Ok(Self { lines, next: 0, number: first + 1, offset: first + 1 })
    }

    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.next).copied()
    }

    fn next(&mut self) -> Option<&'a str> {
        let line = self.peek()?;
        self.next += 1;
        self.number = self.offset + self.next;
        Some(line)
    }

    /// The next line unless another section begins with it.
    fn next_of_section(&mut self) -> Option<&'a str> {
        let line = self.peek()?;
        if [ADD, DELETE, UPDATE].iter().any(|start| line.starts_with(start)) {
            return None;
        }
        self.next()
    }

    fn unexpected(&self, line: &str, expected: &str) -> String {
        let shown: String = line.chars().take(80).collect();
        format!("line {} of the patch is `{shown}`: expected {expected}", self.number)
    }
}

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";
const ANCHOR: &str = "@@";

#[cfg(test)]
mod tests {
    use super::*;

    fn fails(body: &str) -> String {
        parse(&format!("{BEGIN}\n{body}\n{END}\n")).unwrap_err()
    }

    #[test]
    fn every_kind_of_section_is_read() {
        let patch = "*** Begin Patch\n*** Add File: a b\n+x\n+\n*** Delete File: c\n*** Update File: d\n*** Move to: e\n\
            @@ class A\n@@ def f\n k\n\n-r\n+a\n@@\n+z\n*** End of File\n*** End Patch";
        let line = str::to_owned;
        let expected = vec![
            Section { path: line("a b"), change: Change::Add { content: line("x\n\n") } },
            Section { path: line("c"), change: Change::Delete },
            Section {
                path: line("d"),
                change: Change::Update {
                    move_to: Some(line("e")),
                    hunks: vec![
                        Hunk {
                            anchors: vec![line("class A"), line("def f")],
                            lines: vec![
                                Line::Keep(line("k")),
                                Line::Keep(line("")),
                                Line::Remove(line("r")),
                                Line::Add(line("a")),
                            ],
                            is_at_end: false,
                        },
                        Hunk { anchors: vec![], lines: vec![Line::Add(line("z"))], is_at_end: true },
                    ],
                },
            },
        ];
        assert_eq!(parse(patch).unwrap(), expected);
        assert_eq!(parse(&patch.replace('\n', "\r\n")).unwrap(), expected);
        assert_eq!(parse(&format!("\n{patch}\n\n")).unwrap(), expected);
    }

    #[test]
    fn what_does_not_fit_is_named_with_its_line() {
        assert!(parse("").unwrap_err().contains("first line"));
        assert!(parse("*** Begin Patch\n*** Delete File: x\n").unwrap_err().contains("was it cut"));
        assert!(fails("").contains("line 2"), "{}", fails(""));
        let cases = [
            ("diff --git a/x b/x", "line 2 of the patch is `diff --git a/x b/x`"),
            ("*** Add File: x\nno plus", "line 3 of the patch is `no plus`: expected `+`"),
            ("*** Update File: x\n@@\nno mark", "line 4"),
            ("*** Update File: x", "changes nothing"),
            ("*** Update File: x\n@@ f\n kept", "no line with `+` or `-`"),
            ("*** Update File: x\n@@ f", "followed by no change"),
            ("*** Delete File:  ", "names no file"),
            ("*** Delete File: x\n*** Add File: x\n+a", "names `x` twice"),
        ];
        for (body, expected) in cases {
            assert!(fails(body).contains(expected), "{body}: {}", fails(body));
        }
        assert!(parse("*** Begin Patch\n*** End Patch").unwrap_err().contains("no section"));
    }
}
