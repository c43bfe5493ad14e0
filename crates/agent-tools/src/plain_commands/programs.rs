//! Programs whose words name another command, or a file to be run or written. No list of these is complete: they are those that a rule such
//! as `bash(find:*)` was surely not meant for. A rule for a program that runs code by trade, such as `make`, is the user's own choice.

use super::running_options::{OF_SUBCOMMANDS, OPTIONS, PREFIXES};
use super::written;

/// Whether a program with these arguments runs another command that they name, or changes what later commands do.
pub(crate) fn runs_another(program: &str, arguments: &[String]) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    // A loader or an emulator runs what follows; a sub-command of git by its own name is out of sight of rules about git.
    let is_prefixed = ["ld-", "ld.so", "qemu-", "git-", "s6-"].iter().any(|prefix| name.starts_with(prefix));
    if OF_THE_SHELL.contains(&name) || WRAPPERS.contains(&name) || is_prefixed {
        return true;
    }
    let first = arguments.first().map(String::as_str).unwrap_or_default();
    if runs_by_a_subcommand(name, arguments) || written::is_named(name, arguments) {
        return true;
    }
    if GLOBAL_OPTIONS.contains(&name) && first.starts_with(['-', '+']) {
        return true;
    }
    match name {
        "awk" | "gawk" | "mawk" | "nawk" => arguments.iter().any(|text| awk_does_more(text)),
        "sed" => !sed_only_prints(arguments),
        "printf" if arguments.iter().any(|text| stores_a_count(text)) => true,
        "sqlite3" | "sqlite" | "psql" | "mysql" | "mariadb" if arguments.iter().any(|text| sql_does_more(text)) => true,
        // Files by a prefix are written, which may be any.
        "split" | "csplit" => true,
        // The second file is written.
        "uniq" | "xxd" => arguments.iter().filter(|text| !text.starts_with(['-', '+'])).count() > 1,
        // `of=` is written, and so is where `seek=` leads.
        "dd" => arguments.iter().any(|text| text.starts_with("of=")),
        // Variables name programs: `CC=x`, `SHELL=x`.
        "make" | "gmake" | "nmake" if arguments.iter().any(|text| text.contains('=') && !text.starts_with('-')) => true,
        // A command for the other machine.
        "ssh" | "rsh" | "slogin" if ssh_is_given_a_command(arguments) => true,
        // The script of a service by a path.
        "service" | "invoke-rc.d" | "rc-service" if first.contains('/') => true,
        "tar" | "bsdtar" if !first.starts_with('-') && first.contains(['I', 'F', 'T', 'g']) => true,
        _ => {
            let interpreter = INTERPRETERS.iter().any(|known| is_version_of(name, known));
            let behind = arguments.iter().skip(1).map(String::as_str).chain([""]);
            let mut modules = arguments.iter().zip(behind);
            let is_more = || written::module(arguments).is_some_and(|(module, rest)| runs_another(module, rest));
            if interpreter && (modules.any(|(option, next)| module_runs_more(option, next)) || is_more()) {
                return true;
            }
            let code = |argument: &String| interpreter && CODE.iter().any(|option| is_option(argument, option));
            let escapes = |argument: &String| {
                OPTIONS.iter().any(|(names, options)| {
                    names.contains(&name) && options.iter().any(|option| is_option(argument, option))
                })
            };
            let begins = |argument: &String| {
                PREFIXES.iter().any(|(names, prefixes)| {
                    names.contains(&name) && prefixes.iter().any(|prefix| argument.starts_with(prefix))
                })
            };
            let of_subcommand = OF_SUBCOMMANDS.iter().any(|(program, subcommands, options)| {
                let is_option = |argument: &String| options.iter().any(|option| is_option(argument, option));
                *program == name
                    && subcommands.contains(&first)
                    && (options.is_empty() || arguments.iter().skip(1).any(is_option))
            });
            of_subcommand || arguments.iter().any(|argument| code(argument) || escapes(argument) || begins(argument))
        }
    }
}

/// Whether one of the words may be the sub-command by which a program runs the command after it: `poetry -C x run rm`. Which of the words
/// before it are values of options is not known, so each word up to the first that cannot be one counts.
fn runs_by_a_subcommand(name: &str, arguments: &[String]) -> bool {
    let known = RUN_BY_SUBCOMMANDS.iter().filter(|(names, _)| names.iter().any(|known| is_version_of(name, known)));
    known.flat_map(|(_, subcommands)| subcommands.iter()).any(|wanted| {
        // `ip netns exec` and `docker compose run`: its last word counts, after the others.
        let mut parts = wanted.split(' ').peekable();
        // `--option NAME VALUE`.
        let mut may_be_values = 0;
        for word in arguments {
            if parts.next_if(|part| part == word).is_some() {
                if parts.peek().is_none() {
                    return true;
                }
                may_be_values = 0;
            } else if word.starts_with(['-', '+']) {
                may_be_values = 2;
            } else if may_be_values > 0 {
                may_be_values -= 1;
            } else {
                return false;
            }
        }
        false
    })
}

/// Whether `-m MODULE`, in one word or two, is a module that runs what the words after it name.
fn module_runs_more(option: &str, next: &str) -> bool {
    let module = match option.strip_prefix("-m") {
        Some("") => next,
        Some(glued) => glued,
        None => return false,
    };
    MODULES.contains(&module)
}

/// Whether a word follows the name of the machine.
fn ssh_is_given_a_command(arguments: &[String]) -> bool {
    let mut words = arguments.iter();
    let mut machines = 0;
    while let Some(word) = words.next() {
        if machines == 0 && word.starts_with('-') {
            // `-p 22`: the value is no machine.
            let takes_value = word.len() == 2 && word.ends_with(|letter| "BbcDEeFIiJLlmOoPpQRSWw".contains(letter));
            if takes_value {
                words.next();
            }
        } else {
            machines += 1;
        }
    }
    machines > 1
}

/// Whether a command changes where or how later commands run, as far as the shell does so by default.
pub(super) fn carries_over(program: &str) -> bool {
    ["cd", "pushd", "popd", "umask", "ulimit"].contains(&program)
}

/// `%n` of bash's `printf` stores a number in the variable that the next word names.
fn stores_a_count(text: &str) -> bool {
    let is_of_conversion = |c: char| c.is_ascii_digit() || " #+-'.*hlqjzLt".contains(c);
    let text = text.replace("%%", "");
    text.split('%').skip(1).any(|rest| rest.trim_start_matches(is_of_conversion).starts_with(['n', '(']))
}

/// Whether an argument of a database's shell may be more than SQL that reads and changes the database.
fn sql_does_more(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let words = [
        "\\",
        "program",
        "system",
        "outfile",
        "dumpfile",
        "load_extension",
        "writefile",
        "readfile",
        "edit(",
        "infile",
    ];
    let options = ["-cmd", "-init", "--init", "-f", "--file", "-o", "--output", "-l", "--log", "--pager", "--tee"];
    text.lines().any(|line| line.trim_start().starts_with('.'))
        || words.iter().any(|word| text.contains(word))
        || options.iter().any(|option| text.starts_with(option))
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

/// Words of the shell's grammar, and builtins that run other commands, or change what later commands mean.
#[rustfmt::skip]
const OF_THE_SHELL: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "select",
    "function", "time", "coproc", "eval", "exec", "source", ".", "command", "builtin", "trap", "alias", "unalias",
    "enable", "hash", "set", "shopt", "export", "declare", "typeset", "readonly", "local", "let", "read", "mapfile", "readarray",
    "getopts", "unset", "wait", "fc", "bind", "complete", "compgen", "compopt", "jobs", "history",
];

/// Programs whose arguments are a command.
#[rustfmt::skip]
const WRAPPERS: &[&str] = &[
    "env", "xargs", "sudo", "doas", "su", "runuser", "pkexec", "setpriv", "sg", "newgrp", "capsh",
    "sh", "bash", "rbash", "dash", "ash", "ksh", "mksh", "zsh", "fish", "csh", "tcsh", "pwsh", "busybox", "toybox",
    "nice", "ionice", "chrt", "taskset", "numactl", "prlimit", "nohup", "setsid", "timeout", "stdbuf", "unbuffer", "expect", "script",
    "chroot", "unshare", "nsenter", "bwrap", "firejail", "proot", "fakeroot", "fakechroot", "faketime", "systemd-run", "setarch",
    "flock", "watch", "entr", "parallel", "rush", "at", "batch", "crontab", "screen", "tmux", "dtach", "start-stop-daemon", "daemonize",
    "choom", "uclampset", "runcon", "ssh-agent", "gpg-agent", "dbus-run-session", "dbus-launch", "cpulimit", "hyperfine", "logsave",
    "elvish", "nu", "xonsh", "yash", "osh", "ysh", "posh", "lksh", "execlineb", "run0", "sudoedit", "gosu", "su-exec", "dumb-init", "tini",
    "chpst", "softlimit", "setuidgid", "envdir", "envuidgid", "cgexec", "cset", "schedtool", "trickle", "torsocks", "torify", "tsocks",
    "proxychains", "proxychains4", "eatmydata", "pseudo", "fakeroot-ng", "systemd-inhibit", "systemd-nspawn", "machinectl", "schroot",
    "minijail0", "nsjail", "aa-exec", "xvfb-run", "xinit", "startx", "xterm", "socat", "watchexec", "nodemon", "reflex", "sem", "chronic", "ifne", "pee",
    "annotate-output", "gdbserver", "rr", "uftrace", "heaptrack", "memusage", "sotruss", "latrace", "bpftrace", "trace-cmd", "uname26",
    "wine", "box64", "sensible-editor", "sensible-pager", "editor", "pager", "xdg-open", "run-mailcap", "see", "anacron",
    "strace", "ltrace", "gdb", "lldb", "perf", "valgrind", "rlwrap", "catchsegv", "linux32", "linux64", "i386", "x86_64", "run-parts",
    // Of packages and environments.
    "npx", "pnpx", "bunx", "uvx", "pipx", "tsx", "ts-node", "nix-shell", "comma", ",", "guix", "micromamba", "direnv", "steam-run", "toolbox", "distrobox", "distrobox-enter",
    // With variables, secrets or other output.
    "cross-env", "cross-env-shell", "env-cmd", "dotenv", "dotenvx", "envconsul", "consul-template", "chamber", "summon", "teller", "berglas", 
    "concurrently", "npm-run-all", "run-s", "run-p", "wait-on", "start-server-and-test", "foreman", "honcho", "overmind", "goreman", "hivemind", "supervisord", "pm2", "forever",
    "systemd-cat", "systemd-socket-activate", "systemd-notify", "pipesz", "ccache", "sccache", "distcc", "icecc", "bear", "scan-build", "intercept-build",
    "tsp", "ts-spool", "nq", "retry", "timelimit", "multitime", "poop", "samply", "cargo-flamegraph", "flamegraph", "kcov", "py-spy", "viztracer",
    "mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun", "srun", "sbatch", "salloc", "qsub", "bsub", "torchrun", "accelerate", "ray",
    "lxc-attach", "lxc-execute", "lxc-start", "runc", "crun", "apptainer", "singularity", "enroot", "udocker", "flatpak-spawn", "host-spawn",
    "slirp4netns", "rootlesskit", "buildah", "pasta", "passt", "sshpass", "autossh", "mosh", "pssh", "pdsh", "parallel-ssh", "clush", "ansible",
    "nyc", "c8", "ttyrec", "asciinema", "abduco", "reptyr", "zellij", "byobu", "winpty", "wsl", "cmd", "cmd.exe", "powershell", "cygstart", "caffeinate", "sandbox-exec",
    "arch", "leaks", "dtruss", "xcrun", "launchctl", "s6-setuidgid", "s6-envdir", "s6-softlimit", "s6-applyuidgid", "catatonit", "setlock", "pgrphack", "multilog", "runsv",
    "mispipe", "lckdo", "padsp", "aoss", "artsdsp", "apulse", "pidproxy", "zrun", "with-contenv", "oil", "run-one", "run-this-one", "keep-one-running", "lockrun", "with-lock-ex", "cronic",
    "nocache", "optirun", "primusrun", "prime-run", "gamemoderun", "vglrun", "argv0", "fghack", "recordio", "supervise", "tcpserver", "tcpclient", "gksu", "kdesu", "sux", "super",
    // They take commands from their input, and among these are some for the shell.
    "ed", "red", "dc", "lftp", "debconf", "debconf-communicate",
];

/// Programs, and their sub-commands that another command follows, to run here or elsewhere. Those of several words are listed in
/// order.
#[rustfmt::skip]
const RUN_BY_SUBCOMMANDS: &[(&[&str], &[&str])] = &[
    (&["pyenv", "rbenv", "nodenv", "jenv", "goenv", "plenv", "phpenv", "luaenv", "swiftenv", "tfenv"], &["exec"]),
    (&["rustup"], &["run"]),
    (&["uv"], &["run", "x", "tool run", "tool"]),
    (&["poetry", "pdm", "hatch", "rye", "pipenv", "pixi", "flox", "devbox", "devenv"], &["run", "shell", "env run"]),
    (&["bundle", "bundler"], &["exec", "e", "ex", "exe", "open", "console", "config"]),
    (&["gem"], &["exec", "open"]),
    (&["mise", "rtx"], &["exec", "x", "watch", "en"]),
    (&["asdf"], &["exec", "env", "cmd"]),
    (&["fnm", "nvm", "volta", "n", "nvs", "rvm", "chruby-exec", "sdk"], &["exec", "run", "use", "do", "x", "in", "with"]),
    (&["tox"], &["exec", "e"]),
    (&["npm"], &["exec", "x", "exe", "init", "innit", "create", "explore", "edit"]),
    (&["pnpm"], &["exec", "dlx", "create", "recursive exec", "multi exec", "m exec"]),
    (&["yarn"], &["exec", "dlx", "create", "node", "workspaces foreach", "workspace"]),
    (&["bun"], &["x", "exec", "create", "c", "run"]),
    (&["deno"], &["x", "eval", "repl"]),
    (&["corepack"], &["npm", "npx", "pnpm", "pnpx", "yarn", "yarnpkg"]),
    (&["lerna"], &["exec"]), (&["nx"], &["exec"]),
    (&["conda", "mamba", "coverage"], &["run"]),
    (&["nix"], &["run", "shell", "develop", "dev-shell", "bundle", "repl", "eval", "fmt", "print-dev-env", "edit", "profile", "env shell"]),
    (&["opam", "stack", "cabal", "esy", "dune", "mix", "dotnet", "swift"], &["exec", "x", "do", "tool"]),
    (&["composer"], &["exec", "config", "global"]),
    (&["docker", "podman", "nerdctl", "ctr", "crictl", "finch", "lxc", "incus", "machinectl"], &[
        "exec", "run", "create", "unshare", "compose exec", "compose run", "container run", "container exec", "container create", "task exec", "machine ssh", "debug",
        "shell", "launch",
    ]),
    (&["docker-compose", "podman-compose"], &["exec", "run"]),
    (&["kubectl", "oc", "k3s", "microk8s", "minikube", "k0s"], &["exec", "run", "debug", "edit", "plugin", "kubectl", "ssh", "rsh", "rsync", "ctr", "crictl", "cp"]),
    (&["flyctl", "fly", "heroku", "railway"], &["ssh", "run", "local:run", "console", "shell"]), (&["gcloud"], &["compute ssh"]),
    (&["aws"], &["ssm start-session", "ecs execute-command"]), (&["vercel", "netlify"], &["dev:exec", "env run"]),
    (&["ip"], &["netns exec", "netn exec", "net exec", "vrf exec", "netns e", "vrf e", "netns ex", "netns exe", "vrf ex", "vrf exe", "n exec"]),
    (&["mold"], &["-run", "--run"]),
    (&["op"], &["run", "plugin run", "plugin"]), (&["aws-vault", "aws-okta", "saml2aws", "granted", "assume", "gimme-aws-creds"], &["exec", "e", "script"]),
    (&["doppler", "infisical", "phase", "akeyless", "envchain", "keyring", "bws", "vlt", "secrethub", "envkey-source"], &["run", "exec", "secrets run"]),
    (&["sops"], &["exec-env", "exec-file", "edit"]), (&["vault"], &["agent", "ssh", "proxy"]), (&["flatpak", "snap"], &["run", "enter"]),
    (&["kitty", "wezterm", "tmuxinator"], &["@", "start", "ssh", "kitten", "+kitten", "+runpy"]),
    (&["rails"], &["runner", "r", "console", "c", "dbconsole"]),
    (&["timew", "task"], &["exec", "execute", "extension"]),
    (&["virsh", "multipass", "limactl", "lima", "colima", "orb", "distrobox"], &["exec", "shell", "ssh", "enter", "lxc-enter-namespace", "run", "qemu-monitor-command"]),
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

/// Modules of Python's own that run a program or a text given after them.
const MODULES: &[&str] = &[
    "timeit", "pdb", "cProfile", "profile", "trace", "runpy", "code", "asyncio", "IPython", "debugpy", "cgitb",
    "idlelib",
];
