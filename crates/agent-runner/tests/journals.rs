//! Both kinds of journal, held to the public rules; with real programs that are killed while they write.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use agent_core::journal::Record;
use agent_core::ports::Journal;
use agent_runner::journal::{FileJournal, read};
use agent_testkit::conformance::journals::{Shelf, assert_conforms, write_until_killed};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Journals in files.
struct Files(PathBuf);

impl Files {
    fn path(&self, id: &str) -> PathBuf {
        self.0.join(format!("{id}.jsonl"))
    }
}

impl Shelf for Files {
    fn create(&self, id: &str) -> Result<Box<dyn Journal>, String> {
        FileJournal::create(&self.path(id)).map(boxed).map_err(|error| error.to_string())
    }

    fn resume(&self, id: &str) -> Result<(Box<dyn Journal>, Vec<Record>), String> {
        let resumed = FileJournal::resume(&self.path(id)).map_err(|error| error.to_string())?;
        Ok((boxed(resumed.0), resumed.1.records))
    }

    fn read(&self, id: &str) -> Result<Vec<Record>, String> {
        read(&self.path(id)).map(|recovered| recovered.records).map_err(|error| error.to_string())
    }

    fn damage(&self, id: &str, seq: u64) -> Result<(), String> {
        let mut bytes = fs::read(self.path(id)).unwrap();
        let lines: Vec<usize> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::len).collect();
        let seq = usize::try_from(seq).unwrap();
        let at = lines[..seq].iter().sum::<usize>() + lines[seq] / 2;
        bytes[at] ^= 1;
        fs::write(self.path(id), bytes).map_err(|error| error.to_string())
    }

    fn writer(&self, id: &str) -> Command {
        writer("files", &self.0, id)
    }
}

/// The suite starts processes, and until one of them runs its program it holds the locks of the files that another test has open here.
static ALONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

fn boxed<J: Journal + 'static>(journal: J) -> Box<dyn Journal> {
    Box::new(journal)
}

/// This program, as the one that is killed.
fn writer(kind: &str, folder: &Path, id: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "the_one_that_is_killed", "--nocapture"]);
    command.env("JOURNAL_KIND", kind).env("JOURNAL_FOLDER", folder).env("JOURNAL_ID", id);
    command
}

fn shelf(kind: &str, folder: &Path) -> Box<dyn Shelf> {
    match kind {
        #[cfg(feature = "sqlite")]
        "database" => Box::new(database::Database::new(folder)),
        _ => Box::new(Files(folder.to_owned())),
    }
}

/// Does nothing but where it is started for it.
#[tokio::test]
async fn the_one_that_is_killed() {
    let variable = |name: &str| std::env::var(name).ok();
    let (Some(kind), Some(folder), Some(id)) =
        (variable("JOURNAL_KIND"), variable("JOURNAL_FOLDER"), variable("JOURNAL_ID"))
    else {
        return;
    };
    let (journal, records) = shelf(&kind, folder.as_ref()).resume(&id).unwrap();
    write_until_killed(journal, records.len() as u64).await;
}

#[tokio::test]
async fn files_conform() {
    let _alone = ALONE.lock().await;
    let folder = tempfile::tempdir().unwrap();
    assert_conforms(shelf("files", folder.path()).as_ref()).await;
}

/// The suite notices what it is for: a shelf that forgets, reorders, lets two write or takes damage for truth does not hold it.
#[tokio::test]
async fn a_shelf_that_is_wrong_is_found() {
    let _alone = ALONE.lock().await;
    use agent_testkit::conformance::journals::checks;
    for (wrong, name) in [
        (Wrong::Forgets, "reads-back"),
        (Wrong::Reorders, "goes-on"),
        (Wrong::SharesIt, "one-writer"),
        (Wrong::ReadsLate, "free-readers"),
        (Wrong::PassesDamage, "damage"),
        (Wrong::Forgets, "killed"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Faulty { files: Files(folder.path().to_owned()), wrong };
        let check = checks().into_iter().find(|check| check.name == name).unwrap();
        assert!(check.run(&shelf).await.is_err(), "{wrong:?} is not noticed by {name}");
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Wrong {
    Forgets,
    Reorders,
    SharesIt,
    ReadsLate,
    PassesDamage,
}

struct Faulty {
    files: Files,
    wrong: Wrong,
}

impl Shelf for Faulty {
    fn create(&self, id: &str) -> Result<Box<dyn Journal>, String> {
        self.files.create(id)
    }

    fn resume(&self, id: &str) -> Result<(Box<dyn Journal>, Vec<Record>), String> {
        if self.wrong == Wrong::SharesIt {
            // As if no lock were there.
            let _ = fs::remove_file(self.files.path(id).with_extension("lock"));
        }
        let (journal, mut records) = self.files.resume(id)?;
        if self.wrong == Wrong::Reorders {
            records.reverse();
        }
        Ok((journal, records))
    }

    fn read(&self, id: &str) -> Result<Vec<Record>, String> {
        let mut records = match self.files.read(id) {
            Err(error) if self.wrong != Wrong::PassesDamage => return Err(error),
            read => read.unwrap_or_default(),
        };
        if matches!(self.wrong, Wrong::Forgets | Wrong::ReadsLate) {
            records.pop();
        }
        Ok(records)
    }

    fn damage(&self, id: &str, seq: u64) -> Result<(), String> {
        self.files.damage(id, seq)
    }

    fn writer(&self, id: &str) -> Command {
        self.files.writer(id)
    }
}

#[cfg(feature = "sqlite")]
mod database {
    use super::*;
    use agent_runner::journal::{SqliteError, SqliteStore};

    pub(crate) struct Database {
        folder: PathBuf,
        store: SqliteStore,
    }

    impl Database {
        pub(crate) fn new(folder: &Path) -> Self {
            Self { folder: folder.to_owned(), store: SqliteStore::open(&folder.join("sessions.db")).unwrap() }
        }

        fn sql(&self, sql: &str) {
            let connection = rusqlite::Connection::open(self.folder.join("sessions.db")).unwrap();
            connection.execute_batch(sql).unwrap();
        }
    }

    impl Shelf for Database {
        fn create(&self, id: &str) -> Result<Box<dyn Journal>, String> {
            self.store.create(id).map(boxed).map_err(|error| error.to_string())
        }

        fn resume(&self, id: &str) -> Result<(Box<dyn Journal>, Vec<Record>), String> {
            let resumed = self.store.resume(id).map_err(|error| error.to_string())?;
            Ok((boxed(resumed.0), resumed.1.records))
        }

        fn read(&self, id: &str) -> Result<Vec<Record>, String> {
            self.store.read(id).map(|recovered| recovered.records).map_err(|error| error.to_string())
        }

        fn damage(&self, id: &str, seq: u64) -> Result<(), String> {
            self.sql(&format!(
                "UPDATE record SET line = CAST(replace(CAST(line AS TEXT), 'words', 'swords') AS BLOB) \
                 WHERE session = '{id}' AND seq = {}",
                seq + 2
            ));
            Ok(())
        }

        fn writer(&self, id: &str) -> Command {
            writer("database", &self.folder, id)
        }
    }

    #[tokio::test]
    async fn databases_conform() {
        let _alone = ALONE.lock().await;
        let folder = tempfile::tempdir().unwrap();
        assert_conforms(shelf("database", folder.path()).as_ref()).await;
    }

    #[tokio::test]
    async fn a_database_is_its_owners_and_no_other_thing() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/sessions.db");
        let store = SqliteStore::open(&path).unwrap();
        let journal = store.create("one").unwrap();
        for entry in fs::read_dir(path.parent().unwrap()).unwrap() {
            let mode = entry.unwrap().metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0);
        }
        assert!(matches!(store.create("one").err(), Some(SqliteError::Open(_))), "it is open");
        drop(journal);
        assert!(matches!(store.create("one").err(), Some(SqliteError::Taken { .. })));
        assert!(matches!(store.create("../one").err(), Some(SqliteError::BadId { .. })));
        assert!(matches!(store.resume("two").err(), Some(SqliteError::NoSuchSession { .. })));
        fs::write(folder.path().join("text"), "no database, but longer than its head would be ".repeat(99)).unwrap();
        for other in ["text", "."] {
            let error = SqliteStore::open(&folder.path().join(other)).unwrap_err().to_string();
            assert!(error.contains("not a"), "{error}");
        }
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA user_version = 9").unwrap();
        assert!(matches!(SqliteStore::open(&path).err(), Some(SqliteError::Version { found: 9, .. })));
    }

    /// Behind the lock stands the database: a number that is there is refused, and nothing follows it.
    #[tokio::test]
    async fn no_number_comes_twice_and_none_is_missed() {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::new(folder.path());
        let record = |seq| {
            let entry = agent_core::journal::Entry::Event(agent_core::session::Event::Started.into());
            Record { seq, at_ms: 7_000 + seq, entry }
        };
        let mut journal = database.store.create("one").unwrap();
        journal.append(&record(0)).await.unwrap();
        database.sql("INSERT INTO record SELECT session, 1, at_ms, line FROM record");
        assert!(journal.append(&record(1)).await.is_err());
        assert!(journal.append(&record(2)).await.is_err() && journal.sync().await.is_err(), "nothing may follow");
        drop(journal);
        assert!(database.read("one").unwrap_err().contains("damaged"));
        let mut journal = database.store.create("two").unwrap();
        for seq in 0..3 {
            journal.append(&record(seq)).await.unwrap();
        }
        let listed = database.store.list().unwrap();
        let listed: Vec<_> = listed.iter().map(|one| (one.id.as_str(), one.records, one.at_ms)).collect();
        assert_eq!(listed, [("two", 3, 7_002), ("one", 2, 7_000)]);
        database.sql("DELETE FROM record WHERE session = 'two' AND seq = 1");
        assert!(database.read("two").unwrap_err().contains("damaged"));
    }
}
