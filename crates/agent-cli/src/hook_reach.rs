//! Whether a hook's command can come to run what commands of the model write.
//!
//! 1. Everything of the command is understood, or it counts as one that can: there is no list of forms that are dangerous.
//! 2. A path is followed link by link. One that goes through a writable place can be led elsewhere, wherever it ends now.
//!
//! Absent: what a program outside of the workspace itself goes on to read.

use crate::hook_words::{Simple, Values, commands};
use agent_tools::runs_another_command;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

/// What commands of the model may write, and where a hook's programs are found.
pub(crate) struct Reach {
    directory: PathBuf,
    writable: Vec<PathBuf>,
    search_path: OsString,
    home: Option<String>,
}

impl Reach {
    /// For hooks that run in a directory. The places need not be there.
    pub(crate) fn new(directory: &Path, writable: impl IntoIterator<Item = PathBuf>, search_path: OsString) -> Self {
        let both = |path: PathBuf| [path.canonicalize().ok(), Some(path)].into_iter().flatten();
        let home = std::env::var("HOME").ok().filter(|home| home.starts_with('/'));
        let writable = writable.into_iter().flat_map(both).collect();
        Self { directory: directory.to_path_buf(), writable, search_path, home }
    }

    /// Whether a command is wholly understood and runs nothing that lies in a writable place; or why not.
    pub(crate) fn check(&self, command: &str) -> Result<(), String> {
        let directory = self.directory.to_str().ok_or("the directory's name is no text")?;
        let values = Values { home: self.home.as_deref(), directory };
        commands(command, &values)?.iter().try_for_each(|simple| self.check_one(simple))
    }

    fn check_one(&self, Simple { words, files }: &Simple) -> Result<(), String> {
        files.iter().try_for_each(|file| self.check_file(file))?;
        let (program, arguments) = words.split_first().ok_or("it names no program")?;
        if BUILTINS.contains(&&**program) && !runs_another_command(program, arguments) {
            return Ok(());
        }
        let file = self.locate(program)?;
        self.check_first_line(&file)?;
        let real = file.canonicalize().unwrap_or_else(|_| file.clone());
        let names = [name_of(Path::new(program)), name_of(&file), name_of(&real)];
        let is_any = |list: &[&str]| names.iter().any(|name| list.iter().any(|known| is_version_of(name, known)));
        if is_any(INTERPRETERS) {
            let script = arguments.first().filter(|script| script.starts_with('/'));
            let script = script.ok_or_else(|| format!("`{program}` is given something else than a script first"))?;
            self.check_file(script)?;
        } else if is_any(FIND_BY_THEMSELVES) {
            return Err(format!("`{program}` runs what it finds in the workspace"));
        } else if names.iter().any(|name| !MANY_IN_ONE.contains(&&**name) && runs_another_command(name, arguments)) {
            return Err(format!("`{program}` may run other commands"));
        }
        if SHOW_TEXT.contains(&&**program) {
            Ok(())
        } else {
            arguments.iter().try_for_each(|word| self.check_word(word))
        }
    }

    /// The file that a program's name stands for.
    fn locate(&self, program: &str) -> Result<PathBuf, String> {
        if program.contains('/') {
            return self.check_file(program).map(|()| PathBuf::from(program));
        }
        for entry in std::env::split_paths(&self.search_path) {
            self.check_path(&entry, program)?;
            let file = entry.join(program);
            if file.is_file() {
                return self.check_path(&file, program).map(|()| file);
            }
        }
        Err(format!("`{program}` is no program that is found outside of the workspace"))
    }

    /// A path that is used as one.
    fn check_file(&self, file: &str) -> Result<(), String> {
        if !file.starts_with('/') {
            return Err(names(file));
        }
        self.check_path(Path::new(file), file)
    }

    fn check_path(&self, path: &Path, said: &str) -> Result<(), String> {
        if self.is_reached(path) { Err(names(said)) } else { Ok(()) }
    }

    /// What reads a script must not lie in the workspace either.
    fn check_first_line(&self, file: &Path) -> Result<(), String> {
        let mut begin = Vec::new();
        let read = std::fs::File::open(file).and_then(|file| file.take(FIRST_LINE_BYTES).read_to_end(&mut begin));
        let line = begin.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let Some(line) = line.strip_prefix(b"#!").filter(|_| read.is_ok()) else { return Ok(()) };
        let line = String::from_utf8_lossy(line);
        line.split_ascii_whitespace().filter(|word| word.contains('/')).try_for_each(|word| self.check_file(word))
    }

    /// A word that may be a path, or have one in it.
    fn check_word(&self, word: &str) -> Result<(), String> {
        if word.starts_with("http://") || word.starts_with("https://") {
            return Ok(());
        }
        let pieces = word.split(['=', ':', ',']);
        // `-I/path` and `@/path`.
        let glued = word.find('/').and_then(|at| word.get(at..));
        for piece in pieces.chain([word]).chain(glued).filter(|piece| !piece.is_empty()) {
            let is_inside = match piece.starts_with('/') {
                true => self.is_reached(Path::new(piece)),
                false => self.may_be_ours(piece),
            };
            if is_inside && !(piece == word && word.starts_with('-')) {
                return Err(names(piece));
            }
        }
        Ok(())
    }

    /// Whether a relative word is, or looks like, a file of the workspace. One that is not there yet can be made.
    fn may_be_ours(&self, word: &str) -> bool {
        let first = Path::new(word).components().next();
        let is_there = first.is_some_and(|first| self.directory.join(first).symlink_metadata().is_ok());
        let is_name =
            |part: &str| !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
        let has_ending = word.rsplit_once('.').is_some_and(|(stem, ending)| {
            is_name(stem) && is_name(ending) && !ending.starts_with(|first: char| first.is_ascii_digit())
        });
        is_there || has_ending || word.contains('/') && !word.contains(char::is_whitespace)
    }

    /// Whether a path leads into a writable place, or through one.
    fn is_reached(&self, path: &Path) -> bool {
        let owned = |path: &Path| path.components().map(|part| part.as_os_str().to_owned()).collect::<VecDeque<_>>();
        let is_writable = |path: &Path| self.writable.iter().any(|place| path.starts_with(place));
        let (mut to_go, mut at, mut links) = (owned(path), PathBuf::from("/"), 0);
        while let Some(part) = to_go.pop_front() {
            if part == ".." {
                at.pop();
                continue;
            }
            // The root begins anew.
            at.push(&part);
            if is_writable(&at) {
                return true;
            }
            if let Ok(target) = at.read_link() {
                links += 1;
                if links > MOST_LINKS {
                    return true;
                }
                at.pop();
                for part in owned(&target).into_iter().rev() {
                    to_go.push_front(part);
                }
            }
        }
        false
    }
}

fn names(what: &str) -> String {
    format!("it names `{what}` of the workspace, or of another place where commands write")
}

fn name_of(path: &Path) -> String {
    path.components().next_back().map_or(OsStr::new(""), Component::as_os_str).to_string_lossy().into_owned()
}

/// `python` is, and so are `python3` and `python3.12`.
fn is_version_of(name: &str, known: &str) -> bool {
    name.strip_prefix(known).is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.' || c == '-'))
}

/// A shell has them itself, and they run nothing.
const BUILTINS: &[&str] = &["echo", "printf", "exit", "true", "false", ":", "test"];
/// Programs whose words are text.
const SHOW_TEXT: &[&str] = &["notify-send", "logger", "wall", "sleep"];
/// Programs that are told by their name which one they are.
const MANY_IN_ONE: &[&str] = &["busybox", "toybox", "coreutils"];
/// They are given a script by its absolute path, and no option before it.
#[rustfmt::skip]
const INTERPRETERS: &[&str] = &[
    "sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "python", "pypy", "perl", "ruby", "node", "nodejs", "lua", "luajit", "tclsh",
];
/// Programs that run, by themselves, what lies in the directory or what a configuration there names.
#[rustfmt::skip]
const FIND_BY_THEMSELVES: &[&str] = &[
    "make", "gmake", "nmake", "ninja", "just", "task", "rake", "cmake", "ctest", "meson", "bazel", "buck", "scons", "mage", "npm", "npx", "pnpm", "pnpx",
    "yarn", "bun", "bunx", "deno", "corepack", "cargo", "rustc", "rustup", "go", "mvn", "mvnd", "gradle", "ant", "sbt", "lein", "mix", "dotnet", "msbuild",
    "git", "hg", "svn", "jj", "gh", "glab", "tox", "nox", "pytest", "py.test", "pip", "uv", "uvx", "poetry", "pdm", "hatch", "rye", "pipenv", "pipx",
    "pre-commit", "lefthook", "husky", "bundle", "bundler", "gem", "composer", "php", "direnv", "mise", "asdf", "rbenv", "pyenv", "nodenv", "nix", "nix-shell",
    "mocha", "jest", "vitest", "eslint", "prettier", "tsc", "tsx", "ts-node", "webpack", "vite", "rollup", "ruff", "mypy", "pylint", "black", "vi", "vim", "nvim", "emacs", "gdb", "lldb",
    "docker", "podman", "docker-compose", "vagrant", "terraform", "ansible", "ansible-playbook", "R", "Rscript", "julia", "ghci", "stack", "cabal", "swift", "zig", "dune", "irb", "ipython",
];
const MOST_LINKS: usize = 40;
const FIRST_LINE_BYTES: u64 = 4_096;

#[cfg(test)]
mod tests {
    use super::Reach;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    /// A workspace `ws`, a writable `cache` and a `bin` of the user's beside it, with links that lead from there.
    fn place() -> (tempfile::TempDir, PathBuf, Reach) {
        let top = tempfile::tempdir().unwrap();
        let root = top.path().canonicalize().unwrap();
        for name in ["ws/tools", "cache", "bin"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        for name in ["ws/tools/x", "ws/run", "cache/x", "bin/guard", "bin/s.py"] {
            fs::write(root.join(name), "#!/bin/sh\n").unwrap();
        }
        fs::write(root.join("bin/venv"), format!("#!{}/ws/python\n", root.display())).unwrap();
        symlink(root.join("bin/guard"), root.join("ws/back")).unwrap();
        for (link, to) in [
            ("out", "../ws/run"),
            ("dir", "../ws"),
            ("through", "../ws/back"),
            ("twice", "out"),
            ("fine", "guard"),
            ("loop", "loop"),
        ] {
            symlink(to, root.join("bin").join(link)).unwrap();
        }
        symlink("/bin/sh", root.join("bin/other-sh")).unwrap();
        let mut reach = Reach::new(&root.join("ws"), [root.join("ws"), root.join("cache")], "/usr/bin:/bin".into());
        reach.home = Some(root.to_str().unwrap().to_owned());
        (top, root, reach)
    }

    #[test]
    fn what_leads_to_what_commands_write_is_noticed() {
        let (_top, root, reach) = place();
        let absolute = format!("sh {}/ws/run", root.display());
        let cached = format!("{}/cache/x", root.display());
        for command in [
            "~/bin/out",
            "sh ~/bin/out",
            "~/bin/dir/run",
            "~/bin/through",
            "~/bin/twice",
            "~/bin/loop",
            "~/bin/../ws/run",
            "$HOME/ws/run",
            "\"$HOME\"/ws/run",
            "$PWD/run",
            "\"$AGENT_PROJECT_DIR/run\"",
            "$(git rev-parse --show-toplevel)/run",
            "cd ..; ws/run",
            &cached,
            &absolute,
            "./run",
            "sh run",
            "sh tools/not-yet",
            "sh later",
            "sh r*",
            "sh \"r\"un",
            "sh r\\un",
            "python3 .",
            "python3 -m check",
            "python3 -c x",
            "xargs sh",
            "echo x | sh",
            "true | sh -",
            "env sh run",
            "timeout 5 ./x",
            "eval x",
            ". ./x",
            "exec ./x",
            "A=1 ~/bin/guard",
            "~/bin/venv",
            "~/bin/other-sh run",
            "~/bin/other-sh",
            "make",
            "npm run x",
            "git status",
            "cat <run",
            "~/bin/guard > run",
            "~/bin/guard run",
            "~/bin/guard --rules=tools/x",
            "~/bin/guard later.sh",
            "~/bin/guard @~/x",
            "true && ./run",
            "if true; then true; fi",
            "sh ~/bin/guard tools/x",
            "python3 -u ~/bin/s.py",
            "nowhere-to-be-found",
        ] {
            assert!(reach.check(command).is_err(), "{command}");
        }
    }

    #[test]
    fn what_is_understood_and_lies_elsewhere_runs_as_the_user() {
        let (_top, root, reach) = place();
        let absolute = format!("{}/bin/guard --strict", root.display());
        for command in [
            "true",
            "~/bin/guard",
            "$HOME/bin/guard",
            "\"$HOME/bin/guard\" a 'b c'",
            "~/bin/fine",
            "sh ~/bin/guard",
            "~/bin/other-sh ~/bin/guard",
            &absolute,
            "cat >> /elsewhere/told",
            "cat | ~/bin/guard && echo 'all is well.' >&2; exit 2",
            "~/bin/guard 2>/dev/null",
            "/nowhere/guard",
            "~/bin/guard --level=2 .tool_input",
        ] {
            assert_eq!(reach.check(command), Ok(()), "{command}");
        }
    }
}
