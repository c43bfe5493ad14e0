//! Where a project begins: the repository that a directory lies in. One that belongs to another user is none, as for git: what it says
//! would stand in the prompt of everybody who works below it.

use crate::config::settings::users_config;
use crate::failure::Failure;
use crate::walls::hidden;
use crate::walls::own_programs::{Answer, ask};
use agent_exec::SearchPath;
use rustix::process::geteuid;
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

/// The directory to work in: absolute, without links.
pub(crate) fn working_directory(given: Option<&Path>) -> Result<PathBuf, Failure> {
    let directory = given.unwrap_or(Path::new("."));
    let absolute = directory
        .canonicalize()
        .map_err(|error| Failure::input(format!("cannot work in {}: {error}", directory.display())))?;
    if absolute.is_dir() {
        Ok(absolute)
    } else {
        Err(Failure::input(format!("cannot work in {}: it is not a directory", absolute.display())))
    }
}

/// The folders from the repository's root down to the directory; outside a repository there is no root to begin at.
pub(crate) fn folders(directory: &Path) -> Vec<&Path> {
    match repository(directory).filter(|root| is_users(root)) {
        Some(root) => {
            let mut folders: Vec<&Path> = directory.ancestors().take_while(|folder| folder.starts_with(root)).collect();
            folders.reverse();
            folders
        }
        None => vec![directory],
    }
}

/// Where the project begins that a directory lies in: what a user trusts or does not.
pub(crate) fn root(directory: &Path) -> PathBuf {
    folders(directory).first().map_or(directory, |root| *root).to_path_buf()
}

/// The root of the repository that a directory lies in, of any owner.
pub(crate) fn repository(directory: &Path) -> Option<&Path> {
    directory.ancestors().find(|folder| folder.join(".git").exists())
}

/// The root of the repository that a directory lies in, if it belongs to another user and is left alone for that.
pub(crate) fn of_another_user(directory: &Path) -> Option<&Path> {
    repository(directory).filter(|root| !is_users(root))
}

/// Whether a file or directory belongs to this user or to root, or to the user who became root by `sudo`.
pub(crate) fn belongs_to_user(found: &std::fs::Metadata) -> bool {
    let user = geteuid().as_raw();
    let became_root = || std::env::var("SUDO_UID").ok().and_then(|id| id.parse().ok()) == Some(found.uid());
    found.uid() == user || found.uid() == 0 || user == 0 && became_root()
}

fn is_users(root: &Path) -> bool {
    let owned = |path: PathBuf| path.symlink_metadata().is_ok_and(|found| belongs_to_user(&found));
    owned(root.to_path_buf()) && owned(root.join(".git")) || is_safe(root)
}

/// Whether the user told git to work there all the same. The user's own configuration counts, and never the repository's.
fn is_safe(root: &Path) -> bool {
    static KNOWN: LazyLock<Mutex<HashMap<PathBuf, bool>>> = LazyLock::new(Mutex::default);
    if let Some(is_safe) = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(root) {
        return *is_safe;
    }
    // Whether the repository is the user's is not known yet, so what it may be is left out by its path.
    let writable = users_config().unwrap_or_default().sandbox_writable;
    let writable = hidden::absolute("sandbox_writable", &writable).unwrap_or_default();
    let untrusted = writable.iter().map(PathBuf::as_path).chain([root]);
    let programs = SearchPath::outside(std::env::var_os("PATH").as_deref(), untrusted);
    // Asked in a directory that is in no repository.
    let asked = ask(&programs, "git", &["config", "--get-all", "safe.directory"], Path::new("/"));
    let said = match asked {
        Ok(Answer::Said(said)) => String::from_utf8_lossy(&said).into_owned(),
        Ok(Answer::Refused(_)) | Err(_) => String::new(),
    };
    let is_safe = names(&said, root);
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(root.to_path_buf(), is_safe);
    is_safe
}

/// As git reads the list: an empty line takes back what stands before it, `*` means all, and `…/*` all below.
fn names(list: &str, root: &Path) -> bool {
    let mut is_named = false;
    for line in list.lines() {
        is_named = match line {
            "" => false,
            "*" => true,
            line => match line.strip_suffix("/*") {
                Some(above) => is_named || root.starts_with(above) && root != Path::new(above),
                None => is_named || root == Path::new(line),
            },
        };
    }
    is_named
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_calls_safe_is_read_as_git_reads_it() {
        let root = Path::new("/shared/project");
        for (list, expected) in [
            ("", false),
            ("/shared/project\n", true),
            ("/shared\n", false),
            ("/shared/*\n", true),
            ("/shared/project/*\n", false),
            ("*\n", true),
            ("/shared/project\n\n", false),
            ("*\n\n/other\n", false),
        ] {
            assert_eq!(names(list, root), expected, "{list:?}");
        }
    }
}
