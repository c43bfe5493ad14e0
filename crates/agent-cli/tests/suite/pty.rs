//! The interactive prompt on a real terminal, as `script` makes one; without `script` these tests say that they did nothing.

use crate::support::{Model, Running, Scratch, Wire, eventually, lives};
use agent_testkit::Reply;
use agent_testkit::http::Step;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::Duration;

/// The program on a terminal of its own, or nothing.
pub(crate) fn on_terminal(scratch: &Scratch, model: &Model, arguments: &str) -> Option<Running> {
    command_on_terminal(scratch, &format!("{arguments} {}", model.flags(Wire::Anthropic).join(" ")))
}

pub(crate) fn command_on_terminal(scratch: &Scratch, arguments: &str) -> Option<Running> {
    // A shell that stays would end by an interrupt that the program answers.
    program_on_terminal(scratch, &format!("exec {} {arguments}", env!("CARGO_BIN_EXE_agent")))
}

#[expect(clippy::print_stderr, reason = "a test that does nothing has to say so")]
pub(crate) fn program_on_terminal(scratch: &Scratch, line: &str) -> Option<Running> {
    if !Command::new("script").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: `script` of util-linux is not there, so there is no terminal to test on");
        return None;
    }
    let mut command = scratch.command("script");
    command.args(["-q", "-e", "-c", line, "/dev/null"]).env("SHELL", "/bin/sh").env("TERM", "xterm");
    Some(Running::start(&mut command))
}

#[test]
fn a_rewind_of_files_is_asked_about() {
    let scratch = Scratch::repository();
    let write = Step::call("write_file", json!({"path": "b.txt", "content": "b\n"}));
    let model = Model::script([write, Step::text("Done.")]);
    scratch.run(&model, &["-p", "go", "--session-id", "one", "--permission-mode", "bypass"]).assert_code(0);
    // A paste answers nothing.
    let pasted = "\x1b[200~y\ny\n\x1b[201~n";
    for (answer, code, sessions) in [("n\n", 1, 1), ("\n", 1, 1), (pasted, 1, 1), ("\x03", 1, 1), ("y\n", 0, 2)] {
        let rewind = "rewind one --to 1 --files";
        let Some(mut running) = command_on_terminal(&scratch, rewind) else { return };
        running.wait_for("go back to this state? [y/N]");
        assert!(scratch.work("b.txt").exists(), "nothing happens before the answer");
        running.write(answer);
        running.end().assert_code(code);
        assert_eq!((scratch.work("b.txt").exists(), scratch.journals().len()), (code == 1, sessions), "{answer:?}");
    }
}

#[test]
fn what_is_typed_ahead_is_sent_later() {
    let scratch = Scratch::new();
    let model =
        Model::script([Step::text("To the first.").after(Duration::from_millis(400)), Step::text("To the second.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("first\r");
    model.wait_for_requests(1);
    running.write("second\r");
    running.wait_for("To the second.");
    running.write("/quit\r");
    running.end().assert_code(0);
    model.assert_valid();
    assert!(model.last_body()["messages"].to_string().contains("second"));
}

#[test]
fn an_interrupt_stops_the_turn_and_two_leave() {
    let scratch = Scratch::new();
    let model = Model::script([Step::hang(), Step::text("I am back.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("first\r");
    model.wait_for_requests(1);
    running.write("\x03");
    // Until it has stopped, what is typed comes back instead of being sent.
    running.wait_for("stopped");
    running.write("second\r");
    // At the prompt, not only answered: before it the interrupt would stop the turn once more.
    running.wait_for("I am back.");
    running.wait_for_screen(|screen| screen.contains("I am back.\n>") && !screen.contains("working"));
    running.write("\x03");
    running.wait_for("Ctrl-C again quits; the session is kept");
    running.write("\x03");
    running.end().assert_code(130);
    model.assert_valid();
}

/// A person who types between two interrupts does not leave with the second, and a draft that an interrupt took is found with Up.
#[test]
fn only_two_interrupts_in_a_row_leave() {
    let scratch = Scratch::new();
    let model = Model::script([Step::hang(), Step::text("I am back.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("first\r");
    model.wait_for_requests(1);
    running.write("\x1b");
    running.wait_for("stopped");
    for draft in ["one", "two"] {
        running.write(draft);
        running.wait_for_screen(|screen| screen.contains(&format!("\n> {draft}\n")));
        running.write("\x03");
        running.wait_for_screen(|screen| screen.contains("\n>\n"));
    }
    running.write("\x1b[A");
    running.wait_for_screen(|screen| screen.contains("\n> two\n"));
    running.write("\x03");
    running.wait_for_screen(|screen| screen.contains("\n>\n"));
    running.write("\x03");
    running.end().assert_code(130);
    assert_eq!(model.requests().len(), 1);
}

#[test]
fn a_question_on_the_terminal() {
    let scratch = Scratch::new();
    let call = |path: &str| Step::call("write_file", json!({"path": path, "content": "two\n"}));
    let model = Model::script([call("b.txt"), call("c.txt"), call("d.txt"), Step::text("That is all.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("go\r");
    for (path, answer) in [("b.txt", "rnot this\r"), ("c.txt", ":a\r")] {
        asked_again(&running, &format!("allow this call? write_file {path}"));
        running.write(answer);
    }
    running.wait_for("That is all.");
    running.write("/quit\r");
    running.end().assert_code(0);
    let there = ["b.txt", "c.txt", "d.txt"].map(|name| scratch.work(name).exists());
    assert_eq!(there, [false, true, true]);
    assert!(model.last_body()["messages"].to_string().contains("not this"), "the model reads the reason");
}

/// No, and nothing more until the person has said what to do instead.
#[test]
fn a_plain_no_stops_the_turn() {
    let scratch = Scratch::new();
    let model = asks_to_write();
    let Some(mut running) = at_a_question(&scratch, &model) else { return };
    running.write("n");
    running.wait_for_screen(|screen| screen.contains("stopped\n>"));
    assert_eq!(model.requests().len(), 1, "nothing went on");
    running.write("write c.txt instead\r");
    at_rest_after(&running, "That is all.");
    running.write("\x04");
    running.end().assert_code(0);
    assert!(!scratch.work("b.txt").exists());
    let said = model.last_body()["messages"].to_string();
    assert!(said.contains("write c.txt instead"), "{said}");
}

/// A terminal's queue is emptied when a question appears, and the mark that begins a paste may be lost with it.
#[test]
fn the_rest_of_a_paste_is_no_answer_without_the_line_editor_either() {
    let scratch = Scratch::new();
    let model = asks_to_write();
    let Some(mut running) = on_terminal(&scratch, &model, "--plain") else { return };
    running.wait_for("> ");
    running.write("go\r");
    running.wait_for("allow this call?");
    for line in ["first\r", "y\r", "y\r", "\x1b[201~"] {
        running.write(line);
    }
    running.wait_for("no answer");
    running.wait_for("  answer: ");
    assert!(!scratch.work("b.txt").exists());
    running.write("y\r");
    running.wait_for("That is all.");
    assert!(scratch.work("b.txt").exists());
    running.write("/quit\r");
    running.end().assert_code(0);
}

/// What is typed before a question is there was not meant for it, and for a moment no key is; nor is a paste, however long it is there.
#[test]
fn keys_that_come_before_the_question_do_not_answer_it() {
    let scratch = Scratch::new();
    let slow = Step::call("write_file", json!({"path": "b.txt", "content": "two\n"}));
    let model = Model::script([slow.after(Duration::from_millis(300)), Step::text("That is all.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("go\r");
    model.wait_for_requests(1);
    running.write("yyy");
    running.wait_for_screen(|screen| screen.contains("\n> yyy\n"));
    running.wait_for("answer: ");
    running.write("\x1b[200~y\x1b[201~");
    running.wait_for("a paste is no answer");
    assert!(!scratch.work("b.txt").exists());
    until_keys_count_again(&running);
    running.write("y");
    running.wait_for_screen(|screen| screen.contains("That is all.\n> yyy\n"));
    running.write("\x15");
    running.wait_for_screen(|screen| screen.contains("That is all.\n>\n"));
    running.write("\x04");
    let ended = running.end();
    assert!(ended.assert_code(0).out.contains("  … "), "keys count from a moment on: {ended:?}");
    assert!(scratch.work("b.txt").exists());
}

/// Behind a paste keys count after a moment, and the label in front of the line says so: first that they do not, then that they do.
fn until_keys_count_again(running: &Running) {
    eventually("keys count again", || {
        let said = running.said();
        let behind = said.rsplit_once("a paste is no answer").and_then(|(_, behind)| behind.split_once("  … "));
        behind.is_some_and(|(_, behind)| behind.contains("answer:"))
    });
}

/// A person who is typing a message when the question appears answers nothing with it, however slowly the keys come.
#[test]
fn typing_a_message_is_no_answer() {
    let scratch = Scratch::new();
    let slow = Step::call("write_file", json!({"path": "b.txt", "content": "two\n"}));
    let model = Model::script([slow.after(Duration::from_millis(500)), Step::text("That is all.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("go\r");
    model.wait_for_requests(1);
    for key in "yayya".chars() {
        running.write(&key.to_string());
        std::thread::sleep(Duration::from_millis(400));
    }
    running.wait_for("allow this call?");
    assert!(!scratch.work("b.txt").exists(), "no key of it counts");
    // The control: after a pause one does.
    running.wait_for_screen(|screen| screen.contains("\n  answer:"));
    running.write("y");
    running.wait_for("That is all.");
    assert!(scratch.work("b.txt").exists());
}

/// Begun when the question can be answered already: its first letter alone would allow the program for the session.
#[test]
fn a_message_that_is_begun_at_a_question_is_no_answer() {
    let scratch = Scratch::new();
    let bash = |command: &str| Step::call("bash", json!({"command": command}));
    let model = Model::script([bash("touch made.txt"), bash("touch made.txt"), Step::text("That is all.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("go\r");
    running.wait_for_screen(|screen| screen.contains("\n  answer:"));
    running.write("see what this does\r");
    running.wait_for("that is no answer");
    running.wait_for_screen(|screen| screen.contains("\n  answer:"));
    running.write("Xny/");
    running.wait_for_screen(|screen| screen.contains("\n  answer:"));
    assert_eq!((scratch.work("made.txt").exists(), model.requests().len()), (false, 1));
    // The control: one key alone; and what was written stands in the line.
    std::thread::sleep(Duration::from_millis(1_500));
    running.wait_for_screen(|screen| screen.contains("\n  answer:"));
    running.write("n");
    running.wait_for_screen(|screen| screen.contains("\n> see what this doesXny/\n"));
    assert_eq!((scratch.work("made.txt").exists(), model.requests().len()), (false, 1));
    running.write("\x15/quit\r");
    running.end().assert_code(0);
}

/// Rules for the plain commands of a call, several at once; and an answer as a line.
#[test]
fn one_key_allows_what_is_offered() {
    let scratch = Scratch::repository();
    let bash = |command: &str| Step::call("bash", json!({"command": command}));
    let model = Model::script([
        bash("git hash-object a.txt | head -1"),
        bash("git hash-object -t blob a.txt | head -2"),
        bash("rm -f nothing"),
        bash("rm -f nothing2"),
        Step::text("That is all."),
    ]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("go\r");
    running.wait_for_screen(|screen| screen.contains("  answer:"));
    running.wait_for("`bash(git hash-object:*)`");
    running.wait_for("`bash(head:*)`");
    running.write("s");
    // The second call is covered; the third is asked about.
    asked_again(&running, "allow this call? bash rm");
    running.write(":s bash(rm:*)\r");
    at_rest_after(&running, "That is all.");
    running.write("\x04");
    running.end().assert_code(0);
    assert_eq!(model.requests().len(), 5);
}

/// The arguments in the person's own editor.
#[test]
fn arguments_are_changed_in_an_editor() {
    let scratch = Scratch::new();
    let model = asks_to_write();
    let flags = model.flags(Wire::Anthropic).join(" ");
    let line = format!("EDITOR=\"sed -i s/b.txt/c.txt/\" {} {flags}", env!("CARGO_BIN_EXE_agent"));
    let Some(mut running) = program_on_terminal(&scratch, &line) else { return };
    running.wait_for("> ");
    running.write("go\r");
    running.wait_for("answer: ");
    running.write("e");
    at_rest_after(&running, "That is all.");
    running.write("\x04");
    running.end().assert_code(0);
    assert!(scratch.work("c.txt").exists() && !scratch.work("b.txt").exists());
}

/// Arguments that are not valid are not lost: the editor begins with them.
#[test]
fn arguments_that_are_not_valid_are_edited_further() {
    let scratch = Scratch::new();
    let model = asks_to_write();
    let flags = model.flags(Wire::Anthropic).join(" ");
    // The first time a quote is lost and the name changes, the second time the quote comes back.
    let sed = r#"sed -i -e 's/"b.txt"/"c.txt/;t' -e 's/"c.txt\(,*\)$/"c.txt"\1/'"#;
    fs::write(scratch.path("edit"), format!("#!/bin/sh\n{sed} \"$1\"\n")).unwrap();
    fs::set_permissions(scratch.path("edit"), fs::Permissions::from_mode(0o755)).unwrap();
    let editor = scratch.path("edit").display().to_string();
    let line = format!("EDITOR={editor} {} {flags}", env!("CARGO_BIN_EXE_agent"));
    let Some(mut running) = program_on_terminal(&scratch, &line) else { return };
    running.wait_for("> ");
    running.write("go\r");
    running.wait_for("answer: ");
    running.write("e");
    running.wait_for("these arguments are not valid");
    running.write("e");
    at_rest_after(&running, "That is all.");
    // What it says of the change is about the file that was written.
    running.write("\x04");
    let ended = running.end();
    assert!(scratch.work("c.txt").exists() && !scratch.work("b.txt").exists());
    assert!(!ended.assert_code(0).out.rsplit("answer: ").next().unwrap().contains("b.txt (new"), "{ended:#?}");
}

fn asks_to_write() -> Model {
    Model::script([Step::call("write_file", json!({"path": "b.txt", "content": "two\n"})), Step::text("That is all.")])
}

/// A prompt at which it is asked whether the file may be written.
fn at_a_question(scratch: &Scratch, model: &Model) -> Option<Running> {
    let mut running = on_terminal(scratch, model, "")?;
    running.wait_for("> ");
    running.write("go\r");
    running.wait_for("answer: ");
    Some(running)
}

#[test]
fn leaving_on_a_question_leaves_it_open() {
    let scratch = Scratch::new();
    let model = asks_to_write();
    let Some(mut running) = at_a_question(&scratch, &model) else { return };
    running.write("\x04");
    running.wait_for("the question stays open");
    running.end().assert_code(0);
    assert_eq!(model.requests().len(), 1, "nothing went on without an answer");
    let Some(mut running) = on_terminal(&scratch, &model, "resume") else { return };
    running.wait_for("allow this call? write_file b.txt");
    running.wait_for("answer: ");
    running.write("y\r");
    running.wait_for("That is all.");
    running.write("/quit\r");
    running.end().assert_code(0);
    assert!(scratch.work("b.txt").exists());
}

#[test]
fn what_is_pasted_is_one_message() {
    let scratch = Scratch::new();
    let model = Model::script([Step::text("To the paste."), Step::text("To the line.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("\x1b[?2004h");
    running.wait_for("> ");
    running.write("\x1b[200~/etc/hosts says:\n\n  127.0.0.1\x1b[201~\r");
    running.wait_for("To the paste.");
    running.write("typed\r");
    running.wait_for("To the line.");
    running.write("/quit\r");
    let ended = running.end();
    assert!(ended.assert_code(0).out.contains("\x1b[?2004l"), "{ended:?}");
    // The terminal was not asked to show the marks.
    assert!(!ended.out.contains("^[[200~"), "{ended:?}");
    assert_eq!(model.requests().len(), 2);
    let said = model.requests()[0].body["messages"].to_string();
    assert!(said.contains(r"/etc/hosts says:\n\n  127.0.0.1") && !said.contains("200~"), "{said}");
}

/// Whichever comes first, the end of the input or the signal: a closed window is no answer.
#[test]
fn closing_the_terminal_on_a_question_is_no_answer() {
    for _ in 0..10 {
        let scratch = Scratch::new();
        let model = asks_to_write();
        let Some(running) = at_a_question(&scratch, &model) else { return };
        // What holds the terminal is gone, and the terminal with it.
        running.signal("KILL");
        running.end();
        eventually("its end", || !lives(&model.server().url()));
        let journal = fs::read_to_string(&scratch.journals()[0]).unwrap();
        assert!(!journal.contains("ApprovalAnswered"), "{journal}");
        assert_eq!(model.requests().len(), 1, "nothing went on without an answer");
    }
}

/// Waits until a question that follows another one can be answered. The row of the one before stands below it for a
/// moment, while no key counts.
pub(crate) fn asked_again(running: &Running, what: &str) {
    let is_asked = |screen: &str| screen.rfind(what).is_some_and(|at| screen[at..].contains("\n  answer:"));
    running.wait_for_screen(is_asked);
    std::thread::sleep(Duration::from_millis(600));
    running.wait_for_screen(is_asked);
}

/// Waits until the prompt stands below an answer and nothing goes on.
pub(crate) fn at_rest_after(running: &Running, answer: &str) {
    running.wait_for_screen(|screen| screen.contains(&format!("{answer}\n>")) && !screen.contains("working"));
}

/// Cursor keys, and letters that are two columns wide.
#[test]
fn what_the_line_shows_is_what_is_sent() {
    for (keys, expected) in [
        ("hello wrld\x1b[D\x1b[D\x1b[Do", "hello world"),
        ("修正してください\x7f\x7f\x7f\x7f", "修正して"),
        ("\x1b[Aa\x1bOP\x1b[Z\x1b[3~", "a"),
    ] {
        let scratch = Scratch::new();
        let model = Model::script([Step::text("Well.")]);
        let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
        running.wait_for("> ");
        running.write(keys);
        running.wait_for_screen(|screen| screen.contains(&format!("> {expected}\n")));
        running.write("\r");
        at_rest_after(&running, "Well.");
        running.write("\x04");
        running.end().assert_code(0);
        let said = model.requests()[0].body["messages"].to_string();
        assert!(said.contains(&format!("\"{expected}\"")), "{said}");
    }
}

/// What is typed meanwhile stands below the answer, and is not sent before Enter; Ctrl-D then says what it would do.
#[test]
fn what_is_typed_while_it_answers_is_not_torn() {
    let scratch = Scratch::new();
    let answer: String = (0..400).map(|number| format!("word{number} ")).collect();
    let slow = Step::answer(Reply::new().text(answer).pieces_of(9));
    let model = Model::script([slow.after(Duration::from_millis(500)), Step::text("Well.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("go\r");
    model.wait_for_requests(1);
    running.write("\x04");
    running.wait_for("Ctrl-D quits only at rest");
    running.write("and this");
    running.wait_for_screen(|screen| {
        // The last words of it, wrapped by the terminal, with nothing between them.
        let rows: String = screen.lines().collect();
        (250..400).all(|number| rows.contains(&format!("word{number}"))) && screen.contains("word399\n> and this\n")
    });
    running.write("\r");
    at_rest_after(&running, "Well.");
    running.write("\x04");
    let ended = running.end();
    ended.assert_code(0);
    assert!(!ended.out.contains("[2J") && !ended.out.contains("[3J"), "no screen is cleared");
    assert!(model.last_body()["messages"].to_string().contains("and this"));
}

/// A line longer than a terminal keeps in its own line mode, and one that pauses: one message, and no line of it is a key.
#[test]
fn a_long_paste_is_sent_whole() {
    let scratch = Scratch::new();
    let model = Model::script([Step::text("Well.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("\x1b[?2004h");
    running.write(&format!("\x1b[200~{}\rthe", "x".repeat(6_000)));
    running.wait_for("Ctrl-C drops the paste");
    running.write("end\r\x1b[201~ of it");
    running.wait_for_screen(|screen| screen.contains("] of it\n"));
    running.write("\r");
    at_rest_after(&running, "Well.");
    running.write("\x04");
    running.end().assert_code(0);
    let said = model.requests()[0].body["messages"].to_string();
    assert!(said.contains(&format!("{}\\ntheend\\n of it", "x".repeat(6_000))), "{}", said.len());
    assert_eq!(model.requests().len(), 1);
}

/// A question that appears while a paste is under way is not answered by a line of it.
#[test]
fn no_line_of_a_paste_answers_a_question() {
    for (rest, pauses) in [(" and so on\rProceed?\ry\rthen\x1b[201~\r", false), ("on\ry\r\x1b[201~\r", true)] {
        let scratch = Scratch::new();
        let slow = Step::call("write_file", json!({"path": "b.txt", "content": "two\n"}));
        let model = Model::script([slow.after(Duration::from_millis(300)), Step::text("That is all.")]);
        let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
        running.wait_for("> ");
        running.write("go\r");
        model.wait_for_requests(1);
        running.write("\x1b[200~Continue");
        running.wait_for("answer: ");
        if pauses {
            running.wait_for("Ctrl-C drops the paste");
        }
        running.write(rest);
        running.wait_for("a paste is no answer");
        assert!(!scratch.work("b.txt").exists(), "a paste approved the call");
        until_keys_count_again(&running);
        running.write("rno\r");
        at_rest_after(&running, "That is all.");
        running.write("\x04");
        running.end().assert_code(0);
        assert!(!scratch.work("b.txt").exists());
    }
}

/// Ctrl-Z gives the terminal back to the shell, `fg` takes it again: the line that was begun, and pastes, are as before.
#[test]
fn after_fg_it_is_as_before() {
    let scratch = Scratch::new();
    let model = Model::script([Step::text("Well.")]);
    let agent = format!("{} {}", env!("CARGO_BIN_EXE_agent"), model.flags(Wire::Anthropic).join(" "));
    let Some(mut running) = program_on_terminal(&scratch, "exec bash --norc --noprofile -i") else { return };
    running.write(&format!("PS1='shell''$ '; {agent}\r"));
    running.wait_for_screen(|screen| screen.contains("\n>\n"));
    running.write("half");
    running.wait_for_screen(|screen| screen.contains("\n> half\n"));
    running.write("\x1a");
    running.wait_for_screen(|screen| screen.contains("Stopped") && screen.trim_end().ends_with("shell$"));
    running.write("stty -a | grep -o ' icanon'; fg\r");
    running.wait_for_screen(|screen| screen.contains("\n icanon\n") && screen.contains("\n> half\n"));
    running.write("\x1b[200~one\rtwo\rthree\x1b[201~\r");
    at_rest_after(&running, "Well.");
    running.write("\x04");
    running.wait_for_screen(|screen| screen.trim_end().ends_with("shell$"));
    running.write("exit\r");
    running.end();
    let said = model.requests()[0].body["messages"].to_string();
    assert!(said.contains(r"halfone\ntwo\nthree"), "{said}");
    assert_eq!(model.requests().len(), 1, "no line of it was sent alone");
}

/// What the shell writes begins a row of its own, and what comes behind `fg` does, too.
#[test]
fn an_answer_is_no_part_of_what_the_shell_writes_after_ctrl_z() {
    let scratch = Scratch::new();
    let reply =
        Reply::new().text(format!("{} end", "word ".repeat(80))).pieces_of(5).piece_delay(Duration::from_millis(100));
    let model = Model::script([Step::answer(reply)]);
    let agent = format!("{} {}", env!("CARGO_BIN_EXE_agent"), model.flags(Wire::Anthropic).join(" "));
    let Some(mut running) = program_on_terminal(&scratch, "exec bash --norc --noprofile -i") else { return };
    running.write(&format!("PS1='shell''$ '; {agent}\r"));
    running.wait_for_screen(|screen| screen.contains("\n>\n"));
    running.write("go\r");
    running.wait_for_screen(|screen| screen.contains("\nword word"));
    running.write("\x1a");
    running.wait_for_screen(|screen| screen.contains("Stopped") && screen.trim_end().ends_with("shell$"));
    let screen = running.screen();
    let row = screen.lines().find(|row| row.contains("Stopped")).unwrap();
    assert!(!row.contains("word"), "{screen}");
    running.write("fg\r");
    at_rest_after(&running, "end");
    running.write("\x04");
    running.wait_for_screen(|screen| screen.trim_end().ends_with("shell$"));
    running.write("exit\r");
    running.end();
}

#[test]
fn nothing_from_the_model_acts_on_the_terminal() {
    for arguments in ["run -p x", "run -p x -q"] {
        let scratch = Scratch::new();
        let model = Model::script([Step::text("before \x1b]0;owned\x07\x1b[2J after")]);
        let Some(running) = on_terminal(&scratch, &model, arguments) else { return };
        let ended = running.end();
        ended.assert_code(0);
        // Its own styles are the only sequences.
        let rest = ended.out.replace("\x1b[2m", "").replace("\x1b[0m", "").replace("\x1b[31m", "");
        assert!(rest.contains("before") && rest.contains("after"), "{ended:?}");
        assert!(!rest.contains('\x1b') && !rest.contains('\x07'), "{ended:?}");
        assert_eq!(rest.matches("after").count(), 1, "{ended:?}");
    }
}

#[test]
fn colours_can_be_switched_off() {
    let scratch = Scratch::new();
    let list = || Step::call("list_files", json!({}));
    let model = Model::script([list(), Step::text("a"), list(), Step::text("b"), Step::text("c")]);
    let Some(running) = on_terminal(&scratch, &model, "run -p x") else { return };
    assert!(running.end().out.contains("\x1b[2m"));
    let flags = model.flags(Wire::Anthropic).join(" ");
    for variable in ["NO_COLOR=1", "TERM=dumb"] {
        let line = format!("{variable} {} run -p x {flags}", env!("CARGO_BIN_EXE_agent"));
        let mut command = scratch.command("script");
        let ended = Running::start(command.args(["-q", "-e", "-c", &line, "/dev/null"]).env("SHELL", "/bin/sh")).end();
        assert!(!ended.assert_code(0).out.contains('\x1b'), "{ended:?}");
    }
}
