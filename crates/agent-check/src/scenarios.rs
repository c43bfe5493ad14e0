//! Scenarios in text, for every machine: lines that begin with `>` are given to the machine, indented lines are its answers.
//! `INSTA_UPDATE=always` rewrites the answers in the files.
//!
//! ```text
//! == a title begins anew
//! # a comment
//! > something that happens
//!     what the machine makes of it
//! ```

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

use crate::golden;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// A machine that understands the lines of its scenarios.
pub trait Story {
    /// A scenario ended, if one was told, and the next begins.
    fn begin(&mut self);

    /// Performs a line and returns the answers, one a line.
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

/// Checks that every scenario of a machine reads as written.
pub fn check(machine: &str, play: &dyn Fn(&str) -> String) {
    let differing = differing(machine, play).into_iter();
    let wrong: Vec<String> = differing.filter_map(|(path, found)| golden::compare(&path, &found).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The files that read otherwise than written, with the text that the machine gives now.
pub fn differing(machine: &str, play: &dyn Fn(&str) -> String) -> Vec<(PathBuf, String)> {
    let read = |path: PathBuf| {
        let written = fs::read_to_string(&path).unwrap();
        let found = play(&written);
        (found != written).then_some((path, found))
    };
    paths(machine).into_iter().filter_map(read).collect()
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
