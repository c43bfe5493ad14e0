//! What a person sees at the prompt of what the agent does: changes as lines, the end of commands, lists, answers in Markdown.

use crate::pty::{asked_again, at_rest_after, on_terminal};
use crate::support::{Model, Scratch};
use agent_testkit::http::Step;
use serde_json::json;
use std::fs;

fn edit(from: &str, to: &str) -> Step {
    Step::call("edit_file", json!({"path": "a.txt", "old_string": from, "new_string": to}))
}

#[test]
fn an_edit_is_asked_about_as_the_lines_that_it_changes() {
    let scratch = Scratch::new();
    fs::write(scratch.work("a.txt"), "one\ntwo\nthree\n").unwrap();
    let read = Step::call("read_file", json!({"path": "a.txt"}));
    let model = Model::script([read, edit("two", "2\n\u{202e}and"), Step::text("That is all.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("go\r");
    running.wait_for("answer: ");
    let screen = running.screen();
    for row in ["  a.txt (+2 -1)", "  1   one", "  2 - two", "  2 + 2", "  3 + \\u{202e}and", "  4   three"] {
        assert!(screen.contains(&format!("\n{row}\n")), "{row}: {screen}");
    }
    assert!(!screen.contains("old_string"), "{screen}");
    // Somebody else changes the file meanwhile: what was shown is not what would be written.
    fs::write(scratch.work("a.txt"), "zero\none\ntwo\nthree\n").unwrap();
    running.write("y");
    running.wait_for("the file has changed since it was shown");
    asked_again(&running, "\n  3 - two\n");
    assert_eq!(fs::read_to_string(scratch.work("a.txt")).unwrap(), "zero\none\ntwo\nthree\n");
    running.write("y");
    at_rest_after(&running, "That is all.");
    running.write("\x04");
    running.end().assert_code(0);
}

#[test]
fn an_edit_that_was_not_asked_about_is_shown_behind_it() {
    let scratch = Scratch::new();
    let old: String = (1..=40).map(|number| format!("line {number}\n")).collect();
    fs::write(scratch.work("a.txt"), &old).unwrap();
    let read = Step::call("read_file", json!({"path": "a.txt"}));
    let whole = Step::call("write_file", json!({"path": "a.txt", "content": "x\n".repeat(30)}));
    let model = Model::script([read, edit("line 7\n", "seven\n"), whole, Step::text("That is all.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "--permission-mode accept-edits") else { return };
    running.wait_for("> ");
    running.write("go\r");
    running.wait_for("   7 - line 7");
    running.wait_for("   7 + seven");
    running.wait_for("more; Ctrl-O shows all");
    at_rest_after(&running, "That is all.");
    running.write("\x0f");
    running.wait_for_screen(|screen| screen.contains("30 + x\n"));
    running.write("\x04");
    running.end().assert_code(0);
}

#[test]
fn results_show_what_tells_most() {
    let scratch = Scratch::new();
    for number in 0..1_002 {
        fs::write(scratch.work(&format!("f{number}.txt")), "").unwrap();
    }
    let command = "seq 1 9; echo broken >&2; exit 3";
    let todos =
        json!({"todos": [{"content": "look", "status": "completed"}, {"content": "mend", "status": "in_progress"}]});
    let model = Model::script([
        Step::call("glob", json!({"pattern": "*.txt"})),
        Step::call("todo_write", todos),
        Step::call("bash", json!({"command": command})),
        Step::text("That is all."),
    ]);
    let Some(mut running) = on_terminal(&scratch, &model, "--permission-mode bypass") else { return };
    running.wait_for("> ");
    running.write("go\r");
    at_rest_after(&running, "That is all.");
    let screen = running.screen();
    for row in ["  1,002 files", "  1 of 2 done", "  [x] look", "  [>] mend", "  | broken", "  | [exit status 3]"] {
        assert!(screen.contains(&format!("\n{row}\n")), "{row}: {screen}");
    }
    assert!(!screen.contains("  | 5\n"), "{screen}");
    running.write("\x0f");
    running.wait_for_screen(|screen| screen.contains("  | 1\n  | 2\n") && screen.contains("  | broken\n"));
    running.write("\x04");
    running.end().assert_code(0);
}

#[test]
fn an_answer_in_markdown_is_shown_as_one() {
    let scratch = Scratch::new();
    let words = (0..30).map(|number| format!("word{number} ")).collect::<String>();
    let answer =
        format!("# Title\n\n**Strong** {words}\n\n- see [docs](https://x.org)\n\n```sh\nls -l\n```\nThat is all.");
    let model = Model::script([Step::answer(agent_testkit::Reply::new().text(answer).pieces_of(3))]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("go\r");
    at_rest_after(&running, "That is all.");
    let screen = running.screen();
    for row in ["# Title", "- see docs (https://x.org)", "ls -l"] {
        assert!(screen.contains(&format!("\n{row}\n")), "{row}: {screen}");
    }
    // Rows end at words.
    assert!((0..30).all(|number| screen.contains(&format!("word{number}"))) && !screen.contains("**"), "{screen}");
    running.write("\x04");
    let out = running.end().out;
    assert!(out.contains("\x1b[1m#") && out.contains("\x1b[36mls -l\x1b[0m"), "{out:?}");
}
