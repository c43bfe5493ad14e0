//! The sessions that `cargo xtask big-journals` measures with, in small: they are what they are said to be, and looking at them holds no
//! more than the conversation.

use agent_core::journal::Replayer;
use agent_runner::journal::{Reader, Said, SessionStore};
use std::path::Path;
use std::process::Command;

/// Makes sessions of this kind, as the example does that cargo builds beside the tests.
fn make(root: &Path, kind: &str, number: u64) -> String {
    let test = std::env::current_exe().unwrap();
    let examples = test.parent().unwrap().parent().unwrap().join("examples");
    let mut command = Command::new(examples.join(format!("sessions{}", std::env::consts::EXE_SUFFIX)));
    let output = command.arg(root).args(["/work", kind, &number.to_string()]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn they_are_as_big_as_asked_and_the_history_stays_within_its_window() {
    let folder = tempfile::tempdir().unwrap();
    let store = SessionStore::new(folder.path(), "/work".as_ref());
    for (kind, number) in [("messages", 200), ("records", 3_000), ("bytes", 4 << 20)] {
        make(folder.path(), kind, number);
        let path = store.path(kind).unwrap();
        let mut reader = Reader::open(&path).unwrap();
        let mut replayer = Replayer::new(reader.next().unwrap().unwrap()).unwrap();
        let mut most = 0;
        for record in reader.by_ref() {
            replayer.take(record.unwrap()).unwrap();
            most = most.max(replayer.session().conversation().bytes());
        }
        let (session, bytes) = (replayer.session(), std::fs::metadata(&path).unwrap().len());
        let size = match kind {
            "messages" => session.conversation().len() as u64,
            "records" => replayer.next_seq(),
            _ => bytes,
        };
        assert!(size >= number / 2 && size < number + 500_000, "{kind}: {size}");
        assert!(most < 1_000_000, "{kind}: {most} bytes of history");
        assert!(session.outstanding().is_empty() && reader.torn_bytes() == 0);
    }
    assert!(make(folder.path(), "resume", 1).trim().parse::<f64>().unwrap() > 0.0);
}

#[test]
fn many_sessions_are_listed_with_their_words() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(make(folder.path(), "many", 40).lines().count(), 40);
    let store = SessionStore::new(folder.path(), "/work".as_ref());
    let newest = store.newest_said(7, true).unwrap();
    let (told, number) = (newest.sessions, 7 + newest.others);
    assert_eq!((told.len(), number), (7, 40));
    assert!(told.iter().all(|(_, said)| matches!(said, Said::Words(words) if words.contains("mend the parser"))));
}
