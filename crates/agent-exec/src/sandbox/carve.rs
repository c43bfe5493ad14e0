//! Everything but some paths, in a language that only knows "everything beneath".
//!
//! Landlock adds rights and takes none away. So reading is granted to what lies beside the hidden paths: the entries of every directory on the
//! way to them, without those that lead there. What comes into being in such a directory later has no right until the next command.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Opens everything beneath `/` that does not lead to something hidden, and calls `grant` with it.
pub(super) fn around<E>(hidden: &[PathBuf], mut grant: impl FnMut(File) -> Result<(), E>) -> Result<(), E> {
    beneath(Path::new("/"), hidden, &mut grant)
}

/// The same beneath a directory. What is hidden above it does not count: it is named, so it is shown.
pub(super) fn within<E>(
    directory: &Path,
    hidden: &[PathBuf],
    mut grant: impl FnMut(File) -> Result<(), E>,
) -> Result<(), E> {
    let deeper: Vec<PathBuf> = hidden.iter().filter(|hidden| hidden.starts_with(directory)).cloned().collect();
    match deeper.as_slice() {
        [] => open(directory).map_or(Ok(()), grant),
        deeper if deeper.iter().any(|hidden| hidden == directory) => Ok(()),
        deeper => beneath(directory, deeper, &mut grant),
    }
}

fn beneath<E>(directory: &Path, hidden: &[PathBuf], grant: &mut impl FnMut(File) -> Result<(), E>) -> Result<(), E> {
    let mut entered = Vec::new();
    // What cannot be listed has no entries that could be named; those that lead to something hidden are known.
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if leads_to_hidden(&path, hidden) {
            continue;
        }
        // A link needs no right. What it leads to has its own, or none.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink())
            && let Some(file) = open(&path)
        {
            grant(file)?;
        }
    }
    for path in hidden {
        let Some(name) = path.strip_prefix(directory).ok().and_then(|within| within.iter().next()) else { continue };
        let next = directory.join(name);
        let is_hidden = hidden.iter().any(|hidden| next.starts_with(hidden));
        if !is_hidden && !entered.contains(&next) {
            beneath(&next, hidden, grant)?;
            entered.push(next);
        }
    }
    Ok(())
}

fn leads_to_hidden(path: &Path, hidden: &[PathBuf]) -> bool {
    hidden.iter().any(|hidden| hidden.starts_with(path))
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
        let Ok(()) = around(hidden, grant);
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
        assert!(granted.iter().all(|path| !leads_to_hidden(path, &hidden)));
    }
}
