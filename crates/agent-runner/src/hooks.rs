//! Hooks after a batch of tools: bounded in time, and never the end of a session.

use crate::perform::send;
use crate::runner::Inbox;
use crate::tool_calls::{Stop, past_grace};
use agent_core::hook::{Changes, HookError};
use agent_core::ports::{Clock, Hook};
use agent_core::session::{Event, Ticket};
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
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
    let work = AssertUnwindSafe(perform(hook, step, ticket, &signal)).catch_unwind();
    let event = tokio::select! {
        biased;
        answer = work => match answer {
            Ok(Ok(event)) => event,
            Ok(Err(HookError::StopTurn { reason })) => Event::HooksStoppedTurn { ticket, reason },
            Ok(Err(error)) => failed(error.to_string()),
            Err(_) => failed(String::from("the hook panicked")),
        },
        () = past_grace(&stop) => failed(String::from("stopped")),
        () = clock.sleep_ms(timeout_ms) => failed(format!("not done after {timeout_ms} ms")),
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
            Self::CheckGit(_) => "look at the repository",
            Self::Format(_) => "run the formatters",
            Self::Commit(_) => "commit the changes",
        }
    }
}
