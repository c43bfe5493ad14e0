//! Texts of models, tools and others in places where a person reads a line: nothing in them is invisible or passes for a line of its own.

use agent_core::unseen::is_unclear;
use std::borrow::Cow;

/// A text as part of a line: line breaks, control characters and invisible ones are spelt out (`\n`, `\u{202e}`).
pub(crate) fn inline(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unclear) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push(' '),
            c if is_unclear(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// A text of several lines as one line: they stand behind each other, and blank ones are left out.
pub(crate) fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    inline(&lines.join("; ")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{inline, one_line};

    #[test]
    fn what_is_no_part_of_a_line_is_spelt_out_and_everything_else_stays() {
        assert_eq!(inline("a\n\u{1b}[2Jb\tc\u{202e}d\0\r"), "a\\n\\u{1b}[2Jb c\\u{202e}d\\u{0}\\u{d}");
        assert_eq!(inline("👩\u{200d}💻 ö 漢 'x' \\n"), "👩\u{200d}💻 ö 漢 'x' \\n");
        assert_eq!(one_line("one\r\n\n  two\u{1b}\n"), "one; two\\u{1b}");
    }
}
