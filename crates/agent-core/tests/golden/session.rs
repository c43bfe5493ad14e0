//! A long day of one session: every kind of event and of action, once at least, and a look at it wherever it rests.

use crate::kept::{self, Kept, lines, one_of_each};
use agent_core::agent;
use agent_core::budget::{Limits, Price};
use agent_core::conversation::{CallId, ToolCall};
use agent_core::hook::{CommitInfo, CommitReport, FormatReport, GitReport};
use agent_core::journal::{ActionStarted, Entry, Header, Record};
use agent_core::llm::{Delta, LlmError, LlmErrorKind, LlmResponse, RawCall, ResponseBlock, StopReason, Usage};
use agent_core::permission::{ApprovalAnswer, ApprovalScope, PermissionMode, RuleSource};
use agent_core::session::{
    Action, Event, ModelConfig, Rejected, Session, SessionConfig, State, Step, Summaries, Ticket,
};
use agent_core::tool::{CallFacts, Effect, Finding, HookVerdict, Inspection, Subject, ToolOutcome, ToolSpec};
use std::sync::Arc;

/// The files of the story as it goes today.
pub(crate) fn written() -> Vec<Kept> {
    let story = Story::told();
    let machines = machines_on_the_way(&story.records);
    vec![
        Kept::new("journal", "session.jsonl", kept::written(story.records)),
        Kept::new("machines", "session.machines.jsonl", kept::written(machines)),
        Kept::new("machines", "session.actions.jsonl", kept::written(one_of_each(story.actions))),
        // The first few: a step is its transitions and its actions, and those are kept already.
        Kept::new("machines", "session.steps.jsonl", kept::written(story.steps.into_iter().take(3))),
        Kept::new("machines", "session.refusals.jsonl", kept::written(story.refusals)),
    ]
}

/// The events of a journal, one a line.
pub(crate) fn events(journal: &str) -> String {
    let records = lines(journal).into_iter().map(|line| serde_json::from_str::<Record>(line).unwrap());
    kept::written(records.filter_map(|record| match record.entry {
        Entry::Event(agent::Event::Session(event)) => Some(event),
        _ => None,
    }))
}

/// The notes of a journal that something begins, one a line.
pub(crate) fn begun(journal: &str) -> String {
    let records = lines(journal).into_iter().map(|line| serde_json::from_str::<Record>(line).unwrap());
    kept::written(records.filter_map(|record| match record.entry {
        Entry::ActionStarted(started) => Some(started),
        _ => None,
    }))
}

/// The session where it first rests in each state, and at the end.
pub(crate) fn machines_on_the_way(records: &[Record]) -> Vec<Session> {
    let Entry::Header(header) = &records[0].entry else { panic!("no header") };
    let mut session = Session::new(header.config.clone());
    let mut found = vec![session.clone()];
    for record in &records[1..] {
        let Entry::Event(agent::Event::Session(event)) = &record.entry else { continue };
        let _ = session.step(record.at_ms, event.clone());
        if found.iter().all(|earlier| earlier.state() != session.state()) {
            found.push(session.clone());
        }
    }
    found.push(session);
    found
}

/// A session, its journal, and what came of each event.
struct Story {
    session: Session,
    at_ms: u64,
    records: Vec<Record>,
    actions: Vec<Action>,
    steps: Vec<Step>,
    refusals: Vec<Rejected>,
}

impl Story {
    fn told() -> Self {
        let mut story = Self::begun();
        story.first_turn_with_a_retry();
        story.approval_tools_and_hooks();
        story.settings_and_a_summary();
        story.cancels();
        story.bad_ends();
        story.take(Event::ShutdownRequested);
        assert_eq!(story.session.state(), State::ShuttingDown);
        story
    }

    fn begun() -> Self {
        let header = Header::new("golden", "agent-core 0.1.0", "/home/somebody/project", config());
        let session = Session::new(header.config.clone());
        let records = vec![Record { seq: 0, at_ms: NOON_MS, entry: Entry::Header(Box::new(header)) }];
        let (actions, steps, refusals) = (Vec::new(), Vec::new(), Vec::new());
        Self { session, at_ms: NOON_MS, records, actions, steps, refusals }
    }

    fn first_turn_with_a_retry(&mut self) {
        self.take(Event::UserInput { text: "too early".into() });
        self.take(Event::Started);
        self.input("Fix the parser, please.");
        let ticket = self.asked();
        self.take(Event::LlmDelta { ticket, delta: Delta::Thinking("Where is it?".into()) });
        self.take(Event::LlmDelta { ticket, delta: Delta::Text("I will lo".into()) });
        self.input("It is in src/parser.rs.");
        let error = LlmError { status: Some(429), retry_after_ms: Some(2_000), ..overloaded() };
        self.fails(error);
        self.rests_in(State::Error);
        let ticket = self.asked();
        self.take(Event::RetryTimeout { ticket });
        let all = vec![
            ResponseBlock::Thinking { text: "Read it first.".into(), signature: Some("c2ln".into()) },
            ResponseBlock::RedactedThinking { data: "c2VjcmV0".into() },
            ResponseBlock::Text("I will look at it.".into()),
            ResponseBlock::Opaque { dialect: "anthropic".into(), json: r#"{"type":"new"}"#.into() },
            call("read-1", "read", r#"{"path":"src/parser.rs"}"#),
            call("edit-1", "edit", r#"{"path":"src/parser.rs","text":"fn main() {}"}"#),
            call("edit-1", "edit", "not json"),
            call("bash-1", "bash", r#"{"command":"make"}"#),
        ];
        self.answers(all, StopReason::ToolUse);
        self.rests_in(State::PreparingTools);
    }

    fn approval_tools_and_hooks(&mut self) {
        self.prepared_as(|call| match call.name.as_ref() {
            "read" => (runnable(Effect::Reads, paths()), HookVerdict::None),
            "edit" => (runnable(Effect::Changes, paths()), HookVerdict::Ask { reason: "it is generated".into() }),
            _ => {
                let message = "there is no tool `bash`; there are `read` and `edit`".into();
                (Finding::UnknownTool { message }, HookVerdict::None)
            }
        });
        self.rests_in(State::AwaitingApproval);
        let rule = "edit(src/**)".parse().unwrap();
        self.approved(ApprovalAnswer::Allow { scope: ApprovalScope::Session(vec![rule]), arguments: None });
        let (ticket, call) = (self.asked(), CallId::new("read-1"));
        self.take(Event::ToolProgress { ticket, call, text: "12 of 40 lines".into() });
        self.tool("read-1", ToolOutcome::ok("fn main() {"));
        self.tool("edit-1", ToolOutcome::ok("changed 1 line").with_changed_paths(vec!["src/parser.rs".into()]));
        self.rests_in(State::CheckingGitCommits);
        let commits = vec![CommitInfo { id: "0123456789abcdef".into(), subject: "Begin".into(), stat: None }];
        let notes = vec!["a hint".to_owned()];
        let report = GitReport { commits, formatting_due: true, commit_due: true, notes: notes.clone() };
        let ticket = self.asked();
        self.take(Event::GitChecked { ticket, report });
        self.rests_in(State::RunningAutoformatters);
        let changed_paths = vec!["src/parser.rs".into()];
        let ticket = self.asked();
        let report = FormatReport { changed_paths, commit_due: true, notes: notes.clone() };
        self.take(Event::FormattersFinished { ticket, report });
        self.rests_in(State::CommittingChanges);
        let commit = Some(CommitInfo { id: "fedcba9876543210".into(), subject: "Fix the parser".into(), stat: None });
        let ticket = self.asked();
        self.take(Event::ChangesCommitted { ticket, report: CommitReport { commit, notes } });
        self.rests_in(State::SendingToolResults);
        self.answers(vec![ResponseBlock::Text("Fixed. ".repeat(60))], StopReason::EndTurn);
        self.rests_in(State::WaitingForUserInput);
    }

    fn settings_and_a_summary(&mut self) {
        let limits = Limits { max_total_tokens: Some(1_000_000), ..self.session.config().limits };
        self.take(Event::BudgetRaised { limits });
        let mut config = self.session.config().clone();
        config.models[0].id = Arc::from("large-2");
        // As earlier versions wrote them, which knew no sources.
        config.permissions.allow =
            config.permissions.allow.into_iter().map(|rule| rule.said_by(RuleSource::Host)).collect();
        self.take(Event::Reconfigured { config: Box::new(config) });
        self.take(Event::CompactionRequested);
        self.rests_in(State::Compacting);
        self.answers(vec![ResponseBlock::Text("The parser was fixed.".into())], StopReason::EndTurn);
        self.rests_in(State::WaitingForUserInput);
    }

    /// A stop while the model answers, while a person is asked, while a tool runs, while a hook runs, and before a retry.
    fn cancels(&mut self) {
        self.input("Now the printer.");
        self.input("And the scanner.");
        self.take(Event::CancelRequested);
        let ticket = self.asked();
        self.take(Event::LlmAborted { ticket, partial_text: "The printer is".into() });

        self.input("The printer, then.");
        self.asks_for_an_edit("edit-2", "docs/printer.md");
        self.take(Event::CancelRequested);

        self.input("Do it.");
        self.asks_for_an_edit("edit-3", "src/printer.rs");
        self.take(Event::CancelRequested);
        self.tool("edit-3", ToolOutcome::interrupted("killed"));

        self.input("Again.");
        self.asks_for_an_edit("edit-4", "src/printer.rs");
        self.tool("edit-4", ToolOutcome::failed("no such file"));
        self.take(Event::CancelRequested);
        let ticket = self.asked();
        self.take(Event::HookFailed { ticket, message: "git was stopped".into() });

        self.input("Once more.");
        self.fails(overloaded());
        self.fails(LlmError::new(LlmErrorKind::Network, "connection reset"));
        self.take(Event::CancelRequested);
    }

    /// A denial, a hook that ends the turn, the clock, a refused key, and answers that come too late.
    fn bad_ends(&mut self) {
        self.input("And the docs?");
        self.asks_for_an_edit("edit-5", "docs/parser.md");
        self.approved(ApprovalAnswer::Deny { reason: "not now".into() });
        self.asks_for_an_edit("edit-6", "src/parser.rs");
        self.tool("edit-6", ToolOutcome::ok(""));
        let ticket = self.asked();
        self.take(Event::HooksStoppedTurn { ticket, reason: "the branch is frozen".into() });

        self.input("Go on.");
        let ticket = self.deadline();
        self.take(Event::DeadlineReached { ticket });
        let late = self.asked();
        self.take(Event::LlmAborted { ticket: late, partial_text: String::new() });
        self.take(Event::LlmCompleted { ticket: late, response: LlmResponse::text("too late") });
        self.input("  ");

        self.input("Is anybody there?");
        let refused = LlmError { status: Some(401), ..LlmError::new(LlmErrorKind::Authentication, "the key is wrong") };
        self.fails(refused);
        self.rests_in(State::WaitingForUserInput);
    }

    fn take(&mut self, event: Event) {
        self.at_ms += 250;
        let seq = self.records.len() as u64;
        self.records.push(Record { seq, at_ms: self.at_ms, entry: Entry::Event(event.clone().into()) });
        match self.session.step(self.at_ms, event) {
            Ok(step) => {
                step.actions.iter().filter_map(ActionStarted::of).for_each(|started| self.begins(started));
                self.actions.extend(step.actions.iter().cloned());
                self.steps.push(step);
            }
            Err(rejected) => self.refusals.push(rejected),
        }
    }

    /// As a driver notes it before it begins.
    fn begins(&mut self, started: ActionStarted) {
        let seq = self.records.len() as u64;
        self.records.push(Record { seq, at_ms: self.at_ms, entry: Entry::ActionStarted(started) });
    }

    fn input(&mut self, text: &str) {
        self.take(Event::UserInput { text: text.into() });
    }

    fn answers(&mut self, blocks: Vec<ResponseBlock>, stop: StopReason) {
        let usage = Usage { input_tokens: 900, output_tokens: 80, cache_read_tokens: 4_000, cache_write_tokens: 300 };
        let response = LlmResponse { blocks, stop, usage: Some(usage), model: "large-2026".into() };
        let ticket = self.asked();
        self.take(Event::LlmCompleted { ticket, response });
    }

    fn fails(&mut self, error: LlmError) {
        let ticket = self.asked();
        self.take(Event::LlmFailed { ticket, error, chance_permille: 500 });
    }

    /// The model calls `edit`, which the driver finds to change a file.
    fn asks_for_an_edit(&mut self, id: &str, path: &str) {
        self.answers(vec![call(id, "edit", &format!(r#"{{"path":"{path}"}}"#))], StopReason::ToolUse);
        let subject = Subject::Paths(vec![path.into()]);
        self.prepared_as(|_| (runnable(Effect::Changes, subject.clone()), HookVerdict::None));
    }

    fn prepared_as(&mut self, find: impl Fn(&ToolCall) -> (Finding, HookVerdict)) {
        let Some(Action::PrepareTools { ticket, calls }) = self.outstanding().next() else { panic!("no calls") };
        let facts = calls.iter().map(|call| {
            let (finding, verdict) = find(call);
            CallFacts { verdict, ..CallFacts::new(call.id.clone(), finding) }
        });
        let facts = facts.collect();
        self.take(Event::ToolsPrepared { ticket, facts });
    }

    /// The one open question is answered.
    fn approved(&mut self, answer: ApprovalAnswer) {
        let Some(Action::RequestApproval { ticket, questions }) = self.outstanding().next() else {
            panic!("no question")
        };
        self.take(Event::ApprovalAnswered { ticket, call: questions[0].call.id.clone(), answer, changed: None });
    }

    fn tool(&mut self, call: &str, outcome: ToolOutcome) {
        let ticket = self.asked();
        self.take(Event::ToolCompleted { ticket, call: CallId::new(call), outcome });
    }

    fn outstanding(&self) -> impl Iterator<Item = Action> + use<> {
        self.session.outstanding().into_iter().map(|outstanding| outstanding.action)
    }

    /// The ticket of what the state waits for.
    fn asked(&self) -> Ticket {
        match self.outstanding().next() {
            Some(
                Action::SendLlmRequest { ticket, .. }
                | Action::ExecuteTools { ticket, .. }
                | Action::CheckGitCommits { ticket, .. }
                | Action::RunAutoformatters { ticket, .. }
                | Action::CommitChanges { ticket, .. }
                | Action::ScheduleRetry { ticket, .. },
            ) => ticket,
            other => panic!("{:?} waits for {other:?}", self.session.state()),
        }
    }

    fn deadline(&self) -> Ticket {
        let found = self.outstanding().find_map(|action| match action {
            Action::StartDeadline { ticket, .. } => Some(ticket),
            _ => None,
        });
        found.unwrap()
    }

    #[track_caller]
    fn rests_in(&self, state: State) {
        assert_eq!(self.session.state(), state, "{:?}", self.records.last());
    }
}

fn config() -> SessionConfig {
    let price =
        Price { input_nano_usd: 3_000, output_nano_usd: 15_000, cache_read_nano_usd: 300, cache_write_nano_usd: 3_750 };
    let window = Some(200_000);
    let large = ModelConfig { price: Some(price), context_window_tokens: window, ..ModelConfig::new("large-1") };
    let mut config = SessionConfig::new(large);
    config.summaries = Summaries::of_earlier_versions();
    config.models.push(ModelConfig::new("small-1"));
    config.system = Arc::from("You are a careful engineer.");
    let schema =
        serde_json::json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let tool = |name: &str, description: &str| ToolSpec {
        name: Arc::from(name),
        description: Arc::from(description),
        input_schema: Arc::new(schema.clone()),
    };
    config.tools = Arc::from([tool("read", "Reads a file."), tool("edit", "Changes a file.")]);
    config.limits = Limits {
        max_model_calls: Some(100),
        max_tool_calls: Some(100),
        max_total_tokens: Some(500_000),
        max_cost_nano_usd: Some(5_000_000_000),
        max_wall_time_ms: Some(600_000),
        max_failures_in_row: Some(20),
        max_repetitions: Some(5),
    };
    config.permissions.mode = PermissionMode::Default;
    config.permissions.allow = vec!["bash(git status:*)".parse().unwrap()];
    config.permissions.deny = vec!["edit(secret/**)".parse().unwrap()];
    config
}

fn overloaded() -> LlmError {
    LlmError::new(LlmErrorKind::RateLimited, "too many requests")
}

fn call(id: &str, name: &str, arguments: &str) -> ResponseBlock {
    ResponseBlock::Call(RawCall { id: id.into(), name: name.into(), arguments: arguments.into(), complete: true })
}

fn runnable(effect: Effect, subject: Subject) -> Finding {
    Finding::Runnable(Inspection { effect, subject })
}

fn paths() -> Subject {
    Subject::Paths(vec!["src/parser.rs".into()])
}

/// Noon of the first day of 2026.
const NOON_MS: u64 = 1_767_268_800_000;
