//! Everything but some paths, in a language that only knows "everything beneath".
//!
//! Landlock adds rights and takes none away. So reading is granted to what lies beside the hidden paths: the entries of every directory on
//! the way to them, without those that lead there. What comes into being in such a directory later has no right until the next command.
//!
//! A right is one of a directory itself, by whatever path it is reached. Where `/` is mounted a second time at `/mnt/a`, `/mnt/a/mnt` is
//! `/mnt`, and a right to it is one to all of `/mnt/a`. So what is on the way to something hidden is known by device and number, and never
//! granted.

use std::collections::BTreeSet;
use std::fs::{File, Metadata};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// What is granted, and what never is.
#[derive(Debug)]
pub(super) struct Carving<'a> {
    /// Without links, by every path at which it is mounted.
    hidden: &'a [PathBuf],
    /// What is hidden, and every directory on the way to it.
    ways: BTreeSet<Identity>,
}

/// Device and number.
type Identity = (u64, u64);

impl<'a> Carving<'a> {
    /// Carves these out: without links, by every path at which they are mounted.
    pub(super) fn out_of(hidden: &'a [PathBuf]) -> Self {
        let ways = hidden.iter().flat_map(|hidden| hidden.ancestors());
        let ways: BTreeSet<&Path> = ways.collect();
        Self {
            hidden,
            ways: ways.into_iter().filter_map(|way| Some(identity(&way.symlink_metadata().ok()?))).collect(),
        }
    }

    /// Opens everything beneath `/` that does not lead to something hidden, and calls `grant` with it.
    pub(super) fn around<E>(&self, mut grant: impl FnMut(File) -> Result<(), E>) -> Result<(), E> {
        let hidden: Vec<&Path> = self.hidden.iter().map(PathBuf::as_path).collect();
        self.beneath(Path::new("/"), &hidden, &mut grant)
    }

    /// The same beneath a directory. What is hidden above it does not count: it is named, so it is shown.
    pub(super) fn within<E>(&self, directory: &Path, mut grant: impl FnMut(File) -> Result<(), E>) -> Result<(), E> {
        let deeper = self.hidden.iter().map(PathBuf::as_path).filter(|hidden| hidden.starts_with(directory));
        let deeper: Vec<&Path> = deeper.collect();
        if deeper.contains(&directory) {
            return Ok(());
        }
        match open(directory).filter(|_| deeper.is_empty()) {
            // It is the way to something hidden by another path. What is hidden itself has this name that is shown.
            Some(file) if self.is_on_the_way(&file) && !self.is_hidden(&file) => {
                self.beneath(directory, &deeper, &mut grant)
            }
            Some(file) => grant(file),
            None => self.beneath(directory, &deeper, &mut grant),
        }
    }

    fn beneath<E>(
        &self,
        directory: &Path,
        hidden: &[&Path],
        grant: &mut impl FnMut(File) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut entered = Vec::new();
        // What cannot be listed has no entries that could be named; those that lead to something hidden are known.
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if leads_to_hidden(&path, hidden) {
                continue;
            }
            // A link needs no right. What it leads to has its own, or none.
            if entry.file_type().is_ok_and(|kind| !kind.is_symlink())
                && let Some(file) = open(&path).filter(|file| !self.is_on_the_way(file))
            {
                grant(file)?;
            }
        }
        for path in hidden {
            let Some(name) = path.strip_prefix(directory).ok().and_then(|within| within.iter().next()) else {
                continue;
            };
            let next = directory.join(name);
            let is_hidden = hidden.iter().any(|hidden| next.starts_with(hidden));
            if !is_hidden && !entered.contains(&next) {
                self.beneath(&next, hidden, grant)?;
                entered.push(next);
            }
        }
        Ok(())
    }

    /// What cannot be compared is not granted.
    fn is_on_the_way(&self, file: &File) -> bool {
        file.metadata().map_or(true, |status| self.ways.contains(&identity(&status)))
    }

    fn is_hidden(&self, file: &File) -> bool {
        let of = |status: Metadata| identity(&status);
        let found = file.metadata().ok().map(of);
        found.is_some() && self.hidden.iter().any(|hidden| hidden.symlink_metadata().ok().map(of) == found)
    }
}

fn leads_to_hidden(path: &Path, hidden: &[&Path]) -> bool {
    hidden.iter().any(|hidden| hidden.starts_with(path))
}

fn identity(status: &Metadata) -> Identity {
    (status.dev(), status.ino())
}

/// Without following a link that took its place, and without opening what waits for somebody.
fn open(path: &Path) -> Option<File> {
    let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::NOFOLLOW;
    File::options().read(true).custom_flags(i32::try_from(flags.bits()).ok()?).open(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::os::fd::AsRawFd as _;

    fn granted(hidden: &[PathBuf]) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        let grant = |file: File| {
            found.insert(std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap());
            Ok::<_, std::convert::Infallible>(())
        };
        let Ok(()) = Carving::out_of(hidden).around(grant);
        found
    }

    #[test]
    fn everything_beside_what_is_hidden_is_granted_and_nothing_above() {
        let root = tempfile::tempdir_in("/var/tmp").unwrap();
        let root = root.path().canonicalize().unwrap();
        for directory in ["home/.ssh", "home/.config/gh", "home/.config/git", "home/free"] {
            std::fs::create_dir_all(root.join(directory)).unwrap();
        }
        std::os::unix::fs::symlink(root.join("home/.ssh"), root.join("home/link")).unwrap();
        std::fs::write(root.join("home/file"), "").unwrap();
        let hidden = ["home/.ssh", "home/.config/gh", "home/.config/gh/deeper"].map(|name| root.join(name));
        let granted = granted(&hidden);
        let within: Vec<_> = granted.iter().filter_map(|path| path.strip_prefix(&root).ok()).collect();
        assert_eq!(within, ["home/.config/git", "home/file", "home/free"].map(Path::new));
        assert!(granted.contains(Path::new("/usr")) && !granted.contains(Path::new("/var")));
        let hidden: Vec<&Path> = hidden.iter().map(PathBuf::as_path).collect();
        assert!(granted.iter().all(|path| !leads_to_hidden(path, &hidden)));
    }
}
