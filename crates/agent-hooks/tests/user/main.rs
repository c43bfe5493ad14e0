//! The user's hooks as real processes: what they are told, how they end, and what is made of it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use agent_exec::{Environment, Processes};
use agent_hooks::{UserHook, UserHooks};
use agent_types::conversation::{Arguments, CallId, ToolCall};
use agent_types::hook::{EndedCall, HookEnd, HookOccasion, HookPoint, HookReport};
use agent_types::ports::{CancelSignal, NeverCancelled};
use agent_types::tool::{HookVerdict, ToolStatus};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::sync::Notify;

/// A directory with hooks that run in it.
struct Place {
    directory: TempDir,
    hooks: Vec<UserHook>,
}

impl Place {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap(), hooks: Vec::new() }
    }

    fn with(event: &str, command: &str) -> Self {
        let mut place = Self::new();
        place.hooks.push(UserHook::new(event, command).unwrap());
        place
    }

    fn and(mut self, hook: UserHook) -> Self {
        self.hooks.push(hook);
        self
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap_or_default()
    }

    fn hooks(&self) -> UserHooks {
        let secret = ("EXAMPLE_API_KEY".into(), "sk-very-secret".into());
        let path = ("PATH".into(), std::env::var_os("PATH").unwrap());
        let runner = Arc::new(Processes::with_environment(Environment::filtered([secret, path])));
        let hooks = UserHooks::new(self.hooks.clone(), self.path().to_path_buf(), runner.clone(), runner);
        hooks.is_of("session-1");
        hooks
    }

    async fn run(&self, occasion: &HookOccasion) -> HookReport {
        self.hooks().run(occasion, &NeverCancelled).await
    }
}

struct When(Notify);

#[async_trait]
impl CancelSignal for When {
    fn is_cancelled(&self) -> bool {
        false
    }

    async fn cancelled(&self) {
        self.0.notified().await;
    }
}

fn call() -> ToolCall {
    let arguments = Arguments::parse(r#"{"path":"a.rs"}"#).unwrap();
    ToolCall { id: CallId::new("call-1"), name: "edit_file".into(), arguments }
}

fn before() -> HookOccasion {
    HookOccasion::PreToolUse { call: call() }
}

fn prompt() -> HookOccasion {
    HookOccasion::UserPromptSubmit { prompt: "fix it".into() }
}

fn stop() -> HookOccasion {
    HookOccasion::Stop { text: "all done".into(), is_held: true }
}

/// What every event is told, field by field.
#[tokio::test]
async fn hooks_are_told_in_json() {
    let ended = EndedCall { call: call(), status: ToolStatus::Failed, content: "no such file".into() };
    let called = json!({"tool_name": "edit_file", "tool_input": {"path": "a.rs"}, "tool_use_id": "call-1"});
    let mut after = called.clone();
    after["tool_response"] = json!({"status": "failed", "is_error": true, "content": "no such file"});
    for (occasion, own) in [
        (before(), called),
        (HookOccasion::PostToolUse { calls: vec![ended] }, after),
        (prompt(), json!({"prompt": "fix it"})),
        (stop(), json!({"stop_hook_active": true, "last_assistant_message": "all done"})),
        (HookOccasion::SessionStart { is_resumed: true }, json!({"source": "resume"})),
        (HookOccasion::SessionEnd, json!({"reason": "other"})),
        (
            HookOccasion::PreCompact { is_requested: true, focus: Some("the API".into()) },
            json!({"trigger": "manual", "custom_instructions": "the API"}),
        ),
        (
            HookOccasion::PreCompact { is_requested: false, focus: None },
            json!({"trigger": "auto", "custom_instructions": ""}),
        ),
    ] {
        let point = occasion.point();
        let place = Place::with(point.name(), "cat > told; pwd > where; env > variables");
        let report = place.run(&occasion).await;
        assert_eq!((report.runs[0].end, report.runs[0].message.as_str()), (HookEnd::Passed, ""), "{point}");
        let mut expected = own;
        expected["session_id"] = json!("session-1");
        expected["cwd"] = json!(place.path().display().to_string());
        expected["hook_event_name"] = json!(point.name());
        assert_eq!(serde_json::from_str::<Value>(&place.read("told")).unwrap(), expected);
        assert_eq!(Path::new(place.read("where").trim()), place.path().canonicalize().unwrap());
        let variables = place.read("variables");
        assert!(variables.contains(&format!("AGENT_PROJECT_DIR={}", place.path().display())), "{variables}");
        assert!(!variables.contains("sk-very-secret"), "{variables}");
    }
}

#[tokio::test]
async fn the_exit_code_and_the_answer_count() {
    let denied = Place::with("PreToolUse", "echo 'not there' >&2; exit 2").run(&before()).await;
    assert_eq!(denied.verdict, HookVerdict::Deny { reason: "not there".into() });
    assert_eq!((denied.runs[0].end, denied.runs[0].call.clone()), (HookEnd::Blocked, Some(CallId::new("call-1"))));
    let blocked = Place::with("Stop", r#"echo '{"decision":"block","reason":"the tests fail"}'"#).run(&stop()).await;
    assert_eq!(blocked.block.as_deref(), Some("the tests fail"));
    let context = Place::with("UserPromptSubmit", "echo the branch is main").run(&prompt()).await;
    assert_eq!(context.context, ["the branch is main"]);
    let ended = Place::with("Stop", r#"echo '{"continue":false,"stopReason":"enough"}'"#).run(&stop()).await;
    assert_eq!(ended.stop.as_deref(), Some("enough"));
}

/// Everything that is no answer: the user is warned, and what was asked passes; where it is to block, it blocks.
#[tokio::test]
async fn a_hook_that_does_not_do_its_work_warns_or_blocks() {
    let place = Place::new();
    let plain = place.path().join("plain");
    fs::write(&plain, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&plain, fs::Permissions::from_mode(0o644)).unwrap();
    let plain = plain.display().to_string();
    for (command, said) in [
        ("echo broken >&2; exit 1", "it ended with code 1: broken"),
        ("kill -9 $$", "it was killed by signal 9"),
        (plain.as_str(), "it ended with code 126"),
        ("/nowhere/to/be/found", "it ended with code 127"),
        ("echo '{\"decision\": '", "its answer cannot be read"),
        ("echo '{\"decision\": \"perhaps\"}'", "its answer cannot be read"),
        ("sleep 4713.1", "it did not finish within 300 ms"),
        ("sleep 4713.2 & sleep 4713.3", "it did not finish within 300 ms"),
    ] {
        let hook = |event| UserHook::new(event, command).unwrap().within_ms(300).unwrap();
        let warned = Place::new().and(hook("PreToolUse")).run(&before()).await;
        assert_eq!((warned.verdict.clone(), warned.runs[0].end), (HookVerdict::None, HookEnd::Failed), "{command}");
        assert!(warned.runs[0].message.starts_with(said), "{command}: {}", warned.runs[0].message);
        let blocking = |event| Place::new().and(hook(event).blocking_on_failure().unwrap());
        let denied = blocking("PreToolUse").run(&before()).await;
        assert!(matches!(&denied.verdict, HookVerdict::Deny { reason } if reason.starts_with(said)), "{command}");
        let blocked = blocking("UserPromptSubmit").run(&prompt()).await;
        assert!(blocked.block.is_some_and(|reason| reason.starts_with(said)), "{command}");
    }
    assert!(!lives("sleep 4713"), "something was left behind");
}

#[tokio::test]
async fn what_a_hook_prints_is_bounded() {
    let since = Instant::now();
    let hook = UserHook::new("Stop", "head -c 1073741824 /dev/zero | tr '\\0' x").unwrap();
    let report = Place::new().and(hook).run(&stop()).await;
    assert_eq!((report.runs[0].end, report.context.len()), (HookEnd::Passed, 0));
    // As an answer it is too long to be one, and as a context it is cut.
    let answer = Place::with("Stop", "printf '{'; head -c 300000 /dev/zero | tr '\\0' x").run(&stop()).await;
    assert_eq!(answer.runs[0].message, "its answer cannot be read: it is too long");
    let context = Place::with("UserPromptSubmit", "head -c 300000 /dev/zero | tr '\\0' x").run(&prompt()).await;
    assert!(context.context[0].len() < 10_100, "{}", context.context[0].len());
    assert!(since.elapsed() < Duration::from_secs(60), "{:?}", since.elapsed());
}

#[tokio::test]
async fn a_hook_that_deletes_itself_works_once_and_warns_then() {
    let place = Place::with("UserPromptSubmit", "./once");
    let script = place.path().join("once");
    // Another program writes: a file that this process holds open for writing is busy in whatever another test starts meanwhile.
    let write = r#"printf '#!/bin/sh\nrm -- "$0"\necho gone\n' > "$0" && chmod 755 "$0""#;
    assert!(std::process::Command::new("sh").args(["-c", write]).arg(&script).status().unwrap().success());
    assert_eq!(place.run(&prompt()).await.context, ["gone"]);
    let again = place.run(&prompt()).await;
    assert_eq!((again.runs[0].end, again.block), (HookEnd::Failed, None));
    assert!(again.runs[0].message.starts_with("it ended with code 127"), "{}", again.runs[0].message);
}

#[tokio::test]
async fn a_stop_ends_the_tree_and_blocks_nothing() {
    let hook = UserHook::new("UserPromptSubmit", "touch begun; sleep 4714.1 & sleep 4714.2").unwrap();
    let place = Place::new().and(hook.blocking_on_failure().unwrap());
    let (hooks, when, occasion) = (place.hooks(), When(Notify::new()), prompt());
    let stopping = async {
        while !place.path().join("begun").exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        when.0.notify_one();
    };
    let (report, ()) = tokio::join!(hooks.run(&occasion, &when), stopping);
    assert_eq!((report.block, report.runs[0].message.as_str()), (None, "it was stopped"));
    assert!(!lives("sleep 4714"), "something was left behind");
}

/// In the order of the configuration; each before a call sees what the one before it made of the call, and a denial ends it.
#[tokio::test]
async fn hooks_run_one_after_the_other() {
    let write = |path: &str| format!(r#"echo '{{"hookSpecificOutput":{{"updatedInput":{{"path":"{path}"}}}}}}'"#);
    let hook = |command: &str| UserHook::new("PreToolUse", command).unwrap();
    let place = Place::new()
        .and(hook(&write("b.rs")))
        .and(hook("grep -q 'b.rs' && echo seen >> order"))
        .and(hook("exit 2"))
        .and(hook("echo late >> order"));
    let report = place.run(&before()).await;
    assert_eq!((report.runs.len(), place.read("order").as_str()), (3, "seen\n"));
    assert_eq!(report.arguments.unwrap().as_str(), r#"{"path":"b.rs"}"#);
    assert!(matches!(report.verdict, HookVerdict::Deny { .. }));

    // Who allowed the call has not seen what another made of it.
    let allow = r#"echo '{"hookSpecificOutput":{"permissionDecision":"allow"}}'"#;
    let report = Place::new().and(hook(allow)).and(hook(&write("b.rs"))).run(&before()).await;
    assert_eq!((report.verdict, report.arguments.is_some()), (HookVerdict::None, true));
    let report = Place::new().and(hook(&write("b.rs"))).and(hook(allow)).run(&before()).await;
    assert!(matches!(report.verdict, HookVerdict::Allow { .. }));

    // At the end of a turn everything that is wrong is told at once.
    let hook = |command: &str| UserHook::new("Stop", command).unwrap();
    let place = Place::new().and(hook("echo one >&2; exit 2")).and(hook("echo two >&2; exit 2"));
    assert_eq!(place.run(&stop()).await.block.as_deref(), Some("one\ntwo"));
}

#[tokio::test]
async fn only_hooks_that_match_run() {
    let hook = |event: &str, pattern: &str| UserHook::new(event, "echo ran >> ran").unwrap().matching(pattern).unwrap();
    for (hook, occasion, runs) in [
        (hook("PreToolUse", "bash|edit_*"), before(), 1),
        (hook("PreToolUse", "bash"), before(), 0),
        (hook("PostToolUse", "*"), before(), 0),
        (hook("SessionStart", "resume"), HookOccasion::SessionStart { is_resumed: false }, 0),
        (hook("SessionStart", "startup"), HookOccasion::SessionStart { is_resumed: false }, 1),
        (hook("PreCompact", "manual"), HookOccasion::PreCompact { is_requested: true, focus: None }, 1),
    ] {
        let place = Place::new().and(hook);
        assert_eq!(place.run(&occasion).await.runs.len(), runs, "{occasion:?}");
        assert_eq!(place.read("ran").lines().count(), runs, "{occasion:?}");
    }
    let place = Place::new().and(hook("Stop", "")).and(hook("PreToolUse", ""));
    assert_eq!(place.hooks().points(), [HookPoint::Stop, HookPoint::PreToolUse].into());
}

/// Whether a process with these words on its command line is there.
fn lives(words: &str) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.into_iter().any(|line| String::from_utf8_lossy(&line).replace('\0', " ").trim().starts_with(words))
}
