//! How a job ended, in the same words as a run.

use crate::args::OutputFormat;
use crate::job::host::Shown;
use crate::signals::Signal;
use crate::terminal::{put, put_json};
use crate::view::View;
use crate::wire::{DenialReport, RunResult, UsageReport};
use agent_core::job::{Job, JobStatus};
use agent_core::session::OutcomeKind;
use std::io::ErrorKind;
use std::time::Instant;

/// The one outcome. A signal that left at once stands above what the job says.
pub(crate) fn conclude(job: &Job, shown: &Shown, signalled: Option<Signal>, started: Instant) -> RunResult {
    let (exit_code, subtype, error) = ending(job, shown, signalled);
    let outcome = shown.outcome.as_ref();
    let spent = job.spent();
    RunResult {
        subtype,
        is_error: exit_code != 0,
        exit_code,
        result: outcome.map(|outcome| outcome.text.clone()).unwrap_or_default(),
        error,
        session_id: shown.session_id.clone(),
        num_turns: spent.model_calls,
        duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        total_cost_usd: spent.known_cost_nano_usd().map(|nano| nano as f64 / 1e9),
        usage: UsageReport::of(&spent.usage),
        permission_denials: outcome.iter().flat_map(|outcome| &outcome.denials).map(DenialReport::of).collect(),
        terminal_state: format!("{:?}", job.state()),
    }
}

type Ending = (u8, &'static str, Option<String>);

fn ending(job: &Job, shown: &Shown, signalled: Option<Signal>) -> Ending {
    let cancelled = OutcomeKind::Cancelled;
    if signalled == Some(Signal::Terminate) {
        return (143, cancelled.subtype(), Some(String::from("terminated")));
    }
    if job.status() == JobStatus::Cancelled {
        return (cancelled.exit_code(), cancelled.subtype(), Some(String::from("interrupted")));
    }
    if let Some(error) = &shown.record_error {
        return (1, OutcomeKind::Failed.subtype(), Some(format!("keep the record of the job: {error}")));
    }
    let why = job.failure().map(ToString::to_string);
    match (&shown.failure, &shown.outcome, job.status()) {
        (_, _, JobStatus::Completed) => (0, OutcomeKind::Success.subtype(), None),
        (Some(failure), _, _) => (failure.code, failure.subtype(), why),
        (None, Some(outcome), _) => (outcome.kind.exit_code(), outcome.kind.subtype(), why),
        (None, None, _) if shown.has_attempts => (1, OutcomeKind::Failed.subtype(), why),
        // Only the machine itself can have found fault with the job.
        (None, None, _) => (42, "error_input", why),
    }
}

/// Writes the result, data to standard output and the rest to standard error, and returns the exit code.
pub(crate) fn write(result: RunResult, format: OutputFormat, is_live: bool, view: &mut View) -> u8 {
    if let Some(error) = &result.error {
        view.error(error);
    }
    for denial in &result.permission_denials {
        view.error(&denial.line());
    }
    if result.exit_code == 61 {
        view.error("nobody could be asked: allow such calls with `--allow RULE`, or choose a `--permission-mode`");
    }
    let code = result.exit_code;
    let written = match format {
        OutputFormat::Json | OutputFormat::StreamJson => put_json(&result.text()),
        OutputFormat::Text if is_live || result.result.is_empty() => Ok(()),
        OutputFormat::Text => put(&format!("{}\n", result.result.trim_end())),
    };
    view.end_line();
    match written {
        // A reader that went away has read what it wanted; an answer that is lost otherwise is a failure.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            view.error(&format!("write the result: {error}"));
            if code == 0 { 1 } else { code }
        }
        Ok(()) | Err(_) => code,
    }
}
