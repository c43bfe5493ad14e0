//! One model call: passes its pieces on and ends with exactly one answer.

use crate::perform::send;
use crate::runner::Inbox;
use agent_core::llm::{Delta, LlmChunk, LlmError, LlmErrorKind, LlmRequest, LlmResponse};
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
    inbox: Inbox,
    stop: CancellationToken,
) {
    let mut partial_text = String::new();
    let work = stream(provider, request, ticket, &inbox, &mut partial_text);
    let answer = tokio::select! {
        biased;
        answer = AssertUnwindSafe(work).catch_unwind() => Some(answer),
        () = stop.cancelled() => None,
    };
    let event = match answer {
        None => Event::LlmAborted { ticket, partial_text },
        Some(Ok(Ok(response))) => Event::LlmCompleted { ticket, response },
        Some(Ok(Err(error))) => Event::LlmFailed { ticket, error, chance_permille },
        Some(Err(_)) => {
            let error = LlmError::new(LlmErrorKind::Protocol, "call the model: the provider panicked");
            Event::LlmFailed { ticket, error, chance_permille }
        }
    };
    send(&inbox, event);
}

async fn stream(
    provider: Arc<dyn LlmProvider>,
    request: LlmRequest,
    ticket: Ticket,
    inbox: &Inbox,
    partial_text: &mut String,
) -> Result<LlmResponse, LlmError> {
    let mut chunks = provider.stream(request).await?;
    while let Some(chunk) = chunks.next().await {
        match chunk? {
            LlmChunk::Completed(response) => return Ok(response),
            LlmChunk::Delta(delta) => {
                if let Delta::Text(text) = &delta {
                    partial_text.push_str(text);
                }
                send(inbox, Event::LlmDelta { ticket, delta });
            }
        }
    }
    Err(LlmError::new(
        LlmErrorKind::Protocol,
        "read the model's answer: the stream ended before the answer was complete",
    ))
}
