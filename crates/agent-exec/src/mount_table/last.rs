//! The table as it was read last. The kernel says when it is another one: a file of it that is open is then ready with `POLLPRI` (proc(5),
//! `/proc/pid/mounts`), so asking costs a hundredth of reading.

use super::MountTable;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::{self, Read as _};
use std::sync::{Arc, Mutex, PoisonError};

struct Last {
    file: File,
    table: Arc<MountTable>,
}

impl Last {
    fn read() -> io::Result<Self> {
        // A change from here on is told by this file, also one before the end of the table was read.
        let mut file = File::open(TABLE)?;
        // The file has no length, and a small buffer takes many reads to grow.
        let mut text = Vec::with_capacity(16 * 1024);
        file.read_to_end(&mut text)?;
        Ok(Self { file, table: Arc::new(MountTable::read(&text)) })
    }

    fn has_changed(&self) -> bool {
        let mut files = [PollFd::new(&self.file, PollFlags::PRI)];
        !matches!(poll(&mut files, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })), Ok(0))
    }
}

pub(super) fn now() -> io::Result<Arc<MountTable>> {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = last.as_ref().filter(|known| !known.has_changed()) {
        return Ok(known.table.clone());
    }
    // What is known is another table now, whether the new one can be read or not.
    *last = None;
    let read = Last::read()?;
    let table = read.table.clone();
    *last = Some(read);
    Ok(table)
}

static LAST: Mutex<Option<Last>> = Mutex::new(None);
const TABLE: &str = "/proc/self/mountinfo";
