//! The `agent` program. Thin on purpose: arguments, configuration and terminal; the agent itself is in `agent-core`.

mod commands;
mod config;
mod failure;
mod hooks;
mod mcp;
mod model;
mod screen;
mod session;
mod skills;
mod walls;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use commands::args::{Cli, Command, ConfigCommand, Resume};
use commands::sessions::Picked;
use commands::{
    acp, agents, config_show, demo, diagram, doctor, help_pages, job, listing, mcp as mcp_commands, models, prompt,
    run, sessions, tools, trust, undo,
};
use config::file::state_home;
use config::options::Options;
use failure::Failure;
use model::secrets;
use screen::{signals, terminal, threads, unread};
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Before anything else: commands are prepared, and watched over, by this program started anew.
    if let Some(code) = agent_exec::help() {
        return code;
    }
    agent_exec::keep_to_itself();
    let _last_words = terminal::LastWords;
    terminal::take_over_panics();
    terminal::keep_secret(&secrets::redactor());
    let runtime = match threads::runtime() {
        Ok(runtime) => runtime,
        Err(failure) => return end(Err(failure)),
    };
    // Before anything is written, the help too.
    if let Err(failure) = runtime.block_on(async { signals::outlive_large_files() }) {
        return end(Err(failure));
    }
    let (cli, first) = match parsed(std::env::args_os().collect()) {
        Ok(parsed) => parsed,
        Err(error) => return usage(&error),
    };
    if let Some(home) = state_home() {
        agent_exec::leftovers::keep_notes_in(&home.join(LEFTOVERS));
    }
    let thread = threads::keep_one(&runtime);
    let code = runtime.block_on(async {
        let code = told(dispatch(cli, first.as_deref(), thread).await);
        // A question may still wait on another thread for its key.
        terminal::give_back();
        unread::end(code).await
    });
    // A thread that reads the terminal cannot be stopped, and leaving does not wait for it.
    runtime.shutdown_background();
    agent_exec::leftovers::forget_notes();
    ExitCode::from(code)
}

/// Where notes of temporary files are kept, in the state directory.
const LEFTOVERS: &str = "leftovers";

/// What was asked for, and the first message: an argument with a blank in it is no command, so it is what the person wants done.
fn parsed(mut arguments: Vec<OsString>) -> Result<(Cli, Option<String>), clap::Error> {
    let error = match Cli::try_parse_from(&arguments) {
        Ok(cli) => return Ok((cli, None)),
        Err(error) => error,
    };
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else { return Err(error) };
    let Some(at) = arguments.iter().position(|argument| argument.to_str() == Some(word)) else { return Err(error) };
    if !word.trim().contains([' ', '\n']) {
        return Err(error);
    }
    let first = word.clone();
    arguments.remove(at);
    let cli = Cli::try_parse_from(&arguments)?;
    // Beside a command it can only be a slip.
    if cli.command.is_some() { Err(error) } else { Ok((cli, Some(first))) }
}

/// Does what was asked for. What only reads needs no second thread.
async fn dispatch(cli: Cli, first: Option<&str>, thread: Result<(), Failure>) -> Result<u8, Failure> {
    match cli.command {
        None => {
            thread?;
            // A session that is continued at the prompt is used as it was.
            let options = Options { must_exist: cli.options.continue_newest, ..cli.options };
            cli.misplaced.refuse_at_prompt()?;
            if options.fork_session && !options.continue_newest && options.session_id.is_none() {
                return Err(Failure::usage("`--fork-session` needs `--continue` or `--session-id`"));
            }
            prompt::run(options, &cli.verification, first).await
        }
        Some(Command::Run(arguments)) => Ok(run::run(arguments, thread).await),
        Some(Command::Job(arguments)) => {
            thread?;
            job::dispatch(arguments).await
        }
        Some(Command::Demo(arguments)) => {
            thread?;
            demo::run(arguments).await
        }
        Some(Command::Resume(arguments)) => {
            thread?;
            resume(arguments).await
        }
        Some(Command::Sessions(arguments)) => sessions::dispatch(&arguments),
        Some(Command::Replay(arguments)) => sessions::replay(&arguments),
        Some(Command::Explain(arguments)) => sessions::explain(&arguments),
        Some(Command::Branch(arguments)) => sessions::branch(&arguments),
        Some(Command::Rewind(arguments)) => {
            thread?;
            sessions::rewind(&arguments).await
        }
        Some(Command::Ps(arguments)) => agents::ps(&arguments),
        Some(Command::Show(arguments)) => agents::show(&arguments),
        Some(Command::Attach(arguments)) => agents::attach(&arguments),
        Some(Command::Send(arguments)) => agents::send(&arguments),
        Some(Command::Stop(arguments)) => agents::stop(&arguments),
        Some(Command::Fleet(arguments)) => agents::fleet(&arguments),
        Some(Command::Undo(arguments)) => {
            thread?;
            undo::run(&arguments).await
        }
        Some(Command::Trust(arguments)) => trust::run(&arguments),
        Some(Command::Mcp(arguments)) => mcp_commands::run(arguments, thread).await,
        Some(Command::Acp(arguments)) => {
            thread?;
            acp::run(arguments).await
        }
        Some(Command::Diagram(arguments)) => diagram::run(&arguments),
        Some(Command::Doctor(options)) => doctor::run(&options).await,
        Some(Command::Models(arguments)) => models::run(&arguments).await,
        Some(Command::Commands(arguments)) => listing::run(&arguments),
        Some(Command::Skills(arguments)) => listing::skills(&arguments),
        Some(Command::Tools) => tools::run(),
        Some(Command::Config(arguments)) => match arguments.command {
            ConfigCommand::Show(arguments) => config_show::run(&arguments),
        },
        Some(Command::Sandbox(arguments)) => walls::sandbox::run(&arguments),
        Some(Command::Completions(arguments)) => help_pages::completions(&arguments),
        Some(Command::Man(arguments)) => help_pages::man(&arguments),
    }
}

/// Resumes a session at the prompt: the one that is named, chosen, or the newest.
async fn resume(arguments: Resume) -> Result<u8, Failure> {
    let Resume { id, options, verification, misplaced } = arguments;
    misplaced.refuse_at_prompt()?;
    if options.no_session || options.session_id.is_some() || (options.continue_newest && id.is_some()) {
        return Err(Failure::usage("`resume` resumes one session: give its id, or nothing for the newest"));
    }
    let is_at_terminal = !options.plain && terminal::is_attended();
    let id = match id {
        None if is_at_terminal && !options.continue_newest => match sessions::picked(options.directory.as_deref())? {
            Picked::None => return Ok(0),
            Picked::Session(id) => Some(id),
            Picked::Newest => None,
        },
        id => id,
    };
    let continue_newest = id.is_none();
    let options = Options { continue_newest, session_id: id, must_exist: true, ..options };
    prompt::run(options, &verification, None).await
}

/// Help that was asked for, or what is wrong with the arguments, which may hold anything.
fn usage(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    if error.use_stderr() {
        terminal::say(text.trim_end());
        if error.kind() == ErrorKind::InvalidSubcommand {
            terminal::say("To start with a task, give it as one quoted argument: agent \"fix the tests\"");
        }
    } else if let Err(error) = terminal::print(&text) {
        return end(Err(Failure::internal(format!("cannot write the help: {error}"))));
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

fn end(result: Result<u8, Failure>) -> ExitCode {
    ExitCode::from(told(result))
}

/// Says what went wrong, and gives the exit code.
fn told(result: Result<u8, Failure>) -> u8 {
    result.unwrap_or_else(|failure| {
        terminal::say(&format!("agent: {}", failure.message));
        failure.code
    })
}
