//! `agent config show`: what holds for a run in a directory, and who says so. Keys and what is secret in a URL are left out.

use crate::commands::args::ConfigShow;

use crate::config::file::{self, UserConfig, state_home};
use crate::config::options::{Options, ProviderName, Seat};
use crate::config::repository::RepositoryConfig;
use crate::config::rule_patterns;
use crate::config::settings::{Settings, from_options, limits_of_user, users_mode};
use crate::failure::Failure;
use crate::hooks::trust;
use crate::model::asked::Models;
use crate::model::effort::Wish;
use crate::model::endpoint::{Endpoint, base_url_variable};
use crate::model::keys::{key_variable, variable};
use crate::model::provider::{self, shown_url};
use crate::screen::terminal::{inline, print, print_json};
use agent_core::budget::Limits;
use agent_core::permission::{PermissionMode, Rule};
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// One setting.
#[derive(Serialize)]
struct Told {
    key: &'static str,
    value: Value,
    source: String,
}

/// Prints a line a setting, or one JSON object.
pub(crate) fn run(arguments: &ConfigShow) -> Result<u8, Failure> {
    let options = &arguments.options;
    let settings = Settings::resolve(options, Seat::Looking)?;
    let repository = RepositoryConfig::find(&settings.directory);
    let mut told = files(&settings, &repository)?;
    told.extend(of_provider(&settings, options));
    told.extend(of_permissions(&settings, options, &repository));
    told.extend(of_limits(&settings, options, &repository)?);
    told.extend(of_programs(&settings, options));
    let written = if arguments.json {
        let text = serde_json::to_string(&json!({ "settings": told })).map_err(Failure::internal)?;
        print_json(&format!("{text}\n"))
    } else {
        let lines = told.iter().fold(String::new(), |mut out, told| {
            let _ = writeln!(out, "{:<28} {}  ({})", told.key, shown(&told.value), inline(&told.source));
            out
        });
        print(&lines)
    };
    written.map_err(|error| Failure::internal(format!("cannot write the settings: {error}")))?;
    Ok(0)
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::from("-"),
        Value::String(text) => inline(text),
        other => inline(&other.to_string()),
    }
}

/// What is read, and where sessions are kept.
fn files(settings: &Settings, repository: &RepositoryConfig) -> Result<Vec<Told>, Failure> {
    let user = file::user_config_path();
    let is_there = if user.as_ref().is_some_and(|path| path.exists()) { "read" } else { "not found" };
    let mut told = vec![
        Told { key: "directory", value: json!(settings.directory), source: String::from("working directory") },
        Told { key: "configuration", value: json!(user), source: format!("yours: {is_there}") },
    ];
    told.extend(repository.paths.iter().map(|path| Told {
        key: "configuration",
        value: json!(path),
        source: String::from("the repository's: may only tighten"),
    }));
    let is_trusted = trust::of(&settings.directory, repository)?.is_given;
    told.push(Told { key: "trusted", value: json!(is_trusted), source: String::from("`agent trust`") });
    told.push(Told { key: "state", value: json!(state_home()), source: home_source("AGENT_STATE_HOME") });
    Ok(told)
}

fn home_source(name: &str) -> String {
    String::from(if variable(name).is_some() { name } else { "built in, below HOME" })
}

fn of_provider(settings: &Settings, options: &Options) -> Vec<Told> {
    let user = &settings.user;
    let chosen = Endpoint::of(settings);
    let first_line = |failure: &Failure| failure.message.lines().next().unwrap_or_default().to_owned();
    let (name, source) = match &chosen {
        Ok(endpoint) => (Some(endpoint.name.clone()), endpoint.chosen_by.to_owned()),
        Err(failure) => (None, first_line(failure)),
    };
    let mut told = vec![Told { key: "provider", value: json!(name), source }];
    if let Ok(endpoint) = &chosen {
        told.push(Told { key: "protocol", value: json!(endpoint.protocol.name()), source: USER.to_owned() });
        if endpoint.entry.is_none() {
            told.pop();
        }
        let (url, from) = if endpoint.base_url.is_empty() {
            (Value::Null, String::from("the provider's own"))
        } else {
            (json!(shown_url(&endpoint.base_url)), endpoint.from.clone())
        };
        told.push(Told { key: "base_url", value: url, source: from });
    }
    for name in [ProviderName::Anthropic, ProviderName::OpenAi] {
        let key = key_variable(name);
        let word = if variable(key).is_some() { "set, not shown" } else { "not set" };
        told.push(Told { key, value: json!(word), source: String::from("environment") });
        if let Some(url) = variable(base_url_variable(name)) {
            let value = json!(shown_url(&url));
            told.push(Told { key: base_url_variable(name), value, source: String::from("environment") });
        }
    }
    let asked = chosen.as_ref().ok().and_then(|endpoint| endpoint.model(settings));
    let model = asked.map(|asked| asked.model).or_else(|| settings.model.clone());
    told.push(Told {
        key: "model",
        value: json!(model),
        source: said(options.model.is_some(), model.is_some(), "the only one that the provider lists"),
    });
    told.extend(of_model(settings, options, chosen.as_ref().ok()));
    told.push(Told {
        key: "fallback_models",
        value: json!(settings.fallback_models),
        source: said(!options.fallback_model.is_empty(), !user.fallback_models.is_empty(), BUILT_IN),
    });
    let waits = [
        ("timeouts.first_byte_ms", settings.timeouts.first_byte, options.first_byte_timeout, user.timeouts.first_byte),
        ("timeouts.idle_ms", settings.timeouts.idle, options.idle_timeout, user.timeouts.idle),
    ];
    told.extend(waits.map(|(key, wait, by_flag, by_user)| {
        let source = said(by_flag.is_some(), by_user.is_some(), BUILT_IN);
        Told { key, value: json!(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)), source }
    }));
    told
}

/// What the first model is asked with, as far as that is known without asking a server for its models.
fn of_model(settings: &Settings, options: &Options, endpoint: Option<&Endpoint<'_>>) -> Vec<Told> {
    let user = &settings.user;
    let meant = endpoint.and_then(|endpoint| endpoint.model(settings));
    let meant = meant.unwrap_or_else(|| user.meant(""));
    let entry = user.models.get(&meant.model);
    let by_provider = endpoint.and_then(|endpoint| endpoint.entry?.effort);
    let by_user = meant.effort.or(user.effort).or(by_provider).or(entry.and_then(|entry| entry.effort)).is_some();
    let asked = endpoint.map(|endpoint| {
        let models = Models::new(settings, provider::reach(endpoint)?).or_wish(meant.effort);
        models.all(&meant.model, [].iter())
    });
    let (effort, tokens, otherwise) = match &asked {
        Some(Ok(models)) => {
            let model = models.first();
            let effort = model.map(|model| Wish::of(model.effort).name());
            (json!(effort), json!(model.map(|model| model.max_output_tokens)), BUILT_IN.to_owned())
        }
        Some(Err(failure)) => (Value::Null, Value::Null, failure.message.lines().next().unwrap_or_default().to_owned()),
        None => (Value::Null, Value::Null, "no provider is chosen".to_owned()),
    };
    let is_configured = user.max_output_tokens.or(entry.and_then(|entry| entry.max_output_tokens)).is_some();
    let mut told = vec![
        Told { key: "effort", value: effort, source: said(options.effort.is_some(), by_user, &otherwise) },
        Told { key: "max_output_tokens", value: tokens, source: said(false, is_configured, &otherwise) },
    ];
    told.extend(user.providers.iter().map(|(name, entry)| {
        let url = entry.base_url.as_deref().map_or("its own address".to_owned(), shown_url);
        let value = json!(format!("{name}: {} at {url}", entry.protocol.name()));
        Told { key: "providers", value, source: USER.to_owned() }
    }));
    told.extend(user.aliases.iter().map(|(name, alias)| {
        let at = alias.provider.as_ref().map(|choice| format!(" at {}", choice.name())).unwrap_or_default();
        Told { key: "aliases", value: json!(format!("{name}: {}{at}", alias.model)), source: USER.to_owned() }
    }));
    told
}

fn of_permissions(settings: &Settings, options: &Options, repository: &RepositoryConfig) -> Vec<Told> {
    let (user, permissions) = (&settings.user, &settings.permissions);
    let is_tightened = permissions.mode != users_mode(options, user);
    let mode = match is_tightened {
        true => String::from(REPOSITORY),
        false => said(options.permission_mode.is_some(), user.permission_mode.is_some(), BUILT_IN),
    };
    let mut told =
        vec![Told { key: "permission_mode", value: json!(PermissionMode::to_string(&permissions.mode)), source: mode }];
    let rules = [("allow", &permissions.allow), ("deny", &permissions.deny)];
    let tool_names = rule_patterns::tool_names(&settings.directory).unwrap_or_default();
    for (key, rules) in rules {
        let rule = |rule: &Rule| {
            let source = rule.source().phrase().trim_start_matches(" of ").to_owned();
            let fault = rule_patterns::fault(rule, key == "deny", user, &tool_names);
            let source = fault.map_or(source.clone(), |fault| format!("{source}; NOT USABLE: {fault}"));
            Told { key, value: json!(rule.to_string()), source }
        };
        told.extend(rules.iter().map(rule));
    }
    let wanted = options.sandbox.or(user.sandbox);
    let is_narrowed = repository.sandbox.is_some_and(|narrow| wanted.is_none_or(|wanted| narrow < wanted));
    told.push(Told {
        key: "sandbox",
        value: settings.sandbox.as_ref().map_or(json!("off: commands run as you"), |it| json!(it.to_string())),
        source: match is_narrowed {
            true => String::from(REPOSITORY),
            false => said(options.sandbox.is_some(), user.sandbox.is_some(), BUILT_IN),
        },
    });
    let lists = [
        ("sandbox_writable", &user.sandbox_writable, "your configuration"),
        ("sandbox_hidden", &user.sandbox_hidden, "your configuration"),
        ("sandbox_hidden", &repository.hidden, REPOSITORY),
        ("sandbox_readable", &user.sandbox_readable, "your configuration"),
    ];
    for (key, paths, source) in lists {
        told.extend(paths.iter().map(|path| Told { key, value: json!(path), source: source.to_owned() }));
    }
    told
}

/// As a run has them; the prompt has none that are built in.
fn of_limits(settings: &Settings, options: &Options, repository: &RepositoryConfig) -> Result<Vec<Told>, Failure> {
    let by_user = limits_of_user(&settings.user)?;
    let all = [&settings.limits, &from_options(options), &by_user];
    let told = LIMITS.iter().map(|(key, limit)| {
        let [holds, by_flag, by_user] = all.map(limit);
        let narrowed = repository
            .limits
            .iter()
            .any(|by_repository| limit(by_repository).is_some_and(|limit| Some(limit) == holds));
        let is_users = by_flag.or(by_user).is_some_and(|said| Some(said) == holds);
        let source = match narrowed && !is_users {
            true => String::from(REPOSITORY),
            false if holds.is_none() => String::from("no limit"),
            false => said(by_flag.is_some(), by_user.is_some(), "built in for `run`, no limit at the prompt"),
        };
        Told { key, value: json!(holds), source }
    });
    Ok(told.collect())
}

fn of_programs(settings: &Settings, options: &Options) -> Vec<Told> {
    let user: &UserConfig = &settings.user;
    let by_flag = options.auto_commit || options.no_auto_commit;
    let mut told = vec![
        Told {
            key: "auto_commit",
            value: json!(settings.auto_commit),
            source: said(by_flag, user.auto_commit.is_some(), BUILT_IN),
        },
        Told {
            key: "format_on_edit",
            value: json!(options.format_on_edit || user.format_on_edit.unwrap_or(false)),
            source: said(options.format_on_edit, user.format_on_edit.is_some(), BUILT_IN),
        },
    ];
    // Those of the user stand first.
    let whose = |number: usize, of_user: usize| String::from(if number < of_user { USER } else { REPOSITORY });
    let formatters = settings.formatters.iter().enumerate().map(|(number, formatter)| Told {
        key: "formatter",
        value: json!(format!("{} for {}", formatter.program.display(), formatter.extensions.join(", "))),
        source: whose(number, user.formatters.len()),
    });
    let hooks = settings.hooks.iter().enumerate().map(|(number, hook)| Told {
        key: "hook",
        value: json!(format!("{}: {}", hook.point.name(), hook.command)),
        source: whose(number, user.hooks.len()),
    });
    told.extend(formatters.chain(hooks));
    told
}

fn said(by_flag: bool, by_user: bool, otherwise: &str) -> String {
    String::from(match (by_flag, by_user) {
        (true, _) => "command line",
        (false, true) => USER,
        (false, false) => otherwise,
    })
}

type Limit = fn(&Limits) -> Option<u64>;

/// Each limit under the name that it has in a configuration.
const LIMITS: [(&str, Limit); 7] = [
    ("limits.max_turns", |limits| limits.max_model_calls),
    ("limits.max_tool_calls", |limits| limits.max_tool_calls),
    ("limits.max_total_tokens", |limits| limits.max_total_tokens),
    ("limits.max_budget_nano_usd", |limits| limits.max_cost_nano_usd),
    ("limits.max_wall_time_ms", |limits| limits.max_wall_time_ms),
    ("limits.max_failures_in_row", |limits| limits.max_failures_in_row.map(u64::from)),
    ("limits.max_repetitions", |limits| limits.max_repetitions.map(u64::from)),
];
const BUILT_IN: &str = "built in";
const USER: &str = "the user's configuration";
const REPOSITORY: &str = "the repository's configuration";
