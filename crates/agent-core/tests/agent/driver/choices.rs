//! Small numbers as events that fit, or nearly fit, what an agent waits for.

use super::Driver;
use agent_check::lifecycle::{self as of_lifecycle, Tickets};
use agent_check::session as words;
use agent_check::session::alphabet::LATE;
use agent_core::agent::Event;
use agent_core::lifecycle::{self, LifecycleConfig};
use agent_core::session::{self, Action, Session, SessionConfig, Ticket};

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

    /// A message comes, or is taken back.
    fn message(&mut self, a: u8) -> Event {
        self.inputs += 1;
        let text = if a < 10 { String::from("\" \"") } else { format!("input-{}.", self.inputs) };
        // Most are those that go out at once.
        let choice = if a % 8 < 3 { a % 8 } else { 0 };
        words::message(choice, &text, self.agent.session()).into()
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
        match LATE.get(usize::from(b) % (LATE.len() + 3)) {
            Some(line) => words::event(line, ticket, self.agent.session()).unwrap().into(),
            None => told(["check 1 kept", "timeout", "cleaned-up"][usize::from(b) % 3], ticket),
        }
    }

    /// What the lifecycle asked for.
    fn answer_of_driver(&mut self, a: u8, b: u8) -> Event {
        let open = self.agent.lifecycle().map(lifecycle::Lifecycle::outstanding).unwrap_or_default();
        match open.get(usize::from(a) % open.len().max(1)) {
            Some(lifecycle::Action::RunChecks { ticket, checks }) => {
                let end =
                    if b < 140 { "kept" } else { ["exit 1", "signal 9", "not found", "stale"][usize::from(b) % 4] };
                let number = checks[usize::from(a / 2) % checks.len()].commitment.0 + 1;
                told(&format!("check {number} {end}"), *ticket)
            }
            Some(lifecycle::Action::CleanUp { ticket }) => told("cleaned-up", *ticket),
            // The time is up less often than not.
            Some(lifecycle::Action::StartTimer { ticket, .. }) if b < 60 => told("timeout", *ticket),
            _ => self.answer_of_outside(a, b),
        }
    }

    /// What the session asked for; a message where it asks for nothing.
    fn answer_of_outside(&mut self, a: u8, b: u8) -> Event {
        let open = self.agent.session().outstanding();
        match open.get(usize::from(a) % open.len().max(1)) {
            None => self.message(255),
            Some(open) if open.is_cancelled && b < 200 => words::stop(&open.action, self.agent.session()).into(),
            Some(open) => answer(&open.action, self.agent.session(), a / 2, b).into(),
        }
    }
}

/// What ends lives, and what begins them.
fn seldom(a: u8, b: u8) -> Event {
    let line = match a {
        0..40 => "dismiss",
        40..55 => "budget",
        55..80 => return session::Event::ShutdownRequested.into(),
        80..120 => return Event::Bound(Box::new(bound(b).unwrap_or_default())),
        120..130 => return Event::Released,
        130..160 => return resumed(b & 1 == 1).into(),
        160..190 => "plan",
        190..225 => "commit more",
        225..230 => return Event::Attended,
        _ => "commit  ",
    };
    told(line, NONE)
}

/// Another program goes on, with nothing lost but what was in flight.
const fn resumed(begun: bool) -> session::Event {
    session::Event::SessionResumed { begun, calls: Vec::new() }
}

/// What nobody may report, and what has no use.
fn unasked(a: u8) -> Event {
    match a % 8 {
        0 => told("input input-0.", NONE),
        1 => told("done", NONE),
        2 => told("turn completed", NONE),
        3 => told("work-resumed", NONE),
        4 => told("session-ended", NONE),
        5 => session::Event::Started.into(),
        6 => session::Event::FollowUp { text: "follow".into(), used_ms: 7 }.into(),
        _ => told("cancel", NONE),
    }
}

/// A line of the lifecycle as an event, about this ticket if it is about one.
fn told(line: &str, ticket: Ticket) -> Event {
    of_lifecycle::event(line, &Tickets::all(ticket)).unwrap().into()
}

/// The ticket of what needs none.
const NONE: Ticket = Ticket(0);

/// An answer to what was asked: one that any session may get, or words of the model with the signals that only agents know.
fn answer(action: &Action, session: &Session, a: u8, b: u8) -> session::Event {
    match action {
        Action::SendLlmRequest { .. } => {
            let lines = if a.is_multiple_of(5) { FAILURES } else { SIGNALS };
            words::answer(lines[usize::from(b) % lines.len()], action, session).unwrap()
        }
        // Mostly a call is what its name says, and goes well.
        Action::ExecuteTools { calls, .. } if b >= 30 => {
            let line = format!("tool {} ok done", 1 + usize::from(a) % calls.len());
            words::answer(&line, action, session).unwrap()
        }
        Action::PrepareTools { .. } if !a.is_multiple_of(4) => words::answer("prepared", action, session).unwrap(),
        other => words::chosen(other, session, a, b),
    }
}

const FAILURES: &[&str] = &["fail overloaded", "fail invalid", "fail overflow", "interrupted", "aborted half"];
/// Long enough for a summary to help.
const SIGNALS: &[&str] = &[
    "answer long=50",
    "answer long=51",
    "answer long=52",
    "answer long=53",
    "answer calls signal#a{\"status\":\"done\",\"summary\":\"so\"}",
    "answer calls signal#a{\"status\":\"waiting\",\"summary\":\"so\"}",
    "answer calls signal#a{\"status\":\"waiting\",\"summary\":\"so\"} change#b{}",
    "answer long=50 calls change#a{} signal#a{\"status\":\"done\",\"summary\":\"so\"}",
    "answer calls signal#a{\"status\":\"waiting\",\"summary\":\"so\"} signal#a{\"status\":\"done\",\"summary\":\"so\"}",
    "answer calls change#a{}",
];

/// How many configurations there are.
pub(crate) const CONFIGS: u8 = 8;

/// Configurations of the session that bring different rows into play.
pub(crate) fn config(number: u8) -> SessionConfig {
    let lines = ["", "mode=default", "model-calls=3", "wall-ms=150 hooks=Stop,SessionEnd"];
    words::config(lines[usize::from(number) % lines.len()]).unwrap()
}

/// Configurations of the lifecycle; nothing for an agent that is bound to nothing.
pub(crate) fn bound(number: u8) -> Option<LifecycleConfig> {
    let line = BOUND.get(usize::from(number % CONFIGS))?;
    let timed = if number & 16 == 0 { " idle-ms=1000 work-ms=2000 wait-ms=3000" } else { "" };
    Some(of_lifecycle::config(&format!("{line}{timed}")).unwrap())
}

const BOUND: [&str; 7] = [
    "commitments=first,second",
    "commitments=first,second renewed attended",
    "commitments=first,second renewed",
    "commitments=first,second rounds=1",
    "commitments=first,second attended",
    "renewed",
    "commitments=first,second renewed rounds=0",
];
