//! Servers that ask a person in the middle of a call: at the prompt, in a conversation with a program, in an editor, and where nobody is.

use crate::mcp::{ALLOWED, Place};
use crate::pty::{at_rest_after, on_terminal};
use crate::support::{Editor, Ended, Model, Program, Running, eventually};
use agent_testkit::http::Step;
use serde_json::{Value, json};

fn asks(what: &str) -> Step {
    Step::call("mcp__s__ask", json!({ "text": what }))
}

/// What the model read of the last call.
fn result(model: &Model) -> String {
    model.last_body()["messages"].as_array().unwrap().last().unwrap().to_string()
}

/// A place whose server is known, and waits long enough.
fn place(words: &str) -> Place {
    let place = Place::new();
    place.configure(words, &json!({"callTimeoutMs": 120_000}));
    place.0.ended(&["mcp", "list"]).assert_code(0);
    place
}

#[test]
fn nobody_is_asked_where_nobody_is_there_and_that_is_said() {
    for words in ["", "modern"] {
        let place = place(words);
        let model = Model::script([asks("form"), Step::text("Done.")]);
        let ended: Ended = place.0.run(&model, &[&["-p", "x"], ALLOWED].concat());
        ended.assert_code(0).assert_says("the MCP server s asks in the middle of mcp__s__ask: \"Who are you?\\u{202e}");
        ended.assert_says("declined, nobody is there to answer");
        assert!(result(&model).contains(r#"\"action\":\"decline\""#), "{words}: {}", result(&model));
    }
}

/// Types a line a while after the question came: from then on it counts, however slow the machine is.
fn answer(running: &mut Running, line: &str) {
    std::thread::sleep(std::time::Duration::from_millis(400));
    running.write(line);
}

/// Lines that were typed ahead, or pasted without marks, answer nothing that nobody has seen.
#[test]
fn lines_that_come_at_once_are_no_answers() {
    for flags in ["--allow mcp__s", "--allow mcp__s --plain"] {
        let place = place("");
        let model = Model::script([asks("form"), Step::text("Thanks.")]);
        let Some(mut running) = on_terminal(&place.0, &model, flags) else { return };
        running.wait_for("> ");
        running.write("go\r");
        running.wait_for_screen(|screen| screen.contains("n: decline") && screen.contains("  answer:"));
        answer(&mut running, "y\r4\r1\rAda\ry\r");
        running.wait_for("1 of 3: age");
        running.wait_for_screen(|screen| screen.matches("and is no answer").count() == 4);
        assert_eq!(model.requests().len(), 1, "{flags}: nothing was sent");
        std::thread::sleep(std::time::Duration::from_secs(1));
        for line in ["4\r", "\r", "Ada L\r", "y\r"] {
            answer(&mut running, line);
        }
        at_rest_after(&running, "Thanks.");
        let read = result(&model);
        assert!(read.contains(r#"\"name\":\"Ada L\""#) && read.contains(r#"\"age\":4"#), "{flags}: {read}");
        running.write("\x04");
        running.end().assert_code(0);
    }
}

/// A server that takes its question back in the middle of an answer does not make a message of that.
#[test]
fn what_is_typed_for_a_question_that_goes_is_no_message() {
    // In the line editor Esc ends it, too, once the turn is over.
    for (flags, end) in [("--allow mcp__s", "\r"), ("--allow mcp__s", "\x1b"), ("--allow mcp__s --plain", "\r")] {
        let place = place("");
        let model = Model::script([asks("later"), Step::text("On."), Step::text("Hello.")]);
        let Some(mut running) = on_terminal(&place.0, &model, flags) else { return };
        running.wait_for("> ");
        running.write("go\r");
        running.wait_for("asks you something");
        running.write("my PIN ");
        running.wait_for("is withdrawn: press Enter");
        running.write("4711");
        if end == "\x1b" {
            running.wait_for_screen(|screen| screen.contains("On.") && !screen.contains("working"));
        }
        running.write(end);
        // The model may have answered before or after that.
        running.wait_for_screen(|screen| {
            let has_row = |row: &str| screen.lines().any(|shown| shown == row);
            screen.contains("On.") && screen.contains("  what you typed for it goes nowhere") && has_row(">")
        });
        running.write("hello\r");
        at_rest_after(&running, "Hello.");
        let sent: String = model.requests().iter().map(|request| request.body.to_string()).collect();
        assert!(!sent.contains("4711") && !sent.contains("my PIN") && sent.contains("hello"), "{flags}: {sent}");
        running.write("\x04");
        running.end().assert_code(0);
    }
}

/// A value after the other, and nothing is sent before all of it was seen. What was being typed comes back behind it.
#[test]
fn a_person_answers_at_the_prompt_value_by_value() {
    for words in ["", "modern"] {
        let place = place(words);
        let model = Model::script([asks("form"), Step::text("Thanks."), asks("visit"), Step::text("There.")]);
        let Some(mut running) = on_terminal(&place.0, &model, "--allow mcp__s") else { return };
        running.wait_for("> ");
        running.write("go\r");
        running.wait_for("the MCP server `s` asks you something, in the middle of mcp__s__ask:");
        running.wait_for("  | Who are you?\\u{202e}\\u{1b}[2J");
        running.wait_for_screen(|screen| screen.contains("n: decline") && screen.contains("  answer:"));
        // Only y begins it, a while after it came.
        answer(&mut running, "what\r");
        running.wait_for_screen(|screen| screen.contains("  y or n\n") || screen.contains("and is no answer"));
        answer(&mut running, "y\r");
        // In the order in which the server wrote them.
        running.wait_for("1 of 3: age (a whole number)");
        answer(&mut running, "old\r");
        running.wait_for("it has to be a whole number");
        answer(&mut running, "200\r");
        running.wait_for("it has to be 150 at most");
        answer(&mut running, "\r");
        running.wait_for("2 of 3: colour (one of the choices)");
        running.wait_for("    1 Red");
        running.wait_for("Enter alone: Green");
        answer(&mut running, "1\r");
        running.wait_for("3 of 3: Your name (a text, needed)");
        answer(&mut running, "\r");
        running.wait_for("an answer is needed");
        answer(&mut running, "/back\r");
        running.wait_for_screen(|screen| screen.matches("2 of 3: colour").count() == 2);
        answer(&mut running, "\r");
        running.wait_for_screen(|screen| screen.matches("3 of 3: Your name").count() == 2);
        answer(&mut running, "Ada L\r");
        running.wait_for("  age: (left out)");
        running.wait_for("  colour: Green");
        running.wait_for("  Your name: Ada L");
        assert_eq!(model.requests().len(), 1, "nothing was sent");
        answer(&mut running, "y\r");
        at_rest_after(&running, "Thanks.");
        let read = result(&model);
        assert!(read.contains(r#"\"name\":\"Ada L\""#) && read.contains(r#"\"colour\":\"g\""#), "{words}: {read}");
        assert!(!read.contains("age"), "{read}");

        running.write("and again\r");
        running.wait_for("go to an address of example.com, which is not opened for you:");
        running.wait_for("  | https://example.com/log-in?at=1");
        answer(&mut running, "y\r");
        at_rest_after(&running, "There.");
        assert!(result(&model).contains(r#"{\"action\":\"accept\"}"#), "{words}: {}", result(&model));
        running.write("\x04");
        running.end().assert_code(0);
    }
}

#[test]
fn a_draft_is_no_answer_a_no_is_one_and_a_stop_takes_the_question_back() {
    let place = place("");
    let model = Model::script([
        asks("secret"),
        Step::text("Without."),
        asks("form"),
        Step::text("Next."),
        asks("back"),
        Step::text("On."),
    ]);
    let Some(mut running) = on_terminal(&place.0, &model, "--allow mcp__s") else { return };
    running.wait_for("> ");
    running.write("go\r");
    running.wait_for("it seems to want a password, a key or a token");
    running.wait_for_screen(|screen| screen.contains("\n  answer:"));
    answer(&mut running, "n\r");
    at_rest_after(&running, "Without.");
    assert!(result(&model).contains(r#"\"action\":\"decline\""#), "{}", result(&model));

    running.write("again\r");
    running
        .wait_for_screen(|screen| screen.matches("asks you something").count() == 2 && screen.contains("\n  answer:"));
    answer(&mut running, "y\r");
    running.wait_for("1 of 3: age");
    running.write("4\x03");
    running.wait_for("the question of the MCP server s is withdrawn");
    running.wait_for("stopped");
    // What was half typed is no message.
    running.wait_for_screen(|screen| screen.contains("\n>\n"));
    eventually("the server is told", || place.notes().contains(&"notifications/cancelled".to_owned()));

    running.write("go on\r");
    at_rest_after(&running, "Next.");
    running.write("and\r");
    running.wait_for_screen(|screen| screen.matches("is withdrawn").count() == 2);
    at_rest_after(&running, "On.");
    assert!(result(&model).contains("never mind"), "{}", result(&model));
    running.write("\x04");
    running.end().assert_code(0);
}

fn started(place: &Place, model: &Model) -> Program {
    Program::start(&place.0, model, &["--allow", "mcp__s"])
}

#[test]
fn a_program_answers_in_the_place_of_a_person() {
    for words in ["", "modern"] {
        let place = place(words);
        let model = Model::script([asks("form"), Step::text("Thanks."), asks("visit"), Step::text("There.")]);
        let mut program = started(&place, &model);
        program.say("go");
        let (question, _) = program.until("server_question");
        assert_eq!((&question["server"], &question["call"]), (&json!("s"), &json!("mcp__s__ask")));
        let name = &question["schema"]["properties"]["name"];
        assert_eq!((&name["maxLength"], &name["description"]), (&json!(20), &json!("As \\u{1b}[31mothers write it")));
        assert_eq!((&question["schema"]["required"], &question["url"]), (&json!(["name"]), &Value::Null));
        let answer = |fields: Value| {
            let mut answer = json!({ "type": "server_answer", "question": question["id"], "action": "accept" });
            answer.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            answer
        };
        for (fields, why) in [
            (json!({}), "`name` is needed"),
            (json!({ "values": { "name": 7 } }), "`name`: it has to be a text"),
            (json!({ "values": { "name": "Ada", "age": 200 } }), "`age`: it has to be 150 at most"),
            (json!({ "values": { "name": "Ada", "shoe": 7 } }), "`shoe` is not asked for"),
            (json!({ "action": "decline", "values": { "name": "Ada" } }), "`values` go with `accept` alone"),
            (json!({ "question": "s99" }), "no question `s99`"),
        ] {
            program.send(answer(fields));
            let (rejected, _) = program.until("rejected");
            assert!(rejected["error"].as_str().unwrap().contains(why), "{rejected}");
        }
        program.send(answer(json!({ "values": { "name": "Ada" } })));
        assert_eq!(program.result()["result"], "Thanks.");
        assert!(result(&model).contains(r#"\"name\":\"Ada\""#), "{}", result(&model));
        // It was answered.
        program.send(answer(json!({ "values": { "name": "Eve" } })));
        program.until("rejected");

        program.say("and");
        let (question, _) = program.until("server_question");
        assert_eq!(question["url"], "https://example.com/log-in?at=1", "{question}");
        program.send(json!({ "type": "server_answer", "question": question["id"], "action": "cancel" }));
        assert_eq!(program.result()["result"], "There.");
        assert!(result(&model).contains(r#"\"action\":\"cancel\""#), "{}", result(&model));
        assert_eq!(program.end().0, 42, "lines that could not be used");
    }
}

#[test]
fn a_stop_and_the_end_of_the_input_take_a_question_back() {
    let place = place("");
    let model = Model::script([asks("form"), asks("form"), Step::text("Alone.")]);
    let mut program = started(&place, &model);
    program.say("go");
    let (question, _) = program.until("server_question");
    program.send(json!({ "type": "cancel" }));
    let (withdrawn, _) = program.until("question_withdrawn");
    assert_eq!(withdrawn["id"], question["id"]);
    program.result();
    program.say("once more");
    program.until("server_question");
    program.send(json!({ "type": "end" }));
    let result = program.result();
    assert_eq!(result["result"], "Alone.", "{result}");
    let (code, ..) = program.end();
    assert_eq!(code, 0);
}

/// The call is answered once, as one of which nobody knows what it did, and nobody is asked again.
#[test]
fn a_question_does_not_outlive_a_program_that_was_killed() {
    for words in ["alive", "modern alive"] {
        let place = place(words);
        let model = Model::script([asks("form"), Step::text("It is unknown.")]);
        let mut program = started(&place, &model);
        let (first, _) = program.until("system");
        program.say("go");
        program.until("server_question");
        program.signal("KILL");
        program.end();
        let session = first["session_id"].as_str().unwrap().to_owned();
        let flags = ["-p", "what became of it?", "--session-id", &session];
        let ended = place.0.run(&model, &[&flags[..], ALLOWED].concat());
        ended.assert_code(0);
        let said = model.last_body()["messages"].to_string();
        assert_eq!(said.matches("tool_result").count(), 1, "{words}: {said}");
        assert!(!ended.err.contains("asks in the middle"), "{ended:#?}");
        assert_eq!(place.notes().iter().filter(|note| *note == "call ask").count(), 1, "{words}");
    }
}

#[test]
fn an_editor_asks_if_it_says_that_it_can() {
    for (abilities, method) in [(json!({ "elicitation": { "form": {} } }), true), (json!({}), false)] {
        let place = place("");
        let scratch = &place.0;
        let model = Model::script([asks("form"), Step::text("Thanks."), asks("visit"), Step::text("There.")]);
        let mut editor = Editor::spawn(
            scratch.agent(&["acp", "--quiet", "--allow", "mcp__s"]).args(model.flags(crate::support::Wire::Anthropic)),
        );
        editor.call("initialize", json!({ "protocolVersion": 1, "clientCapabilities": abilities }));
        let session = editor.session(scratch);
        let id = editor.ask_prompt(&session, "go");
        if method {
            let (asked, _) = editor.until(|line| line["method"] == "elicitation/create");
            let params = &asked["params"];
            assert_eq!((&params["mode"], &params["sessionId"]), (&json!("form"), &json!(session)), "{asked}");
            assert!(params["message"].as_str().unwrap().starts_with("the MCP server s asks"), "{asked}");
            editor.answer(&asked, json!({ "action": "accept", "content": { "name": "Ada" } }));
        }
        let (_, lines) = editor.answered(id);
        let (read, expected) =
            (result(&model), if method { r#"\"name\":\"Ada\""# } else { r#"\"action\":\"cancel\""# });
        assert!(read.contains(expected), "{read}: {lines:?}");
        // An address is another ability.
        let (_, lines) = editor.prompt(&session, "and");
        assert!(result(&model).contains(r#"\"action\":\"cancel\""#), "{}", result(&model));
        let told = lines.iter().any(|line| line.to_string().contains("this editor has no way to ask that"));
        assert!(told, "{lines:?}");
    }
}
