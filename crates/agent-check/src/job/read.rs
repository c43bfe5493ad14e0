//! Lines as events: the one place that spells the events of a job.

use super::Asked;
use crate::notation::{Unreadable, parsed};
use agent_core::budget::Price;
use agent_core::job::{
    AgentConfig, Event, FailureKind, JobConfig, ModelTier, RetryConfig, Spent, TierModels, Verdict, verdict,
};
use agent_core::llm::Usage;
use agent_core::session::Ticket;

/// `retries=1 base-ms=50 fix the crash`: the last words are the description.
///
/// # Errors
/// Names the word that is not a number.
pub fn config(line: &str) -> Result<JobConfig, Unreadable> {
    let mut retry = RetryConfig::default();
    let mut description = Vec::new();
    for word in line.split_whitespace() {
        match word.split_once('=') {
            Some(("retries", value)) => retry.max_retries = parsed(value, "a number of retries")?,
            Some(("base-ms", value)) => retry.base_delay_ms = parsed(value, "milliseconds")?,
            _ => description.push(word),
        }
    }
    Ok(JobConfig { retry, ..JobConfig::new("job-1", &description.join(" ")) })
}

/// A line as an event. Answers carry the newest ticket, or the one that is named: `written @2`.
///
/// # Errors
/// When nothing is called so.
pub fn event(line: &str, asked: &Asked) -> Result<Event, Unreadable> {
    let named = line.rsplit_once(" @").and_then(|(line, named)| Some((line, Ticket(named.parse().ok()?))));
    let (line, ticket) = named.unwrap_or((line, asked.ticket));
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    let failure = || FailureKind::System(rest.into());
    let session_id = format!("s{}", asked.attempts);
    let spent = |tokens| asked.spent.unwrap_or_else(|| spent(tokens));
    let ended = |verdict| Event::AttemptEnded { ticket, verdict, spent: spent(100), session_id };
    Ok(match verb {
        "start" => Event::Started,
        "cancel" => Event::CancelRequested,
        "valid" => Event::ValidationPassed { ticket, tiers: tiers(rest) },
        "invalid" => Event::ValidationFailed { ticket, failure: FailureKind::Business(rest.into()) },
        "unavailable" => Event::ValidationFailed { ticket, failure: failure() },
        "as-suggested" => Event::AgentDefined { ticket, agent: asked.suggestion.clone(), spent: Spent::default() },
        "chosen" => Event::AgentDefined { ticket, agent: agent(rest), spent: spent(1) },
        "not-routed" => Event::RoutingFailed { ticket, failure: failure(), spent: spent(1) },
        "done" => ended(Verdict::Success { response: rest.into() }),
        "wrong" => ended(Verdict::Failure(FailureKind::Business(rest.into()))),
        "failed" => ended(Verdict::Failure(failure())),
        "failed-for-good" => ended(Verdict::FailureForGood(failure())),
        "stopped" => ended(Verdict::Stopped),
        "lost" => ended(verdict(None)),
        "timer" => Event::RetryTimeout { ticket },
        "written" => Event::RecordWritten { ticket },
        "not-written" => Event::RecordFailed { ticket, message: rest.into() },
        _ => return Err(Unreadable::new(line, "something that happens to a job")),
    })
}

/// `small,middle,large`, or one model for all tiers.
fn tiers(models: &str) -> TierModels {
    match models.split(',').collect::<Vec<_>>()[..] {
        [haiku, sonnet, opus] => TierModels { haiku: haiku.into(), sonnet: sonnet.into(), opus: opus.into() },
        _ => TierModels::all(models),
    }
}

/// An agent without a skill, of the middle tier.
pub fn agent(model: &str) -> AgentConfig {
    AgentConfig { skill: None, tier: ModelTier::Sonnet, model: model.to_owned() }
}

/// What so many tokens cost.
pub fn spent(output_tokens: u64) -> Spent {
    let price = Price { input_nano_usd: 3, output_nano_usd: 15, cache_read_nano_usd: 1, cache_write_nano_usd: 4 };
    Spent::of_call(Usage { output_tokens, ..Usage::default() }, Some(&price))
}
