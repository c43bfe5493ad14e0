//! What skills and files of instructions add to the start of `agent run`: the whole of a run against a model server on this machine, with
//! a sandbox and without.

use crate::editor::{built, model};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Measures and prints. The cases take turns, and the least of many runs counts: other programs only add.
pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    let program = match words {
        [] => built(&["-p", "agent-cli", "--bin", "agent", "--bin", "agent-helper"], "agent")?,
        [program] if !program.starts_with('-') => PathBuf::from(program),
        _ => return Err(String::from("usage: cargo xtask start [PROGRAM]")),
    };
    let root = std::env::temp_dir().join(format!("start-{}", std::process::id()));
    let done = made(&root).and_then(|()| measure(&root, &program));
    fs::remove_dir_all(&root).map_err(|error| format!("remove {}: {error}", root.display()))?;
    done
}

/// A home and a project for each case.
fn made(root: &Path) -> Result<(), String> {
    for (case, skills, imports) in CASES {
        let folder = root.join(case);
        let work = folder.join("work");
        write(&work.join("README"), "A project.\n")?;
        for skill in 0..*skills {
            let name = format!("skill-{skill:03}");
            let text = format!(
                "---\nname: {name}\ndescription: Does the thing number {skill}. Use when it is asked for.\n---\n{}",
                "Do it, line by line.\n".repeat(40)
            );
            write(&folder.join("home/.agents/skills").join(&name).join("SKILL.md"), &text)?;
        }
        let names = (0..*imports).map(|import| format!("part{import}.instructions.md"));
        for name in names.clone() {
            write(&work.join(name), &"Say it in one sentence.\n".repeat(5))?;
        }
        if *imports > 0 {
            write(&work.join("AGENTS.md"), &names.map(|name| format!("@{name}\n")).collect::<String>())?;
        }
        let git = Command::new("git").args(["init", "-q"]).current_dir(&work).status();
        git.map_err(|error| format!("start git: {error}"))?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("write {}: {error}", path.display());
    path.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
    fs::write(path, text).map_err(failed)
}

fn measure(root: &Path, program: &Path) -> Result<(), String> {
    let (url, _sent) = model(1)?;
    for sandbox in ["off", "workspace-write"] {
        let mut least = vec![Duration::MAX; CASES.len()];
        for _ in 0..RUNS {
            for ((case, ..), least) in CASES.iter().zip(&mut least) {
                *least = (*least).min(took(&root.join(case), program, &url, sandbox)?);
            }
        }
        let ms = |took: &Duration| took.as_secs_f64() * 1e3;
        let first = least.first().map_or(0.0, ms);
        for ((case, ..), least) in CASES.iter().zip(&least) {
            let (took, more) = (ms(least), ms(least) - first);
            crate::say(&format!("--sandbox {sandbox}, {case}: least {took:.1} ms, {more:+.1} ms (goal +5)\n"));
        }
    }
    Ok(())
}

/// One run, from its start to its end.
fn took(folder: &Path, program: &Path, url: &str, sandbox: &str) -> Result<Duration, String> {
    let mut command = Command::new(program);
    command.args(["run", "--quiet", "--sandbox", sandbox, "--model", "m", "--base-url", url, "-p", "hello"]);
    command.current_dir(folder.join("work")).env("HOME", folder.join("home")).env_remove("XDG_CONFIG_HOME");
    command.env("AGENT_STATE_HOME", folder.join("state")).env("AGENT_CONFIG_HOME", folder.join("config"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let start = Instant::now();
    let output = command.output().map_err(|error| format!("start {}: {error}", program.display()))?;
    let took = start.elapsed();
    match output.status.success() {
        true => Ok(took),
        false => Err(format!("a run failed ({}): {}", output.status, String::from_utf8_lossy(&output.stderr))),
    }
}

/// A name, how many skills, how many imported files of instructions.
const CASES: &[(&str, u32, u32)] =
    &[("nothing", 0, 0), ("200 skills", 200, 0), ("50 imports", 0, 50), ("200 skills and 50 imports", 200, 50)];
const RUNS: u32 = 20;
