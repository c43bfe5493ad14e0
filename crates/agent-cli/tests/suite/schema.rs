//! Real output against the published schema.

use crate::mcp::{ALLOWED, Place};
use crate::support::{Model, Program, Running, Scratch, Wire};
use agent_core::llm::StopReason;
use agent_testkit::Reply;
use agent_testkit::http::Step;
use serde_json::{Value, json};
use std::path::Path;

fn published() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/stream-json.schema.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// What is wrong with a value; empty when nothing is.
fn problems(schema: &Value, value: &Value) -> Vec<String> {
    let validator = jsonschema::validator_for(schema).unwrap();
    validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Names that the schema knows in a place, through references.
fn known_names(root: &Value, schema: &Value) -> Vec<String> {
    let mut names: Vec<String> =
        schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    if let Some(target) = schema["$ref"].as_str() {
        names.extend(known_names(root, root.pointer(target.trim_start_matches('#')).unwrap()));
    }
    names
}

#[track_caller]
fn check(lines: &[Value]) {
    let root = published();
    for line in lines {
        assert_eq!(problems(&root, line), Vec::<String>::new(), "{line}");
        // Nothing is written that is not published.
        let variants = root["oneOf"].as_array().unwrap();
        let variant = variants.iter().find(|variant| variant["properties"]["type"]["const"] == line["type"]).unwrap();
        let names = known_names(&root, variant);
        let unknown: Vec<_> = line.as_object().unwrap().keys().filter(|name| !names.contains(name)).collect();
        assert!(unknown.is_empty(), "{unknown:?} is not published: {line}");
    }
}

#[test]
fn every_kind_of_line_is_as_published() {
    let mut seen = Vec::new();
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        let model = Model::script([
            Step::error_after(Reply::new().text("never mind").pieces_of(3), 4, "overloaded_error", "busy"),
            Step::answer(Reply::new().thinking("Hm.").text("I look.").call("read_file", json!({"path": "a.txt"}))),
            Step::call("write_file", json!({"path": "b.txt", "content": ""})),
            Step::text("Done."),
        ]);
        let scratch = Scratch::repository();
        // One that says something about a call, so that every field is there.
        let says = "echo '{\"systemMessage\":\"look\"}'";
        scratch.configure(&format!("[[hooks]]\nevent = \"PreToolUse\"\ncommand = '''{says}'''\n"));
        let arguments = ["run", "-p", "x", "--output-format", "stream-json", "--include-partial-messages"];
        let ended = Running::start(scratch.agent(&arguments).args(model.flags(wire))).end();
        let lines = ended.assert_code(61).lines();
        check(&lines);
        seen.extend(lines.iter().map(|line| line["type"].as_str().unwrap().to_owned()));
    }
    for lines in [with_a_summary(), with_an_agent(), in_a_conversation(), with_a_server_that_asks()] {
        check(&lines);
        seen.extend(lines.iter().map(|line| line["type"].as_str().unwrap().to_owned()));
    }
    let root = published();
    for variant in root["oneOf"].as_array().unwrap() {
        let kind = variant["properties"]["type"]["const"].as_str().unwrap();
        assert!(seen.iter().any(|seen| seen == kind), "no real line of type {kind} was checked");
    }
}

/// A question that is withdrawn, a message that comes back, and a line that is none.
fn in_a_conversation() -> Vec<Value> {
    let stalled = Step::stall(Reply::new().text("It begins and goes on").pieces_of(3), 4);
    let model = Model::script([Step::call("write_file", json!({"path": "b.txt", "content": ""})), stalled]);
    let scratch = Scratch::repository();
    let mut program = Program::start(&scratch, &model, &["--include-partial-messages"]);
    let mut lines = Vec::new();
    let mut until = |program: &mut Program, kind: &str| {
        let (line, before) = program.until(kind);
        lines.extend(before.into_iter().chain([line]));
    };
    program.write(b"nothing\n");
    until(&mut program, "rejected");
    program.say("write");
    until(&mut program, "question");
    program.send(json!({ "type": "cancel" }));
    until(&mut program, "result");
    program.say("go on");
    until(&mut program, "stream_event");
    program.say("typed ahead");
    program.send(json!({ "type": "cancel" }));
    until(&mut program, "result");
    lines
}

/// A server that wants values, and one that wants a visit.
fn with_a_server_that_asks() -> Vec<Value> {
    let place = Place::new();
    place.configure("", &json!({}));
    place.0.ended(&["mcp", "list"]).assert_code(0);
    let asks = |what: &str| Step::call("mcp__s__ask", json!({ "text": what }));
    let model = Model::script([asks("form"), asks("visit"), Step::text("Done.")]);
    let mut program = Program::start(&place.0, &model, ALLOWED);
    program.say("go");
    let mut lines = Vec::new();
    for _ in 0..2 {
        let (question, before) = program.until("server_question");
        program.send(json!({ "type": "server_answer", "question": question["id"], "action": "decline" }));
        lines.extend(before.into_iter().chain([question]));
    }
    program.result();
    lines
}

/// Two files fill the window.
fn with_a_summary() -> Vec<Value> {
    let read = |path: &str| Step::call("read_file", json!({ "path": path }));
    let model = Model::script([read("one"), read("two"), Step::text("Pears."), Step::text("Done.")]);
    let scratch = Scratch::repository();
    scratch.configure("[models.scripted-model]\ncontext_window_tokens = 1500\n");
    ["one", "two"].iter().for_each(|name| scratch.write(name, &"pears and apples\n".repeat(300)));
    let ended = scratch.run(&model, &["-p", "Read.", "--output-format", "stream-json"]);
    ended.assert_code(0).lines()
}

/// One that works for the session's own.
fn with_an_agent() -> Vec<Value> {
    let spawn = Step::call("spawn_agent", json!({"name": "one", "task": "t"}));
    let model = Model::script([spawn, Step::text("I am done."), Step::text("Done.")]);
    let ended = Scratch::repository().run(&model, &["-p", "x", "--agents", "--output-format", "stream-json"]);
    ended.assert_code(0).lines()
}

#[test]
fn results_of_failures_are_as_published() {
    let model = Model::script([
        Step::status(400),
        Step::answer(Reply::new().text("no").stop(StopReason::Refusal)),
        Step::status(401),
    ]);
    let scratch = Scratch::new();
    for format in ["json", "stream-json", "json"] {
        check(&scratch.run(&model, &["-p", "x", "--output-format", format]).lines());
        check(&scratch.ended(&["run", "-p", "x", "--output-format", format]).lines());
        check(&scratch.ended(&["run", "-p", "", "--output-format", format]).lines());
    }
}

#[test]
fn the_checker_finds_what_is_wrong() {
    let root = published();
    let wrong = [
        json!({"type": "no_such_line"}),
        json!({"type": "discard"}),
        json!({"type": "discard", "session_id": 1}),
        json!({"type": "assistant", "session_id": "", "message": {"role": "assistant", "content": [{"type": "x"}]}}),
        json!({"type": "result", "subtype": "success"}),
    ];
    for line in wrong {
        assert!(!problems(&root, &line).is_empty(), "{line}");
    }
}
