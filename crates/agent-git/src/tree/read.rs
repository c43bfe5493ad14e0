//! Regular files, read up to a limit.

use super::FILE;
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::Path;

/// The content of a regular file with this path, where links count, if it is not longer than this. Never waits.
#[must_use]
pub fn read_path(path: &Path, limit_bytes: u64) -> Option<Vec<u8>> {
    read_at_most(open_path(path)?, limit_bytes).ok()
}

/// A regular file with this path, where links count, to be read.
#[must_use]
pub fn open_path(path: &Path) -> Option<File> {
    let flags = (OFlags::RDONLY | FILE).difference(OFlags::NOFOLLOW);
    regular(open(path, flags, Mode::empty()).ok()?).ok()
}

pub(super) fn read_at_most(file: File, limit_bytes: u64) -> io::Result<Vec<u8>> {
    // It may be full of holes and have any length, so the length is checked before reading up to the limit.
    if file.metadata()?.len() > limit_bytes {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut bytes = Vec::new();
    file.take(limit_bytes + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit_bytes {
        true => Err(io::ErrorKind::FileTooLarge.into()),
        false => Ok(bytes),
    }
}

/// Refuses what is not a regular file: reading a pipe would wait forever, and a device has no end.
pub(super) fn regular(file: OwnedFd) -> io::Result<File> {
    match FileType::from_raw_mode(fstat(&file)?.st_mode) {
        FileType::RegularFile => Ok(File::from(file)),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
    }
}
