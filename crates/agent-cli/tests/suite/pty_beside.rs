//! What stands beside a conversation at the prompt: commands of the person's shell, files that a message names, commands in the background,
//! a model that repeats itself.

use crate::pty::{at_rest_after, command_on_terminal, on_terminal};
use crate::support::{Model, Scratch, eventually, lives};
use agent_testkit::http::Step;
use serde_json::json;

fn last(model: &Model) -> String {
    model.last_body()["messages"].as_array().unwrap().last().unwrap().to_string()
}

/// Ctrl-C is the command's; the second one kills it with all that it started, whatever it makes of the first.
#[test]
fn a_command_that_does_not_heed_ctrl_c_is_killed_by_the_second_one() {
    let scratch = Scratch::repository();
    let model = Model::script([Step::text("I see.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write(
        "!trap '' INT; sh -c 'while :; do sleep 4722.7; done' & printf 'be%s\\n' gun; while :; do sleep 4722.7; done\r",
    );
    running.wait_for("begun");
    running.write("\x03");
    running.wait_for("Ctrl-C again kills it");
    assert!(lives("sleep 4722.7"), "the first one did not end it");
    running.write("\x03");
    running.wait_for("Tell the agent the command and its output?");
    eventually("all of it to be killed", || !lives("sleep 4722.7"));
    running.write("n\r");
    running.write("typed again");
    running.wait_for_screen(|screen| screen.contains("\n> typed again\n"));
    running.write("\x15\x04");
    assert!(running.end().out.contains("to resume: agent resume"));
    assert_eq!(model.requests().len(), 0);
}

#[test]
fn a_program_that_needs_the_terminal_is_refused_and_stands_in_the_line_again() {
    let scratch = Scratch::repository();
    let model = Model::script([Step::text("I see.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    for line in ["!vi a.txt", "!cd sub && git commit"] {
        running.write(&format!("{line}\r"));
        running.wait_for_screen(|screen| {
            screen.contains(&format!("\n> {line}\n")) && screen.contains("needs the whole terminal")
        });
        running.write("\x15");
    }
    running.write("\x04");
    running.end().assert_code(0);
}

/// The model reads the file with the message; the line, the list of messages and what comes back are as they were typed.
#[test]
fn a_file_that_a_message_names_goes_with_it() {
    let scratch = Scratch::repository();
    scratch.write("notes.txt", "the first\nthe second\n");
    scratch.write("picture.png", "\0\u{1}");
    let model = Model::script([Step::text("I see."), Step::hang()]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("look at @notes.txt and @picture.png, @nobody\r");
    at_rest_after(&running, "I see.");
    let screen = running.screen();
    assert!(screen.contains("attached notes.txt (2 lines)"), "{screen}");
    assert!(screen.contains("not attached: picture.png is no text"), "{screen}");
    assert!(!screen.contains("the second"), "{screen}");
    let said = last(&model);
    assert!(said.contains("look at @notes.txt") && said.contains("the first\\nthe second\\n"), "{said}");
    running.write("go\r");
    model.wait_for_requests(2);
    running.write("and @notes.txt again\r");
    running.wait_for_screen(|screen| {
        screen.contains("1 message waiting") && screen.contains("\n  and @notes.txt again\n")
    });
    running.write("\x1b[A");
    running.wait_for_screen(|screen| screen.contains("\n> and @notes.txt again\n"));
    running.write("\x15\x1b");
    running.wait_for("stopped");
    running.write("\x04");
    running.end().assert_code(0);
}

#[test]
fn a_command_in_the_background_is_seen_at_rest_and_listed() {
    let scratch = Scratch::repository();
    let start = Step::call("bash", json!({"command": "sleep 4722.9", "run_in_background": true}));
    let model = Model::script([start, Step::text("It runs.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "--permission-mode bypass") else { return };
    running.wait_for("> ");
    running.write("go\r");
    running.wait_for_screen(|screen| {
        screen.contains("It runs.\n>\n1 command in the background: sleep 4722.9, ") && screen.contains("· main")
    });
    running.write("/ps\r");
    running.wait_for("bash_1  ");
    running.write("\x04");
    running.end().assert_code(0);
    eventually("it to end with the session", || !lives("sleep 4722.9"));
}

/// The model is warned after three of the same, and after six the turn waits for the person.
#[test]
fn a_model_that_repeats_itself_is_warned_and_then_stopped() {
    let scratch = Scratch::repository();
    scratch.write("a.txt", "one\n");
    let model = Model::always(Step::call("read_file", json!({"path": "a.txt"})));
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("go\r");
    running.wait_for("6 times in a row");
    running.wait_for_screen(|screen| screen.contains("\n>\n"));
    let requests = model.requests();
    assert_eq!(requests.len(), 6);
    let warned = |at: usize| requests[at].body["messages"].to_string().contains("gave the same result 3 times");
    assert!(!warned(2) && warned(3), "after the third");
    running.write("/more\r");
    running.wait_for("12 times in a row");
    running.wait_for_screen(|screen| screen.contains("\n>\n"));
    assert_eq!(model.requests().len(), 18, "the work goes on without a message, and the count begins anew");
    running.write("\x04");
    running.end();
    // What was raised holds on.
    let Some(mut running) = command_on_terminal(&scratch, "resume --api-key-env -") else { return };
    running.wait_for("repetitions of a call 12");
    running.wait_for_screen(|screen| screen.contains("\n>\n"));
    running.write("again\r");
    running.wait_for_screen(|screen| screen.contains("times in a row (limit 12)") && screen.ends_with("main\n"));
    assert_eq!(model.requests().len(), 30);
    running.write("\x04");
    running.end();
}

#[test]
fn a_raise_of_limits_that_held_nothing_back_says_what_to_do() {
    let scratch = Scratch::repository();
    let model = Model::script([Step::text("Done.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("go\r");
    at_rest_after(&running, "Done.");
    running.write("/more\r");
    running.wait_for("no work was waiting for that: write what to do next");
    running.write("\x04");
    running.end().assert_code(0);
    assert_eq!(model.requests().len(), 1);
}

/// Also what answers the question behind the command: it was typed before that was there.
#[test]
fn what_is_typed_while_a_command_runs_stands_in_the_line() {
    let scratch = Scratch::repository();
    let model = Model::script([Step::text("I see.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("!echo begun; until [ -e go ]; do sleep 0.02; done\r");
    running.wait_for("\nbegun");
    running.write("yes, go\ron");
    // The terminal has it when it shows it.
    running.wait_for_screen(|screen| screen.contains("yes, go\non"));
    std::fs::write(scratch.work("go"), "").unwrap();
    running.wait_for("Tell the agent the command and its output?");
    running.write("n\r");
    running.wait_for_screen(|screen| screen.contains("\n> yes, go\n  on\n"));
    running.write("!\r");
    at_rest_after(&running, "I see.");
    assert!(model.last_body()["messages"].to_string().contains("yes, go\\non!"), "{}", model.last_body());
    running.write("\x04");
    running.end().assert_code(0);
}

/// What it wrote before its end, also where something in the background holds the other end; and the draft below it.
#[test]
fn what_a_command_wrote_goes_whole_and_stands_above_the_draft() {
    let scratch = Scratch::repository();
    let model = Model::script([Step::text("I see.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    let command = "echo begun; until [ -e go ]; do sleep 0.02; done; sleep 20 & seq 1 9000; printf 'the %s' end";
    running.write(&format!("!{command}\r"));
    running.wait_for("\nbegun");
    running.write("why is that?");
    running.wait_for_screen(|screen| screen.contains("why is that?"));
    std::fs::write(scratch.work("go"), "").unwrap();
    running.wait_for("Tell the agent the command and its output?");
    running.write("y\r");
    running.wait_for_screen(|screen| screen.contains("\n  why is that?\n"));
    running.write("\r");
    at_rest_after(&running, "I see.");
    let said = last(&model);
    let numbers: String = (1..=9_000).map(|number| format!("{number}\\n")).collect();
    assert!(said.contains(&format!("begun\\n{numbers}the end\\nwhy is that?")), "{said}");
    running.write("\x04");
    running.end().assert_code(0);
}

#[test]
fn a_folder_that_a_message_names_goes_as_its_names_and_a_slip_is_said() {
    let scratch = Scratch::repository();
    scratch.write("src/one.rs", "x");
    scratch.write("src/deep/two.rs", "x");
    let model = Model::script([Step::text("I see.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("look at @src/ and @scr/one.rs \r");
    at_rest_after(&running, "I see.");
    let screen = running.screen();
    assert!(screen.contains("attached the names in src/ (2 entries)"), "{screen}");
    assert!(screen.contains("nothing attached for @scr/one.rs: there is no such file or folder"), "{screen}");
    assert!(model.last_body()["messages"].to_string().contains("deep/\\none.rs\\n"), "{}", model.last_body());
    running.write("\x04");
    running.end().assert_code(0);
    let model = Model::script([Step::text("I see.")]);
    let ended = scratch.run(&model, &["-p", "see @src/one.rs and @nothing"]);
    ended.assert_code(0).assert_says("agent: not attached: @src/one.rs; of what a task names");
}

/// However the session is left.
#[test]
fn commands_in_the_background_that_end_with_the_session_are_named() {
    for (line, code) in [("/clear\r/quit\r", 0), ("/quit\r", 0)] {
        let scratch = Scratch::repository();
        let start = Step::call("bash", json!({"command": "sleep 4723.1", "run_in_background": true}));
        let model = Model::script([start, Step::text("It runs.")]);
        let flags = "--permission-mode bypass --sandbox off";
        let Some(mut running) = on_terminal(&scratch, &model, flags) else { return };
        running.wait_for("> ");
        running.write("start it\r");
        running.wait_for("It runs.");
        running.wait_for_screen(|screen| screen.contains("1 command in the background"));
        running.write(line);
        let ended = running.end();
        assert!(
            ended.assert_code(code).out.contains("ends 1 background command with the session: `sleep 4723.1`"),
            "{}",
            ended.out
        );
        eventually("its end", || !lives("sleep 4723.1"));
    }
}
