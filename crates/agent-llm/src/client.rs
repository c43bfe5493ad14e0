//! The HTTP side that both providers share: one client with keep-alive, URLs, headers, and answers that are not successes.

use crate::config::{ConfigError, ProviderConfig, Timeouts};
use crate::failure::{ERROR_BODY_LIMIT_BYTES, Reporter};
use crate::secret::Secrets;
use agent_core::llm::LlmError;
use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Response, Url, redirect};
use std::sync::Arc;
use tokio::time::{Instant, timeout_at};

/// What differs between the providers before the first byte is sent.
pub(crate) struct Flavour {
    /// The public API.
    pub(crate) default_base_url: &'static str,
    /// Paths that users paste along with the base URL and that the provider appends itself. Taken off the end, the longest first.
    pub(crate) superfluous: &'static [&'static str],
    /// The usual name of the variable with the key.
    pub(crate) key_variable: &'static str,
    /// The header that carries the key, and what stands before the key in it.
    pub(crate) key_header: (&'static str, &'static str),
    /// Headers of every request.
    pub(crate) headers: &'static [(&'static str, &'static str)],
}

/// Sends requests to one server. Connections are kept and used again.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    http: reqwest::Client,
    base: Url,
    headers: HeaderMap,
    timeouts: Timeouts,
    reporter: Arc<Reporter>,
}

/// A successful answer whose body has not been read.
pub(crate) struct Answered {
    pub(crate) response: Response,
    /// What was attempted, for error texts.
    pub(crate) attempted: String,
    /// When the body must have begun.
    pub(crate) first_byte_due: Instant,
    pub(crate) timeouts: Timeouts,
    pub(crate) reporter: Arc<Reporter>,
}

impl Client {
    pub(crate) fn new(config: &ProviderConfig, flavour: &Flavour) -> Result<Self, ConfigError> {
        let base = base_url(&config.base_url, flavour)?;
        let key = config.api_key.as_deref().map(str::trim);
        let key = key.filter(|key| !key.is_empty());
        let key_variable = match config.key_variable.as_str() {
            "" => flavour.key_variable.to_owned(),
            name => name.to_owned(),
        };
        let mut secrets = Secrets::default();
        key.into_iter().for_each(|key| secrets.add(key));
        for (_, value) in &config.headers {
            secrets.add(value);
        }
        if let Some(password) = base.password() {
            secrets.add(password);
        }
        Ok(Self {
            http: http_client(&base, &config.timeouts)?,
            headers: headers(config, flavour, key, &key_variable)?,
            timeouts: config.timeouts,
            reporter: Arc::new(Reporter {
                base_url: shown(&base),
                key_variable,
                has_key: key.is_some(),
                secrets,
            }),
            base,
        })
    }

    /// The host requests go to; empty for an odd URL.
    pub(crate) fn host(&self) -> &str {
        self.base.host_str().unwrap_or_default()
    }

    /// Posts JSON to a path below the base URL.
    pub(crate) async fn post(&self, path: &str, body: Vec<u8>) -> Result<Answered, LlmError> {
        let url = self.url(path);
        let attempted = format!("POST {}", shown(&url));
        let request = self
            .http
            .post(url)
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "text/event-stream, application/json")
            .body(body);
        self.send(request, attempted).await
    }

    /// Gets a small JSON document from a path below the base URL.
    pub(crate) async fn get(&self, path: &str) -> Result<(String, Vec<u8>), LlmError> {
        let url = self.url(path);
        let attempted = format!("GET {}", shown(&url));
        let request = self.http.get(url).header(ACCEPT, "application/json");
        let mut answered = self.send(request, attempted).await?;
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
    ) -> Result<Answered, LlmError> {
        let first_byte_due = Instant::now() + self.timeouts.first_byte;
        let sending = request.headers(self.headers.clone()).send();
        let response = match timeout_at(first_byte_due, sending).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(self.reporter.transport(&attempted, &error)),
            Err(_) => return Err(self.reporter.timeout(&attempted, self.timeouts.first_byte)),
        };
        let answered = Answered {
            response,
            attempted,
            first_byte_due,
            timeouts: self.timeouts,
            reporter: Arc::clone(&self.reporter),
        };
        if answered.response.status() == reqwest::StatusCode::OK {
            answered.check_encoding()?;
            Ok(answered)
        } else {
            Err(answered.into_failure().await)
        }
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

impl Answered {
    /// Whether the content type names this.
    pub(crate) fn content_type_has(&self, word: &str) -> bool {
        let value = self.response.headers().get(CONTENT_TYPE);
        let text = value.and_then(|value| value.to_str().ok());
        text.is_some_and(|text| text.to_ascii_lowercase().contains(word))
    }

    /// The whole body. Answers that are larger than the limit are an error.
    pub(crate) async fn whole_body(&mut self, limit_bytes: usize) -> Result<Vec<u8>, LlmError> {
        let mut body = Vec::new();
        let mut due = self.first_byte_due;
        loop {
            match timeout_at(due, self.response.chunk()).await {
                Ok(Ok(Some(piece))) => body.extend_from_slice(&piece),
                Ok(Ok(None)) => return Ok(body),
                Ok(Err(error)) => return Err(self.reporter.transport(&self.attempted, &error)),
                Err(_) => return Err(self.reporter.timeout(&self.attempted, self.timeouts.idle)),
            }
            if body.len() > limit_bytes {
                let found = format!("the answer is larger than {limit_bytes} bytes");
                return Err(self.reporter.protocol(&self.attempted, &found));
            }
            due = Instant::now() + self.timeouts.idle;
        }
    }

    /// The error that an answer without success stands for.
    async fn into_failure(mut self) -> LlmError {
        let status = self.response.status().as_u16();
        let headers = self.response.headers().clone();
        let body = self.beginning_of_body().await;
        self.reporter
            .status(&self.attempted, status, &headers, &body)
    }

    /// What there is of an error's body, up to a limit. A body that breaks or hangs must not hide the status.
    pub(crate) async fn beginning_of_body(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        let due = Instant::now() + self.timeouts.idle.min(ERROR_BODY_WAIT);
        while body.len() < ERROR_BODY_LIMIT_BYTES {
            match timeout_at(due, self.response.chunk()).await {
                Ok(Ok(Some(piece))) => body.extend_from_slice(&piece),
                Ok(Ok(None) | Err(_)) | Err(_) => break,
            }
        }
        body.truncate(ERROR_BODY_LIMIT_BYTES);
        body
    }

    /// No compression is asked for: it saves little on a stream, and a small answer could unfold into an endless one.
    fn check_encoding(&self) -> Result<(), LlmError> {
        match self.response.headers().get(CONTENT_ENCODING) {
            Some(encoding) if encoding.as_bytes() != b"identity" => {
                let found =
                    format!("the answer is compressed ({encoding:?}), which was not asked for");
                Err(self.reporter.protocol(&self.attempted, &found))
            }
            _ => Ok(()),
        }
    }
}

/// The base URL without what the provider appends itself.
fn base_url(text: &str, flavour: &Flavour) -> Result<Url, ConfigError> {
    let text = match text.trim() {
        "" => flavour.default_base_url,
        given => given,
    };
    let wrong = |found: String| ConfigError::BaseUrl { found };
    let mut url = Url::parse(text).map_err(|error| wrong(error.to_string()))?;
    match url.scheme() {
        "http" => {}
        "https" if cfg!(feature = "tls") => {}
        "https" => return Err(wrong("this build has no TLS (feature `tls`)".to_owned())),
        other => return Err(wrong(format!("the scheme is `{other}`"))),
    }
    url.set_fragment(None);
    let mut path = url.path().trim_end_matches('/');
    while let Some(shorter) = flavour
        .superfluous
        .iter()
        .find_map(|end| path.strip_suffix(end))
    {
        path = shorter.trim_end_matches('/');
    }
    let mut path = path.to_owned();
    while path.ends_with("/v1/v1") {
        path.truncate(path.len() - "/v1".len());
    }
    url.set_path(&path);
    Ok(url)
}

/// A URL for people: without user, password and query, any of which may be secret.
fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // Refused only by URLs that cannot have a user at all.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.as_str().trim_end_matches('/').to_owned()
}

fn headers(
    config: &ProviderConfig,
    flavour: &Flavour,
    key: Option<&str>,
    key_variable: &str,
) -> Result<HeaderMap, ConfigError> {
    let mut headers = HeaderMap::new();
    for (name, value) in flavour.headers {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    if let Some(key) = key {
        let (name, before) = flavour.key_header;
        let mut value =
            HeaderValue::try_from(format!("{before}{key}")).map_err(|_| ConfigError::Key {
                variable: key_variable.to_owned(),
            })?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(name), value);
    }
    for (name, value) in &config.headers {
        let wrong = || ConfigError::Header { name: name.clone() };
        let header = HeaderName::try_from(name.as_str()).map_err(|_| wrong())?;
        let mut value = HeaderValue::try_from(value.as_str()).map_err(|_| wrong())?;
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(headers)
}

fn http_client(base: &Url, timeouts: &Timeouts) -> Result<reqwest::Client, ConfigError> {
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("agent-llm/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(timeouts.connect)
        // Events are small and each is waited for.
        .tcp_nodelay(true)
        // A redirect would carry the key to a server that nobody named.
        .redirect(redirect::Policy::none())
        .referer(false);
    if is_loopback(base) {
        // A proxy for the outside cannot reach this machine's own servers.
        builder = builder.no_proxy();
    }
    #[cfg(feature = "tls")]
    {
        builder = builder.tls_backend_preconfigured(tls(base.scheme() == "https")?);
    }
    builder.build().map_err(|error| ConfigError::Client {
        found: error.to_string(),
    })
}

/// TLS by ring, certificates checked by the system's store. Without need the store is not loaded: that takes tens of milliseconds.
#[cfg(feature = "tls")]
fn tls(needed: bool) -> Result<rustls::ClientConfig, ConfigError> {
    use rustls_platform_verifier::BuilderVerifierExt as _;
    let wrong = |error: rustls::Error| ConfigError::Tls {
        found: error.to_string(),
    };
    // Given explicitly, so that no provider has to be installed for the whole process.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(wrong)?;
    let builder = if needed {
        builder.with_platform_verifier().map_err(wrong)?
    } else {
        builder.with_root_certificates(rustls::RootCertStore::empty())
    };
    Ok(builder.with_no_client_auth())
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || address
            .parse::<core::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

/// More than any list of models has.
const DOCUMENT_LIMIT_BYTES: usize = 8 * 1024 * 1024;

/// How long the body of an error is waited for; its status is known already.
const ERROR_BODY_WAIT: core::time::Duration = core::time::Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    const FLAVOUR: Flavour = Flavour {
        default_base_url: "https://api.example.com/v1",
        superfluous: &["/chat/completions"],
        key_variable: "EXAMPLE_API_KEY",
        key_header: ("authorization", "Bearer "),
        headers: &[],
    };

    fn base(text: &str) -> String {
        base_url(text, &FLAVOUR).unwrap().to_string()
    }

    #[test]
    fn base_urls_are_taken_as_people_write_them() {
        assert_eq!(base(""), "https://api.example.com/v1");
        assert_eq!(base(" http://h:8080/v1/ "), "http://h:8080/v1");
        assert_eq!(base("http://h/v1/v1/v1"), "http://h/v1");
        assert_eq!(base("http://h/v1/chat/completions"), "http://h/v1");
        assert_eq!(base("http://h"), "http://h/");
    }

    #[test]
    fn what_is_no_web_address_is_refused() {
        for text in ["h:8080", "ftp://h/", "/v1", "http://"] {
            assert!(base_url(text, &FLAVOUR).is_err(), "{text}");
        }
    }

    #[test]
    fn neither_debug_output_nor_errors_show_a_key() {
        let config = ProviderConfig {
            base_url: "http://user:hunter2@127.0.0.1:9/v1?key=sk-query".to_owned(),
            api_key: Some("sk-secret\n".to_owned()),
            headers: vec![("x-other".to_owned(), "sk-header".to_owned())],
            ..ProviderConfig::default()
        };
        let client = Client::new(&config, &FLAVOUR).unwrap();
        let shown = format!(
            "{config:?} {:?} {}",
            client.headers, client.reporter.base_url
        );
        for secret in ["sk-secret", "sk-header", "sk-query", "hunter2"] {
            assert!(!shown.contains(secret), "{secret} in {shown}");
        }
        let error = Client::new(
            &ProviderConfig {
                api_key: Some("sk-\u{1}".to_owned()),
                ..ProviderConfig::default()
            },
            &FLAVOUR,
        );
        assert_eq!(
            error.unwrap_err().to_string(),
            "use the API key: it has characters that a header cannot carry; check EXAMPLE_API_KEY"
        );
    }

    #[test]
    fn paths_are_appended_and_the_query_stays() {
        let config = ProviderConfig {
            base_url: "http://h/v1?api-version=1".to_owned(),
            ..ProviderConfig::default()
        };
        let client = Client::new(&config, &FLAVOUR).unwrap();
        assert_eq!(client.url("/x").as_str(), "http://h/v1/x?api-version=1");
    }

    #[test]
    fn loopback_is_known_by_every_name() {
        for (text, expected) in [
            ("http://localhost:1", true),
            ("http://127.0.0.2", true),
            ("http://[::1]:8", true),
            ("http://example.com", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(text).unwrap()), expected, "{text}");
        }
    }
}
