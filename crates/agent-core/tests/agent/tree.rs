//! A tree of agents by hand: what a driver of many agents does, without an outside. What runs is kept; a model is a function of the test.

use agent_core::agent::{Agent, Event, Step, Taker, between};
use agent_core::agents::AgentLimits;
use agent_core::budget::Limits;
use agent_core::child;
use agent_core::conversation::{CallId, Item, ToolCall};
use agent_core::hook::GitReport;
use agent_core::journal::{Begun, ChildOf, Entry, Header, Record, Replayer};
use agent_core::lifecycle;
use agent_core::llm::{LlmResponse, RawCall, ResponseBlock};
use agent_core::permission::{ApprovalAnswer, ApprovalQuestion, ApprovalScope};
use agent_core::session::{Action, Durability, ModelConfig, SessionConfig, Ticket};
use agent_core::tool::{CallFacts, Effect, Finding, Inspection, Subject, ToolOutcome, ToolSpec};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where an agent stands: the numbers on the way to it.
pub(crate) type Place = Vec<u32>;

/// What the driver was asked to do and has not answered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Task {
    Model { at: Place, ticket: Ticket },
    Prepare { at: Place, ticket: Ticket, calls: Vec<ToolCall> },
    Tool { at: Place, ticket: Ticket, call: CallId },
    Approve { at: Place, ticket: Ticket, call: CallId },
    Git { at: Place, ticket: Ticket },
    Check { at: Place, ticket: Ticket, checks: Vec<lifecycle::Check> },
    CleanUp { at: Place, ticket: Ticket },
}

impl Task {
    pub(crate) const fn at(&self) -> &Place {
        match self {
            Self::Model { at, .. }
            | Self::Prepare { at, .. }
            | Self::Tool { at, .. }
            | Self::Approve { at, .. }
            | Self::Git { at, .. }
            | Self::Check { at, .. }
            | Self::CleanUp { at, .. } => at,
        }
    }
}

/// One agent with its journal. What is not durable a crash may take back.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) agent: Agent,
    header: Header,
    journal: Vec<Record>,
    durable: usize,
}

impl Node {
    fn new(header: Header) -> Self {
        let record = Record { seq: 0, at_ms: 0, entry: Entry::Header(Box::new(header.clone())) };
        let replayer = Replayer::new(record.clone()).unwrap();
        Self { agent: replayer.finish().agent, header, journal: vec![record], durable: 1 }
    }

    fn replayed(&self, records: usize) -> Self {
        let mut replayer = Replayer::new(self.journal[0].clone()).unwrap();
        for record in &self.journal[1..records] {
            replayer.advance(record.clone()).unwrap();
        }
        let journal = self.journal[..records].to_vec();
        Self { agent: replayer.finish().agent, header: self.header.clone(), journal, durable: records }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) nodes: BTreeMap<Place, Node>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) now_ms: u64,
    /// Outcomes that a model has read, by the child's place: each once.
    pub(crate) told: BTreeMap<Place, u32>,
    /// The times that the root's turns were given, in milliseconds.
    pub(crate) deadlines: Vec<u64>,
}

/// A tool of the test.
fn tool(name: &str) -> ToolSpec {
    let input_schema = Arc::new(json!({"type": "object"}));
    ToolSpec { name: Arc::from(name), description: Arc::from(name), input_schema }
}

pub(crate) fn config() -> SessionConfig {
    let names = ["spawn_agent", "wait_agent", "send_agent", "stop_agent", "list_agents", "read", "signal"];
    SessionConfig {
        tools: names.into_iter().map(tool).collect(),
        limits: Limits { max_model_calls: Some(100), ..Limits::default() },
        agents: Some(AgentLimits { depth: 2, width: 4, total: 8, per_minute: 6 }),
        ..SessionConfig::new(ModelConfig::new("some-model"))
    }
}

impl Tree {
    pub(crate) fn new(config: SessionConfig, bound: Option<lifecycle::LifecycleConfig>) -> Self {
        let node = Node::new(Header::new("root", "test", "/", config));
        let mut tree = Self {
            nodes: BTreeMap::from([(vec![], node)]),
            tasks: Vec::new(),
            now_ms: 0,
            told: BTreeMap::new(),
            deadlines: Vec::new(),
        };
        tree.tell(&[], agent_core::session::Event::Started.into());
        if let Some(bound) = bound {
            tree.tell(&[], Event::Bound(Box::new(bound)));
        }
        tree
    }

    pub(crate) fn agent(&self, at: &[u32]) -> &Agent {
        &self.nodes[at].agent
    }

    /// The agent takes an event that fits, and everything follows.
    pub(crate) fn tell(&mut self, at: &[u32], event: Event) {
        let shown = format!("{event:?}");
        self.take(at, event).unwrap_or_else(|error| panic!("{at:?} {shown}: {error}"));
        self.settle();
    }

    pub(crate) fn say(&mut self, text: &str) {
        self.tell(&[], agent_core::session::Event::UserInput { text: text.into() }.into());
    }

    fn take(&mut self, at: &[u32], event: Event) -> Result<(), agent_core::agent::Rejected> {
        let now_ms = self.now_ms;
        let node = self.nodes.get_mut(at).unwrap();
        let before = node.agent.clone();
        let record = Record { seq: node.journal.len() as u64, at_ms: now_ms, entry: Entry::Event(event.clone()) };
        let step = match node.agent.step(now_ms, event) {
            Ok(step) => step,
            Err(rejected) => {
                assert_eq!(node.agent, before, "a refusal changed the agent");
                return Err(rejected);
            }
        };
        node.journal.push(record);
        // Before anything of the step is performed.
        if step.durability() == Durability::Now {
            node.durable = node.journal.len();
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
                self.begin(at, number);
            }
            child::Action::WithdrawBegin { run } if !self.nodes.contains_key(&below) => {
                let event = child::Event::BeginFailed { run: *run, found: "withdrawn".into() };
                self.take(at, Event::Child { number, event: Box::new(event) }).unwrap();
            }
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
    pub(crate) fn empty(&mut self, at: &[u32]) {
        let node = self.nodes.get_mut(at).unwrap();
        *node = node.replayed(1);
    }

    pub(crate) fn sync(&mut self, at: &[u32]) {
        // One whose journal is gone has nothing to write.
        let Some(node) = self.nodes.get_mut(at) else { return };
        node.durable = node.journal.len();
    }

    /// Everything that parents and children have to take of each other.
    pub(crate) fn settle(&mut self) {
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
                match between(self.agent(&at), number, child, None) {
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

    /// The task at a place of the list is done so.
    pub(crate) fn finish(&mut self, number: usize, answer: impl Fn(&Agent, &Place) -> LlmResponse) {
        use agent_core::session::Event as Session;
        let task = self.tasks.remove(number);
        let at = task.at().clone();
        let is_cancelled = self.agent(&at).session().is_cancel_pending();
        let events: Vec<Event> = match task {
            Task::Model { ticket, .. } if is_cancelled => {
                vec![Session::LlmAborted { ticket, partial_text: String::new() }.into()]
            }
            Task::Model { ticket, .. } => {
                let response = answer(self.agent(&at), &at);
                vec![Session::LlmCompleted { ticket, response }.into()]
            }
            Task::Prepare { ticket, calls, .. } => {
                let effect = |call: &ToolCall| {
                    if call.arguments.as_str().contains("shared") { Effect::Changes } else { Effect::Reads }
                };
                let facts = calls.iter().map(|call| {
                    let inspection = Inspection { effect: effect(call), subject: Subject::None };
                    CallFacts::new(call.id.clone(), Finding::Runnable(inspection))
                });
                vec![Session::ToolsPrepared { ticket, facts: facts.collect() }.into()]
            }
            Task::Tool { ticket, call, .. } => {
                let outcome = ToolOutcome::ok("read");
                vec![Session::ToolCompleted { ticket, call, outcome }.into()]
            }
            // Every second one is allowed.
            Task::Approve { ticket, call, .. } => {
                let is_allowed = self.now_ms.is_multiple_of(2);
                let allow = ApprovalAnswer::Allow { arguments: None, scope: ApprovalScope::Once };
                let answer = if is_allowed { allow } else { ApprovalAnswer::Nobody };
                vec![Session::ApprovalAnswered { ticket, call, answer, changed: None }.into()]
            }
            Task::Git { ticket, .. } => vec![Session::GitChecked { ticket, report: GitReport::default() }.into()],
            Task::Check { ticket, checks, .. } => {
                let kept = |check: lifecycle::Check| {
                    let end = lifecycle::CheckEnd::Exited { code: 0 };
                    let report = lifecycle::CheckReport { end, output: String::new() };
                    lifecycle::Event::CheckCompleted { ticket, commitment: check.commitment, report }.into()
                };
                checks.into_iter().map(kept).collect()
            }
            Task::CleanUp { ticket, .. } => vec![lifecycle::Event::CleanupCompleted { ticket }.into()],
        };
        for event in events {
            // A late answer is refused.
            let _ = self.take(&at, event);
            self.settle();
        }
    }

    /// Does whatever is to be done, oldest first, until nothing is.
    pub(crate) fn run(&mut self, answer: impl Fn(&Agent, &Place) -> LlmResponse) {
        for _ in 0..5_000 {
            if self.tasks.is_empty() {
                return;
            }
            self.now_ms += 1;
            self.finish(0, &answer);
        }
        panic!("it never ends: {:?}", self.tasks);
    }

    /// The program dies: of every journal a part is left that has what is durable. Another program resumes the tree.
    pub(crate) fn crash(&mut self, mut kept: impl FnMut(usize) -> usize) {
        self.tasks.clear();
        for node in self.nodes.values_mut() {
            let loose = node.journal.len() - node.durable;
            let records = node.durable + kept(loose).min(loose);
            *node = node.replayed(records);
        }
        self.now_ms += 1_000;
        let places: Vec<Place> = self.nodes.keys().cloned().collect();
        self.settle();
        for at in places {
            self.resume(&at);
        }
    }

    fn resume(&mut self, at: &[u32]) {
        let agent = self.agent(at);
        if agent.is_dismissed() || !agent.session().is_started() {
            if at.is_empty() {
                self.tell(&[], agent_core::session::Event::Started.into());
            }
            return;
        }
        let event = Begun::unknown().resumption(agent, |_| true);
        self.tell(at, event.into());
        let outstanding: Vec<Action> = self.agent(at).outstanding().into_iter().map(|open| open.action).collect();
        let known = self.tasks.clone();
        let is_known = |ticket: Ticket| {
            known.iter().any(|task| match task {
                Task::Model { at: place, ticket: open }
                | Task::Prepare { at: place, ticket: open, .. }
                | Task::Tool { at: place, ticket: open, .. }
                | Task::Approve { at: place, ticket: open, .. }
                | Task::Git { at: place, ticket: open } => place == at && *open == ticket,
                Task::Check { .. } | Task::CleanUp { .. } => false,
            })
        };
        let again = outstanding.into_iter().filter(|action| action.ticket().is_some_and(|ticket| !is_known(ticket)));
        let mut step = Step::empty();
        step.session.actions = again.collect();
        let checks = self.agent(at).lifecycle().map(lifecycle::Lifecycle::outstanding).unwrap_or_default();
        let is_open = |task: &Task| matches!(task, Task::Check { at: place, .. } | Task::CleanUp { at: place, .. } if place == at);
        if !known.iter().any(is_open) {
            step.up.actions = checks;
        }
        self.perform(at, step);
        let begins: Vec<(u32, child::Action)> =
            self.agent(at).kin().filter_map(|kin| Some((kin.child().number(), kin.child().outstanding()?))).collect();
        for (number, action) in begins {
            self.act(at, number, &action);
        }
        self.settle();
    }

    /// Where every agent stands.
    pub(crate) fn shown(&self) -> String {
        let mut out = format!("{:?}\n", self.tasks);
        for (at, node) in &self.nodes {
            let agent = &node.agent;
            let lifecycle = agent.lifecycle().map(lifecycle::Lifecycle::state);
            let kin: Vec<_> = agent.kin().map(|kin| (kin.child().name(), kin.child().state())).collect();
            let (state, waits) = (agent.session().state(), agent.waits_for_children());
            out.push_str(&format!("{at:?} {:?} {state:?} {lifecycle:?}, waits {waits}, {kin:?}\n", agent.doing()));
        }
        out
    }

    /// What must hold of the whole tree, always.
    pub(crate) fn check(&self) {
        for (at, node) in &self.nodes {
            let agent = &node.agent;
            if agent.is_idle() {
                assert!(agent.alive().is_empty(), "{at:?} rests and has living children");
            }
            let (limits, ledger) = (agent.session().config().limits, agent.session().ledger());
            // A call that had begun when the program died counts, and is made again.
            if let Some(most) = limits.max_model_calls {
                assert!(ledger.committed().model_calls <= most, "{at:?} has leased out or spent more than it has");
            }
            let agents = agent.session().config().agents.unwrap_or_default();
            assert!(agent.alive().len() <= agents.width as usize, "{at:?} has too many children");
            for kin in agent.kin().filter(|kin| kin.child().is_living()) {
                let below = [&at[..], &[kin.child().number()]].concat();
                if let Some(child) = self.nodes.get(&below) {
                    let permissions = &child.agent.session().config().permissions;
                    assert!(
                        agent.session().config().permissions.is_above(&permissions.above),
                        "{below:?} has an old policy"
                    );
                }
            }
            let again = node.replayed(node.journal.len());
            assert_eq!(again.agent, node.agent, "{at:?} does not replay to itself");
        }
        for (place, told) in &self.told {
            assert!(*told <= 1, "the outcome of {place:?} was told {told} times");
        }
    }
}

/// An answer that calls tools.
pub(crate) fn calls(calls: &[(&str, serde_json::Value)], ids: &str) -> LlmResponse {
    let call = |(number, (name, arguments)): (usize, &(&str, serde_json::Value))| {
        let id = format!("{ids}-{number}").as_str().into();
        ResponseBlock::Call(RawCall { id, name: (*name).into(), arguments: arguments.to_string(), complete: true })
    };
    LlmResponse { blocks: calls.iter().enumerate().map(call).collect(), ..LlmResponse::text("") }
}

/// How many answers the agent has given.
pub(crate) fn rounds(agent: &Agent) -> usize {
    let is_answer = |item: &&Arc<Item>| matches!(item.as_ref(), Item::Round(_) | Item::Answer(_));
    agent.session().conversation().iter().filter(is_answer).count()
}

/// All results and messages that the model has read, one a line.
pub(crate) fn read_by(agent: &Agent) -> Vec<String> {
    let mut all = Vec::new();
    for item in agent.session().conversation().iter() {
        match item.as_ref() {
            Item::Input(input) => all.extend(input.messages().iter().map(|said| said.text.clone())),
            Item::Round(round) => all.extend(round.results().iter().map(|result| result.content().to_owned())),
            Item::Answer(_) | Item::Summary(_) => {}
        }
    }
    all
}
