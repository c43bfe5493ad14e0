//! Requests with the token of a login, where there is one: a token that the server refuses is renewed once, and the request is sent again.
//! A server that refuses a request has not done it, so this holds in the middle of a session, too.

use super::pace::Paced;
use crate::login::Account;
use crate::reach::Endpoint;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::auth::AuthError;
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// A server at a URL: what is asked, and as whom.
#[derive(Clone, Debug)]
pub(crate) struct Far {
    pub(crate) endpoint: Endpoint,
    pub(crate) account: Option<Account>,
}

impl Far {
    /// The text without what of the request may be secret.
    pub(crate) fn hide(&self, text: &str) -> String {
        let text = self.endpoint.hide(text);
        self.without_tokens(&text)
    }

    /// What the server says to the model, without the tokens of the login.
    pub(crate) fn without_tokens(&self, text: &str) -> String {
        self.account.as_ref().map_or_else(|| text.to_owned(), |account| account.hide(text))
    }

    /// The same of JSON, wherever in it they stand.
    pub(crate) fn value_without_tokens(&self, value: Value) -> Value {
        let written = value.to_string();
        let hidden = self.without_tokens(&written);
        if hidden == written { value } else { serde_json::from_str(&hidden).unwrap_or(Value::String(hidden)) }
    }
}

/// A client that sends the token of a login.
#[derive(Clone)]
pub(super) struct Authorized {
    client: Paced,
    account: Option<Account>,
}

type Outcome<T> = Result<T, StreamableHttpError<reqwest::Error>>;
type Headers = HashMap<HeaderName, HeaderValue>;

impl Authorized {
    pub(super) const fn new(client: Paced, account: Option<Account>) -> Self {
        Self { client, account }
    }

    async fn asked<T, F>(&self, given: Option<String>, ask: impl Fn(Option<String>) -> F) -> Outcome<T>
    where
        F: Future<Output = Outcome<T>>,
    {
        let Some(account) = &self.account else { return ask(given).await };
        let failed = |why: String| StreamableHttpError::Auth(AuthError::TokenRefreshFailed(why));
        let token = account.token().await.map_err(failed)?;
        let mut outcome = ask(token.clone()).await;
        let refused = token.filter(|_| matches!(outcome, Err(StreamableHttpError::AuthRequired(_))));
        if let Some(refused) = refused
            && let Some(fresh) = account.renewed(&refused).await.map_err(failed)?
        {
            outcome = ask(Some(fresh)).await;
        }
        let lacking = match &outcome {
            Err(StreamableHttpError::InsufficientScope(found)) => found.required_scope.clone(),
            _ => None,
        };
        if let Some(scopes) = lacking {
            account.lacks(&scopes).await.map_err(failed)?;
        }
        outcome
    }
}

impl StreamableHttpClient for Authorized {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        headers: Headers,
    ) -> Outcome<StreamableHttpPostResponse> {
        self.asked(auth_header, |token| {
            self.client.post_message(uri.clone(), message.clone(), session_id.clone(), token, headers.clone())
        })
        .await
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Outcome<StreamableHttpPostResponse> {
        self.asked(auth_header, |token| {
            let (uri, message, headers) = (uri.clone(), message.clone(), headers.clone());
            self.client.post_message_with_response_limits(uri, message, session_id.clone(), token, headers, limits)
        })
        .await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        headers: Headers,
    ) -> Outcome<()> {
        self.asked(auth_header, |token| {
            self.client.delete_session(uri.clone(), session_id.clone(), token, headers.clone())
        })
        .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        headers: Headers,
    ) -> Outcome<BoxedSseResponse> {
        self.asked(auth_header, |token| {
            let (uri, headers) = (uri.clone(), headers.clone());
            self.client.get_stream(uri, session_id.clone(), last_event_id.clone(), token, headers)
        })
        .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        headers: Headers,
        limit: usize,
    ) -> Outcome<BoxedSseResponse> {
        self.asked(auth_header, |token| {
            let (uri, headers, last) = (uri.clone(), headers.clone(), last_event_id.clone());
            self.client.get_stream_with_max_sse_event_size(uri, session_id.clone(), last, token, headers, limit)
        })
        .await
    }
}
