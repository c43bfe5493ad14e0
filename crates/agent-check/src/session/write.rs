//! Events as lines of a scenario, so that a path can be read, and played as one.

use super::commands;
use super::tables::{FAILURES, STOPS};
use agent_core::hook::HookReport;
use agent_core::llm::{LlmErrorKind, LlmResponse, ResponseBlock, StopReason};
use agent_core::permission::{ApprovalAnswer, ApprovalScope};
use agent_core::session::Event;
use agent_core::tool::{CallFacts, Effect, Finding, HookVerdict, ToolOutcome, ToolStatus};

/// An event as a line of a scenario. What the scenarios have no word for is a comment.
pub fn line(event: &Event) -> String {
    if let Some(command) = commands::written(event) {
        return command;
    }
    match event {
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
        Event::ApprovalAnswered { ticket, call, answer, changed } => match answer {
            ApprovalAnswer::Allow { scope, arguments } => {
                let always = match scope {
                    ApprovalScope::Once => String::new(),
                    ApprovalScope::Session(rules) | ApprovalScope::Always(rules) => {
                        rules.first().map(|rule| format!(" always={rule}")).unwrap_or_default()
                    }
                };
                let edit = arguments.as_ref().map(|arguments| format!(" edit={}", arguments.as_str()));
                let looks = changed.as_ref().map(|fact| format!(" looks={}", fact_word(fact)));
                let (edit, looks) = (edit.unwrap_or_default(), looks.unwrap_or_default());
                format!("> allow id:{call}{always}{edit}{looks} @{}", ticket.0)
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
        Event::HooksFinished { ticket, report } => format!("> hooks{} @{}", report_words(report), ticket.0),
        Event::HookFailed { ticket, message } => format!("> hook-failed \"{message}\" @{}", ticket.0),
        Event::HooksStoppedTurn { ticket, reason } => format!("> hook-stop \"{reason}\" @{}", ticket.0),
        other => format!("# {} (no line says it)", other.name()),
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
    match (reason, STOPS.iter().find(|(_, known)| known == reason)) {
        (_, Some((word, _))) => word,
        (StopReason::Other(reason), None) => reason,
        (_, None) => "end",
    }
}

fn kind(kind: LlmErrorKind) -> &'static str {
    FAILURES.iter().find(|(_, known)| *known == kind).map_or("server", |(word, _)| word)
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
