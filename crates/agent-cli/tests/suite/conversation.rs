//! `agent run --input-format stream-json` as a program meets it. Every line of both directions is held to the published schemas.

use crate::support::{Model, Program, Scratch, Wire, eventually};
use agent_testkit::Reply;
use agent_testkit::http::Step;
use serde_json::{Value, json};
use std::io::Write as _;

const LAST: &[&str] = &["--sandbox", "off"];

fn writes(path: &str, content: &str) -> Step {
    Step::call("write_file", json!({ "path": path, "content": content }))
}

/// A model whose answer never ends.
fn stalled() -> Step {
    Step::stall(Reply::new().text("It begins and goes on and on").pieces_of(3), 4)
}

/// The types of lines, without those that say how the machines moved.
fn kinds(lines: &[Value]) -> Vec<&str> {
    lines.iter().filter_map(|line| line["type"].as_str()).filter(|kind| *kind != "transition").collect()
}

#[test]
fn each_message_has_a_result_and_the_end_of_the_input_ends_it() {
    let (scratch, model) = (Scratch::new(), Model::script([Step::text("One."), Step::text("Two.")]));
    let mut program = Program::start(&scratch, &model, LAST);
    let (first, _) = program.until("system");
    assert_eq!((&first["subtype"], &first["permission_mode"]), (&json!("init"), &json!("default")), "{first}");
    program.say("first");
    let one = program.result();
    assert_eq!((&one["result"], &one["exit_code"], &one["messages"]), (&json!("One."), &json!(0), &json!(1)), "{one}");
    assert_eq!((&one["num_turns"], &one["terminal_state"]), (&json!(1), &json!("WaitingForUserInput")), "{one}");
    program.send(json!({ "type": "user", "message": { "role": "user", "content": [
        { "type": "text", "text": "second" }, { "type": "text", "text": "and more" },
    ] } }));
    let two = program.result();
    assert_eq!((&two["result"], &two["num_turns"], &two["messages"]), (&json!("Two."), &json!(1), &json!(2)), "{two}");
    assert_eq!(two["session_id"], first["session_id"]);
    let (code, rest, err) = program.end();
    assert_eq!((code, kinds(&rest).len(), err.as_str()), (0, 0, ""), "{rest:?}");
    assert!(model.last_body()["messages"].to_string().contains("second\\nand more"), "{}", model.last_body());
    model.assert_valid();
}

#[test]
fn questions_are_answered_for_once_for_the_session_and_with_a_reason() {
    let scratch = Scratch::new();
    let model = Model::script([
        writes("a.txt", "one\n"),
        writes("b.txt", "two\n"),
        writes("b.txt", "three\n"),
        writes("c.txt", "four\n"),
        Step::text("Done."),
    ]);
    let mut program = Program::start(&scratch, &model, LAST);
    program.say("write");
    let (question, before) = program.until("question");
    // What is asked about was told before it, and is all there.
    assert!(kinds(&before).ends_with(&["assistant", "permission"]), "{before:?}");
    assert_eq!(question["tool_input"], json!({ "path": "a.txt", "content": "one\n" }));
    let path = scratch.work("a.txt").canonicalize().unwrap_or_else(|_| scratch.work("a.txt"));
    assert_eq!(question["changes"], json!([{ "path": path, "old": null, "new": "one\n" }]));
    assert_eq!(question["rules"], json!(["write_file(a.txt)"]));
    assert!(!question["reason"].as_str().unwrap().is_empty() && !scratch.work("a.txt").exists(), "{question}");
    program.allow(&question);
    let (question, _) = program.until("question");
    assert_eq!(scratch.read("a.txt"), "one\n");
    program.send(json!({ "type": "answer", "question": question["id"], "decision": "allow", "scope": "session" }));
    // The third call is covered, so the next question is about the fourth.
    let (question, _) = program.until("question");
    assert_eq!((scratch.read("b.txt").as_str(), &question["tool_input"]["path"]), ("three\n", &json!("c.txt")));
    let no = json!({ "type": "answer", "question": question["id"], "decision": "deny", "reason": "use d.txt" });
    program.send(no.clone());
    let result = program.result();
    assert_eq!((&result["result"], &result["exit_code"]), (&json!("Done."), &json!(0)), "{result}");
    assert_eq!(result["permission_denials"][0]["tool_input"]["path"], "c.txt", "{result}");
    assert!(model.last_body()["messages"].to_string().contains("use d.txt"));
    // A second answer is one to nothing, and so is one to a question that never was.
    for line in [no, json!({ "type": "answer", "question": "q99", "decision": "allow" })] {
        program.send(line);
        let (rejected, _) = program.until("rejected");
        assert!(rejected["error"].as_str().unwrap().contains("no question"), "{rejected}");
    }
    let (code, rest, _) = program.end();
    assert_eq!((code, rest.len()), (42, 0), "a line that could not be used: {rest:?}");
}

#[test]
fn an_answer_that_is_none_leaves_the_question_open() {
    let scratch = Scratch::new();
    let model = Model::script([writes("a.txt", "one\n"), Step::text("Done.")]);
    let mut program = Program::start(&scratch, &model, LAST);
    program.say("write");
    let (question, _) = program.until("question");
    let answer = |fields: Value| {
        let mut answer = json!({ "type": "answer", "question": question["id"], "decision": "allow" });
        answer.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        answer
    };
    for (fields, why) in [
        (json!({ "reason": "why not" }), "`reason` belongs to"),
        (json!({ "rules": ["write_file(a.txt)"] }), "`rules` belongs to"),
        (json!({ "scope": "session", "rules": ["write_file(b.txt)"] }), "does not cover this call"),
        (json!({ "scope": "always", "rules": ["write_file("] }), "write_file("),
        (json!({ "scope": "session", "arguments": {} }), "`arguments` belongs to"),
        (json!({ "decision": "deny", "scope": "always" }), "`scope` belongs to"),
        (json!({ "decision": "deny", "arguments": {} }), "`arguments` belongs to"),
    ] {
        program.send(answer(fields));
        let (rejected, _) = program.until("rejected");
        assert!(rejected["error"].as_str().unwrap().contains(why), "{why}: {rejected}");
    }
    // With other arguments than the model's.
    program.send(answer(json!({ "arguments": { "path": "z.txt", "content": "other\n" } })));
    program.result();
    assert!(!scratch.work("a.txt").exists() && scratch.read("z.txt") == "other\n");
}

#[test]
fn what_was_shown_is_what_is_allowed() {
    let scratch = Scratch::new();
    scratch.write("a.txt", "before\n");
    let edits = json!({ "path": "a.txt", "old_string": "before", "new_string": "after" });
    let read = Step::call("read_file", json!({ "path": "a.txt" }));
    let model = Model::script([read, Step::call("edit_file", edits), Step::text("Done."), Step::text("Again.")]);
    let mut program = Program::start(&scratch, &model, LAST);
    program.say("edit");
    let (shown, _) = program.until("question");
    assert_eq!(
        (&shown["changes"][0]["old"], &shown["changes"][0]["new"]),
        (&json!("before\n"), &json!("after\n")),
        "{shown}"
    );
    scratch.write("a.txt", "before, and more\n");
    program.allow(&shown);
    let (again, _) = program.until("question");
    assert_ne!(again["id"], shown["id"]);
    assert_eq!(again["changes"][0]["new"], "after, and more\n");
    // The old question is none any more.
    program.allow(&shown);
    program.until("rejected");
    program.allow(&again);
    program.result();
}

#[test]
fn a_cancel_ends_the_turn_and_not_the_conversation() {
    let scratch = Scratch::new();
    let model = Model::script([stalled(), writes("a.txt", ""), Step::text("Here.")]);
    let mut program = Program::start(&scratch, &model, &["--sandbox", "off", "--include-partial-messages"]);
    // At rest there is nothing to stop.
    program.send(json!({ "type": "cancel" }));
    program.say("go on");
    program.until("stream_event");
    program.say("typed ahead");
    program.send(json!({ "type": "cancel" }));
    let (returned, _) = program.until("returned");
    assert_eq!(returned["messages"], json!(["typed ahead"]), "{returned}");
    let result = program.result();
    assert_eq!((&result["subtype"], &result["exit_code"]), (&json!("cancelled"), &json!(130)), "{result}");
    assert_eq!(result["messages"], 2, "{result}");
    // A question that is open is withdrawn; an answer to it comes too late.
    program.say("write");
    let (question, _) = program.until("question");
    program.send(json!({ "type": "cancel" }));
    let (withdrawn, _) = program.until("question_withdrawn");
    assert_eq!(withdrawn["id"], question["id"]);
    assert_eq!(program.result()["subtype"], "cancelled");
    program.say("still there?");
    assert_eq!(program.result()["result"], "Here.");
    let (code, rest, _) = program.end();
    // What the program stopped by itself is no failure.
    assert_eq!((code, kinds(&rest).len()), (0, 0), "{rest:?}");
    assert!(!scratch.work("a.txt").exists());
}

/// A program need not wait for the stop.
#[test]
fn what_follows_a_cancel_at_once_is_said_to_the_next_turn() {
    let scratch = Scratch::new();
    let model = Model::script([stalled(), writes("a.txt", ""), Step::text("Here.")]);
    let mut program = Program::start(&scratch, &model, &["--sandbox", "off", "--include-partial-messages"]);
    program.say("go on");
    program.until("stream_event");
    program.send(json!({ "type": "cancel" }));
    program.say("write");
    assert_eq!(program.result()["subtype"], "cancelled");
    let (question, _) = program.until("question");
    program.send(json!({ "type": "cancel" }));
    program.send(json!({ "type": "answer", "question": question["id"], "decision": "allow", "scope": "always" }));
    program.say("and now?");
    program.until("question_withdrawn");
    assert_eq!(program.result()["subtype"], "cancelled");
    program.until("rejected");
    assert_eq!(program.result()["result"], "Here.");
    let (code, _, _) = program.end();
    assert_eq!(code, 42, "an answer came too late");
    let kept = std::fs::read_to_string(scratch.path("config/config.toml")).unwrap_or_default();
    assert!(!scratch.work("a.txt").exists() && !kept.contains("write_file"), "{kept}");
}

#[test]
fn what_is_no_line_is_rejected_and_changes_nothing() {
    let (scratch, model) = (Scratch::new(), Model::script([Step::text("Here.")]));
    let mut program = Program::start(&scratch, &model, LAST);
    program.until("system");
    let deep = format!(r#"{{"type":"user","message":{}{}}}"#, "[".repeat(10_000), "]".repeat(10_000));
    let lines: [&[u8]; 11] = [
        b"nonsense",
        b"{\"type\":\"user\"",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"{}",
        br#"{"type":"shout"}"#,
        br#"{"type":"user","message":{"role":"assistant","content":"x"}}"#,
        br#"{"type":"user","message":{"role":"user","content":"  "}}"#,
        br#"{"type":"user","message":{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}}"#,
        deep.as_bytes(),
    ];
    for (number, line) in (1..).zip(lines) {
        program.write(line);
        // Blank lines are no lines.
        program.write(b"\n \r\n\n");
        let (rejected, before) = program.until("rejected");
        assert_eq!((&rejected["line"], kinds(&before).len()), (&json!(number), 0), "{rejected}: {before:?}");
    }
    // A line of 100 MB is not kept.
    program.write(b"{\"type\":\"");
    let piece = "x".repeat(1_000_000);
    (0..100).for_each(|_| program.write(piece.as_bytes()));
    program.write(b"\"}\n");
    let (rejected, _) = program.until("rejected");
    assert!(rejected["error"].as_str().unwrap().contains("longer than"), "{rejected}");
    let status = std::fs::read_to_string(format!("/proc/{}/status", program.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak_kb: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak_kb < 200_000, "{peak_kb} kB");
    program.say("still there?");
    assert_eq!(program.result()["result"], "Here.");
    assert_eq!(program.end().0, 42);
}

#[test]
fn the_end_of_the_input_lets_the_agent_finish_and_nobody_answers() {
    let scratch = Scratch::new();
    // Before anything was said; by a line, too.
    for (line, code) in [(None, 42), (Some(json!({ "type": "end" })), 42)] {
        let mut program = Program::start(&scratch, &Model::script([]), LAST);
        line.into_iter().for_each(|line| program.send(line));
        let (found, rest, _) = program.end();
        let result = rest.last().unwrap();
        assert_eq!((found, &result["type"], &result["exit_code"]), (code, &json!("result"), &json!(code)), "{rest:?}");
        assert!(result["error"].as_str().unwrap().contains("no message"), "{result}");
    }
    // With a message that has not begun, and the next one behind it.
    let model = Model::script([Step::text("One."), Step::text("Two.")]);
    let mut program = Program::start(&scratch, &model, LAST);
    program.say("first");
    program.say("second");
    let (code, rest, _) = program.end();
    assert_eq!((code, &rest.last().unwrap()["messages"]), (0, &json!(2)), "{rest:?}");
    // With a question that is open, and one that comes.
    let model = Model::script([writes("a.txt", ""), writes("b.txt", ""), Step::text("Not done.")]);
    let mut program = Program::start(&scratch, &model, LAST);
    program.say("write");
    program.until("question");
    let (code, rest, _) = program.end();
    let result = rest.last().unwrap();
    assert_eq!(
        (code, &result["type"], &result["subtype"]),
        (61, &json!("result"), &json!("error_permission")),
        "{rest:?}"
    );
    assert!(!kinds(&rest).contains(&"question"), "{rest:?}");
    assert_eq!(result["permission_denials"].as_array().unwrap().len(), 2, "{result}");
    // In the middle of a line: it is one, and is none.
    let mut program = Program::start(&scratch, &Model::script([]), LAST);
    program.write(br#"{"type":"user","message":{"role":"us"#);
    let (code, rest, _) = program.end();
    assert_eq!((code, kinds(&rest)), (42, vec!["system", "rejected", "result"]), "{rest:?}");
}

#[test]
fn signals_end_it_with_one_last_result() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        // At work, with a question, and at rest.
        for at in ["work", "question", "rest"] {
            let step = match at {
                "work" => stalled(),
                "question" => writes("a.txt", ""),
                _ => Step::text("Here."),
            };
            let (scratch, model) = (Scratch::new(), Model::script([step]));
            let mut program = Program::start(&scratch, &model, &["--sandbox", "off", "--include-partial-messages"]);
            program.say("go");
            match at {
                "work" => drop(program.until("stream_event")),
                "question" => drop(program.until("question")),
                _ => drop(program.until("result")),
            }
            program.signal(signal);
            let mut last = None;
            while let Some(line) = program.next() {
                last = Some(line);
            }
            let last = last.unwrap();
            assert_eq!(
                (&last["type"], &last["exit_code"]),
                (&json!("result"), &json!(code)),
                "{signal} at {at}: {last}"
            );
            assert_eq!(program.end().0, code, "{signal} at {at}");
            assert!(!scratch.work("a.txt").exists());
        }
    }
}

#[test]
fn a_program_that_was_killed_left_a_session_that_goes_on() {
    let scratch = Scratch::new();
    let model = Model::script([Step::text("One."), stalled(), Step::text("Two.")]);
    let mut program = Program::start(&scratch, &model, &["--sandbox", "off", "--session-id", "kept"]);
    program.say("first");
    program.result();
    program.say("second");
    model.wait_for_requests(2);
    program.signal("KILL");
    program.end();
    let mut program = Program::start(&scratch, &model, &["--sandbox", "off", "--session-id", "kept"]);
    // What was left open goes on by itself, and has a result.
    let result = program.result();
    assert_eq!((&result["result"], &result["messages"]), (&json!("Two."), &json!(0)), "{result}");
    assert_eq!(program.end().0, 0);
}

#[test]
fn a_hook_that_asks_is_overridden_by_no_rule() {
    let scratch = Scratch::new();
    let ask = r#"echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"look twice"}}'"#;
    scratch.configure(&format!("[[hooks]]\nevent = \"PreToolUse\"\ncommand = '''{ask}'''\n"));
    let model = Model::script([writes("a.txt", ""), Step::text("Done.")]);
    let mut program = Program::start(&scratch, &model, LAST);
    program.say("write");
    let (question, _) = program.until("question");
    assert_eq!(question["rules"], json!([]), "{question}");
    assert!(question["reason"].as_str().unwrap().contains("look twice"), "{question}");
    for scope in ["session", "always"] {
        let rules = json!(["write_file(a.txt)"]);
        program.send(json!({ "type": "answer", "question": question["id"], "decision": "allow", "scope": scope, "rules": rules }));
        let (rejected, _) = program.until("rejected");
        assert!(rejected["error"].as_str().unwrap().contains("a hook asked"), "{rejected}");
    }
    program.allow(&question);
    program.result();
    assert!(scratch.work("a.txt").exists());
}

#[test]
fn a_rule_for_always_is_kept_in_the_users_configuration() {
    let scratch = Scratch::new();
    let steps = || [writes("a.txt", "x"), Step::text("Done.")];
    let model = Model::script(steps().into_iter().chain(steps()));
    let mut program = Program::start(&scratch, &model, LAST);
    program.say("write");
    let (question, _) = program.until("question");
    program.send(json!({ "type": "answer", "question": question["id"], "decision": "allow", "scope": "always" }));
    program.result();
    assert_eq!(program.end().0, 0);
    let mut program = Program::start(&scratch, &model, LAST);
    program.say("write");
    let (_, before) = program.until("result");
    assert!(!kinds(&before).contains(&"question"), "{before:?}");
}

#[test]
fn commitments_are_checked_in_each_turn() {
    let scratch = Scratch::new();
    let model = Model::script([Step::text("Claimed."), writes("done", ""), Step::text("Really.")]);
    let flags = ["--sandbox", "off", "--allow", "write_file", "--verify", "test -e done"];
    let mut program = Program::start(&scratch, &model, &flags);
    program.say("make done");
    let result = program.result();
    assert_eq!((&result["result"], &result["exit_code"]), (&json!("Really."), &json!(0)), "{result}");
    assert_eq!(program.end().0, 0);
}

#[test]
fn a_picture_goes_to_the_model() {
    let scratch = Scratch::new();
    let model = Model::script([Step::text("Red.")]);
    let data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
    let mut program = Program::start(&scratch, &model, &["--sandbox", "off", "--model", "claude-sonnet-4-5"]);
    let source = json!({ "type": "base64", "media_type": "image/png", "data": data });
    program.send(
        json!({ "type": "user", "message": { "role": "user", "content": [{ "type": "image", "source": source }] } }),
    );
    assert_eq!(program.result()["result"], "Red.");
    assert!(model.last_body()["messages"].to_string().contains(data));
}

#[test]
fn wrong_usage_and_a_conversation_that_cannot_begin() {
    let scratch = Scratch::new();
    let usage: [&[&str]; 4] = [
        &["--output-format", "json"],
        &[],
        &["--output-format", "stream-json", "-p", "x"],
        &["--output-format", "stream-json", "x"],
    ];
    for flags in usage {
        let ended = scratch.ended(&[&["run", "--input-format", "stream-json"], flags].concat());
        assert_eq!((ended.assert_code(2).out.as_str(), ended.err.contains("--input-format")), ("", true), "{ended:?}");
    }
    let arguments = ["run", "--input-format", "stream-json", "--output-format", "stream-json", "--sandbox", "off"];
    let program = Program::spawn(scratch.agent(&arguments).env_remove("ANTHROPIC_API_KEY"));
    let (code, rest, _) = program.end();
    assert_eq!((code, kinds(&rest)), (41, vec!["system", "result"]), "{rest:?}");
}

#[test]
fn a_full_disk_ends_it_with_a_result() {
    let scratch = Scratch::new();
    let model = Model::always(Step::text("Noted."));
    let mut arguments = vec![crate::support::program().display().to_string()];
    let fixed = ["run", "--input-format", "stream-json", "--output-format", "stream-json", "--sandbox", "off"];
    arguments.extend(fixed.map(str::to_owned));
    arguments.extend(model.flags(Wire::Anthropic));
    let mut command = scratch.command("sh");
    // As much as some messages need: what is written of the journal beyond fails as on a full disk.
    command.args(["-c", "ulimit -f 64; exec \"$@\"", "sh"]).args(arguments);
    let mut program = Program::spawn(&mut command);
    let long = "x".repeat(10_000);
    let last = loop {
        program.say(&long);
        let result = program.result();
        if result["exit_code"] != 0 {
            break result;
        }
    };
    assert_eq!((&last["exit_code"], &last["subtype"]), (&json!(1), &json!("error_during_execution")), "{last}");
    let (code, rest, _) = program.end();
    assert_eq!((code, rest.len()), (1, 0), "{rest:?}");
}

#[test]
fn a_program_that_does_not_read_loses_nothing_and_is_not_kept_in_memory() {
    let scratch = Scratch::new();
    let text = "A long answer that nobody reads yet. ".repeat(30_000);
    let model = Model::script([Step::answer(Reply::new().text(&text).pieces_of(1000)), Step::text("And that.")]);
    let mut child = scratch
        .agent(&[
            "run",
            "--input-format",
            "stream-json",
            "--output-format",
            "stream-json",
            "--include-partial-messages",
        ])
        .args(["--sandbox", "off"])
        .args(model.flags(Wire::Anthropic))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let (mut input, out) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    writeln!(input, "{}", json!({ "type": "user", "message": { "role": "user", "content": "go" } })).unwrap();
    model.wait_for_requests(1);
    // More lines than could be answered without a reader: the program waits, and so does who writes them.
    let writing = std::thread::spawn(move || {
        for _ in 0..100_000 {
            input.write_all(b"{\"type\":\"nothing\"}\n").unwrap();
        }
        writeln!(input, "{}", json!({ "type": "user", "message": { "role": "user", "content": "next" } })).unwrap();
    });
    let resident = || -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap().to_owned();
        peak.trim().trim_end_matches(" kB").parse().unwrap()
    };
    // It has come to a halt once its memory does not grow any more.
    let mut before = 0;
    eventually("that it waits", || {
        std::thread::sleep(std::time::Duration::from_millis(500));
        let now = resident();
        std::mem::replace(&mut before, now) == now
    });
    assert!(before < 200_000, "{before} kB");
    let (mut said, mut rejected, mut results) = (String::new(), 0, Vec::new());
    for line in std::io::BufRead::lines(std::io::BufReader::new(out)) {
        let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
        match line["type"].as_str().unwrap() {
            "stream_event" => said.push_str(line["event"]["text"].as_str().unwrap_or_default()),
            "rejected" => rejected += 1,
            "result" => results.push(line["messages"].clone()),
            _ => {}
        }
    }
    writing.join().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(42));
    assert!(said.starts_with(&text), "{} of {} bytes", said.len(), text.len());
    assert_eq!((rejected, results.last()), (100_000, Some(&json!(2))));
}
