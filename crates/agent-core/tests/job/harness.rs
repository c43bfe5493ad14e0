//! A job with a driver that remembers what it was asked, and answers as it is told.

use crate::stage::table;
use agent_core::budget::Price;
use agent_core::job::{
    Action, AgentConfig, AuditRecord, Event, FailureKind, Job, JobConfig, ModelTier, Rejected, RetryConfig, Spent,
    State, Step, TierModels, Verdict,
};
use agent_core::llm::Usage;
use agent_core::session::Ticket;

#[derive(Clone)]
pub(crate) struct Harness {
    pub(crate) job: Job,
    pub(crate) now_ms: u64,
    /// What was asked and is not answered.
    pub(crate) asked: Vec<Action>,
    /// The ticket of what was asked last.
    pub(crate) ticket: Ticket,
    pub(crate) records: Vec<AuditRecord>,
    pub(crate) attempts: u32,
    pub(crate) delays_ms: Vec<u64>,
    /// The sum of everything that accepted answers said was spent.
    pub(crate) spent: Spent,
}

impl Harness {
    pub(crate) fn new(config: JobConfig) -> Self {
        Self {
            job: Job::with_table(config, 1_000, table()),
            now_ms: 1_000,
            asked: Vec::new(),
            ticket: Ticket(u64::MAX),
            records: Vec::new(),
            attempts: 0,
            delays_ms: Vec::new(),
            spent: Spent::default(),
        }
    }

    /// With so many retries after 1 s, 2 s, …
    pub(crate) fn with_retries(max_retries: u32) -> Self {
        let retry = RetryConfig { max_retries, ..RetryConfig::default() };
        Self::new(JobConfig { retry, ..JobConfig::new("job-1", "fix the crash") })
    }

    /// A refusal has to leave the job as it was.
    pub(crate) fn take(&mut self, event: Event) -> Result<Step, Rejected> {
        let before = self.job.clone();
        let (spent, told) = (spent_of(&event), event.clone());
        let result = self.job.step(self.now_ms, event);
        match &result {
            // A timer that nothing waits for any more changes nothing. One that was never started is refused.
            Ok(step) if step.is_empty() => {
                let Event::RetryTimeout { ticket } = told else { panic!("{told:?} is no timer, and changes nothing") };
                let was_given = self.ticket.0 != u64::MAX && ticket <= self.ticket;
                assert!(was_given && !before.is_open(ticket) && step.actions.is_empty(), "{told:?} is not late");
                assert_eq!(self.job, before, "a late timer changed something");
            }
            Ok(step) => {
                self.spent = self.spent.plus(&spent);
                step.actions.iter().for_each(|action| self.see(action));
                if self.job.is_finished() {
                    self.asked.clear();
                }
            }
            Err(rejected) => {
                assert_eq!(self.job, before, "{rejected}");
                assert_eq!(rejected.state, before.state());
            }
        }
        result
    }

    /// An event that has to fit.
    pub(crate) fn go(&mut self, event: Event) {
        let _ = self.take(event).unwrap();
    }

    fn see(&mut self, action: &Action) {
        match action {
            Action::StopWork { .. } => self.asked.push(action.clone()),
            Action::CancelRetry { .. } => self.asked.clear(),
            _ => self.asked = vec![action.clone()],
        }
        match action {
            Action::ValidateJob { ticket } | Action::DefineAgent { ticket, .. } => self.ticket = *ticket,
            Action::RunAgent { ticket, attempt } => {
                self.attempts += 1;
                assert_eq!((attempt.number, attempt.retry.max_retries), (self.attempts, 0));
                self.ticket = *ticket;
            }
            Action::ScheduleRetry { ticket, delay_ms, retry, .. } => {
                assert_eq!(*retry, self.attempts);
                self.delays_ms.push(*delay_ms);
                self.ticket = *ticket;
            }
            Action::WriteAuditRecord { ticket, record } => {
                self.records.push((**record).clone());
                self.ticket = *ticket;
            }
            Action::StopWork { ticket } | Action::CancelRetry { ticket } => assert_eq!(*ticket, self.ticket),
        }
    }

    pub(crate) fn start(&mut self) -> State {
        self.go(Event::Started);
        self.job.state()
    }

    pub(crate) fn validate(&mut self) -> State {
        let ticket = self.ticket;
        self.go(Event::ValidationPassed { ticket, tiers: TierModels::all("m") });
        self.job.state()
    }

    pub(crate) fn define(&mut self) -> State {
        let ticket = self.ticket;
        self.go(Event::AgentDefined { ticket, agent: agent(), spent: Spent::default() });
        self.job.state()
    }

    pub(crate) fn end_attempt(&mut self, verdict: Verdict) -> State {
        let (ticket, session_id) = (self.ticket, format!("s{}", self.attempts));
        self.go(Event::AttemptEnded { ticket, verdict, spent: spent(100), session_id });
        self.job.state()
    }

    pub(crate) fn wait(&mut self) -> State {
        let ticket = self.ticket;
        self.now_ms += self.delays_ms.last().unwrap();
        self.go(Event::RetryTimeout { ticket });
        self.job.state()
    }

    pub(crate) fn write(&mut self) -> State {
        let ticket = self.ticket;
        self.go(Event::RecordWritten { ticket });
        self.job.state()
    }

    /// Up to the first attempt.
    pub(crate) fn processing(max_retries: u32) -> Self {
        let mut harness = Self::with_retries(max_retries);
        harness.start();
        harness.validate();
        harness.define();
        harness
    }
}

pub(crate) fn agent() -> AgentConfig {
    AgentConfig { skill: None, tier: ModelTier::Sonnet, model: "m".to_owned() }
}

pub(crate) fn spent(output_tokens: u64) -> Spent {
    let price = Price { input_nano_usd: 3, output_nano_usd: 15, cache_read_nano_usd: 1, cache_write_nano_usd: 4 };
    Spent::of_call(Usage { output_tokens, ..Usage::default() }, Some(&price))
}

pub(crate) fn spent_of(event: &Event) -> Spent {
    match event {
        Event::AgentDefined { spent, .. } | Event::RoutingFailed { spent, .. } | Event::AttemptEnded { spent, .. } => {
            *spent
        }
        _ => Spent::default(),
    }
}

pub(crate) fn success() -> Verdict {
    Verdict::Success { response: "done".to_owned() }
}

pub(crate) fn business() -> Verdict {
    Verdict::Failure(FailureKind::Business("wrong output".to_owned()))
}

pub(crate) fn system() -> Verdict {
    Verdict::Failure(FailureKind::System("rate limit".to_owned()))
}

pub(crate) fn for_good() -> Verdict {
    Verdict::FailureForGood(FailureKind::System("refused key".to_owned()))
}

/// One of every event, and of every guard that tells two of a kind apart.
pub(crate) fn events(ticket: Ticket) -> Vec<Event> {
    let failure = || FailureKind::Business("no".to_owned());
    let ended = |verdict| Event::AttemptEnded { ticket, verdict, spent: spent(7), session_id: "s".to_owned() };
    let no_model = AgentConfig { model: " ".to_owned(), ..agent() };
    vec![
        Event::Started,
        Event::CancelRequested,
        Event::ValidationPassed { ticket, tiers: TierModels::all("m") },
        Event::ValidationFailed { ticket, failure: failure() },
        Event::AgentDefined { ticket, agent: agent(), spent: spent(1) },
        Event::AgentDefined { ticket, agent: no_model, spent: spent(2) },
        Event::RoutingFailed { ticket, failure: failure(), spent: spent(3) },
        ended(success()),
        ended(business()),
        ended(system()),
        ended(for_good()),
        ended(Verdict::Stopped),
        Event::RetryTimeout { ticket },
        Event::RecordWritten { ticket },
        Event::RecordFailed { ticket, message: "disk full".to_owned() },
    ]
}
