//! The scripted provider.

use agent_core::conversation::{Conversation, Input};
use agent_core::llm::{
    Delta, LlmChunk, LlmError, LlmErrorKind, LlmRequest, Purpose, RawCall, ResponseBlock, StopReason, Usage,
};
use agent_core::ports::{LlmProvider, LlmStream};
use agent_testkit::{DEFAULT_MODEL, DEFAULT_USAGE, Reply, Script, ScriptedProvider, Step};
use futures_util::StreamExt;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};

fn request(text: &str) -> LlmRequest {
    let mut conversation = Conversation::new();
    conversation.push_input(Input::new(vec![text.into()]).unwrap());
    LlmRequest {
        purpose: Purpose::Turn,
        model: Arc::from("m"),
        system: Arc::from(""),
        tools: Arc::from([]),
        conversation,
        max_output_tokens: 100,
        effort: None,
    }
}

async fn collect(stream: LlmStream) -> Vec<Result<LlmChunk, LlmError>> {
    stream.collect().await
}

fn overloaded() -> LlmError {
    LlmError::new(LlmErrorKind::Overloaded, "overloaded")
}

#[tokio::test]
async fn answers_in_pieces_and_then_whole() {
    let reply = Reply::new().thinking("hmm").text("Grüße!").call("read_file", json!({"path": "a"})).pieces_of(4);
    let provider = ScriptedProvider::new(Script::new().answer(reply));
    let chunks = collect(provider.stream(request("hi")).await.unwrap()).await;
    let deltas = [Delta::Thinking("hmm".into()), Delta::Text("Grüß".into()), Delta::Text("e!".into())];
    assert_eq!(chunks.len(), 4);
    for (chunk, delta) in chunks.iter().zip(deltas) {
        assert_eq!(chunk, &Ok(LlmChunk::Delta(delta)));
    }
    let Some(Ok(LlmChunk::Completed(response))) = chunks.last() else {
        panic!("the whole answer comes last");
    };
    assert_eq!(response.stop, StopReason::ToolUse);
    assert_eq!(response.usage, Some(DEFAULT_USAGE));
    assert_eq!(response.model, DEFAULT_MODEL);
    let call = RawCall {
        id: "call_1_2".into(),
        name: "read_file".into(),
        arguments: r#"{"path":"a"}"#.into(),
        complete: true,
    };
    assert_eq!(response.blocks[2], ResponseBlock::Call(call));
    assert_eq!(provider.requests().all(), [request("hi")]);
    assert_eq!((provider.open_streams(), provider.abandoned_streams()), (0, 0));
}

#[tokio::test]
async fn a_reply_says_what_it_is_told_to_say() {
    let usage = Usage { input_tokens: 7, ..Usage::default() };
    let cut = RawCall { id: String::new(), name: "x".into(), arguments: "{\"a".into(), complete: false };
    let reply = Reply::new().raw_call(cut.clone()).stop(StopReason::MaxTokens).usage(usage).model("other");
    let response = reply.response(1);
    assert_eq!(response.blocks, [ResponseBlock::Call(cut)]);
    assert_eq!(response.stop, StopReason::MaxTokens);
    assert_eq!(response.usage, Some(usage));
    assert_eq!(response.model, "other");
    assert_eq!(Reply::new().without_usage().response(1).usage, None);
    assert!(Reply::new().response(1).blocks.is_empty());
}

#[tokio::test]
async fn an_exhausted_script_says_so_in_a_way_nobody_retries() {
    let provider = ScriptedProvider::new(Script::new().text("one"));
    assert_eq!(provider.steps_left(), 1);
    collect(provider.stream(request("a")).await.unwrap()).await;
    assert_eq!(provider.steps_left(), 0);
    let error = provider.stream(request("b")).await.err().unwrap();
    assert_eq!(error.kind, LlmErrorKind::InvalidRequest);
    assert!(error.message.contains("script exhausted"), "{error}");
    assert_eq!(provider.requests().len(), 2);
}

#[tokio::test]
async fn refuses_breaks_and_ends_early() {
    let reply = || Reply::new().text("abcdef").pieces_of(2);
    let script = Script::new().error(overloaded()).error_after(reply(), 1, overloaded()).end_after(reply(), 2);
    let provider = ScriptedProvider::new(script);
    assert_eq!(provider.stream(request("x")).await.err(), Some(overloaded()));

    let broken = collect(provider.stream(request("x")).await.unwrap()).await;
    let first = Ok(LlmChunk::Delta(Delta::Text("ab".into())));
    assert_eq!(broken, [first, Err(overloaded())]);

    let ended = collect(provider.stream(request("x")).await.unwrap()).await;
    assert_eq!(ended.len(), 2);
    assert!(ended.iter().all(|chunk| matches!(chunk, Ok(LlmChunk::Delta(_)))));
}

#[tokio::test(start_paused = true)]
async fn stalls_until_dropped() {
    let script = Script::new().stall_after(Reply::new().text("abcd").pieces_of(2), 1).hang();
    let provider = ScriptedProvider::new(script);
    let hour = Duration::from_secs(3600);
    let mut stream = provider.stream(request("x")).await.unwrap();
    assert!(stream.next().await.unwrap().is_ok());
    assert!(timeout(hour, stream.next()).await.is_err());
    assert_eq!((provider.open_streams(), provider.abandoned_streams()), (1, 0));
    drop(stream);
    assert_eq!((provider.open_streams(), provider.abandoned_streams()), (0, 1));
    assert!(timeout(hour, provider.stream(request("x"))).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn delays_follow_tokios_time() {
    let reply =
        Reply::new().text("abc").pieces_of(1).first_delay(Duration::from_secs(10)).piece_delay(Duration::from_secs(1));
    let silent = Reply::new().call("x", json!({})).first_delay(Duration::from_secs(5));
    let provider = ScriptedProvider::new(Script::new().answer(reply).answer(silent));
    let start = Instant::now();
    collect(provider.stream(request("x")).await.unwrap()).await;
    assert_eq!(start.elapsed().as_secs(), 12);
    collect(provider.stream(request("x")).await.unwrap()).await;
    assert_eq!(start.elapsed().as_secs(), 17);
}

#[tokio::test]
async fn responds_to_the_request() {
    let echo = |request: &LlmRequest| Step::from(Reply::new().text(&*request.model));
    let endless = ScriptedProvider::from_fn(echo);
    let scripted = ScriptedProvider::with_dialect("d", Script::new().respond(echo));
    for provider in [&endless, &endless, &scripted] {
        let chunks = collect(provider.stream(request("x")).await.unwrap()).await;
        assert_eq!(chunks[0], Ok(LlmChunk::Delta(Delta::Text("m".into()))));
    }
    assert_eq!(endless.requests().len(), 2);
    assert_eq!(scripted.dialect(), "d");
}

#[tokio::test]
async fn call_ids_are_unique_over_a_script() {
    let script = Script::new().call("a", json!({})).call("a", json!({}));
    let provider = ScriptedProvider::new(script);
    let mut ids = Vec::new();
    for _ in 0..2 {
        let chunks = collect(provider.stream(request("x")).await.unwrap()).await;
        if let Some(Ok(LlmChunk::Completed(response))) = chunks.last()
            && let ResponseBlock::Call(call) = &response.blocks[0]
        {
            ids.push(call.id.clone());
        }
    }
    assert_eq!(ids, ["call_1_0", "call_2_0"]);
}
