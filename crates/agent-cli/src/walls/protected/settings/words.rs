//! The files that a command in git's configuration may name. A shell reads it, so this errs to one side: rather a file too many.

use super::options::{self, Said};
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
    // Behind this, a command stands where an address is expected, with or without a blank.
    let commands = shell::commands(&command.replace("ext::", " "), place);
    let mut bases = vec![place.root.to_path_buf()];
    bases.extend(place.others.iter().cloned());
    let words = commands.iter().flatten();
    bases.extend(words.map(|word| expanded(word, place.root)).filter(|path| path.is_dir()));
    // What another command writes for it is taken from a file that this command names.
    let is_piped = commands.iter().any(|simple| reads_input(simple));
    for simple in &commands {
        take_simple(simple, is_piped, &bases, place, &mut named);
    }
    named
}

fn take_simple(simple: &[String], is_piped: bool, bases: &[PathBuf], place: Place<'_>, named: &mut Named) {
    let program = simple.iter().position(|word| !is_assignment(word)).unwrap_or(0);
    take_options(simple, program, bases, place, named);
    let mut script = None;
    for (at, word) in simple.iter().enumerate() {
        let is_behind_reader = simple.iter().take(at).any(|before| reads_file(before));
        let runs = is_behind_reader || runs_files(simple.get(program));
        let is_script = at > program && script.is_none() && runs && !word.starts_with('-');
        let is_variable = at <= program && is_assignment(word) && simple.iter().any(|word| reads_file(word));
        let is_read = at > program && is_piped || is_script && is_behind_reader || is_variable;
        let may_end_otherwise = is_script && simple.iter().take(at).any(|before| adds_endings(before));
        let attached = word.strip_prefix('-').and_then(|rest| rest.get(1..)).filter(|rest| !rest.starts_with('-'));
        // Code may name a file in quotes.
        let quoted = word.split(['"', '\'']).skip(1).step_by(2).filter(|_| is_behind_reader);
        let candidates = std::iter::once(&**word).chain(word.split_once('=').map(|(_, value)| value)).chain(attached);
        for text in candidates.chain(quoted).filter(|text| !matches!(*text, "" | "." | "..")) {
            let looked = Looked { text, runs: at == program || is_script, is_script, is_read };
            if may_end_otherwise {
                take_endings(text, bases, named);
            }
            let is_found = looked.take(bases, place, named);
            if is_script && (is_found || text.contains('/')) {
                script = Some(at);
            }
        }
    }
}

/// Directories and modules by their options, and programs that run what a file of theirs says.
fn take_options(simple: &[String], program: usize, bases: &[PathBuf], place: Place<'_>, named: &mut Named) {
    let is_program = |word: &&String| {
        let is_plain =
            !word.starts_with('-') && !is_assignment(word) && !word.starts_with(|c: char| c.is_ascii_digit());
        is_plain && !WRAPPERS.contains(&base_name(word))
    };
    let program = simple.iter().skip(program).find(is_program).map_or("", |word| base_name(word));
    let said = options::said(simple, program);
    let mut says_where = false;
    for said in said {
        match said {
            Said::Directory(directory) => {
                says_where = true;
                take_searched(directory, bases, place, named);
            }
            Said::Beside(file) => {
                says_where = true;
                take_searched(file.rsplit_once('/').map_or(".", |(directory, _)| directory), bases, place, named);
            }
            Said::Module(module) => take_module(module, bases, place, named),
        }
    }
    if !says_where && BUILDERS.contains(&program) {
        named.unknown.push(program.to_owned());
    }
}

/// A directory in which something is run.
fn take_searched(directory: &str, bases: &[PathBuf], place: Place<'_>, named: &mut Named) {
    if directory.contains(UNKNOWN) {
        let within = format!("{directory}/…");
        Looked { text: &within, runs: true, is_script: false, is_read: false }.take_unknown(bases, place, named);
        return;
    }
    let found = bases.iter().map(|base| expanded(directory, base)).find(|path| path.is_dir());
    let absent = expanded(directory, place.root);
    match found {
        Some(path) => named.directories.push(path),
        None if directory.contains('/') => named.directories.push(absent),
        // It may be a number or a name of something else; a directory that a command makes of it is none.
        None if directory.starts_with(|c: char| c.is_ascii_digit()) || absent.exists() => {}
        None => named.files.push(absent),
    }
}

/// A module by its name: what may be read for it, in each directory where it is looked for.
fn take_module(module: &str, bases: &[PathBuf], place: Place<'_>, named: &mut Named) {
    if module.starts_with('-') || module.contains(UNKNOWN) {
        return;
    }
    if module.contains('/') {
        take_endings(module, bases, named);
        Looked { text: module, runs: true, is_script: true, is_read: false }.take(bases, place, named);
        return;
    }
    let path = module.replace("::", "/").replace('.', "/");
    let first = path.split('/').next().unwrap_or_default();
    named.files.extend([place.root.join(format!("{path}.py")), place.root.join(&path)]);
    for base in bases {
        let package = base.join(first);
        named.files.extend(with_endings(&base.join(&path)).into_iter().chain(with_endings(&package)));
        if !first.is_empty() && package.is_dir() {
            named.directories.push(package);
        }
    }
}

/// What an interpreter reads for a name without its ending, there or not.
fn take_endings(text: &str, bases: &[PathBuf], named: &mut Named) {
    if text.contains(UNKNOWN) || text.contains(['*', '?', '[']) {
        return;
    }
    for path in bases.iter().map(|base| expanded(text, base)).filter(|path| !path.is_file()) {
        let found = with_endings(&path);
        let is_path = text.contains('/');
        named.files.extend(found);
        if is_path && !path.is_dir() {
            let absent = ENDINGS.iter().chain(MORE_ENDINGS).map(|ending| {
                let mut name = path.clone().into_os_string();
                name.push(ending);
                PathBuf::from(name)
            });
            named.files.extend(absent.filter(|path| path.parent().is_some_and(Path::is_dir)));
        }
    }
}

/// The files beside it that have its name and an ending.
fn with_endings(path: &Path) -> Vec<PathBuf> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Vec::new() };
    let start = format!("{}.", name.to_string_lossy());
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten().take(MOST_ENTRIES);
    let named = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&start));
    named.map(|entry| entry.path()).filter(|path| path.is_file()).collect()
}

/// A word, and whether what it names is run.
struct Looked<'a> {
    text: &'a str,
    runs: bool,
    /// Behind an interpreter, which runs a directory, too.
    is_script: bool,
    /// Behind one that reads a file of whatever name.
    is_read: bool,
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
            let may_come = looks_like_script(self.text) || self.is_read && is_bare_name(self.text);
            if path.is_file() || !path.exists() && may_come {
                is_found |= path.is_file();
                named.files.push(path);
            } else if path.is_dir() && (self.is_script || self.runs && self.text.ends_with('/')) {
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

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or_default()
}

/// Whether a program runs the file that it is given first.
fn runs_files(program: Option<&String>) -> bool {
    let name = program.map(|program| base_name(program)).unwrap_or_default();
    is_one_of(name, RUNNERS)
}

/// Whether it is an interpreter, and not a program that runs another.
fn reads_file(program: &str) -> bool {
    adds_endings(program) || is_one_of(base_name(program), SHELLS)
}

/// Whether a command is an interpreter that runs what comes in.
fn reads_input(simple: &[String]) -> bool {
    let Some(at) = simple.iter().position(|word| reads_file(word)) else { return false };
    let mut rest = simple.iter().skip(at + 1);
    rest.clone().any(|word| matches!(&**word, "-" | "-s" | "/dev/stdin")) || rest.all(|word| word.starts_with('-'))
}

/// Whether a program looks for a file of another name when there is none of the name that it is given.
fn adds_endings(program: &str) -> bool {
    is_one_of(base_name(program), INTERPRETERS)
}

fn is_one_of(name: &str, programs: &[&str]) -> bool {
    programs.iter().any(|known| name.strip_prefix(known).is_some_and(|rest| !rest.starts_with(char::is_alphabetic)))
}

/// Whether an interpreter may find a script under this word alone. What looks like code is none.
fn is_bare_name(word: &str) -> bool {
    word.len() <= LONGEST_NAME && word.chars().all(|c| c.is_alphanumeric() || "._-+@,=:~#% ".contains(c))
}

fn looks_like_script(word: &str) -> bool {
    let is_plain = word.chars().all(|c| c.is_alphanumeric() || "/._-+~@ ".contains(c)) && !word.starts_with('-');
    let is_path = word.contains('/') && !word.contains(' ');
    is_plain && (is_path || ENDINGS.iter().any(|ending| word.ends_with(ending)))
}

/// Interpreters by the beginnings of their names (`python3.12`), and what runs what stands behind it.
const RUNNERS: &[&str] = &[
    "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "pwsh", "python", "pypy", "node", "nodejs", "deno",
    "bun", "tsx", "ts-node", "perl", "ruby", "php", "lua", "luajit", "tclsh", "Rscript", "env", "exec", "command",
    "nohup", "time", "timeout", "nice", "sudo", "setsid", "xargs", ".", "source", "busybox",
];
#[rustfmt::skip]
const SHELLS: &[&str] = &[
    "sh", "bash", "rbash", "dash", "ash", "zsh", "ksh", "mksh", "yash", "fish", "pwsh", "csh", "tcsh", "nu", "elvish", "xonsh", ".", "source", "busybox", "toybox",
    "tclsh", "wish", "expect", "Rscript", "R", "awk", "gawk", "mawk", "nawk", "sed", "gsed", "m4", "bc", "dc", "ed", "ex", "vi", "vim", "nvim", "emacs",
    "gdb", "lldb", "guile", "scheme", "racket", "sbcl", "clisp", "julia", "octave", "ocaml", "ghci", "runghc", "runhaskell", "swift", "scala", "groovy", "jshell",
    "elixir", "erl", "escript", "raku", "gnuplot", "sqlite3", "psql", "mysql", "jq", "gojq", "yq", "make", "gmake", "uv", "osascript", "eval",
];
/// Of these, the ones that may take a name without its ending.
const INTERPRETERS: &[&str] = &[
    "python", "pypy", "node", "nodejs", "deno", "bun", "tsx", "ts-node", "php", "lua", "luajit", "ruby", "perl",
    "pwsh", "tclsh",
];
/// What runs the program behind it.
const WRAPPERS: &[&str] =
    &["env", "exec", "command", "nohup", "time", "timeout", "nice", "sudo", "setsid", "xargs", "ionice", "stdbuf", "!"];
/// What runs what files in its directory say.
#[rustfmt::skip]
const BUILDERS: &[&str] = &[
    "make", "gmake", "ninja", "just", "task", "go-task", "rake", "invoke", "inv", "npm", "npx", "pnpm", "pnpx", "yarn", "bunx", "cargo", "uv", "uvx",
    "poetry", "pipenv", "pdm", "hatch", "rye", "tox", "nox", "bundle", "gradle", "mvn", "ant", "bazel", "mix", "composer", "dotnet", "go", "sbt", "meson",
    "cmake", "scons", "stack", "cabal", "dune", "zig", "swift", "dart",
];
const ENDINGS: &[&str] = &[".sh", ".bash", ".py", ".js", ".mjs", ".rb", ".pl", ".lua"];
/// What interpreters add themselves besides.
const MORE_ENDINGS: &[&str] = &[".cjs", ".ts", ".json", ".node", ".php"];
/// Of a file, in bytes.
const LONGEST_NAME: usize = 255;
const MOST_ENTRIES: usize = 10_000;
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

    /// A command could make it later: neither a slash nor an ending has to tell that it is one.
    #[test]
    fn what_an_interpreter_reads_is_a_file_by_whatever_name() {
        let (_directory, root) = tree();
        for command in [
            "perl later",
            "python3 later",
            "bash later %f",
            "!sh -c 'source later'",
            "env A=1 ruby -w later",
            ". later",
            "sh < later",
            "bash -s %f <later",
            "cat later | sh",
            "cat later|env A=1 python3 -",
            "perl 'later'",
            "stdbuf -o0 perl later",
            "flock x bash later",
            "unshare -r sh later",
            "awk -f later",
            "gdb -batch -x later",
            "BASH_ENV=later bash -c :",
            "env ENV=later sh -i",
            "python3 -c 'import os;os.system(open(\"later\").read())'",
            "m4 later",
            "vim -S later",
            "!f() { tail -n +2 later | sed 1d | bash -s x; }; f",
        ] {
            assert!(of(command, &root).files.contains(&root.join("later")), "{command}");
        }
        for command in
            ["git-lfs later", "exec later", "timeout 5 later", "cat later", "sh -c 'echo later x'", "cat later | sort"]
        {
            assert!(!of(command, &root).files.contains(&root.join("later")), "the control {command}");
        }
    }

    #[test]
    fn a_script_may_be_called_anything() {
        let (_directory, root) = tree();
        for name in ["12", "a,b", "my check", "a=b", "a:b", "x~", "é"] {
            assert!(of(&format!("perl '{name}'"), &root).files.contains(&root.join(name)), "{name}");
        }
        assert!(!of("awk '{ print $1 }'", &root).files.contains(&root.join("{ print $1 }")), "the control");
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
    fn where_programs_and_modules_are_looked_for_counts_as_a_whole() {
        let (_directory, root) = tree();
        for command in [
            "PATH=tools:$PATH strip-nb",
            "PATH=\"$PWD/tools:$PATH\" strip-nb",
            "export PATH=$HERE/tools:$PATH; strip-nb",
            "env PATH=tools x",
            "make -s -C tools strip",
            "make --directory=tools",
            "ninja -Ctools",
            "env -C tools ./x",
            "perl -Itools -MStrip -e 1",
            "perl -I tools -e 1",
            "perl -Mlib=tools -e 1",
            "ruby -Itools -rstrip -e 0",
            "PYTHONPATH=tools python3 -m strip",
            "PERL5LIB=tools perl -MStrip",
            "LUA_PATH='tools/?.lua;;' lua -l strip",
            "python3 -m tools.strip",
            "python3 -mtools.strip",
            "lua -l tools.strip",
            "uv run --project tools x",
            "npm --prefix tools run x",
            "cargo run -q --manifest-path tools/Cargo.toml",
            "just --justfile tools/justfile x",
            "just -d x --working-directory tools",
            "tools/{a,clean}.sh",
            "ext::make -C tools",
            "env PYTHONPATH=tools nice -n 5 python3 -mstrip",
        ] {
            let named = of(command, &root);
            assert!(named.directories.contains(&root.join("tools")), "{command}: {named:?}");
        }
        // What is built in the root, or somewhere unknown, is said; and what only reads is not.
        for command in
            ["make x", "npx strip", "nice -n 5 make", "make -C $X", "PATH=$X/bin:$PATH strip", "task x", "cargo run"]
        {
            let named = of(command, &root);
            assert!(named.directories.is_empty() && named.unknown.len() == 1, "{command}: {named:?}");
        }
        assert_eq!(of("PATH=:$PATH strip", &root).directories, [root.join(".")], "the root is said later");
        for command in
            ["git -C tools log", "grep -C 3 -I x", "less -R", "PATH=$PATH x", "git commit -m tools", "delta --dark"]
        {
            let named = of(command, &root);
            assert!(named.directories.is_empty() && named.unknown.is_empty(), "{command}: {named:?}");
        }
    }

    #[test]
    fn a_name_without_its_ending_is_found() {
        let (_directory, root) = tree();
        std::fs::create_dir(root.join("tools/package")).unwrap();
        std::fs::write(root.join("tools/strip.js"), "").unwrap();
        for command in [
            "node tools/strip",
            "nodejs ./tools/strip x",
            "env X=1 node tools/strip",
            "node -r ./tools/strip -e 0",
            "node --require=./tools/strip -e 0",
            "node --import ./tools/strip x",
            "cd tools; node strip",
            "bun run tools/strip",
            "ext::tools/strip.js",
            "$'tools/strip.js'",
            "php -f tools/strip.js",
            "awk -ftools/strip.js",
            "php -d auto_prepend_file=tools/strip.js",
        ] {
            let files: Vec<_> = of(command, &root).files.iter().filter_map(|file| file.canonicalize().ok()).collect();
            assert!(files.contains(&root.join("tools/strip.js")), "{command}: {files:?}");
        }
        assert_eq!(of("node tools/package", &root).directories, [root.join("tools/package")]);
        assert!(of("node tools/absent", &root).files.contains(&root.join("tools/absent.js")));
    }

    #[test]
    fn settings_that_run_something_are_known_among_data() {
        assert!(may_name_program("submodule.x.update", "!./x") && may_name_program("remote.x.uploadpack", "./x"));
        assert!(may_name_program("remote.x.url", "ext::sh -c ./x") && may_name_program("core.askpass", "./x"));
        assert!(!may_name_program("remote.x.url", "https://x/y") && !may_name_program("submodule.x.url", "../x"));
    }
}
