//! Git's records while they are open: what steers git must not come into being there, nor what leads git's next write elsewhere.
//!
//! ```text
//! before   what is no record is sealed, directories that git obeys are made, empty; what is odd already is refused
//! after    what is new and no record is set aside; so is what leads out of the records, a list of objects elsewhere that was not there,
//!          and what a stopped rebase would run: commands of its plan, or a merge strategy that is not git's own
//! ```
//!
//! What is there already is read only. What is not there cannot be covered by a mount, so it is looked at afterwards and gets another
//! name, which git does not look at.

use super::doors::{ELSEWHERE, is_built_in, is_record};
use agent_exec::rename_to_free;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The records that a call has open. Also when nobody waits for its end, what it made is looked at.
pub(super) struct Records {
    git: PathBuf,
    before: BTreeSet<OsString>,
    /// The lists of objects elsewhere that were there, which nobody can change meanwhile.
    elsewhere: Vec<&'static str>,
}

impl Records {
    /// They are about to be opened.
    ///
    /// # Errors
    /// What is odd among them already, for the model: git would follow it.
    pub(super) fn begin(git: PathBuf) -> Result<Self, String> {
        if let Some((path, why)) = Odd::within(&git).found.first() {
            let shown = shown(path);
            return Err(format!(
                "`.git/{shown}` {why}: git with open records does not run there. The user has to look at it"
            ));
        }
        for name in OBEYED {
            // Where it cannot be made, nobody can make it in the sandbox either; or it is there.
            let _ = fs::create_dir(git.join(name));
        }
        let before = names(&git);
        let elsewhere = ELSEWHERE.into_iter().filter(|path| git.join(path).symlink_metadata().is_ok()).collect();
        Ok(Self { git, before, elsewhere })
    }

    /// The call has ended, and all it started: what was set aside, as sentences.
    pub(super) fn settle(&self) -> Vec<String> {
        let is_new = |name: &OsString| !self.before.contains(name) && !is_record(&self.git.join(name));
        let new = names(&self.git).into_iter().filter(is_new);
        let new = new.map(|name| (PathBuf::from(name), String::from("appeared, which git would obey")));
        let mut sentences: Vec<String> = new.map(|(path, why)| self.settle_one(&path, &why)).collect();
        let is_new = |path: &&str| !self.elsewhere.contains(path) && self.git.join(path).symlink_metadata().is_ok();
        let new = ELSEWHERE.into_iter().filter(is_new).map(Path::new);
        sentences.extend(new.map(|path| self.settle_one(path, "appeared, and git would take objects from elsewhere")));
        let odd = Odd::within(&self.git);
        sentences.extend(odd.found.iter().map(|(path, why)| self.settle_one(path, why)));
        if odd.entries_left == 0 {
            sentences.push(format!("`.git` has more than {MOST_ENTRIES} files: not all of them were looked at"));
        }
        sentences
    }

    fn settle_one(&self, path: &Path, why: &str) -> String {
        let shown = shown(path);
        match set_aside(&self.git, path) {
            Ok(to) => format!("`.git/{shown}` {why}: it was renamed to `.git/{to}`"),
            Err(error) => format!("`.git/{shown}` {why}, and cannot be renamed: {error}"),
        }
    }
}

impl Drop for Records {
    fn drop(&mut self) {
        self.settle();
    }
}

/// What is odd among the records: what git would follow out of them, wait for, or run.
struct Odd<'a> {
    git: &'a Path,
    /// By their paths in it, with why, as the end of a sentence.
    found: Vec<(PathBuf, String)>,
    entries_left: usize,
}

impl<'a> Odd<'a> {
    fn within(git: &'a Path) -> Self {
        let mut odd = Self { git, found: Vec::new(), entries_left: MOST_ENTRIES };
        for name in names(git).into_iter().filter(|name| is_record(&git.join(name))) {
            odd.look(PathBuf::from(name));
        }
        for plan in PLANS.map(Path::new) {
            if runs_commands(&git.join(plan)) {
                odd.found.push((plan.to_path_buf(), String::from("has commands that git would run")));
            }
        }
        for options in STRATEGIES.map(Path::new) {
            if names_a_program(&git.join(options)) {
                let why = "names a merge strategy that is not git's own, which git would run as a program";
                odd.found.push((options.to_path_buf(), String::from(why)));
            }
        }
        odd
    }

    fn look(&mut self, path: PathBuf) {
        if self.entries_left == 0 {
            return;
        }
        self.entries_left -= 1;
        let Ok(status) = self.git.join(&path).symlink_metadata() else { return };
        let kind = status.file_type();
        if kind.is_dir() {
            let names = fs::read_dir(self.git.join(&path)).into_iter().flatten().flatten();
            let mut names: Vec<OsString> = names.map(|entry| entry.file_name()).collect();
            names.sort();
            names.into_iter().for_each(|name| self.look(path.join(name)));
        } else if kind.is_symlink() {
            self.found.push((path, String::from("is a symbolic link, which git would follow")));
        } else if !kind.is_file() {
            self.found.push((path, String::from("is neither a file nor a directory, and git would wait for it")));
        } else if status.nlink() > 1 && is_written_in_place(&path) {
            self.found.push((path, String::from("has another name, a hard link, and git would write to both")));
        }
    }
}

/// Git adds to logs and writes its messages where they lie; everything else it puts in the place of the old.
fn is_written_in_place(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.starts_with("logs") || name.ends_with("_MSG") || name.ends_with("MSG") || name == "FETCH_HEAD"
}

/// Whether a plan of a rebase has a line that git hands to a shell, or may have one: it cannot be read, or not to its end.
fn runs_commands(plan: &Path) -> bool {
    may_have(plan, |text| text.lines().any(|line| matches!(line.split_whitespace().next(), Some("exec" | "x"))))
}

/// Whether a file in which a stopped rebase, or a row of picks, keeps its merge strategy names one that git would run as a program. One
/// has the name alone, the other is written as git's configuration is.
fn names_a_program(options: &Path) -> bool {
    let is_configuration = options.file_name().is_some_and(|name| name == "opts");
    may_have(options, |text| match is_configuration {
        false => !is_built_in(text.trim()),
        // What is escaped, or goes on in the next line, git does not write for a strategy.
        true => text.contains('\\') || text.lines().any(sets_a_program),
    })
}

fn sets_a_program(line: &str) -> bool {
    let line = line.trim_start();
    let line = line.strip_prefix('[').and_then(|line| line.split_once(']')).map_or(line, |(_, behind)| behind);
    let Some((key, value)) = line.split_once('=') else { return false };
    key.trim().eq_ignore_ascii_case("strategy") && !is_built_in(value.trim().trim_matches('"'))
}

/// Whether something holds of the text of a file, or may hold: it cannot be read, or not to its end. It does not where there is no file.
fn may_have(path: &Path, what: impl Fn(&str) -> bool) -> bool {
    let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
    let mut text = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LONGEST_PLAN_BYTES).read_to_end(&mut text));
    let is_whole = read.is_ok_and(|bytes| (bytes as u64) < LONGEST_PLAN_BYTES);
    is_file && (!is_whole || what(&String::from_utf8_lossy(&text)))
}

fn set_aside(git: &Path, path: &Path) -> std::io::Result<String> {
    let directory = File::open(git)?;
    let from = File::open(git.join(path.parent().unwrap_or(Path::new(""))))?;
    let name = path.file_name().unwrap_or_default();
    let mut number = 0;
    loop {
        let free = format!("{SET_ASIDE}{number}");
        match rename_to_free(&from, name, &directory, free.as_str()) {
            Ok(()) => return Ok(free),
            Err(rustix::io::Errno::EXIST) if number < MOST => number += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

fn names(git: &Path) -> BTreeSet<OsString> {
    let entries = fs::read_dir(git).into_iter().flatten().flatten().map(|entry| entry.file_name());
    entries.filter(|name| !name.to_string_lossy().starts_with(SET_ASIDE)).collect()
}

/// A name on one line that cannot end its quotes.
fn shown(path: &Path) -> String {
    path.to_string_lossy().escape_debug().to_string().replace('`', "\\u{60}")
}

/// Empty they mean nothing.
const OBEYED: [&str; 4] = ["hooks", "info", "modules", "worktrees"];
/// What git does next, where a rebase or a row of picks stopped.
const PLANS: [&str; 2] = ["rebase-merge/git-rebase-todo", "sequencer/todo"];
/// Where they keep their merge strategies.
const STRATEGIES: [&str; 2] = ["rebase-merge/strategy", "sequencer/opts"];
const LONGEST_PLAN_BYTES: u64 = 16 * 1024 * 1024;
const SET_ASIDE: &str = "set-aside-";
const MOST: u32 = 1_000;
const MOST_ENTRIES: usize = 500_000;

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn git() -> tempfile::TempDir {
        let git = tempfile::tempdir().unwrap();
        for folder in ["logs/refs/heads", "refs/heads", "objects/ab", "objects/info", "rebase-merge", "sequencer"] {
            fs::create_dir_all(git.path().join(folder)).unwrap();
        }
        git
    }

    #[test]
    fn what_git_would_obey_is_set_aside_and_records_stay() {
        let git = tempfile::tempdir().unwrap();
        fs::create_dir(git.path().join("info")).unwrap();
        fs::write(git.path().join("config"), "").unwrap();
        let records = Records::begin(git.path().to_path_buf()).unwrap();
        for name in OBEYED {
            assert!(git.path().join(name).is_dir(), "{name}");
        }
        for name in ["ORIG_HEAD", "index", "COMMIT_EDITMSG", "commondir", "config.worktree", "remotes"] {
            fs::write(git.path().join(name), name).unwrap();
        }
        let remarks = records.settle();
        assert_eq!(remarks.len(), 3, "{remarks:?}");
        assert!(remarks[0].contains("`.git/commondir` appeared"), "{remarks:?}");
        for (name, stays) in [("commondir", false), ("config.worktree", false), ("remotes", false), ("index", true)] {
            assert_eq!(git.path().join(name).exists(), stays, "{name}");
        }
        assert!(git.path().join("config").exists());
        assert!(records.settle().is_empty());
        fs::write(git.path().join("commondir"), "x").unwrap();
        drop(records);
        assert!(!git.path().join("commondir").exists(), "also when nobody waited");
        assert_eq!(fs::read_to_string(git.path().join("set-aside-3")).unwrap(), "x");
    }

    /// Each is set aside after the call that made it, and refused before another call where it is there already.
    #[test]
    fn a_plan_that_cannot_be_read_to_its_end_counts_as_one_that_runs_commands() {
        let directory = tempfile::tempdir().unwrap();
        let plan = directory.path().join("git-rebase-todo");
        fs::write(&plan, "pick 1234567 harmless\n").unwrap();
        assert!(!runs_commands(&plan), "control");
        let long = format!("# {}\nexec touch x\n", "x".repeat(LONGEST_PLAN_BYTES as usize));
        fs::write(&plan, long).unwrap();
        assert!(runs_commands(&plan));
    }

    #[test]
    fn what_leads_out_of_the_records_is_set_aside_or_refused() {
        let outside = tempfile::tempdir().unwrap();
        let (file, folder) = (outside.path().join("bashrc"), outside.path().join("folder"));
        fs::write(&file, "# mine\n").unwrap();
        fs::create_dir(&folder).unwrap();
        for (path, kind) in [
            ("logs/HEAD", "link"),
            ("logs/refs/heads/side", "link"),
            ("logs/refs/heads/other", "hard link"),
            ("refs/heads/side", "link"),
            ("refs/tags", "link"),
            ("refs/heads/pipe", "pipe"),
            ("objects/cd", "link"),
            ("objects/ab/1234", "link"),
            ("COMMIT_EDITMSG", "link"),
            ("COMMIT_EDITMSG", "hard link"),
            ("MERGE_MSG", "link"),
            ("FETCH_HEAD", "link"),
            ("ORIG_HEAD", "link"),
            ("rebase-merge/message", "link"),
            ("rebase-apply", "link"),
            ("sequencer/opts", "link"),
            ("rebase-merge/git-rebase-todo", "plan"),
            ("sequencer/todo", "plan"),
            ("rebase-merge/strategy", "evil\n"),
            ("sequencer/opts", "[options]\n\tsignoff = true\n\tstrategy = evil\n"),
            ("sequencer/opts", "[options] Strategy=\"evil\""),
            ("sequencer/opts", "[options]\n\tstrategy = \\\nevil\n"),
        ] {
            let git = git();
            let at = git.path().join(path);
            let records = Records::begin(git.path().to_path_buf()).unwrap();
            match kind {
                "link" => symlink(&file, &at).unwrap(),
                "hard link" => fs::hard_link(&file, &at).unwrap(),
                "pipe" => assert!(std::process::Command::new("mkfifo").arg(&at).status().unwrap().success()),
                "plan" => fs::write(&at, "pick 1234 x\nexec touch here\n").unwrap(),
                text => fs::write(&at, text).unwrap(),
            }
            let refused = Records::begin(git.path().to_path_buf()).err();
            assert!(refused.is_some_and(|why| why.contains(path)), "{path}, {kind}");
            let remarks = records.settle();
            assert_eq!(remarks.len(), 1, "{path}, {kind}: {remarks:?}");
            assert!(remarks[0].contains(path), "{remarks:?}");
            assert!(at.symlink_metadata().is_err(), "{path}, {kind}");
            assert!(git.path().join("set-aside-0").symlink_metadata().is_ok(), "{path}, {kind}");
            assert!(records.settle().is_empty());
        }
        assert_eq!(fs::read_to_string(file).unwrap(), "# mine\n");
    }

    #[test]
    fn ordinary_records_are_let_be() {
        let git = git();
        for (path, content) in [
            ("logs/HEAD", "x\n"),
            ("refs/heads/main", "x\n"),
            ("COMMIT_EDITMSG", "exec is a word\n"),
            ("rebase-merge/git-rebase-todo", "pick 1 exec\n# exec x\n"),
            ("objects/info/alternates", "/elsewhere\n"),
            ("rebase-merge/strategy", "ort\n"),
            ("sequencer/opts", "[options]\n\tstrategy = subtree\n\tstrategy-option = theirs\n\tmainline = 1\n"),
        ] {
            fs::write(git.path().join(path), content).unwrap();
        }
        // A copy by hard links: git puts new objects and references beside them.
        fs::hard_link(git.path().join("refs/heads/main"), git.path().join("refs/heads/copy")).unwrap();
        assert!(Records::begin(git.path().to_path_buf()).unwrap().settle().is_empty());
    }

    #[test]
    fn a_list_of_objects_elsewhere_that_was_not_there_is_set_aside() {
        for path in ELSEWHERE {
            let git = git();
            let records = Records::begin(git.path().to_path_buf()).unwrap();
            fs::write(git.path().join(path), "/made/by/a/command\n").unwrap();
            let remarks = records.settle();
            assert!(remarks.len() == 1 && remarks[0].contains(path), "{remarks:?}");
            assert!(!git.path().join(path).exists());
        }
    }
}
