//! The machine over all children, and the events that are tried on it.

use super::{Machine, Taken, written};
use agent_core::children::table::TABLE;
use agent_core::children::{ActionKind, Children, Event, Standing, State, Trigger, TurnEnd};
use agent_core::table::{Label as _, Table};
use serde_json::Value;

#[derive(Clone)]
pub(crate) struct ChildrenMachine(Children);

/// Every event, with a name to show.
pub fn letters() -> Vec<(String, Event)> {
    let standings = [
        ("none left", Standing::default()),
        ("alive", Standing { are_alive: true, ..Standing::default() }),
        ("alive, reports due", Standing { are_alive: true, has_reports: true, ..Standing::default() }),
        ("none left, reports due", Standing { has_reports: true, ..Standing::default() }),
        ("alive, unanswered", Standing { are_alive: true, is_unanswered: true, ..Standing::default() }),
    ];
    let ends = [("ended", TurnEnd::Completed), ("leased out", TurnEnd::LeasedOut), ("failed", TurnEnd::Failed)];
    let mut all = vec![
        ("turn began".to_owned(), Event::TurnBegan),
        ("calls stopped".to_owned(), Event::CallsStopped),
        ("cancel requested".to_owned(), Event::CancelRequested),
    ];
    for (how, standing) in standings {
        all.push((format!("child moved: {how}"), Event::Moved { standing }));
        for (word, end) in ends {
            all.push((format!("turn {word}: {how}"), Event::TurnEnded { end, standing }));
        }
    }
    all
}

impl Machine for ChildrenMachine {
    type State = State;
    type Trigger = Trigger;
    type Action = ActionKind;
    type Event = Event;

    fn table() -> &'static Table<State, Trigger, ActionKind> {
        &TABLE
    }

    fn beginnings() -> Vec<(&'static str, Value, Self)> {
        vec![("no child", Value::Null, Self(Children::new()))]
    }

    fn state(&self) -> State {
        self.0.state()
    }

    fn letters(&self) -> Vec<(String, Event)> {
        letters()
    }

    fn take(&mut self, event: Event) -> Option<Taken<Self>> {
        let json = written(&event);
        let step = self.0.step(0, event).ok()?;
        let fired = step.transitions.iter().map(|row| (row.from, row.on)).collect();
        Some(Taken { event: json, fired, actions: step.actions.iter().map(|kind| kind.name().to_owned()).collect() })
    }

    fn written(&self) -> String {
        let mut children = self.0.clone();
        children.forget_trace();
        serde_json::to_string(&children).unwrap_or_default()
    }
}
