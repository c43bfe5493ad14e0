//! What a connection is made of: headers, the HTTP client, TLS.

use super::ApiSpec;
use super::base::is_loopback;
use crate::config::{ConfigError, Timeouts};
use core::time::Duration;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Url, redirect};
#[cfg(feature = "tls")]
use std::sync::{Arc, OnceLock};

/// The headers of every request.
pub(super) fn headers(
    more: &[(String, String)],
    spec: &ApiSpec,
    key: Option<&str>,
    key_variable: &str,
) -> Result<HeaderMap, ConfigError> {
    let mut headers = HeaderMap::new();
    for (name, value) in spec.headers {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if let Some(key) = key {
        let (name, before) = spec.key_header;
        let mut value = HeaderValue::try_from(format!("{before}{key}"))
            .map_err(|_| ConfigError::Key { variable: key_variable.to_owned() })?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(name), value);
    }
    for (name, value) in more {
        let wrong = || ConfigError::Header { name: name.clone() };
        let header = HeaderName::try_from(name.as_str()).map_err(|_| wrong())?;
        let mut value = HeaderValue::try_from(value.as_str()).map_err(|_| wrong())?;
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(headers)
}

/// The HTTP client with its limits, and TLS where the build has it.
pub(super) fn model_client(base: &Url, timeouts: &Timeouts) -> Result<reqwest::Client, ConfigError> {
    let builder = builder(base, timeouts.connect)?.user_agent(concat!("agent-llm/", env!("CARGO_PKG_VERSION")));
    builder.build().map_err(|error| ConfigError::Client { found: error.to_string() })
}

/// What all clients have in common.
pub(super) fn builder(base: &Url, connect: Duration) -> Result<reqwest::ClientBuilder, ConfigError> {
    let mut builder = reqwest::Client::builder()
        .connect_timeout(connect)
        // Events are small and each is waited for.
        .tcp_nodelay(true)
        // A redirect would carry the key to a server that the user did not name.
        .redirect(redirect::Policy::none())
        .referer(false);
    if is_loopback(base) {
        // A proxy for the outside cannot reach this machine's own servers.
        builder = builder.no_proxy();
    }
    #[cfg(feature = "tls")]
    {
        builder = builder.tls_backend_preconfigured(shared_tls(base.scheme() == "https")?);
    }
    Ok(builder)
}

/// The same for all clients of the process: what it remembers of sessions is not small.
#[cfg(feature = "tls")]
fn shared_tls(needed: bool) -> Result<rustls::ClientConfig, ConfigError> {
    static MADE: [OnceLock<rustls::ClientConfig>; 2] = [OnceLock::new(), OnceLock::new()];
    let [without, with] = &MADE;
    let made = if needed { with } else { without };
    match made.get() {
        Some(config) => Ok(config.clone()),
        // One that fails is tried again by the next client.
        None => tls(needed).map(|config| made.get_or_init(|| config).clone()),
    }
}

/// TLS by ring, certificates checked by the system's store. Without need the store is not loaded: that takes tens of milliseconds.
#[cfg(feature = "tls")]
fn tls(needed: bool) -> Result<rustls::ClientConfig, ConfigError> {
    use rustls_platform_verifier::BuilderVerifierExt as _;
    let wrong = |error: rustls::Error| ConfigError::Tls { found: error.to_string() };
    // Given explicitly, so that no provider needs to be installed for the whole process.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().map_err(wrong)?;
    let builder = if needed {
        builder.with_platform_verifier().map_err(wrong)?
    } else {
        builder.with_root_certificates(rustls::RootCertStore::empty())
    };
    Ok(builder.with_no_client_auth())
}
