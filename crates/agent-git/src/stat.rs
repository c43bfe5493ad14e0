//! The metadata of a file as git's index keeps it, to detect changes without reading the file.

use rustix::fs::Stat;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Times, place, owner and size of a file, as they are in an entry before its id; the mode in it is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileStat {
    changed: (u32, u32),
    modified: (u32, u32),
    device: u32,
    number: u32,
    user: u32,
    group: u32,
    size: u32,
}

impl FileStat {
    /// The time of the last change of the content, in whole seconds: what git compares with the index's.
    pub(crate) fn modified(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(u64::from(self.modified.0))
    }

    /// The bytes before the mode, and those after it.
    pub(crate) fn parts(&self) -> (Vec<u8>, Vec<u8>) {
        let bytes = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
        let Self { changed, modified, device, number, user, group, size } = *self;
        (bytes(&[changed.0, changed.1, modified.0, modified.1, device, number]), bytes(&[user, group, size]))
    }
}

/// To be taken before the content is read: what is written after that is seen as a change. Git keeps the lower half of what is longer.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "this is how git keeps them")]
#[allow(clippy::unnecessary_cast, reason = "the types of these numbers differ from system to system")]
impl From<&Stat> for FileStat {
    fn from(found: &Stat) -> Self {
        Self {
            changed: (found.st_ctime as u32, found.st_ctime_nsec as u32),
            modified: (found.st_mtime as u32, found.st_mtime_nsec as u32),
            device: found.st_dev as u32,
            number: found.st_ino as u32,
            user: found.st_uid,
            group: found.st_gid,
            size: found.st_size as u32,
        }
    }
}
