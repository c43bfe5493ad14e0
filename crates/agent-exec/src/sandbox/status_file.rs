//! A file in which the helper within a sandbox says which signal ended a program. It lies where commands do not see it, and goes when this
//! goes.

use super::scratch::Scratch;
use agent_types::ports::Exit;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The place of the file, which the helper makes.
#[derive(Debug)]
pub(crate) struct StatusFile(PathBuf);

impl StatusFile {
    pub(super) fn beside(scratch: &Scratch) -> Self {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let name = format!("status-{}", COUNTER.fetch_add(1, Ordering::Relaxed));
        Self(scratch.path().with_file_name(name))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// How the program ended, by the number that the namespace ended with.
    pub(crate) fn exit(&self, exit: Exit) -> Exit {
        let Exit::Code(code) = exit else { return exit };
        if code <= SIGNALLED {
            return exit;
        }
        let said = fs::read_to_string(&self.0).ok().and_then(|text| text.parse().ok());
        said.filter(|signal| SIGNALLED + signal == code).map_or(exit, Exit::Signal)
    }
}

impl Drop for StatusFile {
    fn drop(&mut self) {
        // What is left goes with the directory.
        let _ = fs::remove_file(&self.0);
    }
}

/// What `bwrap` adds to a signal's number.
const SIGNALLED: i32 = 128;
