//! What is kept beside a journal: the session's name, and a note of the program that keeps it.

use super::regular::open_regular;
use super::store::{SessionStore, StoreError};
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

impl SessionStore {
    /// Gives a session a name, or takes its name away with an empty one.
    ///
    /// # Errors
    /// [`StoreError`] when there is no such session, or the name cannot be written.
    pub fn rename(&self, id: &str, name: &str) -> Result<(), StoreError> {
        self.keep_beside(id, NAME, name)
    }

    /// The name that a session was given.
    #[must_use]
    pub fn name(&self, id: &str) -> Option<String> {
        self.beside(id, NAME)
    }

    /// Keeps a note with a session in place of the one before, or none with an empty text.
    ///
    /// # Errors
    /// [`StoreError`] when there is no such session, or the note cannot be written.
    pub fn set_note(&self, id: &str, text: &str) -> Result<(), StoreError> {
        self.keep_beside(id, NOTE, text)
    }

    /// The note that is kept with a session.
    #[must_use]
    pub fn note(&self, id: &str) -> Option<String> {
        self.beside(id, NOTE)
    }

    fn keep_beside(&self, id: &str, extension: &str, text: &str) -> Result<(), StoreError> {
        let path = self.existing(id)?.with_extension(extension);
        let kept = if text.is_empty() { remove(&path) } else { replace(&path, text) };
        kept.map_err(|source| StoreError::Io { path, source })
    }

    fn beside(&self, id: &str, extension: &str) -> Option<String> {
        let path = self.existing(id).ok()?.with_extension(extension);
        let file = open_regular(&path, OpenOptions::new().read(true)).ok()?;
        let mut text = String::new();
        file.take(MOST_BYTES).read_to_string(&mut text).ok()?;
        Some(text).filter(|text| !text.trim().is_empty())
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// A link that stands there is replaced, not followed, and no reader sees half of it. Each process writes a file of its own, so that of two
/// that write at once the last one's text is there, whole.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let new = path.with_added_extension(format!("{}.new", std::process::id()));
    remove(&new)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&new)?.write_all(text.as_bytes()).and_then(|()| fs::rename(&new, path));
    // A disk may be full.
    written.inspect_err(|_| drop(remove(&new)))
}

/// How the names of a session's own files end: the journal, its lock, the name, the note, what was cut off, what was being written, and the
/// journal in an earlier format.
pub(super) fn is_of_session(ending: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_half_written = |ending: &str| {
        let beside = ending.strip_suffix(".new").and_then(|beside| beside.split_once('.'));
        beside.is_some_and(|(of, process)| matches!(of, NAME | NOTE) && is_number(process))
    };
    matches!(ending, "jsonl" | "lock" | NAME | NOTE | "torn" | "new")
        || ending.strip_prefix('v').is_some_and(is_number)
        || is_half_written(ending)
}

/// How the files end.
pub(super) const NAME: &str = "name";
pub(super) const NOTE: &str = "note";
const MOST_BYTES: u64 = 10_000;

#[cfg(test)]
mod tests {
    use super::is_of_session;

    /// Removing a session takes what the program keeps of it, and no copy that the user made.
    #[test]
    fn only_what_the_program_writes_is_of_a_session() {
        for own in ["jsonl", "lock", "name", "note", "torn", "new", "v4", "name.123.new", "note.7.new"] {
            assert!(is_of_session(own), "{own}");
        }
        for other in ["copy.jsonl", "bak", "notes.md", "jsonl.bak", "v", "v4.bak", "name.x.new", "x.7.new", ".new", ""]
        {
            assert!(!is_of_session(other), "{other}");
        }
    }
}
