//! Whether a hook's command can come to run what commands of the model write.
//!
//! 1. Everything of the command is understood, or it counts as one that can: there is no list of forms that are dangerous.
//! 2. A path is followed link by link. One that goes through a writable place can be led elsewhere, wherever it ends now.
//! 3. A program by its name alone is one of those that are known to take no instructions from the directory. One by its absolute path is
//!    the user's word.
//! 4. A word behind it is understood, or it may be a file of the workspace that is made later ([`hook_operands`](crate::hooks::operands)).
//!
//! Absent: what a program outside of the workspace goes on to read, but for the absolute paths in a script.

use crate::config::project_programs::{FIND_BY_THEMSELVES, INTERPRETERS, is_version_of};
use crate::hooks::operands::{Word, is_known, of_known, of_unknown};
use crate::hooks::words::{Simple, Values, commands};
use agent_exec::{has_another_name, leads_into, named_in_script};
use agent_hooks::FirstLine;
use agent_tools::runs_another_command;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{ErrorKind, Read as _};
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
        let directory = self.directory.to_str().ok_or("the directory's name is not valid UTF-8")?;
        let values = Values { home: self.home.as_deref(), directory };
        commands(command, &values)?.iter().try_for_each(|simple| self.check_one(simple))
    }

    fn check_one(&self, Simple { words, files }: &Simple) -> Result<(), String> {
        files.iter().try_for_each(|file| self.check_file(file))?;
        let (program, arguments) = words.split_first().ok_or("it names no program")?;
        if BUILTINS.contains(&&**program) && !runs_another_command(program, arguments) {
            return self.check_words(&[program], arguments);
        }
        let file = self.locate(program)?;
        let names = names_of(program, &file);
        let is_any = |list: &[&str]| names.iter().any(|name| list.iter().any(|known| is_version_of(name, known)));
        if is_any(FIND_BY_THEMSELVES) || MANY_IN_ONE.contains(&&*names[0]) {
            return Err(format!("`{program}` runs files that it finds in the workspace"));
        } else if is_any(INTERPRETERS) {
            self.check_interpreter(program, &file)?;
            let script = arguments.first().filter(|script| script.starts_with('/'));
            let script = script.ok_or_else(|| format!("the first argument of `{program}` is not a script"))?;
            self.check_file(script)?;
            // Perl and Ruby heed it though they were named.
            self.check_first_line(Path::new(script))?;
        } else if names.iter().any(|name| !MANY_IN_ONE.contains(&&**name) && runs_another_command(name, arguments)) {
            return Err(format!("`{program}` may run other commands"));
        } else if !program.contains('/') && !is_known(program) {
            return Err(format!(
                "`{program}` is not known to ignore instructions in the directory (name a program of your own by its absolute path)"
            ));
        } else {
            self.check_first_line(&file)?;
            // What links lead to tells more than what they are called.
            return self.check_words(&names.each_ref().map(|name| &**name), arguments);
        }
        self.check_words(&[], arguments)
    }

    /// The words behind a program that has these names.
    fn check_words(&self, names_of_program: &[&str], words: &[String]) -> Result<(), String> {
        let known = names_of_program.iter().rev().find_map(|name| of_known(name, words));
        for word in known.unwrap_or_else(|| of_unknown(words)).map_err(names)? {
            match word {
                Word::Inert => {}
                Word::File(file) => self.check_file(file)?,
            }
        }
        Ok(())
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
        Err(format!("`{program}` was not found outside the workspace"))
    }

    /// A path that is used as one.
    fn check_file(&self, file: &str) -> Result<(), String> {
        if !file.starts_with('/') {
            return Err(names(file));
        }
        // What a hook is given and writes, where it is used as a file: links of procfs, but pipes of the agent's, or what a redirect named.
        if STREAMS.contains(&file) {
            return Ok(());
        }
        self.check_path(Path::new(file), file)
    }

    fn check_path(&self, path: &Path, said: &str) -> Result<(), String> {
        if leads_into(path, &self.writable) {
            Err(names(said))
        } else if has_another_name(path) {
            Err(format!("`{said}` has another name (a hard link), which may lie where commands write"))
        } else {
            Ok(())
        }
    }

    /// What reads a script is an interpreter that is known, and lies outside, and is given nothing but the script.
    fn check_first_line(&self, file: &Path) -> Result<(), String> {
        // The script would be the hook's input, which holds words of the model.
        if leads_into(file, &["/dev", "/proc"]) {
            return Err(format!("`{}` is not a script", file.display()));
        }
        let of_file = |why: String| format!("`{}`: {why}", file.display());
        let begin = beginning(file).map_err(of_file)?;
        let Some(line) = FirstLine::of(&begin).map_err(of_file)? else { return Ok(()) };
        // Where the path of an interpreter is too long for the first line, pip writes it into the second one.
        if let Some(named) = named_in_script(file, &self.writable) {
            return Err(of_file(names(&named.to_string_lossy())));
        }
        if let Some(env) = line.through {
            self.check_file(env)?;
            self.check_program(env, Path::new(env), &["env"]).map_err(of_file)?;
        }
        let interpreter = self.locate(line.interpreter).map_err(of_file)?;
        self.check_interpreter(line.interpreter, &interpreter).map_err(of_file)
    }

    fn check_interpreter(&self, said: &str, file: &Path) -> Result<(), String> {
        self.check_program(said, file, INTERPRETERS)
    }

    /// A program that is known by where its links end, and no script: what version managers put in an interpreter's place asks the
    /// directory which it is to be.
    fn check_program(&self, said: &str, file: &Path, known: &[&str]) -> Result<(), String> {
        let [.., real] = names_of(said, file);
        let is_known = MANY_IN_ONE.contains(&&*real) || known.iter().any(|known| is_version_of(&real, known));
        if !is_known || beginning(file)?.starts_with(b"#!") {
            return Err(format!("`{said}` is not a known interpreter"));
        }
        Ok(())
    }
}

/// How a file begins, as far as the kernel looks at it; empty where there is none.
fn beginning(file: &Path) -> Result<Vec<u8>, String> {
    let failed = |why: &dyn std::fmt::Display| format!("`{}` cannot be read: {why}", file.display());
    let mut begin = Vec::new();
    match file.metadata() {
        Ok(found) if !found.is_file() => return Err(failed(&"it is not a regular file")),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(begin),
        Ok(_) | Err(_) => {}
    }
    let read = File::open(file).and_then(|file| file.take(FirstLine::BYTES as u64).read_to_end(&mut begin));
    read.map(|_| begin).map_err(|error| failed(&error))
}

/// What a program is called: in the command, by its file, and where links end.
fn names_of(said: &str, file: &Path) -> [String; 3] {
    let real = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
    [name_of(Path::new(said)), name_of(file), name_of(&real)]
}

fn names(what: &str) -> String {
    format!("it names `{what}`, which is in the workspace or another place where commands can write")
}

fn name_of(path: &Path) -> String {
    path.components().next_back().map_or(OsStr::new(""), Component::as_os_str).to_string_lossy().into_owned()
}

/// A hook's own streams.
const STREAMS: &[&str] = &["/dev/stdin", "/dev/stdout", "/dev/stderr"];
/// A shell has them itself, and they run nothing.
const BUILTINS: &[&str] = &["echo", "printf", "exit", "true", "false", ":", "test"];
/// Programs that act according to the name they are called by.
const MANY_IN_ONE: &[&str] = &["busybox", "toybox", "coreutils"];

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
        for name in
            ["ws/tools/x", "ws/run", "cache/x", "bin/guard", "bin/s.py", "bin/not-known", "bin/invoke", "bin/jq"]
        {
            fs::write(root.join(name), "#!/bin/sh\n").unwrap();
        }
        fs::write(root.join("bin/venv"), format!("#!{}/ws/python\n", root.display())).unwrap();
        fs::write(root.join("bin/python3"), "#!/bin/sh\nexec asdf exec python3 \"$@\"\n").unwrap();
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
        symlink("/proc/self/cwd", root.join("bin/cwd")).unwrap();
        symlink("/usr/bin/tee", root.join("bin/named-echo")).unwrap();
        let search_path = format!("/usr/bin:/bin:{}/bin", root.display());
        let mut reach = Reach::new(&root.join("ws"), [root.join("ws"), root.join("cache")], search_path.into());
        reach.home = Some(root.to_str().unwrap().to_owned());
        (top, root, reach)
    }

    /// A link that the file itself does not show.
    #[test]
    fn a_file_with_another_name_may_be_one_that_commands_write() {
        let (_top, root, reach) = place();
        fs::hard_link(root.join("ws/run"), root.join("bin/linked")).unwrap();
        let linked = root.join("bin/linked").display().to_string();
        for command in [linked.clone(), format!("/bin/sh {linked}")] {
            assert!(reach.check(&command).unwrap_err().contains("hard link"), "{command}");
        }
        // The control.
        fs::remove_file(root.join("ws/run")).unwrap();
        assert_eq!(reach.check(&linked), Ok(()));
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
            "~/bin/guard --rules=later",
            "~/bin/guard later",
            "~/bin/guard -olater",
            "~/bin/guard .tool_input",
            "sh ~/bin/guard later",
            "tee later",
            "/usr/bin/tee -a later",
            "~/bin/named-echo later",
            "cat later",
            "cat -- later",
            "echo x | tee later",
            "test -e later",
            "/usr/bin/test -e later",
            "ls",
            "sed -n wlater",
            "awk '{print > \"later\"}'",
            "curl -d @later http://127.0.0.1:9/",
            "tee ~/bin/dir/log",
            "curl -d @$PWD/x http://127.0.0.1:9/",
            "~/bin/guard later.sh",
            "~/bin/guard @~/x",
            "true && ./run",
            "if true; then true; fi",
            "sh ~/bin/guard tools/x",
            "python3 -u ~/bin/s.py",
            "~/bin/python3 ~/bin/s.py",
            "nowhere-to-be-found",
            "not-known",
            "jq -f rules",
            "jq --from-file rules .",
            "cat ~/bin/guard | sh /dev/stdin",
            "~/bin/invoke lint",
            "busybox sh later",
            "/bin/busybox sh later",
            "cat >> /proc/self/cwd/log",
            "tee /proc/thread-self/cwd/log",
            "/proc/self/cwd/run",
            "sh /dev/fd/../cwd/run",
            "python3 /proc/self/root/s.py",
            "~/bin/guard --rules=/proc/self/cwd/f",
            "~/bin/guard /dev/fd/3",
            "curl -d @/proc/self/cwd/x http://127.0.0.1:9/",
            "~/bin/cwd/run",
        ] {
            assert!(reach.check(command).is_err(), "{command}");
        }
    }

    #[test]
    fn what_reads_a_script_is_held_to_the_same() {
        let (_top, root, reach) = place();
        symlink(root.join("ws/run"), root.join("bin/lnk")).unwrap();
        fs::write(root.join("bin/inner"), "#!/bin/sh rules\n").unwrap();
        let here = |name: &str| format!("#!{}/bin/{name}", root.display());
        for line in [
            "#!interp",
            "#!./interp",
            "#!/bin/sh rules",
            "#!/bin/bash rules.sh",
            "#!/bin/sh -s",
            "#!/usr/bin/python3 -mrules",
            "#!/usr/bin/env -S python3 rules",
            "#!/usr/bin/env ./interp",
            "#!/usr/bin/env make",
            "#!/usr/bin/make -f",
            "#!/usr/bin/awk -frules",
            &here("inner"),
            &here("lnk"),
            &here("python3"),
            &here("../ws/run"),
            &format!("#!/bin/sh\n'''exec' \"{}/ws/run\" \"$0\" \"$@\"", root.display()),
            &format!("#!/usr/bin/python3\nimport os; os.execv('{}/ws/run', [])", root.display()),
        ] {
            fs::write(root.join("bin/guard"), format!("{line}\ntrue\n")).unwrap();
            for command in ["~/bin/guard", "true; ~/bin/fine", "perl ~/bin/guard"] {
                assert!(reach.check(command).is_err(), "{line}: {command}");
            }
        }
        for line in
            ["#!/bin/sh", "#! /bin/sh -eu", "#!/usr/bin/env sh", "", &here("other-sh"), "#!/bin/sh\ntest -e /elsewhere"]
        {
            fs::write(root.join("bin/guard"), format!("{line}\ntrue\n")).unwrap();
            assert_eq!(reach.check("~/bin/guard"), Ok(()), "the control {line}");
        }
        fs::remove_file(root.join("bin/guard")).unwrap();
        let pipe = root.join("bin/guard");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(reach.check("~/bin/guard").is_err(), "a pipe holds nobody up");
    }

    #[test]
    fn what_is_understood_and_lies_elsewhere_runs_as_the_user() {
        let (_top, root, reach) = place();
        let absolute = format!("{}/bin/guard --strict", root.display());
        for command in [
            "true",
            "~/bin/guard",
            "$HOME/bin/guard",
            "\"$HOME/bin/guard\" --all",
            "echo all 'is well'",
            "tee -a /elsewhere/log",
            "date +%s >> ~/log",
            "curl -s -d 'text=done' http://127.0.0.1:9/",
            "test -e /elsewhere/stop",
            "~/bin/fine",
            "sh ~/bin/guard",
            "~/bin/other-sh ~/bin/guard",
            &absolute,
            "cat >> /elsewhere/told",
            "echo no > /dev/stderr",
            "cat /dev/stdin >> ~/log",
            "cat /proc/loadavg",
            "cat | ~/bin/guard && echo 'all is well.' >&2; exit 2",
            "~/bin/guard 2>/dev/null",
            "/nowhere/guard",
            "~/bin/guard --level=2",
            "~/bin/not-known",
            "jq -r .prompt >> ~/log",
        ] {
            assert_eq!(reach.check(command), Ok(()), "{command}");
        }
    }
}
