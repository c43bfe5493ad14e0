//! Providers of the user's own: `[providers.NAME]`, their keys, aliases, and which provider a model chooses.

use crate::support::{Ended, Model, Running, Scratch};
use agent_testkit::http::Step;
use serde_json::Value;
use std::os::unix::fs::{PermissionsExt as _, symlink};

const KEY: &str = "sk-own-0123456789abcdef";

/// An entry for a scripted server, and more lines of it.
fn entry(name: &str, protocol: &str, model: &Model, more: &str) -> String {
    let url = if protocol == "anthropic" { model.server().url() } else { model.server().openai_url() };
    format!("[providers.{name}]\nprotocol = \"{protocol}\"\nbase_url = \"{url}\"\n{more}\n")
}

fn run(scratch: &Scratch, arguments: &[&str]) -> Ended {
    scratch.ended(&[&["run", "-p", "x"], arguments].concat())
}

fn header(model: &Model, name: &str) -> Option<String> {
    model.requests().last()?.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.clone())
}

#[test]
fn a_provider_has_its_own_protocol_server_headers_key_model_and_effort() {
    let scratch = Scratch::new();
    let model = Model::always(Step::text("a"));
    let more = "headers = { x-team = \"search\" }\napi_key_env = \"WORK_KEY\"\nmodel = \"big\"\nmodels = [\"small\"]\neffort = \"low\"";
    scratch.configure(&entry("work", "openai-responses", &model, more));
    let run = |arguments: &[&str]| {
        let mut command = scratch.agent(&[&["run", "-p", "x"], arguments].concat());
        Running::start(command.env("WORK_KEY", KEY).env("OPENAI_API_KEY", "sk-other-0123456789")).end()
    };
    assert_eq!(run(&["--provider", "work"]).assert_code(0).out, "a\n");
    let request = model.requests().pop().unwrap();
    assert_eq!((request.path.as_str(), &request.body["model"]), ("/v1/responses", &Value::from("big")));
    assert_eq!(request.body["reasoning"]["effort"], "low");
    assert_eq!(header(&model, "authorization"), Some(format!("Bearer {KEY}")));
    assert_eq!(header(&model, "x-team").as_deref(), Some("search"));
    // A model that it lists chooses it; a flag says otherwise.
    run(&["-m", "small", "--effort", "high"]).assert_code(0);
    assert_eq!(model.last_body()["reasoning"]["effort"], "high");
    // Another server gets neither key nor headers.
    let other = Model::always(Step::text("a"));
    let url = other.server().openai_url();
    run(&["--provider", "work", "--base-url", &url]).assert_code(0);
    assert_eq!((header(&other, "authorization"), header(&other, "x-team")), (None, None));
    run(&["--provider", "wrok"]).assert_code(52).assert_says("there are anthropic, openai, openai-responses, work");
}

#[test]
fn keys_come_from_files_and_programs_and_are_shown_nowhere() {
    let scratch = Scratch::new();
    let model = Model::always(Step::text(format!("I saw {KEY}.")));
    let file = scratch.path("key");
    std::fs::write(&file, format!("{KEY}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let by_file = format!("model = \"m\"\napi_key_file = \"{}\"", file.display());
    let by_command = format!("model = \"m\"\napi_key_command = [\"cat\", \"{}\"]", file.display());
    for more in [by_file, by_command] {
        scratch.configure(&entry("work", "anthropic", &model, &more));
        let ended = run(&scratch, &["--provider", "work", "--session-id", "one"]);
        assert_eq!(ended.assert_code(0).out, "I saw [redacted].\n");
        assert_eq!(header(&model, "x-api-key").as_deref(), Some(KEY));
        for journal in scratch.journals() {
            assert!(!std::fs::read_to_string(&journal).unwrap().contains(KEY));
        }
        let shown = scratch.ended(&["config", "show", "--provider", "work"]);
        assert!(!shown.assert_code(0).out.contains(KEY));
    }
    // The key of an entry that is not used is one as well, also where a command encoded it.
    let encoded = {
        let mut child = std::process::Command::new("base64");
        child.args(["-w0", file.to_str().unwrap()]);
        String::from_utf8(child.output().unwrap().stdout).unwrap()
    };
    let other = Model::always(Step::text(format!("I saw {KEY} and {encoded}.")));
    let more = format!("model = \"m\"\napi_key_file = \"{}\"\n", file.display());
    let used = entry("other", "openai", &other, "model = \"m\"\napi_key_env = \"-\"\n");
    scratch.configure(&format!("{used}{}", entry("work", "anthropic", &model, &more)));
    let ended = run(&scratch, &["--provider", "other"]);
    assert!(ended.assert_code(0).out.starts_with("I saw [redacted] and [redacted]"), "{ended:#?}");
    // What the server says of the key goes through the same sieve, and the error names where it is.
    let refusing = Model::always(Step::status(401).with_body(format!("{{\"error\":{{\"message\":\"bad {KEY}\"}}}}")));
    let more = format!("model = \"m\"\napi_key_file = \"{}\"", file.display());
    scratch.configure(&entry("work", "anthropic", &refusing, &more));
    let ended = run(&scratch, &["--provider", "work"]);
    ended.assert_code(41).assert_says("`api_key_file` of `[providers.work]`");
    assert!(!ended.err.contains(KEY), "{ended:#?}");
}

#[test]
fn a_key_that_cannot_be_had_is_an_error_before_anything_is_sent() {
    let scratch = Scratch::new();
    let model = Model::always(Step::text("a"));
    let file = scratch.path("key");
    std::fs::write(&file, KEY).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    symlink(&file, scratch.path("link")).unwrap();
    let folder = file.parent().unwrap().display().to_string();
    for (more, says) in [
        (format!("api_key_file = \"{folder}/key\""), "`chmod 600` makes it yours alone"),
        (format!("api_key_file = \"{folder}/link\""), "it is a symbolic link"),
        (format!("api_key_file = \"{folder}/none\""), "No such file"),
        (
            "api_key_command = [\"sh\", \"-c\", \"head -c 1000000 /dev/zero | tr '\\\\0' a\"]".to_owned(),
            "more than 65536 bytes",
        ),
        ("api_key_command = [\"false\"]".to_owned(), "`false`: it failed"),
        ("api_key_command = [\"no-such-program\"]".to_owned(), "no-such-program"),
        ("api_key_env = \"NO_SUCH_KEY\"".to_owned(), "NO_SUCH_KEY is not set, but `api_key_env` of `[providers.work]`"),
    ] {
        scratch.configure(&entry("work", "openai", &model, &format!("model = \"m\"\n{more}")));
        run(&scratch, &["--provider", "work"]).assert_code(41).assert_says(says);
    }
    scratch.configure(&entry("work", "openai", &model, "api_key_file = \"key\""));
    run(&scratch, &["--provider", "work"]).assert_code(52).assert_says("`providers.work.api_key_file`");
    // A relative program would be looked for where the work is, which commands can write.
    let script = scratch.work("key.sh");
    std::fs::write(&script, "#!/bin/sh\necho sk\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let more = format!("model = \"m\"\napi_key_command = [\"{}\"]", script.display());
    scratch.configure(&entry("work", "openai", &model, &more));
    run(&scratch, &["--provider", "work"]).assert_code(41).assert_says("they could change it");
    // In clear to another machine nothing goes, and no program is asked for what would.
    let marker = scratch.path("asked");
    scratch.configure(&format!(
        "[providers.work]\nprotocol = \"openai\"\nbase_url = \"http://example.invalid/v1\"\nmodel = \"m\"\n\
         api_key_command = [\"touch\", \"{}\"]\n",
        marker.display()
    ));
    run(&scratch, &["--provider", "work"]).assert_code(52).assert_says("unencrypted");
    assert!(!marker.exists());
    // A server elsewhere gets a key by a word only, and none by another.
    scratch.configure(
        "[providers.work]\nprotocol = \"openai\"\nbase_url = \"https://example.invalid/v1\"\nmodel = \"m\"\n",
    );
    let mut command = scratch.agent(&["run", "-p", "x", "--provider", "work"]);
    let ended = Running::start(command.env("OPENAI_API_KEY", KEY)).end();
    ended.assert_code(41).assert_says("`[providers.work]` has no key for example.invalid");
    assert!(model.requests().is_empty());
}

#[test]
fn a_command_that_hangs_does_not_hold_an_interrupt() {
    let scratch = Scratch::new();
    let model = Model::always(Step::text("a"));
    let marker = scratch.path("asked");
    let more = format!("model = \"m\"\napi_key_command = [\"sh\", \"-c\", \"touch {}; sleep 600\"]", marker.display());
    scratch.configure(&entry("work", "openai", &model, &more));
    let running = Running::start(&mut scratch.agent(&["run", "-p", "x", "--provider", "work"]));
    crate::support::eventually("the command", || marker.exists());
    running.signal("INT");
    running.end().assert_code(130);
}

#[test]
fn neither_commands_nor_tools_read_a_key_file_and_a_repository_names_none() {
    let scratch = Scratch::repository();
    let file = scratch.work("my.key");
    std::fs::write(&file, KEY).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let model = Model::script([Step::call("read_file", serde_json::json!({"path": "my.key"})), Step::text("Done.")]);
    let more = format!("model = \"m\"\napi_key_file = \"{}\"", file.display());
    scratch.configure(&entry("work", "openai", &model, &more));
    // Where nothing can be hidden in a place that commands write, the sandbox refuses; that it is off is no reason to read it.
    run(&scratch, &["--provider", "work", "--sandbox", "off"]).assert_code(0);
    let last = model.last_body().to_string();
    assert!(!last.contains(KEY) && last.contains("my.key"), "{last}");
    scratch.configure("");
    scratch.write(
        ".agent/config.toml",
        "[providers.evil]\nprotocol = \"openai\"\n[aliases]\nfast = \"x\"\neffort = \"max\"\n",
    );
    let ended = scratch.ended(&["config", "show"]);
    for key in ["providers", "aliases"] {
        ended.assert_code(0).assert_says(&format!("cannot use `{key}` of"));
    }
    run(&scratch, &["--provider", "evil"]).assert_code(52).assert_says("cannot find the provider `evil`");
}

#[test]
fn the_model_chooses_the_provider_where_nothing_else_does() {
    let scratch = Scratch::new();
    let (anthropic, openai) = (Model::always(Step::text("a")), Model::always(Step::text("o")));
    let run = |arguments: &[&str]| {
        let mut command = scratch.agent(&[&["run", "-p", "x", "--no-session"], arguments].concat());
        command.env("ANTHROPIC_API_KEY", "sk-a").env("OPENAI_API_KEY", "sk-o");
        command
            .env("ANTHROPIC_BASE_URL", anthropic.server().url())
            .env("OPENAI_BASE_URL", openai.server().openai_url());
        Running::start(&mut command).end()
    };
    assert_eq!(run(&["-m", "claude-sonnet-4-5"]).assert_code(0).out, "a\n");
    assert_eq!(run(&["-m", "gpt-5"]).assert_code(0).out, "o\n");
    assert_eq!(run(&["-m", "gpt-5", "--provider", "anthropic"]).assert_code(0).out, "a\n");
    run(&["-m", "some-model"]).assert_code(52).assert_says("use `--provider anthropic` or `--provider openai`");
    scratch.configure(
        "[aliases]\nfast = \"gpt-5-mini\"\ndeep = { model = \"x\", provider = \"anthropic\", effort = \"low\" }\n",
    );
    assert_eq!(run(&["-m", "fast"]).assert_code(0).out, "o\n");
    assert_eq!(openai.last_body()["model"], "gpt-5-mini");
    assert_eq!(run(&["-m", "deep"]).assert_code(0).out, "a\n");
    assert_eq!(
        (&anthropic.last_body()["model"], &anthropic.last_body()["thinking"]["type"]),
        (&"x".into(), &"enabled".into())
    );
    assert_eq!(run(&["-m", "fast", "--fallback-model", "fast"]).assert_code(0).out, "o\n");
    run(&["-m", "fast", "--fallback-model", "deep"]).assert_code(52).assert_says("it is of the provider anthropic");
}

#[test]
fn a_session_is_resumed_with_the_users_provider() {
    let scratch = Scratch::new();
    let model = Model::always(Step::text("Well."));
    let work = entry("work", "openai", &model, "models = [\"big\"]");
    scratch.configure(&format!("{work}[aliases]\nb = \"big\"\n"));
    run(&scratch, &["-m", "b", "--session-id", "one"]).assert_code(0);
    let resume = || {
        let mut running = Running::start(&mut scratch.agent(&["resume", "one"]));
        running.write("again\n");
        running.close_stdin();
        running.end()
    };
    resume().assert_code(0).assert_says("as this session was used: work, big");
    assert_eq!(model.last_body()["model"], "big");
    scratch.configure("");
    resume().assert_code(52).assert_says("cannot find the provider `work`");
}
