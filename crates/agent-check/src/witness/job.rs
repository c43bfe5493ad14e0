//! The job machine and the events that are tried on it.

use super::{Machine, Taken, action_name, written};
use agent_core::job::table::TABLE;
use agent_core::job::{
    ActionKind, AgentConfig, Event, FailureKind, Job, JobConfig, ModelTier, RetryConfig, Spent, State, TierModels,
    Trigger, Verdict,
};
use agent_core::session::Ticket;
use agent_core::table::Table;
use serde_json::Value;

#[derive(Clone)]
pub(crate) struct JobMachine {
    job: Job,
    /// Of what was asked last.
    ticket: Ticket,
}

impl Machine for JobMachine {
    type State = State;
    type Trigger = Trigger;
    type Action = ActionKind;
    type Event = Event;

    fn table() -> &'static Table<State, Trigger, ActionKind> {
        &TABLE
    }

    fn beginnings() -> Vec<(&'static str, Value, Self)> {
        let retry = RetryConfig { max_retries: 1, ..RetryConfig::default() };
        let config = JobConfig { retry, skills: Vec::new(), ..JobConfig::new("job-1", "fix the crash") };
        vec![("one retry", written(&config), Self { job: Job::new(config, 0), ticket: Ticket(0) })]
    }

    fn state(&self) -> State {
        self.job.state()
    }

    fn letters(&self) -> Vec<(String, Event)> {
        let (ticket, spent) = (self.ticket, Spent::default());
        let failure = || FailureKind::System("no".to_owned());
        let agent = || AgentConfig { skill: None, tier: ModelTier::Sonnet, model: "some-model".to_owned() };
        let ended = |verdict| Event::AttemptEnded { ticket, verdict, spent, session_id: "s1".to_owned() };
        let answers = match self.job.state() {
            State::Pending => vec![("start", Event::Started)],
            State::Init => vec![
                ("valid", Event::ValidationPassed { ticket, tiers: TierModels::all("some-model") }),
                ("invalid", Event::ValidationFailed { ticket, failure: failure() }),
            ],
            State::DefineAgent => vec![
                ("agent chosen", Event::AgentDefined { ticket, agent: agent(), spent }),
                ("routing failed", Event::RoutingFailed { ticket, failure: failure(), spent }),
            ],
            State::Process => vec![
                ("attempt succeeded", ended(Verdict::Success { response: "done".to_owned() })),
                ("attempt failed", ended(Verdict::Failure(failure()))),
                ("attempt failed for good", ended(Verdict::FailureForGood(failure()))),
                ("attempt stopped", ended(Verdict::Stopped)),
            ],
            State::RetryWait => vec![("wait over", Event::RetryTimeout { ticket })],
            State::End | State::Recording => vec![
                ("record written", Event::RecordWritten { ticket }),
                ("record not written", Event::RecordFailed { ticket, message: "disk full".to_owned() }),
            ],
            _ => Vec::new(),
        };
        let all = answers.into_iter().chain([("cancel", Event::CancelRequested)]);
        all.map(|(name, event)| (name.to_owned(), event)).collect()
    }

    fn take(&mut self, event: Event) -> Option<Taken<Self>> {
        let json = written(&event);
        let step = self.job.step(0, event).ok()?;
        for action in &step.actions {
            let asked = written(action);
            // Every action that is an object has a ticket; a stop names the one that is open already.
            let ticket =
                asked.as_object().and_then(|fields| fields.values().next()).and_then(|fields| fields.get("ticket"));
            if let Some(ticket) = ticket.and_then(Value::as_u64) {
                self.ticket = Ticket(ticket);
            }
        }
        let fired = step.transitions.iter().map(|row| (row.from, row.on)).collect();
        Some(Taken { event: json, fired, actions: step.actions.iter().map(action_name).collect() })
    }

    fn written(&self) -> String {
        serde_json::to_string(&self.job).unwrap_or_default()
    }
}
