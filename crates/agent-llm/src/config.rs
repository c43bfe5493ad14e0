//! The configuration of a provider: where the server is, the key, and how long to wait.

use crate::cassette::{CassetteError, Recorder};
use crate::client::base::{self, is_local};
use crate::client::proxy;
use crate::pictures::Pictures;
use core::fmt;
use core::time::Duration;

/// How to reach a model server.
///
/// Every field has a default that means the provider's own public API:
///
/// ```
/// use agent_llm::{OpenAiProvider, ProviderConfig};
///
/// let config = ProviderConfig {
///     base_url: "http://127.0.0.1:8080/v1".to_owned(),
///     ..ProviderConfig::default()
/// };
/// let provider = OpenAiProvider::new(config)?;
/// # Ok::<(), agent_llm::ConfigError>(())
/// ```
#[derive(Clone, Default)]
pub struct ProviderConfig {
    /// Where the API is, `http://` or `https://`. Empty means the provider's public API.
    ///
    /// Anthropic: without `/v1`. OpenAI: with `/v1`, or whatever precedes `/chat/completions`. A `/v1` too many is tolerated.
    pub base_url: String,
    /// The key. Local servers need none. It appears in no error text and in no `Debug` output.
    pub api_key: Option<String>,
    /// Name of the environment variable that the user keeps the key in, for the error text when the key is refused. Empty means the
    /// provider's usual one. This crate never reads the environment for a key.
    pub key_variable: String,
    /// Further headers of every request. Their values are kept out of error texts like the key.
    pub headers: Vec<(String, String)>,
    /// How long to wait.
    pub timeouts: Timeouts,
    /// The names of the user's settings for these times, for the error text of a timeout.
    pub wait_settings: WaitSettings,
    /// The recorder of model calls, if any.
    pub recorder: Option<Recorder>,
    /// Where the bytes of pictures are, and which models take them.
    pub pictures: Pictures,
}

impl ProviderConfig {
    /// Whether the base URL names this machine: servers there need no key.
    ///
    /// # Errors
    /// [`ConfigError::BaseUrl`] when it is no URL that a provider can be reached at.
    pub fn is_local(&self) -> Result<bool, ConfigError> {
        is_local(&self.base_url)
    }

    /// Which server the base URL names.
    ///
    /// # Errors
    /// [`ConfigError::BaseUrl`] when it is no URL that a provider can be reached at.
    pub fn server(&self) -> Result<Server, ConfigError> {
        base::server(&self.base_url)
    }

    /// The proxy of the environment through which requests to the base URL go, without what may be secret in its URL. Servers on this
    /// machine are asked directly. Nothing where the base URL is empty: then it is the provider that knows where it goes.
    ///
    /// # Errors
    /// [`ConfigError::BaseUrl`] when it is no URL that a provider can be reached at.
    pub fn proxy(&self) -> Result<Option<String>, ConfigError> {
        proxy::of_environment(&self.base_url)
    }
}

impl fmt::Debug for ProviderConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let header_names: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("ProviderConfig")
            .field("has_key", &self.api_key.is_some())
            .field("header_names", &header_names)
            .field("timeouts", &self.timeouts)
            .field("recorder", &self.recorder)
            // The base URL is left out too: it may carry a password.
            .finish_non_exhaustive()
    }
}

/// A server, as its URL identifies it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Server {
    /// Its name or address, in small letters; empty for the provider's own.
    pub host: String,
    /// Whether no URL was given, so that it is the provider's own.
    pub is_default: bool,
    /// Whether it is on this machine.
    pub is_local: bool,
    /// Whether the connection is encrypted.
    pub is_encrypted: bool,
}

/// How long to wait for a server. Reaching a limit is an error of kind [`Timeout`](agent_types::llm::LlmErrorKind::Timeout), whose facts
/// say [which](agent_types::llm::Wait) it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For the connection to be made, TLS included.
    pub connect: Duration,
    /// From sending the request to the first piece of the answer that says something: large prompts are read for minutes on a local
    /// server.
    pub first_byte: Duration,
    /// Between two pieces of the answer that say something. Comments, pings and half events do not count: a server that only keeps the
    /// connection alive would keep the run waiting forever.
    pub idle: Duration,
    /// From sending the request to the end of the answer.
    pub total: Duration,
}

impl Default for Timeouts {
    /// 10 s, 2 min, 2 min and 1 h. Models that reason in secret, and local servers that read a large prompt, may need more.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(120),
            idle: Duration::from_secs(120),
            total: Duration::from_secs(3600),
        }
    }
}

/// The names of what sets a wait, in the host's own words: flags, say, or keys of a configuration. An error text names one that is not
/// empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WaitSettings {
    /// Of [`Timeouts::first_byte`].
    pub first_byte: String,
    /// Of [`Timeouts::idle`].
    pub idle: String,
}

/// Why a provider could not be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The base URL is not one.
    #[error("read the base URL: {found}; expected something like `https://api.example.com`")]
    BaseUrl {
        /// What is wrong with it.
        found: String,
    },
    /// The key has characters that cannot be sent.
    #[error("use the API key: it has characters that a header cannot carry; check {variable}")]
    Key {
        /// The environment variable to check.
        variable: String,
    },
    /// A further header cannot be sent.
    #[error("use the header `{name}`: its name or value has characters that a header cannot carry")]
    Header {
        /// Its name.
        name: String,
    },
    /// A key, a password or a header would be sent unencrypted.
    #[error("use the base URL: a key or password would go to {host} unencrypted; use `https://`")]
    InClear {
        /// Where it would go.
        host: String,
    },
    /// TLS cannot be set up.
    #[error("set up TLS: {found}")]
    Tls {
        /// What the system said.
        found: String,
    },
    /// The recording cannot be begun.
    #[error(transparent)]
    Recorder(CassetteError),
    /// The HTTP client cannot be set up.
    #[error("set up the HTTP client: {found}")]
    Client {
        /// What it said.
        found: String,
    },
}
