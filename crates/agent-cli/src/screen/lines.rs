//! Lines of standard input, read on a thread of their own: reading cannot be interrupted, and leaving must not wait for it.
//!
//! A terminal that marks what is pasted into it has that read as one text, however many lines it has.

use crate::failure::Failure;
use crate::screen::edit::editor::Input;
use crate::screen::terminal::charset;
use crate::screen::threads;
use std::borrow::Cow;
use std::io::{BufRead as _, IsTerminal as _};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// A line that was typed or piped in, or several that were pasted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// One that can be used.
    Text(String),
    /// One that cannot be sent as it is; what of it can be shown, and why.
    Unusable { shown: String, reason: &'static str },
    /// A key, where the line editor puts the lines together.
    Input(Input),
}

/// Starts to read. The channel closes where the input ends.
///
/// # Errors
/// When the system gives no thread.
pub(crate) fn read() -> Result<mpsc::UnboundedReceiver<Line>, Failure> {
    let (sender, receiver) = mpsc::unbounded_channel();
    threads::start("lines", move || {
        let stdin = std::io::stdin();
        let is_typed = stdin.is_terminal();
        let mut input = stdin.lock();
        let mut paste = Paste::default();
        loop {
            let mut bytes = Vec::new();
            match input.read_until(b'\n', &mut bytes) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let line = line(&bytes, is_typed);
            let line = if is_typed { paste.take(line, Instant::now()) } else { Some(line) };
            if line.is_some_and(|line| sender.send(line).is_err()) {
                return;
            }
        }
    })?;
    Ok(receiver)
}

/// Puts the lines of a paste together. The person ends its last line, behind the mark of its end.
#[derive(Debug, Default)]
struct Paste {
    /// What came of it so far, and when the last of it did.
    open: Option<(Line, Instant)>,
}

impl Paste {
    /// What is complete with this line.
    fn take(&mut self, line: Line, now: Instant) -> Option<Line> {
        let (begins, ends) = match &line {
            Line::Text(text) | Line::Unusable { shown: text, .. } => (text.contains(BEGIN), text.rfind(END)),
            Line::Input(_) => (false, None),
        };
        let line = unmarked(line);
        let Some((before, last)) = self.open.take() else {
            if begins && ends.is_none() {
                self.open = Some((line, now));
                return None;
            }
            return Some(line);
        };
        let whole = joined(before, line);
        // Who takes back the end of a paste takes back the mark first, and is waited for no longer than that.
        if ends.is_some() || now.duration_since(last) > PAUSE {
            return Some(whole);
        }
        self.open = Some((whole, now));
        None
    }
}

fn joined(before: Line, after: Line) -> Line {
    match (before, after) {
        (Line::Text(before), Line::Text(after)) => Line::Text(format!("{before}\n{after}")),
        (unusable @ Line::Unusable { .. }, _) | (_, unusable) => unusable,
    }
}

/// The line without the marks, and without what is left of one that was taken back in part.
fn unmarked(line: Line) -> Line {
    let without = |text: &str| {
        let text = text.replace(BEGIN, "").replace(END, "");
        let left = (1..END.len()).rev().find_map(|length| text.strip_suffix(END.get(..length)?));
        left.unwrap_or(&text).to_owned()
    };
    match line {
        Line::Text(text) => Line::Text(without(&text)),
        Line::Unusable { shown, reason } => Line::Unusable { shown: without(&shown), reason },
        Line::Input(_) => line,
    }
}

fn line(bytes: &[u8], is_typed: bool) -> Line {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    let unusable = |reason| Line::Unusable { shown: String::from_utf8_lossy(bytes).into_owned(), reason };
    if is_typed && bytes.len() >= TERMINAL_LINE_BYTES {
        return unusable("the terminal cuts lines after 4,095 bytes; put the text in a file and name the file");
    }
    let text = if is_typed { charset::typed(bytes) } else { str::from_utf8(bytes).ok().map(Cow::Borrowed) };
    text.map_or_else(|| unusable("it is not UTF-8"), |text| Line::Text(text.into_owned()))
}

/// What a terminal keeps of one line (termios(3), canonical mode); the rest is lost before anybody can read it.
const TERMINAL_LINE_BYTES: usize = 4_095;

/// What a terminal puts around what is pasted, where it was asked to.
const BEGIN: &str = "\x1b[200~";
const END: &str = "\x1b[201~";
/// The lines of a paste come one behind the other; a person takes longer.
const PAUSE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_cannot_be_sent_say_why() {
        assert_eq!(line(b"a\r\n", false), Line::Text("a".to_owned()));
        assert_eq!(line("\u{fc}".as_bytes(), true), Line::Text("\u{fc}".to_owned()));
        assert!(matches!(line(b"a\xff\n", false), Line::Unusable { shown, .. } if shown == "a\u{fffd}"));
        let long = [b'a'; 4_095];
        assert!(matches!(line(&long, true), Line::Unusable { .. }));
        assert!(matches!(line(&long, false), Line::Text(_)));
    }
    /// What comes of lines, each so many milliseconds behind the one before.
    fn pasted(lines: &[(u64, &str)]) -> Vec<String> {
        let (mut paste, mut now) = (Paste::default(), Instant::now());
        let taken = lines.iter().filter_map(|(ms, text)| {
            now += Duration::from_millis(*ms);
            paste.take(Line::Text((*text).to_owned()), now)
        });
        let texts = taken.map(|line| match line {
            Line::Text(text) => text,
            Line::Unusable { .. } | Line::Input(_) => panic!("{line:?}"),
        });
        texts.collect()
    }

    #[test]
    fn what_is_pasted_is_one_message() {
        let (a, b) = ("\x1b[200~one", "two\x1b[201~");
        assert_eq!(pasted(&[(0, a), (0, "and"), (9_000, b), (0, "next")]), ["one\nand\ntwo", "next"]);
        assert_eq!(pasted(&[(0, "say: \x1b[200~one\x1b[201~ please"), (0, "next")]), ["say: one please", "next"]);
        // The last line of one that ended with a line end is empty.
        assert_eq!(pasted(&[(0, a), (0, "\x1b[201~")]), ["one\n"]);
        // The mark was taken back with the end of the text, whole or in part.
        assert_eq!(pasted(&[(0, a), (9_000, "tw"), (0, "next")]), ["one\ntw", "next"]);
        assert_eq!(pasted(&[(0, a), (9_000, "two\x1b[20"), (0, "next")]), ["one\ntwo", "next"]);
        assert_eq!(pasted(&[(0, "typed"), (0, "ahead")]), ["typed", "ahead"]);
    }

    #[test]
    fn a_paste_with_a_line_that_cannot_be_sent_is_not_sent_in_part() {
        let mut paste = Paste::default();
        let now = Instant::now();
        assert_eq!(paste.take(line(b"\x1b[200~one\n", true), now), None);
        assert_eq!(paste.take(line(b"bad \xff\n", true), now), None);
        let taken = paste.take(line(b"three\x1b[201~\n", true), now);
        assert!(matches!(taken, Some(Line::Unusable { shown, .. }) if shown.starts_with("bad")));
    }
}
