//! The servers of a session: started in the background, and told apart from the session's own tools by their names alone.

use crate::config::project;
use crate::config::settings::Settings;
use crate::failure::Failure;
use crate::mcp::launch::InSandbox;
use crate::mcp::results::InWorkspace;
use crate::mcp::store;
use crate::model::secrets;
use crate::screen::form::told as told_of;
use crate::screen::terminal::inline;
use agent_core::llm::{LlmError, LlmRequest};
use agent_core::ports::{LlmProvider, LlmStream, PictureKeeper, Tool};
use agent_mcp::{Change, Launcher, Offers, Outside, Reply, Servers};
use agent_runner::Handle;
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::{OnceCell, mpsc};

/// The servers of a session, and what is told of them.
pub(crate) struct Mcp {
    pub(crate) servers: Arc<Servers>,
    changes: mpsc::UnboundedReceiver<Change>,
    /// Tools that came while the agent worked.
    waiting: Vec<Arc<dyn Tool>>,
    /// What each server offers to a person, as far as it is known.
    pub(crate) offers: BTreeMap<String, Offers>,
}

impl Mcp {
    /// Gets the servers of these settings ready to be started; nothing where there are none. The tools are those that are known of them
    /// already.
    pub(crate) fn start(settings: &Settings, pictures: Arc<dyn PictureKeeper>) -> Option<(Self, Vec<Arc<dyn Tool>>)> {
        if settings.servers.is_empty() {
            return None;
        }
        let store = store()?;
        let launcher: Arc<dyn Launcher> = Arc::new(InSandbox::of(settings));
        let results = Arc::new(InWorkspace(settings.directory.clone(), secrets::redactor()));
        let outside = Outside { pictures: Some(pictures), results };
        let root = project::root(&settings.directory);
        let (servers, tools, changes) = Servers::open(settings.servers.clone(), &root, &store, &launcher, outside);
        Some((Self { servers: Arc::new(servers), changes, waiting: Vec::new(), offers: BTreeMap::new() }, tools))
    }

    /// The next thing that is told.
    pub(crate) async fn next(&mut self) -> Option<Change> {
        self.changes.recv().await
    }

    /// Takes in what was told: the line to show, if it is one. Tools are offered at once, or wait until the agent rests.
    pub(crate) fn take(&mut self, change: Change, rests: bool, handle: &Handle) -> Option<String> {
        match change {
            Change::Said(text) => return Some(inline(&text)),
            Change::Offers(offers) => {
                self.offers.insert(offers.server.clone(), offers);
                return None;
            }
            Change::Asked(question) => {
                let told = inline(&format!("{}: declined, nobody is there to answer", told_of(&question)));
                question.answer(Reply::Decline);
                return Some(told);
            }
            Change::Tools(tools) => self.waiting.extend(tools),
            Change::Found(tools, offered) => {
                handle.offer(tools);
                // Who searched may have been stopped.
                let _ = offered.send(());
                return None;
            }
        }
        if rests {
            self.offer(handle);
        }
        None
    }

    /// Offers what waited.
    pub(crate) fn offer(&mut self, handle: &Handle) {
        if !self.waiting.is_empty() {
            handle.offer(std::mem::take(&mut self.waiting));
        }
    }

    /// Waits for the servers that the first turn needs, for a moment for those that were never used, and offers what has come until then.
    /// Lines to show come with it.
    ///
    /// # Errors
    /// Names those that are not there in their time.
    pub(crate) async fn required(&mut self, handle: &Handle) -> (Vec<String>, Result<(), Failure>) {
        let missing = self.servers.required().await;
        self.servers.first_known().await;
        let mut told = Vec::new();
        while let Ok(change) = self.changes.try_recv() {
            told.extend(self.take(change, true, handle));
        }
        let named: Vec<String> = missing.iter().map(|(name, why)| format!("{name}: {why}")).collect();
        let result = match named.as_slice() {
            [] => Ok(()),
            named => Err(Failure::config(format!("a required MCP server is not ready: {}", named.join("; ")))),
        };
        (told, result)
    }

    /// Ends the servers.
    pub(crate) async fn stop(&self) {
        self.servers.stop().await;
    }
}

/// What is told next, where there are servers.
pub(crate) async fn told(mcp: Option<&mut Mcp>) -> Change {
    let next = match mcp {
        Some(mcp) => mcp.next().await,
        None => None,
    };
    match next {
        Some(change) => change,
        None => std::future::pending().await,
    }
}

/// A model that is asked only when the servers are there that the first turn needs, or will not come.
pub(crate) struct Awaiting {
    provider: Arc<dyn LlmProvider>,
    servers: Arc<Servers>,
    is_awaited: OnceCell<()>,
}

impl Awaiting {
    pub(crate) fn new(provider: Arc<dyn LlmProvider>, servers: Arc<Servers>) -> Self {
        Self { provider, servers, is_awaited: OnceCell::new() }
    }
}

#[async_trait]
impl LlmProvider for Awaiting {
    fn dialect(&self) -> &str {
        self.provider.dialect()
    }

    async fn stream(&self, request: LlmRequest) -> Result<LlmStream, LlmError> {
        // Those that are not there are told of elsewhere.
        self.is_awaited.get_or_init(|| async { drop(self.servers.required().await) }).await;
        self.provider.stream(request).await
    }
}
