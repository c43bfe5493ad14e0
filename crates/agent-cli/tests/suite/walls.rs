//! Ways out of the sandbox through what the agent runs and reads by itself. Each stands beside a control in which the same thing has its
//! effect.

use crate::support::{Model, Scratch, has_any_sandbox, has_bubblewrap};
use agent_testkit::http::Step;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

pub(super) fn bash(command: &str) -> Step {
    Step::call("bash", json!({ "command": command }))
}

/// A program that leaves a mark outside of the workspace, if it is not held back.
/// It says so in the canary, or, behind a fence in which nothing can be written, by the permissions of the file beside it.
pub(super) fn trap(canary: &Path) -> String {
    let shut = shut(canary);
    fs::write(&shut, "").unwrap();
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o600)).unwrap();
    let (canary, shut) = (canary.display(), shut.display());
    format!("#!/bin/sh\n{{ echo \"$0\" >> '{canary}'; }} 2>/dev/null || chmod 700 '{shut}'\nexit 1\n")
}

fn shut(canary: &Path) -> PathBuf {
    canary.with_extension("shut")
}

/// Which traps ran.
pub(super) fn what_ran(canary: &Path) -> String {
    let is_opened = shut(canary).metadata().is_ok_and(|found| found.permissions().mode() & 0o100 != 0);
    let behind_a_fence = if is_opened { "behind a fence: /git" } else { "" };
    fs::read_to_string(canary).unwrap_or_default() + behind_a_fence
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
        let mut command = scratch.run_command(&model, &[&arguments, as_it_must_be_said()].concat());
        crate::support::Running::start(command.env("PATH", &path)).end();
        assert!(is_run || scratch.work(".venv/bin/git").exists(), "it was planted");
        let ran = what_ran(&canary);
        assert_eq!(ran.contains("/git"), is_run, "{place}: {ran}");
        assert!(is_run || ran.is_empty(), "{ran}");
        // What comes after the session is not caught either.
        let mut undo = scratch.agent(&["undo"]);
        crate::support::Running::start(undo.env("PATH", &path)).end();
        let ran = what_ran(&canary);
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
            assert_eq!(what_ran(&canary), "", "`{entry}` {arguments:?}");
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

/// The directory is the user's; what has the program's name in it is a link to, or by way of, a file of the workspace.
#[test]
fn what_runs_unasked_by_its_name_is_not_the_workspaces_by_a_link_either() {
    for (to, is_planted) in [("work/tools/nproc", true), ("work/tools/step", true), ("own/nproc", false)] {
        let scratch = Scratch::repository();
        let (canary, links) = (scratch.path("canary"), scratch.path("links"));
        put_programs(&scratch.work("tools"), &["nproc"], &canary);
        put_programs(&scratch.path("own"), &["nproc"], &canary);
        std::os::unix::fs::symlink(scratch.path("own/nproc"), scratch.work("tools/step")).unwrap();
        fs::create_dir(&links).unwrap();
        std::os::unix::fs::symlink(scratch.path(to), links.join("nproc")).unwrap();
        let path = search_path(&scratch, &links.display().to_string());
        for mode in ["plan", "default"] {
            let model = Model::script([bash("nproc | seq 1"), Step::text("Done.")]);
            let arguments = ["-p", "x", "--sandbox", "off", "--permission-mode", mode];
            let mut command = scratch.run_command(&model, &arguments);
            crate::support::Running::start(command.env("PATH", &path)).end();
            let ran = what_ran(&canary);
            assert_eq!(ran.is_empty(), is_planted, "{to} {mode}: {ran}");
        }
    }
}

/// The text of a configuration of git that runs a program when somebody asks for the status.
pub(super) fn monitor(canary: &Path) -> String {
    format!("touch '{}'; false", canary.display())
}

/// Runs commands in a new session, then the user's own `git status` in a directory; whether it ran what a command planted, and what was
/// said.
pub(super) fn planted(scratch: &Scratch, commands: &[&str], status_in: &str, arguments: &[&str]) -> (bool, String) {
    let canary = scratch.path("canary");
    let mut steps: Vec<Step> = commands.iter().map(|command| bash(command)).collect();
    steps.push(Step::text("Done."));
    let model = Model::script(steps);
    let arguments = [&["-p", "x", "--permission-mode", "bypass"], arguments].concat();
    let ended = scratch.run(&model, &arguments);
    for arguments in [["status"], ["update-index"]] {
        let more: &[&str] = if arguments == ["update-index"] { &["--refresh", "--force-write-index"] } else { &[] };
        let _ = scratch.command("git").args(arguments).args(more).current_dir(scratch.work(status_in)).output();
    }
    (canary.exists(), ended.err)
}

/// A script says that it goes without a sandbox where none can be had.
fn as_it_must_be_said() -> &'static [&'static str] {
    if has_any_sandbox() { &[] } else { &["--sandbox", "off"] }
}

/// Layouts of a repository of which `.git` is not a directory, or that is not in the root.
#[test]
fn the_users_git_runs_nothing_that_a_sandboxed_command_planted() {
    if !has_bubblewrap() {
        println!("skipped: there is no bubblewrap");
        return;
    }
    type Make = fn(&Scratch);
    let separate: Make = |scratch| {
        scratch.git(&["init", "-q", "--separate-git-dir", "data"]);
    };
    let worktrees: Make = |scratch| {
        fs::rename(scratch.work(".git"), scratch.work(".bare")).unwrap();
        scratch.write(".git", "gitdir: .bare\n");
        scratch.git(&["config", "core.worktree", ".."]);
    };
    let submodule: Make = |scratch| {
        let source = scratch.work(".").canonicalize().unwrap();
        let source = source.to_str().unwrap();
        scratch.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", source, "node_modules/x/sub"]);
        let tag = "Signature: 8a477f597d28d172789f06886806bc55";
        scratch.write("CACHEDIR.TAG", tag);
        scratch.write("node_modules/CACHEDIR.TAG", tag);
    };
    let nothing: Make = |_| {};
    let none: Make = |scratch| fs::remove_dir_all(scratch.work(".git")).unwrap();
    let bare = "mkdir src; cd src; git init -q --bare .; git config core.bare false; git config core.worktree .";
    let by_hand = "mkdir -p src/objects src/refs; cd src; echo 'ref: refs/heads/x' > HEAD; printf '[core]\\nrepositoryformatversion = 0\\nbare = false\\nworktree = .\\n' > config";
    let here = "git init -q --bare .; git config core.bare false; git config core.worktree .";
    let again = "mv node_modules/x/sub/.git node_modules/x/sub/old; cd node_modules/x/sub; git init -q .";
    for (name, make, command, at) in [
        ("an ordinary one", nothing, "true", "."),
        ("a file that leads to a directory in the workspace", separate, "true", "."),
        ("a bare one with a working tree around it", worktrees, "true", "."),
        ("a directory that becomes a bare one", nothing, bare, "src"),
        ("a bare one of four files", nothing, by_hand, "src"),
        ("the root of what is none", none, here, "."),
        ("a submodule below a cache", submodule, "cd node_modules/x/sub", "node_modules/x/sub"),
        ("another in the place of a submodule", submodule, again, "."),
    ] {
        for (sandbox, runs) in [("workspace-write", false), ("off", true)] {
            let scratch = Scratch::repository_in("/var/tmp");
            make(&scratch);
            // The user's trust in the directory is not what is tried here.
            scratch.git(&["config", "--global", "safe.bareRepository", "all"]);
            let plant = format!("{command}; git config core.fsmonitor \"{}\"; true", monitor(&scratch.path("canary")));
            let (ran, said) = planted(&scratch, &[&plant], at, &["--sandbox", sandbox]);
            assert_eq!(ran, runs, "{name}, {sandbox}: {said}");
        }
    }
}

/// A background command makes a repository, with a link in it that leads to what a shell runs, and the agent edits a file.
#[test]
fn the_agent_does_not_commit_where_a_command_made_a_repository() {
    for (existed, is_written) in [(false, false), (true, true)] {
        let scratch = Scratch::new();
        scratch.write("a.txt", "one\n");
        fs::write(scratch.path("home/.gitconfig"), "[user]\nname = A\nemail = a@b\n").unwrap();
        if existed {
            scratch.git(&["init", "-q"]);
            scratch.git(&["add", "."]);
            scratch.git(&["commit", "-qm", "Begin"]);
        }
        let log = scratch.path("home/.bashrc");
        fs::write(&log, "").unwrap();
        let link = format!("ln -sf {} .git/logs/HEAD", log.display());
        let make = format!(
            "git init -q; git add .; git commit -qm x; {link}; ln -s {} .git/agent; sleep 30",
            scratch.path("home").display()
        );
        let steps = [
            Step::call("bash", json!({ "command": make, "run_in_background": true })),
            bash("for i in $(seq 50); do [ -e .git/agent ] && break; sleep 0.1; done; true"),
            Step::call("write_file", json!({ "path": "b.txt", "content": "two\n" })),
            Step::text("Done."),
        ];
        let model = Model::script(if existed { steps[2..].to_vec() } else { steps.to_vec() });
        let arguments = ["-p", "x", "--permission-mode", "bypass", "--auto-commit", "--sandbox", "off"];
        let ended = scratch.run(&model, &arguments);
        assert_eq!(fs::read_to_string(&log).unwrap(), "", "{ended:?}");
        assert_eq!(ended.err.contains("\ncommitted "), is_written, "{ended:?}");
        let home = fs::read_dir(scratch.path("home")).unwrap().count();
        assert_eq!(home, 2, "no record of a turn was written: {ended:?}");
    }
}

/// Git writes a trace where the user's configuration says, as a stand-in for whatever leads it out of its directory.
#[test]
fn the_agents_git_writes_in_its_directory_only() {
    if !has_any_sandbox() {
        println!("skipped: no sandbox can be had");
        return;
    }
    let scratch = Scratch::repository_in("/var/tmp");
    let trace = scratch.path("trace");
    let config = format!("[trace2]\nnormalTarget = {}\n", trace.display());
    fs::write(scratch.path("home/.gitconfig"), config).unwrap();
    let steps = [Step::call("write_file", json!({ "path": "b.txt", "content": "two\n" })), Step::text("Done.")];
    let model = Model::script(steps);
    let arguments = ["-p", "x", "--permission-mode", "bypass", "--auto-commit", "--sandbox", "off"];
    // What is asked at the start is asked without a sandbox; it reads.
    let asked = scratch.run(&model, &arguments);
    assert!(asked.err.contains("\ncommitted "), "{asked:?}");
    let traced = fs::read_to_string(&trace).unwrap_or_default();
    assert!(!traced.contains("fast-import") && !traced.contains("update-ref"), "{traced}");
    // The control: the user's own.
    scratch.git(&["update-ref", "refs/heads/x", "HEAD"]);
    assert!(fs::read_to_string(&trace).unwrap().contains("update-ref"));
}

fn prompt_of(scratch: &Scratch, arguments: &[&str]) -> (String, String) {
    let model = Model::script([Step::text("Done.")]);
    let ended = scratch.run(&model, &[&["-p", "x"], arguments, as_it_must_be_said()].concat());
    (model.requests().first().map(|request| request.body.to_string()).unwrap_or_default(), ended.err)
}

/// What `AGENTS.md` says stands in the prompt; what it leads to, only where that is instructions, too.
#[test]
fn instructions_are_no_way_to_other_files() {
    for (target, is_used) in
        [("CLAUDE.md", true), ("docs/AGENTS.md", true), (".env", false), ("../outside/AGENTS.md", false)]
    {
        let scratch = Scratch::repository();
        fs::create_dir(scratch.path("outside")).unwrap();
        let file = scratch.work(target);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "the-text-of-the-target").unwrap();
        std::os::unix::fs::symlink(target, scratch.work("AGENTS.md")).unwrap();
        let (prompt, said) = prompt_of(&scratch, &[]);
        assert!(!prompt.is_empty(), "{said}");
        assert_eq!(prompt.contains("the-text-of-the-target"), is_used, "{target}");
        assert_eq!(said.contains("read the instructions"), !is_used, "{said}");
    }
}

/// Another user's repository above one's own directory. Only root can make such a place.
#[test]
fn a_repository_of_another_user_says_nothing() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root can give a file to another user");
        return;
    }
    for (owner, is_safe, is_used) in [(0, false, true), (65534, false, false), (65534, true, true)] {
        let scratch = Scratch::repository();
        scratch.write("AGENTS.md", "words-of-the-project");
        scratch.write(".agent/config.toml", "[limits]\nmax_turns = 0\n");
        scratch.write("mine/AGENTS.md", "words-of-the-folder");
        for path in [".", ".git", "AGENTS.md", ".agent", ".agent/config.toml", "mine/AGENTS.md"] {
            std::os::unix::fs::chown(scratch.work(path), Some(owner), None).unwrap();
        }
        let root = scratch.work(".").canonicalize().unwrap();
        if is_safe {
            scratch.git(&["config", "--global", "safe.directory", root.to_str().unwrap()]);
        }
        for directory in [root.join("mine"), root.clone()] {
            let arguments = ["-C", directory.to_str().unwrap(), "--no-session"];
            let (prompt, said) = prompt_of(&scratch, &arguments);
            // The limit of no turns is the project's: where it counts, nothing is sent.
            assert_eq!(prompt.is_empty(), is_used, "{owner} {is_safe}: {said}");
            assert_eq!(said.contains("belongs to another user"), !is_used, "{said}");
            scratch.write(".agent/config.toml", "");
            let (prompt, _) = prompt_of(&scratch, &arguments);
            assert_eq!(prompt.contains("words-of-the-project"), is_used, "{owner} {is_safe}");
            assert!(is_used || !prompt.contains("words-of-the-folder"), "{owner}");
            scratch.write(".agent/config.toml", "[limits]\nmax_turns = 0\n");
        }
    }
}

#[test]
fn a_workspace_that_holds_the_home_is_refused_in_scripts() {
    let scratch = Scratch::new();
    let (home, above) = (scratch.path("home"), scratch.path("."));
    for (directory, arguments, is_refused) in [
        (&home, &[][..], true),
        (&above, &[], true),
        (&home, &["--allow-home"], false),
        (&scratch.path("work"), &[], false),
    ] {
        let directory = directory.display().to_string();
        let (prompt, said) = prompt_of(&scratch, &[&["-C", &directory], arguments].concat());
        assert_eq!(prompt.is_empty(), is_refused, "{directory}: {said}");
        assert_eq!(said.contains("holds your home directory"), is_refused, "{said}");
    }
}

/// What a configuration of the user's names, and a command changes: by writing it, by making it, by moving what it lies in.
#[test]
fn what_git_is_told_to_read_or_run_is_out_of_reach() {
    if !has_bubblewrap() {
        println!("skipped: there is no bubblewrap");
        return;
    }
    type Make = fn(&Scratch);
    let include: Make = |scratch| {
        scratch.write("conf/x.inc", "[user]\na = b\n");
        scratch.git(&["config", "include.path", "../conf/x.inc"]);
    };
    let absent: Make = |scratch| drop(scratch.git(&["config", "include.path", "../conf/x.inc"]));
    let conditional: Make = |scratch| {
        scratch.write("conf/x.inc", "");
        scratch.git(&["config", "includeIf.onbranch:main.path", "../conf/x.inc"]);
    };
    let hook: Make = |scratch| {
        scratch.write("scripts/pc", "#!/bin/sh\n");
        fs::set_permissions(scratch.work("scripts/pc"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir_all(scratch.work(".git/hooks")).unwrap();
        std::os::unix::fs::symlink("../../scripts/pc", scratch.work(".git/hooks/post-index-change")).unwrap();
    };
    let monitor_script: Make = |scratch| {
        scratch.write("tools/m.sh", "exit 1\n");
        scratch.git(&["config", "core.fsmonitor", "cd tools && sh ./m.sh"]);
    };
    let none: Make = |scratch| fs::remove_dir_all(scratch.work(".git")).unwrap();
    let repository = "mkdir -p d/objects d/refs; echo ref: refs/heads/x > d/HEAD;";
    let config = "printf '[core]\\nrepositoryformatversion = 0\\nbare = false\\nworktree = .\\nfsmonitor = CANARY\\n' > d/config;";
    let monitor_line = "printf '[core]\\nfsmonitor = CANARY\\n'";
    let moved = format!("mv conf away; mkdir conf; {monitor_line} > conf/x.inc");
    let made = format!("mkdir -p conf; {monitor_line} > conf/x.inc");
    let script = "mv scripts s2; mkdir -p scripts; printf '#!/bin/sh\\nCANARY\\n' > scripts/pc; printf '#!/bin/sh\\nCANARY\\n' > s2/pc; chmod +x */pc";
    let tool = "mv tools t2; mkdir -p tools; echo 'CANARY' > tools/m.sh; echo CANARY > t2/m.sh";
    let steps = [
        "mkdir -p d/objects; echo ref: refs/heads/x > d/HEAD;".to_owned() + config + " sleep 0.5",
        "mkdir d/refs".to_owned(),
    ];
    let hidden = format!(
        "{repository} mkdir -p d/f; cd d/f; mkdir objects refs; echo ref: refs/heads/x > HEAD; cd ../..; {config} mv d/config d/f/"
    );
    let cases: Vec<(&str, Make, Vec<String>, &str)> = vec![
        ("an included file by its parent", include, vec![moved], "."),
        ("an included file that is not there", absent, vec![made.clone()], "."),
        ("an included file under a condition", conditional, vec![made], "."),
        ("a link among the hooks", hook, vec![script.to_owned()], "."),
        ("a script that a setting names", monitor_script, vec![tool.to_owned()], "."),
        ("a repository in two steps", none, steps.to_vec(), "d"),
        ("a repository in what calls itself one", none, vec![hidden], "d/f"),
    ];
    for (name, make, commands, at) in cases {
        for (sandbox, runs) in [("workspace-write", false), ("off", true)] {
            let scratch = Scratch::repository_in("/var/tmp");
            make(&scratch);
            scratch.git(&["config", "--global", "safe.bareRepository", "all"]);
            let canary = format!("touch {}", scratch.path("canary").display());
            let commands: Vec<String> = commands.iter().map(|command| command.replace("CANARY", &canary)).collect();
            let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
            let (ran, said) = planted(&scratch, &commands, at, &["--sandbox", sandbox]);
            assert_eq!(ran, runs, "{name}, {sandbox}: {said}");
        }
    }
}

/// Files that other programs act on, in such numbers that the directories on the way to something else might not be held.
#[test]
fn nothing_hidden_is_moved_for_a_crowd_of_other_files() {
    if !has_bubblewrap() {
        return;
    }
    let made = "for i in $(seq 100 440); do mkdir -p a$i/d; : > a$i/d/.envrc; done; echo made";
    let moved = "mv zz/conf zz/c2; cat zz/*/prod.env; true";
    for (shipped, commands, arguments, is_read) in [
        (120, [moved, "cat zz/*/prod.env; true"], &[][..], false),
        (0, [made, moved], &[], false),
        (0, [made, moved], &["--sandbox", "off"], true),
    ] {
        let scratch = Scratch::repository_in("/var/tmp");
        (0..shipped).for_each(|number| scratch.write(&format!("a{number}/b/c/.envrc"), ""));
        scratch.write("zz/conf/prod.env", "HIDDEN-CANARY");
        scratch.write(".agent/config.toml", "sandbox_hidden = [\"zz/conf/prod.env\"]\n");
        let model = Model::script([bash(commands[0]), bash(commands[1]), Step::text("Done.")]);
        let ended = scratch.run(&model, &[&["-p", "x", "--permission-mode", "bypass"], arguments].concat());
        let (body, shown) = (model.last_body().to_string(), ended.err);
        assert_eq!(body.contains("HIDDEN-CANARY"), is_read, "{shipped}: {body}");
        assert_eq!(scratch.work("zz/c2").exists(), is_read, "{shipped}: {body}");
        match (shipped, is_read) {
            (0, false) => {
                assert!(body.contains("mounts, but the limit is"), "it is said why nothing is started: {body}");
            }
            (0, true) => {}
            _ => {
                assert!(body.contains("busy"), "{body}");
                assert!(
                    shown.contains("only 102 of 122 repositories and files that other programs run are protected"),
                    "{shown}"
                );
            }
        }
    }
}

/// More files than before keep a repository's configuration no less.
#[test]
fn a_crowd_of_other_files_opens_no_repository() {
    if !has_bubblewrap() {
        return;
    }
    let made = "for i in $(seq 100 330); do mkdir -p a$i; : > a$i/.envrc; done; mv zz zy; ls -d z*";
    let configured = "git -C zy/repo config core.pager planted; git -C zz/repo config core.pager planted; true";
    for (arguments, is_held) in [(&[][..], true), (&["--sandbox", "off"], false)] {
        let scratch = Scratch::repository_in("/var/tmp");
        scratch.git(&["init", "--quiet", "zz/repo"]);
        let model = Model::script([bash(made), bash(configured), Step::text("Done.")]);
        scratch.run(&model, &[&["-p", "x", "--permission-mode", "bypass"], arguments].concat());
        let text = ["zz", "zy"].map(|folder| fs::read_to_string(scratch.work(folder).join("repo/.git/config")));
        let is_planted = text.into_iter().flatten().any(|text| text.contains("planted"));
        assert_eq!(!is_planted, is_held, "{arguments:?}");
        assert_eq!(scratch.work("zz").exists(), is_held, "a directory on the way to a repository stays");
    }
}

/// The key is made with the first record, when a command may already run. A session that is kept nowhere has one, too.
#[test]
fn the_key_of_the_records_is_hidden_from_a_command_that_runs_when_it_is_made() {
    for (arguments, is_read) in
        [(&[][..], false), (&["--no-session"], false), (&["--no-session", "--sandbox", "off"], true)]
    {
        if !is_read && !has_any_sandbox() {
            continue;
        }
        let scratch = Scratch::repository_in("/var/tmp");
        fs::remove_dir(scratch.path("state")).unwrap();
        let key = scratch.path("state/records.key");
        let wait = format!(
            "for i in $(seq 100); do test -e {0} && cat {0} > stolen && break; sleep 0.05; done; echo end > ended",
            key.display()
        );
        let model = Model::script([
            Step::call("bash", json!({ "command": wait, "run_in_background": true })),
            Step::call("write_file", json!({ "path": "b.txt", "content": "x\n" })),
            bash("for i in $(seq 200); do test -e ended && break; sleep 0.05; done; true"),
            Step::text("Done."),
        ]);
        let mut command =
            scratch.run_command(&model, &[&["-p", "x", "--permission-mode", "bypass"], arguments].concat());
        crate::support::Running::start(&mut command).end().assert_code(0);
        assert!(key.exists() && scratch.work("ended").exists(), "{arguments:?}");
        let mode = fs::metadata(scratch.path("state")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{arguments:?}");
        let stolen = fs::read(scratch.work("stolen")).unwrap_or_default();
        assert_eq!(!stolen.is_empty() && stolen == fs::read(&key).unwrap(), is_read, "{arguments:?}");
    }
}
