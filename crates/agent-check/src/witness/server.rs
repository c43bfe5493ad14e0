//! The server machine and the events that are tried on it.

use super::{Machine, Taken, written};
use crate::action_name;
use crate::server::alphabet::WAYS;
use crate::server::{Script, config};
use agent_core::server::table::TABLE;
use agent_core::server::{ActionKind, Event, State, Trigger};
use agent_core::table::Table;
use serde_json::Value;

#[derive(Clone)]
pub(crate) struct ServerMachine(Script);

impl Machine for ServerMachine {
    type State = State;
    type Trigger = Trigger;
    type Action = ActionKind;
    type Event = Event;

    fn table() -> &'static Table<State, Trigger, ActionKind> {
        &TABLE
    }

    fn beginnings() -> Vec<(&'static str, Value, Self)> {
        let limits = config("restarts=1 lists=2").unwrap_or_else(|error| panic!("{error}"));
        vec![("one restart", written(&limits), Self(Script::on(limits, &TABLE)))]
    }

    fn state(&self) -> State {
        self.0.server.state()
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
        let mut server = self.0.server.clone();
        server.forget_trace();
        serde_json::to_string(&server).unwrap_or_default()
    }
}
