//! Protected names that are links, and configured commands in other words: what a command makes of them. Each stands beside a control.

use crate::support::{Model, Scratch, has_bubblewrap};
use crate::walls::{bash, monitor, planted};
use agent_testkit::http::Step;
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;

/// Every kind of protected name; the files by what they lead to.
const LINKS: [(&str, &str); 9] = [
    (".envrc", "dev/envrc"),
    (".bashrc", "dev/first"),
    (".mcp.json", "dev/mcp"),
    (".pre-commit-config.yaml", "dev/pc.yaml"),
    ("sub/.rust-analyzer.toml", "../dev/ra"),
    ("AGENTS.md", "CLAUDE.md"),
    ("sub/AGENTS.md", "../CLAUDE.md"),
    ("rust-toolchain.toml", "hop/toolchain"),
    ("x.code-workspace", "dev/workspace"),
];

fn with_links() -> Scratch {
    let scratch = Scratch::repository_in("/var/tmp");
    for file in
        ["dev/envrc", "dev/second", "dev/mcp", "dev/pc.yaml", "dev/ra", "CLAUDE.md", "dev/toolchain", "dev/workspace"]
    {
        scratch.write(file, "good\n");
    }
    scratch.write("dev/vs/tasks.json", "good\n");
    fs::create_dir_all(scratch.work("sub")).unwrap();
    for (name, target) in LINKS.into_iter().chain([("dev/first", "second"), ("hop", "dev"), (".vscode", "dev/vs")]) {
        symlink(target, scratch.work(name)).unwrap();
    }
    scratch
}

#[test]
fn links_with_protected_names_are_not_replaced_and_what_they_lead_to_is_not_written() {
    if !has_bubblewrap() {
        println!("skipped: there is no bubblewrap");
        return;
    }
    let each = LINKS.map(|(name, _)| name).join(" ");
    for command in [
        format!(
            "for n in {each}; do rm -f $n; echo EVIL > $n; done; rm .vscode; mkdir .vscode; echo EVIL > .vscode/tasks.json"
        ),
        format!(
            "for n in {each}; do echo EVIL > evil; mv -fT evil $n; done; mv .vscode v; mkdir .vscode; echo EVIL > .vscode/tasks.json"
        ),
        format!("for n in {each} .vscode/tasks.json; do echo EVIL > $n; done"),
        format!(
            "echo EVIL > evil; for n in {each}; do ln -sfn $PWD/evil $n; done; mkdir e; cp evil e/tasks.json; ln -sfn e .vscode"
        ),
        format!(
            "rm hop dev/first; mkdir hop; echo EVIL > hop/toolchain; echo EVIL > dev/first; mv dev dev2; mkdir dev; for n in {each}; do echo EVIL > $n; done; mkdir -p dev/vs; echo EVIL > dev/vs/tasks.json"
        ),
        format!("mv sub s2; mkdir sub; for n in {each} .vscode/tasks.json; do echo EVIL > $n; done"),
    ] {
        for (sandbox, is_changed) in [("workspace-write", false), ("off", true)] {
            let scratch = with_links();
            let model = Model::script([bash(&format!("{command}; true")), Step::text("Done.")]);
            let ended = scratch.run(&model, &["-p", "x", "--permission-mode", "bypass", "--sandbox", sandbox]);
            for name in LINKS.map(|(name, _)| name).into_iter().chain([".vscode/tasks.json"]) {
                let content = fs::read_to_string(scratch.work(name)).unwrap_or_default();
                assert!(is_changed || content == "good\n", "{name} after {command}: {content} {ended:?}");
            }
            let all = LINKS.map(|(name, _)| fs::read_to_string(scratch.work(name)).unwrap_or_default()).concat();
            assert_eq!(all.contains("EVIL"), is_changed, "{command}, {sandbox}: {ended:?}");
            // What was put there is not lost, and the user is told.
            let is_replaced = command.starts_with("for n in .envrc") && command.contains("rm -f");
            let aside = fs::read_dir(scratch.work(".")).unwrap().flatten();
            let aside = aside.filter(|entry| entry.file_name().to_string_lossy().contains(".set-aside-")).count();
            assert!(is_changed || !is_replaced || aside >= 7, "{aside}: {ended:?}");
            assert!(
                is_changed
                    || !is_replaced
                    || ended.err.contains("the link `.envrc` was replaced and has been restored")
            );
        }
    }
}

/// A command in the background ends with the session; a link that a command made is kept from the next command on.
#[test]
fn links_are_made_again_after_a_command_in_the_background_and_later_links_are_kept_too() {
    if !has_bubblewrap() {
        println!("skipped: there is no bubblewrap");
        return;
    }
    let scratch = with_links();
    let replace = "rm AGENTS.md; echo EVIL > AGENTS.md; echo > done; sleep 60";
    let steps = [
        Step::call("bash", json!({ "command": replace, "run_in_background": true })),
        bash("for i in $(seq 50); do [ -e done ] && break; sleep 0.1; done; ln -s ../dev/envrc sub/.envrc"),
        bash("rm sub/.envrc; echo EVIL > sub/.envrc; echo EVIL > dev/envrc; true"),
        Step::text("Done."),
    ];
    let model = Model::script(steps);
    let ended = scratch.run(&model, &["-p", "x", "--permission-mode", "bypass"]);
    for name in ["AGENTS.md", "sub/.envrc"] {
        assert_eq!(fs::read_to_string(scratch.work(name)).unwrap(), "good\n", "{name}: {ended:?}");
    }
    let model = Model::script([Step::text("Done.")]);
    scratch.run(&model, &["-p", "x"]);
    assert!(!model.requests()[0].body.to_string().contains("EVIL"));
}

/// `.cargo/config.toml` is protected as a pair of names; the directory may have the first one by a link.
#[test]
fn protected_pairs_behind_a_link_are_not_written_by_either_name() {
    if !has_bubblewrap() {
        println!("skipped: there is no bubblewrap");
        return;
    }
    for (link, is_changed) in [(".cargo", false), ("cargo", true)] {
        let scratch = Scratch::repository_in("/var/tmp");
        scratch.write("dev/cargo/config.toml", "good\n");
        symlink("dev/cargo", scratch.work(link)).unwrap();
        let by_tool = |path: &str| Step::call("write_file", json!({ "path": path, "content": "EVIL" }));
        let steps = [
            Step::call("read_file", json!({ "path": "dev/cargo/config.toml" })),
            by_tool("dev/cargo/config.toml"),
            by_tool(&format!("{link}/config.toml")),
            // One that is not there yet.
            by_tool("dev/cargo/config"),
            bash(&format!(
                "echo EVIL > dev/cargo/config.toml; echo EVIL > {link}/config.toml; rm {link}; mkdir {link}; echo EVIL > {link}/config.toml; true"
            )),
            Step::text("Done."),
        ];
        let model = Model::script(steps);
        let arguments = ["-p", "x", "--permission-mode", "accept-edits", "--allow", "bash"];
        let ended = scratch.run(&model, &arguments);
        assert_eq!(model.last_body().to_string().contains("has a protected name through a link"), !is_changed);
        for name in [&*format!("{link}/config.toml"), "dev/cargo/config.toml"] {
            assert_eq!(scratch.read(name) != "good\n", is_changed, "{name}: {ended:?}");
        }
        assert_eq!(scratch.work("dev/cargo/config").exists(), is_changed, "{ended:?}");
    }
}

/// Where the user's git finds what it runs, said in other words than a path.
#[test]
fn what_gits_commands_find_by_options_and_variables_is_out_of_reach() {
    if !has_bubblewrap() {
        println!("skipped: there is no bubblewrap");
        return;
    }
    for (configured, file, content) in [
        ("PATH=tools:$PATH watch-it; false", "tools/watch-it", "#!/bin/sh\nCANARY\n"),
        ("PATH=\"$PWD/tools:$PATH\" watch-it; false", "tools/watch-it", "#!/bin/sh\nCANARY\n"),
        ("perl -Itools -MWatch -e 1; false", "tools/Watch.pm", "system(\"CANARY\"); 1;\n"),
        ("PERL5LIB=tools perl -MWatch -e 1; false", "tools/Watch.pm", "system(\"CANARY\"); 1;\n"),
        ("env -C tools ./watch-it; false", "tools/watch-it", "#!/bin/sh\nCANARY\n"),
        ("sh tools/{a,watch}.sh || bash -c '. tools/{watch,watch}.sh'; false", "tools/watch.sh", "CANARY\n"),
    ] {
        for (sandbox, runs) in [("workspace-write", false), ("off", true)] {
            let scratch = Scratch::repository_in("/var/tmp");
            scratch.write("tools/other", "");
            scratch.git(&["config", "core.fsmonitor", configured]);
            let touch = format!("touch {}", scratch.path("canary").display());
            let content = content.replace("CANARY", &touch);
            let command = format!("cat > {file} <<'END'\n{content}END\nchmod 755 {file}");
            let (ran, said) = planted(&scratch, &[&command], ".", &["--sandbox", sandbox]);
            assert_eq!(ran, runs, "{configured}, {sandbox}: {said}");
            assert!(runs || said.contains("runs an unnamed program in `tools`"), "{said}");
        }
    }
    // By another name that the script has.
    for (sandbox, runs) in [("workspace-write", false), ("off", true)] {
        let scratch = Scratch::repository_in("/var/tmp");
        scratch.write("tools/watch.sh", "exit 1\n");
        fs::hard_link(scratch.work("tools/watch.sh"), scratch.work("notes")).unwrap();
        scratch.git(&["config", "core.fsmonitor", "sh tools/watch.sh; false"]);
        let command = format!("echo touch {} > notes", scratch.path("canary").display());
        let (ran, said) = planted(&scratch, &[&command], ".", &["--sandbox", sandbox]);
        assert_eq!(ran, runs, "{sandbox}: {said}");
    }
    let scratch = Scratch::repository_in("/var/tmp");
    scratch.git(&["config", "core.fsmonitor", &format!("make watch; {}", monitor(&scratch.path("canary")))]);
    let (_, said) = planted(&scratch, &["true"], ".", &[]);
    assert!(said.contains("it is unknown what `core.fsmonitor` of git's configuration runs"), "{said}");
}
