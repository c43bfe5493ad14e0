//! A model that does what its script says.

use crate::log::{Log, lock};
use crate::reply::Reply;
use crate::script::{Respond, Script, Step};
use agent_core::llm::{LlmChunk, LlmError, LlmErrorKind, LlmRequest};
use agent_core::ports::{LlmProvider, LlmStream};
use async_trait::async_trait;
use futures_util::stream;
use std::collections::VecDeque;
use std::fmt;
use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A model that does what its [`Script`] says, one step a call, and records every request.
///
/// A call beyond the script is refused with [`LlmErrorKind::InvalidRequest`] and the message "script exhausted …", which no session
/// retries. Clones share script and records, so that a test keeps one and hands the other away. Delays are waited with
/// `tokio::time`, which a test can pause.
#[derive(Clone, Debug)]
pub struct ScriptedProvider {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    dialect: String,
    source: Source,
    requests: Log<LlmRequest>,
    streams: Arc<Streams>,
}

/// Where the next step comes from.
enum Source {
    Script(Mutex<Script>),
    Function(Respond),
}

impl ScriptedProvider {
    /// A provider with this script. Its dialect is `scripted`.
    #[must_use]
    pub fn new(script: Script) -> Self {
        Self::with_dialect("scripted", script)
    }

    /// A provider with this script that claims this dialect.
    #[must_use]
    pub fn with_dialect(dialect: &str, script: Script) -> Self {
        Self::from_source(dialect, Source::Script(Mutex::new(script)))
    }

    /// A provider that does with every request, however many there are, what the function makes of it.
    #[must_use]
    pub fn from_fn(respond: impl Fn(&LlmRequest) -> Step + Send + Sync + 'static) -> Self {
        Self::from_source("scripted", Source::Function(Arc::new(respond)))
    }

    /// The requests so far, refused ones too. The log can be kept while the provider is in use.
    #[must_use]
    pub fn requests(&self) -> Log<LlmRequest> {
        self.shared.requests.clone()
    }

    /// Steps that no call has used yet; 0 for a provider made of a function.
    #[must_use]
    pub fn steps_left(&self) -> usize {
        match &self.shared.source {
            Source::Script(script) => lock(script).len(),
            Source::Function(_) => 0,
        }
    }

    /// Streams that were opened and have neither ended nor been dropped.
    #[must_use]
    pub fn open_streams(&self) -> usize {
        self.shared.streams.open.load(Ordering::SeqCst)
    }

    /// Streams that were dropped before their end, as a cancel does.
    #[must_use]
    pub fn abandoned_streams(&self) -> usize {
        self.shared.streams.abandoned.load(Ordering::SeqCst)
    }

    fn from_source(dialect: &str, source: Source) -> Self {
        Self {
            shared: Arc::new(Shared {
                dialect: dialect.to_owned(),
                source,
                requests: Log::default(),
                streams: Arc::default(),
            }),
        }
    }

    fn next_step(&self, request: &LlmRequest, number: usize) -> Result<Step, LlmError> {
        let step = match &self.shared.source {
            Source::Script(script) => lock(script).next(),
            Source::Function(respond) => Some(Step::Respond(Arc::clone(respond))),
        };
        match step {
            Some(step) => Ok(step.resolve(request)),
            None => Err(LlmError::new(
                LlmErrorKind::InvalidRequest,
                format!("script exhausted: request {number} has no step"),
            )),
        }
    }
}

#[async_trait]
impl LlmProvider for ScriptedProvider {
    fn dialect(&self) -> &str {
        &self.shared.dialect
    }

    async fn stream(&self, request: LlmRequest) -> Result<LlmStream, LlmError> {
        let number = self.shared.requests.push(request.clone());
        let beats = match self.next_step(&request, number)? {
            Step::Answer(reply) => {
                let whole = LlmChunk::Completed(reply.response(number));
                beats(&reply, usize::MAX, Some(Beat::Yield(Ok(whole))))
            }
            Step::Break { reply, deltas, error } => beats(&reply, deltas, Some(Beat::Yield(Err(error)))),
            Step::End { reply, deltas } => beats(&reply, deltas, None),
            Step::Stall { reply, deltas } => beats(&reply, deltas, Some(Beat::Hang)),
            Step::Refuse(error) => return Err(error),
            // A function never leads to another one here: `resolve` has called them all.
            Step::Hang | Step::Respond(_) => return pending().await,
        };
        Ok(play(beats, OpenStream::new(&self.shared.streams)))
    }
}

/// One moment of a stream.
enum Beat {
    Wait(Duration),
    Yield(Result<LlmChunk, LlmError>),
    Hang,
}

fn beats(reply: &Reply, deltas: usize, last: Option<Beat>) -> VecDeque<Beat> {
    let mut beats = VecDeque::new();
    for (index, delta) in reply.deltas().into_iter().take(deltas).enumerate() {
        beats.push_back(Beat::Wait(reply.delay_before(index == 0)));
        beats.push_back(Beat::Yield(Ok(LlmChunk::Delta(delta))));
    }
    // An answer of tool calls only has no deltas and still takes its time.
    if beats.is_empty() {
        beats.push_back(Beat::Wait(reply.delay_before(true)));
    }
    beats.extend(last);
    beats
}

fn play(beats: VecDeque<Beat>, open: OpenStream) -> LlmStream {
    Box::pin(stream::unfold((beats, open), |(mut beats, mut open)| async move {
        loop {
            match beats.pop_front() {
                Some(Beat::Wait(delay)) if delay.is_zero() => {}
                Some(Beat::Wait(delay)) => tokio::time::sleep(delay).await,
                Some(Beat::Yield(chunk)) => {
                    if beats.is_empty() {
                        open.end();
                    }
                    return Some((chunk, (beats, open)));
                }
                Some(Beat::Hang) => pending().await,
                None => {
                    open.end();
                    return None;
                }
            }
        }
    }))
}

/// How many streams there are, and how many were dropped before their end.
#[derive(Debug, Default)]
struct Streams {
    open: AtomicUsize,
    abandoned: AtomicUsize,
}

/// Counts its stream when it goes, however that happens.
struct OpenStream {
    streams: Arc<Streams>,
    ended: bool,
}

impl OpenStream {
    fn new(streams: &Arc<Streams>) -> Self {
        streams.open.fetch_add(1, Ordering::SeqCst);
        Self { streams: Arc::clone(streams), ended: false }
    }

    const fn end(&mut self) {
        self.ended = true;
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.streams.open.fetch_sub(1, Ordering::SeqCst);
        if !self.ended {
            self.streams.abandoned.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Script(script) => f.debug_tuple("Script").field(&lock(script)).finish(),
            Self::Function(_) => f.write_str("Function(..)"),
        }
    }
}
