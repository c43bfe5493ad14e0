//! What was typed before, kept per project: one JSON string a line, in a file that only the user reads.
//!
//! Two programs may add to it at once: each adds whole lines under a lock, and a line that cannot be read is passed over. That nothing can
//! be kept is no reason to stop.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The messages, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct History {
    entries: Vec<String>,
    file: Option<PathBuf>,
}

impl History {
    /// Reads what is there.
    pub(crate) fn load(file: Option<PathBuf>) -> Self {
        let entries = file.as_deref().and_then(|file| read(&mut open(file).ok()?).ok()).unwrap_or_default();
        Self { entries, file }
    }

    pub(crate) fn entries(&self) -> &[String] {
        &self.entries
    }

    /// Adds a message, unless it is the one before.
    pub(crate) fn add(&mut self, text: &str) {
        let is_news = self.entries.last().is_none_or(|last| last != text);
        if text.trim().is_empty() || text.len() > MOST_ENTRY_BYTES || !is_news {
            return;
        }
        self.entries.push(text.to_owned());
        if let Some(file) = &self.file {
            // Where it cannot be kept it is there until the end of this program.
            let _ = append(file, text);
        }
    }
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    let mut file = locked(path)?;
    let line = serde_json::to_string(text).map_err(io::Error::other)?;
    file.seek(SeekFrom::End(0))?;
    // One that was cut ends here, and costs nothing but itself.
    let is_cut = file.stream_position()? > 0 && {
        file.seek(SeekFrom::End(-1))?;
        let mut last = [0];
        file.read_exact(&mut last)?;
        last != *b"\n"
    };
    file.write_all(format!("{}{line}\n", if is_cut { "\n" } else { "" }).as_bytes())?;
    if file.metadata()?.len() > MOST_BYTES {
        let entries = read(&mut file)?;
        let kept = entries.iter().rev().take(MOST_ENTRIES / 2).rev();
        let lines: Result<Vec<String>, _> = kept.map(serde_json::to_string).collect();
        let lines: String = lines.map_err(io::Error::other)?.iter().map(|line| format!("{line}\n")).collect();
        let start = lines.len().saturating_sub(usize::try_from(MOST_BYTES / 2).unwrap_or_default());
        let start = lines
            .get(start..)
            .and_then(|rest| rest.find('\n'))
            .map_or(0, |at| if start == 0 { 0 } else { start + at + 1 });
        let fresh = path.with_extension("new");
        let _ = fs::remove_file(&fresh);
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&fresh)?
            .write_all(lines.get(start..).unwrap_or_default().as_bytes())?;
        fs::rename(&fresh, path)?;
    }
    Ok(())
}

/// The file, which nobody else writes until it is dropped. One that was replaced while it was waited for is opened again.
fn locked(path: &Path) -> io::Result<File> {
    for _ in 0..TRIES {
        let file = open(path)?;
        // Where a lock is held for long, the entry is not worth the wait.
        rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive).or_else(|_| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive)
        })?;
        if fs::metadata(path).is_ok_and(|now| file.metadata().is_ok_and(|held| now.ino() == held.ino())) {
            return Ok(file);
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or_default();
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(flags)
        .open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

fn read(file: &mut File) -> io::Result<Vec<String>> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(2 * MOST_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(2 * MOST_BYTES).read_to_end(&mut bytes)?;
    let lines = bytes.split(|byte| *byte == b'\n');
    let entries: Vec<String> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
    Ok(entries.iter().skip(entries.len().saturating_sub(MOST_ENTRIES)).cloned().collect())
}

const MOST_ENTRIES: usize = 1_000;
const MOST_ENTRY_BYTES: usize = 32 * 1024;
const MOST_BYTES: u64 = 1024 * 1024;
const TRIES: u32 = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn what_was_typed_is_there_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history/one.history");
        let mut history = History::load(Some(path.clone()));
        for text in ["a", "b\nc", "b\nc", " ", "ü\u{1b}"] {
            history.add(text);
        }
        assert_eq!(history.entries(), ["a", "b\nc", "ü\u{1b}"]);
        assert_eq!(History::load(Some(path.clone())).entries(), history.entries());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_broken_file_costs_its_broken_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.history");
        fs::write(&path, b"\"a\"\n\xff\xfe\n{}\n\"b\"\n\"cut of").unwrap();
        let mut history = History::load(Some(path.clone()));
        assert_eq!(history.entries(), ["a", "b"]);
        history.add("c");
        assert_eq!(History::load(Some(path)).entries(), ["a", "b", "c"]);
        // A folder in its place, and a place that cannot be.
        for place in [folder.path().to_owned(), PathBuf::from("/proc/nowhere/one.history")] {
            let mut history = History::load(Some(place));
            history.add("a");
            assert_eq!(history.entries(), ["a"]);
        }
    }

    #[test]
    fn two_programs_lose_nothing_and_the_file_stays_small() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.history");
        let (mut one, mut two) = (History::load(Some(path.clone())), History::load(Some(path.clone())));
        for number in 0..40 {
            one.add(&format!("one {number}"));
            two.add(&format!("two {number}"));
        }
        let kept = History::load(Some(path.clone()));
        assert_eq!(kept.entries().len(), 80);
        for number in 0..200 {
            one.add(&format!("{number} {}", "x".repeat(20_000)));
        }
        assert!(fs::metadata(&path).unwrap().len() <= MOST_BYTES);
        let kept = History::load(Some(path));
        assert!(kept.entries().last().unwrap().starts_with("199 "), "{}", kept.entries().len());
        assert!(kept.entries().len() > 10);
    }
}
