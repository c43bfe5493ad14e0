//! A server of the Model Context Protocol over HTTP, on loopback: it does what it should, or one of the things that servers do and should
//! not.

use super::PIXEL;
use super::login::{self, Manners, Tokens};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{sleep, spawn};
use std::time::Duration;

/// A server on loopback, with a thread for each connection. It ends with the program.
#[derive(Debug)]
pub struct McpHttp {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<McpRequest>>>,
    tokens: Arc<Mutex<Tokens>>,
}

/// A request that came.
#[derive(Clone, Debug)]
pub struct McpRequest {
    /// The method of HTTP.
    pub method: String,
    /// Path and parameters.
    pub path: String,
    /// The headers, with names in small letters.
    pub headers: Vec<(String, String)>,
    /// The message; null where there is none.
    pub message: Value,
    /// The body as it came, which may be no message.
    pub body: String,
}

impl McpRequest {
    /// A header's value.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// The method of the protocol that the message asks for, or the method of HTTP where there is none.
    #[must_use]
    pub fn asks(&self) -> &str {
        self.message["method"].as_str().unwrap_or(&self.method)
    }
}

impl McpHttp {
    /// Starts a server that does what the words say, separated by blanks: `modern` speaks the protocol of 2026-07-28 and nothing before,
    /// `stream` answers with event streams, `token=T` wants that token, `to=URL` redirects there, `status=N` answers everything with that
    /// status, `html` answers with a page, `deaf` answers nothing, `big` answers everything with half a gigabyte, `polite`
    /// answers with nothing, in place of an error, where it is asked for the newer protocol. `repeats` answers everything with an error
    /// that repeats path and headers, `frank` answers calls with both, `tells` describes tools with the path, `Authorization` and `X-Key`.
    /// `login` takes no token but what it gave to a person who logged in there, and the tool `guarded` wants the scope `admin`; its tokens
    /// last `lasts=SECONDS`, `issuer=URL` says that it is somebody else, `forger` answers a login with the state of another, `gives=URL`
    /// gives tokens elsewhere. The tool `resumed` is answered with streams that end at once, and are to be asked for again without a pause.
    ///
    /// # Panics
    /// When loopback cannot be listened on.
    #[must_use]
    #[expect(clippy::expect_used, reason = "a test without its server fails")]
    pub fn start(words: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback can be listened on");
        let address = listener.local_addr().expect("what listens has an address");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let tokens = Arc::new(Mutex::new(Tokens::default()));
        let server = Server {
            words: words.split(' ').map(str::to_owned).collect(),
            asked: Arc::clone(&asked),
            tokens: Arc::clone(&tokens),
            base: format!("http://{address}"),
        };
        spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = server.clone();
                // Whoever goes in the middle ends the connection, and nothing else.
                spawn(move || server.serve(&stream));
            }
        });
        Self { address, asked, tokens }
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Has no token of the login taken any more, until it is renewed.
    pub fn run_out(&self) {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner).run_out();
    }

    /// Has no token of the login taken any more, and none renewed.
    pub fn revoke(&self) {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner).revoke();
    }

    /// What came until now.
    #[must_use]
    pub fn asked(&self) -> Vec<McpRequest> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[derive(Clone)]
struct Server {
    words: Vec<String>,
    asked: Arc<Mutex<Vec<McpRequest>>>,
    tokens: Arc<Mutex<Tokens>>,
    /// `http://ADDRESS`.
    base: String,
}

/// Nothing, where the other side has gone.
pub(super) type Sent = Option<()>;

impl Server {
    fn has(&self, word: &str) -> bool {
        self.words.iter().any(|own| own == word)
    }

    fn value(&self, word: &str) -> Option<&str> {
        let prefix = format!("{word}=");
        self.words.iter().find_map(|own| own.strip_prefix(&prefix))
    }

    fn serve(&self, stream: &TcpStream) -> Sent {
        let request = read(stream)?;
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        self.answer(stream, &request);
        // Whoever has gone needs no end.
        stream.shutdown(Shutdown::Both).ok()
    }

    fn answer(&self, stream: &TcpStream, request: &McpRequest) -> Sent {
        if let Some(url) = self.value("to") {
            return send(
                stream,
                &format!("HTTP/1.1 307 Temporary Redirect\r\nlocation: {url}\r\ncontent-length: 0\r\n\r\n"),
            );
        }
        if let Some(status) = self.value("status") {
            return whole(stream, status, "text/plain", "it is not well");
        }
        if self.has("repeats") {
            return whole(
                stream,
                "400 Bad Request",
                "text/plain",
                &format!("bad: {} {:?}", request.path, request.headers),
            );
        }
        let token = request.header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        if self.value("token").is_some_and(|wanted| token != Some(wanted)) {
            return send(
                stream,
                "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer error=\"invalid_token\"\r\ncontent-length: 0\r\n\r\n",
            );
        }
        if self.has("login") {
            let manners = Manners {
                base: self.base.clone(),
                issuer: self.value("issuer"),
                lasts_secs: self.value("lasts").and_then(|lasts| lasts.parse().ok()).unwrap_or(3600),
                is_forger: self.has("forger"),
                token_endpoint: self.value("gives"),
            };
            if let Some(sent) = login::answer(stream, request, &self.tokens, &manners) {
                return sent;
            }
        }
        if self.has("html") {
            return whole(stream, "200 OK", "text/html", "<h1>Log in</h1>");
        }
        if self.has("deaf") {
            return hang();
        }
        if self.has("big") {
            return big(stream, "application/json");
        }
        match request.method.as_str() {
            "POST" => self.hear(stream, request),
            "GET" if request.header("last-event-id").is_some() => ends_at_once(stream),
            "DELETE" => whole(stream, "200 OK", "text/plain", ""),
            _ => whole(stream, "405 Method Not Allowed", "text/plain", ""),
        }
    }

    fn hear(&self, stream: &TcpStream, request: &McpRequest) -> Sent {
        let message = &request.message;
        let (id, is_modern) = (&message["id"], self.has("modern"));
        if id.is_null() {
            return send(stream, "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
        let result = match message["method"].as_str().unwrap_or_default() {
            "server/discover" if is_modern => {
                json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "far", "version": "1.0"}}, "ttlMs": 0, "cacheScope": "private"})
            }
            "initialize" if !is_modern => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "far", "version": "1.0"}}),
            "tools/list" => {
                let tool = |name: &&str| json!({"name": name, "description": "", "inputSchema": {"type": "object"}});
                let mut tools: Vec<Value> = TOOLS.iter().map(tool).collect();
                if self.has("tells") {
                    let given =
                        ["authorization", "x-key"].map(|name| request.header(name).unwrap_or_default().to_owned());
                    tools.extend(super::telling(&[&given[..], std::slice::from_ref(&request.path)].concat()));
                }
                json!({"resultType": "complete", "tools": tools, "ttlMs": 0, "cacheScope": "private"})
            }
            "server/discover" if self.has("polite") => json!({}),
            "tools/call" if self.has("frank") => {
                let told = format!("{} {:?}", request.path, request.headers);
                json!({"resultType": "complete", "content": [{"type": "text", "text": told}]})
            }
            "tools/call" => return self.call(stream, id, &message["params"]),
            _ => {
                return self.say(
                    stream,
                    &json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no such method"}}),
                );
            }
        };
        self.say(stream, &json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }

    fn call(&self, stream: &TcpStream, id: &Value, params: &Value) -> Sent {
        let (name, arguments) = (params["name"].as_str().unwrap_or_default(), &params["arguments"]);
        let text = arguments["text"].as_str().unwrap_or_default();
        let content = |content: Value| json!({"jsonrpc": "2.0", "id": id, "result": {"resultType": "complete", "content": [content]}});
        let said = |text: &str| content(json!({"type": "text", "text": text}));
        match name {
            "picture" => self.say(stream, &content(json!({"type": "image", "data": PIXEL, "mimeType": "image/png"}))),
            "hang" => hang(),
            "resumed" => ends_at_once(stream),
            "huge" => big(stream, if self.has("stream") { "text/event-stream" } else { "application/json" }),
            "other_id" => {
                let other = json!({"jsonrpc": "2.0", "id": "nobody's", "result": {"content": []}});
                self.say(stream, &other)
            }
            "not_json" => whole(stream, "200 OK", "application/json", "{\"jsonrpc\": "),
            "broken" => whole(stream, "500 Internal Server Error", "text/plain", "it fell over"),
            // It says that there is more, and goes.
            "half" if self.has("stream") => send(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 5000\r\n\r\ndata: {\"jsonrpc\"",
            ),
            "half" => send(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{\"jsonrpc\"",
            ),
            "wait" => {
                let token = &params["_meta"]["progressToken"];
                send(stream, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
                for step in 0..arguments["steps"].as_u64().unwrap_or(1) {
                    let params = json!({"progressToken": token, "progress": step, "message": format!("step {step}")});
                    event(stream, &json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}))?;
                    sleep(Duration::from_millis(arguments["ms"].as_u64().unwrap_or(0)));
                }
                event(stream, &said("waited"))
            }
            "bytewise" => {
                let body = said("slowly").to_string();
                send(
                    stream,
                    &format!(
                        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                        body.len()
                    ),
                )?;
                body.split_inclusive(|_| true)
                    .try_for_each(|byte| send(stream, byte).map(|()| sleep(Duration::from_millis(1))))
            }
            _ => self.say(stream, &said(text)),
        }
    }

    fn say(&self, stream: &TcpStream, message: &Value) -> Sent {
        if self.has("stream") {
            send(stream, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
            return event(stream, message);
        }
        whole(stream, "200 OK", "application/json", &message.to_string())
    }
}

fn read(stream: &TcpStream) -> Option<McpRequest> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (mut headers, mut length) = (Vec::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        let (name, value) = (name.to_ascii_lowercase(), value.trim().to_owned());
        if name == "content-length" {
            length = value.parse().ok()?;
        }
        headers.push((name, value));
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let message = serde_json::from_slice(&body).unwrap_or_default();
    Some(McpRequest { method, path, headers, message, body: String::from_utf8_lossy(&body).into_owned() })
}

pub(super) fn whole(stream: &TcpStream, status: &str, kind: &str, body: &str) -> Sent {
    let length = body.len();
    send(
        stream,
        &format!(
            "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        ),
    )
}

/// A stream without an answer, which is to be asked for again at once.
fn ends_at_once(stream: &TcpStream) -> Sent {
    send(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\nid: 1\nretry: 0\ndata: \n\n",
    )
}

fn event(stream: &TcpStream, message: &Value) -> Sent {
    send(stream, &format!("data: {message}\n\n"))
}

/// One message of half a gigabyte, as far as it is read.
fn big(stream: &TcpStream, kind: &str) -> Sent {
    send(
        stream,
        &format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\ndata: {{\"jsonrpc\": \""),
    )?;
    let part = "x".repeat(1 << 20);
    (0..500).try_for_each(|_| send(stream, &part))
}

/// Longer than any test waits.
fn hang() -> Sent {
    sleep(Duration::from_secs(600));
    None
}

pub(super) fn send(mut stream: &TcpStream, text: &str) -> Sent {
    stream.write_all(text.as_bytes()).and_then(|()| stream.flush()).ok()
}

const TOOLS: [&str; 12] = [
    "echo", "picture", "hang", "huge", "other_id", "not_json", "broken", "half", "wait", "bytewise", "resumed",
    "guarded",
];
