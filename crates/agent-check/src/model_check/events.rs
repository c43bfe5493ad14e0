//! Everything that the environment can do in a state: what the session waits for, what the user may do, what comes too late.

use super::alphabet::{self, Allowed};
use super::session::Node;
use super::world::World;
use agent_core::budget::Limits;
use agent_core::conversation::{Arguments, CallId, Item, ToolResult};
use agent_core::hook::{CommitReport, FormatReport, GitReport, HookReport};
use agent_core::llm::{Delta, LlmError, LlmErrorKind, LlmResponse, Purpose, ResponseBlock};
use agent_core::permission::{ApprovalAnswer, ApprovalQuestion, ApprovalScope};
use agent_core::session::{Action, Event, Session, State, Ticket};
use agent_core::tool::{Subject, ToolOutcome};

/// Events that a session has to take, or may refuse for a reason of its own.
pub(crate) fn choices(world: &World, node: &Node) -> Vec<Event> {
    let session = &node.session;
    let mut out = Vec::new();
    match session.state() {
        State::ShuttingDown => return out,
        State::Ready => return vec![Event::Started, Event::ShutdownRequested],
        _ => {}
    }
    for outstanding in session.outstanding() {
        answers(world, node, &outstanding.action, &mut out);
    }
    if node.left.inputs > 0 {
        out.push(node.next_input());
    }
    out.extend([Event::CancelRequested, Event::ShutdownRequested]);
    if node.left.raises > 0 {
        out.push(Event::BudgetRaised { limits: raised(session.config().limits) });
    }
    if node.left.changes > 0 {
        let given = |config| Event::Reconfigured { config: Box::new(config) };
        // That all can be read is known since the beginning.
        out.extend(world.other_configs().flatten().map(given));
    }
    if session.runs_hooks_on_leave() {
        out.push(Event::LeaveRequested);
    }
    if node.left.summaries > 0 && session.state() == State::WaitingForUserInput {
        out.push(Event::CompactionRequested);
    }
    out
}

/// All limits that there are, further away.
pub(crate) fn raised(limits: Limits) -> Limits {
    let more = |limit: Option<u64>| limit.map(|limit| limit + 2);
    let double = |limit: Option<u64>| limit.map(|limit| limit * 2);
    Limits {
        max_model_calls: more(limits.max_model_calls),
        max_tool_calls: more(limits.max_tool_calls),
        max_total_tokens: double(limits.max_total_tokens),
        max_cost_nano_usd: double(limits.max_cost_nano_usd),
        max_failures_in_row: limits.max_failures_in_row.map(|limit| limit + 1),
        ..limits
    }
}

/// Everything that an action may be answered with.
fn answers(world: &World, node: &Node, action: &Action, out: &mut Vec<Event>) {
    match action {
        Action::SendLlmRequest { ticket, request } => {
            let ticket = *ticket;
            let responses = match request.purpose {
                Purpose::Turn => alphabet::answers(&allowed(world, node)),
                Purpose::Compaction => alphabet::summaries(world),
            };
            out.extend(responses.into_iter().map(|response| Event::LlmCompleted { ticket, response }));
            let failed = |error| Event::LlmFailed { ticket, error, chance_permille: 0 };
            out.extend(alphabet::failures(world).into_iter().map(failed));
            let aborted = |text: &str| Event::LlmAborted { ticket, partial_text: text.to_owned() };
            out.extend([aborted(""), aborted("half a sentence")]);
            if node.left.deaths > 0 {
                out.push(Event::LlmInterrupted { ticket });
            }
        }
        Action::PrepareTools { ticket, calls } => {
            let prepared = |facts| Event::ToolsPrepared { ticket: *ticket, facts };
            out.extend(alphabet::facts(world, calls).into_iter().map(prepared));
            out.extend(hook_failures(*ticket));
        }
        Action::ExecuteTools { ticket, calls } => {
            let completed = |call: &CallId, word: &str| Event::ToolCompleted {
                ticket: *ticket,
                call: call.clone(),
                outcome: alphabet::outcome(word),
            };
            out.extend(calls.iter().flat_map(|call| world.outcomes.iter().map(move |word| completed(&call.id, word))));
        }
        Action::StartDeadline { ticket, .. } => out.push(Event::DeadlineReached { ticket: *ticket }),
        other => plain_answers(other, out),
    }
}

/// What an action may be answered with in every world.
pub(super) fn plain_answers(action: &Action, out: &mut Vec<Event>) {
    match action {
        Action::RequestApproval { ticket, questions } => {
            questions.iter().for_each(|question| out.extend(approvals(*ticket, question)));
        }
        Action::CheckGitCommits { ticket, .. } => {
            let reports = [(false, false), (true, false), (false, true)];
            out.extend(reports.map(|(formatting_due, commit_due)| Event::GitChecked {
                ticket: *ticket,
                report: GitReport { formatting_due, commit_due, ..GitReport::default() },
            }));
            out.extend(hook_failures(*ticket));
        }
        Action::RunAutoformatters { ticket, .. } => {
            out.extend([(true, false), (false, false), (true, true)].map(|(has_changed, commit_due)| {
                let changed_paths = has_changed.then(|| "b.rs".to_owned()).into_iter().collect();
                let report = FormatReport { changed_paths, commit_due, notes: Vec::new() };
                Event::FormattersFinished { ticket: *ticket, report }
            }));
            out.extend(hook_failures(*ticket));
        }
        Action::CommitChanges { ticket, .. } => {
            out.push(Event::ChangesCommitted { ticket: *ticket, report: CommitReport::default() });
            out.extend(hook_failures(*ticket));
        }
        Action::RunHooks { ticket, .. } => {
            out.extend(hook_reports().map(|report| Event::HooksFinished { ticket: *ticket, report: Box::new(report) }));
            out.extend(hook_failures(*ticket));
        }
        Action::ScheduleRetry { ticket, .. } => out.push(Event::RetryTimeout { ticket: *ticket }),
        // The rest expects no answer.
        _ => {}
    }
}

/// What the user's hooks may say: nothing, something, that they object, that the turn is to end.
fn hook_reports() -> [HookReport; 4] {
    let said = |what: &str| Some(what.to_owned());
    let plain = HookReport::default;
    [
        plain(),
        HookReport { context: vec!["mind the gap".to_owned()], ..plain() },
        HookReport { block: said("not like that"), ..plain() },
        HookReport { stop: said("enough"), ..plain() },
    ]
}

fn allowed<'a>(world: &'a World, node: &Node) -> Allowed<'a> {
    Allowed {
        world,
        calls: if node.left.rounds > 0 { world.bounds.calls } else { 0 },
        may_pause: node.left.pauses > 0,
        fresh: node.session.ledger().model_calls,
        used: used_id(&node.session).map(ToString::to_string),
    }
}

/// An id that a call of the history has.
pub(crate) fn used_id(session: &Session) -> Option<&CallId> {
    session.conversation().iter().find_map(|item| match item.as_ref() {
        Item::Round(round) => round.results().first().map(ToolResult::call),
        Item::Input(_) | Item::Answer(_) => None,
    })
}

/// The newest ticket whose answer would come too late.
pub(crate) fn late_ticket(node: &Node) -> Option<Ticket> {
    (1..=node.observed.last_ticket).rev().map(Ticket).find(|ticket| node.observed.is_closed(*ticket))
}

/// Whether the event is a timer that nothing waits for any more.
pub(crate) fn is_late(node: &Node, event: &Event) -> bool {
    match event {
        Event::RetryTimeout { ticket } | Event::DeadlineReached { ticket } => node.observed.is_closed(*ticket),
        _ => false,
    }
}

fn approvals(ticket: Ticket, question: &ApprovalQuestion) -> Vec<Event> {
    let scope = ApprovalScope::Once;
    let mut answers = vec![
        ApprovalAnswer::Allow { scope: scope.clone(), arguments: None },
        ApprovalAnswer::Allow { scope, arguments: Some(Arguments::empty()) },
        ApprovalAnswer::Deny { reason: "no".to_owned() },
        ApprovalAnswer::Nobody,
    ];
    if let Ok(rule) = question.call.name.parse() {
        answers.push(ApprovalAnswer::Allow { scope: ApprovalScope::Session(rule), arguments: None });
    }
    let answered = |answer| {
        let is_changed = matches!(answer, ApprovalAnswer::Allow { arguments: Some(_), .. });
        // With other arguments it still does what was asked about.
        let word = if question.subject == Subject::None { "ask" } else { "change" };
        let changed = is_changed.then(|| Box::new(alphabet::fact(&question.call, word)));
        Event::ApprovalAnswered { ticket, call: question.call.id.clone(), answer, changed }
    };
    answers.into_iter().map(answered).collect()
}

fn hook_failures(ticket: Ticket) -> [Event; 2] {
    [
        Event::HookFailed { ticket, message: "git is gone".to_owned() },
        Event::HooksStoppedTurn { ticket, reason: "enough".to_owned() },
    ]
}

/// Events that change nothing in this state: all but the pieces of text and timers that come late have to be refused.
pub(crate) fn without_effect(node: &Node) -> Vec<Event> {
    let session = &node.session;
    let mut out = vec![Event::UserInput { text: " \n".to_owned() }];
    if session.state() == State::ShuttingDown {
        out.extend([
            node.next_input(),
            Event::CancelRequested,
            Event::ShutdownRequested,
            Event::BudgetRaised { limits: session.config().limits },
            Event::Reconfigured { config: Box::new(session.config().clone()) },
        ]);
    }
    if session.state() == State::Ready {
        out.extend([node.next_input(), Event::CancelRequested]);
    } else {
        out.push(Event::Started);
    }
    if session.state() != State::WaitingForUserInput {
        out.push(Event::CompactionRequested);
    }
    let (asked, mut stale) = (node.observed.open.as_ref(), vec![Ticket(node.observed.last_ticket + 1)]);
    stale.extend(late_ticket(node));
    if session.state() == State::ShuttingDown {
        stale.extend((1..node.observed.last_ticket).map(Ticket));
    }
    out.extend(stale.into_iter().flat_map(any_answer));
    if let Some(asked) = asked {
        let wrong = any_answer(asked.ticket).into_iter().filter(|event| !asked.is_answered_by(event));
        out.extend(wrong);
        out.extend(pieces(asked.ticket, asked.calls.first()));
    }
    out
}

/// One of each kind of answer.
fn any_answer(ticket: Ticket) -> Vec<Event> {
    let call = || CallId::new("nobody's");
    let error = LlmError::new(LlmErrorKind::Server, "late");
    let mut out = vec![
        Event::LlmCompleted { ticket, response: late() },
        Event::LlmFailed { ticket, error, chance_permille: 0 },
        Event::LlmAborted { ticket, partial_text: String::new() },
        Event::LlmInterrupted { ticket },
        Event::RetryTimeout { ticket },
        Event::DeadlineReached { ticket },
        Event::ToolsPrepared { ticket, facts: Vec::new() },
        Event::ApprovalAnswered { ticket, call: call(), answer: ApprovalAnswer::Nobody, changed: None },
        Event::ToolCompleted { ticket, call: call(), outcome: ToolOutcome::ok("late") },
        Event::GitChecked { ticket, report: GitReport::default() },
        Event::FormattersFinished { ticket, report: FormatReport::default() },
        Event::ChangesCommitted { ticket, report: CommitReport::default() },
        Event::HooksFinished { ticket, report: Box::default() },
    ];
    out.extend(hook_failures(ticket));
    out
}

fn late() -> LlmResponse {
    let blocks = vec![ResponseBlock::Text("late".to_owned())];
    alphabet::response(blocks, agent_core::llm::StopReason::EndTurn)
}

/// Pieces of what is on its way. They are shown and kept nowhere.
fn pieces(ticket: Ticket, call: Option<&CallId>) -> Vec<Event> {
    let mut out = vec![Event::LlmDelta { ticket, delta: Delta::Text("piece".to_owned()) }];
    out.extend(call.map(|call| Event::ToolProgress { ticket, call: call.clone(), text: "piece".to_owned() }));
    out
}
