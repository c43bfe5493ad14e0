//! Lines of another program, read on a thread of their own: none is longer than the bound, and few wait.

use std::io::{self, BufRead};
use tokio::sync::mpsc;

/// A line of another program.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// Its bytes, without the end of the line.
    Text(Vec<u8>),
    /// It was longer than [`MAX_LINE_BYTES`], and is not kept.
    TooLong,
}

/// Most bytes of a line: a message with a few pictures, each at most 5 MiB as base64.
pub const MAX_LINE_BYTES: usize = 32 * 1024 * 1024;
/// Lines that wait to be read. Together they bound what a client makes the agent keep.
pub const WAITING_LINES: usize = 4;

/// Reads until the input ends or nobody takes its lines any more. Blank lines say nothing.
pub fn read_all(mut input: impl BufRead, lines: &mpsc::Sender<Line>) {
    while let Ok(Some(line)) = next(&mut input, MAX_LINE_BYTES) {
        let is_blank = matches!(&line, Line::Text(text) if text.iter().all(u8::is_ascii_whitespace));
        if !is_blank && lines.blocking_send(line).is_err() {
            return;
        }
    }
}

/// The next line without its end, or nothing at the end of the input.
fn next(input: &mut impl BufRead, most: usize) -> io::Result<Option<Line>> {
    let mut text = Vec::new();
    let (mut is_too_long, mut has_begun) = (false, false);
    loop {
        let buffer = match input.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if buffer.is_empty() && !has_begun {
            return Ok(None);
        }
        has_begun = true;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let part = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or_default();
        is_too_long |= text.len() + part.len() > most;
        if is_too_long {
            text = Vec::new();
        } else {
            text.extend_from_slice(part);
        }
        let (read, is_over) = (part.len() + usize::from(end.is_some()), end.is_some() || buffer.is_empty());
        input.consume(read);
        if is_over {
            return Ok(Some(if is_too_long { Line::TooLong } else { Line::Text(text) }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, Cursor};

    #[test]
    fn a_line_that_is_too_long_is_passed_over_and_the_next_one_is_read() {
        let input = format!("one\n{}\n\nlast", "x".repeat(11));
        for buffer in [1, 3, 64] {
            let mut reader = BufReader::with_capacity(buffer, Cursor::new(input.clone()));
            let mut found = Vec::new();
            while let Some(line) = next(&mut reader, 10).unwrap() {
                found.push(line);
            }
            let text = |text: &str| Line::Text(text.as_bytes().to_vec());
            assert_eq!(found, [text("one"), Line::TooLong, text(""), text("last")], "{buffer}");
        }
    }

    #[test]
    fn a_line_as_long_as_the_bound_is_kept() {
        let mut reader = Cursor::new(b"0123456789\n".to_vec());
        assert_eq!(next(&mut reader, 10).unwrap(), Some(Line::Text(b"0123456789".to_vec())));
    }
}
