//! Who may do what, as users meet it: answers, rules and where they are kept, modes, and what a repository may not say.

use crate::support::{Ended, Model, Running, Scratch, Wire, eventually};
use agent_testkit::http::Step;
use serde_json::{Value, json};
use std::fs;

/// The last line of a question, however it is put.
const ASKED: &str = " · ? more";

fn write(path: &str) -> Step {
    Step::call("write_file", json!({"path": path, "content": "two\n"}))
}

fn bash(command: &str) -> Step {
    Step::call("bash", json!({"command": command}))
}

fn prompt(scratch: &Scratch, model: &Model, arguments: &[&str]) -> Running {
    Running::start(scratch.agent(&[]).args(model.flags(Wire::Anthropic)).args(arguments))
}

/// A session at the prompt whose first question is answered so; what more is asked has nobody to answer it.
fn answered(scratch: &Scratch, model: &Model, arguments: &[&str], answer: &str) -> Ended {
    let mut running = prompt(scratch, model, arguments);
    running.write("go\n");
    running.wait_for(ASKED);
    running.write(&format!("{answer}\n"));
    running.wait_for("So be it.");
    running.close_stdin();
    running.end()
}

/// What the model was told in the last request.
fn told(model: &Model) -> String {
    model.last_body()["messages"].to_string()
}

/// The events of the only journal that have this name.
fn events(scratch: &Scratch, name: &str) -> Vec<Value> {
    let journal = fs::read_to_string(&scratch.journals()[0]).unwrap();
    let records = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    records.filter_map(|record| record["entry"]["Event"].get(name).cloned()).collect()
}

#[test]
fn an_answer_for_the_session_covers_what_it_was_about() {
    let scratch = Scratch::new();
    let model = Model::script([write("b.txt"), write("b.txt"), write("c.txt"), Step::text("So be it.")]);
    let mut running = prompt(&scratch, &model, &[]);
    running.write("go\n");
    running.wait_for("`write_file(b.txt)`");
    running.write("s\n");
    running.wait_for("allow this call? write_file c.txt");
    running.write("n\n");
    running.wait_for("So be it.");
    running.close_stdin();
    let ended = running.end();
    assert_eq!(ended.assert_code(0).err.matches("allow this call?").count(), 2, "{ended:#?}");
    assert!(scratch.work("b.txt").exists() && !scratch.work("c.txt").exists());
    // It holds when the session goes on, and for no other session.
    for (arguments, is_asked) in [(&["--continue"][..], false), (&[], true)] {
        let _ = fs::remove_file(scratch.work("b.txt"));
        let model = Model::script([write("b.txt"), Step::text("So be it.")]);
        let mut running = prompt(&scratch, &model, arguments);
        running.write("again\n");
        running.close_stdin();
        let ended = running.end();
        ended.assert_code(if is_asked { 61 } else { 0 });
        assert_eq!(told(&model).contains("no one could be asked"), is_asked, "{arguments:?} {ended:#?}");
    }
}

#[test]
fn a_rule_is_kept_in_the_users_file_and_nowhere_else() {
    let scratch = Scratch::repository();
    scratch.configure("# mine\nmodel = \"scripted-model\" # this one\n");
    let model = Model::script([bash("touch b.txt"), Step::text("So be it.")]);
    let ended = answered(&scratch, &model, &[], "k bash(touch:*)");
    ended.assert_code(0).assert_says("saved in");
    ended.assert_says("for every directory: `bash(touch:*)`");
    let kept = fs::read_to_string(scratch.path("config").join("config.toml")).unwrap();
    assert_eq!(kept, "# mine\nmodel = \"scripted-model\" # this one\nallow = [\"bash(touch:*)\"]\n");
    assert!(!scratch.work(".agent").exists());
    // From now on nobody is asked, headless too; the reason names the rule and where it is.
    let model = Model::script([bash("touch c.txt"), bash("touch $(echo d.txt)"), Step::text("Done.")]);
    let ended = scratch.run(&model, &["-p", "x", "--output-format", "stream-json"]);
    ended.assert_code(61);
    assert!(scratch.work("c.txt").exists() && !scratch.work("d.txt").exists());
    let decisions: Vec<Value> = ended.lines().into_iter().filter(|line| line["type"] == "permission").collect();
    let said = |number: usize| (decisions[number]["decision"].clone(), decisions[number]["reason"].clone());
    assert_eq!(said(0), (json!("run"), json!("allowed by the rule `bash(touch:*)` of the user's configuration")));
    assert_eq!(said(1).0, "ask");
    assert_eq!(said(2), (json!("deny"), json!("no one could be asked")));
}

/// What a rule names from the directory is something else in another one.
#[test]
fn a_rule_about_a_file_is_kept_for_its_directory() {
    let scratch = Scratch::new();
    let model = Model::script([write("b.txt"), Step::text("So be it.")]);
    let ended = answered(&scratch, &model, &[], "k");
    let work = scratch.work("").canonicalize().unwrap();
    ended.assert_code(0).assert_says(&format!("for {}: `write_file(b.txt)`", work.display()));
    let other = scratch.work("other");
    fs::create_dir(&other).unwrap();
    for (directory, code) in [(".", 0), ("other", 61)] {
        let _ = fs::remove_file(scratch.work("b.txt"));
        let model = Model::script([write("b.txt"), Step::text("Done.")]);
        scratch.run(&model, &["-p", "x", "-C", directory]).assert_code(code);
        assert_eq!(scratch.work("b.txt").exists(), directory == ".");
        assert!(!other.join("b.txt").exists());
    }
}

#[test]
fn a_rule_that_cannot_be_kept_holds_for_the_session() {
    let scratch = Scratch::new();
    let model = Model::script([write("b.txt"), write("b.txt"), Step::text("So be it.")]);
    let mut running = prompt(&scratch, &model, &[]);
    running.write("go\n");
    running.wait_for(ASKED);
    scratch.configure("allow = 3\n");
    running.write("k\n");
    running.wait_for("So be it.");
    running.close_stdin();
    running.end().assert_code(0).assert_says("the rule applies to this session only");
    assert!(scratch.work("b.txt").exists());
    assert_eq!(fs::read_to_string(scratch.path("config").join("config.toml")).unwrap(), "allow = 3\n", "as it was");
}

#[test]
fn what_is_no_answer_is_asked_again() {
    let scratch = Scratch::new();
    let model = Model::script([write("b.txt"), Step::text("So be it.")]);
    let mut running = prompt(&scratch, &model, &[]);
    running.write("go\n");
    running.wait_for(ASKED);
    running.write("sure\n");
    running.wait_for("that is not one of the answers");
    running.write("s edit_file\n");
    running.wait_for("does not cover this call");
    running.write("e [1]\n");
    running.wait_for("these arguments are not valid");
    running.write("y\n");
    running.wait_for("So be it.");
    running.close_stdin();
    running.end().assert_code(0);
    assert!(scratch.work("b.txt").exists());
}

#[test]
fn changed_arguments_are_checked_like_the_models() {
    let cases = [
        (r#"e {"path":"c.txt","content":"mine\n"}"#, Some("c.txt"), "c.txt"),
        (
            r#"e {"path":"secret/key","content":"x"}"#,
            None,
            "the rule `write_file(secret/**)` of the command line denies it",
        ),
        (r#"e {"path":"./a/../secret/key","content":"x"}"#, None, "the rule `write_file(secret/**)`"),
        (r#"e {"file":"c.txt"}"#, None, "not run: "),
        (r#"e {"path":"../c.txt","content":"x"}"#, None, "not run: "),
    ];
    for (answer, written, expected) in cases {
        let scratch = Scratch::new();
        fs::create_dir(scratch.work("secret")).unwrap();
        let model = Model::script([write("b.txt"), Step::text("So be it.")]);
        answered(&scratch, &model, &["--deny", "write_file(secret/**)"], answer).assert_code(0);
        assert!(told(&model).contains(expected), "{answer}: {}", told(&model));
        assert!(!scratch.work("b.txt").exists() && !scratch.work("secret/key").exists(), "{answer}");
        assert_eq!(written.is_some_and(|name| scratch.work(name).exists()), written.is_some(), "{answer}");
    }
}

#[test]
fn a_question_is_asked_again_after_a_restart_under_the_same_ticket() {
    for (signal, options, is_written) in
        [("KILL", &[][..], true), ("TERM", &[], true), ("TERM", &["--deny", "write_file"], false)]
    {
        let scratch = Scratch::new();
        let model = Model::script([write("b.txt"), Step::text("So be it.")]);
        let mut running = prompt(&scratch, &model, &[]);
        running.write("go\n");
        running.wait_for(ASKED);
        running.signal(signal);
        let ended = running.end();
        assert_eq!(ended.code(), if signal == "TERM" { 143 } else { -1 }, "{ended:?}");
        assert_eq!(events(&scratch, "ApprovalAnswered"), Vec::<Value>::new(), "leaving is no answer");
        let prepared = events(&scratch, "ToolsPrepared");

        let mut running = Running::start(scratch.agent(&["resume"]).args(model.flags(Wire::Anthropic)).args(options));
        running.wait_for("allow this call? write_file b.txt");
        running.write("y\n");
        running.wait_for("So be it.");
        running.write("/quit\n");
        running.end().assert_code(0);
        assert_eq!(scratch.work("b.txt").exists(), is_written);
        assert_eq!(told(&model).contains("denies it"), !is_written, "an answer cannot allow what is forbidden by now");
        // Nothing was prepared anew: the ticket is the one behind that of the preparation.
        let ticket = prepared[0]["ticket"].as_u64().unwrap() + 1;
        assert_eq!(events(&scratch, "ToolsPrepared"), prepared);
        assert_eq!(events(&scratch, "ApprovalAnswered")[0]["ticket"], ticket);
    }
}

#[test]
fn what_was_denied_stays_denied_and_limits_that_are_gone_are_told() {
    let scratch = Scratch::new();
    scratch.configure("deny = [\"glob\"]\n");
    let strict = ["-p", "x", "--deny", "write_file(b*)", "--max-turns", "20", "--max-wall-time", "1m"];
    scratch.run(&Model::script([Step::text("Hi.")]), &strict).assert_code(0);
    scratch.configure("");
    for number in 0..2 {
        let model = Model::script([write("b.txt"), write("c.txt"), Step::text("So be it.")]);
        let ended = scratch.run(&model, &["-p", "y", "--continue", "--permission-mode", "bypass", "--max-turns", "50"]);
        ended.assert_code(0).assert_says("denied: write_file b.txt");
        assert!(!scratch.work("b.txt").exists() && scratch.work("c.txt").exists());
        let said = ["no longer denied: `glob`", "model calls: 50 (before: 20)", "turn: none (before: 60000 ms)"];
        for words in said {
            assert_eq!(ended.err.contains(words), number == 0, "{words}: {ended:#?}");
        }
        ended.assert_says("still denied in this session: `write_file(b*)`");
    }
    // Said again, or in a file, it needs no word.
    let ended = scratch.run(&Model::script([Step::text("Hi.")]), &[&["--continue"], &strict[..]].concat());
    assert!(!ended.assert_code(0).err.contains("denied"), "{ended:#?}");
}

/// A run's session at the prompt: what only a run has is no news.
#[test]
fn the_signal_of_a_run_is_not_missed_at_the_prompt() {
    let scratch = Scratch::new();
    scratch.run(&Model::script([Step::text("Hi.")]), &["-p", "x"]).assert_code(0);
    let model = Model::script([]);
    let mut running = Running::start(scratch.agent(&["resume"]).args(model.flags(Wire::Anthropic)));
    running.close_stdin();
    let ended = running.end();
    ended.assert_code(0).assert_says("limit on model calls: none (before: 500)");
    assert!(!ended.err.contains("signal"), "{ended:#?}");
}

/// The days in between count for no limit on time: nobody worked.
#[test]
fn a_question_is_answered_days_later() {
    let scratch = Scratch::new();
    let model = Model::script([write("b.txt"), Step::text("So be it.")]);
    let mut running = prompt(&scratch, &model, &["--max-wall-time", "1m"]);
    running.write("go\n");
    running.wait_for(ASKED);
    running.signal("TERM");
    running.end().assert_code(143);
    let path = scratch.journals().remove(0);
    let days_ago = fs::read_to_string(&path).unwrap().lines().map(days_earlier).collect::<String>();
    fs::write(&path, days_ago).unwrap();
    scratch.ended(&["sessions", "verify"]).assert_code(0);

    let arguments = ["resume", "--max-wall-time", "1m"];
    let mut running = Running::start(scratch.agent(&arguments).args(model.flags(Wire::Anthropic)));
    running.wait_for("allow this call? write_file b.txt");
    running.write("y\n");
    running.wait_for("So be it.");
    running.write("/quit\n");
    let ended = running.end();
    assert!(!ended.assert_code(0).err.contains("time limit"), "{ended:#?}");
    assert!(scratch.work("b.txt").exists());
    let times: Vec<u64> = fs::read_to_string(&path).unwrap().lines().map(time_of).collect();
    let longest = times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
    assert!(longest >= DAYS_MS, "{longest}");
}

fn time_of(line: &str) -> u64 {
    serde_json::from_str::<Value>(line).unwrap()["at_ms"].as_u64().unwrap()
}

/// A line of a journal as it would be had it been written days ago.
fn days_earlier(line: &str) -> String {
    let time = time_of(line);
    let (_, body) = line.split_once("\",").unwrap();
    let body = body.replacen(&time.to_string(), &(time - DAYS_MS).to_string(), 1);
    let sum = body.bytes().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 * (sum & 1)))
    });
    format!("{{\"sum\":\"{:08x}\",{body}\n", !sum)
}

const DAYS_MS: u64 = 3 * 24 * 60 * 60 * 1_000;

#[test]
fn plan_mode_changes_nothing_whatever_is_allowed() {
    let scratch = Scratch::new();
    scratch.write("a.txt", "one\n");
    let model = Model::script([
        write("b.txt"),
        bash("touch c.txt"),
        bash("echo hi > d.txt"),
        Step::call("edit_file", json!({"path": "a.txt", "old_string": "one", "new_string": "two"})),
        bash("echo hello"),
        Step::call("read_file", json!({"path": "a.txt"})),
        Step::text("That is the plan."),
    ]);
    let allowed = ["--allow", "bash", "--allow", "write_file", "--allow", "edit_file"];
    let ended = scratch.run(&model, &[&["-p", "x", "--permission-mode", "plan"][..], &allowed].concat());
    ended.assert_code(0).assert_says("plan mode");
    let there: Vec<_> = fs::read_dir(scratch.work("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!((there.len(), scratch.read("a.txt").as_str()), (1, "one\n"));
    let said = told(&model);
    assert_eq!(said.matches("plan mode: only reads run").count(), 4, "{said}");
    assert!(said.contains("hello"), "what only reads runs: {said}");
}

#[test]
fn a_deny_rule_holds_in_every_mode_and_a_repository_can_only_add() {
    for mode in ["default", "accept-edits", "plan", "bypass"] {
        let scratch = Scratch::repository();
        scratch.write(
            ".agent/config.toml",
            "deny = [\"bash(touch:*)\"]\nallow = [\"bash\"]\npermission_mode = \"bypass\"\n",
        );
        let commands = ["touch b", "/usr/bin/touch b", "'tou'ch b", "env touch b", "echo $(touch b)", "true; touch b"];
        let model = Model::script(commands.map(bash).into_iter().chain([Step::text("Done.")]));
        let ended =
            scratch.run(&model, &["-p", "x", "--permission-mode", mode, "--allow", "bash", "--output-format", "json"]);
        ended.assert_code(0).assert_says("`allow`");
        assert!(!scratch.work("b").exists(), "{mode}");
        let denials = ended.result()["permission_denials"].clone();
        assert_eq!(denials.as_array().unwrap().len(), commands.len(), "{mode}: {denials}");
        assert!(denials[0]["reason"].as_str().unwrap().contains("of the repository's configuration"), "{denials}");
    }
    // Without the rule they run: the program is there, and so is the mode.
    let scratch = Scratch::repository();
    let model = Model::script([bash("/usr/bin/env touch b"), Step::text("Done.")]);
    scratch.run(&model, &["-p", "x", "--permission-mode", "bypass"]).assert_code(0);
    assert!(scratch.work("b").exists());
}

#[test]
fn an_unattended_run_lists_what_nobody_allowed() {
    let steps = || [write("b.txt"), bash("touch c.txt"), Step::text("I could not.")];
    let scratch = Scratch::new();
    let ended = scratch.run(&Model::script(steps()), &["-p", "x", "--deny", "bash(touch:*)"]);
    ended.assert_code(61).assert_says("denied: write_file b.txt (no one could be asked)");
    ended.assert_says("denied: bash touch c.txt (the rule `bash(touch:*)` of the command line denies it)");
    let ended =
        scratch.run(&Model::script(steps()), &["-p", "x", "--deny", "bash(touch:*)", "--output-format", "json"]);
    let result = ended.assert_code(61).result();
    assert_eq!((&result["subtype"], &result["is_error"]), (&json!("error_permission"), &json!(true)));
    let reasons: Vec<&str> = result["permission_denials"]
        .as_array()
        .unwrap()
        .iter()
        .map(|denial| denial["reason"].as_str().unwrap())
        .collect();
    assert_eq!(reasons, ["no one could be asked", "the rule `bash(touch:*)` of the command line denies it"]);
}

#[test]
fn a_run_that_goes_on_with_an_open_question_denies_it() {
    let scratch = Scratch::new();
    let model = Model::script([write("b.txt"), Step::text("So be it."), Step::text("Done.")]);
    let mut running = prompt(&scratch, &model, &[]);
    running.write("go\n");
    running.wait_for(ASKED);
    running.signal("KILL");
    running.end();
    eventually("the lock is free", || {
        let ended = scratch.run(&model, &["--continue", "-p", "and now?"]);
        ended.code() != 42
    });
    assert!(!scratch.work("b.txt").exists());
    assert!(told(&model).contains("no one could be asked"), "{}", told(&model));
}

/// A deny rule that covers nothing is worse than none.
#[test]
fn a_deny_rule_over_files_with_signs_that_mean_nothing_is_an_error() {
    let run = |scratch: &Scratch, more: &[&str]| {
        let model = Model::script([Step::call("read_file", json!({"path": "secrets/key"})), Step::text("Done.")]);
        let ended = scratch.run(&model, &[&["-p", "x"], more].concat());
        let said = model.requests().last().map(|_| model.last_body().to_string()).unwrap_or_default();
        (ended, said.contains("swordfish"))
    };
    let place = || {
        let scratch = Scratch::repository();
        scratch.write("secrets/key", "swordfish\n");
        scratch
    };
    for (pattern, says) in [
        ("secrets/{key,other}", "write one rule for each"),
        ("secrets/[k]ey", "write `?` for one character"),
        ("secrets//key", "without them"),
        ("src/../secrets/key", "without them"),
        ("././secrets/key", "without them"),
        ("/secrets/key", "write the path relative to it"),
        ("~/secrets/key", "write the path relative to it"),
        (" secrets/key", "a blank"),
        ("secrets/key ", "a blank"),
        ("!secrets/key", "does not negate"),
    ] {
        for tool in ["read", "edit", "search", "read_file", "grep"] {
            let (ended, is_read) = run(&place(), &["--deny", &format!("{tool}({pattern})")]);
            ended.assert_code(52).assert_says(says).assert_says(" of the command line");
            assert!(!is_read, "{ended:#?}");
        }
        for file in ["user", "repository"] {
            let scratch = place();
            let text = format!("deny = [\"read({pattern})\"]\n");
            match file {
                "user" => scratch.configure(&text),
                _ => scratch.write(".agent/config.toml", &text),
            }
            run(&scratch, &[]).0.assert_code(52).assert_says(says);
        }
        // What allows nothing leaves a question, and commands are text.
        let (ended, is_read) =
            run(&place(), &["--allow", &format!("edit({pattern})"), "--deny", &format!("bash({pattern})")]);
        ended.assert_code(0);
        assert!(is_read, "{ended:#?}");
    }
    for pattern in ["secrets/key", "./secrets/key", "secrets/", "secrets/**", "**/k?y", "**"] {
        let (ended, is_read) = run(&place(), &["--deny", &format!("read({pattern})")]);
        ended.assert_code(0);
        assert!(!is_read, "the control {pattern}: {ended:#?}");
    }
}
