//! What is sent: right by the rules of every wire format, the same bytes turn after turn, and every recorded answer can go back.
//!
//! `AGENT_REQUEST_DUMP=DIR` writes every request as `DIR/FORMAT-NAME.json`, to be checked by something else.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use agent_llm::{AnthropicProvider, OpenAiProvider, OpenAiResponsesProvider};
use agent_testkit::Reply as Scripted;
use agent_testkit::http::{ScriptedServer, Step};
use agent_types::conversation::{Answer, Arguments, Block, CallId, Conversation, Input, Round, ToolCall, ToolResult};
use agent_types::llm::{LlmChunk, LlmRequest, LlmResponse, Purpose, ResponseBlock, StopReason};
use agent_types::ports::LlmProvider;
use agent_types::tool::ToolSpec;
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use support::{Reply, Server, config, fixtures};

const FORMATS: [&str; 3] = ["anthropic", "openai-chat", "openai-responses"];

fn provider(format: &str, base_url: &str) -> Box<dyn LlmProvider> {
    let openai = format!("{base_url}/v1");
    match format {
        "anthropic" => Box::new(AnthropicProvider::new(config(base_url)).unwrap()),
        "openai-chat" => Box::new(OpenAiProvider::new(config(&openai)).unwrap()),
        _ => Box::new(OpenAiResponsesProvider::new(config(&openai)).unwrap()),
    }
}

/// A tool with members enough to be put in another order by accident.
fn tool(name: &str) -> ToolSpec {
    let schema = json!({
        "type": "object",
        "properties": {"zeta": {"type": "string"}, "alpha": {"type": "integer", "minimum": 0}},
        "required": ["zeta"],
        "additionalProperties": false,
    });
    ToolSpec { name: Arc::from(name), description: Arc::from("Does a thing."), input_schema: Arc::new(schema) }
}

fn request(tools: &Arc<[ToolSpec]>, conversation: &Conversation) -> LlmRequest {
    LlmRequest {
        purpose: Purpose::Turn,
        model: Arc::from("gpt-5-of-the-test"),
        system: Arc::from("Be brief.\nAnswer in \"English\"."),
        tools: Arc::clone(tools),
        conversation: conversation.clone(),
        max_output_tokens: 1000,
        effort: None,
    }
}

async fn answer(provider: &dyn LlmProvider, request: LlmRequest) -> LlmResponse {
    let mut stream = provider.stream(request).await.unwrap();
    while let Some(chunk) = stream.next().await {
        if let LlmChunk::Completed(response) = chunk.unwrap() {
            return response;
        }
    }
    panic!("no answer")
}

fn input(text: &str) -> Input {
    Input::new(vec![text.into()]).unwrap()
}

/// The answer as it may stand in a history, its calls answered; nothing when there is nothing in it.
fn keep(conversation: &mut Conversation, response: &LlmResponse) -> Option<()> {
    let mut ids = BTreeSet::new();
    let blocks = response.blocks.iter().map(|block| match block {
        ResponseBlock::Text(text) => Block::Text(text.clone()),
        ResponseBlock::Thinking { text, signature } => {
            Block::Thinking { text: text.clone(), signature: signature.clone() }
        }
        ResponseBlock::RedactedThinking { data } => Block::RedactedThinking { data: data.clone() },
        ResponseBlock::Opaque { dialect, json } => Block::Opaque { dialect: dialect.clone(), json: json.clone() },
        ResponseBlock::Call(call) => {
            let fallback = format!("call_{}", ids.len());
            let id = if call.id.is_empty() || !ids.insert(call.id.clone()) { &fallback } else { &call.id };
            let arguments = Arguments::parse(&call.arguments).ok().filter(|_| call.complete);
            Block::Call(ToolCall {
                id: CallId::new(id),
                name: Arc::from(call.name.as_str()),
                arguments: arguments.unwrap_or_else(|| Arguments::parse("{}").unwrap()),
            })
        }
    });
    let answer = Answer::new(blocks.collect()).ok()?;
    let results: Vec<ToolResult> =
        answer.calls().map(|call| ToolResult::new(call.id.clone(), "done", call.id.as_str().ends_with('1'))).collect();
    if results.is_empty() {
        conversation.push_answer(answer).unwrap();
    } else {
        conversation.push_round(Round::new(answer, results).unwrap()).unwrap();
    }
    Some(())
}

fn dump(format: &str, name: &str, bytes: &[u8]) {
    if let Some(folder) = std::env::var_os("AGENT_REQUEST_DUMP") {
        let path = PathBuf::from(folder).join(format!("{format}-{name}.json"));
        std::fs::write(path, bytes).unwrap();
    }
}

fn script() -> Vec<Step> {
    vec![
        Step::answer(
            Scripted::new()
                .thinking("I should look.")
                .text("I look at both.")
                .call("read", json!({"zeta": "a \"b\"\n", "alpha": 1}))
                .call("list", json!({"zeta": "\u{1F980}"})),
        ),
        Step::answer(Scripted::new().call("read", json!({"zeta": "c"}))),
        Step::answer(Scripted::new().text("Done.").thinking("Was it right?").text("Really done.")),
        Step::answer(Scripted::new().call("list", json!({})).stop(StopReason::MaxTokens)),
        Step::text("The end."),
    ]
}

/// The body without cache marks, which move by design, and without what closes it.
fn stable_part(bytes: &[u8]) -> String {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let text = text.replace(",\"cache_control\":{\"type\":\"ephemeral\"}", "");
    text.trim_end_matches(['}', ']', '"']).to_owned()
}

#[tokio::test]
async fn every_request_is_right_and_begins_with_the_bytes_of_the_one_before() {
    for format in FORMATS {
        let server = ScriptedServer::start(script()).await.unwrap();
        let provider = provider(format, &server.url());
        let tools: Arc<[ToolSpec]> = Arc::from([tool("read"), tool("list"), tool("another")]);
        let mut conversation = Conversation::new();
        conversation.push_input(input("What is in a?"));
        for turn in 0..5 {
            if turn == 3 {
                conversation.push_input(input("And now?"));
                conversation.push_input(input("Please."));
            }
            let response = answer(&*provider, request(&tools, &conversation)).await;
            keep(&mut conversation, &response).unwrap();
        }
        assert_eq!(server.violations(), [""; 0], "{format}");
        let requests = server.requests();
        assert_eq!(requests.len(), 5);
        for (number, request) in requests.iter().enumerate() {
            dump(format, &format!("run-{number}"), &request.bytes);
        }
        for pair in requests.windows(2) {
            let (before, now) = (stable_part(&pair[0].bytes), stable_part(&pair[1].bytes));
            assert!(now.starts_with(&before), "{format}:\n{before}\n{now}");
        }
        // A provider that has kept nothing writes the same bytes: they do not depend on what was kept.
        let again = ScriptedServer::start([Step::text("x")]).await.unwrap();
        answer(&*self::provider(format, &again.url()), request(&tools, &conversation)).await;
        let mut longer = conversation.clone();
        longer.push_input(input("more"));
        let fresh = stable_part(&again.requests()[0].bytes);
        assert!(fresh.starts_with(&stable_part(&requests[4].bytes)), "{format}");
    }
}

#[tokio::test]
async fn the_cache_marks_stand_at_the_system_prompt_and_the_last_two_user_messages() {
    let server = ScriptedServer::start(script()).await.unwrap();
    let provider = provider("anthropic", &server.url());
    let tools: Arc<[ToolSpec]> = Arc::from([tool("read"), tool("list")]);
    let mut conversation = Conversation::new();
    conversation.push_input(input("What is in a?"));
    for _ in 0..3 {
        let response = answer(&*provider, request(&tools, &conversation)).await;
        keep(&mut conversation, &response).unwrap();
    }
    for request in server.requests() {
        let is_marked = |value: &Value| value["cache_control"] == json!({"type": "ephemeral"});
        assert!(is_marked(&request.body["system"][0]));
        let messages = request.body["messages"].as_array().unwrap();
        let users: Vec<&Value> = messages.iter().filter(|message| message["role"] == "user").collect();
        for (back, message) in users.iter().rev().enumerate() {
            let blocks = message["content"].as_array().unwrap();
            let marks: Vec<bool> = blocks.iter().map(is_marked).collect();
            let expected: Vec<bool> = (1..=blocks.len()).map(|place| back < 2 && place == blocks.len()).collect();
            assert_eq!(marks, expected);
        }
        let marks = String::from_utf8(request.bytes).unwrap().matches("cache_control").count();
        assert_eq!(marks, 1 + users.len().min(2));
    }
}

fn recordings(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "sse"));
    paths.sort();
    paths
}

/// Answers that a history cannot hold as they are: calls of the client's own tools that we never offer stay unanswered, and the service
/// would refuse them. They are read all the same.
fn waits_for_somebody_else(response: &LlmResponse) -> bool {
    let waits = ["local_shell_call", "apply_patch_call", "custom_tool_call", "mcp_approval_request"];
    response.blocks.iter().any(|block| match block {
        ResponseBlock::Opaque { json, .. } => {
            let block: Value = serde_json::from_str(json).unwrap();
            waits.iter().any(|kind| block["type"] == *kind)
        }
        _ => false,
    })
}

#[tokio::test]
async fn every_recorded_answer_can_go_back() {
    let Some(folder) = fixtures() else { return };
    for format in FORMATS {
        let mut sent = 0;
        for path in recordings(&folder.join(format)) {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let body = std::fs::read(&path).unwrap();
            let recorded = Server::start([Reply::stream(&body, body.len().max(1))]).await;
            let reader = provider(format, &recorded.address);
            let Ok(mut stream) = reader.stream(support::request("hello")).await else { continue };
            let mut response = None;
            while let Some(chunk) = stream.next().await {
                if let Ok(LlmChunk::Completed(answer)) = chunk {
                    response = Some(answer);
                }
            }
            let Some(response) = response.filter(|response| !waits_for_somebody_else(response)) else { continue };

            let mut conversation = Conversation::new();
            conversation.push_input(input("hello"));
            if keep(&mut conversation, &response).is_none() {
                continue;
            }
            conversation.push_input(input("go on"));
            let names: BTreeSet<&str> = response
                .blocks
                .iter()
                .filter_map(|block| match block {
                    ResponseBlock::Call(call) => Some(call.name.as_str()),
                    _ => None,
                })
                .collect();
            let tools: Arc<[ToolSpec]> = names.into_iter().map(tool).collect();
            let server = ScriptedServer::start([Step::text("fine")]).await.unwrap();
            let writer = provider(format, &server.url());
            let outcome = writer.stream(request(&tools, &conversation)).await;
            let requests = server.requests();
            assert!(outcome.is_ok(), "{name}: {:?} {}", server.violations(), requests[0].body);
            dump(format, &name, &requests[0].bytes);
            sent += 1;
        }
        eprintln!("{format}: {sent} sent back");
        assert!(sent > 20, "{format}: {sent}");
    }
}
