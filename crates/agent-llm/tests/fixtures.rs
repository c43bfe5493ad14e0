//! Recorded streams of real servers, sent in pieces of several sizes: what the official clients make of them is what we make of them.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod support;

use agent_types::llm::{LlmErrorKind, LlmResponse, RawCall, ResponseBlock, StopReason};
use agent_types::ports::LlmProvider;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use support::{Reply, Server, anthropic, call, fixtures, openai, responses};

/// The recordings of a folder, in a stable order.
fn recordings(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "sse"));
    paths.sort();
    assert!(!paths.is_empty(), "{}", folder.display());
    paths
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

/// What the official client accumulated, without nulls; nothing where it gave up.
fn expected(path: &Path) -> Option<Value> {
    let text = std::fs::read_to_string(path.with_extension("expected.json")).unwrap();
    let mut json: Value = serde_json::from_str(&text).unwrap();
    let message = json["message"].take();
    (json["error"].is_null() && !message.is_null()).then_some(message)
}

#[derive(Clone, Copy)]
enum Format {
    Anthropic,
    Chat,
    Responses,
}

/// Sends the recording in pieces of several sizes; the answer must be the same for all.
async fn outcome(path: &Path, format: Format) -> Result<LlmResponse, LlmErrorKind> {
    let body = std::fs::read(path).unwrap();
    // Byte by byte is slow for the few large ones, and shows nothing that 7 does not.
    let smallest = if body.len() > 60_000 { 7 } else { 1 };
    let sizes = [body.len().max(1), 4096, 97, 7, smallest];
    let server = Server::start(sizes.map(|size| Reply::stream(&body, size))).await;
    let provider: Box<dyn LlmProvider> = match format {
        Format::Anthropic => Box::new(anthropic(&server)),
        Format::Chat => Box::new(openai(&server)),
        Format::Responses => Box::new(responses(&server)),
    };
    let mut outcomes = Vec::new();
    for _ in sizes {
        let outcome = call(&*provider).await;
        outcomes.push(outcome.map(|(_, response)| response).map_err(|error| error.kind));
    }
    for other in &outcomes {
        assert_eq!(other, &outcomes[0], "{}", path.display());
    }
    outcomes.swap_remove(0)
}

/// A null says as much as a member that is not there.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter();
            let kept = members.filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(k, v)| (k, without_nulls(v))).collect())
        }
        Value::Array(list) => Value::Array(list.into_iter().map(without_nulls).collect()),
        other => other,
    }
}

/// Our blocks in the shape of an Anthropic message, frames joined to their blocks.
fn as_anthropic(response: &LlmResponse) -> Vec<Value> {
    let arguments = |text: &str| match text {
        "" => json!({}),
        text => serde_json::from_str(text).unwrap_or_else(|_| json!(format!("cut: {text}"))),
    };
    let mut blocks: Vec<Value> = Vec::new();
    for block in &response.blocks {
        let value = match block {
            ResponseBlock::Text(text) => json!({"type": "text", "text": text}),
            ResponseBlock::Thinking { text, signature } => {
                json!({"type": "thinking", "thinking": text, "signature": signature})
            }
            ResponseBlock::RedactedThinking { data } => json!({"type": "redacted_thinking", "data": data}),
            ResponseBlock::Call(call) => json!({
                "type": "tool_use", "id": call.id, "name": call.name, "input": arguments(&call.arguments),
            }),
            ResponseBlock::Opaque { json, .. } => {
                let mut value: Value = serde_json::from_str(json).unwrap();
                if value.get("frame_of").is_some_and(|of| of == "message") {
                    // What belongs to no block: see `same_anthropic`.
                    continue;
                }
                if let Some(of) = value.get("frame_of").cloned() {
                    let before = blocks.last_mut().unwrap();
                    assert_eq!(before["type"], of);
                    before.as_object_mut().unwrap().append(value["members"].as_object_mut().unwrap());
                    continue;
                }
                value
            }
        };
        blocks.push(value);
    }
    blocks.into_iter().map(without_nulls).collect()
}

/// The blocks that the official client accumulated, without what says nothing.
fn anthropic_blocks(message: &Value) -> Vec<Value> {
    let mut blocks: Vec<Value> = message["content"].as_array().unwrap().clone();
    blocks.retain(|block| !(block["type"] == "text" && block["text"] == ""));
    for block in &mut blocks {
        let members = block.as_object_mut().unwrap();
        if members.get("citations") == Some(&json!([])) {
            members.remove("citations");
        }
        if members.get("signature") == Some(&json!("")) {
            members.remove("signature");
        }
    }
    blocks.into_iter().map(without_nulls).collect()
}

fn anthropic_stop(reason: &Value) -> StopReason {
    match reason.as_str() {
        Some("end_turn") => StopReason::EndTurn,
        Some("tool_use") => StopReason::ToolUse,
        Some("max_tokens") => StopReason::MaxTokens,
        Some("stop_sequence") => StopReason::StopSequence,
        Some("pause_turn") => StopReason::Paused,
        Some("refusal") => StopReason::Refusal,
        Some("model_context_window_exceeded") => StopReason::ContextWindow,
        other => StopReason::Other(other.unwrap_or_default().to_owned()),
    }
}

fn same_anthropic(path: &Path, response: &LlmResponse, message: &Value) {
    let at = path.display();
    let (mut ours, theirs) = (as_anthropic(response), anthropic_blocks(message));
    for (our, their) in ours.iter_mut().zip(&theirs) {
        // The client does not know the pieces of these blocks and drops them.
        let our = our.as_object_mut().unwrap();
        if our["type"] == "compaction" && their.get("content").is_none() {
            our.remove("content");
        }
        if our["type"] == "mcp_tool_use" && their["input"] == json!({}) {
            our.insert("input".to_owned(), json!({}));
        }
    }
    if let (StopReason::MaxTokens, Some(ResponseBlock::Call(call))) = (&response.stop, response.blocks.last()) {
        // The client repairs a cut call; we keep it as it came, and never run it.
        assert!(!call.complete, "{at}");
        ours.last_mut().unwrap()["input"] = theirs.last().unwrap()["input"].clone();
    }
    assert_eq!(ours, theirs, "{at}");
    let container = response.blocks.iter().find_map(|block| match block {
        ResponseBlock::Opaque { json, .. } => {
            let mut value: Value = serde_json::from_str(json).unwrap();
            (value["frame_of"] == "message").then(|| value["members"]["container"]["id"].take())
        }
        _ => None,
    });
    if let Some(id) = message["container"]["id"].as_str() {
        assert_eq!(container, Some(json!(id)), "{at}");
    }
    assert_eq!(response.stop, anthropic_stop(&message["stop_reason"]), "{at}");
    assert_eq!(response.model, message["model"].as_str().unwrap_or_default(), "{at}");
    let usage = response.usage.expect("usage");
    let count = |name: &str| message["usage"][name].as_u64().unwrap_or(0);
    assert_eq!(usage.input_tokens, count("input_tokens"), "{at}");
    assert_eq!(usage.output_tokens, count("output_tokens"), "{at}");
    assert_eq!(usage.cache_read_tokens, count("cache_read_input_tokens"), "{at}");
    assert_eq!(usage.cache_write_tokens, count("cache_creation_input_tokens"), "{at}");
}

/// Our answer in the shape of a Chat Completions message: content and calls.
fn as_openai(response: &LlmResponse) -> (String, String, Vec<Value>) {
    let (mut text, mut thinking, mut calls) = (String::new(), String::new(), Vec::new());
    for block in &response.blocks {
        match block {
            ResponseBlock::Text(more) => text.push_str(more),
            ResponseBlock::Thinking { text: more, .. } => thinking.push_str(more),
            ResponseBlock::Call(call) => {
                calls.push(json!([call.id, call.name, call.arguments]));
            }
            // What a message has besides: it stands behind its text and is kept whole.
            ResponseBlock::Opaque { dialect, json } => {
                let frame: Value = serde_json::from_str(json).unwrap();
                assert_eq!((dialect.as_str(), &frame["frame_of"]), ("openai", &json!("message")));
                assert!(frame["members"]["annotations"].is_array() && !text.is_empty(), "{json}");
            }
            other => panic!("{other:?}"),
        }
    }
    (text, thinking, calls)
}

fn same_openai(path: &Path, response: &LlmResponse, completion: &Value) {
    let at = path.display();
    let empty = Map::new();
    let choice = &completion["choices"][0];
    let message = choice["message"].as_object().unwrap_or(&empty);
    let string = |name: &str| message.get(name).and_then(Value::as_str).unwrap_or_default();
    let (text, thinking, calls) = as_openai(response);
    if let Some((_, whole)) = CONTENT_IN_PARTS.iter().find(|(file, _)| name(path) == *file) {
        // The client loses content that comes as a list of parts.
        assert_eq!(text, *whole, "{at}");
        assert!(!thinking.is_empty(), "{at}");
        return;
    }
    assert_eq!(text, format!("{}{}", string("content"), string("refusal")), "{at}");
    let details = message.get("reasoning_details").and_then(|details| details[0]["text"].as_str());
    let their_thinking = [string("reasoning_content"), string("reasoning"), details.unwrap_or_default()];
    assert!(their_thinking.contains(&thinking.as_str()), "{at}: {thinking}");
    let theirs = message.get("tool_calls").and_then(Value::as_array).cloned();
    let theirs: Vec<Value> = theirs
        .unwrap_or_default()
        .iter()
        .map(|call| json!([call["id"], call["function"]["name"], call["function"]["arguments"]]))
        .collect();
    assert_eq!(calls, theirs, "{at}");
    let stop = match choice["finish_reason"].as_str() {
        _ if !string("refusal").is_empty() => StopReason::Refusal,
        Some("stop") if !calls.is_empty() => StopReason::ToolUse,
        Some("stop") => StopReason::EndTurn,
        Some("tool_calls") => StopReason::ToolUse,
        Some("length") => StopReason::MaxTokens,
        None => StopReason::Other(String::new()),
        other => panic!("{at}: {other:?}"),
    };
    assert_eq!(response.stop, stop, "{at}");
    if let Some(prompt) = completion["usage"]["prompt_tokens"].as_u64() {
        let usage = response.usage.expect("usage");
        assert_eq!(usage.context_tokens(), prompt, "{at}");
        let cached = &completion["usage"]["prompt_tokens_details"]["cached_tokens"];
        assert_eq!(usage.cache_read_tokens, cached.as_u64().unwrap_or(0), "{at}");
        let output = completion["usage"]["completion_tokens"].as_u64().unwrap();
        assert!(usage.output_tokens >= output, "{at}");
    }
}

fn has_two_answers(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap();
    text.matches("event: message_stop").count() > 1
}

/// Two answers spliced into one recording, the first cut in the middle of a call: the client mixes them. What matters is that the cut call
/// is not run and that the whole one is what the model wrote.
fn is_spliced_safely(response: &LlmResponse) {
    let calls: Vec<&RawCall> = response
        .blocks
        .iter()
        .filter_map(|block| match block {
            ResponseBlock::Call(call) => Some(call),
            _ => None,
        })
        .collect();
    let [first, second] = calls.as_slice() else { panic!("{calls:?}") };
    assert!(!first.complete, "{first:?}");
    assert!(second.complete, "{second:?}");
    assert_eq!(second.arguments, "{\"value\":\"Sparkle Day\"}");
}

#[tokio::test]
async fn anthropic_recordings() {
    let Some(folder) = fixtures() else { return };
    let mut paths = recordings(&folder.join("anthropic"));
    paths.push(folder.join("llamacpp/ant_fs.sse"));
    let mut compared = 0;
    for path in paths {
        let outcome = outcome(&path, Format::Anthropic).await;
        match (outcome, expected(&path)) {
            // One answer after the other in one recording: ours is the first, the client mixes them.
            (Ok(_), Some(_)) if has_two_answers(&path) => {}
            (Ok(response), Some(_)) if name(&path).ends_with("spliced-message-start") => is_spliced_safely(&response),
            (Ok(response), Some(message)) => {
                same_anthropic(&path, &response, &message);
                compared += 1;
            }
            // The gateway's last event is not JSON to the client, which reads it with its sign; the answer in it is whole.
            (Ok(response), None) if name(&path).ends_with("gateway-message-delta-metadata") => {
                assert_eq!(response.stop, StopReason::MaxTokens);
            }
            (outcome, _) => panic!("{}: {outcome:?}", path.display()),
        }
    }
    eprintln!("{compared} compared");
    assert!(compared > 50);
}

#[tokio::test]
async fn openai_recordings() {
    let Some(folder) = fixtures() else { return };
    let mut paths = recordings(&folder.join("openai-chat"));
    paths.push(folder.join("llamacpp/oai_fs_s.sse"));
    let mut compared = 0;
    for path in paths {
        let outcome = outcome(&path, Format::Chat).await;
        match (outcome, expected(&path)) {
            (Ok(response), Some(message)) => {
                same_openai(&path, &response, &message);
                compared += 1;
            }
            (outcome, None) => match CHAT_GIVEN_UP.iter().find(|(file, _)| name(&path) == *file) {
                Some((_, Given::Answer(texts))) => {
                    let (text, thinking, calls) = as_openai(&outcome.unwrap());
                    let all = format!("{thinking}|{text}|{calls:?}");
                    assert!(texts.iter().all(|part| all.contains(part)), "{}: {all}", path.display());
                }
                Some((_, Given::Error(kind))) => assert_eq!(outcome, Err(*kind), "{}", path.display()),
                None => panic!("{}: the client gave up, and nobody said what we do", path.display()),
            },
            (Err(kind), Some(_)) => panic!("{}: {kind:?}", path.display()),
        }
    }
    eprintln!("{compared} compared");
    assert!(compared > 35);
}

/// What we make of a recording on which the client gave up.
enum Given {
    /// An answer with these texts in it.
    Answer(&'static [&'static str]),
    Error(LlmErrorKind),
}

const CHAT_GIVEN_UP: &[(&str, Given)] = &[
    // The server reported this error in the middle of its answer.
    ("pai--groq-test-tool-use-failed-error-streaming", Given::Error(LlmErrorKind::InvalidRequest)),
    // An error behind the end of an answer takes nothing back of it.
    ("pai--openrouter-test-openrouter-stream-error", Given::Answer(&["We need to respond to a greeting."])),
    // Lists without numbers, which the client cannot join: annotations, parts of the content, calls.
    ("pai--openrouter-test-openrouter-web-search-annotations-stream", Given::Answer(&["Pydantic AI"])),
    ("vercel--mistral-src-fixtures-mistral-reasoning", Given::Answer(&["2+2=4.|2 + 2 = 4|[]"])),
    ("vercel--mistral-src-fixtures-mistral-tool-call", Given::Answer(&["weather", "San Francisco"])),
];

/// Recordings whose content comes as a list of parts, and what their text is.
const CONTENT_IN_PARTS: &[(&str, &str)] =
    &[("ruby--chat-mistral-hybrid-reasoning-streams-thinking-separately-from-content", "144")];

/// Our answer in the shape of a Responses output.
fn as_items(response: &LlmResponse) -> Vec<Value> {
    let (mut items, mut texts): (Vec<Value>, Vec<String>) = (Vec::new(), Vec::new());
    for block in &response.blocks {
        match block {
            ResponseBlock::Text(text) => texts.push(text.clone()),
            ResponseBlock::Thinking { signature: Some(item), .. } => items.push(serde_json::from_str(item).unwrap()),
            ResponseBlock::Thinking { text, .. } => items.push(json!({"type": "reasoning", "text": text})),
            ResponseBlock::Call(call) => items.push(json!({
                "type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments,
            })),
            ResponseBlock::RedactedThinking { .. } => panic!("this format has none"),
            ResponseBlock::Opaque { json, .. } => {
                let mut value: Value = serde_json::from_str(json).unwrap();
                let members = value["members"].take();
                match value["frame_of"].as_str() {
                    Some("message") => {
                        let mut item = members;
                        for part in item["content"].as_array_mut().unwrap() {
                            let name = if part["type"] == "refusal" { "refusal" } else { "text" };
                            part[name] = Value::from(texts.remove(0));
                        }
                        items.push(item);
                    }
                    Some(_) => {
                        items.last_mut().unwrap().as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
                    }
                    None => items.push(serde_json::from_str(json).unwrap()),
                }
            }
        }
    }
    assert!(texts.is_empty(), "{texts:?}");
    items.into_iter().map(without_nulls).collect()
}

/// The output that the official client accumulated, without what is of no use in the next request.
fn output_items(message: &Value) -> Vec<Value> {
    let mut items = message["output"].as_array().unwrap().clone();
    let waits = |item: &Value| WAITING.contains(&item["type"].as_str().unwrap()) && !is_answered(message, item);
    for item in items.iter_mut().filter(|item| waits(item)) {
        // A call from here that is no function's is answered like one that is.
        let given = ["input", "action", "operation", "arguments"].iter().find_map(|name| item.get(name)).unwrap();
        let arguments = given.as_str().map_or_else(|| given.to_string(), str::to_owned);
        let name = item.get("name").unwrap_or(&item["type"]);
        let id = item.get("call_id").unwrap_or(&item["id"]);
        *item = json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments});
    }
    for item in &mut items {
        let members = item.as_object_mut().unwrap();
        if members["type"] == "function_call" {
            members.remove("id");
            members.remove("status");
        }
        for part in members.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
            part.as_object_mut().unwrap().remove("logprobs");
        }
    }
    // Reasoning that nobody could read again: neither sealed nor in words.
    items.retain(|item| {
        let says_something = item["encrypted_content"].is_string() || item["content"][0].is_object();
        item["type"] != "reasoning" || says_something || item["summary"][0].is_object()
    });
    for item in &mut items {
        if item["type"] == "reasoning" && !item["encrypted_content"].is_string() && !item["content"][0].is_object() {
            *item = json!({"type": "reasoning", "text": item["summary"][0]["text"]});
        }
    }
    items.into_iter().map(without_nulls).collect()
}

/// Calls from here that are no functions'.
const WAITING: &[&str] = &[
    "custom_tool_call",
    "apply_patch_call",
    "local_shell_call",
    "shell_call",
    "computer_call",
    "mcp_approval_request",
];

/// Whether the output of a call stands in the answer, or the model went on behind it: then the server has run it.
fn is_answered(message: &Value, call: &Value) -> bool {
    let output = message["output"].as_array().unwrap();
    let behind = output.iter().skip_while(|item| *item != call).skip(1);
    let is_output =
        |item: &Value| item["type"].as_str().unwrap().ends_with("_output") && item["call_id"] == call["call_id"];
    output.iter().any(is_output)
        || behind.into_iter().any(|item| item["type"] == "message" || item["type"] == "reasoning")
}

fn same_responses(path: &Path, response: &LlmResponse, message: &Value) {
    let at = path.display();
    // The order of the members of arguments is the server's.
    let parsed = |mut items: Vec<Value>| {
        for item in items.iter_mut().filter(|item| item["type"] == "function_call") {
            let arguments = item["arguments"].as_str().unwrap();
            item["arguments"] = serde_json::from_str(arguments).unwrap_or_else(|_| json!(arguments));
        }
        items
    };
    assert_eq!(parsed(as_items(response)), parsed(output_items(message)), "{at}");
    let has = |kind: &str| output_items(message).iter().any(|item| item["type"] == kind);
    let stop = match (message["status"].as_str(), message["incomplete_details"]["reason"].as_str()) {
        (Some("incomplete"), Some("max_output_tokens")) => StopReason::MaxTokens,
        (Some("completed"), _) if message.to_string().contains("\"type\":\"refusal\"") => StopReason::Refusal,
        (Some("completed"), _) if has("function_call") => StopReason::ToolUse,
        (Some("completed"), _) => StopReason::EndTurn,
        other => panic!("{at}: {other:?}"),
    };
    assert_eq!(response.stop, stop, "{at}");
    assert_eq!(response.model, message["model"].as_str().unwrap_or_default(), "{at}");
    let usage = response.usage.expect("usage");
    assert_eq!(Some(usage.context_tokens()), message["usage"]["input_tokens"].as_u64(), "{at}");
    assert_eq!(Some(usage.output_tokens), message["usage"]["output_tokens"].as_u64(), "{at}");
    let cached = message["usage"]["input_tokens_details"]["cached_tokens"].as_u64();
    assert_eq!(usage.cache_read_tokens, cached.unwrap_or(0), "{at}");
    for block in &response.blocks {
        if let ResponseBlock::Call(call) = block {
            assert_eq!(call.complete, stop != StopReason::MaxTokens, "{at}");
        }
    }
}

/// What the client had when it gave up at an answer that is not complete: it is whole as far as it goes.
fn partial(path: &Path) -> Option<Value> {
    let text = std::fs::read_to_string(path.with_extension("expected.json")).unwrap();
    let mut json: Value = serde_json::from_str(&text).unwrap();
    let partial = json["partial"].take();
    (partial["status"] == "incomplete").then_some(partial)
}

#[tokio::test]
async fn responses_recordings() {
    let Some(folder) = fixtures() else { return };
    let mut paths = recordings(&folder.join("openai-responses"));
    paths.push(folder.join("llamacpp/resp_fs.sse"));
    let mut compared = 0;
    for path in paths {
        let outcome = outcome(&path, Format::Responses).await;
        match (outcome, expected(&path).or_else(|| partial(&path))) {
            (Ok(response), Some(message)) => {
                same_responses(&path, &response, &message);
                compared += 1;
            }
            (Err(kind), None) => {
                let expected = match name(&path).as_str() {
                    "vercel--openai-src-responses-fixtures-openai-error-1" => LlmErrorKind::Billing,
                    // Its events lack a brace: what is no JSON is no answer.
                    "vercel--openai-src-responses-fixtures-parallel-tool-call-wrapper-1" => LlmErrorKind::Protocol,
                    other => panic!("{other}: {kind:?}"),
                };
                assert_eq!(kind, expected, "{}", path.display());
            }
            (outcome, _) => panic!("{}: {outcome:?}", path.display()),
        }
    }
    eprintln!("{compared} compared");
    assert!(compared > 30);
}

#[tokio::test]
async fn streams_with_faults_and_odd_framing() {
    let Some(folder) = fixtures() else { return };
    let reference = expected(&folder.join("derived/anthropic/crlf-framing.sse")).unwrap();
    for path in recordings(&folder.join("derived/anthropic")) {
        let outcome = outcome(&path, Format::Anthropic).await;
        let kind = match name(&path).as_str() {
            "error-overloaded-mid-tool-json" | "error-first-event" => LlmErrorKind::Overloaded,
            "error-api_error-after-text" => LlmErrorKind::Server,
            cut if cut.starts_with("cut-") => LlmErrorKind::Protocol,
            "unknown-stop-reason" => {
                let stop = outcome.unwrap().stop;
                assert!(matches!(stop, StopReason::Other(_)), "{stop:?}");
                continue;
            }
            "context-window-exceeded-no-blocks" => {
                let response = outcome.unwrap();
                assert_eq!(response.stop, StopReason::ContextWindow);
                assert_eq!(response.blocks, []);
                continue;
            }
            // Odd framing changes nothing.
            _ => {
                same_anthropic(&path, &outcome.unwrap(), &reference);
                continue;
            }
        };
        assert_eq!(outcome, Err(kind), "{}", path.display());
    }
    for path in recordings(&folder.join("derived/openai-chat")) {
        let outcome = outcome(&path, Format::Chat).await;
        match name(&path).as_str() {
            "no-done" => same_openai(&path, &outcome.unwrap(), &expected(&path).unwrap()),
            // The error comes behind the end of the answer.
            "error-chunk" => assert_eq!(outcome.unwrap().stop, StopReason::ToolUse),
            _ => assert_eq!(outcome, Err(LlmErrorKind::Protocol), "{}", path.display()),
        }
    }
}
