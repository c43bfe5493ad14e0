//! Reads the commonest events at one go.
//!
//! Almost all of a stream is one shape: an object of plain members with a piece of text in it. A [`Quick`] goes over such an object once,
//! without a general parser and without keeping anything. Whatever it does not know (nesting, fractions, two pieces, rare escapes) makes it
//! give up, and then the event is read in full: it never decides that an event is wrong.

use std::borrow::Cow;

/// What is left to read of an event.
#[derive(Debug)]
pub(crate) struct Quick<'a> {
    rest: &'a [u8],
}

impl<'a> Quick<'a> {
    pub(crate) const fn of(event: &'a [u8]) -> Self {
        Self { rest: event }
    }

    /// An object: `member` reads the value of every member.
    pub(crate) fn object(&mut self, mut member: impl FnMut(&'a [u8], &mut Self) -> Option<()>) -> Option<()> {
        self.sign(b'{')?;
        loop {
            let name = self.word()?;
            self.sign(b':')?;
            member(name, self)?;
            match self.next()? {
                b',' => {}
                b'}' => return Some(()),
                _ => return None,
            }
        }
    }

    /// A list of one element.
    pub(crate) fn only<T>(&mut self, element: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.sign(b'[')?;
        let element = element(self)?;
        self.sign(b']')?;
        Some(element)
    }

    /// A string without escapes, as bytes: whoever keeps it checks its UTF-8.
    pub(crate) fn word(&mut self) -> Option<&'a [u8]> {
        self.sign(b'"')?;
        let (word, rest) = self.rest.split_at_checked(plain_length(self.rest))?;
        self.rest = rest.strip_prefix(b"\"")?;
        Some(word)
    }

    /// Any string.
    pub(crate) fn text(&mut self) -> Option<Cow<'a, str>> {
        self.sign(b'"')?;
        let from = self.rest;
        let mut length = plain_length(from);
        if let [b'"', rest @ ..] = from.get(length..)? {
            self.rest = rest;
            return core::str::from_utf8(from.get(..length)?).ok().map(Cow::Borrowed);
        }
        while let [b'\\', _, after @ ..] = from.get(length..)? {
            length += 2 + plain_length(after);
        }
        self.rest = from.get(length..)?.strip_prefix(b"\"")?;
        unescaped(from.get(..length)?).map(Cow::Owned)
    }

    /// A number that counts something.
    pub(crate) fn count(&mut self) -> Option<u64> {
        self.skip_space();
        let length = self.rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, rest) = self.rest.split_at_checked(length)?;
        let is_plain = matches!(digits, [b'0'] | [b'1'..=b'9', ..]) && !matches!(rest, [b'.' | b'e' | b'E', ..]);
        if !is_plain {
            return None;
        }
        self.rest = rest;
        core::str::from_utf8(digits).ok()?.parse().ok()
    }

    /// A null, if one is next.
    pub(crate) fn null(&mut self) -> bool {
        self.skip_space();
        let rest = self.rest.strip_prefix(b"null");
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// A value that does not matter.
    pub(crate) fn skip(&mut self) -> Option<()> {
        self.skip_space();
        match self.rest {
            [b'"', ..] => self.word().map(|_| ()),
            [b'0'..=b'9', ..] => self.count().map(|_| ()),
            _ => {
                self.rest = SKIPPED.iter().find_map(|word| self.rest.strip_prefix(*word))?;
                Some(())
            }
        }
    }

    /// Nothing follows.
    pub(crate) fn end(mut self) -> Option<()> {
        self.skip_space();
        self.rest.is_empty().then_some(())
    }

    fn sign(&mut self, sign: u8) -> Option<()> {
        (self.next()? == sign).then_some(())
    }

    /// The next sign that is no space.
    fn next(&mut self) -> Option<u8> {
        self.skip_space();
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn skip_space(&mut self) {
        while let [b' ' | b'\t' | b'\n' | b'\r', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }
}

/// Keeps the value of a member; nothing when there was one already.
pub(crate) fn once<T>(place: &mut Option<T>, value: T) -> Option<()> {
    place.replace(value).is_none().then_some(())
}

/// How many bytes of a string come before its end, an escape, or what may not stand in a string. Eight bytes are looked at together: a
/// byte that is zero, or less than another, is found by what a subtraction borrows, and the lowest one that is found is a true one.
fn plain_length(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    let below = |word: u64, byte: u64| word.wrapping_sub(ONES * byte) & !word & (ONES * 0x80);
    let mut length = 0;
    let mut rest = bytes;
    while let Some((eight, after)) = rest.split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*eight);
        let quotes = below(word ^ (ONES * 0x22), 1);
        let escapes = below(word ^ (ONES * 0x5C), 1);
        let found = quotes | escapes | below(word, 0x20);
        if found != 0 {
            return length + (found.trailing_zeros() / 8) as usize;
        }
        length += 8;
        rest = after;
    }
    length + rest.iter().take_while(|byte| **byte >= 0x20 && **byte != b'"' && **byte != b'\\').count()
}

/// The text of a string with escapes; nothing for escapes that are rare or wrong.
fn unescaped(bytes: &[u8]) -> Option<String> {
    let mut text = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(place) = memchr::memchr(b'\\', rest) {
        let (plain, from) = rest.split_at(place);
        text.extend_from_slice(plain);
        let [_, escaped, after @ ..] = from else { return None };
        text.push(match escaped {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'"' | b'\\' | b'/' => *escaped,
            // Those with numbers come in pairs, some of them.
            _ => return None,
        });
        rest = after;
    }
    text.extend_from_slice(rest);
    String::from_utf8(text).ok()
}

/// Values that are skipped as they are.
const SKIPPED: &[&[u8]] = &[b"null", b"[]", b"{}", b"true", b"false"];

#[cfg(test)]
mod tests;
