//! The demo's repository: its files, and what the user left unfinished in it.

use super::programs::{git, succeeds, works};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The demo's repository as it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemoRepository {
    /// Where it is; absolute.
    pub path: PathBuf,
    /// Id of its only commit; what comes after it is the agent's.
    pub base_commit: String,
    /// Whether a working `rustfmt` was found, so that the formatter can be shown.
    pub rustfmt: bool,
}

/// Makes the demo's repository in a directory, which is created when it does not exist.
///
/// # Errors
/// When the directory is not empty or cannot be written, and when `git` or `rustc` is missing or fails.
pub fn create_repository(dir: &Path) -> io::Result<DemoRepository> {
    fs::create_dir_all(dir).map_err(|error| named(&error, "create", dir))?;
    let path = dir.canonicalize().map_err(|error| named(&error, "find", dir))?;
    if fs::read_dir(&path)?.next().is_some() {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            format!("create the demo in {}: it is not empty", path.display()),
        ));
    }
    works("rustc", &["--version"], &path)
        .map_err(|error| io::Error::new(error.kind(), format!("{error}; the demo's tests need it")))?;
    for (name, content) in COMMITTED {
        write(&path.join(name), content)?;
    }
    git(&path, &["init", "--quiet", "--initial-branch=main"])?;
    for (key, value) in CONFIGURATION {
        git(&path, &["config", key, value])?;
    }
    git(&path, &["add", "--all"])?;
    git(&path, &["commit", "--quiet", "--message", COMMIT_MESSAGE])?;
    let base_commit = git(&path, &["rev-parse", "HEAD"])?.trim().to_owned();
    for (name, content) in UNFINISHED {
        write(&path.join(name), content)?;
    }
    let rustfmt = succeeds("rustfmt", &["--version"], &path);
    Ok(DemoRepository { path, base_commit, rustfmt })
}

fn write(path: &Path, content: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(|error| named(&error, "create", parent))?;
    }
    fs::write(path, content).map_err(|error| named(&error, "write", path))
}

fn named(error: &io::Error, attempt: &str, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("{attempt} {}: {error}", path.display()))
}

/// The file with the bug.
pub(super) const BUGGY_FILE: &str = "src/lib.rs";

/// Files that only say what is right, which must not be changed to make the tests pass.
pub(super) const JUDGES: [(&str, &str); 2] =
    [("src/tests.rs", include_str!("../../demo/tests.rs")), ("check.sh", include_str!("../../demo/check.sh"))];

/// What is committed.
const COMMITTED: [(&str, &str); 7] = [
    ("Cargo.toml", "[package]\nname = \"durations\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
    (".gitignore", "/target\n/Cargo.lock\n"),
    ("README.md", include_str!("../../demo/README.md")),
    (USER_TRACKED.0, NOTES_COMMITTED),
    (BUGGY_FILE, include_str!("../../demo/lib.rs")),
    JUDGES[0],
    JUDGES[1],
];

/// What the user has left unfinished: a changed file and a new one.
const UNFINISHED: [(&str, &str); 2] = [USER_TRACKED, USER_UNTRACKED];

/// The user's changed file, as the user left it.
pub(super) const USER_TRACKED: (&str, &str) =
    ("NOTES.md", "# Notes\n\n- days and weeks: wanted?\n- ask Mira how the app shows long timers\n");

/// The same file as it was committed.
pub(super) const NOTES_COMMITTED: &str = "# Notes\n\n- days and weeks: wanted?\n";

/// The user's new file, which git does not know.
pub(super) const USER_UNTRACKED: (&str, &str) = ("release-plan.txt", "0.2: days and weeks\n0.3: negative durations?\n");

/// The repository's own settings: an identity to commit with, and nothing that asks or signs.
const CONFIGURATION: [(&str, &str); 4] = [
    ("user.name", "Demo User"),
    ("user.email", "demo@example.invalid"),
    ("commit.gpgSign", "false"),
    ("core.autocrlf", "false"),
];

const COMMIT_MESSAGE: &str = "Read and write durations";
