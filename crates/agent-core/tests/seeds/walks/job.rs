//! `start; valid; defined; failed; timer; succeeded; written`: a job with three retries, unless `config retries=0` says otherwise.

use agent_core::job::{
    Action, AgentConfig, Event, FailureKind, Job, JobConfig, ModelTier, RetryConfig, Spent, State, TierModels, Trigger,
    Verdict,
};
use agent_core::session::Ticket;

pub(crate) fn job(words: &str) -> Vec<(State, Trigger, State)> {
    let (mut job, mut ticket, mut out) = (made(3), Ticket(0), Vec::new());
    for word in words.split("; ") {
        if let Some(retries) = word.strip_prefix("config retries=") {
            job = made(retries.parse().unwrap());
            continue;
        }
        let step = job.step(0, event(word, ticket)).unwrap_or_else(|no| panic!("{words}: {word}: {no}"));
        out.extend(step.transitions.iter().map(|row| (row.from, row.on, row.to)));
        ticket = step.actions.iter().filter_map(asked).next_back().unwrap_or(ticket);
    }
    out
}

fn made(max_retries: u32) -> Job {
    let retry = RetryConfig { max_retries, ..RetryConfig::default() };
    Job::new(JobConfig { retry, ..JobConfig::new("job-1", "fix the crash") }, 0)
}

fn event(word: &str, ticket: Ticket) -> Event {
    let failure = || FailureKind::Business("wrong output".into());
    let spent = Spent::default();
    let ended = |verdict| Event::AttemptEnded { ticket, verdict, spent, session_id: String::new() };
    match word {
        "start" => Event::Started,
        "cancel" => Event::CancelRequested,
        "valid" => Event::ValidationPassed { ticket, tiers: TierModels::all("m") },
        "invalid" => Event::ValidationFailed { ticket, failure: failure() },
        "defined" => {
            let agent = AgentConfig { skill: None, tier: ModelTier::Sonnet, model: "m".into() };
            Event::AgentDefined { ticket, agent, spent }
        }
        "routing-failed" => Event::RoutingFailed { ticket, failure: failure(), spent },
        "succeeded" => ended(Verdict::Success { response: "done".into() }),
        "failed" => ended(Verdict::Failure(failure())),
        "failed-for-good" => ended(Verdict::FailureForGood(failure())),
        "stopped" => ended(Verdict::Stopped),
        "timer" => Event::RetryTimeout { ticket },
        "written" => Event::RecordWritten { ticket },
        "not-written" => Event::RecordFailed { ticket, message: "disk full".into() },
        other => panic!("no such event: {other}"),
    }
}

fn asked(action: &Action) -> Option<Ticket> {
    match action {
        Action::ValidateJob { ticket }
        | Action::DefineAgent { ticket, .. }
        | Action::RunAgent { ticket, .. }
        | Action::ScheduleRetry { ticket, .. }
        | Action::WriteAuditRecord { ticket, .. } => Some(*ticket),
        Action::StopWork { .. } | Action::CancelRetry { .. } => None,
    }
}
