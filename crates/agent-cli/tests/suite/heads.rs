//! What providers keep of a request for the next one: the head and the tools are the same bytes over a whole session, and a request begins
//! with the bytes of the one before.

use crate::pty::{at_rest_after, on_terminal};
use crate::support::{Model, Running, Scratch, Wire};
use agent_testkit::http::Step;
use serde_json::json;
use std::fs;

/// The bytes of a request of Anthropic's format that say tools and system prompt.
fn head(bytes: &[u8]) -> String {
    let body = String::from_utf8(bytes.to_vec()).unwrap();
    let (from, to) = (body.find("\"tools\":[").unwrap(), body.find(",\"messages\":[").unwrap());
    assert!(from < to && body[from..to].contains("\"system\":"), "tools, system, messages: {body}");
    body[from..to].to_owned()
}

/// Models, modes, a skill, instructions of a directory below, a changed file of instructions and a resume.
#[test]
fn head_and_tools_are_the_same_bytes_over_a_session() {
    let scratch = Scratch::repository();
    scratch.write("AGENTS.md", "Rule of the root.");
    scratch.write("lib/AGENTS.md", "Rule of the library.");
    scratch.write("lib/one", "one\n");
    let folder = scratch.path("config/skills/notes");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("SKILL.md"), "---\nname: notes\ndescription: Takes notes.\n---\nWrite it down.\n").unwrap();
    let model = Model::script([
        Step::call("activate_skill", json!({ "name": "notes" })),
        Step::call("read_file", json!({ "path": "lib/one" })),
        Step::call("bash", json!({ "command": "ls" })),
        Step::text("To the first."),
        Step::text("To the second."),
        Step::text("To the third."),
    ]);
    let Some(mut running) = on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("first\r");
    at_rest_after(&running, "To the first.");
    for (line, told) in
        [("/mode accept-edits\r", "permission mode: accept-edits"), ("/model another-model\r", "model: another-model")]
    {
        running.write(line);
        running.wait_for(told);
    }
    running.write("second\r");
    at_rest_after(&running, "To the second.");
    running.write("\x04");
    running.end().assert_code(0);
    let mut resumed = Running::start(scratch.agent(&["--continue"]).args(model.flags(Wire::Anthropic)));
    resumed.write("third\n");
    resumed.close_stdin();
    resumed.end().assert_code(0);
    let requests = model.requests();
    let heads: Vec<String> = requests.iter().map(|request| head(&request.bytes)).collect();
    assert_eq!(heads.len(), 6);
    assert!(heads.iter().all(|head| *head == heads[0]), "{heads:#?}");
    assert!(requests.iter().any(|request| request.body["model"] == "another-model"), "the model did change");
    let told = model.last_body()["messages"].to_string();
    assert!(told.contains("Rule of the library.") && told.contains("Write it down."), "control: {told}");
}

/// A long session: of each request nearly all bytes are those that the one before began with.
#[test]
fn a_request_begins_with_the_bytes_of_the_one_before() {
    const ROUNDS: usize = 100;
    let scratch = Scratch::repository();
    scratch.write("file", &"a line of text that is read\n".repeat(2_000));
    let model = Model::always(Step::respond(|body| {
        let rounds = body["messages"].as_array().unwrap().iter().filter(|said| said["role"] == "tool").count();
        match rounds {
            ROUNDS => Step::text("Done."),
            _ => Step::call("read_file", json!({ "path": "file", "offset": rounds + 1, "limit": 20 })),
        }
    }));
    let mut command = scratch.agent(&["run", "-p", "x"]);
    Running::start(command.args(model.flags(Wire::OpenAi))).end().assert_code(0);
    let requests = model.requests();
    assert_eq!(requests.len(), ROUNDS + 1);
    let common = |one: &[u8], other: &[u8]| one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let (mut kept, mut sent) = (0, 0);
    for pair in requests.windows(2) {
        let (before, now) = (&pair[0].bytes, &pair[1].bytes);
        let same = common(before, now);
        // What closes the list of messages comes later now.
        assert!(before.len() - same < 16, "{same} of {}", before.len());
        (kept, sent) = (kept + same, sent + now.len());
    }
    let permille = kept * 1_000 / sent;
    println!("of {sent} bytes in {ROUNDS} requests, {kept} were the beginning of the one before: {permille} permille");
    assert!(permille > 950, "{permille}");
}

/// A token has about four bytes. The exact number of a tokenizer is in docs/performance.md.
#[test]
fn what_goes_first_without_instructions_is_short() {
    let scratch = Scratch::new();
    let model = Model::script([Step::text("a")]);
    let mut command = scratch.agent(&["run", "-p", "x"]);
    Running::start(command.args(model.flags(Wire::OpenAi))).end().assert_code(0);
    let bytes = &model.requests()[0].bytes;
    if let Some(place) = std::env::var_os("AGENT_TEST_KEEP_REQUEST") {
        fs::write(place, bytes).unwrap();
    }
    println!("{} bytes", bytes.len());
    assert!(bytes.len() < 12_000 * 11 / 10, "{}", bytes.len());
}
