//! `agent run --input-format stream-json`: a program holds a conversation, a line for everything that it says.
//!
//! ```text
//! lines of the program --> said --> Conversation --> Handle
//!                                     ^      |
//! lines for it <-- Printer <-- notices+      +--> results, questions, what was rejected
//! ```
//!
//! 1. What the agent does is what its notices say; no phase is remembered here.
//! 2. Every turn has one `result`. A conversation that ends in another way than at rest ends with one, too.
//! 3. A line that cannot be used changes nothing, and is answered.
//! 4. At the end of the input the agent finishes what it was told. Nobody answers questions then.

mod asked;
mod said;
mod served;
mod talk;

use crate::commands::args::Run;
use crate::commands::run::{conclude, going_on, required};
use crate::commands::task::Patient;
use crate::config::options::{Options, OutputFormat, Seat, Verification};
use crate::config::settings::Settings;
use crate::failure::Failure;
use crate::model::paced::Unread;
use crate::model::provider;
use crate::screen::approver::{Question, ScreenApprover};
use crate::screen::printer::{Init, Printer};
use crate::screen::signals::{self, Signal, Signals};
use crate::screen::threads;
use crate::screen::unread;
use crate::screen::view::lost;
use crate::screen::wire::{RunResult, SandboxReport};
use crate::session::apart::{self, unless_signalled};
use crate::session::setup::Opened;
use agent_acp::{Line, WAITING_LINES, read_lines};
use agent_runner::End;
use std::io::BufReader;
use std::sync::Arc;
use std::time::Instant;
use talk::{Left, Talk};
use tokio::sync::mpsc;

/// What does not belong to a conversation of which a program says everything.
///
/// # Errors
/// Names the option.
pub(super) fn refuse_misplaced(arguments: &Run) -> Result<(), String> {
    let given = [
        (arguments.prompt.is_some(), "--prompt"),
        (!arguments.words.is_empty(), "a task"),
        (!arguments.images.is_empty(), "--image"),
    ];
    if let Some((_, option)) = given.iter().find(|(is_given, _)| *is_given) {
        return Err(format!(
            "{option} does not go with `--input-format stream-json`: messages are lines of standard input"
        ));
    }
    match arguments.options.output_format {
        Some(OutputFormat::StreamJson) => Ok(()),
        _ => Err(String::from("`--input-format stream-json` needs `--output-format stream-json`")),
    }
}

/// Holds the conversation and returns the exit code.
pub(super) async fn run(
    verification: &Verification,
    options: &Options,
    thread: Result<(), Failure>,
    started: Instant,
) -> u8 {
    let mut printer = Printer::new(options);
    let ended = match thread.and_then(|()| signals::listen()) {
        Ok(mut signals) => match unless_signalled(&mut signals, begin(verification, options)).await {
            Ok(begun) => converse(begun, &mut printer, signals, started).await,
            Err(failure) => Ended::Otherwise(Box::new(RunResult::of_failure(&failure, started))),
        },
        Err(failure) => Ended::Otherwise(Box::new(RunResult::of_failure(&failure, started))),
    };
    match ended {
        Ended::AtRest(code) => printer.leave(code, None, false).await,
        Ended::Otherwise(result) => printer.finish(*result, options).await,
    }
}

/// How a conversation ended.
enum Ended {
    /// Every turn has its result; with this exit code.
    AtRest(u8),
    /// In another way, which is the last result.
    Otherwise(Box<RunResult>),
}

/// A session that is ready, and what goes to it.
struct Begun {
    opened: Opened,
    settings: Settings,
    questions: mpsc::UnboundedReceiver<Question>,
    lines: mpsc::Receiver<Line>,
}

async fn begin(verification: &Verification, options: &Options) -> Result<Begun, Failure> {
    // A program answers as a person in an editor does: its limits are those of one.
    let settings = apart::settings(options, Seat::Editor).await?;
    let chosen = provider::choose(&settings).await?.paced(Unread::IsTheEnd);
    let (approver, questions) = ScreenApprover::new();
    let bound = verification.commitments();
    let (opened, settings) = apart::opened(settings, options, chosen, Some(Arc::new(approver)), bound).await?;
    let (sender, lines) = mpsc::channel(WAITING_LINES);
    threads::start("lines", move || read_lines(BufReader::new(Patient::stdin()), &sender))?;
    Ok(Begun { opened, settings, questions, lines })
}

/// Until the program has nothing more to say, or until a signal.
async fn converse(
    Begun { opened, settings, questions, lines }: Begun,
    printer: &mut Printer,
    mut signals: Signals,
    started: Instant,
) -> Ended {
    let _door = opened.doorway.open(&opened.id, &opened.handle);
    let otherwise = |result: RunResult| Ended::Otherwise(Box::new(result));
    if let Err(failure) = shown(&opened, &settings, printer).await {
        return otherwise(RunResult::of_failure(&failure, started));
    }
    let Opened { runner, handle, mut notices, id, mut mcp, before, repository, background, attaching, .. } = opened;
    if let Some(servers) = &mut mcp
        && let Err(failure) = unless_signalled(&mut signals, required(servers, &handle, printer)).await
    {
        servers.stop().await;
        return otherwise(RunResult::of_failure(&failure, started).of_session(id));
    }
    let task = tokio::spawn(runner.run());
    let named = (&handle, id.as_str());
    let (mut talk, numbers) = Talk::new(printer, &settings, named, attaching, repository.clone(), before.ledger);
    let left = talk.run(&mut signals, &mut notices, (lines, questions, numbers), mcp.as_mut()).await;
    let ((outcome, told, since), exit_code) = (talk.open(), talk.exit_code());
    handle.detach();
    let (ended, cut_short) = apart::ended(task, &mut signals, || {
        printer.say("stopping the end-of-session hooks (Ctrl-C again quits at once)");
        handle.detach();
    })
    .await;
    repository.turn_ended();
    drop(background);
    if let (Some(servers), None) = (&mcp, &cut_short) {
        servers.stop().await;
    }
    while let Ok(notice) = notices.try_recv() {
        printer.notice(&notice);
    }
    let (end, agent) = match ended {
        Some(Ok(ended)) => ended,
        None => {
            let failure = cut_short.unwrap_or(Signal::Terminate).failure();
            return otherwise(RunResult::of_failure(&failure, started).of_session(id));
        }
        Some(Err(error)) => {
            let failure = Failure::internal(format!("cannot drive the session: {error}"));
            return otherwise(RunResult::of_failure(&failure, started));
        }
    };
    let signalled = if let Left::BySignal(signal) = left { Some(signal) } else { None };
    let is_unread = lost().filter(|_| signalled.is_none());
    match (left, &end, cut_short, is_unread) {
        (Left::AtRest, End::Detached, None, None) => match exit_code {
            Ok(code) => Ended::AtRest(code),
            Err(failure) => otherwise(RunResult { session_id: id, ..RunResult::of_failure(&failure, started) }),
        },
        (_, _, cut_short, is_unread) => {
            let result = conclude(&end, agent.session(), outcome, signalled, &id, &told, since);
            otherwise(match (cut_short, is_unread) {
                (Some(signal), _) => result.cut_short(signal),
                (None, Some(why)) => result.unread(why),
                (None, None) => result,
            })
        }
    }
}

/// Writes the first line, and what the session goes on with.
///
/// # Errors
/// Nobody reads it.
async fn shown(opened: &Opened, settings: &Settings, printer: &mut Printer) -> Result<(), Failure> {
    printer.init(Init {
        session_id: opened.id.clone(),
        model: opened.model.id.to_string(),
        effort: opened.model.effort,
        tools: opened.tool_names.clone(),
        directory: settings.directory.clone(),
        limits: settings.limits,
        mode: settings.permissions.mode,
        sandbox: settings.sandbox.as_ref().map(SandboxReport::of),
    });
    // A reader that is gone already is noticed before anything begins.
    unread::a_moment().await;
    if let Some(left) = &opened.unfinished {
        printer.say(&going_on(left));
    }
    lost().map_or(Ok(()), |why| Err(Failure::internal(why)))
}
