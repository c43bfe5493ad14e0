//! What a scripted provider does, call by call.

use crate::reply::Reply;
use agent_core::llm::{LlmError, LlmRequest};
use serde_json::Value;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// What a scripted provider does, one step a model call.
///
/// ```
/// # use agent_testkit::{Reply, Script};
/// # use agent_core::llm::{LlmError, LlmErrorKind};
/// # use serde_json::json;
/// let script = Script::new()
///     .call("read_file", json!({"path": "a.rs"}))                    // first call: one tool call
///     .error(LlmError::new(LlmErrorKind::Overloaded, "overloaded"))  // second: refused
///     .answer(Reply::new().thinking("hm").text("Done."));            // third: thinking and text
/// ```
#[derive(Clone, Debug, Default)]
pub struct Script {
    steps: VecDeque<Step>,
}

impl Script {
    /// A script without steps: every call is refused as "script exhausted".
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The next call is answered with this text, which ends the turn.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.answer(Reply::new().text(text))
    }

    /// The next call is answered with one tool call.
    #[must_use]
    pub fn call(self, name: impl Into<String>, arguments: impl Into<Value>) -> Self {
        self.answer(Reply::new().call(name, arguments))
    }

    /// The next call is answered like this.
    #[must_use]
    pub fn answer(self, reply: Reply) -> Self {
        self.step(Step::Answer(reply))
    }

    /// The next call is refused.
    #[must_use]
    pub fn error(self, error: LlmError) -> Self {
        self.step(Step::Refuse(error))
    }

    /// The next answer breaks off with an error after so many deltas.
    #[must_use]
    pub fn error_after(self, reply: Reply, deltas: usize, error: LlmError) -> Self {
        self.step(Step::Break { reply, deltas, error })
    }

    /// The next answer's stream ends after so many deltas without the whole answer: what a provider must never do.
    #[must_use]
    pub fn end_after(self, reply: Reply, deltas: usize) -> Self {
        self.step(Step::End { reply, deltas })
    }

    /// The next answer stalls after so many deltas, until its stream is dropped.
    #[must_use]
    pub fn stall_after(self, reply: Reply, deltas: usize) -> Self {
        self.step(Step::Stall { reply, deltas })
    }

    /// The next call is not even accepted, until its future is dropped.
    #[must_use]
    pub fn hang(self) -> Self {
        self.step(Step::Hang)
    }

    /// The next call does what the function makes of its request.
    #[must_use]
    pub fn respond(self, with: impl Fn(&LlmRequest) -> Step + Send + Sync + 'static) -> Self {
        self.step(Step::respond(with))
    }

    /// Adds any step.
    #[must_use]
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push_back(step);
        self
    }

    pub(crate) fn next(&mut self) -> Option<Step> {
        self.steps.pop_front()
    }

    pub(crate) fn len(&self) -> usize {
        self.steps.len()
    }
}

impl FromIterator<Step> for Script {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        Self { steps: steps.into_iter().collect() }
    }
}

/// What a scripted provider does with one model call.
#[derive(Clone)]
#[non_exhaustive]
pub enum Step {
    /// It answers.
    Answer(Reply),
    /// It does not accept the request.
    Refuse(LlmError),
    /// Its answer breaks off with an error.
    Break {
        /// The answer that would have come.
        reply: Reply,
        /// How many deltas of it come; all of them when there are fewer.
        deltas: usize,
        /// What comes then.
        error: LlmError,
    },
    /// Its stream ends without the whole answer.
    End {
        /// The answer that would have come.
        reply: Reply,
        /// How many deltas of it come; all of them when there are fewer.
        deltas: usize,
    },
    /// Its stream stalls until it is dropped.
    Stall {
        /// The answer that would have come.
        reply: Reply,
        /// How many deltas of it come; all of them when there are fewer.
        deltas: usize,
    },
    /// It neither accepts nor refuses the request, until the future is dropped.
    Hang,
    /// It does what the function makes of the request.
    Respond(Respond),
}

/// A function from a request to what is done with it.
pub type Respond = Arc<dyn Fn(&LlmRequest) -> Step + Send + Sync>;

impl Step {
    /// Does what the function makes of the request.
    #[must_use]
    pub fn respond(with: impl Fn(&LlmRequest) -> Self + Send + Sync + 'static) -> Self {
        Self::Respond(Arc::new(with))
    }

    /// The step without functions. One that answers with itself forever is the test's own fault.
    pub(crate) fn resolve(self, request: &LlmRequest) -> Self {
        let mut step = self;
        while let Self::Respond(with) = &step {
            step = with(request);
        }
        step
    }
}

impl From<Reply> for Step {
    fn from(reply: Reply) -> Self {
        Self::Answer(reply)
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer(reply) => f.debug_tuple("Answer").field(reply).finish(),
            Self::Refuse(error) => f.debug_tuple("Refuse").field(error).finish(),
            Self::Break { deltas, error, .. } => {
                f.debug_struct("Break").field("deltas", deltas).field("error", error).finish_non_exhaustive()
            }
            Self::End { deltas, .. } => f.debug_struct("End").field("deltas", deltas).finish_non_exhaustive(),
            Self::Stall { deltas, .. } => f.debug_struct("Stall").field("deltas", deltas).finish_non_exhaustive(),
            Self::Hang => f.write_str("Hang"),
            Self::Respond(_) => f.write_str("Respond(..)"),
        }
    }
}
