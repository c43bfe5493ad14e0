//! A driver without an outside: turns small numbers into events that fit, or nearly fit, what a session waits for.

use agent_core::conversation::{CallId, Item, ToolCall};
use agent_core::hook::{CommitReport, FormatReport, GitReport};
use agent_core::llm::{Delta, LlmError, LlmErrorKind, LlmResponse, RawCall, ResponseBlock, StopReason, Usage};
use agent_core::permission::{ApprovalAnswer, ApprovalScope};
use agent_core::session::{Action, Event, ModelConfig, Rejected, Session, SessionConfig, State, Step, Ticket};
use agent_core::tool::{CallFacts, Effect, Finding, HookVerdict, Inspection, Subject, ToolOutcome};
use std::collections::{BTreeMap, BTreeSet};

/// A session, everything that was done with it, and what must hold.
pub(crate) struct Harness {
    pub(crate) session: Session,
    pub(crate) config: SessionConfig,
    pub(crate) events: Vec<(u64, Event)>,
    now_ms: u64,
    inputs: u64,
    /// Inputs that are known to be in the history, or were handed back.
    settled: BTreeMap<String, &'static str>,
    executed: BTreeSet<CallId>,
    accepted: BTreeSet<String>,
    last_tickets: Vec<Ticket>,
}

/// One choice of the generator: which event, and two numbers to vary it.
pub(crate) type Choice = (u8, u8, u8);

impl Harness {
    pub(crate) fn new(config: SessionConfig) -> Self {
        Self {
            session: Session::new(config.clone()),
            config,
            events: Vec::new(),
            now_ms: 0,
            inputs: 0,
            settled: BTreeMap::new(),
            executed: BTreeSet::new(),
            accepted: BTreeSet::new(),
            last_tickets: Vec::new(),
        }
    }

    /// Takes one event and checks everything that must hold after it.
    pub(crate) fn take(&mut self, event: Event) -> Result<Step, Rejected> {
        self.now_ms += 7;
        let before = self.session.clone();
        let result = self.session.step(self.now_ms, event.clone());
        self.events.push((self.now_ms, event));
        match &result {
            Err(rejected) => {
                assert_eq!(self.session, before, "a refusal changed the session");
                assert_eq!(rejected.state, before.state());
            }
            Ok(step) => {
                assert!(before.state() != State::ShuttingDown, "a step after the end");
                if let Some((_, Event::UserInput { text })) = self.events.last() {
                    self.accepted.insert(text.clone());
                }
                self.check_actions(&before, step);
            }
        }
        self.check_state();
        self.check_inputs();
        result
    }

    /// Turns a choice into an event: mostly one that is waited for.
    pub(crate) fn choose(&mut self, (kind, a, b): Choice) -> Event {
        let outstanding: Vec<Action> = self.session.outstanding().into_iter().map(|o| o.action).collect();
        match kind % 16 {
            0 => self.input(),
            1 => Event::CancelRequested,
            2 => Event::CompactionRequested,
            3 if a.is_multiple_of(8) => Event::ShutdownRequested,
            3 | 4 => {
                let mut limits = self.session.config().limits;
                limits.max_model_calls = limits.max_model_calls.map(|n| n + 2);
                limits.max_tool_calls = limits.max_tool_calls.map(|n| n + 2);
                limits.max_wall_time_ms = limits.max_wall_time_ms.map(|n| n + 100);
                Event::BudgetRaised { limits }
            }
            5 if a.is_multiple_of(4) => {
                let mut config = self.config.clone();
                config.limits = self.session.config().limits;
                Event::Reconfigured { config: Box::new(config) }
            }
            5 => self.stale(a, b),
            _ => match outstanding.get(usize::from(a) % outstanding.len().max(1)) {
                Some(action) => answer(action, a / 2, b),
                None if self.session.state() == State::Ready => Event::Started,
                None => self.input(),
            },
        }
    }

    pub(crate) fn input(&mut self) -> Event {
        self.inputs += 1;
        Event::UserInput { text: format!("input-{}.", self.inputs) }
    }

    /// An answer to something that is not, or no longer, open.
    fn stale(&self, a: u8, b: u8) -> Event {
        let ticket =
            self.last_tickets.get(usize::from(a) % self.last_tickets.len().max(1)).copied().unwrap_or(Ticket(99));
        let call = CallId::new("call_1");
        match b % 8 {
            0 => Event::LlmCompleted { ticket, response: LlmResponse::text("late") },
            1 => Event::ToolCompleted { ticket, call, outcome: ToolOutcome::ok("late") },
            2 => Event::RetryTimeout { ticket },
            3 => Event::DeadlineReached { ticket },
            4 => Event::ToolsPrepared { ticket, facts: vec![] },
            5 => Event::ApprovalAnswered { ticket, call, answer: ApprovalAnswer::Nobody },
            6 => Event::GitChecked { ticket, report: GitReport::default() },
            _ => Event::UserInput { text: "  ".into() },
        }
    }

    fn check_actions(&mut self, before: &Session, step: &Step) {
        let limits = self.session.config().limits;
        for action in &step.actions {
            if let Some(ticket) = ticket(action) {
                assert!(!self.last_tickets.contains(&ticket), "{ticket} is used twice");
                self.last_tickets.push(ticket);
            }
            let starts_something = match action {
                Action::SendLlmRequest { request, .. } => {
                    check_request(&request.conversation);
                    if let Some(max) = limits.max_model_calls {
                        assert!(self.session.ledger().model_calls <= max, "a model call beyond the limit");
                    }
                    true
                }
                Action::PrepareTools { calls, .. } => {
                    assert!(!calls.is_empty());
                    true
                }
                Action::ExecuteTools { calls, .. } => {
                    assert!(!calls.is_empty());
                    self.executed.extend(calls.iter().map(|call| call.id.clone()));
                    if let Some(max) = limits.max_tool_calls {
                        assert!(self.session.ledger().tool_calls <= max, "a tool call beyond the limit");
                    }
                    true
                }
                Action::RequestApproval { questions, .. } => {
                    assert!(!questions.is_empty());
                    true
                }
                Action::CheckGitCommits { .. }
                | Action::RunAutoformatters { .. }
                | Action::CommitChanges { .. }
                | Action::ScheduleRetry { .. }
                | Action::StartDeadline { .. } => true,
                Action::DisplayError { returned_input: texts, .. } | Action::ReturnQueuedInput { texts } => {
                    for text in texts {
                        let twice = self.settled.insert(text.clone(), "handed back");
                        assert_eq!(twice, None, "{text} was {twice:?} already");
                    }
                    false
                }
                _ => false,
            };
            assert!(!(starts_something && before.is_cancel_pending()), "{action:?} under a cancel");
        }
    }

    fn check_state(&self) {
        let state = self.session.state();
        let outstanding = self.session.outstanding();
        let idle = matches!(state, State::Ready | State::WaitingForUserInput | State::ShuttingDown);
        assert_eq!(outstanding.is_empty(), idle, "{state:?} waits for {outstanding:?}");
        assert!(!agent_core::session::table::TABLE.is_passing(state), "the session rests in {state:?}");
        let calls_in_flight = outstanding.iter().filter(|o| matches!(o.action, Action::SendLlmRequest { .. })).count();
        assert!(calls_in_flight <= 1);
        for item in self.session.conversation().iter() {
            if let Item::Round(round) = item.as_ref() {
                for result in round.results() {
                    let not_run = result.content().starts_with("not run");
                    assert!(!(not_run && self.executed.contains(result.call())), "{} ran: {result:?}", result.call());
                }
            }
        }
    }

    /// Every message of the user is in the history once, or pending once, or was handed back once.
    fn check_inputs(&mut self) {
        let mut places: BTreeMap<String, u32> = BTreeMap::new();
        for item in self.session.conversation().iter() {
            if let Item::Input(input) = item.as_ref() {
                for text in input.texts().iter().filter(|text| text.starts_with("input-")) {
                    *places.entry(text.clone()).or_default() += 1;
                    let earlier = self.settled.insert(text.clone(), "in history");
                    assert!(earlier != Some("handed back"), "{text} was handed back and is in the history");
                }
            }
        }
        for text in self.session.pending_input() {
            *places.entry(text.to_string()).or_default() += 1;
            assert_eq!(self.settled.get(text), None, "{text} is pending and elsewhere");
        }
        for (text, count) in &places {
            assert_eq!(*count, 1, "{text} stands {count} times");
        }
        for text in &self.accepted {
            assert!(places.contains_key(text) || self.settled.contains_key(text), "{text} is lost");
        }
    }

    /// Same events, same session, bytes equal.
    pub(crate) fn check_replay(&self) {
        let mut again = Session::new(self.config.clone());
        for (at_ms, event) in &self.events {
            let text = serde_json::to_string(event).unwrap();
            let _ = again.step(*at_ms, serde_json::from_str(&text).unwrap());
        }
        assert_eq!(again, self.session);
        assert_eq!(serde_json::to_vec(&again).unwrap(), serde_json::to_vec(&self.session).unwrap());
        let restored: Session = serde_json::from_slice(&serde_json::to_vec(&again).unwrap()).unwrap();
        assert_eq!(restored, again);
    }

    /// From anywhere, a cancel leads to the prompt and a shutdown to the end, given that the driver answers.
    pub(crate) fn check_ways_out(&mut self) {
        if matches!(self.session.state(), State::Ready | State::ShuttingDown) {
            return;
        }
        let _ = self.take(Event::CancelRequested);
        for _ in 0..40 {
            if self.session.state() == State::WaitingForUserInput {
                break;
            }
            let action = self.session.outstanding().remove(0).action;
            let _ = self.take(stop(&action));
        }
        assert_eq!(self.session.state(), State::WaitingForUserInput);
        let _ = self.take(Event::ShutdownRequested);
        assert_eq!(self.session.state(), State::ShuttingDown);
        assert!(self.take(Event::UserInput { text: "after the end".into() }).is_err());
    }
}

/// What every provider demands of a request.
pub(crate) fn check_request(conversation: &agent_core::conversation::Conversation) {
    let items: Vec<_> = conversation.iter().collect();
    assert!(
        matches!(items.first().map(|item| item.as_ref()), Some(Item::Input(_))),
        "a request begins with {:?}",
        items.first()
    );
    match items.last().map(|item| item.as_ref()) {
        Some(Item::Input(_) | Item::Round(_)) => {}
        Some(Item::Answer(answer)) => assert!(answer.is_paused(), "a request ends with an answer"),
        None => panic!("an empty request"),
    }
    for pair in items.windows(2) {
        if let [first, second] = pair {
            let two_answers = matches!(first.as_ref(), Item::Answer(_)) && !matches!(second.as_ref(), Item::Input(_));
            assert!(!two_answers, "two answers in a row");
        }
    }
}

pub(crate) fn ticket(action: &Action) -> Option<Ticket> {
    match action {
        Action::SendLlmRequest { ticket, .. }
        | Action::PrepareTools { ticket, .. }
        | Action::RequestApproval { ticket, .. }
        | Action::ExecuteTools { ticket, .. }
        | Action::CheckGitCommits { ticket, .. }
        | Action::RunAutoformatters { ticket, .. }
        | Action::CommitChanges { ticket, .. }
        | Action::ScheduleRetry { ticket, .. }
        | Action::StartDeadline { ticket, .. } => Some(*ticket),
        _ => None,
    }
}

/// The answer of a driver that was told to stop.
pub(crate) fn stop(action: &Action) -> Event {
    match action {
        Action::SendLlmRequest { ticket, .. } => Event::LlmAborted { ticket: *ticket, partial_text: String::new() },
        Action::PrepareTools { ticket, calls } => Event::ToolsPrepared { ticket: *ticket, facts: facts(calls, 0) },
        Action::ExecuteTools { ticket, calls } => Event::ToolCompleted {
            ticket: *ticket,
            call: calls[0].id.clone(),
            outcome: ToolOutcome::interrupted("stopped"),
        },
        Action::CheckGitCommits { ticket, .. }
        | Action::RunAutoformatters { ticket, .. }
        | Action::CommitChanges { ticket, .. } => Event::HookFailed { ticket: *ticket, message: "stopped".into() },
        other => panic!("{other:?} cannot be outstanding after a cancel"),
    }
}

/// An answer to what was asked, varied by two numbers.
pub(crate) fn answer(action: &Action, a: u8, b: u8) -> Event {
    match action {
        Action::SendLlmRequest { ticket, .. } => model_answer(*ticket, a, b),
        Action::PrepareTools { ticket, calls } => Event::ToolsPrepared { ticket: *ticket, facts: facts(calls, a) },
        Action::RequestApproval { ticket, questions } => {
            let call = questions[usize::from(a) % questions.len()].call.id.clone();
            let edited = || agent_core::conversation::Arguments::parse("{\"y\":2}").unwrap();
            let answer = match b % 5 {
                0 => ApprovalAnswer::Deny { reason: "no".into() },
                1 => ApprovalAnswer::Nobody,
                2 => {
                    ApprovalAnswer::Allow { scope: ApprovalScope::Session("change".parse().unwrap()), arguments: None }
                }
                3 => ApprovalAnswer::Allow { scope: ApprovalScope::Once, arguments: Some(edited()) },
                _ => ApprovalAnswer::Allow { scope: ApprovalScope::Once, arguments: None },
            };
            Event::ApprovalAnswered { ticket: *ticket, call, answer }
        }
        Action::ExecuteTools { ticket, calls } => {
            let call = calls[usize::from(a) % calls.len()].id.clone();
            let outcome = match b % 5 {
                0 => ToolOutcome::failed("it broke"),
                1 => ToolOutcome::interrupted("gone"),
                2 => ToolOutcome::ok("done").with_changed_paths(vec![format!("file-{a}")]),
                _ => ToolOutcome::ok(""),
            };
            if b % 11 == 10 {
                return Event::ToolProgress { ticket: *ticket, call, text: "…".into() };
            }
            Event::ToolCompleted { ticket: *ticket, call, outcome }
        }
        Action::CheckGitCommits { ticket, .. } => match b % 5 {
            0 => Event::HookFailed { ticket: *ticket, message: "git is gone".into() },
            1 => Event::HooksStoppedTurn { ticket: *ticket, reason: "enough".into() },
            _ => {
                let report = GitReport { formatting_due: b & 1 == 0, commit_due: a & 1 == 0, ..GitReport::default() };
                Event::GitChecked { ticket: *ticket, report }
            }
        },
        Action::RunAutoformatters { ticket, .. } if b.is_multiple_of(5) => {
            Event::HookFailed { ticket: *ticket, message: "no formatter".into() }
        }
        Action::RunAutoformatters { ticket, .. } if b % 5 == 1 => {
            Event::HooksStoppedTurn { ticket: *ticket, reason: "enough".into() }
        }
        Action::RunAutoformatters { ticket, .. } => {
            let report = FormatReport { changed_paths: vec!["a.rs".into()], commit_due: a & 1 == 0, notes: vec![] };
            Event::FormattersFinished { ticket: *ticket, report }
        }
        Action::CommitChanges { ticket, .. } if b.is_multiple_of(4) => {
            Event::HooksStoppedTurn { ticket: *ticket, reason: "enough".into() }
        }
        Action::CommitChanges { ticket, .. } => {
            Event::ChangesCommitted { ticket: *ticket, report: CommitReport::default() }
        }
        Action::ScheduleRetry { ticket, .. } => Event::RetryTimeout { ticket: *ticket },
        Action::StartDeadline { ticket, .. } => Event::DeadlineReached { ticket: *ticket },
        other => panic!("{other:?} expects no answer"),
    }
}

fn facts(calls: &[ToolCall], a: u8) -> Vec<CallFacts> {
    let fact = |(i, call): (usize, &ToolCall)| {
        let choice = (usize::from(a) + i) % 6;
        let (effect, subject) = if call.name.as_ref() == "change" {
            (Effect::Changes, Subject::Paths(vec!["x".into()]))
        } else {
            (Effect::Reads, Subject::None)
        };
        let finding = match choice {
            4 => Finding::UnknownTool { message: "no such tool".into() },
            5 => Finding::InvalidArguments { message: "not like that".into() },
            _ => Finding::Runnable(Inspection { effect, subject }),
        };
        let verdict = if choice == 3 { HookVerdict::Deny { reason: "hook".into() } } else { HookVerdict::None };
        CallFacts { call: call.id.clone(), finding, verdict }
    };
    calls.iter().enumerate().map(fact).collect()
}

fn model_answer(ticket: Ticket, a: u8, b: u8) -> Event {
    let failed = |kind, retry_after_ms| {
        let error = LlmError { retry_after_ms, ..LlmError::new(kind, "model trouble") };
        Event::LlmFailed { ticket, error, chance_permille: u16::from(b) * 4 }
    };
    match a % 20 {
        0 => failed(LlmErrorKind::RateLimited, Some(50)),
        1 => failed(LlmErrorKind::Overloaded, None),
        2 => failed(LlmErrorKind::InvalidRequest, None),
        3 => failed(LlmErrorKind::ContextOverflow, None),
        4 => failed(LlmErrorKind::RateLimited, Some(999_000_000)),
        5 => Event::LlmAborted { ticket, partial_text: if b & 1 == 0 { String::new() } else { "half".into() } },
        6 => Event::LlmDelta { ticket, delta: Delta::Text("he".into()) },
        _ => Event::LlmCompleted { ticket, response: response(a, b) },
    }
}

fn response(a: u8, b: u8) -> LlmResponse {
    let call = |id: &str, name: &str, arguments: &str, complete| {
        ResponseBlock::Call(RawCall { id: id.into(), name: name.into(), arguments: arguments.into(), complete })
    };
    let text = || ResponseBlock::Text("some words about the work that was done".into());
    let blocks = match b % 12 {
        0 => vec![],
        1 => vec![ResponseBlock::Text(" \n".into())],
        2 => vec![text()],
        3 => vec![text(), call("a", "read", "{}", true)],
        4 => vec![call("a", "read", "{}", true), call("a", "change", "{\"x\":1}", true), call("", "read", "", true)],
        5 => vec![call("b", "read", "[1]", true), call("c", "change", "{\"x\":", false)],
        6 => vec![call("d", "change", "{", false)],
        7 => vec![ResponseBlock::Thinking { text: "hm".into(), signature: None }],
        8 => vec![ResponseBlock::Thinking { text: "hm".into(), signature: Some("s".into()) }, text()],
        9 => vec![call("e", "change", "{}", true), call("f", "change", "{}", true), call("g", "read", "{}", true)],
        10 => vec![call("h", "read", "{}", true), call("i", "read", "{}", true)],
        _ => vec![text(), call("j", "change", "not json", true)],
    };
    let stop = match a % 20 {
        7 => StopReason::MaxTokens,
        8 => StopReason::Refusal,
        9 => StopReason::Paused,
        10 => StopReason::Other("new".into()),
        11 => StopReason::ContextWindow,
        12 | 13 => StopReason::ToolUse,
        14 => StopReason::StopSequence,
        _ => StopReason::EndTurn,
    };
    let usage = (b & 1 == 0).then_some(Usage { input_tokens: 100, output_tokens: 10, ..Usage::default() });
    LlmResponse { blocks, stop, usage, model: "m".into() }
}

/// Configurations that bring different rows into play.
pub(crate) fn config(variant: u8) -> SessionConfig {
    use agent_core::budget::{Limits, Price};
    use agent_core::permission::PermissionMode;
    let price =
        Price { input_nano_usd: 3_000, output_nano_usd: 15_000, cache_read_nano_usd: 300, cache_write_nano_usd: 3_750 };
    let mut model = ModelConfig::new("first");
    model.price = Some(price);
    let mut config = SessionConfig::new(model);
    match variant % 6 {
        0 => {
            config.permissions.mode = PermissionMode::Bypass;
            config.limits.max_repetitions = Some(2);
        }
        1 => {
            config.permissions.mode = PermissionMode::Default;
            config.permissions.deny.push("change(secret/**)".parse().unwrap());
        }
        2 => {
            config.permissions.mode = PermissionMode::Bypass;
            config.limits = Limits { max_model_calls: Some(4), max_tool_calls: Some(3), ..Limits::default() };
        }
        3 => {
            config.limits =
                Limits { max_wall_time_ms: Some(90), max_cost_nano_usd: Some(400_000_000), ..Limits::default() };
            config.models.push(ModelConfig::new("second"));
        }
        4 => {
            config.permissions.mode = PermissionMode::Bypass;
            config.models[0].context_window_tokens = Some(120);
        }
        _ => {
            config.permissions.mode = PermissionMode::AcceptEdits;
            config.limits.max_failures_in_row = Some(3);
            config.retry.max_retries = 1;
        }
    }
    config
}
