//! What MCP servers are given stays secret when they repeat it in what they say of themselves: in requests, records, lists, questions.

use crate::mcp::{ALLOWED, Place, all_files};
use crate::support::{Ended, Model, Running};
use agent_testkit::http::Step;
use agent_testkit::mcp::McpHttp;
use serde_json::{Value, json};
use std::fs;

/// Secrets that the servers are given, as of the first day or of another.
fn secrets(day: u32) -> [String; 5] {
    let kinds = ["Pass-word", "Param-secret", "Env-secret-abcdef", "Header-secret", "sk-Arg-secret-abcdef"];
    let changes = |kind: &str| ["Header-secret", "sk-Arg-secret-abcdef"].contains(&kind);
    kinds.map(|kind| format!("{kind}-{}", if changes(kind) { day } else { 1 }))
}

/// Two servers that describe their tools by what they are given. The first turn may wait for them.
fn configure(place: &Place, server: &McpHttp, day: u32, is_required: bool, exposure: &str) {
    let [password, parameter, environment, header, _] = secrets(day);
    let url = server.url().replace("http://", &format!("http://me:{password}@"));
    let mut far = json!({"url": format!("{url}?k={parameter}"), "headers": {"X-Key": header}});
    let mut near = place.entry("tells", &json!({"args": ["-k=${AGENT_TEST_WORD}"]}));
    near["env"]["SOME_TOKEN"] = environment.into();
    for server in [&mut far, &mut near] {
        let more = json!({"required": is_required, "startTimeoutMs": 60_000, "exposure": exposure});
        server.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    }
    fs::write(place.0.path("config/mcp.json"), json!({"mcpServers": {"f": far, "s": near}}).to_string()).unwrap();
}

fn run(place: &Place, model: &Model, word: Option<&str>) -> Ended {
    let mut command = place.0.run_command(model, &["-p", "x", "--allow", "mcp__s", "--output-format", "stream-json"]);
    command.envs(word.map(|word| ("AGENT_TEST_WORD", word)));
    Running::start(&mut command).end()
}

fn told(tools: &Value, server: &str) -> Value {
    let name = format!("mcp__{server}__told");
    tools.as_array().unwrap().iter().find(|tool| tool["name"] == *name).cloned().unwrap_or_default()
}

#[test]
fn what_a_server_says_of_its_tools_has_no_secret_in_it() {
    let (place, server) = (Place::new(), McpHttp::start("tells"));
    let in_nothing = |ended: &Ended, model: &Model| {
        let sent: String = model.requests().iter().map(|request| request.body.to_string()).collect();
        let kept = all_files(&place.0.path("state"));
        assert!(kept.contains("It was given"), "the records have the descriptions");
        for secret in [secrets(1), secrets(2)].concat() {
            assert!(!sent.contains(&secret), "{secret} went to the model: {sent}");
            assert!(!kept.contains(&secret), "{secret} is in a record or journal");
            assert!(!format!("{ended:?}").contains(&secret), "{secret} is shown: {ended:#?}");
        }
    };
    let call = || Model::script([Step::call("mcp__s__told", json!({"text": "called"})), Step::text("Done.")]);
    for day in [1, 2] {
        configure(&place, &server, day, true, "direct");
        let model = call();
        let ended = run(&place, &model, Some(&secrets(day)[4]));
        ended.assert_code(0);
        // Known from the second time on, and as it was, with other secrets in it.
        let body = model.last_body();
        for (name, secrets) in [("s", 2), ("f", 3)] {
            let tool = told(&body["tools"], name).to_string();
            assert!(
                tool.contains("It was given") && tool.matches("[redacted]").count() >= 4 * secrets,
                "{name}: {tool}"
            );
        }
        assert!(body["messages"].to_string().contains("called"), "{body}");
        assert!(!ended.err.contains("withheld") && !ended.err.contains("as it was trusted"), "{ended:#?}");
        in_nothing(&ended, &model);
        let list = Running::start(place.0.agent(&["mcp", "list"]).env("AGENT_TEST_WORD", &secrets(day)[4])).end();
        list.assert_code(0);
        assert!(list.out.contains("n-[redacted]: a secret stands in its name"), "{list:#?}");
        in_nothing(&list, &model);
    }
    // Who does not know the secret has what was recorded: declared, and found.
    configure(&place, &server, 2, false, "direct");
    let model = call();
    let ended = run(&place, &model, None);
    assert_ne!(told(&model.last_body()["tools"], "s"), Value::Null);
    assert!(ended.err.contains("`AGENT_TEST_WORD` is not set"), "{ended:#?}");
    in_nothing(&ended, &model);
    configure(&place, &server, 2, false, "deferred");
    let model = Model::script([Step::call("tool_search", json!({"query": "given"})), Step::text("Done.")]);
    let ended = run(&place, &model, None);
    assert!(model.last_body()["messages"].to_string().contains("mcp__s__told: It was given"), "{ended:#?}");
    in_nothing(&ended, &model);
}

/// An argument is shown by the name of its variable, whatever its value looks like.
#[test]
fn a_variable_in_an_argument_is_shown_by_its_name() {
    let place = Place::new();
    let entry = |args: &[&str]| place.configure("", &json!({"args": args}));
    let with =
        |arguments: &[&str], value: &str| Running::start(place.0.agent(arguments).env("AGENT_TEST_WORD", value)).end();
    let shows_none = |text: &str| assert!(!text.contains("house-of"), "{text}");
    entry(&["-k=${AGENT_TEST_WORD}"]);
    let list = with(&["mcp", "list"], "house-of-cards");
    list.assert_code(0);
    assert!(list.out.contains("-k=${AGENT_TEST_WORD}"), "{list:#?}");
    shows_none(&format!("{list:?}"));
    shows_none(&all_files(&place.0.path("state")));
    let other_value = with(&["mcp", "list"], "house-of-bricks");
    assert!(other_value.out.contains("the variables in its arguments have other values"), "{other_value:#?}");
    shows_none(&format!("{other_value:?}"));

    entry(&["-k=${AGENT_TEST_WORD}", "--more"]);
    let model = Model::script([Step::call("mcp__s__echo", json!({"text": "x"})), Step::text("Done.")]);
    let mut command = place.0.run_command(&model, &[&["-p", "x"], ALLOWED].concat());
    let ended = Running::start(command.env("AGENT_TEST_WORD", "house-of-cards")).end();
    let read = model.last_body()["messages"].to_string();
    for text in [&ended.err, &read] {
        assert!(text.contains("-k=${AGENT_TEST_WORD} --more` (before: "), "{text}");
        shows_none(text);
    }
    let review = with(&["mcp", "review", "s", "--yes"], "house-of-cards");
    review.assert_code(0).assert_says("--more");
    shows_none(&format!("{review:?}{}", all_files(&place.0.path("state"))));
    assert!(with(&["mcp", "list"], "house-of-cards").out.starts_with("s: ready"));
}
