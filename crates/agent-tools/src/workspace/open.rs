//! Opening files: regular ones only, and never blocking.

use super::record::Stamp;
use super::{FileError, RelativePath, Workspace};
use cap_std::fs::{File, FileType, FileTypeExt as _, Metadata, OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;
use std::io;
use std::path::PathBuf;

/// A regular file, open for reading.
#[derive(Debug)]
pub(crate) struct OpenedFile {
    pub(crate) file: File,
    pub(crate) metadata: Metadata,
    /// Its path without links.
    pub(crate) real: PathBuf,
}

/// An existing file that may be replaced.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) opened: OpenedFile,
    pub(crate) stamp: Stamp,
}

impl Workspace {
    /// Opens a regular file for reading.
    pub(crate) fn open_file(&self, path: &RelativePath) -> Result<OpenedFile, FileError> {
        let wrong = |error| self.say(path, error);
        // Looked at first, because opening a device may do something; and again after, because it may have been swapped.
        let metadata = self.directory.metadata(path.as_path()).map_err(wrong)?;
        must_be_regular(path, &metadata)?;
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(flags());
        let file = self.directory.open_with(path.as_path(), &options).map_err(wrong)?;
        let metadata = file.metadata().map_err(wrong)?;
        must_be_regular(path, &metadata)?;
        let real = self.directory.canonicalize(path.as_path()).map_err(wrong)?;
        Ok(OpenedFile { file, metadata, real })
    }

    /// Opens a file that is to be replaced: it must be writable, as the model last saw it, and not git's own.
    pub(crate) fn open_target(&self, path: &RelativePath) -> Result<Target, FileError> {
        self.must_not_be_git(path)?;
        let opened = self.open_file(path)?;
        let mut options = OpenOptions::new();
        options.write(true).custom_flags(flags());
        // Replacing a file does not ask for its own permission; its owner may have taken it away on purpose.
        self.directory.open_with(&opened.real, &options).map_err(|error| self.say(path, error))?;
        let stamp = Stamp::of(&opened.metadata);
        match self.record.last_seen(&opened.real) {
            Some(seen) if seen != stamp => Err(FileError::Stale { path: path.to_string() }),
            Some(_) | None => Ok(Target { opened, stamp }),
        }
    }

    /// Where an existing file or directory really is.
    pub(crate) fn existing(&self, path: &RelativePath) -> Result<RelativePath, FileError> {
        let real = self.directory.canonicalize(path.as_path()).map_err(|error| self.say(path, error))?;
        RelativePath::from_real(&real).ok_or_else(|| FileError::NotFound { path: path.to_string() })
    }

    /// Notes that the model has seen this state of a file.
    pub(crate) fn note_seen(&self, opened: &OpenedFile) {
        self.record.note(&opened.real, &opened.metadata);
    }

    pub(crate) fn was_seen(&self, opened: &OpenedFile) -> bool {
        self.record.last_seen(&opened.real).is_some()
    }

    pub(crate) fn must_not_be_git(&self, path: &RelativePath) -> Result<(), FileError> {
        let leads_there = || self.real_path(path).is_some_and(|real| real.is_in_git());
        if path.is_in_git() || leads_there() {
            return Err(FileError::GitData { path: path.to_string() });
        }
        Ok(())
    }

    /// Says what went wrong, telling a link to nowhere from nothing.
    pub(crate) fn say(&self, path: &RelativePath, error: io::Error) -> FileError {
        let is_link = || self.directory.symlink_metadata(path.as_path()).is_ok_and(|metadata| metadata.is_symlink());
        if error.kind() == io::ErrorKind::NotFound && is_link() {
            return FileError::DanglingLink { path: path.to_string() };
        }
        FileError::new(path, error)
    }
}

fn must_be_regular(path: &RelativePath, metadata: &Metadata) -> Result<(), FileError> {
    let path = path.to_string();
    if metadata.is_dir() {
        return Err(FileError::Directory { path });
    }
    if !metadata.is_file() {
        let kind = name_of(metadata.file_type());
        return Err(FileError::Special { path, kind });
    }
    Ok(())
}

fn name_of(kind: FileType) -> &'static str {
    if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_block_device() || kind.is_char_device() {
        "a device"
    } else {
        "something special"
    }
}

#[expect(clippy::cast_possible_wrap, reason = "flags are bits")]
fn flags() -> i32 {
    OFlags::NONBLOCK.bits() as i32
}
