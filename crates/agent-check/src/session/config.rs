//! Configurations and limits out of words.

use crate::notation::{Unreadable, pair, parsed, words};
use agent_core::budget::{Limits, Price};
use agent_core::hook::HookPoint;
use agent_core::permission::PermissionMode;
use agent_core::session::{ModelConfig, SessionConfig};
use agent_core::tool::ToolSpec;
use serde_json::json;
use std::slice;
use std::sync::Arc;

/// `mode=bypass|default|plan|accept-edits deny=change(x) retries=1 fallback=second window=1000 result-bytes=100 price=3000 wall-ms=…
/// system=… tools=read,write model=m models=none max-output=50 hooks=Stop,SessionEnd|ALL` and limits. Where nothing is said all is allowed.
///
/// # Errors
/// Names the word that is no setting.
pub fn config(line: &str) -> Result<SessionConfig, Unreadable> {
    of_words(&words(line)?)
}

pub(super) fn of_words(words: &[&str]) -> Result<SessionConfig, Unreadable> {
    let mut config = SessionConfig::new(ModelConfig::new("first"));
    config.permissions.mode = PermissionMode::Bypass;
    for word in words {
        set(&mut config, word)?;
    }
    Ok(config)
}

fn set(config: &mut SessionConfig, word: &str) -> Result<(), Unreadable> {
    let (key, value) = pair(word)?;
    match key {
        "mode" => config.permissions.mode = mode(value)?,
        "deny" => config.permissions.deny.push(parsed(value, "a rule")?),
        "retries" => config.retry.max_retries = number(word, value)?,
        "fallback" => config.models.push(ModelConfig::new(value)),
        "model" => config.models[0].id = value.into(),
        "models" => config.models.clear(),
        "window" => config.models[0].context_window_tokens = Some(number(word, value)?),
        "summaries" => config.summaries.max_per_turn = Some(number(word, value)?),
        "max-output" => config.models[0].max_output_tokens = number(word, value)?,
        "price" => config.models[0].price = Some(flat(number(word, value)?)),
        "result-bytes" => config.max_result_bytes = number(word, value)?,
        "hooks" if value == "ALL" => config.hooks = HookPoint::ALL.into(),
        "hooks" => config.hooks = value.split(',').map(point).collect::<Result<_, _>>()?,
        "system" => config.system = value.into(),
        "tools" => config.tools = value.split(',').map(tool).collect(),
        _ => config.limits = limits(config.limits, slice::from_ref(&word))?,
    }
    Ok(())
}

/// `model-calls=2 wall-ms=none`: limits with some of them set anew.
pub(super) fn limits(mut limits: Limits, words: &[&str]) -> Result<Limits, Unreadable> {
    for word in words {
        let (key, value) = pair(word)?;
        let value = if value == "none" { None } else { Some(number::<u64>(word, value)?) };
        let small = value.map(|value| u32::try_from(value).unwrap_or(u32::MAX));
        match key {
            "model-calls" => limits.max_model_calls = value,
            "tool-calls" => limits.max_tool_calls = value,
            "tokens" => limits.max_total_tokens = value,
            "cost" => limits.max_cost_nano_usd = value,
            "wall-ms" => limits.max_wall_time_ms = value,
            "failures" => limits.max_failures_in_row = small,
            "repetitions" => limits.max_repetitions = small,
            _ => return Err(Unreadable::new(word, "a setting")),
        }
    }
    Ok(limits)
}

/// The words that [`limits`] reads, of the limits that there are.
pub(super) fn limit_words(limits: &Limits) -> String {
    let small = |limit: Option<u32>| limit.map(u64::from);
    let words = [
        ("model-calls", limits.max_model_calls),
        ("tool-calls", limits.max_tool_calls),
        ("tokens", limits.max_total_tokens),
        ("cost", limits.max_cost_nano_usd),
        ("wall-ms", limits.max_wall_time_ms),
        ("failures", small(limits.max_failures_in_row)),
        ("repetitions", small(limits.max_repetitions)),
    ];
    words.iter().filter_map(|(key, limit)| limit.map(|limit| format!(" {key}={limit}"))).collect()
}

fn number<T: std::str::FromStr>(word: &str, value: &str) -> Result<T, Unreadable> {
    value.parse().map_err(|_| Unreadable::new(word, "KEY=NUMBER"))
}

fn mode(word: &str) -> Result<PermissionMode, Unreadable> {
    Ok(match word {
        "default" => PermissionMode::Default,
        "accept-edits" => PermissionMode::AcceptEdits,
        "plan" => PermissionMode::Plan,
        "bypass" => PermissionMode::Bypass,
        _ => return Err(Unreadable::new(word, "a mode of permissions")),
    })
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec { name: name.into(), description: name.into(), input_schema: Arc::new(json!({"type": "object"})) }
}

pub(super) fn point(name: &str) -> Result<HookPoint, Unreadable> {
    let found = HookPoint::ALL.into_iter().find(|point| point.name() == name);
    found.ok_or_else(|| Unreadable::new(name, "a point of the user's hooks"))
}

const fn flat(nano_usd: u64) -> Price {
    Price {
        input_nano_usd: nano_usd,
        output_nano_usd: nano_usd,
        cache_read_nano_usd: nano_usd,
        cache_write_nano_usd: nano_usd,
    }
}
