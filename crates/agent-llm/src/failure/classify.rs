//! Which class a failure belongs to.
//!
//! The status says most of it. What it does not say is in the body: servers report a full context window as 400, 413, 429 or 500 in a
//! dozen wordings, an empty account as 400 or 429, and a wrong model name as 400.

use super::Detail;
use agent_types::llm::LlmErrorKind;

/// The class of a failure, from the HTTP status if there was one and from what the server said.
pub(crate) fn classify(status: Option<u16>, detail: &Detail) -> LlmErrorKind {
    let kind = detail.kind.as_str();
    let code = detail.code.as_str();
    let message = detail.message.to_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));

    // A key that was refused is not cured by anything the text may say.
    if status == Some(401) || INVALID_KEY_CODES.contains(&code) || says(INVALID_KEY_PHRASES) {
        return LlmErrorKind::Authentication;
    }
    let overflowed = OVERFLOW_CODES.contains(&code) || OVERFLOW_CODES.contains(&kind);
    if overflowed || says(OVERFLOW_PHRASES) {
        return LlmErrorKind::ContextOverflow;
    }
    if BILLING_CODES.contains(&code) || BILLING_CODES.contains(&kind) || says(BILLING_PHRASES) {
        return LlmErrorKind::Billing;
    }
    let no_model = NO_MODEL_CODES.contains(&code) || NO_MODEL_CODES.contains(&kind);
    if no_model || says(NO_MODEL_PHRASES) {
        return LlmErrorKind::NotFound;
    }
    if kind == "overloaded_error" {
        return LlmErrorKind::Overloaded;
    }
    if let Some(status) = status {
        return of_status(status, &message);
    }
    // Beside this code the kind says `tokens` or `requests`, or even that the request is wrong.
    if code == "rate_limit_exceeded" {
        return LlmErrorKind::RateLimited;
    }
    of_kind(kind)
        .or_else(|| detail.status.map(|status| of_status(status, &message)))
        .or_else(|| of_kind(code))
        .unwrap_or(LlmErrorKind::Server)
}

fn of_status(status: u16, message: &str) -> LlmErrorKind {
    match status {
        401 => LlmErrorKind::Authentication,
        402 => LlmErrorKind::Billing,
        403 => LlmErrorKind::Permission,
        404 | 410 => LlmErrorKind::NotFound,
        408 | 504 => LlmErrorKind::Timeout,
        // What is too large is the history, unless the server names something that compaction would not shrink.
        413 if message.contains("image") || message.contains("attachment") => LlmErrorKind::InvalidRequest,
        413 => LlmErrorKind::ContextOverflow,
        425 | 429 => LlmErrorKind::RateLimited,
        // Lock conflicts of the server's own.
        409 => LlmErrorKind::Server,
        503 | 529 => LlmErrorKind::Overloaded,
        300..=499 => LlmErrorKind::InvalidRequest,
        500..=599 => LlmErrorKind::Server,
        _ => LlmErrorKind::Protocol,
    }
}

/// The class that a server's own name for an error means, where there is no status to go by.
fn of_kind(kind: &str) -> Option<LlmErrorKind> {
    Some(match kind {
        "authentication_error" => LlmErrorKind::Authentication,
        "permission_error" => LlmErrorKind::Permission,
        "not_found_error" => LlmErrorKind::NotFound,
        "invalid_request_error" => LlmErrorKind::InvalidRequest,
        "rate_limit_error" => LlmErrorKind::RateLimited,
        "overloaded_error" | "unavailable_error" | "insufficient_system_resource" => LlmErrorKind::Overloaded,
        "timeout_error" => LlmErrorKind::Timeout,
        "api_error" | "server_error" | "internal_server_error" => LlmErrorKind::Server,
        _ => return None,
    })
}

const INVALID_KEY_CODES: &[&str] = &["invalid_api_key"];

const INVALID_KEY_PHRASES: &[&str] = &["api key not valid", "invalid api key"];

const OVERFLOW_CODES: &[&str] = &["context_length_exceeded", "exceed_context_size_error", "request_too_large"];

/// Lower case, each with its origin after it.
const OVERFLOW_PHRASES: &[&str] = &[
    "prompt is too long",                    // Anthropic
    "exceed context limit",                  // Anthropic, input and max_tokens together
    "maximum context length",                // OpenAI, vLLM, OpenRouter, DeepSeek, Mistral
    "exceeds the context window",            // OpenAI
    "reduce the length of the messages",     // OpenAI, Groq
    "tokens must be reduced",                // OpenAI: one request above the tokens of a minute, no waiting helps
    "exceeds the available context size",    // llama-server
    "context size has been exceeded",        // llama-server, in the middle of an answer
    "increasing context size",               // llama-server, older
    "increasing it via the context size",    // llama-server, older
    "context length is only",                // vLLM
    "longer than the maximum model length",  // vLLM
    "greater than the context length",       // LM Studio
    "exceeded max context length",           // Ollama
    "maximum prompt length is",              // xAI
    "exceeds the maximum number of tokens",  // Gemini
    "input is too long for requested model", // Bedrock
];

const BILLING_CODES: &[&str] = &["insufficient_quota", "billing_error", "insufficient_balance"];

const BILLING_PHRASES: &[&str] = &[
    "credit balance is too low",   // Anthropic, as 400
    "exceeded your current quota", // OpenAI, as 429
    "insufficient balance",        // DeepSeek
    "insufficient credits",        // OpenRouter
    "requires more credits",       // OpenRouter
];

const NO_MODEL_CODES: &[&str] = &["model_not_found", "invalid_model", "DeploymentNotFound"];

const NO_MODEL_PHRASES: &[&str] = &[
    "is not a valid model id",           // OpenRouter, as 400
    "the supported api model names are", // DeepSeek, as 400
];
