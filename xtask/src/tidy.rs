//! Rules of the house that the compiler does not know. `cargo test -p xtask` checks them too.

use crate::{deny, phases, source};
use serde::Deserialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Arrows of the architecture: a crate and the siblings it may depend on. Dev-dependencies are exempt.
const ARROWS: &[(&str, &[&str])] = &[
    ("statetable", &[]),
    ("agent-types", &[]),
    ("agent-core", &["statetable", "agent-types"]),
    ("agent-check", &["agent-core"]),
    ("agent-exec", &["agent-types"]),
    ("agent-runner", &["agent-core"]),
    ("agent-llm", &["agent-types"]),
    ("agent-tools", &["agent-types", "agent-exec"]),
    ("agent-git", &["agent-types", "agent-exec"]),
    ("agent-hooks", &["agent-types", "agent-exec", "agent-git"]),
    ("agent-mcp", &["agent-core", "agent-exec"]),
    ("agent-acp", &["agent-core", "agent-runner"]),
    ("agent-testkit", &["agent-core", "agent-runner"]),
    (
        "agent-cli",
        &[
            "agent-core",
            "agent-exec",
            "agent-runner",
            "agent-llm",
            "agent-tools",
            "agent-git",
            "agent-hooks",
            "agent-mcp",
            "agent-acp",
            "agent-testkit",
        ],
    ),
    ("xtask", &["agent-core", "agent-check"]),
];
/// The program, whose only module that writes is this one, with what is below it.
const PROGRAM: &str = "crates/agent-cli/src/";
const TERMINAL: &str = "screen/terminal";
/// The pure crates: the kernel, the types that machines and adapters share, the machines.
const PURE: &[&str] = &["statetable", "agent-types", "agent-core"];
/// Direct dependencies of such a crate.
const MOST_DEPENDENCIES: usize = 10;

/// Checks everything; the error lists what is wrong, one line each.
pub(crate) fn run() -> Result<(), String> {
    let root = root()?;
    let metadata = metadata(&root)?;
    let mut faults = arrow_faults(&metadata);
    faults.extend(purity_faults(&root));
    faults.extend(dependency_faults(&root, &metadata)?);
    let mut sources = Vec::new();
    for directory in package_directories(&root)? {
        for kind in ["src", "tests", "benches", "examples"] {
            for file in rust_files(&directory.join(kind)) {
                let shown = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
                match fs::read_to_string(&file) {
                    Ok(text) => {
                        let mut found = source::faults(&text, kind != "src" || holds_tests(&file));
                        found.extend(source::comment_faults(&text));
                        if is_to_be_silent(&shown) {
                            found.extend(source::terminal_faults(&text));
                        }
                        faults.extend(found.into_iter().map(|fault| format!("{shown}{fault}")));
                        if kind == "src" {
                            sources.push((shown.clone(), text));
                        }
                    }
                    Err(error) => faults.push(format!("{shown}: {error}")),
                }
                if kind == "src" && !is_declared(&directory.join("src"), &file) {
                    faults.push(format!("{shown}: no parent declares this module"));
                }
            }
        }
    }
    faults.extend(phases::faults(sources.iter().map(|(shown, text)| (shown.as_str(), text.as_str()))));
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// Whether a file is of the program and not of the module that writes.
fn is_to_be_silent(shown: &str) -> bool {
    let below = |path: &str| path.strip_prefix(TERMINAL).is_some_and(|rest| rest.starts_with(['/', '.']));
    shown.strip_prefix(PROGRAM).is_some_and(|path| !below(path))
}

fn root() -> Result<PathBuf, String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(Path::to_path_buf).ok_or_else(|| "the workspace is not there".to_owned())
}

fn metadata(root: &Path) -> Result<Value, String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--locked", "--all-features", "--format-version", "1"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("run cargo metadata: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("read cargo metadata: {error}"))
}

fn arrow_faults(metadata: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for package in elements(&metadata["packages"]).filter(|package| package["source"].is_null()) {
        let name = text(&package["name"]);
        let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| *known == name) else {
            faults.push(format!("{name}: this crate is not in the architecture"));
            continue;
        };
        let dependencies: Vec<&str> = elements(&package["dependencies"])
            .filter(|dependency| text(&dependency["kind"]) != "dev")
            .map(|dependency| text(&dependency["name"]))
            .collect();
        let siblings = dependencies.iter().filter(|name| ARROWS.iter().any(|(known, _)| known == *name));
        faults.extend(
            siblings
                .filter(|sibling| !allowed.contains(sibling))
                .map(|sibling| format!("{name}: must not depend on {sibling}")),
        );
        if PURE.contains(&name) && dependencies.len() > MOST_DEPENDENCIES {
            faults
                .push(format!("{name}: has {} direct dependencies, more than {MOST_DEPENDENCIES}", dependencies.len()));
        }
    }
    faults
}

/// What `deny.toml` does not allow.
fn dependency_faults(root: &Path, metadata: &Value) -> Result<Vec<String>, String> {
    let deny = fs::read_to_string(root.join("deny.toml")).map_err(|error| format!("deny.toml: {error}"))?;
    let packages: Vec<deny::Package> =
        Deserialize::deserialize(&metadata["packages"]).map_err(|error| format!("read cargo metadata: {error}"))?;
    deny::faults(&deny, &packages)
}

/// The attributes that make purity a compile error.
fn purity_faults(root: &Path) -> Vec<String> {
    let mut faults = Vec::new();
    for pure in PURE {
        let path = format!("crates/{pure}/src/lib.rs");
        let text = fs::read_to_string(root.join(&path)).unwrap_or_default();
        let missing = ["#![no_std]", "#![forbid(unsafe_code)]"]
            .into_iter()
            .filter(|attribute| !text.lines().any(|line| line.trim() == *attribute));
        faults.extend(missing.map(|attribute| format!("{path}: misses {attribute}")));
    }
    faults
}

fn package_directories(root: &Path) -> Result<Vec<PathBuf>, String> {
    let crates = fs::read_dir(root.join("crates")).map_err(|error| format!("list crates: {error}"))?;
    let mut found: Vec<PathBuf> = crates.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    found.push(root.join("xtask"));
    found.sort();
    Ok(found)
}

fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(directory) = open.pop() {
        for path in fs::read_dir(&directory).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Whether a file below `src` is a module of tests: `tests.rs`, or one below a `tests` directory.
fn holds_tests(file: &Path) -> bool {
    file.with_extension("").components().any(|part| part.as_os_str() == "tests")
}

/// Whether a file is a root of its crate or some parent says `mod` of it.
fn is_declared(src: &Path, file: &Path) -> bool {
    let inside = file.strip_prefix(src).unwrap_or(file);
    if inside == Path::new("lib.rs") || inside == Path::new("main.rs") || inside.starts_with("bin") {
        return true;
    }
    let is_mod = file.file_name().is_some_and(|name| name == "mod.rs");
    let module = if is_mod { file.parent() } else { Some(file) };
    let (Some(name), Some(directory)) =
        (module.and_then(Path::file_stem).and_then(|stem| stem.to_str()), module.and_then(Path::parent))
    else {
        return false;
    };
    let parents =
        [directory.join("lib.rs"), directory.join("main.rs"), directory.join("mod.rs"), directory.with_extension("rs")];
    parents
        .iter()
        .filter(|parent| parent.as_path() != file)
        .filter_map(|parent| fs::read_to_string(parent).ok())
        .any(|text| source::declares(&text, name))
}

fn elements(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_is_tidy() {
        if let Err(faults) = run() {
            panic!("{faults}");
        }
    }

    #[test]
    fn only_one_module_of_the_program_writes() {
        let root = root().unwrap();
        let text = fs::read_to_string(root.join(PROGRAM).join("screen/terminal/outputs.rs")).unwrap();
        let is_silent = |path: &str| is_to_be_silent(&format!("{PROGRAM}{path}"));
        assert!(
            is_silent("screen/view.rs") && is_silent("screen/terminals.rs") && is_silent("commands/job/terminal.rs")
        );
        assert!(is_silent("terminal.rs") && !is_silent("screen/terminal.rs") && !is_silent("screen/terminal/queue.rs"));
        assert!(!is_to_be_silent("xtask/src/main.rs"));
        assert!(source::terminal_faults(&text).len() >= 3, "the one that does is found");
        for line in
            ["println!(\"{x}\");", "io::stderr().write_all(x)?;", "command.stdout(Stdio::inherit());", "error.exit()"]
        {
            assert_eq!(source::terminal_faults(line).len(), 1, "{line}");
        }
        for line in [
            "// println!(x)",
            "terminal::say(text);",
            "command.stdout(Stdio::piped());",
            "io::stdin().is_terminal()",
            "error.use_stderr()",
        ] {
            assert_eq!(source::terminal_faults(line).len(), 0, "{line}");
        }
    }

    #[test]
    fn forbidden_arrows_are_found() {
        let package = |name: &str, kind: Value, dependency: &str| serde_json::json!({"packages": [{"name": name, "dependencies": [{"name": dependency, "kind": kind}]}]});
        let faults = |name, kind, dependency| arrow_faults(&package(name, kind, dependency)).len();
        assert_eq!(faults("agent-tools", Value::Null, "agent-exec"), 0);
        assert_eq!(faults("agent-tools", Value::Null, "agent-llm"), 1);
        assert_eq!(faults("agent-tools", Value::Null, "agent-core"), 1, "an adapter knows no machine");
        assert_eq!(faults("agent-types", Value::Null, "statetable"), 1);
        assert_eq!(faults("agent-core", "build".into(), "agent-exec"), 1);
        assert_eq!(faults("agent-core", "dev".into(), "agent-testkit"), 0);
        assert_eq!(faults("agent-core", Value::Null, "serde"), 0);
        assert_eq!(faults("agent-noun", Value::Null, "serde"), 1);
    }
}
