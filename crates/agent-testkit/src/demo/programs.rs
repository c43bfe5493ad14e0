//! Running the programs that the demo needs.

use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs `git` in a directory and returns what it printed.
pub(super) fn git(directory: &Path, arguments: &[&str]) -> io::Result<String> {
    let output = run(git_command(directory).args(arguments), "git")?;
    if output.status.success() {
        Ok(text_of(&output.stdout))
    } else {
        let said = text_of(&output.stderr);
        Err(io::Error::other(format!("run `git {}`: {}", arguments.join(" "), said.trim())))
    }
}

/// A `git` on which neither the caller's environment nor anybody's configuration has an influence.
fn git_command(directory: &Path) -> Command {
    let mut command = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GIT_") {
            command.env_remove(name);
        }
    }
    command
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", NO_FILE)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_DATE", COMMIT_DATE)
        .env("GIT_COMMITTER_DATE", COMMIT_DATE)
        .arg("--no-optional-locks");
    command
}

/// Runs the repository's tests; says whether they passed and what they printed.
pub(super) fn run_tests(directory: &Path) -> io::Result<(bool, String)> {
    let mut command = Command::new("sh");
    command.arg("check.sh").current_dir(directory);
    let output = run(&mut command, "sh")?;
    let printed = text_of(&output.stdout) + &text_of(&output.stderr);
    Ok((output.status.success(), printed))
}

/// Whether a program is there and does what it is asked.
pub(super) fn succeeds(program: &str, arguments: &[&str], directory: &Path) -> bool {
    works(program, arguments, directory).is_ok()
}

/// The same, with what the program said where it does not: one that only stands in for another knows what that lacks.
pub(super) fn works(program: &str, arguments: &[&str], directory: &Path) -> io::Result<()> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory);
    let output = run(&mut command, program)?;
    if output.status.success() {
        return Ok(());
    }
    let said = text_of(&output.stderr);
    let said =
        said.lines().find(|line| !line.trim().is_empty()).map_or_else(|| output.status.to_string(), String::from);
    Err(io::Error::other(format!("run `{program} {}`: {said}", arguments.join(" "))))
}

fn run(command: &mut Command, program: &str) -> io::Result<Output> {
    command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| io::Error::new(error.kind(), format!("start `{program}`: {error}")))
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A file without content, which git takes for an empty configuration.
const NO_FILE: &str = if cfg!(windows) { "NUL" } else { "/dev/null" };

/// The same in every demo, so that the first commit always has the same id.
const COMMIT_DATE: &str = "2025-01-06T09:00:00Z";
