//! The sandbox as users meet it: what is said, what is chosen, what is refused, and what commands can really do.

use crate::support::{Ended, Model, Running, Scratch, Wire, eventually, has_any_sandbox, has_bubblewrap, lives};
use agent_testkit::http::Step;
use serde_json::{Value, json};
use std::fs;

const BYPASS: [&str; 4] = ["-p", "do it", "--permission-mode", "bypass"];

fn bash(command: &str) -> [Step; 2] {
    [Step::call("bash", json!({ "command": command })), Step::text("Done.")]
}

/// A repository outside of `/tmp`, which commands in a sandbox do not share.
fn repository() -> Scratch {
    Scratch::repository_in("/var/tmp")
}

/// What `.git` in the root was renamed to.
fn set_aside(scratch: &Scratch) -> Option<std::path::PathBuf> {
    let paths = fs::read_dir(scratch.work(".")).unwrap().map(|entry| entry.unwrap().path());
    paths.into_iter().find(|path| path.to_string_lossy().contains(".git.set-aside-"))
}

fn run(scratch: &Scratch, command: &str, arguments: &[&str]) -> (Ended, String) {
    let model = Model::script(bash(command));
    let ended = scratch.run(&model, &[&BYPASS, arguments].concat());
    let body = model.last_body().to_string();
    (ended, body)
}

/// A large program takes longer to start, and the first process of every sandbox is one that the agent starts.
#[test]
fn what_is_started_with_every_command_is_small() {
    if !has_bubblewrap() {
        return;
    }
    let (_, body) = run(&repository(), "grep VmExe /proc/1/status | tr -s '\\t ' ' '", &[]);
    let (_, found) = body.split_once("VmExe: ").unwrap();
    let kib: u64 = found.split(' ').next().unwrap().parse().unwrap();
    assert!(kib < 4_096, "{kib} KiB of code: is it the whole agent?");
}

#[test]
fn commands_write_in_the_workspace_only_and_it_is_said() {
    if !has_any_sandbox() {
        return;
    }
    let attempt = "echo inside > inside.txt; echo outside > ../outside.txt; true";
    let scratch = repository();
    let (ended, _) = run(&scratch, attempt, &[]);
    ended
        .assert_code(0)
        .assert_says("agent: sandbox: commands can write only to the workspace and a temporary directory");
    assert_eq!(scratch.read("inside.txt"), "inside\n");
    assert!(!scratch.path("outside.txt").exists());

    let (ended, _) = run(&scratch, "echo x > new.txt; cat a.txt", &["--sandbox", "read-only", "-q"]);
    assert!(!ended.assert_code(0).err.contains("sandbox"), "{ended:?}");
    assert!(!scratch.work("new.txt").exists());

    let (ended, _) = run(&scratch, attempt, &["--sandbox", "off"]);
    assert!(!ended.assert_code(0).err.contains("sandbox"), "{ended:?}");
    assert!(scratch.path("outside.txt").exists(), "the attempt is one");
}

#[test]
fn a_repository_tightens_and_never_loosens() {
    if !has_any_sandbox() {
        return;
    }
    for (user, repository_says, writes) in [
        ("off", "read-only", false),
        ("off", "workspace-write", true),
        ("read-only", "off", false),
        ("off", "off", true),
    ] {
        let scratch = repository();
        scratch.write(".agent/config.toml", &format!("sandbox = \"{repository_says}\"\n"));
        run(&scratch, "echo x > new.txt", &["--sandbox", user]).0.assert_code(0);
        assert_eq!(scratch.work("new.txt").exists(), writes, "{user} {repository_says}");
    }
    let scratch = repository();
    scratch.write(".agent/config.toml", "sandbox_writable = [\"/\"]\n");
    run(&scratch, "echo x > ../new.txt; true", &[]).0.assert_code(0).assert_says("ignored:");
    assert!(!scratch.path("new.txt").exists());
    let scratch = repository();
    let outside = scratch.path("home").display().to_string();
    scratch.configure(&format!("sandbox_writable = [\"{outside}\"]\n"));
    run(&scratch, &format!("echo x > {outside}/new.txt; true"), &[]).0.assert_code(0);
    assert!(scratch.path("home/new.txt").exists(), "the user may widen");
}

/// What git and other programs run by themselves stays as it is, also below the root, for commands as for the file tools.
#[test]
fn what_other_programs_run_is_written_by_nobody() {
    if !has_bubblewrap() {
        return;
    }
    let attempts = [
        ("sub/.git/config", "config"),
        ("a/b/.git", "gitdir"),
        ("hooks/pre-commit", "hook"),
        ("sub/.envrc", "export"),
        (".vscode/tasks.json", "{}"),
    ];
    for (sandbox, holds) in [("workspace-write", true), ("off", false)] {
        let scratch = repository();
        scratch.git(&["config", "core.hooksPath", "hooks"]);
        attempts.iter().for_each(|(path, content)| scratch.write(path, content));
        scratch.write("sub/free.txt", "old");
        let mut tries: Vec<String> = attempts.iter().map(|(path, _)| format!("echo changed > {path}")).collect();
        tries.push("rm -r sub/.git; mv sub/.git away; mv hooks away; echo x > hooks/new".to_owned());
        tries.push("echo new > sub/free.txt".to_owned());
        let (ended, _) = run(&scratch, &tries.join("; "), &["--sandbox", sandbox]);
        ended.assert_code(0);
        assert_eq!(scratch.read("sub/free.txt"), "new\n");
        for (path, content) in attempts {
            let is_as_it_was = fs::read_to_string(scratch.work(path)).is_ok_and(|found| found == content);
            assert_eq!(is_as_it_was, holds, "{sandbox} {path}");
        }
        assert_eq!(!scratch.work("hooks/new").exists(), holds || !scratch.work("hooks").exists());
    }
    let scratch = repository();
    scratch.git(&["config", "core.hooksPath", "hooks"]);
    let model = Model::script([
        Step::call("write_file", json!({"path": "hooks/pre-commit", "content": "x"})),
        Step::text("Then not."),
    ]);
    scratch.run(&model, &BYPASS).assert_code(0);
    assert!(model.last_body().to_string().contains("core.hooksPath"), "{}", model.last_body());
    assert!(!scratch.work("hooks").exists());
}

/// What a rule denies and what is hidden is nowhere to be read as a copy, though an edit of it was asked for.
#[test]
fn a_denied_edit_leaves_no_copy_to_read() {
    // Landlock alone hides nothing in the workspace, and says so.
    if !has_bubblewrap() {
        return;
    }
    let write = || Step::call("write_file", json!({"path": "secrets/key", "content": "x"}));
    let edit = || Step::call("edit_file", json!({"path": "secrets/key", "old_string": "TOP", "new_string": "NO"}));
    let look = || Step::call("grep", json!({"pattern": "TOPSECRET", "path": ".git"}));
    let command = || Step::call("bash", json!({"command": "grep -ra TOPSECRET .git; ls .git/agent"}));
    let rule = ["--deny", "read(secrets/**)", "--permission-mode", "bypass"];
    let hidden = "sandbox_hidden = [\"secrets\"]\n";
    for (config, steps, arguments) in [
        ("", vec![edit(), look(), command()], &rule[..]),
        ("", vec![write(), look(), command()], &rule),
        ("", vec![edit(), look()], &["--permission-mode", "plan"]),
        (hidden, vec![write(), look(), command()], &rule),
        // A permitted edit of what is hidden leaves none either.
        (hidden, vec![Step::call("read_file", json!({"path": "secrets/key"})), write(), look(), command()], &rule[2..]),
    ] {
        let scratch = repository();
        scratch.write(".gitignore", "secrets/\n");
        scratch.write("secrets/key", "TOPSECRET=1\n");
        scratch.write(".agent/config.toml", config);
        scratch.write(".git/info/seen", "TOPSECRET is looked for here\n");
        let model = Model::script(steps.into_iter().chain([Step::text("Done.")]));
        scratch.run(&model, &[&["-p", "go"], arguments].concat()).assert_code(0);
        let body = model.last_body().to_string();
        assert!(body.contains("TOPSECRET is looked for here"), "the search comes there: {body}");
        // The tool that reads the file is allowed to in the last case.
        let reads = usize::from(arguments.len() == 2 && !config.is_empty());
        assert_eq!(body.matches("TOPSECRET=1").count(), reads, "{config} {arguments:?}: {body}");
        let left = fs::read_dir(scratch.work(".git/agent")).map_or(0, Iterator::count);
        assert!(left == 0, "nothing of it is left behind");
    }
}

/// What commands read of `.git` is not where copies for undo lie, also those that another agent has left.
#[test]
fn commands_do_not_read_the_copies_for_undo() {
    // Landlock alone hides nothing in the workspace, and says so.
    if !has_bubblewrap() {
        return;
    }
    for (sandbox, read) in [("workspace-write", 0), ("read-only", 0), ("off", 2)] {
        let scratch = repository();
        scratch.git(&["init", "-q", "nested"]);
        scratch.write(".git/agent/1-1", "TOPSECRET=1\n");
        scratch.write("nested/.git/agent/1-1", "TOPSECRET=2\n");
        let look = "cat .git/HEAD .git/agent/1-1 nested/.git/agent/1-1";
        let (ended, body) = run(&scratch, look, &["--sandbox", sandbox]);
        ended.assert_code(0);
        assert!(body.contains("ref: refs/heads/"), "{body}");
        assert_eq!(body.matches("TOPSECRET=").count(), read, "{sandbox}: {body}");
    }
}

/// Git follows links: a link that is replaced leads it elsewhere, though what it led to is as it was.
#[test]
fn links_on_the_way_to_what_git_runs_stay() {
    if !has_any_sandbox() {
        return;
    }
    for (sandbox, stays) in [("workspace-write", true), ("off", false)] {
        let scratch = repository();
        scratch.write("real/pc", "mine");
        scratch.write("real/hk/pre-push", "mine");
        for (target, link) in
            [("real/pc", "pcl"), ("../../pcl", ".git/hooks/pre-commit"), ("real", "lk"), ("real", "free")]
        {
            fs::create_dir_all(scratch.work(link).parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(target, scratch.work(link)).unwrap();
        }
        scratch.git(&["config", "core.hooksPath", "lk/hk"]);
        let plant = "rm pcl lk free; echo planted > pcl; mkdir -p lk/hk free; echo planted > lk/hk/pre-push";
        run(&scratch, plant, &["--sandbox", sandbox]).0.assert_code(0);
        assert_eq!(scratch.read("pcl").starts_with("mine"), stays, "{sandbox}");
        assert_eq!(scratch.read("lk/hk/pre-push").starts_with("mine"), stays, "{sandbox}");
        assert!(!scratch.work("free").is_symlink(), "what nothing names is free");
    }
}

/// The user's own configuration leads into a workspace that is no repository.
#[test]
fn the_users_git_configuration_holds_without_a_repository() {
    if !has_bubblewrap() {
        return;
    }
    for (named, stays) in [(true, true), (false, false)] {
        let scratch = Scratch::within("/var/tmp".as_ref());
        scratch.write("inc.conf", "mine");
        let path = scratch.work("inc.conf").display().to_string();
        let config = scratch.path("git.conf");
        fs::write(&config, if named { format!("[include]\n path = {path}\n") } else { String::new() }).unwrap();
        let model = Model::script(bash("echo planted > inc.conf; true"));
        let mut command = scratch.run_command(&model, &BYPASS);
        Running::start(command.env("GIT_CONFIG_GLOBAL", &config)).end().assert_code(0);
        assert_eq!(scratch.read("inc.conf") == "mine", stays, "{named}");
    }
}

/// What is not there no mount can hold. Afterwards it is set aside, or the model and the user are told.
#[test]
fn what_other_programs_act_on_does_not_come_into_being_unseen() {
    if !has_any_sandbox() {
        return;
    }
    let attempt = "git init -q .; mkdir -p .agent deep/.agent hooks new/.git; echo x > .agent/config.toml; echo x > new/.envrc; \
                   echo x > deep/.agent/config.toml; echo x > hooks/pre-commit; ls -a; true";
    let made = [".git/HEAD", ".agent/config.toml", "deep/.agent/config.toml", "new/.git", "new/.envrc"];
    for (sandbox, is_held) in [(&[][..], true), (&["--sandbox", "off"][..], false)] {
        let scratch = repository();
        fs::remove_dir_all(scratch.work(".git")).unwrap();
        let (ended, body) = run(&scratch, attempt, sandbox);
        ended.assert_code(0);
        for name in made {
            let is_told = name.starts_with("new/");
            assert_eq!(scratch.work(name).exists(), is_told || !is_held, "{name}: {ended:#?}");
        }
        for words in ["is now `.git.set-aside-", "is now `deep/.agent.set-aside-", "`new/.envrc`, `new/.git`"] {
            assert_eq!((ended.err.contains(words), body.contains(words)), (is_held, is_held), "{words}: {ended:#?}");
        }
        // It is no repository there either: its `HEAD` is set aside, too.
        let aside = set_aside(&scratch);
        assert_eq!(aside.as_ref().is_some_and(|aside| aside.join("config").exists()), is_held, "nothing is lost");
        assert!(aside.is_none_or(|aside| !aside.join("HEAD").exists()));
        assert!(!is_held || !scratch.work(".agent").exists(), "what was made to keep the place is gone");
    }
    let scratch = repository();
    scratch.git(&["config", "core.hooksPath", "hooks"]);
    run(&scratch, "mkdir hooks; echo x > hooks/pre-commit; true", &[]).0.assert_says("is now `hooks.set-aside-");
    assert!(!scratch.work("hooks").exists());
}

/// In a home directory the agent's own folders lie in the workspace. Those that are not there yet cannot be made by a command: it could say
/// there what the next session allows.
#[test]
fn a_command_cannot_configure_the_next_session() {
    if !has_bubblewrap() {
        return;
    }
    for (sandbox, holds) in [("workspace-write", true), ("off", false)] {
        let scratch = repository();
        let home = scratch.work("home");
        let attempt = "mkdir -p home/.config/agent; echo 'allow = [\"bash\"]' > home/.config/agent/config.toml; \
                       mkdir -p home/.local/state/agent/sessions/x; true";
        let model = Model::script(bash(attempt));
        let mut command =
            scratch.run_command(&model, &[&BYPASS as &[&str], &["--allow-home", "--sandbox", sandbox]].concat());
        command.env("HOME", &home).env_remove("AGENT_CONFIG_HOME").env_remove("AGENT_STATE_HOME");
        Running::start(&mut command).end().assert_code(0);
        assert_eq!(home.join(".config/agent/config.toml").exists(), !holds, "{sandbox}");
        assert_eq!(home.join(".local/state/agent/sessions/x").exists(), !holds, "{sandbox}");
    }
}

#[test]
fn the_first_line_says_what_is_in_force() {
    if !has_any_sandbox() {
        return;
    }
    for (sandbox, expected) in
        [("workspace-write", json!("workspace-write")), ("read-only", json!("read-only")), ("off", Value::Null)]
    {
        let model = Model::script([Step::text("Done.")]);
        let ended = repository().run(&model, &["-p", "x", "--sandbox", sandbox, "--output-format", "stream-json"]);
        let first = ended.assert_code(0).lines().swap_remove(0);
        assert_eq!(first["sandbox"]["access"], expected, "{first}");
        assert_eq!(first["sandbox"]["mechanism"].is_string(), sandbox != "off", "{first}");
    }
}

/// A killed agent cannot tidy up; the next one does it, and touches nothing of one that runs.
#[test]
fn temporary_directories_of_killed_agents_are_removed() {
    if !has_any_sandbox() {
        return;
    }
    let scratch = repository();
    let temporary = scratch.path("temporary");
    fs::create_dir(&temporary).unwrap();
    let left = || fs::read_dir(&temporary).unwrap().count();
    let start = |model: &Model| {
        let mut command = scratch.run_command(model, &[&BYPASS as &[&str], &["--no-session"]].concat());
        Running::start(command.env("TMPDIR", &temporary))
    };
    let command = "mkdir -p $TMPDIR/deep/er; echo x > $TMPDIR/deep/er/file; touch ready; sleep 96.5";
    let models = [Model::script(bash(command)), Model::script(bash(command))];
    let killed = start(&models[0]);
    eventually("its command", || scratch.work("ready").exists());
    killed.signal("KILL");
    killed.end();
    assert_eq!(left(), 1, "it is left");
    fs::remove_file(scratch.work("ready")).unwrap();
    let living = start(&models[1]);
    eventually("another command", || scratch.work("ready").exists());
    eventually("the first one's directory to go", || left() == 1);
    start(&Model::script([Step::text("Done.")])).end().assert_code(0);
    assert_eq!(left(), 1, "that of the living one");
    living.signal("TERM");
    living.end().assert_code(143);
    assert_eq!(left(), 0);
}

/// Nothing can be enforced where there is no place for temporary files. A script has to say that it wants no sandbox; by a flag, or in the
/// configuration.
#[test]
fn what_cannot_be_had_is_refused_unless_none_is_wanted() {
    let without = |arguments: &[&str], configuration: &str, code: i32| {
        let model = Model::always(Step::text("Done."));
        let scratch = repository();
        scratch.configure(configuration);
        let mut command = scratch.run_command(&model, &[&BYPASS, arguments].concat());
        let ended = Running::start(command.env("TMPDIR", "/nowhere")).end();
        ended.assert_code(code);
        assert_eq!(ended.err.contains("enforce the sandbox") && ended.err.contains("temporary directory"), code == 52);
        assert_eq!(model.requests().is_empty(), code == 52, "{arguments:?}");
    };
    for arguments in [&["--sandbox", "workspace-write"] as &[&str], &["--sandbox", "read-only"], &[], &["-q"]] {
        without(arguments, "", 52);
    }
    without(&["--verify", "true"], "", 52);
    without(&["--format-on-edit"], "", 52);
    without(&["--sandbox", "off"], "", 0);
    without(&[], "sandbox = \"off\"\n", 0);

    let scratch = repository();
    for (off, code) in [(&[][..], 52), (&["--sandbox", "off"], 0)] {
        let model = Model::always(Step::text("Done."));
        let mut job = scratch.agent(&["job", "run"]);
        job.args(model.flags(Wire::Anthropic)).args(off).arg("do it").env("TMPDIR", "/nowhere");
        let ended = Running::start(&mut job).end();
        assert_eq!(ended.err.contains("enforce the sandbox"), code == 52, "{ended:?}");
        assert_eq!(model.requests().is_empty(), code == 52, "{ended:?}");
    }
    // To look is not to run.
    let mut show = scratch.agent(&["config", "show"]);
    let shown = Running::start(show.env("TMPDIR", "/nowhere")).end();
    assert!(shown.assert_code(0).out.contains("off: commands run as you"), "{shown:?}");
}

/// Where somebody reads it, commands run without one, and it is said, however quiet the rest is.
#[test]
fn at_the_prompt_it_is_said_loudly() {
    let has_none = !has_any_sandbox();
    for (quiet, temporary, is_said) in [("-q", "/nowhere", true), ("", "/nowhere", true), ("-q", "/tmp", has_none)] {
        let scratch = repository();
        let model = Model::always(Step::text("Hello."));
        let program = crate::support::program();
        let line = format!("{} {quiet} {}", program.display(), model.flags(Wire::Anthropic).join(" "));
        let mut command = scratch.command("script");
        command.args(["-q", "-e", "-c", &line, "/dev/null"]).env("SHELL", "/bin/sh").env("TMPDIR", temporary);
        if !std::process::Command::new("script").arg("--version").output().is_ok_and(|found| found.status.success()) {
            println!("skipped: there is no `script`");
            return;
        }
        let mut running = Running::start(&mut command);
        running.wait_for("> ");
        running.write("/quit\n");
        let ended = running.end();
        let said = format!("{}{}", ended.out, ended.err);
        assert_eq!(said.contains("NO SANDBOX: allowed commands run as you"), is_said, "{said}");
    }
    // Nobody reads what is piped.
    let scratch = repository();
    let model = Model::always(Step::text("Hello."));
    let mut prompt = scratch.agent(&[]);
    prompt.args(model.flags(Wire::Anthropic)).env("TMPDIR", "/nowhere");
    Running::start(&mut prompt).end().assert_code(52).assert_says("enforce the sandbox");
}

/// A home with keys in it.
fn with_keys() -> Scratch {
    let scratch = repository();
    let keys = [
        ".ssh/id",
        ".authinfo",
        ".aws/credentials",
        ".config/gh/hosts.yml",
        ".kaggle/kaggle.json",
        ".local/share/opencode/auth.json",
        ".netrc",
        ".cargo/credentials.toml",
        ".wgetrc",
        "mine/key",
    ];
    for name in keys.iter().chain(&[".gitconfig", ".cargo/config.toml"]) {
        let path = scratch.path("home").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "[a]\nkey = 1\n").unwrap();
    }
    scratch
}

/// The files of [`with_keys`] that a command reads.
fn read_in(scratch: &Scratch, arguments: &[&str]) -> Vec<String> {
    let look =
        "cd ~; for f in $(find . -type f | sort); do test -s $f && head -c 1 $f >/dev/null && echo read:$f; done; true";
    let (ended, body) = run(scratch, look, arguments);
    ended.assert_code(0);
    let words = body.split("read:./").skip(1);
    words.map(|word| word.split(['\\', '"', ' ', '\n']).next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn keys_are_hidden_from_commands_unless_the_user_shows_them() {
    let all = [
        ".authinfo",
        ".aws/credentials",
        ".cargo/config.toml",
        ".cargo/credentials.toml",
        ".config/gh/hosts.yml",
        ".gitconfig",
        ".kaggle/kaggle.json",
        ".local/share/opencode/auth.json",
        ".netrc",
        ".ssh/id",
        ".wgetrc",
        "mine/key",
    ];
    assert_eq!(read_in(&with_keys(), &["--sandbox", "off"]), all, "without a sandbox");
    if !has_any_sandbox() {
        return;
    }
    assert_eq!(read_in(&with_keys(), &[]), [".cargo/config.toml", ".gitconfig", "mine/key"]);
    assert_eq!(read_in(&with_keys(), &["--sandbox", "read-only"]), [".cargo/config.toml", ".gitconfig", "mine/key"]);
    let scratch = with_keys();
    scratch.configure("sandbox_hidden = [\"~/mine\"]\nsandbox_readable = [\"~/.ssh\"]\n");
    assert_eq!(read_in(&scratch, &[]), [".cargo/config.toml", ".gitconfig", ".ssh/id"]);
    // A repository shows nothing, and hides its own only.
    let scratch = with_keys();
    scratch.write(".agent/config.toml", "sandbox_readable = [\"~/.ssh\"]\n");
    assert_eq!(read_in(&scratch, &[]), [".cargo/config.toml", ".gitconfig", "mine/key"]);
    for wrong in ["/etc", "../home", "~/mine"] {
        let scratch = with_keys();
        scratch.write(".agent/config.toml", &format!("sandbox_hidden = [\"{wrong}\"]\n"));
        let ended = scratch.run(&Model::always(Step::text("Done.")), &BYPASS);
        assert_eq!(ended.code(), if wrong.starts_with('~') { 0 } else { 52 }, "{wrong}: {ended:?}");
    }
}

/// To hide a program's own settings must not keep it from running.
#[test]
fn programs_run_without_their_hidden_files() {
    if !has_any_sandbox() {
        return;
    }
    let scratch = with_keys();
    for name in [".curlrc", ".wgetrc"] {
        fs::write(scratch.path("home").join(name), "# nothing\n").unwrap();
    }
    // Where nothing listens: wget's code for that is 4.
    let look = "if command -v curl; then curl -sS file:///etc/passwd >/dev/null || echo curl-'failed'; fi; \
                if command -v wget; then wget -q -t 1 http://127.0.0.1:9/; test $? = 4 || echo wget-'failed'; fi; true";
    let (ended, body) = run(&scratch, look, &[]);
    ended.assert_code(0);
    assert!(!body.contains("curl-failed") && !body.contains("wget-failed"), "{body}");
}

#[test]
fn a_repository_hides_what_lies_in_it() {
    if !has_any_sandbox() {
        return;
    }
    for (settings, is_hidden) in [("", false), ("sandbox_hidden = [\".env\", \"deep/secrets\"]\n", true)] {
        let scratch = repository();
        scratch.write(".agent/config.toml", settings);
        scratch.write(".env", "TOKEN=canary-1");
        scratch.write("deep/secrets/key", "canary-2");
        let look = "cat .env deep/secrets/key; mv deep d; cat d/secrets/key; true";
        if is_hidden && !has_bubblewrap() {
            scratch.run(&Model::always(Step::text("Done.")), &BYPASS).assert_code(52).assert_says("hide");
            return;
        }
        let (ended, body) = run(&scratch, look, &[]);
        ended.assert_code(0);
        for canary in ["canary-1", "canary-2"] {
            assert_eq!(body.contains(canary), !is_hidden, "{canary}: {body}");
        }
    }
}

/// A command neither reads another session nor keeps it from being resumed.
#[test]
fn other_sessions_are_out_of_reach() {
    for (sandbox, is_reached) in [("off", true), ("workspace-write", false)] {
        if !is_reached && !has_any_sandbox() {
            return;
        }
        let scratch = repository();
        let first = Model::script([Step::text("The word is canary-word.")]);
        scratch.run(&first, &["-p", "go", "--session-id", "one", "--sandbox", sandbox]).assert_code(0);
        let state = scratch.path("state").display().to_string();
        let attempt = format!(
            "grep -rho canary-word {state} | head -1 | tr a-z A-Z; f=$(find {state} -name 'one.lock'); flock -n \"$f\" echo locked | tr a-z A-Z; \
             cat {}/config.toml; true",
            scratch.path("config").display()
        );
        scratch.configure("# CONFIGURED\n");
        let (ended, body) = run(&scratch, &attempt, &["--sandbox", sandbox]);
        ended.assert_code(0);
        for word in ["CANARY-WORD", "LOCKED", "CONFIGURED"] {
            assert_eq!(body.contains(word), is_reached, "{sandbox} {word}: {body}");
        }
    }
}

/// What package managers link into a workspace is written through; nobody can hold that, so it is told.
#[test]
fn links_that_were_there_before_are_told() {
    if !has_any_sandbox() {
        return;
    }
    let scratch = repository();
    fs::create_dir(scratch.path("store")).unwrap();
    fs::write(scratch.path("store/x.js"), "old\n").unwrap();
    fs::create_dir(scratch.work("node_modules")).unwrap();
    let words = "a file here is hard-linked to a file elsewhere, such as `node_modules/x.js`";
    assert!(!run(&scratch, "true", &[]).0.err.contains("hard-linked"));
    fs::hard_link(scratch.path("store/x.js"), scratch.work("node_modules/x.js")).unwrap();
    run(&scratch, "echo evil >> node_modules/x.js", &[]).0.assert_says(words);
    assert_eq!(fs::read_to_string(scratch.path("store/x.js")).unwrap(), "old\nevil\n", "it is true");
    for quiet in [&["-q"][..], &["--sandbox", "read-only"], &["--sandbox", "off"]] {
        assert!(!run(&scratch, "true", quiet).0.err.contains("hard-linked"), "{quiet:?}");
    }
}

#[test]
fn commitments_are_checked_in_the_sandbox() {
    if !has_any_sandbox() {
        return;
    }
    for (sandbox, code) in [("workspace-write", 63), ("off", 0)] {
        let model = Model::always(Step::text("Done."));
        let scratch = repository();
        let arguments = ["--sandbox", sandbox, "--verify", "echo x > ../outside.txt"];
        scratch.run(&model, &[&BYPASS, arguments.as_slice()].concat()).assert_code(code);
        assert_eq!(scratch.path("outside.txt").exists(), code == 0);
    }
}

#[test]
fn formatters_run_in_the_sandbox() {
    if !has_any_sandbox() {
        return;
    }
    for (sandbox, leaks) in [("workspace-write", false), ("off", true)] {
        let scratch = repository();
        let leak = scratch.path("leak.txt").display().to_string();
        let formatter = scratch.path("home/fmt");
        // The same for every text, so that a file that it made was formatted before.
        fs::write(&formatter, format!("#!/bin/sh\necho leak > {leak}\necho formatted > \"$1\"\n")).unwrap();
        let mut mode = fs::metadata(&formatter).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
        fs::set_permissions(&formatter, mode).unwrap();
        let program = formatter.display();
        scratch.configure(&format!(
            "[[formatters]]\nextensions = [\"odd\"]\nprogram = \"{program}\"\narguments = [\"{{file}}\"]\n"
        ));
        let model = Model::script([
            Step::call("write_file", json!({"path": "new.odd", "content": "raw\n"})),
            Step::text("Done."),
        ]);
        let ended = scratch.run(&model, &[&BYPASS as &[&str], &["--format-on-edit", "--sandbox", sandbox]].concat());
        ended.assert_code(0);
        assert_eq!(scratch.read("new.odd"), "formatted\n", "{ended:?}");
        assert_eq!(fs::exists(&leak).unwrap(), leaks, "{sandbox}");
    }
}

/// What a command started ends with an agent that is killed, also what left its session; in a namespace whatever it left.
#[test]
fn nothing_outlives_a_killed_agent() {
    let sandboxes = if has_bubblewrap() { ["workspace-write", "off"].as_slice() } else { ["off"].as_slice() };
    for sandbox in sandboxes {
        let sleep = format!("sleep 97{}.{}", std::process::id(), sandbox.len());
        let daemons = format!("setsid sh -c '({sleep} &) ; exec {sleep}'");
        let strays =
            if *sandbox == "off" { String::new() } else { format!("(env -i {daemons} > /dev/null 2>&1 &) ; ") };
        let command = format!("({daemons} &) ; {strays} sleep 0.2; touch ready; {sleep}");
        let model = Model::script(bash(&command));
        let scratch = repository();
        let running =
            Running::start(&mut scratch.run_command(&model, &[&BYPASS as &[&str], &["--sandbox", sandbox]].concat()));
        eventually("the command", || scratch.work("ready").exists() && lives(&sleep));
        running.signal("KILL");
        running.end();
        eventually("its end", || !lives(&sleep));
    }
}

#[test]
fn the_check_says_what_holds() {
    let scratch = repository();
    for kind in ["bubblewrap", "landlock"] {
        let ended = scratch.ended(&["sandbox", "check", "--json", "--with", kind]);
        let report: Value = serde_json::from_str(&ended.out).unwrap();
        if report["mechanism"].is_null() {
            println!("skipped: {}", report["error"]);
            ended.assert_code(1);
            continue;
        }
        ended.assert_code(i32::from(report["good"] != true));
        let probes = report["probes"].as_array().unwrap();
        assert!(probes.len() >= 25, "{}", probes.len());
        let open = probes.iter().filter(|probe| probe["result"] == "open").count();
        assert_eq!(open == 0, report["good"] == true);
        assert_eq!(open == 0, kind == "bubblewrap", "{report:#}");
        let result = |id: &str| probes.iter().find(|probe| probe["id"] == id).map(|probe| probe["result"].clone());
        assert_eq!(result("link-made-before"), Some(json!("known")), "{report:#}");
        for id in ["named-pipe", "set-id-file", "read-hidden", "lock-hidden", "limits", "priority"] {
            assert_eq!(result(id), Some(json!("held")), "{id}: {report:#}");
        }
        let text = scratch.ended(&["sandbox", "check", "--with", kind]);
        assert_eq!(text.code(), ended.code());
        assert_eq!(text.out.lines().count(), probes.len() + 2, "{}", text.out);
        scratch.ended(&["doctor"]).assert_code(0);
    }
    assert!(scratch.ended(&["doctor"]).out.contains("sandbox"));
}
