//! What a script's first line has the kernel run (execve(2)): a program that leads into a place leads there as much as the script itself.

use crate::leads::Places;
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::path::Path;

/// Whether the interpreter of a script, or what its first line names besides, lies in one of these places or goes through one. What is no script
/// names none. A relative path is one of whatever directory the script is started in, so it counts as one that does.
pub(crate) fn leads_into(file: &Path, places: &Places<'_>) -> bool {
    within(file, places, MOST_SCRIPTS)
}

fn within(file: &Path, places: &Places<'_>, most: usize) -> bool {
    let Some(line) = first_line(file) else { return false };
    let mut words = line.split_ascii_whitespace();
    let Some(interpreter) = words.next() else { return false };
    if most == 0 {
        return true;
    }
    let is_there = |word: &str| word.contains('/') && places.are_on_the_way_of(Path::new(word));
    let interpreter = Path::new(interpreter);
    places.are_on_the_way_of(interpreter) || words.any(is_there) || within(interpreter, places, most - 1)
}

/// What comes after `#!`. A file that cannot be read is no script: its interpreter could not read it either.
fn first_line(file: &Path) -> Option<String> {
    // To open a pipe would be to wait for its writer.
    file.metadata().ok().filter(Metadata::is_file)?;
    let mut begin = Vec::new();
    File::open(file).ok()?.take(FIRST_LINE_BYTES).read_to_end(&mut begin).ok()?;
    let line = begin.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    Some(String::from_utf8_lossy(line).into_owned())
}

/// As much as the kernel reads.
const FIRST_LINE_BYTES: u64 = 256;
/// The kernel gives up sooner.
const MOST_SCRIPTS: usize = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_in_the_place_of_an_interpreter_is_not_waited_for() {
        let root = tempfile::tempdir().unwrap();
        let (pipe, script) = (root.path().join("pipe"), root.path().join("script"));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::fs::write(&script, format!("#!{}\n", pipe.display())).unwrap();
        let elsewhere = [root.path().join("elsewhere")];
        assert!(!leads_into(&script, &Places::of(&elsewhere)));
        assert!(leads_into(&script, &Places::of(&[&pipe])), "the control");
    }
}
