//! A file line by line, in the memory of one.

use crate::failure::Failure;
use agent_runner::journal::read_regular;
use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Calls for each line, with its number counted from 1. Lines without content count and are passed over.
pub(super) fn each(path: &Path, mut line: impl FnMut(Line<'_>) -> Result<(), Failure>) -> Result<usize, Failure> {
    let failed = |error: io::Error| Failure::input(format!("cannot read {}: {error}", path.display()));
    let mut file = BufReader::with_capacity(64 * 1024, read_regular(path).map_err(failed)?);
    let (mut number, mut buffer) = (0, Vec::new());
    loop {
        buffer.clear();
        let length = (&mut file).take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut buffer).map_err(failed)?;
        if length == 0 {
            return Ok(number);
        }
        number += 1;
        let is_whole = buffer.last() == Some(&b'\n');
        if !is_whole && length as u64 > MAX_LINE_BYTES {
            return Err(Failure::input(format!(
                "cannot read {}: line {number} has more than {MAX_LINE_BYTES} bytes",
                path.display()
            )));
        }
        let bytes = buffer.trim_ascii();
        if !bytes.is_empty() {
            line(Line { number, bytes, is_whole })?;
        }
    }
}

/// One line.
pub(super) struct Line<'a> {
    pub(super) number: usize,
    /// Without its end.
    pub(super) bytes: &'a [u8],
    /// Whether it has an end.
    pub(super) is_whole: bool,
}

impl Line<'_> {
    /// What it holds; nothing but an object is a record.
    pub(super) fn value(&self) -> Result<Value, String> {
        match serde_json::from_slice(self.bytes) {
            Ok(value @ Value::Object(_)) => Ok(value),
            Ok(_) => Err(String::from("it is not a JSON object")),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// As in journals: damage can take the end of a line away.
const MAX_LINE_BYTES: u64 = 256 * 1024 * 1024;
