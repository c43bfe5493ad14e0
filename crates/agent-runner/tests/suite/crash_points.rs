//! The points at which a program can end around a call that changes something, and around a model call: what the next life makes of each.
//!
//! | The journal ends | The call, in the next life |
//! |---|---|
//! | before the answer that holds it | does not exist; the model is asked again |
//! | behind the answer | is looked at again, and runs: once |
//! | behind the facts, before the note that it begins | is told as not run |
//! | behind the note: before it ran, while it ran, or before its outcome was written | is told as interrupted, outcome unknown |
//! | behind the outcome | is told as it ended |

use crate::support::{Host, builder, results, tool};
use agent_core::journal::{ActionStarted, Entry, Record};
use agent_core::session::Event;
use agent_core::tool::ToolOutcome;
use agent_runner::journal::{FileJournal, read};
use agent_testkit::{FakeTool, Script, ScriptedProvider};
use serde_json::json;
use std::fs;
use std::path::Path;

/// What the first life wrote: a call that changes something, and an answer.
async fn first_life(path: &Path) {
    let provider = ScriptedProvider::new(Script::new().call("edit", json!({})).text("done"));
    let edit = FakeTool::changes("edit").outcome(ToolOutcome::ok("edited in the first life"));
    let mut host =
        Host::start(builder(provider).tool(tool(&edit)).journal(Box::new(FileJournal::create(path).unwrap())));
    host.ask("go").await;
    host.detach().await;
}

/// What became of a journal that ends behind the first record that fits.
struct Next {
    /// How often the call ran in the second life.
    runs: usize,
    /// How often the model was asked in the second life.
    asked: usize,
    /// The results in the history.
    results: Vec<String>,
}

async fn next_life(ends_behind: impl Fn(&Record) -> bool) -> Next {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    first_life(&path).await;
    let text = fs::read_to_string(&path).unwrap();
    let records = read(&path).unwrap().records;
    let end = records.iter().position(ends_behind).unwrap();
    let kept: String = text.split_inclusive('\n').take(end + 1).collect();
    fs::write(&path, kept).unwrap();

    let (journal, recovered) = FileJournal::resume(&path).unwrap();
    let rebuilt = recovered.rebuild().unwrap();
    let edit = FakeTool::changes("edit").outcome(ToolOutcome::ok("edited in the second life"));
    // Whatever is asked: the first answer holds the call if the history does not have it yet.
    let provider = ScriptedProvider::from_fn(|request| {
        let has_call = request.conversation.len() > 1;
        if has_call {
            agent_testkit::Reply::new().text("done").into()
        } else {
            agent_testkit::Reply::new().call("edit", json!({})).into()
        }
    });
    let next = builder(provider.clone()).tool(tool(&edit)).journal(Box::new(journal));
    let mut host = Host::start(next.resume(rebuilt.session, rebuilt.next_seq).begun(rebuilt.begun));
    assert_eq!(host.outcome().await.text, "done");
    let (_, session, _) = host.detach().await;
    assert!(read(&path).unwrap().rebuild().unwrap().session == session, "the journal tells another story");
    Next { runs: edit.log().runs(), asked: provider.requests().len(), results: results(session.conversation()) }
}

fn event(fits: impl Fn(&Event) -> bool) -> impl Fn(&Record) -> bool {
    move |record| matches!(&record.entry, Entry::Event(event) if fits(event))
}

fn note(fits: impl Fn(&ActionStarted) -> bool) -> impl Fn(&Record) -> bool {
    move |record| matches!(&record.entry, Entry::ActionStarted(started) if fits(started))
}

#[tokio::test(start_paused = true)]
async fn before_the_model_call_begins() {
    let next = next_life(event(|event| matches!(event, Event::UserInput { .. }))).await;
    assert_eq!((next.runs, next.asked, next.results), (1, 2, vec!["edited in the second life".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn while_the_model_answers() {
    let next = next_life(note(|started| matches!(started, ActionStarted::SendLlmRequest { .. }))).await;
    assert_eq!((next.runs, next.asked, next.results), (1, 2, vec!["edited in the second life".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn behind_the_answer_that_holds_the_call() {
    let next = next_life(event(|event| matches!(event, Event::LlmCompleted { .. }))).await;
    assert_eq!((next.runs, next.asked, next.results), (1, 1, vec!["edited in the second life".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn before_the_call_begins() {
    let next = next_life(event(|event| matches!(event, Event::ToolsPrepared { .. }))).await;
    let told = "not run: the program ended before this call began; it can be repeated".to_owned();
    assert_eq!((next.runs, next.asked, next.results), (0, 1, vec![told]));
}

#[tokio::test(start_paused = true)]
async fn behind_the_note_that_the_call_begins() {
    let next = next_life(note(|started| matches!(started, ActionStarted::ExecuteTools { .. }))).await;
    assert_eq!((next.runs, next.asked), (0, 1));
    assert!(next.results[0].starts_with("interrupted, outcome unknown"), "{:?}", next.results);
}

#[tokio::test(start_paused = true)]
async fn behind_the_outcome() {
    let next = next_life(event(|event| matches!(event, Event::ToolCompleted { .. }))).await;
    assert_eq!((next.runs, next.asked, next.results), (0, 1, vec!["edited in the first life".to_owned()]));
}
