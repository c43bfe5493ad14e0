//! The agent's own directories where `sandbox_writable` or a mount puts them in reach of commands. The next session obeys what they say.

use crate::second_mounts::{can_try, with_mounts};
use crate::support::{Ended, Model, Running, Scratch, has_bubblewrap};
use crate::walls::bash;
use agent_testkit::http::Step;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// One command, where all is allowed that can be, and whether the model was asked at all.
fn run(scratch: &Scratch, command: &str, more: &[&str]) -> (Ended, bool) {
    let model = Model::script([bash(command), Step::text("Done.")]);
    let ended = scratch.run(&model, &[&["-p", "x", "--permission-mode", "bypass"], more].concat());
    let is_asked = !model.requests().is_empty();
    (ended, is_asked)
}

fn repository() -> Scratch {
    Scratch::repository_in("/var/tmp")
}

/// What the user lets commands write may hold the agent's own directories: they stay as they are.
#[test]
fn what_may_be_written_besides_does_not_open_the_agents_own_directories() {
    if !has_bubblewrap() {
        return;
    }
    for writable in ["", "config/.."] {
        let scratch = repository();
        fs::create_dir_all(scratch.path("config/hooks")).unwrap();
        let settings = format!("sandbox_writable = [\"{}\"]\n", scratch.path(writable).display());
        scratch.configure(&settings);
        let tries = "echo '# evil' >> ../config/config.toml; echo x > ../config/hooks/new; mv ../config ../moved; \
                     echo x > ../state/new; echo x > ../home/new; true";
        run(&scratch, tries, &[]).0.assert_code(0).assert_says("and 1 other directory");
        assert_eq!(fs::read_to_string(scratch.path("config/config.toml")).unwrap(), settings, "{writable}");
        assert!(!scratch.path("config/hooks/new").exists() && !scratch.path("state/new").exists(), "{writable}");
        assert!(scratch.path("home/new").exists(), "the control: {writable}");
    }
    for (writable, is_own) in [("config", true), ("config/hooks", true), ("state/trust", true), ("configs", false)] {
        let scratch = repository();
        fs::create_dir_all(scratch.path(writable)).unwrap();
        scratch.configure(&format!("sandbox_writable = [\"{}\"]\n", scratch.path(writable).display()));
        let (ended, is_asked) = run(&scratch, "true", &[]);
        assert_eq!(ended.code(), if is_own { 52 } else { 0 }, "{writable}: {ended:?}");
        assert_eq!(!is_asked, is_own, "{writable}");
    }
}

/// No mount holds a link, nor where a link in the agent's own directories leads.
#[test]
fn links_through_what_may_be_written_besides_are_refused() {
    if !has_bubblewrap() {
        return;
    }
    type Prepare = fn(&Scratch);
    let cases: [(&str, Prepare, bool); 3] = [
        (
            "the configuration is a link",
            |scratch| {
                fs::rename(scratch.path("config/config.toml"), scratch.path("open/agent.toml")).unwrap();
                symlink(scratch.path("open/agent.toml"), scratch.path("config/config.toml")).unwrap();
            },
            true,
        ),
        (
            "a link on the way to the configuration",
            |scratch| {
                fs::rename(scratch.path("config"), scratch.path("real")).unwrap();
                symlink(scratch.path("real"), scratch.path("open/hop")).unwrap();
                symlink(scratch.path("open/hop"), scratch.path("config")).unwrap();
            },
            true,
        ),
        (
            "a link that leads past it",
            |scratch| {
                fs::rename(scratch.path("config"), scratch.path("real")).unwrap();
                symlink(scratch.path("real"), scratch.path("config")).unwrap();
            },
            false,
        ),
    ];
    for (name, prepare, is_refused) in cases {
        for (more, is_unconfirmed) in [(&[][..], true), (&["--allow-home"], false)] {
            let scratch = repository();
            fs::create_dir(scratch.path("open")).unwrap();
            scratch.configure(&format!("sandbox_writable = [\"{}\"]\n", scratch.path("open").display()));
            prepare(&scratch);
            let (ended, is_asked) = run(&scratch, "true", more);
            let is_refused = is_refused && is_unconfirmed;
            assert_eq!(ended.code(), if is_refused { 42 } else { 0 }, "{name}: {ended:?}");
            assert_eq!(!is_asked, is_refused, "{name}");
            assert_eq!(
                ended.err.contains("leads into a place where commands may write"),
                is_refused,
                "{name}: {ended:?}"
            );
        }
    }
}

/// A directory that is not there yet, in one that is mounted in the workspace: commands do not make it.
#[test]
fn what_is_not_there_yet_is_not_made_through_a_mount() {
    if !can_try() {
        return;
    }
    for (variable, path) in
        [("AGENT_CONFIG_HOME", "agent/config.toml"), ("AGENT_STATE_HOME", "agent/trust/new"), ("", "free")]
    {
        for bwrap in [true, false] {
            let scratch = repository();
            for folder in ["parent", "work/in"] {
                fs::create_dir(scratch.path(folder)).unwrap();
            }
            let command = format!("mkdir -p $(dirname in/{path}); echo evil > in/{path}; true");
            let model = Model::script([bash(&command), Step::text("Done.")]);
            let mut start = scratch.run_command(&model, &["-p", "x", "--permission-mode", "bypass"]);
            if !variable.is_empty() {
                start.env(variable, scratch.path("parent/agent"));
            }
            let (parent, at) = (scratch.path("parent"), scratch.work("in"));
            let mut mounts = vec![(parent.as_path(), at.as_path())];
            if !bwrap {
                mounts.push((Path::new("/usr/bin/false"), Path::new("/usr/bin/bwrap")));
            }
            let ended = Running::start(&mut with_mounts(&mounts, &start)).end();
            let is_own = !variable.is_empty();
            assert_eq!(scratch.path("parent").join(path).exists(), !is_own, "{variable}, {bwrap}: {ended:?}");
            // What nothing can hold is refused before.
            assert_eq!(ended.code(), if is_own && !bwrap { 42 } else { 0 }, "{variable}, {bwrap}: {ended:?}");
        }
    }
}

/// What git's configuration of the user names and is not there yet.
#[test]
fn what_a_configuration_names_is_not_made_through_a_mount() {
    if !can_try() || !has_bubblewrap() {
        return;
    }
    for (setting, path) in [
        ("[include]\n\tpath = PARENT/later\n", "later"),
        ("[core]\n\thooksPath = PARENT/hooks\n", "hooks/pre-commit"),
        ("[user]\n\tname = x\n", "free"),
    ] {
        let scratch = repository();
        for folder in ["parent", "work/in"] {
            fs::create_dir(scratch.path(folder)).unwrap();
        }
        let parent = scratch.path("parent");
        fs::write(scratch.path("home/.gitconfig"), setting.replace("PARENT", &parent.display().to_string())).unwrap();
        let command = format!("mkdir -p $(dirname in/{path}); echo evil > in/{path}; true");
        let model = Model::script([bash(&command), Step::text("Done.")]);
        let start = scratch.run_command(&model, &["-p", "x", "--permission-mode", "bypass"]);
        let ended = Running::start(&mut with_mounts(&[(&parent, &scratch.work("in"))], &start)).end();
        ended.assert_code(0);
        assert_eq!(parent.join(path).exists(), path == "free", "{path}: {ended:?}");
    }
}

/// A home directory that does not exist yet, in the workspace.
#[test]
fn a_home_that_is_made_later_in_the_workspace_is_asked_for() {
    for (home, is_refused) in [("work/home", true), ("work/link", true), ("later", false)] {
        let scratch = repository();
        symlink(scratch.path("home"), scratch.work("link")).unwrap();
        let model = Model::script([Step::text("Done.")]);
        let mut start = scratch.run_command(&model, &["-p", "x", "--sandbox", "off"]);
        let ended = Running::start(start.env("HOME", scratch.path(home))).end();
        assert_eq!(ended.code(), if is_refused { 42 } else { 0 }, "{home}: {ended:?}");
        assert_eq!(model.requests().is_empty(), is_refused, "{home}: {ended:?}");
    }
}

/// A file stands where a directory of the agent's own has to be: commands could replace it.
#[test]
fn an_own_directory_that_cannot_be_made_in_the_workspace_is_an_error() {
    if !has_bubblewrap() {
        return;
    }
    let scratch = repository();
    scratch.write("file", "x");
    let model = Model::script([Step::text("Done.")]);
    let mut start = scratch.run_command(&model, &["-p", "x"]);
    let ended = Running::start(start.env("AGENT_CONFIG_HOME", scratch.work("file/agent"))).end();
    ended.assert_code(52).assert_says("lies where commands may write");
    assert!(model.requests().is_empty());
}
