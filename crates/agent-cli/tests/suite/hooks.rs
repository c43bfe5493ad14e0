//! The user's hooks, through the program: they run where the user said so, and what a repository says runs only where it is trusted.

use crate::support::{Model, Scratch};
use agent_testkit::http::Step;
use serde_json::{Value, json};
use std::fs;

/// The user's configuration with a hook for each of these events: (event, command). They run as the user does, whatever their commands are.
pub(crate) fn configured(scratch: &Scratch, hooks: &[(&str, &str)]) {
    let one = |hook: &(&str, &str)| toml(&[*hook]) + "sandbox = false\n";
    scratch.configure(&hooks.iter().map(one).collect::<String>());
}

pub(crate) fn toml(hooks: &[(&str, &str)]) -> String {
    let one = |(event, command): &(&str, &str)| format!("[[hooks]]\nevent = \"{event}\"\ncommand = '''{command}'''\n");
    hooks.iter().map(one).collect()
}

/// Writes a file, then says that it is done.
pub(crate) fn writes() -> Model {
    Model::script([Step::call("write_file", json!({"path": "new.txt", "content": "new\n"})), Step::text("Done.")])
}

pub(crate) const EDITS: &[&str] = &["-p", "do it", "--permission-mode", "accept-edits"];

pub(crate) const EVENTS: [&str; 6] =
    ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"];

#[test]
fn every_event_runs_its_hook_in_order_with_and_without_a_commitment() {
    for more in [&[][..], &["--verify", "true"]] {
        let scratch = Scratch::repository();
        let note = format!("cat >> '{}'", scratch.path("told").display());
        configured(&scratch, &EVENTS.map(|event| (event, note.as_str())));
        let ended = scratch.run(&writes(), &[EDITS, &["--output-format", "stream-json"], more].concat());
        let lines = ended.assert_code(0).lines();
        let told = fs::read_to_string(scratch.path("told")).unwrap();
        let told: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let names: Vec<&str> = told.iter().map(|told| told["hook_event_name"].as_str().unwrap()).collect();
        assert_eq!(names, EVENTS);
        let id = lines.last().unwrap()["session_id"].clone();
        assert!(told.iter().all(|told| told["session_id"] == id), "{told:?}");
        assert_eq!((&told[1]["prompt"], &told[2]["tool_name"]), (&json!("do it"), &json!("write_file")));
        assert_eq!(told[2]["tool_input"], json!({"path": "new.txt", "content": "new\n"}));
        assert_eq!(told[3]["tool_response"]["status"], "ok");
        // Each is a line of its own, with its time, before the result.
        let shown: Vec<&Value> = lines.iter().filter(|line| line["type"] == "hook").collect();
        assert_eq!(shown.iter().map(|line| line["hook_event_name"].as_str().unwrap()).collect::<Vec<_>>(), EVENTS);
        assert!(shown.iter().all(|line| line["outcome"] == "passed" && line["duration_ms"].is_u64()), "{shown:?}");
        assert_eq!(lines.last().unwrap()["type"], "result");
    }
}

#[test]
fn a_session_that_is_resumed_starts_again_whatever_it_was_left_with() {
    let scratch = Scratch::repository();
    let note = format!("cat >> '{}'", scratch.path("told").display());
    configured(&scratch, &[("SessionStart", &note)]);
    let model = Model::script([Step::text("One."), Step::text("Two.")]);
    for more in [&["-p", "first"][..], &["-p", "second", "--continue"]] {
        scratch.run(&model, more).assert_code(0);
    }
    let told = fs::read_to_string(scratch.path("told")).unwrap();
    let told: Vec<Value> = told.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let sources: Vec<&str> = told.iter().map(|told| told["source"].as_str().unwrap()).collect();
    assert_eq!(sources, ["startup", "resume"]);
}

/// However a run ends, the hooks at the session's end run to their end.
#[test]
fn the_end_of_a_session_is_told_whatever_it_came_to() {
    let outcomes: [(u8, &[&str]); 3] = [(0, &[]), (53, &["--max-turns", "1"]), (63, &["--verify", "false"])];
    for (code, more) in outcomes {
        let scratch = Scratch::repository();
        let note = format!("sleep 0.2; cat > '{}'", scratch.path("ended").display());
        configured(&scratch, &[("SessionEnd", &note)]);
        let claims = || Step::text("Done.");
        let calls = Step::call("write_file", json!({"path": "new.txt", "content": "new\n"}));
        let model = Model::script([calls, claims(), claims(), claims(), claims()]);
        scratch.run(&model, &[EDITS, more].concat()).assert_code(i32::from(code));
        let told = fs::read_to_string(scratch.path("ended")).unwrap_or_else(|_| panic!("nothing was told at {code}"));
        assert!(told.contains("SessionEnd"), "{told}");
    }
}

#[test]
fn a_job_runs_the_hooks_too() {
    let scratch = Scratch::repository();
    let note = format!("cat >> '{}'", scratch.path("told").display());
    configured(&scratch, &[("UserPromptSubmit", &note), ("Stop", &note)]);
    let model = Model::script([Step::text("Done.")]);
    let mut command = scratch.agent(&["job", "run"]);
    command.args(model.flags(crate::support::Wire::Anthropic)).arg("do it");
    crate::support::Running::start(&mut command).end().assert_code(0);
    let told = fs::read_to_string(scratch.path("told")).unwrap();
    assert!(told.contains("UserPromptSubmit") && told.contains("\"Stop\""), "{told}");
}

#[test]
fn a_hook_denies_a_call_in_every_mode_and_the_model_reads_why() {
    let scratch = Scratch::repository();
    configured(&scratch, &[("PreToolUse", "echo 'new files need a ticket' >&2; exit 2")]);
    let model = writes();
    let ended = scratch.run(&model, &["-p", "do it", "--permission-mode", "bypass"]);
    ended.assert_code(0).assert_says("new files need a ticket");
    assert!(!scratch.work("new.txt").exists());
    assert!(model.last_body().to_string().contains("a hook denied it: new files need a ticket"));
    // The control: without the hook the file is written.
    configured(&scratch, &[]);
    scratch.run(&writes(), &["-p", "do it", "--permission-mode", "bypass"]).assert_code(0);
    assert!(scratch.work("new.txt").exists());
}

#[test]
fn a_hook_answers_for_the_user_but_not_against_a_rule() {
    let scratch = Scratch::repository();
    let allow = r#"echo '{"hookSpecificOutput":{"permissionDecision":"allow","permissionDecisionReason":"mine"}}'"#;
    configured(&scratch, &[("PreToolUse", allow)]);
    scratch.run(&writes(), &["-p", "do it", "--deny", "write_file(new.txt)"]).assert_code(0);
    assert!(!scratch.work("new.txt").exists(), "the rule holds");
    scratch.run(&writes(), &["-p", "do it", "--permission-mode", "plan"]).assert_code(0);
    assert!(!scratch.work("new.txt").exists(), "the mode holds");
    scratch.run(&writes(), &["-p", "do it"]).assert_code(0);
    assert!(scratch.work("new.txt").exists(), "nobody had to be asked");
}

#[test]
fn a_message_that_a_hook_blocks_is_not_sent() {
    let scratch = Scratch::repository();
    configured(&scratch, &[("UserPromptSubmit", "echo 'no work on Sundays' >&2; exit 2")]);
    let model = Model::script([Step::text("Done.")]);
    scratch.run(&model, &["-p", "do it"]).assert_code(1).assert_says("no work on Sundays");
    assert_eq!(model.requests().len(), 0);
}

#[test]
fn a_turn_goes_on_while_a_hook_says_what_is_missing() {
    let scratch = Scratch::repository();
    configured(&scratch, &[("Stop", "test -e stopped || { touch stopped; echo 'run the tests' >&2; exit 2; }")]);
    let model = Model::script([Step::text("Done."), Step::text("Tested.")]);
    let ended = scratch.run(&model, &["-p", "do it"]);
    assert_eq!(ended.assert_code(0).out.trim(), "Tested.");
    assert!(model.last_body().to_string().contains("run the tests"));
}

#[test]
fn a_hook_that_is_broken_warns_or_blocks_as_configured() {
    let scratch = Scratch::repository();
    let broken = "[[hooks]]\nevent = \"PreToolUse\"\nmatcher = \"write_file\"\ncommand = \"/nowhere/guard\"\n";
    scratch.configure(broken);
    scratch.run(&writes(), EDITS).assert_code(0).assert_says("hook PreToolUse `/nowhere/guard`");
    assert!(scratch.work("new.txt").exists());
    fs::remove_file(scratch.work("new.txt")).unwrap();
    scratch.configure(&format!("{broken}on_failure = \"block\"\n"));
    scratch.run(&writes(), EDITS).assert_code(0).assert_says("it ended with code 127");
    assert!(!scratch.work("new.txt").exists());
}

#[test]
fn a_hook_is_told_no_secret() {
    let scratch = Scratch::repository();
    configured(&scratch, &[("UserPromptSubmit", "env > variables")]);
    let model = Model::script([Step::text("Done.")]);
    let mut command = scratch.run_command(&model, &["-p", "do it"]);
    command.env("ANTHROPIC_API_KEY", "sk-secret-of-the-user").env("GITHUB_TOKEN", "ghp-secret-of-the-user");
    crate::support::Running::start(&mut command).end().assert_code(0);
    let variables = scratch.read("variables");
    assert!(variables.contains("AGENT_PROJECT_DIR=") && !variables.contains("secret-of-the-user"), "{variables}");
}

/// A guard that nobody can read is not left out where it was to guard.
#[test]
fn an_entry_that_cannot_be_used_stops_a_trusted_workspace_and_is_told_elsewhere() {
    let good = "[[hooks]]\nevent = \"Stop\"\ncommand = \"touch ran\"\n";
    for (wrong, says) in [
        ("[[hooks]]\nevent = \"PreToolUse\"\n", "line 4: missing field `command`"),
        ("[[hooks]]\nevent = \"Notification\"\ncommand = \"true\"\n", "line 4: there is no event `Notification`"),
        ("[[hooks]]\nevent = \"Stop\"\ncommand = \"true\"\ntimeout = 3\n", "line 7: unknown field `timeout`"),
        ("[[formatters]]\nextensions = 3\nprogram = \"x\"\n", "line 5: invalid type"),
    ] {
        let scratch = Scratch::repository();
        scratch.write(".agent/config.toml", good);
        scratch.ended(&["trust", "--yes"]).assert_code(0);
        scratch.run(&Model::script([Step::text("Done.")]), &["-p", "x"]).assert_code(0);
        assert!(scratch.work("ran").exists(), "the control");
        fs::remove_file(scratch.work("ran")).unwrap();
        scratch.write(".agent/config.toml", &format!("{good}{wrong}"));
        let ended = scratch.run(&Model::script([]), &["-p", "x"]);
        ended.assert_code(52).assert_says(".agent/config.toml").assert_says(says);
        scratch.ended(&["trust", "--show"]).assert_code(52).assert_says(says);
        scratch.ended(&["trust", "--revoke"]).assert_code(0);
        let ended = scratch.run(&Model::script([Step::text("Done.")]), &["-p", "x"]);
        ended.assert_code(0).assert_says("ignored:").assert_says(says);
        assert!(!scratch.work("ran").exists(), "{wrong}");
    }
}

#[test]
fn what_cannot_be_used_is_an_error_that_says_what_can() {
    let scratch = Scratch::repository();
    let hook = |rest: &str| format!("[[hooks]]\ncommand = \"true\"\n{rest}\n");
    for (wrong, says) in [
        ("event = \"Notification\"", "there is no event `Notification`; the events are PreToolUse"),
        ("event = \"Stop\"\nmatcher = \"bash\"", "a hook at Stop takes no matcher"),
        ("event = \"PreToolUse\"\nmatcher = \"mcp__.+\"", "the matcher of the hook at PreToolUse"),
        ("event = \"SessionEnd\"\non_failure = \"block\"", "has nothing to block"),
        ("event = \"Stop\"\ntimeout_ms = 0", "must be 1 to 3600000 ms"),
        ("event = \"Stop\"\ntimeout = 5", "unknown field `timeout`"),
        ("", "missing field `event`"),
    ] {
        scratch.configure(&hook(wrong));
        scratch.run(&Model::script([]), &["-p", "x"]).assert_code(52).assert_says(says);
    }
    scratch.configure(&hook("event = \"PreToolUse\"\nmatcher = \"Bash\""));
    scratch
        .run(&Model::script([Step::text("Done.")]), &["-p", "x"])
        .assert_code(0)
        .assert_says("names `Bash`, which is not a tool");
}
