//! The witnesses that `cargo xtask docs` found and wrote down: event sequences with all that came of each event when they were written.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use agent_core::table::{Label, Table};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What an event did: rows as `From + On => To`, actions by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// Rows, as `From + On => To`.
    pub fired: Vec<String>,
    /// What was asked, by name.
    pub actions: Vec<String>,
}

/// A machine that takes events as JSON; `None` if it refuses one.
pub type Driver<'a> = Box<dyn FnMut(&Value) -> Option<Done> + 'a>;

/// The written witnesses of a machine.
pub struct Witnesses(Value);

impl Witnesses {
    /// Reads those of a machine.
    pub fn of(machine: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../agent-core/tests/witnesses/{machine}.json"));
        Self(serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap())
    }

    /// Replays every way: each event does what is written. Then each row and each action of the table is on a way at which it is
    /// written, and was seen there.
    pub fn check<S: Label, T: Label, A: Label>(
        &self,
        table: &Table<S, T, A>,
        start: &dyn Fn(&Value) -> Driver<'static>,
        rendered_as: fn(&str, &str) -> String,
    ) {
        let replayed: Vec<Vec<Done>> = self.ways().iter().map(|way| self.replay(way, start)).collect();
        let mut seen = BTreeSet::new();
        for witness in self.0["witnesses"].as_array().unwrap() {
            let at = |name: &str| usize::try_from(witness[name].as_u64().unwrap()).unwrap();
            let (row, done) = (witness["row"].as_str().unwrap(), &replayed[at("way")][at("step")]);
            let fires = |fired: &String| fired.starts_with(&format!("{row} => "));
            assert!(done.fired.iter().any(fires), "{row} does not fire: {done:?}");
            let action = witness["action"].as_str();
            assert!(action.is_none_or(|action| done.actions.iter().any(|seen| seen == action)), "{witness}: {done:?}");
            seen.insert((row.to_owned(), action.map(str::to_owned)));
        }
        for row in table.rows {
            let cell = format!("{} + {}", row.from.name(), row.on.name());
            assert!(seen.contains(&(cell.clone(), None)), "{cell} has no witness");
            for action in row.actions {
                let action = rendered_as(row.on.name(), action.name());
                assert!(seen.contains(&(cell.clone(), Some(action.clone()))), "{cell} [{action}] has no witness");
            }
        }
    }

    /// Whether a machine does something else than what is written, on the ways that fire a row.
    pub fn notice(&self, cell: &str, start: &dyn Fn(&Value) -> Driver<'static>) -> bool {
        let begins = |fired: &Value| fired.as_str().unwrap().starts_with(&format!("{cell} => "));
        let fires = |step: &Value| step["fired"].as_array().unwrap().iter().any(begins);
        let ways = self.ways().iter().filter(|way| way["steps"].as_array().unwrap().iter().any(fires));
        ways.into_iter().any(|way| crate::quiet::caught(|| self.replay(way, start)).is_err())
    }

    fn ways(&self) -> &[Value] {
        self.0["ways"].as_array().unwrap()
    }

    /// Panics at the first event that does something else than what is written.
    fn replay(&self, way: &Value, start: &dyn Fn(&Value) -> Driver<'static>) -> Vec<Done> {
        let mut machine = start(&self.0["configs"][way["config"].as_str().unwrap()]);
        let steps = way["steps"].as_array().unwrap();
        let mut replayed = Vec::new();
        for step in steps {
            let done = machine(&step["event"]);
            let written = Done { fired: strings(&step["fired"]), actions: strings(&step["actions"]) };
            assert_eq!(done.as_ref(), Some(&written), "{} of {way}", step["letter"]);
            replayed.extend(done);
        }
        replayed
    }
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}
