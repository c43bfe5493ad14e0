//! What goes wrong outside: servers, answers, calls, files. A clear message, the right exit code, and a history that can be sent.

use crate::support::{Model, Running, Scratch, Wire};
use agent_core::llm::{RawCall, Usage};
use agent_testkit::Reply;
use agent_testkit::http::Step;
use serde_json::{Value, json};

/// Lets the model make a call and returns what it was told about it.
#[track_caller]
fn told_about(scratch: &Scratch, call: Step, arguments: &[&str]) -> String {
    let model = Model::script([call, Step::text("I see.")]);
    let ended = scratch.run(&model, &[&["-p", "x"], arguments].concat());
    assert_eq!(ended.assert_code(0).out, "I see.\n");
    model.assert_valid();
    last_result(&model.last_body())
}

fn last_result(body: &Value) -> String {
    let message = body["messages"].as_array().unwrap().last().unwrap().clone();
    message["content"].to_string()
}

#[test]
fn a_server_that_is_not_there() {
    let scratch = Scratch::new();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{closed}/v1");
    // The model's name is asked for first, which is not repeated.
    let ended = scratch.ended(&["run", "-p", "x", "--base-url", &url]);
    ended.assert_code(62).assert_says("choose a model");
    // A server may come back: it is tried again, and not for ever.
    let ended = scratch.ended(&["run", "-p", "x", "--base-url", &url, "--model", "m"]);
    ended.assert_code(62).assert_says("retrying in");
}

#[test]
fn a_wait_that_the_server_asked_for() {
    for wire in [Wire::Anthropic, Wire::OpenAi] {
        let model = Model::script([Step::status(429).header("retry-after", "1"), Step::text("Now.")]);
        let scratch = Scratch::new();
        let ended = Running::start(scratch.agent(&["run", "-p", "x"]).args(model.flags(wire))).end();
        assert_eq!(ended.assert_code(0).out, "Now.\n");
        ended.assert_says("retrying in 1 s");
        model.assert_valid();
    }
}

#[test]
fn an_answer_that_breaks_off_is_asked_for_again() {
    let half = || Reply::new().text("Half an answer, and no more.").pieces_of(4);
    for first in [Step::cut(half(), 5), Step::truncated(half(), 5)] {
        let model = Model::script([first, Step::text("All of it.")]);
        let ended = Scratch::new().run(&model, &["-p", "x"]);
        assert_eq!(ended.assert_code(0).out, "All of it.\n");
        assert_eq!(model.requests().len(), 2);
        model.assert_valid();
    }
}

const WIRES: [Wire; 3] = [Wire::Anthropic, Wire::OpenAi, Wire::OpenAiResponses];

/// A run in this wire format that may do everything.
fn unguarded(scratch: &Scratch, model: &Model, wire: Wire) -> crate::support::Ended {
    let mut command = scratch.agent(&["run", "-p", "x", "--permission-mode", "bypass"]);
    Running::start(command.args(model.flags(wire))).end()
}

#[test]
fn a_call_whose_arguments_break_off_is_never_run() {
    for wire in WIRES {
        let arguments = json!({"path": "b.txt", "content": "half of something long ".repeat(20)});
        let call = || Reply::new().call("write_file", arguments.clone()).pieces_of(8);
        for broken in [Step::cut(call(), 5), Step::truncated(call(), 12)] {
            let scratch = Scratch::new();
            let model = Model::script([broken, Step::text("Nothing was written.")]);
            let ended = unguarded(&scratch, &model, wire);
            assert_eq!(ended.assert_code(0).out, "Nothing was written.\n", "{wire:?}");
            assert!(!scratch.work("b.txt").exists(), "{wire:?}");
            model.assert_valid();
        }
    }
}

#[test]
fn calls_with_the_same_id_or_none_are_all_answered() {
    let call = |id: &str, path: &str| RawCall {
        id: id.into(),
        name: "write_file".into(),
        arguments: json!({"path": path, "content": "x\n"}).to_string(),
        complete: true,
    };
    for wire in WIRES {
        let scratch = Scratch::new();
        let twice =
            Reply::new().raw_call(call("same", "a.txt")).raw_call(call("same", "b.txt")).raw_call(call("", "c.txt"));
        let model = Model::script([Step::answer(twice), Step::text("Done.")]);
        assert_eq!(unguarded(&scratch, &model, wire).assert_code(0).out, "Done.\n", "{wire:?}");
        assert!(["a.txt", "b.txt", "c.txt"].iter().all(|name| scratch.work(name).exists()), "{wire:?}");
        model.assert_valid();
    }
}

#[test]
fn an_answer_of_nothing_is_no_success() {
    // Beside each other: nearly all of the time is waiting between the attempts.
    std::thread::scope(|scope| {
        for (wire, text) in WIRES.into_iter().flat_map(|wire| ["", " \n ", "\u{200b}"].map(|text| (wire, text))) {
            scope.spawn(move || {
                let ended = unguarded(&Scratch::new(), &Model::always(Step::text(text)), wire);
                let is_blank = text.trim().is_empty();
                assert_eq!(ended.code(), if is_blank { 62 } else { 0 }, "{wire:?} {text:?} {ended:#?}");
            });
        }
    });
}

#[test]
fn use_and_cost_that_are_not_known_are_said_once() {
    for wire in WIRES {
        let model = Model::script([Step::text("a")]);
        let scratch = Scratch::new();
        let mut command = scratch.agent(&["run", "-p", "x"]);
        let ended = Running::start(command.args(model.elsewhere(wire))).end();
        assert_eq!(ended.assert_code(0).err.matches("the cost is unknown").count(), 1, "{ended:#?}");
    }
    // A limit on money does not begin where the cost cannot be known.
    let model = Model::script([]);
    let scratch = Scratch::new();
    let mut command = scratch.agent(&["run", "-p", "x", "--max-budget-usd", "1"]);
    let ended = Running::start(command.args(model.elsewhere(Wire::Anthropic))).end();
    ended.assert_code(52).assert_says("the price of the model scripted-model is unknown");
    assert!(model.requests().is_empty());

    let silent = Step::body(
        "text/event-stream",
        "data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    );
    let negative = Step::body(
        "text/event-stream",
        "data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}],\
         \"usage\":{\"prompt_tokens\":-1,\"completion_tokens\":1e30}}\n\ndata: [DONE]\n\n",
    );
    for step in [silent, negative] {
        let scratch = Scratch::new();
        let model = Model::script([step]);
        let mut command = scratch.agent(&["run", "-p", "x", "--output-format", "json"]);
        let ended = Running::start(command.args(model.flags(Wire::OpenAi))).end();
        assert_eq!(ended.assert_code(0).err.matches("for 1 of 1 model call the provider did not report").count(), 1);
        assert!(ended.result()["usage"]["input_tokens"].as_u64().unwrap() > 0, "{ended:#?}");
    }
    // Beyond what a ledger can hold it stays at the most.
    let huge = Usage { input_tokens: 1 << 63, output_tokens: u64::MAX, ..Usage::default() };
    let model = Model::script([Step::answer(Reply::new().text("a").usage(huge))]);
    Scratch::new().run(&model, &["-p", "x", "--output-format", "json"]).assert_code(0);
}

#[test]
fn an_answer_that_is_something_else() {
    let scratch = Scratch::new();
    let page = Step::body("text/html", "<html><title>Log in</title></html>");
    let model = Model::always(page);
    let ended = scratch.run(&model, &["-p", "x"]);
    assert_eq!(ended.assert_code(62).out, "");
    ended.assert_says("an HTML page: Log in");
    assert_eq!(model.requests().len(), 1, "it would come again");
}

/// Another service on the port: it will not speak otherwise when it is asked again.
#[test]
fn a_server_that_speaks_something_else() {
    use std::io::{Read, Write};
    use std::sync::atomic::{AtomicUsize, Ordering};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let asked = std::sync::Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            counted.fetch_add(1, Ordering::Relaxed);
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.7\r\n\r\n");
        }
    });
    let ended = Scratch::new().ended(&["run", "-p", "x", "--provider", "openai", "--base-url", &url, "-m", "m"]);
    ended.assert_code(62).assert_says("does not speak HTTP");
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[test]
fn a_tool_that_does_not_exist() {
    let told = told_about(&Scratch::new(), Step::call("no_such_tool", json!({})), &[]);
    assert!(told.contains("no_such_tool"), "{told}");
}

/// No service takes such names back in the history: what is sent in their place is one that it takes, and the run goes on.
#[test]
fn a_tool_by_a_name_that_no_request_can_carry() {
    let long = "x".repeat(200);
    for name in ["no such tool", "lés.outils:0", &long, "", "read_file\n", "\u{1b}[31mred"] {
        for wire in WIRES {
            let call =
                RawCall { id: "call_x".into(), name: name.into(), arguments: String::from("{}"), complete: true };
            let model = Model::script([Step::answer(Reply::new().raw_call(call)), Step::text("Then not.")]);
            let ended = unguarded(&Scratch::new(), &model, wire);
            assert_eq!(ended.assert_code(0).out, "Then not.\n", "{wire:?} {name:?}");
            let body = model.last_body().to_string();
            assert!(body.contains("not run: there is no tool") && body.contains("the tools are"), "{wire:?}: {body}");
            model.assert_valid();
        }
    }
}

#[test]
fn arguments_that_are_no_json() {
    let call =
        RawCall { id: "call_x".into(), name: "read_file".into(), arguments: "{\"path\": oops".into(), complete: true };
    let told = told_about(&Scratch::new(), Step::answer(Reply::new().raw_call(call)), &[]);
    assert!(told.contains("oops"), "{told}");
}

#[test]
fn paths_outside() {
    let scratch = Scratch::new();
    std::fs::write(scratch.path("secret.txt"), "the outside").unwrap();
    std::os::unix::fs::symlink(scratch.path("secret.txt"), scratch.work("link")).unwrap();
    for path in ["../secret.txt", "/etc/passwd", "link", "/proc/self/environ"] {
        let told = told_about(&scratch, Step::call("read_file", json!({"path": path})), &[]);
        assert!(told.contains("\"is_error\":true"), "{path}: {told}");
        assert!(!told.contains("the outside") && !told.contains("root:"), "{path}: {told}");
    }
}

#[test]
fn a_binary_file() {
    let scratch = Scratch::new();
    std::fs::write(scratch.work("program"), b"\x7fELF\x02\x01\x01\0\0\0\0\xff").unwrap();
    let told = told_about(&scratch, Step::call("read_file", json!({"path": "program"})), &[]);
    assert!(told.contains("not text"), "{told}");
    // A picture that is cut in its head.
    std::fs::write(scratch.work("image.png"), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0").unwrap();
    let told = told_about(&scratch, Step::call("read_file", json!({"path": "image.png"})), &[]);
    assert!(told.contains("damaged PNG picture"), "{told}");
}

#[test]
fn commits_outside_of_a_repository() {
    let scratch = Scratch::new();
    let write = Step::call("write_file", json!({"path": "b.txt", "content": "two\n"}));
    let model = Model::script([write, Step::text("I see.")]);
    let ended = scratch.run(&model, &["-p", "x", "--permission-mode", "accept-edits", "--auto-commit"]);
    ended.assert_code(0).assert_says("repository");
    assert_eq!(scratch.read("b.txt"), "two\n");
}

#[test]
fn the_key_is_shown_nowhere() {
    const KEY: &str = "sk-very-secret-0123456789";
    let scratch = Scratch::new();
    let refusal = Step::status(401).with_body(format!("{{\"error\":{{\"message\":\"bad key {KEY}\"}}}}"));
    let echo = Step::call("bash", json!({"command": "env; cat /proc/$PPID/environ"}));
    let model = Model::script([Step::text(format!("It is {KEY}.")), echo, Step::text("Done."), refusal]);
    let run = |format: &str| {
        let mut command =
            scratch.run_command(&model, &["-p", "x", "-v", "--permission-mode", "bypass", "--output-format", format]);
        command.args(["--api-key-env", "ANTHROPIC_API_KEY"]);
        Running::start(command.env("ANTHROPIC_API_KEY", KEY).env("OPENAI_API_KEY", "sk-the-other-secret-one")).end()
    };
    let all = [run("stream-json"), run("stream-json"), run("text")];
    assert_eq!(all[2].code(), 41);
    for ended in &all {
        assert!(!format!("{ended:?}").contains(KEY), "{ended:#?}");
        assert!(!format!("{ended:?}").contains("sk-the-other"), "{ended:#?}");
    }
    for journal in scratch.journals() {
        assert!(!std::fs::read_to_string(journal).unwrap().contains("secret"));
    }
    assert_eq!(model.requests()[0].header("x-api-key"), Some(KEY));
}

#[test]
fn a_password_in_the_url_is_not_shown() {
    let scratch = Scratch::new();
    for url in ["http://me:hunter2secret@127.0.0.1:1/v1", "http://me:hunter2secret@exa mple/v1"] {
        let ended = scratch.ended(&["run", "-p", "x", "--base-url", url]);
        assert_ne!(ended.code(), 0);
        assert!(!format!("{ended:?}").contains("hunter2secret"), "{ended:#?}");
    }
    let doctor =
        Running::start(scratch.agent(&["doctor"]).env("OPENAI_BASE_URL", "http://me:hunter2secret@host/v1")).end();
    assert!(doctor.out.contains("http://host/v1") && !doctor.out.contains("hunter2secret"), "{doctor:#?}");
}

/// Whatever the program reads or appends to may be a pipe, which makes whoever opens it wait for somebody.
#[test]
fn a_pipe_in_the_place_of_a_file_holds_nothing_up() {
    let model = Model::always(Step::text("Done."));
    const JOURNAL: &str = "the journal's path";
    let run: &[&str] = &["run", "-p", "x", "--session-id", "one"];
    for (place, arguments, code) in [
        ("config/config.toml", run, 52),
        ("work/.agent/config.toml", run, 52),
        // Without its instructions a session goes on, and says so.
        ("work/AGENTS.md", run, 0),
        ("journal", run, 42),
        ("lock", run, 1),
        ("journal", &["sessions", "show", "one"], 42),
        ("journal", &["sessions", "export", "one"], 42),
        ("journal", &["sessions", "lint", JOURNAL], 42),
        ("journal", &["sessions", "list"], 0),
        ("tape", &["run", "-p", "x", "--replay", "../tape"], 42),
        ("audit", &["job", "audit"], 1),
    ] {
        let scratch = Scratch::repository();
        scratch.run(&model, &["-p", "x", "--session-id", "one"]).assert_code(0);
        let journal = scratch.journals().remove(0);
        let path = match place {
            "journal" => journal.clone(),
            "lock" => journal.with_extension("lock"),
            "audit" => {
                let mut job = scratch.agent(&["job", "run", "x"]);
                Running::start(job.args(model.flags(Wire::Anthropic))).end().assert_code(0);
                scratch.journals().into_iter().find(|path| path.to_string_lossy().contains("/audit/")).unwrap()
            }
            other => scratch.path(other),
        };
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        drop(std::fs::remove_file(&path));
        assert!(scratch.command("mkfifo").arg(&path).status().unwrap().success());
        let journal = journal.display().to_string();
        let words = arguments.iter().map(|word| if *word == JOURNAL { journal.as_str() } else { word });
        let mut command = scratch.agent(&words.collect::<Vec<_>>());
        if arguments[0] == "run" && place != "tape" {
            command.args(model.flags(Wire::Anthropic));
        }
        let ended = Running::start(&mut command).end();
        assert_eq!(ended.code(), code, "{place} {arguments:?}: {ended:#?}");
        assert!(
            ended.err.contains("not a regular file") || ended.err.contains("not a file") || code == 0,
            "{ended:#?}"
        );
    }
}
