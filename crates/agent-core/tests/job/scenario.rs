//! Scenarios in text: what becomes of a job, and what is asked of its driver. `config` names the job and its retries; what else can be said
//! stands in `event`. Answers carry the newest ticket.

use crate::harness::{agent, spent};
use crate::stage::table;
use crate::support::scenarios::{self, Story};
use agent_core::job::{
    Action, AgentConfig, Event, FailureKind, Job, JobConfig, RetryConfig, Spent, TierModels, Verdict,
};
use agent_core::session::Ticket;
use std::fmt::Write;

#[test]
fn every_scenario_reads_as_written() {
    scenarios::check("job", &play);
}

pub(crate) fn play(text: &str) -> String {
    scenarios::play(text, &mut Told::default())
}

struct Told {
    job: Job,
    now_ms: u64,
    ticket: Ticket,
    suggestion: AgentConfig,
    attempts: u32,
}

impl Default for Told {
    fn default() -> Self {
        Self::of(JobConfig::new("job-1", "fix the crash"))
    }
}

impl Told {
    fn of(config: JobConfig) -> Self {
        let job = Job::with_table(config, 0, table());
        Self { job, now_ms: 0, ticket: Ticket(99), suggestion: agent(), attempts: 0 }
    }

    fn event(&self, line: &str) -> Event {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let ticket = self.ticket;
        let failure = || FailureKind::System(rest.into());
        let ended = |verdict| Event::AttemptEnded {
            ticket,
            verdict,
            spent: spent(100),
            session_id: format!("s{}", self.attempts),
        };
        match verb {
            "start" => Event::Started,
            "cancel" => Event::CancelRequested,
            "valid" => Event::ValidationPassed { ticket, tiers: TierModels::all(rest) },
            "invalid" => Event::ValidationFailed { ticket, failure: FailureKind::Business(rest.into()) },
            "as-suggested" => Event::AgentDefined { ticket, agent: self.suggestion.clone(), spent: Spent::default() },
            "not-routed" => Event::RoutingFailed { ticket, failure: failure(), spent: spent(1) },
            "done" => ended(Verdict::Success { response: rest.into() }),
            "wrong" => ended(Verdict::Failure(FailureKind::Business(rest.into()))),
            "failed" => ended(Verdict::Failure(failure())),
            "failed-for-good" => ended(Verdict::FailureForGood(failure())),
            "stopped" => ended(Verdict::Stopped),
            "lost" => ended(agent_core::job::verdict(None)),
            "timer" => Event::RetryTimeout { ticket },
            "written" => Event::RecordWritten { ticket },
            "not-written" => Event::RecordFailed { ticket, message: rest.into() },
            other => panic!("nothing happens that is called {other}"),
        }
    }

    fn note(&mut self, action: &Action) {
        match action {
            Action::DefineAgent { ticket, suggestion, .. } => {
                (self.ticket, self.suggestion) = (*ticket, suggestion.clone());
            }
            Action::RunAgent { ticket, .. } => (self.ticket, self.attempts) = (*ticket, self.attempts + 1),
            Action::ValidateJob { ticket }
            | Action::ScheduleRetry { ticket, .. }
            | Action::WriteAuditRecord { ticket, .. } => self.ticket = *ticket,
            Action::StopWork { .. } | Action::CancelRetry { .. } => {}
        }
    }
}

impl Story for Told {
    fn begin(&mut self) {
        *self = Self::default();
    }

    fn perform(&mut self, line: &str) -> String {
        if let Some(words) = line.strip_prefix("config ") {
            *self = Self::of(config(words));
            return String::new();
        }
        if let Some(ms) = line.strip_prefix("wait ") {
            self.now_ms += ms.parse::<u64>().unwrap();
            return String::new();
        }
        let before = self.job.clone();
        match self.job.step(self.now_ms, self.event(line)) {
            Ok(step) => {
                let mut out = format!("{:?}\n", self.job.state());
                for action in &step.actions {
                    self.note(action);
                    let _ = writeln!(out, "- {}", shown(action));
                }
                out
            }
            Err(rejected) => {
                assert_eq!(self.job, before, "a refusal changed the job: {line}");
                rejected.to_string()
            }
        }
    }
}

/// `retries=1 base-ms=50 fix the crash`: the last words are the description.
fn config(words: &str) -> JobConfig {
    let mut retry = RetryConfig::default();
    let mut description = Vec::new();
    for word in words.split_whitespace() {
        match word.split_once('=') {
            Some(("retries", value)) => retry.max_retries = value.parse().unwrap(),
            Some(("base-ms", value)) => retry.base_delay_ms = value.parse().unwrap(),
            _ => description.push(word),
        }
    }
    JobConfig { retry, ..JobConfig::new("job-1", &description.join(" ")) }
}

fn shown(action: &Action) -> String {
    match action {
        Action::ValidateJob { ticket } => format!("validate {ticket}"),
        Action::DefineAgent { ticket, description, suggestion } => {
            format!("choose an agent {ticket} for \"{description}\", suggested: {}", named(suggestion))
        }
        Action::RunAgent { ticket, attempt } => {
            format!("run {ticket}, attempt {}: {} on \"{}\"", attempt.number, named(&attempt.agent), attempt.task)
        }
        Action::StopWork { ticket } => format!("stop {ticket}"),
        Action::ScheduleRetry { ticket, delay_ms, retry, reason } => {
            format!("retry {ticket} in {delay_ms} ms (number {retry}, because of: {reason})")
        }
        Action::CancelRetry { ticket } => format!("cancel the retry {ticket}"),
        Action::WriteAuditRecord { ticket, record } => {
            let failure = record.failure.as_ref().map(|failure| format!(", {failure}")).unwrap_or_default();
            let answer = record.llm_response.as_ref().map(|text| format!(", \"{text}\"")).unwrap_or_default();
            let states: Vec<String> = record.state_transitions.iter().map(|state| format!("{state:?}")).collect();
            format!(
                "record {ticket}: {:?}{failure}{answer}; {} retries of {}, {} ms, {} nano-dollars, sessions {:?}\n  {}",
                record.status,
                record.retry_count,
                record.max_retries,
                record.duration_ms,
                record.cost_nano_usd.map_or("unknown".into(), |cost| cost.to_string()),
                record.session_ids,
                states.join(" ")
            )
        }
    }
}

fn named(agent: &AgentConfig) -> String {
    format!("{} as {:?}, {}", agent.model, agent.tier, agent.skill.as_deref().unwrap_or("no skill"))
}
