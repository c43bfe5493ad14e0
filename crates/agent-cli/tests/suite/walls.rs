//! Ways out of the sandbox through what the agent runs and reads by itself. Each stands beside a control in which the same thing has its effect.

use crate::support::{Model, Scratch};
use agent_testkit::http::Step;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

fn bash(command: &str) -> Step {
    Step::call("bash", json!({ "command": command }))
}

/// A program that leaves a mark outside of the workspace, if it is not held back.
fn trap(canary: &Path) -> String {
    format!("#!/bin/sh\necho \"$0\" >> '{}'\nexit 1\n", canary.display())
}

fn put_programs(directory: &Path, names: &[&str], canary: &Path) {
    fs::create_dir_all(directory).unwrap();
    for name in names {
        let file = directory.join(name);
        fs::write(&file, trap(canary)).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// A search path that begins with this.
fn search_path(scratch: &Scratch, first: &str) -> String {
    let command = scratch.command("true");
    let path = command.get_envs().find_map(|(name, value)| (name == "PATH").then(|| value.unwrap().to_owned()));
    format!("{first}:{}", path.unwrap().display())
}

const PLANTED: [&str; 9] = ["git", "bash", "bwrap", "setsid", "true", "seq", "uname", "sh", "env"];

#[test]
fn a_program_that_a_command_plants_is_not_run_by_the_agent() {
    for (place, is_run) in [("work/.venv/bin", false), ("tools", true)] {
        let scratch = Scratch::repository_in("/var/tmp");
        let (canary, folder) = (scratch.path("canary"), scratch.path(place));
        fs::create_dir_all(&folder).unwrap();
        put_programs(&scratch.path("traps"), &PLANTED, &canary);
        let plant = format!("mkdir -p .venv/bin && cp {}/* .venv/bin/", scratch.path("traps").display());
        let steps = [
            bash(&plant),
            Step::call("write_file", json!({ "path": "a.txt", "content": "two\n" })),
            bash("seq 3"),
            Step::call("write_file", json!({ "path": "a.txt", "content": "three\n" })),
            Step::text("Done."),
        ];
        if is_run {
            put_programs(&folder, &["git"], &canary);
        }
        let model = Model::script(steps);
        let path = search_path(&scratch, &folder.display().to_string());
        let arguments = ["-p", "x", "--permission-mode", "bypass", "--auto-commit"];
        let mut command = scratch.run_command(&model, &arguments);
        crate::support::Running::start(command.env("PATH", &path)).end();
        assert!(is_run || scratch.work(".venv/bin/git").exists(), "it was planted");
        let ran = fs::read_to_string(&canary).unwrap_or_default();
        assert_eq!(ran.contains("/git"), is_run, "{place}: {ran}");
        assert!(is_run || ran.is_empty(), "{ran}");
        // What comes after the session is not caught either.
        let mut undo = scratch.agent(&["undo"]);
        crate::support::Running::start(undo.env("PATH", &path)).end();
        let ran = fs::read_to_string(&canary).unwrap_or_default();
        assert!(is_run || ran.is_empty(), "{ran}");
    }
}

/// A repository brings programs, and the user's search path leads there.
#[test]
fn a_repositorys_programs_are_not_run_at_the_start() {
    for entry in ["", ".", "./bin", "bin"] {
        let scratch = Scratch::repository();
        let canary = scratch.path("canary");
        put_programs(&scratch.work("bin"), &PLANTED, &canary);
        put_programs(&scratch.work("."), &PLANTED, &canary);
        let model = Model::script([Step::text("Done.")]);
        let path = search_path(&scratch, entry);
        for arguments in
            [&["run", "-p", "x", "--permission-mode", "plan"][..], &["doctor"], &["undo"], &["trust", "--show"]]
        {
            let mut command = scratch.agent(arguments);
            if arguments[0] == "run" {
                command.args(model.flags(crate::support::Wire::Anthropic));
            }
            crate::support::Running::start(command.env("PATH", &path)).end();
            assert!(!canary.exists(), "`{entry}` {arguments:?}: {}", fs::read_to_string(&canary).unwrap());
        }
        // The control: a shell would run it.
        let path: PathBuf = scratch.work("bin/git");
        assert!(!scratch.command(path).status().unwrap().success() && canary.exists());
    }
}

#[test]
fn what_runs_unasked_by_its_name_is_not_the_workspaces() {
    let scratch = Scratch::repository();
    let (canary, folder) = (scratch.path("canary"), scratch.work("bin"));
    put_programs(&folder, &["seq", "sleep", "uname"], &canary);
    let path = search_path(&scratch, &folder.display().to_string());
    let run = |command: &str, mode: &str| {
        let model = Model::script([bash(command), Step::text("Done.")]);
        let arguments = ["-p", "x", "--sandbox", "off", "--permission-mode", mode];
        let mut command = scratch.run_command(&model, &arguments);
        crate::support::Running::start(command.env("PATH", &path)).end();
        model.last_body().to_string()
    };
    let body = run("seq 41 42 | uname", "plan");
    assert!(!canary.exists() && body.contains("Linux"), "{body}");
    // The control: by a command that somebody allows, the user's search path counts.
    run("seq 3 > out.txt", "bypass");
    assert!(canary.exists());
}
