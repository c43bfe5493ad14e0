//! Journals in real files: what a cut, damage, a second writer and another format come to.

use crate::support::{Host, builder, ms, tool};
use agent_core::journal::{FORMAT_VERSION, Record, replay};
use agent_core::llm::{LlmError, LlmErrorKind};
use agent_core::session::{Session, State};
use agent_runner::journal::{FileJournal, OpenError, ReadError, SessionStore, StoreError, read};
use agent_testkit::{FakeTool, Reply, Script, ScriptedProvider};
use serde_json::json;
use std::fs;
use std::path::Path;

/// Records a session with tools, a repetition and a cancel. Returns it as it stood at the end.
async fn record(path: &Path) -> Session {
    let server = LlmError::new(LlmErrorKind::Server, "broken");
    let script = Script::new()
        .answer(Reply::new().text("Grüße.").call("edit", json!({"path": "ä.rs"})).call("look", json!({})))
        .error(server)
        .stall_after(Reply::new().text("half"), 1);
    let mut host = Host::start(
        builder(ScriptedProvider::new(script))
            .tool(tool(&FakeTool::changes("edit")))
            .tool(tool(&FakeTool::reads("look")))
            .journal(Box::new(FileJournal::create(path).unwrap())),
    );
    host.handle.input("go");
    host.state(State::Error).await;
    host.handle.input("typed ahead");
    host.state(State::SendingToolResults).await;
    tokio::time::sleep(ms(1)).await;
    host.handle.cancel();
    host.outcome().await;
    host.detach().await.1
}

/// The same lines with sums that fit.
fn with_sums(text: &str) -> String {
    let line = |line: &str| match line.split_once("\",") {
        Some((_, body)) => format!("{{\"sum\":\"{:08x}\",{body}", crc32fast::hash(body.trim_end().as_bytes())),
        None => line.to_owned(),
    };
    text.split_inclusive('\n').map(line).collect()
}

/// The session after each record, the header being the first.
fn after_each(records: &[Record]) -> Vec<Session> {
    (1..=records.len()).map(|n| replay(records[..n].iter().cloned()).unwrap().1).collect()
}

#[tokio::test(start_paused = true)]
async fn a_recorded_session_is_the_session() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let session = record(&path).await;
    let recovered = read(&path).unwrap();
    assert_eq!((recovered.torn_bytes, recovered.good_bytes), (0, fs::metadata(&path).unwrap().len()));
    assert_eq!(replay(recovered.records).unwrap().1, session);
}

#[tokio::test(start_paused = true)]
async fn a_journal_cut_at_any_byte_holds_every_whole_record() {
    let folder = tempfile::tempdir().unwrap();
    let (path, cut) = (folder.path().join("s.jsonl"), folder.path().join("cut.jsonl"));
    record(&path).await;
    let bytes = fs::read(&path).unwrap();
    let sessions = after_each(&read(&path).unwrap().records);
    for length in 0..=bytes.len() {
        fs::write(&cut, &bytes[..length]).unwrap();
        let whole = bytes[..length].iter().filter(|byte| **byte == b'\n').count();
        let recovered = read(&cut).unwrap_or_else(|error| panic!("cut at {length}: {error}"));
        assert_eq!(recovered.records.len(), whole, "cut at {length}");
        assert_eq!(recovered.good_bytes + recovered.torn_bytes, length as u64);
        match replay(recovered.records) {
            Ok((_, session)) => assert!(session == sessions[whole - 1], "cut at {length}: another session"),
            Err(error) => {
                assert_eq!(
                    (whole, error.to_string().as_str()),
                    (0, "replay the journal: the first record is not a header")
                );
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_goes_on_from_any_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    record(&path).await;
    let bytes = fs::read(&path).unwrap();
    let ends: Vec<usize> = (0..bytes.len()).filter(|&i| bytes[i] == b'\n').map(|i| i + 1).collect();
    // In the middle of each record, one byte short of its end, and behind it.
    let starts = ends.iter().skip(1).zip(&ends).flat_map(|(end, start)| [(start + end) / 2, end - 1, *end]);
    for (number, length) in starts.enumerate() {
        let cut = folder.path().join(format!("cut{number}.jsonl"));
        fs::write(&cut, &bytes[..length]).unwrap();
        let (journal, recovered) = FileJournal::resume(&cut).unwrap();
        let torn = fs::read(cut.with_extension("torn")).unwrap_or_default();
        assert_eq!(torn.len() as u64, recovered.torn_bytes);
        let next_seq = recovered.records.len() as u64;
        let (_, session) = replay(recovered.records).unwrap();
        let provider = ScriptedProvider::from_fn(|_| Reply::new().text("on").into());
        let mut host = Host::start(
            builder(provider)
                .tool(tool(&FakeTool::changes("edit")))
                .tool(tool(&FakeTool::reads("look")))
                .journal(Box::new(journal))
                .resume(session, next_seq),
        );
        host.handle.input("go on");
        host.until(|notice| matches!(notice, agent_runner::Notice::Prompt { outcome: Some(outcome), .. } if outcome.text == "on")).await;
        let (_, session, _) = host.detach().await;
        assert!(crate::support::is_sendable(session.conversation()), "cut at {length}");
        assert!(
            replay(read(&cut).unwrap().records).unwrap().1 == session,
            "cut at {length}: the journal tells another story"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn damage_in_the_middle_is_named_and_nothing_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    record(&path).await;
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for damaged in [2, lines.len()] {
        let mut copy: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        copy[damaged - 1] = copy[damaged - 1].replacen("at_ms", "at_", 1);
        let copy = copy.join("\n") + "\n";
        fs::write(&path, &copy).unwrap();
        let Err(ReadError::Damaged { damage, .. }) = read(&path) else { panic!("line {damaged} was read") };
        assert_eq!(damage.line, damaged as u64);
        let start: usize = lines[..damaged - 1].iter().map(|line| line.len() + 1).sum();
        assert_eq!(damage.byte, start as u64);
        let error = FileJournal::resume(&path).unwrap_err();
        assert!(error.to_string().contains(&format!("line {damaged} (byte {start}) is damaged")), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), copy);
    }
}

#[tokio::test(start_paused = true)]
async fn a_line_that_is_missing_is_a_gap() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    record(&path).await;
    let text = fs::read_to_string(&path).unwrap();
    let without: String =
        text.lines().enumerate().filter(|(i, _)| *i != 3).map(|(_, line)| format!("{line}\n")).collect();
    fs::write(&path, without).unwrap();
    let error = replay(read(&path).unwrap().records).unwrap_err();
    assert_eq!(error.to_string(), "replay the journal: record 3 expected, 4 found");
}

#[tokio::test(start_paused = true)]
async fn another_format_is_refused_as_such_whatever_else_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    record(&path).await;
    let text = fs::read_to_string(&path).unwrap();
    let (old, new) = (format!("\"format_version\":{FORMAT_VERSION}"), "\"format_version\":9");
    let newer = text.replacen(&old, new, 1);
    // In one file only the number is new; the other one has lost what this program needs, and is torn besides.
    for content in [newer.clone(), newer.replacen("\"config\"", "\"settings\"", 1) + "{\"torn"] {
        let content = with_sums(&content);
        fs::write(&path, &content).unwrap();
        let error = FileJournal::resume(&path).unwrap_err();
        assert!(error.to_string().contains("it has format 9, this program reads formats 1 to 5: use the"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), content, "a file of another format was changed");
    }
    // A number that nobody wrote is no format of tomorrow.
    fs::write(&path, &newer).unwrap();
    assert!(matches!(read(&path), Err(ReadError::Damaged { damage, .. }) if damage.line == 1));
}

#[tokio::test(start_paused = true)]
async fn a_second_writer_is_refused_and_told_who_the_first_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let first = FileJournal::create(&path).unwrap();
    for second in [FileJournal::create(&path).map(drop), FileJournal::resume(&path).map(drop)] {
        let Err(OpenError::InUse { pid, .. }) = second else { panic!("{second:?}") };
        assert_eq!(pid, std::process::id().to_string());
    }
    drop(first);
    assert!(FileJournal::resume(&path).is_ok());
    assert!(matches!(FileJournal::create(&path), Err(OpenError::Io { .. })), "a journal was made twice");
}

#[cfg(unix)]
#[tokio::test(start_paused = true)]
async fn journals_are_for_their_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let store = SessionStore::new(&folder.path().join("deep/er"), Path::new("/project"));
    let id = SessionStore::new_id();
    drop(store.create(&id).unwrap());
    let path = store.path(&id).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(&path.with_extension("lock"))), (0o600, 0o600));
    for made in path.ancestors().skip(1).take_while(|made| *made != folder.path()) {
        assert_eq!(mode(made), 0o700, "{}", made.display());
    }
    fs::write(&path, "{\"torn").unwrap();
    drop(store.resume(&id).unwrap());
    assert_eq!(mode(&path.with_extension("torn")), 0o600);
}

#[tokio::test(start_paused = true)]
async fn a_store_knows_its_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let store = SessionStore::new(folder.path(), Path::new("/project"));
    assert!(store.newest().unwrap().is_none());
    for id in ["a", "b"] {
        drop(store.create(id).unwrap());
    }
    let other = SessionStore::new(folder.path(), Path::new("/elsewhere/project"));
    assert!(other.list().unwrap().is_empty(), "another directory of the same name has its own sessions");
    let mut ids: Vec<String> = store.list().unwrap().into_iter().map(|session| session.id).collect();
    ids.sort();
    assert_eq!(ids, ["a", "b"]);
    assert!(matches!(store.resume("c"), Err(StoreError::NoSuchSession { .. })));
    for bad in ["", "../a", "a/b", "a.b"] {
        assert!(matches!(store.path(bad), Err(StoreError::BadId { .. })), "{bad}");
    }
}

/// The text of core's golden journal of an earlier version.
fn golden(version: u32) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agent-core/tests/golden/journal");
    fs::read_to_string(root.join(format!("v{version}/session.jsonl"))).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_journal_of_an_earlier_version_is_gone_on_with_in_todays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    // As a crash left it: in the middle of a turn, behind the answer that asks for tools, and torn.
    let old: String = golden(1).split_inclusive('\n').take(9).collect();
    fs::write(&path, old.clone() + "{\"seq\":9,\"at").unwrap();
    let before = replay(read(&path).unwrap().records).unwrap().1;
    let (journal, recovered) = FileJournal::resume(&path).unwrap();
    assert_eq!((recovered.format.unwrap().version(), recovered.records.len()), (1, 9));
    assert_eq!(fs::read_to_string(path.with_extension("v1")).unwrap(), old);
    assert_eq!(fs::read_to_string(path.with_extension("torn")).unwrap(), "{\"seq\":9,\"at");
    let rebuilt = recovered.rebuild().unwrap();
    assert_eq!(*rebuilt.agent.session(), before);
    // What ran is not known: the version kept no notes of it.
    assert_eq!(rebuilt.begun, agent_core::journal::Begun::unknown());
    drop(journal);
    let (_, again) = FileJournal::resume(&path).unwrap();
    assert_eq!(again.format.unwrap().version(), FORMAT_VERSION);
    assert_eq!(*again.rebuild().unwrap().agent.session(), before);
    assert!(fs::read_to_string(&path).unwrap().lines().all(|line| line.starts_with("{\"sum\":\"")));
}

#[tokio::test(start_paused = true)]
async fn words_of_other_scripts_and_lines_within_texts_stay_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let said = "one\u{2028}two\u{2029}three\u{85}four\r\nfive\0six\u{feff}\u{10ffff}";
    let provider = ScriptedProvider::new(Script::new().text(said));
    let mut host = Host::start(builder(provider).journal(Box::new(FileJournal::create(&path).unwrap())));
    assert_eq!(host.ask(said).await.text, said);
    let session = host.detach().await.1;
    assert!(replay(read(&path).unwrap().records).unwrap().1 == session);
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_no_file_is_refused_and_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [pipe.as_path(), Path::new("/dev/zero"), folder.path()] {
        let error = read(path).unwrap_err();
        assert!(error.to_string().ends_with("it is not a regular file"), "{error}");
    }
    assert!(FileJournal::resume(&pipe).is_err() && FileJournal::create(&pipe).is_err());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_folder_that_cannot_be_written_is_said_in_the_systems_words() {
    // Nobody makes files there, whatever his rights.
    let error = FileJournal::create(Path::new("/proc/sys/s.jsonl")).unwrap_err();
    assert!(error.to_string().starts_with("open the journal /proc/sys/s.lock: "), "{error}");
}

#[test]
fn the_documents_lines_are_lines_of_a_journal() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/journal.md")).unwrap();
    let whole = text.lines().filter(|line| line.starts_with("{\"sum\":") && !line.contains('…'));
    let shown: String = whole.map(|line| format!("{line}\n")).collect();
    assert_eq!(shown.lines().count(), 3);
    let header = agent_core::journal::Header::new("s", "test", "/", agent_core::session::SessionConfig::default());
    let entry = agent_core::journal::Entry::Header(Box::new(header));
    let header = serde_json::to_string(&Record { seq: 0, at_ms: 0, entry }).unwrap();
    let header = with_sums(&format!("{{\"sum\":\"00000000\",{}\n", &header[1..]));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs::write(&path, header + &shown).unwrap();
    let session = read(&path).unwrap().rebuild().unwrap().agent.into_session();
    assert_eq!(session.state(), State::CallingLlm);
}
