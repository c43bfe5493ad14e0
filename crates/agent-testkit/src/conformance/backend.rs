//! The other side of a provider: a service that does what a check says.

use crate::http::{ScriptedServer, Step};
use crate::reply::Reply;
use agent_core::ports::LlmProvider;
use async_trait::async_trait;
use std::sync::Arc;

/// What a service does with one request.
#[derive(Clone, Debug, PartialEq)]
pub enum Scene {
    /// It answers.
    Answer(Reply),
    /// It begins this answer and breaks the connection after so many events or pieces, as its protocol counts them.
    Break(Reply, usize),
    /// It begins this answer and ends the response properly after so many: half an answer in a whole response.
    Truncate(Reply, usize),
    /// It begins this answer and sends nothing more after so many, until the provider goes.
    Stall(Reply, usize),
    /// It refuses, in the way that HTTP knows by this status.
    Refuse {
        /// The status.
        status: u16,
        /// How long it asks to wait, in seconds.
        retry_after_s: Option<u32>,
    },
    /// It answers with something that is not its protocol.
    Garbage,
}

/// A service and the provider that talks to it.
#[async_trait]
pub trait Backend: Send + Sync {
    /// Starts the service with these scenes, one a request.
    ///
    /// # Errors
    /// Why it could not be started.
    async fn open(&self, scenes: Vec<Scene>) -> Result<Box<dyn Stage>, String>;
}

/// A service that was started. Dropping it ends it.
#[async_trait]
pub trait Stage: Send + Sync {
    /// The provider that talks to it.
    fn provider(&self) -> Arc<dyn LlmProvider>;

    /// What was wrong with the requests so far.
    fn violations(&self) -> Vec<String>;

    /// Resolves when the provider has left a streamed answer before its end and the service has noticed.
    async fn until_left(&self);
}

/// A provider that speaks a protocol of the [`ScriptedServer`].
pub struct HttpBackend<F> {
    connect: F,
}

impl<F: Fn(&ScriptedServer) -> Arc<dyn LlmProvider> + Send + Sync> HttpBackend<F> {
    /// The function makes the provider for a server, given its base URL.
    pub const fn new(connect: F) -> Self {
        Self { connect }
    }
}

#[async_trait]
impl<F: Fn(&ScriptedServer) -> Arc<dyn LlmProvider> + Send + Sync> Backend for HttpBackend<F> {
    async fn open(&self, scenes: Vec<Scene>) -> Result<Box<dyn Stage>, String> {
        let server = ScriptedServer::start(scenes.into_iter().map(step)).await;
        let server = server.map_err(|error| format!("the server could not be started: {error}"))?;
        let provider = (self.connect)(&server);
        Ok(Box::new(HttpStage { server, provider }))
    }
}

struct HttpStage {
    server: ScriptedServer,
    provider: Arc<dyn LlmProvider>,
}

#[async_trait]
impl Stage for HttpStage {
    fn provider(&self) -> Arc<dyn LlmProvider> {
        Arc::clone(&self.provider)
    }

    fn violations(&self) -> Vec<String> {
        self.server.violations()
    }

    async fn until_left(&self) {
        self.server.wait_for_abandoned(1).await;
    }
}

fn step(scene: Scene) -> Step {
    match scene {
        Scene::Answer(reply) => Step::answer(reply),
        Scene::Break(reply, events) => Step::cut(reply, events),
        Scene::Truncate(reply, events) => Step::truncated(reply, events),
        Scene::Stall(reply, events) => Step::stall(reply, events),
        Scene::Refuse { status, retry_after_s } => {
            let refusal = Step::status(status);
            match retry_after_s {
                Some(seconds) => refusal.header("retry-after", seconds.to_string()),
                None => refusal,
            }
        }
        Scene::Garbage => Step::garbage(),
    }
}
