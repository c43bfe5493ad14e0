//! A key is a canary: it goes to the provider, and nowhere else.

use crate::support::{Ended, Model, Running, Scratch};
use agent_testkit::Reply;
use agent_testkit::http::Step;
use serde_json::json;
use std::fs;
use std::process::Command;

const KEY: &str = "sk-ant-canary-0123456789abcdef";
/// The key as a command may write it so that nobody recognises it.
const HIDDEN_KEY: &str = "c2stYW50LWNhbmFyeS0wMTIzNDU2Nzg5YWJjZGVm";

/// Everything that a run leaves: both outputs, the journal, and what the model was told.
fn everything(scratch: &Scratch, model: &Model, ended: &Ended) -> String {
    let journals = scratch.journals().into_iter().map(|journal| fs::read_to_string(journal).unwrap());
    let bodies = model.requests().into_iter().map(|request| request.body.to_string());
    let mut all = format!("{}{}", ended.out, ended.err);
    all.extend(journals.chain(bodies));
    all
}

fn with_key(scratch: &Scratch, model: &Model, arguments: &[&str]) -> Ended {
    let mut command = scratch.run_command(model, arguments);
    command.args(["--api-key-env", "ANTHROPIC_API_KEY"]);
    Running::start(command.env("ANTHROPIC_API_KEY", KEY).env("MY_OTHER_TOKEN", KEY)).end()
}

#[test]
fn commands_neither_get_it_nor_find_it() {
    let look = "env; env | base64 -w0; cat /proc/self/environ /proc/$PPID/environ /proc/1/environ | tr '\\0' '\\n'; \
        for p in $PPID 1; do tr '\\0' '\\n' < /proc/$p/environ | sed -n 's/^ANTHROPIC_API_KEY=//p' | tr -d '\\n' | base64 -w0; done; true";
    for sandbox in ["workspace-write", "off"] {
        let scratch = Scratch::repository_in("/var/tmp");
        let model = Model::script([Step::call("bash", json!({"command": look})), Step::text("Done.")]);
        let ended = with_key(
            &scratch,
            &model,
            &["-p", "look", "--permission-mode", "bypass", "--sandbox", sandbox, "--output-format", "stream-json"],
        );
        if ended.code() == 52 {
            println!("skipped: {}", ended.err);
            continue;
        }
        ended.assert_code(0);
        let all = everything(&scratch, &model, &ended);
        assert!(all.contains("AGENT_EXEC_RUN="), "the command looked: {all}");
        assert!(!all.contains(KEY), "{sandbox}: {all}");
        // Root may read the environment of every process of its own; only a sandbox takes that away.
        let is_root = fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
        if sandbox == "off" && is_root {
            println!("root without a sandbox: found in disguise: {}", all.contains(HIDDEN_KEY));
        } else {
            assert!(!all.contains(HIDDEN_KEY), "{sandbox}: {all}");
        }
        assert!(model.requests().iter().all(|request| request.header("x-api-key") == Some(KEY)), "the provider got it");
    }
}

/// The model was shown `[redacted]`, and would write that in the place of the key.
#[test]
fn a_file_with_a_key_is_not_written_back_as_it_was_shown() {
    let scratch = Scratch::new();
    let old = format!("A=1\nTOKEN={KEY}\n");
    scratch.write(".env", &old);
    scratch.write("doc.md", "nothing\n");
    let back = |path: &str, text: &str| Step::call("write_file", json!({"path": path, "content": text}));
    let model = Model::script([
        Step::call("read_file", json!({"path": ".env"})),
        back(".env", "A=2\nTOKEN=[redacted]\n"),
        Step::call("edit_file", json!({"path": ".env", "old_string": "A=1", "new_string": "A=2"})),
        Step::call("read_file", json!({"path": "doc.md"})),
        back("doc.md", "shown as [redacted]\n"),
        Step::text("Done."),
    ]);
    let ended = with_key(&scratch, &model, &["-p", "set A", "--permission-mode", "accept-edits"]);
    ended.assert_code(0);
    let read = |path: &str| fs::read_to_string(scratch.work(path)).unwrap();
    assert_eq!(read(".env"), old.replace("A=1", "A=2"));
    assert_eq!(read("doc.md"), "shown as [redacted]\n", "the control: no key was in it");
    let told = model.last_body()["messages"].to_string();
    assert!(told.contains("holds a secret that you were shown as `[redacted]`"), "{told}");
}

/// A cut takes a part of the key away, and the rest must not be taken for another text.
#[test]
fn what_is_left_of_it_where_a_text_was_cut_is_not_shown() {
    let scratch = Scratch::repository_in("/var/tmp");
    // Lines are cut behind 2000 characters, matches behind 500, and of an output of more than 30000 bytes the middle goes.
    for (name, before) in [("read.txt", 1_985), ("found.txt", 485)] {
        scratch.write(name, &format!("{}{KEY}{}\n", "A".repeat(before), "B".repeat(3_000)));
    }
    for (name, before, behind) in [("head.txt", 14_985, 40_000), ("tail.txt", 40_000, 14_985)] {
        scratch.write(name, &format!("{}{KEY}{}", "A".repeat(before), "B".repeat(behind)));
    }
    let model = Model::script([
        Step::call("read_file", json!({"path": "read.txt"})),
        Step::call("grep", json!({"pattern": "AB|canary", "path": "found.txt"})),
        Step::call("bash", json!({"command": "cat head.txt"})),
        Step::call("bash", json!({"command": "cat tail.txt"})),
        Step::text("Done."),
    ]);
    let arguments = ["-p", "look", "--permission-mode", "bypass", "--sandbox", "off", "--output-format", "stream-json"];
    let ended = with_key(&scratch, &model, &arguments);
    ended.assert_code(0);
    let all = everything(&scratch, &model, &ended);
    let body = model.last_body().to_string();
    assert!(body.contains("[redacted]…") && body.contains("bytes left out here"), "it was cut there: {body}");
    for part in [&KEY[..8], &KEY[KEY.len() - 8..]] {
        assert!(!all.contains(part), "{part} is left: {all}");
    }
}

/// The tools put numbers between the lines of a key.
#[test]
fn a_key_of_several_lines_is_found_by_whatever_tool_shows_it() {
    let lines =
        ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7", "VJTUt9Us8cKjMzEfYyjiWA4R4ZM2bS1GB4t7NXp98C3S"];
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", lines.join("\n"));
    for value in [pem.clone(), pem.replace('\n', "\\n")] {
        let scratch = Scratch::repository_in("/var/tmp");
        scratch.write("key.pem", &format!("{pem}\n"));
        let model = Model::script([
            Step::call("read_file", json!({"path": "key.pem"})),
            Step::call("grep", json!({"pattern": "^[MV]", "path": "key.pem"})),
            Step::call("bash", json!({"command": "cat -n key.pem"})),
            Step::text("Done."),
        ]);
        let arguments =
            ["-p", "look", "--permission-mode", "bypass", "--sandbox", "off", "--output-format", "stream-json"];
        let mut command = scratch.run_command(&model, &arguments);
        let ended = Running::start(command.env("DEPLOY_PRIVATE_KEY", &value)).end();
        ended.assert_code(0);
        let all = everything(&scratch, &model, &ended);
        assert!(all.contains("BEGIN PRIVATE KEY") && all.contains("[redacted]"), "it was read: {all}");
        assert!(lines.iter().all(|line| !all.contains(line)), "{all}");
    }
}

/// What the provider, a file and a command say is not believed to be free of it.
#[test]
fn what_says_it_is_not_repeated() {
    let scratch = Scratch::repository();
    scratch.write("leaked.txt", &format!("key = {KEY}\n"));
    let model = Model::script([
        Step::call("read_file", json!({"path": "leaked.txt"})),
        Step::call("bash", json!({"command": "cat leaked.txt; cat leaked.txt >&2; exit 3"})),
        Step::call("bash", json!({"command": format!("no-such-program {KEY}")})),
        Step::status(400).with_body(format!("{{\"error\":{{\"message\":\"your key {KEY} is odd\"}}}}")),
    ]);
    let ended = with_key(&scratch, &model, &["-p", "look", "--permission-mode", "bypass", "-v"]);
    assert_ne!(ended.code(), 0);
    let mut all = everything(&scratch, &model, &ended);
    // What the model itself says is in its own words; what it is told back is not.
    assert!(all.contains("leaked.txt"));
    all = all.replace(&format!("no-such-program {KEY}"), "");
    assert!(!all.contains(KEY), "{all}");
}

const TOKEN: &str = "ghp_canary0123456789ABCDEF";
const PROXY_PASSWORD: &str = "Hunter2-of-the-proxy";

/// With secrets of every kind in the environment.
fn with_secrets<'a>(command: &'a mut Command, key: &str) -> &'a mut Command {
    command
        .env("ANTHROPIC_API_KEY", key)
        .env("GITHUB_TOKEN", TOKEN)
        .env("https_proxy", format!("http://me:{PROXY_PASSWORD}@127.0.0.1:9/"))
}

fn assert_clean(place: &str, text: &str) {
    for secret in [KEY, TOKEN, PROXY_PASSWORD] {
        assert!(!text.contains(secret), "{secret} in {place}: {text}");
    }
}

/// Every way by which text leaves the program, with each secret put into each text that comes in.
#[test]
fn no_secret_leaves_by_any_way() {
    let scratch = Scratch::repository();
    let leak = format!("{KEY} {TOKEN} {PROXY_PASSWORD}");
    let note = format!("cat >> '{}'; echo 'said: {leak}' >&2; exit 1", scratch.path("told").display());
    let hooks = ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"];
    let hooks = hooks.map(|event| format!("[[hooks]]\nevent = \"{event}\"\ncommand = \"\"\"{note}\"\"\"\n"));
    scratch.configure(&hooks.concat());
    scratch.write("AGENTS.md", &format!("Use {leak}.\n"));
    scratch.write("leaked.txt", &format!("{leak}\n"));
    let model = Model::script([
        Step::answer(
            Reply::new()
                .thinking(format!("I think of {leak}."))
                .text(format!("It is {leak}."))
                .call("read_file", json!({"path": "leaked.txt"}))
                .call("bash", json!({"command": format!("echo {TOKEN}; cat leaked.txt >&2")}))
                .call("write_file", json!({"path": format!("{TOKEN}.txt"), "content": leak})),
        ),
        Step::call("grep", json!({"path": "leaked.txt", "pattern": TOKEN})),
        Step::status(529).header("retry-after", "0").with_body(format!("{{\"error\":{{\"message\":\"{leak}\"}}}}")),
        Step::text(format!("Done with {leak}.")),
    ]);
    let verify = format!("true {leak}");
    let mut command = scratch
        .run_command(&model, &["-p", &format!("use {leak}"), "--permission-mode", "bypass", "--verify", &verify, "-v"]);
    command.args(["--output-format", "stream-json", "--include-partial-messages", "--record", "../tape.jsonl"]);
    command.args(["--auto-commit", "--session-id", "one"]);
    let ended = Running::start(with_secrets(&mut command, KEY)).end();
    ended.assert_code(0).assert_says("checking: true [redacted]");
    assert_clean("stdout", &ended.out);
    assert_clean("stderr", &ended.err);
    for (kind, text) in [("thinking", &ended.out), ("text", &ended.out), ("hook", &ended.out)] {
        assert!(text.contains(kind) && text.contains("[redacted]"), "{kind}: {text}");
    }
    let mut journals = String::new();
    scratch.journals().iter().for_each(|journal| journals.push_str(&fs::read_to_string(journal).unwrap()));
    assert!(journals.contains("I think of [redacted]"), "{journals}");
    assert_clean("journal", &journals);
    assert_clean("hooks' input", &fs::read_to_string(scratch.path("told")).unwrap());
    assert_clean("recording", &fs::read_to_string(scratch.path("tape.jsonl")).unwrap());
    assert_clean("commits", &scratch.git(&["log", "--format=%B"]));
    for request in model.requests() {
        assert_clean("request", &request.body.to_string());
    }
    assert!(model.requests().len() >= 4, "every step was asked for");
    model.assert_valid();
    for arguments in [
        &["sessions", "export", "one", "--format", "html"][..],
        &["sessions", "export", "one"],
        &["sessions", "show", "one"],
        &["sessions", "list"],
        &["explain", "one"],
    ] {
        // What was kept is clean, whatever is known now.
        let shown = scratch.ended(arguments);
        shown.assert_code(0);
        assert_clean(&arguments.join(" "), &format!("{}{}", shown.out, shown.err));
    }
}

/// The control: the same names without the values are nothing to hide, and what is no secret stays.
#[test]
fn what_is_no_secret_is_left_alone() {
    let scratch = Scratch::repository();
    let model = Model::script([Step::text(format!("true postgres /usr/bin {TOKEN} somebody"))]);
    let mut command = scratch.run_command(&model, &["-p", "x"]);
    command.env("USE_TOKEN", "true").env("DB_PASSWORD", "postgres").env("A_KEY", "/usr/bin").env("USER", "somebody");
    let ended = Running::start(&mut command).end();
    assert_eq!(ended.assert_code(0).out.trim(), format!("true postgres /usr/bin {TOKEN} somebody"));
}

/// A session of an older program may hold what is known to be secret now.
#[test]
fn what_was_kept_before_is_redacted_when_it_is_shown() {
    let scratch = Scratch::repository();
    let model = Model::script([Step::text(format!("It is {TOKEN}."))]);
    scratch.run(&model, &["-p", "x", "--session-id", "one"]).assert_code(0);
    let shown = |known: bool| {
        let mut command = scratch.agent(&["sessions", "export", "one", "--output", "../out.md"]);
        if known {
            command.env("GITHUB_TOKEN", TOKEN);
        }
        Running::start(&mut command).end().assert_code(0);
        let text = fs::read_to_string(scratch.path("out.md")).unwrap();
        fs::remove_file(scratch.path("out.md")).unwrap();
        text
    };
    assert!(shown(false).contains(TOKEN), "the control");
    assert_clean("export", &shown(true));
}

fn asks(scratch: &Scratch, url: &str, more: &[&str], variables: &[(&str, &str)]) -> Ended {
    let mut command = scratch.agent(&["run", "-p", "x", "-m", "scripted-model", "--base-url", url]);
    command.args(more).envs(variables.iter().copied());
    Running::start(&mut command).end()
}

/// A key that was meant for the provider is not for whatever listens on this machine.
#[test]
fn a_key_goes_where_it_was_given_for_and_nowhere_else() {
    let scratch = Scratch::new();
    let model = Model::always(Step::text("Done."));
    let url = model.server().openai_url();
    let key = [("OPENAI_API_KEY", "sk-of-the-provider"), ("MY_KEY", "sk-of-the-gateway")];
    let sent = || model.requests().last().unwrap().header("authorization").map(str::to_owned);
    asks(&scratch, &url, &[], &key).assert_code(0);
    assert_eq!(sent(), None, "nobody gave it for this server");
    asks(&scratch, &url, &["--api-key-env", "OPENAI_API_KEY"], &key).assert_code(0);
    assert_eq!(sent().as_deref(), Some("Bearer sk-of-the-provider"));
    asks(&scratch, &url, &["--api-key-env", "MY_KEY"], &key).assert_code(0);
    assert_eq!(sent().as_deref(), Some("Bearer sk-of-the-gateway"));
    asks(&scratch, &url, &["--api-key-env", "NOT_SET"], &key).assert_code(41).assert_says("NOT_SET is not set");

    // The file's key is for the file's server.
    scratch.configure(&format!("base_url = \"{url}\"\napi_key_env = \"MY_KEY\"\n"));
    let mut command = scratch.agent(&["run", "-p", "x", "-m", "scripted-model"]);
    Running::start(command.envs(key)).end().assert_code(0);
    assert_eq!(sent().as_deref(), Some("Bearer sk-of-the-gateway"));
    asks(&scratch, &url, &[], &key).assert_code(0);
    assert_eq!(sent(), None, "another word about the server");
    scratch.configure("");

    // Elsewhere: not unasked, and never in clear.
    let says = |url: &str, more: &[&str], code: i32, words: &str| {
        let ended = asks(&scratch, url, more, &key);
        ended.assert_code(code).assert_says(words);
        assert!(!format!("{ended:?}").contains("sk-of-the"), "{ended:#?}");
    };
    says(
        "https://gateway.invalid/v1",
        &[],
        41,
        "is not sent to gateway.invalid. `--api-key-env OPENAI_API_KEY` sends it",
    );
    says("http://gateway.invalid/v1", &["--api-key-env", "MY_KEY"], 52, "would go to gateway.invalid unencrypted");
    says("http://api.openai.com/v1", &[], 41, "is not sent to api.openai.com");
    says("http://me:hunter2secret@gateway.invalid/v1", &["--api-key-env", "-"], 52, "unencrypted");
    // Without a key it is tried.
    says("http://gateway.invalid/v1", &["--api-key-env", "-"], 62, "gateway.invalid");
}

#[test]
fn a_proxy_of_the_environment_is_said() {
    let scratch = Scratch::new();
    let proxy = [("http_proxy", "http://me:Hunter2-of-the-proxy@127.0.0.1:9")];
    let remote = "http://gateway.invalid/v1";
    let ended = asks(&scratch, remote, &["--api-key-env", "-"], &proxy);
    ended.assert_says("go through the proxy http://127.0.0.1:9, which is set in the environment");
    assert!(!format!("{ended:?}").contains("Hunter2"), "{ended:#?}");
    let mut doctor = scratch.agent(&["doctor"]);
    doctor.env("https_proxy", "http://127.0.0.1:9");
    let told = Running::start(&mut doctor).end();
    assert!(told.out.contains("requests to api.openai.com go through the proxy http://127.0.0.1:9"), "{told:#?}");
    // Neither where it is not used, nor where nobody asked for words.
    let model = Model::always(Step::text("Done."));
    for (url, more) in [(model.server().openai_url().as_str(), &[][..]), (remote, &["--api-key-env", "-", "-q"])] {
        assert!(!asks(&scratch, url, more, &proxy).err.contains("proxy http"), "{url}");
    }
}
