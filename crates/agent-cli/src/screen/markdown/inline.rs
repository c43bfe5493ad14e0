//! The marks within a line: `code`, **strong** and *emphasis*, links.

use crate::screen::terminal::Look;

/// What becomes of the marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marks {
    /// The text between them gets a look.
    Looks,
    /// They stay, where no look can be shown.
    Stay,
}

/// Gives out what of a text is certain, each part with its look, and returns how many bytes that is. With `is_end` that is all of it: a
/// mark without its other half is text. `before` is the letter before the text.
pub(super) fn read(
    text: &str,
    (look, marks): (Look, Marks),
    is_end: bool,
    before: &mut char,
    out: &mut dyn FnMut(&str, Look),
) -> usize {
    if marks == Marks::Stay {
        out(text, look);
        return text.len();
    }
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let plain = rest.find(MARKS).unwrap_or(rest.len());
        let used = if plain > 0 {
            out(rest.get(..plain).unwrap_or_default(), look);
            plain
        } else {
            let window = rest.get(..rest.floor_char_boundary(LONGEST_MARKED)).unwrap_or_default();
            match mark(window, look, *before, is_end || rest.len() > LONGEST_MARKED, out) {
                Some(used) => used,
                None => break,
            }
        };
        *before = rest.get(..used).and_then(|passed| passed.chars().next_back()).unwrap_or(*before);
        at += used;
    }
    at
}

/// Reads what begins with a mark. Returns how many bytes that is, or nothing where more has to come.
fn mark(text: &str, look: Look, before: char, is_end: bool, out: &mut dyn FnMut(&str, Look)) -> Option<usize> {
    let first = text.chars().next()?;
    let run = text.len() - text.trim_start_matches(first).len();
    let after = text.get(run..).unwrap_or_default();
    if after.is_empty() && !is_end && first != '[' {
        return None;
    }
    let found = match first {
        '\\' => escape(text, look),
        '`' => code(after, run, is_end).map(|(inner, used)| (vec![(inner, Look::Code)], run + used)),
        '[' => link(text, look),
        _ => emphasis(text, run, before, is_end).map(|(inner, used, look)| (vec![(inner, look)], used)),
    };
    let can_become = match first {
        '\\' => false,
        '*' => run <= 2 && !after.starts_with(char::is_whitespace),
        '_' => run <= 2 && !after.starts_with(char::is_whitespace) && !before.is_alphanumeric(),
        '[' => may_be_link(text),
        _ => true,
    };
    let Some((parts, used)) = found else {
        if can_become && !is_end {
            return None;
        }
        let length = if matches!(first, '\\' | '[') { 1 } else { run };
        out(text.get(..length).unwrap_or_default(), look);
        return Some(length);
    };
    for (inner, inner_look) in parts {
        // Marks within marks; code holds none.
        if matches!(first, '*' | '_') {
            read(inner, (inner_look, Marks::Looks), true, &mut ' ', out);
        } else {
            out(inner, inner_look);
        }
    }
    Some(used)
}

type Parts<'a> = (Vec<(&'a str, Look)>, usize);

fn escape(text: &str, look: Look) -> Option<Parts<'_>> {
    let next = text.get(1..)?.chars().next()?;
    next.is_ascii_punctuation().then(|| (vec![(text.get(1..2).unwrap_or_default(), look)], 2))
}

/// Code up to as many backticks as began it.
fn code(after: &str, run: usize, is_end: bool) -> Option<(&str, usize)> {
    let mut at = 0;
    loop {
        let start = at + after.get(at..)?.find('`')?;
        let rest = after.get(start..)?;
        let length = rest.len() - rest.trim_start_matches('`').len();
        if length == rest.len() && !is_end {
            return None;
        }
        if length == run {
            let inner = after.get(..start)?;
            let has_room = inner.starts_with(' ') && inner.ends_with(' ') && !inner.trim().is_empty();
            let inner = if has_room { inner.get(1..inner.len() - 1)? } else { inner };
            return Some((inner, start + length));
        }
        at = start + length;
    }
}

/// `**strong**` or `*emphasis*`: neither begins nor ends with a blank.
fn emphasis(text: &str, run: usize, before: char, is_end: bool) -> Option<(&str, usize, Look)> {
    let mark = text.get(..run).filter(|_| run <= 2)?;
    let after = text.get(run..)?;
    let is_within_word = mark.starts_with('_') && before.is_alphanumeric();
    if is_within_word || after.starts_with(char::is_whitespace) {
        return None;
    }
    let mut at = 0;
    loop {
        let start = at + after.get(at..)?.find(mark)?;
        let (inner, rest) = (after.get(..start)?, after.get(start..)?);
        let length = rest.len() - rest.trim_start_matches(|c| mark.starts_with(c)).len();
        let next = rest.get(length..).and_then(|rest| rest.chars().next()).unwrap_or(' ');
        if length == rest.len() && !is_end {
            return None;
        }
        let ends_text = !inner.is_empty() && !inner.ends_with(char::is_whitespace);
        let is_within_word = mark.starts_with('_') && next.is_alphanumeric();
        if length == run && ends_text && !is_within_word {
            return Some((inner, run + start + run, if run == 2 { Look::Bold } else { Look::Italic }));
        }
        at = start + length;
    }
}

/// `[text](address)`, with its address.
fn link(text: &str, look: Look) -> Option<Parts<'_>> {
    let middle = text.find("](")?;
    let end = middle + 2 + text.get(middle + 2..)?.find(')')?;
    let (label, address) = (text.get(1..middle)?, text.get(middle + 2..end)?);
    if label.contains('[') || address.contains(char::is_whitespace) {
        return None;
    }
    if label == address {
        return Some((vec![(label, Look::Link)], end + 1));
    }
    Some((vec![(label, Look::Link), (" (", look), (address, Look::Dim), (")", look)], end + 1))
}

/// Whether what has come of a link can still become one.
fn may_be_link(text: &str) -> bool {
    match text.find(']') {
        None => true,
        Some(end) => {
            let rest = text.get(end + 1..).unwrap_or_default();
            rest.is_empty() || (rest.starts_with('(') && !rest.contains(char::is_whitespace) && !rest.contains(')'))
        }
    }
}

const MARKS: [char; 5] = ['\\', '`', '*', '_', '['];
/// What is marked is not longer; else the mark is text.
pub(super) const LONGEST_MARKED: usize = 400;
