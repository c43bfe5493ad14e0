//! The files that a command in git's configuration may name. A shell reads it, so this errs to one side: rather a file too many.

use super::shell::{self, UNKNOWN};
use std::path::{Path, PathBuf};

/// Whether a setting may be a command, or a file that git reads.
pub(super) fn may_name_program(key: &str, value: &str) -> bool {
    let has_end = |ends: &[&str]| ends.iter().any(|end| key.ends_with(end));
    let is_command = has_end(&[".update", ".uploadpack", ".receivepack", ".vcs"]) || value.contains("ext::");
    is_command || !DATA.iter().any(|head| key.starts_with(head))
}

/// A path as git expands it.
pub(super) fn expanded(value: &str, base: &Path) -> PathBuf {
    let home = match value.strip_prefix('~').map(|rest| rest.split_once('/').unwrap_or((rest, ""))) {
        Some(("", rest)) => std::env::home_dir().map(|home| home.join(rest)),
        Some((user, rest)) => home_of(user).map(|home| home.join(rest)),
        None => None,
    };
    home.unwrap_or_else(|| base.join(value))
}

/// As the list of users says.
fn home_of(user: &str) -> Option<PathBuf> {
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    let found = users.lines().find(|line| line.split(':').next() == Some(user))?;
    found.split(':').nth(5).map(PathBuf::from)
}

/// Where a command runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) root: &'a Path,
    pub(super) git_dir: &'a Path,
    /// Other directories in which git may run it.
    pub(super) others: &'a [PathBuf],
}

/// What a command names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Named {
    /// Files: those that are there, and those that look like scripts and are not.
    pub(super) files: Vec<PathBuf>,
    /// Directories in which it runs something whose name is not known.
    pub(super) directories: Vec<PathBuf>,
    /// Words that run something that is not known at all.
    pub(super) unknown: Vec<String>,
}

/// The files that a command may name.
pub(super) fn named(command: &str, place: Place<'_>) -> Named {
    let mut named = Named::default();
    // A path with blanks that git itself opens.
    named.files.extend(Some(expanded(command.trim(), place.root)).filter(|path| path.is_file()));
    let commands = shell::commands(command, place);
    let mut bases = vec![place.root.to_path_buf()];
    bases.extend(place.others.iter().cloned());
    let words = commands.iter().flatten();
    bases.extend(words.map(|word| expanded(word, place.root)).filter(|path| path.is_dir()));
    for simple in &commands {
        take_simple(simple, &bases, place, &mut named);
    }
    named
}

fn take_simple(simple: &[String], bases: &[PathBuf], place: Place<'_>, named: &mut Named) {
    let program = simple.iter().position(|word| !is_assignment(word)).unwrap_or(0);
    let mut script = None;
    for (at, word) in simple.iter().enumerate() {
        if at > 0 && simple.get(at - 1).is_some_and(|before| before == "-m") {
            named.files.extend([place.root.join(format!("{word}.py")), place.root.join(word)]);
        }
        let is_script = at > program && script.is_none() && runs_files(simple.get(program)) && !word.starts_with('-');
        let candidates = std::iter::once(&**word).chain(word.split_once('=').map(|(_, value)| value));
        for text in candidates.filter(|text| !matches!(*text, "" | "." | "..")) {
            let looked = Looked { text, runs: at == program || is_script, is_script };
            let is_found = looked.take(bases, place, named);
            if is_script && (is_found || text.contains('/')) {
                script = Some(at);
            }
        }
    }
}

/// A word, and whether what it names is run.
struct Looked<'a> {
    text: &'a str,
    runs: bool,
    /// Behind an interpreter, which runs a directory, too.
    is_script: bool,
}

impl Looked<'_> {
    /// Whether it names something that is there.
    fn take(&self, bases: &[PathBuf], place: Place<'_>, named: &mut Named) -> bool {
        if self.text.contains(UNKNOWN) {
            return self.take_unknown(bases, place, named);
        }
        if self.text.contains(['*', '?', '[']) {
            return self.runs && self.take_directory(before_glob(self.text), bases, named);
        }
        let mut is_found = false;
        for base in bases {
            let path = expanded(self.text, base);
            if path.is_file() || !path.exists() && looks_like_script(self.text) {
                is_found |= path.is_file();
                named.files.push(path);
            } else if self.is_script && path.is_dir() {
                named.directories.push(path);
                return true;
            }
        }
        is_found
    }

    /// What begins with something that is not known: the rest may be a path from the root, or from git's own directory.
    fn take_unknown(&self, bases: &[PathBuf], place: Place<'_>, named: &mut Named) -> bool {
        let rest = self.text.rsplit(UNKNOWN).next().unwrap_or_default().trim_start_matches('/');
        let plain = rest.trim_start_matches("../");
        let from = bases.iter().map(|base| base.join(plain));
        let found: Vec<PathBuf> =
            from.chain([place.root.join(rest), place.git_dir.join(rest)]).filter(|path| path.is_file()).collect();
        if !rest.is_empty() && !found.is_empty() {
            named.files.extend(found);
            return true;
        }
        if !self.runs || !self.text.contains('/') {
            return false;
        }
        // A directory that stands before it, or after it.
        let parts = self.text.split(UNKNOWN).enumerate().map(|(at, part)| match at {
            0 => part,
            _ => part.trim_start_matches('/').trim_start_matches("../"),
        });
        let directories = parts.filter_map(|part| part.rsplit_once('/').map(|(directory, _)| directory));
        let is_there = |directory: &&str| bases.iter().any(|base| expanded(directory, base).is_dir());
        let directory = directories.filter(|directory| !directory.is_empty()).find(is_there).unwrap_or_default();
        self.take_directory(directory, bases, named)
    }

    /// The nearest directory that is named.
    fn take_directory(&self, directory: &str, bases: &[PathBuf], named: &mut Named) -> bool {
        let found = bases.iter().map(|base| expanded(directory, base)).find(|path| path.is_dir());
        match found.filter(|_| !directory.is_empty()) {
            Some(path) => named.directories.push(path),
            None => named.unknown.push(self.text.replace(UNKNOWN, "$…")),
        }
        true
    }
}

/// The directory of what stands before a sign of a pattern; nothing where none is named.
fn before_glob(text: &str) -> &str {
    let before = text.split(['*', '?', '[']).next().unwrap_or_default();
    before.rsplit_once('/').map_or("", |(directory, _)| directory)
}

fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// Whether a program runs the file that it is given first.
fn runs_files(program: Option<&String>) -> bool {
    let name = program.and_then(|program| program.rsplit('/').next()).unwrap_or_default();
    RUNNERS.iter().any(|known| name.strip_prefix(known).is_some_and(|rest| !rest.starts_with(char::is_alphabetic)))
}

fn looks_like_script(word: &str) -> bool {
    let is_plain = word.chars().all(|c| c.is_alphanumeric() || "/._-+~@ ".contains(c)) && !word.starts_with('-');
    let is_path = word.contains('/') && !word.contains(' ');
    is_plain && (is_path || ENDINGS.iter().any(|ending| word.ends_with(ending)))
}

/// Interpreters by the beginnings of their names (`python3.12`), and what runs what stands behind it.
const RUNNERS: &[&str] = &[
    "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "pwsh", "python", "pypy", "node", "nodejs", "deno",
    "bun", "perl", "ruby", "php", "lua", "luajit", "tclsh", "Rscript", "env", "exec", "command", "nohup", "time",
    "timeout", "nice", "sudo", "setsid", "xargs", ".", "source", "busybox",
];
const ENDINGS: &[&str] = &[".sh", ".bash", ".py", ".js", ".mjs", ".rb", ".pl", ".lua"];
/// Settings whose values are names, addresses and numbers.
const DATA: &[&str] = &[
    "branch.",
    "user.",
    "submodule.",
    "remote.",
    "color.",
    "url.",
    "init.",
    "extensions.",
    "author.",
    "committer.",
    "safe.",
    "trace2.",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn of(command: &str, root: &Path) -> Named {
        named(command, Place { root, git_dir: &root.join(".git"), others: &[] })
    }

    fn tree() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap().join("a blank");
        for folder in ["tools", "my tools", ".git", "src"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in ["tools/clean.sh", "my tools/clean.sh", "src/lib.rs"] {
            std::fs::write(root.join(file), "").unwrap();
        }
        (directory, root)
    }

    #[test]
    fn a_script_is_found_in_whatever_spelling() {
        let (_directory, root) = tree();
        for command in [
            "tools/clean.sh %f",
            "./tools/clean.sh",
            "sh \"tools/clean.sh\"",
            "cd tools && ./clean.sh",
            "sh -c 'cd tools; sh clean.sh'",
            "sh -c \"sh -c 'tools/clean.sh'\"",
            "\"$(git rev-parse --show-toplevel)\"/tools/clean.sh",
            "\"$(git rev-parse --show-toplevel)/tools/clean.sh\"",
            "\"`git rev-parse --show-toplevel`/tools/clean.sh\"",
            "$PWD/tools/clean.sh",
            "!f() { tools/clean.sh; }; f",
            "$GIT_DIR/../tools/clean.sh",
            "sh ${GIT_DIR}/../tools/clean.sh",
            "!\"$(git rev-parse --git-dir)/../tools/clean.sh\"",
            "!\"$(git rev-parse --git-common-dir)/../tools/clean.sh\"",
            "sh $(dirname $GIT_DIR)/tools/clean.sh",
            "sh \"$SOMEWHERE\"/tools/clean.sh",
            "echo $(sh tools/clean.sh)",
            "FOO=1 BAR=./tools/clean.sh x",
            "tools\\/clean.sh",
        ] {
            let files = of(command, &root).files;
            let real: Vec<_> = files.iter().filter_map(|path| path.canonicalize().ok()).collect();
            assert!(real.contains(&root.join("tools/clean.sh")), "{command}: {files:?}");
        }
        for command in ["\"my tools/clean.sh\"", "sh 'my tools/clean.sh' x", "my\\ tools/clean.sh", "my tools/clean.sh"]
        {
            assert!(of(command, &root).files.contains(&root.join("my tools/clean.sh")), "{command}");
        }
        let absolute = format!("\"{}/tools/clean.sh\"", root.display());
        assert!(of(&absolute, &root).files.contains(&root.join("tools/clean.sh")));
        assert!(of("./tools/absent.sh", &root).files.contains(&root.join("./tools/absent.sh")));
        assert!(of("\"/usr/bin/python3\" -m strip", &root).files.contains(&root.join("strip.py")));
        assert_eq!(of("cat -v", &root), Named::default());
    }

    #[test]
    fn where_the_file_is_not_known_the_directory_is() {
        let (_directory, root) = tree();
        for command in [
            "sh tools/c*.sh",
            "python3 tools",
            "python3.12 -u tools",
            "tools/$X.sh",
            ". tools/[a-z]*",
            "sh $HERE/tools/x$1",
        ] {
            assert_eq!(of(command, &root).directories, [root.join("tools")], "{command}");
        }
        for command in ["sh *.sh", "$X/nowhere/y", "sh $X/y"] {
            let named = of(command, &root);
            assert!(named.directories.is_empty() && named.unknown.len() == 1, "{command}: {named:?}");
        }
        // What is data is not run.
        for command in [
            "log -- src/$1",
            "git log --format=%h/$1",
            "python3 tools/clean.sh src",
            "cat src/*",
            "!f() { echo $1; }; f",
        ] {
            let named = of(command, &root);
            assert!(named.directories.is_empty() && named.unknown.is_empty(), "{command}: {named:?}");
        }
    }

    #[test]
    fn settings_that_run_something_are_known_among_data() {
        assert!(may_name_program("submodule.x.update", "!./x") && may_name_program("remote.x.uploadpack", "./x"));
        assert!(may_name_program("remote.x.url", "ext::sh -c ./x") && may_name_program("core.askpass", "./x"));
        assert!(!may_name_program("remote.x.url", "https://x/y") && !may_name_program("submodule.x.url", "../x"));
    }
}
