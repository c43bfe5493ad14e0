//! What the scripted server does with one model request.

use crate::reply::Reply;
use serde_json::Value;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// What the scripted server does with one model request.
#[derive(Clone)]
pub struct Step {
    pub(super) kind: Kind,
    /// How long it waits before it sends anything.
    pub(super) delay: Duration,
}

#[derive(Clone)]
pub(super) enum Kind {
    Answer { reply: Reply, ending: Ending },
    Status { status: u16, headers: Vec<(String, String)>, body: Option<String> },
    Body { content_type: String, body: String },
    Hang,
    Respond(Arc<dyn Fn(&Value) -> Step + Send + Sync>),
}

/// How a streamed answer ends. Numbers count server-sent events, the opening one included.
#[derive(Clone, Debug)]
pub(super) enum Ending {
    Complete,
    /// The connection breaks.
    Cut {
        events: usize,
    },
    /// The response ends properly, the answer in it does not.
    Truncated {
        events: usize,
    },
    /// Nothing more comes.
    Stall {
        events: usize,
    },
    /// An error event comes.
    Error {
        events: usize,
        kind: String,
        message: String,
    },
}

impl Step {
    /// Answers with this text, which ends the turn.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::answer(Reply::new().text(text))
    }

    /// Answers with one tool call.
    #[must_use]
    pub fn call(name: impl Into<String>, arguments: impl Into<Value>) -> Self {
        Self::answer(Reply::new().call(name, arguments))
    }

    /// Answers like this.
    #[must_use]
    pub fn answer(reply: Reply) -> Self {
        Self::ending(reply, Ending::Complete)
    }

    /// Begins this answer and breaks the connection after so many server-sent events.
    #[must_use]
    pub fn cut(reply: Reply, events: usize) -> Self {
        Self::ending(reply, Ending::Cut { events })
    }

    /// Begins this answer and ends the response after so many server-sent events: proper HTTP, but half an answer.
    #[must_use]
    pub fn truncated(reply: Reply, events: usize) -> Self {
        Self::ending(reply, Ending::Truncated { events })
    }

    /// Begins this answer and sends nothing more after so many server-sent events, until the client goes.
    #[must_use]
    pub fn stall(reply: Reply, events: usize) -> Self {
        Self::ending(reply, Ending::Stall { events })
    }

    /// Begins this answer and reports an error of this kind (such as `overloaded_error`) after so many server-sent events.
    #[must_use]
    pub fn error_after(reply: Reply, events: usize, kind: impl Into<String>, message: impl Into<String>) -> Self {
        let (kind, message) = (kind.into(), message.into());
        Self::ending(reply, Ending::Error { events, kind, message })
    }

    /// Answers with an HTTP status and the error body that the wire format has for it. A number that is no HTTP status counts as 500.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self::new(Kind::Status { status, headers: Vec::new(), body: None })
    }

    /// Adds a header such as `retry-after` to a [`status`](Self::status); other steps stay as they are.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Kind::Status { headers, .. } = &mut self.kind {
            headers.push((name.into(), value.into()));
        }
        self
    }

    /// Gives a [`status`](Self::status) this body; other steps stay as they are.
    #[must_use]
    pub fn with_body(mut self, text: impl Into<String>) -> Self {
        if let Kind::Status { body, .. } = &mut self.kind {
            *body = Some(text.into());
        }
        self
    }

    /// Answers 200 with this body, whatever it is: a proxy's login page, say.
    #[must_use]
    pub fn body(content_type: impl Into<String>, body: impl Into<String>) -> Self {
        Self::new(Kind::Body { content_type: content_type.into(), body: body.into() })
    }

    /// Answers with a stream of events that are no JSON.
    #[must_use]
    pub fn garbage() -> Self {
        Self::body("text/event-stream", "event: message_start\ndata: {\"type\": \u{fffd}\n\ndata: <html>\n\n")
    }

    /// Takes the request and never answers, until the client goes.
    #[must_use]
    pub const fn hang() -> Self {
        Self::new(Kind::Hang)
    }

    /// Does what the function makes of the request's body.
    #[must_use]
    pub fn respond(with: impl Fn(&Value) -> Self + Send + Sync + 'static) -> Self {
        Self::new(Kind::Respond(Arc::new(with)))
    }

    /// Waits so long before it sends anything, response headers included.
    #[must_use]
    pub const fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// The step without functions; the delays of those on the way are added up.
    pub(super) fn resolve(self, request: &Value) -> Self {
        let mut step = self;
        while let Kind::Respond(with) = &step.kind {
            let next = with(request);
            let delay = step.delay.saturating_add(next.delay);
            step = next.after(delay);
        }
        step
    }

    const fn new(kind: Kind) -> Self {
        Self { kind, delay: Duration::ZERO }
    }

    const fn ending(reply: Reply, ending: Ending) -> Self {
        Self::new(Kind::Answer { reply, ending })
    }
}

impl From<Reply> for Step {
    fn from(reply: Reply) -> Self {
        Self::answer(reply)
    }
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Answer { reply, ending } => {
                f.debug_struct("Answer").field("reply", reply).field("ending", ending).finish()
            }
            Kind::Status { status, .. } => f.debug_tuple("Status").field(status).finish(),
            Kind::Body { content_type, .. } => f.debug_tuple("Body").field(content_type).finish(),
            Kind::Hang => f.write_str("Hang"),
            Kind::Respond(_) => f.write_str("Respond(..)"),
        }
    }
}
