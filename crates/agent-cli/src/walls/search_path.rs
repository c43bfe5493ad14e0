//! Where the programs are found that the agent runs by itself: `git`, `bash`, formatters, what hooks begin with.

use crate::config::file::UserConfig;
use crate::config::project;
use crate::walls::hidden;
use agent_exec::SearchPath;
use std::path::{Path, PathBuf};

/// The directories of `PATH` in which neither the repository nor a command in the sandbox can have put a program. To be taken once, when a
/// session begins.
pub(crate) fn of(directory: &Path, user: &UserConfig) -> SearchPath {
    let repository = project::repository(directory).map(Path::to_path_buf);
    let places = [directory.to_path_buf()].into_iter().chain(repository);
    // What cannot be used is an error where the sandbox is made.
    let writable = hidden::absolute("sandbox_writable", &user.sandbox_writable).unwrap_or_default();
    let untrusted: Vec<PathBuf> = places.chain(writable).collect();
    SearchPath::outside(std::env::var_os("PATH").as_deref(), untrusted)
}
