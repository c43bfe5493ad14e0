//! One model call: passes its pieces on and ends with exactly one answer.

use crate::inbox::{Inbox, send};
use crate::pieces::Pieces;
use crate::redact::Redactor;
use agent_core::llm::{Delta, LlmChunk, LlmError, LlmErrorKind, LlmRequest, LlmResponse, PartialAnswer};
use agent_core::ports::LlmProvider;
use agent_core::session::{Event, Ticket};
use futures_util::{FutureExt, StreamExt};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

pub(crate) async fn run(
    provider: Arc<dyn LlmProvider>,
    request: LlmRequest,
    ticket: Ticket,
    chance_permille: u16,
    redactor: Redactor,
    inbox: Inbox,
    stop: CancellationToken,
) {
    let mut shown = Shown {
        ticket,
        inbox: inbox.clone(),
        pieces: Pieces::new(&redactor),
        kind: Delta::Text,
        text: String::new(),
        bytes: 0,
    };
    let work = stream(provider, request, &mut shown);
    let answer = tokio::select! {
        biased;
        answer = AssertUnwindSafe(work).catch_unwind() => Some(answer),
        () = stop.cancelled() => None,
    };
    shown.rest();
    let event = match answer {
        None => Event::LlmAborted { ticket, partial_text: shown.text },
        Some(Ok(Ok(response))) => Event::LlmCompleted { ticket, response },
        Some(Ok(Err(mut error))) => {
            error.partial = error.partial.or_else(|| shown.partial());
            Event::LlmFailed { ticket, error, chance_permille }
        }
        Some(Err(_)) => {
            let mut error = LlmError::new(LlmErrorKind::Protocol, "call the model: the provider panicked");
            error.partial = shown.partial();
            Event::LlmFailed { ticket, error, chance_permille }
        }
    };
    send(&inbox, event);
}

async fn stream(
    provider: Arc<dyn LlmProvider>,
    request: LlmRequest,
    shown: &mut Shown,
) -> Result<LlmResponse, LlmError> {
    let mut chunks = provider.stream(request).await?;
    while let Some(chunk) = chunks.next().await {
        match chunk? {
            LlmChunk::Completed(response) => return Ok(response),
            LlmChunk::Delta(Delta::Text(text)) => {
                shown.text.push_str(&text);
                shown.piece(Delta::Text, &text);
            }
            LlmChunk::Delta(Delta::Thinking(text)) => shown.piece(Delta::Thinking, &text),
        }
    }
    Err(LlmError::new(
        LlmErrorKind::Protocol,
        "read the model's answer: the stream ended before the answer was complete",
    ))
}

/// What has been passed on of an answer.
struct Shown {
    ticket: Ticket,
    inbox: Inbox,
    pieces: Pieces,
    /// What the last pieces were of: text or thinking.
    kind: Kind,
    /// The text so far, as it came.
    text: String,
    /// Bytes of all that came, thinking too.
    bytes: u64,
}

type Kind = fn(String) -> Delta;

impl Shown {
    /// The partial answer of a provider that fails without reporting one.
    fn partial(&self) -> Option<Box<PartialAnswer>> {
        (self.bytes > 0).then(|| Box::new(PartialAnswer { usage: None, bytes: self.bytes }))
    }

    fn piece(&mut self, kind: Kind, text: &str) {
        self.bytes += text.len() as u64;
        if kind(String::new()) != (self.kind)(String::new()) {
            self.rest();
            self.kind = kind;
        }
        let settled = self.pieces.push(text);
        self.send(settled);
    }

    fn rest(&mut self) {
        let rest = self.pieces.rest();
        self.send(rest);
    }

    fn send(&self, text: String) {
        if !text.is_empty() {
            send(&self.inbox, Event::LlmDelta { ticket: self.ticket, delta: (self.kind)(text) });
        }
    }
}
