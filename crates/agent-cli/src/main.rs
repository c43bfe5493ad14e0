//! The `agent` program. Thin on purpose: arguments, configuration and terminal; the agent itself is in `agent-core`.

mod args;
mod config_file;
mod demo;
mod diagram;
mod doctor;
mod failure;
mod instructions;
mod job;
mod prompt;
mod provider;
mod run;
mod settings;
mod setup;
mod signals;
mod terminal;
mod tools;
mod units;
mod view;
mod wire;

use args::{Cli, Command, Options};
use clap::Parser;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    // One thread is enough: the work is waiting, and what computes runs on threads of its own.
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return end(Err(Failure::internal(format!("start the runtime: {error}")))),
    };
    let result = runtime.block_on(dispatch(cli));
    // A thread that reads the terminal cannot be stopped, and leaving does not wait for it.
    runtime.shutdown_background();
    end(result)
}

async fn dispatch(cli: Cli) -> Result<u8, Failure> {
    match cli.command {
        None => prompt::run(cli.options).await,
        Some(Command::Run(arguments)) => Ok(run::run(arguments).await),
        Some(Command::Job(arguments)) => job::dispatch(arguments).await,
        Some(Command::Demo(arguments)) => demo::run(arguments).await,
        Some(Command::Resume(arguments)) => {
            let continue_newest = arguments.id.is_none();
            prompt::run(Options { continue_newest, session_id: arguments.id, ..arguments.options }).await
        }
        Some(Command::Diagram(arguments)) => diagram::run(&arguments),
        Some(Command::Doctor(options)) => Ok(doctor::run(&options)),
        Some(Command::Tools) => tools::run(),
    }
}

fn end(result: Result<u8, Failure>) -> ExitCode {
    match result {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            terminal::say(&format!("agent: {}", terminal::escaped(&failure.message)));
            ExitCode::from(failure.code)
        }
    }
}
