//! The temporary directory of a sandbox. It goes with the sandbox; what a program that was killed has left of its own goes when the next
//! one makes one.
//!
//! ```text
//! /tmp/agent-sandbox-Ab3xYz   nobody else's
//!   lock                      locked for as long as the program lives that made it; commands do not see it
//!   tmp                       what commands have as their temporary directory
//!   empty                     what commands see in the place of a hidden file
//!   helper                    a copy of a small helper, which is started in the sandbox
//!   status-0                  how a command ended
//! ```
//!
//! It lies in nothing that commands may write: what is mounted by name must not be theirs to replace.

use rustix::process::geteuid;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Once;

/// A temporary directory with a lock beside it.
#[derive(Debug)]
pub(super) struct Scratch {
    directory: PathBuf,
    path: PathBuf,
    empty_file: PathBuf,
    #[cfg(target_os = "linux")]
    opened: File,
    /// It is locked until it is gone.
    _lock: File,
}

impl Scratch {
    /// Makes one where temporary files belong but nothing is `writable`, and begins to remove what others have left there.
    ///
    /// # Errors
    /// When it cannot be made, or there is no such place.
    pub(super) fn beside(writable: &[PathBuf]) -> io::Result<Self> {
        static BEGUN: Once = Once::new();
        let is_free = |parent: &PathBuf| !writable.iter().any(|writable| parent.starts_with(writable));
        std::env::temp_dir().canonicalize()?;
        let Some(parent) = parents().into_iter().find(is_free) else {
            return Err(io::Error::other(
                "every temporary directory is in a place where commands may write: set TMPDIR to another one",
            ));
        };
        BEGUN.call_once(|| {
            let parent = parent.clone();
            // Nobody waits for it: there may be much. Where there can be no thread it stays for the next time.
            let _ =
                std::thread::Builder::new().name("agent-scratch".to_owned()).spawn(move || remove_abandoned(&parent));
        });
        Self::within(&parent)
    }

    fn within(parent: &Path) -> io::Result<Self> {
        let private = fs::Permissions::from_mode(0o700);
        let directory = tempfile::Builder::new().prefix(PREFIX).permissions(private).tempdir_in(parent)?;
        // Under its name it is never seen unlocked while this program lives.
        let unnamed = directory.path().join("lock.new");
        let lock = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unnamed)?;
        lock.try_lock()?;
        fs::rename(&unnamed, directory.path().join(LOCK))?;
        let path = directory.path().join(INSIDE);
        fs::create_dir(&path)?;
        let empty_file = directory.path().join(EMPTY);
        OpenOptions::new().write(true).create_new(true).mode(0o444).open(&empty_file)?;
        #[cfg(target_os = "linux")]
        let opened = File::open(directory.path())?;
        Ok(Self {
            directory: directory.keep(),
            path,
            empty_file,
            #[cfg(target_os = "linux")]
            opened,
            _lock: lock,
        })
    }

    /// Whether such directories lie in a place, of this sandbox or another one, or the place in one of them: they hold what starts
    /// commands.
    pub(super) fn are_near(place: &Path) -> bool {
        let is_within = place.ancestors().any(|above| {
            let name = above.file_name().unwrap_or_default();
            name.as_encoded_bytes().starts_with(PREFIX.as_bytes())
        });
        is_within || parents().iter().any(|parent| parent.starts_with(place))
    }

    /// What commands may write.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// What they see in the place of a hidden file.
    pub(super) fn empty_file(&self) -> &Path {
        &self.empty_file
    }
}

/// Where they may be made, the preferred place first.
fn parents() -> Vec<PathBuf> {
    let wanted = [std::env::temp_dir()].into_iter().chain(["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from));
    wanted.filter_map(|parent| parent.canonicalize().ok()).collect()
}

/// For what starts commands.
#[cfg(target_os = "linux")]
impl Scratch {
    /// Keeps a copy of the helper.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn keep_helper(&self, content: &[u8]) -> io::Result<()> {
        let path = self.directory.join(HELPER);
        io::Write::write_all(&mut OpenOptions::new().write(true).create_new(true).mode(0o500).open(path)?, content)
    }

    /// The directory itself, of which commands see no more than [`path`](Self::path).
    pub(super) fn descriptor(&self) -> io::Result<File> {
        self.opened.try_clone()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        remove(&self.directory);
    }
}

/// The lock goes last: what is removed half can still be told for what it is.
fn remove(directory: &Path) {
    #[cfg(target_os = "linux")]
    let inside = super::removal::remove_all(&directory.join(INSIDE));
    #[cfg(not(target_os = "linux"))]
    let inside = fs::remove_dir_all(directory.join(INSIDE));
    if !inside.is_err_and(|error| error.kind() != io::ErrorKind::NotFound) {
        let _ = fs::remove_dir_all(directory);
    }
}

/// Removes the directories of programs that are gone.
fn remove_abandoned(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX)) {
        let directory = entry.path();
        let Some(_lock) = take_over(&directory) else { continue };
        remove(&directory);
    }
}

/// The lock of a directory that was made here by this user, and by no program that still runs.
fn take_over(directory: &Path) -> Option<File> {
    let status = fs::symlink_metadata(directory).ok()?;
    let own = geteuid().as_raw();
    if !status.is_dir() || status.uid() != own || status.mode() & 0o077 != 0 {
        return None;
    }
    let path = directory.join(LOCK);
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let lock = OpenOptions::new().read(true).custom_flags(i32::try_from(flags.bits()).ok()?).open(&path).ok()?;
    lock.try_lock().ok()?;
    // Somebody else may have removed it in between, and a third one made it anew.
    let (held, found) = (lock.metadata().ok()?, fs::symlink_metadata(&path).ok()?);
    let is_same = (held.dev(), held.ino()) == (found.dev(), found.ino());
    (is_same && held.is_file() && held.uid() == own).then_some(lock)
}

const PREFIX: &str = "agent-sandbox-";
/// Locked while the program lives that made the directory.
pub(crate) const LOCK: &str = "lock";
#[cfg(target_os = "linux")]
pub(super) const HELPER: &str = "helper";
const INSIDE: &str = "tmp";
const EMPTY: &str = "empty";

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// What a killed program leaves.
    fn leave(parent: &Path, name: &str) -> PathBuf {
        let directory = parent.join(format!("{PREFIX}{name}"));
        fs::create_dir_all(directory.join("tmp/some/thing")).unwrap();
        fs::write(directory.join("tmp/some/file"), "x").unwrap();
        fs::write(directory.join(LOCK), "").unwrap();
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
        directory
    }

    #[test]
    fn what_the_dead_have_left_is_removed_and_nothing_else() {
        let parent = tempfile::tempdir().unwrap();
        let parent = parent.path();
        let living = Scratch::within(parent).unwrap();
        fs::write(living.path().join("file"), "x").unwrap();
        let left = [leave(parent, "one"), leave(parent, "two")];
        fs::remove_dir_all(left[1].join(INSIDE)).unwrap();

        let elsewhere = parent.join("elsewhere");
        fs::rename(leave(parent, "away"), &elsewhere).unwrap();
        symlink(&elsewhere, parent.join(format!("{PREFIX}link"))).unwrap();
        let without_lock = leave(parent, "unmarked");
        fs::remove_file(without_lock.join(LOCK)).unwrap();
        let of_all = leave(parent, "shared");
        fs::set_permissions(&of_all, fs::Permissions::from_mode(0o755)).unwrap();
        let linked_lock = leave(parent, "linked");
        fs::remove_file(linked_lock.join(LOCK)).unwrap();
        symlink(elsewhere.join(LOCK), linked_lock.join(LOCK)).unwrap();
        let other = parent.join("agent-of-somebody");
        fs::create_dir(&other).unwrap();

        let mode = fs::metadata(living.path().parent().unwrap()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        remove_abandoned(parent);
        assert!(left.iter().all(|directory| !directory.exists()));
        assert!(living.path().join("file").exists());
        for kept in [&elsewhere, &without_lock, &of_all, &linked_lock] {
            assert!(kept.join("tmp/some/file").exists(), "{}", kept.display());
        }
        assert!(other.exists());

        let path = living.path().to_path_buf();
        drop(living);
        assert!(!path.exists());
        assert_eq!(fs::read_dir(parent).unwrap().count(), 6);
    }

    /// Links that commands made lead nowhere when what they are in is removed.
    #[test]
    fn links_are_removed_and_not_followed() {
        let parent = tempfile::tempdir().unwrap();
        let outside = parent.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("file"), "x").unwrap();
        let left = leave(parent.path(), "one");
        symlink(&outside, left.join("tmp/link")).unwrap();
        fs::remove_dir_all(left.join("tmp/some")).unwrap();
        symlink(&outside, left.join("tmp/some")).unwrap();
        remove_abandoned(parent.path());
        assert!(!left.exists() && outside.join("file").exists());
    }
}
