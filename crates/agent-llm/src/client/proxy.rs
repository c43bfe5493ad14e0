//! Which proxy of the environment a request goes through, found by the same rules as the HTTP client does.

use super::base::{is_loopback, parsed, shown};
use crate::config::ConfigError;
use hyper_util::client::proxy::matcher::Matcher;
use reqwest::Url;

/// The proxy for a base URL, as people may see it.
pub(crate) fn of_environment(base_url: &str) -> Result<Option<String>, ConfigError> {
    let given = base_url.trim();
    if given.is_empty() {
        return Ok(None);
    }
    let url = parsed(given)?;
    if is_loopback(&url) {
        return Ok(None);
    }
    let Ok(target) = url.as_str().parse() else { return Ok(None) };
    let found = Matcher::from_env().intercept(&target);
    Ok(found.and_then(|found| Url::parse(&found.uri().to_string()).ok()).map(|proxy| shown(&proxy)))
}
