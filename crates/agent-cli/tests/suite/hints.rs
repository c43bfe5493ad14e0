//! A hint to go on does not lead straight back into the limit that ended the run.

use crate::support::{Ended, Model, Scratch};
use agent_testkit::http::Step;
use serde_json::json;

/// The words of the command that is given to go on with, without the program's name.
#[track_caller]
fn hinted(ended: &Ended) -> Vec<String> {
    let line = ended.err.lines().find(|line| line.contains("to resume this session"));
    let line = line.unwrap_or_else(|| panic!("no hint: {ended:#?}"));
    let command = line.split_once(": agent ").unwrap_or_else(|| panic!("no command: {line}")).1;
    command.split(' ').map(str::to_owned).collect()
}

#[test]
fn the_hint_raises_the_limit_that_ended_the_run() {
    let call = || Step::call("bash", json!({"command": "echo hi"}));
    for (flag, limit, code) in [
        ("--max-turns", "2", 53),
        ("--max-tool-calls", "1", 53),
        ("--max-total-tokens", "60", 60),
        ("--max-wall-time", "400ms", 60),
    ] {
        let slow = Step::call("bash", json!({"command": "sleep 86"}));
        let model = Model::always(if flag == "--max-wall-time" { slow } else { call() });
        let scratch = Scratch::new();
        let arguments = ["-p", "x", "--permission-mode", "bypass", flag, limit, "--max-turns", "400"];
        let arguments = if flag == "--max-turns" { &arguments[..6] } else { &arguments[..] };
        let ended = scratch.run(&model, arguments);
        ended.assert_code(code).assert_says(&format!("with a higher limit (`{flag}`)"));
        let words = hinted(&ended);
        assert_eq!(words.iter().filter(|word| *word == flag).count(), 1, "{words:?}");
        assert!(words.iter().any(|word| word == "--max-turns"), "the others stay: {words:?}");

        // The command, with the task that a script would give it, asks the model again.
        let asked = model.requests().len();
        let again: Vec<&str> = words.iter().map(String::as_str).collect();
        let Some(("resume", rest)) = again.split_first().map(|(first, rest)| (*first, rest)) else {
            panic!("{again:?}");
        };
        let (id, rest) = rest.split_first().unwrap();
        let more = [&["-p", "go on", "--permission-mode", "bypass", "--session-id", id], rest].concat();
        scratch.run(&model, &more);
        assert!(model.requests().len() > asked, "{flag}: it leads straight back: {words:?}");
    }
}

#[test]
fn a_limit_on_money_is_raised_beyond_what_the_next_call_may_cost() {
    let scratch = Scratch::new();
    scratch.configure("[models.scripted-model]\ninput_usd = 3\noutput_usd = 15\n");
    let model = Model::always(Step::text("Done."));
    let ended = scratch.run(&model, &["-p", "x", "--max-budget-usd", "0.01"]);
    let words = hinted(ended.assert_code(60).assert_says("with a higher limit (`--max-budget-usd`)"));
    let at = words.iter().position(|word| word == "--max-budget-usd").unwrap();
    let arguments = ["-p", "x", "--session-id", &words[1], "--max-budget-usd", &words[at + 1]];
    assert_eq!(scratch.run(&model, &arguments).assert_code(0).out, "Done.\n");
}

#[test]
fn a_run_that_no_limit_ended_keeps_its_limits() {
    let model = Model::always(Step::status(401));
    let scratch = Scratch::new();
    let ended = scratch.run(&model, &["-p", "x", "--max-turns", "7"]);
    assert!(ended.assert_code(41).err.contains("--max-turns 7"), "{ended:#?}");
    let errors: Vec<&str> = ended.err.lines().filter(|line| line.contains("401")).collect();
    assert_eq!(errors.len(), 1, "an error is said once: {errors:?}");
}
