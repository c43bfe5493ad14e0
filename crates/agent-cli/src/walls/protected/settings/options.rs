//! Options and variables by which a command names directories and modules instead of files: where programs, modules and rules of builds are
//! looked for. What is run there is not known by its name, so the directory counts as a whole.

use super::shell::UNKNOWN;

/// What a word of a command says besides the file that it may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said<'a> {
    /// Something in this directory is run.
    Directory(&'a str),
    /// Something beside this file is run.
    Beside(&'a str),
    /// A module by its name, with dots or slashes between its parts.
    Module(&'a str),
}

/// What the words of a simple command say. `program` is the name of its program.
pub(super) fn said<'a>(simple: &'a [String], program: &str) -> Vec<Said<'a>> {
    let mut found = Vec::new();
    let takes_data = DATA_ONLY.contains(&program);
    for (at, word) in simple.iter().enumerate() {
        let next = simple.get(at + 1).map(String::as_str);
        found.extend(of_variable(word));
        if takes_data {
            continue;
        }
        for (names, means) in OPTIONS {
            let value = names.iter().find_map(|name| value(word, name, next));
            found.extend(value.map(|value| match means {
                Means::Directory => Said::Directory(value),
                Means::Beside => Said::Beside(value),
                Means::Module => Said::Module(value),
            }));
        }
    }
    found
}

/// Directories that a variable lists: `PATH`, `PYTHONPATH`, `PERL5LIB`.
fn of_variable(word: &str) -> Vec<Said<'_>> {
    let Some((name, value)) = word.split_once('=') else { return Vec::new() };
    let is_name = name.chars().all(|sign| sign.is_ascii_uppercase() || sign.is_ascii_digit() || sign == '_');
    if !is_name || !(name.ends_with("PATH") || LISTS.contains(&name)) {
        return Vec::new();
    }
    // What stands there already is the user's own.
    let entries = value.split([':', ';']).filter(|entry| *entry != UNKNOWN.to_string());
    entries.map(|entry| Said::Directory(if entry.is_empty() { "." } else { entry })).collect()
}

/// The value of an option: behind it, behind `=`, or at once behind a letter.
fn value<'a>(word: &'a str, name: &str, next: Option<&'a str>) -> Option<&'a str> {
    let rest = word.strip_prefix(name)?;
    if rest.is_empty() {
        return next.filter(|next| !next.is_empty());
    }
    match rest.strip_prefix('=') {
        Some(value) => Some(value),
        None => (!name.starts_with("--")).then_some(rest),
    }
    .filter(|value| !value.is_empty())
}

/// What the value of an option is.
#[derive(Clone, Copy, Debug)]
enum Means {
    Directory,
    Beside,
    Module,
}

const OPTIONS: &[(&[&str], Means)] = &[
    (
        &[
            "-Mlib",
            "-I",
            "-C",
            "--directory",
            "--project",
            "--chdir",
            "--cwd",
            "--prefix",
            "--working-directory",
            "--dir",
            "--build",
            "--include-dir",
            "--tests",
            "--package-path",
            "--app-dir",
        ],
        Means::Directory,
    ),
    (&["--manifest-path", "--makefile", "--justfile", "--taskfile", "--rakefile"], Means::Beside),
    (
        &[
            "-m",
            "-M",
            "-r",
            "-l",
            "--require",
            "--import",
            "--loader",
            "--experimental-loader",
            "--preload",
            "--eval-file",
        ],
        Means::Module,
    ),
];
/// Variables with lists of directories whose names end otherwise.
const LISTS: &[&str] =
    &["PERL5LIB", "PERLLIB", "RUBYLIB", "PYTHONHOME", "NODE_MODULES", "GUILE_LOAD_COMPILED_PATH", "GIT_EXEC_PATH"];
/// Programs that run nothing of what such options name.
const DATA_ONLY: &[&str] = &[
    "git", "grep", "egrep", "fgrep", "rg", "diff", "ls", "cat", "less", "more", "sort", "sed", "awk", "head", "tail",
    "cut", "tr", "wc", "tee", "tar", "echo", "printf", "test", "[", "cd", "mkdir", "cp", "mv", "rm", "ln", "read",
    "export", "ssh", "curl", "jq", "delta", "bat", "vi", "vim", "nvim", "nano", "code", "column", "date", "uniq",
    "touch", "gpg",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn of(command: &str) -> Vec<Said<'_>> {
        let words: &'static [String] = Vec::leak(command.split(' ').map(str::to_owned).collect());
        said(words, &words[0])
    }

    #[test]
    fn directories_and_modules_are_told_from_data() {
        assert_eq!(of("perl -Itools -MStrip"), [Said::Directory("tools"), Said::Module("Strip")]);
        assert_eq!(of("make -s -C tools"), [Said::Directory("tools")]);
        assert_eq!(of("uv run --project=tools x"), [Said::Directory("tools")]);
        assert_eq!(of("cargo run --manifest-path tools/Cargo.toml"), [Said::Beside("tools/Cargo.toml")]);
        assert_eq!(of("env PYTHONPATH=tools:\u{f8ff} python3"), [Said::Directory("tools")]);
        assert_eq!(of("env PATH=: x"), [Said::Directory("."), Said::Directory(".")]);
        assert_eq!(of("python3 -m tools.strip"), [Said::Module("tools.strip")]);
        assert_eq!(of("git -C tools log -m"), []);
        assert_eq!(of("x FILE=tools"), []);
    }
}
