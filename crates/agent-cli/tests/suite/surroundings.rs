//! The walls in other surroundings: as root and as an ordinary user, with every means of the kernel, with Landlock alone, and with neither.
//!
//! A filter of system calls takes a means away, for this test and what it starts: the machine stays as it is.
#![cfg(target_os = "linux")]

use crate::support::PROGRAM_COPY;
use seccompiler::SeccompCmpArgLen::Qword;
use seccompiler::SeccompCmpOp::MaskedEq;
use seccompiler::{BpfProgram, SeccompAction, SeccompCondition, SeccompFilter, SeccompRule};
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

#[test]
fn the_walls_with_landlock_alone() {
    in_surroundings(Means::Landlock, User::This, &["walls::", "walls_own::own_", "sandbox::"]);
}

#[test]
fn the_walls_with_no_sandbox() {
    in_surroundings(Means::Nothing, User::This, &["walls::"]);
}

#[test]
fn the_walls_of_an_ordinary_user() {
    in_surroundings(Means::All, User::Ordinary, &["walls::", "walls_own::tools_", "second_mounts::", "sandbox::"]);
}

#[test]
fn the_walls_of_an_ordinary_user_with_landlock_alone() {
    in_surroundings(
        Means::Landlock,
        User::Ordinary,
        &["walls::", "walls_own::tools_", "walls_own::own_", "sandbox::commands_"],
    );
}

#[test]
fn the_walls_of_an_ordinary_user_with_no_sandbox() {
    in_surroundings(Means::Nothing, User::Ordinary, &["walls::"]);
}

/// What the kernel lets a sandbox be made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Means {
    All,
    /// No namespaces, so bubblewrap does not work.
    Landlock,
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum User {
    This,
    Ordinary,
}

/// Runs tests of this suite once more, in a copy that another user may read, too.
#[expect(clippy::print_stdout, reason = "what was skipped is said")]
fn in_surroundings(means: Means, user: User, tests: &[&str]) {
    if user == User::Ordinary && !rustix::process::geteuid().is_root() {
        println!("skipped: this is an ordinary user already");
        return;
    }
    let open_to_all = Permissions::from_mode(0o755);
    let directory = tempfile::Builder::new().permissions(open_to_all).tempdir_in("/var/tmp").unwrap();
    let copy = |from: PathBuf, name: &str| {
        let to = directory.path().join(name);
        // Another program copies: a file that this process holds open for writing is busy in whatever another test starts meanwhile.
        assert!(Command::new("cp").arg(from).arg(&to).status().unwrap().success());
        to
    };
    let home = directory.path().join("home");
    std::fs::create_dir(&home).unwrap();
    if user == User::Ordinary {
        std::os::unix::fs::chown(&home, Some(ORDINARY), Some(ORDINARY)).unwrap();
    }
    let suite = copy(std::env::current_exe().unwrap(), "suite");
    let program = copy(env!("CARGO_BIN_EXE_agent").into(), "agent");
    copy(env!("CARGO_BIN_EXE_agent-helper").into(), "agent-helper");
    let run = |arguments: &[&str]| run_within(means, command(user, &suite, &program, arguments));
    if !run(&["--list"]).is_ok_and(|output| output.status.success()) {
        println!("skipped: there is no setpriv, or no other user");
        return;
    }
    assert_eq!(mechanism(means, user, &program), expected(means, user, &program), "{means:?} {user:?}");
    let output = run(tests).unwrap();
    let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}");
    assert!(!printed.contains("running 0 tests"), "{printed}");
}

fn command(user: User, program: &Path, agent: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    if user == User::Ordinary {
        command = Command::new("setpriv");
        command.args([format!("--reuid={ORDINARY}"), format!("--regid={ORDINARY}"), "--clear-groups".to_owned()]);
        command.arg(program);
    }
    command.args(arguments).env(PROGRAM_COPY, agent).env("HOME", agent.with_file_name("home")).env("TMPDIR", "/tmp");
    command.current_dir("/").stdin(Stdio::null());
    command
}

/// On a thread of its own: a filter cannot be taken away again.
fn run_within(means: Means, mut command: Command) -> std::io::Result<Output> {
    let run = move || {
        for filter in filters(means) {
            seccompiler::apply_filter(&filter).unwrap();
        }
        command.output()
    };
    std::thread::spawn(run).join().unwrap()
}

/// What holds commands there, as the program says it.
fn mechanism(means: Means, user: User, program: &Path) -> Option<String> {
    let checked = run_within(means, command(user, program, program, &["sandbox", "check", "--json"])).unwrap();
    let report = serde_json::from_slice::<serde_json::Value>(&checked.stdout);
    let report = report.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&checked.stderr)));
    report["mechanism"].as_str().map(str::to_owned)
}

/// On a machine that lacks a means itself, what is left.
fn expected(means: Means, user: User, program: &Path) -> Option<String> {
    let here = mechanism(Means::All, user, program);
    match means {
        Means::All => here,
        Means::Landlock => here.map(|_| "Landlock".to_owned()),
        Means::Nothing => None,
    }
}

fn filters(means: Means) -> Vec<BpfProgram> {
    let new_user = u64::from(libc::CLONE_NEWUSER.unsigned_abs());
    let has =
        || SeccompRule::new(vec![SeccompCondition::new(0, Qword, MaskedEq(new_user), new_user).unwrap()]).unwrap();
    let namespaces = || {
        let refused = BTreeMap::from([(libc::SYS_clone, vec![has()]), (libc::SYS_unshare, vec![has()])]);
        // It hides its flags from a filter; every C library falls back to `clone`.
        let absent = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
        [filter(refused, libc::EPERM), filter(absent, libc::ENOSYS)]
    };
    match means {
        Means::All => Vec::new(),
        Means::Landlock => namespaces().into(),
        Means::Nothing => {
            let landlock = BTreeMap::from([(libc::SYS_landlock_create_ruleset, Vec::new())]);
            namespaces().into_iter().chain([filter(landlock, libc::ENOSYS)]).collect()
        }
    }
}

fn filter(rules: BTreeMap<i64, Vec<SeccompRule>>, answer: i32) -> BpfProgram {
    let architecture = std::env::consts::ARCH.try_into().unwrap();
    let answer = SeccompAction::Errno(answer.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, answer, architecture).unwrap().try_into().unwrap()
}

/// A user and a group to which nothing belongs.
const ORDINARY: u32 = 65534;
