//! Waits until something is written in folders of sessions, or a person types.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::time::Duration;

/// Folders that are watched.
pub(super) struct Watch {
    inotify: OwnedFd,
}

/// What ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Woken {
    /// Something was written or closed in a folder.
    pub(super) is_written: bool,
    /// There is something to read on standard input, its end included.
    pub(super) is_typed: bool,
}

impl Watch {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { inotify: inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)? })
    }

    /// Watches a folder too, if it is there. One that is watched already stays so.
    pub(super) fn add(&self, folder: &Path) -> io::Result<()> {
        let flags =
            WatchFlags::MODIFY | WatchFlags::CREATE | WatchFlags::CLOSE | WatchFlags::DELETE | WatchFlags::MOVED_TO;
        match inotify::add_watch(&self.inotify, folder, flags) {
            Ok(_) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Waits; for so long at most, if that is said. Standard input counts where it is listened to.
    pub(super) fn wait(&self, with_input: bool, most: Option<Duration>) -> io::Result<Woken> {
        let input = io::stdin();
        let mut all = vec![PollFd::new(&self.inotify, PollFlags::IN)];
        all.extend(with_input.then(|| PollFd::from_borrowed_fd(input.as_fd(), PollFlags::IN)));
        let most =
            most.map(|most| Timespec { tv_sec: most.as_secs().cast_signed(), tv_nsec: most.subsec_nanos().into() });
        match poll(&mut all, most.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let is_ready = |at: usize| all.get(at).is_some_and(|fd| !fd.revents().is_empty());
        let woken = Woken { is_written: is_ready(0), is_typed: is_ready(1) };
        self.drain()?;
        Ok(woken)
    }

    /// What happened is looked up in the journals: that something did is enough.
    fn drain(&self) -> io::Result<()> {
        let mut buffer = [0_u8; 4096];
        loop {
            match rustix::io::read(&self.inotify, &mut buffer) {
                Ok(0) | Err(Errno::AGAIN) => return Ok(()),
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}
