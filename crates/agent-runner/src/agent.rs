//! The shortest way to embed a session: ask and wait for the outcome.

use crate::builder::{BuildError, Builder};
use crate::notice::{Notice, Notices};
use crate::runner::{End, Handle};
use agent_core::session::{Outcome, Session};
use tokio::task::JoinHandle;

/// A running session and the host's two ends of it.
pub struct Agent {
    handle: Handle,
    notices: Notices,
    task: JoinHandle<(End, Session)>,
}

impl Agent {
    /// Starts a session on the current tokio runtime.
    ///
    /// # Errors
    /// [`BuildError`] as from [`Builder::build`].
    pub fn start(builder: Builder) -> Result<Self, BuildError> {
        let (runner, handle, notices) = builder.build()?;
        Ok(Self { handle, notices, task: tokio::spawn(runner.run()) })
    }

    /// Sends a message and waits for the prompt after it. `see` is shown everything that happens meanwhile.
    ///
    /// # Errors
    /// [`AgentError::Ended`] when the session ended before.
    pub async fn ask(&mut self, text: &str, mut see: impl FnMut(&Notice)) -> Result<Outcome, AgentError> {
        self.handle.input(text);
        while let Some(notice) = self.notices.recv().await {
            see(&notice);
            // The first prompt of a session stands before any run and has no outcome.
            if let Notice::Prompt { outcome: Some(outcome), .. } = notice {
                return Ok(outcome);
            }
        }
        Err(AgentError::Ended)
    }

    /// The end for sending, to cancel from elsewhere.
    #[must_use]
    pub const fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Leaves the session and returns it as it stands.
    ///
    /// # Errors
    /// [`AgentError::Ended`] when the runner's task did not end by itself.
    pub async fn finish(self) -> Result<(End, Session), AgentError> {
        self.handle.detach();
        self.task.await.map_err(|_| AgentError::Ended)
    }
}

/// Why an agent does not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The session ended, or its journal could not be written.
    #[error("ask the agent: its session has ended")]
    Ended,
}
