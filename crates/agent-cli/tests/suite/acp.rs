//! `agent acp` as an editor meets it. Names of tests carry the ids of the official test kit's requirements that they hold; every line is
//! checked against the protocol's own schema (ACP-SCHEMA-001, ACP-TRANSPORT-001 and -002, ACP-JSONRPC-002, ACP-ERROR-001).

use crate::support::{Editor, Model, Scratch, eventually, said, updates};
use agent_testkit::Reply;
use agent_testkit::http::Step;
use serde_json::{Value, json};
use std::fs;

/// A model whose answer never ends.
fn stalled() -> Step {
    Step::stall(Reply::new().text("It begins and goes on and on").pieces_of(3), 4)
}

fn begins(editor: &mut Editor) {
    editor.until(|line| line.pointer("/params/update/sessionUpdate") == Some(&json!("agent_message_chunk")));
}

#[test]
fn init_001_to_004_auth_001_002_versions_and_abilities_are_said() {
    let (scratch, model) = (Scratch::new(), Model::script([]));
    for asked in [1, 65_535, 0] {
        let mut editor = Editor::spawn(scratch.agent(&["acp"]).args(model.flags(crate::support::Wire::Anthropic)));
        let answer =
            editor.call("initialize", json!({ "protocolVersion": asked, "info": {}, "clientCapabilities": {} }));
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], 1, "{answer}");
        assert_eq!(result["agentInfo"]["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(result["agentCapabilities"]["loadSession"], true);
        assert_eq!(result["agentCapabilities"]["mcpCapabilities"], json!({ "http": true, "sse": false }));
        let methods = result["authMethods"].as_array().unwrap();
        assert_eq!((methods.len(), methods[0].get("type")), (1, None), "{answer}");
        // Nothing has to be done for it, and it does not wait for anyone.
        let answer = editor.call("authenticate", json!({ "methodId": methods[0]["id"] }));
        assert_eq!(answer["result"], json!({}), "{answer}");
        let answer = editor.call("authenticate", json!({ "methodId": "other" }));
        assert_eq!(answer["error"]["code"], -32_602, "{answer}");
        assert!(editor.leave().success());
    }
}

#[test]
fn session_001_002_modes_001_config_001_003_auth_005_sessions_are_apart() {
    let (scratch, model) = (Scratch::new(), Model::script([]));
    let mut editor = Editor::start(&scratch, &model);
    let params = json!({ "cwd": scratch.path("work"), "mcpServers": [] });
    let id = editor.ask("session/new", params);
    let (answer, before) = editor.answered(id);
    // The client does not know the session before.
    assert!(before.is_empty(), "{before:?}");
    let result = &answer["result"];
    let modes: Vec<&Value> =
        result["modes"]["availableModes"].as_array().unwrap().iter().map(|mode| &mode["id"]).collect();
    assert!(modes.contains(&&result["modes"]["currentModeId"]), "{answer}");
    for option in result["configOptions"].as_array().unwrap() {
        let values: Vec<&Value> = option["options"].as_array().unwrap().iter().map(|value| &value["value"]).collect();
        assert!(option["type"] == "select" && values.contains(&&option["currentValue"]), "{option}");
    }
    let other = editor.session(&scratch);
    assert_ne!(result["sessionId"], other.as_str());
    assert!(!other.is_empty());
    assert!(editor.leave().success(), "SHUTDOWN-001");
}

#[test]
fn prompt_001_to_003_meta_001_an_answer_arrives_in_pieces_before_its_end() {
    let scratch = Scratch::new();
    let model = Model::script([Step::answer(Reply::new().thinking("Hm.").text("Good morning.").pieces_of(4))]);
    let mut editor = Editor::start(&scratch, &model);
    let session = editor.session(&scratch);
    let file = format!("file://{}", scratch.work("b c.txt").display());
    let id = editor.ask(
        "session/prompt",
        json!({
            "sessionId": session,
            "_meta": { "traceparent": "00-80e1afed08e019fc1110464cfa66635c-7a085853722dc6d2-01" },
            "prompt": [
                { "type": "text", "text": "Look at" },
                { "type": "resource_link", "name": "b c.txt", "uri": file },
                { "type": "resource", "resource": { "uri": "file:///x/c.txt", "text": "the text of c" } },
            ],
        }),
    );
    let (answer, lines) = editor.answered(id);
    assert_eq!(answer["result"], json!({ "stopReason": "end_turn" }), "{answer}");
    assert_eq!(said(&lines, "agent_message_chunk"), "Good morning.");
    assert_eq!(said(&lines, "agent_thought_chunk"), "Hm.");
    let of_session = |line: &Value| line.pointer("/params/sessionId") == Some(&json!(session));
    assert!(lines.iter().all(of_session), "{lines:?}");
    let titles: Vec<_> = updates(&lines).into_iter().filter(|(kind, _)| kind == "session_info_update").collect();
    assert_eq!(titles.len(), 1, "{lines:?}");
    let sent = model.last_body()["messages"].to_string();
    assert!(sent.contains("b c.txt") && sent.contains("the text of c") && sent.contains("/x/c.txt"), "{sent}");
    editor.is_silent();
}

#[test]
fn promptcap_001_a_picture_goes_to_the_model() {
    let scratch = Scratch::new();
    let model = Model::script([Step::text("Red.")]);
    let mut editor = Editor::start_with(&scratch, &model, &["--model", "claude-sonnet-4-5"]);
    let session = editor.session(&scratch);
    let data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
    let ask = |data: &str| {
        json!({ "sessionId": session, "prompt": [
            { "type": "text", "text": "Which colour?" }, { "type": "image", "data": data, "mimeType": "image/png" },
        ] })
    };
    let answer = editor.call("session/prompt", ask(data));
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    assert!(model.last_body()["messages"].to_string().contains(data), "{}", model.last_body());
    let answer = editor.call("session/prompt", ask("AAAA"));
    assert_eq!(answer["error"]["code"], -32_602, "not a picture: {answer}");
}

#[test]
fn a_question_is_answered_and_a_call_is_told_from_its_announcement_to_its_end() {
    let scratch = Scratch::new();
    let model = Model::script([
        Step::call("write_file", json!({ "path": "new.txt", "content": "one\n" })),
        Step::call("todo_write", json!({ "todos": [{ "content": "Write it", "status": "in_progress" }] })),
        Step::text("Done."),
        Step::call("write_file", json!({ "path": "other.txt", "content": "two\n" })),
        Step::text("Not done."),
    ]);
    let mut editor = Editor::start(&scratch, &model);
    let session = editor.session(&scratch);
    let id = editor.ask_prompt(&session, "write");
    let (question, before) = editor.until(|line| line["method"] == "session/request_permission");
    let announced = updates(&before).into_iter().find(|(kind, _)| kind == "tool_call").unwrap().1;
    let call = &question["params"]["toolCall"];
    assert_eq!((&announced["status"], &announced["kind"]), (&json!("pending"), &json!("edit")), "{announced}");
    assert_eq!(announced["toolCallId"], call["toolCallId"]);
    assert_eq!(announced["rawInput"], json!({ "path": "new.txt", "content": "one\n" }));
    let path = scratch.work("new.txt").canonicalize().unwrap_or_else(|_| scratch.work("new.txt"));
    assert_eq!(call["locations"][0]["path"], json!(path), "{call}");
    let diff = json!({ "type": "diff", "path": path, "oldText": null, "newText": "one\n" });
    assert_eq!(call["content"][0], diff, "{call}");
    assert!(!scratch.work("new.txt").exists(), "nothing is done before the answer");
    editor.choose(&question, "once");
    let (answer, lines) = editor.answered(id);
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert_eq!(scratch.read("new.txt"), "one\n");
    let told = updates(&lines);
    let states: Vec<&Value> = told
        .iter()
        .filter(|(kind, update)| kind == "tool_call_update" && update["toolCallId"] == call["toolCallId"])
        .map(|(_, update)| &update["status"])
        .collect();
    assert_eq!(states, ["in_progress", "completed"]);
    let plan = &told.iter().find(|(kind, _)| kind == "plan").unwrap().1;
    assert_eq!(plan["entries"], json!([{ "content": "Write it", "priority": "medium", "status": "in_progress" }]));

    let id = editor.ask_prompt(&session, "and the other");
    let question = editor.question();
    editor.choose(&question, "deny");
    let (answer, lines) = editor.answered(id);
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    let failed = updates(&lines).into_iter().any(|(_, update)| update["status"] == "failed");
    assert!(failed && !scratch.work("other.txt").exists(), "{lines:?}");
}

#[test]
fn a_rule_that_is_offered_holds_for_the_session_or_for_all() {
    let scratch = Scratch::new();
    let write = || Step::call("write_file", json!({ "path": "new.txt", "content": "x\n" }));
    let model = Model::script([write(), write(), Step::text("Done."), write(), Step::text("Done.")]);
    let mut editor = Editor::start(&scratch, &model);
    let session = editor.session(&scratch);
    let id = editor.ask_prompt(&session, "write");
    let question = editor.question();
    let options = question["params"]["options"].as_array().unwrap().clone();
    let kinds: Vec<&Value> = options.iter().map(|option| &option["kind"]).collect();
    assert_eq!(kinds, ["allow_once", "allow_always", "allow_always", "reject_once"]);
    assert!(options[1]["name"].as_str().unwrap().contains("write_file(new.txt)"), "{options:?}");
    editor.choose(&question, "always");
    let (_, lines) = editor.answered(id);
    assert!(lines.iter().all(|line| line["method"] != "session/request_permission"), "{lines:?}");
    // Another session of another program.
    editor.leave();
    let mut editor = Editor::start(&scratch, &model);
    let session = editor.session(&scratch);
    let (answer, lines) = editor.prompt(&session, "write");
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert!(lines.iter().all(|line| line["method"] != "session/request_permission"), "{lines:?}");
}

#[test]
fn what_was_shown_is_what_is_allowed() {
    let scratch = Scratch::new();
    scratch.write("a.txt", "old\n");
    let edit = json!({ "path": "a.txt", "old_string": "old", "new_string": "new" });
    let model = Model::script([
        Step::call("read_file", json!({ "path": "a.txt" })),
        Step::call("edit_file", edit),
        Step::text("Done."),
    ]);
    let mut editor = Editor::start(&scratch, &model);
    let session = editor.session(&scratch);
    let id = editor.ask_prompt(&session, "edit");
    let question = editor.question();
    let shown = question["params"]["toolCall"]["content"][0].clone();
    assert_eq!((&shown["oldText"], &shown["newText"]), (&json!("old\n"), &json!("new\n")), "{question}");
    scratch.write("a.txt", "old\nand more\n");
    editor.choose(&question, "once");
    let again = editor.question();
    assert_eq!(again["params"]["toolCall"]["content"][0]["oldText"], "old\nand more\n", "{again}");
    editor.choose(&again, "deny");
    editor.answered(id);
    assert_eq!(scratch.read("a.txt"), "old\nand more\n");
}

#[test]
fn cancel_001_002_a_stop_is_answered_behind_everything_else() {
    let (scratch, model) = (Scratch::new(), Model::script([stalled(), Step::text("Here.")]));
    let mut editor = Editor::start(&scratch, &model);
    let session = editor.session(&scratch);
    // Before, and of nothing: neither an answer nor a harm.
    editor.tell("session/cancel", json!({ "sessionId": session }));
    editor.tell("session/cancel", json!({ "sessionId": "other" }));
    let id = editor.ask_prompt(&session, "go on");
    begins(&mut editor);
    editor.tell("session/cancel", json!({ "sessionId": session }));
    editor.tell("session/cancel", json!({ "sessionId": session }));
    let (answer, _) = editor.answered(id);
    assert_eq!(answer["result"]["stopReason"], "cancelled", "{answer}");
    editor.is_silent();
    let (answer, lines) = editor.prompt(&session, "again");
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert_eq!(said(&lines, "agent_message_chunk"), "Here.");
}

#[test]
fn a_request_that_is_cancelled_is_answered_as_stopped() {
    let (scratch, model) = (Scratch::new(), Model::script([stalled()]));
    let mut editor = Editor::start(&scratch, &model);
    let session = editor.session(&scratch);
    let id = editor.ask_prompt(&session, "go on");
    begins(&mut editor);
    editor.tell("$/cancel_request", json!({ "requestId": "another" }));
    editor.tell("$/cancel_request", json!({ "requestId": id }));
    assert_eq!(editor.answered(id).0["result"]["stopReason"], "cancelled");
}

#[test]
fn a_stop_withdraws_the_question_and_its_late_answer_does_nothing() {
    let scratch = Scratch::new();
    let write = Step::call("write_file", json!({ "path": "new.txt", "content": "x\n" }));
    let model = Model::script([write, Step::text("Here.")]);
    let mut editor = Editor::start(&scratch, &model);
    let session = editor.session(&scratch);
    let id = editor.ask_prompt(&session, "write");
    let question = editor.question();
    editor.tell("session/cancel", json!({ "sessionId": session }));
    // In whichever order.
    let is_either = |line: &Value| line["method"] == "$/cancel_request" || line["id"] == id;
    let (one, other) = (editor.until(is_either).0, editor.until(is_either).0);
    let (answer, withdrawn) = if one["id"] == id { (one, other) } else { (other, one) };
    assert_eq!(answer["result"]["stopReason"], "cancelled", "{answer}");
    assert_eq!(withdrawn["params"]["requestId"], question["id"], "{withdrawn}");
    for _ in 0..2 {
        editor.choose(&question, "once");
    }
    assert_eq!(editor.prompt(&session, "still there?").0["result"]["stopReason"], "end_turn");
    assert!(!scratch.work("new.txt").exists());
}

#[test]
fn answers_that_are_none_allow_nothing() {
    for result in [
        json!({ "outcome": { "outcome": "selected", "optionId": "everything" } }),
        json!({ "outcome": "selected" }),
        json!(null),
        json!([]),
    ] {
        let scratch = Scratch::new();
        let write = Step::call("write_file", json!({ "path": "new.txt", "content": "x\n" }));
        let model = Model::script([write, Step::text("Here.")]);
        let mut editor = Editor::start(&scratch, &model);
        let session = editor.session(&scratch);
        let id = editor.ask_prompt(&session, "write");
        let question = editor.question();
        editor.answer(&question, result.clone());
        assert_eq!(editor.answered(id).0["result"]["stopReason"], "end_turn", "{result}");
        assert!(!scratch.work("new.txt").exists(), "{result}");
    }
}

#[test]
fn a_client_that_cannot_be_asked_is_nobody_to_ask_and_cancelled_is_a_stop() {
    let scratch = Scratch::new();
    let write = || Step::call("write_file", json!({ "path": "new.txt", "content": "x\n" }));
    let model = Model::script([write(), write(), Step::text("Nobody.")]);
    let mut editor = Editor::start(&scratch, &model);
    let session = editor.session(&scratch);
    let id = editor.ask_prompt(&session, "write");
    let question = editor.question();
    editor.answer(&question, json!({ "outcome": { "outcome": "cancelled" } }));
    assert_eq!(editor.answered(id).0["result"]["stopReason"], "cancelled");
    let id = editor.ask_prompt(&session, "write");
    let question = editor.question();
    let error = json!({ "code": -32_601, "message": "no such method" });
    editor.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "error": error }));
    let (answer, _) = editor.answered(id);
    assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    assert!(!scratch.work("new.txt").exists());
}

#[test]
fn modes_002_config_002_choices_hold_from_their_answer_on() {
    let scratch = Scratch::new();
    scratch.configure("[models.\"scripted-model\"]\ncontext_window_tokens = 1000\n\n[models.\"other-model\"]\ncontext_window_tokens = 2000\n");
    let write = Step::call("write_file", json!({ "path": "new.txt", "content": "x\n" }));
    let model = Model::script([write, Step::text("Refused.")]);
    let mut editor = Editor::start(&scratch, &model);
    let session = editor.session(&scratch);
    let id = editor.ask("session/set_mode", json!({ "sessionId": session, "modeId": "plan" }));
    let (answer, before) = editor.answered(id);
    assert_eq!(answer["result"], json!({}));
    let mode = updates(&before).into_iter().find(|(kind, _)| kind == "current_mode_update").unwrap().1;
    assert_eq!(mode["currentModeId"], "plan");
    let set = |id: &str, value: &str| json!({ "sessionId": session, "configId": id, "value": value });
    let answer = editor.call("session/set_config_option", set("model", "other-model"));
    let options = answer["result"]["configOptions"].as_array().unwrap();
    let values: Vec<(&Value, &Value)> = options.iter().map(|option| (&option["id"], &option["currentValue"])).collect();
    assert_eq!(values[..2], [(&json!("mode"), &json!("plan")), (&json!("model"), &json!("other-model"))], "{answer}");
    assert_eq!(values[2].0, "effort");
    for (id, value) in [("mode", "loose"), ("size", "big"), ("effort", "endless")] {
        assert_eq!(editor.call("session/set_config_option", set(id, value))["error"]["code"], -32_602, "{id}");
    }
    let (answer, lines) = editor.prompt(&session, "write");
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert_eq!(model.last_body()["model"], "other-model");
    assert!(lines.iter().all(|line| line["method"] != "session/request_permission"), "{lines:?}");
    assert!(!scratch.work("new.txt").exists());
    let usage = updates(&lines).into_iter().find(|(kind, _)| kind == "usage_update").unwrap().1;
    assert_eq!(usage["size"], 2000, "{usage}");
}

#[test]
fn load_001_to_003_resume_001_002_a_session_is_told_again_word_for_word() {
    let scratch = Scratch::new();
    scratch.write("a.txt", "one\n");
    let model = Model::script([
        Step::answer(Reply::new().text("I look.").call("read_file", json!({ "path": "a.txt" }))),
        Step::text("It says one."),
    ]);
    let mut editor = Editor::start(&scratch, &model);
    let session = editor.session(&scratch);
    editor.prompt(&session, "What does a.txt say?");
    let params = json!({ "sessionId": session, "cwd": scratch.path("work"), "mcpServers": [] });
    assert_eq!(editor.call("session/load", params.clone())["error"]["code"], -32_600, "it is open here");
    // As hard as can be.
    editor.kill();
    let mut told = Vec::new();
    for _ in 0..2 {
        let mut editor = Editor::start(&scratch, &model);
        let id = editor.ask("session/load", params.clone());
        let (answer, lines) = editor.answered(id);
        assert!(answer["result"].is_object() && answer["result"].get("sessionId").is_none(), "{answer}");
        assert_eq!(said(&lines, "user_message_chunk"), "What does a.txt say?");
        assert_eq!(said(&lines, "agent_message_chunk"), "I look.It says one.");
        let kinds: Vec<String> = updates(&lines).into_iter().map(|(kind, _)| kind).collect();
        let expected =
            ["user_message_chunk", "agent_message_chunk", "tool_call", "tool_call_update", "agent_message_chunk"];
        assert_eq!(kinds, expected);
        told.push(lines);
        let after = editor.until(|line| line.pointer("/params/update/availableCommands").is_some()).1;
        assert!(after.is_empty(), "{after:?}");
        editor.leave();
    }
    assert_eq!(told[0], told[1]);
    let mut editor = Editor::start(&scratch, &model);
    let id = editor.ask("session/resume", json!({ "sessionId": session, "cwd": scratch.path("work") }));
    let (answer, lines) = editor.answered(id);
    assert!(answer["result"].is_object() && lines.is_empty(), "{answer} {lines:?}");
}

#[test]
fn list_001_002_delete_001_002_close_001_kept_sessions_are_listed_closed_and_removed() {
    let scratch = Scratch::new();
    let model = Model::script([Step::text("One."), Step::text("Two.")]);
    let mut editor = Editor::start(&scratch, &model);
    let (first, second) = (editor.session(&scratch), editor.session(&scratch));
    editor.prompt(&first, "the first\nof them");
    editor.prompt(&second, "the second");
    let listed = |editor: &mut Editor, params: Value| editor.call("session/list", params)["result"]["sessions"].clone();
    let all = listed(&mut editor, json!({}));
    let ids: Vec<&Value> = all.as_array().unwrap().iter().map(|session| &session["sessionId"]).collect();
    assert!(ids.len() == 2 && ids.contains(&&json!(first)) && ids.contains(&&json!(second)), "{all}");
    assert!(all.to_string().contains("the first"), "{all}");
    assert_eq!(listed(&mut editor, json!({ "cwd": scratch.path("home") })), json!([]));
    assert_eq!(listed(&mut editor, json!({ "cwd": "/is/not/there" })), json!([]));
    assert_eq!(editor.call("session/close", json!({ "sessionId": first }))["result"], json!({}));
    assert_eq!(editor.prompt(&first, "x").0["error"]["code"], -32_002);
    // One that is open is closed first.
    for id in [&first, &second, &second, &String::from("never-there")] {
        assert_eq!(editor.call("session/delete", json!({ "sessionId": id }))["result"], json!({}), "{id}");
    }
    // What is no id was never there under any circumstances, so the editor has a fault.
    for id in ["never/there", "../../x", "", ".", "..", "../x.1", "a/b.1", "a\u{1b}[2J\nb"] {
        let answer = editor.call("session/delete", json!({ "sessionId": id }));
        let why = answer["error"]["message"].as_str().unwrap();
        assert!(
            why.contains("letters, digits") && !why.contains("below") && !why.contains('\u{1b}'),
            "{id:?}: {answer}"
        );
        assert_eq!(answer["error"]["code"], -32_602, "{answer}");
    }
    assert_eq!(listed(&mut editor, json!({})), json!([]));
    assert!(scratch.journals().is_empty());
}

#[test]
fn close_002_what_runs_is_stopped_first() {
    let (scratch, model) = (Scratch::new(), Model::script([stalled()]));
    let mut editor = Editor::start(&scratch, &model);
    let session = editor.session(&scratch);
    let prompt = editor.ask_prompt(&session, "go on");
    begins(&mut editor);
    let close = editor.ask("session/close", json!({ "sessionId": session }));
    assert_eq!(editor.answered(prompt).0["result"]["stopReason"], "cancelled");
    assert_eq!(editor.answered(close).0["result"], json!({}));
}

#[test]
fn sessions_do_not_wait_for_each_other() {
    let scratch = Scratch::new();
    let model = Model::script([stalled(), Step::text("At once.")]);
    let mut editor = Editor::start(&scratch, &model);
    let (slow, quick) = (editor.session(&scratch), editor.session(&scratch));
    let waiting = editor.ask_prompt(&slow, "go on");
    begins(&mut editor);
    let (answer, lines) = editor.prompt(&quick, "now");
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    let said: Vec<Value> =
        lines.into_iter().filter(|line| line.pointer("/params/sessionId") == Some(&json!(quick))).collect();
    assert_eq!(crate::support::said(&said, "agent_message_chunk"), "At once.");
    editor.tell("session/cancel", json!({ "sessionId": slow }));
    assert_eq!(editor.answered(waiting).0["result"]["stopReason"], "cancelled");
}

#[test]
fn a_second_client_is_told_who_has_the_session_and_gets_it_afterwards() {
    let (scratch, model) = (Scratch::new(), Model::script([stalled(), Step::text("Here.")]));
    let mut editor = Editor::start(&scratch, &model);
    let session = editor.session(&scratch);
    editor.ask_prompt(&session, "go on");
    begins(&mut editor);
    let mut other = Editor::start(&scratch, &model);
    let params = json!({ "sessionId": session, "cwd": scratch.path("work"), "mcpServers": [] });
    let refused = other.call("session/load", params.clone());
    let why = refused["error"]["message"].as_str().unwrap();
    assert!(why.contains(&editor.id().to_string()), "{refused}");
    // It disappears in the middle of its turn.
    assert!(editor.leave().success());
    let id = other.ask("session/load", params);
    let (answer, lines) = other.answered(id);
    assert!(answer["result"].is_object(), "{answer}");
    assert_eq!(said(&lines, "user_message_chunk"), "go on");
}

#[test]
fn servers_and_directories_that_cannot_be_had_are_refused() {
    let (scratch, model) = (Scratch::new(), Model::script([]));
    scratch.write("file", "");
    let mut editor = Editor::start(&scratch, &model);
    let work = scratch.path("work");
    for params in [
        json!({ "cwd": "work", "mcpServers": [] }),
        json!({ "cwd": "", "mcpServers": [] }),
        json!({ "cwd": work.join("missing"), "mcpServers": [] }),
        json!({ "cwd": work.join("file"), "mcpServers": [] }),
        json!({ "cwd": "/a\u{0}b", "mcpServers": [] }),
        json!({ "cwd": scratch.path("home"), "mcpServers": [] }),
        json!({ "cwd": work, "mcpServers": [], "additionalDirectories": ["/tmp"] }),
        json!({ "cwd": work, "mcpServers": [{ "type": "sse", "name": "x", "url": "http://x", "headers": [] }] }),
        json!({ "cwd": work, "mcpServers": [{ "type": "http", "name": "x", "command": "x" }] }),
        json!({ "cwd": work, "mcpServers": [{ "type": "http", "name": "x", "url": "http://x", "headers": {} }] }),
        json!({ "cwd": work, "mcpServers": [{ "type": 7, "name": "x", "command": "x" }] }),
        json!({ "cwd": work, "mcpServers": [{ "name": "x" }] }),
        json!({ "cwd": work, "mcpServers": 7 }),
        json!({ "mcpServers": [] }),
        json!([]),
    ] {
        assert_eq!(editor.call("session/new", params.clone())["error"]["code"], -32_602, "{params}");
    }
    let load = |id: &str| json!({ "sessionId": id, "cwd": work, "mcpServers": [] });
    for id in ["00000000000-00000000", "", "../../etc/passwd", "x".repeat(1_000).as_str()] {
        assert_eq!(editor.call("session/load", load(id))["error"]["code"], -32_002, "{id}");
    }
    assert!(scratch.journals().is_empty(), "nothing was begun");
    editor.session(&scratch);
}

#[test]
fn a_server_of_tools_that_the_editor_names_is_used() {
    use agent_testkit::mcp::MCP_SERVER;
    let scratch = Scratch::repository_in("/var/tmp");
    let model = Model::script([
        Step::text("Not yet."),
        Step::call("mcp__s__echo", json!({ "text": "hällo" })),
        Step::text("Done."),
    ]);
    let mut editor = Editor::start_with(&scratch, &model, &["--allow", "mcp__s"]);
    let server = json!({
        "name": "s", "command": std::env::current_exe().unwrap(), "args": [],
        "env": [{ "name": MCP_SERVER, "value": "modern" }],
    });
    let answer = editor.call("session/new", json!({ "cwd": scratch.path("work"), "mcpServers": [server] }));
    let session = answer["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    // A server that was never used brings its tools with the first turn or after it.
    editor.prompt(&session, "first");
    let (_, lines) = editor.prompt(&session, "echo");
    assert!(model.last_body()["messages"].to_string().contains("hällo"), "{lines:?}");
}

#[test]
fn a_server_of_tools_over_http_is_used_with_its_headers() {
    use agent_testkit::mcp::McpHttp;
    let scratch = Scratch::new();
    let server = McpHttp::start("modern token=very-secret");
    // The tool is called once it is asked for and is there: when that is, is the server's affair.
    let model = Model::always(Step::respond(|body| {
        let last = body["messages"].as_array().and_then(|all| all.last()).map(ToString::to_string).unwrap_or_default();
        match last.contains("echo") && !last.contains("tool_result") {
            true => Step::call("mcp__far__echo", json!({ "text": "hällo" })),
            false => Step::text("Done."),
        }
    }));
    let mut editor = Editor::start(&scratch, &model);
    let headers = json!([{ "name": "Authorization", "value": "Bearer very-secret" }]);
    let params = |name: &str, headers: &Value| {
        let server = json!({ "type": "http", "name": name, "url": server.url(), "headers": headers });
        json!({ "cwd": scratch.path("work"), "mcpServers": [server] })
    };
    let answer = editor.call("session/new", params("far", &headers));
    let session = answer["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    // Its tools are offered at rest, in whichever turn they come.
    eventually("the server's tools", || {
        editor.prompt(&session, "look");
        model.last_body()["tools"].to_string().contains("mcp__far__echo")
    });
    let id = editor.ask_prompt(&session, "echo");
    // As with a server of the person's own, a call is asked about.
    let question = editor.question();
    assert_eq!(question["params"]["toolCall"]["name"], "mcp__far__echo", "{question}");
    let has_called = || server.asked().iter().any(|asked| asked.asks() == "tools/call");
    assert!(!has_called());
    editor.choose(&question, "once");
    let (_, lines) = editor.answered(id);
    assert!(has_called() && model.last_body()["messages"].to_string().contains("hällo"), "{lines:?}");
    // Without the token the server tells no tools.
    let answer = editor.call("session/new", params("near", &json!([])));
    let session = answer["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    editor.prompt(&session, "first");
    editor.prompt(&session, "second");
    let tools = model.last_body()["tools"].to_string();
    assert!(tools.contains("read_file") && !tools.contains("mcp__near__"), "{tools}");
}

#[test]
fn failures_are_errors_that_say_what_can_be_done() {
    let (scratch, model) = (Scratch::new(), Model::script([Step::status(401).with_body("no")]));
    let mut editor = Editor::start(&scratch, &model);
    let session = editor.session(&scratch);
    assert_eq!(editor.prompt(&session, "x").0["error"]["code"], -32_000);
    // The client has nobody who could be asked at a terminal.
    let mut without = Editor::spawn(&mut scratch.agent(&["acp", "--provider", "anthropic", "--model", "m"]));
    without.call("initialize", json!({ "protocolVersion": 1 }));
    let answer = without.call("session/new", json!({ "cwd": scratch.path("work"), "mcpServers": [] }));
    assert_eq!(answer["error"]["code"], -32_000, "{answer}");
    let answer = without.call("authenticate", json!({ "methodId": "api-key" }));
    assert_eq!(answer["error"]["code"], -32_000, "{answer}");
}

#[test]
fn a_limit_has_its_word_and_says_which_it_is() {
    let scratch = Scratch::new();
    let call = || Step::call("list_files", json!({ "path": "." }));
    let model = Model::script([call(), call(), call()]);
    let mut editor = Editor::start_with(&scratch, &model, &["--max-turns", "1"]);
    let session = editor.session(&scratch);
    let (answer, lines) = editor.prompt(&session, "look");
    assert_eq!(answer["result"]["stopReason"], "max_turn_requests", "{answer} {lines:?}");
    assert!(!said(&lines, "agent_thought_chunk").is_empty(), "why is said: {lines:?}");
}

#[test]
fn a_full_command_line_is_refused_where_the_editor_decides() {
    let scratch = Scratch::new();
    for flag in [&["-C", "."][..], &["--continue"], &["--no-session"], &["--output-format", "json"], &["--plain"]] {
        let ended = scratch.ended(&[&["acp"], flag].concat());
        ended.assert_code(2).assert_says("does not belong to `agent acp`");
        assert!(ended.out.is_empty());
    }
    let listed = fs::read_dir(scratch.path("state")).unwrap().count();
    assert_eq!(listed, 0, "nothing was begun");
}
