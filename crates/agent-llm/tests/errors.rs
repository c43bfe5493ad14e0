//! Recorded HTTP errors of real servers, each with the class that it must get.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use agent_types::llm::LlmErrorKind::{self, Authentication, ContextOverflow, InvalidRequest, NotFound, RateLimited};
use agent_types::llm::{LlmError, LlmErrorFacts, RateLimit};
use agent_types::ports::LlmProvider;
use serde_json::Value;
use support::{Reply, Server, anthropic, call, fixtures, openai, responses};

/// What the server answered: the reply of the recording.
fn reply(record: &Value) -> Reply {
    let body = match &record["body"] {
        Value::String(text) => text.clone(),
        json => json.to_string(),
    };
    let headers = record["headers"].as_object().unwrap();
    let more: String = headers
        .iter()
        .filter(|(name, _)| *name != "content-type")
        .map(|(name, value)| format!("{name}: {}\r\n", value.as_str().unwrap()))
        .collect();
    let content_type = headers.get("content-type").and_then(Value::as_str).unwrap_or("text/plain");
    let status = u16::try_from(record["status"].as_u64().unwrap()).unwrap();
    Reply::document(status, content_type, &more, body.as_bytes())
}

async fn errors(record: &Value) -> [LlmError; 3] {
    let server = Server::start([reply(record), reply(record), reply(record)]).await;
    let providers: [Box<dyn LlmProvider>; 3] =
        [Box::new(anthropic(&server)), Box::new(openai(&server)), Box::new(responses(&server))];
    let mut errors = Vec::new();
    for provider in &providers {
        errors.push(call(&**provider).await.unwrap_err());
    }
    errors.try_into().unwrap()
}

#[tokio::test]
async fn every_recorded_error_has_its_class() {
    let Some(folder) = fixtures() else { return };
    let text = std::fs::read_to_string(folder.join("http-errors/http_errors.json")).unwrap();
    let recorded: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(recorded.len(), CLASSES.len(), "a recording without a class");
    for (number, (record, (status, kind, words))) in recorded.iter().zip(CLASSES).enumerate() {
        let [error, second, third] = errors(record).await;
        assert_eq!(error.kind, *kind, "{number}: {error}");
        assert_eq!(error.status, Some(*status), "{number}");
        assert!(error.message.contains(words), "{number}: {error}");
        for other in [second, third] {
            assert_eq!((other.kind, other.status, &other.facts), (error.kind, error.status, &error.facts), "{number}");
        }
        assert_eq!(error.retry_after_ms, None, "{number}");
        let facts = error.facts.map(|facts| *facts).unwrap_or_default();
        let numbers = OVERFLOWS.iter().find(|(overflow, ..)| *overflow == number);
        let expected = LlmErrorFacts {
            requested_tokens: numbers.map(|(_, requested, _)| *requested),
            limit_tokens: numbers.map(|(.., limit)| *limit),
            rate_limits: facts.rate_limits.clone(),
            wait: None,
        };
        assert_eq!(facts, expected, "{number}");
        let limits: Vec<&str> = facts.rate_limits.iter().map(|limit| limit.name.as_str()).collect();
        let with_limits = [31, 32].contains(&number);
        assert_eq!(limits, if with_limits { vec!["input-images", "requests", "tokens"] } else { vec![] }, "{number}");
        if number == 31 {
            let requests = RateLimit {
                name: "requests".to_owned(),
                limit: Some(30_000),
                remaining: Some(29_999),
                reset_ms: Some(2),
            };
            assert_eq!(facts.rate_limits[1], requests);
        }
    }
}

/// The overflows that come with numbers: which recording, the tokens of the request, the limit.
const OVERFLOWS: [(usize, u64, u64); 3] =
    [(25, 3_333_404, 200_000), (26, 1_250_025, 1_048_565), (28, 2_500_021, 200_000)];

/// The recordings in their order: status, class, and how the server's words begin.
#[rustfmt::skip]
const CLASSES: &[(u16, LlmErrorKind, &str)] = &[
    (400, InvalidRequest, "Invalid 'messages[3]'. Content blocks are expected to be eit"),
    (400, InvalidRequest, "The file type you uploaded is not supported. Please try agai"),
    (400, InvalidRequest, "Invalid file data: 'input[3].output[0].file_data'. Expected "),
    (400, InvalidRequest, "Invalid file data: 'input[4].content[0].file_data'. Expected"),
    (400, InvalidRequest, "No tool output found for tool call call-a."),
    (400, InvalidRequest, "Invalid 'temperature': decimal below minimum value. Expected"),
    (400, InvalidRequest, "Item 'rs_68c42de022c881948db7ed1cc2529f2e0202c9ad459e0d23' o"),
    (400, InvalidRequest, "Unsupported value: 'messages[0].role' does not support 'deve"),
    (400, InvalidRequest, "Unsupported value: 'messages[0].role' does not support 'syst"),
    (400, InvalidRequest, "Web search options not supported with this model."),
    (404, NotFound, "model: claude-does-not-exist"),
    (400, InvalidRequest, "This model does not support effort level 'xhigh'. Supported "),
    (404, NotFound, "The model `non-existent` does not exist or you do not have a"),
    (400, InvalidRequest, "Tool call validation failed: tool call validation failed: pa"),
    (400, InvalidRequest, "Tool choice is required, but model did not call a tool"),
    (429, RateLimited, "Provider returned error"),
    (400, NotFound, "The requested model 'gpt-5.2-proo' does not exist."),
    (404, NotFound, "model: claude-sonet-4-5"),
    (404, NotFound, "The model `llama-3.3-70b-versatlie` does not exist or you do"),
    (404, NotFound, "The model `gpt-5.2-proo` does not exist or you do not have a"),
    (401, Authentication, "invalid x-api-key"),
    (401, Authentication, "Authentication Fails, Your api key: ****-key is invalid"),
    (401, Authentication, "Invalid API Key"),
    (401, Authentication, "Incorrect API key provided: invalid-key. You can find your A"),
    (401, Authentication, "Missing Authentication header"),
    (400, ContextOverflow, "prompt is too long: 3333404 tokens > 200000 maximum"),
    (400, ContextOverflow, "This model's maximum context length is 1048565 tokens. Howev"),
    (400, ContextOverflow, "Your input exceeds the context window of this model. Please "),
    (400, ContextOverflow, "This endpoint's maximum context length is 200000 tokens. How"),
    (401, Authentication, "Incorrect API key provided: test-con****-key. You can find y"),
    (404, NotFound, "The API deployment for this resource does not exist. If you "),
    (400, InvalidRequest, "Error while downloading https://source.unsplash.com/8xznAGy4"),
    (400, InvalidRequest, "You uploaded an unsupported image. Please make sure your ima"),
    (404, NotFound, ""),
    (400, InvalidRequest, "Logprobs are not enabled for this model"),
    (400, NotFound, "Invalid model: definitely-not-a-model"),
    (401, Authentication, "Invalid API Key"),
    (401, Authentication, "Invalid API Key"),
    (404, NotFound, "The model `groq-nonexistent-model-for-identity-edge` does no"),
    (400, InvalidRequest, "tools.0.custom.input_schema: Input does not match the expect"),
    (400, InvalidRequest, "tools.0.custom: For 'object' type, property 'properties' is "),
    (400, InvalidRequest, "tools.0.custom.input_schema.type: Field required"),
    (400, InvalidRequest, "tools.0.custom: Invalid schema: Circular reference detected "),
    (400, InvalidRequest, "tools.0.custom.input_schema.type: Input should be 'object'"),
    (400, InvalidRequest, "Schemas contains too many parameters with union types (17 pa"),
    (400, InvalidRequest, "Schema is too complex for compilation. Try reducing the numb"),
    (400, InvalidRequest, "Schemas contains too many optional parameters (25), which wo"),
    (400, InvalidRequest, "Too many strict tools (21). The maximum number of strict too"),
    (401, Authentication, "API key is invalid."),
    (404, NotFound, "model: claude-nonexistent-model-for-error-edge"),
    (400, InvalidRequest, "temperature: range: 0..1"),
    (404, NotFound, "model: claude-nonexistent-model-for-identity-edge"),
    (404, NotFound, "model: claude-nonexistent-rig-test"),
    (400, InvalidRequest, "Failed to deserialize the JSON body into the target type: me"),
    (400, InvalidRequest, "Failed to deserialize the JSON body into the target type: me"),
    (400, InvalidRequest, "Failed to deserialize the JSON body into the target type: me"),
    (400, InvalidRequest, "Failed to deserialize the JSON body into the target type: me"),
    (400, InvalidRequest, "Failed to deserialize the JSON body into the target type: me"),
    (400, InvalidRequest, "Failed to deserialize the JSON body into the target type: me"),
    (401, Authentication, "Authentication Fails, Your api key: ****-key is invalid"),
    (400, NotFound, "The supported API model names are deepseek-v4-pro or deepsee"),
    (400, InvalidRequest, "Thinking mode does not support this tool_choice"),
    (401, Authentication, "Incorrect API key provided: sk-inval************************"),
    (401, Authentication, "Incorrect API key provided: sk-inval**************-key. You "),
    (400, InvalidRequest, "Invalid 'temperature': decimal above maximum value. Expected"),
    (400, NotFound, "The requested model 'gpt-nonexistent-model-for-error-edge' d"),
    (400, InvalidRequest, "Previous response with id 'resp_REDACTED_1' not found."),
    (400, NotFound, "The requested model 'gpt-nonexistent-model-for-identity-edge"),
    (400, NotFound, "The requested model 'gpt-4o-mini-nonexistent-rig-test' does "),
    (400, NotFound, "openai/gpt-nonexistent-routed-model is not a valid model ID"),
];
