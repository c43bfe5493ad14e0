//! The wire formats, where one is chosen as the program runs.

use crate::client::Answered;
use crate::history::Fragments;
use crate::pictures::{Gallery, Pictures};
use crate::{anthropic, openai, reader, responses};
use agent_types::llm::{LlmError, LlmRequest};
use agent_types::ports::LlmStream;

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

impl Format {
    const ALL: [Self; 3] = [Self::Anthropic, Self::OpenAiChat, Self::OpenAiResponses];

    pub(crate) const fn dialect(self) -> &'static str {
        match self {
            Self::Anthropic => anthropic::SPEC.dialect,
            Self::OpenAiChat => openai::SPEC.dialect,
            Self::OpenAiResponses => responses::SPEC.dialect,
        }
    }

    pub(crate) fn of_dialect(dialect: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.dialect() == dialect)
    }

    /// Reads an answer.
    pub(crate) async fn read(self, answered: Answered, limit_tokens: u32) -> Result<LlmStream, LlmError> {
        match self {
            Self::Anthropic => reader::read(answered, anthropic::Assembly::default()).await,
            Self::OpenAiChat => reader::read(answered, openai::Assembly::default()).await,
            Self::OpenAiResponses => reader::read(answered, responses::Assembly::within(limit_tokens)).await,
        }
    }
}

/// Writes requests and keeps what it wrote.
#[derive(Debug)]
pub struct Writer {
    format: Format,
    quirks: openai::Quirks,
    fragments: Fragments,
}

impl Writer {
    /// A writer that has written nothing, for the server of this name.
    #[must_use]
    pub fn new(format: Format, host: &str) -> Self {
        let quirks = openai::Quirks::of_host(host);
        let fragments = match format {
            Format::Anthropic => anthropic::fragments(),
            Format::OpenAiChat => openai::fragments(quirks),
            Format::OpenAiResponses => responses::fragments(host),
        };
        Self { format, quirks, fragments }
    }

    /// The body of a request. Its pictures are named in texts.
    ///
    /// # Errors
    /// When something in it cannot be written as JSON.
    pub fn write(&self, request: &LlmRequest) -> serde_json::Result<Vec<u8>> {
        self.write_with(request, &Gallery::named(request))
    }

    /// The body of a request with the pictures that its model takes.
    ///
    /// # Errors
    /// When something in it cannot be written as JSON.
    pub async fn write_with_pictures(&self, request: &LlmRequest, pictures: &Pictures) -> serde_json::Result<Vec<u8>> {
        self.write_with(request, &Gallery::of(request, pictures).await)
    }

    fn write_with(&self, request: &LlmRequest, gallery: &Gallery) -> serde_json::Result<Vec<u8>> {
        match self.format {
            Format::Anthropic => anthropic::body(request, &self.fragments, gallery),
            Format::OpenAiChat => openai::body(request, self.quirks, &self.fragments, gallery),
            Format::OpenAiResponses => responses::body(request, &self.fragments, gallery),
        }
    }
}
