//! Everything that can happen to an agent.

use super::super::{alphabet, events};
use super::{Setup, Together};
use agent_core::agent::{Event, SIGNAL_TOOL};
use agent_core::conversation::ToolCall;
use agent_core::lifecycle::{self, CheckEnd, CheckReport, Commitment, Lifecycle, LifecycleConfig};
use agent_core::llm::{LlmError, LlmErrorKind, Purpose, ResponseBlock, StopReason};
use agent_core::permission::PermissionMode;
use agent_core::session::{self, Action, Ticket};

pub(super) fn of(setup: &Setup, bound: &LifecycleConfig, node: &Together) -> Vec<Event> {
    let mut out = answers(setup, node);
    by_itself(node, &mut out);
    let has_ended = node.agent.lifecycle().is_none_or(Lifecycle::is_over);
    if node.left.binds > 0 && !(node.agent.is_over() && has_ended) {
        out.push(Event::Bound(Box::new(bound.clone())));
        if let Some(lifecycle) = node.agent.lifecycle() {
            out.push(Event::Released);
            out.extend((!lifecycle.config().is_renewed).then_some(Event::Attended));
        }
    }
    if !node.agent.is_over() {
        by_the_host(node, &mut out);
        if node.agent.lifecycle().is_some() {
            of_the_lifecycle(node, &mut out);
        }
    }
    out
}

/// What comes to a lifecycle by itself: nobody has to decide anything.
fn by_itself(node: &Together, out: &mut Vec<Event>) {
    for (ticket, commitment) in node.driver.open_checks() {
        let ends = [
            CheckEnd::Exited { code: 0 },
            CheckEnd::Exited { code: 1 },
            CheckEnd::NotStarted { found: "nothing".to_owned() },
        ];
        out.extend(ends.map(|end| {
            let report = CheckReport { end, output: String::new() };
            Event::from(lifecycle::Event::CheckCompleted { ticket, commitment, report })
        }));
    }
    let cleaned = |ticket| Event::from(lifecycle::Event::CleanupCompleted { ticket });
    out.extend(node.driver.cleanup.map(cleaned));
    out.extend(node.driver.timer.map(|ticket| Event::from(lifecycle::Event::TimedOut { ticket })));
}

fn by_the_host(node: &Together, out: &mut Vec<Event>) {
    use session::Event;
    let (session, left) = (node.agent.session(), node.left);
    let mut events = Vec::new();
    if left.messages > 0 {
        events.push(Event::UserInput { text: "go".to_owned() });
    }
    if left.cancels > 0 {
        events.push(Event::CancelRequested);
    }
    if left.ends > 0 || node.agent.has_ended() {
        events.push(Event::ShutdownRequested);
        if session.runs_hooks_on_leave() {
            events.push(Event::LeaveRequested);
        }
    }
    if left.raises > 0 {
        events.push(Event::BudgetRaised { limits: events::raised(session.config().limits) });
    }
    if left.summaries > 0 && session.is_idle() {
        events.push(Event::CompactionRequested);
    }
    out.extend(events.into_iter().map(super::Event::from));
}

fn of_the_lifecycle(node: &Together, out: &mut Vec<Event>) {
    use lifecycle::Event;
    let left = node.left;
    let mut events = vec![Event::Dismissed];
    if left.cancels > 0 {
        events.push(Event::CancelRequested);
    }
    if left.commitments > 0 {
        events.push(Event::CommitmentAdded { commitment: Commitment::of_command("check more", 1_000) });
    }
    if left.ends > 0 {
        events.push(Event::BudgetExceeded);
    }
    out.extend(events.into_iter().map(super::Event::from));
}

/// Everything that the session's actions may be answered with.
pub(super) fn answers(setup: &Setup, node: &Together) -> Vec<Event> {
    let mut out = Vec::new();
    for outstanding in node.agent.session().outstanding() {
        answer(setup, node, &outstanding.action, &mut out);
    }
    out.into_iter().map(Event::from).collect()
}

fn answer(setup: &Setup, node: &Together, action: &Action, out: &mut Vec<session::Event>) {
    use session::Event;
    match action {
        Action::SendLlmRequest { ticket, request } => model_answers(setup, node, *ticket, request.purpose, out),
        Action::PrepareTools { ticket, calls } => {
            let prepared = |word: &str| {
                let facts = calls.iter().map(|call| alphabet::fact(call, word)).collect();
                Event::ToolsPrepared { ticket: *ticket, facts }
            };
            let asks = node.agent.session().config().permissions.mode == PermissionMode::Default;
            let words: &[&str] = if asks { &["read", "ask"] } else { &["read"] };
            out.extend(words.iter().copied().map(prepared));
        }
        Action::ExecuteTools { ticket, calls } => {
            let completed = |call: &ToolCall, word: &str| Event::ToolCompleted {
                ticket: *ticket,
                call: call.id.clone(),
                outcome: alphabet::outcome(word),
            };
            out.extend(calls.iter().flat_map(|call| ["ok", "failed"].map(|word| completed(call, word))));
        }
        Action::StartDeadline { ticket, .. } => out.push(Event::DeadlineReached { ticket: *ticket }),
        other => events::plain_answers(other, out),
    }
}

fn model_answers(setup: &Setup, node: &Together, ticket: Ticket, purpose: Purpose, out: &mut Vec<session::Event>) {
    use session::Event;
    let words = || ResponseBlock::Text("words".to_owned());
    let mut responses = vec![
        alphabet::response(vec![words()], StopReason::EndTurn),
        alphabet::response(vec![words()], StopReason::Refusal),
    ];
    if node.left.rounds > 0 && purpose == Purpose::Turn {
        let number = node.agent.session().ledger().model_calls;
        let call = |place: u8, (name, arguments)| alphabet::call(&format!("c{number}-{place}"), name, arguments, true);
        let calls = [DONE, WAITING, READ].map(|of| vec![call(1, of)]);
        let beside = [DONE, WAITING].map(|of| vec![call(1, of), call(2, READ)]);
        let beside = beside.into_iter().filter(|_| setup.left.calls > 1);
        let all = calls.into_iter().chain(beside);
        responses.extend(all.map(|calls| alphabet::response([vec![words()], calls].concat(), StopReason::ToolUse)));
    }
    out.extend(responses.into_iter().map(|response| Event::LlmCompleted { ticket, response }));
    for kind in [LlmErrorKind::Authentication, LlmErrorKind::Overloaded] {
        let error = LlmError::new(kind, "no answer");
        out.push(Event::LlmFailed { ticket, error, chance_permille: 0 });
    }
    out.push(Event::LlmAborted { ticket, partial_text: String::new() });
    if node.left.deaths > 0 {
        out.push(Event::LlmInterrupted { ticket });
    }
}

const DONE: (&str, &str) = (SIGNAL_TOOL, r#"{"status":"done","summary":"all"}"#);
const WAITING: (&str, &str) = (SIGNAL_TOOL, r#"{"status":"waiting","summary":"which?"}"#);
const READ: (&str, &str) = ("read", "{}");
