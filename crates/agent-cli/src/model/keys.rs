//! Which key goes where. A provider's key goes to the provider's own hosts by itself; anywhere else only by the user's word, and never in
//! clear to another machine.
//!
//! ```text
//! --api-key-env NAME             the key in NAME, or with `-` none; for this run's server, whichever that is
//! api_key_env in the user's file the same, for the server that this file names (or the provider's own)
//! neither, own host              the provider's usual variable
//! neither, this machine          no key
//! neither, another host          an error that says how the key is given
//! ```

use crate::config::options::ProviderName;
use crate::config::settings::Settings;
use crate::failure::Failure;
use agent_llm::{ProviderConfig, Server};

/// A key, and where it was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) value: Option<String>,
    pub(crate) variable: String,
}

/// The key for a server.
pub(crate) fn of(settings: &Settings, name: ProviderName, config: &ProviderConfig, from: &str) -> Result<Key, Failure> {
    let server = config.server().map_err(|error| Failure::config(format!("{error}; it comes from {from}")))?;
    let usual = key_variable(name);
    let explicit = explicit(settings, from);
    let Some((given, by)) = explicit else {
        return match () {
            () if is_own(name, &server) => match variable(usual) {
                Some(value) => Ok(Key { value: Some(value), variable: usual.to_owned() }),
                None => Err(no_key(usual)),
            },
            () if server.is_local => Ok(Key { value: None, variable: given_here(usual) }),
            () if variable(usual).is_none() => Err(no_key(usual)),
            () => Err(Failure::authentication(format!(
                "cannot ask the provider: {usual} is the key for {} and is not sent to {}. `--api-key-env {usual}` sends it there, \
                 `--api-key-env NAME` sends the key in another variable, `--api-key-env -` sends none; `api_key_env` in your \
                 configuration does the same for the server that is configured there",
                own_host(name),
                server.host
            ))),
        };
    };
    if given == NONE {
        return Ok(Key { value: None, variable: given_here(usual) });
    }
    let Some(value) = variable(given) else {
        return Err(Failure::authentication(format!("cannot ask the provider: {given} is not set, but {by} names it")));
    };
    if !server.is_encrypted && !server.is_local {
        return Err(Failure::config(format!(
            "cannot ask the provider: the key in {given} would go to {} unencrypted; use `https://`, or `--api-key-env -` if the server \
             needs no key",
            server.host
        )));
    }
    Ok(Key { value: Some(value), variable: given.to_owned() })
}

/// The variable in which a provider's key usually is.
pub(crate) const fn key_variable(name: ProviderName) -> &'static str {
    match name {
        ProviderName::Anthropic => "ANTHROPIC_API_KEY",
        ProviderName::OpenAi | ProviderName::OpenAiResponses => "OPENAI_API_KEY",
        ProviderName::Replay => "",
    }
}

/// What a variable says, if it says anything.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// What to do about a server that wants a key and got none, as errors tell it.
fn given_here(variable: &str) -> String {
    format!("{variable} and use `--api-key-env {variable}`")
}

/// What the user said about the key for this server: the variable, and who names it.
fn explicit<'a>(settings: &'a Settings, from: &str) -> Option<(&'a str, &'static str)> {
    if let Some(name) = &settings.api_key_env {
        return Some((name, "`--api-key-env`"));
    }
    // Another server than the file's own is none that the file's key was given for.
    let is_the_files = from == CONFIGURATION;
    settings.user.api_key_env.as_deref().filter(|_| is_the_files).map(|name| (name, "`api_key_env`"))
}

/// Values that are keys by the user's word, whatever their variables are called.
pub(crate) fn named(settings: &Settings) -> Vec<String> {
    let names = [settings.api_key_env.as_deref(), settings.user.api_key_env.as_deref()];
    names.into_iter().flatten().filter(|name| *name != NONE).filter_map(variable).collect()
}

/// Whether a server is the provider's own, at which no other can listen.
pub(crate) fn is_own(name: ProviderName, server: &Server) -> bool {
    let domain = own_host(name).trim_start_matches("api.");
    let is_below = server.host.strip_suffix(domain).is_some_and(|before| before.is_empty() || before.ends_with('.'));
    server.is_default || (server.is_encrypted && is_below)
}

pub(crate) fn own_host(name: ProviderName) -> &'static str {
    match name {
        ProviderName::Anthropic => "api.anthropic.com",
        ProviderName::OpenAi | ProviderName::OpenAiResponses => "api.openai.com",
        ProviderName::Replay => "",
    }
}

fn no_key(variable: &str) -> Failure {
    Failure::authentication(format!(
        "cannot ask the provider: {variable} is not set. You can:\n  \
         - set {variable};\n  \
         - use a local server such as Ollama or llama-server: `--base-url http://127.0.0.1:11434/v1`;\n  \
         - try it first without a key: `agent demo`"
    ))
}

/// No key.
const NONE: &str = "-";
/// Who names the base URL, where nothing else does.
pub(crate) const CONFIGURATION: &str = "the configuration";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_providers_own_hosts_are_its_own() {
        let is_own = |name, url: &str| {
            let config = ProviderConfig { base_url: url.to_owned(), ..ProviderConfig::default() };
            is_own(name, &config.server().unwrap())
        };
        for url in ["", "https://api.openai.com/v1", "https://eu.api.openai.com/v1", "https://API.OPENAI.COM:443/v1"] {
            assert!(is_own(ProviderName::OpenAi, url), "{url}");
        }
        for url in [
            "http://api.openai.com/v1",
            "https://api.openai.com.example.org/v1",
            "https://notopenai.com/v1",
            "https://api.openai.com@example.org/v1",
            "https://example.org/api.openai.com",
            "https://api.anthropic.com",
            "http://127.0.0.1:1",
        ] {
            assert!(!is_own(ProviderName::OpenAi, url), "{url}");
        }
        assert!(is_own(ProviderName::Anthropic, "https://api.anthropic.com"));
    }
}
