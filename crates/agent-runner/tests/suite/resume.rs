//! Going on after a crash or a detach, in each state that waits.

use crate::scenes::{Scene, WAITING};
use crate::support::{
    HangingHook, HookStep, Host, builder, config, elapsed_ms, is_sendable, ms, results, tool, with_config,
};
use agent_core::agent;
use agent_core::budget::Price;
use agent_core::journal::{Entry, Record, replay};
use agent_core::ports::Journal;
use agent_core::session::{Event, OutcomeKind, Session, State};
use agent_runner::journal::{FileJournal, read};
use agent_runner::{Builder, End, Notice};
use agent_testkit::{FakeTool, Script, ScriptedProvider};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use tokio::time::Instant;

/// Opens the journal and goes on with what it tells.
fn resume(builder: Builder, path: &Path) -> Host {
    let (journal, recovered) = FileJournal::resume(path).unwrap();
    let next_seq = recovered.records.len() as u64;
    let (_, session) = replay(recovered.records).unwrap();
    Host::start(builder.journal(Box::new(journal)).resume(session, next_seq))
}

fn replayed(path: &Path) -> Session {
    replay(read(path).unwrap().records).unwrap().1
}

fn events(path: &Path) -> Vec<Event> {
    let events = read(path).unwrap().records.into_iter().filter_map(|record| match record.entry {
        Entry::Event(agent::Event::Session(event)) => Some(event),
        _ => None,
    });
    events.collect()
}

#[tokio::test(start_paused = true)]
async fn every_waiting_state_goes_on_to_the_prompt() {
    for state in WAITING {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let first = Scene::hanging_in(state);
        let mut host = Host::start(first.builder().journal(Box::new(FileJournal::create(&path).unwrap())));
        first.enter(&mut host).await;
        let (end, left, _) = host.detach().await;
        assert_eq!((end, left.state()), (End::Detached, state));
        assert!(replayed(&path) == left, "in {state:?}");

        let second = Scene::going_on(state, Script::new().text("short"));
        let start = Instant::now();
        let mut host = resume(second.builder(), &path);
        let outcome = host.outcome().await;
        assert_eq!(outcome.kind, OutcomeKind::Success, "in {state:?}: {outcome:?}");
        assert!(!host.text().contains(" refused in "), "in {state:?}: {}", host.text());
        // The first life's requests that were not answered are asked again as they were.
        if matches!(state, State::CallingLlm | State::SendingToolResults | State::Compacting) {
            assert_eq!(first.provider.requests().last(), second.provider.requests().all().first().cloned());
        }
        // The waiting time begins anew.
        let waited = if state == State::Error { 1_000 } else { 0 };
        assert_eq!(elapsed_ms(start), waited, "in {state:?}");
        assert_eq!(second.provider.requests().len(), 1);
        let (_, session, _) = host.detach().await;
        assert!(is_sendable(session.conversation()) && replayed(&path) == session, "in {state:?}");
        // Nothing that changes runs twice, and what was interrupted before it began runs once.
        let edits = usize::from(matches!(state, State::PreparingTools | State::AwaitingApproval));
        assert_eq!(second.edited.runs(), edits, "in {state:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn model_calls_that_end_with_the_program_count_against_the_limits() {
    for summary in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let mut config = config();
        config.limits.max_model_calls = Some(2 + u64::from(summary));
        let begin = |script: Script| with_config(config.clone(), ScriptedProvider::new(script));
        let script = if summary { Script::new().text("long ".repeat(500)) } else { Script::new() };
        let mut host = Host::start(begin(script.hang()).journal(Box::new(FileJournal::create(&path).unwrap())));
        if summary {
            host.ask("tell me").await;
            host.handle.compact();
        } else {
            host.handle.input("look at everything there is");
        }
        host.state(if summary { State::Compacting } else { State::CallingLlm }).await;
        tokio::time::sleep(ms(1)).await;
        let (_, first, _) = host.detach().await;

        let host = resume(begin(Script::new().hang()), &path);
        tokio::time::sleep(ms(1)).await;
        let (_, second, _) = host.detach().await;
        assert_eq!(second.state(), first.state(), "it is made again");
        assert_eq!(second.ledger().estimated_calls, first.ledger().estimated_calls + 1);
        assert!(second.ledger().usage.input_tokens > first.ledger().usage.input_tokens);

        let provider = ScriptedProvider::new(Script::new().text("never asked"));
        let mut host = resume(with_config(config.clone(), provider.clone()), &path);
        assert_eq!(host.outcome().await.kind, OutcomeKind::CallLimit);
        assert_eq!(provider.requests().len(), 0);
        assert!(replayed(&path) == host.detach().await.1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_call_that_had_not_begun_is_made_with_its_ticket_and_costs_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let hanging = ScriptedProvider::new(Script::new().hang());
    let mut host = Host::start(builder(hanging).journal(Box::new(FileJournal::create(&path).unwrap())));
    host.handle.input("go");
    host.state(State::CallingLlm).await;
    host.detach().await;
    // The program ended between the input and the note that the call begins.
    let text = std::fs::read_to_string(&path).unwrap();
    let kept: Vec<&str> = text.lines().filter(|line| !line.contains("ActionStarted")).collect();
    assert!(kept.len() < text.lines().count());
    std::fs::write(&path, kept.join("\n") + "\n").unwrap();

    let (journal, recovered) = FileJournal::resume(&path).unwrap();
    let rebuilt = recovered.rebuild().unwrap();
    let answering = builder(ScriptedProvider::new(Script::new().text("done"))).journal(Box::new(journal));
    let mut host = Host::start(answering.resume(rebuilt.agent, rebuilt.next_seq).begun(rebuilt.begun));
    assert_eq!(host.outcome().await.text, "done");
    let (_, session, _) = host.detach().await;
    assert_eq!((session.ledger().model_calls, session.ledger().estimated_calls), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_read_is_run_again_and_a_change_is_not() {
    let folder = tempfile::tempdir().unwrap();
    for (is_read, told) in
        [(true, "ok"), (false, "interrupted, outcome unknown\nThe program ended while this call ran.")]
    {
        let path = folder.path().join(format!("{is_read}.jsonl"));
        let make = || if is_read { FakeTool::reads("work") } else { FakeTool::changes("work") };
        let hanging = make().hangs();
        let provider = ScriptedProvider::new(Script::new().call("work", json!({})));
        let first = builder(provider).tool(tool(&hanging)).journal(Box::new(FileJournal::create(&path).unwrap()));
        let mut host = Host::start(first);
        host.handle.input("go");
        host.state(State::ExecutingTools).await;
        hanging.log().wait_for_runs(1).await;
        host.detach().await;

        let work = make();
        let mut host = resume(builder(ScriptedProvider::new(Script::new().text("done"))).tool(tool(&work)), &path);
        assert_eq!(host.outcome().await.text, "done");
        assert_eq!(work.log().runs(), usize::from(is_read));
        let (_, session, _) = host.detach().await;
        assert!(results(session.conversation())[0].starts_with(told), "{:?}", results(session.conversation()));
    }
}

#[tokio::test(start_paused = true)]
async fn a_read_of_a_tool_that_is_gone_is_not_guessed_at() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let scene = Scene::hanging_in(State::ExecutingTools);
    let mut host = Host::start(scene.builder().journal(Box::new(FileJournal::create(&path).unwrap())));
    scene.enter(&mut host).await;
    host.detach().await;
    let mut host = resume(builder(ScriptedProvider::new(Script::new().text("done"))), &path);
    host.outcome().await;
    let (_, session, _) = host.detach().await;
    assert!(results(session.conversation())[0].starts_with("interrupted, outcome unknown"));
}

#[tokio::test(start_paused = true)]
async fn a_question_is_asked_again_with_its_ticket() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let first = Scene::hanging_in(State::AwaitingApproval);
    let mut host = Host::start(first.builder().journal(Box::new(FileJournal::create(&path).unwrap())));
    first.enter(&mut host).await;
    let (_, session, _) = host.detach().await;
    let agent_core::session::Action::RequestApproval { ticket: asked, .. } = session.outstanding()[0].action else {
        panic!("{:?}", session.outstanding())
    };
    let second = Scene::going_on(State::AwaitingApproval, Script::new().text("done"));
    let mut host = resume(second.builder(), &path);
    host.outcome().await;
    host.detach().await;
    assert_eq!(first.approver.questions().all(), second.approver.questions().all());
    let answered = events(&path).into_iter().find_map(|event| match event {
        Event::ApprovalAnswered { ticket, .. } => Some(ticket),
        _ => None,
    });
    assert_eq!(answered, Some(asked));
}

#[tokio::test(start_paused = true)]
async fn what_was_being_stopped_is_not_started_again() {
    for (state, is_deaf_tool) in
        [(State::ExecutingTools, true), (State::CheckingGitCommits, false), (State::RunningAutoformatters, false)]
    {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let hook = HangingHook {
            at: Some(if state == State::CheckingGitCommits { HookStep::Git } else { HookStep::Format }),
            is_deaf: true,
        };
        let mut edit = FakeTool::changes("edit");
        if is_deaf_tool {
            edit = edit.hangs().ignores_cancellation();
        }
        let provider = ScriptedProvider::new(Script::new().call("edit", json!({})));
        let first = builder(provider).tool(tool(&edit)).hook(Arc::new(hook));
        let mut host = Host::start(first.journal(Box::new(FileJournal::create(&path).unwrap())));
        host.handle.input("go");
        host.state(state).await;
        host.handle.cancel();
        host.until(
            |notice| matches!(notice, Notice::Transition(t) if t.on == agent_core::session::Trigger::CancelRequested),
        )
        .await;
        let (_, session, _) = host.detach().await;
        assert!(session.is_cancel_pending() && session.state() == state);

        let (again, provider) = (FakeTool::changes("edit"), ScriptedProvider::new(Script::new().text("next")));
        let mut host = resume(builder(provider.clone()).tool(tool(&again)), &path);
        assert_eq!(host.outcome().await.kind, OutcomeKind::Cancelled);
        assert_eq!((again.log().runs(), provider.requests().len()), (0, 0));
        assert_eq!(host.ask("go on").await.text, "next");
    }
}

#[tokio::test(start_paused = true)]
async fn an_idle_session_prompts_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let provider = ScriptedProvider::new(Script::new().text("one"));
    let mut host = Host::start(builder(provider).journal(Box::new(FileJournal::create(&path).unwrap())));
    host.ask("1").await;
    host.detach().await;
    let provider = ScriptedProvider::new(Script::new().text("two"));
    let mut host = resume(builder(provider.clone()), &path);
    assert_eq!(host.outcome().await.text, "one");
    assert_eq!(host.ask("2").await.text, "two");
    assert_eq!(provider.requests().last().unwrap().conversation.len(), 3);
    host.detach().await;
    let numbers: Vec<u64> = read(&path).unwrap().records.iter().map(|record| record.seq).collect();
    assert!(numbers.iter().copied().eq(0..numbers.len() as u64), "{numbers:?}");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_was_killed_before_its_start_starts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let mut host = Host::start(
        builder(ScriptedProvider::new(Script::new())).journal(Box::new(FileJournal::create(&path).unwrap())),
    );
    host.until(|notice| matches!(notice, Notice::Prompt { .. })).await;
    host.detach().await;
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.lines().next().unwrap().to_owned() + "\n").unwrap();
    let mut host = resume(builder(ScriptedProvider::new(Script::new().text("hi"))), &path);
    assert_eq!(host.ask("hello").await.text, "hi");
}

#[tokio::test(start_paused = true)]
async fn the_turns_time_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let mut config = config();
    config.limits.max_wall_time_ms = Some(10_000);
    let mut host = Host::start(
        with_config(config.clone(), ScriptedProvider::new(Script::new().hang()))
            .journal(Box::new(FileJournal::create(&path).unwrap())),
    );
    host.handle.input("go");
    host.state(State::CallingLlm).await;
    tokio::time::sleep(ms(4_000)).await;
    // Time that the journal does not tell of is not known to be used.
    host.handle.input("typed ahead");
    host.detach().await;
    tokio::time::sleep(ms(60_000)).await;
    let start = Instant::now();
    let mut host = resume(with_config(config, ScriptedProvider::new(Script::new().hang())), &path);
    assert_eq!(host.outcome().await.kind, OutcomeKind::Budget);
    assert_eq!(elapsed_ms(start), 6_000);
}

#[tokio::test(start_paused = true)]
async fn a_resumed_session_can_be_told_other_settings() {
    let mut host = Host::start(builder(ScriptedProvider::new(Script::new().text("one"))));
    host.ask("1").await;
    let (_, session, _) = host.detach().await;
    let look = FakeTool::reads("look");
    let provider = ScriptedProvider::new(Script::new().text("two"));
    let builder = builder(provider.clone()).tool(tool(&look));
    let config = builder.effective_config();
    let mut host = Host::start(builder.resume(session, 3));
    host.handle.reconfigure(config);
    host.ask("2").await;
    assert_eq!(provider.requests().last().unwrap().tools.len(), 1);
}

/// What was begun with the old model costs what that costs; what is made again is made with the new one, within the new limits.
#[tokio::test(start_paused = true)]
async fn what_ended_with_the_program_is_made_again_as_configured_now() {
    let price = |nano| {
        Some(Price {
            input_nano_usd: nano,
            output_nano_usd: nano,
            cache_read_nano_usd: nano,
            cache_write_nano_usd: nano,
        })
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let mut config = config();
    (config.models[0].id, config.models[0].price) = ("dear".into(), price(1_000));
    let began = with_config(config.clone(), ScriptedProvider::new(Script::new().hang()));
    let mut host = Host::start(began.journal(Box::new(FileJournal::create(&path).unwrap())));
    host.handle.input("look at everything there is");
    host.state(State::CallingLlm).await;
    tokio::time::sleep(ms(1)).await;
    host.detach().await;

    let (id, price) = ("cheap".into(), price(1));
    (config.models[0].id, config.models[0].price) = (id, price);
    let provider = ScriptedProvider::new(Script::new().text("done"));
    let records = read(&path).unwrap().records.len() as u64;
    let interrupted = replayed(&path);
    let going_on = with_config(config.clone(), provider.clone()).resume(interrupted.clone(), records);
    let (runner, handle, notices) = going_on.build().unwrap();
    let mut host = Host::of((runner.reconfigured(config.clone()), handle, notices));
    assert_eq!(host.outcome().await.kind, OutcomeKind::Success);
    assert_eq!((provider.requests().len(), &*provider.requests().last().unwrap().model), (1, "cheap"));
    let (_, session, _) = host.detach().await;
    assert!(session.ledger().cost_nano_usd >= 1_000, "the first was dear: {:?}", session.ledger());

    // The limits are the new ones, too.
    config.limits.max_model_calls = Some(1);
    let provider = ScriptedProvider::new(Script::new().text("never asked"));
    let going_on = with_config(config.clone(), provider.clone()).resume(interrupted, records);
    let (runner, handle, notices) = going_on.build().unwrap();
    let mut host = Host::of((runner.reconfigured(config), handle, notices));
    assert_eq!((host.outcome().await.kind, provider.requests().len()), (OutcomeKind::CallLimit, 0));
}

#[tokio::test(start_paused = true)]
async fn nothing_follows_a_record_that_may_be_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let mut journal = FileJournal::create(&path).unwrap();
    let record = |seq| Record { seq, at_ms: 0, entry: Entry::Event(Event::Started.into()) };
    {
        // A writer that is dropped halfway leaves nobody knowing what stands in the file.
        let (first, mut context) = (record(0), std::task::Context::from_waker(std::task::Waker::noop()));
        assert!(journal.append(&first).as_mut().poll(&mut context).is_ready());
        assert!(journal.sync().as_mut().poll(&mut context).is_pending());
    }
    let error = journal.append(&record(1)).await.unwrap_err();
    assert!(error.found.contains("an earlier record could not be written"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_new_session_can_be_told_other_settings_before_it_runs() {
    let provider = ScriptedProvider::new(Script::new().text("one"));
    let mut config = config();
    let builder = with_config(config.clone(), provider.clone());
    config.models[0].id = "another".into();
    let (runner, handle, notices) = builder.build().unwrap();
    let mut host = Host::of((runner.reconfigured(config), handle, notices));
    host.ask("1").await;
    assert_eq!(&*provider.requests().last().unwrap().model, "another");
}

/// The program ended behind the first record: nothing was said to the session, not even that it was opened.
#[tokio::test(start_paused = true)]
async fn a_session_that_was_never_started_goes_on_with_other_settings() {
    let provider = ScriptedProvider::new(Script::new().text("one"));
    let mut config = config();
    let unstarted = Session::new(config.clone());
    config.models[0].id = "another".into();
    let (runner, handle, notices) = with_config(config.clone(), provider.clone()).resume(unstarted, 1).build().unwrap();
    let mut host = Host::of((runner.reconfigured(config), handle, notices));
    assert_eq!(host.ask("1").await.text, "one");
    assert_eq!(&*provider.requests().last().unwrap().model, "another");
    assert!(!host.text().contains(" refused in "), "{}", host.text());
}
