//! Text on its way to a terminal. Whatever comes from models, tools and files is escaped here and nowhere else.

use std::io::{self, IsTerminal, Write};

/// The text with everything that a terminal would act on made visible: control characters other than newline and tab, and characters
/// that change the direction of text or hide it.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            '\r' => {}
            _ if c.is_control() || is_deceptive(c) => out.extend(c.escape_unicode()),
            _ => out.push(c),
        }
    }
    out
}

/// Bidirectional controls, tag characters, and others that show nothing.
const fn is_deceptive(c: char) -> bool {
    matches!(c,
        '\u{061C}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206F}'
        | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}')
}

/// The first line of a text, cut to a width, for lists and progress.
pub(crate) fn one_line(text: &str, width: usize) -> String {
    fitted(text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default(), width)
}

/// The last line of a text, cut to a width.
pub(crate) fn last_line(text: &str, width: usize) -> String {
    fitted(text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default(), width)
}

fn fitted(line: &str, width: usize) -> String {
    let mut out: String = escaped(line).replace('\t', " ").chars().take(width).collect();
    if escaped(line).chars().count() > width {
        out.push('…');
    }
    out
}

/// Styles for a terminal, or nothing when output goes elsewhere or `NO_COLOR` is set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    is_on: bool,
}

impl Style {
    pub(crate) fn for_stderr() -> Self {
        Self { is_on: io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) }
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.wrap("31", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.is_on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Writes a line to standard error. A terminal that is gone is no reason to stop.
pub(crate) fn say(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes text to standard output at once.
///
/// # Errors
/// When nobody reads it any more.
pub(crate) fn put(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Writes a document to standard output. A reader that went away has read what it wanted.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn print(text: &str) -> io::Result<()> {
    match put(text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_act_on() {
        assert_eq!(escaped("a\x1b]52;c;x\x07b\tc\n"), "a\\u{1b}]52;c;x\\u{7}b\tc\n");
        assert_eq!(escaped("x\u{202E}y\u{9b}z"), "x\\u{202e}y\\u{9b}z");
        assert_eq!(escaped("über\r\n"), "über\n");
    }
}
