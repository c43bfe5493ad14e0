//! Scenarios in text, for every machine: lines that begin with `>` are told to the machine, indented lines are what came of them.
//! `UPDATE=1` rewrites the answers in the files.
//!
//! ```text
//! == a title begins anew
//! # a comment
//! > something that happens
//!     what the machine makes of it
//! ```

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// A machine that understands the lines of its scenarios.
pub trait Story {
    /// A scenario ended, if one was told, and the next begins.
    fn begin(&mut self);

    /// Takes a line; what came of it, a line each.
    fn perform(&mut self, line: &str) -> String;
}

/// The files of a machine.
pub fn paths(machine: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../agent-core/tests/{machine}/scenarios"));
    let mut paths: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

/// Every scenario of a machine reads as written.
pub fn check(machine: &str, play: &dyn Fn(&str) -> String) {
    let mut wrong = Vec::new();
    for (path, written, found) in differing(machine, play) {
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&path, found).unwrap();
        } else {
            wrong.push(format!("{}\n{}", path.file_name().unwrap().display(), difference(&written, &found)));
        }
    }
    assert!(wrong.is_empty(), "UPDATE=1 accepts:\n{}", wrong.join("\n"));
}

/// The files that read otherwise than written: path, as written, as found.
pub fn differing(machine: &str, play: &dyn Fn(&str) -> String) -> Vec<(PathBuf, String, String)> {
    let read = |path: PathBuf| {
        let written = fs::read_to_string(&path).unwrap();
        let found = play(&written);
        (path, written, found)
    };
    paths(machine).into_iter().map(read).filter(|(_, written, found)| written != found).collect()
}

/// The same text with the answers that the machine gives now.
pub fn play(text: &str, story: &mut dyn Story) -> String {
    let mut out = String::new();
    for line in text.lines().filter(|line| !line.starts_with("    ")) {
        out.push_str(line);
        out.push('\n');
        if line.starts_with("==") {
            story.begin();
        } else if let Some(command) = line.strip_prefix("> ") {
            for answer in story.perform(command).lines() {
                let _ = writeln!(out, "    {answer}");
            }
        } else {
            assert!(line.is_empty() || line.starts_with('#'), "neither command nor comment: {line}");
        }
    }
    story.begin();
    out
}

/// The first lines that differ, with the last one that does not.
fn difference(written: &str, found: &str) -> String {
    let (written, found): (Vec<_>, Vec<_>) = (written.lines().collect(), found.lines().collect());
    let same = written.iter().zip(&found).take_while(|(a, b)| a == b).count();
    let mut out = String::new();
    let heading = found[..same].iter().rev().find(|line| line.starts_with("==")).unwrap_or(&"");
    let _ = writeln!(out, "  line {} ({heading})", same + 1);
    for line in written.iter().skip(same.saturating_sub(1)).take(9) {
        let _ = writeln!(out, "  -{line}");
    }
    for line in found.iter().skip(same.saturating_sub(1)).take(9) {
        let _ = writeln!(out, "  +{line}");
    }
    out
}
