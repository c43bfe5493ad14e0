//! The task of a run: from the flag, the words, or standard input, or from the first two and what standard input has beside them.
//!
//! ```text
//! agent run -p "explain this" < log.txt     both, the file whole
//! cat log.txt | agent run -p "explain this" both, once the pipe gave something, or its end, within a second
//! agent run -p "explain this"               with a pipe that stays silent, as a parent program may hold one open: the prompt alone
//! ```

use crate::failure::Failure;
use crate::screen::terminal::say;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::fstat;
use rustix::io::Errno;
use std::io::{self, ErrorKind, IsTerminal, Read, StdinLock};
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
        Some("-") => read_stdin(Wait::ForAll, is_quiet).await?.unwrap_or_default(),
        Some(text) => with_input(text, is_quiet).await?,
        None if io::stdin().is_terminal() => {
            return Err(Failure::input("there is no task: give one with `-p PROMPT` or pipe it in"));
        }
        None => read_stdin(Wait::ForAll, is_quiet).await?.unwrap_or_default(),
    };
    if text.trim().is_empty() { Err(Failure::input("the task is empty")) } else { Ok(text) }
}

/// A prompt, and what standard input has.
async fn with_input(prompt: &str, is_quiet: bool) -> Result<String, Failure> {
    // An empty prompt is a slip, whatever comes beside it.
    if prompt.trim().is_empty() || io::stdin().is_terminal() {
        return Ok(prompt.to_owned());
    }
    match read_stdin(Wait::ForTheFirst, is_quiet).await? {
        Some(input) if input.trim().is_empty() => Ok(prompt.to_owned()),
        Some(input) => Ok(format!("{prompt}\n\n{input}")),
        None => {
            if !is_quiet {
                say(
                    "agent: standard input is open and silent: the task is the prompt alone (`< /dev/null` says so at once)",
                );
            }
            Ok(prompt.to_owned())
        }
    }
}

/// How long standard input is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    /// To its end.
    ForAll,
    /// For a second until it gives something or ends, and then to its end.
    ForTheFirst,
}

/// Reads on another thread: a signal must not wait for the holder of the pipe. Nothing when it stays silent.
async fn read_stdin(wait: Wait, is_quiet: bool) -> Result<Option<String>, Failure> {
    let failed = |what: String| Failure::input(format!("cannot read the task from standard input: {what}"));
    let reading = tokio::task::spawn_blocking(move || {
        if wait == Wait::ForTheFirst && !gives_something()? {
            return Ok(None);
        }
        let mut text = String::new();
        Patient(io::stdin().lock()).take(MAX_PROMPT_BYTES + 1).read_to_string(&mut text).map(|_| Some(text))
    });
    let mut reading = std::pin::pin!(reading);
    let read = tokio::select! {
        read = &mut reading => read,
        () = tokio::time::sleep(SILENCE), if !is_quiet => {
            say("agent: reading the task from standard input to its end; Ctrl-C ends the run");
            reading.await
        }
    };
    match read {
        Ok(Ok(Some(text))) if text.len() as u64 > MAX_PROMPT_BYTES => {
            Err(failed(format!("it is longer than {MAX_PROMPT_BYTES} bytes; put it into a file and name that")))
        }
        Ok(Ok(text)) => Ok(text),
        Ok(Err(error)) => Err(failed(error.to_string())),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// Waits for input also where another program has set the pipe not to block.
struct Patient(StdinLock<'static>);

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

/// Whether standard input can be read without a wait, now or within a second: also to its end, or where there is none.
fn gives_something() -> io::Result<bool> {
    let stdin = io::stdin();
    if fstat(&stdin).is_err_and(|error| error == Errno::BADF) {
        return Ok(true);
    }
    let mut inputs = [PollFd::new(&stdin, PollFlags::IN)];
    loop {
        match poll(&mut inputs, Some(&Timespec { tv_sec: 1, tv_nsec: 0 })) {
            Ok(ready) => return Ok(ready > 0),
            // A resized terminal or an ended child is no silence.
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

const MAX_PROMPT_BYTES: u64 = 4 * 1024 * 1024;
/// After so long of reading, that is said. A moment more than a silent pipe is waited for.
const SILENCE: Duration = Duration::from_millis(1_200);
