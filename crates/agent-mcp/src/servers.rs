//! All servers of a session, and a server that is only tried.

use crate::ask::Question;
use crate::client::connection::{CallRequest, Connection, Ended};
use crate::client::driver::{self, Needs};
use crate::client::offer::recorded;
use crate::client::process::Log;
use crate::client::run;
use crate::client::status::Status;
use crate::client::wanted::{Offers, Wanted};
use crate::client::wire::Ear;
use crate::content::ResultKeeper;
use crate::shelf::Shelf;
use crate::trust::{Identity, Record, TrustStore};
use crate::{Account, Endpoint, Exposure, ServerConfig, Source};
use agent_core::ports::{Command, PictureKeeper, ProgressSink, Tool};
use agent_core::server::CallEnd;
use agent_exec::Processes;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

/// Starts servers: who knows programs, sandboxes and the environment. Called on threads that may wait.
pub trait Launcher: Send + Sync {
    /// What identifies the server now. Files that `known` has with the same stamp need not be read.
    ///
    /// # Errors
    /// Why it cannot be started, in words: no such program, a variable that is not set.
    fn identity(&self, config: &ServerConfig, known: Option<&Identity>) -> Result<Identity, String>;

    /// What starts it, in its sandbox, and the command; or what asks it.
    ///
    /// # Errors
    /// Why it cannot be started, in words.
    fn launch(&self, config: &ServerConfig) -> Result<Launched, String>;

    /// The directories that programs are told when they ask where they work (`roots/list`), absolute. Servers elsewhere are told none.
    fn roots(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// What starts or asks a server.
#[derive(Debug)]
pub enum Launched {
    /// A program and what starts it.
    Program(Processes, Command),
    /// A URL and what asks it, with the login there, if there may be one. The client follows no redirect: it would carry what is secret to
    /// another host.
    Url(reqwest::Client, Endpoint, Option<Account>),
}

/// Where results of calls go.
pub struct Outside {
    /// Keeps pictures; without one they are not shown.
    pub pictures: Option<Arc<dyn PictureKeeper>>,
    /// Keeps whole results.
    pub results: Arc<dyn ResultKeeper>,
}

impl std::fmt::Debug for Outside {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outside").finish_non_exhaustive()
    }
}

/// What the host of servers is told.
pub enum Change {
    /// Tools that are new since the session began.
    Tools(Vec<Arc<dyn Tool>>),
    /// Tools that the model searched for: they are offered at once, and then the sender is used, for which the call waits.
    Found(Vec<Arc<dyn Tool>>, oneshot::Sender<()>),
    /// What a server offers to a person, besides its tools.
    Offers(Offers),
    /// A server asks a person something. A host that has nobody to ask drops it.
    Asked(Question),
    /// A line about a server, for people; it may have words of the server in it.
    Said(String),
}

impl std::fmt::Debug for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tools(tools) | Self::Found(tools, _) => {
                f.debug_list().entries(tools.iter().map(|tool| tool.spec().name.clone())).finish()
            }
            Self::Offers(offers) => offers.fmt(f),
            Self::Asked(question) => question.fmt(f),
            Self::Said(text) => f.write_str(text),
        }
    }
}

/// The servers of a session. Dropping it ends them at once; [`stop`](Self::stop) lets them end by themselves.
pub struct Servers {
    each: Vec<(Connection, Mutex<Option<JoinHandle<()>>>)>,
    begin: watch::Sender<bool>,
    shelf: Arc<Shelf>,
}

impl std::fmt::Debug for Servers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.each.iter().map(|(connection, _)| connection.name())).finish()
    }
}

impl Servers {
    /// Gets all servers ready to be [started](Self::start) in the background; a call starts its server, too. The tools are those that are
    /// known from records, in the order of the configuration; what is found later comes as [`Change`]s. `root` is the root of the
    /// repository, for the records of servers that it names. Must be called within a tokio runtime with I/O and time.
    pub fn open(
        configs: Vec<ServerConfig>,
        root: &Path,
        store: &TrustStore,
        launcher: &Arc<dyn Launcher>,
        outside: Outside,
    ) -> (Self, Vec<Arc<dyn Tool>>, mpsc::UnboundedReceiver<Change>) {
        let (changes, told) = mpsc::unbounded_channel();
        let outside = Arc::new(outside);
        let shelf = Shelf::new(changes.clone());
        let (begin, begun) = watch::channel(false);
        let (mut each, mut tools) = (Vec::new(), Vec::new());
        for config in configs {
            let place = place_of(&config, root);
            let known = store.read(&place, &config.name);
            let needs = Needs {
                known,
                config,
                launcher: launcher.clone(),
                outside: outside.clone(),
                shelf: shelf.clone(),
                begun: begun.clone(),
                store: store.clone(),
                place,
                changes: changes.clone(),
            };
            let (connection, known, task) = driver::start(needs);
            tools.extend(known);
            each.push((connection, Mutex::new(Some(task))));
        }
        tools.extend(shelf.searching());
        (Self { each, begin, shelf }, tools, told)
    }

    /// Starts all servers, if they are not started yet. A host does what is more urgent first: ten programs that start take all processors.
    pub fn start(&self) {
        self.begin.send_if_modified(|begin| !std::mem::replace(begin, true));
    }

    /// The tools of these names that are found by searching: a session that is resumed had found them, and goes on with them. Names of
    /// others mean nothing.
    #[must_use]
    pub fn found_before(&self, names: &[&str]) -> Vec<Arc<dyn Tool>> {
        self.shelf.declare(names)
    }

    /// Where each server stands, in the order of the configuration.
    #[must_use]
    pub fn statuses(&self) -> Vec<(ServerConfig, Status)> {
        let of = |connection: &Connection| (connection.config().clone(), connection.status().borrow().clone());
        self.each.iter().map(|(connection, _)| of(connection)).collect()
    }

    /// Starts all, and waits until every server that the first turn needs is there, or will not come for now; each of them bounds that
    /// itself. Those that are not there, with what was found.
    pub async fn required(&self) -> Vec<(String, String)> {
        self.start();
        let mut missing = Vec::new();
        for (connection, _) in self.each.iter().filter(|(connection, _)| connection.config().is_required) {
            let mut status = connection.status();
            // The task that ended has stopped its server.
            let found = status.wait_for(Status::is_decided).await.map(|status| status.clone()).unwrap_or_default();
            if !found.is_ready() {
                let why = found.found.clone().unwrap_or_else(|| "it is not ready".to_owned());
                missing.push((connection.name().to_owned(), format!("{} ({})", found.word(), crate::plain(&why))));
            }
        }
        missing
    }

    /// Starts all, and waits until every server is there of which nothing was known when the session began, so that its tools could not
    /// be declared; or for two seconds, whatever they do.
    pub async fn first_known(&self) {
        self.start();
        let unknown = self.each.iter().filter(|(connection, _)| {
            let config = connection.config();
            config.is_enabled && !connection.was_known() && matches!(config.exposure, Exposure::Auto | Exposure::Direct)
        });
        let all = async {
            for (connection, _) in unknown {
                // The task that ended has stopped its server.
                let _ = connection.status().wait_for(Status::is_decided).await;
            }
        };
        // Those that take longer come later.
        let _ = tokio::time::timeout(FIRST_PATIENCE, all).await;
    }

    /// Starts all, and waits until every server is there, or will not come for now.
    pub async fn decided(&self) {
        self.start();
        for (connection, _) in &self.each {
            // The task that ended has stopped its server.
            let _ = connection.status().wait_for(Status::is_decided).await;
        }
    }

    /// Reads a resource of a server, as text: what is none is told in brackets. Starts the server if it does not run.
    ///
    /// # Errors
    /// Why it cannot be had, in words, of which the server may have chosen some.
    pub async fn resource(&self, server: &str, uri: &str) -> Result<String, String> {
        self.text(server, Wanted::Resource { uri: uri.to_owned() }).await
    }

    /// The text that a server makes of a prompt and what it is given.
    ///
    /// # Errors
    /// As [`resource`](Self::resource).
    pub async fn prompt(&self, server: &str, name: &str, arguments: Map<String, Value>) -> Result<String, String> {
        self.text(server, Wanted::Prompt { name: name.to_owned(), arguments }).await
    }

    async fn text(&self, server: &str, wanted: Wanted) -> Result<String, String> {
        let found = self.each.iter().find(|(connection, _)| connection.name() == server);
        let Some((connection, _)) = found else { return Err(format!("there is no MCP server `{server}`")) };
        self.start();
        let request = CallRequest { wanted, is_repeatable: true, progress: Arc::new(Unheard) };
        let text = match connection.call(request).await {
            Ended::Answer(answer) if answer.is_error => return Err(answer.text()),
            Ended::Answer(answer) => answer.text(),
            Ended::By(end) => return Err(in_words(&end)),
        };
        if text.trim().is_empty() { Err("the server gave nothing".to_owned()) } else { Ok(text) }
    }

    /// Has a server tried again that failed. Whether there is one of this name.
    pub fn restart(&self, name: &str) -> bool {
        let found = self.each.iter().find(|(connection, _)| connection.name() == name);
        found.inspect(|(connection, _)| connection.restart()).is_some()
    }

    /// Ends all servers: each is told, given a moment, and ended.
    pub async fn stop(&self) {
        self.each.iter().for_each(|(connection, _)| connection.stop());
        for (_, task) in &self.each {
            let task = task.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(task) = task {
                // What does not end is ended with the program.
                let _ = tokio::time::timeout(PATIENCE, task).await;
            }
        }
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.each.iter().for_each(|(connection, _)| connection.stop());
    }
}

/// What nobody waits for with a screen.
struct Unheard;

impl ProgressSink for Unheard {
    fn report(&self, _: &str) {}
}

/// Why there is no answer.
fn in_words(end: &CallEnd) -> String {
    match end {
        CallEnd::NotRun { why } | CallEnd::Unknown { why } => crate::plain(why),
        CallEnd::TimedOut { after_ms } => format!("the server did not answer within {after_ms} ms"),
        CallEnd::Cancelled { .. } => "it was stopped".to_owned(),
    }
}

fn place_of(config: &ServerConfig, root: &Path) -> PathBuf {
    match config.source {
        Source::User => PathBuf::new(),
        Source::Repository => root.to_path_buf(),
    }
}

/// What a server said that was only tried.
#[derive(Clone, Debug)]
pub struct Tried {
    /// What would be trusted.
    pub record: Record,
    /// What it calls itself.
    pub peer: Option<String>,
}

impl Servers {
    /// Starts a server, asks for its tools, and ends it. Nothing is recorded; what is told is as the store would have it, without secrets.
    ///
    /// # Errors
    /// Why it did not come, with the end of its log.
    pub async fn try_one(
        config: &ServerConfig,
        launcher: Arc<dyn Launcher>,
        store: &TrustStore,
    ) -> Result<Tried, String> {
        let (looked, of) = (launcher.clone(), config.clone());
        let identity = tokio::task::spawn_blocking(move || looked.identity(&of, None)).await;
        let identity = identity.map_err(|error| error.to_string())??;
        // Nobody is there whom it could ask.
        let ear = Ear { said: mpsc::channel(1).0, secrets: store.secrets().clone() };
        let log = Log::default();
        let (mut life, connecting) = run::begin(config, launcher, &log, ear).await?;
        let limit = Duration::from_millis(config.times.start_ms.saturating_mul(5).max(PATIENCE_TO_TRY_MS));
        let ready = tokio::select! {
            biased;
            ended = life.ended() => return Err(ended),
            ready = connecting.ready() => ready,
            () = tokio::time::sleep(limit) => Err(format!("it did not answer within {} ms", limit.as_millis())),
        };
        let tried = ready.map(|(wire, tools)| {
            let record = Record::new(identity, recorded(tools, store.secrets()));
            Tried { record, peer: wire.peer().map(|peer| store.secrets().redacted(&peer)) }
        });
        life.end().await;
        tried.map_err(|found| match log.end().trim() {
            "" => found,
            log => format!("{found}; it wrote: {log}"),
        })
    }

    /// The record under which a server is known, if there is one.
    #[must_use]
    pub fn known(config: &ServerConfig, root: &Path, store: &TrustStore) -> Option<Record> {
        store.read(&place_of(config, root), &config.name)
    }

    /// Records what a person has reviewed.
    ///
    /// # Errors
    /// When the record cannot be written.
    pub fn trust(config: &ServerConfig, root: &Path, store: &TrustStore, record: &Record) -> std::io::Result<()> {
        store.write(&place_of(config, root), &config.name, record)
    }
}

/// How long the first turn may wait for servers that were never used.
const FIRST_PATIENCE: Duration = Duration::from_secs(2);
/// How long a server may take to end: longer than it is given.
const PATIENCE: Duration = Duration::from_secs(10);
const PATIENCE_TO_TRY_MS: u64 = 60_000;
