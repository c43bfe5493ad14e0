//! Commands that come to what a test says, without a process.

use crate::log::{Log, lock};
use agent_core::ports::{CancelSignal, Command, CommandError, CommandOutput, CommandRunner, Exit};
use async_trait::async_trait;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex};

/// Runs nothing: each command gets the next scripted result. Clones share script and records.
///
/// A command beyond the script cannot be started: "script exhausted".
#[derive(Clone, Default)]
pub struct ScriptedCommands {
    results: Arc<Mutex<VecDeque<Scripted>>>,
    commands: Log<Command>,
}

enum Scripted {
    Output(CommandOutput),
    NotStarted(String),
    UntilCancelled,
    Respond(Respond),
}

type Respond = Box<dyn FnOnce(&Command) -> Result<CommandOutput, CommandError> + Send>;

impl ScriptedCommands {
    /// A script without results.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The next command ends with this code and prints this to standard output.
    #[must_use]
    pub fn exit(self, code: i32, stdout: &str) -> Self {
        self.output(CommandOutput {
            exit: Exit::Code(code),
            stdout: stdout.as_bytes().to_vec(),
            stderr: Vec::new(),
            dropped_bytes: 0,
        })
    }

    /// The next command's time runs out at once.
    #[must_use]
    pub fn timed_out(self) -> Self {
        self.output(ended_by(Exit::TimedOut))
    }

    /// Scripts the result of the next command.
    #[must_use]
    pub fn output(self, output: CommandOutput) -> Self {
        self.then(Scripted::Output(output))
    }

    /// The next command cannot be started, and the system says this.
    #[must_use]
    pub fn not_started(self, found: &str) -> Self {
        self.then(Scripted::NotStarted(found.to_owned()))
    }

    /// The next command runs until the signal fires.
    #[must_use]
    pub fn until_cancelled(self) -> Self {
        self.then(Scripted::UntilCancelled)
    }

    /// Scripts the next command with a function that makes its result.
    #[must_use]
    pub fn respond(self, with: impl FnOnce(&Command) -> Result<CommandOutput, CommandError> + Send + 'static) -> Self {
        self.then(Scripted::Respond(Box::new(with)))
    }

    /// The commands so far.
    #[must_use]
    pub fn commands(&self) -> Log<Command> {
        self.commands.clone()
    }

    fn then(self, result: Scripted) -> Self {
        lock(&self.results).push_back(result);
        self
    }
}

fn ended_by(exit: Exit) -> CommandOutput {
    CommandOutput { exit, stdout: Vec::new(), stderr: Vec::new(), dropped_bytes: 0 }
}

fn not_started(command: &Command, found: &str) -> CommandError {
    CommandError { program: command.program.clone(), found: found.to_owned() }
}

#[async_trait]
impl CommandRunner for ScriptedCommands {
    async fn run(&self, command: &Command, cancel: &dyn CancelSignal) -> Result<CommandOutput, CommandError> {
        self.commands.push(command.clone());
        let scripted = lock(&self.results).pop_front();
        match scripted {
            Some(Scripted::Output(output)) => Ok(output),
            Some(Scripted::NotStarted(found)) => Err(not_started(command, &found)),
            Some(Scripted::UntilCancelled) => {
                cancel.cancelled().await;
                Ok(ended_by(Exit::Cancelled))
            }
            Some(Scripted::Respond(with)) => with(command),
            None => Err(not_started(command, "script exhausted")),
        }
    }
}

impl fmt::Debug for ScriptedCommands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedCommands")
            .field("results_left", &lock(&self.results).len())
            .field("commands", &self.commands)
            .finish()
    }
}
