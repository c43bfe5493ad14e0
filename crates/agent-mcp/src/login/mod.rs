//! A person's login at a server that is reached at a URL (OAuth 2.1, as the Model Context Protocol uses it).
//!
//! ```text
//! Account::begin  ->  an address that the person opens  ->  Begun::finish with what came back  ->  a Login that is kept
//! Account::token  ->  the token of the next request; renewed before it runs out, or when the server refuses it
//! ```
//!
//! 1. A token goes to the URL that it was given for, and a refresh token to the server that gave it: never to another host, never along a
//!    redirect, and never in clear to another machine.
//! 2. A login is kept in a file of the user's own (0600), for the server's name and URL together. Another URL has no login.
//! 3. What a login knows as secret is in no text that leaves this crate: [`Account::hide`].
//! 4. Two programs that renew one login do so one after the other, and the second one takes what the first one got.
//!
//! Absent: who opens the address, and whom the person trusts; browsers.

pub(crate) mod kept;
pub(crate) mod redirect;

use crate::client::oauth;
use crate::reach::Endpoint;
use agent_core::redact::Redactor;
use kept::{Login, LoginStore};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tempfile::NamedTempFile;

pub use crate::client::oauth::Begun;

/// Makes what asks a URL: the host knows proxies and certificates. The clients follow no redirects.
pub type Clients = Arc<dyn Fn(&str) -> Result<reqwest::Client, String> + Send + Sync>;

/// The login at one server: where it is kept, and how it is renewed. Cheap to clone.
#[derive(Clone)]
pub struct Account(Arc<Shared>);

struct Shared {
    store: LoginStore,
    place: PathBuf,
    server: String,
    endpoint: Endpoint,
    clients: Clients,
    /// What is secret in the logins that were seen here.
    secrets: Mutex<Vec<String>>,
    /// What was read last, with the stamp of its file: each request asks.
    last: Mutex<(Option<String>, Option<Login>)>,
}

impl std::fmt::Debug for Account {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Account").field(&self.0.server).finish()
    }
}

/// Why a login did not come about.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoginError {
    /// The server publishes nowhere how one logs in.
    #[error("the server does not say where one logs in: it publishes no metadata of an authorization server")]
    NotOffered,
    /// What the server or its authorization server published cannot be used.
    #[error("what the server says about logging in cannot be used: {0}")]
    Discovery(String),
    /// The authorization server gives no name to a program that it does not know.
    #[error(
        "the authorization server registers no unknown program: register one there, and set `clientId` in `oauth` of the server's \
         entry ({0})"
    )]
    NoRegistration(String),
    /// The person, or the authorization server, said no.
    #[error("the authorization server refused: {0}")]
    Refused(String),
    /// What came back is not the answer to this login.
    #[error("what came back does not belong to this login: {0}")]
    Foreign(String),
    /// No token came for the code.
    #[error("the authorization server gave no token: {0}")]
    NoToken(String),
    /// The server goes on asking for what was asked for.
    #[error(
        "the server still wants `{scopes}` after {tries} logins that asked for it; `agent mcp logout` forgets them, and `--scope` asks for \
         something else"
    )]
    StepUps {
        /// What it wants.
        scopes: String,
        /// How often it was asked for.
        tries: u32,
    },
    /// The login cannot be kept.
    #[error("the login cannot be kept: {0}")]
    Kept(#[from] std::io::Error),
}

impl Account {
    /// The account of a server: nothing where the configuration says who asks, in a header or in the URL, or where a token would go in
    /// clear to another machine. `place` is whose configuration names the server, as in [`TrustStore`](crate::TrustStore).
    #[must_use]
    pub fn of(endpoint: &Endpoint, store: LoginStore, place: &Path, server: &str, clients: Clients) -> Option<Self> {
        let shared = Shared {
            store,
            place: place.to_path_buf(),
            server: server.to_owned(),
            endpoint: endpoint.clone(),
            clients,
            secrets: Mutex::default(),
            last: Mutex::default(),
        };
        (!endpoint.says_who_asks() && endpoint.is_safe_for_tokens()).then(|| Self(Arc::new(shared)))
    }

    pub(crate) fn server(&self) -> &str {
        &self.0.server
    }

    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.0.endpoint
    }

    pub(crate) fn clients(&self) -> &Clients {
        &self.0.clients
    }

    /// The login, if there is one for this URL. Reads a file.
    #[must_use]
    pub fn login(&self) -> Option<Login> {
        let login = self.0.store.read(&self.0.place, &self.0.server)?;
        let login = login.is_for(&self.0.endpoint).then_some(login)?;
        self.learn(&login);
        Some(login)
    }

    /// Keeps a login that was renewed. Where that fails it holds until this program ends: the one before is of no use any more.
    fn keep_renewed(&self, room: NamedTempFile, login: &Login) -> Result<(), String> {
        self.learn(login);
        self.0.store.write_in(room, &self.0.place, &self.0.server, login).map_err(|error| {
            let stamp = self.0.store.stamp(&self.0.place, &self.0.server);
            *self.0.last.lock().unwrap_or_else(PoisonError::into_inner) = (stamp, Some(login.clone()));
            let name = &self.0.server;
            format!("the renewed login cannot be kept: {error}; it holds until this program ends, and then `agent mcp login {name}` is needed")
        })
    }

    pub(crate) fn keep(&self, login: &Login) -> std::io::Result<()> {
        self.learn(login);
        self.0.store.write(&self.0.place, &self.0.server, login)
    }

    /// Keeps a new login in place of the one before, when no program renews that.
    pub(crate) fn replace(&self, login: &Login) -> std::io::Result<()> {
        let _lock = self.0.store.lock(&self.0.place, &self.0.server)?;
        self.keep(login)
    }

    fn learn(&self, login: &Login) {
        let mut known = self.0.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        for secret in login.secrets() {
            if !known.contains(&secret) {
                known.push(secret);
            }
        }
        // A session of months has many tokens; those of long ago are worth nothing.
        let excess = known.len().saturating_sub(MAX_SECRETS);
        known.drain(..excess);
    }

    /// The text without what is secret in the logins that were used.
    #[must_use]
    pub fn hide(&self, text: &str) -> String {
        let known = self.0.secrets.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Redactor::new(known).redacted(text)
    }

    /// Begins a login: asks the server where one logs in, and makes the address that the person opens. `redirect` is where the answer comes
    /// back, on this machine. `scopes` is what is asked for; where it is empty, what the configuration says, or else what the server
    /// wants, together with what an earlier login lacked.
    ///
    /// # Errors
    /// [`LoginError`]: nothing is kept then.
    pub async fn begin(&self, redirect: &str, scopes: &[String]) -> Result<Begun, LoginError> {
        oauth::begin(self, redirect, scopes).await
    }

    /// The token of the next request; nothing where there is no login. One that runs out is renewed first.
    pub(crate) async fn token(&self) -> Result<Option<String>, String> {
        let Some(login) = self.read().await? else { return Ok(None) };
        let token = login.access_token();
        match login.runs_out(kept::now_secs()) {
            true => Ok(self.renewed(&token).await?.or(Some(token))),
            false => Ok(Some(token)),
        }
    }

    /// Another token than one that the server refused; nothing where there is none without the person.
    pub(crate) async fn renewed(&self, refused: &str) -> Result<Option<String>, String> {
        let (store, place, server) = (self.0.store.clone(), self.0.place.clone(), self.0.server.clone());
        let locked = blocking(move || store.lock(&place, &server)).await?;
        let _lock = locked.map_err(|error| format!("the login cannot be renewed: {error}"))?;
        let Some(login) = self.read().await? else { return Ok(None) };
        if login.access_token() != refused {
            return Ok(Some(login.access_token()));
        }
        let own = self.clone();
        let room = blocking(move || own.0.store.room(&own.0.place, &own.0.server)).await?;
        let room = room.map_err(|error| format!("the login cannot be renewed, since it could not be kept: {error}"))?;
        let Some(login) = oauth::refreshed(self, login).await? else { return Ok(None) };
        let token = login.access_token();
        let own = self.clone();
        blocking(move || own.keep_renewed(room, &login)).await??;
        Ok(Some(token))
    }

    /// Notes what the server wants beyond what the login was given.
    pub(crate) async fn lacks(&self, scopes: &str) -> Result<(), String> {
        let own = self.clone();
        let scopes = kept::scopes_of(scopes);
        blocking(move || -> std::io::Result<()> {
            let _lock = own.0.store.lock(&own.0.place, &own.0.server)?;
            match own.login() {
                Some(login) => own.keep(&login.lacking(scopes)),
                None => Ok(()),
            }
        })
        .await?
        .map_err(|error| format!("cannot note what the login lacks: {error}"))
    }

    async fn read(&self) -> Result<Option<Login>, String> {
        let stamp = self.0.store.stamp(&self.0.place, &self.0.server);
        let last = self.0.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if last.0 == stamp {
            return Ok(last.1);
        }
        let own = self.clone();
        let login = blocking(move || own.login()).await?;
        *self.0.last.lock().unwrap_or_else(PoisonError::into_inner) = (stamp, login.clone());
        Ok(login)
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())
}

/// How many secrets of past tokens are kept in mind.
const MAX_SECRETS: usize = 64;
