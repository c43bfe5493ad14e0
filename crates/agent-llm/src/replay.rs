//! The provider that plays a recording in place of a server.

use crate::cassette::{Cassette, Matching, Player};
use crate::client::Answered;
use crate::config::{Timeouts, WaitSettings};
use crate::failure::Reporter;
use crate::format::Writer;
use crate::pictures::Pictures;
use crate::secret::Secrets;
use agent_types::llm::{LlmError, LlmErrorKind, LlmRequest};
use agent_types::ports::{LlmProvider, LlmStream};
use async_trait::async_trait;
use reqwest::Url;
use std::sync::{Arc, Mutex, PoisonError};

/// Answers model calls from a [`Cassette`], without a network.
///
/// A request is written as for the server of the recording and looked for among the recorded ones; the recorded bytes are then read as if
/// they came from the network. What was an error is that error again. A request that was not recorded is an error of kind
/// [`InvalidRequest`](LlmErrorKind::InvalidRequest) that says what is different; it is not worth repeating.
#[derive(Debug)]
pub struct ReplayProvider {
    player: Player,
    writer: Writer,
    reporter: Arc<Reporter>,
    pictures: Mutex<Pictures>,
}

impl ReplayProvider {
    /// Plays this recording, as fast as it is read.
    #[must_use]
    pub fn new(cassette: Cassette, matching: Matching) -> Self {
        let head = &cassette.head;
        let url = Url::parse(&head.base_url).ok();
        let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
        let reporter = Reporter {
            base_url: head.base_url.clone(),
            key_variable: head.key_variable.clone(),
            has_key: head.has_key,
            // The recording has none.
            secrets: Secrets::default(),
            // What is played is waited for as long as it takes.
            wait_settings: WaitSettings::default(),
        };
        let writer = Writer::new(cassette.format, host);
        let player = Player::new(cassette, matching);
        Self { writer, reporter: Arc::new(reporter), player, pictures: Mutex::default() }
    }

    /// Plays every piece when it came: a person can watch, and what depends on time can be tried.
    #[must_use]
    pub const fn at_recorded_pace(mut self) -> Self {
        self.player.at_recorded_pace = true;
        self
    }

    /// Where the pictures of requests are from now on: those of the recording had theirs.
    pub fn has_pictures(&self, pictures: Pictures) {
        *self.pictures.lock().unwrap_or_else(PoisonError::into_inner) = pictures;
    }

    /// How many recorded calls have not been played yet.
    #[must_use]
    pub fn left(&self) -> usize {
        self.player.left()
    }
}

#[async_trait]
impl LlmProvider for ReplayProvider {
    fn dialect(&self) -> &str {
        self.player.cassette().dialect()
    }

    async fn stream(&self, request: LlmRequest) -> Result<LlmStream, LlmError> {
        let pictures = self.pictures.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let body = self.writer.write_with_pictures(&request, &pictures).await.map_err(|error| {
            let message = format!("write the request for {}: {error}", request.model);
            LlmError::new(LlmErrorKind::InvalidRequest, message)
        })?;
        let playback = self.player.find(&body)?;
        let answered = Answered::played(playback, Timeouts::default(), Arc::clone(&self.reporter)).await?;
        self.player.cassette().format.read(answered, request.max_output_tokens).await
    }
}
