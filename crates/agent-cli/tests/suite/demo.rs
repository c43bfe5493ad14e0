//! `agent demo`: what a newcomer runs first.

use crate::support::{Running, Scratch, without_programs};
use std::path::PathBuf;

#[test]
fn the_repository_really_ends_up_fixed() {
    let scratch = Scratch::new();
    let place = scratch.path("place");
    let ended = scratch.ended(&["demo", "--dir", place.to_str().unwrap()]);
    ended.assert_code(0);
    assert!(ended.out.contains(place.to_str().unwrap()), "{ended:#?}");
    assert!(ended.out.contains("+            total += number.take()? * seconds_per(c)?;"), "{ended:#?}");

    let git = |arguments: &[&str]| {
        let output = scratch.command("git").current_dir(&place).args(arguments).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let tests = scratch.command("sh").current_dir(&place).arg("check.sh").output().unwrap();
    assert!(tests.status.success(), "{}", String::from_utf8_lossy(&tests.stderr));
    assert_eq!(git(&["rev-list", "--count", "HEAD"]).trim(), "3");
    assert_eq!(git(&["diff", "--name-only", "HEAD~2", "HEAD"]).trim(), "src/lib.rs");
    // The user's own work is where it was: one file changed, one unknown to git.
    assert_eq!(git(&["status", "--porcelain"]), " M NOTES.md\n?? release-plan.txt\n");
    assert_eq!(scratch.journals().len(), 1);
}

#[test]
fn its_commands_run_in_the_sandbox_where_there_is_one_and_it_says_which() {
    let scratch = Scratch::new();
    let sandbox = scratch.ended(&["doctor"]).out.lines().find(|line| line.contains("sandbox: ")).unwrap().to_owned();
    let has_one = sandbox.contains("commands can write only to the workspace");
    let place = scratch.path("place");
    let ended = scratch.ended(&["demo", "--dir", place.to_str().unwrap()]);
    ended.assert_code(0).assert_says(if has_one { "sandbox: commands can write" } else { "no sandbox, so " });
    // Without a place for temporary files there is none, and it works all the same.
    let place = scratch.path("other");
    let mut command = scratch.agent(&["demo", "--dir", place.to_str().unwrap()]);
    let ended = Running::start(command.env("TMPDIR", scratch.path("nowhere"))).end();
    ended.assert_says("no sandbox, so the demo's commands run as you");
}

#[test]
fn without_git_it_says_so() {
    let scratch = Scratch::new();
    let programs = without_programs(&scratch, &["git"]);
    let ended = run_with(&scratch, programs);
    ended.assert_code(1).assert_says("git");
}

/// As a version manager without a toolchain does.
#[test]
fn what_rustc_says_is_told_and_so_is_the_directory() {
    let scratch = Scratch::new();
    let programs = without_programs(&scratch, &["rustc"]);
    let proxy = programs.join("rustc");
    std::fs::write(&proxy, "#!/bin/sh\necho 'error: no default toolchain is configured' >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&proxy, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let doctor = Running::start(scratch.agent(&["doctor"]).env("PATH", &programs)).end();
    assert!(doctor.out.contains("rustc does not work (error: no default toolchain is configured)"), "{doctor:#?}");
    let ended = run_with(&scratch, programs.clone());
    ended.assert_code(1).assert_says("run `rustc --version`: error: no default toolchain is configured");
    ended.assert_says(scratch.path("place").to_str().unwrap());
    // A place of its own choice, too.
    let mut command = scratch.agent(&["demo"]);
    let ended = Running::start(command.env("PATH", programs).env("TMPDIR", scratch.path("work"))).end();
    ended.assert_code(1).assert_says("work/agent-demo-");
}

#[test]
fn without_rustfmt_it_says_so_and_goes_on() {
    let scratch = Scratch::new();
    let programs = without_programs(&scratch, &["rustfmt"]);
    let ended = run_with(&scratch, programs);
    ended.assert_code(0).assert_says("rustfmt was not found");
}

#[test]
fn signals_end_it() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let scratch = Scratch::new();
        let place = scratch.path("place");
        let running = Running::start(&mut scratch.agent(&["demo", "--dir", place.to_str().unwrap()]));
        running.wait_for("> The tests");
        // The first answer streams: the session has begun.
        running.wait_for("I'll run");
        running.signal(signal);
        let how =
            if code == 130 { "interrupted before the demo finished" } else { "terminated before the demo finished" };
        running.end().assert_code(code).assert_says(how).assert_says(place.to_str().unwrap());
    }
}

#[test]
fn quiet_writes_only_the_verdict() {
    let scratch = Scratch::new();
    let place = scratch.path("place");
    let ended = scratch.ended(&["demo", "-q", "--dir", place.to_str().unwrap()]);
    ended.assert_code(0);
    assert_eq!(ended.err, "");
    assert!(!ended.out.contains("diff --git") && ended.out.contains("the tests pass"), "{ended:#?}");
}

#[test]
fn a_directory_that_is_not_empty_is_left_alone() {
    let scratch = Scratch::new();
    scratch.write("mine.txt", "mine");
    let ended = scratch.ended(&["demo", "--dir", "."]);
    ended.assert_code(1).assert_says("not empty");
    assert_eq!(scratch.read("mine.txt"), "mine");
}

fn run_with(scratch: &Scratch, programs: PathBuf) -> crate::support::Ended {
    let place = scratch.path("place");
    Running::start(scratch.agent(&["demo", "--dir", place.to_str().unwrap()]).env("PATH", programs)).end()
}
