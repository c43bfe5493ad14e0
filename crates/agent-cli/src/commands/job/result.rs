//! How a job ended, in the same words as a run.

use crate::commands::job::host::Shown;
use crate::config::options::OutputFormat;
use crate::screen::signals::Signal;
use crate::screen::terminal::{all_written, put, put_json};
use crate::screen::view::View;
use crate::screen::wire::{DenialReport, RunResult, UsageReport};
use crate::session::limits::Raise;
use agent_core::job::{self, FailureKind, Job, JobStatus, Verdict};
use agent_core::session::{Outcome, OutcomeKind};
use std::time::Instant;

/// The one outcome. A signal that left at once stands above what the job says.
pub(crate) fn conclude(job: &Job, shown: &Shown, signalled: Option<Signal>, started: Instant) -> RunResult {
    let (exit_code, subtype, error) = ending(job, shown, signalled);
    let outcome = shown.outcome.as_ref();
    let spent = job.spent();
    RunResult {
        agents: Vec::new(),
        subtype,
        is_error: exit_code != 0,
        exit_code,
        result: outcome.map(|outcome| outcome.text.clone()).unwrap_or_default(),
        verification: outcome.map(|outcome| outcome.evidence).unwrap_or_default().words(),
        error,
        session_id: shown.session_id.clone(),
        num_turns: spent.model_calls,
        duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        total_cost_usd: spent.known_cost_nano_usd().map(|nano| nano as f64 / 1e9),
        usage: UsageReport::of(&spent.usage),
        permission_denials: outcome
            .iter()
            .flat_map(|outcome| &outcome.denials)
            .map(|denial| DenialReport::of(denial, None))
            .collect(),
        terminal_state: format!("{:?}", job.state()),
        messages: None,
        raise: outcome
            .filter(|outcome| matches!(outcome.kind, OutcomeKind::Budget | OutcomeKind::CallLimit))
            .map(|_| Raise::Otherwise("raise the limit that was reached", None)),
    }
}

type Ending = (u8, &'static str, Option<String>);

fn ending(job: &Job, shown: &Shown, signalled: Option<Signal>) -> Ending {
    let lost = job.failure().filter(|_| !shown.is_recorded);
    let lost = lost.map(|error| format!("cannot keep the record of the job: {error}"));
    let is_lost = lost.is_some();
    // Whatever else there is to say, that the record is lost is said too.
    let said = |why: Option<String>| {
        let said: Vec<String> = why.into_iter().chain(lost).collect();
        Some(said.join("; ")).filter(|said| !said.is_empty())
    };
    let (cancelled, failed) = (OutcomeKind::Cancelled, OutcomeKind::Failed);
    if signalled == Some(Signal::Terminate) {
        return (143, cancelled.subtype(), said(Some(String::from("terminated"))));
    }
    if job.status() == JobStatus::Cancelled {
        return (cancelled.exit_code(), cancelled.subtype(), said(Some(String::from("interrupted"))));
    }
    let why = said(shown.why.as_ref().map(ToString::to_string));
    if is_lost {
        return (failed.exit_code(), failed.subtype(), why);
    }
    if job.status() == JobStatus::Completed {
        return (0, OutcomeKind::Success.subtype(), None);
    }
    let outcome = shown.outcome.as_ref().filter(|outcome| failed_for(outcome) == job.failure().cloned());
    match (&shown.failure, outcome) {
        (Some(failure), _) => (failure.code, failure.subtype(), why),
        (None, Some(outcome)) => (outcome.kind.exit_code(), outcome.kind.subtype(), why),
        // Without an attempt only the machine itself can have found fault with the job; the fault of anything else is the world's.
        (None, None) if !shown.has_attempts && matches!(job.failure(), Some(FailureKind::Business(_))) => {
            (42, "error_input", why)
        }
        (None, None) => (failed.exit_code(), failed.subtype(), why),
    }
}

/// What a job fails for when it fails for how a session ended. A job may also fail for something else, when its session's journal was lost,
/// say: how the session ended then says nothing about the job.
fn failed_for(outcome: &Outcome) -> Option<FailureKind> {
    match job::verdict(Some(outcome)) {
        Verdict::Failure(failure) | Verdict::FailureForGood(failure) => Some(failure),
        Verdict::Success { .. } | Verdict::Stopped => None,
    }
}

/// Has the result written, data to standard output and the rest to standard error, and returns the exit code.
pub(crate) fn write(result: RunResult, format: OutputFormat, is_live: bool, view: &mut View) -> u8 {
    if let Some(error) = &result.error {
        view.error(error);
    }
    for denial in &result.permission_denials {
        view.error(&denial.line());
    }
    if result.exit_code == 61 {
        view.error("no one could be asked: allow such calls with `--allow RULE` or choose a `--permission-mode`");
    }
    let code = result.exit_code;
    // Whether it is lost is known when it is written.
    let _ = match format {
        OutputFormat::Json | OutputFormat::StreamJson => put_json(&result.text()),
        OutputFormat::Text if is_live || result.result.is_empty() => Ok(()),
        OutputFormat::Text => put(&format!("{}\n", result.result.trim_end())),
    };
    view.end_line();
    code
}

/// The exit code, now that the result is written. A reader that went away has read what it wanted; an answer that is lost otherwise is a
/// failure.
pub(crate) fn unless_lost(code: u8, view: &mut View) -> u8 {
    match all_written() {
        Err(error) => {
            view.error(&format!("cannot write the result: {error}"));
            if code == 0 { OutcomeKind::Failed.exit_code() } else { code }
        }
        Ok(()) => code,
    }
}

#[cfg(test)]
mod tests {
    use super::{Job, Outcome, OutcomeKind, Shown, Signal, ending};
    use crate::screen::view::{Level, View};
    use agent_core::job::{Action, Event, FailureKind, JobConfig, Spent, Step, TierModels, Verdict};

    fn system(message: &str) -> FailureKind {
        FailureKind::System(String::from(message))
    }

    /// A job whose attempt came to this, and then its record.
    fn ended(verdict: Verdict, lost: Option<&str>) -> (Job, Shown) {
        let mut job = Job::new(JobConfig::new("job-1", "fix it"), 0);
        let mut take = |event| job.step(0, event).unwrap();
        let asked = |step: &Step| match &step.actions[..] {
            [Action::ValidateJob { ticket } | Action::DefineAgent { ticket, .. } | Action::RunAgent { ticket, .. }] => {
                *ticket
            }
            [Action::WriteAuditRecord { ticket, .. }] => *ticket,
            other => panic!("{other:?}"),
        };
        let ticket = asked(&take(Event::Started));
        let defined = take(Event::ValidationPassed { ticket, tiers: TierModels::all("m") });
        let [Action::DefineAgent { ticket, suggestion, .. }] = &defined.actions[..] else { panic!("{defined:?}") };
        let (ticket, agent) = (*ticket, suggestion.clone());
        let ticket = asked(&take(Event::AgentDefined { ticket, agent, spent: Spent::default() }));
        let session_id = String::from("s1");
        let recording = take(Event::AttemptEnded { ticket, verdict, spent: Spent::default(), session_id });
        let [Action::WriteAuditRecord { ticket, record }] = &recording.actions[..] else { panic!("{recording:?}") };
        let ticket = *ticket;
        let mut shown = Shown::new(View::new(false, Level::of(true, false)));
        (shown.has_attempts, shown.why, shown.is_recorded) = (true, record.failure.clone(), lost.is_none());
        let _ = take(match lost {
            Some(message) => Event::RecordFailed { ticket, message: String::from(message) },
            None => Event::RecordWritten { ticket },
        });
        (job, shown)
    }

    fn success() -> Verdict {
        Verdict::Success { response: String::from("done") }
    }

    #[test]
    fn a_failed_job_never_ends_as_the_session_says_that_did_not_fail() {
        let for_good = || Verdict::FailureForGood(system("the disk is full"));
        for kind in [OutcomeKind::Success, OutcomeKind::Permission, OutcomeKind::Cancelled] {
            let (job, mut shown) = ended(for_good(), None);
            shown.outcome = Some(Outcome::new(kind));
            let said = Some(String::from("the disk is full"));
            assert_eq!(ending(&job, &shown, None), (1, "error_during_execution", said), "{kind:?}");
        }
        let (job, mut shown) = ended(success(), Some("keeping the record panicked"));
        shown.outcome = Some(Outcome::new(OutcomeKind::Success));
        let said = Some(String::from("cannot keep the record of the job: keeping the record panicked"));
        assert_eq!(ending(&job, &shown, None), (1, "error_during_execution", said));
        // What the session failed for, it says.
        let (job, mut shown) = ended(Verdict::FailureForGood(system("no key")), None);
        let mut refused = Outcome::new(OutcomeKind::Authentication);
        refused.error = Some(String::from("no key"));
        shown.outcome = Some(refused);
        assert_eq!(ending(&job, &shown, None).0, 41);
    }

    #[test]
    fn that_the_record_is_lost_is_said_however_the_job_ended() {
        let lost = |verdict, signalled| {
            let (job, shown) = ended(verdict, Some("disk full"));
            let (code, _, error) = ending(&job, &shown, signalled);
            (code, error.unwrap())
        };
        let said = |before: &str| format!("{before}cannot keep the record of the job: disk full");
        assert_eq!(lost(Verdict::Stopped, Some(Signal::Terminate)), (143, said("terminated; ")));
        assert_eq!(lost(Verdict::Stopped, Some(Signal::Interrupt)), (130, said("interrupted; ")));
        assert_eq!(lost(Verdict::FailureForGood(system("no key")), None), (1, said("no key; ")));
        assert_eq!(lost(success(), None), (1, said("")));
    }

    #[test]
    fn a_fault_of_this_program_before_the_first_attempt_is_none_of_the_job() {
        for (failure, code) in [(system("validating the job panicked"), 1), (FailureKind::Business("no".into()), 42)] {
            let (job, mut shown) = ended(Verdict::FailureForGood(failure), None);
            shown.has_attempts = false;
            assert_eq!(ending(&job, &shown, None).0, code);
        }
    }
}
