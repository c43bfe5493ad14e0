//! Where the answer to a login comes back: a port on this machine that takes one answer, and is closed then.

use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// A port on loopback for the answer to one login.
#[derive(Debug)]
pub struct Redirect {
    listener: TcpListener,
    address: String,
}

impl Redirect {
    /// Listens on 127.0.0.1, at a port that is free or at the one that is registered with the authorization server.
    ///
    /// # Errors
    /// When the port is taken.
    pub async fn bind(port: Option<u16>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", port.unwrap_or(0))).await?;
        let address = format!("http://127.0.0.1:{}{PATH}", listener.local_addr()?.port());
        Ok(Self { listener, address })
    }

    /// The address to which the authorization server sends the person's browser.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Waits for the answer that has this `state`: the whole address that was asked for. Other requests are refused, and too many of them
    /// end it. The port is closed then.
    ///
    /// # Errors
    /// When no connection can be taken any more, or after a hundred requests that were no answer.
    pub async fn answer(self, state: &str) -> io::Result<String> {
        let mut asked = JoinSet::new();
        let mut left = MAX_REQUESTS;
        loop {
            tokio::select! {
                // Browsers open connections that they use later, or never.
                taken = self.listener.accept() => {
                    left -= 1;
                    let (address, state) = (self.address.clone(), state.to_owned());
                    asked.spawn(tokio::time::timeout(PATIENCE, hear(taken?.0, address, state)));
                }
                Some(heard) = asked.join_next() => {
                    if let Ok(Ok(Some(answer))) = heard {
                        return Ok(answer);
                    }
                }
            }
            if left == 0 {
                return Err(io::Error::other(format!("{MAX_REQUESTS} requests came that are not the answer")));
            }
        }
    }
}

/// The address that a request asks for, if it is the answer.
async fn hear(mut stream: TcpStream, own: String, state: String) -> Option<String> {
    let mut head = Vec::new();
    let mut part = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = stream.read(&mut part).await.ok().filter(|count| *count > 0)?;
        head.extend_from_slice(part.get(..count)?);
        if head.len() > HEAD_LIMIT_BYTES {
            return None;
        }
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let asked = head.lines().next().and_then(|line| line.strip_prefix("GET ")).and_then(|line| line.split(' ').next());
    let answer = asked.and_then(|path| Some(format!("{}{}", own.strip_suffix(PATH)?, path)));
    let answer = answer.filter(|answer| is_answer(answer, &own, &state));
    let (status, body) = match answer {
        Some(_) => ("200 OK", "The agent has its answer. You can close this window.\n"),
        None => ("404 Not Found", "Nothing is here.\n"),
    };
    let length = body.len();
    let reply = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {length}\r\ncache-control: no-store\r\nconnection: close\r\n\r\n{body}"
    );
    // The answer counts, whether its sender reads on or not.
    let _ = stream.write_all(reply.as_bytes()).await;
    let _ = stream.shutdown().await;
    answer
}

/// Whether an address is this login's answer.
fn is_answer(address: &str, own: &str, state: &str) -> bool {
    let parsed = reqwest::Url::parse(address).ok();
    let (Some(answer), Ok(own)) = (parsed, reqwest::Url::parse(own)) else { return false };
    let mut states = answer.query_pairs().filter(|(name, _)| name == "state");
    let is_same = states.next().is_some_and(|(_, found)| found == state) && states.next().is_none();
    is_same && answer.path() == own.path() && answer.host() == own.host() && answer.port() == own.port()
}

const PATH: &str = "/callback";
const MAX_REQUESTS: usize = 100;
const HEAD_LIMIT_BYTES: usize = 64 * 1024;
const PATIENCE: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::Redirect;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;

    async fn get(port: &str, request: &str) -> String {
        let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut reply = String::new();
        let _ = stream.read_to_string(&mut reply).await;
        reply
    }

    #[tokio::test]
    async fn one_answer_is_taken_and_the_port_is_closed() {
        let redirect = Redirect::bind(None).await.unwrap();
        let address = redirect.address().to_owned();
        let port = address.trim_end_matches("/callback").rsplit(':').next().unwrap().to_owned();
        let waiting = tokio::spawn(redirect.answer("right"));
        // One that says nothing holds nobody up.
        let _idle = TcpStream::connect(format!("127.0.0.1:{port}")).await.unwrap();
        for wrong in [
            "GET /favicon.ico HTTP/1.1\r\n\r\n",
            "GET /callback?code=c&state=wrong HTTP/1.1\r\n\r\n",
            "GET /callback?code=c HTTP/1.1\r\n\r\n",
            "GET /callback?code=c&state=right&state=wrong HTTP/1.1\r\n\r\n",
            "GET @evil.example/callback?state=right HTTP/1.1\r\n\r\n",
            "POST /callback?code=c&state=right HTTP/1.1\r\n\r\n",
        ] {
            assert!(get(&port, wrong).await.contains("404"), "{wrong}");
        }
        let right = "GET /callback?code=c&state=right HTTP/1.1\r\nhost: x\r\n\r\n";
        assert!(get(&port, right).await.contains("200 OK"));
        assert_eq!(waiting.await.unwrap().unwrap(), format!("{address}?code=c&state=right"));
        assert!(TcpStream::connect(format!("127.0.0.1:{port}")).await.is_err(), "the port is closed");
    }

    #[tokio::test]
    async fn what_floods_the_port_ends_the_login() {
        let redirect = Redirect::bind(None).await.unwrap();
        let port = redirect.listener.local_addr().unwrap().port().to_string();
        let waiting = tokio::spawn(redirect.answer("right"));
        for _ in 0..100 {
            drop(TcpStream::connect(format!("127.0.0.1:{port}")).await);
        }
        assert!(waiting.await.unwrap().unwrap_err().to_string().contains("not the answer"));
    }
}
