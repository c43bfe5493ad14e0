//! The commands at the prompt: what the person sees of them, and what the model received.

use crate::pty::{at_rest_after, on_terminal, program_on_terminal};
use crate::support::{Model, Running, Scratch, Wire, eventually};
use agent_testkit::http::Step;
use serde_json::json;

/// A prompt whose first message was answered.
fn at_rest(scratch: &Scratch, model: &Model, arguments: &str) -> Option<Running> {
    let mut running = on_terminal(scratch, model, arguments)?;
    running.wait_for("> ");
    running.write("first\r");
    at_rest_after(&running, "To the first.");
    Some(running)
}

fn quit(mut running: Running) {
    running.write("\x15/quit\r");
    running.end().assert_code(0);
}

#[test]
fn a_mistyped_command_is_not_sent_and_stands_in_the_line_again() {
    let scratch = Scratch::new();
    let model = Model::script([Step::text("To the first."), Step::text("To the message.")]);
    let Some(mut running) = at_rest(&scratch, &model, "") else { return };
    running.write("/hlep\r");
    running.wait_for_screen(|screen| {
        screen.contains("unknown command /hlep; did you mean /help? /help lists the commands\n> /hlep\n")
    });
    running.write("\x15/exi\t");
    running.wait_for_screen(|screen| screen.contains("\n> /exit"));
    running.write("\x15/quit now\r");
    running.wait_for_screen(|screen| screen.contains("/quit takes no arguments\n> /quit now\n"));
    running.write("\x15/tidy up\r");
    at_rest_after(&running, "To the message.");
    assert_eq!(model.requests().len(), 2);
    assert!(model.last_body()["messages"].to_string().contains("/tidy up"));
    quit(running);
}

#[test]
fn help_lists_every_command_and_other_programs_can_too() {
    let scratch = Scratch::new();
    let listed = scratch.ended(&["commands", "--json"]);
    let listed: Vec<serde_json::Value> = serde_json::from_str(&listed.assert_code(0).out).unwrap();
    let names: Vec<&str> = listed.iter().map(|command| command["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"help") && names.contains(&"cost"), "{names:?}");
    let lines = scratch.ended(&["commands"]);
    assert_eq!(lines.assert_code(0).out.lines().count(), names.len());
    let model = Model::script([Step::text("To the first.")]);
    let Some(mut running) = at_rest(&scratch, &model, "") else { return };
    running.write("/help\r");
    for name in names {
        running.wait_for(&format!("/{name}"));
    }
    running.write("/cost\r");
    running.wait_for("1 model call, 0 tool calls");
    assert_eq!(model.requests().len(), 1);
    quit(running);
}

fn write(path: &str, content: &str) -> Step {
    Step::call("write_file", json!({"path": path, "content": content}))
}

/// What the session changed is shown as lines, and goes back.
#[test]
fn changes_are_shown_and_undone() {
    let scratch = Scratch::repository();
    scratch.write("old.txt", "one\ntwo\n");
    let steps = [
        write("new.txt", "mine\n"),
        Step::call("read_file", json!({"path": "old.txt"})),
        write("old.txt", "one\n2\n"),
        Step::text("To the first."),
        Step::text("Again."),
    ];
    let model = Model::script(steps);
    let Some(mut running) = at_rest(&scratch, &model, "--permission-mode accept-edits") else { return };
    running.write("/diff\r");
    running.wait_for_screen(|screen| {
        screen.contains("/diff\n  new.txt (new, 1 line)\n") && screen.contains("  old.txt (+1 -1)\n")
    });
    running.write("/undo 1 2\r");
    running.wait_for("has to be a number above zero");
    running.write("/undo\r");
    running.wait_for("took back 1 turn of this session (\"first\")");
    assert!(!scratch.work("new.txt").exists());
    assert_eq!(scratch.read("old.txt"), "one\ntwo\n");
    assert_eq!(model.requests().len(), 4, "the model was asked nothing");
    quit(running);
}

/// A turn is one of this session: another session's stays, and is named; each further `/undo` goes one turn further back.
#[test]
fn undo_takes_back_turns_of_this_session_alone() {
    let scratch = Scratch::repository();
    let first = Model::script([write("other.txt", "theirs\n"), Step::text("Made.")]);
    scratch.run(&first, &["-p", "make the other file", "--permission-mode", "accept-edits"]).assert_code(0);
    let edit = |old: &str, new: &str| {
        Step::call("edit_file", json!({"path": "new.txt", "old_string": old, "new_string": new}))
    };
    let steps = [
        Step::text("To the first."),
        write("new.txt", "one\n"),
        Step::text("Second."),
        edit("one", "two"),
        Step::text("Third."),
    ];
    let model = Model::script(steps);
    let Some(mut running) = at_rest(&scratch, &model, "--permission-mode accept-edits") else { return };
    running.write("/undo\r");
    running.wait_for("this session has changed no files");
    running.wait_for("(\"make the other file\")");
    let in_one_line = |screen: &str| screen.split_whitespace().collect::<Vec<_>>().join(" ");
    running.wait_for_screen(|screen| in_one_line(screen).contains("`agent undo` in a shell takes it back"));
    assert_eq!(scratch.read("other.txt"), "theirs\n");
    for (message, answer) in [("write it", "Second."), ("edit it", "Third.")] {
        running.write(&format!("{message}\r"));
        at_rest_after(&running, answer);
    }
    assert_eq!(scratch.read("new.txt"), "two\n");
    running.write("/undo\r");
    running.wait_for("took back 1 turn of this session (\"edit it\")");
    assert_eq!(scratch.read("new.txt"), "one\n");
    running.write("/undo\r");
    running.wait_for("took back 1 turn of this session (\"write it\")");
    assert!(!scratch.work("new.txt").exists());
    running.write("/undo\r");
    running.wait_for("every turn of this session that changed files is taken back already");
    assert_eq!(scratch.read("other.txt"), "theirs\n");
    quit(running);
}

/// At work the files are the agent's.
#[test]
fn what_needs_rest_says_so_and_stands_in_the_line_again() {
    let scratch = Scratch::new();
    let model = Model::script([Step::text("To the first."), Step::hang()]);
    let Some(mut running) = at_rest(&scratch, &model, "") else { return };
    running.write("second\r");
    model.wait_for_requests(2);
    running.write("/undo\r");
    running.wait_for("/undo cannot run while the agent works: Esc or Ctrl-C stops it");
    running.wait_for_screen(|screen| screen.contains("\n> /undo\n"));
    running.write("\x15/cost\r");
    running.wait_for("1 model call, 0 tool calls");
    running.write("\x1b");
    running.wait_for("stopped");
    quit(running);
}

#[test]
fn a_session_is_named_exported_traced_and_looked_into() {
    let scratch = Scratch::repository();
    let model = Model::script([Step::text("To the first.")]);
    let Some(mut running) = at_rest(&scratch, &model, "") else { return };
    running.write("/rename the parser\r");
    running.wait_for("is now called `the parser`");
    running.write("/export out.md\r");
    running.wait_for("written to");
    running.write("/export out.md\r");
    running.wait_for("cannot write");
    running.write("/context\r");
    running.wait_for("tokens, estimated from bytes");
    running.wait_for("%  descriptions of");
    running.write("/trace 1\r");
    running.wait_for("replayed twice with the same result");
    running.write("/permissions\r");
    running.wait_for("there are no rules");
    quit(running);
    assert!(scratch.read("out.md").contains("To the first."));
    let list = scratch.ended(&["sessions", "list"]);
    assert!(list.assert_code(0).out.contains("the parser: first"), "{list:?}");
    assert_eq!(model.requests().len(), 1);
}

/// The old session is kept; the model sees nothing of it.
#[test]
fn clear_begins_anew() {
    let scratch = Scratch::new();
    let model = Model::script([Step::text("To the first."), Step::text("To the second.")]);
    let Some(mut running) = at_rest(&scratch, &model, "") else { return };
    running.write("/mode plan\r");
    running.wait_for("permission mode: plan");
    running.write("/clear\r");
    running.wait_for("to resume: agent resume");
    running.wait_for_screen(|screen| {
        screen.matches(" · session ").count() == 2 && screen.contains("\nscripted-model · plan\n")
    });
    running.write("second\r");
    at_rest_after(&running, "To the second.");
    assert!(!model.last_body()["messages"].to_string().contains("first"));
    assert_eq!(scratch.journals().len(), 2);
    quit(running);
}

/// Shift-Tab goes through the modes without `bypass`; what holds is what the session says, and what it does.
#[test]
fn the_permission_mode_changes_between_messages() {
    let scratch = Scratch::new();
    let steps = [Step::text("To the first."), write("a.txt", "a"), Step::text("Written."), write("b.txt", "b")];
    let model = Model::script(steps.into_iter().chain([Step::text("Not written.")]));
    let Some(mut running) = at_rest(&scratch, &model, "") else { return };
    running.write("\x1b[Z");
    running.wait_for("permission mode: accept-edits");
    running.write("write a\r");
    at_rest_after(&running, "Written.");
    assert!(scratch.work("a.txt").exists(), "nobody was asked");
    running.write("\x1b[Z");
    running.wait_for("permission mode: plan");
    running.write("write b\r");
    at_rest_after(&running, "Not written.");
    assert!(!scratch.work("b.txt").exists());
    running.write("\x1b[Z");
    running.wait_for("permission mode: default");
    running.write("/mode\r");
    running.wait_for("Permission mode");
    running.write("byp\r");
    running.wait_for("permission mode: bypass");
    running.write("/mode wild\r");
    running.wait_for("the permission modes are");
    quit(running);
    model.assert_valid();
}

#[test]
fn a_repository_narrows_the_modes_at_the_prompt_too() {
    let scratch = Scratch::repository();
    scratch.write(".agent/config.toml", "permission_mode = \"default\"\n");
    let model = Model::script([Step::text("To the first.")]);
    let Some(mut running) = at_rest(&scratch, &model, "") else { return };
    running.write("/mode bypass\r");
    running.wait_for("allows no looser permission mode than default");
    running.write("\x1b[Z");
    running.wait_for("permission mode: plan");
    running.write("\x1b[Z");
    running.wait_for("permission mode: default");
    quit(running);
}

#[test]
fn another_model_answers_the_next_message() {
    let scratch = Scratch::new();
    scratch.configure("[models.other-model]\ncontext_window_tokens = 5000\n");
    let model = Model::script([Step::text("To the first."), Step::text("I am the other."), Step::text("A third.")]);
    let Some(mut running) = at_rest(&scratch, &model, "") else { return };
    running.write("/model\r");
    running.wait_for("Model (another: /model ID)");
    running.write("other\r");
    running.wait_for("model: other-model");
    running.write("who are you\r");
    at_rest_after(&running, "I am the other.");
    assert_eq!(model.last_body()["model"], "other-model");
    running.write("/model third-model\r");
    running.wait_for("model: third-model");
    running.write("and now\r");
    at_rest_after(&running, "A third.");
    assert_eq!(model.last_body()["model"], "third-model");
    quit(running);
    model.assert_valid();
}

/// A command that has to succeed is named at the prompt, and checked from then on.
#[test]
fn a_check_is_added_between_messages() {
    let scratch = Scratch::repository();
    let steps = [
        Step::text("To the first."),
        Step::text("Done."),
        write("fixed.txt", ""),
        Step::text("Now it is."),
        Step::text("You are welcome."),
    ];
    let model = Model::script(steps);
    let Some(mut running) = at_rest(&scratch, &model, "--permission-mode accept-edits") else { return };
    running.write("/verify\r");
    running.wait_for("nothing is checked after a message");
    running.write("/verify test -f fixed.txt\r");
    running.wait_for("after each message: test -f fixed.txt");
    running.write("fix it\r");
    running.wait_for_screen(|screen| screen.contains("  kept: the command ended with exit code 0\n>"));
    assert_eq!(model.requests().len(), 4);
    // It would fail now, and is not checked any more.
    std::fs::remove_file(scratch.work("fixed.txt")).unwrap();
    running.write("/verify off\r");
    running.wait_for("nothing is checked after a message");
    running.write("thanks\r");
    at_rest_after(&running, "You are welcome.");
    assert_eq!(model.requests().len(), 5);
    quit(running);
}

#[test]
fn a_summary_keeps_what_is_named() {
    let scratch = Scratch::new();
    let long = format!("{} To the first.", "It is long. ".repeat(60));
    let model = Model::script([Step::text(&long), Step::text("Anna and Bella are pears."), Step::text("To the next.")]);
    let Some(mut running) = at_rest(&scratch, &model, "") else { return };
    running.write("/compact the names of the pears\r");
    model.wait_for_requests(2);
    let asked = model.last_body()["messages"].to_string();
    assert!(asked.contains("Summarise") && asked.contains("Keep in detail"), "{asked}");
    assert!(asked.contains("\\nthe names of the pears\""), "{asked}");
    // What it used counts at once.
    running.wait_for_screen(|screen| screen.contains("200 in, 40 out") && !screen.contains("working"));
    running.write("next\r");
    at_rest_after(&running, "To the next.");
    let sent = model.last_body()["messages"].to_string();
    assert!(sent.contains("Anna and Bella are pears.") && !sent.contains("It is long."), "{sent}");
    quit(running);
}

#[test]
fn a_session_does_not_end_as_a_summary_failed() {
    let scratch = Scratch::new();
    let long = format!("{} To the first.", "It is long. ".repeat(60));
    let model = Model::script([Step::text(&long), Step::text("")]);
    let Some(mut running) = at_rest(&scratch, &model, "") else { return };
    running.write("/compact\r");
    running.wait_for("the summary is empty");
    quit(running);
    let shown = scratch.ended(&["sessions", "show"]);
    assert!(shown.out.contains("success (exit code 0)"), "{}", shown.out);
}

#[test]
fn a_workspace_is_trusted_and_no_longer_trusted() {
    let scratch = Scratch::repository();
    scratch.write("tools/shout", "#!/bin/sh\ntr a-z A-Z\n");
    let formatter = "[[formatters]]\nextensions = [\"txt\"]\nprogram = \"tools/shout\"\nstdin = true\n";
    scratch.write(".agent/config.toml", formatter);
    let is_trusted = || scratch.ended(&["trust", "--show"]).code() == 0;
    assert!(!is_trusted());
    let model = Model::script([Step::text("To the first.")]);
    let Some(mut running) = at_rest(&scratch, &model, "") else { return };
    running.write("/trust\r");
    running.wait_for("tools/shout");
    assert!(!is_trusted(), "it is only shown");
    running.write("/trust yes\r");
    eventually("trusted", is_trusted);
    running.write("/trust no\r");
    eventually("no longer trusted", || !is_trusted());
    running.write("/trust perhaps\r");
    running.wait_for("`/trust yes` trusts");
    assert_eq!(model.requests().len(), 1);
    quit(running);
}

/// In a narrow terminal the help is in rows that end between words.
#[test]
fn help_is_wrapped_between_words() {
    let scratch = Scratch::new();
    let model = Model::script([Step::text("To the first.")]);
    let agent = format!("stty cols 40; {}", env!("CARGO_BIN_EXE_agent"));
    let flags = model.flags(Wire::Anthropic).join(" ");
    let Some(mut running) = program_on_terminal(&scratch, &format!("{agent} {flags}")) else { return };
    running.wait_for("> ");
    running.write("/help\r");
    running.wait_for("Ctrl-Y, -_");
    running.write("\x15/quit\r");
    let ended = running.end();
    let mut terminal = vt100::Parser::new(200, 40, 0);
    terminal.process(ended.assert_code(0).out.as_bytes());
    let rows: Vec<String> = terminal.screen().rows(0, 40).collect();
    let commands = scratch.ended(&["commands"]).out;
    let words = commands.split_whitespace().filter(|word| word.len() < 27);
    let split: Vec<&str> = words.filter(|word| !rows.iter().any(|row| row.contains(word))).collect();
    assert!(split.is_empty(), "{split:?} in\n{}", rows.join("\n"));
}
