//! Hooks around the tools: bounded in time, and never the end of a session.

use crate::inbox::{Inbox, send};
use crate::stop::{GRACE_MS, Stop, past_grace};
use agent_core::conversation::ToolCall;
use agent_core::hook::{Changes, HookError, HookOccasion, HookPoint, HookReport};
use agent_core::ports::{Clock, Hook};
use agent_core::session::{Event, Session, Ticket};
use agent_core::tool::{HookVerdict, Inspection};
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What a hook is asked to do.
pub(crate) enum HookStep {
    CheckGit(Changes),
    Format(Changes),
    Commit(Changes),
}

pub(crate) async fn run(
    hook: Arc<dyn Hook>,
    step: HookStep,
    ticket: Ticket,
    clock: Arc<dyn Clock>,
    timeout_ms: u64,
    inbox: Inbox,
    stop: CancellationToken,
) {
    let signal = Stop(stop.clone());
    let name = step.name();
    let failed = |message: String| Event::HookFailed { ticket, message: format!("{name}: {message}") };
    let mut work = pin!(AssertUnwindSafe(perform(hook, step, ticket, &signal)).catch_unwind());
    let event = tokio::select! {
        biased;
        answer = &mut work => match answer {
            Ok(Ok(event)) => event,
            Ok(Err(HookError::StopTurn { reason })) => Event::HooksStoppedTurn { ticket, reason },
            Ok(Err(HookError::Failed { message })) => failed(message),
            Err(_) => failed(String::from("the hook panicked")),
        },
        () = past_grace(&stop) => failed(String::from("stopped")),
        () = clock.sleep_ms(timeout_ms) => {
            // It is cancelled before it is dropped, so that it can end what it started. Its answer now comes too late.
            stop.cancel();
            let _ = tokio::time::timeout(Duration::from_millis(GRACE_MS), &mut work).await;
            failed(format!("it did not finish within {timeout_ms} ms"))
        }
    };
    send(&inbox, event);
}

async fn perform(hook: Arc<dyn Hook>, step: HookStep, ticket: Ticket, signal: &Stop) -> Result<Event, HookError> {
    Ok(match step {
        HookStep::CheckGit(changes) => Event::GitChecked { ticket, report: hook.check_git(&changes, signal).await? },
        HookStep::Format(changes) => Event::FormattersFinished { ticket, report: hook.format(&changes, signal).await? },
        HookStep::Commit(changes) => Event::ChangesCommitted { ticket, report: hook.commit(&changes, signal).await? },
    })
}

impl HookStep {
    const fn name(&self) -> &'static str {
        match self {
            Self::CheckGit(_) => "check the repository",
            Self::Format(_) => "run the formatters",
            Self::Commit(_) => "commit the changes",
        }
    }
}

/// Runs the user's hooks, which bound their own time: what they come to is the port's to say.
pub(crate) async fn run_users(
    hook: Arc<dyn Hook>,
    occasion: HookOccasion,
    ticket: Ticket,
    inbox: Inbox,
    stop: CancellationToken,
) {
    let point = occasion.point();
    let failed = |what: &str| Event::HookFailed { ticket, message: format!("run the hooks at {point}: {what}") };
    let event = match asked(&*hook, &occasion, &stop).await {
        Some(Ok(report)) => Event::HooksFinished { ticket, report: Box::new(report) },
        Some(Err(())) => failed("the hook panicked"),
        None => failed("stopped"),
    };
    send(&inbox, event);
}

/// What the user's hooks say; `None` if they do not stop in time, an error when they panic.
async fn asked(hook: &dyn Hook, occasion: &HookOccasion, stop: &CancellationToken) -> Option<Result<HookReport, ()>> {
    let signal = Stop(stop.clone());
    let work = AssertUnwindSafe(hook.run(occasion, &signal)).catch_unwind();
    tokio::select! {
        biased;
        report = work => Some(report.map_err(drop)),
        () = past_grace(stop) => None,
    }
}

/// Asks the hook about calls before they run.
#[derive(Clone)]
pub(crate) struct Verdicts {
    pub(crate) hook: Arc<dyn Hook>,
    /// Whether the user's hooks are asked, too.
    pub(crate) users: bool,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) timeout_ms: u64,
}

impl Verdicts {
    /// The same for a session: its configuration says whether the user's hooks are asked.
    pub(crate) fn of(&self, session: &Session) -> Self {
        Self { users: session.config().hooks.contains(&HookPoint::PreToolUse), ..self.clone() }
    }

    /// What the user's hooks say before a call. A broken hook denies the call.
    pub(crate) async fn of_users(&self, call: &ToolCall, stop: &CancellationToken) -> Option<HookReport> {
        if !self.users || stop.is_cancelled() {
            return None;
        }
        let occasion = HookOccasion::PreToolUse { call: call.clone() };
        match asked(&*self.hook, &occasion, stop).await? {
            Ok(report) => Some(report),
            Err(()) => {
                let verdict = HookVerdict::Deny { reason: String::from("the hook failed") };
                Some(HookReport { verdict, ..HookReport::default() })
            }
        }
    }

    /// Notifies the hook that a call runs now.
    ///
    /// # Errors
    /// Why it must not run after all: what the hook would have kept of the state before the call is lost.
    pub(crate) async fn begin(&self, call: &ToolCall, judged: &Inspection) -> Result<(), String> {
        tokio::select! {
            biased;
            told = AssertUnwindSafe(self.hook.tool_begins(call, judged)).catch_unwind() => {
                told.map_err(|_| String::from("not run: the hook failed before the call began"))
            }
            () = self.clock.sleep_ms(self.timeout_ms) => {
                Err(format!("not run: the hook was not ready for the call within {} ms", self.timeout_ms))
            }
        }
    }

    /// The hook's verdict. A hook that fails or is late denies the call: a broken guard lets nothing through.
    pub(crate) async fn on(&self, call: &ToolCall, inspection: &Inspection, stop: &CancellationToken) -> HookVerdict {
        let deny = |reason: String| HookVerdict::Deny { reason };
        let asked = AssertUnwindSafe(self.hook.before_tool(call, inspection)).catch_unwind();
        tokio::select! {
            biased;
            // Nothing will run after a cancel, so what the hook would have said does not matter.
            () = stop.cancelled() => HookVerdict::None,
            verdict = asked => verdict.unwrap_or_else(|_| deny(String::from("the hook failed"))),
            () = self.clock.sleep_ms(self.timeout_ms) => {
                deny(format!("the hook gave no verdict within {} ms", self.timeout_ms))
            }
        }
    }
}
