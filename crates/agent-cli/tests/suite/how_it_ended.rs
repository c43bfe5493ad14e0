//! How a command ended: a number that it chose is told apart from a signal that ended it, in every kind of sandbox.

use crate::support::{Model, Scratch};
use agent_testkit::http::Step;
use serde_json::json;

fn told(command: &str, arguments: &[&str]) -> String {
    let model = Model::script([Step::call("bash", json!({"command": command})), Step::text("Done.")]);
    let scratch = Scratch::new();
    let ended = scratch.run(&model, &[&["-p", "x", "--permission-mode", "bypass"], arguments].concat());
    ended.assert_code(0);
    let results = model.last_body()["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    results.to_string()
}

#[test]
fn a_code_and_a_signal_are_told_apart() {
    for arguments in [&["--sandbox", "off"][..], &["--sandbox", "workspace-write"], &["--sandbox", "read-only"]] {
        for (number, name) in [(9, "SIGKILL"), (15, "SIGTERM"), (6, "SIGABRT"), (11, "SIGSEGV"), (1, "SIGHUP")] {
            let code = told(&format!("exit {}", 128 + number), arguments);
            assert!(code.contains(&format!("[exit status {}]", 128 + number)), "{arguments:?}: {code}");
            assert!(!code.contains("signal"), "{arguments:?}: {code}");
            let signal = told(&format!("ulimit -c 0; kill -{number} $$"), arguments);
            assert!(signal.contains(&format!("killed by signal {number}")), "{arguments:?} {name}: {signal}");
        }
        let plain = told("exit 3", arguments);
        assert!(plain.contains("[exit status 3]"), "{plain}");
        // One that was killed within the command is the command's own affair, as in every shell.
        let within = told("sh -c 'kill -9 $$'; echo went on", arguments);
        assert!(within.contains("went on"), "{within}");
    }
}

#[test]
fn orphans_in_a_sandbox_do_not_end_the_command_and_are_ended_with_it() {
    let out = told("(sleep 0.2; echo late) & (exec sh -c 'sleep 0.05 & exit 7'); wait; echo end; exit 137", &[]);
    assert!(out.contains("late") && out.contains("end") && out.contains("[exit status 137]"), "{out}");
    let out = told("setsid sleep 8642 & disown; trap 'echo terminated; exit 5' TERM; kill -TERM $$", &[]);
    assert!(out.contains("terminated") && out.contains("[exit status 5]"), "{out}");
}
