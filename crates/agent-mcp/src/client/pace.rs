//! How often a server is asked for an event stream. One whose streams end at once, and who wishes to be asked again without a pause, would
//! be asked some hundred times a second.

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A client that asks for event streams with pauses, which grow as long as streams end early.
#[derive(Clone)]
pub(super) struct Paced {
    client: reqwest::Client,
    pace: Arc<Mutex<Pace>>,
}

impl Paced {
    pub(super) fn new(client: reqwest::Client) -> Self {
        Self { client, pace: Arc::default() }
    }
}

type Outcome<T> = Result<T, StreamableHttpError<reqwest::Error>>;
type Headers = HashMap<HeaderName, HeaderValue>;

impl StreamableHttpClient for Paced {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Outcome<StreamableHttpPostResponse> {
        self.client.post_message(uri, message, session_id, auth_header, custom_headers).await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Outcome<StreamableHttpPostResponse> {
        let client = &self.client;
        client.post_message_with_response_limits(uri, message, session_id, auth_header, custom_headers, limits).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Outcome<()> {
        self.client.delete_session(uri, session_id, auth_header, custom_headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Outcome<BoxedSseResponse> {
        self.pause().await;
        self.client.get_stream(uri, session_id, last_event_id, auth_header, custom_headers).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
        limit: usize,
    ) -> Outcome<BoxedSseResponse> {
        self.pause().await;
        let client = &self.client;
        client
            .get_stream_with_max_sse_event_size(uri, session_id, last_event_id, auth_header, custom_headers, limit)
            .await
    }
}

impl Paced {
    async fn pause(&self) {
        let pause = self.pace.lock().unwrap_or_else(PoisonError::into_inner).next(Instant::now());
        tokio::time::sleep(pause).await;
    }
}

/// When streams were asked for.
#[derive(Default)]
struct Pace {
    /// When the last one was, or will be.
    last: Option<Instant>,
    /// How many came soon after the one before.
    in_a_row: u32,
}

impl Pace {
    /// How long the next one waits. The first two are at once: the stream of the connection, and that of an answer, which a server may end
    /// and have asked for again when it likes.
    fn next(&mut self, now: Instant) -> Duration {
        let is_soon = self.last.is_some_and(|last| now.saturating_duration_since(last) < LONG);
        self.in_a_row = if is_soon { self.in_a_row.saturating_add(1) } else { 0 };
        let pause = match self.in_a_row {
            0 | 1 => Duration::ZERO,
            more => SHORTEST.saturating_mul(2u32.saturating_pow(more - 2)).min(LONGEST),
        };
        self.last = Some(now + pause);
        pause
    }
}

const SHORTEST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(16);
/// A stream that lasted as long did not end early.
const LONG: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::Pace;
    use std::time::{Duration, Instant};

    #[test]
    fn pauses_grow_while_streams_end_early_and_begin_anew_after_one_that_lasts() {
        let (mut pace, mut now) = (Pace::default(), Instant::now());
        let mut ask = |lasts_secs: u64| {
            let pause = pace.next(now);
            now += pause + Duration::from_secs(lasts_secs);
            pause.as_secs()
        };
        assert_eq!([0; 8].map(&mut ask), [0, 0, 1, 2, 4, 8, 16, 16]);
        assert_eq!([29, 29, 30, 0, 0, 0].map(&mut ask), [16, 16, 16, 0, 0, 1]);
        // However long it goes on.
        assert!((0..200).all(|_| ask(0) <= 16));
    }
}
