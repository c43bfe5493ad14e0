//! Moves bytes: the input into a program, its output out of it, for as long as it has any.

use crate::capture::{Capture, Captured};
use crate::run::Talk;
use std::convert::Infallible;
use std::future::{Future, pending};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{ChildStdin, ChildStdout};

/// Called with every piece of output as it comes.
pub type OnOutput<'a> = &'a (dyn Fn(&[u8]) + Send + Sync);

/// All pipes of one program. Every step may be abandoned and taken up again without losing a byte.
pub(crate) struct Pump<'a> {
    pub(crate) feeder: Feeder<'a>,
    pub(crate) stdout: Drain,
    pub(crate) stderr: Option<Drain>,
    pub(crate) on_output: OnOutput<'a>,
}

impl Pump<'_> {
    /// Gives input and output away.
    pub(crate) fn talk(&mut self) -> Option<Talk> {
        Some(Talk { input: self.feeder.pipe.take()?, output: self.stdout.pipe.take()? })
    }

    /// Keeps the pipes moving until some work is done, and gives what the work gave.
    pub(crate) async fn alongside<T>(&mut self, work: impl Future<Output = T>) -> T {
        tokio::select! {
            biased;
            done = work => done,
            never = self.forever() => match never {},
        }
    }

    /// Takes what is still in the pipes, for at most this long: a process that holds a pipe open must not hold us.
    pub(crate) async fn settle(&mut self, patience: Duration) {
        // A time-out means that a process still holds the pipe; what came until then is kept.
        let _ = tokio::time::timeout(patience, self.until_eof()).await;
    }

    pub(crate) fn finish(self) -> (Captured, Captured) {
        let stderr = self.stderr.map(|drain| drain.kept.finish());
        (self.stdout.kept.finish(), stderr.unwrap_or_default())
    }

    async fn forever(&mut self) -> Infallible {
        self.until_eof().await;
        pending().await
    }

    async fn until_eof(&mut self) {
        let on_output = self.on_output;
        let stderr = self.stderr.as_mut();
        tokio::join!(self.feeder.run(), self.stdout.run(on_output), async move {
            if let Some(stderr) = stderr {
                stderr.run(on_output).await;
            }
        });
    }
}

/// Writes the input and closes the pipe.
pub(crate) struct Feeder<'a> {
    pipe: Option<ChildStdin>,
    unwritten: &'a [u8],
}

impl<'a> Feeder<'a> {
    pub(crate) fn new(pipe: Option<ChildStdin>, input: &'a [u8]) -> Self {
        Self { pipe, unwritten: input }
    }

    async fn run(&mut self) {
        while let Some(pipe) = &mut self.pipe {
            match pipe.write(self.unwritten).await {
                Ok(written) if written < self.unwritten.len() => {
                    self.unwritten = self.unwritten.get(written..).unwrap_or_default();
                }
                // All of it is written, or the program does not want it.
                Ok(_) | Err(_) => self.pipe = None,
            }
        }
    }
}

/// Reads one pipe to its end.
pub(crate) struct Drain {
    pipe: Option<ChildStdout>,
    buffer: Box<[u8]>,
    kept: Capture,
}

impl Drain {
    pub(crate) fn new(pipe: ChildStdout, limit: usize) -> Self {
        Self { pipe: Some(pipe), buffer: vec![0; BUFFER_BYTES].into_boxed_slice(), kept: Capture::new(limit) }
    }

    async fn run(&mut self, on_output: OnOutput<'_>) {
        while let Some(pipe) = &mut self.pipe {
            match pipe.read(&mut self.buffer).await {
                Ok(0) | Err(_) => self.pipe = None,
                Ok(count) => {
                    let chunk = self.buffer.get(..count).unwrap_or_default();
                    self.kept.push(chunk);
                    on_output(chunk);
                }
            }
        }
    }
}

const BUFFER_BYTES: usize = 16 * 1024;
