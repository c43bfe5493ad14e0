//! The lifecycle machine and the events that are tried on it.

use super::{Machine, Taken, written};
use crate::action_name;
use crate::lifecycle::Script;
use crate::lifecycle::alphabet::WAYS;
use agent_core::lifecycle::table::TABLE;
use agent_core::lifecycle::{ActionKind, Commitment, CommitmentId, Event, LifecycleConfig, State, Trigger};
use agent_core::table::{Label as _, Table};
use serde_json::Value;

#[derive(Clone)]
pub(crate) struct LifecycleMachine(Script);

impl Machine for LifecycleMachine {
    type State = State;
    type Trigger = Trigger;
    type Action = ActionKind;
    type Event = Event;

    fn table() -> &'static Table<State, Trigger, ActionKind> {
        &TABLE
    }

    fn beginnings() -> Vec<(&'static str, Value, Self)> {
        let timed = |commitments| LifecycleConfig {
            max_idle_ms: Some(1_000),
            max_work_ms: Some(2_000),
            max_wait_ms: Some(3_000),
            ..LifecycleConfig::headless(commitments)
        };
        let bound = || timed(vec![Commitment::of_command("true", 1_000)]);
        let configs = [
            ("bound", bound()),
            ("unbound", timed(Vec::new())),
            ("bound, rests after a failure", LifecycleConfig { continues_after_failure: false, ..bound() }),
            ("bound, one look only", LifecycleConfig { max_rounds: 0, ..bound() }),
            ("bound, in company", LifecycleConfig { unsignalled_turn_claims: false, ..bound() }),
        ];
        configs.into_iter().map(|(name, config)| (name, written(&config), Self::new(config))).collect()
    }

    fn state(&self) -> State {
        self.0.machine.state()
    }

    fn letters(&self) -> Vec<(String, Event)> {
        let open = (0..self.0.machine.commitments().len()).map(CommitmentId);
        let verification = self.0.machine.verification();
        let is_open = |id: &CommitmentId| verification.is_some_and(|all| all.report(*id).is_none());
        let next = open.into_iter().find(is_open).map_or(1, |id| id.0 + 1).to_string();
        let read = |(name, line): &(&str, &str)| ((*name).to_owned(), self.0.read(&line.replace("NEXT", &next)));
        WAYS.iter().map(read).collect()
    }

    fn take(&mut self, event: Event) -> Option<Taken<Self>> {
        let json = written(&event);
        let step = self.0.take(event).ok()?;
        let fired = step.transitions.iter().map(|row| (row.from, row.on)).collect();
        Some(Taken { event: json, fired, actions: step.actions.iter().map(action_name).collect() })
    }

    fn written(&self) -> String {
        serde_json::to_string(&self.0.machine).unwrap_or_default()
    }

    fn rendered_as(_: Trigger, action: ActionKind) -> &'static str {
        match action {
            ActionKind::StartIdleTimer
            | ActionKind::StartWorkTimer
            | ActionKind::StartWaitTimer
            | ActionKind::StartCheckTimer => "StartTimer",
            other => other.name(),
        }
    }
}

impl LifecycleMachine {
    fn new(config: LifecycleConfig) -> Self {
        Self(Script::on(config, &TABLE))
    }
}
