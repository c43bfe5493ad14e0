//! Questions on their way to the screen, and answers on their way back.

use agent_core::permission::{ApprovalAnswer, ApprovalQuestion};
use agent_core::ports::Approver;
use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot};

/// A question, and where its answer goes.
pub(crate) type Question = (ApprovalQuestion, oneshot::Sender<ApprovalAnswer>);

/// Passes questions to the screen.
pub(crate) struct ScreenApprover {
    questions: mpsc::UnboundedSender<Question>,
}

impl ScreenApprover {
    pub(crate) fn new() -> (Self, mpsc::UnboundedReceiver<Question>) {
        let (questions, receiver) = mpsc::unbounded_channel();
        (Self { questions }, receiver)
    }
}

#[async_trait]
impl Approver for ScreenApprover {
    async fn ask(&self, question: &ApprovalQuestion) -> ApprovalAnswer {
        let (sender, answer) = oneshot::channel();
        // Where the screen is gone already, the same comes of it as of one that goes: no answer.
        let _ = self.questions.send((question.clone(), sender));
        match answer.await {
            Ok(answer) => answer,
            // The screen is gone without an answer, which is leaving: the question stays open.
            Err(_) => std::future::pending().await,
        }
    }
}
