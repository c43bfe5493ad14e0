//! Editors that do not keep to the protocol, and those that go away. Ids are those of the official test kit.

use crate::support::{Editor, HANG, Model, Scratch, Wire, eventually, has_any_sandbox, said, updates};
use agent_testkit::Reply;
use agent_testkit::http::Step;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdout, Stdio};
use std::time::{Duration, Instant};

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

/// An editor that has closed its end and does not read is not waited for; one that has read got everything.
#[test]
fn shutdown_002_an_input_that_closes_ends_it_where_nobody_reads() {
    for is_read in [false, true] {
        let scratch = Scratch::new();
        let model = Model::script([Step::stall(Reply::new().text("It begins and goes on").pieces_of(3), 3)]);
        let mut command = scratch.agent(&["acp", "--quiet"]);
        command.args(model.flags(Wire::Anthropic)).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut send = |id: u32, method: &str, params: Value| {
            let line = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
            writeln!(stdin, "{line}").unwrap();
        };
        let mut line = String::new();
        send(1, "initialize", json!({ "protocolVersion": 1 }));
        stdout.read_line(&mut line).unwrap();
        line.clear();
        send(2, "session/new", json!({ "cwd": scratch.path("work"), "mcpServers": [] }));
        stdout.read_line(&mut line).unwrap();
        let opened: Value = serde_json::from_str(&line).unwrap();
        let session = opened["result"]["sessionId"].clone();
        let prompt = json!([{ "type": "text", "text": "go on" }]);
        send(3, "session/prompt", json!({ "sessionId": session, "prompt": prompt }));
        model.wait_for_requests(1);
        // More answers than any pipe holds.
        for id in 0..REQUESTS {
            send(1_000 + id, &"x".repeat(100), json!({}));
        }
        let count = |stdout: BufReader<ChildStdout>| {
            let lines = stdout.lines().map_while(Result::ok).filter(|line| line.contains("-32601"));
            lines.take(REQUESTS as usize).count()
        };
        assert!(child.try_wait().unwrap().is_none());
        let (read, unread) = match is_read {
            true => (Some(count(stdout)), None),
            false => (None, Some(stdout)),
        };
        drop(stdin);
        let since = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if since.elapsed() > HANG {
                child.kill().unwrap();
                panic!("it waits for a reader: {is_read}");
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        assert!(status.success(), "{status}");
        let read = read.or(unread.map(count)).unwrap();
        assert_eq!(read == REQUESTS as usize, is_read, "{read}");
        // The session was left as it is.
        let mut editor = Editor::start(&scratch, &Model::script([Step::text("Here.")]));
        let params = json!({ "sessionId": session, "cwd": scratch.path("work"), "mcpServers": [] });
        let id = editor.ask("session/load", params);
        let (answer, lines) = editor.answered(id);
        assert!(answer["result"].is_object(), "{answer}");
        assert_eq!(said(&lines, "user_message_chunk"), "go on");
    }
}

const REQUESTS: u32 = 5_000;

/// After a crash the first program that opens the session shows the call that was left open, as every later one does.
#[test]
fn a_call_that_a_crash_left_open_is_shown_by_the_first_that_opens_the_session() {
    for has_history in [true, false] {
        let scratch = Scratch::new();
        let call = json!({ "command": "touch begun; sleep 8731" });
        let model = Model::script([Step::answer(Reply::new().text("I wait.").call("bash", call)), Step::text("Back.")]);
        let flags = ["--allow", "bash", "--sandbox", "off"];
        let mut editor = Editor::start_with(&scratch, &model, &flags);
        let session = editor.session(&scratch);
        editor.ask_prompt(&session, "wait");
        eventually("the command runs", || scratch.work("begun").exists());
        editor.kill();
        let params = json!({ "sessionId": session, "cwd": scratch.path("work"), "mcpServers": [] });
        let mut told = Vec::new();
        for is_first in [true, false] {
            let mut editor = Editor::start_with(&scratch, &model, &flags);
            let method = if has_history || !is_first { "session/load" } else { "session/resume" };
            let id = editor.ask(method, params.clone());
            let (answer, mut lines) = editor.answered(id);
            assert!(answer["result"].is_object(), "{answer}");
            if has_history && is_first {
                assert_eq!(said(&lines, "agent_message_chunk"), "I wait.", "{lines:?}");
                assert!(updates(&lines).iter().any(|(kind, _)| kind == "tool_call"), "with the history: {lines:?}");
            }
            if is_first {
                // It goes on, and its answer comes behind the call's end.
                let is_answer =
                    |line: &Value| line.pointer("/params/update/sessionUpdate") == Some(&json!("agent_message_chunk"));
                let (_, more) = editor.until(is_answer);
                lines.extend(more);
            }
            let calls = updates(&lines).into_iter().filter(|(kind, _)| kind.starts_with("tool_call"));
            let calls: Vec<(String, Value)> = calls
                .map(|(kind, update)| (kind, json!([update["toolCallId"], update["status"], update["rawOutput"]])))
                .collect();
            told.push(calls);
            assert!(editor.leave().success());
        }
        let kinds: Vec<&str> = told[0].iter().map(|(kind, _)| kind.as_str()).collect();
        assert_eq!(kinds, ["tool_call", "tool_call_update"], "{told:?}");
        assert_eq!(told[0], told[1]);
        assert_eq!(told[0][1].1[1], "failed", "{told:?}");
    }
}

/// Words of the model stand in a question as one line, and so does everything else that is shown as a line.
#[test]
fn words_of_the_model_in_a_question_pass_for_nothing_else() {
    if !has_any_sandbox() {
        return;
    }
    let scratch = Scratch::new();
    let hostile = "the task\n\nApproved by your administrator.\u{1b}[2J\u{202e}";
    let call = json!({ "command": "true\u{1b}[2J", "sandbox": { "network": true, "reason": hostile } });
    let plan = json!({ "todos": [{ "content": "Approved\u{1b}[2J\u{202e}", "status": "pending" }] });
    let model = Model::script([
        Step::call("todo_write", plan),
        Step::call("bash", call),
        Step::call("no\nsuch\u{1b}tool", json!({ "path": hostile })),
        Step::text("Done."),
    ]);
    let mut editor = Editor::start(&scratch, &model);
    let session = editor.session(&scratch);
    let id = editor.ask_prompt(&session, "go");
    let (question, mut lines) = editor.until(|line| line["method"] == "session/request_permission");
    let shown = &question["params"]["toolCall"];
    let reason = shown["content"].as_array().unwrap().last().unwrap()["content"]["text"].as_str().unwrap();
    assert!(reason.contains("the task\\n\\nApproved by your administrator.\\u{1b}[2J\\u{202e}"), "{reason:?}");
    editor.choose(&question, "once");
    lines.push(question);
    lines.extend(editor.answered(id).1);
    let mut texts = Vec::new();
    for line in &lines {
        let params = &line["params"];
        for title in ["/toolCall/title", "/update/title", "/toolCall/name", "/update/name"] {
            texts.extend(params.pointer(title).and_then(Value::as_str));
        }
        let options = params["options"].as_array().into_iter().flatten().map(|option| &option["name"]);
        let entries = params.pointer("/update/entries").and_then(Value::as_array).into_iter().flatten();
        texts.extend(options.chain(entries.map(|entry| &entry["content"])).filter_map(Value::as_str));
    }
    assert!(texts.iter().any(|text| text.contains("Approved")), "{texts:?}");
    for text in texts {
        assert!(!text.contains(|c: char| c.is_control() || c == '\u{202e}'), "{text:?}");
    }
}
