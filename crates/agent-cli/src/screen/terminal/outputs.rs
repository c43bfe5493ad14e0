//! Writing a piece to an output, whatever it is.

use super::at_start::output_was_closed;
use super::queue::Kind;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::fstat;
use rustix::io::Errno;
use std::io::{self, IsTerminal as _};
use std::os::fd::AsFd;

/// Writes what the reader takes of it, and waits until that is something.
///
/// # Errors
/// What the system says; and where there is no output, because it was closed or can only be read.
pub(super) fn write_some(kind: Kind, bytes: &[u8]) -> io::Result<usize> {
    let written = match kind {
        Kind::Answer | Kind::Aside if output_was_closed() => Err(Errno::BADF),
        Kind::Answer | Kind::Aside => write_to(&io::stdout(), bytes),
        Kind::Remark => write_to(&io::stderr(), bytes),
    };
    written.map_err(|error| match error {
        Errno::BADF => io::Error::other(NO_OUTPUT),
        error => error.into(),
    })
}

fn write_to(output: &impl AsFd, bytes: &[u8]) -> Result<usize, Errno> {
    let piece = bytes.get(..PIECE_BYTES).unwrap_or(bytes);
    loop {
        match rustix::io::write(output, piece) {
            Ok(0) => return Err(Errno::IO),
            Err(Errno::INTR) => {}
            // Another program that has it open, too, made it so.
            Err(Errno::AGAIN) => match poll(&mut [PollFd::new(output, PollFlags::OUT)], None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            },
            result => return result,
        }
    }
}

/// Whether what is written to one output stands behind what was written to the other.
pub(super) fn lead_to_one_place() -> bool {
    let (out, err) = (io::stdout(), io::stderr());
    if out.is_terminal() && err.is_terminal() {
        return true;
    }
    match (fstat(&out), fstat(&err)) {
        (Ok(out), Ok(err)) => (out.st_dev, out.st_ino) == (err.st_dev, err.st_ino),
        // Then it is not known, and one queue is never wrong.
        _ => true,
    }
}

/// A longer write may wait for its reader in the middle, and nobody knows how much of it is written until it returns.
const PIECE_BYTES: usize = 64 * 1024;
const NO_OUTPUT: &str =
    "standard output is closed, or open for reading only (`>/dev/null` says that no output is wanted)";
