//! Programs whose words name another command, or a file to be run or written. No list of these is complete: they are those that a rule such
//! as `bash(find:*)` was surely not meant for. A rule for a program that runs code by trade, such as `make`, is the user's own choice.

/// Whether a program with these arguments runs another command that they name, or changes what later commands do.
pub(super) fn runs_another(program: &str, arguments: &[String]) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    if OF_THE_SHELL.contains(&name) || WRAPPERS.contains(&name) || name.starts_with("ld-") || name.starts_with("ld.so")
    {
        return true;
    }
    let first = arguments.first().map(String::as_str).unwrap_or_default();
    if GLOBAL_OPTIONS.contains(&name) && first.starts_with(['-', '+']) {
        return true;
    }
    match name {
        "awk" | "gawk" | "mawk" | "nawk" => arguments.iter().any(|text| awk_does_more(text)),
        "sed" => !sed_only_prints(arguments),
        "tar" | "bsdtar" if !first.starts_with('-') && first.contains(['I', 'F']) => true,
        _ => {
            let interpreter = INTERPRETERS.iter().any(|known| is_version_of(name, known));
            let code = |argument: &String| interpreter && CODE.iter().any(|option| is_option(argument, option));
            let escapes = |argument: &String| {
                OPTIONS.iter().any(|(names, options)| {
                    names.contains(&name) && options.iter().any(|option| is_option(argument, option))
                })
            };
            arguments.iter().any(|argument| code(argument) || escapes(argument))
        }
    }
}

/// Whether an argument is this option, or may be: options may be shortened, joined, and followed by their value.
fn is_option(argument: &str, option: &str) -> bool {
    let name = argument.split('=').next().unwrap_or_default();
    match option.strip_prefix('-') {
        // A word of a sub-command.
        None => argument == option,
        Some(long) if long.starts_with('-') => name.len() > 2 && option.starts_with(name),
        // `-exec` and the like, as `find` has them.
        Some(word) if word.len() > 1 => name.starts_with(option),
        Some(letter) => argument.starts_with('-') && !argument.starts_with("--") && argument.contains(letter),
    }
}

/// `python` is, and so are `python3` and `python3.12`.
fn is_version_of(name: &str, known: &str) -> bool {
    let version = name.strip_prefix(known);
    version.is_some_and(|version| version.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

fn awk_does_more(text: &str) -> bool {
    let is_option = text.starts_with('-') && !text.starts_with("-F") && !text.starts_with("-v");
    is_option || text.contains(['|', '>', '@']) || text.contains("system") || text.contains("getline")
}

/// Whether every script of a `sed` is of the few that only print, delete or substitute.
fn sed_only_prints(arguments: &[String]) -> bool {
    let (options, rest): (Vec<&String>, Vec<&String>) = arguments.iter().partition(|text| text.starts_with('-'));
    let are_known =
        options.iter().all(|option| matches!(option.as_str(), "-n" | "-E" | "-r" | "-s" | "-u" | "-nE" | "-En"));
    are_known && rest.first().is_some_and(|script| is_printing_script(script))
}

/// Lines by number and one command, or one substitution with plain flags.
fn is_printing_script(script: &str) -> bool {
    let by_lines = script
        .strip_suffix(['p', 'd', 'q', '='])
        .is_some_and(|lines| lines.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '$')));
    let substitutes = script.strip_prefix("s/").is_some_and(|rest| {
        let parts: Vec<&str> = rest.split('/').collect();
        let plain = !rest.contains(['\\', '\n']);
        plain
            && parts.len() == 3
            && parts.last().is_some_and(|flags| flags.chars().all(|c| matches!(c, 'g' | 'I' | 'p' | '0'..='9')))
    });
    by_lines || substitutes
}

/// Commands that only compute, wait or print, whatever plain words follow them.
pub(super) const TOUCH_NOTHING: &[&str] =
    &["true", "false", "sleep", "echo", "pwd", "seq", "uname", "whoami", "nproc", "basename", "dirname"];

/// Words of the shell's grammar, and builtins that run other commands, or change what commands behind them mean.
#[rustfmt::skip]
const OF_THE_SHELL: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "select",
    "function", "time", "coproc", "eval", "exec", "source", ".", "command", "builtin", "trap", "alias", "unalias",
    "enable", "hash", "set", "shopt", "export", "declare", "typeset", "readonly", "local", "let", "read", "mapfile", "readarray",
    "getopts", "unset", "wait", "fc", "bind", "complete", "compgen", "compopt", "jobs",
];

/// Programs whose arguments are a command.
#[rustfmt::skip]
const WRAPPERS: &[&str] = &[
    "env", "xargs", "sudo", "doas", "su", "runuser", "pkexec", "setpriv", "sg", "newgrp", "capsh",
    "sh", "bash", "rbash", "dash", "ash", "ksh", "mksh", "zsh", "fish", "csh", "tcsh", "pwsh", "busybox", "toybox",
    "nice", "ionice", "chrt", "taskset", "numactl", "prlimit", "nohup", "setsid", "timeout", "stdbuf", "unbuffer", "expect", "script",
    "chroot", "unshare", "nsenter", "bwrap", "firejail", "proot", "fakeroot", "fakechroot", "faketime", "systemd-run", "setarch",
    "flock", "watch", "entr", "parallel", "rush", "at", "batch", "crontab", "screen", "tmux", "dtach", "start-stop-daemon", "daemonize",
    "strace", "ltrace", "gdb", "lldb", "perf", "valgrind", "rlwrap", "catchsegv", "linux32", "linux64", "i386", "x86_64", "run-parts",
];

/// Programs with sub-commands, whose options before these change where they work and what they run.
const GLOBAL_OPTIONS: &[&str] =
    &["git", "cargo", "npm", "pnpm", "yarn", "docker", "podman", "kubectl", "gh", "jj", "hg", "svn"];

/// Programs that run code that is given to them as an argument.
const INTERPRETERS: &[&str] = &[
    "python",
    "pypy",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "luajit",
    "Rscript",
    "tclsh",
    "osascript",
];
/// The options that give it.
const CODE: &[&str] = &["-c", "-e", "-E", "-r", "-p", "-l", "--eval", "--print", "--execute", "eval"];

/// Programs, and their options and words that name a command to run or a file to write.
#[rustfmt::skip]
const OPTIONS: &[(&[&str], &[&str])] = &[
    (&["find"], &["-exec", "-ok", "-delete", "-fprint", "-fls"]),
    (&["fd", "fdfind"], &["-x", "-X", "--exec", "--exec-batch"]),
    (&["rg"], &["--pre", "--hostname-bin"]),
    (&["sort"], &["--compress-program", "-o", "--output"]),
    (&["tar", "bsdtar"], &[
        "-I", "-F", "--use-compress-program", "--to-command", "--checkpoint-action", "--rsh-command", "--info-script", "--new-volume-script",
    ]),
    (&["zip"], &["-T", "--unzip-command"]),
    (&["rsync"], &["-e", "--rsh", "--rsync-path"]),
    (&["ssh", "scp", "sftp"], &["-o", "-F", "-S"]),
    (&["git"], &[
        "--exec", "-x", "-O", "--open-files-in-pager", "--upload-pack", "--receive-pack", "--ext-diff", "--textconv", "--output", "--extcmd",
        "config", "bisect", "submodule", "filter-branch", "difftool", "mergetool", "alias",
    ]),
    (&["cargo"], &["--config", "-Z"]),
    (&["go"], &["-exec", "-toolexec", "-vettool", "--exec", "--toolexec"]),
    (&["make", "gmake"], &["--eval"]),
    (&["man"], &["-P", "-H", "--pager", "--html"]),
    (&["vi", "vim", "nvim", "view", "ex", "emacs", "nano"], &["-c", "-S", "-s", "--cmd", "--eval", "--load", "-l"]),
    (&["wget"], &["--use-askpass", "-e", "--execute"]),
    (&["curl"], &["-K", "--config"]),
    // These take the name of a variable, and evaluate what stands in its brackets.
    (&["printf", "test"], &["-v", "-R"]),
];
