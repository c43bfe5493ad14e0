//! `agent resume`: with the session's own provider, model, mode and limits, and from a list; other sessions at the same prompt.

use crate::pty::{at_rest_after, command_on_terminal, on_terminal};
use crate::support::{Model, Running, Scratch};
use agent_testkit::http::Step;
use serde_json::json;

/// A run of a session with this id and these flags.
fn ran(scratch: &Scratch, model: &Model, id: &str, flags: &[&str]) {
    let task = format!("about {id}");
    let all = [&["-p", &task, "--session-id", id], flags].concat();
    scratch.run(model, &all);
}

/// What `agent resume` says and sends, without a flag for provider or model.
fn resumed(scratch: &Scratch, arguments: &[&str], input: &str) -> crate::support::Ended {
    let mut running = Running::start(scratch.agent(&["resume"]).args(arguments).env("ANTHROPIC_API_KEY", "k"));
    running.write(input);
    running.close_stdin();
    running.end()
}

#[test]
fn a_session_goes_on_as_it_was_used() {
    let scratch = Scratch::new();
    let model = Model::always(Step::text("Well."));
    ran(&scratch, &model, "first-one", &["--permission-mode", "plan", "--max-turns", "7"]);
    let ended = resumed(&scratch, &["first"], "again\n");
    ended.assert_code(0).assert_says("agent: as this session was used: anthropic at http://127.0.0.1:");
    ended.assert_says("scripted-model, permission mode plan, limit on model calls 7\n");
    let differs = ["continuing with the model", "permission mode plan (before", "model calls: "];
    assert!(!differs.iter().any(|words| ended.err.contains(words)), "nothing of this is different: {}", ended.err);
    assert_eq!(model.last_body()["model"], "scripted-model");
    // The command line overrides.
    let ended = resumed(&scratch, &["first-one", "-m", "other", "--permission-mode", "default"], "more\n");
    assert_eq!(model.last_body()["model"], "other");
    ended.assert_code(0).assert_says("permission mode default (before: plan)");
    let ended = resumed(&scratch, &["first-one"], "");
    ended.assert_says("other, limit on model calls 7");
    ran(&scratch, &model, "first-two", &[]);
    resumed(&scratch, &["first"], "").assert_code(42).assert_says("2 sessions begin with that");
}

#[test]
fn what_loosens_is_said_and_bypass_is_not_taken_over() {
    let scratch = Scratch::repository();
    let model = Model::always(Step::text("Well."));
    ran(&scratch, &model, "one", &["--permission-mode", "accept-edits"]);
    resumed(&scratch, &["one"], "")
        .assert_says("permission mode accept-edits, looser than default in your configuration");
    scratch.write(".agent/config.toml", "permission_mode = \"plan\"\n[limits]\nmax_turns = 3\n");
    let ended = resumed(&scratch, &["one"], "");
    ended.assert_says("permission mode plan (before: accept-edits)").assert_says("model calls: 3 (before:");
    scratch.write(".agent/config.toml", "");
    ran(&scratch, &model, "two", &["--permission-mode", "bypass"]);
    resumed(&scratch, &["two"], "")
        .assert_says("but permission mode default (`--permission-mode bypass` brings bypass back)");
}

/// A script is told the flag, and ends as before.
#[test]
fn a_limit_that_was_reached_is_asked_about() {
    let scratch = Scratch::new();
    let model = Model::always(Step::text("Well."));
    ran(&scratch, &model, "one", &["--max-turns", "1"]);
    resumed(&scratch, &["one"], "x\n").assert_code(53);
    let ended = resumed(&scratch, &["one"], "");
    ended.assert_says("limit on model calls reached: 1 of 1; `--max-turns 2` raises it");
    assert_eq!(model.requests().len(), 1);
    let Some(mut running) = command_on_terminal(&scratch, "resume one --api-key-env -") else { return };
    running.wait_for("Raise the limits by their initial amounts?");
    running.wait_for_screen(|screen| screen.contains("\nRaise the limits"));
    running.write("y\r");
    // The message that the limit held back goes out.
    model.wait_for_requests(2);
    running.wait_for_screen(|screen| screen.contains("2 of 2 model calls used"));
    assert!(model.last_body()["messages"].to_string().contains("x"), "{}", model.last_body());
    running.write("/quit\r");
    running.end().assert_code(0);
}

/// The call was looked at by the program that was killed while it asked; the copy of the file is made by the one that runs it.
#[test]
fn an_edit_that_is_allowed_after_resuming_is_taken_back() {
    let scratch = Scratch::repository();
    let write = Step::call("write_file", json!({"path": "b.txt", "content": "b\n"}));
    let model = Model::script([write, Step::text("Done.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "--session-id one") else { return };
    running.wait_for("> ");
    running.write("make it\r");
    running.wait_for("allow this call? write_file b.txt");
    running.signal("KILL");
    drop(running);
    // The terminal's end may reach the program later than this.
    let Some(mut running) = command_on_terminal(&scratch, "resume one --api-key-env -") else { return };
    running.wait_for("allow this call? write_file b.txt");
    running.wait_for_screen(|screen| screen.contains("answer:"));
    running.write("y");
    at_rest_after(&running, "Done.");
    assert_eq!(scratch.read("b.txt"), "b\n");
    running.write("/undo\r");
    running.wait_for("removed b.txt");
    running.write("/quit\r");
    running.end().assert_code(0);
    assert!(!scratch.work("b.txt").exists());
    model.assert_valid();
}

#[test]
fn a_session_is_chosen_from_a_list() {
    let scratch = Scratch::new();
    let model = Model::always(Step::text("Well."));
    for id in ["apples", "pears"] {
        ran(&scratch, &model, id, &[]);
    }
    scratch.ended(&["sessions", "rename", "app", "red", "fruit"]).assert_code(0);
    let Some(mut running) = command_on_terminal(&scratch, "resume --api-key-env -") else { return };
    running.wait_for("Resume: ");
    running.wait_for_screen(|screen| screen.contains("red fruit: about apples") && screen.contains("about pears"));
    running.write("fruit\r");
    running.wait_for("session apples");
    // The list no longer decides what an interrupt means.
    running.wait_for_screen(|screen| screen.contains("100 in, 20 out") && !screen.contains("working"));
    running.write("\x03");
    running.wait_for("Ctrl-C again quits");
    running.write("/resume pe\r");
    running.wait_for("session pears");
    running.write("/resume\r");
    running.wait_for("Session: ");
    running.write("\r");
    // The rows above may have left the screen.
    let newest = |screen: &str| {
        let (_, rest) = screen.rsplit_once("· session ")?;
        rest.split_whitespace().next().map(ToOwned::to_owned)
    };
    running.wait_for_screen(|screen| newest(screen).is_some_and(|id| id == "apples"));
    running.write("/branch\r");
    running.wait_for_screen(|screen| newest(screen).is_some_and(|id| id != "apples" && id != "pears"));
    running.write("go on\r");
    model.wait_for_requests(3);
    assert!(model.last_body()["messages"].to_string().contains("about apples"));
    // The request alone does not mean that the answer is there.
    running.wait_for_screen(|screen| screen.contains("200 in, 40 out") && !screen.contains("working"));
    running.write("/rewind\r");
    running.wait_for("Back to before");
    running.write("apples\r");
    running.wait_for_screen(|screen| screen.contains("\n> about apples\n"));
    running.write("\x15/quit\r");
    running.end().assert_code(0);
    // None is chosen.
    let Some(mut running) = command_on_terminal(&scratch, "resume") else { return };
    running.wait_for("Resume: ");
    running.write("\x1b");
    running.end().assert_code(0);
}

/// Neither from the list nor by its id; and a session that cannot be opened leads back to the one before.
#[test]
fn a_session_that_cannot_be_had_is_not_gone_to() {
    let scratch = Scratch::new();
    let model = Model::always(Step::text("Well."));
    for id in ["pears", "plums"] {
        ran(&scratch, &model, id, &[]);
    }
    let Some(mut other) = command_on_terminal(&scratch, "resume pears --api-key-env -") else { return };
    other.wait_for("session pears");
    let Some(mut running) = on_terminal(&scratch, &model, "--session-id here") else { return };
    running.wait_for("session here");
    running.write("hello\r");
    at_rest_after(&running, "Well.");
    running.write("/resume pears\r");
    running.wait_for("the session pears is in use");
    running.write("/resume\r");
    running.wait_for_screen(|screen| screen.contains("(in use) about pears") && screen.contains("  about plums"));
    running.write("pears\r");
    running.wait_for_screen(|screen| screen.matches("the session pears is in use").count() == 2);
    let plums = scratch.journals().into_iter().find(|path| path.ends_with("plums.jsonl")).unwrap();
    std::fs::write(&plums, "{\"no\": \"journal\"}\n").unwrap();
    running.write("/resume plums\r");
    running.wait_for("back in the session before: ");
    running.wait_for_screen(|screen| screen.contains("agent: Well.") && screen.contains("\n>\n"));
    running.write("still here\r");
    model.wait_for_requests(4);
    running.wait_for_screen(|screen| screen.contains("> still here") && !screen.contains("working"));
    let sent = model.last_body()["messages"].to_string();
    assert!(sent.contains("hello") && sent.contains("still here"), "{sent}");
    running.write("/quit\r");
    running.end().assert_code(0);
    other.write("/quit\r");
    other.end().assert_code(0);
}

/// What was said and not answered is newer than the last answer.
#[test]
fn the_last_words_before_a_kill_are_shown_last() {
    let scratch = Scratch::new();
    let model = Model::script([Step::text("To the first."), Step::hang(), Step::hang()]);
    let Some(mut running) = on_terminal(&scratch, &model, "--session-id one") else { return };
    running.wait_for("> ");
    running.write("first\r");
    at_rest_after(&running, "To the first.");
    running.write("the second\r");
    model.wait_for_requests(2);
    running.signal("KILL");
    drop(running);
    let Some(mut running) = command_on_terminal(&scratch, "resume one --api-key-env -") else { return };
    running.wait_for_screen(|screen| screen.contains("\nagent: To the first.\nyou: the second\n"));
    running.write("\x1b");
    running.wait_for("stopped");
    running.write("/quit\r");
    running.end().assert_code(0);
}
