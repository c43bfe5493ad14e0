//! The index of sessions: it saves work, and whatever becomes of it, what is told is what the journals say.

use agent_core::journal::{Entry, Header, Record};
use agent_core::ports::Journal;
use agent_core::session::{Event, SessionConfig};
use agent_runner::journal::{Said, SessionStore, StoreError};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

struct Place {
    folder: tempfile::TempDir,
    store: SessionStore,
}

impl Place {
    /// A folder of sessions in each of which this was said, if anything.
    async fn new<'a>(sessions: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SessionStore::new(folder.path(), "/work".as_ref());
        for (at, said) in sessions.into_iter().enumerate() {
            let mut journal = store.create(&format!("s{at:03}")).unwrap();
            let header = Header::new("s", "test", "/work", SessionConfig::default());
            let said = said.map(|text| Event::UserInput { text: text.into() });
            let entries = [Entry::Header(Box::new(header)), Entry::Event(Event::Started.into())];
            for (seq, entry) in (0..).zip(entries.into_iter().chain(said.map(|said| Entry::Event(said.into())))) {
                journal.append(&Record { seq, at_ms: 5, entry }).await.unwrap();
            }
        }
        Self { folder, store }
    }

    async fn of(number: usize) -> Self {
        let words: Vec<_> = (0..number).map(|at| format!("words {at}")).collect();
        Self::new(words.iter().map(|words| Some(words.as_str()))).await
    }

    fn index(&self) -> PathBuf {
        self.store.path("s000").unwrap().with_file_name("index")
    }

    /// What was said, by id.
    fn told(&self) -> Vec<(String, Said)> {
        let told = self.store.newest_said(usize::MAX, true).unwrap().sessions;
        let number = told.len();
        assert!(told.len() <= number);
        let mut told: Vec<_> = told.into_iter().map(|(session, said)| (session.id, said)).collect();
        told.sort_by(|a, b| a.0.cmp(&b.0));
        told
    }

    /// Lets so much time pass that what is there counts as settled, and has the index written.
    fn settle(&self) -> Vec<(String, Said)> {
        std::thread::sleep(Duration::from_millis(2_050));
        let told = self.told();
        assert!(self.index().exists());
        told
    }

    /// The index, changed and with a sum that fits.
    fn forge(&self, change: impl Fn(&str) -> String) {
        let text = fs::read_to_string(self.index()).unwrap();
        let (head, body) = text.split_once('\n').unwrap();
        let (body, version) = (change(body), head.rsplit_once(' ').unwrap().0);
        fs::write(self.index(), format!("{version} {:08x}\n{body}", crc32fast::hash(body.as_bytes()))).unwrap();
    }
}

fn words(text: &str) -> Said {
    Said::Words(text.to_owned())
}

#[tokio::test]
async fn an_entry_counts_as_long_as_its_journal_is_the_same() {
    let place = Place::of(40).await;
    assert!(place.told().len() == 40 && !place.index().exists(), "what was just written may change unseen");
    let before = place.settle();
    place.forge(|body| body.replace("words 7\"", "forged\""));
    let forged = place.told();
    assert_eq!(forged[7].1, words("forged"), "it is used");
    // Any change of the journal is seen, even one that is undone.
    let path = place.store.path("s007").unwrap();
    let text = fs::read(&path).unwrap();
    fs::write(&path, &text).unwrap();
    assert_eq!(place.told(), before);
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(place.index()).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    // Gone, it is made again; as a folder, or where nothing can be written, there is none.
    fs::remove_file(place.index()).unwrap();
    assert!(place.told() == before && place.index().exists());
    fs::remove_file(place.index()).unwrap();
    fs::create_dir(place.index()).unwrap();
    assert_eq!(place.told(), before);
    let left = fs::read_dir(place.index().parent().unwrap()).unwrap();
    assert!(left.flatten().all(|entry| !entry.path().display().to_string().ends_with("tmp")));
}

#[tokio::test]
async fn a_damaged_index_tells_nothing_else() {
    let place = Place::of(33).await;
    let before = place.settle();
    let whole = fs::read(place.index()).unwrap();
    for at in (0..whole.len()).step_by(11) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        fs::write(place.index(), &damaged).unwrap();
        assert_eq!(place.told(), before, "byte {at}");
        fs::write(place.index(), &whole[..at]).unwrap();
        assert_eq!(place.told(), before, "cut at {at}");
    }
    for other in ["{}", "[]", "null", "{\"s000\":1}"] {
        place.forge(|_| other.to_owned());
        assert_eq!(place.told(), before, "{other}");
    }
}

#[tokio::test]
async fn two_at_once_and_one_that_removes_tell_the_truth() {
    let place = Place::of(60).await;
    let before = place.settle();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let _ = fs::remove_file(place.index());
                    let told = place.told();
                    assert!(told.iter().all(|told| before.contains(told)), "{told:?}");
                }
            });
        }
        scope.spawn(|| (0..20).for_each(|at| place.store.remove(&format!("s{at:03}")).unwrap()));
    });
    assert_eq!(place.told(), before[20..]);
    // What was said in a session that is removed stays nowhere.
    place.store.remove("s033").unwrap();
    let index = fs::read_to_string(place.index()).unwrap();
    assert!(index.contains("words 34\"") && !index.contains("words 33\""), "{index}");
}

#[tokio::test]
async fn the_newest_is_one_in_which_something_was_said() {
    let place = Place::new([Some("first"), None, None]).await;
    assert_eq!(place.store.newest().unwrap().unwrap().id, "s000");
    assert_eq!(place.told()[1].1, Said::Nothing);
    fs::write(place.store.path("s001").unwrap(), "no record\n").unwrap();
    assert_eq!(place.told()[1].1, Said::Unreadable);
    assert_eq!(place.store.newest().unwrap().unwrap().id, "s001", "whoever opens it is told");
    let long = "ä".repeat(10_000);
    let place = Place::new([Some(long.as_str())]).await;
    assert_eq!(place.told()[0].1, words(&"ä".repeat(200)));
    drop(place.folder);
    assert_eq!(place.store.newest().unwrap(), None);
}

/// A name is kept beside the journal and goes with it; an id may be abbreviated as long as one session is meant.
#[test]
fn sessions_have_names_and_ids_may_be_abbreviated() {
    let root = tempfile::tempdir().unwrap();
    let store = SessionStore::new(root.path(), "/work".as_ref());
    for id in ["abc-1", "abd-2", "abc"] {
        drop(store.create(id).unwrap());
    }
    assert_eq!(store.id_of("abd").unwrap(), "abd-2");
    assert_eq!(store.id_of("abc").unwrap(), "abc", "a whole id is meant");
    let error = store.id_of("ab").unwrap_err().to_string();
    assert!(error.contains("3 sessions begin with that") && error.contains("abc-1"), "{error}");
    assert!(matches!(store.id_of("x"), Err(StoreError::NoSuchSession { .. })));
    assert!(matches!(store.id_of("../x"), Err(StoreError::BadId { .. })));
    assert_eq!(store.name("abc"), None);
    store.rename("abc", "the parser").unwrap();
    store.rename("abc", "the printer").unwrap();
    assert_eq!(store.name("abc").as_deref(), Some("the printer"));
    store.rename("abd-2", "").unwrap();
    store.remove("abc").unwrap();
    drop(store.create("abc").unwrap());
    assert_eq!(store.name("abc"), None, "the name went with the session");
    assert!(store.rename("nope", "x").is_err());
    store.set_note("abd-2", "{}").unwrap();
    assert_eq!((store.note("abd-2").as_deref(), store.note("abc")), (Some("{}"), None));
}
