//! Server-sent events: an incremental scanner over bytes.
//!
//! ```text
//! bytes in any pieces ──▶ lines (CR, LF or CRLF) ──▶ fields ──▶ events at blank lines
//! ```
//!
//! 1. The events do not depend on how the bytes were cut into pieces.
//! 2. The work is linear in the number of bytes, and what is kept of an unfinished line and of an unfinished event is limited.
//! 3. Nothing is decoded: data is bytes, and its parser checks the UTF-8.
//! 4. It needs an allocator and no operating system.
//!
//! It departs from the standard in two points. An event without its blank line at the end of the stream is returned, not dropped:
//! servers leave that line out, and its content shows whether such an event is whole, because a cut one does not parse. And the field
//! `error:`, in which older llama-servers report why they broke off, is the data of an event `error`.
//! `id` and `retry` are ignored: a model's answer cannot be resumed.

use alloc::vec::Vec;
use core::fmt;
use memchr::memchr2;

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// The `event` field; empty when there was none.
    pub name: &'a [u8],
    /// The `data` fields, joined by line feeds.
    pub data: &'a [u8],
}

/// Most bytes that are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of one line, its end not counted.
    pub line_bytes: usize,
    /// Of one event: its name and its data.
    pub event_bytes: usize,
}

impl Default for Limits {
    /// 16 MiB each: far beyond any event a model server sends; one that is larger is an attack or a fault.
    fn default() -> Self {
        Self { line_bytes: 16 * 1024 * 1024, event_bytes: 16 * 1024 * 1024 }
    }
}

/// Something is larger than its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("read an event stream: {part} is larger than {limit_bytes} bytes")]
pub struct TooLarge {
    /// The part.
    pub part: Part,
    /// The limit.
    pub limit_bytes: usize,
}

/// What has a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A line whose end has not come.
    Line,
    /// An event.
    Event,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Line => "a line",
            Self::Event => "an event",
        })
    }
}

/// Cuts a stream of bytes into events.
#[derive(Debug)]
pub struct Scanner {
    /// The beginning of a line whose end has not arrived.
    line: Vec<u8>,
    /// Where the line's value begins in `data`, when it is a long data line that goes there at once.
    value_start: Option<usize>,
    /// The data of the event being read, each line ended by a line feed.
    data: Vec<u8>,
    name: Vec<u8>,
    limits: Limits,
    /// No line has been read yet: a byte order mark may be here.
    at_start: bool,
    /// The last byte was a CR; a LF that follows belongs to it.
    after_cr: bool,
}

impl Default for Scanner {
    fn default() -> Self {
        Self::with_limits(Limits::default())
    }
}

impl Scanner {
    /// A scanner that refuses larger lines and events than these.
    #[must_use]
    pub const fn with_limits(limits: Limits) -> Self {
        Self {
            line: Vec::new(),
            value_start: None,
            data: Vec::new(),
            name: Vec::new(),
            limits,
            at_start: true,
            after_cr: false,
        }
    }

    /// Takes in bytes and gives every event that they complete to `sink`.
    ///
    /// # Errors
    /// [`TooLarge`], or what `sink` returns. The scanner must not be used after an error.
    pub fn feed<E: From<TooLarge>>(
        &mut self,
        mut bytes: &[u8],
        sink: &mut impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.after_cr
            && let Some((first, rest)) = bytes.split_first()
        {
            self.after_cr = false;
            if *first == b'\n' {
                bytes = rest;
            }
        }
        while let Some(end) = memchr2(b'\r', b'\n', bytes) {
            let (line, rest) = bytes.split_at(end);
            bytes = match rest {
                [b'\r', b'\n', after @ ..] => after,
                [b'\r'] => {
                    self.after_cr = true;
                    &[]
                }
                [_, after @ ..] => after,
                [] => &[],
            };
            if !self.line.is_empty() || self.value_start.is_some() {
                self.keep(line)?;
                self.end_line(sink)?;
            } else if let [b'\n', after @ ..] = bytes
                && let Some(value) = self.whole_event(line)?
            {
                sink(Event { name: &self.name, data: value })?;
                self.name.clear();
                bytes = after;
            } else {
                self.take_line(line, sink)?;
            }
        }
        Ok(self.keep(bytes)?)
    }

    /// Takes in the line that was kept.
    fn end_line<E: From<TooLarge>>(&mut self, sink: &mut impl FnMut(Event<'_>) -> Result<(), E>) -> Result<(), E> {
        if self.value_start.take().is_some() {
            self.data.push(b'\n');
            return Ok(());
        }
        let whole = core::mem::take(&mut self.line);
        self.take_line(&whole, sink)?;
        // Given back for its allocation.
        self.line = whole;
        self.line.clear();
        Ok(())
    }

    /// The value of a data line that is its event's only one: it need not be kept.
    fn whole_event<'a>(&self, line: &'a [u8]) -> Result<Option<&'a [u8]>, TooLarge> {
        if self.at_start || !self.data.is_empty() {
            return Ok(None);
        }
        let value = field(line, b"data");
        self.check(value.map_or(0, <[u8]>::len))?;
        Ok(value)
    }

    /// Ends the stream and returns the event that lacks its blank line, if there is one.
    ///
    /// # Errors
    /// As for [`feed`](Self::feed).
    pub fn finish<E: From<TooLarge>>(mut self, sink: &mut impl FnMut(Event<'_>) -> Result<(), E>) -> Result<(), E> {
        if !self.line.is_empty() || self.value_start.is_some() {
            self.end_line(sink)?;
        }
        self.dispatch(sink)
    }

    /// Keeps the beginning of a line for later.
    fn keep(&mut self, part: &[u8]) -> Result<(), TooLarge> {
        if self.value_start.is_some() {
            return self.keep_value(part);
        }
        let limit_bytes = self.limits.line_bytes;
        if self.line.len() + part.len() > limit_bytes {
            return Err(TooLarge { part: Part::Line, limit_bytes });
        }
        self.line.extend_from_slice(part);
        // A long data line is not kept twice. The first line may begin with a mark, and a short one may still become another field.
        if !self.at_start && self.line.len() > LONG_LINE_BYTES {
            let line = core::mem::take(&mut self.line);
            match field(&line, b"data") {
                Some(value) => {
                    self.value_start = Some(self.data.len());
                    self.keep_value(value)?;
                }
                None => self.line = line,
            }
        }
        Ok(())
    }

    /// Keeps a part of a data line's value where it belongs.
    fn keep_value(&mut self, part: &[u8]) -> Result<(), TooLarge> {
        let limit_bytes = self.limits.line_bytes;
        let before = self.data.len() - self.value_start.unwrap_or(0);
        if before + part.len() > limit_bytes {
            return Err(TooLarge { part: Part::Line, limit_bytes });
        }
        self.check(part.len())?;
        self.data.extend_from_slice(part);
        Ok(())
    }

    fn take_line<E: From<TooLarge>>(
        &mut self,
        line: &[u8],
        sink: &mut impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let line =
            if core::mem::take(&mut self.at_start) { line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line) } else { line };
        if line.is_empty() {
            return self.dispatch(sink);
        }
        if let Some(value) = field(line, b"data") {
            self.check(value.len())?;
            self.data.extend_from_slice(value);
            self.data.push(b'\n');
        } else if let Some(value) = field(line, b"event") {
            self.check(value.len())?;
            self.name.clear();
            self.name.extend_from_slice(value);
        } else if let Some(value) = field(line, b"error") {
            self.check(value.len() + b"error".len())?;
            self.name.clear();
            self.name.extend_from_slice(b"error");
            self.data.extend_from_slice(value);
            self.data.push(b'\n');
        }
        Ok(())
    }

    fn dispatch<E>(&mut self, sink: &mut impl FnMut(Event<'_>) -> Result<(), E>) -> Result<(), E> {
        let outcome = match self.data.split_last() {
            Some((_, data)) => sink(Event { name: &self.name, data }),
            None => Ok(()),
        };
        self.data.clear();
        self.name.clear();
        outcome
    }

    fn check(&self, more: usize) -> Result<(), TooLarge> {
        let limit_bytes = self.limits.event_bytes;
        if self.data.len() + self.name.len() + more > limit_bytes {
            return Err(TooLarge { part: Part::Event, limit_bytes });
        }
        Ok(())
    }
}

/// The value of this line if it is the field of this name.
fn field<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    match line.strip_prefix(name)? {
        [] => Some(&[]),
        [b':', b' ', value @ ..] | [b':', value @ ..] => Some(value),
        _ => None,
    }
}

/// Longer than the name of any field, and than most lines that are cut between two pieces.
const LONG_LINE_BYTES: usize = 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

// The path is said because this file is also compiled from elsewhere: see `examples/sse_alone.rs`.
#[cfg(test)]
#[path = "sse/tests.rs"]
mod tests;
