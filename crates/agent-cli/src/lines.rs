//! Lines of standard input, read on a thread of their own: reading cannot be interrupted, and leaving must not wait for it.

use std::io::{BufRead as _, IsTerminal as _};
use tokio::sync::mpsc;

/// A line that was typed or piped in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// One that can be used.
    Text(String),
    /// One that cannot be sent as it is; what of it can be shown, and why.
    Unusable { shown: String, reason: &'static str },
}

/// Starts to read. The channel closes where the input ends.
pub(crate) fn read() -> mpsc::UnboundedReceiver<Line> {
    let (sender, receiver) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        let stdin = std::io::stdin();
        let is_typed = stdin.is_terminal();
        let mut input = stdin.lock();
        loop {
            let mut bytes = Vec::new();
            match input.read_until(b'\n', &mut bytes) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            if sender.send(line(&bytes, is_typed)).is_err() {
                return;
            }
        }
    });
    receiver
}

fn line(bytes: &[u8], is_typed: bool) -> Line {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    let unusable = |reason| Line::Unusable { shown: String::from_utf8_lossy(bytes).into_owned(), reason };
    if is_typed && bytes.len() >= TERMINAL_LINE_BYTES {
        return unusable("the terminal cuts a line after 4,095 bytes; put the text into a file and name the file");
    }
    match str::from_utf8(bytes) {
        Ok(text) => Line::Text(text.to_owned()),
        Err(_) => unusable("it is not UTF-8"),
    }
}

/// What a terminal keeps of one line (termios(3), canonical mode); the rest is lost before anybody can read it.
const TERMINAL_LINE_BYTES: usize = 4_095;

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
}
