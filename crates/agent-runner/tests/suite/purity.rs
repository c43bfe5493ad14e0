//! The driver decides nothing: its sources, and the program's, do not even name what decisions would be made of.

use std::fs;
use std::path::{Path, PathBuf};

/// What the machine decides by. Neither the driver nor the program reads it to decide what happens next.
const NOBODYS: &[&str] = &["StopReason", "is_retryable", "has_results_due", "delay_after_ms"];

/// What the program may set or show, and the driver does not even do that with.
const NOT_THE_DRIVERS: &[&str] =
    &["LlmErrorKind::Overloaded", "LlmErrorKind::RateLimited", "Decision::", ".decide(", "max_model_calls", "Rule::"];

#[test]
fn nobody_names_what_the_machine_decides_by() {
    let (driver, program) = (sources("agent-runner/src"), sources("agent-cli/src"));
    assert!(driver.len() > 10, "the sources are not where they were");
    for (path, text) in driver.iter().chain(&program) {
        for word in NOBODYS {
            assert!(!text.contains(word), "{} names `{word}`", path.display());
        }
    }
    for (path, text) in &driver {
        for word in NOT_THE_DRIVERS {
            assert!(!text.contains(word), "{} names `{word}`", path.display());
        }
    }
}

#[test]
fn the_driver_looks_at_no_tool_by_name() {
    for (path, text) in sources("agent-runner/src") {
        for (number, line) in text.lines().enumerate() {
            let compares =
                line.contains("==") || line.contains("!=") || line.contains("matches!") || line.contains("match ");
            let is_about_a_name =
                line.contains("call.name") || line.contains("spec().name") || line.contains("tool.name");
            // The toolbox finds a tool by the name that the model gave; it knows none itself.
            let is_lookup =
                line.contains("tool.spec().name.as_ref() == name") || line.contains("other.name == tool.name");
            let place = format!("{}:{}: {line}", path.display(), number + 1);
            assert!(!(compares && is_about_a_name) || is_lookup || line.contains("find(&call.name)"), "{place}");
        }
    }
}

#[test]
fn the_runner_keeps_no_phase() {
    for (path, text) in sources("agent-runner/src") {
        let reads = text.lines().find(|line| line.contains(" State::"));
        assert_eq!(reads, None, "{} reads the machine's state", path.display());
    }
}

fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder), &mut found);
    found
}

fn collect(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
}
