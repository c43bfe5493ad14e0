//! Logging in and renewing, as `rmcp` does both: discovery (RFC 9728, RFC 8414, OpenID), registration or a name that is known, PKCE with
//! S256, the resource (RFC 8707), and the issuer of the answer (RFC 9207). What is asked goes through the host's own clients.

use crate::login::kept::{Given, Login, scopes_of};
use crate::login::{Account, Clients, LoginError};
use crate::reach::{Endpoint, is_here};
use reqwest::Url;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, CredentialStore as _, InMemoryCredentialStore,
    OAuthClientConfig, OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRequest, OAuthTokenResponse, StoredCredentials,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// A login that has begun: the person opens the address.
pub struct Begun {
    /// What the person opens. It is the server's word: it may lead anywhere, and is shown before it is opened.
    pub address: String,
    /// Who would give the tokens.
    pub issuer: String,
    /// What is asked for.
    pub scopes: Vec<String>,
    manager: AuthorizationManager,
    state: String,
    given: Given,
}

impl std::fmt::Debug for Begun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Begun").field("issuer", &self.issuer).field("scopes", &self.scopes).finish_non_exhaustive()
    }
}

pub(crate) async fn begin(account: &Account, redirect: &str, scopes: &[String]) -> Result<Begun, LoginError> {
    let endpoint = account.endpoint();
    let before = account.login();
    let resource = bare(endpoint).ok_or_else(|| LoginError::Discovery("the URL cannot be read".to_owned()))?;
    let web = Arc::new(Web { clients: account.clients().clone(), is_here: is_here(&resource) });
    let may_ask = |url: &str| web.check(url).map_err(LoginError::Discovery);
    let manager = AuthorizationManager::new_with_oauth_http_client(resource, web.clone()).await;
    let mut manager = manager.map_err(|error| discovery(&error))?;
    let challenge = challenge(endpoint, account.clients()).await.map_err(LoginError::Discovery)?;
    let found = manager.resolve_metadata_from_challenge(challenge.as_deref()).await;
    let found = found.map_err(|error| discovery(&error))?;
    // Addresses that nobody published are no place to send a person to.
    let issuer =
        found.metadata.issuer.clone().filter(|_| found.source.is_discovered()).ok_or(LoginError::NotOffered)?;
    for url in [&found.metadata.authorization_endpoint, &found.metadata.token_endpoint] {
        may_ask(url)?;
        // `https://bank.example@elsewhere.example` looks like an address of the bank.
        let has_user = |url: Url| !url.username().is_empty() || url.password().is_some();
        if Url::parse(url).is_ok_and(has_user) {
            return Err(LoginError::Discovery("an address in it names a user before its host".into()));
        }
    }
    let kept = needed(&found.metadata);
    let is_named_by_url =
        found.metadata.additional_fields.get("client_id_metadata_document_supported") == Some(&true.into());
    manager.set_metadata(found.metadata);

    let scopes = wanted(account, &manager, before.as_ref(), &issuer, scopes).await;
    let asked_times = tries(before.as_ref(), &issuer, &scopes)?;
    let words: Vec<&str> = scopes.iter().map(String::as_str).collect();
    let client = client(endpoint, &mut manager, is_named_by_url, redirect, &words).await?;
    let (client_id, client_secret) = (client.client_id.clone(), client.client_secret.clone());
    manager.configure_client(client).map_err(|error| discovery(&error))?;
    let address = manager.get_authorization_url(&words).await.map_err(|error| discovery(&error))?;
    let of_address = |name: &str| {
        let parsed = Url::parse(&address).ok()?;
        let found = parsed.query_pairs().find(|(own, _)| own == name)?.1.into_owned();
        Some(found)
    };
    let (state, resource) = (of_address("state").unwrap_or_default(), of_address("resource").unwrap_or_default());
    let given = Given {
        issuer: issuer.clone(),
        resource,
        metadata: kept,
        client_id,
        client_secret,
        token: Value::Null,
        granted: Vec::new(),
        asked: scopes.clone(),
        asked_times,
    };
    Ok(Begun { address, issuer, scopes, manager, state, given })
}

/// What a server says to a message of somebody whom it does not know: where one logs in, and for what.
async fn challenge(endpoint: &Endpoint, clients: &Clients) -> Result<Option<String>, String> {
    let (clients, url) = (clients.clone(), endpoint.url.clone());
    let client = tokio::task::spawn_blocking(move || clients(&url)).await.map_err(|error| error.to_string())??;
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    let mut request = client.post(&endpoint.url).timeout(PATIENCE).body(message);
    for (name, value) in &endpoint.headers {
        request = request.header(name, value);
    }
    let request = request.header("content-type", "application/json");
    let sent = request.header("accept", "application/json, text/event-stream").send().await;
    let answer = sent.map_err(|error| format!("cannot ask {}: {}", endpoint.shown(), endpoint.hide(&root(error))))?;
    let says = answer.headers().get_all("www-authenticate").iter().filter_map(|value| value.to_str().ok());
    let is_bearer = |says: &&str| says.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer"));
    Ok({ says }.find(is_bearer).map(str::to_owned))
}

/// What is asked for: what the person says, or the configuration, or what the server wants; and what an earlier login lacked.
async fn wanted(
    account: &Account,
    manager: &AuthorizationManager,
    before: Option<&Login>,
    issuer: &str,
    scopes: &[String],
) -> Vec<String> {
    let configured = &account.endpoint().login.scopes;
    let chosen: &[String] = if scopes.is_empty() { configured } else { scopes };
    let defaults: Vec<&str> = chosen.iter().map(String::as_str).collect();
    // A name that is not asked for is none of the server's: what it wants is known from what it answers.
    let usual = manager.select_initial_scopes(&defaults).await;
    let mut all = if chosen.is_empty() { scopes_of(&usual.join(" ")) } else { chosen.to_vec() };
    if let Some(before) =
        before.filter(|before| scopes.is_empty() && before.issuer == issuer && !before.lacking.is_empty())
    {
        all.extend(before.granted.iter().chain(&before.lacking).cloned());
    }
    let mut seen: Vec<String> = Vec::new();
    for scope in all {
        if !seen.contains(&scope) {
            seen.push(scope);
        }
    }
    seen
}

/// How often in a row the same was asked for because the server still lacked it, this login included.
fn tries(before: Option<&Login>, issuer: &str, scopes: &[String]) -> Result<u32, LoginError> {
    let Some(before) = before.filter(|before| before.issuer == issuer && !before.lacking.is_empty()) else {
        return Ok(1);
    };
    match (before.asked == scopes, before.asked_times) {
        (false, _) => Ok(1),
        (true, tries) if tries >= STEP_UP_TRIES => Err(LoginError::StepUps { scopes: before.lacking.join(" "), tries }),
        (true, tries) => Ok(tries + 1),
    }
}

/// Who asks: a name that the person has registered, one that is a URL, or one that is registered now.
async fn client(
    endpoint: &Endpoint,
    manager: &mut AuthorizationManager,
    is_named_by_url: bool,
    redirect: &str,
    scopes: &[&str],
) -> Result<OAuthClientConfig, LoginError> {
    let own = &endpoint.login;
    if let Some(id) = &own.client_id {
        let named = OAuthClientConfig::new(id, redirect);
        return Ok(match &own.client_secret {
            Some(secret) => named.with_client_secret(secret),
            None => named,
        });
    }
    if let Some(url) = own.client_metadata_url.as_ref().filter(|_| is_named_by_url) {
        return Ok(OAuthClientConfig::new(url, redirect));
    }
    let registered = manager.register_client("agent", redirect, scopes).await;
    registered.map_err(|error| match error {
        AuthError::RegistrationFailed(found) => LoginError::NoRegistration(found),
        other => discovery(&other),
    })
}

impl Begun {
    /// What the answer has to repeat, so that it is the answer to this login.
    #[must_use]
    pub fn state(&self) -> &str {
        &self.state
    }

    /// Whether an address is the answer to this login.
    #[must_use]
    pub fn is_answer(&self, address: &str) -> bool {
        let Ok(address) = Url::parse(address.trim()) else { return false };
        address.query_pairs().any(|(name, value)| name == "state" && value == self.state)
    }

    /// Takes the address to which the authorization server sent the person, gets the tokens, and keeps them for the account.
    ///
    /// # Errors
    /// [`LoginError`]: nothing is kept then.
    pub async fn finish(self, account: &Account, answer: &str) -> Result<Login, LoginError> {
        let answer = Url::parse(answer.trim()).map_err(|error| LoginError::Foreign(error.to_string()))?;
        let of_answer =
            |name: &str| answer.query_pairs().find(|(own, _)| own == name).map(|(_, value)| value.into_owned());
        if of_answer("state").as_deref() != Some(&*self.state) {
            return Err(LoginError::Foreign("it has another `state`".to_owned()));
        }
        if let Some(error) = of_answer("error") {
            let told = of_answer("error_description").map(|told| format!(": {told}")).unwrap_or_default();
            return Err(LoginError::Refused(crate::text::beginning(
                &crate::plain(&format!("{error}{told}")),
                SHOWN_BYTES,
            )));
        }
        let code = of_answer("code").ok_or_else(|| LoginError::Foreign("it has no `code`".to_owned()))?;
        let issuer = of_answer("iss");
        let exchanged = self.manager.exchange_code_for_token_with_issuer(&code, &self.state, issuer.as_deref()).await;
        let token = exchanged.map_err(|error| match &error {
            AuthError::AuthorizationServerMismatch { .. }
            | AuthError::AuthorizationServerMissingIssuer { .. }
            | AuthError::AuthorizationFailed(_) => LoginError::Foreign(told(&error)),
            other => LoginError::NoToken(told(other)),
        })?;
        let granted = scopes_of(&self.manager.get_current_scopes().await.join(" "));
        let token = as_value(&token).map_err(LoginError::NoToken)?;
        let login = Login::new(account.endpoint(), Given { token, granted, ..self.given });
        let (own, kept) = (account.clone(), login.clone());
        let kept = tokio::task::spawn_blocking(move || own.replace(&kept)).await;
        kept.map_err(std::io::Error::other)??;
        Ok(login)
    }
}

/// The login with new tokens; nothing where the authorization server gives none without the person.
pub(crate) async fn refreshed(account: &Account, login: Login) -> Result<Option<Login>, String> {
    if login.token.get("refresh_token").is_none() {
        return Ok(None);
    }
    let here = bare(account.endpoint()).is_some_and(|url| is_here(&url));
    let web = Arc::new(Web { clients: account.clients().clone(), is_here: here });
    let failed = |error: &AuthError| format!("the login cannot be renewed: {}", account.hide(&told(error)));
    let manager = AuthorizationManager::new_with_oauth_http_client(login.resource.as_str(), web).await;
    let mut manager = manager.map_err(|error| failed(&error))?;
    let wrong = |error: serde_json::Error| format!("the login that is kept cannot be read: {error}");
    manager.set_metadata(serde_json::from_value(login.metadata.clone()).map_err(wrong)?);
    let client = OAuthClientConfig::new(&login.client_id, login.resource.as_str());
    let client = match &login.client_secret {
        Some(secret) => client.with_client_secret(secret),
        None => client,
    };
    manager.configure_client(client).map_err(|error| failed(&error))?;
    let token: OAuthTokenResponse = serde_json::from_value(login.token.clone()).map_err(wrong)?;
    let store = InMemoryCredentialStore::new();
    let stored = StoredCredentials::new(login.client_id.clone(), Some(token), login.granted.clone(), None);
    store.save(stored).await.map_err(|error| failed(&error))?;
    manager.set_credential_store(store);
    match manager.refresh_token().await {
        Ok(token) => {
            let token = as_value(&token)?;
            Ok(Some(login.renewed(token)))
        }
        Err(AuthError::TokenRefreshRejected(_) | AuthError::AuthorizationRequired) => Ok(None),
        Err(error) => Err(failed(&error)),
    }
}

fn as_value(token: &OAuthTokenResponse) -> Result<Value, String> {
    let value = serde_json::to_value(token).map_err(|error| error.to_string())?;
    // What is no header cannot be sent.
    let is_sendable = |token: &str| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    match value["access_token"].as_str().is_some_and(is_sendable) {
        true => Ok(value),
        false => Err("the token has signs that no header carries".to_owned()),
    }
}

/// Of the metadata what renewing needs.
fn needed(metadata: &AuthorizationMetadata) -> Value {
    json!({
        "issuer": metadata.issuer,
        "authorization_endpoint": metadata.authorization_endpoint,
        "token_endpoint": metadata.token_endpoint,
        "token_endpoint_auth_methods_supported": metadata.additional_fields.get("token_endpoint_auth_methods_supported"),
    })
}

/// The server's URL as others may know it: user, password and parameters may be secret.
fn bare(endpoint: &Endpoint) -> Option<Url> {
    Url::parse(&endpoint.shown()).ok().filter(Url::has_host)
}

fn discovery(error: &AuthError) -> LoginError {
    match error {
        AuthError::NoAuthorizationSupport => LoginError::NotOffered,
        other => LoginError::Discovery(told(other)),
    }
}

/// Why a request failed: the innermost cause, which names no URL.
fn root(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut root: &dyn std::error::Error = &error;
    while let Some(source) = root.source() {
        root = source;
    }
    root.to_string()
}

/// An error with its causes, bounded and without what cannot be seen: it has words of servers in it.
fn told(error: &AuthError) -> String {
    let mut text = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(source) = next {
        text.push_str(&format!(": {source}"));
        next = source.source();
    }
    crate::text::beginning(&crate::plain(&text), SHOWN_BYTES)
}

/// Asks for `rmcp`: encrypted, or on this machine where the server is here, too; no redirect, and answers of bounded length.
struct Web {
    clients: Clients,
    is_here: bool,
}

impl Web {
    fn check(&self, url: &str) -> Result<(), String> {
        let parsed = Url::parse(url).map_err(|error| format!("an address in it cannot be read ({error})"))?;
        match parsed.scheme() {
            "https" if parsed.has_host() => Ok(()),
            "http" if self.is_here && is_here(&parsed) => Ok(()),
            scheme => {
                Err(format!("an address in it begins with `{}://`, and not with `https://`", crate::plain(scheme)))
            }
        }
    }

    async fn ask(&self, request: OAuthHttpRequest) -> Result<http::Response<Vec<u8>>, String> {
        let request = reqwest::Request::try_from(request.request).map_err(|error| error.to_string())?;
        let url = request.url().to_string();
        self.check(&url)?;
        let (clients, of) = (self.clients.clone(), url);
        let client = tokio::task::spawn_blocking(move || clients(&of)).await.map_err(|error| error.to_string())??;
        let broken = root;
        let mut answer = client.execute(request).await.map_err(broken)?;
        let mut built = http::Response::builder().status(answer.status());
        for (name, value) in answer.headers() {
            built = built.header(name, value);
        }
        let mut body = Vec::new();
        while let Some(part) = answer.chunk().await.map_err(broken)? {
            if body.len() + part.len() > ANSWER_LIMIT_BYTES {
                return Err(format!("the answer has more than {ANSWER_LIMIT_BYTES} bytes"));
            }
            body.extend_from_slice(&part);
        }
        built.body(body).map_err(|error| error.to_string())
    }
}

impl OAuthHttpClient for Web {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let asked = tokio::time::timeout(PATIENCE, self.ask(request)).await;
            let late = |_| format!("no answer within {} seconds", PATIENCE.as_secs());
            Ok(asked.map_err(late)??)
        })
    }
}

/// How often in a row a login may ask for what the server goes on lacking.
const STEP_UP_TRIES: u32 = 3;
const PATIENCE: Duration = Duration::from_secs(30);
const ANSWER_LIMIT_BYTES: usize = 256 * 1024;
const SHOWN_BYTES: usize = 600;
