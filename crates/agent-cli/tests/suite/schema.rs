//! Real output against the published schema, with a checker for exactly the words of JSON Schema that the schema uses.

use crate::support::{Model, Running, Scratch, Wire};
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
fn problems(root: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let Some(schema) = schema.as_object() else { return Vec::new() };
    let mut found = Vec::new();
    for (word, says) in schema {
        match word.as_str() {
            "$ref" => {
                let target = root.pointer(says.as_str().unwrap().trim_start_matches('#')).unwrap();
                found.extend(problems(root, target, value, at));
            }
            "oneOf" | "anyOf" => {
                let all: Vec<_> = says.as_array().unwrap().iter().map(|one| problems(root, one, value, at)).collect();
                let fitting = all.iter().filter(|problems| problems.is_empty()).count();
                if fitting == 0 || (word == "oneOf" && fitting > 1) {
                    found.push(format!("{at}: fits {fitting} of {all:?}"));
                }
            }
            "type" => {
                let allowed = says.as_array().cloned().unwrap_or_else(|| vec![says.clone()]);
                if !allowed.iter().any(|kind| is_a(value, kind.as_str().unwrap())) {
                    found.push(format!("{at}: {value} is not {says}"));
                }
            }
            "const" if says != value => found.push(format!("{at}: {value} is not {says}")),
            "enum" if !says.as_array().unwrap().contains(value) => {
                found.push(format!("{at}: {value} is not in {says}"));
            }
            "required" => {
                let missing =
                    says.as_array().unwrap().iter().filter(|name| value.get(name.as_str().unwrap()).is_none());
                found.extend(missing.map(|name| format!("{at}: {name} is missing")));
            }
            "properties" => {
                for (name, schema) in says.as_object().unwrap() {
                    let value = value.get(name).map(|value| problems(root, schema, value, &format!("{at}.{name}")));
                    found.extend(value.unwrap_or_default());
                }
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    found.extend(problems(root, says, item, &format!("{at}[{index}]")));
                }
            }
            "const" | "enum" | "$schema" | "$defs" | "title" | "description" | "format" | "minimum" | "maximum" => {}
            other => panic!("the checker does not know `{other}`"),
        }
    }
    found
}

fn is_a(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        other => panic!("`{other}` is no type"),
    }
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
        assert_eq!(problems(&root, &root, line, "line"), Vec::<String>::new(), "{line}");
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
    let root = published();
    for variant in root["oneOf"].as_array().unwrap() {
        let kind = variant["properties"]["type"]["const"].as_str().unwrap();
        assert!(seen.iter().any(|seen| seen == kind), "no real line of type {kind} was checked");
    }
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
        assert!(!problems(&root, &root, &line, "line").is_empty(), "{line}");
    }
}
