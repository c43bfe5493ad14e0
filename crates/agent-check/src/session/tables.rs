//! Words that mean one thing each, for the reader and the writer.

use agent_core::llm::{LlmErrorKind, StopReason};

/// Failures of a model call.
pub(super) const FAILURES: &[(&str, LlmErrorKind)] = &[
    ("authentication", LlmErrorKind::Authentication),
    ("permission", LlmErrorKind::Permission),
    ("billing", LlmErrorKind::Billing),
    ("not-found", LlmErrorKind::NotFound),
    ("invalid", LlmErrorKind::InvalidRequest),
    ("overflow", LlmErrorKind::ContextOverflow),
    ("rate-limited", LlmErrorKind::RateLimited),
    ("overloaded", LlmErrorKind::Overloaded),
    ("server", LlmErrorKind::Server),
    ("timeout", LlmErrorKind::Timeout),
    ("network", LlmErrorKind::Network),
    ("protocol", LlmErrorKind::Protocol),
];

/// Why a model stopped; another word is an unknown reason.
pub(super) const STOPS: &[(&str, StopReason)] = &[
    ("end", StopReason::EndTurn),
    ("tool-use", StopReason::ToolUse),
    ("max-tokens", StopReason::MaxTokens),
    ("sequence", StopReason::StopSequence),
    ("paused", StopReason::Paused),
    ("refusal", StopReason::Refusal),
    ("context", StopReason::ContextWindow),
];
