//! Small numbers as events that fit, or nearly fit, what a session waits for.

use super::Harness;
use agent_check::session::alphabet::LATE;
use agent_check::session::{self as words, chosen};
use agent_core::budget::Limits;
use agent_core::conversation::ToolCall;
use agent_core::permission::PermissionMode;
use agent_core::session::{Action, Event, LeftCall, SessionConfig, State, Ticket};

/// One choice of the generator: which event, and two numbers to vary it.
pub(crate) type Choice = (u8, u8, u8);

impl Harness {
    /// Turns a choice into an event: mostly one that is waited for.
    pub(crate) fn choose(&mut self, (kind, a, b): Choice) -> Event {
        let outstanding: Vec<Action> = self.session.outstanding().into_iter().map(|o| o.action).collect();
        match kind % 16 {
            0 => self.message(a, b),
            1 => Event::CancelRequested,
            2 if a % 4 == 0 => Event::FocusedCompactionRequested { focus: format!("focus-{b}") },
            2 => Event::CompactionRequested,
            3 if a.is_multiple_of(8) => Event::ShutdownRequested,
            3 if a % 4 == 1 => Event::LeaveRequested,
            3 | 4 => self.raise(),
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
            5 if a % 4 == 1 => self.resumed(b),
            5 => self.stale(a, b),
            _ => match outstanding.get(usize::from(a) % outstanding.len().max(1)) {
                Some(action) => chosen(action, &self.session, a / 2, b),
                None if self.session.state() == State::Ready => Event::Started,
                None => self.input(),
            },
        }
    }

    /// A message comes, or is taken back; or it is one of the agent's own.
    fn message(&mut self, a: u8, b: u8) -> Event {
        self.inputs += 1;
        let text = format!("input-{}", self.inputs);
        match a % 4 {
            3 => Event::FollowUp { text, used_ms: u64::from(b) },
            choice => words::message(choice, &text, &self.session),
        }
    }

    fn raise(&self) -> Event {
        let limits = self.session.config().limits;
        let limits = Limits {
            max_model_calls: limits.max_model_calls.map(|calls| calls + 2),
            max_tool_calls: limits.max_tool_calls.map(|calls| calls + 2),
            max_total_tokens: limits.max_total_tokens.map(|tokens| tokens + 300),
            max_wall_time_ms: limits.max_wall_time_ms.map(|ms| ms + 100),
            ..limits
        };
        Event::BudgetRaised { limits }
    }

    /// Another program resumes the session: each running call was lost, had not begun, or only reads.
    fn resumed(&self, b: u8) -> Event {
        let calls = self.session.outstanding().into_iter().flat_map(|open| match open.action {
            Action::ExecuteTools { calls, .. } => calls,
            _ => Vec::new(),
        });
        let left = |(at, call): (u8, ToolCall)| {
            let kind = b.wrapping_add(at) % 4;
            LeftCall { call: call.id, begun: kind != 1, only_reads: kind == 2 }
        };
        Event::SessionResumed { begun: !b.is_multiple_of(3), calls: (0..).zip(calls).map(left).collect() }
    }

    /// An answer to something that is not, or no longer, open.
    fn stale(&self, a: u8, b: u8) -> Event {
        let tickets = self.seen.tickets();
        let ticket = tickets.get(usize::from(a) % tickets.len().max(1)).copied().unwrap_or(Ticket(99));
        let line = LATE.get(usize::from(b) % (LATE.len() + 1)).unwrap_or(&"input \"  \"");
        words::event(line, ticket, &self.session).unwrap()
    }
}

/// How many configurations there are.
pub(crate) const CONFIGS: u8 = CONFIGURED.len() as u8;

/// Configurations that bring different rows into play.
pub(crate) fn config(variant: u8) -> SessionConfig {
    words::config(CONFIGURED[usize::from(variant % CONFIGS)]).unwrap()
}

const CONFIGURED: [&str; 12] = [
    "price=15000 repetitions=2",
    "price=15000 mode=default deny=change(secret/**)",
    "price=15000 model-calls=4 tool-calls=3",
    "price=15000 mode=default wall-ms=90 cost=400000000 fallback=second",
    "price=15000 window=120",
    "price=15000 tokens=500 fallback=second retries=0",
    "mode=default result-bytes=3000",
    "price=15000 hooks=ALL",
    "price=15000 hooks=ALL window=120 model-calls=6 wall-ms=400",
    "price=15000 mode=default hooks=PostToolUse,Stop,PreCompact failures=3",
    "price=15000 hooks=SessionEnd tool-calls=1",
    "price=15000 mode=accept-edits failures=3 retries=1",
];
