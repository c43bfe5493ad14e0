//! `agent job` as a process, against a scripted model on loopback.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use agent_testkit::Reply;
use agent_testkit::http::{ScriptedServer, Step};
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tokio::task::spawn_blocking;

#[path = "common/signals.rs"]
mod signals;

/// A home of its own, and a directory to work in.
struct Place {
    root: TempDir,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["work", "config", "state"] {
            std::fs::create_dir(root.path().join(folder)).unwrap();
        }
        Self { root }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn configure(&self, text: &str) {
        std::fs::write(self.path("config").join("config.toml"), text).unwrap();
    }

    fn command(&self, arguments: &[&str]) -> std::process::Command {
        signals::are_heard();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_agent"));
        for key in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL"] {
            command.env_remove(key);
        }
        command
            .args(arguments)
            .current_dir(self.path("work"))
            .env("AGENT_CONFIG_HOME", self.path("config"))
            .env("AGENT_STATE_HOME", self.path("state"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// `agent job run` against a model.
    fn job(&self, server: &ScriptedServer, more: &[&str]) -> std::process::Command {
        let mut command = self.command(&["job", "run", "--provider", "openai", "--sandbox", "off"]);
        command.args(["--base-url", &server.openai_url()]).args(more);
        command
    }

    /// What `agent job audit` prints.
    async fn audit(&self) -> Vec<Value> {
        let ended = end(self.command(&["job", "audit"])).await;
        assert_eq!(ended.status.code(), Some(0));
        text(&ended.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    async fn the_record(&self) -> Value {
        let mut records = self.audit().await;
        assert_eq!(records.len(), 1, "{records:?}");
        records.remove(0)
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

async fn end(mut command: std::process::Command) -> Output {
    let ended = spawn_blocking(move || command.output().unwrap());
    tokio::time::timeout(Duration::from_secs(60), ended).await.unwrap().unwrap()
}

fn done() -> Step {
    Step::answer(Reply::new().text("It is done."))
}

#[tokio::test]
async fn a_job_prints_its_answer_and_leaves_a_record() {
    let place = Place::new();
    let server = ScriptedServer::start([done()]).await.unwrap();
    let ended = end(place.job(&server, &["--model", "m", "fix", "the", "crash"])).await;
    assert_eq!((ended.status.code(), text(&ended.stdout)), (Some(0), "It is done.\n"), "{}", text(&ended.stderr));
    let record = place.the_record().await;
    assert_eq!((&record["status"], &record["description"]), (&"completed".into(), &"fix the crash".into()));
    assert_eq!((&record["agent"]["skill"], &record["llm_response"]), (&"debugging".into(), &"It is done.".into()));
    let id = record["job_id"].as_str().unwrap();
    let shown = end(place.command(&["job", "show", id])).await;
    assert_eq!(serde_json::from_slice::<Value>(&shown.stdout).unwrap(), record);
    assert_eq!(end(place.command(&["job", "show", "other"])).await.status.code(), Some(42));
    assert_eq!(server.violations(), Vec::<String>::new());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let file = std::fs::read_dir(place.path("state").join("audit")).unwrap().next().unwrap().unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[tokio::test]
async fn the_tier_chooses_the_model_unless_a_flag_does() {
    let place = Place::new();
    place.configure(
        "[jobs.tiers]\nhaiku = \"small\"\nopus = \"big\"\n[models.small]\ninput_usd = \"1\"\noutput_usd = \"2\"",
    );
    for (description, flags, model) in [
        ("correct the typo", &[] as &[&str], "small"),
        ("redesign the cache", &[], "big"),
        ("redesign the cache", &["--model", "mine"], "mine"),
    ] {
        let server = ScriptedServer::start([done()]).await.unwrap();
        let mut command = place.job(&server, flags);
        command.args(["--output-format", "json", description]);
        let ended = end(command).await;
        let result: Value = serde_json::from_slice(&ended.stdout).unwrap();
        assert_eq!((ended.status.code(), &result["subtype"]), (Some(0), &"success".into()));
        assert_eq!(server.requests()[0].body["model"], model);
        let record = place.audit().await.pop().unwrap();
        assert_eq!((&record["agent"]["model"], &record["cost_usd"]), (&model.into(), &result["total_cost_usd"]));
        assert_eq!(record["cost_usd"] == 0.0, model != "small", "a server on this machine costs what is configured");
    }
}

#[tokio::test]
async fn failed_attempts_are_repeated() {
    let place = Place::new();
    let server = ScriptedServer::start([Step::status(503), Step::status(500), done()]).await.unwrap();
    let ended = end(place.job(&server, &["--model", "m", "--job-base-delay", "10ms", "fix it"])).await;
    assert_eq!((ended.status.code(), text(&ended.stdout)), (Some(0), "It is done.\n"), "{}", text(&ended.stderr));
    let record = place.the_record().await;
    assert_eq!((&record["status"], &record["retry_count"]), (&"completed".into(), &2.into()));
    assert_eq!(record["session_ids"].as_array().unwrap().len(), 3);
    assert!(record["duration_ms"].as_u64().unwrap() >= 30);
}

#[tokio::test]
async fn exhausted_retries_fail_with_the_exit_code_of_the_run() {
    let place = Place::new();
    place.configure("[jobs]\nmax_retries = 1\nbase_delay = \"5ms\"");
    let server = ScriptedServer::start([Step::status(503), Step::status(503)]).await.unwrap();
    let ended = end(place.job(&server, &["--model", "m", "--output-format", "json", "fix it"])).await;
    let result: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!((ended.status.code(), &result["exit_code"]), (Some(62), &62.into()));
    let record = place.the_record().await;
    assert_eq!((&record["status"], &record["failure"]["kind"]), (&"failed".into(), &"system".into()));
    assert_eq!((&record["retry_count"], &record["max_retries"], server.requests().len()), (&1.into(), &1.into(), 2));
}

/// The same kind as of a key that is refused.
#[tokio::test]
async fn a_key_that_is_missing_is_no_fault_of_the_work() {
    let place = Place::new();
    let ended = end(place.command(&["job", "run", "--provider", "anthropic", "--model", "m", "fix it"])).await;
    assert_eq!(ended.status.code(), Some(41), "{}", text(&ended.stderr));
    let record = place.the_record().await;
    assert_eq!((&record["failure"]["kind"], &record["retry_count"]), (&"system".into(), &0.into()));
}

#[tokio::test]
async fn what_does_not_validate_leaves_a_record_too() {
    let server = ScriptedServer::start([]).await.unwrap();
    for (config, arguments, code) in [
        ("", &["--model", "m", " "] as &[&str], 42),
        ("", &["--model", "m", "--job-max-retries", "101", "fix it"], 42),
        ("sandbox = \"sometimes\"", &["--model", "m", "fix it"], 52),
        ("", &["--model", "m", "-C", "nowhere", "fix it"], 42),
        ("nonsense = 1", &["--model", "m", "fix it"], 52),
        ("[jobs]\nbase_delay = \"soon\"", &["--model", "m", "fix it"], 52),
    ] {
        let place = Place::new();
        place.configure(config);
        let mut command = place.command(&["job", "run", "--provider", "openai", "--base-url", &server.openai_url()]);
        command.args(arguments);
        let ended = end(command).await;
        assert_eq!(ended.status.code(), Some(code), "{arguments:?}: {}", text(&ended.stderr));
        let record = place.the_record().await;
        assert_eq!((&record["status"], &record["state_transitions"]), (&"failed".into(), &vec!["Init"].into()));
        assert!(record["agent"].is_null() && record["failure"]["message"].is_string());
    }
    let place = Place::new();
    let ended = end(place.command(&["job", "run", "--provider", "anthropic", "fix it"])).await;
    assert_eq!((ended.status.code(), &place.the_record().await["status"]), (Some(41), &"failed".into()));
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn a_key_in_the_description_is_not_kept() {
    let server = ScriptedServer::start([done()]).await.unwrap();
    // The one is done, the other does not validate.
    for (nonsense, code) in [("", 0), ("nonsense = 1", 52)] {
        let place = Place::new();
        place.configure(nonsense);
        let mut command = place.job(&server, &["--model", "m", "use the key sk-live-0123456789"]);
        command.env("OPENAI_API_KEY", "sk-live-0123456789");
        assert_eq!(end(command).await.status.code(), Some(code));
        let record = place.the_record().await;
        assert_eq!(record["description"], "use the key [redacted]");
        let shown = end(place.command(&["job", "show", record["job_id"].as_str().unwrap()])).await;
        assert!(text(&shown.stdout).contains("[redacted]") && !text(&shown.stdout).contains("sk-live"));
    }
}

/// An attempt whose commands fail has failed, and the next one may succeed.
#[tokio::test]
async fn an_attempt_is_checked() {
    let place = Place::new();
    let answers = std::iter::repeat_with(done).take(8);
    let server = ScriptedServer::start(answers).await.unwrap();
    // The first attempt is told three times what is missing; the second finds it done.
    let check = "echo x >> looks; [ $(wc -l < looks) -ge 5 ]";
    let wanted = ["--model", "m", "--job-base-delay", "1ms", "--verify", check, "fix", "it"];
    let ended = end(place.job(&server, &wanted)).await;
    assert_eq!((ended.status.code(), text(&ended.stdout)), (Some(0), "It is done.\n"), "{}", text(&ended.stderr));
    assert_eq!(std::fs::read_to_string(place.path("work").join("looks")).unwrap(), "x\n".repeat(5));
    assert_eq!(place.the_record().await["retry_count"], 1);
    // One that never succeeds says so.
    let server = ScriptedServer::start(std::iter::repeat_with(done).take(8)).await.unwrap();
    let wanted = ["--model", "m", "--job-max-retries", "0", "--verify", "false", "fix", "it"];
    let ended = end(place.job(&server, &wanted)).await;
    assert_eq!(ended.status.code(), Some(63), "{}", text(&ended.stderr));
    assert!(text(&ended.stderr).contains("1 of 1 commitments not kept"), "{}", text(&ended.stderr));
}

#[tokio::test]
async fn wrong_usage_is_no_job() {
    let place = Place::new();
    for arguments in [
        &[] as &[&str],
        &["--continue", "x"],
        &["--fork-session", "x"],
        &["--output-format", "stream-json", "x"],
        &["--include-partial-messages", "x"],
        &["--verify", " ", "x"],
        &["--verify-timeout", "soon", "x"],
    ] {
        let mut command = place.command(&["job", "run"]);
        command.args(arguments);
        assert_eq!(end(command).await.status.code(), Some(2));
    }
    assert_eq!(place.audit().await.len(), 0);
}

#[tokio::test]
async fn a_record_that_cannot_be_kept_is_a_failure() {
    let place = Place::new();
    std::fs::write(place.path("state").join("audit"), "in the way").unwrap();
    let server = ScriptedServer::start([done()]).await.unwrap();
    let ended = end(place.job(&server, &["--model", "m", "fix it"])).await;
    assert_eq!((ended.status.code(), text(&ended.stdout)), (Some(1), "It is done.\n"));
    assert!(text(&ended.stderr).contains("keep the record of the job"));
}

#[tokio::test]
async fn what_the_work_failed_for_is_said_beside_the_record_that_is_lost() {
    let place = Place::new();
    std::fs::write(place.path("state").join("audit"), "in the way").unwrap();
    let server = ScriptedServer::start([Step::status(401)]).await.unwrap();
    let ended = end(place.job(&server, &["--model", "m", "--output-format", "json", "fix it"])).await;
    let result: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!((ended.status.code(), &result["exit_code"]), (Some(1), &1.into()));
    let (work, record) = result["error"].as_str().unwrap().split_once("; cannot keep the record of the job: ").unwrap();
    assert!(work.contains("401") && record.contains("audit"), "{result}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_signal_does_not_hide_that_the_record_is_lost() {
    for (signal, code, said) in [("-TERM", 143, "terminated; cannot keep"), ("-INT", 130, "interrupted; cannot keep")] {
        let place = Place::new();
        std::fs::write(place.path("state").join("audit"), "in the way").unwrap();
        let ended = signalled_in(&place, &[signal], Step::hang(), &["fix it"]).await;
        assert_eq!(ended.status.code(), Some(code), "{}", text(&ended.stderr));
        assert!(text(&ended.stderr).contains(said), "{}", text(&ended.stderr));
    }
}

#[cfg(unix)]
async fn signalled(signals: &[&str], step: Step, more: &[&str]) -> (Output, Value) {
    let place = Place::new();
    let ended = signalled_in(&place, signals, step, more).await;
    (ended, place.the_record().await)
}

#[cfg(unix)]
async fn signalled_in(place: &Place, signals: &[&str], step: Step, more: &[&str]) -> Output {
    let server = ScriptedServer::start([step]).await.unwrap();
    let mut command = place.job(&server, &["--model", "m"]);
    let child = command.args(more).spawn().unwrap();
    server.wait_for_requests(1).await;
    for signal in signals {
        tokio::time::sleep(Duration::from_millis(300)).await;
        let id = child.id().to_string();
        assert!(std::process::Command::new("kill").args([*signal, id.as_str()]).status().unwrap().success());
    }
    let ended = spawn_blocking(|| child.wait_with_output().unwrap());
    tokio::time::timeout(Duration::from_secs(60), ended).await.unwrap().unwrap()
}

#[cfg(unix)]
#[tokio::test]
async fn an_interrupt_leaves_a_record() {
    let (ended, record) = signalled(&["-INT"], Step::hang(), &["fix it"]).await;
    assert_eq!(ended.status.code(), Some(130), "{}", text(&ended.stderr));
    assert_eq!((&record["status"], &record["failure"]), (&"cancelled".into(), &Value::Null));
}

#[cfg(unix)]
#[tokio::test]
async fn so_do_an_interrupt_of_the_wait_and_a_termination() {
    let (ended, record) = signalled(&["-INT"], Step::status(503), &["--job-base-delay", "1h", "fix it"]).await;
    assert_eq!((ended.status.code(), &record["status"]), (Some(130), &"cancelled".into()));
    assert_eq!(record["state_transitions"].as_array().unwrap().last().unwrap(), "RetryWait");
    let (ended, record) = signalled(&["-TERM"], Step::hang(), &["fix it"]).await;
    assert_eq!((ended.status.code(), &record["status"]), (Some(143), &"cancelled".into()));
}
