//! Which provider is asked, where it is, and for which model, before anything is sent.
//!
//! ```text
//! --provider NAME                                  that one
//! -m MODEL, which an alias or `models` of a
//!   provider in the configuration names            the provider of that model
//! `provider` in the configuration                  that one
//! --base-url, or `base_url` in the configuration   Chat Completions
//! one key, or the URL of one server, is set        its provider
//! several                                          the maker of the model, by its name
//! OpenAI's own server, and a model that reasons    Responses
//!   beside tools in that format only
//! none, and one provider in the configuration      that one
//! ```

use crate::config::options::ProviderName;
use crate::config::providers::{Alias, ProviderChoice, ProviderEntry};
use crate::config::settings::Settings;
use crate::failure::Failure;
use crate::model::effort::{Reach, efforts};
use crate::model::keys::{CONFIGURATION, key_variable, variable};
use agent_llm::Format;

/// A provider, and where it is.
#[derive(Debug)]
pub(crate) struct Endpoint<'a> {
    /// As the user names it.
    pub(crate) name: String,
    pub(crate) protocol: ProviderName,
    /// What the configuration says of it, where it is one of the user's own.
    pub(crate) entry: Option<&'a ProviderEntry>,
    /// Empty for the protocol's own public address.
    pub(crate) base_url: String,
    /// Who says so.
    pub(crate) from: String,
    /// Who says that it is this provider, for people.
    pub(crate) chosen_by: &'static str,
}

impl<'a> Endpoint<'a> {
    /// What a run with these settings would ask.
    pub(crate) fn of(settings: &'a Settings) -> Result<Self, Failure> {
        let (choice, chosen_by) = choice(settings)?;
        Self::of_choice(settings, &choice, chosen_by)
    }

    /// A provider that is named.
    pub(crate) fn of_choice(
        settings: &'a Settings,
        choice: &ProviderChoice,
        chosen_by: &'static str,
    ) -> Result<Self, Failure> {
        let entry = settings.user.provider_entry(choice)?;
        let protocol = match (choice, entry) {
            (ProviderChoice::BuiltIn(name), _) => *name,
            (ProviderChoice::Named(_), entry) => entry.map_or(ProviderName::OpenAi, |entry| entry.protocol),
        };
        let (base_url, from) = base_url(settings, choice, protocol, entry);
        Ok(Self { name: choice.name(), protocol, entry, base_url, from, chosen_by })
    }

    /// The entry, where the server is the one that it names: its key and its headers are for no other.
    pub(crate) fn own_entry(&self) -> Option<&'a ProviderEntry> {
        self.entry.filter(|_| self.from == entry_place(&self.name))
    }

    /// The model that is asked where no list has to be looked at.
    pub(crate) fn model(&self, settings: &Settings) -> Option<Alias> {
        if let Some(model) = settings.model.clone() {
            return Some(Alias { model, provider: None, effort: None });
        }
        let of_entry = self.entry.and_then(|entry| match (&entry.model, entry.models.as_slice()) {
            (Some(model), _) | (None, [model]) => Some(model.as_str()),
            (None, _) => None,
        });
        let of_user = settings.user.model.as_deref().filter(|_| !settings.tape.is_played());
        of_entry.or(of_user).map(|name| settings.user.meant(name))
    }
}

/// The URL of a server, and who says so. An entry without a URL means the protocol's own address, whatever the environment says.
fn base_url(
    settings: &Settings,
    choice: &ProviderChoice,
    protocol: ProviderName,
    entry: Option<&ProviderEntry>,
) -> (String, String) {
    if let Some(url) = &settings.base_url {
        return (url.clone(), "`--base-url`".to_owned());
    }
    if let Some(entry) = entry {
        return (entry.base_url.clone().unwrap_or_default(), entry_place(&choice.name()));
    }
    let from = base_url_variable(protocol);
    match variable(from) {
        Some(url) => (url, from.to_owned()),
        None => (settings.user.base_url.clone().unwrap_or_default(), CONFIGURATION.to_owned()),
    }
}

/// Who names the base URL of an entry.
pub(crate) fn entry_place(name: &str) -> String {
    format!("`[providers.{name}]`")
}

fn choice(settings: &Settings) -> Result<(ProviderChoice, &'static str), Failure> {
    let user = &settings.user;
    if let Some(choice) = &settings.provider {
        return Ok((choice.clone(), COMMAND_LINE));
    }
    if settings.base_url.is_none()
        && let Some(choice) = of_model(settings, settings.model.as_deref(), settings.alias_provider.as_ref())?
    {
        return Ok((choice, BY_MODEL));
    }
    if let Some(choice) = &user.provider {
        return Ok((choice.clone(), USER));
    }
    // A URL alone is a local server or a gateway, and those speak OpenAI's format.
    if settings.base_url.is_some() {
        return Ok((ProviderChoice::BuiltIn(ProviderName::OpenAi), BY_URL));
    }
    if settings.model.is_none()
        && let Some(name) = &user.model
    {
        let meant = user.meant(name);
        if let Some(choice) = of_model(settings, Some(&meant.model), meant.provider.as_ref())? {
            return Ok((choice, BY_MODEL));
        }
    }
    if user.base_url.is_some() {
        return Ok((ProviderChoice::BuiltIn(ProviderName::OpenAi), BY_URL));
    }
    of_environment(settings)
}

/// The provider that the configuration names for a model. Among several that list it the configured one counts.
fn of_model(
    settings: &Settings,
    model: Option<&str>,
    of_alias: Option<&ProviderChoice>,
) -> Result<Option<ProviderChoice>, Failure> {
    if let Some(choice) = of_alias {
        return Ok(Some(choice.clone()));
    }
    let Some(model) = model else { return Ok(None) };
    let user = &settings.user;
    let listing: Vec<&String> =
        user.providers.iter().filter(|(_, entry)| entry.lists(model)).map(|(name, _)| name).collect();
    let is_configured = |name: &String| user.provider == Some(ProviderChoice::Named(name.clone()));
    match listing.as_slice() {
        [] => Ok(None),
        [only] => Ok(Some(ProviderChoice::Named((*only).clone()))),
        many => match many.iter().find(|name| is_configured(name)) {
            Some(name) => Ok(Some(ProviderChoice::Named((*name).clone()))),
            None => {
                let flags: Vec<String> = many.iter().map(|name| format!("`--provider {name}`")).collect();
                let (flags, count) = (flags.join(" or "), many.len());
                Err(Failure::config(format!(
                    "cannot choose a provider: {count} of your configuration list the model {model}; use {flags}"
                )))
            }
        },
    }
}

/// By the keys and the servers that the environment names, and by the model where these allow several. OpenAI's own server speaks two
/// formats, and has some models reason in one of them only.
fn of_environment(settings: &Settings) -> Result<(ProviderChoice, &'static str), Failure> {
    let (choice, why) = by_keys(settings)?;
    let is_own = variable(base_url_variable(ProviderName::OpenAi)).is_none();
    let reasons_elsewhere = || wanted_model(settings).is_some_and(|model| reasons_only_in_responses(&model));
    if choice == ProviderChoice::BuiltIn(ProviderName::OpenAi) && is_own && reasons_elsewhere() {
        return Ok((ProviderChoice::BuiltIn(ProviderName::OpenAiResponses), BY_REASONING));
    }
    Ok((choice, why))
}

fn wanted_model(settings: &Settings) -> Option<String> {
    settings.model.clone().or_else(|| Some(settings.user.meant(settings.user.model.as_deref()?).model))
}

/// Whether a model of OpenAI's takes efforts over Responses that Chat Completions refuses beside tools.
fn reasons_only_in_responses(model: &str) -> bool {
    let known = |format| efforts(model, Reach { format: Some(format), is_own: true, ..Reach::default() });
    let (chat, responses) = (known(Format::OpenAiChat), known(Format::OpenAiResponses));
    responses.zip(chat).is_some_and(|(responses, chat)| responses.len() > chat.len())
}

fn by_keys(settings: &Settings) -> Result<(ProviderChoice, &'static str), Failure> {
    let built_in = |name| Ok((ProviderChoice::BuiltIn(name), ONLY));
    let both = || [ProviderName::Anthropic, ProviderName::OpenAi];
    let has_key = |name: ProviderName| variable(key_variable(name)).is_some();
    let has_server = |name: ProviderName| variable(base_url_variable(name)).is_some();
    let keys: Vec<ProviderName> = both().into_iter().filter(|name| has_key(*name)).collect();
    match keys.as_slice() {
        [only] => return built_in(*only),
        [] => {}
        _ => {
            let maker = wanted_model(settings).as_deref().and_then(maker);
            return maker.map(|name| (ProviderChoice::BuiltIn(name), BY_MODEL)).ok_or_else(|| {
                Failure::config(
                    "cannot choose a provider: ANTHROPIC_API_KEY and OPENAI_API_KEY are both set; use `--provider anthropic` or \
                     `--provider openai`, or name a model of one of them (`-m claude-…`, `-m gpt-…`)",
                )
            });
        }
    }
    let servers: Vec<ProviderName> = both().into_iter().filter(|name| has_server(*name)).collect();
    if let [only] = servers.as_slice() {
        // Whether that one needs a key is seen next.
        return built_in(*only);
    }
    let mut own = settings.user.providers.keys();
    match (own.next(), own.next()) {
        (Some(name), None) => Ok((ProviderChoice::Named(name.clone()), ONLY)),
        (Some(_), Some(_)) => {
            let names: Vec<String> =
                settings.user.providers.keys().map(|name| format!("`--provider {name}`")).collect();
            Err(Failure::config(format!(
                "cannot choose a provider: your configuration has several; use {}, or set `provider` there",
                names.join(" or ")
            )))
        }
        (None, _) => Err(Failure::authentication(
            "cannot choose a provider: no key is set. You can:\n  \
             - set ANTHROPIC_API_KEY or OPENAI_API_KEY;\n  \
             - use a local server such as Ollama or llama-server: `--base-url http://127.0.0.1:11434/v1`;\n  \
             - try it first without a key: `agent demo`",
        )),
    }
}

/// Who makes a model, by its name.
pub(crate) fn maker(model: &str) -> Option<ProviderName> {
    let begins = |names: &[&str]| names.iter().any(|name| model.starts_with(name));
    match () {
        () if begins(&["claude-"]) => Some(ProviderName::Anthropic),
        () if begins(&["gpt-", "chatgpt-", "codex-", "o1", "o3", "o4"]) => Some(ProviderName::OpenAi),
        () => None,
    }
}

pub(crate) const fn base_url_variable(name: ProviderName) -> &'static str {
    match name {
        ProviderName::Anthropic => "ANTHROPIC_BASE_URL",
        ProviderName::OpenAi | ProviderName::OpenAiResponses => "OPENAI_BASE_URL",
        ProviderName::Replay => "",
    }
}

const COMMAND_LINE: &str = "command line";
const USER: &str = "the user's configuration";
const BY_MODEL: &str = "the model's provider";
const BY_REASONING: &str = "the format in which the model reasons beside tools";
const BY_URL: &str = "a base URL alone means Chat Completions";
const ONLY: &str = "the only one that the other settings allow";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::file::UserConfig;

    fn settings(config: &str, model: Option<&str>) -> Settings {
        let user: UserConfig = toml::from_str(config).unwrap();
        let alias = model.map(|model| user.meant(model));
        Settings {
            model: alias.as_ref().map(|alias| alias.model.clone()),
            alias_provider: alias.and_then(|alias| alias.provider),
            user,
            ..Settings::default()
        }
    }

    fn chosen(config: &str, model: Option<&str>) -> Result<(String, Option<String>), String> {
        let settings = settings(config, model);
        let endpoint = Endpoint::of(&settings).map_err(|failure| failure.message)?;
        Ok((endpoint.name.clone(), endpoint.model(&settings).map(|meant| meant.model)))
    }

    const TWO: &str = "[providers.a]\nprotocol = \"openai\"\nmodels = [\"one\", \"both\"]\nmodel = \"one\"\n\
                       [providers.b]\nprotocol = \"anthropic\"\nbase_url = \"https://b\"\nmodels = [\"two\", \"both\"]\n\
                       [aliases]\nfast = { model = \"two\", provider = \"b\" }\nodd = { model = \"x\", provider = \"a\" }\nshort = \"two\"\n";

    #[test]
    fn a_model_that_one_provider_lists_chooses_it() {
        let of = |model| chosen(TWO, Some(model)).map(|(name, model)| (name, model.unwrap()));
        let both = |name: &str, model: &str| Ok((name.to_owned(), model.to_owned()));
        assert_eq!(of("one"), both("a", "one"));
        assert_eq!(of("two"), both("b", "two"));
        assert_eq!(of("fast"), both("b", "two"));
        assert_eq!(of("short"), both("b", "two"));
        assert_eq!(of("odd"), both("a", "x"));
        let why = of("both").unwrap_err();
        assert!(why.contains("use `--provider a` or `--provider b`"), "{why}");
        // The configured one counts, also against the list of another.
        let configured = format!("provider = \"b\"\n{TWO}");
        assert_eq!(chosen(&configured, Some("both")).unwrap().0, "b");
        assert_eq!(chosen(&configured, Some("one")).unwrap().0, "a");
        assert_eq!(chosen(&configured, Some("unlisted")).unwrap().0, "b");
        assert_eq!(chosen(&configured, None).unwrap(), ("b".to_owned(), None));
        let by_model = format!("model = \"fast\"\n{TWO}");
        assert_eq!(chosen(&by_model, None).unwrap(), ("b".to_owned(), Some("two".to_owned())));
        assert_eq!(
            chosen(&format!("provider = \"a\"\n{TWO}"), None).unwrap(),
            ("a".to_owned(), Some("one".to_owned()))
        );
    }

    #[test]
    fn the_only_model_of_an_entry_needs_no_name() {
        let of = |models: &str| {
            let config =
                format!("provider = \"w\"\nmodel = \"x\"\n[providers.w]\nprotocol = \"openai\"\nmodels = {models}\n");
            chosen(&config, None).unwrap().1.unwrap()
        };
        assert_eq!((of("[\"only\"]").as_str(), of("[\"a\", \"b\"]").as_str(), of("[]").as_str()), ("only", "x", "x"));
    }

    #[test]
    fn another_server_gets_nothing_that_an_entry_holds_for_its_own() {
        let mut settings = settings(&format!("provider = \"b\"\n{TWO}"), None);
        assert!(Endpoint::of(&settings).unwrap().own_entry().is_some());
        settings.base_url = Some("https://c".to_owned());
        let endpoint = Endpoint::of(&settings).unwrap();
        assert_eq!((endpoint.protocol, endpoint.base_url.as_str()), (ProviderName::Anthropic, "https://c"));
        assert!(endpoint.entry.is_some() && endpoint.own_entry().is_none());
    }

    #[test]
    fn models_that_reason_in_one_format_only_are_known() {
        for (model, expected) in [
            ("gpt-5.6", true),
            ("gpt-5.5", true),
            ("gpt-5.2", true),
            ("gpt-5-mini", false),
            ("gpt-4o", false),
            ("claude-sonnet-4-5", false),
            ("unknown", false),
            ("", false),
        ] {
            assert_eq!(reasons_only_in_responses(model), expected, "{model}");
        }
    }

    #[test]
    fn makers_are_known_by_the_names_of_their_models() {
        assert_eq!(maker("claude-sonnet-4-5"), Some(ProviderName::Anthropic));
        for model in ["gpt-5.5", "o3", "o4-mini", "codex-mini-latest"] {
            assert_eq!(maker(model), Some(ProviderName::OpenAi), "{model}");
        }
        for model in ["qwen3:4b", "anthropic/claude-sonnet-4", "opus", ""] {
            assert_eq!(maker(model), None, "{model}");
        }
    }
}
