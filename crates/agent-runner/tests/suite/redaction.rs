//! Secrets stand neither in the journal, nor in the history, nor in what a host is shown.

use crate::support::{Host, builder, config, tool, with_config};
use agent_core::journal::Record;
use agent_core::llm::{LlmError, LlmErrorKind};
use agent_core::ports::{Journal, JournalError};
use agent_core::tool::{HookVerdict, ToolOutcome};
use agent_testkit::{FailingHook, FakeTool, RecordingHook, Reply, Script, ScriptedProvider};
use async_trait::async_trait;
use serde_json::json;
use std::sync::{Arc, Mutex};

const KEY: &str = "sk-live-0123456789";
const LONGER: &str = "sk-live-0123456789-and-more";
const MULTILINE: &str = "-----BEGIN\nabcdef\"ghi\n-----END";

#[derive(Clone, Default)]
struct Kept(Arc<Mutex<String>>);

#[async_trait]
impl Journal for Kept {
    async fn append(&mut self, record: &Record) -> Result<(), JournalError> {
        self.0.lock().unwrap().push_str(&serde_json::to_string(record).unwrap());
        Ok(())
    }

    async fn sync(&mut self) -> Result<(), JournalError> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn secrets_are_taken_out_wherever_text_comes_in() {
    let leak = format!("key {LONGER} and {KEY}");
    let script = Script::new()
        .error(LlmError::new(LlmErrorKind::Server, format!("refused {KEY}")))
        .answer(
            Reply::new()
                .text(&leak)
                .call("edit", json!({"key": KEY, "pem": MULTILINE}))
                .call("denied", json!({}))
                .call("picky", json!({})),
        )
        .text(&leak);
    let edit = FakeTool::changes("edit").outcome(ToolOutcome::ok(leak.as_str())).reports(&[KEY]);
    let picky = FakeTool::reads("picky").refuses_arguments(&leak);
    let denied = FakeTool::reads("denied");
    let hook = RecordingHook::new()
        .on_before_tool(|call, _| match call.name.as_ref() {
            "denied" => HookVerdict::Deny { reason: format!("because {KEY}") },
            _ => HookVerdict::None,
        })
        .on_check_git(Ok(agent_core::hook::GitReport {
            commit_due: true,
            notes: vec![format!("note {KEY}")],
            ..Default::default()
        }))
        .on_commit(Ok(agent_core::hook::CommitReport {
            commit: Some(agent_core::hook::CommitInfo {
                id: "1".into(),
                subject: format!("subject {KEY}"),
                stat: None,
            }),
            notes: Vec::new(),
        }));
    let mut config = config();
    config.system = format!("house rules {KEY}").into();
    let kept = Kept::default();
    let builder = with_config(config, ScriptedProvider::new(script))
        .tools([tool(&edit), tool(&picky), tool(&denied)])
        .hook(Arc::new(hook))
        .journal(Box::new(kept.clone()));
    let mut host = Host::start(builder.secret(KEY).secret(LONGER).secret(MULTILINE).secret("ok"));
    host.ask(&format!("use {KEY} and {MULTILINE}")).await;
    let (_, session, seen) = host.detach().await;
    let history = serde_json::to_string(session.conversation()).unwrap();
    let journal = kept.0.lock().unwrap().clone();
    for (place, text) in [("notices", format!("{seen:?}")), ("history", history), ("journal", journal)] {
        for secret in ["0123456789", "and-more", "BEGIN"] {
            assert!(!text.contains(secret), "{secret} in the {place}: {text}");
        }
        assert!(text.contains("[redacted]"), "nothing redacted in the {place}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_hook_says_is_redacted_too() {
    let provider = ScriptedProvider::new(Script::new().call("edit", json!({})).text("done"));
    let hook = FailingHook::failing(&format!("git: {KEY}"));
    let mut host =
        Host::start(builder(provider).tool(tool(&FakeTool::changes("edit"))).hook(Arc::new(hook)).secret(KEY));
    host.ask("go").await;
    assert!(host.text().contains("git: [redacted]"), "{}", host.text());
}

#[tokio::test(start_paused = true)]
async fn a_secret_that_comes_in_pieces_is_not_shown_in_pieces() {
    for characters in [1, 3, 7, 17] {
        let text = format!("the key is {KEY}, and sk-live is not; s");
        let reply = Reply::new().text(&text).call("print", json!({})).pieces_of(characters);
        let print = FakeTool::reads("print").reports(&["out: sk-li", "ve-0123", "456789 end", " sk-li"]);
        let provider = ScriptedProvider::new(Script::new().answer(reply).text("done"));
        let mut host = Host::start(builder(provider).tool(tool(&print)).secret(KEY));
        host.ask("go").await;
        let (mut shown, mut printed) = (String::new(), String::new());
        for notice in &host.seen {
            match notice {
                agent_runner::Notice::Delta(agent_core::llm::Delta::Text(piece)) => shown.push_str(piece),
                agent_runner::Notice::ToolProgress { text, .. } => printed.push_str(text),
                _ => {}
            }
        }
        assert_eq!(shown, "the key is [redacted], and sk-live is not; sdone");
        assert_eq!(printed, "out: [redacted] end sk-li");
    }
}
