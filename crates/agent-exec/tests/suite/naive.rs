//! Commands run as they often are: input left open, outputs read to their end and line by line, a time-out that asks the program itself.

use agent_exec::{Captured, Finished};
use agent_types::ports::{Command, Exit};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// The process group of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// Its own, so that it can be ended in the end.
    Own,
    /// As commands have it that nobody gave one: it is in front at the terminal, as its runner is.
    OfTheRunner,
}

/// What came of it. Nothing when it does not come to an end; then it is ended here, which it would not be elsewhere.
pub(crate) fn run(command: &Command, group: Group) -> Option<Finished> {
    let mut prepared = std::process::Command::new(&command.program);
    // Whoever wants to go on where the command ends asks for the directory.
    let arguments = command.arguments.iter().map(|argument| match argument.strip_prefix('-') {
        Some(_) => argument.clone(),
        None => format!("{argument}\n/bin/pwd > /dev/null"),
    });
    prepared.args(arguments).current_dir(&command.directory).stderr(Stdio::null());
    if group == Group::Own {
        prepared.process_group(0);
    }
    let mut child = prepared.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (sender, read) = channel();
    let stdout = child.stdout.take().unwrap();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stdout.take(4_000_000).read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    let patience = Duration::from_millis(command.timeout_ms.min(700));
    let exit = match ends_within(&mut child, patience) {
        Some(code) => Some(Exit::Code(code)),
        None => {
            let _ = kill_process(pid(&child), Signal::TERM);
            ends_within(&mut child, Duration::from_millis(300)).map(|_| Exit::TimedOut)
        }
    };
    let bytes = read.recv_timeout(Duration::from_millis(500)).ok();
    let _ = kill_process_group(pid(&child), Signal::KILL);
    child.wait().unwrap();
    let text = String::from_utf8_lossy(&bytes?).into_owned();
    let lines = text.rsplit_once('\n').map_or("", |(lines, _)| lines);
    let stdout = Captured { head: format!("{lines}\n").into_bytes(), ..Captured::default() };
    Some(Finished {
        exit: exit?,
        stdout,
        stderr: Captured::default(),
        left_behind: 0,
        survivors: 0,
        remarks: Vec::new(),
    })
}

/// The code; 0 for a program that a signal ended, which has none.
fn ends_within(child: &mut Child, patience: Duration) -> Option<i32> {
    let begun = Instant::now();
    while begun.elapsed() < patience {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status.code().unwrap_or_default());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    None
}

fn pid(child: &Child) -> Pid {
    Pid::from_child(child)
}
