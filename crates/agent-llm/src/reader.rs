//! Reads one answer off the wire: body pieces in, deltas out, then the whole answer.
//!
//! ```text
//! Open ──enough──▶ Enough ──end or [DONE]──▶ Ended ──drain──▶ Completed
//!   └── end ──▶ Protocol error      └── end, break, silence ──▶ Completed
//! ```
//!
//! 1. `Completed` comes last and once, and only after the protocol's own sign of completeness.
//! 2. After that sign the rest of the body is read, for a moment, so that the connection can be used again.
//! 3. Waiting is for what says something: comments, pings and half events do not prolong it, and no answer takes longer than the total.
//! 4. Dropping the stream drops the response, which closes the connection.

use crate::client::{Answered, Client};
use crate::failure::Detail;
use crate::intake::{Intake, is_event_stream};
use crate::sse::TooLarge;
use agent_types::llm::{Delta, LlmChunk, LlmError, LlmErrorKind, LlmResponse, PartialAnswer, ResponseBlock, Wait};
use agent_types::ports::LlmStream;
use core::time::Duration;
use futures_util::stream;
use std::collections::VecDeque;
use tokio::time::{Instant, timeout_at};

/// Puts the events of one protocol together to an answer.
pub(crate) trait Assemble: Send + 'static {
    /// Takes in the data of one event.
    fn event(&mut self, data: &[u8], deltas: &mut VecDeque<Delta>) -> Result<Heard, Broken>;

    /// Takes in a whole answer that came as one JSON document.
    fn document(&mut self, json: &[u8]) -> Result<(), Broken>;

    /// How far the answer has come.
    fn progress(&self) -> Progress;

    /// The answer.
    fn finish(&mut self) -> LlmResponse;
}

/// What an event was good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// The answer is being made.
    Something,
    /// No more than that the connection is alive.
    Nothing,
}

/// How far an answer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// If the stream ends now, it was cut.
    Open,
    /// The answer is complete; something like the token count may follow.
    Enough,
    /// Nothing follows.
    Ended,
}

/// Why an answer cannot be completed.
#[derive(Debug)]
pub(crate) enum Broken {
    /// The server said so.
    Reported(Detail),
    /// The stream does not follow the protocol.
    Malformed(String),
}

impl From<TooLarge> for Broken {
    fn from(error: TooLarge) -> Self {
        Self::Malformed(error.to_string())
    }
}

/// Sends a request and gives the stream of its answer.
pub(crate) async fn ask<A: Assemble>(
    client: &Client,
    path: &str,
    model: &str,
    body: serde_json::Result<Vec<u8>>,
    assembly: A,
) -> Result<LlmStream, LlmError> {
    let body = body.map_err(|error| {
        LlmError::new(LlmErrorKind::InvalidRequest, format!("write the request for {model}: {error}"))
    })?;
    read(client.post(path, body).await?, assembly).await
}

pub(crate) async fn read<A: Assemble>(mut answered: Answered, assembly: A) -> Result<LlmStream, LlmError> {
    let mut intake = Intake::new(assembly);
    if answered.content_type_has("json") {
        // The server does not stream, or says so.
        let body = answered.whole_body(ANSWER_LIMIT_BYTES).await?;
        if !is_event_stream(&body) {
            let outcome = intake.assembly.document(&body);
            let outcome =
                outcome.map_err(|broken| error_of(&answered, &broken)).inspect_err(|error| answered.body.failed(error));
            let chunk = outcome.map(|()| LlmChunk::Completed(intake.assembly.finish()));
            return Ok(Box::pin(stream::iter([chunk])));
        }
        let mut reader = Reader::new(answered, intake);
        reader.take(&body);
        if reader.failure.is_none() {
            reader.take_end();
        }
        return Ok(reader.into_stream());
    }
    if answered.content_type_has("html") {
        let body = answered.beginning_of_body().await;
        let found = format!("expected an event stream, found {}; check the base URL", Detail::of_body(&body).message);
        // A page that is given out as the answer is given out again.
        return Err(answered.reporter.error(LlmErrorKind::InvalidRequest, &answered.attempted, &found));
    }
    Ok(Reader::new(answered, intake).into_stream())
}

struct Reader<A> {
    answered: Answered,
    intake: Intake<A>,
    /// Given out after the deltas that came before it.
    failure: Option<LlmError>,
    /// The body has ended.
    at_end: bool,
    bytes_read: usize,
    /// When something came last, whether or not it said anything.
    last_piece: Option<Instant>,
    /// When the next event that says something must have come.
    due: Instant,
    waits_for: Wait,
}

impl<A: Assemble> Reader<A> {
    fn new(answered: Answered, intake: Intake<A>) -> Self {
        Self {
            due: answered.first_byte_due,
            waits_for: Wait::FirstByte,
            answered,
            intake,
            failure: None,
            at_end: false,
            bytes_read: 0,
            last_piece: None,
        }
    }

    fn into_stream(self) -> LlmStream {
        Box::pin(stream::unfold(Some(self), |reader| async {
            let mut reader = reader?;
            match reader.next().await {
                Ok(LlmChunk::Delta(delta)) => Some((Ok(LlmChunk::Delta(delta)), Some(reader))),
                last => Some((last, None)),
            }
        }))
    }

    async fn next(&mut self) -> Result<LlmChunk, LlmError> {
        loop {
            if let Some(delta) = self.intake.deltas.pop_front() {
                return Ok(LlmChunk::Delta(delta));
            }
            if let Some(failure) = self.failure.take() {
                let failure = self.with_partial(failure);
                return Err(self.answered.failed(failure));
            }
            match self.intake.assembly.progress() {
                Progress::Ended => {
                    self.drain().await;
                    return Ok(LlmChunk::Completed(self.intake.assembly.finish()));
                }
                Progress::Enough if self.at_end => {
                    return Ok(LlmChunk::Completed(self.intake.assembly.finish()));
                }
                Progress::Open if self.at_end => {
                    let cut = self.cut();
                    return Err(self.with_partial(cut));
                }
                Progress::Open | Progress::Enough => self.read_piece().await,
            }
        }
    }

    /// Reads one piece of the body. What goes wrong becomes `failure`, or the end when the answer is complete already.
    async fn read_piece(&mut self) {
        let due = self.due.min(self.answered.total_due);
        let outcome = match timeout_at(due, self.answered.body.chunk()).await {
            // A server that never stops sending would not let the time-out have its turn.
            Ok(Ok(Some(_))) if Instant::now() >= due => self.overdue(),
            Ok(Ok(Some(piece))) => {
                self.take(&piece);
                return;
            }
            Ok(Ok(None)) => {
                self.take_end();
                return;
            }
            Ok(Err(error)) => self.answered.reporter.broke(&self.answered.attempted, error),
            Err(_) => self.overdue(),
        };
        if self.intake.assembly.progress() == Progress::Open {
            self.failure = Some(outcome);
        } else {
            self.at_end = true;
        }
    }

    fn take(&mut self, piece: &[u8]) {
        self.bytes_read += piece.len();
        if self.bytes_read > ANSWER_LIMIT_BYTES {
            if self.intake.assembly.progress() != Progress::Open {
                self.at_end = true;
                return;
            }
            let found = format!("the answer is larger than {ANSWER_LIMIT_BYTES} bytes");
            // What has no end has none the next time either, and is paid for.
            self.failure =
                Some(self.answered.reporter.error(LlmErrorKind::InvalidRequest, &self.answered.attempted, &found));
            return;
        }
        let heard = self.intake.feed(piece).unwrap_or_else(|broken| {
            self.failure = Some(error_of(&self.answered, &broken));
            Heard::Nothing
        });
        self.last_piece = Some(Instant::now());
        if heard == Heard::Something {
            self.waits_for = Wait::Idle;
            let patience = match self.intake.assembly.progress() {
                Progress::Open => self.answered.timeouts.idle,
                Progress::Enough | Progress::Ended => self.answered.timeouts.idle.min(TAIL_WAIT),
            };
            self.due = Instant::now() + patience;
        }
    }

    fn take_end(&mut self) {
        self.at_end = true;
        self.failure = self.intake.end().err().map(|broken| error_of(&self.answered, &broken));
    }

    /// Reads what is left of the body, for a moment.
    async fn drain(&mut self) {
        let due = Instant::now() + DRAIN_WAIT;
        while !self.at_end && self.bytes_read <= ANSWER_LIMIT_BYTES {
            match timeout_at(due, self.answered.body.chunk()).await {
                Ok(Ok(Some(piece))) => self.bytes_read += piece.len(),
                Ok(Ok(None) | Err(_)) | Err(_) => self.at_end = true,
            }
        }
    }

    /// What had come of the answer is paid for.
    fn with_partial(&mut self, mut error: LlmError) -> LlmError {
        let begun = self.intake.assembly.finish();
        let bytes = begun.blocks.iter().map(block_bytes).sum();
        if bytes > 0 || begun.usage.is_some() {
            error.partial = Some(Box::new(PartialAnswer { usage: begun.usage, bytes }));
        }
        error
    }

    fn cut(&self) -> LlmError {
        if self.bytes_read == 0 {
            return self.protocol("the answer is empty");
        }
        self.protocol("the answer ended before it was complete")
    }

    fn protocol(&self, found: &str) -> LlmError {
        self.answered.reporter.protocol(&self.answered.attempted, found)
    }

    /// The error for the limit that was reached.
    fn overdue(&self) -> LlmError {
        let timeouts = &self.answered.timeouts;
        let (wait, limit) = match self.waits_for {
            _ if self.answered.total_due <= self.due => (Wait::Total, timeouts.total),
            Wait::FirstByte => (Wait::FirstByte, timeouts.first_byte),
            _ => (Wait::Idle, timeouts.idle),
        };
        let is_alive = self.last_piece.is_some_and(|last| last.elapsed() < limit / 2);
        self.answered.reporter.timeout(&self.answered.attempted, wait, limit, is_alive)
    }
}

/// Bytes that the model wrote for it.
fn block_bytes(block: &ResponseBlock) -> u64 {
    let written = match block {
        ResponseBlock::Text(text) | ResponseBlock::Thinking { text, .. } => text.len(),
        ResponseBlock::RedactedThinking { data } => data.len(),
        ResponseBlock::Call(call) => call.name.len() + call.arguments.len(),
        ResponseBlock::Opaque { json, .. } => json.len(),
    };
    written as u64
}

fn error_of(answered: &Answered, broken: &Broken) -> LlmError {
    match broken {
        Broken::Reported(detail) => answered.reporter.in_answer(&answered.attempted, detail),
        Broken::Malformed(found) => answered.reporter.protocol(&answered.attempted, found),
    }
}

/// Far beyond the longest answer of any model.
const ANSWER_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// How long the token count is waited for once the answer is complete.
const TAIL_WAIT: Duration = Duration::from_secs(5);

/// How long the end of the body is waited for once nothing more can follow.
const DRAIN_WAIT: Duration = Duration::from_millis(250);
