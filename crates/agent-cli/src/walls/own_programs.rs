//! Starts the programs that the agent runs by itself, such as `git`, and reads their answers.

use agent_core::ports::{CancelSignal, Command, Exit};
use agent_exec::{Environment, Fence, Helper, Processes, SearchPath, Streams};
use async_trait::async_trait;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::watch;

/// For the agent's own programs: they find others there, too, and end with the agent, however it ends.
pub(crate) fn processes(programs: &SearchPath) -> Processes {
    let environment = Environment::inherited().with_programs(programs);
    let processes = Processes::with_environment(environment).finding_programs(programs.clone());
    processes.watched_by(Helper::own_program())
}

/// Runs one of the agent's own programs in a directory, and not for long; what it wrote, if it ended well, or why there is nothing.
pub(crate) fn ask(
    programs: &SearchPath,
    program: &str,
    arguments: &[&str],
    directory: &Path,
) -> Result<Answer, String> {
    ask_with(programs, program, arguments, directory, Vec::new(), PATIENCE)
}

/// The same with more in its environment, and perhaps with less time.
pub(crate) fn ask_with(
    programs: &SearchPath,
    program: &str,
    arguments: &[&str],
    directory: &Path,
    environment: Vec<(String, String)>,
    patience: Duration,
) -> Result<Answer, String> {
    let (patience, limit_bytes) = (patience.min(PATIENCE), OUTPUT_LIMIT_BYTES);
    ask_question(
        programs,
        Question { program, arguments, directory, environment, patience, limit_bytes, writes: Writes::Nothing },
    )
}

/// What a program is asked, and how long and how much it may answer.
pub(crate) struct Question<'a> {
    pub(crate) program: &'a str,
    pub(crate) arguments: &'a [&'a str],
    pub(crate) directory: &'a Path,
    /// More than what the agent's own programs have.
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) patience: Duration,
    pub(crate) limit_bytes: usize,
    pub(crate) writes: Writes,
}

/// What a program that is asked may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writes {
    /// Nothing: an answer needs no file.
    Nothing,
    /// What the user may: the program is the user's choice, and keeps locks and caches of its own.
    AsTheUser,
}

/// Runs a program, and no longer than the question allows.
pub(crate) fn ask_question(programs: &SearchPath, question: Question<'_>) -> Result<Answer, String> {
    let Question { program, arguments, directory, environment, patience, limit_bytes, writes } = question;
    if let Some(why) = what_git_waits_for(program, &environment) {
        return Err(why);
    }
    let timeout_ms = u64::try_from(patience.as_millis()).unwrap_or(u64::MAX);
    let command = Command {
        program: program.to_owned(),
        arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
        directory: directory.to_string_lossy().into_owned(),
        environment,
        stdin: Vec::new(),
        timeout_ms,
        output_limit_bytes: limit_bytes,
    };
    let run = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        // A program that writes on and on is not waited for.
        let room = Room::of(limit_bytes);
        let report = |chunk: &[u8]| room.take(chunk.len());
        let processes = for_questions(programs, writes);
        let finished = runtime.block_on(processes.run_streaming(&command, Streams::Separate, &room, &report));
        finished.map_err(|error| error.to_string()).map(|finished| (finished, room.is_cancelled()))
    };
    // The caller may be in a runtime of its own, which must not be blocked by another one.
    let (finished, is_too_much) = std::thread::scope(|scope| {
        let started = std::thread::Builder::new().name("agent-question".to_owned()).spawn_scoped(scope, run);
        let thread = started.map_err(|error| format!("start a thread: {error}"))?;
        thread.join().map_err(|_| "it panicked".to_owned())?
    })?;
    match finished.exit {
        _ if is_too_much => Err(format!("`{program}` wrote more than {limit_bytes} bytes")),
        Exit::Code(0) => Ok(Answer::Said(finished.stdout.into_bytes())),
        Exit::Code(_) => Ok(Answer::Refused(finished.stderr.into_bytes())),
        Exit::TimedOut => Err(format!("`{program}` did not answer within {timeout_ms} ms")),
        _ => Err(format!("`{program}` was killed")),
    }
}

/// How much a program may still write; once it has written more, it is stopped.
struct Room {
    left_bytes: AtomicUsize,
    is_full: watch::Sender<bool>,
}

impl Room {
    fn of(bytes: usize) -> Self {
        Self { left_bytes: AtomicUsize::new(bytes), is_full: watch::Sender::new(false) }
    }

    fn take(&self, bytes: usize) {
        let left = self.left_bytes.load(Ordering::Relaxed);
        self.left_bytes.store(left.saturating_sub(bytes), Ordering::Relaxed);
        if bytes > left {
            self.is_full.send_replace(true);
        }
    }
}

#[async_trait]
impl CancelSignal for Room {
    fn is_cancelled(&self) -> bool {
        *self.is_full.borrow()
    }

    async fn cancelled(&self) {
        // The sender is this one's own.
        let _ = self.is_full.subscribe().wait_for(|is_full| *is_full).await;
    }
}

/// A file of the user's on which git would spend all the time that it has, at every question.
fn what_git_waits_for(program: &str, environment: &[(String, String)]) -> Option<String> {
    let home = std::env::home_dir();
    let config_home = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let is_file = |name: &str| matches!(name, "GIT_CONFIG_GLOBAL" | "GIT_CONFIG_SYSTEM");
    let more: Vec<PathBuf> =
        environment.iter().filter(|(name, _)| is_file(name)).map(|(_, value)| PathBuf::from(value)).collect();
    let is_git = Path::new(program).file_name().is_some_and(|name| name == "git");
    is_git.then(|| agent_git::odd_users_file(home.as_deref(), config_home.as_deref(), &more)).flatten()
}

/// What is asked ends with this program. Where there is no Landlock it can write as the user may. The program of the unit tests has no
/// helper in it and would run the tests again.
fn for_questions(programs: &SearchPath, writes: Writes) -> Processes {
    let processes = if cfg!(test) { Processes::new().finding_programs(programs.clone()) } else { processes(programs) };
    match Fence::around([]) {
        Ok(fence) if writes == Writes::Nothing => processes.behind(fence),
        Ok(_) | Err(_) => processes,
    }
}

/// What a program that was asked said.
pub(crate) enum Answer {
    /// It ended with status 0.
    Said(Vec<u8>),
    /// It ended with another status, and wrote this to its standard error.
    Refused(Vec<u8>),
}

/// For commands of the model: `bash` is found there, and what it starts by the user's `PATH`.
pub(crate) fn processes_of_commands(programs: &SearchPath) -> Processes {
    Processes::new().finding_programs(programs.clone()).watched_by(Helper::own_program())
}

/// A repository's file may be a pipe on which git waits.
const PATIENCE: Duration = Duration::from_secs(5);
const OUTPUT_LIMIT_BYTES: usize = 64 * 1024 * 1024;
