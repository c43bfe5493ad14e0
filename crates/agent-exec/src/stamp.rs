//! Whether a directory is as it was when it was read. A change of its entries changes the time of its last change, which no program can
//! set.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A directory and the time of its last change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    number: u64,
    seconds: i64,
    nanos: i64,
}

impl Stamp {
    /// Of the directory at a path; nothing where there is none.
    #[must_use]
    pub fn of(directory: &Path) -> Option<Self> {
        fs::metadata(directory).ok().and_then(|found| Self::read(&found))
    }

    /// Of the directory at a path that is no link.
    #[must_use]
    pub fn of_itself(directory: &Path) -> Option<Self> {
        fs::symlink_metadata(directory).ok().and_then(|found| Self::read(&found))
    }

    fn read(found: &fs::Metadata) -> Option<Self> {
        let stamp =
            Self { device: found.dev(), number: found.ino(), seconds: found.ctime(), nanos: found.ctime_nsec() };
        found.is_dir().then_some(stamp)
    }

    /// Whether an entry that is made at this time, or later, could leave the directory with this stamp: clocks of file systems go in steps.
    /// Where the time looks like one of whole hundredths of a second, the steps may be as long as two seconds (FAT, ext3, ext4 with small
    /// inodes).
    #[must_use]
    pub fn may_stay(&self, at: SystemTime) -> bool {
        let changed = Duration::from_secs(u64::try_from(self.seconds).unwrap_or_default())
            + Duration::from_nanos(u64::try_from(self.nanos).unwrap_or_default());
        let step = if self.nanos % 10_000_000 == 0 { LONG_STEP } else { SHORT_STEP };
        at.duration_since(UNIX_EPOCH).is_ok_and(|at| changed + step >= at)
    }
}

/// Of the kernel's clock, and what it may be behind.
const SHORT_STEP: Duration = Duration::from_millis(50);
const LONG_STEP: Duration = Duration::from_millis(2_100);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_long_steps_are_trusted_later() {
        let at = |millis: u64| UNIX_EPOCH + Duration::from_millis(millis);
        let stamp = |nanos| Stamp { device: 1, number: 1, seconds: 10, nanos };
        for (nanos, until_ms) in [(0, 12_100), (990_000_000, 13_090), (990_000_001, 11_040)] {
            assert!(stamp(nanos).may_stay(at(until_ms)), "{nanos}");
            assert!(!stamp(nanos).may_stay(at(until_ms + 1)), "{nanos}");
        }
        let root = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(root.path(), root.path().join("link")).unwrap();
        assert_eq!(Stamp::of(&root.path().join("link")), Stamp::of(root.path()));
        assert_eq!(Stamp::of_itself(&root.path().join("link")), None);
    }
}
