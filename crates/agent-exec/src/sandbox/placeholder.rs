//! An empty directory where there is none, so that commands can make nothing there: a sandbox that has mounts covers it.
//!
//! It goes with the last sandbox that has it, of whatever process; what a killed process leaves is taken over by the next and goes with
//! that. It is told from a directory that somebody made by its sticky bit, which means nothing there, and one in which there is something
//! stays.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// An empty directory, for as long as this lives.
#[derive(Debug)]
pub(super) struct Placeholder {
    path: PathBuf,
    /// Locked by everybody who has it.
    directory: File,
}

impl Placeholder {
    /// Makes it, or joins those who have it. Nothing where something else is there, or nothing can be made: commands cannot make it then
    /// either.
    pub(super) fn at(path: &Path) -> Option<Self> {
        for _ in 0..MOST_ATTEMPTS {
            match DirBuilder::new().mode(MODE).create(path) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return None,
                Ok(()) | Err(_) => {}
            }
            let flags = rustix::fs::OFlags::DIRECTORY | rustix::fs::OFlags::NOFOLLOW;
            let flags = i32::try_from(flags.bits()).ok()?;
            let directory = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
            let status = directory.metadata().ok()?;
            if status.mode() & STICKY == 0 {
                return None;
            }
            // Whoever has it for itself is about to remove it.
            let is_ours = directory.try_lock_shared().is_ok();
            let named = fs::symlink_metadata(path).ok();
            if is_ours && named.is_some_and(|named| (named.dev(), named.ino()) == (status.dev(), status.ino())) {
                return Some(Self { path: path.to_path_buf(), directory });
            }
            std::thread::sleep(PAUSE);
        }
        None
    }
}

impl Drop for Placeholder {
    fn drop(&mut self) {
        let _ = self.directory.unlock();
        if self.directory.try_lock().is_ok() {
            // One that is not empty has become somebody's.
            let _ = fs::remove_dir(&self.path);
        }
    }
}

const STICKY: u32 = 0o1000;
const MODE: u32 = 0o755 | STICKY;
const MOST_ATTEMPTS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_with_the_last_who_has_it_and_never_with_content() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(".agent");
        let (first, second) = (Placeholder::at(&path).unwrap(), Placeholder::at(&path).unwrap());
        drop(first);
        assert!(path.is_dir());
        drop(second);
        assert!(!path.exists());

        let used = Placeholder::at(&path).unwrap();
        fs::write(path.join("config.toml"), "").unwrap();
        drop(used);
        assert!(path.join("config.toml").exists());
        fs::remove_dir_all(&path).unwrap();

        // Left by somebody who was killed.
        DirBuilder::new().mode(MODE).create(&path).unwrap();
        drop(Placeholder::at(&path).unwrap());
        assert!(!path.exists());
    }

    #[test]
    fn what_somebody_made_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(".agent");
        fs::create_dir(&path).unwrap();
        assert!(Placeholder::at(&path).is_none());
        assert!(path.is_dir());
        fs::remove_dir(&path).unwrap();
        std::os::unix::fs::symlink("nowhere", &path).unwrap();
        assert!(Placeholder::at(&path).is_none());
        fs::remove_file(&path).unwrap();
        fs::write(&path, "").unwrap();
        assert!(Placeholder::at(&path).is_none());
        assert!(Placeholder::at(&root.path().join("absent/.agent")).is_none());
    }
}
