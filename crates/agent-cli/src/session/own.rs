//! A session is resumed with its own provider, model, permission mode and limits, where the command line does not say otherwise.
//!
//! Models, mode and limits stand in its journal. How the provider is reached does not: that is noted beside it. Whatever the repository's
//! configuration narrows is narrowed here, too, as these are options like those of the command line.

use crate::config::options::{Mode, Options};
use crate::config::project::working_directory;
use crate::config::providers::ProviderChoice;
use crate::config::settings::{AT_THE_PROMPT, Settings, users_config, users_mode};
use crate::config::units::{DurationMs, NanoUsd};
use crate::failure::Failure;
use crate::model::effort::Wish;
use crate::model::endpoint::Endpoint;
use crate::model::provider::shown_url;
use crate::screen::terminal::{inline, one_line};
use crate::session::kept::{failed, newest, store};
use crate::session::limits::shown;
use agent_core::agent::Event;
use agent_core::budget::Limits;
use agent_core::journal::Entry;
use agent_core::permission::PermissionMode;
use agent_core::session::{self, SessionConfig};
use agent_runner::journal::{Reader, SessionStore};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// How the provider of a session is reached.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Reached {
    #[serde(default)]
    provider: Option<String>,
    #[serde(default)]
    base_url: Option<String>,
    #[serde(default)]
    api_key_env: Option<String>,
}

/// Notes how the provider of a session is reached. A URL that holds a secret is not kept.
pub(crate) fn note(store: &SessionStore, id: &str, settings: &Settings) {
    if settings.tape.is_played() {
        return;
    }
    let endpoint = Endpoint::of(settings).ok();
    let reached = Reached {
        provider: endpoint.map(|endpoint| endpoint.name),
        base_url: settings.base_url.clone().filter(|url| shown_url(url) == *url),
        api_key_env: settings.api_key_env.clone(),
    };
    // Without it the provider is chosen as for a new session.
    if let Ok(text) = serde_json::to_string(&reached) {
        let _ = store.set_note(id, &text);
    }
}

/// The options with what the resumed session was used with, and a line that says so.
pub(crate) fn own(options: &Options) -> Result<(Options, Option<String>), Failure> {
    if !options.must_exist || options.no_session {
        return Ok((options.clone(), None));
    }
    let directory = working_directory(options.directory.as_deref())?;
    let store = store(&directory)?;
    let id = match &options.session_id {
        Some(id) => store.id_of(id).map_err(|error| failed(&error))?,
        None => newest(&store, &directory)?,
    };
    let path = store.existing(&id).map_err(|error| failed(&error))?;
    let mut options = Options { session_id: Some(id.clone()), continue_newest: false, ..options.clone() };
    let Some(config) = last_config(&path) else { return Ok((options, None)) };
    let mut said = Vec::new();
    if options.replay.is_none() {
        take_provider(&mut options, &store, &id, &mut said);
        take_models(&mut options, &config, &mut said);
    }
    take_mode(&mut options, config.permissions.mode, &mut said)?;
    take_limits(&mut options, &config.limits, &mut said);
    if config.agents.is_some() && !options.agents {
        options.agents = true;
        said.push(String::from("with agents"));
    }
    Ok((options, line(store.name(&id).as_deref(), &said)))
}

/// What is said of a session that is resumed: its name, if it has one, and what was taken over.
fn line(name: Option<&str>, said: &[String]) -> Option<String> {
    let used = (!said.is_empty()).then(|| format!("as this session was used: {}", said.join(", ")));
    let name = name.map(|name| format!("the session {}", one_line(name, 80)));
    let parts: Vec<String> = name.into_iter().chain(used).collect();
    (!parts.is_empty()).then(|| format!("agent: {}", parts.join(", ")))
}

/// What held at the end of a journal. What cannot be read is said by whoever opens it.
fn last_config(path: &Path) -> Option<SessionConfig> {
    let mut config = None;
    for record in Reader::open(path).ok()?.map_while(Result::ok) {
        match (record.entry, &mut config) {
            (Entry::Header(header), config) => *config = Some(header.config),
            (Entry::Event(Event::Session(session::Event::Reconfigured { config: new })), config) => {
                *config = Some(*new);
            }
            (Entry::Event(Event::Session(session::Event::BudgetRaised { limits })), Some(config)) => {
                config.limits = limits;
            }
            _ => {}
        }
    }
    config
}

fn take_provider(options: &mut Options, store: &SessionStore, id: &str, said: &mut Vec<String>) {
    if options.provider.is_some() || options.base_url.is_some() {
        return;
    }
    let reached: Option<Reached> = store.note(id).and_then(|text| serde_json::from_str(&text).ok());
    let Some(Reached { provider, base_url, api_key_env }) = reached else { return };
    options.provider = provider.as_deref().map(ProviderChoice::of);
    let at = base_url.as_ref().map(|url| format!(" at {}", inline(url))).unwrap_or_default();
    said.extend(provider.map(|name| format!("{}{at}", inline(&name))));
    (options.base_url, options.api_key_env) = (base_url, options.api_key_env.take().or(api_key_env));
}

fn take_models(options: &mut Options, config: &SessionConfig, said: &mut Vec<String>) {
    let Some(first) = config.models.first() else { return };
    let (is_said, is_same) = (options.model.is_some(), options.model.as_deref() == Some(&*first.id));
    if !is_said {
        said.push(inline(&first.id));
        options.model = Some(first.id.to_string());
    }
    // Another model may know other efforts.
    if options.effort.is_none() && (is_same || !is_said) {
        options.effort = Some(Wish::of(first.effort));
        said.extend(first.effort.map(|effort| format!("effort {effort}")));
    }
    if is_said {
        return;
    }
    let ids = config.models.iter().skip(1).map(|model| model.id.to_string());
    if options.fallback_model.is_empty() {
        options.fallback_model = ids.collect();
    }
}

/// `bypass` is said again each time: a session may be resumed long after.
fn take_mode(options: &mut Options, mode: PermissionMode, said: &mut Vec<String>) -> Result<(), Failure> {
    if options.permission_mode.is_some() {
        return Ok(());
    }
    let today = users_mode(options, &users_config()?);
    if mode == PermissionMode::Bypass && today != mode {
        said.push(format!("but permission mode {today} (`--permission-mode bypass` brings bypass back)"));
        return Ok(());
    }
    options.permission_mode = Some(Mode::from(mode));
    let is_looser = today != mode && mode.stricter(today) == today;
    let remark = if is_looser { format!(", looser than {today} in your configuration") } else { String::new() };
    if mode != PermissionMode::default() || is_looser {
        said.push(format!("permission mode {mode}{remark}"));
    }
    Ok(())
}

/// What a run without a person is limited to by itself is not taken over.
fn take_limits(options: &mut Options, limits: &Limits, said: &mut Vec<String>) {
    let own = |limit: Option<u64>, headless: u64| limit.filter(|limit| *limit != headless);
    let before = options.clone();
    options.max_turns = options.max_turns.or(own(limits.max_model_calls, HEADLESS_MODEL_CALLS));
    options.max_tool_calls = options.max_tool_calls.or(own(limits.max_tool_calls, HEADLESS_TOOL_CALLS));
    options.max_total_tokens = options.max_total_tokens.or(limits.max_total_tokens);
    options.max_budget_usd = options.max_budget_usd.or(limits.max_cost_nano_usd.map(NanoUsd));
    options.max_wall_time = options.max_wall_time.or(limits.max_wall_time_ms.map(DurationMs));
    let taken = Limits {
        max_model_calls: options.max_turns.filter(|_| before.max_turns.is_none()),
        max_tool_calls: options.max_tool_calls.filter(|_| before.max_tool_calls.is_none()),
        max_total_tokens: options.max_total_tokens.filter(|_| before.max_total_tokens.is_none()),
        max_cost_nano_usd: options.max_budget_usd.filter(|_| before.max_budget_usd.is_none()).map(|usd| usd.0),
        max_wall_time_ms: options.max_wall_time.filter(|_| before.max_wall_time.is_none()).map(|time| time.0),
        ..Limits::default()
    };
    // No flag sets these: what `/more` made of them holds on where it is more than what holds today.
    let raised = |limit: Option<u32>, usual: &[u32]| limit.filter(|limit| !usual.contains(limit));
    options.raised = Limits {
        max_failures_in_row: raised(limits.max_failures_in_row, &[HEADLESS_FAILURES_IN_ROW]),
        max_repetitions: raised(limits.max_repetitions, &[HEADLESS_REPETITIONS, AT_THE_PROMPT]),
        ..Limits::default()
    };
    said.extend(shown(&Limits { max_repetitions: options.raised.max_repetitions, ..taken }));
}

/// What [`Settings`] limit a run to without a person.
pub(crate) const HEADLESS_MODEL_CALLS: u64 = 500;
pub(crate) const HEADLESS_TOOL_CALLS: u64 = 2_000;
pub(crate) const HEADLESS_FAILURES_IN_ROW: u32 = 30;
pub(crate) const HEADLESS_REPETITIONS: u32 = 500;
