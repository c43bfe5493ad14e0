//! Takes the bytes of an answer in: events of a stream, or one JSON document, whatever the content type says.
//!
//! 1. What follows a complete answer cannot take it back: an event that is not JSON, an error, a line without end.
//! 2. An error that a server reports outside of its protocol keeps its text: the event `error`, and the field `error:` of older
//!    llama-servers.

use crate::failure::Detail;
use crate::reader::{Assemble, Broken, Heard, Progress};
use crate::sse::{Event, Scanner};
use agent_types::llm::Delta;
use std::collections::VecDeque;

/// What has come of an answer.
#[derive(Debug)]
pub(crate) struct Intake<A> {
    pub(crate) assembly: A,
    /// Pieces that were read and not yet given out.
    pub(crate) deltas: VecDeque<Delta>,
    shape: Shape,
    scanner: Scanner,
}

/// What the bytes are.
#[derive(Debug)]
enum Shape {
    /// Nothing but blanks has come.
    Unknown,
    Events,
    /// A whole answer: the bytes that have come of it.
    Document(Vec<u8>),
}

impl<A: Assemble> Intake<A> {
    pub(crate) fn new(assembly: A) -> Self {
        Self { assembly, deltas: VecDeque::new(), shape: Shape::Unknown, scanner: Scanner::default() }
    }

    /// Takes in some bytes.
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) -> Result<Heard, Broken> {
        if matches!(self.shape, Shape::Unknown) {
            match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
                None => {}
                Some(b'{') => {
                    self.shape = Shape::Document(Vec::new());
                    // Blanks of earlier pieces are not in the document either: errors name lines.
                    bytes = bytes.trim_ascii_start();
                }
                Some(_) => self.shape = Shape::Events,
            }
        }
        if let Shape::Document(document) = &mut self.shape {
            document.extend_from_slice(bytes);
            return Ok(Heard::Something);
        }
        let (assembly, deltas) = (&mut self.assembly, &mut self.deltas);
        let mut heard = Heard::Nothing;
        let outcome = self.scanner.feed(bytes, &mut |event| {
            if take(assembly, &event, deltas)? == Heard::Something {
                heard = Heard::Something;
            }
            Ok(())
        });
        match outcome {
            Err(broken) if self.assembly.progress() == Progress::Open => Err(broken),
            _ => Ok(heard),
        }
    }

    /// Takes in that nothing follows. What the end cut through is not an event: the cut is what is to be reported, if anything.
    pub(crate) fn end(&mut self) -> Result<(), Broken> {
        if let Shape::Document(document) = &self.shape {
            return self.assembly.document(document);
        }
        let (assembly, deltas) = (&mut self.assembly, &mut self.deltas);
        let scanner = core::mem::take(&mut self.scanner);
        match scanner.finish(&mut |event| take(assembly, &event, deltas).map(|_| ())) {
            Ok(()) | Err(Broken::Malformed(_)) => Ok(()),
            Err(broken) => Err(broken),
        }
    }
}

/// Gives an event to the assembly.
fn take<A: Assemble>(assembly: &mut A, event: &Event<'_>, deltas: &mut VecDeque<Delta>) -> Result<Heard, Broken> {
    let is_complete = assembly.progress() != Progress::Open;
    let is_error = event.name == b"error" && !event.data.is_empty();
    match assembly.event(event.data, deltas) {
        Err(_) if is_complete => Ok(Heard::Nothing),
        Ok(Heard::Nothing) | Err(Broken::Malformed(_)) if is_error && !is_complete => {
            Err(Broken::Reported(Detail::of_body(event.data)))
        }
        outcome => outcome,
    }
}

/// Whether the bytes begin as an event stream does, though they were said to be JSON.
pub(crate) fn is_event_stream(bytes: &[u8]) -> bool {
    let start = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).trim_ascii_start();
    [&b"data:"[..], b"event:", b":", b"id:", b"retry:", b"error:"].iter().any(|field| start.starts_with(field))
}
