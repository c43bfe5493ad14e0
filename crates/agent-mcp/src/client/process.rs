//! A server's process: started by `agent-exec`, talked to, and ended with all that it started.

use super::wire::Link;
use agent_core::ports::{CancelSignal, Command, Exit};
use agent_exec::Processes;
use async_trait::async_trait;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A process that runs. Dropping it ends it at once, with all that it started.
pub(crate) struct Process {
    task: JoinHandle<String>,
    kill: CancellationToken,
}

impl Process {
    /// Starts a program; what it says on its standard error goes into the log.
    pub(crate) fn start(processes: Processes, command: Command, log: Log) -> (Self, oneshot::Receiver<Link>) {
        let (sender, talk) = oneshot::channel();
        let kill = CancellationToken::new();
        let stop = Stop(kill.clone());
        let task = tokio::spawn(async move {
            let written = log.clone();
            let on_error = move |bytes: &[u8]| written.push(bytes);
            let begun = |talk| drop(sender.send(Link::Streams(talk)));
            match processes.run_talking(&command, &stop, &on_error, begun).await {
                Ok(finished) => ended(finished.exit, &log),
                Err(error) => error.to_string(),
            }
        });
        (Self { task, kill }, talk)
    }

    /// Resolves when it has ended, with all that it started: how, in words.
    pub(crate) async fn ended(&mut self) -> String {
        (&mut self.task).await.unwrap_or_else(|error| format!("its process could not be watched: {error}"))
    }

    /// Ends it: its input is closed already, so it has a moment to end by itself, and then it is ended.
    pub(crate) async fn end(&mut self) -> String {
        tokio::select! {
            ended = &mut self.task => ended.unwrap_or_else(|error| error.to_string()),
            () = tokio::time::sleep(GRACE) => {
                self.kill.cancel();
                self.ended().await
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn ended(exit: Exit, log: &Log) -> String {
    let how = match exit {
        Exit::Code(code) => format!("it exited with {code}"),
        Exit::Signal(signal) => format!("the signal {signal} ended it"),
        Exit::TimedOut | Exit::Cancelled => "it closed its output, and was ended".to_owned(),
    };
    match log.last_line() {
        Some(line) => format!("{how}: {line}"),
        None => how,
    }
}

struct Stop(CancellationToken);

#[async_trait]
impl CancelSignal for Stop {
    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    async fn cancelled(&self) {
        self.0.cancelled().await;
    }
}

/// The end of what a server wrote to its standard error. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn push(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(bytes.get(bytes.len().saturating_sub(LOG_LIMIT_BYTES)..).unwrap_or_default());
        // Cut at twice the limit: every byte is moved at most once.
        if kept.len() > 2 * LOG_LIMIT_BYTES {
            let excess = kept.len() - LOG_LIMIT_BYTES;
            kept.drain(..excess);
        }
    }

    /// The last lines.
    pub(crate) fn end(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let end = kept.get(kept.len().saturating_sub(LOG_LIMIT_BYTES)..).unwrap_or_default();
        crate::plain(&String::from_utf8_lossy(end))
    }

    fn last_line(&self) -> Option<String> {
        let end = self.end();
        let line = end.lines().map(str::trim).rfind(|line| !line.is_empty())?;
        Some(crate::text::beginning(line, 300))
    }
}

/// How long a server has to end by itself after its input was closed.
const GRACE: Duration = Duration::from_secs(2);
const LOG_LIMIT_BYTES: usize = 16 * 1024;

#[cfg(test)]
mod tests {
    use super::{LOG_LIMIT_BYTES, Log};

    #[test]
    fn the_log_is_bounded_and_has_the_end() {
        let log = Log::default();
        for number in 0..20_000 {
            log.push(format!("line {number}\n").as_bytes());
        }
        assert!(log.0.lock().unwrap().len() <= 2 * LOG_LIMIT_BYTES);
        assert_eq!(log.last_line().as_deref(), Some("line 19999"));
        log.push(&vec![b'x'; 10 * LOG_LIMIT_BYTES]);
        assert!(log.end().len() <= LOG_LIMIT_BYTES);
        assert_eq!(log.last_line().unwrap().len(), 300 + "…".len());
    }
}
