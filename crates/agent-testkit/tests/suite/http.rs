//! The scripted server: routes, both wire formats, and everything that goes wrong on purpose.

use super::client::Client;
use agent_core::llm::{StopReason, Usage};
use agent_testkit::http::{ScriptedServer, Step};
use agent_testkit::{DEFAULT_MODEL, Reply};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

pub(crate) fn messages() -> Value {
    json!({
        "model": "m", "max_tokens": 10, "stream": true,
        "messages": [{"role": "user", "content": "hi"}],
    })
}

pub(crate) fn chat() -> Value {
    json!({"model": "m", "stream": true, "messages": [{"role": "user", "content": "hi"}]})
}

fn responses() -> Value {
    let hi = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]});
    json!({"model": "m", "stream": true, "store": false, "input": [hi]})
}

const RESPONSES: &str = "/v1/responses";
const MESSAGES: &str = "/v1/messages";
const CHAT: &str = "/v1/chat/completions";

fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn speaks_messages() {
    let usage = Usage { input_tokens: 3, output_tokens: 9, cache_read_tokens: 5, cache_write_tokens: 7 };
    let reply =
        Reply::new().thinking("hm").text("Hello").call("read_file", json!({"path": "a"})).usage(usage).pieces_of(3);
    let server = ScriptedServer::start([Step::answer(reply)]).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    let response = client.post(MESSAGES, &messages()).await;
    assert_eq!(response.status, 200);
    assert!(response.head.contains("content-type: text/event-stream"));
    assert!(response.head.contains("transfer-encoding: chunked"));
    assert!(response.complete);
    let events = response.events();
    assert_eq!(
        types(&events),
        [
            "message_start",
            "ping",
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "content_block_delta",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
    );
    for name in types(&events) {
        assert!(response.body.contains(&format!("event: {name}\ndata: ")));
    }
    let start = &events[0]["message"];
    assert_eq!(start["model"], DEFAULT_MODEL);
    assert_eq!(start["usage"]["input_tokens"], 3);
    assert_eq!(start["usage"]["cache_read_input_tokens"], 5);
    assert_eq!(start["usage"]["cache_creation_input_tokens"], 7);
    assert_eq!(events[4]["delta"]["type"], "signature_delta");
    assert_eq!(events[7]["delta"]["text"], "Hel");
    let arguments: String =
        events[11..16].iter().map(|event| event["delta"]["partial_json"].as_str().unwrap()).collect();
    assert_eq!(arguments, r#"{"path":"a"}"#);
    assert_eq!(events[10]["content_block"]["id"], "call_1_2");
    assert_eq!(events[17]["delta"]["stop_reason"], "tool_use");
    assert_eq!(events[17]["usage"]["output_tokens"], 9);
}

#[tokio::test]
async fn speaks_chat_completions() {
    let reply = Reply::new().thinking("hm").text("Hello").call("a", json!({"x": 1})).call("b", json!({})).pieces_of(4);
    let steps = [Step::answer(reply), Step::text("x")];
    let server = ScriptedServer::start(steps).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    let mut request = chat();
    request["stream_options"] = json!({"include_usage": true});
    let response = client.post(CHAT, &request).await;
    assert!(response.body.ends_with("data: [DONE]\n\n"));
    let events = response.events();
    let mut text = String::new();
    let mut thought = String::new();
    let mut arguments = [String::new(), String::new()];
    for delta in events.iter().map(|event| &event["choices"][0]["delta"]) {
        text += delta["content"].as_str().unwrap_or_default();
        thought += delta["reasoning_content"].as_str().unwrap_or_default();
        let call = &delta["tool_calls"][0];
        if let Some(index) = call["index"].as_u64() {
            let piece = call["function"]["arguments"].as_str().unwrap();
            arguments[usize::try_from(index).unwrap()] += piece;
        }
    }
    assert_eq!((text.as_str(), thought.as_str()), ("Hello", "hm"));
    assert_eq!(arguments, [r#"{"x":1}"#, "{}"]);
    let (usage, rest) = events.split_last().unwrap();
    assert_eq!(usage["usage"]["prompt_tokens"], 100);
    assert_eq!(usage["usage"]["completion_tokens"], 20);
    assert_eq!(rest.last().unwrap()["choices"][0]["finish_reason"], "tool_calls");

    let unasked = client.post(CHAT, &chat()).await;
    assert!(unasked.events().iter().all(|event| event["usage"].is_null()));
}

#[tokio::test]
async fn stop_reasons_have_their_words_in_both_formats() {
    let reasons = [
        (StopReason::MaxTokens, json!("max_tokens"), json!("length")),
        (StopReason::Refusal, json!("refusal"), json!("content_filter")),
        (StopReason::Paused, json!("pause_turn"), json!("stop")),
        (StopReason::Other("odd".into()), json!("odd"), json!("odd")),
        (StopReason::Other(String::new()), Value::Null, Value::Null),
    ];
    for (reason, anthropic, openai) in reasons {
        let reply = Reply::new().text("x").stop(reason).without_usage();
        let server = ScriptedServer::start_with(move |_| Step::answer(reply.clone())).await.unwrap();
        let mut client = Client::connect(server.address()).await;
        let events = client.post(MESSAGES, &messages()).await.events();
        let end = &events[events.len() - 2];
        assert_eq!(end["delta"]["stop_reason"], anthropic);
        assert!(end["usage"].is_null() && events[0]["message"]["usage"].is_null());
        let events = client.post(CHAT, &chat()).await.events();
        assert_eq!(events.last().unwrap()["choices"][0]["finish_reason"], openai);
    }
}

#[tokio::test]
async fn keeps_connections_and_records_requests() {
    let steps = [Step::text("a"), Step::text("b"), Step::text("c")];
    let server = ScriptedServer::start(steps).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    client.post(MESSAGES, &messages()).await;
    client.post(CHAT, &chat()).await;
    assert_eq!(server.connections(), 1);
    let mut other = Client::connect(server.address()).await;
    other.post(MESSAGES, &messages()).await;
    assert_eq!((server.connections(), server.steps_left()), (2, 0));
    let requests = server.requests();
    let connections: Vec<usize> = requests.iter().map(|request| request.connection).collect();
    assert_eq!(connections, [1, 1, 2]);
    assert_eq!(requests[0].header("x-api-key"), Some("k"));
    assert_eq!((requests[0].method.as_str(), requests[1].path.as_str()), ("POST", CHAT));
    assert_eq!(requests[1].body, chat());
    assert!(server.violations().is_empty());
}

#[tokio::test]
async fn lists_models_and_knows_no_other_path() {
    let server = ScriptedServer::start([]).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    client.raw("GET /v1/models?limit=9 HTTP/1.1\r\nhost: x\r\n\r\n").await;
    let models = client.response().await.json();
    assert_eq!(models["data"][0]["id"], DEFAULT_MODEL);
    assert!(server.violations().is_empty());
    let missing = client.post("/v2/messages", &messages()).await;
    assert_eq!(missing.status, 404);
    assert_eq!(server.violations().len(), 1);
    assert_eq!(server.openai_url(), format!("http://{}/v1", server.address()));
    assert_eq!(format!("{}/v1", server.url()), server.openai_url());
}

#[tokio::test]
async fn answers_with_a_status() {
    let steps = [
        Step::status(429).header("retry-after", "7"),
        Step::status(529),
        Step::status(500).with_body("<html>").header("bad name", "x"),
        Step::status(401),
        Step::status(9999),
    ];
    let server = ScriptedServer::start(steps).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    let limited = client.post(MESSAGES, &messages()).await;
    assert_eq!(limited.status, 429);
    assert!(limited.head.contains("retry-after: 7"));
    assert_eq!(limited.json()["error"]["type"], "rate_limit_error");
    let overloaded = client.post(MESSAGES, &messages()).await;
    assert_eq!((overloaded.status, overloaded.json()["error"]["type"].as_str()), (529, Some("overloaded_error")));
    let broken = client.post(MESSAGES, &messages()).await;
    assert_eq!((broken.status, broken.body.as_str()), (500, "<html>"));
    let refused = client.post(CHAT, &chat()).await;
    assert_eq!((refused.status, refused.json()["error"]["code"].as_str()), (401, Some("invalid_api_key")));
    assert_eq!(client.post(MESSAGES, &messages()).await.status, 500);
    assert!(server.violations().is_empty());
}

#[tokio::test]
async fn breaks_off_in_every_way() {
    let reply = || Reply::new().text("abcdef").pieces_of(1);
    for path in [MESSAGES, CHAT] {
        let steps = [
            Step::truncated(reply(), 4),
            Step::error_after(reply(), 4, "overloaded_error", "busy"),
            Step::cut(reply(), 4),
        ];
        let server = ScriptedServer::start(steps).await.unwrap();
        let request = if path == CHAT { chat() } else { messages() };
        let mut client = Client::connect(server.address()).await;
        let truncated = client.post(path, &request).await;
        assert_eq!((truncated.events().len(), truncated.complete), (4, true));
        let failed = client.post(path, &request).await;
        assert_eq!((failed.events().len(), failed.complete), (5, true));
        assert_eq!(failed.events()[4]["error"]["message"], "busy");
        let cut = client.post(path, &request).await;
        assert_eq!((cut.events().len(), cut.complete), (4, false));
        assert_eq!(server.abandoned(), 0);
    }
}

#[tokio::test]
async fn notices_that_a_client_has_left() {
    let steps = [Step::stall(Reply::new().text("abc"), 2), Step::hang()];
    let server = ScriptedServer::start(steps).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    client.send(MESSAGES, &messages()).await;
    client.head().await;
    assert!(client.chunk().await.is_some());
    drop(client);
    server.wait_for_abandoned(1).await;

    let mut client = Client::connect(server.address()).await;
    client.send(MESSAGES, &messages()).await;
    server.wait_for_requests(2).await;
    drop(client);
    server.wait_for_abandoned(2).await;
    assert_eq!(server.abandoned(), 2);
}

#[tokio::test]
async fn sends_garbage() {
    let steps = [Step::garbage(), Step::body("text/html", "<p>log in</p>")];
    let server = ScriptedServer::start(steps).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    let garbage = client.post(MESSAGES, &messages()).await;
    assert!(garbage.head.contains("text/event-stream"));
    assert!(garbage.events().is_empty() && garbage.body.contains("data: "));
    let page = client.post(MESSAGES, &messages()).await;
    assert_eq!((page.status, page.body.as_str()), (200, "<p>log in</p>"));
}

#[tokio::test]
async fn takes_its_time() {
    let delay = Duration::from_millis(20);
    let reply = Reply::new().first_delay(delay).piece_delay(delay);
    let server = ScriptedServer::start([Step::answer(reply).after(delay)]).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    let start = Instant::now();
    client.send(MESSAGES, &messages()).await;
    client.head().await;
    assert!(start.elapsed() >= delay);
    // message_start, ping, message_delta, message_stop, and the end.
    for _ in 0..5 {
        client.chunk().await.unwrap();
    }
    assert!(start.elapsed() >= delay * 5);
}

#[tokio::test]
async fn responds_to_the_request() {
    let echo = |request: &Value| Step::text(request["messages"][0]["content"].as_str().unwrap_or_default());
    let server = ScriptedServer::start([Step::respond(echo)]).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    let events = client.post(MESSAGES, &messages()).await.events();
    assert_eq!(events[3]["delta"]["text"], "hi");
}

#[tokio::test]
async fn an_exhausted_script_is_a_violation() {
    let server = ScriptedServer::start([]).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    let response = client.post(MESSAGES, &messages()).await;
    assert_eq!(response.status, 400);
    assert!(response.body.contains("script exhausted"));
    assert!(server.violations()[0].contains("script exhausted"));
}

#[tokio::test]
async fn dropping_it_closes_everything() {
    let server = ScriptedServer::start([Step::hang()]).await.unwrap();
    let address = server.address();
    let mut client = Client::connect(address).await;
    client.send(MESSAGES, &messages()).await;
    server.wait_for_requests(1).await;
    drop(server);
    assert!(client.chunk().await.is_none());
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn speaks_responses() {
    let usage = Usage { input_tokens: 3, output_tokens: 9, cache_read_tokens: 5, cache_write_tokens: 7 };
    let reply =
        Reply::new().thinking("hm").text("Hello").call("read_file", json!({"path": "a"})).usage(usage).pieces_of(3);
    let cut = Reply::new().text("Hel").stop(StopReason::MaxTokens);
    let steps =
        [Step::answer(reply), Step::answer(cut), Step::error_after(Reply::new().text("x"), 2, "overloaded", "busy")];
    let server = ScriptedServer::start(steps).await.unwrap();
    let mut client = Client::connect(server.address()).await;

    let events = client.post(RESPONSES, &responses()).await.events();
    let kinds = types(&events);
    assert_eq!(kinds[..3], ["response.created", "response.in_progress", "response.output_item.added"]);
    assert_eq!(kinds.iter().filter(|kind| **kind == "response.output_text.delta").count(), 2);
    let last = events.last().unwrap();
    assert_eq!(
        (last["type"].as_str(), last["response"]["status"].as_str()),
        (Some("response.completed"), Some("completed"))
    );
    let output: Vec<&Value> = last["response"]["output"].as_array().unwrap().iter().map(|item| &item["type"]).collect();
    assert_eq!(output, ["reasoning", "message", "function_call"]);
    assert_eq!(last["response"]["usage"]["input_tokens"], 15);
    assert_eq!(last["response"]["usage"]["input_tokens_details"]["cached_tokens"], 5);
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], number);
    }

    let events = client.post(RESPONSES, &responses()).await.events();
    let last = events.last().unwrap();
    assert_eq!(
        (&last["type"], &last["response"]["incomplete_details"]["reason"]),
        (&json!("response.incomplete"), &json!("max_output_tokens"))
    );

    let events = client.post(RESPONSES, &responses()).await.events();
    assert_eq!((events.len(), &events[2]["error"]["message"]), (3, &json!("busy")));
    assert!(server.violations().is_empty());
}

#[tokio::test]
async fn checks_responses() {
    let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "read", "arguments": "{}"});
    let output = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "done"});
    let user = || json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]});
    let reasoning =
        |sealed: &str| json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": sealed});
    let cases = [
        (json!([user(), call("a"), call("b"), output("a"), output("b")]), None),
        (json!([user(), reasoning("x"), call("a"), output("a"), user()]), None),
        (json!([user(), call("a")]), Some("input: no tool output found for call `a`")),
        (json!([user(), call("a"), user()]), Some("input[2]: call `a` must be answered first")),
        (
            json!([user(), call("a"), call("b"), output("b")]),
            Some("input[3]: output for `b` where the one for `a` must come"),
        ),
        (json!([user(), output("a")]), Some("input[1]: no call is open that `a` could answer")),
        (json!([user(), call("a"), call("a")]), Some("input[2]: call id `a` stands twice")),
        (
            json!([user(), reasoning(""), call("a"), output("a")]),
            Some("input[1]: reasoning that is neither sealed nor in words cannot be read again"),
        ),
        (
            json!([user(), reasoning("x"), user()]),
            Some("input[1]: reasoning was provided without its required following item"),
        ),
        (json!([]), Some("request.input: minItems is 1, found 0")),
        (
            json!([{"type": "message", "role": "user", "content": [{"type": "text", "text": "hi"}]}]),
            Some("request.input[0].content[0].type: `text` is not expected here"),
        ),
    ];
    for (input, violation) in cases {
        let server = ScriptedServer::start([Step::text("x")]).await.unwrap();
        let mut client = Client::connect(server.address()).await;
        let mut request = responses();
        request["input"] = input.clone();
        client.post(RESPONSES, &request).await;
        assert_eq!(server.violations().first().map(String::as_str), violation, "{input}");
    }
    let server = ScriptedServer::start([]).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    for (member, value) in
        [("store", json!(true)), ("stream", json!(false)), ("temprature", json!(1)), ("max_output_tokens", json!(1))]
    {
        let mut request = responses();
        request[member] = value;
        client.post(RESPONSES, &request).await;
        assert!(server.violations().last().unwrap().contains(member), "{member}");
    }
}
