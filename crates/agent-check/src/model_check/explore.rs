//! Breadth-first over the states of a model, on several threads, with the same result whatever the threads do.
//!
//! One level at a time: the workers take nodes of the level in order and keep what is new to them; between two levels the finds are
//! merged, and of nodes with equal keys the one stays that the first parent led to by its first choice. So every state has the same
//! representative and the same shortest path in every run.

use crate::invariants::{Fault, Tally};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Something with states.
pub(crate) trait Model: Sync {
    /// A state with what an observer knows of it.
    type Node: Send + Sync;
    /// Something that can happen.
    type Choice;

    /// Where everything begins.
    fn initial(&self) -> Self::Node;

    /// Everything that can happen here, always in the same order.
    fn choices(&self, node: &Self::Node) -> Vec<Self::Choice>;

    /// Where a choice leads, or nothing when it was rightly refused.
    fn take(&self, node: &Self::Node, choice: &Self::Choice, tally: &mut Tally) -> Result<Option<Self::Node>, Fault>;

    /// What must hold of a state by itself. `path` gives the choices that led to it.
    fn inspect(&self, node: &Self::Node, path: &dyn Fn() -> Vec<Self::Choice>, tally: &mut Tally) -> Result<(), Fault>;

    /// The state without what makes no difference.
    fn key(&self, node: &Self::Node) -> u128;

    /// A line for the choice and lines for where it led.
    fn show(&self, node: &Self::Node, choice: &Self::Choice) -> String;
}

/// What an exploration found.
pub(crate) struct Explored {
    pub(crate) states: usize,
    /// Accepted choices of all states.
    pub(crate) edges: u64,
    /// Choices on the longest of the shortest paths.
    pub(crate) depth: usize,
    /// Whether states were left out because there were too many.
    pub(crate) is_cut: bool,
    pub(crate) tally: Tally,
    pub(crate) violation: Option<Violation>,
}

/// A fault and the shortest way to it.
#[derive(Debug)]
pub(crate) struct Violation {
    pub(crate) fault: Fault,
    /// What happened, one entry an event.
    pub(crate) path: Vec<String>,
}

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    pub(crate) threads: usize,
    pub(crate) max_states: usize,
}

/// Explores everything that can be reached.
pub(crate) fn explore<M: Model>(model: &M, reach: Reach) -> Explored {
    let mut search = Search { model, links: vec![ROOT], seen: HashSet::default(), tally: Tally::default() };
    let initial = model.initial();
    search.seen.insert(model.key(&initial));
    let mut level = vec![initial];
    let (mut depth, mut is_cut, mut violation) = (0, false, None);
    loop {
        let finds = search.expand(&level, reach.threads);
        if let Some(fault) = finds.fault {
            violation = Some(search.violation(level.len(), fault));
            break;
        }
        level = search.settle(level.len(), finds.new);
        if level.is_empty() {
            break;
        }
        depth += 1;
        if search.links.len() >= reach.max_states {
            is_cut = true;
            break;
        }
    }
    let states = search.links.len();
    Explored { states, edges: search.tally.edges, depth, is_cut, tally: search.tally, violation }
}

struct Search<'a, M: Model> {
    model: &'a M,
    /// By state in the order of discovery: the state it was found from, and by which of its choices.
    links: Vec<Link>,
    seen: HashSet<u128, BuildHasherDefault<Folded>>,
    tally: Tally,
}

#[derive(Clone, Copy)]
struct Link {
    from: u32,
    choice: u32,
}

const ROOT: Link = Link { from: u32::MAX, choice: 0 };

/// Where in a level a find was made: the node's place, and its choice; none for the node itself.
type Place = (usize, Option<usize>);

struct Finds<N> {
    new: Vec<(Place, N)>,
    fault: Option<(Place, Fault)>,
}

impl<M: Model> Search<'_, M> {
    /// Every new state that the nodes of a level lead to, once.
    fn expand(&mut self, level: &[M::Node], threads: usize) -> Finds<M::Node> {
        let next = AtomicUsize::new(0);
        let this = &*self;
        let work = || this.work(level, &next);
        let found: Vec<Worker<M::Node>> = thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut found = vec![work()];
            // A worker catches the panics of the model; one of its own ends the run.
            found.extend(
                others.into_iter().map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))),
            );
            found
        });
        let mut merged: HashMap<u128, (Place, M::Node), BuildHasherDefault<Folded>> = HashMap::default();
        let mut fault: Option<(Place, Fault)> = None;
        for worker in found {
            self.tally.add(&worker.tally);
            if let Some(found) = worker.fault
                && fault.as_ref().is_none_or(|(place, _)| found.0 < *place)
            {
                fault = Some(found);
            }
            if merged.is_empty() {
                merged = worker.new;
                continue;
            }
            for (key, find) in worker.new {
                match merged.entry(key) {
                    Entry::Vacant(free) => {
                        free.insert(find);
                    }
                    Entry::Occupied(mut taken) if find.0 < taken.get().0 => {
                        taken.insert(find);
                    }
                    Entry::Occupied(_) => {}
                }
            }
        }
        self.seen.extend(merged.keys().copied());
        let mut new: Vec<_> = merged.into_values().collect();
        new.sort_unstable_by_key(|(place, _)| *place);
        Finds { new, fault }
    }

    fn work(&self, level: &[M::Node], next: &AtomicUsize) -> Worker<M::Node> {
        let mut worker = Worker { new: HashMap::default(), fault: None, tally: Tally::default() };
        loop {
            let start = next.fetch_add(CHUNK, Ordering::Relaxed);
            if start >= level.len() {
                return worker;
            }
            for at in start..(start + CHUNK).min(level.len()) {
                if let Err((choice, fault)) = self.visit(at, level, &mut worker) {
                    worker.fault.get_or_insert(((at, choice), fault));
                    // States after it cannot be nearer.
                    return worker;
                }
            }
        }
    }

    fn visit(&self, at: usize, level: &[M::Node], worker: &mut Worker<M::Node>) -> Result<(), (Option<usize>, Fault)> {
        let node = &level[at];
        let state = self.links.len() - level.len() + at;
        self.model.inspect(node, &|| self.path(state), &mut worker.tally).map_err(|fault| (None, fault))?;
        for (number, choice) in self.model.choices(node).iter().enumerate() {
            let taken = self.model.take(node, choice, &mut worker.tally).map_err(|fault| (Some(number), fault))?;
            let Some(after) = taken else { continue };
            worker.tally.edges += 1;
            let key = self.model.key(&after);
            if self.seen.contains(&key) {
                continue;
            }
            // Its first find is its nearest: a worker goes forward only.
            worker.new.entry(key).or_insert(((at, Some(number)), after));
        }
        Ok(())
    }

    /// Gives the finds their places among all states.
    fn settle(&mut self, level: usize, finds: Vec<(Place, M::Node)>) -> Vec<M::Node> {
        let base = self.links.len() - level;
        self.links.reserve(finds.len());
        let mut nodes = Vec::with_capacity(finds.len());
        for ((at, choice), node) in finds {
            self.links.push(Link { from: small(base + at), choice: small(choice.unwrap_or_default()) });
            nodes.push(node);
        }
        nodes
    }

    /// The choices that lead to a state.
    fn path(&self, state: usize) -> Vec<M::Choice> {
        let mut numbers = Vec::new();
        let mut at = state;
        while at != 0 {
            let link = self.links[at];
            numbers.push(link.choice as usize);
            at = link.from as usize;
        }
        let mut node = self.model.initial();
        let mut path = Vec::with_capacity(numbers.len());
        for number in numbers.into_iter().rev() {
            let choice = self.model.choices(&node).swap_remove(number);
            if let Ok(Some(after)) = self.model.take(&node, &choice, &mut Tally::default()) {
                node = after;
            }
            path.push(choice);
        }
        path
    }

    fn violation(&self, level: usize, ((at, choice), fault): (Place, Fault)) -> Violation {
        let path = self.path(self.links.len() - level + at);
        let mut node = self.model.initial();
        let mut lines = Vec::new();
        for taken in &path {
            lines.push(self.model.show(&node, taken));
            if let Ok(Some(after)) = self.model.take(&node, taken, &mut Tally::default()) {
                node = after;
            }
        }
        let last = choice.map(|number| self.model.choices(&node).swap_remove(number));
        lines.extend(last.map(|choice| self.model.show(&node, &choice)));
        Violation { fault, path: lines }
    }
}

struct Worker<N> {
    new: HashMap<u128, (Place, N), BuildHasherDefault<Folded>>,
    fault: Option<(Place, Fault)>,
    tally: Tally,
}

/// Nodes that a worker takes at a time.
const CHUNK: usize = 64;

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Fingerprints are spread already.
#[derive(Default)]
struct Folded(u64);

impl Hasher for Folded {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.0 = self.0.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u128(&mut self, print: u128) {
        self.0 = print as u64;
    }
}
