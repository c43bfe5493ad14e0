//! An undo that is killed, at chosen files and at random moments: the next one brings all of the old state, and the one after it reverses
//! all of that.
//!
//! Short by default; `KILLS=500` does more.

use super::support::{Agent, Repo, Signal, TestRunner, files, wait};
use agent_git::{HooksConfig, Undone, undo};
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn config(project: PathBuf) -> HooksConfig {
    let home = project.with_file_name("home");
    let record_key = Some(project.with_file_name("state").join("records.key"));
    HooksConfig { home: Some(home), config_home: None, record_key, ..HooksConfig::new(project) }
}

fn take_back(repo: &Repo, turns: usize) -> Undone {
    wait(undo(&config(repo.project.clone()), &TestRunner::default(), turns, &Signal(false))).unwrap()
}

/// The process that the other tests kill; a test of its own only so that it can be started.
#[test]
fn undoes_until_it_is_killed() {
    let Some(project) = std::env::var_os(PLACE).map(PathBuf::from) else { return };
    let turns = std::env::var(TURNS).unwrap().parse().unwrap();
    fs::write(project.with_file_name("begun"), "").unwrap();
    wait(undo(&config(project), &TestRunner::default(), turns, &Signal(false))).unwrap();
}

fn start(repo: &Repo, turns: usize) -> Child {
    let begun = repo.project.with_file_name("begun");
    drop(fs::remove_file(&begun));
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "undo_kills::undoes_until_it_is_killed", "--nocapture"])
        .env(PLACE, &repo.project)
        .env(TURNS, turns.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    until(&mut child, || begun.exists());
    child
}

fn until(child: &mut Child, is_so: impl Fn() -> bool) {
    let since = Instant::now();
    while !is_so() && child.try_wait().unwrap().is_none() {
        assert!(since.elapsed() < Duration::from_secs(60), "it does not come to that");
    }
}

/// Whether the undo was killed before it had ended. One that had ended is a turn, which is taken back.
fn kill(repo: &Repo, mut child: Child) -> bool {
    // At once, and then what it had started.
    child.kill().unwrap();
    let group = format!("-{}", child.id());
    let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status().unwrap();
    let status = child.wait().unwrap();
    assert!(status.success() || status.code().is_none(), "it failed by itself");
    std::thread::sleep(Duration::from_millis(2));
    let waiting = fs::read_dir(repo.project.join(".git/agent")).unwrap();
    let says_so = |bytes: Vec<u8>| bytes.windows(ENDED.len()).any(|found| found == ENDED.as_bytes());
    let newest =
        repo.git(&["for-each-ref", "--sort=-refname", "--count=1", "--format=%(refname)", "refs/worktree/agent"]);
    let has_ended = waiting.map(|entry| fs::read(entry.unwrap().path()).unwrap_or_default()).any(says_so)
        || repo.git(&["ls-tree", "-r", "--name-only", newest.trim()]).contains(ENDED);
    if has_ended {
        assert_eq!(take_back(repo, 1).undos, 1);
        std::thread::sleep(Duration::from_millis(2));
    }
    !has_ended
}

fn name(number: usize) -> String {
    format!("d{}/{number}.rs", number % 3)
}

/// A repository in which two turns changed files: the first all of them, the second all but every fifth. Returns the three states.
fn worked() -> Option<(Repo, [Files; 3])> {
    let repo = Repo::new()?;
    let exists_first = |number: usize| number % 4 != 1;
    for number in (0..FILES).filter(|number| exists_first(*number)) {
        repo.write(&name(number), &format!("old {number}\n"));
    }
    let first = files(&repo.project);
    let agent = Agent::new(config(repo.project.clone()));
    let turn = |texts: &dyn Fn(usize) -> Option<Option<String>>| {
        std::thread::sleep(Duration::from_millis(2));
        agent.hooks.turn_started();
        let changed: Vec<_> = (0..FILES).filter_map(|number| Some((name(number), texts(number)?))).collect();
        changed.iter().for_each(|(path, text)| agent.change(path, text.as_deref()));
        agent.check(&changed.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>());
        agent.hooks.turn_ended();
        files(&repo.project)
    };
    let second = turn(&|number| Some(Some(format!("one {number}\n"))));
    let third = turn(&|number| (number % 5 != 0).then(|| (number % 4 != 2).then(|| format!("two {number}\n"))));
    std::thread::sleep(Duration::from_millis(2));
    Some((repo, [first, second, third]))
}

/// After an undo was killed, once or several times. There are so many undos between the turns and those.
fn assert_next_is_whole(repo: &Repo, states: &[Vec<(PathBuf, Vec<u8>)>; 3], turns: usize, between: usize, what: &str) {
    let [.., third] = states;
    let undone = take_back(repo, turns + between);
    assert_eq!((undone.turns, undone.undos), (turns + between, between), "{what}: {undone:?}");
    assert!(undone.left.is_empty(), "{what}: {undone:?}");
    assert_eq!(files(&repo.project), states[2 - turns], "{what}: all of the old state");
    std::thread::sleep(Duration::from_millis(2));
    let undone = take_back(repo, 1);
    assert_eq!((undone.turns, undone.undos, undone.left.len()), (1, 1, 0), "{what}: {undone:?}");
    assert_eq!(undone.notes, [""; 0], "{what}");
    assert_eq!(files(&repo.project), *third, "{what}: the undo is reversed");
}

/// Each kind of file is killed at: the first, one in the middle, the last.
#[test]
fn a_kill_at_a_file_leaves_the_next_undo_all_of_it() {
    for (number, turns, again) in [(0, 1, 1), (FILES / 2, 1, 1), (FILES - 1, 1, 2), (FILES / 2, 2, 1), (0, 2, 2)] {
        let Some((repo, states)) = worked() else { return };
        // The order is that of the paths.
        let mut paths: Vec<String> = (0..FILES).filter(|number| number % 5 != 0).map(name).collect();
        paths.sort();
        let path = repo.project.join(&paths[number.min(paths.len() - 1)]);
        let before = fs::read(&path).ok();
        let mut child = start(&repo, turns);
        until(&mut child, || fs::read(&path).ok() != before);
        let between = if kill(&repo, child) { 0 } else { 2 };
        assert_next_is_whole(
            &repo,
            &states,
            again,
            between,
            &format!("killed at {number}, undo {turns}, then {again}"),
        );
    }
}

#[test]
fn kills_at_random_moments_leave_the_next_undo_all_of_it() {
    let kills: u64 = std::env::var("KILLS").map_or(20, |text| text.parse().unwrap());
    let (mut chance, mut longest, mut killed) = (0x2545_F491_4F6C_DD1D_u64, Duration::from_millis(60), 0);
    for kill_number in 0..kills {
        let Some((repo, states)) = worked() else { return };
        let mut between = 0;
        // Some undos are killed several times before one ends.
        for _ in 0..=kill_number % 3 {
            chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let turns = 1 + (chance >> 60 & 1) as usize;
            let (mut child, since) = (start(&repo, turns), Instant::now());
            let wait = longest.mul_f64((chance >> 32 & 0xFFF) as f64 / 4096.0);
            until(&mut child, || since.elapsed() > wait);
            let took = since.elapsed();
            match kill(&repo, child) {
                true => killed += 1,
                false => (longest, between) = (took.min(longest), between + 2),
            }
        }
        assert_next_is_whole(&repo, &states, 1 + (kill_number % 2) as usize, between, &format!("kill {kill_number}"));
    }
    println!("{killed} undos killed");
    assert!(killed * 2 > kills, "only {killed}");
}

/// Every file with its content.
type Files = Vec<(PathBuf, Vec<u8>)>;

const ENDED: &str = "undo/ended";
const FILES: usize = 30;
const PLACE: &str = "AGENT_TESTS_UNDO_IN";
const TURNS: &str = "AGENT_TESTS_UNDO_TURNS";
