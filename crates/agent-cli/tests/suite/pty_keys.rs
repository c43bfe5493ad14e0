//! Keys and calls of the prompt on a real terminal, and what is left of it when a signal ends the program at a question.

use crate::pty::{at_rest_after, on_terminal, program_on_terminal};
use crate::support::{Model, Running, Scratch, Wire, eventually};
use agent_testkit::Reply;
use agent_testkit::http::Step;
use serde_json::json;
use std::fs;
use std::process::Command;
use std::time::Duration;

/// A prompt at rest.
fn at_the_prompt(scratch: &Scratch, model: &Model) -> Option<Running> {
    let running = on_terminal(scratch, model, "")?;
    running.wait_for_screen(|screen| screen.contains("\n>\nscripted-model · default"));
    Some(running)
}

#[test]
fn a_question_calls_the_person() {
    let cases = [
        ("bell", "\x07", None),
        ("osc9", "\x07\x1b]9;agent waits for your answer\x1b\\", None),
        ("osc777", "\x07\x1b]777;notify;agent;waits for your answer\x1b\\", None),
        ("off", "answer: ", Some("\x07")),
    ];
    for (notify, expected, unexpected) in cases {
        let scratch = Scratch::new();
        scratch.configure(&format!("[prompt]\nnotify = \"{notify}\"\n"));
        let write = Step::call("write_file", json!({"path": "b.txt", "content": "b\n"}));
        let model = Model::script([write, Step::text("Well.")]);
        let Some(mut running) = at_the_prompt(&scratch, &model) else { return };
        running.write("go\r");
        running.wait_for("answer: ");
        running.write("n");
        running.wait_for_screen(|screen| screen.contains("stopped\n>\n"));
        running.write("\x04");
        let out = running.end().out;
        assert!(out.contains(expected), "{notify}: {out:?}");
        assert!(unexpected.is_none_or(|text| !out.contains(text)), "{notify}: {out:?}");
    }
}

#[test]
fn keys_mean_what_they_mean_in_vi() {
    let scratch = Scratch::new();
    scratch.configure("[prompt]\nedit_mode = \"vi\"\n");
    let model = Model::script([Step::text("Well.")]);
    let Some(mut running) = at_the_prompt(&scratch, &model) else { return };
    running.write("hello wrld of xs");
    for keys in ["\x1b", "0wli", "o", "\x1b", "$bD", "0x", "u", "A", "!"] {
        running.write(keys);
        // An Esc alone is a key once nothing follows it.
        std::thread::sleep(Duration::from_millis(120));
    }
    running.wait_for_screen(|screen| screen.contains("\n> hello world of !\n"));
    running.write("\x1b");
    std::thread::sleep(Duration::from_millis(120));
    running.write("\r");
    at_rest_after(&running, "Well.");
    running.write("\x04");
    running.end().assert_code(0);
    let said = model.requests()[0].body["messages"].to_string();
    assert!(said.contains("hello world of !"), "{said}");
}

#[test]
fn a_file_is_found_by_some_letters_of_its_path() {
    let scratch = Scratch::repository();
    scratch.write("src/screen/editor.rs", "");
    scratch.write("src/screen/editing.rs", "");
    scratch.write(".gitignore", "hidden-editor.rs\n");
    scratch.write("hidden-editor.rs", "");
    let model = Model::script([Step::text("Well.")]);
    let Some(mut running) = at_the_prompt(&scratch, &model) else { return };
    running.write("see @edtor\t");
    running.wait_for_screen(|screen| screen.contains("\n> see @src/screen/editor.rs\n"));
    running.write("and @edt\t");
    running.wait_for_screen(|screen| screen.contains("@src/screen/editor.rs  @src/screen/editing.rs\n"));
    assert!(!running.screen().contains("hidden-editor"), "{}", running.screen());
    running.write("\t\t");
    running.wait_for_screen(|screen| screen.contains("\n> see @src/screen/editor.rs and @src/screen/editing.rs\n"));
    running.write("\r");
    at_rest_after(&running, "Well.");
    running.write("\x04");
    running.end().assert_code(0);
    let said = model.requests()[0].body["messages"].to_string();
    assert!(said.contains("see @src/screen/editor.rs and @src/screen/editing.rs"), "{said}");
}

#[test]
fn thinking_is_one_line_until_a_key_shows_all_of_it() {
    let scratch = Scratch::new();
    let reply = Reply::new().thinking("First I look.\nThen \x1b[2J I mend.").text("Well.");
    let model = Model::script([Step::answer(reply)]);
    let Some(mut running) = at_the_prompt(&scratch, &model) else { return };
    running.write("go\r");
    at_rest_after(&running, "Well.");
    let screen = running.screen();
    assert!(screen.contains("\nthought: First I look. (Ctrl-O shows all)\n") && !screen.contains("I mend"), "{screen}");
    running.write("\x0f");
    running.wait_for_screen(|screen| {
        screen.contains("\nall of: what the model thought\n  | First I look.\n  | Then \\u{1b}[2J I mend.\n")
    });
    running.write("\x0f");
    running.wait_for("nothing more was left out");
    running.write("\x04");
    assert!(!running.end().assert_code(0).out.contains("\x1b[2J"));
}

/// Whatever ends the program at a question, the terminal is as it was before.
#[test]
fn a_signal_at_a_question_leaves_the_terminal_as_it_was() {
    let scratch = Scratch::repository();
    scratch.write(".agent/config.toml", "[[formatters]]\nextensions = [\"txt\"]\nprogram = \"tools/shout\"\n");
    let write = Step::call("write_file", json!({"path": "b.txt", "content": "b\n"}));
    let model = Model::script([write, Step::text("Done.")]);
    scratch.run(&model, &["-p", "go", "--session-id", "one", "--permission-mode", "bypass"]).assert_code(0);
    let flags = model.flags(Wire::Anthropic).join(" ");
    let home = format!("-C {} {flags}", scratch.path("home").display());
    for (arguments, question) in [
        ("trust", "trust this? [y/N]"),
        ("rewind one --to 1 --files", "go back to this state? [y/N]"),
        (&home, "work there anyway? [y/N]"),
    ] {
        for (signal, code) in [("TERM", 143), ("HUP", 143), ("INT", 130)] {
            let Some(mut running) = program_on_terminal(&scratch, "exec bash --norc --noprofile -i") else { return };
            let agent = env!("CARGO_BIN_EXE_agent");
            running.write(&format!("PS1='shell''$ '; sh -c 'echo $$ > ../pid; exec {agent} {arguments}'\r"));
            running.wait_for(question);
            let pid = fs::read_to_string(scratch.path("pid")).unwrap();
            assert!(Command::new("kill").args([&format!("-{signal}"), pid.trim()]).status().unwrap().success());
            running.wait_for_screen(|screen| screen.trim_end().ends_with("\nshell$"));
            running
                .write("echo code=$?; stty -a | tr \" ;\" \"\\n\" | grep -xE \"icanon|echo|isig\"; echo 'the' end\r");
            running.wait_for_screen(|screen| screen.contains("\nthe end\n"));
            let screen = running.screen();
            assert!(screen.contains(&format!("\ncode={code}\n")), "{arguments} {signal}: {screen}");
            for mode in ["icanon", "echo", "isig"] {
                assert!(screen.contains(&format!("\n{mode}\n")), "{arguments} {signal}: {mode}: {screen}");
            }
            running.write("exit\r");
            let out = running.end().out;
            assert_eq!(out.matches("\x1b[?2004h").count(), out.matches("\x1b[?2004l").count(), "{arguments} {signal}");
            fs::remove_file(scratch.path("pid")).unwrap();
            eventually("the end of the program", || !fs::exists(format!("/proc/{}", pid.trim())).unwrap());
        }
    }
}

/// The call, why it is asked about, and one row of keys; what they mean is shown where it is asked for.
#[test]
fn a_question_is_short_and_explains_itself_when_asked() {
    let scratch = Scratch::new();
    let model = Model::script([Step::call("bash", json!({"command": "touch made.txt"})), Step::text("So be it.")]);
    let Some(mut running) = at_the_prompt(&scratch, &model) else { return };
    running.write("go\r");
    running.wait_for("answer: ");
    let screen = running.screen();
    let from = screen.find("allow this call?").unwrap();
    let question: Vec<&str> = screen[from..].lines().take_while(|row| !row.contains("answer:")).collect();
    assert_eq!(
        question,
        [
            "allow this call? bash touch made.txt",
            "  asked because `touch` is not among the commands that only read",
            "  s and k allow `bash(touch made.txt)`",
            "  y yes · n no · r reason · s session · k keep · e edit · ? more",
        ],
        "{screen}"
    );
    running.write("?");
    running.wait_for(":a, Enter = yes, and allow every call of bash in this session");
    running.write("\r");
    running.write("x");
    // Alone it is a slip; with the next letter at once it would begin a message.
    std::thread::sleep(Duration::from_millis(600));
    assert!(!scratch.work("made.txt").exists(), "neither Enter nor another key is an answer");
    running.write("y");
    at_rest_after(&running, "So be it.");
    assert!(scratch.work("made.txt").exists());
    running.write("\x04");
    running.end().assert_code(0);
}

#[test]
fn an_edit_that_cannot_succeed_is_not_asked_about() {
    let scratch = Scratch::new();
    scratch.write("a.txt", "one\ntwo\n");
    let edit = |old: &str| Step::call("edit_file", json!({"path": "a.txt", "old_string": old, "new_string": "x"}));
    let model = Model::script([edit("absent"), edit("one"), Step::text("So be it.")]);
    let Some(mut running) = at_the_prompt(&scratch, &model) else { return };
    running.write("go\r");
    running.wait_for("answer: ");
    let screen = running.screen();
    assert_eq!(screen.matches("allow this call?").count(), 1, "{screen}");
    assert!(screen.contains("`old_string` is not in the file"), "{screen}");
    running.write("y");
    at_rest_after(&running, "So be it.");
    assert_eq!(scratch.read("a.txt"), "x\ntwo\n");
    let told = model.requests()[1].body["messages"].to_string();
    assert!(told.contains("`old_string` is not in the file"), "{told}");
    running.write("\x04");
    running.end().assert_code(0);
}
