//! Commands that run while the model does something else: started by `bash`, read and ended by calls of their own.
//!
//! 1. None outlives the tools: dropping them ends everything a command started, and waits for that.
//! 2. Memory is bounded: the end of the unread output is kept.
//! 3. At most so many run at a time, and each for at most so long.

use crate::bash::Around;
use crate::text::{join_cut, lossy, split_incomplete};
use agent_exec::{Finished, Processes, StartError, Streams};
use agent_types::ports::{CancelSignal, Command};
use async_trait::async_trait;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The commands that were started and whose end was not read yet. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Background {
    jobs: Arc<Mutex<Jobs>>,
}

#[derive(Default)]
pub(crate) struct Jobs {
    started: u64,
    by_id: BTreeMap<String, Job>,
}

/// What runs in the background, for those who show it. It keeps nothing alive: the commands end with the tools.
#[derive(Clone, Debug, Default)]
pub struct BackgroundCommands(Weak<Mutex<Jobs>>);

/// A command that runs in the background.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunningCommand {
    /// As `bash_output` and `bash_kill` call it.
    pub id: String,
    /// As the model wrote it.
    pub command: String,
    /// For how long it has been running.
    pub age: Duration,
}

impl BackgroundCommands {
    /// Those that run now, the oldest first.
    #[must_use]
    pub fn running(&self) -> Vec<RunningCommand> {
        let Some(jobs) = self.0.upgrade() else { return Vec::new() };
        let jobs = jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let running = jobs.by_id.iter().filter(|(_, job)| !job.state.has_ended());
        let mut running: Vec<RunningCommand> = running
            .map(|(id, job)| RunningCommand {
                id: id.clone(),
                command: job.state.command.clone(),
                age: job.state.begun.elapsed(),
            })
            .collect();
        running.sort_by_key(|running| std::cmp::Reverse(running.age));
        running
    }
}

/// A command, on a thread of its own: it outlives the runtime of the call that started it.
struct Job {
    state: Arc<State>,
    /// Says that the thread is done, by being gone.
    thread: Receiver<Infallible>,
}

impl Drop for Jobs {
    /// Ends all of them, and waits for that: the program may be about to exit.
    fn drop(&mut self) {
        for job in self.by_id.values() {
            job.state.stop.send_replace(true);
        }
        let deadline = Instant::now() + PATIENCE_AT_THE_END;
        for job in self.by_id.values() {
            let _ = job.thread.recv_timeout(deadline.saturating_duration_since(Instant::now()));
        }
    }
}

struct State {
    command: String,
    unread: Mutex<Unread>,
    around: Around,
    begun: Instant,
    stop: watch::Sender<bool>,
    end: watch::Sender<Option<End>>,
}

type End = Result<Finished, Arc<StartError>>;

/// What a command printed that was not read yet.
#[derive(Default)]
struct Unread {
    bytes: Vec<u8>,
    dropped_bytes: u64,
}

/// What is known of a command when it is looked at.
pub(crate) struct Look {
    /// What it printed since it was last looked at.
    pub(crate) output: String,
    /// How it ended; nothing while it runs.
    pub(crate) end: Option<End>,
    /// How long it has been running.
    pub(crate) age: Duration,
    /// In what it runs.
    pub(crate) around: Around,
}

impl Background {
    pub(crate) fn seen(&self) -> BackgroundCommands {
        BackgroundCommands(Arc::downgrade(&self.jobs))
    }

    /// Starts a command and gives its id.
    ///
    /// # Errors
    /// When too many run, or there can be no thread for it.
    pub(crate) fn start(&self, processes: Processes, command: Command, around: Around) -> Result<String, String> {
        let mut jobs = self.jobs();
        let running = jobs.by_id.iter().filter(|(_, job)| !job.state.has_ended());
        let running: Vec<&str> = running.map(|(id, _)| id.as_str()).collect();
        if running.len() >= MOST_RUNNING {
            let running = running.join(", ");
            return Err(format!(
                "{MOST_RUNNING} commands are already running in the background: end one first ({running})"
            ));
        }
        let id = format!("bash_{}", jobs.started + 1);
        let state = Arc::new(State {
            // The last argument of the shell.
            command: command.arguments.last().cloned().unwrap_or_default(),
            unread: Mutex::default(),
            around,
            begun: Instant::now(),
            stop: watch::Sender::new(false),
            end: watch::Sender::new(None),
        });
        let (alive, thread) = channel();
        let for_thread = Arc::clone(&state);
        let work = move || {
            let _alive = alive;
            run(&processes, &command, &for_thread);
        };
        let spawned = std::thread::Builder::new().name(id.clone()).spawn(work);
        spawned.map_err(|error| format!("the command could not be started: {error}"))?;
        jobs.started += 1;
        jobs.by_id.insert(id.clone(), Job { state, thread });
        Ok(id)
    }

    /// Looks at a command, after waiting so long for its end. What has ended and was looked at is forgotten.
    ///
    /// # Errors
    /// When there is no such command.
    pub(crate) async fn look(&self, id: &str, patience: Duration, cancel: &dyn CancelSignal) -> Result<Look, String> {
        let state = self.state_of(id)?;
        let mut ended = state.end.subscribe();
        tokio::select! {
            biased;
            _ = ended.wait_for(Option::is_some) => {}
            () = cancel.cancelled() => {}
            () = tokio::time::sleep(patience) => {}
        }
        let end = state.end.borrow().clone();
        let output = state.take_unread(end.is_some());
        if end.is_some() {
            self.jobs().by_id.remove(id);
        }
        Ok(Look { output, end, age: state.begun.elapsed(), around: state.around.clone() })
    }

    /// Ends a command with everything it started, and looks at it.
    ///
    /// # Errors
    /// When there is no such command.
    pub(crate) async fn end(&self, id: &str, cancel: &dyn CancelSignal) -> Result<Look, String> {
        self.state_of(id)?.stop.send_replace(true);
        self.look(id, PATIENCE_FOR_ENDING, cancel).await
    }

    fn state_of(&self, id: &str) -> Result<Arc<State>, String> {
        let jobs = self.jobs();
        match jobs.by_id.get(id) {
            Some(job) => Ok(Arc::clone(&job.state)),
            None => {
                let known: Vec<&str> = jobs.by_id.keys().map(String::as_str).collect();
                let known = if known.is_empty() { String::from("none") } else { known.join(", ") };
                Err(format!(
                    "there is no background command `{id}`; there are: {known}. A command is forgotten once its end has been read, and \
                     ends with the session's program"
                ))
            }
        }
    }

    fn jobs(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn run(processes: &Processes, command: &Command, state: &State) {
    let stop = Stop(state.stop.subscribe());
    let keep = |chunk: &[u8]| state.keep(chunk);
    let end = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(processes.run_streaming(command, Streams::Merged, &stop, &keep)),
        Err(error) => Err(StartError::System(error)),
    };
    state.end.send_replace(Some(end.map_err(Arc::new)));
}

impl State {
    fn has_ended(&self) -> bool {
        self.end.borrow().is_some()
    }

    fn keep(&self, chunk: &[u8]) {
        let mut unread = self.unread();
        unread.bytes.extend_from_slice(chunk);
        // Trimmed only at twice the limit: every byte is moved at most once.
        if unread.bytes.len() > 2 * MOST_UNREAD_BYTES {
            unread.trim();
        }
    }

    /// The output since the last time. A character that is not complete yet waits, unless nothing more comes.
    fn take_unread(&self, is_all: bool) -> String {
        let mut unread = self.unread();
        unread.trim();
        let bytes = std::mem::take(&mut unread.bytes);
        let (whole, rest) = if is_all { (&*bytes, &[][..]) } else { split_incomplete(&bytes) };
        unread.bytes = rest.to_vec();
        match std::mem::take(&mut unread.dropped_bytes) {
            0 => lossy(whole).into_owned(),
            dropped_bytes => join_cut(&[], dropped_bytes, whole),
        }
    }

    fn unread(&self) -> MutexGuard<'_, Unread> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Unread {
    fn trim(&mut self) {
        let excess = self.bytes.len().saturating_sub(MOST_UNREAD_BYTES);
        self.bytes.drain(..excess);
        self.dropped_bytes += excess as u64;
    }
}

/// A stop of this one command.
struct Stop(watch::Receiver<bool>);

#[async_trait]
impl CancelSignal for Stop {
    fn is_cancelled(&self) -> bool {
        *self.0.borrow()
    }

    async fn cancelled(&self) {
        if self.0.clone().wait_for(|stopped| *stopped).await.is_err() {
            // It can no longer be stopped; the state that this is part of says otherwise.
            std::future::pending::<()>().await;
        }
    }
}

const MOST_RUNNING: usize = 16;
const MOST_UNREAD_BYTES: usize = 30_000;
const PATIENCE_FOR_ENDING: Duration = Duration::from_secs(10);
/// Ending a process tree takes a grace and then no time.
const PATIENCE_AT_THE_END: Duration = Duration::from_secs(2);
