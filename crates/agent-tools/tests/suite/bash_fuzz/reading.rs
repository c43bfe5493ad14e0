//! Reading commands at random, run by the real bash with the real programs and without any sandbox: what is taken for reading writes
//! nothing even where nothing holds it. Only what it takes for reading is run, in a directory of its own, as a user who may write nowhere
//! else if there is one.

use super::generator::Dice;
use agent_tools::fuzz::only_reads;
use rustix::process::geteuid;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs so many commands; the faults, and how many were taken for reading.
fn fuzz(judge: &dyn Fn(&str) -> bool, count: u64, seed: u64) -> (Vec<String>, u64) {
    let mut dice = Dice::new(seed);
    let world = World::new();
    let (mut faults, mut taken) = (Vec::new(), 0);
    for _ in 0..count {
        let text = command(&mut dice);
        if judge(&text) {
            taken += 1;
            faults.extend(world.changed_by(&text).map(|what| format!("{text:?} changed {what}")));
        }
        if faults.len() > 10 {
            break;
        }
    }
    (faults, taken)
}

fn command(dice: &mut Dice) -> String {
    let mut text = String::new();
    for number in 0..=dice.below(2) {
        if number > 0 {
            text.push_str(dice.pick(&[" | ", " && ", "; ", " > "]));
        }
        let program = dice.pick(PROGRAMS);
        text.push_str(program);
        if program == "git" {
            text.push(' ');
            text.push_str(dice.pick(SUBCOMMANDS));
        }
        for _ in 0..dice.below(5) {
            text.push(' ');
            text.push_str(dice.pick(WORDS));
        }
    }
    text
}

/// A repository with some files.
struct World {
    directory: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let work = directory.path().join("work");
        fs::create_dir_all(work.join("d/e")).unwrap();
        for (name, content) in
            [("a", "one\ntwo\n"), ("b", "two\none\n"), ("d/f", "x\n"), ("list", "a\n"), ("evil", EVIL)]
        {
            fs::write(work.join(name), content).unwrap();
        }
        fs::set_permissions(work.join("evil"), fs::Permissions::from_mode(0o755)).unwrap();
        let git = ["init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm a", "tag t"];
        for line in git {
            let status = Command::new("git").args(line.split(' ')).current_dir(&work).status().unwrap();
            assert!(status.success(), "{line}");
        }
        let world = Self { directory };
        world.give_away(world.directory.path());
        world
    }

    /// A fault can then write nothing outside.
    fn give_away(&self, path: &Path) {
        if !geteuid().is_root() {
            return;
        }
        std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        if path.is_dir() && !path.is_symlink() {
            fs::read_dir(path).unwrap().for_each(|entry| self.give_away(&entry.unwrap().path()));
        }
    }

    /// What a command has changed, if anything.
    fn changed_by(&self, text: &str) -> Option<String> {
        let before = self.seen();
        let mut bash = Command::new("bash");
        bash.args(["-c", "--", text]).current_dir(self.directory.path().join("work")).env_clear();
        bash.env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.directory.path())
            .env("GIT_OPTIONAL_LOCKS", "0");
        bash.env("TMPDIR", "/nowhere")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        if geteuid().is_root() {
            bash.uid(NOBODY).gid(NOBODY);
        }
        let mut child = bash.spawn().unwrap();
        let begun = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if begun.elapsed() > LONGEST {
                let group = rustix::process::Pid::from_child(&child);
                rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
                child.wait().unwrap();
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let after = self.seen();
        let differs = |path: &&PathBuf| before.get(*path) != after.get(*path);
        let changed = before.keys().chain(after.keys()).find(differs)?;
        Some(changed.display().to_string())
    }

    /// Every file and directory, with what tells a change.
    fn seen(&self) -> BTreeMap<PathBuf, (u64, i64, i64, u64)> {
        let mut found = BTreeMap::new();
        let mut open = vec![self.directory.path().to_path_buf()];
        while let Some(path) = open.pop() {
            let status = path.symlink_metadata().unwrap();
            found.insert(path.clone(), (status.ino(), status.ctime(), status.ctime_nsec(), status.size()));
            if status.is_dir() {
                open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            }
        }
        found
    }
}

#[test]
fn reading_commands_write_nothing() {
    let number = |name: &str, default| std::env::var(name).map_or(default, |text| text.parse::<u64>().unwrap());
    // Each of them starts real programs.
    let (count, seed) = (number("FUZZ_BASH_COUNT", 20_000) / 20, number("FUZZ_BASH_SEED", 1));
    let (faults, taken) = fuzz(&only_reads, count, seed);
    eprintln!("{count} commands made from the seed {seed}, {taken} of them taken for reading");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(taken > count / 10, "enough of them were: {taken}");
}

#[test]
fn a_command_that_writes_and_is_taken_for_reading_is_found() {
    type Judge = fn(&str) -> bool;
    let judges: [(&str, Judge); 3] = [
        ("an option that names a file", |text| only_reads(&text.replace("-o out", "-u"))),
        ("an action of find", |text| only_reads(&text.replace("-delete", "-print"))),
        ("a branch that is made", |text| only_reads(&text.replace("branch new", "branch"))),
    ];
    for (what, judge) in judges {
        // What is rightly taken for reading is run by the test above.
        let wrongly = |text: &str| judge(text) && !only_reads(text);
        let found = (1..=20).any(|seed| !fuzz(&wrongly, 1_500, seed).0.is_empty());
        assert!(found, "{what}: not found in 30,000 commands");
    }
}

#[rustfmt::skip]
const PROGRAMS: &[&str] = &[
    "ls", "cat", "head", "tail", "wc", "stat", "file", "du", "df", "diff", "cmp", "comm", "sort", "sort", "uniq", "cut", "tr", "grep", "rg", "find", "find",
    "find", "tree", "sed", "awk", "jq", "nl", "od", "paste", "join", "git", "git", "git", "printf", "md5sum", "readlink", "realpath", "cd", "echo", "rev",
    "tee", "cp", "xxd",
];
#[rustfmt::skip]
const SUBCOMMANDS: &[&str] = &[
    "status", "diff", "log", "show", "branch", "branch", "branch new", "tag", "tag", "remote", "stash", "stash list", "reflog", "reflog expire", "rev-parse",
    "ls-files", "blame", "cat-file", "grep", "worktree list", "config", "commit", "describe", "shortlog", "for-each-ref", "show-ref", "show-branch", "check-ignore",
    "rev-list", "diff-index", "diff-files", "merge-base", "count-objects", "range-diff", "cherry", "version", "add", "notes",
];
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "a", "b", "d", ".", "list", "HEAD", "new", "t", "-o", "-o out", "--output=out", "--output", "out", "-n", "-r", "-R", "-i", "-l", "-u", "-f", "-d", "-D", "-v",
    "-m", "-s", "-w", "-z", "-c", "-C", "-a", "-p", "-delete", "-fprint out", "-fprintf out %p", "-fls out", "-exec ./evil {} +", "-execdir ./evil ';'", "-print",
    "-name '*'", "--list", "--contains", "--merged", "--sort=name", "--files0-from=list", "--compress-program=./evil", "--pre ./evil", "-S 1b", "-T d",
    "'s/o/x/w out'", "'w out'", "1,2p", "s/a/b/", "s/o/x/e", "'{print $1}'", "'{print > \"out\"}'", "'BEGIN{system(\"./evil\")}'", ".", "--ext-diff", "--textconv", "-O./evil",
    "--stat", "--oneline", "-p", "-1", "HEAD^", "t~0", "--all", "--edit-description", "--unset-upstream", "--fix", "--index", "--refresh", "-q", "--", "--help",
    "--set-upstream-to=t", "--expire=now", "--write", "x",
];
/// Whatever runs it is found.
const EVIL: &str = "#!/bin/sh\n: > out\n";
const NOBODY: u32 = 65_534;
const LONGEST: Duration = Duration::from_millis(300);
