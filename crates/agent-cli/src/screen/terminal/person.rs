//! Commands that the person runs from the prompt: their own, in their shell.

use super::raw::hold_keys;
use super::say;
use std::io::{self, BufRead as _, BufReader, PipeReader, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

/// Runs a command in the person's shell, as the person, shows what it writes while it comes, and gives that with how it ended. It reads
/// nothing. What it leaves behind in the background is not waited for.
///
/// # Errors
/// It cannot be started.
pub(crate) fn run_for_person(command: &str, directory: &Path) -> io::Result<String> {
    let _keys = hold_keys();
    let shell = std::env::var_os("SHELL").filter(|shell| Path::new(shell).is_absolute());
    let (reader, writer) = io::pipe()?;
    let mut child = Command::new(shell.unwrap_or_else(|| "/bin/sh".into()));
    child.arg("-c").arg(command).current_dir(directory).stdin(Stdio::null());
    child.stdout(writer.try_clone()?).stderr(writer);
    let mut running = child.spawn()?;
    // It holds the other ends of the pipe.
    drop(child);
    let lines = lines_of(reader);
    let (mut written, mut ended) = (String::new(), None);
    loop {
        match lines.recv_timeout(Duration::from_millis(50)) {
            Ok(line) => {
                say(&line);
                if written.len() < MOST_WRITTEN {
                    written.push_str(&line);
                    written.push('\n');
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if ended.is_some() => break,
            Err(RecvTimeoutError::Timeout) => ended = running.try_wait()?,
        }
    }
    let status = running.wait()?;
    if !status.success() {
        say(&status.to_string());
    }
    Ok(format!("I ran `{command}` ({status}):\n{written}"))
}

/// The lines that come, until the other ends are closed.
fn lines_of(reader: PipeReader) -> Receiver<String> {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(reader);
        let mut line = Vec::new();
        while reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            let text = String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned();
            line.clear();
            if sender.send(text).is_err() {
                break;
            }
        }
    });
    lines
}

const LONGEST_LINE: u64 = 64 * 1024;
/// More is shown and not given to the agent.
const MOST_WRITTEN: usize = 64 * 1024;
