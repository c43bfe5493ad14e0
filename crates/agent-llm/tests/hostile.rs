//! Servers that are broken or mean it badly: every one ends in a clear error, in bounded time and memory, without showing the key.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use agent_llm::{AnthropicProvider, OpenAiProvider, OpenAiResponsesProvider, ProviderConfig, Timeouts};
use agent_types::llm::{LlmError, LlmErrorKind, Wait};
use agent_types::ports::LlmProvider;
use futures_util::StreamExt;
use std::time::{Duration, Instant};
use support::{KEY, Reply, Server, call, config, request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const MIB: usize = 1024 * 1024;

/// Limits that a busy machine does not reach: what ends the call is its size.
fn never() -> Timeouts {
    timeouts(600_000, 600_000)
}

fn timeouts(idle_ms: u64, total_ms: u64) -> Timeouts {
    let idle = Duration::from_millis(idle_ms);
    Timeouts { connect: Duration::from_secs(5), first_byte: idle, idle, total: Duration::from_millis(total_ms) }
}

/// All three providers at this address.
fn providers(address: &str, timeouts: Timeouts) -> [Box<dyn LlmProvider>; 3] {
    let config = |path: &str| ProviderConfig { timeouts, ..config(&format!("{address}{path}")) };
    [
        Box::new(AnthropicProvider::new(config("")).unwrap()),
        Box::new(OpenAiProvider::new(config("/v1")).unwrap()),
        Box::new(OpenAiResponsesProvider::new(config("/v1")).unwrap()),
    ]
}

/// What each provider makes of this reply. No error shows the key.
async fn errors(reply: &Reply, timeouts: Timeouts) -> Vec<(LlmError, Server)> {
    let mut errors = Vec::new();
    for number in 0..3 {
        let server = Server::start([reply.clone()]).await;
        let error = call(&*providers(&server.address, timeouts)[number]).await.unwrap_err();
        assert!(!format!("{error} {error:?}").contains(KEY), "{error:?}");
        errors.push((error, server));
    }
    errors
}

fn wait_of(error: &LlmError) -> Option<Wait> {
    error.facts.as_ref().and_then(|facts| facts.wait)
}

fn has_key(server: &Server) -> bool {
    server.seen().requests.iter().any(|(head, _)| head.contains(KEY))
}

/// The most memory this process has had, in bytes; a test has a process of its own under nextest.
fn peak_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<usize>().ok()).unwrap_or(0) * 1024
}

#[tokio::test]
async fn headers_and_then_nothing() {
    for (error, _) in errors(&Reply::endless(200, "text/event-stream", "", b"", 0), timeouts(150, 5000)).await {
        assert_eq!((error.kind, wait_of(&error)), (LlmErrorKind::Timeout, Some(Wait::FirstByte)), "{error}");
        assert!(error.message.ends_with("the server sent nothing for 150 ms"), "{error}");
    }
}

#[tokio::test]
async fn signs_of_life_do_not_keep_a_run_alive() {
    let ping = "event: ping\ndata: {\"type\":\"ping\"}\n\n";
    let chunk = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"}}]}\n\n";
    let progress = "data: {\"type\":\"response.in_progress\",\"response\":{}}\n\n";
    for (number, sign) in [ping, chunk, progress].into_iter().enumerate() {
        for sign in [sign, ": keep-alive\n\n", "data: \n\n", "x"] {
            let begin = Instant::now();
            let reply = Reply::slow_stream(sign.repeat(2000).as_bytes(), sign.len(), Duration::from_millis(5));
            let server = Server::start([reply]).await;
            let error = call(&*providers(&server.address, timeouts(300, 60_000))[number]).await.unwrap_err();
            assert_eq!(
                (error.kind, wait_of(&error)),
                (LlmErrorKind::Timeout, Some(Wait::FirstByte)),
                "{sign}: {error}"
            );
            assert!(error.message.ends_with("the server sent only keep-alives for 300 ms"), "{error}");
            assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
        }
    }
}

#[tokio::test]
async fn an_answer_that_goes_on_for_ever_has_an_end() {
    let start = "data: {\"type\":\"message_start\",\"message\":{}}\n\n\
        data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n";
    let more =
        "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}\n\n";
    let body = format!("{start}{}", more.repeat(5000));
    let reply = Reply::slow_stream(body.as_bytes(), more.len(), Duration::from_millis(5));
    let server = Server::start([reply]).await;
    let error = call(&*providers(&server.address, timeouts(2000, 600))[0]).await.unwrap_err();
    assert_eq!((error.kind, wait_of(&error)), (LlmErrorKind::Timeout, Some(Wait::Total)), "{error}");
    assert!(error.message.ends_with("the answer was not complete after 600 ms"), "{error}");
}

#[tokio::test]
async fn silence_in_the_middle_is_told_from_silence_at_the_start() {
    let start = "data: {\"type\":\"message_start\",\"message\":{}}\n\n";
    let server = Server::start([Reply::slow_stream(start.as_bytes(), start.len(), Duration::ZERO)]).await;
    let error = call(&*providers(&server.address, timeouts(150, 5000))[0]).await.unwrap_err();
    assert_eq!(wait_of(&error), Some(Wait::Idle), "{error}");
}

#[tokio::test]
async fn a_line_of_a_gibibyte_is_given_up_early() {
    for content_type in ["text/event-stream", "text/plain"] {
        let line = vec![b'x'; MIB];
        for (error, server) in errors(&Reply::endless(200, content_type, "", &line, 1024), never()).await {
            assert_eq!(error.kind, LlmErrorKind::Protocol, "{error}");
            assert!(error.message.contains("a line is larger than 16777216 bytes"), "{error}");
            assert!(server.seen().written_bytes < 64 * MIB, "{}", server.seen().written_bytes);
        }
    }
    assert!(peak_bytes() < 300 * MIB, "{} MiB", peak_bytes() / MIB);
}

#[tokio::test]
async fn a_document_of_a_gibibyte_is_given_up_early() {
    let document = Reply::endless(200, "application/json", "", &vec![b' '; MIB], 1024);
    let comments = Reply::endless(200, "text/event-stream", "", &b": still here\n\n".repeat(MIB / 14), 1024);
    let by_document = errors(&document, never()).await;
    for (error, server) in by_document.into_iter().chain(errors(&comments, never()).await) {
        assert_eq!(error.kind, LlmErrorKind::InvalidRequest, "it would be as large again: {error}");
        assert!(error.message.contains("the answer is larger than"), "{error}");
        assert!(server.seen().written_bytes < 128 * MIB, "{}", server.seen().written_bytes);
    }
    assert!(peak_bytes() < 500 * MIB, "{} MiB", peak_bytes() / MIB);
}

#[tokio::test]
async fn a_bomb_is_not_unpacked() {
    // The beginning of a gzip file; whoever unpacked it would at best find it broken.
    let bomb = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3][..], &[0; 4096]].concat();
    let packed = Reply::endless(200, "text/event-stream", "content-encoding: gzip\r\n", &bomb, 1024);
    for (error, server) in errors(&packed, never()).await {
        assert!(!error.kind.is_retryable(), "{error}");
        assert!(error.message.contains("compressed (gzip)"), "{error}");
        assert!(server.seen().written_bytes < 8 * MIB);
    }
    // Not even the body of an error, whatever the headers say.
    for headers in ["content-encoding: gzip\r\n", ""] {
        for (error, _) in errors(&Reply::document(500, "application/json", headers, &bomb), never()).await {
            assert_eq!((error.kind, error.status), (LlmErrorKind::Server, Some(500)));
            assert!(error.message.ends_with("(a compressed body)"), "{error}");
        }
    }
}

#[tokio::test]
async fn what_is_no_text_or_no_json_is_a_fault_of_the_protocol() {
    let cases: [&[u8]; 5] = [
        b"data: {\"type\":\"message_start\",\"message\":{\"model\":\"\xff\xfe\"}}\n\ndata: \xff\n\n",
        b"data: \xc3\x28\n\n",
        b"data: <html>\n\n",
        b"data: {\"type\":\n\n",
        b"\x00\x01\x02",
    ];
    for body in cases {
        for (error, _) in errors(&Reply::stream(body, 3), timeouts(2000, 5000)).await {
            assert_eq!(error.kind, LlmErrorKind::Protocol, "{body:?}: {error}");
            assert!(!error.message.contains(char::is_control), "{error:?}");
        }
    }
}

#[tokio::test]
async fn nesting_without_end_does_not_exhaust_the_stack() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let events = [
        format!("data: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{deep}}}\n\n"),
        format!("data: {{\"choices\":[{{\"delta\":{{\"reasoning_details\":{deep},\"content\":{deep}}}}}]}}\n\n"),
        format!(
            "data: {{\"type\":\"response.completed\",\"response\":{{\"status\":\"completed\",\"output\":[{deep}]}}}}\n\n"
        ),
        format!("data: {{\"error\":{deep}}}\n\n"),
    ];
    for event in events {
        let reply = Reply::stream(event.as_bytes(), 4096);
        for number in 0..3 {
            let server = Server::start([reply.clone()]).await;
            // An error or an answer with nothing in it; what matters is to be here still.
            let outcome = call(&*providers(&server.address, timeouts(5000, 20_000))[number]).await;
            assert!(outcome.map_or(true, |(shown, _)| shown.is_empty()));
        }
    }
}

#[tokio::test]
async fn a_redirect_takes_the_key_nowhere() {
    for status in [301, 302, 303, 307, 308] {
        let elsewhere = Server::start([]).await;
        let headers = format!("location: {}/v1/messages\r\n", elsewhere.address);
        for (error, server) in errors(&Reply::document(status, "text/html", &headers, b""), timeouts(2000, 5000)).await
        {
            assert!(error.message.contains(&elsewhere.address), "{error}");
            assert!(!error.kind.is_retryable(), "{error}");
            assert!(has_key(&server));
        }
        assert_eq!(elsewhere.seen().connections, 0, "{status}");
    }
}

#[tokio::test]
async fn a_page_in_place_of_an_answer() {
    let page = b"<!DOCTYPE html><html><head><title>Sign in</title></head></html>";
    for (error, _) in errors(&Reply::document(200, "text/html; charset=utf-8", "", page), timeouts(2000, 5000)).await {
        assert_eq!(error.kind, LlmErrorKind::InvalidRequest, "it would come again");
        assert!(error.message.contains("an HTML page: Sign in; check the base URL"), "{error}");
    }
}

#[tokio::test]
async fn endless_headers_and_an_endless_error_are_left() {
    let header = format!("x-padding: {}\r\n", "y".repeat(8000));
    let head = Reply::raw(format!("HTTP/1.1 200 OK\r\n{header}").as_bytes(), 20_000);
    for (error, server) in errors(&head, never()).await {
        assert_eq!(error.kind, LlmErrorKind::Network, "{error}");
        assert!(server.seen().written_bytes < 32 * MIB, "{}", server.seen().written_bytes);
    }
    let body = Reply::endless(503, "text/plain", "", &vec![b'e'; MIB], 1024);
    for (error, server) in errors(&body, never()).await {
        assert_eq!((error.kind, error.status), (LlmErrorKind::Overloaded, Some(503)), "{error}");
        assert!(error.message.len() < 1000, "{error}");
        assert!(server.seen().written_bytes < 32 * MIB, "{}", server.seen().written_bytes);
    }
}

#[tokio::test]
async fn an_answer_byte_by_byte_is_an_answer() {
    let body = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"h\u{e9}\"},\"finish_reason\":\"stop\"}]}\r\n\r\ndata: [DONE]\r\n\r\n";
    let server = Server::start([Reply::slow_stream(body.as_bytes(), 1, Duration::from_millis(1))]).await;
    let (shown, _) = call(&*providers(&server.address, timeouts(2000, 10_000))[1]).await.unwrap();
    assert_eq!(shown, "h\u{e9}");
}

/// A server that takes connections and says nothing, not even hello.
async fn mute() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, format!("https://{address}"))
}

#[cfg(feature = "tls")]
#[tokio::test]
async fn a_server_without_tls_is_not_spoken_to() {
    let (listener, address) = mute().await;
    let plain = tokio::spawn(async move {
        let mut greetings = Vec::new();
        while greetings.len() < 3 {
            let (mut connection, _) = listener.accept().await.unwrap();
            let mut greeting = vec![0; 4096];
            let length = connection.read(&mut greeting).await.unwrap();
            greeting.truncate(length);
            greetings.push(greeting);
            connection.write_all(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n").await.unwrap();
        }
        greetings
    });
    for provider in providers(&address, timeouts(2000, 5000)) {
        let error = call(&*provider).await.unwrap_err();
        assert_eq!(error.kind, LlmErrorKind::Network, "{error}");
        assert!(error.message.contains("cannot connect"), "{error}");
        assert!(!format!("{error:?}").contains(KEY));
    }
    for greeting in plain.await.unwrap() {
        assert!(!greeting.windows(KEY.len()).any(|window| window == KEY.as_bytes()));
    }
    // And one that never answers the greeting.
    let (_listener, address) = mute().await;
    let connect = Duration::from_millis(200);
    for provider in providers(&address, Timeouts { connect, ..timeouts(2000, 5000) }) {
        let error = call(&*provider).await.unwrap_err();
        assert_eq!((error.kind, wait_of(&error)), (LlmErrorKind::Timeout, Some(Wait::Connect)), "{error}");
    }
}

/// Starts a call, leaves it in the middle, and sees it gone while the server still has the answer open.
async fn leave(provider: Box<dyn LlmProvider>, server: Option<Server>) {
    let task = tokio::spawn(async move {
        let mut stream = provider.stream(request("hello")).await.ok()?;
        while stream.next().await.is_some() {}
        Some(())
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!task.is_finished());
    let begin = Instant::now();
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    while server.as_ref().is_some_and(|server| server.seen().abandoned == 0) {
        assert!(begin.elapsed() < Duration::from_secs(20), "the connection is still open");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_call_can_be_left_within_200_ms_at_any_point() {
    let ping = "data: {\"type\":\"ping\"}\n\n".repeat(1000);
    let replies = [
        Reply::silence(),
        Reply::endless(200, "text/event-stream", "", b"", 0),
        Reply::endless(200, "application/json", "", b"{", 1),
        Reply::endless(500, "text/plain", "", b"x", 1),
        Reply::slow_stream(ping.as_bytes(), 24, Duration::from_millis(2)),
        Reply::slow_stream(&[b'x'; 5000], 1, Duration::from_millis(2)),
    ];
    for reply in replies {
        for number in 0..3 {
            let server = Server::start([reply.clone()]).await;
            let [a, b, c] = providers(&server.address, never());
            let provider = match number {
                0 => a,
                1 => b,
                _ => c,
            };
            leave(provider, Some(server)).await;
        }
    }
    let (_listener, address) = mute().await;
    let [provider, ..] = providers(&address, never());
    leave(provider, None).await;
}
