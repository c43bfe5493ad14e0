//! What can be wrong with a file, in words that tell a model what to do instead.

use agent_types::redact::REDACTED;
use std::io;

/// Why a file could not be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    #[error("the path is empty: give a path relative to the workspace, or `.` for the workspace itself")]
    EmptyPath,
    #[error("the path contains a NUL byte")]
    NulInPath,
    #[error("the path is longer than the system allows")]
    PathTooLong,
    #[error("`{path}` is outside the workspace: use paths of files inside it, relative to it")]
    Outside { path: String },
    #[error("`{path}` does not exist; the name is taken literally (`~` and `$` are not expanded)")]
    NotFound { path: String },
    #[error("`{path}` is a symbolic link to something that does not exist")]
    DanglingLink { path: String },
    #[error("`{path}` is a directory, not a file")]
    Directory { path: String },
    #[error("`{path}` is {kind}, not a regular file")]
    Special { path: String, kind: &'static str },
    #[error("`{path}` {reason}, so no tool may change it: leave it as it is or ask the user to change it")]
    Protected { path: String, reason: &'static str },
    #[error(
        "`{path}` is where the agent keeps its own records, such as copies of files for undo, and no tool may read it: read the files \
         themselves"
    )]
    Closed { path: String },
    #[error("the real name of `{path}` is not Unicode: use a command")]
    NotUnicode { path: String },
    #[error("`{path}` already exists")]
    Exists { path: String },
    #[error("`{path}` has changed since you last read it: read it again before you change it")]
    Stale { path: String },
    #[error("`{path}` exists and you have not read it: read it first, or use another path")]
    Unseen { path: String },
    #[error(
        "`{path}` holds a secret that you were shown as `{REDACTED}`, and writing the file whole would destroy it: change the other lines with \
         `edit_file`"
    )]
    Secret { path: String },
    #[error("the directory of `{path}` is not writable, so the file cannot be replaced safely: {source}")]
    DirectoryNotWritable { path: String, source: io::Error },
    #[error("`{path}` was not written, because the disk is full: {source}; nothing has changed")]
    DiskFull { path: String, source: io::Error },
    #[error("`{path}` was not written, because it is on a read-only file system")]
    ReadOnly { path: String },
    #[error("`{path}` was not written: no file may have more than {limit} bytes here")]
    TooLarge { path: String, limit: u64 },
    #[error("`{path}`: {source}")]
    System { path: String, source: io::Error },
}

impl FileError {
    /// Says what the system said about a path.
    pub(crate) fn new(path: &impl ToString, source: io::Error) -> Self {
        let path = path.to_string();
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound { path },
            io::ErrorKind::IsADirectory => Self::Directory { path },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull { path, source },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            // An escape is found by the resolver, not reported by the system.
            io::ErrorKind::PermissionDenied if source.raw_os_error().is_none() => Self::Outside { path },
            _ => Self::System { path, source },
        }
    }
}
