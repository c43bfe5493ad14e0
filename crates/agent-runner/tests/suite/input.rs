//! What the user says while the session is busy.

use crate::support::{Host, builder, last_input, ms, tool};
use agent_core::conversation::Item;
use agent_core::session::State;
use agent_runner::Notice;
use agent_runner::journal::FileJournal;
use agent_testkit::{FakeTool, Reply, Script, ScriptedProvider};
use serde_json::json;

#[tokio::test(start_paused = true)]
async fn input_during_tools_goes_out_with_their_results_in_one_message() {
    let slow = FakeTool::reads("slow").delay(ms(500));
    let provider = ScriptedProvider::new(Script::new().call("slow", json!({})).text("done"));
    let mut host = Host::start(builder(provider.clone()).tool(tool(&slow)));
    host.handle.input("go");
    host.state(State::ExecutingTools).await;
    host.handle.input("and another thing");
    host.handle.input("and one more");
    host.outcome().await;
    assert_eq!(provider.requests().len(), 2);
    let request = provider.requests().last().unwrap();
    let items: Vec<_> = request.conversation.iter().collect();
    // A round and the input behind it are one user message for every provider.
    assert!(matches!(items[items.len() - 2].as_ref(), Item::Round(_)));
    assert_eq!(last_input(&request), ["and another thing", "and one more"]);
}

#[tokio::test(start_paused = true)]
async fn input_during_the_last_answer_starts_the_next_turn_by_itself() {
    let script = Script::new().answer(Reply::new().text("first").first_delay(ms(300))).text("second");
    let provider = ScriptedProvider::new(script);
    let mut host = Host::start(builder(provider.clone()));
    host.handle.input("one");
    host.state(State::CallingLlm).await;
    host.handle.input("two");
    assert_eq!(host.outcome().await.text, "second");
    assert_eq!(last_input(&provider.requests().last().unwrap()), ["two"]);
}

#[tokio::test(start_paused = true)]
async fn typed_ahead_input_is_handed_back_at_a_cancel() {
    let provider = ScriptedProvider::new(Script::new().hang().text("next"));
    let mut host = Host::start(builder(provider.clone()));
    host.handle.input("go");
    host.state(State::CallingLlm).await;
    host.handle.input("typed ahead");
    host.handle.cancel();
    host.outcome().await;
    assert!(host.text().contains(r#"InputReturned(["typed ahead"])"#), "{}", host.text());
    host.ask("new").await;
    assert_eq!(last_input(&provider.requests().last().unwrap()), ["go", "new"]);
}

#[tokio::test(start_paused = true)]
async fn blank_input_is_refused_and_changes_nothing() {
    let provider = ScriptedProvider::new(Script::new().text("hi"));
    let mut host = Host::start(builder(provider.clone()));
    host.handle.input("  \n");
    assert_eq!(host.ask("hello").await.text, "hi");
    assert!(host.text().contains("UserInput refused in WaitingForUserInput: it is blank"), "{}", host.text());
    assert_eq!(provider.requests().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_was_typed_before_a_limit_stopped_the_work_goes_out_when_it_goes_on() {
    let mut config = crate::support::config();
    config.limits.max_model_calls = Some(1);
    let slow = FakeTool::reads("slow").delay(ms(500));
    let provider = ScriptedProvider::new(Script::new().call("slow", json!({})).text("done"));
    let mut host = Host::start(crate::support::with_config(config, provider.clone()).tool(tool(&slow)));
    host.handle.input("go");
    host.state(State::ExecutingTools).await;
    host.handle.input("and another thing");
    host.outcome().await;
    host.handle.set_limits(agent_core::budget::Limits::default());
    assert_eq!(host.outcome().await.text, "done");
    assert_eq!(provider.requests().len(), 2, "the message took a call of its own");
    assert_eq!(last_input(&provider.requests().last().unwrap()), ["and another thing"]);
}

/// What the host was told to be waiting, each time that it changed.
fn waiting(host: &Host) -> Vec<(Vec<String>, Vec<String>)> {
    let told = host.seen.iter().filter_map(|notice| match notice {
        Notice::Waiting { queued, after_turn } => Some((queued.clone(), after_turn.clone())),
        _ => None,
    });
    told.collect()
}

#[tokio::test(start_paused = true)]
async fn a_message_for_later_starts_the_next_turn_and_one_for_now_overtakes_it() {
    let slow = FakeTool::reads("slow").delay(ms(500));
    let provider = ScriptedProvider::new(Script::new().call("slow", json!({})).text("first").text("second"));
    let mut host = Host::start(builder(provider.clone()).tool(tool(&slow)));
    host.handle.input("go");
    host.state(State::ExecutingTools).await;
    host.handle.send_after_turn("later");
    host.handle.input("now");
    assert_eq!(host.outcome().await.text, "second");
    let requests = provider.requests().all();
    assert_eq!(requests.len(), 3);
    assert_eq!(last_input(&requests[1]), ["now"]);
    assert_eq!(last_input(&requests[2]), ["later"]);
    let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
    let told = [
        (vec![], texts(&["later"])),
        (texts(&["now"]), texts(&["later"])),
        (vec![], texts(&["later"])),
        (vec![], vec![]),
    ];
    assert_eq!(waiting(&host), told);
    // At rest it is a message as any other.
    host.handle.send_after_turn("at rest");
    host.state(State::CallingLlm).await;
    assert_eq!(last_input(&provider.requests().last().unwrap()), ["at rest"]);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_has_not_gone_out_is_taken_back_and_no_other() {
    let slow = FakeTool::reads("slow").delay(ms(500));
    let provider = ScriptedProvider::new(Script::new().call("slow", json!({})).text("first").text("second"));
    let mut host = Host::start(builder(provider.clone()).tool(tool(&slow)));
    host.handle.input("go");
    host.state(State::ExecutingTools).await;
    ["one", "two"].into_iter().for_each(|text| host.handle.send_after_turn(text));
    host.handle.input("three");
    for text in ["two", "three", "two", "go"] {
        host.handle.withdraw(text);
    }
    assert_eq!(host.outcome().await.text, "second");
    let seen = host.text();
    assert!(seen.contains(r#"InputReturned(["two"])"#) && seen.contains(r#"InputReturned(["three"])"#), "{seen}");
    let refused = "InputWithdrawn refused in ExecutingTools: no such message waits";
    assert_eq!(seen.matches(refused).count(), 2, "{seen}");
    assert_eq!(last_input(&provider.requests().last().unwrap()), ["one"]);
    assert_eq!(waiting(&host).last(), Some(&(vec![], vec![])));
}

#[tokio::test(start_paused = true)]
async fn a_message_for_later_is_handed_back_at_a_cancel_and_outlives_its_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let begin = |script| builder(ScriptedProvider::new(script));
    let mut host = Host::start(begin(Script::new().hang()).journal(Box::new(FileJournal::create(&path).unwrap())));
    host.handle.input("go");
    host.state(State::CallingLlm).await;
    ["one", "two"].into_iter().for_each(|text| host.handle.send_after_turn(text));
    host.handle.withdraw("one");
    host.until(|notice| matches!(notice, Notice::InputReturned(_))).await;
    host.detach().await;

    let (journal, recovered) = FileJournal::resume(&path).unwrap();
    let next_seq = recovered.records.len() as u64;
    let (_, session) = agent_core::journal::replay(recovered.records).unwrap();
    let provider = ScriptedProvider::new(Script::new().text("first").hang());
    let second = builder(provider.clone()).journal(Box::new(journal)).resume(session, next_seq);
    let mut host = Host::start(second);
    host.until(|notice| matches!(notice, Notice::Waiting { after_turn, .. } if after_turn == &["two"])).await;
    host.state(State::CallingLlm).await;
    host.until(|notice| matches!(notice, Notice::TurnBegan)).await;
    host.handle.send_after_turn("three");
    host.handle.cancel();
    host.outcome().await;
    assert!(host.text().contains(r#"InputReturned(["three"])"#), "{}", host.text());
    assert_eq!(last_input(&provider.requests().last().unwrap()), ["two"]);
}
