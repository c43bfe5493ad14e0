//! The HTTP client for servers that are no models: made like the one for models.

use super::base::{check_clear, parsed};
use super::transport::builder;
use crate::config::ConfigError;
use core::time::Duration;

/// An HTTP client for a server that is no model, with what holds for those of models: the proxies of the environment, but not for this
/// machine; certificates as the system has them; no redirects, which would carry what is secret to another host; no second stack of TLS.
/// It has no limit of time but that for connecting: the caller bounds its requests.
///
/// # Errors
/// When the URL is none that can be reached, or when something that may be secret, in it (a user, a password, any parameter) or beside it
/// (`has_secrets`), would go to another machine unencrypted.
pub fn http_client(url: &str, has_secrets: bool, connect: Duration) -> Result<reqwest::Client, ConfigError> {
    let url = parsed(url)?;
    // Of parameters nobody knows here what they mean, and a key may be called anything.
    let has_parameters = url.query().is_some_and(|query| !query.is_empty());
    check_clear(&url, has_secrets || has_parameters)?;
    let builder = builder(&url, connect)?;
    builder.build().map_err(|error| ConfigError::Client { found: error.to_string() })
}

#[cfg(test)]
mod tests {
    use super::http_client;
    use crate::config::ConfigError;
    use core::time::Duration;

    #[test]
    fn secrets_go_unencrypted_to_this_machine_alone() {
        let made = |url, has_secrets| http_client(url, has_secrets, Duration::from_secs(1));
        for (url, has_secrets) in [
            ("http://127.0.0.1:1/", true),
            ("http://localhost/", true),
            ("http://example.com/", false),
            ("http://example.com/?", false),
            ("http://user@localhost/?k=v", false),
            ("https://user@example.com/?k=v", true),
        ] {
            made(url, has_secrets).unwrap();
        }
        for (url, has_secrets) in [
            ("http://example.com/", true),
            ("http://a:b@example.com/", false),
            ("http://user@example.com/", false),
            ("http://example.com/?api_key=1", false),
            ("http://example.com/?k=v", false),
            ("http://example.com/?v", false),
        ] {
            assert!(matches!(made(url, has_secrets), Err(ConfigError::InClear { .. })), "{url}");
        }
        assert!(matches!(made("ftp://example.com", false), Err(ConfigError::BaseUrl { .. })));
    }
}
