//! Everything that can happen to a session and its agent.

use super::super::notation;
use super::super::{alphabet, events};
use super::Together;
use agent_core::conversation::ToolCall;
use agent_core::lifecycle::{self, CheckEnd, CheckReport, Commitment};
use agent_core::link::SIGNAL_TOOL;
use agent_core::llm::{LlmError, LlmErrorKind, ResponseBlock, StopReason};
use agent_core::permission::PermissionMode;
use agent_core::session::{self, Action, Ticket};
use std::fmt;

/// Something that can happen.
#[derive(Clone, Debug)]
pub(crate) enum Choice {
    /// The outside answers the session.
    Session(session::Event),
    /// The host, a check or a timer reports to the agent.
    Agent(lifecycle::Event),
    /// The next command arrives at the session.
    Down,
    /// The next notice arrives at the agent.
    Up,
    /// The session's driver ends by itself.
    SessionDies,
    /// The agent is told that its session is over.
    TellEnd,
}

/// How often what could go on for ever may still happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    /// Messages of the host.
    pub(crate) messages: u8,
    /// Answers with tool calls.
    pub(crate) rounds: u8,
    /// Added commitments.
    pub(crate) commitments: u8,
    /// Times that the host asks to stop.
    pub(crate) cancels: u8,
    /// Sessions that end by themselves, and budgets that are spent.
    pub(crate) ends: u8,
}

impl Left {
    pub(super) fn spend(&mut self, choice: &Choice) {
        let one = |left: &mut u8| *left = left.saturating_sub(1);
        match choice {
            Choice::Agent(lifecycle::Event::InputReceived { .. }) => one(&mut self.messages),
            Choice::Agent(lifecycle::Event::CommitmentAdded { .. }) => one(&mut self.commitments),
            Choice::Agent(lifecycle::Event::CancelRequested) => one(&mut self.cancels),
            Choice::Agent(lifecycle::Event::BudgetExceeded) | Choice::SessionDies => one(&mut self.ends),
            Choice::Session(session::Event::ShutdownRequested) => one(&mut self.ends),
            Choice::Session(session::Event::LlmCompleted { response, .. }) => {
                if response.blocks.iter().any(|block| matches!(block, ResponseBlock::Call(_))) {
                    one(&mut self.rounds);
                }
            }
            Choice::Session(_) | Choice::Agent(_) | Choice::Down | Choice::Up | Choice::TellEnd => {}
        }
    }
}

pub(super) fn of(node: &Together) -> Vec<Choice> {
    let mut out = Vec::new();
    if node.agent.is_over() {
        return out;
    }
    on_the_way(node, &mut out);
    if !node.is_over {
        for outstanding in node.session.outstanding() {
            out.extend(answers(node, &outstanding.action).into_iter().map(Choice::Session));
        }
        if node.left.ends > 0 {
            out.extend([Choice::SessionDies, Choice::Session(session::Event::ShutdownRequested)]);
        }
    }
    host(node, &mut out);
    out
}

/// What comes by itself: nobody has to decide anything.
pub(super) fn on_the_way(node: &Together, out: &mut Vec<Choice>) {
    if !node.up.is_empty() {
        out.push(Choice::Up);
    }
    if !node.down.is_empty() {
        out.push(Choice::Down);
    }
    if node.is_over && !node.is_told && node.up.is_empty() {
        out.push(Choice::TellEnd);
    }
    if let Some(ticket) = node.cleanup.filter(|_| node.is_told) {
        out.push(Choice::Agent(lifecycle::Event::CleanupCompleted { ticket }));
    }
    for (ticket, commitment) in node.open_checks() {
        let ends = [
            CheckEnd::Exited { code: 0 },
            CheckEnd::Exited { code: 1 },
            CheckEnd::NotStarted { found: "nothing".to_owned() },
        ];
        out.extend(ends.map(|end| {
            let report = CheckReport { end, output: String::new() };
            Choice::Agent(lifecycle::Event::CheckCompleted { ticket, commitment, report })
        }));
    }
}

fn host(node: &Together, out: &mut Vec<Choice>) {
    use lifecycle::Event;
    let mut events = vec![Event::Dismissed];
    events.extend(node.timer.map(|ticket| Event::TimedOut { ticket }));
    if node.left.cancels > 0 {
        events.push(Event::CancelRequested);
    }
    if node.left.messages > 0 {
        events.push(Event::InputReceived { text: "go".to_owned() });
    }
    if node.left.commitments > 0 {
        events.push(Event::CommitmentAdded { commitment: Commitment::of_command("check more", 1_000) });
    }
    if node.left.ends > 0 {
        events.push(Event::BudgetExceeded);
    }
    out.extend(events.into_iter().map(Choice::Agent));
}

fn answers(node: &Together, action: &Action) -> Vec<session::Event> {
    use session::Event;
    match action {
        Action::SendLlmRequest { ticket, .. } => model_answers(node, *ticket),
        Action::PrepareTools { ticket, calls } => {
            let prepared = |word: &str| {
                let facts = calls.iter().map(|call| alphabet::fact(call, word)).collect();
                Event::ToolsPrepared { ticket: *ticket, facts }
            };
            let asks = node.session.config().permissions.mode == PermissionMode::Default;
            let words: &[&str] = if asks { &["read", "ask"] } else { &["read"] };
            words.iter().copied().map(prepared).collect()
        }
        Action::ExecuteTools { ticket, calls } => {
            let completed = |call: &ToolCall, word: &str| Event::ToolCompleted {
                ticket: *ticket,
                call: call.id.clone(),
                outcome: alphabet::outcome(word),
            };
            calls.iter().flat_map(|call| ["ok", "failed"].map(|word| completed(call, word))).collect()
        }
        other => {
            let mut out = Vec::new();
            events::plain_answers(other, &mut out);
            out
        }
    }
}

fn model_answers(node: &Together, ticket: Ticket) -> Vec<session::Event> {
    use session::Event;
    let words = || ResponseBlock::Text("words".to_owned());
    let mut responses = vec![
        alphabet::response(vec![words()], StopReason::EndTurn),
        alphabet::response(vec![words()], StopReason::Refusal),
    ];
    if node.left.rounds > 0 {
        let id = format!("c{}", node.session.ledger().model_calls);
        let calls = [
            (SIGNAL_TOOL, r#"{"status":"done","summary":"all"}"#),
            (SIGNAL_TOOL, r#"{"status":"waiting","summary":"which?"}"#),
            ("read", "{}"),
        ];
        let call = |(name, arguments)| vec![words(), alphabet::call(&id, name, arguments, true)];
        responses.extend(calls.map(|call_of| alphabet::response(call(call_of), StopReason::ToolUse)));
    }
    let mut out: Vec<Event> = responses.into_iter().map(|response| Event::LlmCompleted { ticket, response }).collect();
    for kind in [LlmErrorKind::Authentication, LlmErrorKind::Overloaded] {
        let error = LlmError::new(kind, "no answer");
        out.push(Event::LlmFailed { ticket, error, chance_permille: 0 });
    }
    out.push(Event::LlmAborted { ticket, partial_text: String::new() });
    out
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Session(event) => write!(f, "session {}", notation::line(event)),
            Self::Agent(event) => write!(f, "agent > {}", event.name()),
            Self::Down => f.write_str("session < the agent's next command"),
            Self::Up => f.write_str("agent < the session's next notice"),
            Self::SessionDies => f.write_str("session ends by itself"),
            Self::TellEnd => f.write_str("agent < the session is over"),
        }
    }
}
