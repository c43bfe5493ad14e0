//! The lifecycle machine and the events that are tried on it.

use super::{Machine, Taken, action_name, written};
use agent_core::lifecycle::table::TABLE;
use agent_core::lifecycle::{
    Action, ActionKind, CheckEnd, CheckReport, Commitment, CommitmentId, Event, Lifecycle, LifecycleConfig, Signal,
    State, TaskMode, Ticket, Trigger, TurnEnd,
};
use agent_core::table::{Label as _, Table};
use serde_json::Value;

#[derive(Clone)]
pub(crate) struct LifecycleMachine {
    agent: Lifecycle,
    checks: Ticket,
    timer: Ticket,
    cleanup: Ticket,
}

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
        self.agent.state()
    }

    fn letters(&self) -> Vec<(String, Event)> {
        let turn = |end| Event::TurnEnded { end, time_left_ms: None };
        let check = |end| {
            let open = (0..self.agent.commitments().len()).map(CommitmentId);
            let is_open = |id: &CommitmentId| self.agent.verification().is_some_and(|all| all.report(*id).is_none());
            let commitment = open.into_iter().find(is_open).unwrap_or(CommitmentId(0));
            let report = CheckReport { end, output: String::new() };
            Event::CheckCompleted { ticket: self.checks, commitment, report }
        };
        let not_started = CheckEnd::NotStarted { found: "no such program".to_owned() };
        let all = vec![
            ("message", Event::InputReceived { text: "go on".to_owned() }),
            ("commitment", Event::CommitmentAdded { commitment: Commitment::of_command("false", 1_000) }),
            ("mode", Event::ModeChanged { mode: TaskMode::Plan }),
            ("signal done", Event::Signalled { signal: Signal::Done, summary: "done".to_owned() }),
            ("signal waiting", Event::Signalled { signal: Signal::Waiting, summary: "which?".to_owned() }),
            ("turn completed", turn(TurnEnd::Completed)),
            ("turn completed, time left", Event::TurnEnded { end: TurnEnd::Completed, time_left_ms: Some(60_000) }),
            ("turn failed", turn(TurnEnd::Failed)),
            ("turn out of budget", turn(TurnEnd::OutOfBudget)),
            ("work resumed", Event::WorkResumed),
            ("check kept", check(CheckEnd::Exited { code: 0 })),
            ("check not kept", check(CheckEnd::Exited { code: 1 })),
            ("check not started", check(not_started)),
            ("cancel", Event::CancelRequested),
            ("time is up", Event::TimedOut { ticket: self.timer }),
            ("budget spent", Event::BudgetExceeded),
            ("session ended", Event::SessionEnded),
            ("dismiss", Event::Dismissed),
            ("cleaned up", Event::CleanupCompleted { ticket: self.cleanup }),
        ];
        all.into_iter().map(|(name, event)| (name.to_owned(), event)).collect()
    }

    fn take(&mut self, event: Event) -> Option<Taken<Self>> {
        let json = written(&event);
        let step = self.agent.step(0, event).ok()?;
        for action in &step.actions {
            match action {
                Action::RunChecks { ticket, .. } => self.checks = *ticket,
                Action::StartTimer { ticket, .. } => self.timer = *ticket,
                Action::CleanUp { ticket } => self.cleanup = *ticket,
                _ => {}
            }
        }
        let fired = step.transitions.iter().map(|row| (row.from, row.on)).collect();
        Some(Taken { event: json, fired, actions: step.actions.iter().map(action_name).collect() })
    }

    fn written(&self) -> String {
        serde_json::to_string(&self.agent).unwrap_or_default()
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
        let none = Ticket(0);
        Self { agent: Lifecycle::new(config), checks: none, timer: none, cleanup: none }
    }
}
