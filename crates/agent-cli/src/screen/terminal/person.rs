//! Commands that the person runs from the prompt: their own, in their shell.

use super::raw::{self, hold_keys};
use super::{is_behind, say_meanwhile};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::ioctl_fionread;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{self, ErrorKind, PipeReader, Read as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Runs a command in the person's shell, as the person, shows what it writes while it comes, and gives that with how it ended. It reads
/// nothing. All that it had written when it ended is shown; what it leaves behind in the background is not waited for. The terminal sends
/// Ctrl-C to it; with the second one it is killed, with all that it started. What is typed meanwhile is kept for the line, where one is
/// edited (`is_edited`).
///
/// # Errors
/// It cannot be started.
pub(crate) fn run_for_person(
    command: &str,
    directory: &Path,
    interrupts: &AtomicU32,
    is_edited: bool,
) -> io::Result<String> {
    let _keys = hold_keys();
    let shell = std::env::var_os("SHELL").filter(|shell| Path::new(shell).is_absolute());
    let (reader, writer) = io::pipe()?;
    let mut child = Command::new(shell.unwrap_or_else(|| "/bin/sh".into()));
    child.arg("-c").arg(command).current_dir(directory).stdin(Stdio::null());
    child.stdout(writer.try_clone()?).stderr(writer);
    let mut running = child.spawn()?;
    // It holds the other ends of the pipe.
    drop(child);
    let mut output = Output::of(reader)?;
    let (mut written, mut left) = (String::new(), None);
    let mut pressed: Option<(Instant, &str)> = None;
    loop {
        // What nobody reads yet is not piled up: the command waits, and Ctrl-C still counts.
        if is_behind() && interrupts.load(Ordering::Relaxed) < TO_KILL {
            std::thread::sleep(Duration::from_millis(10));
            continue;
        }
        let presses = interrupts.load(Ordering::Relaxed);
        if presses >= TO_KILL && left.is_none() {
            kill_tree(running.id());
        } else if presses > 0 {
            // Most commands end at once, and then there is nothing to say.
            let (since, hint) =
                pressed.get_or_insert((Instant::now(), "Ctrl-C did not end the command: Ctrl-C again kills it"));
            if since.elapsed() > A_MOMENT {
                Some(std::mem::take(hint)).filter(|hint| !hint.is_empty()).into_iter().for_each(say_meanwhile);
            }
        }
        if left.is_none() && running.try_wait()?.is_some() {
            left = Some(output.waiting()?);
        }
        let is_closed = output.read(&mut left)?;
        let is_last = is_closed || left == Some(0);
        while let Some(line) = output.next_line(is_last) {
            say_meanwhile(&line);
            if written.len() < MOST_WRITTEN {
                written.push_str(&line);
                written.push('\n');
            }
        }
        if is_last {
            break;
        }
    }
    let status = running.wait()?;
    if is_edited {
        *typed() = raw::pending();
    }
    if !status.success() {
        say_meanwhile(&status.to_string());
    }
    Ok(format!("I ran `{command}` ({status}):\n{written}"))
}

/// What was typed while the last command ran.
pub(crate) fn take_typed() -> Vec<u8> {
    std::mem::take(&mut *typed())
}

fn typed() -> MutexGuard<'static, Vec<u8>> {
    TYPED.lock().unwrap_or_else(PoisonError::into_inner)
}

static TYPED: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Kills a process and all that it started, as far as it did not detach itself. Those that are found are stopped first: none of them can
/// start another one meanwhile.
fn kill_tree(root: u32) {
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(process) = open.pop() {
        found.extend(signalled(process, Signal::STOP));
        open.extend(children(process));
    }
    for process in found {
        let _ = kill_process(process, Signal::KILL);
    }
}

fn signalled(process: u32, signal: Signal) -> Option<Pid> {
    let process = Pid::from_raw(i32::try_from(process).ok()?)?;
    kill_process(process, signal).ok().map(|()| process)
}

/// What a process has started and is still there. Where the system does not tell it, none.
fn children(process: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>()).collect()
}

/// What a command writes.
struct Output {
    pipe: PipeReader,
    /// What has come and is no line that was shown.
    rest: Vec<u8>,
}

impl Output {
    /// Reads from here on without waiting: a process in the background may hold the other end.
    fn of(pipe: PipeReader) -> io::Result<Self> {
        fcntl_setfl(&pipe, fcntl_getfl(&pipe)? | OFlags::NONBLOCK)?;
        Ok(Self { pipe, rest: Vec::new() })
    }

    /// Bytes that were written and are not read.
    fn waiting(&self) -> io::Result<usize> {
        Ok(usize::try_from(ioctl_fionread(&self.pipe)?).unwrap_or(usize::MAX))
    }

    /// Reads what comes soon, or of what is there no more than is left. Returns whether nothing can come any more.
    fn read(&mut self, left: &mut Option<usize>) -> io::Result<bool> {
        match poll(&mut [PollFd::new(&self.pipe, PollFlags::IN)], Some(&A_LOOK)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut part = [0; 16 * 1024];
        let most = left.unwrap_or(usize::MAX).min(part.len());
        let part = part.get_mut(..most).unwrap_or_default();
        match self.pipe.read(part) {
            Ok(0) => Ok(true),
            Ok(length) => {
                self.rest.extend_from_slice(part.get(..length).unwrap_or_default());
                left.iter_mut().for_each(|left| *left -= length);
                Ok(false)
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The next line that has come whole, or is as long as lines get; the last one has no end.
    fn next_line(&mut self, is_last: bool) -> Option<String> {
        let end = self.rest.iter().take(LONGEST_LINE).position(|byte| *byte == b'\n').map(|at| at + 1);
        let length = match end {
            Some(end) => end,
            None if self.rest.len() >= LONGEST_LINE => LONGEST_LINE,
            None if is_last && !self.rest.is_empty() => self.rest.len(),
            None => return None,
        };
        let line: Vec<u8> = self.rest.drain(..length).collect();
        Some(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned())
    }
}

/// So long is waited for more output before signals and the command's end are looked at.
const A_LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
/// A command that still runs so long after Ctrl-C does not heed it.
const A_MOMENT: Duration = Duration::from_millis(700);
/// So many times Ctrl-C kills a command.
const TO_KILL: u32 = 2;
const LONGEST_LINE: usize = 64 * 1024;
/// More is shown and not given to the agent.
const MOST_WRITTEN: usize = 64 * 1024;
