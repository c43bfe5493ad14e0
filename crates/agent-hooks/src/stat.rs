//! What the system says of a file, in the form in which git's index keeps it to see without reading whether a file changed.

use std::fs::Metadata;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Times, place, owner and size of a file, as they stand in an entry before its id; the mode in it is left out.
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
    /// Looks at a file or link. To be taken before its content is read: what is written after that is seen as a change.
    #[cfg(unix)]
    pub(crate) fn of(path: &Path) -> Option<Self> {
        path.symlink_metadata().ok().as_ref().map(Self::from)
    }

    /// Without the system's numbers git looks into the file.
    #[cfg(not(unix))]
    pub(crate) fn of(_path: &Path) -> Option<Self> {
        None
    }

    /// The time of the last change of the content, in whole seconds: what git compares with the index's.
    pub(crate) fn modified(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(u64::from(self.modified.0))
    }

    /// The bytes before the mode, and those behind it.
    pub(crate) fn parts(&self) -> (Vec<u8>, Vec<u8>) {
        let bytes = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
        let Self { changed, modified, device, number, user, group, size } = *self;
        (bytes(&[changed.0, changed.1, modified.0, modified.1, device, number]), bytes(&[user, group, size]))
    }
}

/// Git keeps the lower half of what is longer.
#[cfg(unix)]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "this is how git keeps them")]
impl From<&Metadata> for FileStat {
    fn from(found: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        Self {
            changed: (found.ctime() as u32, found.ctime_nsec() as u32),
            modified: (found.mtime() as u32, found.mtime_nsec() as u32),
            device: found.dev() as u32,
            number: found.ino() as u32,
            user: found.uid(),
            group: found.gid(),
            size: found.size() as u32,
        }
    }
}
