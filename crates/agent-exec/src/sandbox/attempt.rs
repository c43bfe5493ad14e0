//! Runs the trial of a sandbox to its end, or not for long.

use crate::lasting::on_lasting_thread;
use std::io;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What a program that prints little came to. Its input is set.
pub(crate) fn output(mut command: Command) -> io::Result<Output> {
    on_lasting_thread(move || {
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = crate::tree::spawn_beside(|| command.spawn())?;
        let begun = Instant::now();
        while child.try_wait()?.is_none() {
            if begun.elapsed() > PATIENCE {
                child.kill()?;
                child.wait()?;
                return Err(io::Error::from(io::ErrorKind::TimedOut));
            }
            std::thread::sleep(PAUSE);
        }
        child.wait_with_output()
    })?
}

const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_micros(200);
