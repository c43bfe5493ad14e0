//! The task of a run: from the flag, the words, or standard input, or from the first two and what standard input has beside them.
//!
//! ```text
//! agent run -p "explain this" < log.txt      both
//! slow | agent run -p "explain this"         both, however long the pipe takes to its end
//! agent run -p "explain this" < /dev/null    the prompt alone
//! ```
//!
//! A pipe that never ends, such as one that a parent program left open, is waited for, and that is said: nothing tells it from a program
//! that has not written yet, and half of its input would be taken for all.

use crate::failure::Failure;
use crate::screen::terminal::say;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::io::{self, ErrorKind, IsTerminal, Read, Stdin};
use std::time::Duration;

/// The task. The limit on time holds while standard input is read.
///
/// # Errors
/// There is none, it is empty, or standard input cannot be read, or not within the limit.
pub(super) async fn task(
    prompt: Option<String>,
    words: &[String],
    is_quiet: bool,
    limit: Option<Duration>,
) -> Result<String, Failure> {
    let reading = read(prompt, words, is_quiet);
    let Some(limit) = limit else { return reading.await };
    tokio::time::timeout(limit, reading).await.unwrap_or_else(|_| {
        Err(Failure::input("standard input, which holds the task, did not end within `--max-wall-time`"))
    })
}

async fn read(prompt: Option<String>, words: &[String], is_quiet: bool) -> Result<String, Failure> {
    let said = match prompt {
        Some(prompt) => Some(prompt),
        None if words.is_empty() => None,
        None => Some(words.join(" ")),
    };
    let text = match said.as_deref() {
        Some("-") => read_stdin(ALL, is_quiet).await?,
        // An empty prompt is a slip, whatever comes beside it.
        Some(text) if text.trim().is_empty() || io::stdin().is_terminal() => text.to_owned(),
        Some(text) => {
            let input = read_stdin(BESIDE, is_quiet).await?;
            if input.trim().is_empty() { text.to_owned() } else { format!("{text}\n\n{input}") }
        }
        None if io::stdin().is_terminal() => {
            return Err(Failure::input("there is no task: give one with `-p PROMPT` or pipe it in"));
        }
        None => read_stdin(ALL, is_quiet).await?,
    };
    if text.trim().is_empty() { Err(Failure::input("the task is empty")) } else { Ok(text) }
}

/// Reads to the end, on another thread: a signal must not wait for the holder of the pipe.
async fn read_stdin(what: &str, is_quiet: bool) -> Result<String, Failure> {
    let failed = |what: String| Failure::input(format!("cannot read the task from standard input: {what}"));
    let reading = tokio::task::spawn_blocking(|| {
        let mut text = String::new();
        Patient::stdin().take(MAX_PROMPT_BYTES + 1).read_to_string(&mut text).map(|_| text)
    });
    let mut reading = std::pin::pin!(reading);
    let read = tokio::select! {
        read = &mut reading => read,
        () = tokio::time::sleep(SILENCE), if !is_quiet => {
            say(&format!("agent: reading standard input to its end, {what}; Ctrl-C ends the run"));
            reading.await
        }
    };
    match read {
        Ok(Ok(text)) if text.len() as u64 > MAX_PROMPT_BYTES => {
            Err(failed(format!("it is longer than {MAX_PROMPT_BYTES} bytes; put it into a file and name that")))
        }
        Ok(Ok(text)) => Ok(text),
        Ok(Err(error)) => Err(failed(error.to_string())),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// Standard input, which waits also where another program has set the pipe not to block.
pub(crate) struct Patient(Stdin);

impl Patient {
    pub(crate) fn stdin() -> Self {
        Self(io::stdin())
    }
}

impl Read for Patient {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(bytes) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                read => return read,
            }
            match poll(&mut [PollFd::new(&io::stdin(), PollFlags::IN)], None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

const MAX_PROMPT_BYTES: u64 = 4 * 1024 * 1024;
/// After so long of reading, that is said.
const SILENCE: Duration = Duration::from_secs(1);
/// What standard input is read as.
const ALL: &str = "which is the task";
const BESIDE: &str = "which goes with the prompt (`< /dev/null` where it has nothing)";
