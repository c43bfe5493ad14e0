//! Recorded HTTP errors of real servers, each with the class that it must get.

mod support;

use agent_core::llm::LlmErrorKind;
use serde_json::Value;
use support::{Reply, Server, anthropic, call, fixtures, openai};

/// The class of a recorded answer, decided by hand from its status and words.
fn class(status: u64, message: &str) -> LlmErrorKind {
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
    match status {
        400 if says(CONTEXT_OVERFLOWS) => LlmErrorKind::ContextOverflow,
        400 if says(WRONG_MODELS) => LlmErrorKind::NotFound,
        400 => LlmErrorKind::InvalidRequest,
        401 => LlmErrorKind::Authentication,
        404 => LlmErrorKind::NotFound,
        429 => LlmErrorKind::RateLimited,
        other => panic!("no class for {other}: {message}"),
    }
}

/// The answers among the recordings that mean: the history is too long.
const CONTEXT_OVERFLOWS: &[&str] = &[
    "prompt is too long: 3333404 tokens > 200000 maximum",
    "maximum context length is 1048565 tokens",
    "Your input exceeds the context window of this model.",
    "maximum context length is 200000 tokens",
];

/// The answers with status 400 that mean: there is no such model.
const WRONG_MODELS: &[&str] = &[
    "The requested model 'gpt",
    "Invalid model: definitely-not-a-model",
    "The supported API model names are deepseek-v4-pro",
    "openai/gpt-nonexistent-routed-model is not a valid model ID",
];

#[tokio::test]
async fn recorded_errors_get_their_class() {
    let Some(folder) = fixtures() else { return };
    let text = std::fs::read_to_string(folder.join("http-errors/http_errors.json")).unwrap();
    let recorded: Vec<Value> = serde_json::from_str(&text).unwrap();
    let mut tally = std::collections::BTreeMap::new();
    for record in &recorded {
        let status = record["status"].as_u64().unwrap();
        let body = match &record["body"] {
            Value::String(text) => text.clone(),
            json => json.to_string(),
        };
        let reply = || {
            let status = u16::try_from(status).unwrap();
            let content_type = record["headers"]["content-type"].as_str();
            Reply::document(status, content_type.unwrap_or("text/plain"), "", body.as_bytes())
        };
        let server = Server::start([reply(), reply()]).await;
        let error = call(&anthropic(&server)).await.unwrap_err();
        assert_eq!(error.kind, class(status, &body), "{body}");
        assert_eq!(error.status.map(u64::from), Some(status));
        let by_the_other = call(&openai(&server)).await.unwrap_err();
        assert_eq!(by_the_other.kind, error.kind);
        let message = record["body"].pointer("/error/message").and_then(Value::as_str);
        if let Some(message) = message.filter(|message| message.len() < 300) {
            assert!(error.message.contains(message.trim()), "{error}");
        }
        *tally.entry(format!("{:?}", error.kind)).or_insert(0) += 1;
    }
    eprintln!("{tally:?}");
    assert!(recorded.len() >= 70);
    assert_eq!(tally["ContextOverflow"], 4);
}
