//! A file line by line, in the memory of one.

use crate::failure::Failure;
use agent_runner::journal::read_regular;
use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Calls for each line, with its number counted from 1. Lines without content count and are passed over.
pub(super) fn each(path: &Path, mut line: impl FnMut(Line<'_>) -> Result<(), Failure>) -> Result<usize, Failure> {
    let failed = |error: io::Error| Failure::input(format!("cannot read {}: {error}", path.display()));
    let file = read_regular(path).map_err(failed)?;
    each_within(path, file, MAX_LINE_BYTES, |found| match found {
        Found::Line(found) => line(found),
        Found::TooLong { number } => Err(Failure::input(format!(
            "cannot read {}: line {number} has more than {MAX_LINE_BYTES} bytes",
            path.display()
        ))),
    })
}

/// The same of what is read from the file, with another limit. Of a line beyond it nothing is kept.
pub(in crate::commands::sessions) fn each_within(
    path: &Path,
    file: impl Read,
    most_bytes: u64,
    mut line: impl FnMut(Found<'_>) -> Result<(), Failure>,
) -> Result<usize, Failure> {
    let failed = |error: io::Error| Failure::input(format!("cannot read {}: {error}", path.display()));
    let mut file = BufReader::with_capacity(64 * 1024, file);
    let (mut number, mut offset, mut buffer) = (0, 0, Vec::new());
    loop {
        buffer.clear();
        let length = (&mut file).take(most_bytes + 1).read_until(b'\n', &mut buffer).map_err(failed)? as u64;
        if length == 0 {
            return Ok(number);
        }
        number += 1;
        let begin = offset;
        offset += length;
        let is_whole = buffer.last() == Some(&b'\n');
        if !is_whole && length > most_bytes {
            offset += rest_of_line(&mut file).map_err(failed)?;
            line(Found::TooLong { number })?;
            continue;
        }
        let bytes = buffer.trim_ascii();
        if !bytes.is_empty() {
            line(Found::Line(Line { number, offset: begin, bytes, is_whole }))?;
        }
    }
}

/// Passes over the rest of a line, in the memory of the buffer. Returns its length.
fn rest_of_line(file: &mut impl BufRead) -> io::Result<u64> {
    let mut passed = 0;
    loop {
        let buffer = file.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
        let length = end.unwrap_or(buffer.len());
        file.consume(length);
        passed += length as u64;
        if end.is_some() || length == 0 {
            return Ok(passed);
        }
    }
}

/// What stands in a line.
pub(in crate::commands::sessions) enum Found<'a> {
    Line(Line<'a>),
    /// More than is read.
    TooLong {
        number: usize,
    },
}

/// One line.
pub(in crate::commands::sessions) struct Line<'a> {
    pub(in crate::commands::sessions) number: usize,
    /// Where it begins, in bytes.
    pub(in crate::commands::sessions) offset: u64,
    /// Without its end.
    pub(in crate::commands::sessions) bytes: &'a [u8],
    /// Whether it has an end.
    pub(in crate::commands::sessions) is_whole: bool,
}

impl Line<'_> {
    /// What it holds; nothing but an object is a record.
    pub(in crate::commands::sessions) fn value(&self) -> Result<Value, String> {
        match serde_json::from_slice(self.bytes) {
            Ok(value @ Value::Object(_)) => Ok(value),
            Ok(_) => Err(String::from("it is not a JSON object")),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// As in journals: damage can take the end of a line away.
const MAX_LINE_BYTES: u64 = 256 * 1024 * 1024;
