//! Files and directories that are this user's alone. A file that another user could have put there, or can change, is neither read nor
//! written, because it decides how a session continues.

use std::io;
use std::path::{Path, PathBuf};

/// Why something is not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("use {path}: {found}; {remedy}")]
#[non_exhaustive]
pub struct NotOwn {
    /// The path that was checked.
    pub path: PathBuf,
    /// What is wrong with it.
    pub found: String,
    /// What can be done.
    pub remedy: String,
}

/// Refuses a file or directory that is a link, belongs to another user, or can be written by others. A missing file passes.
///
/// # Errors
/// [`NotOwn`] with what can be done.
pub fn check_own(path: &Path) -> Result<(), NotOwn> {
    let wrong = |found: String, remedy: String| Err(NotOwn { path: path.to_owned(), found, remedy });
    let found = match path.symlink_metadata() {
        Ok(found) => found,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(()),
        Err(error) => return wrong(error.to_string(), String::from("give this user access to it")),
    };
    if found.is_symlink() {
        let leads = path.read_link().map(|to| format!(" to {}", to.display())).unwrap_or_default();
        return wrong(
            format!("it is a symbolic link{leads}, which another user could redirect"),
            String::from("replace it with its target, or remove it"),
        );
    }
    foreign(path, &found).map_or(Ok(()), |(found, remedy)| wrong(found, remedy))
}

/// The same of what a link leads to. The system's administrator may have put it there. Returns its path without links, if it is there.
///
/// # Errors
/// [`NotOwn`] with what can be done.
pub fn check_own_target(path: &Path) -> Result<Option<PathBuf>, NotOwn> {
    let Ok(real) = path.canonicalize() else { return Ok(None) };
    let Ok(found) = real.symlink_metadata() else { return Ok(None) };
    check_own_opened(&real, &found).map(|()| Some(real))
}

/// The same of a file that was opened, by what is known of it.
///
/// # Errors
/// [`NotOwn`] with what can be done.
pub fn check_own_opened(path: &Path, found: &std::fs::Metadata) -> Result<(), NotOwn> {
    match foreign(path, found).filter(|_| !is_of_administrator(found)) {
        Some((found, remedy)) => Err(NotOwn { path: path.to_path_buf(), found, remedy }),
        None => Ok(()),
    }
}

#[cfg(unix)]
fn foreign(path: &Path, found: &std::fs::Metadata) -> Option<(String, String)> {
    use std::os::unix::fs::MetadataExt as _;
    let (own, shown) = (rustix::process::geteuid().as_raw(), path.display());
    if found.uid() != own {
        let whose = format!("it belongs to another user (number {}; this one is {own})", found.uid());
        return Some((whose, format!("work as that user or move it away; `ls -ld {shown}` shows it")));
    }
    let writable = found.mode() & WRITABLE_BY_OTHERS != 0;
    let mode = found.mode() & 0o7777;
    writable.then(|| (format!("other users can write to it (mode {mode:04o})"), format!("run `chmod go-w {shown}`")))
}

#[cfg(not(unix))]
fn foreign(_path: &Path, _found: &std::fs::Metadata) -> Option<(String, String)> {
    None
}

#[cfg(unix)]
fn is_of_administrator(found: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    found.uid() == 0 && found.mode() & WRITABLE_BY_OTHERS == 0
}

#[cfg(not(unix))]
fn is_of_administrator(_found: &std::fs::Metadata) -> bool {
    true
}

/// By the group, or by all.
#[cfg(unix)]
const WRITABLE_BY_OTHERS: u32 = 0o022;
