//! The same directory mounted in two places, as image-based systems, subvolumes and containers have it. Each test mounts in a namespace of
//! its own.

use crate::support::{Ended, Model, Running, Scratch};
use crate::walls::{trap, what_ran};
use agent_testkit::http::Step;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// A command that runs where these directories are mounted in two places.
pub(crate) fn with_mounts(mounts: &[(&Path, &Path)], command: &Command) -> Command {
    with_kind_of_mounts("--bind", mounts, command)
}

fn with_kind_of_mounts(kind: &str, mounts: &[(&Path, &Path)], command: &Command) -> Command {
    let mut script = String::new();
    for (from, to) in mounts {
        script.push_str(&format!("mount {kind} '{}' '{}' || exit 99; ", from.display(), to.display()));
    }
    let kind = if rustix::process::geteuid().is_root() { "-m" } else { "-rm" };
    let mut wrapped = Command::new("unshare");
    wrapped.args([kind, "sh", "-c", &format!("{script}exec \"$@\""), "sh"]).arg(command.get_program());
    wrapped.args(command.get_args()).env_clear().current_dir(command.get_current_dir().unwrap());
    wrapped.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    wrapped
}

/// Says so where nothing can be mounted or no sandbox can be had.
pub(crate) fn can_try() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(can_mount_twice)
}

#[expect(clippy::print_stdout, reason = "what was skipped is said")]
fn can_mount_twice() -> bool {
    let scratch = Scratch::repository_in("/var/tmp");
    let (from, to) = (scratch.path("home"), scratch.path("config"));
    let check = scratch.agent(&["sandbox", "check", "--json"]);
    let checked = with_mounts(&[(&from, &to)], &check).output();
    let works = checked.is_ok_and(|checked| {
        let said = String::from_utf8_lossy(&checked.stdout);
        said.contains("\"mechanism\"") && !said.contains("\"mechanism\": null")
    });
    if !works {
        println!("skipped: no second mount or no sandbox can be made here");
    }
    works
}

/// Whether the model was shown this.
fn reads(model: &Model, words: &str) -> bool {
    model.last_body().to_string().contains(words)
}

fn bash(command: &str) -> [Step; 2] {
    [Step::call("bash", json!({ "command": command })), Step::text("Done.")]
}

fn with_keys() -> Scratch {
    let scratch = Scratch::repository_in("/var/tmp");
    fs::create_dir_all(scratch.path("home/.ssh/deep")).unwrap();
    for folder in ["alias", "part"] {
        fs::create_dir(scratch.path(folder)).unwrap();
    }
    for (name, text) in [(".ssh/id", "SSH-CANARY"), (".ssh/deep/id", "DEEP-CANARY"), (".netrc", "NETRC-CANARY")] {
        fs::write(scratch.path("home").join(name), text).unwrap();
    }
    scratch
}

#[test]
fn what_is_hidden_is_hidden_by_every_name() {
    if !can_try() {
        return;
    }
    let by_all_names =
        "cd ..; cat home/.ssh/id home/.netrc alias/.ssh/id alias/.ssh/deep/id alias/.netrc part/id; ls; true";
    let nothing = Path::new("/usr/bin/false");
    for (arguments, without_namespaces, is_hidden) in
        [(&[][..], false, true), (&[], true, true), (&["--sandbox", "off"], false, false)]
    {
        let scratch = with_keys();
        let (home, alias) = (scratch.path("home"), scratch.path("alias"));
        let (deep, part) = (scratch.path("home/.ssh/deep"), scratch.path("part"));
        let mut mounts = vec![(home.as_path(), alias.as_path()), (&deep, &part)];
        let bwrap = Path::new("/usr/bin/bwrap");
        if without_namespaces && bwrap.exists() {
            mounts.push((nothing, bwrap));
        }
        let model = Model::script(bash(by_all_names));
        let arguments = [&["-p", "x", "--permission-mode", "bypass"], arguments].concat();
        let ended = Running::start(&mut with_mounts(&mounts, &scratch.run_command(&model, &arguments))).end();
        ended.assert_code(0);
        if without_namespaces {
            ended.assert_says("(Landlock)");
        }
        for canary in ["SSH-CANARY", "DEEP-CANARY", "NETRC-CANARY"] {
            assert_eq!(!reads(&model, canary), is_hidden, "{canary}, {arguments:?}, {without_namespaces}");
        }
        assert!(reads(&model, "alias"), "the command ran");
    }
}

/// Of the whole system: there is a second `/`, in a directory of which the second one is a part again.
#[test]
fn a_second_mount_of_everything_shows_nothing_that_is_hidden() {
    if !can_try() {
        return;
    }
    let is_root = rustix::process::geteuid().is_root();
    let nothing = Path::new("/usr/bin/false");
    let bwrap = Path::new("/usr/bin/bwrap");
    // An ordinary user may not take apart what others have mounted.
    let kinds: &[&str] = if is_root { &["--bind", "--rbind"] } else { &["--rbind"] };
    for (kind, at) in kinds.iter().flat_map(|kind| ["alias", "deep/er", "deep/er/still"].map(|at| (*kind, at))) {
        for (arguments, without_namespaces, is_hidden) in
            [(&[][..], false, true), (&[], true, true), (&["--sandbox", "off"], false, false)]
        {
            let scratch = with_keys();
            fs::create_dir_all(scratch.path(at)).unwrap();
            fs::write(scratch.path("plain"), "PLAIN-CANARY").unwrap();
            let (at, root) = (scratch.path(at), Path::new("/"));
            let mut mounts = vec![(root, at.as_path())];
            if without_namespaces && bwrap.exists() {
                mounts.insert(0, (nothing, bwrap));
            }
            let second = format!("{}{}", at.display(), scratch.path("").display());
            let command = format!("cd '{second}'; cat plain home/.ssh/id home/.ssh/deep/id home/.netrc; true");
            let model = Model::script(bash(&command));
            let arguments = [&["-p", "x", "--permission-mode", "bypass"], arguments].concat();
            let run = scratch.run_command(&model, &arguments);
            let ended = Running::start(&mut with_kind_of_mounts(kind, &mounts, &run)).end();
            ended.assert_code(0);
            if without_namespaces {
                ended.assert_says("(Landlock)");
            }
            for canary in ["SSH-CANARY", "DEEP-CANARY", "NETRC-CANARY"] {
                let what = (canary, kind, &at, without_namespaces, &ended);
                assert_eq!(!reads(&model, canary), is_hidden, "{what:?}");
            }
            assert!(reads(&model, "PLAIN-CANARY"), "the control: {kind} {at:?} {ended:?}");
        }
    }
}

/// What is mounted in the workspace from where tools do not write.
#[test]
fn tools_do_not_write_protected_places_by_a_second_mount() {
    if !can_try() {
        return;
    }
    let cases = [
        ("work/.git/hooks", "m", "m/pre-commit", Some("work/.git/hooks/pre-commit")),
        ("work/.git", "m", "m/hooks/pre-commit", Some("work/.git/hooks/pre-commit")),
        ("work/.git/config", "f", "f", Some("work/.git/config")),
        ("other/.git/hooks", "m", "m/pre-commit", Some("other/.git/hooks/pre-commit")),
        ("work/.envrc", "f", "f", Some("work/.envrc")),
        ("config", "m", "m/config.toml", Some("config/config.toml")),
        ("config/hooks", "m", "m/deep/new", Some("config/hooks/deep/new")),
        ("config/hooks/one", "f", "f", Some("config/hooks/one")),
        ("state", "m", "m/trust/new", Some("state/trust/new")),
        ("state/trust", "m", "m/new", Some("state/trust/new")),
        (".", "m", "m/config/config.toml", Some("config/config.toml")),
        ("home/.config", "m", "m/git/config", Some("home/.config/git/config")),
        ("home/hooks", "m", "m/pre-commit", Some("home/hooks/pre-commit")),
        ("free", "m", "m/new", None),
        ("home/free", "m", "m/git/config", None),
    ];
    for (from, at, path, is_protected) in cases {
        let scratch = Scratch::repository_in("/var/tmp");
        for folder in ["work/m", "other/.git/hooks", "config/hooks", "state/trust", "home/.config/git", "home/hooks"] {
            fs::create_dir_all(scratch.path(folder)).unwrap();
        }
        for folder in ["free", "home/free"] {
            fs::create_dir_all(scratch.path(folder)).unwrap();
        }
        for file in ["work/f", "work/.envrc", "config/hooks/one"] {
            fs::write(scratch.path(file), "good\n").unwrap();
        }
        fs::write(scratch.path("home/.gitconfig"), "[core]\n\thooksPath = ~/hooks\n").unwrap();
        let model = Model::script([
            Step::call("read_file", json!({ "path": path })),
            Step::call("write_file", json!({ "path": path, "content": "EVIL" })),
            Step::text("Done."),
        ]);
        // All of it holds the home directory, too.
        let confirmed: &[&str] = if from == "." { &["--allow-home"] } else { &[] };
        let arguments = [&["-p", "x", "--permission-mode", "bypass"], confirmed].concat();
        let command = scratch.run_command(&model, &arguments);
        let mounts = [(scratch.path(from), scratch.work(at))];
        let ended = Running::start(&mut with_mounts(&[(&mounts[0].0, &mounts[0].1)], &command)).end();
        ended.assert_code(0);
        let written = is_protected
            .map_or_else(|| scratch.path(from).join(path.strip_prefix("m/").unwrap()), |path| scratch.path(path));
        let content = fs::read_to_string(&written).unwrap_or_default();
        assert_eq!(content.contains("EVIL"), is_protected.is_none(), "{from} at {at}: {ended:?}");
        let said = reads(&model, "no tool may change it");
        assert_eq!(said, is_protected.is_some(), "{from} at {at}: {}", model.last_body());
    }
}

/// `PATH` names a directory of the workspace by where else the workspace, or a part of it, is mounted.
#[test]
fn a_program_in_a_second_mount_of_the_workspace_is_not_run() {
    if !can_try() {
        return;
    }
    for (from, entry, is_run) in [
        ("work", "alias/bin", false),
        ("work/bin", "alias", false),
        (".", concat!("alias/", "work", "/bin"), false),
        ("tools", "alias", true),
    ] {
        let scratch = Scratch::repository_in("/var/tmp");
        let canary = scratch.path("canary");
        for folder in ["work/bin", "tools", "alias"] {
            fs::create_dir_all(scratch.path(folder)).unwrap();
        }
        for folder in ["work/bin", "tools"] {
            let git = scratch.path(folder).join("git");
            fs::write(&git, trap(&canary)).unwrap();
            fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let model = Model::script([Step::text("Done.")]);
        let mut command = scratch.run_command(&model, &["-p", "x"]);
        let path = command.get_envs().find_map(|(name, value)| (name == "PATH").then(|| value.unwrap().to_owned()));
        let path = format!("{}:{}", scratch.path(entry).display(), path.unwrap().display());
        command.env("PATH", path);
        let mounts = [(scratch.path(from), scratch.path("alias"))];
        Running::start(&mut with_mounts(&[(&mounts[0].0, &mounts[0].1)], &command)).end();
        assert_eq!(!what_ran(&canary).is_empty(), is_run, "{from} at {entry}");
    }
}

#[test]
fn a_second_mount_of_the_home_is_the_home() {
    if !can_try() {
        return;
    }
    for (from, at, directory, is_refused) in [
        ("home", "alias", "alias", true),
        (".", "alias", "alias", true),
        ("home/project", "alias", "alias", false),
        ("home", "alias/in", "alias", true),
        (".", "alias/in", "alias", true),
        ("home/project", "alias/in", "alias", false),
    ] {
        let scratch = Scratch::new();
        for folder in ["alias/in", "home/project"] {
            fs::create_dir_all(scratch.path(folder)).unwrap();
        }
        let model = Model::script([Step::text("Done.")]);
        let place = scratch.path(directory).display().to_string();
        let command = scratch.run_command(&model, &["-p", "x", "--sandbox", "off", "-C", &place]);
        let ended: Ended =
            Running::start(&mut with_mounts(&[(&scratch.path(from), &scratch.path(at))], &command)).end();
        assert_eq!(ended.err.contains("holds your home directory"), is_refused, "{from}: {ended:?}");
        assert_eq!(model.requests().is_empty(), is_refused, "{from}: {ended:?}");
    }
}

/// Without bubblewrap nothing is protected in the workspace, so nothing of the agent's own may be mounted there.
#[test]
fn own_directories_that_are_mounted_in_the_workspace_are_refused_with_landlock_alone() {
    let bwrap = Path::new("/usr/bin/bwrap");
    if !can_try() || !bwrap.exists() {
        return;
    }
    for (from, is_own) in [("config", true), ("config/hooks", true), ("state", true), ("home/project", false)] {
        for arguments in [&[][..], &["--allow-home"]] {
            let scratch = Scratch::repository_in("/var/tmp");
            for folder in ["work/in", "config/hooks", "home/project"] {
                fs::create_dir_all(scratch.path(folder)).unwrap();
            }
            let (from_path, at) = (scratch.path(from), scratch.work("in"));
            let mounts = [(from_path.as_path(), at.as_path()), (Path::new("/usr/bin/false"), bwrap)];
            let model = Model::script([Step::text("Done.")]);
            let command = scratch.run_command(&model, &[&["-p", "x"], arguments].concat());
            let ended = Running::start(&mut with_mounts(&mounts, &command)).end();
            let is_refused = is_own && arguments.is_empty();
            ended.assert_code(if is_refused { 42 } else { 0 });
            assert_eq!(
                ended.err.contains("leads into a place where commands may write"),
                is_refused,
                "{from}: {ended:?}"
            );
            assert_eq!(model.requests().is_empty(), is_refused, "{from}: {ended:?}");
        }
    }
}

/// Of a directory that was mounted after the turn, the names say nothing.
#[test]
fn undo_does_not_write_what_is_mounted_in_the_working_tree() {
    if !can_try() {
        return;
    }
    for part in [Some("config"), Some("config/deep"), None] {
        let scratch = Scratch::repository_in("/var/tmp");
        scratch.write("m/config.toml", "# before\n");
        let steps = [
            Step::call("read_file", json!({"path": "m/config.toml"})),
            Step::call("write_file", json!({"path": "m/config.toml", "content": "# after\n"})),
            Step::text("Done."),
        ];
        let flags = ["-p", "x", "--permission-mode", "bypass", "--no-auto-commit"];
        scratch.run(&Model::script(steps), &flags).assert_code(0);
        fs::create_dir_all(scratch.path("config/deep")).unwrap();
        let at = scratch.work("m");
        let from = part.map(|part| scratch.path(part));
        let config = from.as_ref().map_or(at.join("config.toml"), |from| from.join("config.toml"));
        fs::write(&config, "# after\n").unwrap();
        let mounts: Vec<(&Path, &Path)> = from.iter().map(|from| (from.as_path(), at.as_path())).collect();
        let undone = Running::start(&mut with_mounts(&mounts, &scratch.agent(&["undo"]))).end();
        let is_mounted = part.is_some();
        undone.assert_code(i32::from(is_mounted));
        let text = fs::read_to_string(&config).unwrap();
        assert_eq!(text, if is_mounted { "# after\n" } else { "# before\n" }, "{part:?}: {undone:#?}");
        assert_eq!(undone.out.contains("left m/config.toml: it is protected"), is_mounted, "{undone:#?}");
    }
}

/// A protected directory that was mounted in the place of an ordinary one after the turn.
#[test]
fn undo_restores_nothing_with_a_protected_name_where_it_was_mounted_from() {
    if !can_try() {
        return;
    }
    for (from, name, is_restored) in
        [(".git/hooks", "pre-commit", false), (".vscode", "tasks.json", false), ("free", "tasks.json", true)]
    {
        let scratch = Scratch::repository_in("/var/tmp");
        let file = format!("m/{name}");
        scratch.write(&file, "#!/bin/sh\n");
        let patch = format!("*** Begin Patch\n*** Delete File: {file}\n*** End Patch\n");
        let steps = [
            Step::call("read_file", json!({ "path": file })),
            Step::call("apply_patch", json!({ "patch": patch })),
            Step::text("Done."),
        ];
        let flags = ["-p", "x", "--permission-mode", "bypass", "--no-auto-commit"];
        scratch.run(&Model::script(steps), &flags).assert_code(0);
        assert!(!scratch.work(&file).exists());
        let (origin, place) = (scratch.work(from), scratch.work("m"));
        fs::create_dir_all(&origin).unwrap();
        fs::create_dir_all(&place).unwrap();
        let undo = scratch.agent(&["undo"]);
        let ended = Running::start(&mut with_mounts(&[(&origin, &place)], &undo)).end();
        assert_eq!(origin.join(name).exists(), is_restored, "{from}: {ended:?}");
    }
}
