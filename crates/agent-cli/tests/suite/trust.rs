//! `agent trust`, through the program: what a repository names runs where the user said so, and nowhere else.

use crate::support::{Ended, Model, Running, Scratch, has_bubblewrap};
use agent_testkit::http::Step;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

/// A repository outside of `/tmp`, which programs in a sandbox do not share, with a formatter of its own, which nobody else can be.
fn repository() -> Scratch {
    let scratch = Scratch::repository_in("/var/tmp");
    scratch.write("tools/shout", "#!/bin/sh\ntr a-z A-Z\n");
    fs::set_permissions(scratch.work("tools/shout"), fs::Permissions::from_mode(0o755)).unwrap();
    scratch.write(
        ".agent/config.toml",
        "[[formatters]]\nextensions = [\"txt\"]\nprogram = \"tools/shout\"\nstdin = true\n",
    );
    scratch
}

/// Lets the model write a new file, and says whether the repository's formatter ran.
fn runs_the_formatter(scratch: &Scratch, arguments: &[&str]) -> (bool, Ended) {
    drop(fs::remove_file(scratch.work("new.txt")));
    let model =
        Model::script([Step::call("write_file", json!({"path": "new.txt", "content": "new\n"})), Step::text("Done.")]);
    let ended = scratch.run(&model, &[&["-p", "x", "--permission-mode", "accept-edits"], arguments].concat());
    ended.assert_code(0);
    let text = scratch.read("new.txt");
    assert!(["new\n", "NEW\n"].contains(&&*text), "{text}");
    (text == "NEW\n", ended)
}

#[test]
fn what_a_repository_names_runs_only_when_it_is_trusted() {
    let scratch = repository();
    let runs = |expected: bool, what: &str| {
        let (ran, ended) = runs_the_formatter(&scratch, &["--format-on-edit"]);
        assert_eq!(ran, expected, "{what}: {ended:#?}");
        assert_eq!(ended.err.contains("`formatters` of the repository: it is not trusted"), !expected, "{ended:#?}");
    };
    runs(false, "before");
    let shown = scratch.ended(&["trust", "--show"]);
    assert!(shown.assert_code(1).out.contains("tools/shout` for txt"), "{shown:#?}");
    runs(false, "showing is not trusting");
    let trusted = scratch.ended(&["trust", "--yes"]);
    assert!(trusted.assert_code(0).out.contains("tools/shout` for txt"), "{trusted:#?}");
    scratch.ended(&["trust", "--show"]).assert_code(0);
    runs(true, "trusted");
    let (ran, _) = runs_the_formatter(&scratch, &[]);
    assert!(!ran, "formatting is still to be asked for by the user");
    scratch.ended(&["trust", "--revoke"]).assert_code(0).assert_says("no longer trusted");
    runs(false, "revoked");
    scratch.ended(&["trust", "--revoke"]).assert_code(0).assert_says("was not trusted");
}

/// Links with these names are made beside copies, outside of the sandbox.
#[test]
fn settings_of_a_formatter_are_shown_and_are_names() {
    let scratch = repository();
    let config = scratch.read(".agent/config.toml");
    for (names, is_taken) in [("\".style\"", true), ("\".style\", \"../../../x\"", false), ("\"a/b\"", false)] {
        scratch.write(".agent/config.toml", &format!("{config}settings = [{names}]\n"));
        let shown = scratch.ended(&["trust", "--show"]);
        shown.assert_code(if is_taken { 1 } else { 52 });
        match is_taken {
            true => assert!(shown.out.contains("for txt, with the settings .style, of "), "{shown:#?}"),
            false => drop(shown.assert_says("not the name of a file").assert_says("line 5")),
        }
    }
}

#[test]
fn nobody_is_trusted_without_being_asked() {
    let scratch = repository();
    scratch.ended(&["trust"]).assert_code(2).assert_says("--yes");
    for answer in ["y\n", "yes\n"] {
        let mut running = Running::start(&mut scratch.agent(&["trust"]));
        running.write(answer);
        running.end().assert_code(2);
    }
    scratch.ended(&["trust", "--show"]).assert_code(1);
    for wrong in [&["trust", "--show", "--yes"][..], &["trust", "--revoke", "--yes"], &["trust", "--show", "--revoke"]]
    {
        scratch.ended(wrong).assert_code(2);
    }
    scratch.ended(&["trust", "--yes", "-C", "/nowhere"]).assert_code(42);
}

#[test]
fn a_person_at_the_terminal_is_asked() {
    if !Command::new("script").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("SKIPPED: `script` of util-linux is not there, so there is no terminal to test on");
        return;
    }
    for (answer, code) in [("n\n", 1), ("\n", 1), ("y\n", 0)] {
        let scratch = repository();
        let mut command = scratch.command("script");
        let line = format!("{} trust", env!("CARGO_BIN_EXE_agent"));
        command.args(["-q", "-e", "-c", &line, "/dev/null"]).env("SHELL", "/bin/sh").env("TERM", "xterm");
        let mut running = Running::start(&mut command);
        running.wait_for("[y/N]");
        running.write(answer);
        running.end().assert_code(code);
        scratch.ended(&["trust", "--show"]).assert_code(code);
    }
}

/// A directory, a subdirectory, a repository inside of it, one that was put in its place, and a planted record.
#[test]
fn trust_is_for_one_project() {
    let scratch = repository();
    scratch.ended(&["trust", "--yes"]).assert_code(0);
    scratch.write("deep/er/x.txt", "");
    scratch.ended(&["trust", "--show", "-C", "deep/er"]).assert_code(0);
    scratch.write("inner/x.txt", "");
    scratch.git(&["init", "--quiet", "inner"]);
    scratch.ended(&["trust", "--show", "-C", "inner"]).assert_code(1);
    let (ran, _) = runs_the_formatter(&scratch, &["--format-on-edit"]);
    assert!(ran, "the control");

    fs::rename(scratch.work(""), scratch.path("moved")).unwrap();
    assert!(
        Command::new("cp").arg("-a").args([scratch.path("moved"), scratch.path("work")]).status().unwrap().success()
    );
    let shown = scratch.ended(&["trust", "--show"]);
    assert!(shown.assert_code(1).out.contains("the trusted directory at this path has been replaced"), "{shown:#?}");
    let (ran, _) = runs_the_formatter(&scratch, &["--format-on-edit"]);
    assert!(!ran, "another directory with the same path and content");
}

#[test]
fn trust_enables_no_more_than_it_shows() {
    let scratch = repository();
    scratch.ended(&["trust", "--yes"]).assert_code(0);
    for attempt in ["allow = [\"bash\"]", "permission_mode = \"bypass\"", "format_on_edit = true", "model = \"dear\""] {
        scratch.write(".agent/config.toml", &format!("{attempt}\n"));
        let model = Model::script([Step::call("bash", json!({"command": "touch ran"})), Step::text("Done.")]);
        scratch.run(&model, &["-p", "x"]).assert_code(61);
        assert!(!scratch.work("ran").exists(), "{attempt}");
    }
    scratch.write(".agent/config.toml", "deny = [\"write_file\"]\n");
    let model =
        Model::script([Step::call("write_file", json!({"path": "b.txt", "content": "x"})), Step::text("Done.")]);
    scratch.run(&model, &["-p", "x", "--permission-mode", "bypass"]).assert_says("denied: write_file");
}

/// The customary formatters read what the repository says, so they need trust too; and what they made is what the model edits next.
#[test]
fn the_customary_formatter_is_used_in_a_trusted_workspace_and_the_next_edit_matches() {
    let scratch = Scratch::repository_in("/var/tmp");
    scratch.write("Cargo.toml", "[package]\nname = \"a\"\nedition = \"2021\"\n");
    scratch.write("src/lib.rs", "pub async fn one() {\n    two();\n}\n");
    let edit = |old: &str, new: &str| {
        Step::call("edit_file", json!({"path": "src/lib.rs", "old_string": old, "new_string": new}))
    };
    let read = || Step::call("read_file", json!({"path": "src/lib.rs"}));
    let run = |steps: Vec<Step>| {
        let model = Model::script(steps.into_iter().chain([Step::text("Done.")]));
        let arguments = ["-p", "x", "--permission-mode", "accept-edits", "--format-on-edit"];
        scratch.run(&model, &arguments).assert_code(0);
        model.last_body()["messages"].to_string()
    };
    run(vec![read(), edit("two();", "two( );")]);
    assert!(scratch.read("src/lib.rs").contains("two( );"), "not before it is trusted");
    run(vec![read(), edit("two( );", "two();")]);

    let shown = scratch.ended(&["trust", "--yes"]);
    assert!(shown.assert_code(0).out.contains("rustfmt --edition={edition}` for rs, as the repository"), "{shown:#?}");
    // The second edit is of what the formatter made, without reading the file again.
    let said = run(vec![read(), edit("two();", "two( );three( );"), edit("    three();\n", "    four( );\n")]);
    assert_eq!(scratch.read("src/lib.rs"), "pub async fn one() {\n    two();\n    four();\n}\n", "{said}");
    assert!(said.contains("A formatter changed src/lib.rs"), "{said}");
}

/// A formatter has the workspace before its eyes, and its copies to write.
#[test]
fn a_formatter_in_the_sandbox_writes_nothing_of_the_workspace() {
    let scratch = repository();
    scratch.write("tools/shout", "#!/bin/sh\n{ echo x > mark; echo x > \"$HOME/mark\"; } 2>/dev/null\ntr a-z A-Z\n");
    scratch.ended(&["trust", "--yes"]).assert_code(0);
    let run = |sandbox: &[&str]| runs_the_formatter(&scratch, &[&["--format-on-edit"], sandbox].concat());
    if !has_bubblewrap() {
        return;
    }
    let (ran, _) = run(&[]);
    assert!(ran && !scratch.work("mark").exists() && !scratch.path("home").join("mark").exists());
    // Without a sandbox what the repository names is not run; what the user names is.
    for trust in [&["trust", "--yes"][..], &["trust", "--yes", "--outside-sandbox"]] {
        scratch.ended(trust).assert_code(0);
        let (ran, ended) = run(&["--sandbox", "off"]);
        assert!(!ran && !scratch.work("mark").exists(), "{ended:#?}");
        ended.assert_says("not run: the repository's formatters");
    }
    let program = scratch.work("tools/shout");
    scratch.configure(&format!(
        "[[formatters]]\nextensions = [\"txt\"]\nprogram = \"{}\"\nstdin = true\n",
        program.display()
    ));
    let (ran, _) = run(&["--sandbox", "off"]);
    assert!(ran && scratch.work("mark").exists(), "the control");
}

/// Some formatters run what a repository says (`prettier.config.js`, a tool chain's path). This one stands for them.
#[test]
fn what_a_formatter_would_run_of_the_repository_is_not_run_before_it_is_trusted() {
    let scratch = Scratch::repository_in("/var/tmp");
    let bin = scratch.path("bin");
    fs::create_dir(&bin).unwrap();
    let program = "#!/bin/sh\nfor f; do case $f in -*) ;; *) sh ./prettier.config.js \"$f\" ;; esac; done\n";
    fs::write(bin.join("prettier"), program).unwrap();
    fs::set_permissions(bin.join("prettier"), fs::Permissions::from_mode(0o755)).unwrap();
    scratch.write("prettier.config.js", "echo ran > \"$1\"\n");
    let run = || {
        drop(fs::remove_file(scratch.work("new.js")));
        let model = Model::script([
            Step::call("write_file", json!({"path": "new.js", "content": "new\n"})),
            Step::text("Done."),
        ]);
        let mut command =
            scratch.run_command(&model, &["-p", "x", "--permission-mode", "accept-edits", "--format-on-edit"]);
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        Running::start(command.env("PATH", path)).end().assert_code(0);
        scratch.read("new.js")
    };
    assert_eq!(run(), "new\n");
    scratch.ended(&["trust", "--yes"]).assert_code(0);
    assert_eq!(run(), "ran\n", "the control");
    scratch.ended(&["trust", "--revoke"]).assert_code(0);
    assert_eq!(run(), "new\n");
}

/// What a repository names is written by whoever works in it, and it runs as the user does.
#[test]
fn what_was_not_shown_is_not_trusted() {
    let scratch = Scratch::repository();
    let hook = |command: &str| format!("[[hooks]]\nevent = \"Stop\"\ncommand = \"{command}\"\n");
    let runs = |expected: &[&str], says: &[&str]| {
        for mark in ["one", "two"] {
            drop(fs::remove_file(scratch.work(mark)));
        }
        let ended = scratch.run(&Model::script([Step::text("Done.")]), &["-p", "x"]);
        ended.assert_code(0);
        for says in says {
            ended.assert_says(says);
        }
        assert_eq!(ended.err.contains("ignored:"), !says.is_empty(), "{ended:#?}");
        let ran: Vec<&str> = ["one", "two"].into_iter().filter(|mark| scratch.work(mark).exists()).collect();
        assert_eq!(ran, expected, "{ended:#?}");
    };
    // With nothing to run it is trusted, and then there is something.
    scratch.ended(&["trust", "--yes"]).assert_code(0);
    runs(&[], &[]);
    scratch.write(".agent/config.toml", &hook("touch one"));
    runs(&[], &["they have changed since they were trusted", "added in .agent/config.toml: hook", "touch one"]);
    let shown = scratch.ended(&["trust", "--show"]);
    assert!(shown.assert_code(1).out.contains("added in .agent/config.toml: hook"), "{shown:#?}");
    scratch.ended(&["trust", "--yes"]).assert_code(0);
    runs(&["one"], &[]);
    // One more, another one, and a guard that is gone.
    scratch.write(".agent/config.toml", &(hook("touch one") + &hook("touch two")));
    runs(&[], &["added in .agent/config.toml: hook", "touch two"]);
    scratch.write(".agent/config.toml", &(hook("touch one") + "sandbox = true\n"));
    runs(&[], &["removed in .agent/config.toml: hook", "added in .agent/config.toml: hook"]);
    scratch.write(".agent/config.toml", "");
    runs(&[], &["removed in .agent/config.toml: hook"]);
    // Comments, and what is said otherwise, change nothing; nor does what a folder below it adds, for those who do not work there.
    scratch.write(".agent/config.toml", &format!("# It is the same.\n{}on_failure = 'warn'\n", hook("touch one")));
    scratch.write("below/.agent/config.toml", &hook("touch two"));
    runs(&["one"], &[]);
    scratch.ended(&["trust", "--show", "-C", "below"]).assert_code(1);
    scratch.ended(&["trust", "--yes", "-C", "below"]).assert_code(0);
    scratch.ended(&["trust", "--show", "-C", "below"]).assert_code(0);
    runs(&["one"], &[]);
}

/// Its bytes count, at the start and when it is to run.
#[test]
fn a_script_that_changed_is_not_run() {
    let scratch = Scratch::repository();
    scratch.write("check.sh", "touch one\n");
    scratch.write(".agent/config.toml", "[[hooks]]\nevent = \"Stop\"\ncommand = \"sh ./check.sh\"\n");
    scratch.ended(&["trust", "--yes"]).assert_code(0);
    scratch.run(&Model::script([Step::text("Done.")]), &["-p", "x"]).assert_code(0);
    assert!(scratch.work("one").exists(), "the control");
    fs::remove_file(scratch.work("one")).unwrap();
    // The model changes it while the session goes on.
    let model = Model::script([
        Step::call("write_file", json!({"path": "check.sh", "content": "touch two\n"})),
        Step::call("bash", json!({"command": "echo touch two > check.sh"})),
        Step::text("Done."),
    ]);
    let ended = scratch.run(&model, &["-p", "x", "--permission-mode", "bypass"]);
    ended.assert_code(0).assert_says("check.sh changed since it was trusted");
    assert_eq!(scratch.read("check.sh"), "touch two\n");
    let ended = scratch.run(&Model::script([Step::text("Done.")]), &["-p", "x"]);
    ended.assert_code(0).assert_says("added in check.sh: its content is sha256:");
    assert!(!scratch.work("one").exists() && !scratch.work("two").exists(), "{ended:#?}");
    scratch.ended(&["trust", "--yes"]).assert_code(0);
    scratch.run(&Model::script([Step::text("Done.")]), &["-p", "x"]).assert_code(0);
    assert!(scratch.work("two").exists(), "the control");
}

#[test]
fn what_an_older_version_trusted_is_asked_again() {
    let scratch = repository();
    scratch.ended(&["trust", "--yes"]).assert_code(0);
    let record = fs::read_dir(scratch.path("state/trust")).unwrap().next().unwrap().unwrap().path();
    let text = fs::read_to_string(&record).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let [head, _, path] = lines[..] else { panic!("{text}") };
    fs::write(&record, format!("{}\n{path}", head.replace("version 2", "version 1"))).unwrap();
    let (ran, ended) = runs_the_formatter(&scratch, &["--format-on-edit"]);
    assert!(!ran, "{ended:#?}");
    ended.assert_says("an older version of the agent recorded the trust");
    scratch.ended(&["trust", "--show"]).assert_code(1);
    scratch.ended(&["trust", "--yes"]).assert_code(0);
    assert!(runs_the_formatter(&scratch, &["--format-on-edit"]).0, "the control");
}
