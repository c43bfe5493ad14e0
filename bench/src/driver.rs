//! A driver without an outside: it remembers the ticket of what was asked last, and answers.

use agent_check::session as words;
use agent_core::agent::{self, Agent};
use agent_core::conversation::CallId;
use agent_core::hook::GitReport;
use agent_core::journal::{Entry, Format, Header, Record};
use agent_core::lifecycle::{Commitment, LifecycleConfig};
use agent_core::llm::{LlmResponse, RawCall, ResponseBlock, StopReason, Usage};
use agent_core::session::{Action, Event, Session, SessionConfig, Ticket};
use agent_core::tool::{CallFacts, Effect, Finding, Inspection, Subject, ToolOutcome};
use std::hint::black_box;

/// An agent and what it asked for last.
#[derive(Clone)]
pub struct Driver {
    pub agent: Agent,
    pub ticket: Ticket,
    pub deadline: Ticket,
    rounds: u64,
    /// Written down when there is somebody to read it.
    pub events: Option<Vec<Event>>,
}

impl Driver {
    /// A session whose model is being called.
    pub fn started() -> Self {
        Self::of(config())
    }

    pub fn of(config: SessionConfig) -> Self {
        let agent = Agent::new(config);
        let mut driver = Self { agent, ticket: Ticket(0), deadline: Ticket(0), rounds: 0, events: None };
        driver.take(Event::Started);
        driver.take(Event::UserInput { text: "go".into() });
        driver
    }

    /// The same, bound to a commitment: its check is asked for at the end of each turn, and the next message comes first.
    pub fn bound(mut self) -> Self {
        let bound = LifecycleConfig::headless(vec![Commitment::of_command("true", 1_000)]);
        let _ = self.agent.step(1, agent::Event::Bound(Box::new(bound))).expect("any agent can be bound");
        self
    }

    pub const fn session(&self) -> &Session {
        self.agent.session()
    }

    /// The same with a history of so many items: the input and rounds.
    pub fn with_history(items: usize) -> Self {
        let mut driver = Self::started();
        while driver.session().conversation().len() < items {
            driver.round();
        }
        driver
    }

    /// An answer with one call, its preparation, its result: the model is called again.
    pub fn round(&mut self) {
        let ids = self.answer_with_calls(1);
        self.prepare(&ids, Effect::Reads);
        self.complete(&ids[0]);
    }

    /// A turn as sessions have them: a message, a call that reads, one that changes something with the look of the hooks after it, and the
    /// last words. Nine events.
    pub fn turn(&mut self) {
        self.take(Event::UserInput { text: "Please make the greeting a polite one.".into() });
        self.round();
        let ids = self.answer_with_calls(1);
        self.prepare(&ids, Effect::Changes);
        let outcome = outcome().with_changed_paths(vec!["src/lib.rs".into()]);
        self.take(Event::ToolCompleted { ticket: self.ticket, call: ids[0].clone(), outcome });
        self.take(Event::GitChecked { ticket: self.ticket, report: GitReport::default() });
        let usage = Some(Usage { input_tokens: 1_200, output_tokens: 12, ..Usage::default() });
        let response = LlmResponse { usage, ..LlmResponse::text("That is all there is to it.") };
        self.take(Event::LlmCompleted { ticket: self.ticket, response });
    }

    /// The model asks for so many calls.
    pub fn answer_with_calls(&mut self, calls: usize) -> Vec<CallId> {
        let (event, ids) = self.calls(calls);
        self.take(event);
        ids
    }

    pub fn calls(&mut self, calls: usize) -> (Event, Vec<CallId>) {
        self.rounds += 1;
        let ids: Vec<String> = (0..calls).map(|call| format!("toolu_{:06}_{call}", self.rounds)).collect();
        let mut blocks = vec![ResponseBlock::Text("I look into it.".into())];
        blocks.extend(ids.iter().map(|id| {
            let (id, name, arguments) = (id.clone(), "read_file".into(), r#"{"path":"src/lib.rs"}"#.into());
            ResponseBlock::Call(RawCall { id, name, arguments, complete: true })
        }));
        let usage = Some(Usage { input_tokens: 1_000, output_tokens: 20, ..Usage::default() });
        let response = LlmResponse { blocks, stop: StopReason::ToolUse, usage, model: String::new() };
        (Event::LlmCompleted { ticket: self.ticket, response }, ids.iter().map(|id| CallId::new(id)).collect())
    }

    pub fn prepare(&mut self, ids: &[CallId], effect: Effect) {
        let event = Event::ToolsPrepared { ticket: self.ticket, facts: facts(ids, effect) };
        self.take(event);
    }

    pub fn complete(&mut self, id: &CallId) {
        let event = Event::ToolCompleted { ticket: self.ticket, call: id.clone(), outcome: outcome() };
        self.take(event);
    }

    /// The end of the first call that runs.
    pub fn completed(&self) -> Event {
        let Some(Action::ExecuteTools { ticket, calls }) = self.asked() else { panic!("no call runs") };
        Event::ToolCompleted { ticket, call: calls[0].id.clone(), outcome: outcome() }
    }

    /// What is asked beside the deadline.
    fn asked(&self) -> Option<Action> {
        let open = self.session().outstanding().into_iter().map(|open| open.action);
        open.into_iter().find(|action| !matches!(action, Action::StartDeadline { .. }))
    }

    /// A line of the scenarios as an event: an answer to what is asked, or what happens by itself.
    pub fn told(&self, line: &str) -> Event {
        let event = match self.asked().filter(|_| line != "deadline") {
            Some(action) => words::answer(line, &action, self.session()),
            None => words::event(line, self.deadline, self.session()),
        };
        event.expect("a line of the scenarios")
    }

    pub fn done(&self) -> Event {
        Event::LlmCompleted { ticket: self.ticket, response: LlmResponse::text("That is all there is to it.") }
    }

    /// Takes an event and remembers the tickets of what was asked. A refusal is a mistake of the benchmark.
    pub fn take(&mut self, event: Event) {
        if let Some(events) = &mut self.events {
            events.push(event.clone());
        }
        let step = self.agent.step(1, event.into()).expect("the event fits");
        for action in black_box(step.session.actions) {
            match action {
                Action::StartDeadline { ticket, .. } => self.deadline = ticket,
                Action::SendLlmRequest { ticket, .. }
                | Action::PrepareTools { ticket, .. }
                | Action::RequestApproval { ticket, .. }
                | Action::ExecuteTools { ticket, .. }
                | Action::CheckGitCommits { ticket, .. }
                | Action::RunAutoformatters { ticket, .. }
                | Action::CommitChanges { ticket, .. }
                | Action::RunHooks { ticket, .. }
                | Action::ScheduleRetry { ticket, .. } => self.ticket = ticket,
                _ => {}
            }
        }
    }
}

/// A journal of at least so many events, as lines: whole turns, as a driver records them.
pub fn journal(events: usize) -> String {
    let mut driver = Driver::started();
    driver.take(driver.done());
    driver.events = Some(Vec::new());
    while driver.events.as_ref().map_or(0, Vec::len) < events {
        driver.turn();
    }
    let started = [Event::Started, Event::UserInput { text: "go".into() }, Driver::started().done()];
    let header = Header::new("bench", "bench", "/tmp", config());
    let entries =
        started.into_iter().chain(driver.events.take().unwrap_or_default()).map(|event| Entry::Event(event.into()));
    let mut lines = String::new();
    for (seq, entry) in (0..).zip(std::iter::once(Entry::Header(Box::new(header))).chain(entries)) {
        lines += &serde_json::to_string(&Record { seq, at_ms: 1_767_268_800_000 + seq, entry }).expect("it is written");
        lines.push('\n');
    }
    lines
}

/// The records of lines, each copied out of the whole first and looked at as text, as a journal in a file is read.
pub fn records(mut lines: &[u8]) -> impl Iterator<Item = Record> {
    let mut line = Vec::new();
    std::iter::from_fn(move || {
        let (copied, rest) = lines.split_at(memchr::memchr(b'\n', lines)? + 1);
        lines = rest;
        line.clear();
        line.extend_from_slice(copied);
        let text = std::str::from_utf8(&line).expect("text");
        Some(Format::TODAY.read(text).expect("a record"))
    })
}

pub fn facts(ids: &[CallId], effect: Effect) -> Vec<CallFacts> {
    let subject = || Subject::Paths(vec!["src/lib.rs".into()]);
    let fact = |id: &CallId| {
        let finding = Finding::Runnable(Inspection { effect, subject: subject() });
        CallFacts::new(id.clone(), finding)
    };
    ids.iter().map(fact).collect()
}

pub fn outcome() -> ToolOutcome {
    ToolOutcome::ok("pub fn main() {\n    println!(\"hello\");\n}\n")
}

pub fn config() -> SessionConfig {
    words::config("model=model wall-ms=600000").expect("words of the scenarios")
}
