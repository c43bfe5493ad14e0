//! Questions to a person, one after the other.

use crate::hooks::Verdicts;
use crate::inbox::{Inbox, send};
use crate::notice::AgentName;
use crate::tool_calls::{Toolbox, facts};
use agent_core::conversation::ToolCall;
use agent_core::permission::{ApprovalAnswer, ApprovalQuestion};
use agent_core::ports::Approver;
use agent_core::session::{Event, Ticket};
use agent_core::tool::CallFacts;
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Who is asked, and what is needed to look at the arguments that they change.
pub(crate) struct Asking {
    pub(crate) approver: Option<Arc<dyn Approver>>,
    pub(crate) toolbox: Arc<Toolbox>,
    pub(crate) verdicts: Verdicts,
    pub(crate) ticket: Ticket,
    pub(crate) inbox: Inbox,
    /// Who asks, where it is an agent below the session's own.
    pub(crate) agent: Option<Arc<AgentName>>,
}

impl Asking {
    /// Asks about each call. Without an approver, the answer says so.
    pub(crate) async fn run(self, questions: Vec<ApprovalQuestion>, stop: CancellationToken) {
        for question in questions {
            let question = self.named(question);
            let answer = match &self.approver {
                None => ApprovalAnswer::Nobody,
                Some(approver) => tokio::select! {
                    biased;
                    () = stop.cancelled() => return,
                    // An approver that fails has allowed nothing.
                    answer = AssertUnwindSafe(approver.ask(&question)).catch_unwind() => answer.unwrap_or(ApprovalAnswer::Nobody),
                },
            };
            let changed = self.changed(&question, &answer, &stop).await.map(Box::new);
            let (ticket, call) = (self.ticket, question.call.id);
            send(&self.inbox, Event::ApprovalAnswered { ticket, call, answer, changed });
        }
    }

    /// The question with the name of the agent that asks.
    fn named(&self, question: ApprovalQuestion) -> ApprovalQuestion {
        match &self.agent {
            Some(agent) => {
                let reason = format!("the agent `{}` asks: {}", agent.name, question.reason);
                ApprovalQuestion { reason, ..question }
            }
            None => question,
        }
    }

    /// What the call would do with the arguments that the person set, and what the user's hooks say about that.
    async fn changed(
        &self,
        question: &ApprovalQuestion,
        answer: &ApprovalAnswer,
        stop: &CancellationToken,
    ) -> Option<CallFacts> {
        let ApprovalAnswer::Allow { arguments: Some(arguments), .. } = answer else { return None };
        let call = ToolCall { arguments: arguments.clone(), ..question.call.clone() };
        Some(facts(&self.toolbox, &self.verdicts, call, stop).await)
    }
}
