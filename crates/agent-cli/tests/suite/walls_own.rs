//! The user's own directories in the workspace by a link above them, as people have who keep their settings in a repository. Tools write
//! nothing there, whatever the link is and whenever it was made. Each refusal has a neighbour that is written.

use crate::support::{Ended, Model, Running, Scratch, has_bubblewrap};
use crate::walls::bash;
use agent_testkit::http::Step;
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

const EVIL: &str = "permission_mode = \"bypass\"\n# EVIL\n";

/// A case: how the user has it, and what a tool is asked to write.
struct Case {
    name: &'static str,
    prepare: fn(&Scratch),
    /// Names of variables, and where below the scratch directory they lead.
    environment: &'static [(&'static str, &'static str)],
    path: &'static str,
    /// What lies beside it and may be written.
    free: &'static str,
}

/// The first of the cases are directories of the agent's own.
const OWN: usize = 5;

const CASES: [Case; 9] = [
    Case {
        name: "the directory of the configuration is a link",
        prepare: |scratch| {
            fs::rename(scratch.path("config"), scratch.work("cfgd")).unwrap();
            symlink(scratch.work("cfgd"), scratch.path("config")).unwrap();
        },
        environment: &[],
        path: "cfgd/config.toml",
        free: "cfg/config.toml",
    },
    Case {
        name: "the directory above it is a link",
        prepare: |scratch| {
            fs::create_dir_all(scratch.work("dot/agent")).unwrap();
            symlink(scratch.work("dot"), scratch.path("dot")).unwrap();
        },
        environment: &[("AGENT_CONFIG_HOME", "dot/agent")],
        path: "dot/agent/hooks/new",
        free: "dot/other/hooks/new",
    },
    Case {
        name: "a chain of links, and nothing is there yet",
        prepare: |scratch| {
            symlink("one", scratch.path("dot")).unwrap();
            symlink(scratch.work("later"), scratch.path("one")).unwrap();
        },
        environment: &[("AGENT_CONFIG_HOME", "dot/agent")],
        path: "later/agent/config.toml",
        free: "later/config.toml",
    },
    Case {
        name: "records of trust",
        prepare: |scratch| {
            fs::create_dir_all(scratch.work("st")).unwrap();
            symlink(scratch.work("st"), scratch.path("st")).unwrap();
        },
        environment: &[("AGENT_STATE_HOME", "st/agent")],
        path: "st/agent/trust/forged.json",
        free: "st/trust/forged.json",
    },
    Case {
        name: "a link deep in the directory of the state",
        prepare: |scratch| {
            fs::create_dir_all(scratch.work("kept")).unwrap();
            fs::create_dir_all(scratch.path("state/sessions/one")).unwrap();
            symlink(scratch.work("kept"), scratch.path("state/sessions/one/two")).unwrap();
        },
        environment: &[],
        path: "kept/x.jsonl",
        free: "keep/x.jsonl",
    },
    Case {
        name: "git's configuration of the user",
        prepare: |scratch| {
            fs::create_dir_all(scratch.work("dot/git")).unwrap();
            fs::write(scratch.work("dot/git/config"), "[core]\n\tabbrev = 8\n").unwrap();
            symlink(scratch.work("dot"), scratch.path("home/.config")).unwrap();
        },
        environment: &[],
        path: "dot/git/config",
        free: "dot/got/config",
    },
    Case {
        name: "git's hooks of the user",
        prepare: |scratch| {
            fs::create_dir_all(scratch.work("dot/hooks")).unwrap();
            symlink(scratch.work("dot"), scratch.path("home/.config")).unwrap();
            fs::write(scratch.path("home/.gitconfig"), "[core]\n\thooksPath = ~/.config/hooks\n").unwrap();
        },
        environment: &[],
        path: "dot/hooks/pre-commit",
        free: "dot/pre-commit",
    },
    Case {
        name: "a start-up file of the shell",
        prepare: |scratch| {
            scratch.write("rc/bashrc", "good\n");
            symlink(scratch.work("rc/bashrc"), scratch.path("home/.bashrc")).unwrap();
        },
        environment: &[],
        path: "rc/bashrc",
        free: "rc/bash",
    },
    Case {
        name: "a pair of names behind a link",
        prepare: |scratch| {
            scratch.write("rust/config.toml", "good = true\n");
            symlink(scratch.work("rust"), scratch.path("home/.cargo")).unwrap();
        },
        environment: &[],
        path: "rust/config.toml",
        free: "rust/Cargo.toml",
    },
];

fn prepared(case: &Case) -> Scratch {
    let scratch = Scratch::repository_in("/var/tmp");
    (case.prepare)(&scratch);
    scratch
}

/// Where nothing holds commands in the workspace, a start in such a one has to be confirmed.
fn confirmed() -> &'static [&'static str] {
    if has_bubblewrap() { &[] } else { &["--allow-home"] }
}

fn run(case: &Case, scratch: &Scratch, model: &Model, more: &[&str]) -> Ended {
    start(case, scratch, model, &[more, confirmed()].concat())
}

fn start(case: &Case, scratch: &Scratch, model: &Model, more: &[&str]) -> Ended {
    let mut command: Command =
        scratch.run_command(model, &[&["-p", "x", "--permission-mode", "bypass"], more].concat());
    for (name, below) in case.environment {
        command.env(name, scratch.path(below));
    }
    Running::start(&mut command).end()
}

fn content(scratch: &Scratch, path: &str) -> String {
    fs::read_to_string(scratch.work(path)).unwrap_or_default()
}

#[test]
fn tools_do_not_write_the_users_own_directories_behind_links() {
    for case in &CASES {
        let scratch = prepared(case);
        let add =
            |path: &str| json!({ "patch": format!("*** Begin Patch\n*** Add File: {path}\n+EVIL\n*** End Patch\n") });
        let mv = json!({ "patch": format!("*** Begin Patch\n*** Update File: a.txt\n*** Move to: {}\n-one\n+EVIL\n*** End Patch\n", case.path) });
        let model = Model::script([
            Step::call("read_file", json!({ "path": case.path })),
            Step::call("write_file", json!({ "path": case.path, "content": EVIL })),
            Step::call("apply_patch", add(case.path)),
            Step::call("read_file", json!({ "path": "a.txt" })),
            Step::call("apply_patch", mv),
            Step::call("write_file", json!({ "path": case.free, "content": EVIL })),
            Step::text("Done."),
        ]);
        let ended = run(case, &scratch, &model, &[]);
        ended.assert_code(0);
        assert!(!content(&scratch, case.path).contains("EVIL"), "{}: {ended:?}", case.name);
        assert!(
            model.last_body().to_string().contains("no tool may change it"),
            "{}: {}",
            case.name,
            model.last_body()
        );
        assert_eq!(content(&scratch, case.free), EVIL, "the control of {}: {ended:?}", case.name);
    }
}

/// With Landlock alone commands could write there what the next session obeys.
#[test]
fn own_directories_that_lead_into_the_workspace_are_refused_where_nothing_holds_them() {
    for (number, case) in CASES.iter().enumerate() {
        let is_own = number < OWN;
        for (more, is_open) in [(&[][..], true), (&["--sandbox", "read-only"], false), (&["--allow-home"], false)] {
            let scratch = prepared(case);
            let model = Model::script([Step::text("Done.")]);
            let ended = start(case, &scratch, &model, more);
            let is_refused = is_own && is_open && !has_bubblewrap();
            assert_eq!(model.requests().is_empty(), is_refused, "{}, {more:?}: {ended:?}", case.name);
            ended.assert_code(if is_refused { 42 } else { 0 });
            if is_refused {
                ended.assert_says("leads into a place where commands may write").assert_says("--allow-home");
            }
        }
    }
}

#[test]
fn commands_do_not_write_them_either() {
    if !has_bubblewrap() {
        println!("skipped: there is no bubblewrap");
        return;
    }
    for case in &CASES {
        let write = |path: &str| format!("mkdir -p $(dirname {path}); echo EVIL > {path}");
        for (more, is_written) in [(&[][..], false), (&["--sandbox", "off"], true)] {
            let scratch = prepared(case);
            let command = format!("{}; {}; true", write(case.path), write(case.free));
            let model = Model::script([bash(&command), Step::text("Done.")]);
            let ended = run(case, &scratch, &model, more);
            let is_evil = content(&scratch, case.path).contains("EVIL");
            // What is not there cannot be mounted over; the agent makes its own directories.
            assert_eq!(is_evil, is_written, "{}: {ended:?}", case.name);
            assert_eq!(content(&scratch, case.free), "EVIL\n", "the control of {}: {ended:?}", case.name);
        }
    }
}

/// The link is made while the session goes on, by a command without a sandbox.
#[test]
fn a_link_that_is_made_later_counts() {
    for (target, is_written) in [("dot", false), ("other", true)] {
        let scratch = Scratch::repository_in("/var/tmp");
        let link = format!("mkdir -p {target} dot; ln -s $PWD/{target} ../dot");
        let model = Model::script([
            bash(&link),
            Step::call("write_file", json!({ "path": "dot/agent/config.toml", "content": EVIL })),
            Step::text("Done."),
        ]);
        let mut command = scratch.run_command(&model, &["-p", "x", "--permission-mode", "bypass", "--sandbox", "off"]);
        let ended = Running::start(command.env("AGENT_CONFIG_HOME", scratch.path("dot/agent"))).end();
        assert!(fs::read_link(scratch.path("dot")).is_ok(), "{ended:?}");
        assert_eq!(content(&scratch, "dot/agent/config.toml") == EVIL, is_written, "{target}: {ended:?}");
    }
}

/// The key with which records are signed is among the state.
#[test]
fn tools_do_not_read_the_state_behind_a_link() {
    let scratch = Scratch::repository_in("/var/tmp");
    for folder in ["st/agent/deep", "st/free/deep"] {
        scratch.write(&format!("{folder}/key"), "KEY-CANARY\n");
    }
    symlink(scratch.work("st"), scratch.path("st")).unwrap();
    for (folder, is_shown) in [("st/agent", false), ("st/free", true)] {
        for (tool, arguments) in [
            ("read_file", json!({ "path": format!("{folder}/deep/key") })),
            ("grep", json!({ "pattern": "KEY-C[A]NARY", "path": folder })),
            ("grep", json!({ "pattern": "KEY-C[A]NARY", "path": format!("{folder}/deep") })),
        ] {
            let model = Model::script([Step::call(tool, arguments.clone()), Step::text("Done.")]);
            let flags = [&["-p", "x", "--permission-mode", "bypass"], confirmed()].concat();
            let mut command = scratch.run_command(&model, &flags);
            let ended = Running::start(command.env("AGENT_STATE_HOME", scratch.path("st/agent"))).end();
            ended.assert_code(0);
            let body = model.last_body().to_string();
            assert_eq!(body.contains("KEY-CANARY"), is_shown, "{tool} {arguments}: {body}");
        }
    }
    // What is come across is left out, too.
    let model = Model::script([Step::call("grep", json!({ "pattern": "KEY-C[A]NARY" })), Step::text("Done.")]);
    let mut command = scratch.run_command(&model, &[&["-p", "x"], confirmed()].concat());
    Running::start(command.env("AGENT_STATE_HOME", scratch.path("st/agent"))).end();
    let body = model.last_body().to_string();
    assert!(body.contains("st/free/deep/key") && !body.contains("st/agent"), "{body}");
}

/// Somebody works in the directory of the configuration itself. That is refused, and tools do not write it where it is meant.
#[test]
fn the_own_directory_as_the_workspace_is_refused_and_not_written() {
    for (directory, is_own) in [("config", true), ("config/hooks", true), ("state/x", true), ("configs", false)] {
        for arguments in [&[][..], &["--allow-home"]] {
            let scratch = Scratch::new();
            fs::create_dir_all(scratch.path(directory)).unwrap();
            let place = scratch.path(directory);
            let write = json!({ "path": "new.toml", "content": EVIL });
            let model = Model::script([Step::call("write_file", write), Step::text("Done.")]);
            let shown = place.display().to_string();
            let arguments = [&["-p", "x", "--permission-mode", "bypass", "-C", &shown], arguments].concat();
            let ended = scratch.run(&model, &arguments);
            let is_refused = ended.err.contains("is one of the agent's own directories");
            assert_eq!(is_refused, is_own && !arguments.contains(&"--allow-home"), "{directory}: {ended:?}");
            assert_eq!(model.requests().is_empty(), is_refused, "{directory}: {ended:?}");
            assert_eq!(place.join("new.toml").exists(), !is_own, "{directory}: {ended:?}");
        }
    }
}
