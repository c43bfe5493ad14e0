//! What servers offer, and whether they can be asked: `agent models`, `agent doctor --online`, servers on this machine.

use crate::pty::command_on_terminal;
use crate::support::{Model, Running, Scratch};
use agent_testkit::http::Step;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;

/// A server that answers every request with this document.
fn serving(status: &'static str, document: Value) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            let _ = stream.read(&mut [0; 8192]);
            let body = document.to_string();
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
    });
    url
}

fn offering(ids: &[&str]) -> String {
    let models: Vec<Value> = ids.iter().map(|id| json!({"id": id})).collect();
    serving("200 OK", json!({"data": models}))
}

#[test]
fn a_server_with_several_models_has_one_named() {
    let scratch = Scratch::new();
    let url = offering(&["qwen3:4b", "gpt-oss:20b"]);
    let ended = scratch.ended(&["run", "-p", "x", "--base-url", &url]);
    ended.assert_code(52).assert_says("the provider offers 2; name one with `-m`:\n  qwen3:4b\n  gpt-oss:20b\n");
    let many: Vec<String> = (0..40).map(|n| format!("model-{n}")).collect();
    let url = offering(&many.iter().map(String::as_str).collect::<Vec<_>>());
    scratch
        .ended(&["run", "-p", "x", "--base-url", &url])
        .assert_code(52)
        .assert_says("and 10 more, which `agent models` lists");
}

#[test]
fn models_are_listed_with_what_is_configured_and_what_is_offered() {
    let scratch = Scratch::new();
    let url = offering(&["big", "other"]);
    scratch.configure(&format!(
        "[providers.near]\nprotocol = \"openai\"\nbase_url = \"{url}\"\nmodel = \"big\"\nmodels = [\"gone\"]\neffort = \"low\"\n\
         [providers.far]\nprotocol = \"openai\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodels = [\"away\"]\n\
         [aliases]\nfast = {{ model = \"other\", provider = \"near\" }}\n"
    ));
    let ended = scratch.ended(&["models"]);
    let lines: Vec<&str> = ended.assert_code(0).out.lines().map(str::trim).collect();
    for line in [
        "big  (effort low)",
        "gone  (NOT offered by the server; effort low)",
        "other  (alias fast; effort low)",
        "away",
    ] {
        assert!(lines.contains(&line), "{line}: {lines:#?}");
    }
    assert!(
        lines.iter().any(|line| line.starts_with("not listed by the server: GET http://127.0.0.1:9/v1/models")),
        "{lines:#?}"
    );
    let ended = scratch.ended(&["models", "--json", "--provider", "near"]);
    let listed: Value = serde_json::from_str(&ended.assert_code(0).out).unwrap();
    let near = &listed["providers"][0];
    assert_eq!(listed["providers"].as_array().unwrap().len(), 1);
    assert_eq!((&near["provider"], &near["is_chosen"], &near["error"]), (&json!("near"), &json!(true), &Value::Null));
    assert_eq!(
        near["models"][0],
        json!({
            "id": "big", "aliases": [], "is_configured": true, "is_offered": true, "is_chosen": true,
            "max_output_tokens": 8_192, "context_window_tokens": null, "effort": "low",
        })
    );
    // Without any model there is nothing but the failure.
    scratch.configure("");
    scratch.ended(&["models", "--base-url", "http://127.0.0.1:9/v1"]).assert_code(62).assert_says("cannot connect");
    scratch.ended(&["models"]).assert_code(41).assert_says("no key is set");
}

#[test]
fn the_doctor_tries_key_server_and_model_when_asked() {
    let scratch = Scratch::new();
    let url = offering(&["big", "dated-20250929"]);
    let doctor = |arguments: &[&str]| scratch.ended(&[&["doctor"], arguments].concat());
    let says = |arguments: &[&str], words: &str| {
        let ended = doctor(arguments);
        assert!(ended.out.contains(words), "{words}: {ended:#?}");
        ended.out.lines().any(|line| line.starts_with("NOT") && line.contains(words))
    };
    assert!(!says(&[], "`agent doctor --online` asks the provider"));
    assert!(!says(&["--base-url", &url], "wants no key, and offers 2 models"));
    let mut command = scratch.agent(&["doctor", "--base-url", &url, "--api-key-env", "K"]);
    assert!(Running::start(command.env("K", "sk-0123456789")).end().out.contains("took the key, and offers 2 models"));
    assert!(!says(&["--base-url", &url, "-m", "big"], "the model big is offered"));
    assert!(!says(&["--base-url", &url, "-m", "dated"], "the model dated is offered"));
    assert!(says(&["--base-url", &url, "-m", "small"], "the model small is not among those"));
    let refusing = serving("401 Unauthorized", json!({"error": {"message": "no such key"}}));
    assert!(says(&["--base-url", &refusing], "no such key"));
    let without = serving("404 Not Found", json!({}));
    assert!(!says(&["--base-url", &without], "has no list of models"));
    assert!(says(&["--base-url", "http://127.0.0.1:9/v1"], "cannot connect"));
    assert!(says(&["--online"], "no key is set"));
    assert_eq!(doctor(&["--base-url", "http://127.0.0.1:9/v1"]).code(), 1);
    // What no run could use is found without asking.
    scratch.configure("[providers.w]\nprotocol = \"openai\"\nbase_url = \"notaurl\"\n");
    assert!(says(&[], "it comes from `[providers.w]`"));
    scratch.configure("[providers.w]\nprotocol = \"openai\"\nheaders = { \"a b\" = \"c\" }\n");
    assert!(says(&[], "use the header `a b`"));
    scratch.configure("[providers.w]\nprotocol = \"openai\"\napi_key_file = \"/nonexistent/key\"\n");
    assert!(says(&[], "cannot read the key in /nonexistent/key"));
}

#[test]
fn a_server_on_this_machine_costs_nothing() {
    let scratch = Scratch::new();
    let model = Model::always(Step::text("a"));
    let ended = scratch.run(&model, &["-p", "x", "--output-format", "json", "--max-budget-usd", "1"]);
    assert_eq!(ended.assert_code(0).result()["total_cost_usd"], 0.0);
    assert!(!ended.err.contains("price"), "{ended:#?}");
    let Some(mut running) = crate::pty::on_terminal(&scratch, &model, "") else { return };
    running.wait_for("> ");
    running.write("one\r");
    crate::pty::at_rest_after(&running, "a");
    running.write("/cost\r");
    running.wait_for_screen(|screen| {
        screen.contains("1 model call, ") && !screen.contains("cost unknown") && !screen.contains("USD")
    });
    running.write("/quit\r");
    running.end().assert_code(0);
    // One with the name of a model that has a price may be a gateway to it.
    let ended = scratch.run(&model, &["-p", "x", "--output-format", "json", "-m", "claude-sonnet-4-5"]);
    assert!(ended.assert_code(0).result()["total_cost_usd"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_server_on_this_machine_is_offered_for_the_configuration_once() {
    let scratch = Scratch::new();
    let model = Model::always(Step::text("a"));
    let url = model.server().openai_url();
    let start = || command_on_terminal(&scratch, &format!("--base-url {url} -m scripted-model"));
    let Some(mut running) = start() else { return };
    running.wait_for(&format!("{url} can be kept in your configuration"));
    running.wait_for_screen(|screen| screen.contains("\nKeep this server?"));
    running.write("n\r");
    running.wait_for("> ");
    running.write("/quit\r");
    running.end().assert_code(0);
    let mut again = start().unwrap();
    again.wait_for("> ");
    again.write("/quit\r");
    let screen = again.end();
    assert!(!format!("{screen:?}").contains("Keep this"), "it was said not to ask again");
    std::fs::remove_file(scratch.path("state/server-offered")).unwrap();
    let mut running = start().unwrap();
    running.wait_for_screen(|screen| screen.contains("\nKeep this server?"));
    // What begins with the letter of an entry is a message all the same.
    running.write("yes or no?");
    running.wait_for_screen(|screen| screen.contains("> yes or no?") && !screen.contains("Keep this"));
    running.write("\u{15}/quit\r");
    running.end().assert_code(0);
    assert!(!scratch.ended(&["run", "-p", "x"]).out.contains('a'), "nothing was kept");
    let mut running = start().unwrap();
    running.wait_for_screen(|screen| screen.contains("\nKeep this server?"));
    running.write("y\r");
    running.wait_for("saved in");
    running.write("/quit\r");
    running.end().assert_code(0);
    // From now on `agent` alone asks it; and a script is never asked anything.
    assert_eq!(scratch.ended(&["run", "-p", "x"]).assert_code(0).out, "a\n");
    let mut piped = Running::start(&mut scratch.agent(&["--base-url", &url, "-m", "scripted-model"]));
    piped.close_stdin();
    assert!(!piped.end().err.contains("Keep this"));
}
