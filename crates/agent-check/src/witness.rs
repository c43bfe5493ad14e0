//! Witnesses: for every row of every table a shortest sequence of events that fires it in the real machine, and for every action of a row
//! one in which it is rendered. Kept twice: as a page to read, and with everything that came of it as an oracle for the tests.

mod child;
mod children;
mod job;
mod lifecycle;
mod page;
mod replay;
mod search;
mod server;
mod session;

pub use children::letters as children_letters;
pub use replay::{Done, Driver, Witnesses};

use search::{Goal, Graph, Machine, Taken, Way};

use agent_core::table::Label as _;
use serde::Serialize;
use serde_json::Value;

/// What was found for one machine.
#[derive(Debug)]
pub struct Found {
    /// Name of the machine.
    pub name: &'static str,
    /// The page to read.
    pub page: String,
    /// The oracle for tests.
    pub golden: String,
    /// Rows with a witness: all of them, or nothing would have been found.
    pub rows: usize,
    /// Actions on rows with a witness.
    pub actions: usize,
    /// Fewest events of a row's witness.
    pub shortest: usize,
    /// Most events of a row's witness, and the first row that needs them.
    pub longest: (usize, String),
}

/// Looks for the witnesses of every machine.
///
/// # Errors
/// Names the rows and actions that no witness was found for.
pub fn all() -> Result<Vec<Found>, String> {
    Ok(vec![
        of::<session::SessionMachine>()?,
        of::<lifecycle::LifecycleMachine>()?,
        of::<child::ChildMachine>()?,
        of::<children::ChildrenMachine>()?,
        of::<job::JobMachine>()?,
        of::<server::ServerMachine>()?,
    ])
}

/// A goal and the way to it.
pub(crate) struct Witness<M: Machine> {
    pub(crate) goal: Goal<M>,
    pub(crate) way: Way<M>,
}

fn of<M: Machine>() -> Result<Found, String> {
    let mut graph = Graph::<M>::new();
    let (mut rows, mut actions, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    for row in M::table().rows {
        let goal = Goal { row, action: None };
        match graph.way(&goal) {
            Some(way) => rows.push(Witness { goal, way }),
            None => missing.push(shown(&goal)),
        }
        for action in row.actions {
            let goal = Goal { row, action: Some(*action) };
            match graph.way(&goal) {
                Some(way) => actions.push(Witness { goal, way }),
                None => missing.push(shown(&goal)),
            }
        }
    }
    if !missing.is_empty() {
        let (name, missing) = (M::table().name, missing.join(", "));
        return Err(format!("the {name} machine has no witness (after {} places) for {missing}", graph.len()));
    }
    let lengths = rows.iter().map(|witness| witness.way.steps.len());
    let shortest = lengths.clone().min().unwrap_or_default();
    let most = lengths.max().unwrap_or_default();
    let farthest = rows.iter().find(|witness| witness.way.steps.len() == most);
    Ok(Found {
        name: M::table().name,
        page: page::markdown(&rows, &actions),
        golden: page::golden(&rows, &actions),
        rows: rows.len(),
        actions: actions.len(),
        shortest,
        longest: (most, farthest.map(|witness| shown(&witness.goal)).unwrap_or_default()),
    })
}

/// A goal in words.
pub(crate) fn shown<M: Machine>(goal: &Goal<M>) -> String {
    let row = format!("{} + {}", goal.row.from.name(), goal.row.on.name());
    goal.action.map_or(row.clone(), |action| format!("{row} [{}]", action.name()))
}

fn written(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
