//! Failures that end the program before or beside a run, with their exit codes.

use agent_core::llm::{LlmError, LlmErrorKind};

/// What is wrong, and with which code the program ends.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    pub(crate) code: u8,
    pub(crate) message: String,
}

#[expect(clippy::needless_pass_by_value, reason = "errors are handed over as `map_err` gives them")]
impl Failure {
    /// Something unexpected.
    pub(crate) fn internal(message: impl ToString) -> Self {
        Self { code: 1, message: message.to_string() }
    }

    /// No key for the provider.
    pub(crate) fn authentication(message: impl ToString) -> Self {
        Self { code: 41, message: message.to_string() }
    }

    /// Unusable input.
    pub(crate) fn input(message: impl ToString) -> Self {
        Self { code: 42, message: message.to_string() }
    }

    /// Wrong configuration.
    pub(crate) fn config(message: impl ToString) -> Self {
        Self { code: 52, message: message.to_string() }
    }

    /// Options that do not go together.
    pub(crate) fn usage(message: impl ToString) -> Self {
        Self { code: 2, message: message.to_string() }
    }

    /// The provider did not answer.
    pub(crate) fn provider(message: impl ToString) -> Self {
        Self { code: 62, message: message.to_string() }
    }

    /// What a provider was asked beside a session, and did not answer.
    pub(crate) fn of_llm(error: &LlmError) -> Self {
        match error.kind {
            LlmErrorKind::Authentication => Self::authentication(error),
            _ => Self::provider(error),
        }
    }

    /// The word for it in machine-readable output.
    pub(crate) const fn subtype(&self) -> &'static str {
        match self.code {
            41 => "error_authentication",
            42 => "error_input",
            52 => "error_config",
            130 | 143 => "cancelled",
            _ => "error_during_execution",
        }
    }
}
