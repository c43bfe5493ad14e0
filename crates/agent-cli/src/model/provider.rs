//! Which provider, which model, which key.

use crate::config::file::UserConfig;
use crate::config::options::ProviderName;
use crate::config::project;
use crate::config::providers::{Alias, ProviderEntry};
use crate::config::settings::Settings;
use crate::failure::Failure;
use crate::mcp;
use crate::model::asked::{Models, as_recorded};
use crate::model::effort::{self, Reach};
use crate::model::endpoint::{self, Endpoint};
use crate::model::given;
use crate::model::keys;
use crate::model::paced::{Paced, Unread};
use crate::model::secrets;
use crate::model::tape::Tape;
use crate::screen::terminal::{inline, say};
use crate::session::pictured::Attaching;
use agent_core::llm::{LlmError, LlmErrorKind};
use agent_core::ports::LlmProvider;
use agent_core::session::ModelConfig;
use agent_llm::{
    AnthropicProvider, Asked, ConfigError, OpenAiProvider, OpenAiResponsesProvider, Pictures, ProviderConfig,
    ReplayProvider, Timeouts, WaitSettings,
};
use agent_runner::journal::SessionPictures;
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
    /// What attaches pictures to messages, and has those of the session.
    pub(crate) attaching: Attaching,
}

impl Chosen {
    /// The same, asked only when everything that came before is written.
    pub(crate) fn paced(self, unread: Unread) -> Self {
        Self { provider: Arc::new(Paced::new(self.provider, unread)), ..self }
    }
}

/// A provider that can be asked, and for its list of models.
pub(crate) enum Client {
    Anthropic(AnthropicProvider),
    OpenAi(OpenAiProvider),
    OpenAiResponses(OpenAiResponsesProvider),
}

impl Client {
    fn new(protocol: ProviderName, config: ProviderConfig) -> Result<Self, Failure> {
        match protocol {
            ProviderName::Anthropic => {
                AnthropicProvider::new(config).map(Self::Anthropic).map_err(|error| wrong(&error))
            }
            ProviderName::OpenAi => OpenAiProvider::new(config).map(Self::OpenAi).map_err(|error| wrong(&error)),
            ProviderName::OpenAiResponses => {
                OpenAiResponsesProvider::new(config).map(Self::OpenAiResponses).map_err(|error| wrong(&error))
            }
            ProviderName::Replay => Err(Failure::config("cannot replay a recording: name it with `--replay FILE`")),
        }
    }

    pub(crate) async fn list_models(&self) -> Result<Vec<String>, LlmError> {
        match self {
            Self::Anthropic(provider) => provider.list_models().await,
            Self::OpenAi(provider) => provider.list_models().await,
            Self::OpenAiResponses(provider) => provider.list_models().await,
        }
    }

    fn shared(self) -> Arc<dyn LlmProvider> {
        match self {
            Self::Anthropic(provider) => Arc::new(provider),
            Self::OpenAi(provider) => Arc::new(provider),
            Self::OpenAiResponses(provider) => Arc::new(provider),
        }
    }
}

/// Chooses by flag, configuration, or the only key that is set; a recording takes the place of all of them.
pub(crate) async fn choose(settings: &Settings) -> Result<Chosen, Failure> {
    if let Tape::Replay(provider, recorded, _) = &settings.tape {
        let (models, mut secrets) = (recorded_models(settings, recorded)?, known_secrets(settings));
        secrets.extend(keys::in_files(settings).await);
        secrets::learn(&secrets);
        let attaching = attaching(settings, None);
        provider.has_pictures(attaching.taken.clone());
        let provider = Arc::<ReplayProvider>::clone(provider);
        return Ok(Chosen { provider, models, reach: Reach::default(), secrets, attaching });
    }
    let endpoint = Endpoint::of(settings)?;
    let attaching = attaching(settings, endpoint.entry);
    let pictures = attaching.taken.clone();
    let Connected { client, secrets, .. } = connect_with(settings, &endpoint, settings.timeouts, pictures).await?;
    say_proxy(settings, &endpoint);
    let reach = reach(&endpoint)?;
    let asked = match endpoint.model(settings) {
        Some(asked) => asked,
        None => settings.user.meant(&only_model(client.list_models()).await?),
    };
    let models = Models::new(settings, reach).or_wish(asked.effort);
    let models = models.all(&asked.model, fallbacks(settings, &endpoint.name)?.iter())?;
    Ok(Chosen { provider: client.shared(), models, reach, secrets, attaching })
}

/// A client, and what its server gets.
pub(crate) struct Connected {
    pub(crate) client: Client,
    /// Values that must not be shown anywhere.
    secrets: Vec<String>,
    /// Whether a key is sent.
    pub(crate) has_key: bool,
}

/// A client for this provider with its key, and all that must not be shown.
pub(crate) async fn connect(
    settings: &Settings,
    endpoint: &Endpoint<'_>,
    timeouts: Timeouts,
) -> Result<Connected, Failure> {
    connect_with(settings, endpoint, timeouts, Pictures::default()).await
}

/// The same for requests with pictures.
async fn connect_with(
    settings: &Settings,
    endpoint: &Endpoint<'_>,
    timeouts: Timeouts,
    pictures: Pictures,
) -> Result<Connected, Failure> {
    let mut secrets = known_secrets(settings);
    secrets.extend(secrets::of_url(&endpoint.base_url));
    let mut config = config_of(endpoint);
    (config.timeouts, config.wait_settings, config.pictures) = (timeouts, wait_settings(), pictures);
    let key = keys::of(settings, endpoint, &config).await?;
    secrets.extend(key.value.clone());
    secrets.extend(keys::in_files(settings).await);
    secrets::learn(&secrets);
    let has_key = key.value.is_some();
    (config.api_key, config.key_variable) = (key.value, key.variable);
    config.recorder = settings.tape.recorder(&secrets)?;
    Ok(Connected { client: Client::new(endpoint.protocol, config)?, secrets, has_key })
}

/// What the user says of models and pictures, and where a new session keeps them.
fn attaching(settings: &Settings, entry: Option<&ProviderEntry>) -> Attaching {
    let keeper = Arc::new(SessionPictures::new());
    let said = settings.user.models.iter().filter_map(|(model, entry)| Some((model.clone(), entry.images?)));
    let taken_by = said.collect();
    let taken = Pictures { keeper: Some(keeper.clone()), taken: entry.and_then(|entry| entry.images), taken_by };
    Attaching::new(keeper, taken).within(settings)
}

/// The keys of other providers are secrets too, and whatever else the environment and the configuration hold.
fn known_secrets(settings: &Settings) -> Vec<String> {
    let mut secrets = secrets::of_environment();
    secrets.extend(keys::named(settings));
    secrets.extend(mcp::of_servers(&settings.servers, &project::root(&settings.directory)));
    let headers = settings.user.providers.values().flat_map(|entry| &entry.headers);
    secrets.extend(secrets::of_headers(headers.map(|(name, value)| (name, &value.0))));
    secrets.extend(
        settings.user.providers.values().filter_map(|entry| entry.base_url.as_deref()).flat_map(secrets::of_url),
    );
    secrets
}

/// Where a provider is reached, and with which headers; without its key.
fn config_of(endpoint: &Endpoint<'_>) -> ProviderConfig {
    let headers = endpoint.own_entry().into_iter().flat_map(|entry| &entry.headers);
    ProviderConfig {
        base_url: endpoint.base_url.clone(),
        headers: headers.map(|(name, value)| (name.clone(), value.0.clone())).collect(),
        ..ProviderConfig::default()
    }
}

/// What a wait is set with, for errors.
fn wait_settings() -> WaitSettings {
    WaitSettings { first_byte: String::from("`--first-byte-timeout`"), idle: String::from("`--idle-timeout`") }
}

/// The server that this provider is asked at.
pub(crate) fn reach(endpoint: &Endpoint<'_>) -> Result<Reach, Failure> {
    let from = &endpoint.from;
    let server = config_of(endpoint).server();
    let server = server.map_err(|error| Failure::config(format!("{error}; it comes from {from}")))?;
    Ok(Reach {
        format: effort::format(endpoint.protocol),
        is_own: keys::is_own(endpoint.protocol, &server),
        is_local: server.is_local,
        said: endpoint.entry.and_then(|entry| entry.effort),
    })
}

/// The models that take over. They are asked through the same provider.
fn fallbacks(settings: &Settings, provider: &str) -> Result<Vec<String>, Failure> {
    let meant = settings.fallback_models.iter().map(|name| (name, settings.user.meant(name)));
    let model = |(name, meant): (&String, Alias)| match meant.provider {
        Some(other) if other.name() != provider => Err(Failure::config(format!(
            "cannot use `{name}` as a fallback model: it is of the provider {}, and this session asks {provider}",
            other.name()
        ))),
        _ => Ok(meant.model),
    };
    meant.map(model).collect()
}

/// Fails where a provider of the configuration has a URL, a header or a key file that no run could use.
pub(crate) fn check_entries(user: &UserConfig) -> Result<(), Failure> {
    for (name, entry) in &user.providers {
        let endpoint = Endpoint {
            name: name.clone(),
            protocol: entry.protocol,
            entry: Some(entry),
            base_url: entry.base_url.clone().unwrap_or_default(),
            from: endpoint::entry_place(name),
            chosen_by: "",
        };
        reach(&endpoint)?;
        Client::new(entry.protocol, config_of(&endpoint))
            .map_err(|failure| Failure::config(format!("{} of the provider {name}", failure.message)))?;
    }
    keys::files(user)?.iter().try_for_each(|path| given::in_file(path).map(drop).map_err(Failure::authentication))
}

/// The models of a recording: it was made with those, unless others are named. They are asked as they were.
fn recorded_models(settings: &Settings, recorded: &[(String, Option<Asked>)]) -> Result<Vec<ModelConfig>, Failure> {
    let ids: Vec<String> = recorded.iter().map(|(id, _)| id.clone()).collect();
    let first = settings.model.as_ref().or_else(|| ids.first());
    let first = first.ok_or_else(|| Failure::input("cannot replay the recording: it has no calls"))?;
    let named = fallbacks(settings, ProviderName::Replay.name())?;
    let others = if named.is_empty() { &ids } else { &named };
    let others = others.iter().filter(|other| *other != first);
    let mut models = Models::new(settings, Reach::default()).all(first, others)?;
    for model in &mut models {
        let asked = recorded.iter().find(|(id, _)| *id == *model.id).and_then(|(_, asked)| *asked);
        asked.into_iter().for_each(|asked| as_recorded(model, asked, settings.effort));
    }
    Ok(models)
}

/// Whether a provider at this URL is on this machine and needs no key.
pub(crate) fn is_on_this_machine(url: &str) -> bool {
    ProviderConfig { base_url: url.to_owned(), ..ProviderConfig::default() }.is_local().unwrap_or(false)
}

/// Says which proxy requests go through: the environment names it, and it is easily forgotten there.
fn say_proxy(settings: &Settings, endpoint: &Endpoint<'_>) {
    if let Some(proxy) = proxy(endpoint.protocol, &endpoint.base_url).filter(|_| !settings.is_quiet) {
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
            "cannot choose a model: the provider did not list its models within {seconds} s; name one with `-m`"
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
        [] => Err(Failure::config("cannot choose a model: the provider lists none; name one with `-m`")),
        many => Err(Failure::config(offered(many))),
    }
}

/// What a server offers where one of several has to be named.
fn offered(ids: &[String]) -> String {
    let count = ids.len();
    let mut text = format!("cannot choose a model: the provider offers {count}; name one with `-m`:");
    for id in ids.iter().take(MOST_OFFERED) {
        text.push_str(&format!("\n  {}", inline(id)));
    }
    if count > MOST_OFFERED {
        text.push_str(&format!("\n  and {} more, which `agent models` lists", count - MOST_OFFERED));
    }
    text
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

/// A list that is still read.
const MOST_OFFERED: usize = 30;
const LISTING: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::{MOST_OFFERED, offered, shown_url};

    #[test]
    fn a_short_list_is_offered_whole_and_a_long_one_says_how_much_is_left() {
        let ids = |count: usize| (0..count).map(|n| format!("m{n}")).collect::<Vec<_>>();
        assert_eq!(offered(&ids(2)), "cannot choose a model: the provider offers 2; name one with `-m`:\n  m0\n  m1");
        assert!(!offered(&ids(MOST_OFFERED)).contains("more"));
        assert!(offered(&ids(MOST_OFFERED + 3)).ends_with("and 3 more, which `agent models` lists"));
    }

    #[test]
    fn a_url_is_shown_without_what_may_be_secret() {
        assert_eq!(shown_url("https://me:pass@example.com/v1?key=abc"), "https://example.com/v1");
        assert_eq!(shown_url("http://127.0.0.1:8080/v1"), "http://127.0.0.1:8080/v1");
        assert_eq!(shown_url("me:pass@example.com"), "example.com");
    }
}
