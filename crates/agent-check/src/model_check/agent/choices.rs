//! Everything that can happen to an agent.

use super::super::events::{self, Line};
use super::{Setup, Together};
use agent_core::agent::Event;
use agent_core::lifecycle::{self, CheckEnd, CheckReport, Commitment, FilesChecked, Lifecycle, LifecycleConfig};
use agent_core::llm::Purpose;
use agent_core::permission::PermissionMode;
use agent_core::session::{self, Action};

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
        by_the_host(setup, node, &mut out);
        if node.agent.lifecycle().is_some() {
            of_the_lifecycle(node, &mut out);
        }
    }
    out
}

/// Events that reach a lifecycle by themselves, without a decision.
fn by_itself(node: &Together, out: &mut Vec<Event>) {
    for (ticket, commitment) in node.driver.open_checks() {
        let ends = [
            CheckEnd::Exited { code: 0 },
            CheckEnd::Exited { code: 1 },
            CheckEnd::NotStarted { found: "nothing".to_owned() },
        ];
        let reports = ends.map(|end| CheckReport::new(end, String::new()));
        let changed = FilesChecked { before: "one".to_owned(), after: "other".to_owned(), changed: Vec::new() };
        let stale = CheckReport { files: Some(changed), ..reports[0].clone() };
        let completed = |report| Event::from(lifecycle::Event::CheckCompleted { ticket, commitment, report });
        out.extend(reports.into_iter().chain([stale]).map(completed));
    }
    let cleaned = |ticket| Event::from(lifecycle::Event::CleanupCompleted { ticket });
    out.extend(node.driver.cleanup.map(cleaned));
    out.extend(node.driver.timer.map(|ticket| Event::from(lifecycle::Event::TimedOut { ticket })));
}

fn by_the_host(setup: &Setup, node: &Together, out: &mut Vec<Event>) {
    use session::Event;
    let (session, left) = (node.agent.session(), node.left);
    let mut events = Vec::new();
    events.extend(events::messages(setup.messages, left.messages, "go", session));
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
    // What an agent that was given up had started ends with its program.
    if left.deaths > 0 && node.driver.cleanup.is_none() {
        events.extend(events::resumptions(session));
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
    let session = node.agent.session();
    let mut out = Vec::new();
    for outstanding in session.outstanding() {
        let action = &outstanding.action;
        out.extend(lines(setup, node, action).iter().map(|line| events::answered(line, action, session).into()));
    }
    out
}

fn lines(setup: &Setup, node: &Together, action: &Action) -> Vec<Line> {
    match action {
        Action::SendLlmRequest { request, .. } => model_answers(setup, node, request.purpose),
        Action::PrepareTools { calls, .. } => {
            let asks = node.agent.session().config().permissions.mode == PermissionMode::Default;
            let words: &[&str] = if asks { &["read", "ask"] } else { &["read"] };
            let prepared = |word: &&str| {
                let each: String = (1..=calls.len()).map(|number| format!(" {number}={word}")).collect();
                format!("prepared{each}").into()
            };
            words.iter().map(prepared).collect()
        }
        Action::ExecuteTools { calls, .. } => {
            let ends = |number| ["ok out", "failed \"it broke\""].map(|end| format!("tool {number} {end}").into());
            (1..=calls.len()).flat_map(ends).collect()
        }
        other => events::plain_answers(other),
    }
}

fn model_answers(setup: &Setup, node: &Together, purpose: Purpose) -> Vec<Line> {
    let mut out = vec!["answer words", "answer words stop=refusal"];
    if node.left.rounds > 0 && purpose == Purpose::Turn {
        out.extend(ONE_CALL);
        out.extend(TWO_CALLS.iter().filter(|_| setup.left.calls > 1));
    }
    out.extend(["fail authentication \"no answer\"", "fail overloaded \"no answer\"", "aborted"]);
    out.into_iter().map(Line::from).collect()
}

const ONE_CALL: &[&str] = &[
    "answer words calls signal{\"status\":\"done\",\"summary\":\"all\"}",
    "answer words calls signal{\"status\":\"waiting\",\"summary\":\"which?\"}",
    "answer words calls read{}",
];
const TWO_CALLS: &[&str] = &[
    "answer words calls signal{\"status\":\"done\",\"summary\":\"all\"} read{}",
    "answer words calls signal{\"status\":\"waiting\",\"summary\":\"which?\"} read{}",
];
