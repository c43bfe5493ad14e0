//! Which provider, which model, which key.

use crate::config::options::ProviderName;
use crate::config::settings::Settings;
use crate::failure::Failure;
use crate::model::asked::{Models, as_recorded};
use crate::model::effort::{self, Reach};
use crate::model::keys::{self, CONFIGURATION, key_variable, variable};
use crate::model::paced::{Paced, Unread};
use crate::model::secrets;
use crate::model::tape::Tape;
use crate::screen::terminal::say;
use agent_core::llm::{LlmError, LlmErrorKind};
use agent_core::ports::LlmProvider;
use agent_core::session::ModelConfig;
use agent_llm::{
    AnthropicProvider, Asked, ConfigError, OpenAiProvider, OpenAiResponsesProvider, ProviderConfig, ReplayProvider,
    WaitSettings,
};
use std::sync::Arc;
use std::time::Duration;

/// A provider that is ready, and the models to ask it for.
pub(crate) struct Chosen {
    pub(crate) provider: Arc<dyn LlmProvider>,
    pub(crate) models: Vec<ModelConfig>,
    /// The server that they are asked through.
    pub(crate) reach: Reach,
    /// Values that must not be shown anywhere.
    pub(crate) secrets: Vec<String>,
}

impl Chosen {
    /// The same, asked only when everything that came before is written.
    pub(crate) fn paced(self, unread: Unread) -> Self {
        Self { provider: Arc::new(Paced::new(self.provider, unread)), ..self }
    }
}

/// Chooses by flag, configuration, or the only key that is set; a recording takes the place of all of them.
pub(crate) async fn choose(settings: &Settings) -> Result<Chosen, Failure> {
    // The keys of other providers are secrets too, and whatever else the environment holds.
    let mut secrets = secrets::of_environment();
    secrets.extend(keys::named(settings));
    if let Tape::Replay(provider, recorded) = &settings.tape {
        let models = recorded_models(settings, recorded)?;
        let provider = Arc::<ReplayProvider>::clone(provider);
        return Ok(Chosen { provider, models, reach: Reach::default(), secrets });
    }
    let name = name(settings)?;
    let (base_url, from) = base_url(settings, name);
    secrets.extend(secrets::of_url(&base_url));
    let timeouts = settings.timeouts;
    let mut config = ProviderConfig { base_url, timeouts, wait_settings: wait_settings(), ..ProviderConfig::default() };
    let key = keys::of(settings, name, &config, &from)?;
    (config.api_key, config.key_variable) = (key.value, key.variable);
    say_proxy(settings, name, &config);
    config.recorder = settings.tape.recorder(&secrets)?;
    let reach = reach(name, &config)?;
    match name {
        ProviderName::Anthropic => {
            let provider = AnthropicProvider::new(config).map_err(|error| wrong(&error))?;
            let models = models_of(settings, reach, provider.list_models()).await?;
            Ok(Chosen { provider: Arc::new(provider), models, reach, secrets })
        }
        ProviderName::OpenAi => {
            let provider = OpenAiProvider::new(config).map_err(|error| wrong(&error))?;
            let models = models_of(settings, reach, provider.list_models()).await?;
            Ok(Chosen { provider: Arc::new(provider), models, reach, secrets })
        }
        ProviderName::OpenAiResponses => {
            let provider = OpenAiResponsesProvider::new(config).map_err(|error| wrong(&error))?;
            let models = models_of(settings, reach, provider.list_models()).await?;
            Ok(Chosen { provider: Arc::new(provider), models, reach, secrets })
        }
        ProviderName::Replay => Err(Failure::config("cannot replay a recording: name it with `--replay FILE`")),
    }
}

/// What a wait is set with, for errors.
fn wait_settings() -> WaitSettings {
    WaitSettings { first_byte: String::from("`--first-byte-timeout`"), idle: String::from("`--idle-timeout`") }
}

/// Where the provider is, and who says so.
pub(crate) fn base_url(settings: &Settings, name: ProviderName) -> (String, String) {
    if let Some(url) = &settings.base_url {
        return (url.clone(), "`--base-url`".to_owned());
    }
    let from = base_url_variable(name);
    match variable(from) {
        Some(url) => (url, from.to_owned()),
        None => (settings.user.base_url.clone().unwrap_or_default(), CONFIGURATION.to_owned()),
    }
}

/// The server that a run with these settings would ask.
pub(crate) fn reach_of(settings: &Settings) -> Result<Reach, Failure> {
    if settings.tape.is_played() {
        return Ok(Reach::default());
    }
    let name = name(settings)?;
    let (base_url, _) = base_url(settings, name);
    reach(name, &ProviderConfig { base_url, ..ProviderConfig::default() })
}

/// The server of a provider that is reached so.
fn reach(name: ProviderName, config: &ProviderConfig) -> Result<Reach, Failure> {
    let server = config.server().map_err(|error| wrong(&error))?;
    Ok(Reach { format: effort::format(name), is_own: keys::is_own(name, &server) })
}

/// The models of a recording: it was made with those, unless others are named. They are asked as they were.
fn recorded_models(settings: &Settings, recorded: &[(String, Option<Asked>)]) -> Result<Vec<ModelConfig>, Failure> {
    let ids: Vec<String> = recorded.iter().map(|(id, _)| id.clone()).collect();
    let first = settings.model.as_ref().or_else(|| ids.first());
    let first = first.ok_or_else(|| Failure::input("cannot replay the recording: it has no calls"))?;
    let others = if settings.fallback_models.is_empty() { &ids } else { &settings.fallback_models };
    let others = others.iter().filter(|other| *other != first);
    let mut models = Models::new(settings, Reach::default()).all(first, others)?;
    for model in &mut models {
        let asked = recorded.iter().find(|(id, _)| *id == *model.id).and_then(|(_, asked)| *asked);
        asked.into_iter().for_each(|asked| as_recorded(model, asked, settings.effort));
    }
    Ok(models)
}

/// The models that were named, or the only one that the server lists. The list is asked for only when it is needed.
async fn models_of(
    settings: &Settings,
    reach: Reach,
    listing: impl Future<Output = Result<Vec<String>, LlmError>>,
) -> Result<Vec<ModelConfig>, Failure> {
    let id = match &settings.model {
        Some(id) => id.clone(),
        None => only_model(listing).await?,
    };
    Models::new(settings, reach).all(&id, settings.fallback_models.iter())
}

pub(crate) fn name(settings: &Settings) -> Result<ProviderName, Failure> {
    if let Some(name) = settings.provider {
        return Ok(name);
    }
    // A URL alone is a local server or a gateway, and those speak OpenAI's format.
    if settings.base_url.is_some() || settings.user.base_url.is_some() {
        return Ok(ProviderName::OpenAi);
    }
    let has = |name| variable(key_variable(name)).is_some();
    match (has(ProviderName::Anthropic), has(ProviderName::OpenAi)) {
        (true, false) => Ok(ProviderName::Anthropic),
        (false, true) => Ok(ProviderName::OpenAi),
        (true, true) => Err(Failure::config(
            "cannot choose a provider: ANTHROPIC_API_KEY and OPENAI_API_KEY are both set; use `--provider anthropic` or `--provider \
             openai`",
        )),
        (false, false) => only_server().ok_or_else(|| {
            Failure::authentication(
                "cannot choose a provider: no key is set. You can:\n  \
                 - set ANTHROPIC_API_KEY or OPENAI_API_KEY;\n  \
                 - use a local server such as Ollama or llama-server: `--base-url http://127.0.0.1:11434/v1`;\n  \
                 - try it first without a key: `agent demo`",
            )
        }),
    }
}

/// The only one whose server the environment names. Whether that one needs a key is seen next.
fn only_server() -> Option<ProviderName> {
    let is_named = |name| variable(base_url_variable(name)).is_some();
    match (is_named(ProviderName::Anthropic), is_named(ProviderName::OpenAi)) {
        (true, false) => Some(ProviderName::Anthropic),
        (false, true) => Some(ProviderName::OpenAi),
        (true, true) | (false, false) => None,
    }
}

/// Whether a provider at this URL is on this machine and needs no key.
pub(crate) fn is_on_this_machine(url: &str) -> bool {
    ProviderConfig { base_url: url.to_owned(), ..ProviderConfig::default() }.is_local().unwrap_or(false)
}

/// Says which proxy requests go through: the environment names it, and it is easily forgotten there.
fn say_proxy(settings: &Settings, name: ProviderName, config: &ProviderConfig) {
    if let Some(proxy) = proxy(name, &config.base_url).filter(|_| !settings.is_quiet) {
        say(&format!("agent: requests to the provider go through the proxy {proxy}, which is set in the environment"));
    }
}

/// The proxy to a provider, without what may be secret in it.
pub(crate) fn proxy(name: ProviderName, base_url: &str) -> Option<String> {
    let own = match name {
        ProviderName::Anthropic => "https://api.anthropic.com",
        ProviderName::OpenAi | ProviderName::OpenAiResponses => "https://api.openai.com",
        ProviderName::Replay => return None,
    };
    let base_url = if base_url.trim().is_empty() { own.to_owned() } else { base_url.to_owned() };
    ProviderConfig { base_url, ..ProviderConfig::default() }.proxy().ok().flatten()
}

fn wrong(error: &ConfigError) -> Failure {
    Failure::config(error.to_string())
}

/// The model when none was named: the only one there is.
async fn only_model(listing: impl Future<Output = Result<Vec<String>, LlmError>>) -> Result<String, Failure> {
    // No limit of the session holds yet, and a list is short.
    let listed = tokio::time::timeout(LISTING, listing).await.map_err(|_| {
        let seconds = LISTING.as_secs();
        Failure::provider(format!(
            "cannot choose a model: the provider did not list its models within {seconds} s; name one with `--model`"
        ))
    })?;
    let ids = listed.map_err(|error| {
        let message = format!("cannot choose a model: none is named, and the provider's list failed: {error}");
        if error.kind == LlmErrorKind::Authentication {
            Failure::authentication(message)
        } else {
            Failure::provider(message)
        }
    })?;
    match ids.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(Failure::config("cannot choose a model: the provider lists none; name one with `--model`")),
        many => {
            let some = many.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
            let count = many.len();
            Err(Failure::config(format!(
                "cannot choose a model: the provider lists {count} ({some}, …); name one with `--model`"
            )))
        }
    }
}

pub(crate) const fn base_url_variable(name: ProviderName) -> &'static str {
    match name {
        ProviderName::Anthropic => "ANTHROPIC_BASE_URL",
        ProviderName::OpenAi | ProviderName::OpenAiResponses => "OPENAI_BASE_URL",
        ProviderName::Replay => "",
    }
}

/// A URL without what may be secret in it: the user's part and the query.
pub(crate) fn shown_url(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").map_or(("", url), |(scheme, rest)| (scheme, rest));
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let colon = if scheme.is_empty() { "" } else { "://" };
    format!("{scheme}{colon}{host}{path}")
}

const LISTING: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::shown_url;

    #[test]
    fn a_url_is_shown_without_what_may_be_secret() {
        assert_eq!(shown_url("https://me:pass@example.com/v1?key=abc"), "https://example.com/v1");
        assert_eq!(shown_url("http://127.0.0.1:8080/v1"), "http://127.0.0.1:8080/v1");
        assert_eq!(shown_url("me:pass@example.com"), "example.com");
    }
}
