//! Going on with sessions: the history is whole, and belongs to one program at a time.

use crate::support::{Model, Running, Scratch, eventually};
use agent_testkit::http::Step;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

fn said(body: &Value) -> String {
    body["messages"].to_string()
}

#[test]
fn continue_goes_on_with_the_newest() {
    let model = Model::script([Step::text("First answer."), Step::text("Second answer.")]);
    let scratch = Scratch::new();
    let first = scratch.run(&model, &["-p", "first question", "--output-format", "json"]).result();
    let second = scratch.run(&model, &["-p", "second question", "--continue", "--output-format", "json"]).result();
    assert_eq!(first["session_id"], second["session_id"]);
    assert_eq!(second["num_turns"], 1, "only this run's");
    let said = said(&model.last_body());
    for words in ["first question", "First answer.", "second question"] {
        assert!(said.contains(words), "{said}");
    }
    model.assert_valid();
}

#[test]
fn a_session_by_its_id() {
    let model = Model::script([Step::text("One."), Step::text("Two.")]);
    let scratch = Scratch::new();
    scratch.run(&model, &["-p", "first", "--session-id", "my-own_id"]).assert_code(0);
    let result =
        scratch.run(&model, &["-p", "second", "--session-id", "my-own_id", "--output-format", "json"]).result();
    assert_eq!(result["session_id"], "my-own_id");
    assert!(said(&model.last_body()).contains("first"));
    assert_eq!(scratch.journals().len(), 1);
}

#[test]
fn resume_wants_a_session_that_exists() {
    let model = Model::script([]);
    let scratch = Scratch::new();
    let mut command = scratch.agent(&["resume", "no-such-session"]);
    Running::start(command.args(model.flags(crate::support::Wire::Anthropic)))
        .end()
        .assert_code(42)
        .assert_says("no-such-session");
    let mut command = scratch.agent(&["resume"]);
    Running::start(command.args(model.flags(crate::support::Wire::Anthropic)))
        .end()
        .assert_code(42)
        .assert_says("there is none");
    assert!(scratch.journals().is_empty());
    // Before a key is.
    scratch.ended(&["resume", "no-such-session"]).assert_code(42).assert_says("no-such-session");
    scratch.ended(&["resume"]).assert_code(42).assert_says("there is none");
    for arguments in
        [&["resume", "x", "--session-id", "y"][..], &["resume", "x", "--continue"], &["resume", "--no-session"]]
    {
        scratch.ended(arguments).assert_code(2);
    }
}

#[test]
fn a_session_that_has_to_be_there_is_looked_for_first() {
    let scratch = Scratch::repository();
    // No provider, no key, no model, and a configuration that is wrong.
    scratch.configure("provider = 7\n");
    for arguments in [
        &["run", "--continue", "-p", "x"][..],
        &["run", "--continue"],
        &["run", "--continue", "--fork-session", "-p", "x"],
        &["run", "--session-id", "nope", "--fork-session", "-p", "x"],
        &["--continue"],
        &["resume"],
        &["resume", "nope"],
        &["resume", "nope", "--model", "x", "--provider", "openai"],
    ] {
        let ended = scratch.ended(arguments);
        ended.assert_code(42).assert_says("there is none");
        assert!(!ended.err.contains("key") && !ended.err.contains("provider"), "{ended:#?}");
        assert!(!ended.err.contains("nope") || arguments.contains(&"nope"), "{ended:#?}");
    }
    assert!(scratch.journals().is_empty());
}

#[test]
fn the_list_and_continue_agree_on_what_a_session_is() {
    let model = Model::always(Step::text("One."));
    let scratch = Scratch::new();
    // Opened and left.
    let mut command = scratch.agent(&["--session-id", "empty"]);
    let running = Running::start(command.args(model.flags(crate::support::Wire::Anthropic)));
    running.wait_for("session empty");
    running.signal("TERM");
    running.end();
    assert_eq!(scratch.journals().len(), 1);
    let listed = |arguments: &[&str]| {
        let ended = scratch.ended(&[&["sessions", "list"], arguments].concat());
        ended.assert_code(0);
        ended
    };
    let only_empty = listed(&[]);
    assert_eq!(only_empty.out, "");
    only_empty.assert_says("1 without a message").assert_says("--all");
    assert!(listed(&["--all"]).out.starts_with("empty "));
    scratch.run(&model, &["--continue", "-p", "x"]).assert_code(42).assert_says("there is none");
    assert_eq!(model.requests().len(), 0);

    scratch.run(&model, &["-p", "x", "--session-id", "full"]).assert_code(0);
    let mut command = scratch.agent(&["--session-id", "later"]);
    let running = Running::start(command.args(model.flags(crate::support::Wire::Anthropic)));
    running.wait_for("session later");
    running.signal("TERM");
    running.end();
    assert_eq!(listed(&[]).out.lines().count(), 1, "{:?}", listed(&[]));
    let result = scratch.run(&model, &["--continue", "-p", "y", "--output-format", "json"]).result();
    assert!(listed(&[]).out.starts_with("full "));
    assert_eq!(result["session_id"], "full");
}

#[test]
fn resume_at_the_prompt() {
    let model = Model::script([Step::text("One."), Step::text("Two.")]);
    let scratch = Scratch::new();
    scratch.run(&model, &["-p", "first", "--session-id", "mine"]).assert_code(0);
    let mut command = scratch.agent(&["resume", "mine"]);
    let mut running = Running::start(command.args(model.flags(crate::support::Wire::Anthropic)));
    running.write("second\n");
    running.close_stdin();
    let ended = running.end();
    assert!(ended.assert_code(0).out.contains("Two."));
    assert!(ended.err.contains("you: first") && ended.err.contains("agent: One."), "where it was left: {ended:#?}");
    assert!(said(&model.last_body()).contains("first"));
}

#[test]
fn a_journal_is_the_users_own() {
    let model = Model::script([Step::text("One.")]);
    let scratch = Scratch::new();
    scratch.run(&model, &["-p", "x"]).assert_code(0);
    for journal in scratch.journals() {
        assert_eq!(std::fs::metadata(&journal).unwrap().permissions().mode() & 0o777, 0o600, "{journal:?}");
    }
}

#[test]
fn a_session_has_one_writer() {
    let model = Model::script([Step::hang()]);
    let scratch = Scratch::new();
    let first = Running::start(&mut scratch.run_command(&model, &["-p", "x", "--session-id", "mine"]));
    model.wait_for_requests(1);
    for arguments in [&["-p", "y", "--session-id", "mine"][..], &["-p", "y", "--continue"]] {
        let second = scratch.run(&model, arguments);
        second.assert_code(42).assert_says(&first.id().to_string()).assert_says("in use");
    }
    assert_eq!(model.requests().len(), 1);
    first.signal("TERM");
    first.end().assert_code(143);
}

#[test]
fn a_crash_in_the_middle_of_a_tool() {
    let model = Model::script([
        Step::call("bash", json!({"command": "echo once >> ran.txt; echo $$ > id.txt; exec sleep 86"})),
        Step::text("I looked."),
    ]);
    let scratch = Scratch::repository();
    let running = Running::start(&mut scratch.run_command(&model, &["-p", "do it", "--permission-mode", "bypass"]));
    eventually("the tool", || std::fs::read_to_string(scratch.work("id.txt")).is_ok_and(|id| id.ends_with('\n')));
    running.signal("KILL");
    running.end();
    let ended = scratch.run(&model, &["--continue", "-p", "and now?", "--permission-mode", "bypass"]);
    assert_eq!(ended.assert_code(0).out, "I looked.\n");
    model.assert_valid();
    let said = said(&model.last_body());
    assert!(said.contains("interrupted") && said.contains("unknown"), "{said}");
    assert!(said.contains("and now?"), "{said}");
    assert_eq!(scratch.read("ran.txt"), "once\n", "it was not run again");
}

#[test]
fn a_torn_record_is_said_and_kept_aside() {
    let model = Model::script([Step::text("One."), Step::text("Two.")]);
    let scratch = Scratch::new();
    scratch.run(&model, &["-p", "first"]).assert_code(0);
    let journal = scratch.journals().pop().unwrap();
    let mut text = std::fs::read_to_string(&journal).unwrap();
    text.push_str("{\"seq\":99,\"at_");
    std::fs::write(&journal, text).unwrap();
    let ended = scratch.run(&model, &["-p", "second", "--continue"]);
    ended.assert_code(0).assert_says("a crash cut");
    assert!(said(&model.last_body()).contains("first"));
}

#[test]
fn a_damaged_journal_is_not_gone_on_with() {
    let model = Model::script([Step::text("One.")]);
    let scratch = Scratch::new();
    scratch.run(&model, &["-p", "first"]).assert_code(0);
    let journal = scratch.journals().pop().unwrap();
    let text = std::fs::read_to_string(&journal).unwrap();
    let damaged = text.replacen("\"seq\":2", "\"s\0q\":2", 1);
    std::fs::write(&journal, &damaged).unwrap();
    let hint = "is damaged: its checksum is";
    scratch.run(&model, &["-p", "second", "--continue"]).assert_code(42).assert_says(hint).assert_says("--repair OUT");
    scratch.ended(&["sessions", "verify"]).assert_code(42).assert_says(hint).assert_says("--repair OUT");
    assert_eq!(std::fs::read_to_string(&journal).unwrap(), damaged, "nothing was changed");
}

#[test]
fn a_journal_cut_before_its_first_record_is_no_session() {
    let model = Model::script([Step::text("One."), Step::text("Two."), Step::text("Three.")]);
    let scratch = Scratch::new();
    scratch.run(&model, &["-p", "first"]).assert_code(0);
    let folder = scratch.journals()[0].parent().unwrap().to_owned();
    std::fs::write(folder.join("torn.jsonl"), "{\"se").unwrap();
    scratch.ended(&["sessions", "verify", "torn"]).assert_code(42).assert_says("a crash cut its first record");
    scratch.ended(&["sessions", "show", "tornado"]).assert_code(42).assert_says("`agent sessions list` shows");
    scratch.run(&model, &["-p", "second", "--continue"]).assert_code(0);
    assert!(said(&model.last_body()).contains("first"), "the newest that was begun goes on");
    scratch.run(&model, &["-p", "third", "--session-id", "torn"]).assert_code(0);
    assert!(!said(&model.last_body()).contains("first"));
    model.assert_valid();
}

#[test]
fn a_journal_or_lock_that_is_no_file_is_refused() {
    let model = Model::script([Step::text("One.")]);
    let scratch = Scratch::new();
    scratch.run(&model, &["-p", "first", "--session-id", "known"]).assert_code(0);
    let folder = scratch.journals()[0].parent().unwrap().to_owned();
    let mine = scratch.work("mine.txt");
    std::fs::write(&mine, "mine").unwrap();
    std::os::unix::fs::symlink(&mine, folder.join("linked.lock")).unwrap();
    scratch.run(&model, &["-p", "x", "--session-id", "linked"]).assert_code(52).assert_says("symbolic link");
    assert_eq!(std::fs::read_to_string(&mine).unwrap(), "mine");
    std::os::unix::fs::symlink("/dev/zero", folder.join("endless.jsonl")).unwrap();
    scratch.run(&model, &["-p", "x", "--session-id", "endless"]).assert_code(52).assert_says("symbolic link");
}

#[test]
fn a_session_in_which_nothing_was_said_is_not_the_newest() {
    let model = Model::script([Step::text("First answer."), Step::text("Second answer.")]);
    let scratch = Scratch::new();
    scratch.run(&model, &["-p", "first question"]).assert_code(0);
    let mut running = Running::start(scratch.agent(&[]).args(model.flags(crate::support::Wire::Anthropic)));
    running.close_stdin();
    running.end().assert_code(0);
    scratch.run(&model, &["-p", "second question", "--continue"]).assert_code(0);
    assert!(said(&model.last_body()).contains("first question"));
}

/// The line that is printed is run as it stands, from where the user stands.
#[test]
fn the_command_to_go_on_works_as_printed() {
    let model = Model::script([Step::status(400), Step::text("Here I am.")]);
    let scratch = Scratch::new();
    let place = scratch.path("another place");
    std::fs::create_dir(&place).unwrap();
    let ended = scratch.run(&model, &["-p", "go", "-C", place.to_str().unwrap()]);
    ended.assert_code(62);
    let command = ended.err.lines().find_map(|line| line.split_once("resume this session: ")).unwrap().1.to_owned();
    let program = env!("CARGO_BIN_EXE_agent");
    let script = format!("echo hello | {}", command.replacen("agent", &format!("'{program}'"), 1));
    let mut shell = scratch.command("sh");
    let ended = Running::start(shell.args(["-c", &script])).end();
    ended.assert_code(0);
    assert!(ended.out.contains("Here I am."), "{command}: {ended:#?}");
}

#[test]
fn an_export_has_the_format_that_the_name_of_its_file_says() {
    let scratch = Scratch::new();
    let model = Model::script([Step::text("Hi.")]);
    scratch.run(&model, &["-p", "x", "--session-id", "one"]).assert_code(0);
    for (file, begins) in [("x.html", "<!"), ("x.md", "# Session one"), ("x.txt", "# Session one")] {
        scratch.ended(&["sessions", "export", "one", "-o", file]).assert_code(0);
        assert!(
            scratch.read(file).to_lowercase().starts_with(&begins.to_lowercase()),
            "{file}: {}",
            scratch.read(file)
        );
    }
    let again = scratch.ended(&["sessions", "export", "one", "-o", "x.html"]);
    again.assert_code(42).assert_says("it exists, and an export replaces no file; name another one or remove it");
    for (format, file) in [("markdown", "y.html"), ("html", "y.md")] {
        let refused = scratch.ended(&["sessions", "export", "one", "--format", format, "-o", file]);
        refused.assert_code(42).assert_says("`--format` and the name of the file differ");
        assert!(!scratch.work(file).exists());
    }
    scratch.ended(&["sessions", "export", "one", "--format", "html", "-o", "y"]).assert_code(0);
    assert!(scratch.read("y").starts_with("<!"));
    scratch
        .ended(&["sessions", "export", "one", "-o", "no/where.md"])
        .assert_code(42)
        .assert_says("its directory does not exist");
}
