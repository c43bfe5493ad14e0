//! Providers and names of models in the user's configuration: `[providers.NAME]` and `[aliases]`.

use crate::config::file::UserConfig;
use crate::config::options::ProviderName;
use crate::failure::Failure;
use crate::model::effort::Wish;
use clap::ValueEnum;
use clap::builder::{NonEmptyStringValueParser, PossibleValue, TypedValueParser};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;

/// A provider, as a user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProviderChoice {
    /// One that the program knows.
    BuiltIn(ProviderName),
    /// One of `[providers]`.
    Named(String),
}

impl ProviderChoice {
    pub(crate) fn of(text: &str) -> Self {
        let built_in = ProviderName::from_str(text, false).map(Self::BuiltIn);
        built_in.unwrap_or_else(|_| Self::Named(text.to_owned()))
    }

    /// As a user writes it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::BuiltIn(name) => name.name().to_owned(),
            Self::Named(name) => name.clone(),
        }
    }
}

/// For the command line: any name may stand there, and help and completions know those that are built in.
#[derive(Clone)]
pub(crate) struct ChoiceParser;

impl TypedValueParser for ChoiceParser {
    type Value = ProviderChoice;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<ProviderChoice, clap::Error> {
        NonEmptyStringValueParser::new().parse_ref(command, argument, value).map(|text| ProviderChoice::of(&text))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(ProviderName::value_variants().iter().filter_map(ValueEnum::to_possible_value)))
    }
}

impl<'de> Deserialize<'de> for ProviderChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self::of(&text))
    }
}

/// A provider of the user's own.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProviderEntry {
    pub(crate) protocol: ProviderName,
    /// Where it is; without it, at the protocol's own public address.
    pub(crate) base_url: Option<String>,
    /// Further headers of every request.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, HeaderValue>,
    /// Where its key is: in a variable, in a file, or in what a program writes.
    pub(crate) api_key_env: Option<String>,
    pub(crate) api_key_file: Option<PathBuf>,
    pub(crate) api_key_command: Option<Vec<String>>,
    /// The models that are asked through it.
    #[serde(default)]
    pub(crate) models: Vec<String>,
    /// The one that is asked where none is named.
    pub(crate) model: Option<String>,
    pub(crate) effort: Option<Wish>,
    /// Whether its models take pictures, where nothing is said of a model itself.
    pub(crate) images: Option<bool>,
}

/// A header's value, which may be secret.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(crate) struct HeaderValue(pub(crate) String);

impl fmt::Debug for HeaderValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HeaderValue(..)")
    }
}

impl ProviderEntry {
    /// Whether a model is one of those that it has by the user's word.
    pub(crate) fn lists(&self, model: &str) -> bool {
        self.model.as_deref() == Some(model) || self.models.iter().any(|listed| listed == model)
    }

    /// Whether a header carries the key.
    pub(crate) fn has_key_header(&self) -> bool {
        self.headers.keys().any(|name| KEY_HEADERS.iter().any(|key| name.eq_ignore_ascii_case(key)))
    }

    /// What cannot be: the key of the entry, and why.
    fn fault(&self) -> Option<(&'static str, &'static str)> {
        let sources = [
            ("api_key_env", self.api_key_env.is_some()),
            ("api_key_file", self.api_key_file.is_some()),
            ("api_key_command", self.api_key_command.is_some()),
        ];
        let mut given = sources.iter().filter(|(_, is_given)| *is_given).map(|(key, _)| *key);
        let (first, second) = (given.next(), given.next());
        if let Some(key) = second {
            return Some((key, "a provider has one of `api_key_env`, `api_key_file` and `api_key_command`"));
        }
        let is_empty = |argv: &Vec<String>| argv.first().is_none_or(|program| program.trim().is_empty());
        if self.api_key_command.as_ref().is_some_and(is_empty) {
            return Some((
                "api_key_command",
                "it names no program; it is a list such as `[\"pass\", \"show\", \"work\"]`",
            ));
        }
        if self.api_key_env.as_deref().is_some_and(|name| name.trim().is_empty()) {
            return Some(("api_key_env", "it names no variable; `-` stands for no key"));
        }
        let has_key = first.is_some() && self.api_key_env.as_deref() != Some("-");
        (has_key && self.has_key_header())
            .then_some(("headers", "a header there carries the key, and another key is given"))
    }
}

/// A short name of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Alias {
    pub(crate) model: String,
    pub(crate) provider: Option<ProviderChoice>,
    pub(crate) effort: Option<Wish>,
}

impl<'de> Deserialize<'de> for Alias {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AliasVisitor)
    }
}

struct AliasVisitor;

impl<'de> Visitor<'de> for AliasVisitor {
    type Value = Alias;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the id of a model, or a table with `model` and perhaps `provider` and `effort`")
    }

    fn visit_str<E: serde::de::Error>(self, model: &str) -> Result<Alias, E> {
        Ok(Alias { model: model.to_owned(), provider: None, effort: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Alias, A::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Whole {
            model: String,
            provider: Option<ProviderChoice>,
            effort: Option<Wish>,
        }
        let Whole { model, provider, effort } = Whole::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Alias { model, provider, effort })
    }
}

impl UserConfig {
    /// What a name of a model stands for: an alias for its model, any other for itself.
    pub(crate) fn meant(&self, name: &str) -> Alias {
        let otherwise = || Alias { model: name.to_owned(), provider: None, effort: None };
        self.aliases.get(name).cloned().unwrap_or_else(otherwise)
    }

    /// The entry of a provider; nothing for one that is built in.
    pub(crate) fn provider_entry(&self, choice: &ProviderChoice) -> Result<Option<&ProviderEntry>, Failure> {
        match choice {
            ProviderChoice::BuiltIn(_) => Ok(None),
            ProviderChoice::Named(name) => self.providers.get(name).map(Some).ok_or_else(|| self.no_provider(name)),
        }
    }

    fn no_provider(&self, name: &str) -> Failure {
        let own = self.providers.keys().map(String::as_str);
        let all: Vec<&str> = BUILT_IN.iter().map(|name| name.name()).chain(own).collect();
        Failure::config(format!(
            "cannot find the provider `{name}`; there are {}, and `[providers.NAME]` in your configuration makes others",
            all.join(", ")
        ))
    }

    /// Fails where providers and aliases contradict themselves.
    pub(crate) fn check_providers(&self) -> Result<(), Failure> {
        for (name, entry) in &self.providers {
            let wrong = |key: &str, why: &str| {
                let place = self.places.provider(name, key);
                Err(Failure::config(format!("cannot use {place}: {why}")))
            };
            if let Err(why) = check_name(name) {
                return wrong("", &why);
            }
            if let Some((key, why)) = entry.fault() {
                return wrong(key, why);
            }
        }
        let choices = self.provider.iter().chain(self.aliases.values().filter_map(|alias| alias.provider.as_ref()));
        for choice in choices {
            if *choice == ProviderChoice::BuiltIn(ProviderName::Replay) {
                return Err(Failure::config(
                    "cannot choose `replay` in the configuration: `--replay FILE` plays a recording",
                ));
            }
            self.provider_entry(choice)?;
        }
        Ok(())
    }
}

/// Names are typed on command lines, and none may hide what is built in.
fn check_name(name: &str) -> Result<(), String> {
    if matches!(ProviderChoice::of(name), ProviderChoice::BuiltIn(_)) {
        return Err(format!("`{name}` is the name of a provider that is built in; choose another name"));
    }
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || sign == '-' || sign == '_';
    if name.is_empty() || name.starts_with('-') || !name.chars().all(is_plain) {
        return Err("a name of a provider has letters, digits, `-` and `_`".to_owned());
    }
    Ok(())
}

/// Those that ask a server.
pub(crate) const BUILT_IN: [ProviderName; 3] =
    [ProviderName::Anthropic, ProviderName::OpenAi, ProviderName::OpenAiResponses];
/// Headers in which servers look for keys.
const KEY_HEADERS: [&str; 3] = ["authorization", "x-api-key", "api-key"];

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<UserConfig, String> {
        let user: UserConfig = toml::from_str(text).map_err(|error| error.to_string())?;
        user.check_providers().map_err(|failure| failure.message)?;
        Ok(user)
    }

    #[test]
    fn a_provider_is_read_with_all_that_it_has() {
        let user = read(
            "provider = \"work\"\n[providers.work]\nprotocol = \"openai-responses\"\nbase_url = \"https://h/v1\"\n\
             headers = { x-team = \"search-0123456789\" }\napi_key_command = [\"pass\", \"show\"]\nmodels = [\"a\"]\n\
             model = \"b\"\neffort = \"high\"\n[aliases]\nfast = \"a\"\ndeep = { model = \"b\", provider = \"work\", effort = \"max\" }\n",
        )
        .unwrap();
        let work = user.provider_entry(&ProviderChoice::of("work")).unwrap().unwrap();
        assert_eq!((work.protocol, work.effort), (ProviderName::OpenAiResponses, Some(Wish::High)));
        assert!(work.lists("a") && work.lists("b") && !work.lists("c"));
        assert!(!format!("{user:?}").contains("search-0123456789"));
        assert_eq!(user.meant("fast").model, "a");
        assert_eq!(user.meant("deep").effort, Some(Wish::Max));
        assert_eq!(user.meant("other"), Alias { model: "other".to_owned(), provider: None, effort: None });
    }

    #[test]
    fn what_contradicts_itself_is_an_error_that_names_the_place() {
        for (text, says) in [
            ("[providers.openai]\nprotocol = \"openai\"\n", "built in"),
            ("[providers.replay]\nprotocol = \"openai\"\n", "built in"),
            ("[providers.\"a b\"]\nprotocol = \"openai\"\n", "letters, digits"),
            ("[providers.-x]\nprotocol = \"openai\"\n", "letters, digits"),
            ("[providers.w]\nprotocol = \"openai\"\napi_key_env = \"A\"\napi_key_file = \"/b\"\n", "has one of"),
            ("[providers.w]\nprotocol = \"openai\"\napi_key_command = []\n", "names no program"),
            ("[providers.w]\nprotocol = \"openai\"\napi_key_env = \"\"\n", "names no variable"),
            (
                "[providers.w]\nprotocol = \"openai\"\napi_key_env = \"A\"\nheaders = { Authorization = \"x\" }\n",
                "carries the key",
            ),
            ("[providers.w]\nprotocol = \"gemini\"\n", "unknown variant `gemini`"),
            ("[providers.w]\nprotocol = \"replay\"\n", "unknown variant `replay`"),
            ("[providers.w]\nbase_url = \"x\"\n", "missing field `protocol`"),
            ("[providers.w]\nprotocol = \"openai\"\nkey = \"sk\"\n", "unknown field `key`"),
            ("provider = \"w\"\n", "cannot find the provider `w`; there are anthropic, openai, openai-responses"),
            ("provider = \"replay\"\n", "cannot choose `replay`"),
            ("[aliases]\nfast = { model = \"a\", provider = \"w\" }\n", "cannot find the provider `w`"),
            ("[aliases]\nfast = { model = \"a\", speed = 1 }\n", "unknown field `speed`"),
            ("[aliases]\nfast = 7\n", "the id of a model, or a table"),
        ] {
            let why = read(text).unwrap_err();
            assert!(why.contains(says), "{text}: {why}");
        }
    }
}
