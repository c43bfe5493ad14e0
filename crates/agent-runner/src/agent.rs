//! The shortest way to embed a session: ask and wait for the outcome.

use crate::builder::{BuildError, Builder};
use crate::end::End;
use crate::inbox::Handle;
use crate::notice::{Notice, Notices};
use agent_core::agent::{self as core, Doing};
use agent_core::session::Outcome;
use tokio::task::JoinHandle;

/// A running session and the host's two ends of it.
pub struct Agent {
    handle: Handle,
    notices: Notices,
    task: JoinHandle<(End, core::Agent)>,
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
    /// [`AgentError::Refused`] when the session does not take the message, [`AgentError::Ended`] when it ended before the prompt.
    pub async fn ask(&mut self, text: &str, mut see: impl FnMut(&Notice)) -> Result<Outcome, AgentError> {
        self.handle.input(text);
        let sent = self.handle.sent();
        let mut last = None;
        while let Some(notice) = self.notices.recv().await {
            see(&notice);
            match notice {
                Notice::Refused(rejected) if matches!(rejected.event(), INPUT | MESSAGE) => {
                    return Err(AgentError::Refused(rejected));
                }
                Notice::Prompt { outcome, .. } => last = outcome,
                Notice::Doing { doing: Doing::Idle, taken } if taken >= sent => {
                    if let Some(outcome) = last {
                        return Ok(outcome);
                    }
                }
                _ => {}
            }
        }
        Err(AgentError::Ended)
    }

    /// The end for sending, to cancel from elsewhere.
    #[must_use]
    pub const fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Detaches from the session and returns it in its present state.
    ///
    /// # Errors
    /// [`AgentError::Ended`] when the runner's task did not end by itself.
    pub async fn finish(mut self) -> Result<(End, core::Agent), AgentError> {
        self.handle.detach();
        (&mut self.task).await.map_err(|_| AgentError::Ended)
    }
}

/// Dropping the agent detaches from its session; nothing continues without the host.
impl Drop for Agent {
    fn drop(&mut self) {
        self.handle.detach();
    }
}

/// Why an agent does not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The session ended, or its journal could not be written.
    #[error("ask the agent: its session has ended")]
    Ended,
    /// The agent did not take the message.
    #[error("ask the agent: the message was refused: {0}")]
    Refused(core::Rejected),
}

/// The names of a message in refusals: by a session, and by what binds it.
const INPUT: &str = "UserInput";
const MESSAGE: &str = "InputReceived";
