//! The job machine and the events that are tried on it.

use super::{Machine, Taken, written};
use crate::action_name;
use crate::job::Script;
use crate::job::alphabet::{CANCEL, ways};
use agent_core::job::table::TABLE;
use agent_core::job::{ActionKind, Event, JobConfig, RetryConfig, Spent, State, Trigger};
use agent_core::table::Table;
use serde_json::Value;

#[derive(Clone)]
pub(crate) struct JobMachine(Script);

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
        let json = written(&config);
        let script = Script { spent: Some(Spent::default()), ..Script::on(config, 0, &TABLE) };
        vec![("one retry", json, Self(script))]
    }

    fn state(&self) -> State {
        self.0.job.state()
    }

    fn letters(&self) -> Vec<(String, Event)> {
        let ways = ways(self.0.job.state()).iter().chain(&[CANCEL]);
        // One session for all attempts.
        let script = Script { attempts: 1, ..self.0.clone() };
        ways.map(|(name, line)| ((*name).to_owned(), script.read(line))).collect()
    }

    fn take(&mut self, event: Event) -> Option<Taken<Self>> {
        let json = written(&event);
        let step = self.0.take(event).ok()?;
        let fired = step.transitions.iter().map(|row| (row.from, row.on)).collect();
        Some(Taken { event: json, fired, actions: step.actions.iter().map(action_name).collect() })
    }

    fn written(&self) -> String {
        serde_json::to_string(&self.0.job).unwrap_or_default()
    }
}
