//! What is on the disk when something is done, and how often the disk is waited for.

use crate::support::{Host, builder, config, tool, with_config};
use agent_core::conversation::ToolCall;
use agent_core::hook::{Changes, CommitReport, FormatReport, GitReport, HookError};
use agent_core::journal::Record;
use agent_core::permission::{ApprovalAnswer, ApprovalQuestion, ApprovalScope, PermissionMode};
use agent_core::ports::{Approver, CancelSignal, Hook, Journal, JournalError};
use agent_core::tool::{HookVerdict, Inspection, ToolOutcome};
use agent_runner::{End, Notice};
use agent_testkit::{FakeTool, Reply, Script, ScriptedProvider, Step};
use async_trait::async_trait;
use serde_json::json;
use std::sync::{Arc, Mutex};

/// A disk that forgets what was not synced, and says what was done when.
#[derive(Clone, Default)]
struct Disk(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    written: usize,
    durable: usize,
    syncs: usize,
    /// The sync that fails, if any.
    fails_at: Option<usize>,
    /// What was done, and how many records behind the disk.
    done: Vec<(&'static str, usize)>,
}

impl Disk {
    fn failing_at(sync: usize) -> Self {
        Self(Arc::new(Mutex::new(State { fails_at: Some(sync), ..State::default() })))
    }

    fn note(&self, what: &'static str) {
        let mut state = self.0.lock().unwrap();
        let behind = state.written - state.durable;
        state.done.push((what, behind));
    }

    fn done(&self) -> Vec<(&'static str, usize)> {
        self.0.lock().unwrap().done.clone()
    }

    fn syncs(&self) -> usize {
        self.0.lock().unwrap().syncs
    }
}

#[async_trait]
impl Journal for Disk {
    async fn append(&mut self, _: &Record) -> Result<(), JournalError> {
        self.0.lock().unwrap().written += 1;
        Ok(())
    }

    async fn sync(&mut self) -> Result<(), JournalError> {
        let mut state = self.0.lock().unwrap();
        state.syncs += 1;
        if state.fails_at.is_some_and(|sync| state.syncs >= sync) {
            return Err(JournalError { place: "test".into(), found: "input/output error".into() });
        }
        state.durable = state.written;
        Ok(())
    }
}

#[async_trait]
impl Approver for Disk {
    async fn ask(&self, _: &ApprovalQuestion) -> ApprovalAnswer {
        self.note("question");
        ApprovalAnswer::Allow { scope: ApprovalScope::Once, arguments: None }
    }
}

/// A hook that has something to do at every step.
struct Busy {
    disk: Disk,
    acts: bool,
}

#[async_trait]
impl Hook for Busy {
    fn acts_before_tools(&self) -> bool {
        self.acts
    }

    async fn before_tool(&self, _: &ToolCall, _: &Inspection) -> HookVerdict {
        self.disk.note("verdict");
        HookVerdict::None
    }

    async fn check_git(&self, _: &Changes, _: &dyn CancelSignal) -> Result<GitReport, HookError> {
        self.disk.note("look");
        Ok(GitReport { formatting_due: true, ..GitReport::default() })
    }

    async fn format(&self, _: &Changes, _: &dyn CancelSignal) -> Result<FormatReport, HookError> {
        self.disk.note("format");
        Ok(FormatReport { commit_due: true, ..FormatReport::default() })
    }

    async fn commit(&self, _: &Changes, _: &dyn CancelSignal) -> Result<CommitReport, HookError> {
        self.disk.note("commit");
        Ok(CommitReport::default())
    }
}

/// A turn in which everything is done that can be done.
fn eventful(disk: &Disk, hooks_act: bool) -> agent_runner::Builder {
    let saying = |reply: Reply| {
        let disk = disk.clone();
        move |_: &agent_core::llm::LlmRequest| {
            disk.note("model call");
            Step::Answer(reply.clone())
        }
    };
    let script = Script::new()
        .respond(saying(Reply::new().call("look", json!({})).call("look", json!({})).call("edit", json!({}))))
        .respond(saying(Reply::new().text("done")));
    let running = |what: &'static str, fake: FakeTool| {
        let disk = disk.clone();
        fake.respond(move |_| {
            disk.note(what);
            ToolOutcome::ok("")
        })
    };
    let (look, edit) = (running("read", FakeTool::reads("look")), running("edit", FakeTool::changes("edit")));
    let mut config = config();
    config.permissions.mode = PermissionMode::Default;
    with_config(config, ScriptedProvider::new(script))
        .tools([tool(&look), tool(&edit)])
        .hook(Arc::new(Busy { disk: disk.clone(), acts: hooks_act }))
        .approver(Arc::new(disk.clone()))
        .journal(Box::new(disk.clone()))
}

const DONE: [&str; 12] = [
    "model call",
    "verdict",
    "verdict",
    "verdict",
    "question",
    "read",
    "read",
    "edit",
    "look",
    "format",
    "commit",
    "model call",
];

#[tokio::test(start_paused = true)]
async fn whatever_acts_outside_finds_everything_on_the_disk() {
    for hooks_act in [true, false] {
        let disk = Disk::default();
        Host::start(eventful(&disk, hooks_act)).ask("go").await;
        let done = disk.done();
        assert!(done.iter().map(|(what, _)| *what).eq(DONE), "{done:?}");
        for (what, behind) in done {
            // Looking at calls asks for nothing outside: only there the answer may still be on its way.
            let may_wait = what == "verdict" && !hooks_act;
            assert_eq!(behind, usize::from(may_wait), "{what} while {behind} records were not on the disk");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_host_is_told_of_its_own_words_is_on_the_disk() {
    let disk = Disk::default();
    let provider = ScriptedProvider::new(Script::new().text("one").text("two"));
    let mut host = Host::start(builder(provider).journal(Box::new(disk.clone())));
    for words in ["1", "2"] {
        host.handle.input(words);
        // The prompt stands for the end of the run, on which a host reports success.
        host.until(|notice| {
            if matches!(notice, Notice::Prompt { .. }) {
                disk.note("prompt");
            }
            matches!(notice, Notice::Prompt { outcome: Some(_), .. })
        })
        .await;
    }
    host.handle.input("typed ahead");
    host.until(|notice| matches!(notice, Notice::Transition(_))).await;
    disk.note("taken");
    assert!(disk.done().iter().all(|(_, behind)| *behind == 0), "{:?}", disk.done());
    host.detach().await;
    disk.note("left");
    assert_eq!(disk.done().last(), Some(&("left", 0)));
}

#[tokio::test(start_paused = true)]
async fn a_round_with_a_call_waits_for_the_disk_twice() {
    let mut before = None;
    for rounds in 1..5 {
        let script = (0..rounds).fold(Script::new(), |script, _| script.call("edit", json!({}))).text("done");
        let disk = Disk::default();
        let host = builder(ScriptedProvider::new(script)).tool(tool(&FakeTool::changes("edit")));
        // The default hook looks for commits; its answer is a third record to wait for.
        Host::start(host.journal(Box::new(disk.clone()))).ask("go").await;
        let syncs = disk.syncs();
        if let Some(before) = before {
            assert_eq!(syncs - before, 3, "model's answer and facts, result, look of the hook");
        }
        before = Some(syncs);
    }
}

#[tokio::test(start_paused = true)]
async fn when_the_disk_fails_nothing_more_is_done() {
    let mut whole = 0;
    for sync in 1.. {
        let disk = Disk::failing_at(sync);
        let (runner, handle, _notices) = eventful(&disk, true).build().unwrap();
        handle.input("go");
        drop(handle);
        let (end, _) = runner.run().await;
        let done = disk.done();
        if end == End::Detached {
            whole = sync;
            break;
        }
        assert!(matches!(&end, End::JournalFailed(error) if error.found == "input/output error"), "{end:?}");
        assert!(done.iter().all(|(_, behind)| *behind == 0), "sync {sync}: {done:?}");
        assert!(done.len() <= sync + 3, "sync {sync} failed and it went on: {done:?}");
        assert_eq!(disk.syncs(), sync, "a sync that failed was tried again");
    }
    assert!(whole > 9, "{whole}");
}
