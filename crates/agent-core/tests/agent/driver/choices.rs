//! Small numbers as events that fit, or nearly fit, what an agent waits for.

use super::Driver;
use agent_core::agent::Event;
use agent_core::hook::{HookPoint, HookReport};
use agent_core::lifecycle::{self, CheckEnd, CheckReport, Commitment, CommitmentId, LifecycleConfig, Signal, TurnEnd};
use agent_core::llm::{LlmError, LlmErrorKind, LlmResponse, RawCall, ResponseBlock, StopReason};
use agent_core::permission::{ApprovalAnswer, ApprovalScope, PermissionMode};
use agent_core::session::{self, Action, ModelConfig, SessionConfig, Ticket};
use agent_core::tool::{CallFacts, Effect, Finding, Inspection, Subject, ToolOutcome};

/// One choice: which event, and two numbers to vary it.
pub(crate) type Choice = (u8, u8, u8);

impl Driver {
    /// Turns a choice into an event: mostly one that is waited for.
    pub(crate) fn choose(&mut self, (kind, a, b): Choice) -> Event {
        match kind % 24 {
            0 | 1 => self.message(a),
            2 => session::Event::CancelRequested.into(),
            3 if a < 100 => session::Event::CompactionRequested.into(),
            3 => session::Event::LeaveRequested.into(),
            4 => self.raise(),
            5 => seldom(a, b),
            6 => self.late(a, b),
            7 => unasked(a),
            8..14 => self.answer_of_driver(a, b),
            _ => self.answer_of_outside(a, b),
        }
    }

    fn message(&mut self, a: u8) -> Event {
        self.inputs += 1;
        let text = if a < 10 { String::from(" ") } else { format!("input-{}.", self.inputs) };
        session::Event::UserInput { text }.into()
    }

    fn raise(&self) -> Event {
        let mut limits = self.agent.session().config().limits;
        limits.max_model_calls = limits.max_model_calls.map(|calls| calls + 2);
        limits.max_wall_time_ms = limits.max_wall_time_ms.map(|ms| ms + 100);
        session::Event::BudgetRaised { limits }.into()
    }

    /// An answer to something that is not, or no longer, open.
    fn late(&self, a: u8, b: u8) -> Event {
        let ticket = self.tickets.get(usize::from(a) % self.tickets.len().max(1)).copied().unwrap_or(Ticket(99));
        match b % 5 {
            0 => check(ticket, 0, CheckEnd::Exited { code: 0 }),
            1 => lifecycle::Event::TimedOut { ticket }.into(),
            2 => lifecycle::Event::CleanupCompleted { ticket }.into(),
            3 => session::Event::RetryTimeout { ticket }.into(),
            _ => session::Event::LlmCompleted { ticket, response: LlmResponse::text("late") }.into(),
        }
    }

    /// What the lifecycle asked for.
    fn answer_of_driver(&mut self, a: u8, b: u8) -> Event {
        let open = self.agent.lifecycle().map(lifecycle::Lifecycle::outstanding).unwrap_or_default();
        match open.get(usize::from(a) % open.len().max(1)) {
            Some(lifecycle::Action::RunChecks { ticket, checks }) => {
                let ends = [
                    CheckEnd::Exited { code: 1 },
                    CheckEnd::Killed { signal: 9 },
                    CheckEnd::NotStarted { found: "no such program".into() },
                ];
                let end = if b < 140 { CheckEnd::Exited { code: 0 } } else { ends[usize::from(b) % 3].clone() };
                check(*ticket, checks[usize::from(a / 2) % checks.len()].commitment.0, end)
            }
            Some(lifecycle::Action::CleanUp { ticket }) => {
                lifecycle::Event::CleanupCompleted { ticket: *ticket }.into()
            }
            // The time is up less often than not.
            Some(lifecycle::Action::StartTimer { ticket, .. }) if b < 60 => {
                lifecycle::Event::TimedOut { ticket: *ticket }.into()
            }
            _ => self.answer_of_outside(a, b),
        }
    }

    /// What the session asked for; a message where it asks for nothing.
    fn answer_of_outside(&mut self, a: u8, b: u8) -> Event {
        let open = self.agent.session().outstanding();
        match open.get(usize::from(a) % open.len().max(1)) {
            None => self.message(255),
            Some(open) if open.is_cancelled && b < 200 => stop(&open.action).into(),
            Some(open) => answer(&open.action, a / 2, b).into(),
        }
    }
}

/// What ends lives, and what begins them.
fn seldom(a: u8, b: u8) -> Event {
    match a {
        0..40 => lifecycle::Event::Dismissed.into(),
        40..55 => lifecycle::Event::BudgetExceeded.into(),
        55..80 => session::Event::ShutdownRequested.into(),
        80..120 => Event::Bound(Box::new(bound(b).unwrap_or_default())),
        120..130 => Event::Released,
        130..160 => Event::Resumed,
        160..190 => lifecycle::Event::ModeChanged { mode: lifecycle::TaskMode::Plan }.into(),
        225..230 => Event::Attended,
        190..225 => lifecycle::Event::CommitmentAdded { commitment: Commitment::of_command("more", 1_000) }.into(),
        _ => lifecycle::Event::CommitmentAdded { commitment: Commitment::of_command(" ", 1_000) }.into(),
    }
}

/// What nobody may report, and what has no use.
fn unasked(a: u8) -> Event {
    match a % 8 {
        0 => lifecycle::Event::InputReceived { text: "input-0.".into() }.into(),
        1 => lifecycle::Event::Signalled { signal: Signal::Done, summary: String::new() }.into(),
        2 => lifecycle::Event::TurnEnded { end: TurnEnd::Completed, time_left_ms: None }.into(),
        3 => lifecycle::Event::WorkResumed.into(),
        4 => lifecycle::Event::SessionEnded.into(),
        5 => session::Event::Started.into(),
        6 => session::Event::FollowUp { text: "follow".into(), used_ms: 7 }.into(),
        _ => lifecycle::Event::CancelRequested.into(),
    }
}

fn check(ticket: Ticket, commitment: usize, end: CheckEnd) -> Event {
    let report = CheckReport { end, output: String::new() };
    lifecycle::Event::CheckCompleted { ticket, commitment: CommitmentId(commitment), report }.into()
}

/// The answer of a driver that was told to stop.
pub(super) fn stop(action: &Action) -> session::Event {
    match action {
        Action::SendLlmRequest { ticket, .. } => {
            session::Event::LlmAborted { ticket: *ticket, partial_text: String::new() }
        }
        Action::ExecuteTools { ticket, calls } => session::Event::ToolCompleted {
            ticket: *ticket,
            call: calls[0].id.clone(),
            outcome: ToolOutcome::interrupted("stopped"),
        },
        other => answer(other, 0, 0),
    }
}

fn answer(action: &Action, a: u8, b: u8) -> session::Event {
    match action {
        Action::SendLlmRequest { ticket, .. } => model_answer(*ticket, a, b),
        Action::PrepareTools { ticket, calls } => {
            let fact = |call: &agent_core::conversation::ToolCall| {
                let effect = if call.name.as_ref() == "change" { Effect::Changes } else { Effect::Reads };
                CallFacts::new(call.id.clone(), Finding::Runnable(Inspection { effect, subject: Subject::None }))
            };
            session::Event::ToolsPrepared { ticket: *ticket, facts: calls.iter().map(fact).collect() }
        }
        Action::RequestApproval { ticket, questions } => {
            let answer = match b % 3 {
                0 => ApprovalAnswer::Deny { reason: "no".into() },
                1 => ApprovalAnswer::Nobody,
                _ => ApprovalAnswer::Allow { scope: ApprovalScope::Once, arguments: None },
            };
            let call = questions[usize::from(a) % questions.len()].call.id.clone();
            session::Event::ApprovalAnswered { ticket: *ticket, call, answer, changed: None }
        }
        Action::ExecuteTools { ticket, calls } => {
            let outcome = if b < 30 { ToolOutcome::failed("it broke") } else { ToolOutcome::ok("done") };
            let call = calls[usize::from(a) % calls.len()].id.clone();
            session::Event::ToolCompleted { ticket: *ticket, call, outcome }
        }
        Action::RunHooks { ticket, .. } if b > 100 => {
            let block = (b > 200).then(|| String::from("not yet"));
            session::Event::HooksFinished {
                ticket: *ticket,
                report: Box::new(HookReport { block, ..HookReport::default() }),
            }
        }
        Action::CheckGitCommits { ticket, .. }
        | Action::RunAutoformatters { ticket, .. }
        | Action::CommitChanges { ticket, .. }
        | Action::RunHooks { ticket, .. } => session::Event::HookFailed { ticket: *ticket, message: "broke".into() },
        Action::ScheduleRetry { ticket, .. } => session::Event::RetryTimeout { ticket: *ticket },
        Action::StartDeadline { ticket, .. } => session::Event::DeadlineReached { ticket: *ticket },
        other => panic!("{other:?} expects no answer"),
    }
}

fn model_answer(ticket: Ticket, a: u8, b: u8) -> session::Event {
    let failed = |kind| session::Event::LlmFailed { ticket, error: LlmError::new(kind, "trouble"), chance_permille: 0 };
    match a % 24 {
        0 => return failed(LlmErrorKind::Overloaded),
        1 => return failed(LlmErrorKind::InvalidRequest),
        2 => return failed(LlmErrorKind::ContextOverflow),
        3 => return session::Event::LlmInterrupted { ticket },
        4 => return session::Event::LlmAborted { ticket, partial_text: "half".into() },
        _ => {}
    }
    let text = ResponseBlock::Text("some words about the work that was done".repeat(6));
    let signal = |status: &str| call("signal", &format!("{{\"status\":\"{status}\",\"summary\":\"so\"}}"));
    let change = || call("change", "{}");
    let blocks = match b % 10 {
        0..4 => vec![text],
        4 => vec![signal("done")],
        5 | 6 => vec![signal("waiting")],
        7 => vec![text, change(), signal("done")],
        8 => vec![signal("waiting"), signal("done")],
        _ => vec![change()],
    };
    let is_last = b % 10 < 4;
    let stop = if is_last { StopReason::EndTurn } else { StopReason::ToolUse };
    let response = LlmResponse { blocks, stop, usage: None, model: String::new() };
    session::Event::LlmCompleted { ticket, response }
}

fn call(name: &str, arguments: &str) -> ResponseBlock {
    ResponseBlock::Call(RawCall { id: "a".into(), name: name.into(), arguments: arguments.into(), complete: true })
}

/// How many configurations there are.
pub(crate) const CONFIGS: u8 = 8;

/// Configurations of the session that bring different rows into play.
pub(crate) fn config(number: u8) -> SessionConfig {
    let mut config = SessionConfig::new(ModelConfig::new("m"));
    config.permissions.mode = PermissionMode::Bypass;
    match number % 4 {
        0 => {}
        1 => config.permissions.mode = PermissionMode::Default,
        2 => config.limits.max_model_calls = Some(3),
        _ => {
            config.limits.max_wall_time_ms = Some(150);
            config.hooks = [HookPoint::Stop, HookPoint::SessionEnd].into();
        }
    }
    config
}

/// Configurations of the lifecycle; nothing for an agent that is bound to nothing.
pub(crate) fn bound(number: u8) -> Option<LifecycleConfig> {
    let all = || ["first", "second"].map(|command| Commitment::of_command(command, 1_000)).to_vec();
    let base = LifecycleConfig::headless(all());
    let timed = (Some(1_000), Some(2_000), Some(3_000));
    let bound = match number % CONFIGS {
        0 => base,
        1 => {
            LifecycleConfig { is_renewed: true, continues_after_failure: false, unsignalled_turn_claims: false, ..base }
        }
        2 => LifecycleConfig { is_renewed: true, ..base },
        3 => LifecycleConfig { max_rounds: 1, ..base },
        4 => LifecycleConfig { unsignalled_turn_claims: false, continues_after_failure: false, ..base },
        5 => LifecycleConfig { commitments: Vec::new(), is_renewed: true, ..base },
        6 => LifecycleConfig { is_renewed: true, max_rounds: 0, ..base },
        _ => return None,
    };
    let (max_idle_ms, max_work_ms, max_wait_ms) = if number & 16 == 0 { timed } else { (None, None, None) };
    Some(LifecycleConfig { max_idle_ms, max_work_ms, max_wait_ms, ..bound })
}
