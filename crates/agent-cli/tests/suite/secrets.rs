//! A key is a canary: it goes to the provider, and nowhere else.

use crate::support::{Ended, Model, Running, Scratch};
use agent_testkit::http::Step;
use serde_json::json;
use std::fs;

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
