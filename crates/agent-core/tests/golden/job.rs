//! The lives of a few jobs: done at the second attempt, refused, badly routed, stopped, not recorded.

use crate::kept::{self, Kept, lines, one_of_each};
use agent_core::budget::{Limits, Price};
use agent_core::job::{Action, Event, FailureKind, Job, JobConfig, Spent, State, TierModels, Verdict};
use agent_core::llm::Usage;
use agent_core::session::Ticket;
use serde::{Deserialize, Serialize};

/// One event, of which job, and when.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Entry {
    job: usize,
    at_ms: u64,
    event: Event,
}

/// The files of the story as it goes today.
pub(crate) fn written() -> Vec<Kept> {
    let story = Story::told();
    let events = kept::written(&story.entries);
    let machines = machines_of(&events);
    vec![
        Kept::new("machines", "job.machines.jsonl", kept::written(machines)),
        Kept::new("machines", "job.events.jsonl", events),
        Kept::new("machines", "job.actions.jsonl", kept::written(one_of_each(story.actions))),
    ]
}

/// Every job where it first stands in each state.
pub(crate) fn machines_of(events: &str) -> Vec<Job> {
    let mut jobs: Vec<Job> = Vec::new();
    let mut found: Vec<Job> = Vec::new();
    for line in lines(events) {
        let Entry { job, at_ms, event } = serde_json::from_str(line).unwrap();
        if job == jobs.len() {
            jobs.push(Job::new(config(job), MADE_AT_MS));
        }
        let _ = jobs[job].step(at_ms, event);
        if found.iter().all(|earlier| earlier.state() != jobs[job].state()) {
            found.push(jobs[job].clone());
        }
    }
    found.extend(jobs.pop());
    found
}

/// The kept events, one a line.
pub(crate) fn events() -> String {
    let text = kept::read("machines", "job.events.jsonl");
    kept::written(lines(&text).into_iter().map(|line| serde_json::from_str::<Entry>(line).unwrap().event))
}

struct Story {
    machine: Job,
    entries: Vec<Entry>,
    actions: Vec<Action>,
    job: usize,
    ticket: Ticket,
}

impl Story {
    fn told() -> Self {
        let (machine, entries, actions) = (Job::new(config(0), MADE_AT_MS), Vec::new(), Vec::new());
        let mut story = Self { machine, entries, actions, job: 0, ticket: Ticket(0) };
        story.done_at_the_second_attempt();
        story.failed();
        story.stopped();
        story
    }

    fn done_at_the_second_attempt(&mut self) {
        self.started();
        self.routed();
        self.attempt(Verdict::Failure(FailureKind::System("rate limit".into())));
        let ticket = self.ticket;
        self.take(Event::RetryTimeout { ticket });
        self.attempt(Verdict::Success { response: "The crash is fixed.".into() });
        let ticket = self.ticket;
        self.take(Event::RecordWritten { ticket });
        assert_eq!(self.machine.state(), State::Completed);
    }

    fn failed(&mut self) {
        let failure = || FailureKind::Business("there is no such repository".into());
        self.next_job();
        self.take(Event::Started);
        let ticket = self.ticket;
        self.take(Event::ValidationFailed { ticket, failure: failure() });
        let ticket = self.ticket;
        self.take(Event::RecordFailed { ticket, message: "the disk is full".into() });
        assert_eq!(self.machine.state(), State::Failed);
        self.next_job();
        self.started();
        let ticket = self.ticket;
        self.take(Event::RoutingFailed { ticket, failure: failure(), spent: spent() });
    }

    fn stopped(&mut self) {
        self.next_job();
        self.started();
        self.routed();
        self.take(Event::CancelRequested);
        self.attempt(Verdict::Stopped);
        self.next_job();
        self.started();
        self.routed();
        self.attempt(Verdict::Failure(FailureKind::Business("the tests fail".into())));
        self.take(Event::CancelRequested);
    }

    fn next_job(&mut self) {
        self.job += 1;
        self.machine = Job::new(config(self.job), MADE_AT_MS);
    }

    fn started(&mut self) {
        self.take(Event::Started);
        let tiers = TierModels { haiku: "small".into(), sonnet: "middle".into(), opus: "large".into() };
        let ticket = self.ticket;
        self.take(Event::ValidationPassed { ticket, tiers });
    }

    fn routed(&mut self) {
        let Some(Action::DefineAgent { ticket, suggestion: agent, .. }) = self.actions.last().cloned() else {
            panic!("not asked for an agent");
        };
        self.take(Event::AgentDefined { ticket, agent, spent: Spent::default() });
    }

    fn attempt(&mut self, verdict: Verdict) {
        let (ticket, session_id) = (self.ticket, format!("session-{}", self.entries.len()));
        self.take(Event::AttemptEnded { ticket, verdict, spent: spent(), session_id });
    }

    fn take(&mut self, event: Event) {
        let at_ms = MADE_AT_MS + 1_000 * (self.entries.len() as u64 + 1);
        self.entries.push(Entry { job: self.job, at_ms, event: event.clone() });
        let step = self.machine.step(at_ms, event).unwrap_or_else(|rejected| panic!("{rejected}"));
        for action in &step.actions {
            match action {
                Action::ValidateJob { ticket }
                | Action::DefineAgent { ticket, .. }
                | Action::RunAgent { ticket, .. }
                | Action::ScheduleRetry { ticket, .. }
                | Action::WriteAuditRecord { ticket, .. } => self.ticket = *ticket,
                Action::StopWork { .. } | Action::CancelRetry { .. } => {}
            }
        }
        self.actions.extend(step.actions);
    }
}

fn config(job: usize) -> JobConfig {
    let limits = Limits { max_cost_nano_usd: Some(2_000_000_000), max_wall_time_ms: Some(60_000), ..Limits::default() };
    JobConfig { limits, ..JobConfig::new(&format!("job-{job}"), "fix the crash of the parser") }
}

fn spent() -> Spent {
    let price = Price { input_nano_usd: 3, output_nano_usd: 15, cache_read_nano_usd: 1, cache_write_nano_usd: 4 };
    let usage = Usage { input_tokens: 1_000, output_tokens: 200, cache_read_tokens: 3_000, cache_write_tokens: 500 };
    Spent::of_call(usage, Some(&price))
}

/// Noon of the first day of 2026.
const MADE_AT_MS: u64 = 1_767_268_800_000;
