//! Takes known secrets out of text where it enters, so that journal, machine and screen see the same.

use agent_core::llm::{Delta, ResponseBlock};
use agent_core::session::Event;

/// Replaces known secrets.
#[derive(Clone, Default)]
pub(crate) struct Redactor {
    secrets: Vec<String>,
}

impl Redactor {
    /// Short values are left alone: replacing them would garble ordinary text.
    pub(crate) fn new(secrets: Vec<String>) -> Self {
        Self { secrets: secrets.into_iter().filter(|secret| secret.len() >= MIN_SECRET_BYTES).collect() }
    }

    /// The event without secrets.
    pub(crate) fn event(&self, mut event: Event) -> Event {
        if self.secrets.is_empty() {
            return event;
        }
        match &mut event {
            Event::UserInput { text } | Event::ToolProgress { text, .. } => self.text(text),
            Event::LlmDelta { delta: Delta::Text(text) | Delta::Thinking(text), .. } => self.text(text),
            Event::LlmCompleted { response, .. } => response.blocks.iter_mut().for_each(|block| self.block(block)),
            Event::LlmFailed { error, .. } => self.text(&mut error.message),
            Event::LlmAborted { partial_text, .. } => self.text(partial_text),
            Event::ToolCompleted { outcome, .. } => self.text(&mut outcome.content),
            Event::HookFailed { message: text, .. } | Event::HooksStoppedTurn { reason: text, .. } => self.text(text),
            // Times, tickets, reports of our own hooks and facts about calls carry no text from outside that could hold a secret.
            Event::Started
            | Event::BudgetRaised { .. }
            | Event::Reconfigured { .. }
            | Event::CompactionRequested
            | Event::CancelRequested
            | Event::ShutdownRequested
            | Event::RetryTimeout { .. }
            | Event::DeadlineReached { .. }
            | Event::ToolsPrepared { .. }
            | Event::ApprovalAnswered { .. }
            | Event::GitChecked { .. }
            | Event::FormattersFinished { .. }
            | Event::ChangesCommitted { .. } => {}
        }
        event
    }

    /// Sealed reasoning is left as it came: changing it would break its seal.
    fn block(&self, block: &mut ResponseBlock) {
        match block {
            ResponseBlock::Text(text) => self.text(text),
            ResponseBlock::Call(call) => self.text(&mut call.arguments),
            ResponseBlock::Thinking { .. } | ResponseBlock::RedactedThinking { .. } | ResponseBlock::Opaque { .. } => {}
        }
    }

    fn text(&self, text: &mut String) {
        for secret in &self.secrets {
            if text.contains(secret) {
                *text = text.replace(secret, "[redacted]");
            }
        }
    }
}

const MIN_SECRET_BYTES: usize = 8;
