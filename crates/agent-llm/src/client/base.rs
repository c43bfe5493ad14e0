//! Base URLs: as people write them, and as people may see them.

use super::ApiSpec;
use crate::config::{ConfigError, Server};
use reqwest::Url;

/// The base URL without what the provider appends itself.
pub(super) fn base_url(text: &str, spec: &ApiSpec) -> Result<Url, ConfigError> {
    let mut url = match text.trim() {
        "" => parsed(spec.default_base_url)?,
        given => parsed(given)?,
    };
    url.set_fragment(None);
    let mut path = url.path().trim_end_matches('/');
    while let Some(shorter) = spec.superfluous.iter().find_map(|end| path.strip_suffix(end)) {
        path = shorter.trim_end_matches('/');
    }
    let mut path = path.to_owned();
    while path.ends_with("/v1/v1") {
        path.truncate(path.len() - "/v1".len());
    }
    url.set_path(&path);
    Ok(url)
}

/// Whether a base URL names this machine; an empty one names a public server.
pub(crate) fn is_local(text: &str) -> Result<bool, ConfigError> {
    match text.trim() {
        "" => Ok(false),
        given => parsed(given).map(|url| is_loopback(&url)),
    }
}

/// Which server a base URL names.
pub(crate) fn server(text: &str) -> Result<Server, ConfigError> {
    match text.trim() {
        "" => Ok(Server { host: String::new(), is_default: true, is_local: false, is_encrypted: true }),
        given => parsed(given).map(|url| Server {
            host: url.host_str().unwrap_or_default().trim_end_matches('.').to_owned(),
            is_default: false,
            is_local: is_loopback(&url),
            is_encrypted: url.scheme() == "https",
        }),
    }
}

/// Refuses what would send a secret in clear to another machine. A user without a password may be a token. Parameters count by their names:
/// some are no secrets.
pub(super) fn check_clear(url: &Url, has_key: bool) -> Result<(), ConfigError> {
    if url.scheme() == "https" || is_loopback(url) {
        return Ok(());
    }
    let is_secret =
        |name: &str| ["key", "token", "secret", "password"].iter().any(|part| name.to_lowercase().contains(part));
    let in_url =
        !url.username().is_empty() || url.password().is_some() || url.query_pairs().any(|(name, _)| is_secret(&name));
    match has_key || in_url {
        true => Err(ConfigError::InClear { host: url.host_str().unwrap_or_default().to_owned() }),
        false => Ok(()),
    }
}

/// A URL that this build can reach.
pub(super) fn parsed(text: &str) -> Result<Url, ConfigError> {
    let wrong = |found: String| ConfigError::BaseUrl { found };
    let url = Url::parse(text).map_err(|error| wrong(error.to_string()))?;
    match url.scheme() {
        "http" => Ok(url),
        "https" if cfg!(feature = "tls") => Ok(url),
        "https" => Err(wrong("this build has no TLS (feature `tls`)".to_owned())),
        other => Err(wrong(format!("the scheme is `{other}`"))),
    }
}

/// A URL for people: without user, password and query, because each may be secret.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    // Refused only by URLs that cannot have a user at all.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.as_str().trim_end_matches('/').to_owned()
}

/// Whether the URL names this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<core::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
