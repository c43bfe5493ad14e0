//! What runs without a question because it only reads, and calls that ask to have the sandbox opened, as users meet them.

use crate::support::{Ended, Model, Running, Scratch, Wire, has_any_sandbox, has_bubblewrap};
use agent_testkit::http::Step;
use serde_json::{Value, json};
use std::fs;
use std::net::TcpListener;

/// A repository outside of `/tmp`, which commands in a sandbox do not share.
fn repository() -> Scratch {
    Scratch::repository_in("/var/tmp")
}

fn bash(command: &str) -> Step {
    Step::call("bash", json!({ "command": command }))
}

fn opening(command: &str, doors: &Value) -> Step {
    let mut sandbox = doors.clone();
    sandbox["reason"] = json!("the task needs it");
    Step::call("bash", json!({ "command": command, "sandbox": sandbox }))
}

/// A run without a person, and what the model was told in the end.
fn run(scratch: &Scratch, step: Step, arguments: &[&str]) -> (Ended, String) {
    let model = Model::script([step, Step::text("Done.")]);
    let ended = scratch.run(&model, &[&["-p", "x"], arguments].concat());
    (ended, model.last_body()["messages"].to_string())
}

fn connect() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo connected"))
}

#[test]
fn commands_that_only_read_run_unasked_in_plan_mode_too() {
    if !has_any_sandbox() {
        return;
    }
    let scratch = repository();
    scratch.write("long.txt", "first words\nsecond\n");
    for mode in ["default", "plan"] {
        for (command, shows) in [
            ("cat long.txt | head -1", "first words"),
            ("git status --short", "long.txt"),
            ("git log --oneline | wc -l", "1"),
            ("find . -name 'long*'", "./long.txt"),
        ] {
            let (ended, told) = run(&scratch, bash(command), &["--permission-mode", mode]);
            ended.assert_code(0);
            assert!(told.contains(shows), "{mode}: {command}: {told}");
        }
        let (ended, told) = run(&scratch, bash("touch new.txt"), &["--permission-mode", mode]);
        let code = if mode == "plan" { 0 } else { 61 };
        assert!(told.contains("not run: denied"), "{told}");
        ended.assert_code(code);
    }
    assert!(!scratch.work("new.txt").exists());
}

#[test]
fn without_an_enforced_sandbox_they_are_asked_about() {
    let scratch = repository();
    let (ended, told) = run(&scratch, bash("cat a.txt"), &["--sandbox", "off"]);
    ended.assert_code(61);
    assert!(told.contains("no one could be asked"), "{told}");
    let (_, told) = run(&scratch, bash("cat a.txt"), &["--sandbox", "off", "--permission-mode", "plan"]);
    assert!(told.contains("plan mode"), "{told}");
}

#[test]
fn a_deny_rule_about_files_has_them_asked_about_wherever_it_comes_from() {
    if !has_any_sandbox() {
        return;
    }
    let scratch = repository();
    scratch.write("secrets/key", "the key\n");
    let denied = |scratch: &Scratch, arguments: &[&str]| {
        let (ended, told) = run(scratch, bash("cat secrets/key"), arguments);
        ended.assert_code(61);
        assert!(!told.contains("the key"), "{told}");
    };
    denied(&scratch, &["--deny", "read(secrets/**)"]);
    denied(&scratch, &["--deny", "grep"]);
    let (_, told) = run(&scratch, bash("cat secrets/key"), &["--deny", "bash(cat:*)"]);
    assert!(told.contains("denies it"), "{told}");
    let (ended, told) = run(&scratch, bash("cat secrets/key"), &["--deny", "edit(secrets/**)"]);
    ended.assert_code(0);
    assert!(told.contains("the key"), "control: {told}");
    scratch.write(".agent/config.toml", "deny = [\"read(secrets/**)\"]\n");
    denied(&scratch, &[]);
}

#[test]
fn no_mode_and_no_ordinary_rule_opens_the_sandbox() {
    if !has_any_sandbox() {
        return;
    }
    let scratch = repository();
    let (listener, connect) = connect();
    for arguments in [
        &[][..],
        &["--permission-mode", "accept-edits"],
        &["--permission-mode", "bypass"],
        &["--allow", "bash"],
        &["--allow", "bash+git"],
        &["--allow", "bash+outside"],
    ] {
        let (ended, told) = run(&scratch, opening(&connect, &json!({"network": true})), arguments);
        ended.assert_code(61);
        assert!(told.contains("no one could be asked"), "{arguments:?}: {told}");
    }
    let (ended, told) = run(
        &scratch,
        opening(&connect, &json!({"network": true})),
        &["--permission-mode", "plan", "--allow", "bash+network"],
    );
    assert!(told.contains("plan mode"), "{told}");
    ended.assert_code(0);
    // A repository cannot open it, the user can.
    scratch.write(".agent/config.toml", "allow = [\"bash+network\", \"bash+outside\"]\n");
    run(&scratch, opening(&connect, &json!({"network": true})), &[]).0.assert_code(61);
    let (ended, told) = run(&scratch, opening(&connect, &json!({"network": true})), &["--allow", "bash+network"]);
    ended.assert_code(0);
    assert!(told.contains("connected"), "{told}");
    scratch.configure("allow = [\"bash+network\"]\n");
    run(&scratch, opening(&connect, &json!({"network": true})), &[]).0.assert_code(0);
    let (ended, told) = run(&scratch, bash(&connect), &["--permission-mode", "bypass"]);
    ended.assert_code(0);
    assert!(!told.contains("\"connected"), "the next call is as closed as before: {told}");
    run(&scratch, opening(&connect, &json!({"network": true})), &["--deny", "bash+network"]).0.assert_code(0);
    drop(listener);
}

#[test]
fn what_was_opened_is_in_the_journal_and_in_every_report() {
    if !has_any_sandbox() {
        return;
    }
    let scratch = repository();
    let step = opening("true", &json!({"network": true}));
    let arguments = ["--allow", "bash+network(true)", "--output-format", "stream-json"];
    let (ended, _) = run(&scratch, step, &arguments);
    let lines = ended.assert_code(0).lines();
    let permission = lines.iter().find(|line| line["type"] == "permission").unwrap();
    assert_eq!(permission["reason"], "allowed by the rule `bash+network(true)` of the command line");
    let called = lines.iter().find(|line| line["type"] == "assistant").unwrap().to_string();
    assert!(called.contains("the task needs it"), "{called}");
    let journal = fs::read_to_string(&scratch.journals()[0]).unwrap();
    assert!(journal.contains(r#""walls":{"Opened":{"doors":["Network"],"reason":"the task needs it"}}"#), "{journal}");
    let id = lines.iter().find_map(|line| line["session_id"].as_str()).unwrap();
    for command in [&["sessions", "show", id][..], &["sessions", "export", id]] {
        let shown = scratch.ended(command);
        let text = format!("{}{}", shown.out, shown.err);
        assert!(
            text.contains("opens the sandbox: network") || text.contains("the task needs it"),
            "{command:?}: {text}"
        );
    }
    let denied = run(&scratch, opening("true", &json!({"outside": true})), &["--output-format", "stream-json"]).0;
    let lines = denied.assert_code(61).lines();
    let asked = lines.iter().find(|line| line["type"] == "permission" && line["decision"] == "ask").unwrap();
    let reason = asked["reason"].as_str().unwrap();
    assert!(reason.contains("OUTSIDE the sandbox") && reason.contains("the task needs it"), "{reason}");
    assert_eq!(denied.result()["permission_denials"].as_array().unwrap().len(), 1);
}

#[test]
fn a_hook_sees_what_is_asked_for_and_cannot_open_it() {
    if !has_any_sandbox() {
        return;
    }
    let scratch = repository();
    let seen = scratch.path("seen.json");
    let hook = |decision: &str| {
        let said = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision}});
        let command = format!("cat > {}; echo '{said}'", seen.display());
        scratch.configure(&format!("[[hooks]]\nevent = \"PreToolUse\"\ncommand = {}\n", json!(command)));
    };
    hook("allow");
    let (ended, _) = run(&scratch, opening("true", &json!({"network": true})), &[]);
    ended.assert_code(61);
    let input = fs::read_to_string(&seen).unwrap();
    assert!(input.contains(r#""network":true"#) && input.contains("the task needs it"), "{input}");
    run(&scratch, bash("touch x"), &[]).0.assert_code(0);
    hook("deny");
    let (_, told) = run(&scratch, opening("true", &json!({"network": true})), &["--allow", "bash+network"]);
    assert!(told.contains("a hook denied it"), "{told}");
}

#[test]
fn a_question_shows_what_is_opened_and_why_and_yes_holds_for_this_call() {
    if !has_any_sandbox() {
        return;
    }
    let scratch = repository();
    let (listener, connect) = connect();
    let model = Model::script([
        opening(&connect, &json!({"network": true})),
        opening("touch ../marked", &json!({"outside": true})),
        Step::text("So be it."),
    ]);
    let mut running = Running::start(scratch.agent(&[]).args(model.flags(Wire::Anthropic)));
    running.write("go\n");
    // A row has as many columns as the terminal.
    running.wait_for("the sandbox: network]");
    running.wait_for("sandbox.reason: the task needs it");
    running.wait_for("asked because it asks to use the network, and what listens on this machine");
    running.wait_for("? more");
    running.write("?\n");
    running.wait_for("RULE");
    running.write("a\n");
    running.wait_for("this call opens the sandbox");
    running.write("y\n");
    running.wait_for("asked because it asks to run OUTSIDE the sandbox");
    running.write("n\n");
    running.wait_for("So be it.");
    running.close_stdin();
    let ended = running.end();
    assert_eq!(ended.assert_code(0).err.matches("allow this call?").count(), 2, "{ended:#?}");
    assert!(ended.err.contains("  connected\n") && !scratch.path("marked").exists(), "{ended:#?}");
    drop(listener);
}

/// The question is asked again by the next program, about the same doors.
#[test]
fn a_question_about_open_doors_outlives_the_program() {
    if !has_any_sandbox() {
        return;
    }
    let scratch = repository();
    let (listener, connect) = connect();
    let model = Model::script([opening(&connect, &json!({"network": true})), Step::text("So be it.")]);
    let mut running = Running::start(scratch.agent(&[]).args(model.flags(Wire::Anthropic)));
    running.write("go\n");
    running.wait_for("asked because");
    running.signal("KILL");
    running.end();
    let mut running = Running::start(scratch.agent(&["--continue"]).args(model.flags(Wire::Anthropic)));
    running.wait_for("asked because it asks to use the network");
    running.write("y\n");
    running.wait_for("So be it.");
    running.close_stdin();
    running.end().assert_code(0);
    assert!(model.last_body()["messages"].to_string().contains("connected"));
    drop(listener);
}

#[test]
fn git_commits_in_the_sandbox_where_a_rule_or_a_person_allows_it() {
    if !has_bubblewrap() {
        return;
    }
    let scratch = repository();
    let hook = scratch.work(".git/hooks/pre-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\ntouch mark\n").unwrap();
    std::process::Command::new("chmod").arg("+x").arg(&hook).status().unwrap();
    scratch.git(&["config", "user.name", "somebody"]);
    scratch.git(&["config", "user.email", "a@b"]);
    scratch.write("a.txt", "changed\n");
    let commit = "git add a.txt && git commit -m 'by the agent'";
    let (_, told) = run(&scratch, bash(commit), &["--permission-mode", "bypass"]);
    assert!(told.contains("the sandbox is a likely reason") && told.contains("git"), "{told}");
    let rules = ["--allow", "bash+git(git add:*)", "--allow", "bash+git(git commit:*)"];
    let (ended, told) = run(&scratch, opening(commit, &json!({"git": true})), &rules);
    ended.assert_code(0);
    assert!(!told.contains("likely reason"), "{told}");
    assert_eq!(scratch.git(&["log", "-1", "--format=%s"]).trim(), "by the agent");
    assert!(!scratch.work("mark").exists(), "the hook did not run");
    // What could plant something beside git does not get the door.
    let (ended, told) =
        run(&scratch, opening("make && git commit -m x", &json!({"git": true})), &["--permission-mode", "bypass"]);
    ended.assert_code(0);
    assert!(told.contains("for git alone"), "{told}");
}

/// Another repository on this machine has hooks of its own, which a command may have written, and they would run with the doors open.
#[test]
fn git_with_open_doors_reaches_no_other_repository_on_this_machine() {
    if !has_bubblewrap() {
        return;
    }
    let scratch = repository();
    let far = scratch.path("far");
    scratch.git(&["init", "--quiet", "--bare", far.to_str().unwrap()]);
    let (hook, mark) = (far.join("hooks/pre-receive"), far.join("mark"));
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, format!("#!/bin/sh\ntouch {}\n", mark.display())).unwrap();
    std::process::Command::new("chmod").arg("+x").arg(&hook).status().unwrap();
    for (door, url) in [("git", far.display().to_string()), ("network", format!("file://{}", far.display()))] {
        let push = format!("git push {url} HEAD:refs/heads/{door}");
        let rule = format!("bash+{door}(git push:*)");
        let (_, told) = run(&scratch, opening(&push, &json!({door: true})), &["--allow", &rule]);
        assert!(told.contains("transport 'file' not allowed"), "{door}: {told}");
        assert!(!mark.exists(), "{door}");
    }
    scratch.git(&["push", "--quiet", far.to_str().unwrap(), "HEAD:refs/heads/control"]);
    assert!(mark.exists(), "the control");
}

#[test]
fn rules_about_doors_that_mean_nothing_are_errors() {
    let scratch = repository();
    for (flag, rule, says) in [
        ("--allow", "edit+network", "only `bash` does"),
        ("--deny", "read+network(a)", "only `bash` does"),
        ("--allow", "bash+write", "sandbox_writable"),
        ("--allow", "bash+net", "expected `tool`"),
        ("--allow", "bash+", "expected `tool`"),
    ] {
        let model = Model::script([Step::text("Done.")]);
        let ended = scratch.run(&model, &["-p", "x", flag, rule]);
        assert!(ended.code() != 0 && ended.err.contains(says), "{rule}: {ended:#?}");
    }
}

#[test]
fn the_prompt_says_what_commands_may_do_and_stays_the_same() {
    if !has_any_sandbox() {
        return;
    }
    let scratch = repository();
    let system = |arguments: &[&str]| {
        let model = Model::script([Step::text("Done.")]);
        scratch.run(&model, &[&["-p", "x"], arguments].concat()).assert_code(0);
        model.last_body()["system"].to_string()
    };
    let first = system(&[]);
    assert!(first.contains("Commands run in a sandbox") && first.contains("have no network"), "{first}");
    assert!(first.contains("No one can be asked in this run, so such calls are denied"), "{first}");
    let ruled = system(&["--allow", "bash+git(git commit:*)"]);
    assert!(ruled.contains("`bash+git(git commit:*)`"), "{ruled}");
    assert!(first.contains("- Date: 20") && first.contains("- Git branch: `"), "{first}");
    scratch.git(&["checkout", "-qb", "another"]);
    assert_eq!(system(&["--continue"]), first, "a session keeps its beginning");
    assert!(system(&[]).contains("- Git branch: `another`"), "control: another session");
    assert!(system(&["--sandbox", "off"]).contains("without a sandbox"));
    assert!(system(&["--sandbox", "read-only"]).contains("only in `$TMPDIR`"));
}
