//! The one form of a command that may run outside of the sandbox although it comes from a repository: a script, wholly understood.
//!
//! ```text
//! PinnedScript::of   the command, word by word            -> a script and its arguments, or why it is not understood
//! prepare            the script's bytes, read once        -> compared with what was trusted
//!                    a copy of these bytes, elsewhere     -> where no sandboxed command can write
//!                    the interpreter                      -> found outside of the workspace
//! ```
//!
//! 1. What runs is what was compared: the interpreter is given the copy, never the path in the workspace.
//! 2. No shell reads the command. Every byte of it is a letter, a digit, or one of few signs that mean nothing to a shell either.
//! 3. Whatever is not understood is refused. There is no list of forms that are dangerous.
//!
//! Absent: what the script itself does. It was shown when it was trusted, and names of the workspace in it mean what is there when it
//! runs.

use super::first_line::FirstLine;
use super::script::{Script, digest};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A script of the workspace that runs as the user does, from a copy of the bytes that were trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinnedScript {
    script: Script,
    interpreter: Option<Interpreter>,
    arguments: Vec<String>,
    grounds: Grounds,
}

/// What sandboxed commands may write, and where nothing may come from for that reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grounds {
    /// The directory in which hooks run.
    pub directory: PathBuf,
    /// Directories in which commands write: the workspace's root, and others.
    pub writable: Vec<PathBuf>,
    /// Where copies are made. It need not be there yet.
    pub copies: PathBuf,
    /// The search path for interpreters.
    pub search_path: Option<OsString>,
}

/// A program that reads scripts, and its arguments before the script.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Interpreter {
    /// A name, or an absolute path.
    program: String,
    options: Option<String>,
}

/// What is to be started. The copy is gone when this is dropped.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
    pub(super) search_path: Option<String>,
    _copy: TempDir,
}

impl PinnedScript {
    /// The script that a command consists of, with the content that it has now.
    ///
    /// # Errors
    /// Why the command, or the script, is not understood.
    pub fn of(command: &str, grounds: Grounds) -> Result<Self, String> {
        let mut words = words(command, &grounds.directory)?.into_iter();
        let first = words.next().ok_or("it is empty")?;
        let (interpreter, path) = if first.contains('/') && !is_interpreter(&first) {
            (None, first)
        } else {
            let interpreter = Interpreter::named(&first, None)?;
            let path = words.next().ok_or_else(|| format!("`{first}` has no script as its argument"))?;
            if path.starts_with('-') {
                return Err(format!("`{first}` has the option `{path}`"));
            }
            (Some(interpreter), path)
        };
        let path = grounds.directory.join(path);
        let arguments: Vec<String> = words.collect();
        if let Some(other) = arguments.iter().find(|argument| may_name_a_file(argument, &grounds.directory)) {
            return Err(format!("`{other}` may name another file"));
        }
        let bytes = read(&path)?;
        let script = Script::with_content(path, digest(&bytes));
        let pinned = Self { script, interpreter, arguments, grounds };
        let interpreter = pinned.interpreter(&bytes)?;
        pinned.grounds.find(&interpreter.program)?;
        pinned.grounds.check_copies()?;
        Ok(pinned)
    }

    /// The script, with the content that it must have.
    #[must_use]
    pub const fn script(&self) -> &Script {
        &self.script
    }

    /// The same with the content that was trusted.
    #[must_use]
    pub fn with_content(mut self, content: &str) -> Self {
        self.script = Script::with_content(self.script.path().to_path_buf(), content.to_owned());
        self
    }

    /// Reads the script, compares it, and copies what was compared.
    pub(super) fn prepare(&self) -> Result<Prepared, String> {
        let path = self.script.path();
        let bytes = read(path)?;
        if digest(&bytes) != self.script.content() {
            return Err(format!("{} changed since it was trusted", path.display()));
        }
        let Interpreter { program, options } = self.interpreter(&bytes)?;
        let program = text(&self.grounds.find(&program)?)?;
        if let Some(other) = self.arguments.iter().find(|argument| may_name_a_file(argument, &self.grounds.directory)) {
            return Err(format!("`{other}` may name another file"));
        }
        let (directory, copy) = self.copy(&bytes).map_err(|error| format!("copy {}: {error}", path.display()))?;
        let arguments = options.into_iter().chain([text(&copy)?]).chain(self.arguments.iter().cloned()).collect();
        Ok(Prepared { program, arguments, search_path: self.grounds.clean_search_path(), _copy: directory })
    }

    /// The one that the command names, or else the script. Perl and Ruby heed the script's first line though they were named.
    fn interpreter(&self, bytes: &[u8]) -> Result<Interpreter, String> {
        match &self.interpreter {
            Some(interpreter) if FirstLine::of(bytes)?.is_none() => Ok(interpreter.clone()),
            Some(interpreter) => Interpreter::of_script(bytes).map(|_| interpreter.clone()),
            None => Interpreter::of_script(bytes),
        }
    }

    /// The copy keeps the script's name, by which some interpreters tell what it is, and lies alone in its directory: nothing that lies
    /// beside the script is found beside it.
    fn copy(&self, bytes: &[u8]) -> io::Result<(TempDir, PathBuf)> {
        self.grounds.check_copies().map_err(io::Error::other)?;
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.grounds.copies)?;
        self.grounds.check_copies().map_err(io::Error::other)?;
        let directory = tempfile::Builder::new().prefix("hook-").tempdir_in(self.grounds.copies.canonicalize()?)?;
        agent_exec::leftovers::note_path(directory.path());
        let copy = directory.path().join(self.script.path().file_name().unwrap_or(OsStr::new("script")));
        let mut file = OpenOptions::new().write(true).create_new(true).open(&copy)?;
        file.write_all(bytes)?;
        Ok((directory, copy))
    }
}

impl Grounds {
    /// An interpreter that no command can have put there. A relative entry of the search path is one in the workspace.
    fn find(&self, program: &str) -> Result<PathBuf, String> {
        let found = match program.contains('/') {
            true => Some(PathBuf::from(program)).filter(|program| program.is_file()),
            false => self.search().map(|entry| entry.join(program)).find(|file| self.is_outside(file) && may_run(file)),
        };
        let found = found.ok_or_else(|| format!("there is no `{program}` outside the workspace"))?;
        match self.is_outside(&found) {
            true => Ok(found),
            false => Err(format!("`{program}` is in a place where commands may write")),
        }
    }

    fn search(&self) -> impl Iterator<Item = PathBuf> {
        let path = self.search_path.as_deref().unwrap_or(OsStr::new(USUAL_PATH));
        std::env::split_paths(path).filter(|entry| entry.is_absolute() && self.is_outside(entry))
    }

    /// What the script finds programs in.
    fn clean_search_path(&self) -> Option<String> {
        std::env::join_paths(self.search()).ok()?.into_string().ok()
    }

    /// Where a path leads, and the path itself, both lie outside of what commands may write.
    fn is_outside(&self, path: &Path) -> bool {
        let is_inside = |path: &Path| {
            self.writable
                .iter()
                .any(|place| path.starts_with(place) || place.canonicalize().is_ok_and(|place| path.starts_with(place)))
        };
        !is_inside(path) && !path.canonicalize().is_ok_and(|path| is_inside(&path))
    }

    fn check_copies(&self) -> Result<(), String> {
        let existing = self.copies.ancestors().find(|folder| folder.exists());
        if self.copies.is_absolute() && existing.is_some_and(|folder| self.is_outside(folder)) {
            return Ok(());
        }
        Err(format!("copies cannot be kept in {}: commands may write there", self.copies.display()))
    }
}

impl Interpreter {
    fn named(program: &str, options: Option<&str>) -> Result<Self, String> {
        if !is_interpreter(program) || (program.contains('/') && !program.starts_with('/')) {
            return Err(format!(
                "`{program}` is neither a script in the workspace nor one of {}",
                INTERPRETERS.join(", ")
            ));
        }
        Ok(Self { program: program.to_owned(), options: options.map(str::to_owned) })
    }

    /// What a script's first line says.
    fn of_script(bytes: &[u8]) -> Result<Self, String> {
        let line = FirstLine::of(bytes)?.ok_or("its first line names no interpreter (such as `#!/bin/sh`)")?;
        Self::named(line.interpreter, line.options).map_err(|_| {
            format!("its first line names `{}`, which is not one of {}", line.interpreter, INTERPRETERS.join(", "))
        })
    }
}

/// The words of a command in which a shell would find the same words and nothing else.
fn words(command: &str, directory: &Path) -> Result<Vec<String>, String> {
    let split = command.split([' ', '\t']).filter(|word| !word.is_empty());
    let words: Result<Vec<String>, String> = split.map(|word| plain(word, directory)).collect();
    let words = words?;
    if let Some(first) = words.first().filter(|first| first.contains('=')) {
        return Err(format!("`{first}` sets a variable"));
    }
    Ok(words)
}

fn plain(word: &str, directory: &Path) -> Result<String, String> {
    let unquoted = word.strip_prefix('"').and_then(|word| word.strip_suffix('"')).unwrap_or(word);
    let below = PROJECT.iter().find_map(|name| unquoted.strip_prefix(name)?.strip_prefix('/'));
    let rest = below.unwrap_or(unquoted);
    let is_understood = |byte: u8| byte.is_ascii_alphanumeric() || b"_./@%+=:,-".contains(&byte);
    if rest.is_empty() || !rest.bytes().all(is_understood) {
        return Err(format!("`{word}` is special to a shell"));
    }
    match below {
        Some(below) => text(&directory.join(below)),
        None => Ok(rest.to_owned()),
    }
}

/// A script could read, or run, what is named to it.
fn may_name_a_file(argument: &str, directory: &Path) -> bool {
    let parts = argument.split(['=', ':', ',']).filter(|part| !part.is_empty());
    let is_there = |part: &str| directory.join(part).symlink_metadata().is_ok();
    argument.contains('/') || matches!(argument, "." | "..") || is_there(argument) || parts.into_iter().any(is_there)
}

fn is_interpreter(program: &str) -> bool {
    INTERPRETERS.contains(&name_of(program))
}

fn name_of(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

fn text(path: &Path) -> Result<String, String> {
    path.to_str().map(str::to_owned).ok_or_else(|| format!("{} is not valid UTF-8", path.display()))
}

/// All bytes of a regular file, read once. A pipe in its place does not hold the reader.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    let failed = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
    let file = open(path).map_err(|error| failed(&error))?;
    let found = file.metadata().map_err(|error| failed(&error))?;
    if !found.is_file() {
        return Err(failed(&"it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(SCRIPT_LIMIT_BYTES + 1).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    match bytes.len() as u64 > SCRIPT_LIMIT_BYTES {
        true => Err(failed(&format!("it has more than {SCRIPT_LIMIT_BYTES} bytes"))),
        false => Ok(bytes),
    }
}

#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(unix)]
fn may_run(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn may_run(file: &Path) -> bool {
    file.is_file()
}

/// Each reads a script that it is given, and nothing that is in its working directory.
const INTERPRETERS: &[&str] = &["sh", "bash", "dash", "python3", "node", "ruby", "perl"];
const PROJECT: [&str; 2] = ["$AGENT_PROJECT_DIR", "${AGENT_PROJECT_DIR}"];
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
const SCRIPT_LIMIT_BYTES: u64 = 1024 * 1024;
#[cfg(all(unix, target_os = "linux"))]
const O_NONBLOCK: i32 = 0o4000;
#[cfg(all(unix, not(target_os = "linux")))]
const O_NONBLOCK: i32 = 0x0004;

#[cfg(test)]
mod tests;
