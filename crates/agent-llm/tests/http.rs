//! Providers against a real server on loopback: headers, keep-alive, cuts, silence, errors, secrets.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use agent_llm::{AnthropicProvider, OpenAiProvider, ProviderConfig, Timeouts};
use agent_types::llm::{LlmErrorKind, LlmRequest, ResponseBlock, StopReason};
use agent_types::ports::LlmProvider;
use futures_util::StreamExt;
use serde_json::Value;
use std::time::{Duration, Instant};
use support::{KEY, Reply, Server, anthropic, call, config, openai, request};

const ANTHROPIC: &str = "\
event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m-1\",\"usage\":{\"input_tokens\":3}}}\n\n\
event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n\
event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\n\
event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n\n\
event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

const OPENAI: &str = "\
data: {\"model\":\"m-1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":null}]}\n\n\
data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\n\
data: [DONE]\n\n";

fn stream(body: &str) -> Reply {
    Reply::stream(body.as_bytes(), 50)
}

fn impatient(base_url: &str) -> ProviderConfig {
    ProviderConfig {
        timeouts: Timeouts {
            connect: Duration::from_secs(5),
            first_byte: Duration::from_millis(150),
            idle: Duration::from_millis(150),
            total: Duration::from_secs(20),
        },
        ..config(base_url)
    }
}

async fn failure(reply: Reply) -> agent_types::llm::LlmError {
    let server = Server::start([reply]).await;
    let provider = AnthropicProvider::new(impatient(&server.address)).unwrap();
    call(&provider).await.unwrap_err()
}

#[tokio::test]
async fn a_run_uses_one_connection() {
    let server = Server::start((0..20).map(|_| stream(ANTHROPIC))).await;
    let provider = anthropic(&server);
    for _ in 0..20 {
        let (shown, response) = call(&provider).await.unwrap();
        assert_eq!(shown, "hi");
        assert_eq!(response.model, "m-1");
        assert_eq!(response.usage.unwrap().total_tokens(), 4);
    }
    assert_eq!(server.seen().connections, 1);

    let server = Server::start((0..20).map(|_| stream(OPENAI))).await;
    let provider = openai(&server);
    for _ in 0..20 {
        let (shown, response) = call(&provider).await.unwrap();
        assert_eq!((shown.as_str(), response.stop), ("hi", StopReason::EndTurn));
        assert_eq!(response.usage.unwrap().total_tokens(), 4);
    }
    assert_eq!(server.seen().connections, 1);
}

#[tokio::test]
async fn what_is_sent() {
    let server = Server::start([stream(ANTHROPIC), stream(OPENAI)]).await;
    call(&anthropic(&server)).await.unwrap();
    let more = ProviderConfig {
        headers: vec![("x-more".to_owned(), "1".to_owned())],
        ..config(&format!("{}/v1/v1/", server.address))
    };
    call(&OpenAiProvider::new(more).unwrap()).await.unwrap();
    let requests = server.seen().requests;

    let (head, body) = &requests[0];
    assert!(head.starts_with("POST /v1/messages HTTP/1.1"), "{head}");
    assert!(head.contains(&format!("x-api-key: {KEY}")), "{head}");
    assert!(head.contains("anthropic-version: 2023-06-01"), "{head}");
    assert!(head.contains("content-type: application/json"), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    assert_eq!(body["stream"], true);

    let (head, body) = &requests[1];
    assert!(head.starts_with("POST /v1/chat/completions "), "{head}");
    assert!(head.contains(&format!("authorization: Bearer {KEY}")), "{head}");
    assert!(head.contains("x-more: 1"), "{head}");
    let body: Value = serde_json::from_str(body).unwrap();
    for parameter in ["temperature", "top_p", "top_k", "seed"] {
        assert_eq!(body.get(parameter), None);
    }
}

#[tokio::test]
async fn no_key_no_header() {
    let server = Server::start([stream(ANTHROPIC)]).await;
    let config = ProviderConfig { api_key: None, ..config(&format!("{}/v1", server.address)) };
    call(&AnthropicProvider::new(config).unwrap()).await.unwrap();
    let (head, _) = &server.seen().requests[0];
    assert!(head.starts_with("POST /v1/messages "), "{head}");
    assert!(!head.contains("x-api-key"), "{head}");
}

#[tokio::test]
async fn a_cut_is_no_answer_wherever_it_falls() {
    let end = ANTHROPIC.find("event: message_stop").unwrap();
    let stated = ANTHROPIC.find("event: content_block_start").unwrap();
    for cut in (0..end).step_by(41).chain([end]) {
        let error = failure(stream(&ANTHROPIC[..cut])).await;
        assert_eq!(error.kind, LlmErrorKind::Protocol, "{cut}: {error}");
        // What had been stated by then is not forgotten.
        let usage = error.partial.and_then(|partial| partial.usage);
        assert_eq!(usage.is_some_and(|usage| usage.input_tokens > 0), cut >= stated, "{cut}: {usage:?}");
    }
    let error = failure(stream(&ANTHROPIC[..end])).await;
    assert_eq!(error.partial.map(|partial| partial.bytes), Some("hi".len() as u64));
    let server = Server::start([stream(OPENAI.split_once("\"finish").unwrap().0)]).await;
    let error = call(&openai(&server)).await.unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::Protocol);
}

#[tokio::test]
async fn a_broken_connection_is_told_from_a_cut_and_harmless_after_the_end() {
    let error = failure(stream(&ANTHROPIC[..300]).broken()).await;
    assert_eq!(error.kind, LlmErrorKind::Network, "{error}");

    // Once the answer is complete, neither a break nor silence takes it back.
    let without_done = OPENAI.split_once("data: [DONE]").unwrap().0;
    let server = Server::start([
        stream(OPENAI).broken(),
        stream(OPENAI).hanging(),
        stream(without_done).broken(),
        stream(without_done).hanging(),
        stream(without_done),
    ])
    .await;
    let base_url = format!("{}/v1", server.address);
    let provider = OpenAiProvider::new(impatient(&base_url)).unwrap();
    for _ in 0..5 {
        let (shown, response) = call(&provider).await.unwrap();
        assert_eq!((shown.as_str(), response.stop), ("hi", StopReason::EndTurn));
        assert!(response.usage.is_some());
    }
}

#[tokio::test]
async fn silence_ends_in_a_timeout_before_and_within_the_answer() {
    for reply in [Reply::silence(), stream("").hanging(), stream(&ANTHROPIC[..300]).hanging()] {
        let begin = Instant::now();
        let error = failure(reply).await;
        assert_eq!(error.kind, LlmErrorKind::Timeout, "{error}");
        assert!(error.message.contains("the server sent nothing for 150 ms"), "{error}");
        assert!(begin.elapsed() < Duration::from_secs(60));
    }
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let server = Server::start([stream(&ANTHROPIC[..400]).hanging()]).await;
    let provider = anthropic(&server);
    let mut answer = provider.stream(request("hello")).await.unwrap();
    assert!(answer.next().await.unwrap().is_ok());
    drop(answer);
    for _ in 0..200 {
        if server.seen().abandoned == 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the connection is still open");
}

#[tokio::test]
async fn nobody_listening() {
    let address = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let provider = AnthropicProvider::new(config(&format!("http://{address}"))).unwrap();
    let error = call(&provider).await.unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::Network);
    let expected = format!("POST http://{address}/v1/messages: cannot connect");
    assert!(error.message.starts_with(&expected), "{error}");
    let question = format!("is the server running at http://{address}?");
    assert!(error.message.ends_with(&question), "{error}");
}

#[tokio::test]
async fn a_rate_limit_says_how_long() {
    let body = br#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#;
    let reply = Reply::document(429, "application/json", "retry-after: 7\r\n", body);
    let error = failure(reply).await;
    assert_eq!(error.kind, LlmErrorKind::RateLimited);
    assert_eq!(error.status, Some(429));
    assert_eq!(error.retry_after_ms, Some(7000));
    assert!(error.message.contains("slow down"), "{error}");
}

#[tokio::test]
async fn a_huge_error_page_with_the_key_in_it_is_short_and_clean() {
    let mut page = format!("\u{1b}[31m{KEY} refused\u{7}\r\n");
    while page.len() < 5 * 1024 * 1024 {
        page.push_str(KEY);
        page.push('é');
    }
    for status in [401, 500] {
        let reply = Reply::document(status, "text/html", "", page.as_bytes());
        let error = failure(reply).await;
        assert_eq!(error.status, Some(status));
        let message = error.message;
        assert!(!message.contains("sk-test"), "{message}");
        assert!(!message.contains(char::is_control), "{message:?}");
        assert!(message.chars().count() < 700, "{message}");
    }
}

#[tokio::test]
async fn an_error_within_the_answer_is_classified_and_clean() {
    let event = format!(
        "data: {{\"type\":\"error\",\"error\":{{\"type\":\"overloaded_error\",\"message\":\"busy {KEY}\"}}}}\n\n"
    );
    let error = failure(stream(&event)).await;
    assert_eq!(error.kind, LlmErrorKind::Overloaded);
    assert!(error.message.ends_with("ended the answer with an error: busy [redacted]"), "{error}");
}

#[tokio::test]
async fn servers_that_do_not_stream() {
    let message = r#"{"type":"message","model":"m","stop_reason":"end_turn","content":[{"type":"text","text":"hi"}]}"#;
    let completion = r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#;
    let json = |body: &str| Reply::document(200, "application/json", "", body.as_bytes());
    let server = Server::start([json(message), json(completion), json("{}")]).await;
    let hi = [ResponseBlock::Text("hi".to_owned())];
    assert_eq!(call(&anthropic(&server)).await.unwrap().1.blocks, hi);
    let (_, response) = call(&openai(&server)).await.unwrap();
    assert_eq!((response.blocks.as_slice(), response.usage), (&hi[..], None));
    let error = call(&openai(&server)).await.unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::Protocol);
}

#[tokio::test]
async fn what_is_no_model_server() {
    let page = b"<html><title>Welcome</title></html>";
    let error = failure(Reply::document(200, "text/html", "", page)).await;
    assert_eq!(error.kind, LlmErrorKind::InvalidRequest);
    assert!(error.message.contains("an HTML page: Welcome"), "{error}");

    let headers = "location: http://elsewhere/\r\n";
    let error = failure(Reply::document(302, "text/html", headers, b"")).await;
    assert_eq!(error.kind, LlmErrorKind::InvalidRequest);
    assert!(error.message.contains("redirect to http://elsewhere/"), "{error}");

    let headers = "content-encoding: gzip\r\n";
    let error = failure(Reply::document(200, "text/event-stream", headers, b"xx")).await;
    // Asking again would bring the same.
    assert!(!error.kind.is_retryable(), "{error}");
    assert!(error.message.contains("the answer is compressed (gzip)"), "{error}");
}

#[tokio::test]
async fn lists_of_models() {
    let list = br#"{"object":"list","data":[{"id":"b","x":1},{"id":"a"}]}"#;
    let json = |body: &[u8]| Reply::document(200, "application/json", "", body);
    let denied = Reply::document(403, "application/json", "", b"{}");
    let server = Server::start([json(list), json(list), json(b"[]"), denied]).await;
    assert_eq!(anthropic(&server).list_models().await.unwrap(), ["b", "a"]);
    assert_eq!(openai(&server).list_models().await.unwrap(), ["b", "a"]);
    let error = openai(&server).list_models().await.unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::Protocol);
    let error = openai(&server).list_models().await.unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::Permission);
    let paths: Vec<String> =
        server.seen().requests.iter().map(|(head, _)| head.lines().next().unwrap_or_default().to_owned()).collect();
    assert_eq!(paths[0], "GET /v1/models?limit=1000 HTTP/1.1");
    assert_eq!(paths[1], "GET /v1/models HTTP/1.1");
}

#[tokio::test]
async fn an_endless_line_is_stopped() {
    let line = vec![b'x'; 17 * 1024 * 1024];
    let server = Server::start([Reply::stream(&line, 1 << 20)]).await;
    let error = call(&anthropic(&server)).await.unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::Protocol);
    assert!(error.message.contains("larger than 16777216 bytes"), "{error}");
}

#[tokio::test]
async fn debug_output_shows_no_key() {
    let server = Server::start([]).await;
    let shown = format!("{:?} {:?} {:?}", anthropic(&server), openai(&server), config("http://h"));
    assert!(!shown.contains("sk-test"), "{shown}");
}

#[tokio::test]
async fn the_same_provider_serves_calls_side_by_side() {
    let server = Server::start((0..8).map(|_| stream(ANTHROPIC))).await;
    let provider = anthropic(&server);
    let calls = (0..8).map(|n| {
        let request = LlmRequest { ..request(&format!("question {n}")) };
        let provider = &provider;
        async move {
            let chunks = provider.stream(request).await.unwrap();
            chunks.map(Result::unwrap).collect::<Vec<_>>().await.len()
        }
    });
    let counts = futures_util::future::join_all(calls).await;
    assert_eq!(counts, [2; 8]);
    assert_eq!(server.seen().requests.len(), 8);
}
