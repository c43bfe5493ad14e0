//! The shortest way to every row of a machine: best-first search with the real machine over a small alphabet of events.
//!
//! The graph of places is shared by all searches and grows where one looks. The estimate of what is left to go is the distance in the bare
//! table, which is never too long, so the first way found is a shortest one *over the alphabet*.

use agent_core::table::{Label, Row, Table};
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

/// A machine together with what its driver would remember.
pub(crate) trait Machine: Clone {
    /// States of the machine.
    type State: Label;
    /// Triggers of the machine.
    type Trigger: Label;
    /// Actions of the machine.
    type Action: Label;
    /// What is reported to it.
    type Event;

    /// The table.
    fn table() -> &'static Table<Self::State, Self::Trigger, Self::Action>;
    /// New machines: the name of a configuration, the configuration, and a machine that was made with it.
    fn beginnings() -> Vec<(&'static str, Value, Self)>;
    /// Where the machine stands.
    fn state(&self) -> Self::State;
    /// The events that may be worth a try here, each with a name to show.
    fn letters(&self) -> Vec<(String, Self::Event)>;
    /// Takes an event; `None` if it is refused.
    fn take(&mut self, event: Self::Event) -> Option<Taken<Self>>;
    /// The machine as JSON whose last field is the trace.
    fn written(&self) -> String;
    /// The name of the action that a label on a row is rendered as.
    fn rendered_as(_on: Self::Trigger, action: Self::Action) -> &'static str {
        action.name()
    }
}

/// What one event did.
pub(crate) struct Taken<M: Machine> {
    /// The event as JSON.
    pub(crate) event: Value,
    /// The cells whose rows fired, in order.
    pub(crate) fired: Vec<(M::State, M::Trigger)>,
    /// The names of what the driver was asked to do, in order.
    pub(crate) actions: Vec<String>,
}

impl<M: Machine> Clone for Taken<M> {
    fn clone(&self) -> Self {
        Self { event: self.event.clone(), fired: self.fired.clone(), actions: self.actions.clone() }
    }
}

/// What is looked for: a row that fires, and where an action is named, that it is rendered then.
pub(crate) struct Goal<M: Machine> {
    pub(crate) row: &'static Row<M::State, M::Trigger, M::Action>,
    pub(crate) action: Option<M::Action>,
}

/// A way from a new machine.
pub(crate) struct Way<M: Machine> {
    pub(crate) beginning: usize,
    pub(crate) steps: Vec<(String, Taken<M>)>,
}

/// The places that were seen so far.
pub(crate) struct Graph<M: Machine> {
    places: Vec<Place<M>>,
    known: HashMap<(usize, String), usize>,
}

struct Place<M: Machine> {
    machine: M,
    beginning: usize,
    edges: Option<Vec<Edge<M>>>,
}

struct Edge<M: Machine> {
    letter: String,
    taken: Taken<M>,
    to: usize,
}

impl<M: Machine> Graph<M> {
    /// The graph of the new machines.
    pub(crate) fn new() -> Self {
        let mut graph = Self { places: Vec::new(), known: HashMap::new() };
        for (beginning, (_, _, machine)) in M::beginnings().into_iter().enumerate() {
            graph.place(beginning, machine);
        }
        graph
    }

    /// How many places were looked at.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// A shortest way to a goal, the first in the order of beginnings and letters; `None` if none was found within the bound.
    pub(crate) fn way(&mut self, goal: &Goal<M>) -> Option<Way<M>> {
        let left = distances(M::table(), goal.row);
        let mut open = BinaryHeap::new();
        let mut came: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        let mut lengths: BTreeMap<usize, usize> = BTreeMap::new();
        for place in 0..M::beginnings().len() {
            let estimate = left.get(&self.places[place].machine.state().name())?;
            open.push(Reverse((*estimate, 0, place)));
            lengths.insert(place, 0);
        }
        let mut looked_at = 0;
        while let Some(Reverse((_, length, place))) = open.pop() {
            if lengths.get(&place) != Some(&length) {
                continue;
            }
            looked_at += 1;
            if looked_at > BOUND {
                return None;
            }
            self.expand(place);
            let edges = self.places[place].edges.as_deref().unwrap_or_default();
            if let Some(last) = edges.iter().position(|edge| reaches(&edge.taken, goal)) {
                return Some(self.walk(&came, place, last));
            }
            for (at, edge) in edges.iter().enumerate() {
                let Some(estimate) = left.get(self.places[edge.to].machine.state().name()) else { continue };
                if lengths.get(&edge.to).is_none_or(|known| length + 1 < *known) {
                    lengths.insert(edge.to, length + 1);
                    came.insert(edge.to, (place, at));
                    open.push(Reverse((length + 1 + estimate, length + 1, edge.to)));
                }
            }
        }
        None
    }

    fn expand(&mut self, place: usize) {
        if self.places[place].edges.is_some() {
            return;
        }
        let (beginning, machine) = (self.places[place].beginning, self.places[place].machine.clone());
        let mut edges = Vec::new();
        for (letter, event) in machine.letters() {
            let mut next = machine.clone();
            if let Some(taken) = next.take(event) {
                edges.push(Edge { letter, taken, to: self.place(beginning, next) });
            }
        }
        self.places[place].edges = Some(edges);
    }

    /// The place where a machine stands; how it came there makes no difference.
    fn place(&mut self, beginning: usize, machine: M) -> usize {
        let mut key = machine.written();
        key.truncate(key.rfind("\"trace\":").unwrap_or(key.len()));
        let new = self.places.len();
        let place = *self.known.entry((beginning, key)).or_insert(new);
        if place == new {
            self.places.push(Place { machine, beginning, edges: None });
        }
        place
    }

    fn walk(&self, came: &BTreeMap<usize, (usize, usize)>, mut place: usize, last: usize) -> Way<M> {
        let mut steps = Vec::new();
        let mut next = last;
        loop {
            if let Some(edge) = self.places[place].edges.as_ref().and_then(|edges| edges.get(next)) {
                steps.push((edge.letter.clone(), edge.taken.clone()));
            }
            let Some((before, at)) = came.get(&place) else { break };
            (place, next) = (*before, *at);
        }
        steps.reverse();
        Way { beginning: self.places[place].beginning, steps }
    }
}

/// Whether a step fires the row, and renders the action surely for this row: no other row of the step asks for the same.
fn reaches<M: Machine>(taken: &Taken<M>, goal: &Goal<M>) -> bool {
    if !taken.fired.contains(&(goal.row.from, goal.row.on)) {
        return false;
    }
    let Some(action) = goal.action else { return true };
    let name = M::rendered_as(goal.row.on, action);
    let rows = taken.fired.iter().filter_map(|(from, on)| M::table().row(*from, *on));
    let asked = rows.flat_map(|row| row.actions.iter().map(|action| M::rendered_as(row.on, *action)));
    asked.filter(|asked| *asked == name).count() == 1 && taken.actions.iter().any(|rendered| rendered == name)
}

/// For every state from which a row can be reached in the bare table: the fewest events until it fires. Automatic rows take none.
fn distances<S: Label, T: Label, A: Label>(
    table: &Table<S, T, A>,
    goal: &Row<S, T, A>,
) -> BTreeMap<&'static str, usize> {
    let cost = |state: S| usize::from(!table.is_passing(state));
    let mut left = BTreeMap::from([(goal.from.name(), cost(goal.from))]);
    for _ in S::ALL {
        for row in table.rows {
            let Some(rest) = left.get(row.to.name()).copied() else { continue };
            let known = left.entry(row.from.name()).or_insert(usize::MAX);
            *known = (*known).min(rest + cost(row.from));
        }
    }
    left
}

/// Places looked at for one goal before it counts as out of reach.
const BOUND: usize = 20_000;
