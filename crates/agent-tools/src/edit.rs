//! Replacing text in a text: exact, and without touching anything else.
//!
//! A model sees and writes lines that end in LF. Where the file has CRLF, the text to find matches as if it had them, and the new text gets
//! them; every byte outside of the match stays. A text to find that itself contains a CR is taken byte for byte.

/// What an edit made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edited {
    pub(crate) text: String,
    pub(crate) replacements: usize,
    /// Where the first new text begins and ends in the result.
    pub(crate) first: (usize, usize),
}

/// Why nothing was replaced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EditError {
    #[error("`old_string` is not in the file: copy it exactly from what `read_file` shows, without line numbers")]
    Absent,
    #[error(
        "`old_string` occurs more than once, in lines {lines}: add lines around it so that it is unique, or set `replace_all`"
    )]
    Ambiguous { lines: String },
    #[error("the file would have {bytes} bytes, more than the {MOST_BYTES} that can be edited: use a command")]
    TooLarge { bytes: usize },
}

/// Replaces the one occurrence, or with `all` every occurrence from the left; those that overlap an earlier one are not replaced. Without
/// `all`, occurrences that overlap count as two.
pub(crate) fn edit(text: &str, old: &str, new: &str, all: bool) -> Result<Edited, EditError> {
    if old.contains('\r') || !text.contains("\r\n") {
        let found = find(text, old, all)?;
        check_size(text, &found, new.len())?;
        return Ok(splice(text, &found, |_| new.to_string()));
    }
    let view = text.replace("\r\n", "\n");
    let found = find(&view, old, all)?;
    let found = in_original(text, &found);
    let new_lines = new.matches('\n').count() - new.matches("\r\n").count();
    check_size(text, &found, new.len() + new_lines)?;
    let dominant_is_crlf = text.matches("\r\n").count() * 2 >= view.matches('\n').count();
    Ok(splice(text, &found, |replaced| {
        let is_crlf = match replaced.find('\n') {
            Some(end) => replaced.get(..end).is_some_and(|line| line.ends_with('\r')),
            None => dominant_is_crlf,
        };
        if is_crlf { new.replace("\r\n", "\n").replace('\n', "\r\n") } else { new.to_string() }
    }))
}

/// A few bytes many times are many: the size of the result is known before there is any of it.
fn check_size(text: &str, found: &[(usize, usize)], new_bytes: usize) -> Result<(), EditError> {
    let removed: usize = found.iter().map(|(start, end)| end - start).sum();
    let bytes = (text.len() - removed).saturating_add(found.len().saturating_mul(new_bytes));
    // What was too large before may become smaller.
    if bytes > MOST_BYTES.max(text.len()) { Err(EditError::TooLarge { bytes }) } else { Ok(()) }
}

fn find(text: &str, old: &str, all: bool) -> Result<Vec<(usize, usize)>, EditError> {
    let found: Vec<(usize, usize)> = text
        .match_indices(old)
        .map(|(start, _)| (start, start + old.len()))
        .take(if all { usize::MAX } else { 1 })
        .collect();
    let Some(&(first, _)) = found.first() else {
        return Err(EditError::Absent);
    };
    if all {
        return Ok(found);
    }
    // One character on, so that an overlapping occurrence is seen.
    let next = first + old.chars().next().map_or(1, char::len_utf8);
    if text.get(next..).is_some_and(|rest| rest.contains(old)) {
        let mut lines: Vec<String> =
            text.match_indices(old).take(MOST_LINES_NAMED).map(|(start, _)| line_of(text, start).to_string()).collect();
        lines.dedup();
        let lines = lines.join(", ");
        return Err(EditError::Ambiguous { lines });
    }
    Ok(found)
}

/// Takes places in the text without CRs to places in the text with them.
fn in_original(text: &str, found: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut crlfs = text.match_indices("\r\n").enumerate().map(|(before, (at, _))| at - before).peekable();
    let mut passed = 0;
    let mut place = |in_view: usize| {
        while crlfs.next_if(|&crlf| crlf < in_view).is_some() {
            passed += 1;
        }
        in_view + passed
    };
    found.iter().map(|&(start, end)| (place(start), place(end))).collect()
}

fn splice(text: &str, found: &[(usize, usize)], new: impl Fn(&str) -> String) -> Edited {
    let mut result = String::with_capacity(text.len());
    let mut first = (0, 0);
    let mut copied = 0;
    for (index, &(start, end)) in found.iter().enumerate() {
        result.push_str(text.get(copied..start).unwrap_or_default());
        let begin = result.len();
        result.push_str(&new(text.get(start..end).unwrap_or_default()));
        if index == 0 {
            first = (begin, result.len());
        }
        copied = end;
    }
    result.push_str(text.get(copied..).unwrap_or_default());
    Edited { text: result, replacements: found.len(), first }
}

/// The number of the line in which a place is, counted from 1.
pub(crate) fn line_of(text: &str, place: usize) -> usize {
    let before = text.as_bytes().get(..place).unwrap_or_default();
    1 + before.iter().filter(|&&byte| byte == b'\n').count()
}

const MOST_LINES_NAMED: usize = 10;
/// As much as can be read to be edited.
pub(crate) const MOST_BYTES: usize = 32 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn edited(text: &str, old: &str, new: &str, all: bool) -> Result<String, EditError> {
        edit(text, old, new, all).map(|edited| edited.text)
    }

    #[test]
    fn edits_by_example() {
        let cases = [
            ("a b c", "b", "x", false, Ok("a x c")),
            ("a\r\nb\r\n", "a\nb", "x\ny", false, Ok("x\r\ny\r\n")),
            ("a\r\nb", "b", "x\ny", false, Ok("a\r\nx\r\ny")),
            ("a\r\nb\nc\nd", "b\nc", "x\ny", false, Ok("a\r\nx\ny\nd")),
            ("a\r\nb\nc", "\nb", "", false, Ok("a\nc")),
            ("a\rb\rc", "b", "x", false, Ok("a\rx\rc")),
            ("a\r\nb", "a\r\n", "x\n", false, Ok("x\nb")),
            ("p $1", "p", "$1 \\1 $0", false, Ok("$1 \\1 $0 $1")),
            ("aaa", "aa", "b", true, Ok("ba")),
            ("no end", "end", "end\n", false, Ok("no end\n")),
            ("x", "y", "z", false, Err(EditError::Absent)),
        ];
        for (text, old, new, all, expected) in cases {
            assert_eq!(edited(text, old, new, all), expected.map(String::from), "{text:?}");
        }
        for (text, old) in [("aaa", "aa"), ("a a", "a"), ("x\r\nx", "x")] {
            let error = edited(text, old, "b", false).unwrap_err();
            assert!(matches!(error, EditError::Ambiguous { .. }), "{text}");
        }
    }

    #[test]
    fn a_result_that_is_too_large_is_never_made() {
        let (text, new) = ("a".repeat(30_000), "b".repeat(200_000));
        assert_eq!(edited(&text, "a", &new, true), Err(EditError::TooLarge { bytes: 6_000_000_000 }));
        let lines = "a\r\n".repeat(30_000);
        assert!(matches!(edited(&lines, "a", &new, true), Err(EditError::TooLarge { .. })));
        let just = "b".repeat(MOST_BYTES / 2);
        assert_eq!(edited("aa", "a", &just, true).map(|text| text.len()), Ok(MOST_BYTES), "the control");
        assert_eq!(edited("aa ", "a", &just, true), Err(EditError::TooLarge { bytes: MOST_BYTES + 1 }));
    }

    #[test]
    fn a_huge_text_to_find_takes_linear_time() {
        let begun = std::time::Instant::now();
        let old = "ab".repeat(5_000_000);
        assert_eq!(edited(&format!("{old}c"), &format!("{old}d"), "", false), Err(EditError::Absent));
        assert_eq!(edited(&format!("x{old}c"), &old, "", false), Ok("xc".into()));
        assert!(begun.elapsed().as_secs() < 10);
    }

    proptest! {
        #[test]
        fn in_the_models_view_it_is_plain_replacing(
            text in "(a|b|é|\n|\r\n){0,30}", old in "[abé\n]{1,3}", new in "[abx\n]{0,3}",
        ) {
            let view = |text: &str| text.replace("\r\n", "\n");
            match edit(&text, &old, &new, true) {
                Ok(made) => {
                    prop_assert_eq!(view(&made.text), view(&text).replace(&old, &new));
                    prop_assert!(made.text.get(made.first.0..made.first.1).is_some());
                }
                Err(_) => prop_assert!(!view(&text).contains(&old)),
            }
            if let Ok(made) = edit(&text, &old, &new, false) {
                prop_assert_eq!(view(&made.text), view(&text).replacen(&old, &new, 1));
            }
        }

        #[test]
        fn what_is_outside_of_the_match_stays(before in "(a|\n|\r\n|\r){0,9}", after in "(b|\n|\r\n){0,9}") {
            let made = edited(&format!("{before}X{after}"), "X", "Y", false);
            prop_assert_eq!(made, Ok(format!("{before}Y{after}")));
        }
    }
}
