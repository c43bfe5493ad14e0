//! Which key goes where. A provider's key goes to the provider's own hosts by itself; anywhere else only by the user's word, and never in
//! clear to another machine.
//!
//! ```text
//! --api-key-env NAME             the key in NAME, or with `-` none; for this run's server, whichever that is
//! [providers.NAME]               the key in a variable, a file or from a program; for the server of this entry
//! api_key_env in the user's file the same, for the server that this file names (or the provider's own)
//! none of these, own host        the provider's usual variable
//! none of these, this machine    no key
//! none of these, another host    an error that says how the key is given
//! ```

use crate::config::file::UserConfig;
use crate::config::options::ProviderName;
use crate::config::providers::ProviderEntry;
use crate::config::settings::Settings;
use crate::failure::Failure;
use crate::model::endpoint::Endpoint;
use crate::model::given::{self, NotGiven};
use crate::session::apart::apart;
use crate::walls::hidden;
use agent_llm::{ProviderConfig, Server};
use std::path::{Path, PathBuf};

/// A key, and where it was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) value: Option<String>,
    pub(crate) variable: String,
}

/// Where a key is by the user's word.
enum Source<'a> {
    Variable(&'a str),
    /// No key is sent.
    Nowhere,
    File(PathBuf),
    Command(&'a [String]),
}

/// The key for a server.
pub(crate) async fn of(settings: &Settings, endpoint: &Endpoint<'_>, config: &ProviderConfig) -> Result<Key, Failure> {
    let (name, from) = (endpoint.protocol, &endpoint.from);
    let server = config.server().map_err(|error| Failure::config(format!("{error}; it comes from {from}")))?;
    let usual = key_variable(name);
    let Some((source, by)) = explicit(settings, endpoint)? else {
        return match () {
            () if is_own(name, &server) => match variable(usual) {
                Some(value) => Ok(Key { value: Some(value), variable: usual.to_owned() }),
                None => Err(no_key(usual)),
            },
            () if server.is_local => Ok(Key { value: None, variable: given_here(usual) }),
            () if let Some(entry) = endpoint.own_entry() => unsaid(&endpoint.name, entry, &server),
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
    let shown = match &source {
        Source::Nowhere => return Ok(Key { value: None, variable: given_here(usual) }),
        Source::Variable(given) => (*given).to_owned(),
        Source::File(_) | Source::Command(_) => by.clone(),
    };
    // Before a program is asked for what must not be sent.
    if !server.is_encrypted && !server.is_local {
        return Err(Failure::config(format!(
            "cannot ask the provider: the key in {shown} would go to {} unencrypted; use `https://`, or `--api-key-env -` if the server \
             needs no key",
            server.host
        )));
    }
    let value = value(settings, source, &by).await?;
    Ok(Key { value: Some(value), variable: shown })
}

/// The key itself. A file or a program may take its time.
async fn value(settings: &Settings, source: Source<'_>, by: &str) -> Result<String, Failure> {
    let failed = |why: NotGiven| Failure::authentication(why.to_string());
    match source {
        Source::Variable(given) => variable(given).ok_or_else(|| {
            Failure::authentication(format!("cannot ask the provider: {given} is not set, but {by} names it"))
        }),
        Source::Nowhere => Ok(String::new()),
        Source::File(path) => apart(move || given::in_file(&path)).await?.map_err(failed),
        Source::Command(argv) => {
            let untrusted = [
                vec![settings.directory.clone()],
                hidden::absolute("sandbox_writable", &settings.user.sandbox_writable)?,
            ];
            let (argv, programs, untrusted) = (argv.to_vec(), settings.programs.clone(), untrusted.concat());
            apart(move || given::by_command(&argv, &programs, &untrusted)).await?.map_err(failed)
        }
    }
}

/// An entry for another machine says which key goes there, or that none does.
fn unsaid(name: &str, entry: &ProviderEntry, server: &Server) -> Result<Key, Failure> {
    if entry.has_key_header() {
        return Ok(Key { value: None, variable: format!("`headers` of `[providers.{name}]`") });
    }
    Err(Failure::authentication(format!(
        "cannot ask the provider {name}: `[providers.{name}]` has no key for {}. Set `api_key_env`, `api_key_file` or `api_key_command` \
         there, or `api_key_env = \"-\"` if the server needs no key",
        server.host
    )))
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

/// What the user said about the key for this server: where it is, and who says so.
fn explicit<'a>(settings: &'a Settings, endpoint: &Endpoint<'a>) -> Result<Option<(Source<'a>, String)>, Failure> {
    let variable = |name: &'a str| if name == NONE { Source::Nowhere } else { Source::Variable(name) };
    if let Some(name) = &settings.api_key_env {
        return Ok(Some((variable(name), "`--api-key-env`".to_owned())));
    }
    // Another server than the file's own is none that the file's key was given for.
    let Some(entry) = endpoint.own_entry() else {
        let is_the_files = endpoint.from == CONFIGURATION;
        let name = settings.user.api_key_env.as_deref().filter(|_| is_the_files);
        return Ok(name.map(|name| (variable(name), "`api_key_env`".to_owned())));
    };
    let by = |key: &str| format!("`{key}` of `[providers.{}]`", endpoint.name);
    Ok(match (&entry.api_key_env, &entry.api_key_file, &entry.api_key_command) {
        (Some(name), _, _) => Some((variable(name), by("api_key_env"))),
        (None, Some(path), _) => Some((Source::File(key_file(&endpoint.name, path)?), by("api_key_file"))),
        (None, None, Some(argv)) => Some((Source::Command(argv), by("api_key_command"))),
        (None, None, None) => None,
    })
}

fn key_file(name: &str, path: &Path) -> Result<PathBuf, Failure> {
    let key = format!("providers.{name}.api_key_file");
    hidden::absolute(&key, &[path.to_path_buf()]).map(|paths| paths.into_iter().next().unwrap_or_default())
}

/// Files with keys, which no tool and no command may read.
pub(crate) fn files(user: &UserConfig) -> Result<Vec<PathBuf>, Failure> {
    let named = user.providers.iter().filter_map(|(name, entry)| Some((name, entry.api_key_file.as_ref()?)));
    named.map(|(name, path)| key_file(name, path)).collect()
}

/// The keys in files of all entries, also of those that this run does not use: a command could show one all the same. What cannot be read
/// is shown by nothing. A program is asked for its key only when that is used.
pub(crate) async fn in_files(settings: &Settings) -> Vec<String> {
    let files = files(&settings.user).unwrap_or_default();
    if files.is_empty() {
        return Vec::new();
    }
    let read = move || files.iter().filter_map(|path| given::in_file(path).ok()).collect();
    apart(read).await.unwrap_or_default()
}

/// Values that are keys by the user's word, whatever their variables are called.
pub(crate) fn named(settings: &Settings) -> Vec<String> {
    let user = &settings.user;
    let names = [settings.api_key_env.as_deref(), user.api_key_env.as_deref()].into_iter().flatten();
    let entries = user.providers.values().filter_map(|entry| entry.api_key_env.as_deref());
    names.chain(entries).filter(|name| *name != NONE).filter_map(variable).collect()
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
