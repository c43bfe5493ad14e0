//! Takes known secrets out of text. One definition for everything that leaves the program: journal, screen, recordings, audit records.
//!
//! ```text
//! Redactor::new    secrets     -> the forms in which each may occur in a text
//! text, json       a text      -> the same without them
//! schema           a schema    -> the same without them, in texts, keys and numbers
//! settled_bytes    a beginning -> how much of it is free of secrets whatever follows
//! ```
//!
//! 1. What is found is replaced as a whole, the longest first: one that is part of another does not spare the rest of it.
//! 2. A value of fewer than [`MIN_SECRET_BYTES`] bytes is not a secret but a word; replacing it would garble every text.
//! 3. Of a secret of several lines each long one is found by itself: tools put numbers between them.
//! 4. Where a text was cut (`…`), the rest of a secret there is also found.
//! 5. Escapes of URLs, JSON, shells and HTML are read, whichever characters they stand for. Colours, other control characters, ends of
//!    lines and what programs do not show, in the middle of a secret, do not hide it: `escapes.rs`.
//! 6. A secret in base64, base32 or hexadecimal digits is found, wherever in the encoded text it begins: `encoded.rs`.
//!
//! Absent: guesses at what looks like a secret, and other disguises (letters in another order, ciphers). What is not known is not found.

mod encoded;
mod escapes;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;
use escapes::{Unescaped, levels, open_escapes};
use serde_json::Value;

/// Replaces known secrets. Cheap to clone.
#[derive(Clone, Default)]
pub struct Redactor {
    /// Longest first.
    forms: Arc<[String]>,
    /// The same as they are compared with texts without escapes.
    plain: Arc<[String]>,
}

impl Redactor {
    /// A redactor of these values.
    pub fn new(secrets: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let mut forms = Vec::new();
        for secret in secrets {
            let secret = secret.as_ref().trim();
            if secret.len() >= MIN_SECRET_BYTES {
                forms.extend(spellings(secret));
                forms.extend(encoded::forms(secret));
            }
            forms.extend(lines(secret).flat_map(spellings));
        }
        Self::of(forms)
    }

    /// The same with what another one knows.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self::of(self.forms.iter().chain(other.forms.iter()).cloned().collect())
    }

    fn of(forms: Vec<String>) -> Self {
        let in_order = |mut all: Vec<String>| {
            all.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
            all.dedup();
            all
        };
        let forms = in_order(forms);
        // A secret that holds what reads as an escape is compared in both ways.
        let all = forms.iter().flat_map(|form| core::iter::once(Unescaped::of(form)).chain(levels(form)));
        let plain = in_order(all.map(|form| form.text).filter(|form| form.len() >= MIN_SECRET_BYTES).collect());
        Self { forms: forms.into(), plain: plain.into() }
    }

    /// Whether it knows of no secret.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// Every form of every secret, the longest first.
    pub fn forms(&self) -> impl Iterator<Item = &str> {
        self.forms.iter().map(String::as_str)
    }

    /// Whether a secret occurs in a text, or the rest of one beside a cut.
    #[must_use]
    pub fn finds(&self, text: &str) -> bool {
        let is_plain = || self.forms().any(|secret| text.contains(secret));
        is_plain() || !self.escaped(text).is_empty() || !self.remains(text).is_empty()
    }

    /// Replaces every secret in a text, and what is left of one beside a cut.
    pub fn text(&self, text: &mut String) {
        for secret in self.forms() {
            if text.contains(secret) {
                *text = text.replace(secret, REDACTED);
            }
        }
        for escaped in self.escaped(text).into_iter().rev() {
            text.replace_range(escaped, REDACTED);
        }
        for remains in self.remains(text).into_iter().rev() {
            text.replace_range(remains, REDACTED);
        }
    }

    /// Where a secret stands with some of its characters escaped; apart from each other and in order.
    fn escaped(&self, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        if self.is_empty() {
            return found;
        }
        for level in levels(text) {
            for secret in self.plain.iter() {
                let places = level.text.match_indices(&**secret).map(|(at, secret)| at..at + secret.len());
                found.extend(places.map(|place| level.origin_of(place)));
            }
        }
        found.retain(|range| text.get(range.clone()).is_some());
        found.sort_by_key(|range| (range.start, range.end));
        let mut apart: Vec<Range<usize>> = Vec::new();
        for range in found {
            match apart.last_mut() {
                Some(last) if range.start < last.end => last.end = last.end.max(range.end),
                _ => apart.push(range),
            }
        }
        apart
    }

    /// Where the beginning of a secret comes before a cut, or the end of one after it; apart from each other and in order.
    fn remains(&self, text: &str) -> Vec<Range<usize>> {
        if !text.contains(CUT) {
            return Vec::new();
        }
        let part = |range: Range<usize>, secret: &str| secret.get(range).is_some_and(|part| text.contains(part));
        let begins = |secret: &&str| part(0..MIN_SECRET_BYTES, secret);
        let ends = |secret: &&str| part(secret.len().saturating_sub(MIN_SECRET_BYTES)..secret.len(), secret);
        let (begun, ended): (Vec<&str>, Vec<&str>) =
            (self.forms().filter(begins).collect(), self.forms().filter(ends).collect());
        let mut found: Vec<Range<usize>> = Vec::new();
        for (at, cut) in text.match_indices(CUT) {
            let before = text.get(..at).unwrap_or_default();
            let before = before.strip_suffix("\n[").or_else(|| before.strip_suffix(' ')).unwrap_or(before);
            let behind = text.get(at + cut.len()..).unwrap_or_default();
            let behind = behind.strip_prefix("]\n").unwrap_or(behind);
            let (end, start) = (before.len(), text.len() - behind.len());
            let beginning =
                |secret: &&str| left_of(secret, |n| secret.get(..n).is_some_and(|part| before.ends_with(part)));
            let ending = |secret: &&str| {
                left_of(secret, |n| secret.get(secret.len() - n..).is_some_and(|part| behind.starts_with(part)))
            };
            let left = [
                begun.iter().filter_map(beginning).max().map(|bytes| end - bytes..end),
                ended.iter().filter_map(ending).max().map(|bytes| start..start + bytes),
            ];
            for range in left.into_iter().flatten() {
                if found.last().is_none_or(|last| last.end <= range.start) {
                    found.push(range);
                }
            }
        }
        found
    }

    /// The text with every secret replaced.
    #[must_use]
    pub fn redacted(&self, text: &str) -> String {
        let mut text = text.to_string();
        self.text(&mut text);
        text
    }

    /// Replaces every secret in JSON, however its strings are spelt (`\u0073k-…`). Text that is not JSON is treated as any other. It is
    /// written anew only where something was found.
    pub fn json(&self, text: &mut String) {
        self.text(text);
        // Without an escape there is no other spelling.
        if self.is_empty() || !text.contains('\\') {
            return;
        }
        if let Ok(mut value) = serde_json::from_str::<Value>(text)
            && self.value(&mut value, |_| false)
            && let Ok(clean) = serde_json::to_string(&value)
        {
            *text = clean;
        }
    }

    /// Replaces every secret in a JSON Schema, or in what else describes a tool: in texts, keys and numbers. The names of JSON's types
    /// stay, whatever is secret: without them it is no schema. Whether something was replaced.
    pub fn schema(&self, schema: &mut Value) -> bool {
        if self.is_empty() {
            return false;
        }
        // As a whole it is looked through once; without an escape there is no other spelling.
        let text = schema.to_string();
        (self.finds(&text) || text.contains('\\')) && self.value(schema, |text| TYPES.contains(&text))
    }

    /// Whether something was replaced in a value, but for texts that stay as they are.
    fn value(&self, value: &mut Value, stays: fn(&str) -> bool) -> bool {
        match value {
            Value::String(text) => {
                let found = !stays(text) && self.finds(text);
                if found {
                    self.text(text);
                }
                found
            }
            Value::Number(number) => {
                let found = self.finds(&number.to_string());
                if found {
                    *value = REDACTED.into();
                }
                found
            }
            Value::Array(list) => {
                let mut found = false;
                for item in list {
                    found |= self.value(item, stays);
                }
                found
            }
            Value::Object(members) => {
                let mut found = members.keys().any(|name| self.finds(name));
                if found {
                    *members = core::mem::take(members)
                        .into_iter()
                        .map(|(name, value)| (self.redacted(&name), value))
                        .collect();
                }
                for (_, item) in members.iter_mut() {
                    found |= self.value(item, stays);
                }
                found
            }
            Value::Null | Value::Bool(_) => false,
        }
    }

    /// How much of a text can be redacted by itself, whatever follows: the rest may be the beginning of a secret.
    #[must_use]
    pub fn settled_bytes(&self, text: &str) -> usize {
        let begun = |secret: &str| {
            let most = secret.len().min(text.len() + 1);
            (1..most).rev().find(|&n| secret.get(..n).is_some_and(|beginning| text.ends_with(beginning)))
        };
        let mut settled = text.len() - self.forms().filter_map(begun).max().unwrap_or_default();
        settled = settled.min(self.settled_of_escaped(text));
        let escaped = self.escaped(text);
        // A whole secret that lies across the cut stays together.
        let of_escaped = |place: usize| escaped.iter().find(|range| range.start < place && place < range.end);
        while let Some(start) = self
            .forms()
            .find_map(|secret| across(text, secret, settled))
            .or_else(|| of_escaped(settled).map(|range| range.start))
        {
            settled = start;
        }
        settled
    }

    /// The same for what may be the beginning of a secret with escapes in it, the last of which may be incomplete.
    fn settled_of_escaped(&self, text: &str) -> usize {
        if self.is_empty() {
            return text.len();
        }
        let begun = |level: &Unescaped| {
            let begun = |secret: &String| {
                let most = secret.len().min(level.text.len() + 1);
                (1..most).rev().find(|&n| secret.get(..n).is_some_and(|beginning| level.text.ends_with(beginning)))
            };
            let bytes = self.plain.iter().filter_map(begun).max().unwrap_or_default();
            level.origin_of(level.text.len() - bytes..level.text.len()).start
        };
        // What follows may make another escape of the last signs: then what comes before them counts.
        let ends = open_escapes(text);
        let wholes = ends.iter().filter_map(|end| text.get(..*end));
        let plain = wholes.clone().map(Unescaped::of);
        let all = wholes.chain([text]).flat_map(levels).chain(plain).map(|level| begun(&level)).min();
        all.unwrap_or(text.len()).min(ends.last().copied().unwrap_or(text.len()))
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Redactor(..)")
    }
}

/// The most bytes of a secret, short of all, that are there.
fn left_of(secret: &str, is_there: impl Fn(usize) -> bool) -> Option<usize> {
    (MIN_SECRET_BYTES..secret.len()).rev().find(|bytes| is_there(*bytes))
}

/// Lines of a secret that are secrets themselves: long, and neither words nor what stands around a key. A variable may have them behind
/// `\n` in its only line.
fn lines(secret: &str) -> impl Iterator<Item = &str> {
    let lines = secret.split(['\n', '\r']).flat_map(|line| line.split("\\n")).map(str::trim);
    let is_secret = |line: &&str| {
        let is_one_word = !line.contains(char::is_whitespace);
        !line.starts_with("-----") && (line.len() >= LONG_LINE_BYTES || is_one_word && line.len() >= MIN_LINE_BYTES)
    };
    lines.filter(move |line| line.len() < secret.len()).filter(is_secret)
}

/// Where a secret begins that lies across this place.
fn across(text: &str, secret: &str, place: usize) -> Option<usize> {
    text.match_indices(secret).map(|(start, _)| start).find(|start| *start < place && place < start + secret.len())
}

/// As it is, as it is in a JSON string (with and without the slash escaped, which some writers do), and as it is in a URL.
fn spellings(secret: &str) -> Vec<String> {
    let quoted = Value::from(secret).to_string();
    let escaped = quoted.get(1..quoted.len() - 1).unwrap_or_default();
    let url = in_url(secret);
    let mut forms =
        alloc::vec![secret.to_string(), escaped.to_string(), escaped.replace('/', "\\/"), url.replace("%20", "+"), url];
    forms.sort();
    forms.dedup();
    forms
}

fn in_url(secret: &str) -> String {
    let mut out = String::new();
    for byte in secret.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// What stands where a secret was.
pub const REDACTED: &str = "[redacted]";
/// Shorter values are words such as `true`.
pub const MIN_SECRET_BYTES: usize = 6;
/// The types of JSON, as schemas name them.
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];
/// What tools put where they cut a text.
const CUT: char = '…';
/// Shorter lines of a secret of several lines are found with the others only.
const MIN_LINE_BYTES: usize = 16;
/// As long as the lines of a key file: a secret, though it has blanks.
const LONG_LINE_BYTES: usize = 64;

#[cfg(test)]
mod tests;
