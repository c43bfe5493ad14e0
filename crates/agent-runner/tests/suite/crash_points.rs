//! The points at which a program can end around a call that changes something, and around a model call: what the next life makes of each.
//!
//! | The journal ends | The call, in the next life |
//! |---|---|
//! | before the answer that holds it | does not exist; the model is asked again |
//! | behind the answer | is looked at again, and runs: once |
//! | behind the facts, before the note that it begins | is told as not run |
//! | behind the note: before it ran, while it ran, or before its outcome was written | is told as interrupted, outcome unknown |
//! | behind the outcome | is told as it ended |
//! | in the middle of any record | as if that record had not been begun |
//!
//! A call that only reads runs again, wherever it was. Formatters and a commit are asked for again, with the same changes: the hook looks
//! at what is there first.

use crate::support::{Host, builder, results, tool};
use agent_core::agent;
use agent_core::hook::{FormatReport, GitReport};
use agent_core::journal::{ActionStarted, Entry, Record};
use agent_core::session::Event;
use agent_core::tool::ToolOutcome;
use agent_runner::journal::{FileJournal, read};
use agent_testkit::{FakeTool, HookCall, RecordingHook, Script, ScriptedProvider};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// What the call does.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Changes,
    Reads,
}

impl Kind {
    fn tool(self, life: &str) -> FakeTool {
        let outcome = ToolOutcome::ok(format!("edited in the {life} life"));
        match self {
            Self::Changes => FakeTool::changes("edit").outcome(outcome.with_changed_paths(vec!["a.rs".into()])),
            Self::Reads => FakeTool::reads("edit").outcome(outcome),
        }
    }
}

/// A hook that finds something to do at every step, as often as it is asked.
fn hook() -> RecordingHook {
    (0..3).fold(RecordingHook::new(), |hook, _| {
        hook.on_check_git(Ok(GitReport { formatting_due: true, ..GitReport::default() }))
            .on_format(Ok(FormatReport { commit_due: true, ..FormatReport::default() }))
    })
}

/// What the first life wrote: a call, and an answer.
async fn first_life(path: &Path, kind: Kind) {
    let provider = ScriptedProvider::new(Script::new().call("edit", json!({})).text("done"));
    let journal = Box::new(FileJournal::create(path).unwrap());
    let builder = builder(provider).tool(tool(&kind.tool("first"))).hook(Arc::new(hook()));
    let mut host = Host::start(builder.journal(journal));
    host.ask("go").await;
    host.detach().await;
}

/// What became of a journal that ends somewhere.
#[derive(Debug, PartialEq)]
struct Next {
    /// How often the call ran in the second life.
    runs: usize,
    /// How often the model was asked in the second life.
    asked: usize,
    /// The results in the history.
    results: Vec<String>,
    /// What the hook was asked for in the second life, besides verdicts.
    hooks: Vec<&'static str>,
}

impl Next {
    /// Without what the hook was asked for.
    fn told(self) -> (usize, usize, Vec<String>) {
        (self.runs, self.asked, self.results)
    }
}

/// The life behind the first record that fits.
async fn next_life(ends_behind: impl Fn(&Record) -> bool) -> (usize, usize, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    first_life(&path, Kind::Changes).await;
    let records = read(&path).unwrap().records;
    let end = records.iter().position(ends_behind).unwrap();
    live_on(&path, end + 1, false, Kind::Changes).await.told()
}

/// Cuts the journal behind so many records, or in the middle of the next one, and goes on.
async fn live_on(path: &Path, records: usize, is_torn: bool, kind: Kind) -> Next {
    let text = fs::read_to_string(path).unwrap();
    let mut lines = text.split_inclusive('\n');
    let mut kept: String = lines.by_ref().take(records).collect();
    if is_torn {
        kept.push_str(lines.next().map_or("", |line| &line[..line.len() / 2]));
    }
    fs::write(path, kept).unwrap();

    let (journal, recovered) = FileJournal::resume(path).unwrap();
    let rebuilt = recovered.rebuild().unwrap();
    let edit = kind.tool("second");
    // Whatever is asked: the first answer holds the call if the history does not have it yet.
    let provider = ScriptedProvider::from_fn(|request| {
        let has_call = request.conversation.len() > 1;
        if has_call {
            agent_testkit::Reply::new().text("done").into()
        } else {
            agent_testkit::Reply::new().call("edit", json!({})).into()
        }
    });
    let hook = hook();
    let next = builder(provider.clone()).tool(tool(&edit)).hook(Arc::new(hook.clone())).journal(Box::new(journal));
    let was_said = recovered_input(rebuilt.agent.session());
    let mut host = Host::start(next.resume(rebuilt.agent, rebuilt.next_seq).begun(rebuilt.begun));
    let outcome = if was_said { host.outcome().await } else { host.ask("go").await };
    assert_eq!(outcome.text, "done");
    let (_, session, _) = host.detach().await;
    assert!(read(path).unwrap().rebuild().unwrap().agent.session() == &session, "the journal tells another story");
    let hooks = hook.calls().all().into_iter().filter_map(|call| match call {
        HookCall::CheckGit(_) => Some("check"),
        HookCall::Format(_) => Some("format"),
        HookCall::Commit(_) => Some("commit"),
        _ => None,
    });
    Next {
        runs: edit.log().runs(),
        asked: provider.requests().len(),
        results: results(session.conversation()),
        hooks: hooks.collect(),
    }
}

/// Whether the user had said something that is not answered, or was.
fn recovered_input(session: &agent_core::session::Session) -> bool {
    !session.conversation().is_empty() || session.pending_input().next().is_some()
}

fn event(fits: impl Fn(&Event) -> bool) -> impl Fn(&Record) -> bool {
    move |record| matches!(&record.entry, Entry::Event(agent::Event::Session(event)) if fits(event))
}

fn note(fits: impl Fn(&ActionStarted) -> bool) -> impl Fn(&Record) -> bool {
    move |record| matches!(&record.entry, Entry::ActionStarted(started) if fits(started))
}

#[tokio::test(start_paused = true)]
async fn before_the_model_call_begins() {
    let next = next_life(event(|event| matches!(event, Event::UserInput { .. }))).await;
    assert_eq!(next, (1, 2, vec!["edited in the second life".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn while_the_model_answers() {
    let next = next_life(note(|started| matches!(started, ActionStarted::SendLlmRequest { .. }))).await;
    assert_eq!(next, (1, 2, vec!["edited in the second life".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn behind_the_answer_that_holds_the_call() {
    let next = next_life(event(|event| matches!(event, Event::LlmCompleted { .. }))).await;
    assert_eq!(next, (1, 1, vec!["edited in the second life".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn before_the_call_begins() {
    let next = next_life(event(|event| matches!(event, Event::ToolsPrepared { .. }))).await;
    let told = "not run: the program ended before this call began; it can be repeated".to_owned();
    assert_eq!(next, (0, 1, vec![told]));
}

#[tokio::test(start_paused = true)]
async fn behind_the_note_that_the_call_begins() {
    let next = next_life(note(|started| matches!(started, ActionStarted::ExecuteTools { .. }))).await;
    assert_eq!((next.0, next.1), (0, 1));
    assert!(next.2[0].starts_with("interrupted, outcome unknown"), "{:?}", next.2);
}

#[tokio::test(start_paused = true)]
async fn behind_the_outcome() {
    let next = next_life(event(|event| matches!(event, Event::ToolCompleted { .. }))).await;
    assert_eq!(next, (0, 1, vec!["edited in the first life".to_owned()]));
}

/// A record that was cut in the middle counts as never begun, each of them.
#[tokio::test(start_paused = true)]
async fn in_the_middle_of_any_record() {
    for kind in [Kind::Changes, Kind::Reads] {
        let folder = tempfile::tempdir().unwrap();
        let whole = folder.path().join("whole.jsonl");
        first_life(&whole, kind).await;
        let number = read(&whole).unwrap().records.len();
        let path = folder.path().join("s.jsonl");
        // The last one is the answer, behind which nothing is asked for.
        for records in 1..number {
            fs::copy(&whole, &path).unwrap();
            let cut = live_on(&path, records, false, kind).await;
            fs::copy(&whole, &path).unwrap();
            let torn = live_on(&path, records, true, kind).await;
            assert_eq!(cut, torn, "behind {records} records");
            assert_eq!(cut.results.len(), 1, "behind {records} records");
            assert!(cut.runs <= 1);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_only_reads_runs_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    first_life(&path, Kind::Reads).await;
    let records = read(&path).unwrap().records;
    let facts = records.iter().position(event(|event| matches!(event, Event::ToolsPrepared { .. }))).unwrap();
    let begun = records.iter().position(note(|note| matches!(note, ActionStarted::ExecuteTools { .. }))).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    for end in [facts, begun] {
        fs::write(&path, &text).unwrap();
        let next = live_on(&path, end + 1, false, Kind::Reads).await;
        assert_eq!(next.told(), (1, 1, vec!["edited in the second life".to_owned()]));
    }
}

/// The hook is asked for the step again at which the program ended, whether it had begun or not, and for none before it.
#[tokio::test(start_paused = true)]
async fn around_the_hooks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    first_life(&path, Kind::Changes).await;
    let text = fs::read_to_string(&path).unwrap();
    let records = read(&path).unwrap().records;
    let behind = |fits: &dyn Fn(&Record) -> bool| records.iter().position(fits).unwrap() + 1;
    let formats = |started: &ActionStarted| matches!(started, ActionStarted::RunAutoformatters { .. });
    let commits = |started: &ActionStarted| matches!(started, ActionStarted::CommitChanges { .. });
    for (end, hooks) in [
        (behind(&event(|event| matches!(event, Event::ToolCompleted { .. }))), &["check", "format", "commit"][..]),
        (behind(&event(|event| matches!(event, Event::GitChecked { .. }))), &["format", "commit"]),
        (behind(&note(formats)), &["format", "commit"]),
        (behind(&event(|event| matches!(event, Event::FormattersFinished { .. }))), &["commit"]),
        (behind(&note(commits)), &["commit"]),
        (behind(&event(|event| matches!(event, Event::ChangesCommitted { .. }))), &[]),
    ] {
        fs::write(&path, &text).unwrap();
        let next = live_on(&path, end, false, Kind::Changes).await;
        assert_eq!(next.hooks, hooks, "behind {end} records");
        assert_eq!(next.told(), (0, 1, vec!["edited in the first life".to_owned()]));
    }
}
