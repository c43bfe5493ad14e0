//! What a script's first line has the kernel run (execve(2)), and what else it names: a program that leads into a place leads there as much
//! as the script itself.

use crate::leads::Places;
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Whether the interpreter of a script, or an absolute path in the script, lies in one of these places or goes through one. What is no
/// script names none. A relative path is one of whatever directory the script is started in, so it counts as one that does. What `env`
/// looks for is looked for in `directories`.
pub(crate) fn leads_into(file: &Path, directories: &OsStr, places: &Places<'_>) -> bool {
    Search { directories, places }.is_led(file, MOST_SCRIPTS)
}

/// The first absolute path that a script names behind its first line and that lies in one of these places, goes through one, or has another
/// name that may lie there.
#[must_use]
pub fn named_in_script<P: AsRef<Path>>(file: &Path, places: &[P]) -> Option<PathBuf> {
    let script = script(file)?;
    let (_, body) = script.split_once('\n')?;
    let places = Places::of(places);
    paths(body).find(|path| places.may_change(path)).map(Path::to_path_buf)
}

struct Search<'a> {
    directories: &'a OsStr,
    places: &'a Places<'a>,
}

impl Search<'_> {
    fn is_led(&self, file: &Path, most: usize) -> bool {
        let Some(script) = script(file) else { return false };
        let (line, body) = script.split_once('\n').unwrap_or((&script, ""));
        let mut words = line.split_ascii_whitespace();
        let Some(interpreter) = words.next().map(Path::new) else { return false };
        if most == 0 {
            return true;
        }
        let is_env = interpreter.file_name() == Some(OsStr::new("env"));
        let is_word_led = |word: &str| match word.contains('/') {
            true => self.places.may_change(Path::new(word)),
            false => is_env && self.is_found_led(word, most - 1),
        };
        self.places.may_change(interpreter)
            || words.any(is_word_led)
            || paths(body).any(|path| self.places.may_change(path))
            || self.is_led(interpreter, most - 1)
    }

    /// Whether the program that is found by this name is led there.
    fn is_found_led(&self, name: &str, most: usize) -> bool {
        let mut found = std::env::split_paths(self.directories).map(|directory| directory.join(name));
        let first = found.find(|file| file.symlink_metadata().is_ok());
        first.is_some_and(|file| self.places.may_change(&file) || self.is_led(&file, most))
    }
}

/// The absolute paths that a script names: some start another program in their second line, because the first one could not hold its path.
fn paths(body: &str) -> impl Iterator<Item = &Path> {
    body.split(|c: char| c.is_whitespace() || "\"'`=;:()|&<>,".contains(c))
        .filter(|word| word.starts_with('/'))
        .map(Path::new)
}

/// Whether a file is a script.
pub(crate) fn is_script(file: &Path) -> bool {
    opened(file).is_some()
}

/// A script, behind its `#!`.
fn opened(file: &Path) -> Option<impl Read> {
    // To open a pipe would be to wait for its writer.
    file.metadata().ok().filter(Metadata::is_file)?;
    let mut reader = File::open(file).ok()?.take(SCRIPT_BYTES);
    let mut mark = [0; 2];
    reader.read_exact(&mut mark).ok().filter(|()| &mark == b"#!")?;
    Some(reader)
}

/// What comes after `#!`. A file that cannot be read is no script: its interpreter could not read it either.
fn script(file: &Path) -> Option<String> {
    let mut reader = opened(file)?;
    let mut script = Vec::new();
    reader.read_to_end(&mut script).ok()?;
    Some(String::from_utf8_lossy(&script).into_owned())
}

/// So much of a script is looked at; the kernel reads 256 bytes of the first line.
const SCRIPT_BYTES: u64 = 64 * 1024;
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
        assert!(!leads_into(&script, OsStr::new(""), &Places::of(&elsewhere)));
        assert!(leads_into(&script, OsStr::new(""), &Places::of(&[&pipe])), "the control");
    }
}
