//! `agent run`: one task, headless, exactly one outcome.

use crate::args::{Options, OutputFormat, Run};
use crate::failure::Failure;
use crate::provider;
use crate::settings::{Seat, Settings};
use crate::setup::{self, Opened};
use crate::signals::{self, Signal};
use crate::terminal::{put, say};
use crate::view::{Level, View};
use crate::wire::{DenialReport, Line, RunResult, UsageReport, used};
use agent_core::session::{Outcome, OutcomeKind, Session, Trigger};
use agent_runner::{End, Notice};
use std::io::{self, IsTerminal, Read};
use std::time::Instant;

/// Does the task and returns the exit code.
pub(crate) async fn run(arguments: Run) -> u8 {
    let started = Instant::now();
    let Run { prompt, words, options } = arguments;
    let result = match begin(prompt, &words, &options).await {
        Ok(opened) => drive(opened, &options, started).await,
        Err(failure) => RunResult::of_failure(&failure, started),
    };
    let code = result.exit_code;
    finish(result, &options);
    code
}

/// Everything before the first model call.
async fn begin(
    prompt: Option<String>,
    words: &[String],
    options: &Options,
) -> Result<(Opened, String, Settings), Failure> {
    let prompt = task(prompt, words)?;
    let settings = Settings::resolve(options, Seat::Headless)?;
    let chosen = provider::choose(&settings).await?;
    let opened = setup::open(&settings, options, chosen, None)?;
    Ok((opened, prompt, settings))
}

/// Shows what happens until the prompt that follows our input, or until a signal.
async fn drive(
    (opened, prompt, settings): (Opened, String, Settings),
    options: &Options,
    started: Instant,
) -> RunResult {
    let Opened { runner, handle, mut notices, id, model, tool_names, before } = opened;
    let mut printer = Printer::new(options, id.clone());
    printer.init(model, tool_names, &settings);
    let mut signals = match signals::listen() {
        Ok(signals) => signals,
        Err(error) => {
            return RunResult::of_failure(&Failure::internal(format!("listen for signals: {error}")), started);
        }
    };
    let task = tokio::spawn(runner.run());
    handle.input(prompt);
    let mut ours = false;
    let mut signalled = None;
    loop {
        tokio::select! {
            biased;
            Some(signal) = signals.recv() => match (signal, signalled) {
                // The first interrupt ends the turn in order; anything more leaves at once, and the session can be resumed.
                (Signal::Interrupt, None) => {
                    say("agent: stopping (Ctrl-C again to leave at once)");
                    signalled = Some(Signal::Interrupt);
                    handle.cancel();
                }
                (signal, _) => {
                    signalled = Some(signal);
                    break;
                }
            },
            notice = notices.recv() => {
                let Some(notice) = notice else { break };
                printer.notice(&notice);
                match notice {
                    // A session that is gone on with prompts first for what was before.
                    Notice::Transition(step) if step.on == Trigger::UserInput => ours = true,
                    Notice::Prompt { outcome: Some(_), .. } if ours => break,
                    _ => {}
                }
            }
        }
    }
    handle.detach();
    match task.await {
        Ok((end, session)) => conclude(&end, &session, signalled, &id, &before, started),
        Err(error) => RunResult::of_failure(&Failure::internal(format!("drive the session: {error}")), started),
    }
}

/// The one outcome. A signal that left at once stands above what the session says.
fn conclude(
    end: &End,
    session: &Session,
    signalled: Option<Signal>,
    id: &str,
    before: &agent_core::budget::Ledger,
    started: Instant,
) -> RunResult {
    let outcome = session.outcome();
    let (code, subtype, error) = match (end, signalled, &outcome) {
        (_, Some(Signal::Terminate), _) => (143, "cancelled", Some(String::from("terminated"))),
        (End::JournalFailed(error), _, _) => (1, OutcomeKind::Failed.subtype(), Some(error.to_string())),
        (_, Some(Signal::Interrupt), None) => (130, "cancelled", Some(String::from("interrupted"))),
        (_, _, Some(outcome)) => (outcome.kind.exit_code(), outcome.kind.subtype(), outcome.error.clone()),
        (_, None, None) => {
            (1, OutcomeKind::Failed.subtype(), Some(String::from("the session ended without an outcome")))
        }
    };
    let (text, denials) = outcome.map(|Outcome { text, denials, .. }| (text, denials)).unwrap_or_default();
    let (num_turns, total_cost_usd, usage) = used(before, session.ledger());
    RunResult {
        subtype,
        is_error: code != 0,
        exit_code: code,
        result: text,
        error,
        session_id: id.to_owned(),
        num_turns,
        duration_ms: elapsed_ms(started),
        total_cost_usd,
        usage,
        permission_denials: denials.iter().map(DenialReport::of).collect(),
        terminal_state: format!("{:?}", session.state()),
    }
}

impl RunResult {
    fn of_failure(failure: &Failure, started: Instant) -> Self {
        Self {
            subtype: failure.subtype(),
            is_error: true,
            exit_code: failure.code,
            result: String::new(),
            error: Some(failure.message.clone()),
            session_id: String::new(),
            num_turns: 0,
            duration_ms: elapsed_ms(started),
            total_cost_usd: Some(0.0),
            usage: UsageReport::default(),
            permission_denials: Vec::new(),
            terminal_state: String::from("Ready"),
        }
    }
}

/// Writes the result: data to standard output, the rest to standard error.
fn finish(result: RunResult, options: &Options) {
    let mut view = View::new(false, Level::of(options.quiet, false));
    if let Some(error) = &result.error {
        view.error(error);
    }
    for denial in &result.permission_denials {
        view.error(&denial.line());
    }
    if result.exit_code == 61 {
        view.error("nobody could be asked: allow such calls with `--allow RULE`, or choose a `--permission-mode`");
    }
    if !result.session_id.is_empty() && result.is_error {
        view.tell(&format!("session {} can be gone on with: agent resume {0}", result.session_id));
    }
    // Nobody may be left to read it; the exit code says the same.
    let _ = match options.output_format.unwrap_or_default() {
        OutputFormat::Json | OutputFormat::StreamJson => put(&result.text()),
        OutputFormat::Text if io::stdout().is_terminal() => Ok(()),
        OutputFormat::Text if result.result.is_empty() => Ok(()),
        OutputFormat::Text => put(&format!("{}\n", result.result.trim_end())),
    };
}

/// Shows notices in the chosen format.
struct Printer {
    format: OutputFormat,
    with_partial: bool,
    session_id: String,
    view: View,
}

impl Printer {
    fn new(options: &Options, session_id: String) -> Self {
        let format = options.output_format.unwrap_or_default();
        let is_live = format == OutputFormat::Text && io::stdout().is_terminal();
        let level = Level::of(options.quiet, options.verbose);
        Self { format, with_partial: options.include_partial_messages, session_id, view: View::new(is_live, level) }
    }

    fn init(&self, model: String, tools: Vec<String>, settings: &Settings) {
        if self.format == OutputFormat::StreamJson {
            let line = Line::System {
                subtype: "init",
                session_id: self.session_id.clone(),
                model,
                tools,
                cwd: settings.directory.display().to_string(),
                permission_mode: format!("{:?}", settings.permissions.mode),
            };
            // A reader that is gone does not stop the work.
            let _ = put(&line.text());
        }
    }

    fn notice(&mut self, notice: &Notice) {
        if self.format == OutputFormat::StreamJson
            && let Some(line) = Line::of(notice, &self.session_id, self.with_partial)
        {
            let _ = put(&line.text());
        }
        // An error that ends the run is told once, with the result.
        if !matches!(notice, Notice::Error { .. }) {
            self.view.notice(notice);
        }
    }
}

/// The task: from the flag, the words, or standard input where it was asked for or nothing else is there.
fn task(prompt: Option<String>, words: &[String]) -> Result<String, Failure> {
    let said = match prompt {
        Some(prompt) => Some(prompt),
        None if words.is_empty() => None,
        None => Some(words.join(" ")),
    };
    let text = match said.as_deref() {
        Some("-") => read_stdin()?,
        Some(text) => text.to_owned(),
        None if io::stdin().is_terminal() => {
            return Err(Failure::input("read the task: say it with `-p PROMPT`, or pipe it in"));
        }
        None => read_stdin()?,
    };
    if text.trim().is_empty() { Err(Failure::input("read the task: it is empty")) } else { Ok(text) }
}

fn read_stdin() -> Result<String, Failure> {
    let mut text = String::new();
    match io::stdin().lock().take(MAX_PROMPT_BYTES + 1).read_to_string(&mut text) {
        Ok(length) if length as u64 > MAX_PROMPT_BYTES => Err(Failure::input(format!(
            "read the task from standard input: it is longer than {MAX_PROMPT_BYTES} bytes"
        ))),
        Ok(_) => Ok(text),
        Err(error) => Err(Failure::input(format!("read the task from standard input: {error}"))),
    }
}

fn elapsed_ms(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

const MAX_PROMPT_BYTES: u64 = 4 * 1024 * 1024;
