//! The pictures of a session, beside its journal: each once, in a file that is named by its digest.
//!
//! ```text
//! 0195…-1a2b3c4d.jsonl          the journal, which names pictures by their digests
//! 0195…-1a2b3c4d.pictures/      for the owner alone
//!     9f86d081884c7d659a2f…     the bytes
//! ```
//!
//! A picture is on the disk before [`keep`](PictureKeeper::keep) returns, so before any record names it. What is read is compared with the
//! digest: a file that was changed is never sent.

use super::file::{make_private_folder, private, sync_folder_of};
use super::own::check_own;
use super::regular::read_regular;
use agent_core::picture::{Digest, Picture};
use agent_core::ports::{PictureError, PictureKeeper};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Keeps the pictures of one session: beside its journal once that is known, and in memory for a session that is kept nowhere.
#[derive(Debug, Default)]
pub struct SessionPictures {
    folder: OnceLock<PathBuf>,
    memory: Mutex<BTreeMap<Digest, Arc<[u8]>>>,
}

impl SessionPictures {
    /// Keeps them in memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps them beside this journal from now on. The first journal counts.
    pub fn keep_beside(&self, journal: &Path) {
        let _ = self.folder.set(folder_of(journal));
    }

    /// The pictures of a journal.
    #[must_use]
    pub fn of_journal(journal: &Path) -> Self {
        let pictures = Self::new();
        pictures.keep_beside(journal);
        pictures
    }

    fn remember(&self, digest: Digest, bytes: &[u8]) -> io::Result<()> {
        let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        let used: usize = memory.values().map(|kept| kept.len()).sum();
        if let Entry::Vacant(place) = memory.entry(digest) {
            if used.saturating_add(bytes.len()) > MOST_IN_MEMORY_BYTES {
                let found = "a session that is not kept has room for 256 MiB of pictures, and they are used up";
                return Err(io::Error::other(found));
            }
            place.insert(bytes.into());
        }
        Ok(())
    }

    fn remembered(&self, digest: Digest) -> Option<Arc<[u8]>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).get(&digest).cloned()
    }
}

impl PictureKeeper for SessionPictures {
    fn keep(&self, bytes: &[u8]) -> Result<Digest, PictureError> {
        let digest = digest_of(bytes);
        match self.folder.get() {
            Some(folder) => write(folder, digest, bytes).map_err(|error| PictureError {
                attempted: format!("keep the picture in {}", folder.display()),
                found: error.to_string(),
            })?,
            None => self.remember(digest, bytes).map_err(|error| PictureError {
                attempted: String::from("keep the picture in memory"),
                found: error.to_string(),
            })?,
        }
        Ok(digest)
    }

    fn bytes_of(&self, picture: &Picture) -> Result<Vec<u8>, PictureError> {
        if let Some(bytes) = self.remembered(picture.digest) {
            return Ok(bytes.to_vec());
        }
        let folder = self.folder.get();
        let place = folder.map_or_else(|| String::from("memory"), |folder| folder.display().to_string());
        let failed = |found: String| PictureError { attempted: format!("read the picture from {place}"), found };
        let folder = folder.ok_or_else(|| failed(String::from("it is not there")))?;
        let bytes = read(folder, picture).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => failed(String::from("it is gone")),
            _ => failed(error.to_string()),
        })?;
        if digest_of(&bytes) == picture.digest { Ok(bytes) } else { Err(failed(String::from("it was changed"))) }
    }
}

/// Where the pictures of a journal are.
pub(super) fn folder_of(journal: &Path) -> PathBuf {
    journal.with_extension(EXTENSION)
}

/// Gives another journal the same pictures.
pub(super) fn copy(journal: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (folder_of(journal), folder_of(to));
    check_own(&from).map_err(io::Error::other)?;
    let entries = match fs::read_dir(&from) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let Some(digest) = entry.file_name().to_str().and_then(Digest::of_hex) else { continue };
        let mut bytes = Vec::new();
        read_regular(&entry.path())?.take(Picture::MAX_BYTES + 1).read_to_end(&mut bytes)?;
        // One that was changed is no picture of the new session either, and is missed there as it is here.
        if digest_of(&bytes) == digest {
            write(&to, digest, &bytes)?;
        }
    }
    Ok(())
}

/// The size of the pictures of a journal, in bytes; what cannot be looked at counts as nothing.
pub(super) fn bytes_beside(journal: &Path) -> u64 {
    let entries = fs::read_dir(folder_of(journal)).into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.metadata().ok()).map(|found| found.len()).sum()
}

/// Takes the pictures of a journal away.
pub(super) fn remove(journal: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder_of(journal)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Whenever it is interrupted, a file with a digest for a name is whole.
fn write(folder: &Path, digest: Digest, bytes: &[u8]) -> io::Result<()> {
    check_own(folder).map_err(io::Error::other)?;
    let path = folder.join(digest.to_string());
    if is_whole(&path, digest, bytes.len()) {
        return Ok(());
    }
    make_private_folder(folder)?;
    sync_folder_of(folder)?;
    // Calls that run at the same time may keep the same picture.
    let new = folder.join(format!("{digest}.{:?}.new", std::thread::current().id()));
    let written = write_new(&new, bytes).and_then(|()| fs::rename(&new, &path));
    if written.is_err() {
        // What could not be written would be in the way of the next attempt.
        let _ = fs::remove_file(&new);
    }
    written?;
    sync_folder_of(&path)
}

fn write_new(new: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::remove_file(new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = private(OpenOptions::new().write(true).create_new(true)).open(new)?;
    file.write_all(bytes)?;
    file.sync_data()
}

fn is_whole(path: &Path, digest: Digest, size: usize) -> bool {
    let mut bytes = Vec::new();
    let limit = size as u64 + 1;
    check_own(path).is_ok()
        && read_regular(path).and_then(|file| file.take(limit).read_to_end(&mut bytes)).is_ok()
        && digest_of(&bytes) == digest
}

fn read(folder: &Path, picture: &Picture) -> io::Result<Vec<u8>> {
    let path = folder.join(picture.digest.to_string());
    [folder, path.as_path()].into_iter().try_for_each(check_own).map_err(io::Error::other)?;
    let mut bytes = Vec::new();
    // What a journal says of the size is not believed without a limit.
    read_regular(&path)?.take(picture.bytes.min(Picture::MAX_BYTES) + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn digest_of(bytes: &[u8]) -> Digest {
    Digest::new(Sha256::digest(bytes).into())
}

const EXTENSION: &str = "pictures";
const MOST_IN_MEMORY_BYTES: usize = 256 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use agent_core::picture::PictureKind;

    fn picture(digest: Digest, bytes: u64) -> Picture {
        Picture { digest, kind: PictureKind::Png, bytes, width: 1, height: 1, name: "a.png".into() }
    }

    #[test]
    fn a_picture_is_kept_once_for_the_owner_alone_and_read_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("s.jsonl");
        let pictures = SessionPictures::of_journal(&journal);
        let digest = pictures.keep(b"bytes").unwrap();
        assert_eq!(pictures.keep(b"bytes").unwrap(), digest);
        let names: Vec<_> = fs::read_dir(folder.path().join("s.pictures")).unwrap().map(|e| e.unwrap()).collect();
        assert_eq!(names.len(), 1);
        assert_eq!(names[0].file_name().to_str(), Some(&*digest.to_string()));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(names[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
            assert_eq!(folder.path().join("s.pictures").metadata().unwrap().permissions().mode() & 0o777, 0o700);
        }
        let again = SessionPictures::of_journal(&journal);
        assert_eq!(again.bytes_of(&picture(digest, 5)).unwrap(), b"bytes");
    }

    #[test]
    fn a_picture_that_is_gone_changed_or_a_link_is_not_had() {
        let folder = tempfile::tempdir().unwrap();
        let pictures = SessionPictures::of_journal(&folder.path().join("s.jsonl"));
        let digest = pictures.keep(b"bytes").unwrap();
        let path = folder.path().join("s.pictures").join(digest.to_string());
        let found = |bytes| pictures.bytes_of(&picture(digest, bytes)).unwrap_err().found;
        fs::write(&path, b"other").unwrap();
        assert_eq!(found(5), "it was changed");
        fs::write(&path, b"bytes and more").unwrap();
        assert_eq!(found(5), "it was changed");
        assert_eq!(pictures.keep(b"bytes").unwrap(), digest, "keeping it again mends the file");
        assert_eq!(pictures.bytes_of(&picture(digest, 5)).unwrap(), b"bytes");
        fs::remove_file(&path).unwrap();
        assert_eq!(found(5), "it is gone");
        #[cfg(unix)]
        {
            fs::write(folder.path().join("elsewhere"), b"bytes").unwrap();
            std::os::unix::fs::symlink(folder.path().join("elsewhere"), &path).unwrap();
            assert!(found(5).contains("symbolic link"), "{}", found(5));
        }
    }

    #[test]
    fn a_session_that_is_not_kept_has_its_pictures_in_memory() {
        let pictures = SessionPictures::new();
        let digest = pictures.keep(b"bytes").unwrap();
        assert_eq!(pictures.bytes_of(&picture(digest, 5)).unwrap(), b"bytes");
        let other = picture(digest_of(b"other"), 5);
        assert_eq!(pictures.bytes_of(&other).unwrap_err().found, "it is not there");
    }

    #[test]
    fn a_picture_that_cannot_be_written_is_an_error_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("s.pictures"), b"a file in the way").unwrap();
        let pictures = SessionPictures::of_journal(&folder.path().join("s.jsonl"));
        let error = pictures.keep(b"bytes").unwrap_err();
        assert!(error.attempted.starts_with("keep the picture in"), "{error}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
