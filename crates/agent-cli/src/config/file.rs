//! Configuration files: what a user may say in one, and how one is read.

pub(crate) use crate::config::homes::{
    check_places, config_home, data_home, make_state_home, record_key, state_home, user_config_path,
};
use crate::config::options::Sandbox;
use crate::config::places::Places;
use crate::config::providers::{Alias, ProviderChoice, ProviderEntry};
use crate::config::units::{self, DurationMs};
use crate::failure::Failure;
use crate::model::effort::Wish;
use agent_core::budget::Limits;
use agent_core::permission::{PermissionMode, Rule};
use agent_hooks::SettingsFile;
use agent_runner::journal::read_regular;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

/// What a user may configure.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct UserConfig {
    pub(crate) provider: Option<ProviderChoice>,
    pub(crate) model: Option<String>,
    pub(crate) base_url: Option<String>,
    /// The variable with the key for `base_url`.
    pub(crate) api_key_env: Option<String>,
    pub(crate) fallback_models: Vec<String>,
    /// How much models are to think, and how long their answers may be; of each model that says nothing else.
    pub(crate) effort: Option<Wish>,
    pub(crate) max_output_tokens: Option<NonZeroU32>,
    pub(crate) permission_mode: Option<PermissionMode>,
    pub(crate) allow: Vec<Rule>,
    pub(crate) deny: Vec<Rule>,
    pub(crate) sandbox: Option<Sandbox>,
    pub(crate) sandbox_writable: Vec<PathBuf>,
    pub(crate) sandbox_hidden: Vec<PathBuf>,
    pub(crate) sandbox_readable: Vec<PathBuf>,
    pub(crate) auto_commit: Option<bool>,
    pub(crate) commits: CommitsConfig,
    pub(crate) format_on_edit: Option<bool>,
    pub(crate) limits: LimitsConfig,
    pub(crate) agents: crate::config::agents::AgentsConfig,
    pub(crate) timeouts: TimeoutsConfig,
    pub(crate) formatters: Vec<FormatterEntry>,
    pub(crate) hooks: Vec<HookEntry>,
    pub(crate) models: BTreeMap<String, ModelEntry>,
    /// Providers of the user's own, and short names of models.
    pub(crate) providers: BTreeMap<String, ProviderEntry>,
    pub(crate) aliases: BTreeMap<String, Alias>,
    pub(crate) jobs: crate::commands::job::config::JobsConfig,
    pub(crate) prompt: PromptConfig,
    pub(crate) sessions: SessionsConfig,
    /// What holds in one directory alone, by its path.
    pub(crate) projects: BTreeMap<PathBuf, crate::config::own_project::ProjectConfig>,
    /// Where entries stand, for messages.
    #[serde(skip)]
    pub(crate) places: Places,
}

/// What `agent sessions gc` keeps where its options do not say it.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SessionsConfig {
    /// How long, in days.
    pub(crate) keep_days: Option<u32>,
    /// How much of a directory's, or of all directories'.
    pub(crate) max_size: Option<units::Bytes>,
}

/// How the prompt behaves at a capable terminal.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PromptConfig {
    /// How it calls a person who looks elsewhere.
    pub(crate) notify: Call,
    /// What keys mean in the line.
    pub(crate) edit_mode: EditMode,
}

/// How a person is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Call {
    /// The terminal's bell.
    #[default]
    Bell,
    /// The bell, and a notification of the desktop (OSC 9).
    Osc9,
    /// The same as rxvt and VTE understand it (OSC 777).
    Osc777,
    /// Not at all.
    Off,
}

/// What keys mean in the line that is edited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum EditMode {
    #[default]
    Emacs,
    Vi,
}

/// How long an answer of a provider is waited for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct TimeoutsConfig {
    pub(crate) first_byte: Option<Wait>,
    pub(crate) idle: Option<Wait>,
}

/// A duration such as `90s`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Wait(pub(crate) DurationMs);

impl TryFrom<String> for Wait {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        units::parse_wait(&text).map(Self)
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LimitsConfig {
    pub(crate) max_turns: Option<u64>,
    pub(crate) max_budget_usd: Option<Amount>,
    pub(crate) max_total_tokens: Option<u64>,
    pub(crate) max_tool_calls: Option<u64>,
    pub(crate) max_wall_time: Option<String>,
    pub(crate) max_failures_in_row: Option<u32>,
    pub(crate) max_repetitions: Option<u32>,
}

impl LimitsConfig {
    /// The limits that are set.
    pub(crate) fn limits(&self) -> Result<Limits, String> {
        Ok(Limits {
            max_model_calls: self.max_turns,
            max_tool_calls: self.max_tool_calls,
            max_total_tokens: self.max_total_tokens,
            max_cost_nano_usd: self.max_cost_nano_usd()?,
            max_wall_time_ms: self.max_wall_time_ms()?,
            max_failures_in_row: self.max_failures_in_row,
            max_repetitions: self.max_repetitions,
        })
    }

    /// Milliseconds of the time limit.
    pub(crate) fn max_wall_time_ms(&self) -> Result<Option<u64>, String> {
        self.max_wall_time.as_deref().map(units::parse_duration).transpose().map(|ms| ms.map(|ms| ms.0))
    }

    /// Billionths of a dollar of the money limit.
    pub(crate) fn max_cost_nano_usd(&self) -> Result<Option<u64>, String> {
        self.max_budget_usd
            .as_ref()
            .map(|amount| units::parse_usd(&amount.text()))
            .transpose()
            .map(|usd| usd.map(|usd| usd.0))
    }
}

/// How the agent's commits are made.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CommitsConfig {
    /// `Name <address>`; else the identity that git is configured with.
    pub(crate) author: Option<Author>,
    /// The last line of the message; an empty one is left out.
    pub(crate) trailer: Option<Trailer>,
}

/// An author and committer, as git writes one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Author {
    pub(crate) name: String,
    pub(crate) email: String,
}

impl TryFrom<String> for Author {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let parts = text.strip_suffix('>').and_then(|text| text.split_once(" <"));
        let is_usable = |part: &str| !part.trim().is_empty() && !part.contains(['<', '>', '\n', '\r', '\0']);
        match parts {
            Some((name, email)) if is_usable(name) && is_usable(email) => {
                Ok(Self { name: name.trim().to_owned(), email: email.trim().to_owned() })
            }
            _ => Err("an author must be `Name <address>`"),
        }
    }
}

/// A line such as `Assisted-by: agent`, or nothing.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Trailer(pub(crate) Option<String>);

impl TryFrom<String> for Trailer {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let is_token =
            |token: &str| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        match text.split_once(": ") {
            _ if text.is_empty() => Ok(Self(None)),
            Some((token, value)) if is_token(token) && !value.trim().is_empty() && !text.contains(['\n', '\r']) => {
                Ok(Self(Some(text)))
            }
            _ => Err("a trailer must be one line, `Token: value`"),
        }
    }
}

/// Money in a configuration file: `5`, `0.5` or `"0.50"`.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Amount {
    Whole(u64),
    Number(f64),
    Text(String),
}

impl Amount {
    fn text(&self) -> String {
        match self {
            Self::Whole(dollars) => dollars.to_string(),
            Self::Number(dollars) => dollars.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// A formatter: for which files, and how it is called.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FormatterEntry {
    pub(crate) extensions: Vec<String>,
    pub(crate) program: PathBuf,
    #[serde(default)]
    pub(crate) arguments: Vec<String>,
    /// Whether it reads standard input and writes standard output; otherwise it changes the file that `{file}` names, or all those that
    /// `{files}` does.
    #[serde(default)]
    pub(crate) stdin: bool,
    /// Names of files that configure it: links to those above a file stand beside its copy.
    #[serde(default, deserialize_with = "plain_names")]
    pub(crate) settings: Vec<String>,
    #[serde(default = "default_formatter_timeout_ms")]
    pub(crate) timeout_ms: u64,
}

/// Links of these names are made where the copies are, and nowhere else.
fn plain_names<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    match names.iter().find(|name| !SettingsFile::is_name(name)) {
        Some(name) => Err(D::Error::custom(format!(
            "`settings` has `{name}`, which is not the name of a file; paths are not taken"
        ))),
        None => Ok(names),
    }
}

const fn default_formatter_timeout_ms() -> u64 {
    10_000
}

/// A hook: when it runs, on what, and what.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HookEntry {
    pub(crate) event: String,
    pub(crate) matcher: Option<String>,
    pub(crate) command: String,
    pub(crate) timeout_ms: Option<u64>,
    #[serde(default)]
    pub(crate) on_failure: OnFailureWord,
    /// Whether it runs in the sandbox of the tools. A repository can ask for that, and not for the contrary.
    #[serde(default, serialize_with = "as_said")]
    pub(crate) sandbox: Option<bool>,
}

/// To say nothing and to say no are the same in what a repository is trusted with.
#[expect(clippy::ref_option, reason = "that is how fields are handed over")]
fn as_said<S: serde::Serializer>(sandbox: &Option<bool>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_bool(sandbox.unwrap_or(false))
}

/// What comes of a hook that fails.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OnFailureWord {
    #[default]
    Warn,
    Block,
}

/// What is known about a model.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ModelEntry {
    pub(crate) max_output_tokens: Option<NonZeroU32>,
    pub(crate) effort: Option<Wish>,
    pub(crate) context_window_tokens: Option<u64>,
    /// Whether it takes pictures.
    pub(crate) images: Option<bool>,
    /// US dollars for a million tokens.
    pub(crate) input_usd: Option<Amount>,
    pub(crate) output_usd: Option<Amount>,
    pub(crate) cache_read_usd: Option<Amount>,
    pub(crate) cache_write_usd: Option<Amount>,
}

impl ModelEntry {
    /// The price, when input and output are given. Cached input costs as much as other input unless said otherwise.
    pub(crate) fn price(&self) -> Result<Option<agent_core::budget::Price>, String> {
        let nano = |amount: &Amount| units::parse_usd(&amount.text()).map(|usd| usd.0 / 1_000_000);
        let (Some(input), Some(output)) = (&self.input_usd, &self.output_usd) else { return Ok(None) };
        let input_nano_usd = nano(input)?;
        Ok(Some(agent_core::budget::Price {
            input_nano_usd,
            output_nano_usd: nano(output)?,
            cache_read_nano_usd: self.cache_read_usd.as_ref().map_or(Ok(input_nano_usd), nano)?,
            cache_write_nano_usd: self.cache_write_usd.as_ref().map_or(Ok(input_nano_usd), nano)?,
        }))
    }
}

/// Reads a configuration file. One that is not there is empty.
pub(crate) fn read<T: Default + serde::de::DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    text_of(path)?.map_or_else(|| Ok(T::default()), |text| parse(path, &text))
}

/// The text of a configuration file, or nothing when there is none.
pub(crate) fn text_of(path: &Path) -> Result<Option<String>, Failure> {
    read_capped(path)
        .map_err(|error| Failure::config(format!("cannot read the configuration {}: {error}", path.display())))
}

/// What the text of a configuration file says.
pub(crate) fn parse<T: serde::de::DeserializeOwned>(path: &Path, text: &str) -> Result<T, Failure> {
    toml::from_str(text)
        .map_err(|error| Failure::config(format!("cannot read the configuration {}: {error}", path.display())))
}

/// A small regular file's text, or nothing when there is none. Never waits for a writer and never reads without end.
pub(crate) fn read_capped(path: &Path) -> io::Result<Option<String>> {
    let file = match read_regular(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let metadata = file.metadata()?;
    if metadata.len() > MAX_BYTES {
        return Err(io::Error::other(format!("it has {} bytes, but the limit is {MAX_BYTES}", metadata.len())));
    }
    let mut text = String::new();
    file.take(MAX_BYTES).read_to_string(&mut text)?;
    Ok(Some(text))
}

const MAX_BYTES: u64 = 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_commits_is_written_as_git_does() {
        let author = |text: &str| Author::try_from(text.to_owned()).ok().map(|author| (author.name, author.email));
        assert_eq!(author("A B <a@b>"), Some(("A B".to_owned(), "a@b".to_owned())));
        for wrong in ["", "A B", "<a@b>", "A <>", "A <a@b", "A <a@b> x", "A <<a@b>", "A\n <a@b>"] {
            assert_eq!(author(wrong), None, "{wrong}");
        }
        let trailer = |text: &str| Trailer::try_from(text.to_owned()).ok().map(|trailer| trailer.0);
        assert_eq!(trailer("Assisted-by: x"), Some(Some("Assisted-by: x".to_owned())));
        assert_eq!(trailer(""), Some(None));
        for wrong in ["x", "a b: c", "A: ", "A: b\nC: d"] {
            assert_eq!(trailer(wrong), None, "{wrong}");
        }
    }
}
