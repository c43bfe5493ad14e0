//! A real server on loopback that sends exactly what a test says, and the test's side of a model call.

// Each test file is a program of its own and uses its own part of this module.
#![expect(dead_code, reason = "every test file uses a part")]
#![expect(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr, reason = "it is part of tests")]

use agent_llm::bench::Format;
use agent_llm::{AnthropicProvider, OpenAiProvider, OpenAiResponsesProvider, ProviderConfig, Timeouts};
use agent_types::conversation::{Answer, Arguments, Block, CallId, Conversation, Input, Round, ToolCall, ToolResult};
use agent_types::llm::{Delta, LlmChunk, LlmError, LlmRequest, LlmResponse, Purpose, ResponseBlock, StopReason};
use agent_types::ports::LlmProvider;
use futures_util::StreamExt;
use serde_json::Value;
use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

pub(crate) const KEY: &str = "sk-test-0123456789";

/// What the server sends for one request.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pieces: Vec<Piece>,
    end: End,
}

#[derive(Clone, Debug)]
enum Piece {
    Bytes(Vec<u8>),
    Wait(Duration),
    /// The same bytes so many times, without holding them so many times.
    Repeat(Vec<u8>, usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The answer is whole; the connection waits for the next request.
    KeepAlive,
    /// The connection is closed.
    Close,
    /// Nothing more is sent, until the client goes away.
    Hang,
}

impl Reply {
    /// An event stream whose body arrives in pieces of this size.
    pub(crate) fn stream(body: &[u8], piece_bytes: usize) -> Self {
        let mut pieces = vec![Piece::Bytes(head(200, "text/event-stream", "transfer-encoding: chunked\r\n"))];
        // One write for many small pieces: the chunks of the transfer coding are what the client sees.
        let mut framed = Vec::new();
        for piece in body.chunks(piece_bytes) {
            framed.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
            framed.extend_from_slice(piece);
            framed.extend_from_slice(b"\r\n");
        }
        pieces.push(Piece::Bytes(framed));
        pieces.push(Piece::Bytes(b"0\r\n\r\n".to_vec()));
        Self { pieces, end: End::KeepAlive }
    }

    /// An event stream of these bytes, one piece after the other with a pause between them, that is never ended.
    pub(crate) fn slow_stream(body: &[u8], piece_bytes: usize, pause: Duration) -> Self {
        let mut pieces = vec![Piece::Bytes(head(200, "text/event-stream", "connection: close\r\n"))];
        for piece in body.chunks(piece_bytes) {
            pieces.push(Piece::Bytes(piece.to_vec()));
            pieces.push(Piece::Wait(pause));
        }
        Self { pieces, end: End::Hang }
    }

    /// A body that repeats these bytes so many times and never ends, of this type and with these headers.
    pub(crate) fn endless(status: u16, content_type: &str, more_headers: &str, bytes: &[u8], times: usize) -> Self {
        let headers = format!("connection: close\r\n{more_headers}");
        let pieces = vec![Piece::Bytes(head(status, content_type, &headers)), Piece::Repeat(bytes.to_vec(), times)];
        Self { pieces, end: End::Hang }
    }

    /// These bytes in place of an answer, again and again.
    pub(crate) fn raw(bytes: &[u8], times: usize) -> Self {
        Self { pieces: vec![Piece::Repeat(bytes.to_vec(), times)], end: End::Hang }
    }

    /// A whole document.
    pub(crate) fn document(status: u16, content_type: &str, more_headers: &str, body: &[u8]) -> Self {
        let headers = format!("content-length: {}\r\n{more_headers}", body.len());
        let pieces = vec![Piece::Bytes(head(status, content_type, &headers)), Piece::Bytes(body.to_vec())];
        Self { pieces, end: End::KeepAlive }
    }

    /// The same without the end of the body, and then the connection is closed.
    pub(crate) fn broken(mut self) -> Self {
        self.pieces.pop();
        self.end = End::Close;
        self
    }

    /// The same without the end of the body, and then nothing.
    pub(crate) fn hanging(mut self) -> Self {
        self.pieces.pop();
        self.end = End::Hang;
        self
    }

    /// Nothing at all.
    pub(crate) fn silence() -> Self {
        Self { pieces: Vec::new(), end: End::Hang }
    }
}

fn head(status: u16, content_type: &str, headers: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} X\r\ncontent-type: {content_type}\r\n{headers}\r\n").into_bytes()
}

/// What the server saw.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) connections: usize,
    /// Connections that the client closed while the server was hanging.
    pub(crate) abandoned: usize,
    /// Head and body of each request.
    pub(crate) requests: Vec<(String, String)>,
    /// Bytes of answers that the client's side of the network took.
    pub(crate) written_bytes: usize,
}

/// A server that answers its requests with these replies in order.
pub(crate) struct Server {
    pub(crate) address: String,
    seen: Arc<Mutex<Seen>>,
}

impl Server {
    pub(crate) async fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let replies: VecDeque<Reply> = replies.into_iter().collect();
        let replies = Arc::new(Mutex::new(replies));
        let seen = Arc::new(Mutex::new(Seen::default()));
        let log = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                log.lock().unwrap().connections += 1;
                tokio::spawn(serve(connection, Arc::clone(&replies), Arc::clone(&log)));
            }
        });
        Self { address, seen }
    }

    pub(crate) fn seen(&self) -> Seen {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve(mut connection: TcpStream, replies: Arc<Mutex<VecDeque<Reply>>>, seen: Arc<Mutex<Seen>>) {
    while let Some(request) = read_request(&mut connection).await {
        seen.lock().unwrap().requests.push(request);
        let reply = replies.lock().unwrap().pop_front();
        let Some(reply) = reply else { return };
        for piece in &reply.pieces {
            let (bytes, times) = match piece {
                Piece::Bytes(bytes) => (bytes, 1),
                Piece::Repeat(bytes, times) => (bytes, *times),
                Piece::Wait(pause) => {
                    tokio::time::sleep(*pause).await;
                    continue;
                }
            };
            for _ in 0..times {
                if connection.write_all(bytes).await.is_err() {
                    seen.lock().unwrap().abandoned += 1;
                    return;
                }
                seen.lock().unwrap().written_bytes += bytes.len();
            }
        }
        match reply.end {
            End::KeepAlive => {}
            End::Close => return,
            End::Hang => {
                let _ = connection.read(&mut [0]).await;
                seen.lock().unwrap().abandoned += 1;
                return;
            }
        }
    }
}

async fn read_request(connection: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .map_or(0, |length| length.parse().unwrap());
            let body = &bytes[end + 4..];
            if body.len() >= length {
                return Some((head, String::from_utf8(body.to_vec()).unwrap()));
            }
        }
        match connection.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

pub(crate) fn config(base_url: &str) -> ProviderConfig {
    ProviderConfig {
        base_url: base_url.to_owned(),
        api_key: Some(KEY.to_owned()),
        timeouts: Timeouts {
            connect: Duration::from_secs(5),
            first_byte: Duration::from_secs(20),
            idle: Duration::from_secs(20),
            total: Duration::from_secs(60),
        },
        ..ProviderConfig::default()
    }
}

pub(crate) fn anthropic(server: &Server) -> AnthropicProvider {
    AnthropicProvider::new(config(&server.address)).unwrap()
}

pub(crate) fn openai(server: &Server) -> OpenAiProvider {
    OpenAiProvider::new(config(&format!("{}/v1", server.address))).unwrap()
}

pub(crate) fn responses(server: &Server) -> OpenAiResponsesProvider {
    OpenAiResponsesProvider::new(config(&format!("{}/v1", server.address))).unwrap()
}

pub(crate) fn request(text: &str) -> LlmRequest {
    let mut conversation = Conversation::new();
    conversation.push_input(Input::new(vec![text.into()]).unwrap());
    LlmRequest {
        purpose: Purpose::Turn,
        model: Arc::from("some-model"),
        system: Arc::from("Be brief."),
        tools: Arc::from([]),
        conversation,
        max_output_tokens: 1000,
        effort: None,
    }
}

/// What a model call came to: the text of all deltas, and the answer.
pub(crate) async fn call(provider: &dyn LlmProvider) -> Result<(String, LlmResponse), LlmError> {
    let mut stream = provider.stream(request("hello")).await?;
    let mut shown = String::new();
    let mut answer = None;
    while let Some(chunk) = stream.next().await {
        assert!(answer.is_none(), "a chunk after the complete answer");
        match chunk? {
            LlmChunk::Delta(Delta::Text(text) | Delta::Thinking(text)) => shown.push_str(&text),
            LlmChunk::Completed(response) => answer = Some(response),
        }
    }
    Ok((shown, answer.expect("a stream without an end")))
}

/// The recorded streams, or nothing where they are not at hand.
pub(crate) fn fixtures() -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures");
    let folder = std::env::var_os("AGENT_FIXTURES").map_or(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("SKIPPED: no recorded streams at {}; set AGENT_FIXTURES", folder.display());
    None
}

/// A conversation with this answer, every call answered, as a session would keep it; nothing when there is nothing in it.
pub(crate) fn answered(response: &LlmResponse) -> Option<Conversation> {
    let mut conversation = Conversation::new();
    conversation.push_input(Input::new(vec!["go".into()]).unwrap());
    let mut given = BTreeSet::new();
    let blocks = response.blocks.iter().cloned().map(|block| match block {
        ResponseBlock::Text(text) => Block::Text(text),
        ResponseBlock::Thinking { text, signature } => Block::Thinking { text, signature },
        ResponseBlock::RedactedThinking { data } => Block::RedactedThinking { data },
        ResponseBlock::Opaque { dialect, json } => Block::Opaque { dialect, json },
        ResponseBlock::Call(call) => {
            let is_new = !call.id.trim().is_empty() && !given.contains(&call.id);
            let made = || (1..).map(|number| format!("call_{number}")).find(|id| !given.contains(id)).unwrap();
            let id = if is_new { call.id } else { made() };
            given.insert(id.clone());
            let arguments = Arguments::parse(&call.arguments).unwrap_or_else(|_| Arguments::empty());
            Block::Call(ToolCall { id: CallId::new(&id), name: Arc::from(call.name.as_str()), arguments })
        }
    });
    let answer = Answer::new(blocks.collect()).ok()?;
    let results: Vec<ToolResult> = answer.calls().map(|call| ToolResult::new(call.id.clone(), "seen", false)).collect();
    if results.is_empty() {
        let answer = if response.stop == StopReason::Paused { answer.paused() } else { answer };
        conversation.push_answer(answer).unwrap();
    } else {
        conversation.push_round(Round::new(answer, results).unwrap()).unwrap();
    }
    Some(conversation)
}

/// Ids of the calls and of their results in a request.
pub(crate) fn ids(format: Format, body: &Value) -> (Vec<String>, Vec<String>) {
    let texts = |values: Vec<&Value>| values.into_iter().map(|value| value.as_str().unwrap().to_owned()).collect();
    let list = |name: &str| body[name].as_array().unwrap().iter();
    match format {
        Format::Anthropic => {
            let blocks = || list("messages").flat_map(|message| message["content"].as_array().unwrap());
            let calls = blocks().filter(|block| block["type"] == "tool_use").map(|block| &block["id"]);
            let results = blocks().filter(|block| block["type"] == "tool_result").map(|block| &block["tool_use_id"]);
            (texts(calls.collect()), texts(results.collect()))
        }
        Format::OpenAiChat => {
            let calls = list("messages").filter_map(|message| message["tool_calls"].as_array()).flatten();
            let results = list("messages").filter(|message| message["role"] == "tool");
            (
                texts(calls.map(|call| &call["id"]).collect()),
                texts(results.map(|result| &result["tool_call_id"]).collect()),
            )
        }
        Format::OpenAiResponses => {
            let of =
                |kind: &str| list("input").filter(|item| item["type"] == kind).map(|item| &item["call_id"]).collect();
            (texts(of("function_call")), texts(of("function_call_output")))
        }
    }
}
