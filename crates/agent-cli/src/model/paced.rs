//! A model that is asked as fast as its answers are read: more would be made than anybody takes, and paid for.
//!
//! 1. A call waits until everything is written that came before it.
//! 2. The stream of an answer waits while a good deal of it is not written yet.
//! 3. Both are waits that a signal or a limit on time ends, as it ends the call.

use crate::screen::terminal;
use agent_core::llm::{LlmError, LlmRequest};
use agent_core::ports::{LlmProvider, LlmStream};
use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use std::sync::Arc;

/// What becomes of a call when what came before it can never be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// It is not made: the work is about to be stopped for that.
    IsTheEnd,
    /// It is made: the work matters more than what is shown of it.
    GoesOn,
}

/// A provider whose calls wait for the reader.
pub(crate) struct Paced {
    provider: Arc<dyn LlmProvider>,
    unread: Unread,
}

impl Paced {
    pub(crate) fn new(provider: Arc<dyn LlmProvider>, unread: Unread) -> Self {
        Self { provider, unread }
    }
}

#[async_trait]
impl LlmProvider for Paced {
    fn dialect(&self) -> &str {
        self.provider.dialect()
    }

    async fn stream(&self, request: LlmRequest) -> Result<LlmStream, LlmError> {
        terminal::told().await;
        if self.unread == Unread::IsTheEnd && terminal::lost_output().is_some() {
            return std::future::pending().await;
        }
        let chunks = self.provider.stream(request).await?;
        Ok(Box::pin(stream::unfold(chunks, |mut chunks| async {
            // Those who show the pieces get their turn, or the amount to show would be unknown.
            tokio::task::coop::consume_budget().await;
            terminal::room().await;
            chunks.next().await.map(|chunk| (chunk, chunks))
        })))
    }
}
