//! One attempt: a whole session, from its first input to its prompt.

use super::secrets::Secrets;
use super::{JobHost, JobNotice, broken};
use crate::agent::{Agent, AgentError};
use crate::end::End;
use agent_core::agent as core;
use agent_core::job::{self, Attempt, Event, FailureKind, Spent, Verdict};
use agent_core::session::Ticket;
use std::pin::pin;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Runs the attempt and returns its result and its cost.
pub(super) async fn run(
    host: Arc<dyn JobHost>,
    secrets: Secrets,
    ticket: Ticket,
    attempt: Attempt,
    stop: CancellationToken,
    leave: CancellationToken,
) -> Event {
    let opened = tokio::select! {
        biased;
        () = stop.cancelled() => return without_session(ticket, Verdict::Stopped),
        opened = host.session(&attempt) => opened,
    };
    let (builder, session_id) = match opened {
        Ok(opened) => opened,
        Err(failure) => return without_session(ticket, Verdict::FailureForGood(failure)),
    };
    secrets.add(builder.secrets().iter().cloned());
    let mut agent = match Agent::start(builder.attempt(attempt.retry, attempt.limits)) {
        Ok(agent) => agent,
        Err(error) => {
            let failure = FailureKind::System(error.to_string());
            return without_session(ticket, Verdict::FailureForGood(failure));
        }
    };
    drive(&mut agent, host.as_ref(), &attempt.task, &stop, &leave).await;
    let Ok((end, agent)) = finish(agent, &stop, &leave).await else {
        // The session's task panicked, and took with it what is known of its calls.
        return broken::attempt(ticket, session_id);
    };
    let session = agent.session();
    let mut spent = Spent::of_ledger(session.ledger());
    // Open calls have a cost that will never be known.
    spent.unpriced_calls += u64::from(session.has_open_cost());
    Event::AttemptEnded { ticket, verdict: verdict(end, &agent), spent, session_id }
}

/// Until the prompt after the task, or until everything is to be left as it is.
async fn drive(agent: &mut Agent, host: &dyn JobHost, task: &str, stop: &CancellationToken, leave: &CancellationToken) {
    let handle = agent.handle().clone();
    let asked = agent.ask(task, |notice| host.notice(JobNotice::Session(notice)));
    tokio::pin!(asked);
    let mut is_told = false;
    loop {
        tokio::select! {
            biased;
            () = leave.cancelled() => return,
            () = stop.cancelled(), if !is_told => {
                is_told = true;
                handle.cancel();
            }
            // The session itself reports the outcome.
            _ = &mut asked => return,
        }
    }
}

/// Leaves the session. A job that is stopped meanwhile, or is left after a stop, does not wait for the hooks at the session's end.
async fn finish(
    agent: Agent,
    stop: &CancellationToken,
    leave: &CancellationToken,
) -> Result<(End, core::Agent), AgentError> {
    let cut_short = if stop.is_cancelled() { leave } else { stop };
    let handle = agent.handle().clone();
    let mut finished = pin!(agent.finish());
    tokio::select! {
        biased;
        finished = &mut finished => finished,
        () = cut_short.cancelled() => {
            handle.detach();
            finished.await
        }
    }
}

/// The outcome of the session. Without a whole journal it is never a success: the session can be neither inspected nor resumed, and the
/// next attempt would write on the same disk.
fn verdict(end: End, agent: &core::Agent) -> Verdict {
    match end {
        End::JournalFailed(error) => Verdict::FailureForGood(FailureKind::System(error.to_string())),
        // One is left at its prompt, or wherever it was when the job was left; a session that ended for good is none that a job makes, and
        // its outcome stands all the same.
        End::Detached | End::ShutDown => job::verdict(agent.outcome().as_ref()),
    }
}

fn without_session(ticket: Ticket, verdict: Verdict) -> Event {
    let spent = Spent::default();
    Event::AttemptEnded { ticket, verdict, spent, session_id: String::new() }
}
