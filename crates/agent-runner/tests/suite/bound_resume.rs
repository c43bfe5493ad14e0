//! An agent whose program ends anywhere: the next life goes on with the same promises and the same count.

use crate::support::{builder, ms};
use agent_core::agent;
use agent_core::conversation::Item;
use agent_core::journal::{Entry, Rebuilt, Record, Replayer};
use agent_core::lifecycle::{Commitment, LifecycleConfig};
use agent_core::ports::{CommandOutput, Exit, Tool};
use agent_core::session::{self, Outcome, OutcomeKind, Session};
use agent_core::tool::ToolOutcome;
use agent_runner::journal::{FileJournal, read};
use agent_runner::{Builder, Handle, Notice, Notices, Runner};
use agent_testkit::{FakeTool, Reply, ScriptedCommands, ScriptedProvider};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// A model that says the same in every life: with a signal first, where it has one to give.
#[derive(Clone, Copy)]
struct Story {
    status: Option<&'static str>,
    /// What the commands come to.
    exit: i32,
}

impl Story {
    fn builder(self, journal: FileJournal) -> Builder {
        let provider = ScriptedProvider::from_fn(move |request| match self.status {
            Some(status) if request.conversation.len() == 1 => {
                Reply::new().call("signal", json!({"status": status, "summary": "so"})).into()
            }
            _ => Reply::new().text("Done.").into(),
        });
        let signal: Arc<dyn Tool> = Arc::new(FakeTool::reads("signal").outcome(ToolOutcome::ok("noted")));
        builder(provider).tools([signal]).journal(Box::new(journal)).secret("a-secret-of-the-user")
    }

    fn commands(self) -> Arc<ScriptedCommands> {
        let commands = (0..20).fold(ScriptedCommands::new(), |commands, _| commands.exit(self.exit, "printed\n"));
        Arc::new(commands)
    }

    async fn first_life(self, path: &Path) -> Outcome {
        let bound = ["echo a-secret-of-the-user", "other"].map(|command| Commitment::of_command(command, 5_000));
        let builder = self.builder(FileJournal::create(path).unwrap()).commands(self.commands());
        let (runner, handle, notices) = builder.bind(LifecycleConfig::headless(bound.into())).build().unwrap();
        handle.input("do it");
        until_it_rests(runner, handle, notices).await.unwrap()
    }

    /// Goes on with the agent, if there is one that was left.
    async fn next_life(self, path: &Path) -> Option<Outcome> {
        let (journal, recovered) = FileJournal::resume(path).unwrap();
        let Rebuilt { agent, next_seq, begun, .. } = recovered.rebuild().unwrap();
        if !agent.is_unfinished() {
            return None;
        }
        let builder = self.builder(journal).commands(self.commands()).resume(agent, next_seq).begun(begun);
        let (runner, handle, notices) = builder.build().unwrap();
        until_it_rests(runner, handle, notices).await
    }
}

async fn until_it_rests(runner: Runner, handle: Handle, mut notices: Notices) -> Option<Outcome> {
    let task = tokio::spawn(runner.run());
    loop {
        let notice = tokio::time::timeout(ms(3_600_000), notices.recv()).await.unwrap();
        if matches!(notice, None | Some(Notice::Rested { .. })) {
            break;
        }
    }
    handle.detach();
    tokio::time::timeout(ms(60_000), task).await.unwrap().unwrap().1.outcome()
}

fn replayed(path: &Path) -> Replayer {
    let mut records = read(path).unwrap().records.into_iter();
    let mut replayer = Replayer::new(records.next().unwrap()).unwrap();
    records.for_each(|record| drop(replayer.take(record).unwrap()));
    replayer
}

fn reports(session: &Session) -> usize {
    let inputs = session.conversation().iter().filter_map(|item| match item.as_ref() {
        Item::Input(input) => Some(input.texts().concat()),
        Item::Summary(summary) => Some(summary.said().concat()),
        Item::Round(_) | Item::Answer(_) => None,
    });
    inputs.filter(|text| text.contains("commitments not kept")).count()
}

/// Ends the program behind each record, and looks at what the next life makes of it.
async fn ends_the_same_wherever_it_is_cut(story: Story, kind: OutcomeKind, told: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let expected = story.first_life(&path).await;
    assert_eq!((expected.kind, reports(replayed(&path).session())), (kind, told));
    assert_eq!(replayed(&path).outcome(), Some(expected.clone()), "the journal tells what came of it");
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains("a-secret-of"), "a secret of a commitment stands in the journal");
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut gone_on = 0;
    for cut in 1..lines.len() {
        fs::write(&path, lines[..cut].concat()).unwrap();
        let Some(outcome) = story.next_life(&path).await else { continue };
        let replayer = replayed(&path);
        assert_eq!(outcome, expected, "cut behind {cut} records");
        assert_eq!(replayer.outcome(), Some(outcome), "cut behind {cut} records");
        assert_eq!(reports(replayer.session()), told, "cut behind {cut} records");
        gone_on += 1;
    }
    assert!(gone_on + 8 > lines.len(), "{gone_on} of {} cuts were gone on with", lines.len());
}

#[tokio::test(start_paused = true)]
async fn a_promise_that_is_never_kept() {
    let story = Story { status: None, exit: 1 };
    ends_the_same_wherever_it_is_cut(story, OutcomeKind::VerificationFailed, 3).await;
}

#[tokio::test(start_paused = true)]
async fn one_that_is_kept_and_signalled() {
    let story = Story { status: Some("done"), exit: 0 };
    ends_the_same_wherever_it_is_cut(story, OutcomeKind::Success, 0).await;
}

#[tokio::test(start_paused = true)]
async fn one_that_waits_for_an_answer() {
    let story = Story { status: Some("waiting"), exit: 1 };
    ends_the_same_wherever_it_is_cut(story, OutcomeKind::Waiting, 0).await;
}

/// Whoever types at a prompt afterwards is not the agent's concern.
#[tokio::test(start_paused = true)]
async fn what_comes_behind_an_agent_has_its_own_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let story = Story { status: None, exit: 1 };
    story.first_life(&path).await;
    let (journal, recovered) = FileJournal::resume(&path).unwrap();
    let rebuilt = recovered.rebuild().unwrap();
    let mut host =
        crate::support::Host::start(story.builder(journal).resume(rebuilt.agent, rebuilt.next_seq).release());
    host.outcome().await;
    host.ask("and now?").await;
    host.detach().await;
    assert_eq!(replayed(&path).outcome().unwrap().kind, OutcomeKind::Success);
    assert!(!replayed(&path).agent().is_unfinished());
}

/// A check of the user's is started when it is on the disk that the agent claimed to be done.
#[tokio::test(start_paused = true)]
async fn a_check_waits_for_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let seen = path.clone();
    let commands = ScriptedCommands::new().respond(move |_| {
        let records = read(&seen).unwrap().records;
        let is_claimed = |record: &Record| {
            matches!(record.entry, Entry::Event(agent::Event::Session(session::Event::LlmCompleted { .. })))
        };
        assert!(records.iter().any(is_claimed), "{records:#?}");
        Ok(CommandOutput { exit: Exit::Code(0), stdout: Vec::new(), stderr: Vec::new(), dropped_bytes: 0 })
    });
    let story = Story { status: None, exit: 0 };
    let config = LifecycleConfig::headless(vec![Commitment::of_command("looks", 5_000)]);
    let builder = story.builder(FileJournal::create(&path).unwrap()).commands(Arc::new(commands)).bind(config);
    let (runner, handle, notices) = builder.build().unwrap();
    handle.input("do it");
    assert_eq!(until_it_rests(runner, handle, notices).await.unwrap().kind, OutcomeKind::Success);
}
