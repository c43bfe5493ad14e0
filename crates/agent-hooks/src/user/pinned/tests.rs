//! What is understood, and that everything else is refused.

use super::*;
use std::os::unix::fs::PermissionsExt as _;

struct Ground {
    root: TempDir,
}

impl Ground {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("work/tools")).unwrap();
        let ground = Self { root };
        ground.write("tools/check", "#!/bin/sh\necho checked\n");
        ground
    }

    fn work(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("work")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.work().join(name), text).unwrap();
        fs::set_permissions(self.work().join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn grounds(&self) -> Grounds {
        Grounds {
            directory: self.work(),
            writable: vec![self.work()],
            copies: self.root.path().join("state/hooks"),
            search_path: None,
        }
    }

    fn pinned(&self, command: &str) -> Result<PinnedScript, String> {
        PinnedScript::of(command, self.grounds())
    }
}

#[test]
fn a_script_alone_is_understood() {
    let ground = Ground::new();
    ground.write("tools/plain.py", "print(1)\n");
    for command in [
        "tools/check",
        "./tools/check --all -v level=3",
        "sh tools/check",
        "/bin/sh ./tools/check x",
        "\"$AGENT_PROJECT_DIR/tools/check\" x",
        "${AGENT_PROJECT_DIR}/tools/check",
    ] {
        let pinned = ground.pinned(command).unwrap_or_else(|why| panic!("{command}: {why}"));
        assert_eq!(pinned.script().path().canonicalize().unwrap(), ground.work().join("tools/check"), "{command}");
        assert!(pinned.prepare().is_ok(), "{command}");
    }
}

#[test]
fn everything_else_is_refused() {
    let ground = Ground::new();
    ground.write("y", "#!/bin/sh\n");
    ground.write("x.py", "import json\n");
    ground.write("odd", "#!/usr/bin/env -S sh -x\n");
    ground.write("stdin", "#!/bin/sh -s\n");
    ground.write("switch", "#!/usr/bin/make -f\n");
    ground.write("elf", "\u{7f}ELF");
    ground.write("inside", "#!./y\n");
    ground.write("large", &format!("#!/bin/sh\n#{}", "x".repeat(1024 * 1024)));
    for command in [
        "bash -o pipefail ./tools/check",
        "python3 -W ignore x.py",
        "timeout 5 ./tools/check",
        "cd tools && ./check",
        "./tools/check>/dev/null",
        "./tools/check > /dev/null",
        "./tools/check|cat",
        "(./tools/check)",
        "test -x tools/check && tools/check",
        "\"$(pwd)/tools/check\"",
        "env -u A ./tools/check",
        "A=1 ./tools/check",
        "A=./tools/check ./y",
        "exec ./tools/check",
        "./tools/check; ./y",
        "./tools/check ./y",
        "./tools/check y",
        "./tools/check --with=y",
        "./tools/check\n./y",
        "./tools/ch*",
        "./tools/{check,y}",
        "~/check",
        "$HOME/check",
        "'./tools/check'",
        "sh",
        "sh -c ./tools/check",
        "./x.py",
        "./odd",
        "./stdin",
        "perl switch",
        "./elf",
        "./inside",
        "./large",
        "./nothing",
        "./tools",
        "make lint",
        "/usr/bin/env ./tools/check",
        ". ./tools/check",
        "",
    ] {
        assert!(ground.pinned(command).is_err(), "{command}");
    }
}

#[test]
fn what_is_prepared_is_a_copy_of_what_was_compared() {
    let ground = Ground::new();
    let pinned = ground.pinned("./tools/check now").unwrap();
    let prepared = pinned.prepare().unwrap();
    let [copy, now] = &prepared.arguments[..] else { panic!("{prepared:?}") };
    assert_eq!((prepared.program.as_str(), now.as_str()), ("/bin/sh", "now"));
    ground.write("tools/check", "#!/bin/sh\necho other\n");
    assert_eq!(fs::read_to_string(copy).unwrap(), "#!/bin/sh\necho checked\n", "whatever is written afterwards");
    assert!(!Path::new(copy).starts_with(ground.work()));
    let why = pinned.prepare().unwrap_err();
    assert!(why.ends_with("changed since it was trusted"), "{why}");
    let copy = PathBuf::from(copy);
    drop(prepared);
    assert!(!copy.exists());
}

#[test]
fn interpreters_and_copies_come_from_where_commands_cannot_write() {
    let ground = Ground::new();
    fs::create_dir_all(ground.work().join("bin")).unwrap();
    ground.write("bin/python3", "#!/bin/sh\n");
    ground.write("x.py", "print(1)\n");
    let search = |path: &str| Grounds { search_path: Some(path.into()), ..ground.grounds() };
    let inside = ground.work().join("bin");
    let link = ground.root.path().join("link");
    std::os::unix::fs::symlink(&inside, &link).unwrap();
    for path in [inside.to_str().unwrap(), link.to_str().unwrap(), "bin", "."] {
        assert!(PinnedScript::of("python3 x.py", search(path)).is_err(), "{path}");
    }
    let outside = ground.root.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::copy(inside.join("python3"), outside.join("python3")).unwrap();
    let both = format!("{}:{}", inside.display(), outside.display());
    let prepared = PinnedScript::of("python3 x.py", search(&both)).unwrap().prepare().unwrap();
    assert_eq!(prepared.program, outside.join("python3").to_str().unwrap());
    assert_eq!(prepared.search_path.as_deref(), outside.to_str(), "the script finds no programs there either");

    for copies in [ground.work().join("state"), PathBuf::from("state")] {
        let why = PinnedScript::of("tools/check", Grounds { copies, ..ground.grounds() }).unwrap_err();
        assert!(why.starts_with("copies cannot be kept in"), "{why}");
    }
}

#[test]
fn a_pipe_in_the_place_of_a_script_holds_nobody() {
    let ground = Ground::new();
    let pipe = ground.work().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(ground.pinned("./pipe").unwrap_err().contains("not a regular file"));
}
