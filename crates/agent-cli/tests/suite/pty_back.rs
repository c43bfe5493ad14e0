//! Esc Esc: back to before an earlier message, in a new session, with the files or without.

use crate::pty::{at_rest_after, on_terminal, program_on_terminal};
use crate::support::{Model, Running, Scratch};
use agent_testkit::http::Step;
use serde_json::json;
use std::time::Duration;

/// Presses Esc twice, as a person does.
fn escape_twice(running: &mut Running) {
    for _ in 0..2 {
        running.write("\x1b");
        std::thread::sleep(Duration::from_millis(150));
    }
}

fn marked(screen: &str, message: &str) -> bool {
    screen.contains("\nBack to before:") && screen.contains(&format!("\n> {message}\n"))
}

#[test]
fn a_person_goes_back_to_an_earlier_message_and_changes_it() {
    let scratch = Scratch::new();
    let answers = ["To the first.", "To the second.", "To the other first.", "To the rest."];
    let model = Model::script(answers.map(Step::text));
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("first\r");
    at_rest_after(&running, "To the first.");
    running.write("second one\r");
    at_rest_after(&running, "To the second.");
    escape_twice(&mut running);
    running.wait_for_screen(|screen| marked(screen, "second one") && screen.contains("\n  first\n"));
    // The list goes, and the line is empty as before.
    running.write("\x1b");
    running.wait_for_screen(|screen| !screen.contains("Back to before"));
    escape_twice(&mut running);
    running.wait_for_screen(|screen| marked(screen, "second one"));
    running.write("FIR");
    running.wait_for_screen(|screen| screen.contains("\nBack to before: FIR\n> first\n"));
    running.write("\r");
    running.wait_for_screen(|screen| screen.matches(" · session ").count() == 2 && screen.contains("\n> first\n"));
    running.write(" other\r");
    at_rest_after(&running, "To the other first.");
    running.write("and then\r");
    at_rest_after(&running, "To the rest.");
    running.write("\x04");
    running.end().assert_code(0);
    let said = model.last_body()["messages"].to_string();
    for (text, is_there) in [("first other", true), ("To the first", false), ("second", false), ("and then", true)] {
        assert_eq!(said.contains(text), is_there, "{text}: {said}");
    }
    assert_eq!(scratch.journals().len(), 2, "the session from before is kept");
    model.assert_valid();
}

#[test]
fn one_key_says_whether_the_files_go_back_too() {
    for (key, is_there, journals) in [("y", false, 2), ("n", true, 2), ("\x1b", true, 1)] {
        let scratch = Scratch::repository();
        let write = Step::call("write_file", json!({"path": "b.txt", "content": "b\n"}));
        let model = Model::script([write, Step::text("Done."), Step::text("Well.")]);
        let Some(mut running) = on_terminal(&scratch, &model, "--permission-mode bypass") else { return };
        running.wait_for("> ");
        running.write("make it\r");
        at_rest_after(&running, "Done.");
        escape_twice(&mut running);
        running.wait_for_screen(|screen| marked(screen, "make it"));
        running.write("\r");
        running.wait_for_screen(|screen| {
            screen.contains("\n  would remove b.txt\n")
                && screen.contains("\nTake the files back, too?\n  y  yes, the conversation and 1 file\n> n  no")
        });
        assert!(scratch.work("b.txt").exists(), "nothing happens before the answer");
        running.write(key);
        if journals == 2 {
            running.wait_for_screen(|screen| screen.matches(" · session ").count() == 2);
            running.wait_for_screen(|screen| screen.contains("\n> make it\n"));
            running.write(" so\r");
        } else {
            running.wait_for_screen(|screen| !screen.contains("Take the files back"));
            running.write("go on\r");
        }
        at_rest_after(&running, "Well.");
        running.write("\x04");
        running.end().assert_code(0);
        assert_eq!((scratch.work("b.txt").exists(), scratch.journals().len()), (is_there, journals), "{key:?}");
        let said = model.last_body()["messages"].to_string();
        assert_eq!(said.contains("b.txt"), journals == 1, "{said}");
        model.assert_valid();
    }
}

/// What was said in another program is offered, too, and what that program said in the person's place is not.
#[test]
fn a_person_goes_back_to_a_message_of_an_imported_session() {
    let scratch = Scratch::new();
    scratch.write("foreign.jsonl", include_str!("../../src/commands/sessions/lint/samples/pi.jsonl"));
    let imported = scratch.ended(&["sessions", "import", "foreign.jsonl"]);
    let id = imported.assert_code(0).out.trim().to_owned();
    let shown = scratch.ended(&["sessions", "show", &id]);
    assert!(shown.assert_code(0).out.contains("model      a-model (in pi)"), "{shown:?}");
    let model = Model::script([Step::text("Another answer.")]);
    let Some(mut running) = on_terminal(&scratch, &model, &format!("--session-id {id}")) else { return };
    running.wait_for("> ");
    escape_twice(&mut running);
    running.wait_for_screen(|screen| marked(screen, "And now?") && screen.contains("\n  Go on.\n"));
    running.write("\r");
    running.wait_for_screen(|screen| screen.matches(" · session ").count() == 2 && screen.contains("\n> And now?\n"));
    running.write(" Really?\r");
    at_rest_after(&running, "Another answer.");
    running.write("\x04");
    running.end().assert_code(0);
    let said = model.last_body()["messages"].to_string();
    for (text, is_there) in
        [("Go on.", true), ("It is mended.", true), ("And now? Really?", true), ("Another way.", false)]
    {
        assert_eq!(said.contains(text), is_there, "{text}: {said}");
    }
    model.assert_valid();
}

/// A message that was sent while the agent worked belongs to the turn that was going on: there is no state from before it alone.
#[test]
fn only_messages_that_began_a_turn_are_offered() {
    let scratch = Scratch::new();
    let wait = Step::call("bash", json!({"command": "until [ -e go ]; do sleep 0.02; done"}));
    let model = Model::script([wait, Step::text("Well.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "--permission-mode bypass --sandbox off") else { return };
    running.wait_for_screen(|screen| screen.contains("\n>\nscripted-model · bypass\n"));
    escape_twice(&mut running);
    running.wait_for("there is no message to go back to");
    running.write("begin\r");
    running.wait_for("• bash until");
    running.write("by the way\r");
    running.wait_for("1 message waiting");
    std::fs::write(scratch.work("go"), "").unwrap();
    at_rest_after(&running, "Well.");
    escape_twice(&mut running);
    running.wait_for_screen(|screen| marked(screen, "begin") && screen.contains("\n1 of 1 · Enter chooses"));
    running.write("\x1b");
    running.wait_for_screen(|screen| !screen.contains("Back to before"));
    // With something in the line Esc means nothing.
    running.write("x");
    running.wait_for_screen(|screen| screen.contains("\n> x\n"));
    escape_twice(&mut running);
    running.write("y");
    running.wait_for_screen(|screen| screen.contains("\n> xy\n"));
    running.write("\x15\x04");
    running.end().assert_code(0);
    let Some(mut running) = on_terminal(&scratch, &model, "--no-session") else { return };
    running.wait_for_screen(|screen| screen.contains("\n>\nscripted-model · default\n"));
    // Two that come at once are two.
    running.write("\x1b\x1b");
    running.wait_for("this session is not kept");
    running.write("\x04");
    running.end().assert_code(0);
}

/// The same list outside of a session. The rows are gone behind the choice, and the terminal is as it was.
#[test]
fn a_message_to_rewind_to_is_chosen_from_a_list() {
    let scratch = Scratch::new();
    let model = Model::script([Step::text("One."), Step::text("Two.")]);
    scratch.run(&model, &["-p", "first", "--session-id", "one"]).assert_code(0);
    scratch.run(&model, &["-p", "second", "--session-id", "one"]).assert_code(0);
    scratch.ended(&["rewind", "one"]).assert_code(2).assert_says("--to N");
    for (keys, code, journals) in [("\x1b", 1, 1), ("\x03", 1, 1), ("\x1b[A\x1b[B\r", 0, 2)] {
        let line = format!(
            "stty -a > ../before; {} rewind one; code=$?; stty -a > ../after; exit $code",
            env!("CARGO_BIN_EXE_agent")
        );
        let Some(mut running) = program_on_terminal(&scratch, &line) else { return };
        running.wait_for_screen(|screen| screen.contains("Back to before:\n  first\n> second\n"));
        running.write(keys);
        let ended = running.end();
        ended.assert_code(code);
        assert_eq!(scratch.journals().len(), journals, "{keys:?}");
        let state = ["before", "after"].map(|name| std::fs::read_to_string(scratch.path(name)).unwrap());
        assert_eq!(state[0], state[1]);
        assert_eq!(ended.out.matches("\x1b[?2004h").count(), ended.out.matches("\x1b[?2004l").count());
    }
    let shown = scratch.ended(&["sessions", "show"]);
    assert!(!shown.assert_code(0).out.contains("second"), "it ends before the message: {shown:?}");
}
