//! Git's records while they are open: what steers git must not come into being there.
//!
//! What is there already is read only. What is not there cannot be covered by a mount, so directories that git obeys are made beforehand,
//! empty, and whatever else is new afterwards and is no record is set aside under another name, which git does not look at.

use super::doors::is_record;
use agent_exec::rename_to_free;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The records that a call has open. Also when nobody waits for its end, what it made is looked at.
pub(super) struct Records {
    git: PathBuf,
    before: BTreeSet<OsString>,
}

impl Records {
    /// They are about to be opened.
    pub(super) fn begin(git: PathBuf) -> Self {
        for name in OBEYED {
            // Where it cannot be made, nobody can make it in the sandbox either; or it is there.
            let _ = fs::create_dir(git.join(name));
        }
        let before = names(&git);
        Self { git, before }
    }

    /// The call has ended, and all it started: what was set aside, as sentences.
    pub(super) fn settle(&self) -> Vec<String> {
        let is_new = |name: &OsString| !self.before.contains(name) && !is_record(&self.git.join(name));
        let new = names(&self.git).into_iter().filter(is_new);
        let sentences = new.map(|name| {
            let shown = name.to_string_lossy();
            match set_aside(&self.git, &name) {
                Ok(to) => format!("`.git/{shown}` appeared, which git would obey: it was renamed to `.git/{to}`"),
                Err(error) => format!("`.git/{shown}` appeared, which git would obey, and cannot be renamed: {error}"),
            }
        });
        sentences.collect()
    }
}

impl Drop for Records {
    fn drop(&mut self) {
        self.settle();
    }
}

fn set_aside(git: &Path, name: &OsString) -> std::io::Result<String> {
    let directory = File::open(git)?;
    let mut number = 0;
    loop {
        let free = format!("{SET_ASIDE}{number}");
        match rename_to_free(&directory, name.as_os_str(), &directory, free.as_str()) {
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

/// Empty they mean nothing.
const OBEYED: [&str; 4] = ["hooks", "info", "modules", "worktrees"];
const SET_ASIDE: &str = "set-aside-";
const MOST: u32 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_would_obey_is_set_aside_and_records_stay() {
        let git = tempfile::tempdir().unwrap();
        fs::create_dir(git.path().join("info")).unwrap();
        fs::write(git.path().join("config"), "").unwrap();
        let records = Records::begin(git.path().to_path_buf());
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
}
