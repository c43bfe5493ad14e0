//! The two ends of a provider without the network between them, for `benches/`.

use crate::history::Fragments;
use crate::reader::{Assemble, Broken};
use crate::sse::Scanner;
use crate::{anthropic, openai, responses};
use agent_core::llm::LlmRequest;
use std::collections::VecDeque;

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions.
    OpenAiChat,
    /// OpenAI Responses.
    OpenAiResponses,
}

/// Reads a stream that comes in pieces and counts its deltas.
///
/// # Panics
/// When it is no stream of this format.
pub fn read<'a>(format: Format, pieces: impl Iterator<Item = &'a [u8]>) -> usize {
    match format {
        Format::Anthropic => read_by(anthropic::Assembly::default(), pieces),
        Format::OpenAiChat => read_by(openai::Assembly::default(), pieces),
        Format::OpenAiResponses => read_by(responses::Assembly::default(), pieces),
    }
}

#[expect(clippy::panic, reason = "a bench that measures a failure must not go on")]
fn read_by<'a>(mut assembly: impl Assemble, pieces: impl Iterator<Item = &'a [u8]>) -> usize {
    let mut scanner = Scanner::default();
    let mut deltas = VecDeque::new();
    let mut count = 0;
    for piece in pieces {
        let outcome: Result<(), Broken> =
            scanner.feed(piece, &mut |event| assembly.event(event.data, &mut deltas).map(|_| ()));
        if let Err(broken) = outcome {
            panic!("not a stream of this format: {broken:?}");
        }
        count += deltas.len();
        deltas.clear();
    }
    let _ = assembly.finish();
    count
}

/// Writes requests and keeps what it wrote.
#[derive(Debug)]
pub struct Writer {
    format: Format,
    fragments: Fragments,
}

impl Writer {
    /// A writer that has written nothing.
    #[must_use]
    pub fn new(format: Format) -> Self {
        let fragments = match format {
            Format::Anthropic => anthropic::fragments(),
            Format::OpenAiChat => openai::fragments(openai::Accent::of_host("")),
            Format::OpenAiResponses => responses::fragments(),
        };
        Self { format, fragments }
    }

    /// The body of a request.
    ///
    /// # Errors
    /// When something in it cannot be written as JSON.
    pub fn write(&self, request: &LlmRequest) -> serde_json::Result<Vec<u8>> {
        match self.format {
            Format::Anthropic => anthropic::body(request, &self.fragments),
            Format::OpenAiChat => openai::body(request, openai::Accent::of_host(""), &self.fragments),
            Format::OpenAiResponses => responses::body(request, &self.fragments),
        }
    }
}
