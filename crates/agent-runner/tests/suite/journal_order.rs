//! First the journal, then the deed: what is done stands in the file before it is done, and without the file nothing is done.

use crate::scenes::{Scene, WAITING};
use crate::support::{Host, config, ms, tool, with_config};
use agent_core::journal::{ActionStarted, Entry, Record, replay};
use agent_core::permission::{ApprovalAnswer, ApprovalQuestion, ApprovalScope, PermissionMode};
use agent_core::ports::{Approver, Journal, JournalError};
use agent_core::session::{Action, State};
use agent_core::tool::{HookVerdict, ToolOutcome};
use agent_runner::End;
use agent_runner::journal::{FileJournal, read};
use agent_testkit::{FakeTool, RecordingHook, Reply, Script, ScriptedProvider, Step};
use async_trait::async_trait;
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Looks into the journal whenever something is done, and notes what does not stand there as asked.
#[derive(Clone)]
struct Witness {
    path: PathBuf,
    seen: Arc<Mutex<Vec<(&'static str, bool)>>>,
}

impl Witness {
    fn is_asked(&self, what: &'static str, fits: impl Fn(&Action) -> bool) {
        let (_, session) = replay(read(&self.path).unwrap().records).unwrap();
        let is_asked = session.outstanding().iter().any(|open| fits(&open.action));
        self.seen.lock().unwrap().push((what, is_asked));
    }
}

#[async_trait]
impl Approver for Witness {
    async fn ask(&self, question: &ApprovalQuestion) -> ApprovalAnswer {
        self.is_asked(
            "question",
            |action| matches!(action, Action::RequestApproval { questions, .. } if questions.contains(question)),
        );
        ApprovalAnswer::Allow { scope: ApprovalScope::Once, arguments: None }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_done_stands_in_the_file_before() {
    let folder = tempfile::tempdir().unwrap();
    let witness = Witness { path: folder.path().join("s.jsonl"), seen: Arc::default() };
    let saying = |reply: Reply| {
        let witness = witness.clone();
        move |request: &agent_core::llm::LlmRequest| {
            witness.is_asked(
                "model call",
                |action| matches!(action, Action::SendLlmRequest { request: asked, .. } if asked == request),
            );
            Step::Answer(reply.clone())
        }
    };
    let script = Script::new()
        .respond(saying(Reply::new().call("edit", json!({})).call("edit", json!({}))))
        .respond(saying(Reply::new().text("done")));
    let ran = witness.clone();
    let edit = FakeTool::changes("edit").respond(move |call| {
        ran.is_asked("tool", |action| matches!(action, Action::ExecuteTools { calls, .. } if calls.contains(call)));
        ToolOutcome::ok("edited")
    });
    let judged = witness.clone();
    let hook = RecordingHook::new().on_before_tool(move |call, _| {
        judged
            .is_asked("verdict", |action| matches!(action, Action::PrepareTools { calls, .. } if calls.contains(call)));
        HookVerdict::None
    });
    let mut config = config();
    config.permissions.mode = PermissionMode::Default;
    let builder = with_config(config, ScriptedProvider::new(script))
        .tool(tool(&edit))
        .hook(Arc::new(hook))
        .approver(Arc::new(witness.clone()))
        .journal(Box::new(FileJournal::create(&witness.path).unwrap()));
    Host::start(builder).ask("go").await;
    let seen = witness.seen.lock().unwrap().clone();
    let expected = ["model call", "verdict", "verdict", "question", "question", "tool", "tool", "model call"];
    assert_eq!(seen, expected.map(|what| (what, true)));
}

/// A journal that breaks at a record, and writes the ones before into a file.
struct Breaking {
    inner: FileJournal,
    left: usize,
}

#[async_trait]
impl Journal for Breaking {
    async fn append(&mut self, record: &Record) -> Result<(), JournalError> {
        if self.left == 0 {
            return Err(JournalError { place: "test".into(), found: "broken".into() });
        }
        self.left -= 1;
        self.inner.append(record).await
    }

    async fn sync(&mut self) -> Result<(), JournalError> {
        self.inner.sync().await
    }
}

#[tokio::test(start_paused = true)]
async fn without_the_journal_nothing_more_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let mut lasted = 0;
    for left in 0.. {
        let path = folder.path().join(format!("{left}.jsonl"));
        let reply = Reply::new().call("edit", json!({})).call("look", json!({}));
        let provider = ScriptedProvider::new(Script::new().answer(reply).text("done"));
        let (edit, look) = (FakeTool::changes("edit"), FakeTool::reads("look"));
        let builder = with_config(config(), provider.clone())
            .tools([tool(&edit), tool(&look)])
            .journal(Box::new(Breaking { inner: FileJournal::create(&path).unwrap(), left }));
        let (runner, handle, _notices) = builder.build().unwrap();
        handle.input("go");
        drop(handle);
        let (end, agent) = runner.run().await;
        let done = (provider.requests().len(), edit.log().runs(), look.log().runs());
        tokio::time::sleep(ms(3_600_000)).await;
        assert_eq!(done, (provider.requests().len(), edit.log().runs(), look.log().runs()), "something ran on");
        if end == End::Detached {
            lasted = left;
            break;
        }
        assert!(matches!(end, End::JournalFailed(_)), "{end:?}");
        let records = read(&path).unwrap().records;
        assert_eq!(records.len(), left);
        // What was done is what the file says to have begun, and it asked for all of it.
        let begun = records.iter().fold((0, 0), |(calls, tools), record| match &record.entry {
            Entry::ActionStarted(ActionStarted::SendLlmRequest { .. }) => (calls + 1, tools),
            Entry::ActionStarted(ActionStarted::ExecuteTools { calls: ran, .. }) => (calls, tools + ran.len()),
            _ => (calls, tools),
        });
        assert_eq!((done.0, done.1 + done.2), begun, "with {left} records");
        let asked =
            replay(records).map_or((0, 0), |(_, session)| (session.ledger().model_calls, session.ledger().tool_calls));
        assert!(begun.0 as u64 <= asked.0 && begun.1 as u64 <= asked.1, "{begun:?} of {asked:?} with {left} records");
        if left > 0 {
            assert!(replay(read(&path).unwrap().records).unwrap().1 == *agent.session(), "with {left} records");
        }
    }
    assert!(lasted >= 13, "{lasted}");
}

#[tokio::test(start_paused = true)]
async fn when_the_journal_breaks_what_runs_is_stopped() {
    for state in WAITING {
        let folder = tempfile::tempdir().unwrap();
        let scene = Scene::hanging_in(state);
        // Breaks at the message that is typed ahead: as many records before as a first run needs.
        let records = {
            let scene = Scene::hanging_in(state);
            let path = folder.path().join("first.jsonl");
            let mut host = Host::start(scene.builder().journal(Box::new(FileJournal::create(&path).unwrap())));
            scene.enter(&mut host).await;
            host.detach().await;
            read(&path).unwrap().records.len()
        };
        let inner = FileJournal::create(&folder.path().join("second.jsonl")).unwrap();
        let mut host = Host::start(scene.builder().journal(Box::new(Breaking { inner, left: records })));
        scene.enter(&mut host).await;
        host.handle.input("typed ahead");
        let (end, session) = host.end().await;
        assert!(matches!(end, End::JournalFailed(_)), "{end:?}");
        assert_eq!((session.state(), session.pending_input().any(|text| text == "typed ahead")), (state, false));
        assert_eq!((scene.provider.open_streams(), scene.looked.in_flight()), (0, 0), "in {state:?}");
    }
}

/// A disk that is full, as the system says it.
#[cfg(target_os = "linux")]
struct FullDisk(std::fs::File);

#[cfg(target_os = "linux")]
#[async_trait]
impl Journal for FullDisk {
    async fn append(&mut self, record: &Record) -> Result<(), JournalError> {
        let line = serde_json::to_vec(record).unwrap();
        self.0.write_all(&line).map_err(|error| JournalError { place: "/dev/full".into(), found: error.to_string() })
    }

    async fn sync(&mut self) -> Result<(), JournalError> {
        Ok(())
    }
}

#[cfg(target_os = "linux")]
#[tokio::test(start_paused = true)]
async fn a_full_disk_is_said_in_the_systems_words() {
    let full = std::fs::OpenOptions::new().write(true).open(Path::new("/dev/full")).unwrap();
    let provider = ScriptedProvider::new(Script::new().text("never"));
    let mut host = Host::start(with_config(config(), provider.clone()).journal(Box::new(FullDisk(full))));
    host.handle.input("go");
    let (End::JournalFailed(error), session) = host.end().await else { panic!("it went on") };
    assert!(error.to_string().starts_with("append to the journal /dev/full: No space left on device"), "{error}");
    assert_eq!((session.state(), provider.requests().len()), (State::Ready, 0));
}
