//! The child machine and the events that are tried on it.

use super::{Machine, Taken, written};
use crate::action_name;
use crate::child::alphabet::WAYS;
use crate::child::{Script, config};
use agent_core::child::table::TABLE;
use agent_core::child::{ActionKind, Event, State, Trigger};
use agent_core::table::Table;
use serde_json::Value;

#[derive(Clone)]
pub(crate) struct ChildMachine(Script);

impl Machine for ChildMachine {
    type State = State;
    type Trigger = Trigger;
    type Action = ActionKind;
    type Event = Event;

    fn table() -> &'static Table<State, Trigger, ActionKind> {
        &TABLE
    }

    fn beginnings() -> Vec<(&'static str, Value, Self)> {
        let kinds = [("one restart", "restarts=1"), ("one restart, with a workspace of its own", "restarts=1 apart")];
        let begin = |(name, words)| {
            let assignment = config(words).unwrap_or_else(|error| panic!("{error}"));
            (name, written(&assignment), Self(Script::on(assignment, &TABLE)))
        };
        kinds.map(begin).into()
    }

    fn state(&self) -> State {
        self.0.child.state()
    }

    fn letters(&self) -> Vec<(String, Event)> {
        WAYS.iter().map(|(name, line)| ((*name).to_owned(), self.0.read(line))).collect()
    }

    fn take(&mut self, event: Event) -> Option<Taken<Self>> {
        let json = written(&event);
        let step = self.0.take(event).ok()?;
        let fired = step.transitions.iter().map(|row| (row.from, row.on)).collect();
        Some(Taken { event: json, fired, actions: step.actions.iter().map(action_name).collect() })
    }

    fn written(&self) -> String {
        let mut child = self.0.child.clone();
        child.forget_trace();
        serde_json::to_string(&child).unwrap_or_default()
    }
}
