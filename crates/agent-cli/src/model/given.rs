//! Keys that a provider's entry names: in a file, or written by a program. Both are the user's own, and both have limits.

use crate::walls::own_programs::{Answer, Question, Writes, ask_question};
use agent_exec::SearchPath;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotGiven {
    #[error("cannot read the key in {path}: {found}; {advice}", path = .path.display())]
    File { path: PathBuf, found: String, advice: &'static str },
    #[error("cannot use the key in {path}: {found}", path = .path.display())]
    InFile { path: PathBuf, found: &'static str },
    #[error("cannot get the key from `{program}`: {found}")]
    Command { program: String, found: String },
    #[error("cannot get the key from `{program}`: {path} or what it runs is where the agent's commands can write, and they could change it", path = .path.display())]
    Within { program: String, path: PathBuf },
}

/// The key in a file that only the user may read and change.
pub(crate) fn in_file(path: &Path) -> Result<String, NotGiven> {
    let failed = |found: String, advice| NotGiven::File { path: path.to_path_buf(), found, advice };
    // A link could lead to what others change, and opening a pipe must not wait for a writer.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::LOOP) => return Err(failed("it is a symbolic link".to_owned(), "name the file itself")),
        Err(error) => return Err(failed(error.to_string(), "check `api_key_file`")),
    };
    let found = file.metadata().map_err(|error| failed(error.to_string(), "check `api_key_file`"))?;
    if !found.is_file() {
        let kind = if found.file_type().is_fifo() { "a pipe" } else { "no regular file" };
        return Err(failed(format!("it is {kind}"), "`api_key_file` names a file with the key in its only line"));
    }
    if found.uid() != geteuid().as_raw() {
        return Err(failed("it belongs to another user".to_owned(), "make a copy of your own"));
    }
    if found.mode() & 0o077 != 0 {
        let mode = found.mode() & 0o777;
        return Err(failed(format!("others may use it (mode {mode:03o})"), "`chmod 600` makes it yours alone"));
    }
    let mut bytes = Vec::new();
    let read = file.take(LIMIT_BYTES as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| failed(error.to_string(), "check `api_key_file`"))?;
    key(&bytes).map_err(|found| NotGiven::InFile { path: path.to_path_buf(), found })
}

/// The key that a program writes. It is run once: a password manager may ask its user each time.
pub(crate) fn by_command(argv: &[String], programs: &SearchPath, untrusted: &[PathBuf]) -> Result<String, NotGiven> {
    static KNOWN: LazyLock<Mutex<HashMap<Vec<String>, String>>> = LazyLock::new(Mutex::default);
    if let Some(key) = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(argv) {
        return Ok(key.clone());
    }
    let key = asked(argv, programs, untrusted, PATIENCE)?;
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(argv.to_vec(), key.clone());
    Ok(key)
}

fn asked(
    argv: &[String],
    programs: &SearchPath,
    untrusted: &[PathBuf],
    patience: Duration,
) -> Result<String, NotGiven> {
    let [program, arguments @ ..] = argv else {
        return Err(NotGiven::Command { program: String::new(), found: "it names no program".to_owned() });
    };
    let failed = |found: String| NotGiven::Command { program: program.clone(), found };
    let program_path = with_home(program);
    let own = SearchPath::outside(Some(programs.directories()), untrusted);
    // What an interpreter or `env` is to run is as much a program, also within a text: commands may have written it.
    let within = arguments.iter().flat_map(|word| named(word).chain([with_home(word)]));
    if let Some(path) = within.chain([program_path.clone()]).find(|path| path.is_absolute() && own.is_changeable(path))
    {
        return Err(NotGiven::Within { program: program.clone(), path });
    }
    let named = if program_path.is_absolute() { program_path.display().to_string() } else { program.clone() };
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // In the root directory: nothing of a repository is near.
    let question = Question {
        program: &named,
        arguments: &arguments,
        directory: Path::new("/"),
        environment: Vec::new(),
        patience,
        limit_bytes: LIMIT_BYTES,
        writes: Writes::AsTheUser,
    };
    match ask_question(programs, question) {
        Ok(Answer::Said(said)) => key(&said).map_err(|found| failed(found.to_owned())),
        // What it wrote may hold anything, also the key.
        Ok(Answer::Refused(_)) => Err(failed("it failed; run it yourself to see why".to_owned())),
        Err(error) => Err(failed(error)),
    }
}

/// The paths in a text that may be a script.
fn named(text: &str) -> impl Iterator<Item = PathBuf> {
    text.split(|sign: char| sign.is_whitespace() || "\"'`=;:()|&<>,".contains(sign)).map(with_home)
}

/// `~/` is the home directory.
fn with_home(program: &str) -> PathBuf {
    match (program.strip_prefix("~/"), std::env::home_dir()) {
        (Some(below), Some(home)) => home.join(below),
        _ => PathBuf::from(program),
    }
}

/// The only line of what was read.
fn key(bytes: &[u8]) -> Result<String, &'static str> {
    if bytes.len() > LIMIT_BYTES {
        return Err("there are more than 65536 bytes, which is no key");
    }
    let text = str::from_utf8(bytes).map_err(|_| "it is not UTF-8 text")?.trim();
    match text {
        "" => Err("there is nothing in it"),
        text if text.contains(['\n', '\r']) => Err("there are several lines; the key must be the only one"),
        text if text.contains(char::is_control) => Err("it has control characters"),
        text => Ok(text.to_owned()),
    }
}

/// Of a file, and of what a program writes.
const LIMIT_BYTES: usize = 64 * 1024;
/// A password manager may wait for a finger on a token.
const PATIENCE: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::CWD;
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::time::Instant;

    fn written(folder: &Path, name: &str, content: &[u8], mode: u32) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn a_key_file_is_the_users_alone_and_has_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let good = written(folder, "good", b"  sk-0123456789\n\n", 0o600);
        assert_eq!(in_file(&good).unwrap(), "sk-0123456789");
        assert_eq!(in_file(&written(folder, "tight", b"sk", 0o400)).unwrap(), "sk");
        symlink(&good, folder.join("link")).unwrap();
        rustix::fs::mknodat(CWD, folder.join("pipe"), rustix::fs::FileType::Fifo, Mode::from_raw_mode(0o600), 0)
            .unwrap();
        let long = written(folder, "long", &vec![b'a'; LIMIT_BYTES + 1], 0o600);
        for (path, says) in [
            (folder.join("link"), "it is a symbolic link; name the file itself"),
            (folder.join("pipe"), "it is a pipe"),
            (folder.to_path_buf(), "it is no regular file"),
            (folder.join("missing"), "No such file"),
            (written(folder, "world", b"sk", 0o644), "others may use it (mode 644); `chmod 600`"),
            (written(folder, "group", b"sk", 0o640), "mode 640"),
            (written(folder, "writable", b"sk", 0o602), "mode 602"),
            (written(folder, "empty", b" \n", 0o600), "there is nothing in it"),
            (written(folder, "two", b"one\ntwo\n", 0o600), "several lines"),
            (written(folder, "bytes", b"\xff\xfe", 0o600), "it is not UTF-8 text"),
            (long, "more than 65536 bytes"),
        ] {
            let why = in_file(&path).unwrap_err().to_string();
            assert!(why.contains(says), "{}: {why}", path.display());
        }
    }

    #[test]
    fn a_command_that_hangs_fails_or_writes_too_much_is_an_error_and_its_words_stay_out_of_it() {
        let programs = SearchPath::outside(std::env::var_os("PATH").as_deref(), [Path::new("/nonexistent")]);
        let sh = |script: &str| ["sh", "-c", script].map(str::to_owned).to_vec();
        let ask = |argv: &[String]| {
            asked(argv, &programs, &[], Duration::from_millis(1_500)).map_err(|error| error.to_string())
        };
        assert_eq!(ask(&sh("echo sk-0123456789")).unwrap(), "sk-0123456789");
        assert_eq!(ask(&sh("pwd")).unwrap(), "/", "no repository is near");
        let begin = Instant::now();
        for (argv, says) in [
            (sh("sleep 60"), "did not answer within 1500 ms"),
            (sh("echo sk-secret; echo sk-secret >&2; exit 3"), "it failed; run it yourself"),
            (sh("head -c 1000000 /dev/zero | tr '\\0' a"), "wrote more than 65536 bytes"),
            // What writes on and on is stopped before its time is over.
            (vec!["yes".to_owned()], "wrote more than 65536 bytes"),
            (sh("yes >&2"), "wrote more than 65536 bytes"),
            (sh("true"), "there is nothing in it"),
            (sh("printf 'a\\nb\\n'"), "several lines"),
            (vec!["no-such-program-of-mine".to_owned()], "no-such-program-of-mine"),
        ] {
            let why = ask(&argv).unwrap_err();
            assert!(why.contains(says) && !why.contains("sk-secret"), "{argv:?}: {why}");
        }
        assert!(begin.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn a_program_that_commands_could_change_gives_no_key() {
        let folder = tempfile::tempdir().unwrap();
        let script = written(folder.path(), "key", b"#!/bin/sh\necho sk\n", 0o755);
        let programs = SearchPath::outside(std::env::var_os("PATH").as_deref(), [Path::new("/nonexistent")]);
        let argv = [script.display().to_string()];
        let within = asked(&argv, &programs, &[folder.path().to_path_buf()], PATIENCE).unwrap_err();
        assert!(within.to_string().contains("could change it"), "{within}");
        // By a link from elsewhere, too.
        let outside = tempfile::tempdir().unwrap();
        symlink(&script, outside.path().join("key")).unwrap();
        let argv = [outside.path().join("key").display().to_string()];
        assert!(asked(&argv, &programs, &[folder.path().canonicalize().unwrap()], PATIENCE).is_err());
    }

    #[test]
    fn a_program_with_another_name_or_that_runs_another_one_gives_no_key_either() {
        let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let script = written(folder.path(), "key", b"#!/bin/sh\necho sk\n", 0o755);
        let path = |name: &str| outside.path().join(name).display().to_string();
        std::fs::hard_link(&script, path("linked")).unwrap();
        written(outside.path(), "runs", format!("#!/bin/sh\n. {}\n", script.display()).as_bytes(), 0o755);
        written(outside.path(), "fine", b"#!/bin/sh\necho sk\n", 0o755);
        let programs = SearchPath::outside(std::env::var_os("PATH").as_deref(), [Path::new("/nonexistent")]);
        let untrusted = [folder.path().canonicalize().unwrap()];
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        for argv in [
            words(&[&path("linked")]),
            words(&[&path("runs")]),
            words(&["sh", &path("linked")]),
            words(&["sh", "-c", &format!(". {}", path("linked"))]),
            words(&["sh", "-c", &format!("X={} exec \"$X\"", script.display())]),
        ] {
            let why = asked(&argv, &programs, &untrusted, PATIENCE).unwrap_err().to_string();
            assert!(why.contains("could change it"), "{argv:?}: {why}");
        }
        assert_eq!(asked(&words(&[&path("fine")]), &programs, &untrusted, PATIENCE).unwrap(), "sk", "the control");
    }
}
