//! `agent run`: one task, headless, exactly one outcome.

use crate::commands::args::{InputFormat, Run};
use crate::commands::conversation;
use crate::commands::task::task;
use crate::config::options::{Options, OutputFormat, Seat, Verification};
use crate::config::settings::Settings;
use crate::failure::Failure;
use crate::mcp::session::{Mcp, told};
use crate::model::paced::Unread;
use crate::model::provider;
use crate::screen::counted::counted;
use crate::screen::printer::{Init, Printer};
use crate::screen::signals::{self, Signal, Signals};
use crate::screen::terminal::{self, inline, say};
use crate::screen::unread;
use crate::screen::view::lost;
use crate::screen::wire::{DenialReport, RunResult, SandboxReport, UsageReport, used};
use crate::session::apart::{self, apart, unless_signalled};
use crate::session::kept;
use crate::session::limits::Raise;
use crate::session::pictured::{Attaching, Pictured, mentions};
use crate::session::setup::Opened;
use agent_core::lifecycle::{self, Lifecycle};
use agent_core::session::{Evidence, Outcome, OutcomeKind, Session};
use agent_runner::{End, Handle, Notice, Notices};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Does the task and returns the exit code. Without a thread for what blocks, the result says that.
pub(crate) async fn run(arguments: Run, thread: Result<(), Failure>) -> u8 {
    let started = Instant::now();
    if arguments.input_format == InputFormat::StreamJson
        && let Err(why) = conversation::refuse_misplaced(&arguments)
    {
        say(&format!("agent: {why}"));
        return WRONG_USAGE;
    }
    let Run { prompt, words, images, input_format, verification, options } = arguments;
    if options.include_partial_messages && options.output_format != Some(OutputFormat::StreamJson) {
        say("agent: `--include-partial-messages` needs `--output-format stream-json`");
        return WRONG_USAGE;
    }
    if options.fork_session && !options.continue_newest && options.session_id.is_none() {
        say("agent: `--fork-session` needs `--continue` or `--session-id`");
        return WRONG_USAGE;
    }
    if input_format == InputFormat::StreamJson {
        return conversation::run(&verification, &options, thread, started).await;
    }
    let mut printer = Printer::new(&options);
    // From here on a signal ends the run with a result like everything else does.
    let result = match thread.and_then(|()| signals::listen()) {
        Ok(mut signals) => {
            match unless_signalled(&mut signals, begin(prompt, &words, images, &verification, &options)).await {
                Ok(opened) => drive(opened, &mut printer, signals, started).await,
                Err(failure) => RunResult::of_failure(&failure, started),
            }
        }
        Err(failure) => RunResult::of_failure(&failure, started),
    };
    printer.finish(result, &options).await
}

/// Everything before the first model call.
async fn begin(
    prompt: Option<String>,
    words: &[String],
    images: Vec<PathBuf>,
    verification: &Verification,
    options: &Options,
) -> Result<(Opened, Option<Pictured>, Settings), Failure> {
    let names_session = options.continue_newest || options.session_id.is_some();
    let all = options.clone();
    apart(move || kept::check_named(&all)).await??;
    let limit = options.max_wall_time.map(|limit| Duration::from_millis(limit.0));
    let prompt = match task(prompt, words, options.quiet, limit).await {
        Err(failure) if !names_session || !images.is_empty() => return Err(failure),
        prompt => prompt,
    };
    let all = options.clone();
    let (settings, is_kept) = apart(move || {
        let settings = Settings::resolve(&all, Seat::Headless)?;
        let is_kept = kept::is_kept(&settings, &all)?;
        Ok::<_, Failure>((settings, is_kept))
    })
    .await??;
    let prompt = match prompt {
        Err(failure) if !is_kept => return Err(failure),
        prompt => prompt,
    };
    let chosen = provider::choose(&settings).await?.paced(Unread::IsTheEnd);
    let bound = verification.commitments();
    let is_bound_anew = !bound.is_empty();
    let (opened, settings) = apart::opened(settings, options, chosen, None, bound).await?;
    match prompt {
        Ok(prompt) => {
            let (attaching, is_quiet) = (opened.attaching.clone(), options.quiet);
            let attached = apart(move || {
                if !is_quiet {
                    say_what_stays_text(&prompt, &attaching);
                }
                attaching.to(&prompt, &images)
            })
            .await?;
            let attached = attached.map_err(|why| Failure::input(format!("cannot send the task: {why}")))?;
            Ok((opened, Some(attached), settings))
        }
        // A run that was left has its task.
        Err(_) if opened.unfinished.is_some() => Ok((opened, None, settings)),
        // Other commands make another agent, which would wait for one.
        Err(_) if opened.was_unfinished && is_bound_anew => Err(Failure::input(
            "cannot resume the interrupted run with `--verify`: it has its own commands; leave `--verify` out or give a new task with `-p`",
        )),
        Err(failure) => Err(failure),
    }
}

/// A task may have been put together from what others wrote, so the files that it names do not go with it.
fn say_what_stays_text(task: &str, attaching: &Attaching) {
    let is_text = |name: &String| (attaching.is_file(name) || attaching.is_folder(name)) && !attaching.is_picture(name);
    let names: Vec<String> =
        mentions(task).into_iter().filter(is_text).take(5).map(|name| format!("@{name}")).collect();
    if !names.is_empty() {
        let names = inline(&names.join(", "));
        say(&format!("agent: not attached: {names}; of what a task names, `agent run` attaches pictures alone"));
    }
}

/// Shows what happens until the agent comes to rest, or until a signal.
async fn drive(
    (opened, prompt, settings): (Opened, Option<Pictured>, Settings),
    printer: &mut Printer,
    mut signals: Signals,
    started: Instant,
) -> RunResult {
    let _door = opened.doorway.open(&opened.id, &opened.handle);
    let Opened { runner, handle, mut notices, id, model, tool_names, before, unfinished, repository, mut mcp, .. } =
        opened;
    printer.init(Init {
        session_id: id.clone(),
        model: model.id.to_string(),
        effort: model.effort,
        tools: tool_names,
        directory: settings.directory.clone(),
        limits: settings.limits,
        mode: settings.permissions.mode,
        sandbox: settings.sandbox.as_ref().map(SandboxReport::of),
    });
    // A reader that is gone already is noticed before anything begins.
    unread::a_moment().await;
    if let Some(why) = lost() {
        return RunResult::of_failure(&Failure::internal(why), started);
    }
    if let Some(left) = &unfinished {
        printer.say(&going_on(left));
    }
    if let Some(mcp) = &mut mcp
        && let Err(failure) = unless_signalled(&mut signals, required(mcp, &handle, printer)).await
    {
        mcp.stop().await;
        return RunResult::of_failure(&failure, started).of_session(id);
    }
    let (task, has_task) = (tokio::spawn(runner.run()), prompt.is_some());
    if let Some(Pictured { message, told }) = prompt {
        told.iter().for_each(|told| printer.say(&inline(&format!("attached {told}"))));
        handle.input(message);
    }
    let signalled = watch(&handle, has_task, printer, &mut signals, &mut notices, mcp.as_mut()).await;
    handle.detach();
    let (ended, cut_short) = apart::ended(task, &mut signals, || {
        printer.say("stopping the end-of-session hooks (Ctrl-C again quits at once)");
        handle.detach();
    })
    .await;
    repository.turn_ended();
    if let (Some(mcp), None) = (&mcp, &cut_short) {
        mcp.stop().await;
    }
    match ended {
        Some(Ok((end, agent))) => {
            let (session, outcome) = (agent.session(), agent.outcome());
            // What the hooks at the session's end came to.
            while let Ok(notice) = notices.try_recv() {
                printer.notice(&notice);
            }
            guesses(&before.ledger, session.ledger()).iter().for_each(|remark| printer.say(remark));
            let result = conclude(&end, session, outcome, signalled, &id, &before.ledger, started);
            match (cut_short, lost().filter(|_| signalled.is_none())) {
                (Some(signal), _) => result.cut_short(signal),
                (None, Some(why)) => result.unread(why),
                (None, None) => result,
            }
        }
        None => RunResult::of_failure(&cut_short.unwrap_or(Signal::Terminate).failure(), started).of_session(id),
        Some(Err(error)) => {
            RunResult::of_failure(&Failure::internal(format!("cannot drive the session: {error}")), started)
        }
    }
}

/// Shows what happens until the agent rests, or it is to be left at once: whether a signal came, and which.
async fn watch(
    agent: &Handle,
    has_task: bool,
    printer: &mut Printer,
    signals: &mut Signals,
    notices: &mut Notices,
    mut mcp: Option<&mut Mcp>,
) -> Option<Signal> {
    let mut signalled = None;
    let mut is_unread = false;
    // A run that was left may come to rest before the new task is taken.
    let mut is_taken = !has_task;
    loop {
        tokio::select! {
            biased;
            Some(signal) = signals.recv() => match (signal, signalled) {
                // The first interrupt ends the turn in order; anything more leaves at once, and the session can be resumed.
                (Signal::Interrupt, None) => {
                    printer.say("stopping (Ctrl-C again quits at once)");
                    signalled = Some(Signal::Interrupt);
                    unread::signalled();
                    agent.cancel();
                }
                (signal, before) => {
                    if before.is_some() {
                        unread::leave_at_once();
                    }
                    signalled = Some(signal);
                    break;
                }
            },
            change = told(mcp.as_deref_mut()) => {
                // A run has one turn, so what comes late comes in the middle of it.
                let told = mcp.as_deref_mut().and_then(|mcp| mcp.take(change, true, agent));
                told.iter().for_each(|told| printer.say(told));
            }
            // An answer without a reader is not worth its price.
            () = terminal::lost(), if !is_unread => {
                is_unread = true;
                agent.cancel();
            }
            notice = notices.recv() => {
                let Some(notice) = notice else { break };
                printer.notice(&notice);
                match notice {
                    Notice::Lifecycle(row) if row.on == lifecycle::Trigger::InputReceived => is_taken = true,
                    Notice::Refused(rejected) if rejected.event() == "InputReceived" => break,
                    Notice::Rested { .. } if is_taken => break,
                    _ => {}
                }
            }
        }
    }
    signalled
}

/// Waits for the servers that the run needs.
pub(super) async fn required(mcp: &mut Mcp, agent: &Handle, printer: &mut Printer) -> Result<(), Failure> {
    let (told, result) = mcp.required(agent).await;
    told.iter().for_each(|told| printer.say(told));
    result
}

/// That a run goes on which was left before it came to rest.
pub(crate) fn going_on(lifecycle: &Lifecycle) -> String {
    let (bound, rounds) = (lifecycle.commitments().len(), lifecycle.rounds());
    if bound == 0 {
        return String::from("resuming the interrupted run");
    }
    let (commitments, reports) = (counted(bound as u64, "commitment"), counted(rounds, "gap report"));
    format!("resuming the interrupted run: {commitments}, {reports} so far")
}

/// What of the tokens and the cost is not known, said once.
fn guesses(before: &agent_core::budget::Ledger, after: &agent_core::budget::Ledger) -> Vec<String> {
    let calls = after.model_calls - before.model_calls;
    let estimated = after.estimated_calls - before.estimated_calls;
    let unpriced = after.unpriced_calls - before.unpriced_calls;
    let said = [
        (estimated, "the provider did not report the tokens, so they are estimated"),
        (
            unpriced,
            "no price is known for the model, so the cost is unknown (set the price in the configuration, under `[models]`)",
        ),
    ];
    let said = said.into_iter().filter(|(count, _)| *count > 0);
    // A call that ended with an earlier program was counted there, and is charged here.
    said.map(|(count, text)| format!("for {count} of {} {text}", counted(calls.max(count), "model call"))).collect()
}

/// The one outcome. A signal that left at once stands above what the session says.
pub(super) fn conclude(
    end: &End,
    session: &Session,
    outcome: Option<Outcome>,
    signalled: Option<Signal>,
    id: &str,
    before: &agent_core::budget::Ledger,
    started: Instant,
) -> RunResult {
    let (code, subtype, error) = match (end, signalled, &outcome) {
        (_, Some(Signal::Terminate), _) => (143, "cancelled", Some(String::from("terminated"))),
        (End::JournalFailed(error), Some(Signal::Interrupt), _) => {
            (130, "cancelled", Some(format!("interrupted, and the journal is incomplete: {error}")))
        }
        (End::JournalFailed(error), None, _) => (1, OutcomeKind::Failed.subtype(), Some(error.to_string())),
        (_, Some(Signal::Interrupt), None) => (130, "cancelled", Some(String::from("interrupted"))),
        (_, _, Some(outcome)) => (outcome.kind.exit_code(), outcome.kind.subtype(), outcome.error.clone()),
        (_, None, None) => {
            (1, OutcomeKind::Failed.subtype(), Some(String::from("the session ended without an outcome")))
        }
    };
    let ended = outcome.map(|Outcome { text, denials, evidence, .. }| (text, denials, evidence));
    let (text, denials, evidence) = ended.unwrap_or_default();
    let (num_turns, total_cost_usd, usage) = used(before, session.ledger(), session.has_open_cost());
    RunResult {
        subtype,
        is_error: code != 0,
        exit_code: code,
        result: text,
        verification: evidence.words(),
        error,
        session_id: id.to_owned(),
        num_turns,
        duration_ms: elapsed_ms(started),
        total_cost_usd,
        usage,
        permission_denials: denials.iter().map(|denial| DenialReport::of(denial, None)).collect(),
        agents: Vec::new(),
        terminal_state: format!("{:?}", session.state()),
        raise: Raise::of(session),
        messages: None,
    }
}

impl RunResult {
    pub(super) fn of_failure(failure: &Failure, started: Instant) -> Self {
        Self {
            subtype: failure.subtype(),
            is_error: true,
            exit_code: failure.code,
            result: String::new(),
            verification: Evidence::Unverified.words(),
            error: Some(failure.message.clone()),
            session_id: String::new(),
            num_turns: 0,
            duration_ms: elapsed_ms(started),
            total_cost_usd: Some(0.0),
            usage: UsageReport::default(),
            permission_denials: Vec::new(),
            agents: Vec::new(),
            terminal_state: String::from("Ready"),
            raise: None,
            messages: None,
        }
    }

    /// The same, when a signal stopped the hooks at the session's end.
    pub(super) fn cut_short(self, signal: Signal) -> Self {
        let failure = signal.failure();
        let error = format!("{}, and the end-of-session hooks were stopped", failure.message);
        Self { subtype: failure.subtype(), is_error: true, exit_code: failure.code, error: Some(error), ..self }
    }

    /// The same, when it had no reader.
    pub(super) fn unread(self, why: String) -> Self {
        let failure = Failure::internal(why);
        Self {
            subtype: failure.subtype(),
            is_error: true,
            exit_code: failure.code,
            error: Some(failure.message),
            ..self
        }
    }

    /// The same for an abandoned session: its cost is unknown.
    pub(super) fn of_session(self, session_id: String) -> Self {
        Self { session_id, total_cost_usd: None, ..self }
    }
}

fn elapsed_ms(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

const WRONG_USAGE: u8 = 2;
