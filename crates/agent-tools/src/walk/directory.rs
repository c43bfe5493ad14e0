//! The names in one directory.

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, RawDir, statat};
use rustix::io::Result;
use std::ffi::CString;
use std::mem::MaybeUninit;

/// What an entry is, without following it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
    Link,
    /// A device, a pipe, a socket.
    Special,
}

/// What is in a directory, sorted by name, at most so many.
pub(super) fn read_names(directory: &OwnedFd, most: usize) -> Result<Vec<(CString, Kind)>> {
    let mut buffer = vec![MaybeUninit::uninit(); BUFFER_BYTES];
    let mut names = Vec::new();
    let mut entries = RawDir::new(directory.as_fd(), &mut buffer);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        // One more than can be visited shows that there were more.
        if names.len() > most {
            break;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(status) => FileType::from_raw_mode(status.st_mode),
                // It has just gone.
                Err(_) => continue,
            },
            kind => kind,
        };
        let kind = match kind {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Directory,
            FileType::Symlink => Kind::Link,
            _ => Kind::Special,
        };
        names.push((name.to_owned(), kind));
    }
    names.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
    Ok(names)
}

/// No name is longer than 255 bytes.
const BUFFER_BYTES: usize = 32 * 1024;
