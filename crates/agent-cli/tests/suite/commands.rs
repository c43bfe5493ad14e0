//! The small commands.

use crate::support::{Running, Scratch};
use std::path::Path;

#[test]
fn diagrams_are_the_published_ones() {
    let published = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/machines");
    for (format, file) in [("dot", "session.dot"), ("json", "session.json")] {
        let ended = Scratch::new().ended(&["diagram", "session", "--format", format]);
        assert_eq!(ended.assert_code(0).out, std::fs::read_to_string(published.join(file)).unwrap(), "{format}");
        assert_eq!(ended.err, "");
    }
    let drawing = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agent-core/src/session/table.svg");
    let drawing = std::fs::read_to_string(drawing).unwrap();
    assert!(
        drawing.contains(Scratch::new().ended(&["diagram", "session", "--format", "svg"]).assert_code(0).out.trim())
    );
    let page = std::fs::read_to_string(published.join("session.md")).unwrap();
    for format in ["mermaid", "markdown", "grid"] {
        let ended = Scratch::new().ended(&["diagram", "session", "--format", format]);
        assert!(page.contains(ended.assert_code(0).out.trim()), "{format}");
    }
    let default = Scratch::new().ended(&["diagram", "session"]);
    assert!(default.out.starts_with("stateDiagram") || default.out.contains("stateDiagram-v2"));
}

#[test]
fn tools_with_their_parameters() {
    let ended = Scratch::new().ended(&["tools"]);
    for tool in ["read_file", "write_file", "edit_file", "list_files", "glob", "grep", "bash"] {
        assert!(ended.assert_code(0).out.contains(tool), "{tool}");
    }
    assert!(ended.out.contains("old_string"));
}

#[test]
fn version_and_help() {
    let ended = Scratch::new().ended(&["--version"]);
    assert_eq!(ended.assert_code(0).out, format!("agent {}\n", env!("CARGO_PKG_VERSION")));
    let help = Scratch::new().ended(&["run", "--help"]);
    for option in ["--max-turns", "--permission-mode", "--output-format", "--no-session"] {
        assert!(help.assert_code(0).out.contains(option), "{option}");
    }
}

#[test]
fn options_that_are_said_twice_or_elsewhere() {
    use crate::support::Model;
    use agent_testkit::http::Step;
    let scratch = Scratch::new();
    let model = Model::script([Step::text("Hi.")]);
    let twice = ["-p", "a", "-p", "b", "--output-format", "text", "--output-format", "json", "--max-turns", "0"];
    let ended = scratch.run(&model, &[&twice[..], &["--max-turns", "3", "-q", "-q"]].concat());
    assert_eq!(ended.assert_code(0).result()["result"], "Hi.", "the last one counts");
    assert!(model.last_body()["messages"].to_string().contains("\"b\""), "{}", model.last_body());
    for (arguments, words) in [
        (&["run", "-p", "x", "--auto-commit", "--no-auto-commit"][..], "cannot be used with"),
        (&["run", "-p", "x", "--max-budget-usd", "-1"], "`-1` is not an amount in dollars"),
        (&["run", "-p", "x", "--max-turns", "-1"], "invalid value '-1'"),
        (&["-p", "hi"], "agent run -p"),
        (&["resume", "one", "-p", "hi"], "agent run -p"),
        (&["job", "run", "-p", "hi", "fix it"], "agent job run DESC"),
        (&["job", "batch"], "does not exist yet"),
    ] {
        scratch.ended(arguments).assert_code(2).assert_says(words);
    }
}

#[test]
fn doctor_says_what_is_missing() {
    let scratch = Scratch::repository();
    let ended = scratch.ended(&["doctor"]);
    assert!(ended.assert_code(0).out.contains("no key is set"), "{ended:#?}");
    let ended = Running::start(scratch.agent(&["doctor"]).env("OPENAI_API_KEY", "sk-secret-secret")).end();
    assert!(ended.assert_code(0).out.contains("OPENAI_API_KEY is set"));
    assert!(!ended.out.contains("sk-secret"));

    let programs = crate::support::without_programs(&scratch, &["git"]);
    let ended = Running::start(scratch.agent(&["doctor"]).env("PATH", programs)).end();
    assert!(ended.assert_code(1).out.contains("NOT   git"), "{ended:#?}");
}

#[test]
fn doctor_looks_at_configuration_and_state() {
    let scratch = Scratch::new();
    scratch.configure("provider = 1");
    assert!(scratch.ended(&["doctor"]).assert_code(1).out.contains("config.toml"));

    let scratch = Scratch::new();
    std::fs::remove_dir(scratch.path("state")).unwrap();
    std::fs::write(scratch.path("state"), "").unwrap();
    assert!(scratch.ended(&["doctor"]).assert_code(1).out.contains("sessions cannot be kept"));
    assert!(scratch.ended(&["doctor", "-C", "no-such-folder"]).assert_code(1).out.contains("no-such-folder"));
}

#[test]
fn bash_completes_commands_and_options() {
    let scratch = Scratch::new();
    let script = scratch.ended(&["completions", "bash"]);
    std::fs::write(scratch.work("agent.bash"), &script.assert_code(0).out).unwrap();
    for (typed, expected) in [("ses", "sessions"), ("--sandb", "--sandbox")] {
        let ask = format!(
            "source agent.bash; COMP_WORDS=(agent {typed}); COMP_CWORD=1; _agent agent {typed} agent; echo \"${{COMPREPLY[@]}}\""
        );
        let output = scratch.command("bash").args(["-c", &ask]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), expected, "{output:?}");
    }
    for shell in ["zsh", "fish"] {
        assert!(scratch.ended(&["completions", shell]).assert_code(0).out.contains("sessions"), "{shell}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let scratch = Scratch::new();
    for (command, title) in
        [(&[][..], "agent"), (&["run"], "agent-run"), (&["sessions", "show"], "agent-sessions-show")]
    {
        let page = scratch.ended(&[&["man"], command].concat());
        assert!(page.assert_code(0).out.contains(&format!(".TH {title} 1")), "{}", page.out);
    }
    scratch.ended(&["man", "nope"]).assert_code(2).assert_says("no command `nope`");
}
