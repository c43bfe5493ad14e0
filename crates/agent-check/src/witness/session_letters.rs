//! The events that are tried on a session: what a user may do at any time, and the answers to what is open.

use agent_core::budget::Limits;
use agent_core::conversation::ToolCall;
use agent_core::hook::{CommitReport, FormatReport, GitReport, HookReport};
use agent_core::llm::{Delta, LlmError, LlmErrorKind, LlmResponse, RawCall, ResponseBlock, StopReason};
use agent_core::permission::{ApprovalAnswer, ApprovalScope};
use agent_core::session::{Action, Event, Session, State, Ticket};
use agent_core::tool::{CallFacts, Effect, Finding, Inspection, Subject, ToolOutcome};

type Letter = (&'static str, Event);

/// All letters for a session that has taken so many messages.
pub(crate) fn all(session: &Session, inputs: u32) -> Vec<(String, Event)> {
    let mut letters = by_the_user(session, inputs);
    for outstanding in session.outstanding() {
        letters.extend(answers(&outstanding.action));
    }
    letters.into_iter().map(|(name, event)| (name.to_owned(), event)).collect()
}

fn by_the_user(session: &Session, inputs: u32) -> Vec<Letter> {
    if session.state() == State::Ready {
        return vec![("start", Event::Started), ("shut down", Event::ShutdownRequested)];
    }
    let limits = Limits { max_wall_time_ms: Some(90_000), ..Limits::default() };
    let mut letters = vec![
        ("raise limits", Event::BudgetRaised { limits }),
        ("reconfigure", Event::Reconfigured { config: Box::new(session.config().clone()) }),
        ("compact", Event::CompactionRequested),
        ("cancel", Event::CancelRequested),
        ("leave", Event::LeaveRequested),
        ("shut down", Event::ShutdownRequested),
    ];
    if inputs < MAX_INPUTS {
        letters.insert(0, ("input", Event::UserInput { text: "look at this file and at that one".to_owned() }));
    }
    letters
}

fn answers(action: &Action) -> Vec<Letter> {
    match action {
        Action::SendLlmRequest { ticket, .. } => model_answers(*ticket),
        Action::PrepareTools { ticket, calls } => {
            let mut letters = vec![
                ("prepared", Event::ToolsPrepared { ticket: *ticket, facts: facts(calls, true) }),
                ("prepared, unknown tools", Event::ToolsPrepared { ticket: *ticket, facts: facts(calls, false) }),
            ];
            letters.extend(hook_troubles(*ticket));
            letters
        }
        Action::RequestApproval { ticket, questions } => {
            let Some(question) = questions.first() else { return Vec::new() };
            let answered = |answer| Event::ApprovalAnswered {
                ticket: *ticket,
                call: question.call.id.clone(),
                answer,
                changed: None,
            };
            vec![
                ("allow", answered(ApprovalAnswer::Allow { scope: ApprovalScope::Once, arguments: None })),
                ("deny", answered(ApprovalAnswer::Deny { reason: "no".to_owned() })),
            ]
        }
        Action::ExecuteTools { ticket, calls } => {
            let Some(call) = calls.first().map(|call| call.id.clone()) else { return Vec::new() };
            let (ticket, done) = (*ticket, ToolOutcome::ok("done"));
            vec![
                ("progress", Event::ToolProgress { ticket, call: call.clone(), text: "…".to_owned() }),
                ("tool done", Event::ToolCompleted { ticket, call, outcome: done }),
            ]
        }
        Action::CheckGitCommits { ticket, .. } => {
            let checked = |formatting_due, commit_due| Event::GitChecked {
                ticket: *ticket,
                report: GitReport { formatting_due, commit_due, ..GitReport::default() },
            };
            let mut letters = vec![
                ("git: nothing due", checked(false, false)),
                ("git: formatting due", checked(true, false)),
                ("git: commit due", checked(false, true)),
            ];
            letters.extend(hook_troubles(*ticket));
            letters
        }
        Action::RunAutoformatters { ticket, .. } => {
            let formatted = |commit_due| Event::FormattersFinished {
                ticket: *ticket,
                report: FormatReport { commit_due, ..FormatReport::default() },
            };
            let mut letters = vec![("formatted", formatted(false)), ("formatted, commit due", formatted(true))];
            letters.extend(hook_troubles(*ticket));
            letters
        }
        Action::CommitChanges { ticket, .. } => {
            let committed = Event::ChangesCommitted { ticket: *ticket, report: CommitReport::default() };
            let mut letters = vec![("committed", committed)];
            letters.extend(hook_troubles(*ticket));
            letters
        }
        Action::RunHooks { ticket, .. } => hooks_said(*ticket),
        Action::ScheduleRetry { ticket, .. } => vec![("wait over", Event::RetryTimeout { ticket: *ticket })],
        Action::StartDeadline { ticket, .. } => vec![("deadline", Event::DeadlineReached { ticket: *ticket })],
        _ => Vec::new(),
    }
}

fn model_answers(ticket: Ticket) -> Vec<Letter> {
    let completed = |blocks, stop| Event::LlmCompleted {
        ticket,
        response: LlmResponse { blocks, stop, usage: None, model: String::new() },
    };
    let failed = |kind| Event::LlmFailed { ticket, error: LlmError::new(kind, "trouble"), chance_permille: 0 };
    // Long enough for a summary to help.
    let words = || vec![ResponseBlock::Text("it says what it says, ".repeat(12))];
    let call = |name: &str| {
        let (id, arguments) = (String::new(), "{}".to_owned());
        ResponseBlock::Call(RawCall { id, name: name.to_owned(), arguments, complete: true })
    };
    vec![
        ("piece", Event::LlmDelta { ticket, delta: Delta::Text("it".to_owned()) }),
        ("answer", completed(words(), StopReason::EndTurn)),
        ("summary", completed(vec![ResponseBlock::Text("in short".to_owned())], StopReason::EndTurn)),
        ("answer: read", completed(vec![call("read")], StopReason::ToolUse)),
        ("answer: change", completed(vec![call("change")], StopReason::ToolUse)),
        ("answer: change, change", completed(vec![call("change"), call("change")], StopReason::ToolUse)),
        ("answer: read, read", completed(vec![call("read"), call("read")], StopReason::ToolUse)),
        ("answer, paused", completed(words(), StopReason::Paused)),
        ("empty answer", completed(Vec::new(), StopReason::EndTurn)),
        ("refusal", completed(words(), StopReason::Refusal)),
        ("rate limit", failed(LlmErrorKind::RateLimited)),
        ("overloaded", failed(LlmErrorKind::Overloaded)),
        ("bad request", failed(LlmErrorKind::InvalidRequest)),
        ("too long", failed(LlmErrorKind::ContextOverflow)),
        ("interrupted", Event::LlmInterrupted { ticket }),
        ("aborted", Event::LlmAborted { ticket, partial_text: String::new() }),
    ]
}

fn hooks_said(ticket: Ticket) -> Vec<Letter> {
    let finished = |block: Option<&str>| {
        let report = HookReport { block: block.map(str::to_owned), ..HookReport::default() };
        Event::HooksFinished { ticket, report: Box::new(report) }
    };
    let mut letters = vec![("hooks: nothing", finished(None)), ("hooks: no", finished(Some("not like that")))];
    letters.extend(hook_troubles(ticket));
    letters
}

fn hook_troubles(ticket: Ticket) -> [Letter; 2] {
    [
        ("hook failed", Event::HookFailed { ticket, message: "it broke".to_owned() }),
        ("hook stops the turn", Event::HooksStoppedTurn { ticket, reason: "enough".to_owned() }),
    ]
}

fn facts(calls: &[ToolCall], known: bool) -> Vec<CallFacts> {
    let fact = |call: &ToolCall| {
        let inspection = if call.name.as_ref() == "change" {
            Inspection { effect: Effect::Changes, subject: Subject::Paths(vec!["a.rs".to_owned()]) }
        } else {
            Inspection { effect: Effect::Reads, subject: Subject::None }
        };
        let unknown = || Finding::UnknownTool { message: "there is no such tool".to_owned() };
        let finding = if known { Finding::Runnable(inspection) } else { unknown() };
        CallFacts::new(call.id.clone(), finding)
    };
    calls.iter().map(fact).collect()
}

/// More messages than these tell nothing new: one to be answered, one that waits, one after a conversation.
const MAX_INPUTS: u32 = 3;
