//! `run --verify`: the program as a process, with commands that really run.

use crate::support::{Model, Running, Scratch, Wire, lives};
use agent_testkit::http::Step;
use serde_json::json;
use std::time::{Duration, Instant};

const EDITS: &[&str] = &["--permission-mode", "accept-edits", "-p", "do it"];

fn write(name: &str) -> Step {
    Step::call("write_file", json!({"path": name, "content": "fixed\n"}))
}

#[test]
fn a_model_that_is_told_what_is_missing_and_mends_it() {
    let model = Model::script([Step::text("Done."), write("fixed.txt"), Step::text("Now it is.")]);
    let scratch = Scratch::repository();
    let format = ["--output-format", "stream-json"];
    let verify = ["--verify", "test -f a.txt", "--verify", "echo looking; test -f fixed.txt"];
    let ended = scratch.run(&model, &[EDITS, &verify, &format].concat());
    let result = ended.assert_code(0).result();
    assert_eq!((&result["subtype"], &result["result"]), (&json!("success"), &json!("Now it is.")));
    assert_eq!(result["num_turns"], 3);
    ended.assert_says("NOT KEPT: echo looking; test -f fixed.txt").assert_says("kept: test -f a.txt");
    let told = model.requests()[1].body.to_string();
    assert!(told.contains("NOT KEPT") && told.contains("looking"), "{told}");
    let lines = ended.lines();
    let path: Vec<_> =
        lines.iter().filter(|line| line["machine"] == "lifecycle" && line["from"] != line["to"]).collect();
    let states: Vec<_> = path.iter().map(|line| line["to"].as_str().unwrap()).collect();
    assert_eq!(states, ["Working", "Verifying", "Working", "Verifying", "Done"]);
    model.assert_valid();
}

#[test]
fn a_model_that_never_mends_it() {
    let model = Model::always(Step::text("Done."));
    let ended = Scratch::repository()
        .run(&model, &[EDITS, &["--verify", "test -f fixed.txt", "--output-format", "json"]].concat());
    let result = ended.assert_code(63).result();
    assert_eq!(result["subtype"], "verification_failed");
    assert!(result["error"].as_str().unwrap().contains("1 of 1 commitments not kept"), "{result}");
    assert_eq!(model.requests().len(), 4, "once, and three times more after a report");
}

#[test]
fn checks_run_again_when_a_file_changed_while_they_ran() {
    let model = Model::always(Step::text("Done."));
    let scratch = Scratch::repository();
    let runs = scratch.path("runs");
    // The second one mends what the first one looked at, once.
    let first = format!("echo 1 >> {}", runs.display());
    let second = "grep -q mended a.txt || echo mended >> a.txt";
    let verify = ["--sandbox", "off", "--verify", &first, "--verify", second, "--output-format", "stream-json"];
    let ended = scratch.run(&model, &[EDITS, &verify].concat());
    let result = ended.assert_code(0).result();
    assert_eq!(result["verification"], "verified");
    assert_eq!(std::fs::read_to_string(&runs).unwrap(), "1\n1\n");
    assert_eq!(model.requests().len(), 1, "the model has nothing to do with it");
    let rows: Vec<_> = ended.lines().into_iter().filter(|line| line["trigger"] == "ChecksStale").collect();
    assert_eq!(rows.len(), 1);
    let id = result["session_id"].as_str().unwrap();
    let shown = scratch.ended(&["sessions", "show", id]);
    assert!(shown.assert_code(0).out.contains("checked    verified"), "{shown:#?}");
    scratch.ended(&["sessions", "verify", id]).assert_code(0);
}

#[test]
fn a_check_counts_no_more_when_files_change_whenever_it_runs() {
    let model = Model::always(Step::text("Done."));
    let scratch = Scratch::repository();
    let verify = ["--verify", "true", "--verify", "echo more >> a.txt", "--output-format", "json"];
    let ended = scratch.run(&model, &[EDITS, &verify].concat());
    let result = ended.assert_code(63).result();
    assert_eq!(result["verification"], "unverified");
    let error = result["error"].as_str().unwrap();
    assert!(error.contains("passed, but files changed since it began: a.txt"), "{error}");
    let id = result["session_id"].as_str().unwrap();
    let shown = scratch.ended(&["explain", id]);
    assert!(shown.assert_code(0).out.contains("not kept: true (passed, but files changed"), "{shown:#?}");
    let shown = scratch.ended(&["ps", id]);
    assert!(shown.assert_code(0).out.contains("verification_failed, unverified"), "{shown:#?}");
}

#[test]
fn files_that_git_does_not_track_may_change_while_checks_run() {
    let model = Model::always(Step::text("Done."));
    let scratch = Scratch::repository();
    let verify = ["--verify", "true", "--verify", "echo more >> report.xml", "--output-format", "json"];
    let ended = scratch.run(&model, &[EDITS, &verify].concat());
    assert_eq!(ended.assert_code(0).result()["verification"], "verified");
    let partly = ["--verify", "true", "--verify", "false", "--output-format", "json"];
    let ended = scratch.run(&model, &[EDITS, &partly].concat());
    assert_eq!(ended.assert_code(63).result()["verification"], "partly verified");
    let ended = scratch.run(&model, &[EDITS, &["--output-format", "json"]].concat());
    assert_eq!(ended.assert_code(0).result()["verification"], "unverified");
}

#[test]
fn a_check_that_hangs_has_failed() {
    let model = Model::always(Step::text("Done."));
    let since = Instant::now();
    let verify = ["--verify", "sleep 4711.1", "--verify-timeout", "300ms"];
    let ended = Scratch::repository().run(&model, &[EDITS, &verify].concat());
    ended.assert_code(63).assert_says("was not done in time");
    assert!(since.elapsed() < Duration::from_secs(30));
    assert!(!lives("sleep 4711.1"));
}

#[test]
fn an_agent_that_waits_for_an_answer() {
    let signal = Step::call("signal", json!({"status": "waiting", "summary": "Which database?"}));
    let model = Model::script([signal, Step::text("I need to know more.")]);
    let format = ["--verify", "true", "--output-format", "json"];
    let ended = Scratch::repository().run(&model, &[EDITS, &format].concat());
    let result = ended.assert_code(64).result();
    assert_eq!((&result["subtype"], &result["is_error"]), (&json!("waiting"), &json!(true)));
    ended.assert_says("Which database?");
}

#[test]
fn a_signal_of_being_done_is_a_claim_like_any_other() {
    let signal = Step::call("signal", json!({"status": "done", "summary": "All is well."}));
    let model = Model::script([signal, Step::text("Done.")]);
    Scratch::repository().run(&model, &[EDITS, &["--verify", "true"]].concat()).assert_code(0);
}

#[test]
fn signals_end_a_verification_at_once() {
    for (name, code, nap) in [("INT", 130, "sleep 4712.1"), ("TERM", 143, "sleep 4712.2")] {
        let model = Model::script([Step::text("Done.")]);
        let scratch = Scratch::repository();
        let mut command = scratch.agent(&["run", "-p", "do it", "--output-format", "json", "--verify", nap]);
        let running = Running::start(command.args(model.flags(Wire::Anthropic)));
        running.wait_for("checking:");
        crate::support::eventually("the check", || lives(nap));
        let since = Instant::now();
        running.signal(name);
        let ended = running.end();
        let took = since.elapsed();
        assert_eq!(ended.assert_code(code).result()["subtype"], "cancelled");
        // The check would take more than an hour.
        assert!(took < Duration::from_secs(60), "{name}: {took:?}");
        assert!(!lives(nap));
    }
}

/// A run that came to rest without having kept its promises is bound by them still, whoever gives the next task, here and at the prompt.
#[test]
fn a_new_task_in_a_session_that_fell_short_is_checked_by_the_same_commands() {
    let (model, scratch) = (Model::always(Step::text("Done.")), Scratch::repository());
    scratch.write("looks.sh", "echo x >> looks; test -f nap && sleep 4717.1; test -f fixed\n");
    scratch.write("nap", "");
    let named = ["--session-id", "one", "--permission-mode", "accept-edits"];
    let task = [&named[..], &["-p", "do it", "--verify", "sh looks.sh"]].concat();
    let running = Running::start(&mut scratch.run_command(&model, &task));
    crate::support::eventually("the check", || lives("sleep 4717.1"));
    running.signal("INT");
    running.end().assert_code(130);
    std::fs::remove_file(scratch.work("nap")).unwrap();
    let again = [&named[..], &["-p", "once more"]].concat();
    scratch.run(&model, &again).assert_code(63).assert_says("checking: sh looks.sh");
    scratch.run(&model, &again).assert_code(63);
    scratch.write("fixed", "");
    let looks = scratch.read("looks").lines().count();
    scratch.run(&model, &again).assert_code(0);
    assert_eq!(scratch.read("looks").lines().count(), looks + 1);
    // What was kept binds no more.
    scratch.run(&model, &again).assert_code(0);
    assert_eq!(scratch.read("looks").lines().count(), looks + 1);
}

#[test]
fn the_limit_of_time_holds_while_checks_run() {
    let (model, scratch, nap) = (Model::always(Step::text("Done.")), Scratch::repository(), "sleep 4715.1");
    let since = Instant::now();
    let limited = ["-p", "do it", "--output-format", "json", "--max-wall-time", "2s", "--verify", nap];
    let ended = scratch.run(&model, &limited);
    assert_eq!(ended.assert_code(60).result()["subtype"], "error_max_budget");
    ended.assert_says("time limit of the turn and its checks reached: 2000 ms");
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
    assert!(!lives(nap));
    let told = scratch.ended(&["explain", "--json"]).result();
    assert_eq!((&told["exit_code"], &told["agent"]["state"]), (&json!(60), &json!("Reaped")), "{told}");
}

#[test]
fn an_empty_command_is_wrong_usage() {
    Scratch::new().ended(&["run", "-p", "x", "--verify", " "]).assert_code(2);
}

#[test]
fn the_machine_is_drawn() {
    for format in ["mermaid", "dot", "markdown", "grid", "json"] {
        let ended = Scratch::new().ended(&["diagram", "lifecycle", "--format", format]);
        assert!(ended.assert_code(0).out.contains("Verifying"), "{format}");
    }
}

#[test]
fn what_was_not_kept_is_told_by_everything_that_reads_the_journal() {
    let model = Model::always(Step::text("Done."));
    let scratch = Scratch::repository();
    let named = ["--session-id", "one", "--verify", "test -f fixed.txt", "--verify", "true"];
    scratch.run(&model, &[EDITS, &named].concat()).assert_code(63);
    let screen = scratch.ended(&["explain", "one"]).assert_code(0).out.clone();
    for words in [
        "the last run ended: verification_failed (exit code 63)",
        "because: 1 of 2 commitments not kept after 3 gap reports",
        "its agent is in the state Reaped, after 3 gap reports",
        "not kept: test -f fixed.txt (ended with exit code 1)",
        "  kept: true",
        "lifecycle: Verifying + ChecksFailed => Working",
    ] {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    let told: serde_json::Value =
        serde_json::from_str(&scratch.ended(&["explain", "one", "--json"]).assert_code(0).out).unwrap();
    assert_eq!((&told["outcome"], &told["exit_code"]), (&json!("verification_failed"), &json!(63)));
    assert_eq!((&told["agent"]["rounds"], &told["agent"]["commitments"][0]["kept"]), (&json!(3), &json!(false)));
    for arguments in [&["sessions", "show", "one"][..], &["sessions", "export", "one"]] {
        let shown = scratch.ended(arguments).assert_code(0).out.clone();
        assert!(shown.contains("ended      verification_failed (exit code 63)"), "{shown}");
        assert!(shown.contains("agent      Reaped, 1 of 2 commitments kept, 3 gap reports"), "{shown}");
    }
    let trace = scratch.ended(&["replay", "one"]).assert_code(0).out.clone();
    assert!(trace.contains("Lifecycle CheckCompleted") && trace.contains("Verifying + ChecksFailedForGood => Reaped"));
    let page = scratch.ended(&["sessions", "export", "one", "--format", "html"]).assert_code(0).out.clone();
    assert!(page.contains("Verifying + ChecksFailedForGood → Reaped"));
    scratch.ended(&["sessions", "verify", "one"]).assert_code(0);
    scratch.ended(&["replay", "one", "--against-current"]).assert_code(0);
}

/// The second look at the commitment hangs until the program is gone; the third finds it kept.
#[test]
fn a_run_that_is_killed_goes_on_with_its_promises_and_its_count() {
    let model = Model::always(Step::text("Done."));
    let scratch = Scratch::repository();
    scratch.write("looks.sh", "echo x >> looks; [ $(wc -l < looks) -ge 2 ] && { test -f go || sleep 4714.1; }\n");
    let arguments = [&["run", "--session-id", "one"], EDITS, &["--verify", "sh looks.sh"]].concat();
    let running = Running::start(scratch.agent(&arguments).args(model.flags(Wire::Anthropic)));
    crate::support::eventually("the second look", || lives("sleep 4714.1"));
    running.signal("KILL");
    running.end();
    let screen = scratch.ended(&["explain", "one"]).assert_code(0).out.clone();
    for words in [
        "waiting for: checks of its commitments",
        "its agent is in the state Verifying",
        "after 1 gap report",
        "not checked",
    ] {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    scratch.write("go", "");
    let asked = model.requests().len();
    let mut running =
        Running::start(&mut scratch.run_command(&model, &["--session-id", "one", "--output-format", "json"]));
    running.close_stdin();
    let ended = running.end();
    assert_eq!(ended.assert_code(0).assert_says("1 commitment, 1 gap report").result()["result"], "Done.");
    assert_eq!(model.requests().len(), asked, "the model had said that it is done");
    let screen = scratch.ended(&["explain", "one"]).assert_code(0).out.clone();
    assert!(screen.contains("success (exit code 0)") && screen.contains("after 1 gap report"), "{screen}");
    // Now there is nothing left to go on with.
    let mut running = Running::start(&mut scratch.run_command(&model, &["--session-id", "one"]));
    running.close_stdin();
    running.end().assert_code(42).assert_says("the task is empty");
}

/// What stands in the journal is not the command any more: it is asked for again, and nothing runs before.
#[test]
fn a_command_with_a_secret_is_asked_for_when_it_is_gone_on_with() {
    const KEY: &str = "sk-very-secret-0123456789";
    let model = Model::always(Step::text("Done."));
    let scratch = Scratch::repository();
    let start = |words: &[&str]| {
        let mut running = Running::start(scratch.run_command(&model, words).env("ANTHROPIC_API_KEY", KEY));
        running.close_stdin();
        running
    };
    scratch.write("looks.sh", "echo x >> looks; test -f go || sleep 4716.1\n");
    let check = format!("test {KEY} = {KEY} && sh looks.sh");
    let task = [&["--session-id", "one", "--verify", &check], EDITS].concat();
    let running = start(&task);
    crate::support::eventually("the first look", || lives("sleep 4716.1"));
    running.signal("KILL");
    running.end();
    scratch.write("go", "");
    let asked = model.requests().len();
    let ended = start(&["--session-id", "one"]).end();
    ended.assert_code(42).assert_says("test [redacted] = [redacted]").assert_says("without its secret");
    ended.assert_says("give every command again with `--verify`");
    let without_a_task = start(&["--session-id", "one", "--verify", &check]).end();
    without_a_task.assert_code(42).assert_says("give a new task with `-p`");
    assert_eq!((model.requests().len(), scratch.read("looks").as_str()), (asked, "x\n"), "nothing has run");
    start(&task).end().assert_code(0);
    assert_eq!(scratch.read("looks"), "x\nx\n");
    for journal in scratch.journals() {
        assert!(!std::fs::read_to_string(journal).unwrap().contains(KEY));
    }
}
