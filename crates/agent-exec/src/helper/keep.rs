//! Keeps the processes of one command together, even those that try to leave it.
//!
//! A process of its own for every command, that adopts the command's orphans: what left its session, lost its parents and cleared its
//! environment still has this one above it, and no other command's. So it is known exactly what is the command's, also beside others.
//!
//! ```text
//! host    -> keeper   the command's input, once; then a word to end everything, or the end of the host
//! keeper  -> host     that the program could not be started, or how many processes besides it had to be ended
//! ```
//!
//! It ends as the program ended. Its input is the socket to the host.

use super::{Helper, KEEP, arguments::Arguments};
use crate::limits;
use crate::tree::{self, Ended, MARKER, Orphanage, Said};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::{Errno, IoSlice, IoSliceMut, read, write};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use rustix::process::{Signal, WaitOptions, WaitStatus, getpid, kill_process, setsid, wait};
use std::io::{self, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The host's end of a keeper.
#[derive(Debug)]
pub(crate) struct Leash(UnixStream);

/// A keeper in the place of a program, which it starts with the same arguments, directory and outputs. The environment is still to be set.
pub(crate) fn command(helper: &Helper, program: &Command, marker: &str) -> io::Result<(Command, Leash)> {
    let (ours, theirs) = UnixStream::pair()?;
    let mut keeper = helper.command(KEEP);
    keeper.arg0("agent-keeper").arg(marker).arg(program.get_program()).args(program.get_args());
    if let Some(directory) = program.get_current_dir() {
        keeper.current_dir(directory);
    }
    keeper.stdin(Stdio::from(OwnedFd::from(theirs)));
    Ok((keeper, Leash(ours)))
}

impl Leash {
    /// Hands over what the program is to have as its input; nothing where it has none.
    pub(crate) fn hand_over(&self, input: Option<&OwnedFd>) -> io::Result<()> {
        let descriptors: Vec<_> = input.into_iter().map(AsFd::as_fd).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(&descriptors)) {
            return Err(io::Error::other("hand over the input of a command"));
        }
        sendmsg(&self.0, &[IoSlice::new(START)], &mut control, SendFlags::NOSIGNAL)?;
        Ok(())
    }

    /// What it has said; asked once it has ended.
    pub(crate) fn said(&self) -> Option<Said> {
        self.0.set_nonblocking(true).ok()?;
        self.heard()
    }

    /// Has it end everything, gently or at once, and waits for that. Nothing when it does not answer.
    pub(crate) fn end(&self, gently: bool, patience: Duration) -> Option<Ended> {
        let asked = match gently {
            true => (&self.0).write_all(END).is_ok(),
            false => self.0.shutdown(Shutdown::Write).is_ok(),
        };
        self.0.set_read_timeout(Some(patience)).ok().filter(|()| asked)?;
        match self.heard()? {
            Said::Ended(ended) => Some(ended),
            Said::Refused(_) => Some(Ended::default()),
        }
    }

    fn heard(&self) -> Option<Said> {
        let mut text = [0; LONGEST_REPORT_BYTES];
        let count = (&self.0).read(&mut text).ok()?;
        let text = std::str::from_utf8(text.get(..count)?).ok()?;
        let mut words = text.split_ascii_whitespace();
        let word = words.next()?;
        let mut number = || words.next()?.parse::<i32>().ok();
        match word {
            REFUSED => Some(Said::Refused(io::Error::from_raw_os_error(number()?))),
            ENDED => {
                let (found, survivors) = (usize::try_from(number()?).ok()?, usize::try_from(number()?).ok()?);
                Some(Said::Ended(Ended { found, survivors }))
            }
            _ => None,
        }
    }
}

/// The helper's side.
pub(crate) fn run(mut arguments: Arguments) -> ExitCode {
    let (Some(marker), Some(program)) = (arguments.parse::<String>(), arguments.next()) else {
        return ExitCode::from(MISUSED);
    };
    let mut command = Command::new(program);
    command.args(arguments.rest()).env(MARKER, &marker).process_group(0);
    // What the terminal sends to the host must not end the keeper, and there is no terminal for the command.
    let _ = setsid();
    tree::become_subreaper();
    close_fds::set_fds_cloexec(3, &[]);
    let Ok(input) = received() else { return ExitCode::from(MISUSED) };
    command.stdin(input.map_or_else(Stdio::null, Stdio::from));
    match Orphanage::open(marker, || limits::limit_children_of(|| command.spawn())) {
        Ok(orphanage) => {
            // The command may be another program of the same user.
            crate::harden::keep_to_itself();
            watch_over(orphanage)
        }
        Err(error) => {
            refused(&error);
            ExitCode::from(MISUSED)
        }
    }
}

/// Until the program has ended, and everything that it left.
fn watch_over(orphanage: Orphanage) -> ! {
    let orphanage = Arc::new(orphanage);
    let for_host = Arc::clone(&orphanage);
    let listen = move || {
        let mut word = [0; 1];
        let is_gentle = matches!(read(rustix::stdio::stdin(), &mut word), Ok(1));
        IS_ENDING.store(true, Ordering::Relaxed);
        finish(&for_host, is_gentle, None)
    };
    if let Err(error) = std::thread::Builder::new().spawn(listen) {
        orphanage.end(false);
        refused(&error);
        std::process::exit(i32::from(MISUSED));
    }
    let status = loop {
        match wait(WaitOptions::empty()) {
            // The process that ends them takes their statuses.
            _ if IS_ENDING.load(Ordering::Relaxed) => std::thread::park(),
            Ok(Some((pid, status))) if pid.as_raw_pid() == orphanage.program() => break status,
            Ok(_) | Err(_) => {}
        }
    };
    orphanage.program_is_reaped();
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) => {}
            Ok(None) => finish(&orphanage, true, Some(status)),
            Err(_) => end_as(status),
        }
    }
}

/// Ends what there is, says so, and ends as the program did. A second caller waits for that end.
fn finish(orphanage: &Orphanage, gently: bool, status: Option<WaitStatus>) -> ! {
    static ONLY_ONE: Mutex<()> = Mutex::new(());
    let _only_one = ONLY_ONE.lock();
    let Ended { found, survivors } = orphanage.end(gently);
    report(&format!("{ENDED} {found} {survivors}"));
    match status {
        Some(status) => end_as(status),
        None => std::process::exit(0),
    }
}

fn end_as(status: WaitStatus) -> ! {
    if let Some(signal) = status.terminating_signal() {
        if let Some(signal) = Signal::from_named_raw(signal) {
            let _ = kill_process(getpid(), signal);
        }
        // What is handled or ignored in here is not in another program.
        let _ = Command::new("/bin/sh").args(["-c", &format!("kill -{signal} $$")]).exec();
        std::process::exit(128 + signal);
    }
    std::process::exit(status.exit_status().unwrap_or(1));
}

fn received() -> rustix::io::Result<Option<OwnedFd>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut word = [0; START.len()];
    let received =
        recvmsg(rustix::stdio::stdin(), &mut [IoSliceMut::new(&mut word)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    if received.bytes == 0 {
        return Err(Errno::PIPE);
    }
    let descriptors = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
        _ => None,
    });
    Ok(descriptors.flatten().next())
}

fn refused(error: &io::Error) {
    report(&format!("{REFUSED} {}", error.raw_os_error().unwrap_or(Errno::INVAL.raw_os_error())));
}

fn report(text: &str) {
    // A host that is gone needs none.
    let _ = write(rustix::stdio::stdin(), text.as_bytes());
}

static IS_ENDING: AtomicBool = AtomicBool::new(false);
const START: &[u8] = b"s";
const END: &[u8] = b"e";
const REFUSED: &str = "refused";
const ENDED: &str = "ended";
const LONGEST_REPORT_BYTES: usize = 64;
const MISUSED: u8 = 2;
