//! Instructions of the directories in which the agent works: told once, kept apart from the head of the requests, and told again when they
//! change or a summary has left them out.

use crate::pty::on_terminal;
use crate::support::{Model, Scratch};
use agent_testkit::http::Step;
use serde_json::{Value, json};
use std::fs;

fn read(path: &str) -> Step {
    Step::call("read_file", json!({ "path": path }))
}

fn project() -> Scratch {
    let scratch = Scratch::repository();
    scratch.write("AGENTS.md", "Rule of the root.");
    scratch.write("lib/AGENTS.md", "Rule of the library.");
    scratch.write("lib/deep/one", "one");
    scratch.write("lib/two", "two");
    scratch
}

fn bodies(model: &Model) -> Vec<Value> {
    model.requests().iter().map(|request| request.body.clone()).collect()
}

fn times(body: &Value, words: &str) -> usize {
    body["messages"].to_string().matches(words).count()
}

#[test]
fn a_directory_below_is_told_of_once_and_the_head_stays() {
    let scratch = project();
    let model = Model::script([read("lib/deep/one"), read("lib/two"), Step::text("done")]);
    let ended = scratch.run(&model, &["-p", "x", "--verbose"]);
    ended.assert_code(0);
    let bodies = bodies(&model);
    let told: Vec<usize> = bodies.iter().map(|body| times(body, "Rule of the library.")).collect();
    assert_eq!(told, [0, 1, 1]);
    assert!(times(&bodies[1], "lib/AGENTS.md hold for work in its directory and below") == 1, "{}", bodies[1]);
    assert!(bodies.iter().all(|body| body["system"] == bodies[0]["system"] && body["tools"] == bodies[0]["tools"]));
    ended.assert_says("lib/AGENTS.md");

    // Not again after a resume, and again once the file has changed.
    let model = Model::script([read("lib/two"), Step::text("done")]);
    scratch.run(&model, &["--continue", "-p", "y"]).assert_code(0);
    assert_eq!(times(&model.last_body(), "Rule of the library."), 1);
    scratch.write("lib/AGENTS.md", "Other rule of the library.");
    let model = Model::script([read("lib/two"), Step::text("done")]);
    scratch.run(&model, &["--continue", "-p", "z"]).assert_code(0);
    assert_eq!(times(&model.last_body(), "lib/AGENTS.md have changed and read now"), 1);
    assert_eq!(times(&model.last_body(), "Other rule of the library."), 1);
}

/// By its name, by that of the file it is a link to, and by an import.
#[test]
fn a_deny_rule_keeps_a_file_out_of_the_head() {
    let scratch = Scratch::repository();
    scratch.write("AGENTS.md", "Rule of the root.\n@private/AGENTS.md\n@open/AGENTS.md\n");
    scratch.write("private/AGENTS.md", "Word of the private part.");
    scratch.write("open/AGENTS.md", "Word of the open part.");
    let head = |flags: &[&str]| {
        let model = Model::script([Step::text("done")]);
        let ended = scratch.run(&model, &[flags, &["-p", "x"]].concat());
        ended.assert_code(0);
        (model.last_body()["system"].to_string(), ended.err)
    };
    let words = ["Rule of the root.", "Word of the private part.", "Word of the open part."];
    let has = |head: &str| words.map(|word| head.contains(word));
    assert_eq!(has(&head(&[]).0), [true; 3]);
    // A rule about a tool is about no file.
    assert_eq!(has(&head(&["--deny", "read_file"]).0), [true; 3]);
    for rule in ["read(private/**)", "read_file(**/private/AGENTS.md)"] {
        let (head, said) = head(&["--deny", rule]);
        assert_eq!(has(&head), [true, false, true], "{rule}: {head}");
        assert!(said.contains("private/AGENTS.md are left out"), "{rule}: {said}");
    }
    // By a way that leaves the directory and comes back; and what a denied file imports is not read either.
    let root = scratch.work("AGENTS.md");
    let root = root.parent().and_then(std::path::Path::file_name).unwrap().to_str().unwrap();
    let imports = format!("Rule of the root.\n@../{root}/private/AGENTS.md\n@open/../private/AGENTS.md\n");
    scratch.write("AGENTS.md", &imports);
    assert_eq!(has(&head(&["--deny", "read(private/**)"]).0), [true, false, false]);
    scratch.write("AGENTS.md", "Rule of the root.\n@open/AGENTS.md\n");
    assert_eq!(has(&head(&["--deny", "read(AGENTS.md)"]).0), [false; 3]);
    fs::remove_file(scratch.work("AGENTS.md")).unwrap();
    std::os::unix::fs::symlink("private/AGENTS.md", scratch.work("AGENTS.md")).unwrap();
    assert_eq!(has(&head(&[]).0), [false, true, false]);
    assert_eq!(has(&head(&["--deny", "read(private/**)"]).0), [false; 3]);
}

#[test]
fn a_head_that_changes_meanwhile_is_told_below_and_stays_where_it_is() {
    let scratch = project();
    let change = scratch.work("AGENTS.md");
    let model = Model::script([
        Step::respond(move |_| {
            fs::write(&change, "New rule of the root.").unwrap();
            read("lib/two")
        }),
        read("lib/two"),
        Step::text("done"),
    ]);
    scratch.run(&model, &["-p", "x"]).assert_code(0);
    let bodies = bodies(&model);
    assert_eq!(bodies[0]["system"], bodies[2]["system"]);
    let told: Vec<usize> = bodies.iter().map(|body| times(body, "New rule of the root.")).collect();
    assert_eq!(told, [0, 1, 1]);
}

/// A summary leaves them out, so the next touch tells them again; and no instruction stands under the user's words.
#[test]
fn after_a_summary_a_directory_is_told_of_again() {
    let scratch = project();
    scratch.configure("[models.scripted-model]\ncontext_window_tokens = 1500\n");
    ["lib/long", "lib/other"].iter().for_each(|path| scratch.write(path, &"pears and apples\n".repeat(300)));
    let summary = Step::text("Pears were read.");
    let steps = [read("lib/long"), read("lib/other"), summary, Step::text("done"), read("lib/two"), Step::text("end")];
    let model = Model::script(steps);
    scratch.run(&model, &["-p", "Read it."]).assert_code(0);
    let summarised = bodies(&model);
    let last = summarised.last().unwrap();
    assert!(times(last, "Pears were read.") == 1 && times(last, "Rule of the library.") == 0, "{last}");
    assert_eq!(times(last, "Read it."), 1);
    scratch.run(&model, &["--continue", "-p", "Again."]).assert_code(0);
    assert_eq!(times(&model.last_body(), "Rule of the library."), 1);
}

#[test]
fn all_instructions_together_have_one_limit() {
    let scratch = project();
    scratch.write("AGENTS.md", &"r".repeat(30 * 1024));
    scratch.write("lib/AGENTS.md", &format!("Begin.{}The end.", "l".repeat(8 * 1024)));
    let model = Model::script([read("lib/two"), Step::text("done")]);
    scratch.run(&model, &["-p", "x"]).assert_code(0);
    let body = model.last_body();
    assert_eq!((times(&body, "Begin."), times(&body, "The end."), times(&body, "bytes left out")), (1, 0, 1));
}

#[test]
fn a_session_tells_which_files_it_was_given_and_what_became_of_them() {
    let scratch = project();
    let model = Model::script([read("lib/two"), Step::text("done")]);
    scratch.run(&model, &["-p", "x"]).assert_code(0);
    let told = || {
        let explained = scratch.ended(&["explain", "--json"]);
        explained.assert_code(0);
        let told: Value = serde_json::from_str(&explained.out).unwrap();
        let files = told["instructions"].as_array().unwrap().clone();
        let of = |file: &Value| {
            assert_eq!(file["sha256"].as_str().unwrap().len(), 64);
            let path = file["path"].as_str().unwrap().to_owned();
            let work = scratch.work("").canonicalize().unwrap();
            let inside = std::path::Path::new(&path).strip_prefix(work).unwrap();
            (inside.display().to_string(), file["now"].as_str().unwrap().to_owned())
        };
        files.iter().map(of).collect::<Vec<_>>()
    };
    let pairs = |now: [&str; 2]| vec![("AGENTS.md".into(), now[0].into()), ("lib/AGENTS.md".into(), now[1].into())];
    assert_eq!(told(), pairs(["same", "same"]));
    scratch.write("AGENTS.md", "Another rule.");
    fs::remove_file(scratch.work("lib/AGENTS.md")).unwrap();
    assert_eq!(told(), pairs(["differs", "gone"]));
    let shown = scratch.ended(&["sessions", "show"]);
    shown.assert_code(0);
    for words in ["/AGENTS.md (sha256 ", "…, differs now)", "…, is gone now)", "agent to the model"] {
        assert!(shown.out.contains(words), "{words}: {}", shown.out);
    }
    let model = Model::script([Step::text("done")]);
    scratch.run(&model, &["--continue", "-p", "y"]).assert_code(0).assert_says("instructions changed: ");
    assert_eq!(told(), pairs(["same", "gone"]));
}

/// What a command line forbade holds for its session: for the head of the requests and for what is attached, too.
#[test]
fn what_a_session_keeps_denied_is_neither_told_nor_attached() {
    let scratch = Scratch::repository();
    scratch.write("AGENTS.md", "Rule of the root, see @sec/AGENTS.md");
    scratch.write("sec/AGENTS.md", "kept-from-the-model");
    scratch.write("sec/k.txt", "kept-from-the-model, too");
    let sent = |first: &[&str], next: &[&str]| {
        scratch.run(&Model::script([Step::text("Hi.")]), &[&["-p", "x"], first].concat()).assert_code(0);
        let model = Model::script([Step::text("Hi."), Step::text("The second.")]);
        scratch.run(&model, &[&["-p", "y", "--continue"], next].concat()).assert_code(0);
        let mut running = on_terminal(&scratch, &model, "resume --continue")?;
        running.wait_for("> ");
        running.write("look at @sec/k.txt \r");
        model.wait_for_requests(2);
        running.wait_for("second");
        running.write("/quit\r");
        running.end().assert_code(0);
        let bodies = bodies(&model);
        let has = |place: &str| bodies[1][place].to_string().contains("kept-from-the-model");
        Some([bodies[0]["system"].to_string().contains("kept-from-the-model"), has("system"), has("messages")])
    };
    let deny = ["--deny", "read(sec/**)"];
    let Some(control) = sent(&[], &[]) else { return };
    assert_eq!(control, [true; 3], "the control");
    for (next, why) in [(&[][..], "the rule is the session's"), (&["--fork-session"], "and its copy's"), (&deny, "")] {
        assert_eq!(sent(&deny, next), Some([false; 3]), "{why}");
    }
}

/// A repository's rules are read from their folder, wherever below it the agent starts.
#[test]
fn a_repositorys_deny_rules_hold_for_instructions_above_the_start() {
    let scratch = Scratch::repository();
    scratch.write("AGENTS.md", "Rule of the root, see @sec/AGENTS.md");
    scratch.write("sec/AGENTS.md", "kept-from-the-model");
    scratch.write("sub/AGENTS.md", "Rule of the part, see @../sec/AGENTS.md");
    scratch.write("sub/one", "1");
    let sent = |deny: &str| {
        scratch.write(".agent/config.toml", &format!("deny = [{deny}]\n"));
        let model = Model::script([read("one"), Step::text("done")]);
        scratch.run(&model, &["-p", "x", "-C", "sub"]).assert_code(0);
        let all: String = bodies(&model).iter().map(Value::to_string).collect();
        ["Rule of the root", "Rule of the part", "kept-from-the-model"].map(|words| all.contains(words))
    };
    assert_eq!(sent(""), [true; 3]);
    assert_eq!(sent("\"read(sec/**)\""), [true, true, false]);
    assert_eq!(sent("\"read(AGENTS.md)\""), [false; 3], "it is read from either directory");
    assert_eq!(sent("\"read(sec/**)\", \"read(sub/AGENTS.md)\""), [true, false, false]);
}
