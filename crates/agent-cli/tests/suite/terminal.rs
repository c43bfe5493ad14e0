//! Nothing that a terminal would act on reaches it, wherever it came from.

use crate::support::{Model, Scratch};
use agent_testkit::http::Step;
use serde_json::json;

const NASTY: &str = "\x1b]0;owned\x07\x1b[2J\u{9b}31m\u{202e}";

fn is_clean(text: &str) -> bool {
    !text.chars().any(|c| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}')
}

#[test]
fn escape_sequences_do_not_reach_standard_error() {
    let scratch = Scratch::repository();
    scratch.write("nasty.txt", &format!("{NASTY}\n"));
    scratch.write(".agent/config.toml", &format!("deny = [\"oops{}(\"]\n\"k\\u001b]0;x\" = 1\n", "\\u001b[2J"));
    let model = Model::script([
        Step::call("read_file", json!({"path": "nasty.txt"})),
        Step::call("read_file", json!({"path": format!("no{NASTY}file")})),
        Step::call(format!("tool{}", "x"), json!({"path": NASTY})),
        Step::call("bash", json!({"command": format!("printf '{NASTY}'; cat nasty.txt; exit 1")})),
        Step::status(400).with_body(json!({"type": "error", "error": {"type": "x", "message": NASTY}}).to_string()),
    ]);
    let ended = scratch.run(&model, &["-p", "x", "-v", "--permission-mode", "bypass"]);
    ended.assert_code(62);
    assert!(is_clean(&ended.err), "{:?}", ended.err);
    assert!(ended.err.contains("\\u{1b}"), "made visible: {}", ended.err);
}

#[test]
fn json_carries_the_text_as_it_is_and_no_control_characters() {
    let scratch = Scratch::new();
    let model = Model::script([Step::text(format!("a{NASTY}b"))]);
    let ended = scratch.run(&model, &["-p", "x", "--output-format", "json"]);
    assert!(!ended.out.contains('\x1b'));
    assert_eq!(ended.result()["result"], format!("a{NASTY}b"));
}

#[test]
fn the_name_of_a_directory_is_no_command() {
    let scratch = Scratch::new();
    let folder = scratch.work("dir\x1b]0;owned\x07");
    std::fs::create_dir_all(&folder).unwrap();
    let model = Model::script([Step::text("a")]);
    let mut command = scratch.agent(&["--no-session", "-C", folder.to_str().unwrap()]);
    let mut running = crate::support::Running::start(command.args(model.flags(crate::support::Wire::Anthropic)));
    running.write("hello\n");
    running.close_stdin();
    let ended = running.end();
    assert!(is_clean(&ended.assert_code(0).err), "{ended:?}");
}
