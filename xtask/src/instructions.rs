//! What `agent-core` costs in instructions, counted by callgrind: the same on a busy machine and on an idle one.
//!
//! The cases live in the crate `bench`, outside the workspace. Each runs in a process of its own under valgrind, which counts from the call
//! of `measured` to its return.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Lengths of history at which a step has to cost the same.
const LENGTHS: [&str; 3] = ["10", "1000", "10000"];
/// A step after 10,000 items may cost so much of one after 10.
const MAX_RATIO: f64 = 1.1;

/// Builds, counts and prints everything; an error when a step costs more after a long history.
pub(crate) fn run() -> Result<(), String> {
    let program = build()?;
    let count = |arguments: &[&str]| counted(&program, arguments);
    let mut above = Vec::new();
    let mut out = String::from("| A step on | 10 items | 1,000 | 10,000 | ratio |\n|---|--:|--:|--:|--:|\n");
    // Summaries look at the whole history, which is what they are for.
    let (mut events, summaries) = (names(&program, "cases")?, names(&program, "summaries")?);
    events.extend(["turn", "turn under commitments"].map(str::to_owned));
    for event in events.iter().chain(&summaries) {
        let costs = LENGTHS.map(|length| count(&[event, length]));
        let [short, middle, long] = costs.map(|cost| cost.map(|(instructions, times)| instructions / times));
        let (short, middle, long) = (short?, middle?, long?);
        let ratio = long as f64 / short as f64;
        if ratio > MAX_RATIO && !summaries.contains(event) {
            above.push(format!("{event}: {ratio:.2}"));
        }
        out.push_str(&format!("| {event} | {short} | {middle} | {long} | {ratio:.2} |\n"));
    }
    out.push_str("\n| | instructions |\n|---|--:|\n");
    let (snapshot, times) = count(&["snapshot", "1000"])?;
    out.push_str(&format!("| a copy of the history of 1,000 items, made and dropped | {} |\n", snapshot / times));
    for (name, what) in [("replay", "replayed from its line"), ("parse", "read from its line alone")] {
        let (instructions, times) = count(&[name, "3000"])?;
        out.push_str(&format!("| an event of a journal, {what} | {} |\n", instructions / times));
    }
    out.push_str("\n| The same small machine | instructions an event | to `match` |\n|---|--:|--:|\n");
    let (by_hand, times) = count(&["small", "100000", "match"])?;
    for machine in ["match", "kernel", "statig", "smlang"] {
        let (instructions, _) = count(&["small", "100000", machine])?;
        let (each, ratio) = (instructions as f64 / times as f64, instructions as f64 / by_hand as f64);
        out.push_str(&format!("| {machine} | {each:.1} | {ratio:.2} |\n"));
    }
    crate::say(&out);
    if above.is_empty() { Ok(()) } else { Err(format!("costs more after a long history: {}", above.join(", "))) }
}

/// Builds the crate `bench` and returns the program that runs one case.
fn build() -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from).join("bench");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--release", "--locked", "--bin", "instructions", "--manifest-path"])
        .arg(root.join("bench/Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .status()
        .map_err(|error| format!("build the benchmarks: {error}"))?;
    if status.success() {
        Ok(target.join("release/instructions"))
    } else {
        Err("the benchmarks do not build".to_owned())
    }
}

/// Names of cases, as the crate `bench` has them.
fn names(program: &Path, which: &str) -> Result<Vec<String>, String> {
    let output = Command::new(program).arg(which).output().map_err(|error| format!("ask for the {which}: {error}"))?;
    let names: Vec<String> = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    if names.is_empty() { Err(format!("the benchmarks have no {which}")) } else { Ok(names) }
}

/// Instructions that a case took, and how often it did what it measures.
fn counted(program: &Path, arguments: &[&str]) -> Result<(u64, u64), String> {
    let failed = |why: &str| format!("count {}: {why}", arguments.join(" "));
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*measured*"])
        .arg(program)
        .args(arguments)
        .output()
        .map_err(|error| failed(&format!("run valgrind: {error}; is it installed?")))?;
    let (shown, told) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() {
        return Err(failed(&told));
    }
    let times = shown.trim().parse().map_err(|_| failed("it does not say how often it ran"))?;
    let collected = told.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    let instructions = collected.filter(|count| *count > 0).ok_or_else(|| failed("nothing was counted"))?;
    Ok((instructions, times))
}
