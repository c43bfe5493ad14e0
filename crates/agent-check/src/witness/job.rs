//! The job machine and the events that are tried on it.

use super::{Machine, Taken, written};
use crate::action_name;
use crate::job::alphabet::{CANCEL, ways};
use crate::job::{Asked, Script, event};
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
        let mut script = Script::on(config, 0, &TABLE);
        script.asked.spent = Some(Spent::default());
        vec![("one retry", json, Self(script))]
    }

    fn state(&self) -> State {
        self.0.job.state()
    }

    fn letters(&self) -> Vec<(String, Event)> {
        let ways = ways(self.0.job.state()).iter().chain(&[CANCEL]);
        // One session for all attempts.
        let asked = Asked { attempts: 1, ..self.0.asked.clone() };
        let read = |line| event(line, &asked).unwrap_or_else(|error| panic!("{line}: {error}"));
        ways.map(|(name, line)| ((*name).to_owned(), read(line))).collect()
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
