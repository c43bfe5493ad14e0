//! A person who answers as a test says.

use crate::log::{Log, lock};
use agent_core::permission::{ApprovalAnswer, ApprovalQuestion, ApprovalScope};
use agent_core::ports::Approver;
use async_trait::async_trait;
use std::collections::VecDeque;
use std::future::pending;
use std::sync::{Arc, Mutex};

/// A person who gives scripted answers, one a question, and then the same one forever. Clones share answers and records.
#[derive(Clone, Debug)]
pub struct ScriptedApprover {
    answers: Arc<Mutex<VecDeque<ApprovalAnswer>>>,
    /// Nothing for no answer at all.
    otherwise: Option<ApprovalAnswer>,
    questions: Log<ApprovalQuestion>,
}

impl ScriptedApprover {
    /// Allows everything, each call once.
    #[must_use]
    pub fn allowing() -> Self {
        Self::always(Some(ApprovalAnswer::Allow { scope: ApprovalScope::Once, arguments: None }))
    }

    /// Denies everything for this reason.
    #[must_use]
    pub fn denying(reason: &str) -> Self {
        Self::always(Some(ApprovalAnswer::Deny { reason: reason.to_owned() }))
    }

    /// Is not there: no question gets an answer.
    #[must_use]
    pub fn absent() -> Self {
        Self::always(Some(ApprovalAnswer::Nobody))
    }

    /// Never answers: a question waits until it is withdrawn.
    #[must_use]
    pub fn silent() -> Self {
        Self::always(None)
    }

    /// Gives these answers first.
    #[must_use]
    pub fn first(self, answers: impl IntoIterator<Item = ApprovalAnswer>) -> Self {
        lock(&self.answers).extend(answers);
        self
    }

    /// The questions so far.
    #[must_use]
    pub fn questions(&self) -> Log<ApprovalQuestion> {
        self.questions.clone()
    }

    fn always(otherwise: Option<ApprovalAnswer>) -> Self {
        Self { answers: Arc::default(), otherwise, questions: Log::default() }
    }
}

#[async_trait]
impl Approver for ScriptedApprover {
    async fn ask(&self, question: &ApprovalQuestion) -> ApprovalAnswer {
        self.questions.push(question.clone());
        let scripted = lock(&self.answers).pop_front();
        match scripted.or_else(|| self.otherwise.clone()) {
            Some(answer) => answer,
            None => pending().await,
        }
    }
}
