//! The journals of the agents below a session: `ROOT.d/1.2.jsonl` has the second child of the first child of the session `ROOT`.
//!
//! Such an agent has the id `ROOT.1.2`. Its journal belongs to the root's: whoever writes the root's writes it, and it is removed with it.

use super::file::{FileJournal, OpenError, make_private_folder};
use super::own::check_own;
use super::store::{SessionStore, StoreError};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The id of the agent at a place below a session.
#[must_use]
pub fn descendant_id(root: &str, place: &[u32]) -> String {
    place.iter().fold(root.to_owned(), |id, number| format!("{id}.{number}"))
}

/// The session to which the id of an agent below it belongs; nothing for the id of a session.
#[must_use]
pub fn root_of(id: &str) -> Option<&str> {
    id.split_once('.').map(|(root, _)| root)
}

/// The root's id and the file's name of an id that names an agent below a session.
pub(super) fn parts(id: &str) -> Option<(&str, &str)> {
    let (root, place) = id.split_once('.')?;
    let is_number = |part: &str| part.starts_with(|c: char| matches!(c, '1'..='9')) && part.parse::<u32>().is_ok();
    place.split('.').all(is_number).then_some((root, place))
}

impl SessionStore {
    /// The ids of the agents below a session whose journals are there, parents before their children. None of one that has no agents.
    ///
    /// # Errors
    /// [`StoreError`] when the id is bad, or the folder cannot be read.
    pub fn descendants(&self, id: &str) -> Result<Vec<String>, StoreError> {
        let folder = folder_of(&self.path(id)?);
        let io = |source| StoreError::Io { path: folder.clone(), source };
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(io(error)),
        };
        let mut places: Vec<Vec<u32>> = Vec::new();
        for entry in entries {
            let name = entry.map_err(io)?.file_name();
            let place = name.to_str().and_then(|name| name.strip_suffix(".jsonl"));
            let numbers = place.map(|place| place.split('.').map(str::parse).collect::<Result<Vec<u32>, _>>());
            places.extend(numbers.and_then(Result::ok));
        }
        places.sort_unstable();
        Ok(places.into_iter().map(|place| descendant_id(id, &place)).collect())
    }
}

impl SessionStore {
    /// The folder of a session in which the journals of the agents below it are; it may not be there.
    ///
    /// # Errors
    /// [`StoreError::BadId`] when the id is no session's.
    pub fn folder_below(&self, id: &str) -> Result<PathBuf, StoreError> {
        match parts(id) {
            Some(_) => Err(StoreError::BadId { id: id.to_owned() }),
            None => Ok(folder_of(&self.path(id)?)),
        }
    }

    /// The same; it is made where it is not there, for this user alone.
    ///
    /// # Errors
    /// [`StoreError`] when the id is no session's, or the folder cannot be made or is not this user's alone.
    pub fn make_folder_below(&self, id: &str) -> Result<PathBuf, StoreError> {
        let folder = self.folder_below(id)?;
        make_private_folder(&folder).map_err(|source| StoreError::Io { path: folder.clone(), source })?;
        check_own(&folder).map_err(OpenError::from)?;
        Ok(folder)
    }

    /// Makes the journal of a new agent below a session. A journal that is there already is one that its parent's does not know: the
    /// parent's was cut. It is kept beside, with those of the agents below it, under names that end in `.unknown` and a number.
    ///
    /// The caller writes the session's journal.
    ///
    /// # Errors
    /// [`StoreError`] when the id is bad or that of a session, or a file cannot be made or renamed.
    pub fn create_below(&self, id: &str) -> Result<FileJournal, StoreError> {
        let Some((root, place)) = parts(id) else { return Err(StoreError::BadId { id: id.to_owned() }) };
        let folder = folder_of(&self.path(root)?);
        let io = |source| StoreError::Io { path: folder.clone(), source };
        let below = format!("{place}.");
        if self.path(id)?.symlink_metadata().is_ok() {
            for entry in fs::read_dir(&folder).map_err(io)? {
                let entry = entry.map_err(io)?;
                let name = entry.file_name();
                let Some(name) = name.to_str().filter(|name| name.starts_with(&below) && name.ends_with(".jsonl"))
                else {
                    continue;
                };
                let free = (1_u32..).map(|number| folder.join(format!("{name}.unknown{number}")));
                let aside = free.into_iter().find(|path| path.symlink_metadata().is_err());
                if let Some(aside) = aside {
                    fs::rename(entry.path(), aside).map_err(io)?;
                }
            }
        }
        Ok(FileJournal::create_as(&self.path(id)?, Some(&self.siblings))?)
    }
}

/// Where the journals of the agents below are.
pub(super) fn folder_of(journal: &Path) -> PathBuf {
    journal.with_extension("d")
}

/// Their size in bytes.
pub(super) fn bytes_below(journal: &Path) -> u64 {
    let entries = fs::read_dir(folder_of(journal)).into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.metadata().ok()).map(|found| found.len()).sum()
}

/// Takes them away.
pub(super) fn remove(journal: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder_of(journal)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_that_the_parents_does_not_know_is_kept_beside_the_new_one() {
        let scratch = tempfile::tempdir().unwrap();
        let store = SessionStore::new(scratch.path(), Path::new("/w"));
        let old = ["a.1", "a.1.2", "a.10"].map(|id| {
            let path = store.path(id).unwrap();
            drop(store.create_below(id).unwrap());
            fs::write(&path, id).unwrap();
            path
        });
        for round in 1..3 {
            drop(store.create_below("a.1").unwrap());
            assert_eq!(fs::read(&old[0]).unwrap(), b"");
            let aside = |path: &Path, round| path.with_extension(format!("jsonl.unknown{round}"));
            assert!(aside(&old[0], round).exists() && aside(&old[1], 1).exists());
            assert_eq!(fs::read(aside(&old[0], 1)).unwrap(), b"a.1");
        }
        assert!(!old[1].exists(), "an agent below is its old parent's");
        assert_eq!(fs::read(&old[2]).unwrap(), b"a.10");
        assert_eq!(store.descendants("a").unwrap(), ["a.1", "a.10"]);
    }

    #[test]
    fn an_id_says_where_an_agent_stands_and_nothing_else_is_one() {
        assert_eq!(descendant_id("ab-1", &[1, 20]), "ab-1.1.20");
        assert_eq!(parts("ab-1.1.20"), Some(("ab-1", "1.20")));
        assert_eq!((root_of("ab-1.1.20"), root_of("ab-1")), (Some("ab-1"), None));
        for id in ["ab-1", "ab.", "ab.x", "ab..1", "ab.01", "ab.1/../2", "ab.-1", "ab.+1", "ab.4294967296"] {
            assert_eq!(parts(id), None, "{id}");
        }
    }
}
