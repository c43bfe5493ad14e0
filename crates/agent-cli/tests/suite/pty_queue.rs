//! Messages that are sent from the line editor while the agent works: seen, taken back, sent later, and never lost.

use crate::pty::{at_rest_after, on_terminal};
use crate::support::{Model, Running, Scratch};
use agent_testkit::http::Step;
use serde_json::json;
use std::fs;

/// A call that lasts until [`go_on`] is called.
fn waits() -> Step {
    Step::call("bash", json!({"command": "until [ -e go ]; do sleep 0.02; done"}))
}

fn go_on(scratch: &Scratch) {
    fs::write(scratch.work("go"), "").unwrap();
}

/// A prompt at which such a call runs.
fn at_work(scratch: &Scratch, model: &Model) -> Option<Running> {
    let mut running = on_terminal(scratch, model, "--permission-mode bypass --sandbox off")?;
    running.wait_for("> ");
    running.write("begin\r");
    running.wait_for("• bash until");
    Some(running)
}

/// What the window's title was set to, one after the other.
fn titles(out: &str) -> Vec<&str> {
    out.split("\x1b]2;").skip(1).filter_map(|rest| rest.split_once("\x1b\\")).map(|(title, _)| title).collect()
}

/// What the user said in the last message of a request.
fn last_said(model: &Model, request: usize) -> String {
    model.requests()[request].body["messages"].as_array().unwrap().last().unwrap().to_string()
}

#[test]
fn messages_wait_visibly_and_go_out_when_they_were_meant_to() {
    let scratch = Scratch::new();
    let model = Model::script([waits(), Step::text("To the results."), Step::text("To the later.")]);
    let Some(mut running) = at_work(&scratch, &model) else { return };
    running.write("one\r");
    running.wait_for_screen(|screen| screen.contains("\n>\n1 message waiting · Up takes it back\n  one\n"));
    running.write("two\x1b\r");
    running.wait_for_screen(|screen| {
        screen.contains("2 messages waiting, 1 until the end of this turn · Up takes the last back\n  one\n")
            && screen.contains("\n  after this turn: two\n")
    });
    running.write("three\r");
    running.wait_for("3 messages waiting");
    running.write("\x1b[A");
    running.wait_for_screen(|screen| screen.contains("\n> two\n2 messages waiting · Up takes the last back\n"));
    running.write("!\x1b\r");
    running.wait_for_screen(|screen| screen.contains("\n  after this turn: two!\n"));
    assert!(!running.screen().contains("> one"), "what waits is not in the conversation yet");
    go_on(&scratch);
    at_rest_after(&running, "To the later.");
    let screen = running.screen();
    let places: Vec<_> = ["• bash until", "> one\n> three\n", "To the results.", "> two!\n", "To the later."]
        .map(|text| screen.find(text))
        .to_vec();
    assert!(places.is_sorted() && places[0].is_some(), "{places:?} {screen}");
    assert!(!screen.contains("waiting"), "{screen}");
    running.write("\x04");
    running.end().assert_code(0);
    assert_eq!(model.requests().len(), 3);
    let said = last_said(&model, 1);
    assert!(said.contains("\"one\"") && said.contains("\"three\"") && !said.contains("two"), "{said}");
    assert!(last_said(&model, 2).contains("\"two!\""));
    model.assert_valid();
}

/// What was typed comes back into the line: nothing of it is lost, and nothing of it goes out.
/// It is the person's own, and no message to the model: it may name what the model must not know.
#[test]
fn a_command_for_the_shell_does_not_go_to_the_model_while_it_works() {
    let scratch = Scratch::new();
    let model = Model::script([waits(), Step::text("To the results.")]);
    let Some(mut running) = at_work(&scratch, &model) else { return };
    running.write("!touch bang\r");
    running.wait_for_screen(|screen| {
        screen.contains("`!` runs commands when the agent rests") && screen.contains("\n> !touch bang\n")
    });
    go_on(&scratch);
    running.wait_for("To the results.");
    assert!(!model.requests().iter().any(|request| request.body.to_string().contains("bang")));
    running.write("\r");
    running.wait_for("Tell the agent the command and its output?");
    assert!(scratch.work("bang").exists(), "it stood in the line again, and ran at rest");
}

#[test]
fn a_stop_gives_waiting_messages_back() {
    let scratch = Scratch::new();
    let model = Model::script([waits(), Step::text("Well.")]);
    let Some(mut running) = at_work(&scratch, &model) else { return };
    running.write("one\r");
    running.wait_for("1 message waiting");
    running.write("two\x1b\r");
    running.wait_for("2 messages waiting");
    running.write("half");
    running.wait_for_screen(|screen| screen.contains("\n> half\n"));
    running.write("\x1b");
    running.wait_for("not sent, and in the line again: 2 messages");
    running.wait_for_screen(|screen| screen.contains("stopped\n> one\n  two\n  half\n"));
    running.write("\r");
    at_rest_after(&running, "Well.");
    running.write("\x04");
    running.end().assert_code(0);
    assert_eq!(model.requests().len(), 2);
    assert!(last_said(&model, 1).contains(r"one\ntwo\nhalf"), "{}", last_said(&model, 1));
}

/// A message that the provider refuses can be sent again, or changed first.
#[test]
fn a_message_that_failed_is_in_the_line_again() {
    let scratch = Scratch::new();
    let body = json!({"type": "error", "error": {"type": "invalid_request_error", "message": "too odd"}});
    let model = Model::script([Step::status(400).with_body(body.to_string()), Step::text("Well.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("first\r");
    running.wait_for("too odd");
    running.wait_for_screen(|screen| screen.contains("too odd\n> first\n"));
    running.write(" again\r");
    at_rest_after(&running, "Well.");
    running.write("\x04");
    running.end().assert_code(0);
    assert!(last_said(&model, 1).contains("first again"));
}

/// What a limit keeps from going out waits at rest, and is taken back there, too.
#[test]
fn a_message_that_a_limit_holds_back_is_taken_back_at_rest() {
    let scratch = Scratch::new();
    let model = Model::script([waits(), Step::text("Well.")]);
    let flags = "--permission-mode bypass --sandbox off --max-turns 1";
    let Some(mut running) = on_terminal(&scratch, &model, flags) else { return };
    running.wait_for("> ");
    running.write("begin\r");
    running.wait_for("• bash until");
    running.write("one\r");
    running.wait_for("1 message waiting");
    go_on(&scratch);
    running.wait_for("limit on model calls reached");
    running.wait_for_screen(|screen| screen.contains("\n>\n1 message waiting") && !screen.contains("working"));
    running.write("\x1b[A");
    running.wait_for_screen(|screen| screen.contains("\n> one\n") && !screen.contains("waiting"));
    running.write("\x15/more\r");
    at_rest_after(&running, "Well.\n2 of 2 model calls used");
    running.write("\x04");
    running.end().assert_code(0);
    assert!(!last_said(&model, 1).contains("one"), "{}", last_said(&model, 1));
}

/// Whoever leaves with something in the line, or waiting, finds it with Up.
#[test]
fn what_was_not_sent_is_found_again_in_the_next_session() {
    let scratch = Scratch::new();
    let model = Model::script([waits()]);
    let Some(mut running) = at_work(&scratch, &model) else { return };
    running.write("one\r");
    running.wait_for("1 message waiting");
    running.write("half");
    running.wait_for_screen(|screen| screen.contains("\n> half\n"));
    running.write("\x03");
    running.wait_for_screen(|screen| screen.contains("\n> one\n  half\n"));
    running.write("\x03");
    running.end().assert_code(130);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("\x1b[A");
    running.wait_for_screen(|screen| screen.contains("\n> one\n  half\n"));
    running.write("\x15\x7f\x15\x04");
    running.end().assert_code(0);
    assert_eq!(model.requests().len(), 1);
}

/// At rest Alt-Enter begins a row, as Ctrl-J always does.
#[test]
fn a_new_row_at_rest_and_while_it_works() {
    let scratch = Scratch::new();
    let model = Model::script([waits(), Step::text("Well.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "--permission-mode bypass --sandbox off") else { return };
    running.wait_for("> ");
    running.write("a\x1b\rb\r");
    running.wait_for("• bash until");
    running.write("c\nd\r");
    running.wait_for_screen(|screen| screen.contains("1 message waiting · Up takes it back\n  c\\nd\n"));
    go_on(&scratch);
    at_rest_after(&running, "Well.");
    running.write("\x04");
    running.end().assert_code(0);
    assert!(last_said(&model, 0).contains(r"a\nb"));
    assert!(last_said(&model, 1).contains(r"c\nd"));
}

/// State, spinner and numbers below the line, at rest and at work; and the state in the title of the window.
#[test]
fn the_row_below_the_line_and_the_title_tell_what_goes_on() {
    let scratch = Scratch::repository();
    scratch.configure("[models.scripted-model]\ncontext_window_tokens = 1000\ninput_usd = 1.0\noutput_usd = 1.0\n");
    let branch =
        || Step::call("bash", json!({"command": "git checkout -q -b topic; until [ -e go ]; do sleep 0.02; done"}));
    let ask = Step::call("write_file", json!({"path": "b.txt", "content": "two\n"}));
    let model = Model::script([branch(), ask, Step::text("Well.")]);
    let flags = "--permission-mode default --allow bash --sandbox off";
    let Some(mut running) = on_terminal(&scratch, &model, flags) else { return };
    running.wait_for_screen(|screen| screen.contains("\n>\nscripted-model · default · main\n"));
    running.write("begin\r");
    running.wait_for("• bash git checkout");
    let spins = |screen: &str| screen.contains("\n⠙ working ");
    running.wait_for_screen(spins);
    running.wait_for_screen(|screen| !spins(screen));
    running.wait_for_screen(|screen| screen.contains(" · 0.0002 USD · 12 % context · default\n"));
    go_on(&scratch);
    running.wait_for_screen(|screen| screen.contains("\n  answer:") && screen.contains("\n? waiting for your answer "));
    running.write("y");
    at_rest_after(&running, "Well.");
    running.wait_for_screen(|screen| {
        screen.contains("\n>\n300 in, 60 out · 0.0004 USD · 12 % context · scripted-model · default · topic\n")
    });
    running.write("\x04");
    let ended = running.end();
    let titles = titles(&ended.assert_code(0).out);
    // Before the session has said that it rests it may be at work.
    let expected =
        ["agent · work", "agent works · work", "agent asks · work", "agent works · work", "agent · work", ""];
    assert!(titles.ends_with(&expected), "{titles:?}");
    assert_eq!(ended.out.matches("\x1b[22;2t").count(), 1, "the title that was there is kept once");
    assert!(ended.out.contains("\x1b]2;\x1b\\\x1b[23;2t"), "and comes back");
}

/// However slowly an answer comes, the rows below it cost no more than it does.
#[test]
fn an_answer_that_streams_costs_at_most_twice_its_bytes() {
    let scratch = Scratch::new();
    let answer: String =
        (0..4_000).map(|number| format!("word{number}{}", if number % 12 == 11 { "\n" } else { " " })).collect();
    let length = answer.len();
    let slow = Step::answer(agent_testkit::Reply::new().text(answer).pieces_of(40));
    let model = Model::script([slow]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("go\r");
    model.wait_for_requests(1);
    running.write("half a message");
    at_rest_after(&running, "word3999");
    running.write("\x15\x04");
    let out = running.end().out;
    assert!(out.len() < 2 * length + 6_000, "{} bytes for {length}", out.len());
}

#[test]
fn a_person_who_is_not_called_keeps_the_title() {
    let scratch = Scratch::new();
    scratch.configure("[prompt]\nnotify = \"off\"\n");
    let model = Model::script([Step::text("Well.")]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("go\r");
    at_rest_after(&running, "Well.");
    running.write("\x04");
    let ended = running.end();
    assert!(titles(&ended.assert_code(0).out).is_empty() && !ended.out.contains("\x1b[23;2t"), "{ended:?}");
}
