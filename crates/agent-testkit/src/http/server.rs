//! The server: a listener on loopback, its connections, and what a test can ask it.

use super::record::RecordedRequest;
use super::respond::respond;
use super::step::Step;
use crate::log::{Log, lock};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::collections::{BTreeSet, VecDeque};
use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};

/// A scripted model behind a real HTTP server on a free port of 127.0.0.1. Dropping it closes the port and every connection.
///
/// ```no_run
/// # use agent_testkit::http::{ScriptedServer, Step};
/// # async fn example() -> std::io::Result<()> {
/// let server = ScriptedServer::start([
///     Step::status(429).header("retry-after", "2"),
///     Step::text("Hello."),
/// ])
/// .await?;
/// // … a client talks to `server.url()` …
/// assert_eq!(server.requests().len(), 2);
/// assert!(server.violations().is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct ScriptedServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    listening: AbortHandle,
}

impl ScriptedServer {
    /// Starts a server that uses one step a model request. A request beyond the script is a violation: "script exhausted".
    ///
    /// # Errors
    /// When the port cannot be opened.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O and time.
    pub async fn start(steps: impl IntoIterator<Item = Step>) -> io::Result<Self> {
        Self::serve(Source::Script(Mutex::new(steps.into_iter().collect()))).await
    }

    /// Starts a server that does with every model request, however many there are, what the function makes of its body.
    ///
    /// # Errors
    /// When the port cannot be opened.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O and time.
    pub async fn start_with(respond: impl Fn(&Value) -> Step + Send + Sync + 'static) -> io::Result<Self> {
        Self::serve(Source::Function(Step::respond(respond))).await
    }

    /// Its base URL as Anthropic clients want it, without `/v1` and without a slash at the end.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Its base URL as OpenAI clients want it, with `/v1`.
    #[must_use]
    pub fn openai_url(&self) -> String {
        format!("{}/v1", self.url())
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on a history may have calls of these tools, although none is offered: another program's conversation is continued.
    pub fn knows_calls_of<'a>(&self, names: impl IntoIterator<Item = &'a str>) {
        names.into_iter().for_each(|name| self.shared.note_called(name));
    }

    /// The requests so far, wrong ones too. A request is recorded when all of it has arrived.
    #[must_use]
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.requests.all()
    }

    /// Resolves when at least so many requests have arrived.
    pub async fn wait_for_requests(&self, count: usize) {
        self.shared.requests.wait_for(count).await;
    }

    /// What was wrong with requests so far: what the real service would have refused, and requests beyond the script. A test of a
    /// client wants none.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        let requests = self.shared.requests.all();
        requests.into_iter().filter_map(|request| request.violation).collect()
    }

    /// Connections that were opened so far.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Streamed answers that the client left before their end, as far as the server has noticed.
    #[must_use]
    pub fn abandoned(&self) -> usize {
        *self.shared.abandoned.borrow()
    }

    /// Resolves when the client has left at least so many streamed answers before their end.
    pub async fn wait_for_abandoned(&self, count: usize) {
        let mut abandoned = self.shared.abandoned.subscribe();
        // The sender lives in `shared`, so waiting cannot fail.
        let _ = abandoned.wait_for(|abandoned| *abandoned >= count).await;
    }

    /// Steps that no request has used yet; 0 for a server made of a function.
    #[must_use]
    pub fn steps_left(&self) -> usize {
        match &self.shared.source {
            Source::Script(steps) => lock(steps).len(),
            Source::Function(_) => 0,
        }
    }

    async fn serve(source: Source) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::new(source));
        let listening = tokio::spawn(listen(listener, Arc::clone(&shared))).abort_handle();
        Ok(Self { address, shared, listening })
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        // The connections belong to this task and go with it.
        self.listening.abort();
    }
}

async fn listen(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                // A connection that broke before it was accepted is its client's affair.
                let Ok((stream, _)) = accepted else { continue };
                let number = shared.connections.fetch_add(1, Ordering::SeqCst) + 1;
                connections.spawn(converse(stream, number, Arc::clone(&shared)));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn converse(stream: TcpStream, connection: usize, shared: Arc<Shared>) {
    // Small events are to arrive when they are sent, not when a packet is full.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(respond(&shared, connection, request).await) }
    });
    // A connection ends with an error when the script cuts it or the client goes: both are what tests are about.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

/// What the listener, its connections and the test share.
pub(super) struct Shared {
    source: Source,
    requests: Log<RecordedRequest>,
    connections: AtomicUsize,
    abandoned: watch::Sender<usize>,
    played: AtomicUsize,
    /// Names of tools that answers of this server have called, offered or not.
    called: Mutex<BTreeSet<String>>,
}

/// Where the next step comes from.
enum Source {
    Script(Mutex<VecDeque<Step>>),
    Function(Step),
}

impl Shared {
    fn new(source: Source) -> Self {
        Self {
            source,
            requests: Log::default(),
            connections: AtomicUsize::new(0),
            abandoned: watch::Sender::new(0),
            played: AtomicUsize::new(0),
            called: Mutex::default(),
        }
    }

    pub(super) fn record(&self, request: RecordedRequest) {
        self.requests.push(request);
    }

    pub(super) fn note_abandoned(&self) {
        self.abandoned.send_modify(|abandoned| *abandoned += 1);
    }

    pub(super) fn next_step(&self) -> Option<Step> {
        match &self.source {
            Source::Script(steps) => lock(steps).pop_front(),
            Source::Function(step) => Some(step.clone()),
        }
    }

    /// The number of the next answer, from 1.
    pub(super) fn next_answer(&self) -> usize {
        self.played.fetch_add(1, Ordering::SeqCst) + 1
    }

    pub(super) fn note_called(&self, name: &str) {
        lock(&self.called).insert(name.to_owned());
    }

    pub(super) fn called(&self) -> BTreeSet<String> {
        lock(&self.called).clone()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("requests", &self.requests.len())
            .field("connections", &self.connections)
            .finish_non_exhaustive()
    }
}
