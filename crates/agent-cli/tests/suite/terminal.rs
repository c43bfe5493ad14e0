//! Nothing that a terminal would act on reaches it, wherever it came from: hostile text is fed in at every place where text enters.

use crate::support::{Ended, Model, Running, Scratch, Wire};
use agent_testkit::Reply;
use agent_testkit::http::Step;
use serde_json::json;
use std::fs;

/// A title, a cleared screen, a colour by a C1 character, text turned around, a hidden line, tags and a character that shows nothing.
const NASTY: &str = "\x1b]0;owned\x07\x1b[2J\u{9b}31m\u{202e}\u{2066}hid\rden\u{e0041}\u{200b}\u{7f}";
/// The same as part of a TOML string.
const NASTY_TOML: &str = "\\u001b]0;owned\\u0007\\u202e";

/// What a terminal acts on, or what shows something else than is there, as far as it stands in [`NASTY`], and the rest of its kind.
fn harmful(text: &str) -> Option<char> {
    text.chars().find(|c| {
        (c.is_control() && *c != '\n' && *c != '\t')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
    })
}

/// Both outputs are clean, and what was fed in did come out, made visible: otherwise nothing would have been tried.
#[track_caller]
fn assert_shown_harmless(place: &str, ended: &Ended) {
    for text in [&ended.out, &ended.err] {
        assert_eq!(harmful(text), None, "{place}: {ended:#?}");
    }
    let shown = format!("{}{}", ended.out, ended.err);
    let marks = ["\\u{1b}", "\\u001b", "\\u{e0041}", "%1B"];
    assert!(marks.iter().any(|mark| shown.contains(mark)), "{place}: it never got there: {ended:#?}");
    assert!(!ended.err.contains("panicked"), "{place}: {ended:#?}");
}

#[test]
fn the_measure_finds_what_is_harmful() {
    for c in NASTY.chars().filter(|c| !c.is_ascii_graphic() && *c != ' ') {
        assert_eq!(harmful(&format!("a{c}b")), Some(c));
    }
    assert_eq!(harmful("über\n\tx"), None);
}

#[test]
fn what_the_model_says() {
    let steps = || {
        let thinking = Reply::new().thinking(NASTY).text(format!("a{NASTY}"));
        [
            Step::answer(thinking.call("no_such_tool", json!({"path": NASTY}))),
            Step::call("read_file", json!({"path": format!("no{NASTY}file"), NASTY: 1})),
            Step::call("write_file", json!({"path": NASTY, "content": NASTY})),
            Step::call("bash", json!({"command": format!("printf '{NASTY}'; exit 1")})),
            Step::call("bash", json!({"command": "printf '\\033]0;owned\\007\\302\\233x\\r\\342\\200\\256'"})),
            Step::text(format!("The end{NASTY}")),
        ]
    };
    for mode in ["default", "bypass"] {
        for format in ["text", "json", "stream-json"] {
            let partial = if format == "stream-json" { &["--include-partial-messages"][..] } else { &[] };
            let arguments = ["-p", "x", "-v", "--permission-mode", mode, "--output-format", format];
            let ended = Scratch::new().run(&Model::script(steps()), &[&arguments[..], partial].concat());
            assert_shown_harmless(&format!("{mode} {format}"), &ended);
        }
    }
    let ended = Scratch::new()
        .run(&Model::script(steps()), &["-p", "x", "--permission-mode", "bypass", "--output-format", "json"]);
    assert_eq!(ended.result()["result"], format!("The end{NASTY}"), "in JSON it is still the same text");
    // The API would not take such a name back; until then it is shown.
    let model = Model::always(Step::answer(Reply::new().call(format!("t{NASTY}"), json!({"path": NASTY}))));
    for format in ["text", "stream-json"] {
        let ended = Scratch::new().run(&model, &["-p", "x", "--max-turns", "2", "--output-format", format]);
        assert_shown_harmless(format, &ended);
    }
}

#[test]
fn what_files_and_their_names_say() {
    let scratch = Scratch::repository();
    scratch.write("nasty.txt", &format!("{NASTY}\n"));
    scratch.write(&format!("name{}x\nagent: all is well", NASTY.replace('/', "")), "x\n");
    scratch.write(".agent/config.toml", &format!("\"k{NASTY_TOML}\" = 1\n"));
    let list = || Step::call("list_files", json!({}));
    let model = Model::script([
        Step::call("read_file", json!({"path": "nasty.txt"})),
        list(),
        Step::call("glob", json!({"pattern": "name*"})),
        Step::call("grep", json!({"pattern": "."})),
        Step::call("write_file", json!({"path": format!("new{NASTY}"), "content": "x"})),
        Step::text("Done."),
    ]);
    let ended = scratch.run(&model, &["-p", "x", "-v", "--permission-mode", "bypass", "--auto-commit"]);
    assert_shown_harmless("files", &ended);
    assert!(!ended.err.lines().any(|line| line.starts_with("agent: all is well")), "{ended:#?}");
    let ended = scratch.ended(&["doctor"]);
    assert_shown_harmless("doctor", &ended);
    let formatter = format!("[[formatters]]\nextensions = [\"x{NASTY_TOML}\"]\nprogram = \"p{NASTY_TOML}\"\n");
    scratch.write(".agent/config.toml", &formatter);
    assert_shown_harmless("trust", &scratch.ended(&["trust", "--show"]));
    scratch.write(".agent/config.toml", &format!("deny = [\"oops{NASTY_TOML}(\"]\n"));
    for arguments in [&["doctor"][..], &["run", "-p", "x"], &["trust", "--show"]] {
        assert_shown_harmless("a broken configuration", &scratch.ended(arguments));
    }
}

#[test]
fn what_git_says() {
    let scratch = Scratch::repository();
    let message = format!("subject {NASTY}").replace('\r', "");
    let script = format!("git -c user.name=a -c user.email=a@b commit --quiet --allow-empty -m '{message}'");
    let model = Model::script([Step::call("bash", json!({"command": script})), Step::text("Done.")]);
    // In a sandbox a command cannot commit.
    let ended = scratch.run(&model, &["-p", "x", "--permission-mode", "bypass", "--sandbox", "off"]);
    assert_shown_harmless("git", &ended);
    ended.assert_code(0).assert_says("new commit");
}

#[test]
fn what_a_provider_says() {
    let body = json!({"type": "error", "error": {"type": "invalid_request_error", "message": NASTY}}).to_string();
    for status in [400, 401, 404, 529] {
        let model = Model::always(Step::status(status).with_body(body.clone()));
        let ended = Scratch::new().run(&model, &["-p", "x", "-v", "--max-wall-time", "3s"]);
        assert_shown_harmless(&status.to_string(), &ended);
    }
    let model = Model::always(Step::body("text/html", format!("<h1>{NASTY}</h1>")));
    let ended = Scratch::new().run(&model, &["-p", "x", "-v", "--max-wall-time", "3s"]);
    assert_eq!(harmful(&ended.err), None, "{ended:#?}");
}

#[test]
fn what_the_command_line_and_configuration_say() {
    let scratch = Scratch::new();
    let nasty_file = scratch.work(&format!("dir{NASTY}"));
    let nasty_file = nasty_file.to_str().unwrap();
    let cases: [&[&str]; 8] = [
        &["run", NASTY, "--output-format", NASTY],
        &[NASTY],
        &["run", "-p", "x", "-C", nasty_file],
        &["run", "-p", "x", "--allow", &format!("bash({NASTY}")],
        &[
            "run",
            "-p",
            "x",
            "--provider",
            "anthropic",
            "--base-url",
            &format!("http://127.0.0.1:1/{NASTY}"),
            "--max-wall-time",
            "2s",
        ],
        &["demo", NASTY],
        &["job", "show", NASTY],
        &["run", "-p", "x", "--max-budget-usd", NASTY],
    ];
    for arguments in cases {
        assert_shown_harmless(&format!("{arguments:?}"), &scratch.ended(arguments));
    }
    let model = Model::script([]);
    for arguments in [&["resume", NASTY][..], &["run", "-p", "x", "--session-id", NASTY]] {
        let ended = Running::start(scratch.agent(arguments).args(model.flags(Wire::Anthropic))).end();
        assert_shown_harmless(&format!("{arguments:?}"), &ended);
    }
    scratch.configure(&format!("\"k{NASTY_TOML}\" = 1\n"));
    assert_shown_harmless("configuration", &scratch.ended(&["run", "-p", "x"]));
    fs::write(scratch.path("config").join("config.toml"), format!("model = {NASTY}\n")).unwrap();
    assert_shown_harmless("broken configuration", &scratch.ended(&["run", "-p", "x"]));
}

#[test]
fn what_checks_and_jobs_say() {
    let scratch = Scratch::new();
    let model = Model::always(Step::text(format!("done{NASTY}")));
    let check = format!("printf '{NASTY}'; false");
    let ended = scratch.run(&model, &["-p", "x", "-v", "--verify", &check]);
    assert_shown_harmless("verify", &ended);
    let task = format!("fix {NASTY}");
    for format in ["text", "json"] {
        let mut command = scratch.agent(&["job", "run", &task, "--output-format", format, "-v"]);
        let ended = Running::start(command.args(model.flags(Wire::Anthropic))).end();
        assert_shown_harmless(format, &ended);
    }
    assert_shown_harmless("audit", &scratch.ended(&["job", "audit"]));
}

/// The question itself, an answer that is none, and what was said before, on resuming.
#[test]
fn what_a_question_shows() {
    let scratch = Scratch::new();
    let command = format!("printf '{NASTY}'\nagent: all is well");
    let model = Model::script([
        Step::call("bash", json!({"command": command, NASTY: 1})),
        Step::call("bash", json!({"command": command})),
        Step::text(format!("So be it.{NASTY}")),
    ]);
    let mut running = Running::start(scratch.agent(&[]).args(model.flags(Wire::Anthropic)));
    running.write(&format!("go {}\n", NASTY.replace('\r', "")));
    running.wait_for(" · ? more");
    running.write(&format!("s bash({})\n", NASTY.replace('\r', "")));
    running.wait_for("does not cover");
    running.write("n\n");
    running.wait_for("So be it.");
    running.write(&format!("/{}\n", NASTY.replace(['\r', ' '], "")));
    running.wait_for("unknown command");
    running.close_stdin();
    let ended = running.end();
    assert_shown_harmless("question", &ended);
    assert!(!ended.err.lines().any(|line| line.starts_with("agent: all is well")), "{ended:#?}");

    let mut running = Running::start(scratch.agent(&["resume"]).args(model.flags(Wire::Anthropic)));
    running.wait_for("So be it.");
    running.close_stdin();
    assert_shown_harmless("resume", &running.end());
}

#[test]
fn the_name_of_a_directory_is_no_command() {
    let scratch = Scratch::new();
    let folder = scratch.work(&format!("dir{NASTY}"));
    fs::create_dir_all(&folder).unwrap();
    let model = Model::script([Step::text("a")]);
    let mut command = scratch.agent(&["--no-session", "-C", folder.to_str().unwrap()]);
    let mut running = Running::start(command.args(model.flags(Wire::Anthropic)));
    running.write("hello\n");
    running.close_stdin();
    let ended = running.end();
    assert_shown_harmless("directory", ended.assert_code(0));
}
