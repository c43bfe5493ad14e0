//! A minimal HTTP client on a raw connection, so that the server is tested without the library it is made of.

use serde_json::Value;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// One connection.
pub(crate) struct Client {
    stream: TcpStream,
    unread: Vec<u8>,
}

/// A response, as far as it came.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
    /// Whether the body's end was announced, not only the connection's.
    pub(crate) complete: bool,
}

impl Response {
    /// The data of its server-sent events that are JSON.
    pub(crate) fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data: "));
        data.filter_map(|data| serde_json::from_str(data).ok()).collect()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        Self { stream: TcpStream::connect(address).await.unwrap(), unread: Vec::new() }
    }

    pub(crate) async fn post(&mut self, path: &str, body: &Value) -> Response {
        self.send(path, body).await;
        self.response().await
    }

    pub(crate) async fn send(&mut self, path: &str, body: &Value) {
        let body = body.to_string();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: x\r\nanthropic-version: 2023-06-01\r\nx-api-key: k\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        self.raw(&(head + &body)).await;
    }

    pub(crate) async fn raw(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    pub(crate) async fn response(&mut self) -> Response {
        let head = self.head().await;
        let status = head[9..12].parse().unwrap();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .map(|length| length.parse::<usize>().unwrap());
        let (body, complete) = match length {
            Some(length) => {
                while self.unread.len() < length && self.fill().await {}
                let complete = self.unread.len() >= length;
                (self.take(length), complete)
            }
            None => self.chunks().await,
        };
        Response { status, head, body: String::from_utf8(body).unwrap(), complete }
    }

    pub(crate) async fn head(&mut self) -> String {
        loop {
            if let Some(end) = find(&self.unread, b"\r\n\r\n") {
                return String::from_utf8(self.take(end + 4)).unwrap();
            }
            assert!(self.fill().await, "the connection ended before a response came");
        }
    }

    /// The data of one chunk; nothing at the end of the body or of the connection.
    pub(crate) async fn chunk(&mut self) -> Option<Vec<u8>> {
        let end = loop {
            match find(&self.unread, b"\r\n") {
                Some(end) => break end,
                None if self.fill().await => {}
                None => return None,
            }
        };
        let size = String::from_utf8(self.take(end + 2)).unwrap();
        let size = usize::from_str_radix(size.trim(), 16).unwrap();
        while self.unread.len() < size + 2 && self.fill().await {}
        let mut data = self.take(size + 2);
        data.truncate(size);
        Some(data)
    }

    async fn chunks(&mut self) -> (Vec<u8>, bool) {
        let mut body = Vec::new();
        while let Some(chunk) = self.chunk().await {
            if chunk.is_empty() {
                return (body, true);
            }
            body.extend(chunk);
        }
        (body, false)
    }

    fn take(&mut self, length: usize) -> Vec<u8> {
        let length = length.min(self.unread.len());
        self.unread.drain(..length).collect()
    }

    async fn fill(&mut self) -> bool {
        let mut buffer = [0; 4096];
        let count = self.stream.read(&mut buffer).await.unwrap_or(0);
        self.unread.extend_from_slice(&buffer[..count]);
        count > 0
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}
