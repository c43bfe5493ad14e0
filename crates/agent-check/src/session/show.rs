//! What a session does, in few words.

use agent_core::conversation::{Answer, Block, Item, ToolCall};
use agent_core::hook::{Changes, HookOccasion};
use agent_core::llm::{Delta, LlmRequest, Purpose};
use agent_core::session::{Action, Reason, Rejected, Session, State, Step};

/// The state after a step, what is unsent there, and the actions.
pub fn step(session: &Session, step: &Step) -> String {
    let mut lines = vec![state(session)];
    for done in &step.actions {
        lines.push(format!("- {}", action(done, session)));
    }
    lines.join("\n")
}

/// What is said of a timer that nothing waits for any more.
pub fn late(session: &Session) -> String {
    format!("late in {:?}: nothing happens", session.state())
}

/// A refusal with its reason.
pub fn refusal(rejected: &Rejected) -> String {
    match (rejected.reason, rejected.trigger) {
        (Reason::NoRow, Some(trigger)) => format!("refused in {:?}: no row for {trigger:?}", rejected.state),
        (reason, _) => format!("refused in {:?}: {reason}", rejected.state),
    }
}

/// The history, a line an item.
pub fn history(session: &Session) -> String {
    let items: Vec<String> = session.conversation().iter().map(|entry| item(entry)).collect();
    if items.is_empty() { "(empty)".into() } else { items.join("\n") }
}

/// What was spent.
pub fn ledger(session: &Session) -> String {
    let ledger = session.ledger();
    format!(
        "{} model calls, {} tool calls, {} tokens, {} nano-dollars",
        ledger.model_calls,
        ledger.tool_calls,
        ledger.usage.total_tokens(),
        ledger.cost_nano_usd
    )
}

/// What was asked and is not answered, a line each.
pub fn outstanding(session: &Session) -> String {
    let lines = session.outstanding().into_iter().map(|entry| {
        let cancelled = if entry.is_cancelled { " (cancelled)" } else { "" };
        format!("- {}{cancelled}", action(&entry.action, session))
    });
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() { "nothing".into() } else { lines.join("\n") }
}

fn state(session: &Session) -> String {
    let mut out = format!("{:?}", session.state());
    if session.is_cancel_pending() && session.state() != State::ShuttingDown {
        out.push_str(", cancel pending");
    }
    let unsent: Vec<&str> = session.pending_input().collect();
    let is_idle = session.state() == State::WaitingForUserInput;
    if !unsent.is_empty() && is_idle {
        out.push_str(&format!(", unsent: {}", quoted(&unsent)));
    }
    out
}

fn action(action: &Action, session: &Session) -> String {
    match action {
        Action::SendLlmRequest { ticket, request } => format!("send {ticket} to {}", sent(request)),
        Action::CancelLlmRequest { ticket } => format!("cancel the model call {ticket}"),
        Action::PrepareTools { ticket, calls } => format!("prepare {ticket}: {}", listed(calls)),
        Action::RequestApproval { ticket, questions } => {
            let asked = questions.iter().map(|question| format!("{} ({})", call(&question.call), question.reason));
            format!("ask {ticket}: {}", asked.collect::<Vec<_>>().join(", "))
        }
        Action::WithdrawApproval { ticket } => format!("withdraw the question {ticket}"),
        Action::ExecuteTools { ticket, calls } => format!("run {ticket}: {}", listed(calls)),
        Action::CancelTools { ticket } => format!("cancel the tools {ticket}"),
        Action::CheckGitCommits { ticket, changes } => format!("check git {ticket}: {}", changed(changes)),
        Action::RunAutoformatters { ticket, changes } => format!("format {ticket}: {}", changed(changes)),
        Action::CommitChanges { ticket, changes } => format!("commit {ticket}: {}", changed(changes)),
        Action::RunHooks { ticket, occasion } => format!("hooks {ticket} on {}", hook_occasion(occasion)),
        Action::CancelHooks { ticket } => format!("cancel the hook {ticket}"),
        Action::ScheduleRetry { ticket, delay_ms, failed_attempts, reason } => {
            format!("retry {ticket} in {delay_ms} ms (attempt {failed_attempts} failed: {reason})")
        }
        Action::CancelRetry { ticket } => format!("cancel the retry {ticket}"),
        Action::StartDeadline { ticket, delay_ms } => format!("deadline {ticket} in {delay_ms} ms"),
        Action::HoldDeadline { ticket } => format!("hold the deadline {ticket}"),
        Action::DisplayText { delta: Delta::Text(text) } => format!("show the piece \"{text}\""),
        Action::DisplayProgress { call, text } => format!("show the progress of {call} \"{text}\""),
        Action::DisplayMessage { blocks, .. } => {
            format!("show {}", blocks.iter().map(block).collect::<Vec<_>>().join(" "))
        }
        Action::DisplayError { message, returned_input } if returned_input.is_empty() => format!("error: {message}"),
        Action::DisplayError { message, returned_input } => {
            format!("error: {message}; hands back {}", quoted(returned_input))
        }
        Action::DisplaySummary { summarised } => {
            format!("summarised by {}, number {} of the turn", summarised.model, summarised.in_turn)
        }
        Action::DiscardPartial => "discard what was shown in pieces".into(),
        Action::PromptForInput => match session.outcome() {
            Some(outcome) => format!("prompt (the run: {})", show_outcome(&outcome)),
            None => "prompt".into(),
        },
        Action::ReturnQueuedInput { texts } => format!("hand back {}", quoted(texts)),
        Action::Shutdown => "shut down".into(),
        other => format!("{other:?}"),
    }
}

fn hook_occasion(occasion: &HookOccasion) -> String {
    let point = occasion.point();
    match occasion {
        HookOccasion::PostToolUse { calls } => {
            let ended = calls
                .iter()
                .map(|ended| format!("{} {:?} {}", call(&ended.call), ended.status, quoted(&[ended.content.as_str()])));
            format!("{point}: {}", ended.collect::<Vec<_>>().join(", "))
        }
        HookOccasion::UserPromptSubmit { prompt } => format!("{point}: {}", quoted(&[prompt])),
        HookOccasion::Stop { text, is_held } => {
            format!("{point}: {}{}", quoted(&[text]), if *is_held { ", held before" } else { "" })
        }
        HookOccasion::SessionStart { is_resumed: true } => format!("{point}: resumed"),
        HookOccasion::PreCompact { is_requested: true, .. } => format!("{point}: requested"),
        _ => point.to_string(),
    }
}

fn show_outcome(outcome: &agent_core::session::Outcome) -> String {
    let mut out = outcome.kind.subtype().to_string();
    if outcome.kind.exit_code() != 0 {
        out.push_str(&format!(", exit {}", outcome.kind.exit_code()));
    }
    out
}

/// The request from the model's last words on.
fn sent(request: &LlmRequest) -> String {
    let items: Vec<_> = request.conversation.iter().collect();
    let purpose = match request.purpose {
        Purpose::Turn => "",
        Purpose::Compaction => " for a summary",
    };
    let last = items.iter().rposition(|item| !matches!(item.as_ref(), Item::Input(_) | Item::Summary(_))).unwrap_or(0);
    let earlier = if last == 0 { String::new() } else { format!("({last} earlier) ") };
    let shown: Vec<String> = items[last..].iter().map(|entry| item(entry)).collect();
    let system = if request.system.is_empty() { String::new() } else { format!(" as {}", quoted(&[&request.system])) };
    let tools: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_ref()).collect();
    let tools = if tools.is_empty() { String::new() } else { format!(" with {}", tools.join(", ")) };
    format!("{}{purpose}{system}{tools}: {earlier}{}", request.model, shown.join("; "))
}

fn item(item: &Item) -> String {
    match item {
        Item::Input(input) => format!("user {}", quoted(&input.texts())),
        Item::Summary(summary) => format!("summary {}", quoted(&summary.texts().collect::<Vec<_>>())),
        Item::Answer(answer) if answer.is_paused() => format!("model {} (paused)", said(answer)),
        Item::Answer(answer) => format!("model {}", said(answer)),
        Item::Round(round) => {
            let results = round.results().iter().map(|result| {
                let error = if result.is_error() { "error " } else { "" };
                format!("{}: {error}{}", result.call(), quoted(&[result.content()]))
            });
            format!("model {}; results {}", said(round.answer()), results.collect::<Vec<_>>().join(", "))
        }
    }
}

fn said(answer: &Answer) -> String {
    answer.blocks().iter().map(block).collect::<Vec<_>>().join(" ")
}

fn block(block: &Block) -> String {
    match block {
        Block::Text(text) => quoted(&[text]),
        Block::Call(made) => call(made),
        Block::Thinking { .. } => "(thinking)".into(),
        other => format!("{other:?}"),
    }
}

fn call(call: &ToolCall) -> String {
    format!("{}#{}{}", call.name, call.id, call.arguments.as_str())
}

fn listed(calls: &[ToolCall]) -> String {
    calls.iter().map(call).collect::<Vec<_>>().join(", ")
}

fn changed(changes: &Changes) -> String {
    let tools: Vec<String> =
        changes.tools.iter().map(|tool| format!("{}#{} {:?}", tool.name, tool.call, tool.status)).collect();
    format!("ran {}; paths [{}]", tools.join(", "), changes.paths.join(", "))
}

/// Texts in quotes; long ones are cut, line ends shown.
fn quoted<T: AsRef<str>>(texts: &[T]) -> String {
    let quote = |text: &T| {
        let text = text.as_ref().replace('\n', "⏎");
        match text.char_indices().nth(160) {
            Some((end, _)) => format!("\"{}…\" ({} bytes)", &text[..end], text.len()),
            None => format!("\"{text}\""),
        }
    };
    texts.iter().map(quote).collect::<Vec<_>>().join(" ")
}
