//! What a job's record must not hold: the secrets of its host, and of the sessions that worked on it.

use crate::redact::Redactor;
use agent_core::job::{AuditRecord, FailureKind};
use std::sync::{Arc, Mutex, PoisonError};

/// The secrets that are known so far. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Secrets(Arc<Mutex<Vec<String>>>);

impl Secrets {
    pub(super) fn add(&self, secrets: impl IntoIterator<Item = String>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(secrets);
    }

    /// The record as it may be kept: what people wrote, and all answers about it.
    pub(super) fn redact(&self, record: &mut AuditRecord) {
        let redactor = Redactor::new(&self.0.lock().unwrap_or_else(PoisonError::into_inner));
        let AuditRecord { description, llm_response, failure, .. } = record;
        redactor.text(description);
        llm_response.iter_mut().for_each(|said| redactor.text(said));
        if let Some(FailureKind::Business(message) | FailureKind::System(message)) = failure {
            redactor.text(message);
        }
    }
}
