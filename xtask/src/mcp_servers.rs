//! Servers of the Model Context Protocol that others wrote, and the official conformance suite, for the tests that try the program with
//! them: exactly the versions of the lock files, in a directory outside of the repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Installs them; what is there already is left alone. Scripts of packages are not run.
pub(crate) fn run() -> Result<(), String> {
    let place = place()?;
    let locks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/agent-cli/tests/mcp-servers");
    fs::create_dir_all(&place).map_err(|error| format!("make {}: {error}", place.to_string_lossy()))?;
    for name in ["package.json", "package-lock.json", "requirements.txt"] {
        fs::copy(locks.join(name), place.join(name)).map_err(|error| format!("copy {name}: {error}"))?;
    }
    perform(&place, "npm", &["ci", "--ignore-scripts", "--no-audit", "--no-fund"])?;
    perform(&place, "python3", &["-m", "venv", "python"])?;
    perform(
        &place,
        "python/bin/pip",
        &["install", "--quiet", "--require-hashes", "--only-binary", ":all:", "-r", "requirements.txt"],
    )?;
    crate::say(&format!("the servers are in {}\n", place.to_string_lossy()));
    Ok(())
}

/// Where they are: the tests look there, too.
pub(crate) fn place() -> Result<PathBuf, String> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = || variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")));
    variable("AGENT_MCP_SERVERS")
        .or_else(|| cache().map(|cache| cache.join("agent-mcp-servers")))
        .ok_or_else(|| "there is no home directory: AGENT_MCP_SERVERS says where the servers go".to_owned())
}

fn perform(place: &Path, program: &str, arguments: &[&str]) -> Result<(), String> {
    let path = if program.contains('/') { place.join(program) } else { program.into() };
    let status = Command::new(path).args(arguments).current_dir(place).status();
    match status.map_err(|error| format!("run {program}: {error}"))? {
        status if status.success() => Ok(()),
        status => Err(format!("{program} {}: {status}", arguments.join(" "))),
    }
}
