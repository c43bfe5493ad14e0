//! What the notations of all machines share: lines of words, and what is wrong with one.

use std::error::Error;
use std::fmt::{self, Display};

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The line, or the word of it.
    pub found: String,
    /// What belongs there.
    pub expected: &'static str,
}

impl Unreadable {
    /// Something else than what belongs there.
    pub fn new(found: &str, expected: &'static str) -> Self {
        Self { found: found.to_owned(), expected }
    }
}

impl Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "read `{}` as {}", self.found, self.expected)
    }
}

impl Error for Unreadable {}

impl From<Unreadable> for String {
    fn from(error: Unreadable) -> Self {
        error.to_string()
    }
}

/// A word as a number, a mode, a rule: whatever is made of text.
pub(crate) fn parsed<T: std::str::FromStr>(word: &str, expected: &'static str) -> Result<T, Unreadable> {
    word.parse().map_err(|_| Unreadable::new(word, expected))
}

/// A word as its key and its value.
pub(crate) fn pair(word: &str) -> Result<(&str, &str), Unreadable> {
    word.split_once('=').ok_or_else(|| Unreadable::new(word, "KEY=VALUE"))
}

/// Words; those in quotes may have spaces.
pub(crate) fn words(mut text: &str) -> Result<Vec<&str>, Unreadable> {
    let mut out = Vec::new();
    loop {
        text = text.trim_start_matches(' ');
        if text.is_empty() {
            return Ok(out);
        }
        let (word, rest) = match text.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').ok_or_else(|| Unreadable::new(text, "words in quotes"))?,
            None => text.split_once(' ').unwrap_or((text, "")),
        };
        out.push(word);
        text = rest;
    }
}
