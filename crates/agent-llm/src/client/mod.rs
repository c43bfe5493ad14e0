//! The HTTP side that both providers share: one client with keep-alive, URLs, headers, and answers that are not successes.

pub(crate) mod base;
mod body;
mod other;
pub(crate) mod proxy;
mod transport;

use crate::cassette::{self, CallRecording, Head, NotRecorded, Playback, Recorder};
use crate::config::{ConfigError, ProviderConfig, Timeouts};
use crate::failure::{ERROR_BODY_LIMIT_BYTES, Reporter};
use crate::pictures::Pictures;
use crate::secret::Secrets;
use agent_types::llm::{LlmError, LlmErrorKind, Wait};
use base::{base_url, shown};
use body::Body;
pub(crate) use body::Broke;
use core::fmt;
pub use other::http_client;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use reqwest::{StatusCode, Url};
use std::sync::Arc;
use tokio::time::{Instant, timeout_at};
use transport::{headers, model_client};

/// What differs between the providers before the first byte is sent.
pub(crate) struct ApiSpec {
    /// Marks opaque blocks and recordings as this format's.
    pub(crate) dialect: &'static str,
    /// The public API.
    pub(crate) default_base_url: &'static str,
    /// Paths that users paste along with the base URL and that the provider appends itself. Taken off the end, the longest first.
    pub(crate) superfluous: &'static [&'static str],
    /// The usual name of the variable with the key.
    pub(crate) key_variable: &'static str,
    /// The header that carries the key, and what comes before the key in it.
    pub(crate) key_header: (&'static str, &'static str),
    /// Headers of every request.
    pub(crate) headers: &'static [(&'static str, &'static str)],
}

/// Sends requests to one server. Connections are kept and used again.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    base: Url,
    headers: HeaderMap,
    timeouts: Timeouts,
    reporter: Arc<Reporter>,
    recorder: Option<Recorder>,
    pictures: Pictures,
}

/// A successful answer whose body has not been read.
pub(crate) struct Answered {
    status: StatusCode,
    headers: HeaderMap,
    pub(crate) body: Body,
    /// What was attempted, for error texts.
    pub(crate) attempted: String,
    /// When the body must have begun.
    pub(crate) first_byte_due: Instant,
    /// When the body must have ended.
    pub(crate) total_due: Instant,
    pub(crate) timeouts: Timeouts,
    pub(crate) reporter: Arc<Reporter>,
}

impl Client {
    pub(crate) fn new(config: ProviderConfig, spec: &ApiSpec) -> Result<Self, ConfigError> {
        let base = base_url(&config.base_url, spec)?;
        let key = config.api_key.as_deref().map(str::trim);
        let key = key.filter(|key| !key.is_empty());
        base::check_clear(&base, key.is_some() || !config.headers.is_empty())?;
        let key_variable =
            if config.key_variable.is_empty() { spec.key_variable.to_owned() } else { config.key_variable };
        let mut secrets = Secrets::default();
        let values = config.headers.iter().map(|(_, value)| value.as_str());
        for secret in values.chain(key).chain(base.password()) {
            secrets.add(secret);
        }
        // Some servers take the key as a parameter.
        for (_, value) in base.query_pairs() {
            secrets.add(&value);
        }
        let headers = headers(&config.headers, spec, key, &key_variable)?;
        let (base_url, wait_settings) = (shown(&base), config.wait_settings);
        let reporter = Reporter { base_url, key_variable, has_key: key.is_some(), secrets, wait_settings };
        if let Some(recorder) = &config.recorder {
            let head = Head {
                version: cassette::VERSION,
                dialect: spec.dialect.to_owned(),
                base_url: reporter.base_url.clone(),
                key_variable: reporter.key_variable.clone(),
                has_key: reporter.has_key,
            };
            recorder.begin(head, &reporter.secrets).map_err(ConfigError::Recorder)?;
        }
        Ok(Self {
            http: model_client(&base, &config.timeouts)?,
            headers,
            timeouts: config.timeouts,
            reporter: Arc::new(reporter),
            base,
            recorder: config.recorder,
            pictures: config.pictures,
        })
    }

    /// The host requests go to; empty for an odd URL.
    pub(crate) fn host(&self) -> &str {
        self.base.host_str().unwrap_or_default()
    }

    /// Where the bytes of pictures are, and which models take them.
    pub(crate) const fn pictures(&self) -> &Pictures {
        &self.pictures
    }

    /// Posts JSON to a path below the base URL.
    pub(crate) async fn post(&self, path: &str, body: Vec<u8>) -> Result<Answered, LlmError> {
        let url = self.url(path);
        let shown = shown(&url);
        let recording = self.recorder.as_ref().map(|recorder| recorder.call(&shown, &body)).transpose();
        let recording = recording.map_err(|NotRecorded(found)| LlmError::new(LlmErrorKind::InvalidRequest, found))?;
        let request = self
            .http
            .post(url)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream, application/json")
            .header(ACCEPT_ENCODING, "identity")
            .body(body);
        self.send(request, format!("POST {shown}"), recording).await
    }

    /// Gets a small JSON document from a path below the base URL.
    pub(crate) async fn get(&self, path: &str) -> Result<(String, Vec<u8>), LlmError> {
        let url = self.url(path);
        let attempted = format!("GET {}", shown(&url));
        let request = self.http.get(url).header(ACCEPT, "application/json");
        let mut answered = self.send(request, attempted, None).await?;
        let body = answered.whole_body(DOCUMENT_LIMIT_BYTES).await?;
        Ok((answered.attempted, body))
    }

    pub(crate) fn protocol_error(&self, attempted: &str, found: &str) -> LlmError {
        self.reporter.protocol(attempted, found)
    }

    async fn send(
        &self,
        request: reqwest::RequestBuilder,
        attempted: String,
        mut recording: Option<CallRecording>,
    ) -> Result<Answered, LlmError> {
        let begin = Instant::now();
        let (first_byte_due, total_due) = (begin + self.timeouts.first_byte, begin + self.timeouts.total);
        let sending = request.headers(self.headers.clone()).send();
        let outcome = match timeout_at(first_byte_due.min(total_due), sending).await {
            Ok(sent) => sent.map_err(|error| self.reporter.transport(&attempted, &error)),
            Err(_) => {
                let (wait, limit) = if total_due < first_byte_due {
                    (Wait::Total, self.timeouts.total)
                } else {
                    (Wait::FirstByte, self.timeouts.first_byte)
                };
                Err(self.reporter.timeout(&attempted, wait, limit, false))
            }
        };
        let response = outcome.inspect_err(|error| {
            if let Some(recording) = &mut recording {
                recording.failed(error);
            }
        })?;
        let (status, headers) = (response.status(), response.headers().clone());
        if let Some(recording) = &recording {
            let recorded = recording.answered(status.as_u16(), &headers);
            recorded.map_err(|error| self.reporter.broke(&attempted, Broke::Unrecorded(error)))?;
        }
        let answered = Answered {
            status,
            headers,
            body: Body::Sent { response, recording },
            attempted,
            first_byte_due,
            total_due,
            timeouts: self.timeouts,
            reporter: Arc::clone(&self.reporter),
        };
        answered.accepted().await
    }

    fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        url.set_path(&format!("{}{path}", self.base.path().trim_end_matches('/')));
        if !query.is_empty() {
            url.set_query(Some(query));
        }
        url
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URL itself may carry a password or a key.
        f.debug_struct("Client")
            .field("base_url", &self.reporter.base_url)
            .field("timeouts", &self.timeouts)
            .finish_non_exhaustive()
    }
}

impl Answered {
    /// The answer of a recording.
    pub(crate) async fn played(
        playback: Playback,
        timeouts: Timeouts,
        reporter: Arc<Reporter>,
    ) -> Result<Self, LlmError> {
        let begin = Instant::now();
        let attempted = format!("POST {}", playback.url());
        let (status, headers) = playback.answer().await?;
        let answered = Self {
            status: StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            headers,
            body: Body::Played(playback),
            attempted,
            first_byte_due: begin + timeouts.first_byte,
            total_due: begin + timeouts.total,
            timeouts,
            reporter,
        };
        answered.accepted().await
    }

    /// The answer if it is a success, else the error that it stands for.
    async fn accepted(self) -> Result<Self, LlmError> {
        if self.status == StatusCode::OK {
            self.check_encoding()?;
            Ok(self)
        } else {
            Err(self.into_failure().await)
        }
    }

    /// Whether the content type names this.
    pub(crate) fn content_type_has(&self, word: &str) -> bool {
        let value = self.headers.get(CONTENT_TYPE);
        let text = value.and_then(|value| value.to_str().ok());
        text.is_some_and(|text| text.to_ascii_lowercase().contains(word))
    }

    /// The whole body. Answers that are larger than the limit are an error.
    pub(crate) async fn whole_body(&mut self, limit_bytes: usize) -> Result<Vec<u8>, LlmError> {
        let mut body = Vec::new();
        let (mut due, mut wait, mut limit) = (self.first_byte_due, Wait::FirstByte, self.timeouts.first_byte);
        loop {
            if self.total_due <= due {
                (due, wait, limit) = (self.total_due, Wait::Total, self.timeouts.total);
            }
            match timeout_at(due, self.body.chunk()).await {
                Ok(Ok(Some(piece))) if wait != Wait::Total || Instant::now() < due => body.extend_from_slice(&piece),
                Ok(Ok(None)) => return Ok(body),
                Ok(Err(error)) => return Err(self.failed(self.reporter.broke(&self.attempted, error))),
                Ok(Ok(Some(_))) | Err(_) => {
                    let error = self.reporter.timeout(&self.attempted, wait, limit, wait == Wait::Total);
                    return Err(self.failed(error));
                }
            }
            if body.len() > limit_bytes {
                let found = format!("the answer is larger than {limit_bytes} bytes");
                let error = self.reporter.error(LlmErrorKind::InvalidRequest, &self.attempted, &found);
                return Err(self.failed(error));
            }
            (due, wait, limit) = (Instant::now() + self.timeouts.idle, Wait::Idle, self.timeouts.idle);
        }
    }

    /// Records that the call failed.
    pub(crate) fn failed(&mut self, error: LlmError) -> LlmError {
        self.body.failed(&error);
        error
    }

    /// The error that an answer without success stands for.
    async fn into_failure(mut self) -> LlmError {
        let body = self.beginning_of_body().await;
        self.reporter.status(&self.attempted, self.status.as_u16(), &self.headers, &body)
    }

    /// What there is of an error's body, up to a limit. A body that breaks or hangs must not hide the status.
    pub(crate) async fn beginning_of_body(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        let due = Instant::now() + self.timeouts.idle.min(ERROR_BODY_WAIT);
        while body.len() < ERROR_BODY_LIMIT_BYTES {
            match timeout_at(due, self.body.chunk()).await {
                Ok(Ok(Some(piece))) => body.extend_from_slice(&piece),
                Ok(Ok(None) | Err(_)) | Err(_) => break,
            }
        }
        body.truncate(ERROR_BODY_LIMIT_BYTES);
        body
    }

    /// No compression is asked for: it saves little on a stream, and a small answer could unfold into an endless one. A server that
    /// compresses all the same does so every time, so that asking again is no use.
    fn check_encoding(&self) -> Result<(), LlmError> {
        match self.headers.get(CONTENT_ENCODING) {
            Some(encoding) if !encoding.is_empty() && encoding.as_bytes() != b"identity" => {
                let encoding = String::from_utf8_lossy(encoding.as_bytes());
                let found = format!(
                    "the answer is compressed ({encoding}), which was not requested; switch compression off at the server or its proxy"
                );
                Err(self.reporter.error(LlmErrorKind::InvalidRequest, &self.attempted, &found))
            }
            _ => Ok(()),
        }
    }
}

/// More than any list of models has.
const DOCUMENT_LIMIT_BYTES: usize = 8 * 1024 * 1024;

/// How long the body of an error is waited for; its status is known already.
const ERROR_BODY_WAIT: core::time::Duration = core::time::Duration::from_secs(5);

#[cfg(test)]
mod tests;
