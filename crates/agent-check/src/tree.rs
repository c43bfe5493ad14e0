//! A tree of agents by hand: what a driver of many agents does, without an outside. What runs is kept; a model is a function of the caller.
//!
//! What does not fit panics: a walk shows where, and the model check takes it for a fault.

#![expect(clippy::unwrap_used, reason = "a driver that cannot go on should say where")]

mod judge;
mod models;
mod node;
mod work;

use agent_core::agent::{Agent, Event, Kin, Rejected, Step, Taker, between};
use agent_core::agents::AgentLimits;
use agent_core::child;
use agent_core::journal::{ChildOf, Entry, Header, Record};
use agent_core::lifecycle;
use agent_core::permission::ApprovalQuestion;
use agent_core::session::{Action, Durability, SessionConfig};
use std::collections::BTreeMap;

pub use models::{calls, config, read_by, rounds};
pub use node::{Node, Place, Task};

/// What is done with agents. Only a test that plants a fault puts other functions here.
#[derive(Clone, Copy, Debug)]
pub struct Steppers {
    /// An agent takes an event at a time.
    pub step: fn(&mut Agent, u64, Event) -> Result<Step, Rejected>,
    /// What a parent and a child have to take of each other.
    pub between: fn(&Agent, u32, Option<&Agent>) -> Option<Taker>,
}

impl Default for Steppers {
    fn default() -> Self {
        Self { step: Agent::step, between: |parent, number, child| between(parent, number, child, None) }
    }
}

/// The root, the agents below it, and what is in progress.
#[derive(Clone, Debug)]
pub struct Tree {
    /// By place; the root's is empty.
    pub nodes: BTreeMap<Place, Node>,
    /// What is in progress, in the order in which it was asked for.
    pub tasks: Vec<Task>,
    /// The time.
    pub now_ms: u64,
    /// How long it takes until another program resumes the tree, in milliseconds.
    pub down_ms: u64,
    steps: Steppers,
    /// How many agents the session allowed when it began.
    limits: AgentLimits,
    /// Outcomes that a model has read, by the child's place: each once.
    pub told: BTreeMap<Place, u32>,
    /// The times that the root's turns were given, in milliseconds.
    pub deadlines: Vec<u64>,
}

impl Tree {
    /// A root that has started, and is bound if that is said.
    #[must_use]
    pub fn new(config: SessionConfig, bound: Option<lifecycle::LifecycleConfig>) -> Self {
        Self::stepping(config, bound, Steppers::default())
    }

    /// The same with other functions.
    #[must_use]
    pub fn stepping(config: SessionConfig, bound: Option<lifecycle::LifecycleConfig>, steps: Steppers) -> Self {
        let limits = config.agents.unwrap_or_default();
        let node = Node::new(Header::new("root", "test", "/", config));
        let mut tree = Self {
            nodes: BTreeMap::from([(vec![], node)]),
            tasks: Vec::new(),
            now_ms: 0,
            down_ms: 1_000,
            steps,
            limits,
            told: BTreeMap::new(),
            deadlines: Vec::new(),
        };
        tree.tell(&[], agent_core::session::Event::Started.into());
        if let Some(bound) = bound {
            tree.tell(&[], Event::Bound(Box::new(bound)));
        }
        tree
    }

    /// The agent at a place.
    #[must_use]
    pub fn agent(&self, at: &[u32]) -> &Agent {
        &self.nodes[at].agent
    }

    /// The agent takes an event that fits, and everything follows.
    pub fn tell(&mut self, at: &[u32], event: Event) {
        let shown = format!("{event:?}");
        self.take(at, event).unwrap_or_else(|error| panic!("{at:?} {shown}: {error}"));
        self.settle();
    }

    /// The person says something to the root.
    pub fn say(&mut self, text: &str) {
        self.tell(&[], agent_core::session::Event::UserInput { text: text.into() }.into());
    }

    fn take(&mut self, at: &[u32], event: Event) -> Result<(), Rejected> {
        let now_ms = self.now_ms;
        let node = self.nodes.get_mut(at).unwrap();
        let before = node.agent.clone();
        let record = Record { seq: node.journal.len() as u64, at_ms: now_ms, entry: Entry::Event(event.clone()) };
        let step = match (self.steps.step)(&mut node.agent, now_ms, event) {
            Ok(step) => step,
            Err(rejected) => {
                assert_eq!(node.agent, before, "a refusal changed the agent");
                return Err(rejected);
            }
        };
        node.journal.push(record);
        // Before anything of the step is performed.
        if step.durability() == Durability::Now {
            node.sync();
        }
        self.count_told(at, &step);
        self.perform(at, step);
        Ok(())
    }

    fn count_told(&mut self, at: &[u32], step: &Step) {
        for (number, row) in step.family.iter().flat_map(|family| &family.children) {
            if row.to == child::State::Told {
                *self.told.entry([at, &[*number]].concat()).or_default() += 1;
            }
        }
    }

    fn perform(&mut self, at: &[u32], step: Step) {
        let place = at.to_vec();
        for action in step.session.actions {
            match action {
                Action::SendLlmRequest { ticket, .. } => self.tasks.push(Task::Model { at: place.clone(), ticket }),
                Action::PrepareTools { ticket, calls } => {
                    self.tasks.push(Task::Prepare { at: place.clone(), ticket, calls });
                }
                Action::ExecuteTools { ticket, calls } => {
                    let new = calls.into_iter().map(|call| Task::Tool { at: place.clone(), ticket, call: call.id });
                    self.tasks.extend(new);
                }
                Action::RequestApproval { ticket, questions } => {
                    let ask = |question: ApprovalQuestion| Task::Approve {
                        at: place.clone(),
                        ticket,
                        call: question.call.id,
                    };
                    self.tasks.extend(questions.into_iter().map(ask));
                }
                Action::CheckGitCommits { ticket, .. } => self.tasks.push(Task::Git { at: place.clone(), ticket }),
                Action::StartDeadline { delay_ms, .. } if at.is_empty() => self.deadlines.push(delay_ms),
                Action::CancelLlmRequest { .. } | Action::CancelTools { .. } => {}
                _ => {}
            }
        }
        for action in step.down.actions.into_iter().chain(step.up.actions) {
            match action {
                lifecycle::Action::RunChecks { ticket, checks } => {
                    self.tasks.push(Task::Check { at: place.clone(), ticket, checks });
                }
                lifecycle::Action::CancelChecks { .. } => {
                    self.tasks.retain(|task| !matches!(task, Task::Check { at, .. } if *at == place));
                }
                lifecycle::Action::CleanUp { ticket } => self.tasks.push(Task::CleanUp { at: place.clone(), ticket }),
                _ => {}
            }
        }
        for (number, action) in step.family.into_iter().flat_map(|family| family.actions) {
            self.act(at, number, &action);
        }
    }

    /// What the driver does about a child; the rest is seen in the journals.
    fn act(&mut self, at: &[u32], number: u32, action: &child::Action) {
        let below = [at, &[number]].concat();
        match action {
            child::Action::BeginChild { .. } => {
                self.sync(at);
                let is_apart = self.agent(at).kin_of(number).is_some_and(Kin::is_apart);
                if is_apart && !self.nodes.contains_key(&below) {
                    self.tasks.push(Task::Make { at: at.to_vec(), number });
                } else {
                    self.begin(at, number);
                }
            }
            child::Action::WithdrawBegin { run } if !self.nodes.contains_key(&below) && !self.makes(at, number) => {
                let event = child::Event::BeginFailed { run: *run, found: "withdrawn".into() };
                self.take(at, Event::Child { number, event: Box::new(event) }).unwrap();
            }
            child::Action::ClearWorkspace { .. } => {
                let task = Task::Clear { at: at.to_vec(), number };
                if !self.tasks.contains(&task) {
                    self.tasks.push(task);
                }
            }
            _ => {}
        }
    }

    /// Whether a workspace is being made for the child: its answer comes, whatever becomes of the child meanwhile.
    fn makes(&self, at: &[u32], number: u32) -> bool {
        self.tasks.contains(&Task::Make { at: at.to_vec(), number })
    }

    /// The workspace of its own for a child is made: it begins, if that is still wanted.
    fn made(&mut self, at: &[u32], number: u32) {
        let asked = self.agent(at).kin_of(number).and_then(|kin| kin.child().outstanding());
        match asked {
            Some(child::Action::BeginChild { .. }) => self.begin(at, number),
            Some(withdraw @ child::Action::WithdrawBegin { .. }) => self.act(at, number, &withdraw),
            _ => {}
        }
    }

    /// Begins a child, as far as its journal does not have it.
    fn begin(&mut self, at: &[u32], number: u32) {
        let Some(birth) = self.agent(at).birth(number) else { return };
        let below = [at, &[number]].concat();
        if !self.nodes.contains_key(&below) {
            let mut header = Header::new(format!("root.{below:?}"), "test", "/", birth.config);
            let (name, changes_files) = (birth.name, birth.changes_files);
            header.child = Some(ChildOf { root: "root".into(), place: below.clone(), name, changes_files });
            self.nodes.insert(below.clone(), Node::new(header));
        }
        if !self.agent(&below).session().is_started() {
            self.take(&below, agent_core::session::Event::Started.into()).unwrap();
        }
        if !self.agent(&below).is_bound() {
            self.take(&below, Event::Bound(Box::new(birth.lifecycle))).unwrap();
        }
        if !self.agent(&below).has_task() {
            self.take(&below, agent_core::session::Event::UserInput { text: birth.task }.into()).unwrap();
        }
        self.sync(&below);
    }

    /// Of the agent's journal only the first record is left.
    pub fn empty(&mut self, at: &[u32]) {
        let node = self.nodes.get_mut(at).unwrap();
        *node = node.replayed(1);
    }

    /// Everything of an agent becomes durable.
    pub fn sync(&mut self, at: &[u32]) {
        // One whose journal is gone has nothing to write.
        let Some(node) = self.nodes.get_mut(at) else { return };
        node.sync();
    }

    /// Everything that parents and children have to take of each other.
    pub fn settle(&mut self) {
        for _ in 0..10_000 {
            if !self.settle_one() {
                return;
            }
        }
        panic!("parents and children never have what the other has");
    }

    fn settle_one(&mut self) -> bool {
        let places: Vec<Place> = self.nodes.keys().cloned().collect();
        for at in places {
            let numbers: Vec<u32> = self.agent(&at).kin().map(|kin| kin.child().number()).collect();
            for number in numbers {
                let below = [&at[..], &[number]].concat();
                let child = self.nodes.get(&below).map(|node| &node.agent);
                match (self.steps.between)(self.agent(&at), number, child) {
                    Some(Taker::Parent(event)) => {
                        self.sync(&below);
                        self.take(&at, event).unwrap();
                        return true;
                    }
                    Some(Taker::Child(event)) => {
                        self.sync(&at);
                        self.take(&below, event).unwrap();
                        return true;
                    }
                    None => {}
                }
            }
        }
        false
    }
}
