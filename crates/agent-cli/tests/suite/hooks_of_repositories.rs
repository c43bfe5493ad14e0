//! Hooks of a repository, and which hooks run outside of the sandbox.

use crate::hooks::{EDITS, EVENTS, toml, writes};
use crate::support::{Ended, Model, Scratch, has_bubblewrap};
use agent_testkit::http::Step;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn a_hook_of_a_repository_runs_only_where_it_is_trusted() {
    let scratch = Scratch::repository();
    // In the workspace: its hooks run in the sandbox.
    let marker = scratch.work("marker");
    scratch.write(".agent/config.toml", &toml(&EVENTS.map(|event| (event, "echo ran >> marker"))));
    let runs = |expected: usize, what: &str| {
        drop(fs::remove_file(&marker));
        drop(fs::remove_file(scratch.work("new.txt")));
        let ended = scratch.run(&writes(), EDITS);
        ended.assert_code(0);
        assert_eq!(ended.err.contains("`hooks` of the repository: it is not trusted"), expected == 0, "{ended:#?}");
        let ran = fs::read_to_string(&marker).unwrap_or_default();
        assert_eq!(ran.lines().count(), expected, "{what}: {ended:#?}");
    };
    runs(0, "before");
    let shown = scratch.ended(&["trust", "--show"]);
    assert!(shown.assert_code(1).out.contains("at PreToolUse, of"), "{shown:#?}");
    runs(0, "showing is not trusting");
    scratch.ended(&["trust", "--yes"]).assert_code(0);
    runs(EVENTS.len(), "trusted");
    scratch.ended(&["trust", "--revoke"]).assert_code(0);
    runs(0, "revoked");
}

/// A repository with a hook that is this command, and scripts that leave marks inside and outside of the workspace.
fn marking(command: &str) -> Scratch {
    let scratch = Scratch::repository_in("/var/tmp");
    for name in ["tools/mark", "tools/y"] {
        let text = format!("#!/bin/sh\ntouch in\ntouch '{}'\nexit 0\n", scratch.path("out").display());
        scratch.write(name, &text);
        fs::set_permissions(scratch.work(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    scratch.write(".agent/config.toml", &toml(&[("Stop", command)]));
    scratch
}

/// Whether the hook ran, and whether it reached what lies outside of the workspace.
fn marks(scratch: &Scratch, arguments: &[&str]) -> (bool, bool, Ended) {
    let marks = [scratch.work("in"), scratch.path("out")];
    marks.iter().for_each(|mark| drop(fs::remove_file(mark)));
    let ended = scratch.run(&Model::script([Step::text("Done.")]), &[&["-p", "x"], arguments].concat());
    ended.assert_code(0);
    (marks[0].exists(), marks[1].exists(), ended)
}

#[test]
fn hooks_of_a_repository_stay_in_the_sandbox_until_the_user_says_otherwise() {
    let scratch = marking("./tools/mark");
    if !has_bubblewrap() {
        return;
    }
    let trusted = scratch.ended(&["trust", "--yes"]);
    assert!(trusted.assert_code(0).out.contains("it runs in the sandbox"), "{trusted:#?}");
    let (inside, outside, ended) = marks(&scratch, &[]);
    assert_eq!((inside, outside), (true, false), "{ended:#?}");
    let (inside, outside, ended) = marks(&scratch, &["--sandbox", "off"]);
    assert_eq!((inside, outside), (false, false), "{ended:#?}");
    ended.assert_says("not run: the hook `./tools/mark`").assert_says("there is no sandbox");

    let trusted = scratch.ended(&["trust", "--yes", "--outside-sandbox"]);
    assert!(trusted.assert_code(0).out.contains("it runs as you, outside the sandbox, from a copy"), "{trusted:#?}");
    for sandbox in [&[][..], &["--sandbox", "off"]] {
        let (inside, outside, ended) = marks(&scratch, sandbox);
        assert_eq!((inside, outside), (true, true), "{sandbox:?}: {ended:#?}");
    }
    // It holds for what was shown, and goes with it.
    let shown = scratch.ended(&["trust", "--show"]);
    assert!(shown.assert_code(0).out.contains("it runs as you"), "{shown:#?}");
    scratch.ended(&["trust", "--revoke"]).assert_code(0);
    scratch.ended(&["trust", "--yes"]).assert_code(0);
    let (inside, outside, ended) = marks(&scratch, &[]);
    assert_eq!((inside, outside), (true, false), "{ended:#?}");
}

/// What is not one script, wholly understood, does not leave the sandbox by the user's word.
#[test]
fn what_cannot_be_pinned_does_not_run_outside() {
    let commands = [
        "bash -o pipefail ./tools/mark",
        "timeout 5 ./tools/mark",
        "cd tools && sh ./mark; touch ../in",
        "./tools/mark>/dev/null",
        "./tools/mark|cat",
        "(./tools/mark)",
        "test -x tools/mark && tools/mark",
        "\"$(pwd)/tools/mark\"",
        "env -u A ./tools/mark",
        "./tools/mark; ./tools/y",
        "sh ./tools/mark ./tools/y",
        "A=1 ./tools/mark",
    ];
    for command in commands {
        let scratch = marking(command);
        if !has_bubblewrap() {
            return;
        }
        let trusted = scratch.ended(&["trust", "--yes", "--outside-sandbox"]);
        assert!(trusted.assert_code(0).out.contains("it cannot be pinned"), "{command}: {trusted:#?}");
        let (inside, outside, ended) = marks(&scratch, &[]);
        assert_eq!((inside, outside), (true, false), "{command}: {ended:#?}");
        ended.assert_says("runs in the sandbox: it cannot be pinned");
        let (inside, outside, ended) = marks(&scratch, &["--sandbox", "off"]);
        assert_eq!((inside, outside), (false, false), "{command}: {ended:#?}");
    }
}

/// What a guard was to look at does not go on without it because it cannot run.
#[test]
fn a_guard_that_has_no_sandbox_objects() {
    let scratch = Scratch::repository();
    let guard = "[[hooks]]\nevent = \"PreToolUse\"\ncommand = \"true\"\n";
    for (rest, is_written) in [("on_failure = \"block\"\n", false), ("", true)] {
        scratch.write(".agent/config.toml", &format!("{guard}{rest}"));
        scratch.ended(&["trust", "--yes"]).assert_code(0);
        let ended = scratch.run(&writes(), &[EDITS, &["--sandbox", "off", "-q"]].concat());
        ended.assert_code(0).assert_says("not run: the hook `true`");
        assert_eq!(scratch.work("new.txt").exists(), is_written, "{ended:#?}");
    }
}

/// A command of the model could change a script, and with it what is allowed.
#[test]
fn a_hook_of_a_repository_allows_nothing_unless_it_is_pinned() {
    let scratch = Scratch::repository_in("/var/tmp");
    if !has_bubblewrap() {
        return;
    }
    scratch.write("tools/yes", "#!/bin/sh\necho '{\"decision\":\"approve\",\"reason\":\"fine\"}'\n");
    let hook = "[[hooks]]\nevent = \"PreToolUse\"\ncommand = \"sh tools/yes\"\n";
    let model = || Model::script([Step::call("bash", json!({"command": "touch ran"})), Step::text("Done.")]);
    scratch.write(".agent/config.toml", hook);
    scratch.ended(&["trust", "--yes"]).assert_code(0);
    let ended = scratch.run(&model(), &["-p", "x"]);
    assert!(!scratch.work("ran").exists(), "{ended:#?}");
    ended.assert_says("its `allow` is ignored");
    scratch.ended(&["trust", "--yes", "--outside-sandbox"]).assert_code(0);
    let ended = scratch.run(&model(), &["-p", "x"]);
    ended.assert_code(0);
    assert!(scratch.work("ran").exists(), "the control: {ended:#?}");
    fs::remove_file(scratch.work("ran")).unwrap();
    // The user's own hook that names the workspace is no better.
    scratch.ended(&["trust", "--revoke"]).assert_code(0);
    for (rest, runs) in [("", false), ("sandbox = false\n", true)] {
        scratch.configure(&format!("{hook}{rest}"));
        scratch.run(&model(), &["-p", "x"]);
        assert_eq!(scratch.work("ran").exists(), runs);
    }
}

/// Each way by which a hook of the user's comes to be a script that commands can change, and beside it what is understood.
#[test]
fn a_hook_of_the_user_runs_outside_only_where_its_command_is_understood() {
    let scratch = marking("true");
    if !has_bubblewrap() {
        return;
    }
    let (ws, bin, cache) = (scratch.work(""), scratch.path("bin"), scratch.path("cache"));
    for place in [&bin, &cache] {
        fs::create_dir_all(place).unwrap();
        fs::copy(scratch.work("tools/mark"), place.join("guard")).unwrap();
    }
    std::os::unix::fs::symlink(scratch.work("tools/mark"), bin.join("linked")).unwrap();
    std::os::unix::fs::symlink(scratch.work("tools"), bin.join("folder")).unwrap();
    let (ws, bin, cache) = (ws.display(), bin.display(), cache.display());
    let entry = |command: &str, rest: &str| {
        let writable = format!("sandbox_writable = [\"{cache}\"]\n");
        scratch.configure(&format!("{writable}[[hooks]]\nevent = \"Stop\"\ncommand = '''{command}'''\n{rest}"));
    };
    let name = scratch.work("").file_name().unwrap().to_string_lossy().into_owned();
    for command in [
        "cd . && ./tools/mark".to_owned(),
        "./tools/mark".to_owned(),
        format!("{bin}/linked"),
        format!("sh {bin}/linked"),
        format!("{bin}/folder/mark"),
        format!("{bin}/../{name}/tools/mark"),
        format!("{cache}/guard"),
        format!("sh '{cache}/guard'"),
        format!("cd ..; {name}/tools/mark; touch {ws}/in"),
        "\"$(git rev-parse --show-toplevel)/tools/mark\"".to_owned(),
        "sh tools/m*".to_owned(),
        "sh \"tools/ma\"rk".to_owned(),
        "sh tools/ma\\rk".to_owned(),
        "echo tools/mark | xargs sh".to_owned(),
    ] {
        entry(&command, "");
        let (inside, outside, ended) = marks(&scratch, &[]);
        assert_eq!((inside, outside), (true, false), "{command}: {ended:#?}");
        ended.assert_says(&format!("the hook `{command}` at Stop runs in the sandbox: ").replace('\\', "\\"));
        let (inside, outside, ended) = marks(&scratch, &["--sandbox", "off"]);
        assert_eq!((inside, outside), (false, false), "{command}: {ended:#?}");
        ended.assert_says("not run: the hook `");
    }
    for command in
        [format!("{bin}/guard"), format!("sh '{bin}/guard' --strict; true"), format!("true && {bin}/../bin/guard")]
    {
        entry(&command, "");
        for sandbox in [&[][..], &["--sandbox", "off"]] {
            let (inside, outside, ended) = marks(&scratch, sandbox);
            assert_eq!((inside, outside), (true, true), "the control {command}: {ended:#?}");
        }
    }
    entry("cd . && ./tools/mark", "sandbox = false\n");
    let (inside, outside, ended) = marks(&scratch, &[]);
    assert_eq!((inside, outside), (true, true), "the user's word: {ended:#?}");
}

/// The script is the user's and lies outside; what its first line has read it is a file of the workspace.
#[test]
fn a_hook_whose_first_line_leads_into_the_workspace_stays_in_the_sandbox() {
    let scratch = marking("true");
    if !has_bubblewrap() {
        return;
    }
    let bin = scratch.path("bin");
    fs::create_dir_all(&bin).unwrap();
    for name in ["rules", "interp"] {
        fs::copy(scratch.work("tools/mark"), scratch.work(name)).unwrap();
    }
    let script = |name: &str, line: &str| {
        fs::write(bin.join(name), format!("{line}\ntouch in '{}'\n", scratch.path("out").display())).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    };
    script("inner", "#!/bin/sh rules");
    let guard = bin.join("guard");
    scratch.configure(&toml(&[("Stop", &guard.display().to_string())]));
    let inner = format!("#!{}/inner", bin.display());
    for line in ["#!/bin/sh rules", "#!interp", "#!/usr/bin/env -S sh rules", "#!/usr/bin/env ./interp", &inner] {
        script("guard", line);
        let (inside, outside, ended) = marks(&scratch, &[]);
        assert_eq!((inside, outside), (true, false), "{line}: {ended:#?}");
        ended.assert_says("runs in the sandbox: ");
        let (inside, outside, ended) = marks(&scratch, &["--sandbox", "off"]);
        assert_eq!((inside, outside), (false, false), "{line}: {ended:#?}");
    }
    for line in ["#!/bin/sh -e", "#!/usr/bin/env sh"] {
        script("guard", line);
        let (inside, outside, ended) = marks(&scratch, &[]);
        assert_eq!((inside, outside), (true, true), "the control {line}: {ended:#?}");
    }
}

/// Two names are swapped as fast as can be while the hook runs again and again.
#[test]
fn a_script_that_is_swapped_while_it_is_looked_at_does_not_run() {
    let scratch = marking("true");
    let evil = scratch.path("evil");
    scratch.write("tools/mark", "#!/bin/sh\nexit 0\n");
    scratch.write("tools/evil", &format!("#!/bin/sh\ntouch '{}'\n", evil.display()));
    scratch.write(".agent/config.toml", &toml(&[("PreToolUse", "sh ./tools/mark")]));
    scratch.ended(&["trust", "--yes", "--outside-sandbox"]).assert_code(0);
    let calls = (0..20).map(|_| Step::call("list_files", json!({"path": "."})));
    let model = Model::script(calls.chain([Step::text("Done.")]));
    let running = crate::support::Running::start(&mut scratch.run_command(&model, &["-p", "x"]));
    model.wait_for_requests(1);
    let tools = scratch.work("tools");
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let swapping = std::thread::spawn(move || {
        let at = |name: &str| tools.join(name);
        while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
            for (from, to) in [("mark", "old"), ("evil", "mark"), ("mark", "evil"), ("old", "mark")] {
                fs::rename(at(from), at(to)).unwrap();
            }
        }
    });
    let ended = running.end();
    drop(stop);
    swapping.join().unwrap();
    ended.assert_code(0);
    assert!(!evil.exists(), "{ended:#?}");
}
