//! Finds what is to be hidden, under the names that it has in the end.

use super::absences::Absences;
use super::place::{Led, led};
use crate::mount_table::MountTable;
use rustix::fs::{Access, access};
use rustix::process::geteuid;
use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Paths that commands must not read.
#[derive(Debug)]
pub(super) struct Hidden {
    /// Each once, and where they led when the sandbox was made. A link in a writable directory can be put in another place by a command;
    /// what it led to stays hidden.
    paths: Mutex<Absences>,
}

impl Hidden {
    pub(super) fn new(paths: &[PathBuf]) -> Self {
        let at_first = paths.iter().filter_map(|path| real(path));
        let mut paths: Vec<PathBuf> = at_first.chain(paths.iter().cloned()).collect();
        paths.sort();
        paths.dedup();
        Self { paths: Mutex::new(Absences::new(paths)) }
    }

    /// What of it is there now, without links, by every path at which it is mounted. What came into being since the last command is there,
    /// too.
    pub(super) fn now(&self, mounts: &MountTable) -> Vec<PathBuf> {
        let mut paths = self.paths.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found: Vec<PathBuf> = paths.without_known().into_iter().filter_map(real).collect();
        let aliases: Vec<PathBuf> = found.iter().flat_map(|path| mounts.aliases(path)).collect();
        found.extend(aliases.iter().filter_map(|path| real(path)));
        found.sort();
        found.dedup();
        found
    }
}

/// A device is none of what is kept secret, but may be where a link leads
/// that stands for nothing.
fn real(path: &Path) -> Option<PathBuf> {
    if path.symlink_metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound) {
        return None;
    }
    let real = match led(path) {
        Led::To(real) => real,
        Led::Nowhere => return None,
        // A command has closed what it lies in, and the next one could open it.
        Led::Behind(closed) => return is_own(&closed).then_some(closed),
    };
    let status = real.metadata().ok()?;
    let kind = status.file_type();
    let is_device = kind.is_char_device() || kind.is_block_device();
    (!is_device && may_be_read(&real, &status)).then_some(real)
}

/// Only an owner can open what is closed.
fn is_own(path: &Path) -> bool {
    path.metadata().is_ok_and(|status| status.uid() == geteuid().as_raw())
}

/// What another user keeps to himself needs no mount. An owner may give himself the right.
fn may_be_read(path: &Path, status: &Metadata) -> bool {
    let wanted = if status.is_dir() { [Access::READ_OK, Access::EXEC_OK].as_slice() } else { &[Access::READ_OK] };
    status.uid() == geteuid().as_raw() || wanted.iter().any(|right| access(path, *right).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_and_what_they_led_to_stays_hidden() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let [keys, other, link, later] = ["keys", "other", "link", "later"].map(|name| root.join(name));
        fs::create_dir(&keys).unwrap();
        fs::create_dir(&other).unwrap();
        symlink(&keys, &link).unwrap();
        symlink("/dev/null", root.join("none")).unwrap();
        let hidden = Hidden::new(&[link.clone(), later.clone(), root.join("absent"), root.join("none")]);
        assert_eq!(hidden.now(&MountTable::default()), std::slice::from_ref(&keys));
        fs::write(&later, "").unwrap();
        fs::remove_file(&link).unwrap();
        symlink(&other, &link).unwrap();
        assert_eq!(hidden.now(&MountTable::default()), [keys, later, other]);
    }
}
