//! Sessions that continue another program's, and sessions that are removed: whole, or not at all.

use agent_core::conversation::{Answer, Block, Input, Item};
use agent_core::journal::{Header, Imported, ReplayError};
use agent_core::session::SessionConfig;
use agent_runner::journal::{Said, SessionStore, StoreError};
use std::fs;
use std::path::Path;
use std::sync::Arc;

fn input(text: &str) -> Arc<Item> {
    Arc::new(Item::Input(Input::new(vec![text.into()]).unwrap()))
}

fn answer(text: &str) -> Arc<Item> {
    Arc::new(Item::Answer(Answer::new(vec![Block::Text(text.into())]).unwrap()))
}

fn header(id: &str, fingerprint: &str) -> Header {
    let mut header = Header::new(id, "test", "/work", SessionConfig::default());
    let (program, session_id, file) = ("another".into(), "x".into(), "x.jsonl".into());
    header.imported =
        Some(Imported { program, session_id, file, fingerprint: fingerprint.into(), model: String::new() });
    header
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn an_imported_session_is_whole_found_by_its_source_and_resumed() {
    let root = tempfile::tempdir().unwrap();
    let store = SessionStore::new(root.path(), "/work".as_ref());
    store.import(7, header("one", "f1"), [input("Mend it."), answer("Done.")]).unwrap();
    let rebuilt = store.rebuild("one").unwrap().rebuilt.unwrap();
    let session = rebuilt.agent.session();
    assert!(session.is_idle() && session.conversation().len() == 2);
    assert_eq!(store.newest_said(9, false).unwrap().sessions[0].1, Said::Words("Mend it.".into()));
    let of = |fingerprint: &str| store.find_imported(&header("", fingerprint).imported.unwrap()).unwrap();
    assert_eq!((of("f1").as_deref(), of("f2")), (Some("one"), None));
    store.branch("one", Some(2), "two").unwrap();
    assert_eq!(store.rebuild("two").unwrap().rebuilt.unwrap().agent.session().conversation().len(), 2);
    fs::remove_file(store.path("one").unwrap()).unwrap();
    assert_eq!(of("f1"), None, "a branch is another session");
}

#[test]
fn an_import_that_fails_leaves_no_file() {
    let root = tempfile::tempdir().unwrap();
    let store = SessionStore::new(root.path(), "/work".as_ref());
    let folder = store.path("one").unwrap().parent().unwrap().to_owned();
    let failed = store.import(7, header("one", "f1"), [answer("Done.")]).unwrap_err();
    assert!(matches!(failed, StoreError::Replay(ReplayError::History { seq: 1, .. })), "{failed}");
    assert!(names(&folder).is_empty(), "{:?}", names(&folder));
    assert!(matches!(store.import(7, header("../x", "f1"), []), Err(StoreError::BadId { .. })));
    // A journal that is there stays as it is.
    store.import(7, header("one", "f1"), [input("first")]).unwrap();
    let before = fs::read(store.path("one").unwrap()).unwrap();
    assert!(store.import(7, header("one", "f2"), [input("second")]).is_err());
    assert_eq!(fs::read(store.path("one").unwrap()).unwrap(), before);
    assert_eq!(names(&folder), ["one.jsonl"]);
}

#[test]
fn a_session_that_changed_since_it_was_listed_is_not_removed() {
    let root = tempfile::tempdir().unwrap();
    let store = SessionStore::new(root.path(), "/work".as_ref());
    store.import(7, header("one", "f1"), [input("first")]).unwrap();
    let listed = store.list().unwrap().remove(0);
    let journal = store.resume("one").unwrap().0;
    assert!(store.is_in_use("one").unwrap() && store.remove_unchanged(&listed).is_err());
    drop(journal);
    assert!(!store.is_in_use("one").unwrap());
    fs::write(store.path("one").unwrap(), "changed").unwrap();
    assert!(!store.remove_unchanged(&listed).unwrap());
    let listed = store.list().unwrap().remove(0);
    assert!(store.remove_unchanged(&listed).unwrap());
    assert!(store.list().unwrap().is_empty());
    assert_eq!(SessionStore::all(root.path()).unwrap().len(), 1);
}
