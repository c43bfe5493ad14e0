//! Small numbers as events that fit, or nearly fit, what a session waits for.

use super::Harness;
use agent_core::budget::{Limits, Price};
use agent_core::conversation::{Arguments, CallId, ToolCall};
use agent_core::hook::{CommitReport, FormatReport, GitReport, HookEnd, HookPoint, HookReport, HookRun};
use agent_core::llm::{Delta, LlmError, LlmErrorKind, LlmResponse, RawCall, ResponseBlock, StopReason, Usage};
use agent_core::permission::{ApprovalAnswer, ApprovalScope, PermissionMode};
use agent_core::session::{Action, Event, ModelConfig, SessionConfig, State, Ticket};
use agent_core::tool::{CallFacts, Effect, Finding, HookVerdict, Inspection, Subject, ToolOutcome};
use std::slice;

/// One choice of the generator: which event, and two numbers to vary it.
pub(crate) type Choice = (u8, u8, u8);

impl Harness {
    /// Turns a choice into an event: mostly one that is waited for.
    pub(crate) fn choose(&mut self, (kind, a, b): Choice) -> Event {
        let outstanding: Vec<Action> = self.session.outstanding().into_iter().map(|o| o.action).collect();
        match kind % 16 {
            0 if a % 4 == 3 => self.follow_up(u64::from(b)),
            0 => self.input(),
            1 => Event::CancelRequested,
            2 => Event::CompactionRequested,
            3 if a.is_multiple_of(8) => Event::ShutdownRequested,
            3 if a % 4 == 1 => Event::LeaveRequested,
            3 | 4 => {
                let mut limits = self.session.config().limits;
                limits.max_model_calls = limits.max_model_calls.map(|n| n + 2);
                limits.max_tool_calls = limits.max_tool_calls.map(|n| n + 2);
                limits.max_total_tokens = limits.max_total_tokens.map(|n| n + 300);
                limits.max_wall_time_ms = limits.max_wall_time_ms.map(|n| n + 100);
                Event::BudgetRaised { limits }
            }
            5 if a.is_multiple_of(4) => {
                let mut config = self.config.clone();
                config.limits = self.session.config().limits;
                // As after a resume with other options: stricter ones count for what is open, too.
                match b % 4 {
                    0 => config.permissions.mode = PermissionMode::Plan,
                    1 => config.permissions.deny.push("change".parse().unwrap()),
                    _ => {}
                }
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

    /// An answer to something that is not, or no longer, open.
    fn stale(&self, a: u8, b: u8) -> Event {
        let tickets = self.seen.tickets();
        let ticket = tickets.get(usize::from(a) % tickets.len().max(1)).copied().unwrap_or(Ticket(99));
        let call = CallId::new("call_1");
        match b % 9 {
            0 => Event::LlmCompleted { ticket, response: LlmResponse::text("late") },
            1 => Event::ToolCompleted { ticket, call, outcome: ToolOutcome::ok("late") },
            2 => Event::RetryTimeout { ticket },
            3 => Event::DeadlineReached { ticket },
            4 => Event::ToolsPrepared { ticket, facts: vec![] },
            5 => Event::ApprovalAnswered { ticket, call, answer: ApprovalAnswer::Nobody, changed: None },
            6 => Event::GitChecked { ticket, report: GitReport::default() },
            7 => Event::HooksFinished { ticket, report: Box::default() },
            _ => Event::UserInput { text: "  ".into() },
        }
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
        | Action::CommitChanges { ticket, .. }
        | Action::RunHooks { ticket, .. } => Event::HookFailed { ticket: *ticket, message: "stopped".into() },
        other => panic!("{other:?} cannot be outstanding after a cancel"),
    }
}

/// An answer to what was asked, varied by two numbers.
pub(crate) fn answer(action: &Action, a: u8, b: u8) -> Event {
    match action {
        Action::SendLlmRequest { ticket, .. } => model_answer(*ticket, a, b),
        Action::PrepareTools { ticket, .. } if b % 32 == 31 => {
            Event::HookFailed { ticket: *ticket, message: "nobody knows".into() }
        }
        Action::PrepareTools { ticket, .. } if b % 32 == 30 => {
            Event::HooksStoppedTurn { ticket: *ticket, reason: "enough".into() }
        }
        Action::PrepareTools { ticket, calls } => Event::ToolsPrepared { ticket: *ticket, facts: facts(calls, a) },
        Action::RequestApproval { ticket, questions } => {
            let question = &questions[usize::from(a) % questions.len()];
            let call = question.call.id.clone();
            let edited = || Arguments::parse("{\"y\":2}").unwrap();
            let answer = match b % 5 {
                0 => ApprovalAnswer::Deny { reason: "no".into() },
                1 => ApprovalAnswer::Nobody,
                2 => {
                    ApprovalAnswer::Allow { scope: ApprovalScope::Session("change".parse().unwrap()), arguments: None }
                }
                3 => ApprovalAnswer::Allow { scope: ApprovalScope::Once, arguments: Some(edited()) },
                _ => ApprovalAnswer::Allow { scope: ApprovalScope::Once, arguments: None },
            };
            let is_edited = matches!(answer, ApprovalAnswer::Allow { arguments: Some(_), .. });
            // A driver that forgets to look is one more to reckon with.
            let looked = is_edited && !(b / 5).is_multiple_of(4);
            let changed = looked.then(|| Box::new(facts(slice::from_ref(&question.call), b / 20).remove(0)));
            Event::ApprovalAnswered { ticket: *ticket, call, answer, changed }
        }
        Action::ExecuteTools { ticket, calls } => {
            let call = calls[usize::from(a) % calls.len()].id.clone();
            let outcome = match b % 5 {
                0 => ToolOutcome::failed("it broke"),
                1 => ToolOutcome::interrupted("gone"),
                3 if a == 7 => ToolOutcome::not_run("the program ended"),
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
        Action::RunHooks { ticket, .. } => hook_answer(*ticket, a, b),
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
        let hooks = matches!(a % 16, 14 | 15).then(|| Box::new(said_before_call(a)));
        CallFacts { verdict, hooks, ..CallFacts::new(call.id.clone(), finding) }
    };
    calls.iter().enumerate().map(fact).collect()
}

/// What the hooks before a call say besides their verdict.
fn said_before_call(a: u8) -> HookReport {
    let mut report = HookReport { context: vec!["mind the gap".into()], ..HookReport::default() };
    if a >= 110 {
        report.stop = Some("not today".into());
    } else if a & 16 == 0 {
        report.arguments = Some(Arguments::parse("{\"z\":3}").unwrap());
    }
    report
}

fn hook_answer(ticket: Ticket, a: u8, b: u8) -> Event {
    let run = || HookRun {
        point: HookPoint::Stop,
        command: "check".into(),
        call: None,
        took_ms: u64::from(a),
        end: HookEnd::Blocked,
        message: "no".into(),
    };
    let said = HookReport { runs: vec![run()], context: vec!["mind the gap".into()], ..HookReport::default() };
    let report = match b % 8 {
        0 => return Event::HookFailed { ticket, message: "the hook is gone".into() },
        1 => return Event::HooksStoppedTurn { ticket, reason: "enough".into() },
        2 => HookReport { stop: Some("enough".into()), ..said },
        3 | 4 => HookReport { block: Some("not like that".into()), ..said },
        5 => said,
        _ => HookReport::default(),
    };
    Event::HooksFinished { ticket, report: Box::new(report) }
}

fn model_answer(ticket: Ticket, a: u8, b: u8) -> Event {
    let failed = |kind, retry_after_ms| {
        let error = LlmError { retry_after_ms, ..LlmError::new(kind, "model trouble") };
        Event::LlmFailed { ticket, error, chance_permille: u16::from(b) * 4 }
    };
    match a % 32 {
        31 => Event::LlmInterrupted { ticket },
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

/// How many configurations there are.
pub(crate) const CONFIGS: u8 = 12;

/// Configurations that bring different rows into play.
pub(crate) fn config(variant: u8) -> SessionConfig {
    let price =
        Price { input_nano_usd: 3_000, output_nano_usd: 15_000, cache_read_nano_usd: 300, cache_write_nano_usd: 3_750 };
    let mut model = ModelConfig::new("first");
    model.price = Some(price);
    let mut config = SessionConfig::new(model);
    match variant % CONFIGS {
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
        5 => {
            config.permissions.mode = PermissionMode::Bypass;
            config.limits.max_total_tokens = Some(500);
            config.models.push(ModelConfig::new("second"));
            config.retry.max_retries = 0;
        }
        6 => {
            config.models[0].price = None;
            config.max_result_bytes = 3_000;
        }
        7 => {
            config.permissions.mode = PermissionMode::Bypass;
            config.hooks = HookPoint::ALL.into();
        }
        8 => {
            config.permissions.mode = PermissionMode::Bypass;
            config.hooks = HookPoint::ALL.into();
            config.models[0].context_window_tokens = Some(120);
            config.limits = Limits { max_model_calls: Some(6), max_wall_time_ms: Some(400), ..Limits::default() };
        }
        9 => {
            config.hooks = [HookPoint::PostToolUse, HookPoint::Stop, HookPoint::PreCompact].into();
            config.limits.max_failures_in_row = Some(3);
        }
        10 => {
            config.permissions.mode = PermissionMode::Bypass;
            config.hooks = [HookPoint::SessionEnd].into();
            config.limits.max_tool_calls = Some(1);
        }
        _ => {
            config.permissions.mode = PermissionMode::AcceptEdits;
            config.limits.max_failures_in_row = Some(3);
            config.retry.max_retries = 1;
        }
    }
    config
}
