//! Editors that do not keep to the protocol, and those that go away. Ids are those of the official test kit.

use crate::support::{Editor, Model, Scratch, Wire, said};
use agent_testkit::Reply;
use agent_testkit::http::Step;
use serde_json::{Value, json};

/// The next answer, under whatever id.
fn next(editor: &mut Editor) -> (Value, i64) {
    let line = editor.next();
    (line["id"].clone(), line["error"]["code"].as_i64().unwrap_or_default())
}

#[test]
fn jsonrpc_004_005_ext_001_the_connection_outlives_what_is_no_message() {
    let (scratch, model) = (Scratch::new(), Model::script([Step::text("Here.")]));
    let mut editor = Editor::start(&scratch, &model);
    let session = editor.session(&scratch);
    editor.until(|line| line.pointer("/params/update/availableCommands").is_some());
    for (line, expected) in [
        ("nonsense", (Value::Null, -32_700)),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,", (Value::Null, -32_700)),
        ("[]", (Value::Null, -32_600)),
        ("null", (Value::Null, -32_600)),
        (r#"{"jsonrpc":"2.0","id":{"a":1},"method":"session/list"}"#, (Value::Null, -32_600)),
        (r#"{"jsonrpc":"2.0","id":"a","method":"session/nothing"}"#, (json!("a"), -32_601)),
        (r#"{"jsonrpc":"2.0","id":-1,"method":"_example.com/anything"}"#, (json!(-1), -32_601)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"session/prompt"}"#, (Value::Null, -32_602)),
        (r#"{"jsonrpc":"2.0","id":"b","method":"initialize","params":{"protocolVersion":1}}"#, (json!("b"), -32_600)),
        (r#"{"jsonrpc":"2.0","id":"c","method":"session/prompt","params":[1]}"#, (json!("c"), -32_602)),
        (
            r#"{"jsonrpc":"2.0","id":"d","method":"session/prompt","params":{"sessionId":"x","prompt":[{"type":"text","text":"x"}]}}"#,
            (json!("d"), -32_002),
        ),
    ] {
        editor.write(format!("{line}\n").as_bytes());
        assert_eq!(next(&mut editor), expected, "{line}");
    }
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{}{}}}\n",
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    editor.write(deep.as_bytes());
    assert_eq!(next(&mut editor), (Value::Null, -32_700));
    editor.write(b"\xff\xfe\n");
    assert_eq!(next(&mut editor), (Value::Null, -32_700));
    // Blank lines, answers to nothing, and notifications of whatever kind are not answered (JSONRPC-003).
    editor.write(b"\n  \r\n");
    editor.send(&json!({ "jsonrpc": "2.0", "id": 77, "result": {} }));
    editor.send(&json!({ "jsonrpc": "2.0", "id": "x", "error": { "code": 1, "message": "no" } }));
    editor.tell("nothing/known", json!({}));
    editor.tell("session/cancel", json!([]));
    editor.tell("$/cancel_request", json!({}));
    let (answer, lines) = editor.prompt(&session, "still there?");
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert!(lines.iter().all(|line| line["method"] == "session/update"), "{lines:?}");
    assert_eq!(said(&lines, "agent_message_chunk"), "Here.");
}

#[test]
fn jsonrpc_001_nothing_is_done_before_initialize() {
    let (scratch, model) = (Scratch::new(), Model::script([]));
    let mut editor = Editor::spawn(scratch.agent(&["acp"]).args(model.flags(Wire::Anthropic)));
    for method in ["session/new", "session/prompt", "session/list", "authenticate", "nothing"] {
        let params = json!({ "cwd": scratch.path("work"), "mcpServers": [] });
        editor.send(&json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": params }));
        assert_eq!(next(&mut editor), (json!(method), -32_600));
    }
    editor.tell("session/cancel", json!({ "sessionId": "x" }));
    for params in [json!({}), json!({ "protocolVersion": "1" }), json!(null)] {
        assert_eq!(editor.call("initialize", params)["error"]["code"], -32_602);
    }
    assert_eq!(editor.call("initialize", json!({ "protocolVersion": 1 }))["result"]["protocolVersion"], 1);
    assert!(scratch.journals().is_empty());
}

#[test]
fn a_line_of_100_mb_is_refused_and_not_kept() {
    let (scratch, model) = (Scratch::new(), Model::script([]));
    let mut editor = Editor::start(&scratch, &model);
    let piece = "x".repeat(1_000_000);
    editor.write(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"");
    for _ in 0..100 {
        editor.write(piece.as_bytes());
    }
    editor.write(b"\"}\n");
    assert_eq!(next(&mut editor), (Value::Null, -32_700));
    let status = std::fs::read_to_string(format!("/proc/{}/status", editor.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak_kb: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak_kb < 200_000, "{peak_kb} kB");
    editor.session(&scratch);
}

#[test]
fn two_prompts_at_once_are_both_answered_and_so_are_repeated_ids() {
    let scratch = Scratch::new();
    let read = Step::call("list_files", json!({ "path": "." }));
    let model = Model::script([read, Step::text("Both."), Step::text("And that.")]);
    let mut editor = Editor::start(&scratch, &model);
    let session = editor.session(&scratch);
    let message = |id: &str, text: &str| {
        let params = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] });
        json!({ "jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": params })
    };
    editor.send(&message("same", "first"));
    editor.send(&message("same", "second"));
    let is_answer = |line: &Value| line["id"] == "same";
    for _ in 0..2 {
        let (answer, _) = editor.until(is_answer);
        assert_eq!(answer["result"]["stopReason"], "end_turn", "{answer}");
    }
    let sent = model.requests().iter().map(|request| request.body["messages"].to_string()).collect::<String>();
    assert!(sent.contains("first") && sent.contains("second"), "{sent}");
}

#[test]
fn shutdown_001_an_input_that_closes_anywhere_ends_it_and_keeps_its_sessions() {
    let stall = || Step::stall(Reply::new().text("It begins and goes on").pieces_of(3), 3);
    let write = || Step::call("write_file", json!({ "path": "new.txt", "content": "x\n" }));
    for at in 0..5 {
        let scratch = Scratch::new();
        let model = Model::script([if at == 3 { write() } else { stall() }]);
        let mut editor = Editor::spawn(scratch.agent(&["acp", "--quiet"]).args(model.flags(Wire::Anthropic)));
        if at > 0 {
            editor.call("initialize", json!({ "protocolVersion": 1 }));
        }
        if at > 1 {
            let session = editor.session(&scratch);
            editor.ask_prompt(&session, "go on");
            match at {
                3 => drop(editor.question()),
                _ => model.wait_for_requests(1),
            }
        }
        if at == 4 {
            editor.write(b"{\"jsonrpc\":\"2.0\",\"id\":9,\"meth");
        }
        assert!(editor.leave().success(), "{at}");
        assert_eq!(scratch.journals().len(), usize::from(at > 1), "{at}");
        assert!(!scratch.work("new.txt").exists());
        if at > 1 {
            // Any other way of resuming goes on with it.
            let model = Model::script([Step::text("Back."), Step::text("Back."), Step::text("Back.")]);
            let ended = scratch.run(&model, &["--continue", "-p", "and now?"]);
            // A question that was open is put again, and here is nobody to answer it.
            ended.assert_code(if at == 3 { 61 } else { 0 });
            assert_eq!(ended.out, "Back.\n", "{at}");
        }
    }
}

#[test]
fn a_signal_leaves_sessions_as_they_are() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let scratch = Scratch::new();
        let model = Model::script([Step::stall(Reply::new().text("It begins and goes on").pieces_of(3), 3)]);
        let mut editor = Editor::start(&scratch, &model);
        let session = editor.session(&scratch);
        editor.ask_prompt(&session, "go on");
        model.wait_for_requests(1);
        let status =
            std::process::Command::new("kill").args([&format!("-{signal}"), &editor.id().to_string()]).status();
        assert!(status.unwrap().success());
        assert_eq!(editor.ended().code(), Some(code), "{signal}");
        let mut editor = Editor::start(&scratch, &Model::script([Step::text("Here.")]));
        let params = json!({ "sessionId": session, "cwd": scratch.path("work"), "mcpServers": [] });
        let id = editor.ask("session/load", params);
        let (answer, lines) = editor.answered(id);
        assert!(answer["result"].is_object(), "{answer}");
        assert_eq!(said(&lines, "user_message_chunk"), "go on");
    }
}
