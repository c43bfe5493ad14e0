//! `agent job run`: one job, headless, exactly one outcome and one audit record.

use crate::commands::job::args::JobRun;
use crate::commands::job::host::Host;
use crate::commands::job::{records, result};
use crate::config::options::{Options, OutputFormat, Seat};
use crate::config::project::working_directory;
use crate::config::settings::Settings;
use crate::failure::Failure;
use crate::model::secrets;
use crate::screen::signals::{self, Signal, Signals};
use crate::screen::terminal::{self, is_watched, say};
use crate::screen::unread;
use crate::screen::view::{Level, View};
use agent_core::job::{Job, JobConfig};
use agent_runner::SystemClock;
use agent_runner::job::JobRunner;
use agent_runner::journal::SessionStore;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// Does the job and returns the exit code.
pub(crate) async fn run(arguments: JobRun) -> Result<u8, Failure> {
    let started = Instant::now();
    arguments.misplaced.refuse_for_job()?;
    usable(&arguments.options)?;
    // What is said of the settings must not wait for its reader, either: until there is a session, signals end the program.
    terminal::queue()?;
    let mut config = JobConfig::new(&SessionStore::new_id(), &arguments.words.join(" "));
    let settings = settle(&arguments, &mut config);
    let commitments = arguments.verification.commitments();
    let options = arguments.options;
    let directory = working_directory(options.directory.as_deref());
    // A job whose directory is wrong leaves its record where it was started.
    let directory = directory.or_else(|_| working_directory(None)).unwrap_or_else(|_| PathBuf::from("/"));
    let (format, is_quiet) = (options.output_format.unwrap_or_default(), options.quiet);
    let is_live = format == OutputFormat::Text && is_watched();
    let view = View::new(is_live, Level::of(is_quiet, options.verbose));
    let max_wall_time_ms = config.limits.max_wall_time_ms;
    let signals = signals::listen()?;
    if !is_quiet {
        say(&format!("agent: job {}", config.id));
    }
    let host = Arc::new(Host::new(options, commitments, settings, records::log(&directory), view));
    let (job, signalled) = drive(config, &host, signals).await;
    let result = result::conclude(&job, &host.shown(), signalled, started);
    let is_out_of_time = result.is_out_of_time(max_wall_time_ms);
    let code = result::write(result, format, is_live, &mut host.shown().view);
    let code = unread::wait(code, is_out_of_time).await;
    Ok(result::unless_lost(code, &mut host.shown().view))
}

/// Options of `run` that make no sense for a job: an attempt is a session of its own.
fn usable(options: &Options) -> Result<(), Failure> {
    let wrong = |what: &str| Err(Failure::usage(format!("cannot run the job: {what}")));
    if options.continue_newest || options.session_id.is_some() || options.fork_session {
        wrong(
            "each attempt is a new session, so `--continue`, `--session-id` and `--fork-session` work only with `agent run`",
        )
    } else if options.include_partial_messages {
        wrong("`--include-partial-messages` belongs to `--output-format stream-json`, which a job does not write")
    } else if options.output_format == Some(OutputFormat::StreamJson) {
        wrong("`--output-format stream-json` works only with `agent run`; a job writes `text` or `json`")
    } else {
        Ok(())
    }
}

/// Everything that is known before the first question. What is wrong with it is found by the job's validation.
fn settle(arguments: &JobRun, config: &mut JobConfig) -> Result<Settings, Failure> {
    let settings = Settings::resolve(&arguments.options, Seat::Headless)?;
    config.retry = settings.user.jobs.retry(arguments)?;
    config.limits = settings.limits;
    Ok(settings)
}

async fn drive(config: JobConfig, host: &Arc<Host>, mut signals: Signals) -> (Job, Option<Signal>) {
    let (runner, handle) = JobRunner::new(config, host.clone(), Arc::new(SystemClock::new()));
    // The keys of all providers, as for a session: the job may fail before there is one.
    let running = secrets::of_environment().into_iter().fold(runner, JobRunner::secret).run();
    tokio::pin!(running);
    let mut signalled = None;
    loop {
        tokio::select! {
            biased;
            Some(signal) = signals.recv() => {
                match (signal, signalled) {
                    // The first interrupt ends the turn in order; anything more leaves at once. The record is written in any case.
                    (Signal::Interrupt, None) => {
                        say("agent: stopping (Ctrl-C again quits at once)");
                        unread::signalled();
                        handle.cancel();
                    }
                    (_, before) => {
                        if before.is_some() {
                            unread::leave_at_once();
                        }
                        handle.leave();
                    }
                }
                signalled = Some(signal);
            }
            job = &mut running => return (job, signalled),
        }
    }
}
