//! A server at a URL: the transport with its limits, and what went wrong, in words without secrets.

use super::authorized::{Authorized, Far};
use super::pace::Paced;
use super::wire::{MESSAGE_LIMIT_BYTES, Reply};
use crate::content::Answer;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::service::ClientInitializeError;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::auth::AuthError;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use std::collections::HashMap;
use std::error::Error;

type HttpError = StreamableHttpError<reqwest::Error>;

/// A transport that sends the headers of the endpoint with each request. Must be called within a tokio runtime.
pub(super) fn transport(
    client: reqwest::Client,
    far: &Far,
) -> Result<StreamableHttpClientTransport<Authorized>, String> {
    let mut headers = HashMap::new();
    for (name, value) in &far.endpoint.headers {
        let wrong = || format!("its header `{name}` has characters that a header cannot carry");
        let mut value = HeaderValue::try_from(value.as_str()).map_err(|_| wrong())?;
        value.set_sensitive(true);
        headers.insert(HeaderName::try_from(name.as_str()).map_err(|_| wrong())?, value);
    }
    let config = StreamableHttpClientTransportConfig::with_uri(far.endpoint.url.as_str())
        .custom_headers(headers)
        .max_sse_event_size(MESSAGE_LIMIT_BYTES)
        .max_json_response_size(MESSAGE_LIMIT_BYTES)
        .max_error_response_size(ERROR_LIMIT_BYTES);
    let client = Authorized::new(Paced::new(client), far.account.clone());
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// Why a server did not come.
pub(super) fn not_come(error: &ClientInitializeError, far: &Far) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => told(error.error.as_ref(), far),
        ClientInitializeError::LegacyFallbackFailed { discover, fallback } => {
            let (newer, older) = (not_come(discover, far), not_come(fallback, far));
            if newer == older { newer } else { format!("{newer}; and by `initialize`: {older}") }
        }
        other => far.hide(&other.to_string()),
    }
}

/// What becomes of a call that could not be sent, or whose answer did not come.
pub(super) fn lost(error: &(dyn Error + Send + Sync + 'static), far: &Far) -> Reply {
    let why = told(error, far);
    match found(error) {
        Some(StreamableHttpError::Client(error)) if error.is_connect() => Reply::NotSent(why),
        Some(StreamableHttpError::Auth(_)) => Reply::NotSent(why),
        Some(
            StreamableHttpError::HttpStatus(_)
            | StreamableHttpError::UnexpectedServerResponse(_)
            | StreamableHttpError::AuthRequired(_)
            | StreamableHttpError::InsufficientScope(_)
            | StreamableHttpError::ReservedHeaderConflict(_),
        ) => Reply::Answer(Answer::failed(why)),
        _ => Reply::Lost(why),
    }
}

/// What went wrong, in words.
pub(super) fn told(error: &(dyn Error + Send + Sync + 'static), far: &Far) -> String {
    let text = match found(error) {
        Some(StreamableHttpError::Client(error)) => of_client(error, far),
        Some(StreamableHttpError::AuthRequired(_)) => match &far.account {
            Some(account) => {
                let server = account.server();
                format!("it wants to know who asks (HTTP 401): `agent mcp login {server}` logs in")
            }
            None => "it does not take who asks (HTTP 401): what its `headers` or its URL say is not enough".to_owned(),
        },
        Some(StreamableHttpError::InsufficientScope(found)) => match (&far.account, &found.required_scope) {
            (Some(account), Some(scopes)) => {
                let (server, scopes) = (account.server(), crate::text::beginning(scopes, SHOWN_BYTES));
                format!(
                    "the login may not do this (HTTP 403), it lacks `{scopes}`: `agent mcp login {server}` asks for it"
                )
            }
            _ => "the token may not do this (HTTP 403)".to_owned(),
        },
        Some(StreamableHttpError::Auth(AuthError::TokenRefreshFailed(why))) => why.clone(),
        Some(StreamableHttpError::HttpStatus(status)) => format!("it answered HTTP {}", status.status),
        Some(StreamableHttpError::UnexpectedServerResponse(said)) if said.starts_with("HTTP 3") => {
            let status = said.split(':').next().unwrap_or_default();
            format!("it redirects elsewhere ({status}), which is not followed: configure the URL that is meant")
        }
        Some(StreamableHttpError::UnexpectedServerResponse(said)) => {
            format!("it answered {}", crate::text::beginning(said, SHOWN_BYTES))
        }
        Some(StreamableHttpError::UnexpectedContentType(found)) => {
            format!("it answered with {}, which is no message of the protocol", found.as_deref().unwrap_or("nothing"))
        }
        Some(StreamableHttpError::ResponseBodyTooLarge { max_size }) => {
            format!("its answer has more than {max_size} bytes")
        }
        Some(other) => other.to_string(),
        None => error.to_string(),
    };
    far.hide(&text)
}

fn of_client(error: &reqwest::Error, far: &Far) -> String {
    let mut root: &dyn Error = error;
    while let Some(source) = root.source() {
        root = source;
    }
    match error.is_connect() {
        true => format!("cannot connect to {}: {root}", far.endpoint.shown()),
        false => format!("the connection to {} broke: {root}", far.endpoint.shown()),
    }
}

/// The error of HTTP in a chain of errors.
fn found<'a>(error: &'a (dyn Error + Send + Sync + 'static)) -> Option<&'a HttpError> {
    let mut next: Option<&'a (dyn Error + 'static)> = Some(error);
    while let Some(current) = next {
        if let Some(found) = current.downcast_ref::<HttpError>() {
            return Some(found);
        }
        next = current.source();
    }
    None
}

/// How much of the text of an error is read, and how much of it is shown.
const ERROR_LIMIT_BYTES: usize = 4 * 1024;
const SHOWN_BYTES: usize = 300;
