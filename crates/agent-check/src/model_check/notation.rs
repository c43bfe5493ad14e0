//! Events and configurations in the notation of the text scenarios of `agent-core`, so that a path can be read, and played as one.

use agent_core::budget::{Limits, Price};
use agent_core::hook::{HookPoint, HookReport};
use agent_core::llm::{LlmErrorKind, LlmResponse, ResponseBlock, StopReason};
use agent_core::permission::{ApprovalAnswer, ApprovalScope, PermissionMode};
use agent_core::session::{Event, ModelConfig, SessionConfig};
use agent_core::tool::{CallFacts, Effect, Finding, HookVerdict, ToolOutcome, ToolSpec, ToolStatus};

/// A configuration out of words: `mode=bypass retries=1 fallback=second window=120 price=3000 model-calls=2 …`.
pub(crate) fn config(words: &str) -> Result<SessionConfig, String> {
    let mut config = SessionConfig::new(ModelConfig::new("first"));
    for word in words.split_whitespace() {
        let wrong = || format!("read the setting `{word}`");
        let (key, value) = word.split_once('=').ok_or_else(wrong)?;
        let number = || value.parse::<u64>().map_err(|_| wrong());
        let small = || value.parse::<u32>().map_err(|_| wrong());
        let limits = &mut config.limits;
        match key {
            "mode" => config.permissions.mode = mode(value).ok_or_else(wrong)?,
            "retries" => config.retry.max_retries = small()?,
            "model" => first(&mut config).id = value.into(),
            "tools" => config.tools = value.split(',').map(tool).collect(),
            "fallback" => config.models.push(ModelConfig::new(value)),
            "window" => first(&mut config).context_window_tokens = Some(number()?),
            "max-output" => first(&mut config).max_output_tokens = small()?,
            "price" => first(&mut config).price = Some(flat(number()?)),
            "hooks" => {
                config.hooks = value.split(',').map(|name| point(name).ok_or_else(wrong)).collect::<Result<_, _>>()?;
            }
            "model-calls" => limits.max_model_calls = Some(number()?),
            "tool-calls" => limits.max_tool_calls = Some(number()?),
            "tokens" => limits.max_total_tokens = Some(number()?),
            "cost" => limits.max_cost_nano_usd = Some(number()?),
            "wall-ms" => limits.max_wall_time_ms = Some(number()?),
            "failures" => limits.max_failures_in_row = Some(small()?),
            "repetitions" => limits.max_repetitions = Some(small()?),
            _ => return Err(wrong()),
        }
    }
    Ok(config)
}

fn first(config: &mut SessionConfig) -> &mut ModelConfig {
    &mut config.models[0]
}

fn tool(name: &str) -> ToolSpec {
    let input_schema = serde_json::json!({ "type": "object" }).into();
    ToolSpec { name: name.into(), description: "".into(), input_schema }
}

fn point(name: &str) -> Option<HookPoint> {
    HookPoint::ALL.into_iter().find(|point| point.name() == name)
}

fn mode(word: &str) -> Option<PermissionMode> {
    Some(match word {
        "default" => PermissionMode::Default,
        "accept-edits" => PermissionMode::AcceptEdits,
        "plan" => PermissionMode::Plan,
        "bypass" => PermissionMode::Bypass,
        _ => return None,
    })
}

const fn flat(nano_usd: u64) -> Price {
    Price {
        input_nano_usd: nano_usd,
        output_nano_usd: nano_usd,
        cache_read_nano_usd: nano_usd,
        cache_write_nano_usd: nano_usd,
    }
}

/// An event as a line of a scenario. What the scenarios have no word for is a comment.
pub(crate) fn line(event: &Event) -> String {
    match event {
        // Every scenario begins with a session that was started.
        Event::Started => "# started".to_owned(),
        Event::UserInput { text } => format!("> input {text}"),
        Event::FollowUp { text, used_ms } => {
            format!("# a follow-up after {used_ms} ms: {text} (a scenario has no word for it)")
        }
        Event::BudgetRaised { limits } => format!("> raise{}", limit_words(limits)),
        Event::Reconfigured { config } => {
            let models: String = config.models.iter().map(|model| format!(" {}", model.id)).collect();
            format!(
                "# a configuration is given:{models}{} (a scenario has no word for it)",
                limit_words(&config.limits)
            )
        }
        Event::CompactionRequested => "> compact".to_owned(),
        Event::CancelRequested => "> cancel".to_owned(),
        Event::ShutdownRequested => "> shutdown".to_owned(),
        Event::LlmDelta { ticket, .. } => format!("> delta \"…\" @{}", ticket.0),
        Event::LlmCompleted { ticket, response } => format!("> answer{} @{}", answer(response), ticket.0),
        Event::LlmFailed { ticket, error, .. } => {
            let after = error.retry_after_ms.map_or_else(String::new, |ms| format!(" retry-after={ms}"));
            format!("> fail {}{after} @{}", kind(error.kind), ticket.0)
        }
        Event::LlmInterrupted { ticket } => format!("> interrupted @{}", ticket.0),
        Event::LlmAborted { ticket, partial_text } => format!("> aborted \"{partial_text}\" @{}", ticket.0),
        Event::RetryTimeout { ticket } => format!("> timer @{}", ticket.0),
        Event::DeadlineReached { ticket } => format!("> deadline @{}", ticket.0),
        Event::ToolsPrepared { ticket, facts } => {
            let words = (1..).zip(facts).map(|(number, fact)| format!(" {number}={}", fact_word(fact)));
            format!("> prepared{} @{}", words.collect::<String>(), ticket.0)
        }
        Event::ApprovalAnswered { ticket, call, answer, .. } => match answer {
            ApprovalAnswer::Allow { arguments: Some(_), .. } => {
                format!("# {call} is allowed with other arguments (a scenario has no word for it)")
            }
            ApprovalAnswer::Allow { scope: ApprovalScope::Once, .. } => format!("> allow id:{call} @{}", ticket.0),
            ApprovalAnswer::Allow { scope: ApprovalScope::Session(rule) | ApprovalScope::Always(rule), .. } => {
                format!("> allow id:{call} always={rule} @{}", ticket.0)
            }
            ApprovalAnswer::Deny { reason } => format!("> deny id:{call} \"{reason}\" @{}", ticket.0),
            ApprovalAnswer::Nobody => format!("> nobody id:{call} @{}", ticket.0),
        },
        Event::ToolProgress { ticket, call, .. } => format!("> progress id:{call} \"…\" @{}", ticket.0),
        Event::ToolCompleted { ticket, call, outcome } => {
            format!("> tool id:{call} {} @{}", outcome_words(outcome), ticket.0)
        }
        Event::GitChecked { ticket, report } => {
            let formatting = if report.formatting_due { " formatting" } else { "" };
            format!("> git{formatting}{} @{}", commit(report.commit_due), ticket.0)
        }
        Event::FormattersFinished { ticket, report } => {
            let paths: String = report.changed_paths.iter().map(|path| format!(" {path}")).collect();
            format!("> formatted{paths}{} @{}", commit(report.commit_due), ticket.0)
        }
        Event::ChangesCommitted { ticket, .. } => format!("> committed @{}", ticket.0),
        Event::LeaveRequested => "> leave".to_owned(),
        Event::HooksFinished { ticket, report } => format!("> hooks{} @{}", report_words(report), ticket.0),
        Event::HookFailed { ticket, message } => format!("> hook-failed \"{message}\" @{}", ticket.0),
        Event::HooksStoppedTurn { ticket, reason } => format!("> hook-stop \"{reason}\" @{}", ticket.0),
    }
}

fn report_words(report: &HookReport) -> String {
    let context = report.context.first().map(|text| format!(" \"context={text}\""));
    let block = report.block.as_ref().map(|why| format!(" \"block={why}\""));
    let stop = report.stop.as_ref().map(|why| format!(" \"stop={why}\""));
    [context, block, stop].into_iter().flatten().collect()
}

const fn commit(is_due: bool) -> &'static str {
    if is_due { " commit" } else { "" }
}

fn limit_words(limits: &Limits) -> String {
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

fn answer(response: &LlmResponse) -> String {
    let (mut out, mut calls) = (String::new(), String::new());
    for block in &response.blocks {
        match block {
            ResponseBlock::Text(text) if text.len() > 60 => out.push_str(&format!(" long={}", text.len() / 5)),
            ResponseBlock::Text(text) => out.push_str(&format!(" \"{text}\"")),
            ResponseBlock::Thinking { .. } | ResponseBlock::RedactedThinking { .. } | ResponseBlock::Opaque { .. } => {
                out.push_str(" thinking");
            }
            ResponseBlock::Call(raw) => {
                let cut = if raw.complete { "" } else { "cut:" };
                calls.push_str(&format!(" {cut}{}#{}{}", raw.name, raw.id, raw.arguments));
            }
        }
    }
    let usual = if calls.is_empty() { StopReason::EndTurn } else { StopReason::ToolUse };
    if !calls.is_empty() {
        out.push_str(&format!(" calls{calls}"));
    }
    if response.stop != usual {
        out.push_str(&format!(" stop={}", stop(&response.stop)));
    }
    if let Some(usage) = response.usage {
        out.push_str(&format!(" usage={},{}", usage.input_tokens, usage.output_tokens));
    }
    out
}

fn stop(reason: &StopReason) -> &str {
    match reason {
        StopReason::EndTurn => "end",
        StopReason::ToolUse => "tool-use",
        StopReason::MaxTokens => "max-tokens",
        StopReason::Paused => "paused",
        StopReason::Refusal => "refusal",
        StopReason::ContextWindow => "context",
        StopReason::Other(reason) => reason,
        _ => "end",
    }
}

fn kind(kind: LlmErrorKind) -> &'static str {
    match kind {
        LlmErrorKind::Authentication => "authentication",
        LlmErrorKind::Permission => "permission",
        LlmErrorKind::NotFound => "not-found",
        LlmErrorKind::InvalidRequest => "invalid",
        LlmErrorKind::ContextOverflow => "overflow",
        LlmErrorKind::RateLimited => "rate-limited",
        LlmErrorKind::Overloaded => "overloaded",
        LlmErrorKind::Network => "network",
        _ => "server",
    }
}

fn fact_word(fact: &CallFacts) -> &'static str {
    match (&fact.finding, &fact.verdict) {
        (_, HookVerdict::Deny { .. }) => "deny",
        (_, HookVerdict::Ask { .. }) => "ask",
        (_, HookVerdict::Allow { .. }) => "allow",
        (Finding::Runnable(inspection), HookVerdict::None) => match inspection.effect {
            Effect::Reads => "read",
            Effect::Changes => "change",
        },
        (Finding::UnknownTool { .. }, HookVerdict::None) => "unknown",
        (Finding::InvalidArguments { .. }, HookVerdict::None) => "invalid",
    }
}

fn outcome_words(outcome: &ToolOutcome) -> String {
    let status = match outcome.status {
        ToolStatus::Ok => "ok",
        ToolStatus::Failed => "failed",
        ToolStatus::NotRun => "not-run",
        _ => "interrupted",
    };
    let text = match outcome.content.len() {
        length if length > 60 => format!("long={length}"),
        _ => format!("\"{}\"", outcome.content),
    };
    let paths: String = outcome.changed_paths.iter().map(|path| format!(" changed={path}")).collect();
    format!("{status} {text}{paths}")
}
