//! An agent that commits again and again, killed at random moments: nothing of the user's is lost, and nobody is kept out.
//!
//! Short by default; `KILLS=500` does more.

use super::support::{Agent, Repo};
use agent_git::HooksConfig;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The process that the other test kills; a test of its own only so that it can be started.
#[test]
fn commits_until_it_is_killed() {
    let Some(project) = std::env::var_os(PLACE).map(PathBuf::from) else { return };
    let home = project.with_file_name("home");
    let ready = home.join("ready");
    let plain = HooksConfig::new(project);
    let agent = Agent::new(HooksConfig { auto_commit: true, home: Some(home), config_home: None, ..plain });
    for round in 0..100_000 {
        agent.hooks.turn_started();
        let new = format!("new/{}-{round}.rs", std::process::id());
        agent.change("a.rs", Some(&new));
        agent.change(&new, Some("new\n"));
        assert!(agent.finish(&["a.rs", &new]).commit.is_some());
        fs::write(&ready, "").unwrap();
    }
}

/// Starts the process, with those that it starts in a group of their own, and waits until it has committed once.
fn start(repo: &Repo) -> Child {
    let ready = repo.home().join("ready");
    drop(fs::remove_file(&ready));
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kills::commits_until_it_is_killed", "--nocapture"])
        .env(PLACE, &repo.project)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    let since = Instant::now();
    while !ready.exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        assert!(since.elapsed() < Duration::from_secs(60), "it never commits");
        std::thread::sleep(Duration::from_millis(1));
    }
    child
}

/// Whether a process of this group has not ended; whether somebody has asked how it did does not matter.
fn lives(group: u32) -> bool {
    let processes = Command::new("ps").args(["-A", "-o", "pgid=,stat="]).output().unwrap();
    let group = group.to_string();
    String::from_utf8_lossy(&processes.stdout)
        .lines()
        .filter_map(|line| line.trim().split_once(' '))
        .any(|(found, state)| found == group && !state.trim().starts_with('Z'))
}

#[test]
fn a_kill_at_any_moment_loses_nothing_and_keeps_nobody_out() {
    let Some(repo) = Repo::new() else { return };
    repo.write("staged.rs", "staged\n");
    repo.git(&["add", "staged.rs"]);
    repo.write("staged.rs", "and more\n");
    repo.write("intended.rs", "x\n");
    repo.git(&["add", "-N", "intended.rs"]);
    repo.git(&["update-index", "--assume-unchanged", "b.rs"]);
    let users = || repo.git(&["ls-files", "--stage", "-v", "staged.rs", "intended.rs", "b.rs", "run.sh"]);
    let before = users();
    let kills: u64 = std::env::var("KILLS").map_or(15, |text| text.parse().unwrap());
    let (mut locks, mut chance) = (0, 0x2545_F491_4F6C_DD1D_u64);
    for kill in 0..kills {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let head = repo.git(&["rev-parse", "HEAD"]);
        let mut child = start(&repo);
        std::thread::sleep(Duration::from_micros(chance >> 32 & 0xFFFF));
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        // The group: what the agent starts ends with it.
        let group = format!("-{}", child.id());
        assert!(Command::new("kill").args(["-KILL", "--", &group]).status().unwrap().success());
        child.wait().unwrap();
        while lives(child.id()) {
            std::thread::sleep(Duration::from_millis(1));
        }

        let lock = repo.project.join(".git/index.lock");
        locks += u32::from(lock.exists());
        // The next agent makes up for it, before anything else.
        drop(repo.agent());
        let locks_left = repo.try_git(&["commit", "--allow-empty", "-qm", "by the user", "--only"]);
        assert!(!lock.exists() && locks_left.0, "{kill}: the user is kept out: {}", locks_left.1);
        assert!(repo.try_git(&["merge-base", "--is-ancestor", head.trim(), "HEAD"]).0, "{kill}: history is lost");
        assert_eq!(users(), before, "{kill}");
        assert_eq!(repo.read("staged.rs"), "and more\n");
        // Branch and index moved together or not at all.
        assert_eq!(repo.git(&["diff", "--cached", "--name-only"]), "staged.rs\n", "{kill}");
        assert_eq!(repo.git(&["fsck", "--strict", "--no-dangling"]), "", "{kill}");
        // What was not committed is there, and the user puts it away.
        repo.git(&["checkout", "-q", "--", "a.rs"]);
        repo.git(&["clean", "-fdq", "new"]);
    }
    println!("{kills} kills, {locks} while the index was locked");
}

const PLACE: &str = "AGENT_TESTS_COMMIT_IN";
