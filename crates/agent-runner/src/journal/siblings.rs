//! What the journals of agents below share: descriptors, of which a process has few, and what is known of their disk.
//!
//! However many agents there are, only so many of their journals stay open between two records; the others are opened for each batch of
//! records and closed when it is on the disk.

use super::disk_wait::DiskWait;
use super::regular::open_regular;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the journals below the sessions of one store share.
#[derive(Clone, Debug, Default)]
pub(super) struct Siblings {
    open: Arc<AtomicUsize>,
    wait: DiskWait,
}

/// One of the open files. It counts until it is dropped.
#[derive(Debug)]
pub(super) struct Counted(Arc<AtomicUsize>);

impl Siblings {
    pub(super) fn count(&self) -> Counted {
        self.open.fetch_add(1, Ordering::Relaxed);
        Counted(self.open.clone())
    }

    /// Whether more files are open than stay open.
    pub(super) fn are_many(&self) -> bool {
        self.open.load(Ordering::Relaxed) > MOST_OPEN
    }

    pub(super) fn wait(&self) -> DiskWait {
        self.wait.clone()
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A file as it is known while it is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    #[cfg(unix)]
    file: (u64, u64),
    len_bytes: u64,
}

impl Identity {
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let found = file.metadata()?;
        Ok(Self {
            #[cfg(unix)]
            file: {
                use std::os::unix::fs::MetadataExt as _;
                (found.dev(), found.ino())
            },
            len_bytes: found.len(),
        })
    }
}

/// Opens a journal again that was closed meanwhile.
///
/// # Errors
/// What the system says, or that the file is another one, or has another length.
pub(super) fn open_again(path: &Path, known: Identity) -> io::Result<File> {
    let file = open_regular(path, OpenOptions::new().append(true))?;
    if Identity::of(&file)? == known {
        Ok(file)
    } else {
        Err(io::Error::other("it was replaced or changed while the agent worked"))
    }
}

/// So many journals of agents below stay open.
const MOST_OPEN: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_file_as_it_was_is_opened_again() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("1.jsonl");
        std::fs::write(&path, "a record").unwrap();
        let known = Identity::of(&File::open(&path).unwrap()).unwrap();
        assert!(open_again(&path, known).is_ok());
        std::fs::write(&path, "another record").unwrap();
        assert!(open_again(&path, known).is_err(), "it is longer");
        std::fs::write(scratch.path().join("other"), "a record").unwrap();
        std::fs::rename(scratch.path().join("other"), &path).unwrap();
        assert!(open_again(&path, known).is_err() || cfg!(not(unix)), "it is another file");
        std::fs::remove_file(&path).unwrap();
        assert!(open_again(&path, known).is_err(), "it is gone");
    }
}
