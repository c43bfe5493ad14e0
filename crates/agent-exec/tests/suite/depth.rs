//! What mounts alone do not hold: named pipes, modes, other processes, what is hidden. Each attempt is made without the sandbox, too.

use crate::sandbox::{Place, everywhere, run};
use crate::support::{helper, text};
use agent_exec::{Access, Environment, Mechanism, Policy, Processes, Sandbox};
use agent_types::ports::Exit;
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

/// A named pipe that somebody reads.
fn pipe(path: &Path) -> File {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    rustix::fs::open(path, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()).unwrap().into()
}

fn was_written(pipe: &mut File) -> bool {
    matches!(pipe.read(&mut [0; 64]), Ok(1..))
}

#[tokio::test]
async fn named_pipes_outside_are_not_written() {
    for access in [Access::WorkspaceWrite, Access::ReadOnly] {
        for (mechanism, place, sandboxed) in everywhere(access) {
            let mut outside = pipe(&place.path("outside/pipe"));
            let mut inside = pipe(&place.path("work/pipe"));
            let to = |name: &str| place.command(&format!("echo evil > {}", place.path(name).display()));
            for name in ["outside/pipe", "outside/../outside/pipe"] {
                run(&sandboxed, &to(name)).await;
                assert!(!was_written(&mut outside), "{mechanism:?} {access:?}");
            }
            let finished = run(&sandboxed, &place.command("ln -s ../outside/pipe to; echo evil > to")).await;
            assert!(!was_written(&mut outside), "{mechanism:?} {access:?}: {finished:?}");
            run(&sandboxed, &to("work/pipe")).await;
            assert_eq!(was_written(&mut inside), access == Access::WorkspaceWrite, "{mechanism:?} {access:?}");
            run(&Processes::new(), &to("outside/pipe")).await;
            assert!(was_written(&mut outside), "without a sandbox");
            // Those of a command's own are no concern of anybody else's.
            let own = "cd $TMPDIR && mkfifo own && (cat own & echo to own > own; wait)";
            assert_eq!(text(&run(&sandboxed, &place.command(own)).await), "to own\n", "{mechanism:?} {access:?}");
        }
    }
}

/// A kernel without Landlock: bubblewrap goes on alone, and says what is missing.
#[tokio::test]
async fn without_landlock_bubblewrap_says_what_is_missing() {
    // First: the thread that starts programs begins with the first of them, and must have no filter.
    let all = everywhere(Access::WorkspaceWrite);
    let place = Place::new();
    let made = |mechanism| {
        let policy = place.policy(Access::WorkspaceWrite);
        // For this thread only.
        let without_landlock = std::thread::spawn(move || {
            use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
            let none = [(444, Vec::new())].into_iter().collect();
            let answer = SeccompAction::Errno(38);
            let architecture = std::env::consts::ARCH.try_into().unwrap();
            let filter = SeccompFilter::new(none, SeccompAction::Allow, answer, architecture).unwrap();
            seccompiler::apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
            Sandbox::with(mechanism, policy, helper(), &Environment::inherited())
        });
        without_landlock.join().unwrap()
    };
    assert!(made(Mechanism::Landlock).unwrap_err().contains("no Landlock"));
    let (Ok(without), Some((_, _, sandboxed))) =
        (made(Mechanism::Bubblewrap), all.into_iter().find(|found| found.0 == Mechanism::Bubblewrap))
    else {
        println!("skipped: there is no bubblewrap");
        return;
    };
    assert!(without.to_string().contains("named pipes outside"), "{without}");
    let with = sandboxed.sandbox().unwrap();
    if !with.weaknesses().is_empty() {
        println!("skipped: this kernel has no Landlock");
        return;
    }
    let mut outside = pipe(&place.path("outside/pipe"));
    let write = place.command("echo evil > ../outside/pipe; echo x > ../outside/file");
    run(&Processes::new().in_sandbox(without), &write).await;
    assert!(was_written(&mut outside), "it is true");
    assert_eq!(fs::read_to_string(place.path("outside/file")).unwrap(), "outside\n", "the rest holds");
}

/// By number, with the modes that are to be refused; a file `f` and a directory `.` are there.
const MODES: &str = r"
import ctypes, os, sys
call = ctypes.CDLL(None, use_errno=True).syscall
AT, f, n = -100, b'f', b'new'
O = os.O_CREAT | os.O_WRONLY
how = (ctypes.c_uint64 * 3)(O, 0o4755, 0)
fd = os.open('f', os.O_RDONLY)
tries = {
  'chmod': (90, f, 0o4755), 'chmod-gid': (90, f, 0o2755), 'chmod-both': (90, f, 0o6755), 'fchmod': (91, fd, 0o4755),
  'fchmodat': (268, AT, f, 0o4755), 'fchmodat-gid': (268, AT, f, 0o2755), 'fchmodat2': (452, AT, f, 0o4755, 0),
  'fchmodat2-empty': (452, fd, b'', 0o2755, 0x1000),
  'creat': (85, n, 0o4755), 'open': (2, n, O, 0o4755), 'openat': (257, AT, n, O, 0o4755), 'openat-gid': (257, AT, n, O, 0o2755),
  'openat2': (437, AT, n, how, 24), 'mknod': (133, n, 0o104755, 0), 'mknodat': (259, AT, n, 0o104755, 0),
  'tmpfile': (257, AT, b'.', os.O_TMPFILE | os.O_WRONLY, 0o4755),
  'mkdir': (83, n, 0o6755),
}
for name, arguments in tries.items():
    os.umask(0)
    if os.path.isdir('new'): os.rmdir('new')
    elif os.path.exists('new'): os.remove('new')
    os.chmod('f', 0o644)
    result = call(*arguments)
    paths = [p for p in ('f', 'new') if os.path.exists(p)]
    if any(os.stat(p).st_mode & 0o6000 for p in paths) or (name == 'tmpfile' and result >= 0 and os.fstat(result).st_mode & 0o6000):
        print('set by', name)
print('done')
";

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn no_file_is_left_that_gives_the_rights_of_its_owner() {
    let script = |place: &Place| {
        fs::write(place.path("work/modes.py"), MODES).unwrap();
        fs::write(place.path("work/f"), "").unwrap();
        place.command("python3 modes.py")
    };
    let control = Place::new();
    let without = text(&run(&Processes::new(), &script(&control)).await);
    if !without.ends_with("done\n") {
        println!("skipped: there is no python3: {without}");
        return;
    }
    for name in ["chmod", "fchmod", "fchmodat", "creat", "open", "openat", "mknod", "mknodat", "tmpfile"] {
        assert!(without.contains(&format!("set by {name}\n")), "without a sandbox: {without}");
    }
    assert!(!without.contains("set by mkdir\n"), "the kernel ignores it: {without}");
    for (mechanism, place, sandboxed) in everywhere(Access::WorkspaceWrite) {
        assert_eq!(text(&run(&sandboxed, &script(&place)).await), "done\n", "{mechanism:?}");
    }
}

/// With the modes that programs use all day; and in a directory whose group is inherited, as teams share them.
#[tokio::test]
async fn what_programs_do_with_modes_works() {
    let everywhere_works = [
        "mkdir -p a/b && touch a/b/x && chmod 755 a/b/x && chmod u+x,go-w a/b/x && cp -p a/b/x z && cp -r a copy",
        "install -m 755 a/b/x y && umask 027 && mkdir masked && : > masked/f",
        "mkdir repo && cd repo && git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x",
        "git clone -q repo clone && f=$(mktemp) && d=$(mktemp -d) && mv $f a/",
        "nice true && ionice -c 3 true && (ulimit -n 64; true)",
    ];
    // As root `tar` restores modes, and all of them keep the bit of a directory that has it.
    let without_the_bit = [
        "tar cf t.tar a && mkdir out && tar xf t.tar -C out && test -x out/a/b/x",
        "cp -a a b && mkdir -m 1777 sticky",
    ];
    for mode in [0o775, 0o2775] {
        for (mechanism, place, sandboxed) in everywhere(Access::WorkspaceWrite) {
            fs::set_permissions(place.path("work"), fs::Permissions::from_mode(mode)).unwrap();
            if fs::metadata(place.path("work")).unwrap().permissions().mode() & 0o7777 != mode {
                println!("skipped: the file system does not keep the bit");
                continue;
            }
            let is_inherited = mode & 0o2000 != 0;
            for line in everywhere_works.iter().chain(&without_the_bit).take(if is_inherited { 5 } else { 7 }) {
                let line = format!("set -e; export HOME=$PWD; {line}");
                let finished = run(&sandboxed, &place.command(&line)).await;
                assert_eq!(finished.exit, Exit::Code(0), "{mechanism:?} {mode:o}: {line}: {}", text(&finished));
            }
            let mode = fs::metadata(place.path("work/a/b")).unwrap().permissions().mode();
            assert_eq!(mode & 0o2000 != 0, is_inherited, "{mechanism:?}: {mode:o}");
            // The filter cannot tell a directory from a program.
            let finished = run(&sandboxed, &place.command("LC_ALL=C chmod g+s a repo")).await;
            assert!(text(&finished).contains("Operation not permitted"), "{mechanism:?}: {finished:?}");
        }
    }
}

/// What reaches others where no namespace divides them, and what a process does to itself.
const OTHERS: &str = r"
import ctypes, os, sys, struct
libc = ctypes.CDLL(None, use_errno=True)
call, pid = libc.syscall, int(sys.argv[1])
two = (ctypes.c_uint64 * 2)(1000, 1000)
zero = (ctypes.c_uint32 * 12)(48)
mask = ctypes.c_ulong(1)
null = None
tries = {
  'prlimit': (302, pid, 7, two, null), 'setpriority': (141, 0, pid, 5), 'setpriority-user': (141, 2, 0, 5),
  'ioprio': (251, 1, pid, 2 << 13), 'affinity': (203, pid, 8, ctypes.byref(mask)), 'setscheduler': (144, pid, 3, ctypes.byref(ctypes.c_int(0))),
  'setparam': (142, pid, ctypes.byref(ctypes.c_int(0))), 'setattr': (314, pid, zero, 0),
  'shmget': (29, 0, 4096, 0o1600), 'msgget': (68, 0, 0o1600), 'semget': (64, 0, 1, 0o1600), 'mq_open': (240, b'agent-exec-test', 0o102, 0o600, null),
}
own = {
  'own limit': (302, 0, 7, two, null), 'own limits read': (302, os.getpid(), 7, null, two), 'own priority': (141, 0, 0, 5),
  'own io': (251, 1, 0, 2 << 13), 'own affinity': (203, 0, 8, ctypes.byref(mask)),
}
for name, arguments in tries.items():
    if call(*arguments) >= 0: print('reached by', name)
for name, arguments in own.items():
    if call(*arguments) < 0: print('not by itself:', name, os.strerror(ctypes.get_errno()))
libc.syscall(241, b'agent-exec-test')
for kind, path in (('m', 'shm'), ('q', 'msg'), ('s', 'sem')):
    for line in open('/proc/sysvipc/' + path).readlines()[1:]:
        fields = line.split()
        if fields[4 if path != 'msg' else 5] == str(os.getpid()): os.system('ipcrm -%s %s' % (kind, fields[1]))
print('done')
";

#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn other_processes_are_not_reached() {
    let mut victim = std::process::Command::new("sleep").arg("600").spawn().unwrap();
    let script = |place: &Place| {
        fs::write(place.path("work/others.py"), OTHERS).unwrap();
        place.command(&format!("python3 others.py {}", victim.id()))
    };
    let control = Place::new();
    let without = text(&run(&Processes::new(), &script(&control)).await);
    let mut found = Vec::new();
    for (mechanism, place, sandboxed) in everywhere(Access::WorkspaceWrite) {
        found.push((mechanism, text(&run(&sandboxed, &script(&place)).await)));
    }
    victim.kill().unwrap();
    victim.wait().unwrap();
    if !without.ends_with("done\n") {
        println!("skipped: there is no python3: {without}");
        return;
    }
    for name in ["prlimit", "setpriority", "ioprio", "affinity", "shmget"] {
        assert!(without.contains(&format!("reached by {name}\n")), "without a sandbox: {without}");
    }
    for (mechanism, found) in found {
        // Those of System V are its own there, and so is everything of its user's.
        let own =
            ["setpriority-user", "shmget", "msgget", "semget", "mq_open"].map(|name| format!("reached by {name}"));
        let is_own = |line: &&str| mechanism == Mechanism::Bubblewrap && own.iter().any(|own| own == *line);
        let reached: Vec<&str> = found.lines().filter(|line| !is_own(line)).collect();
        assert_eq!(reached, ["done"], "{mechanism:?}");
    }
}

/// A home with keys in it, a workspace, and what is hidden of it.
fn home_policy(place: &Place, access: Access) -> Policy {
    let home = place.path("home");
    for directory in [".ssh", ".config/gh", ".config/git", "work", "elsewhere/aws"] {
        fs::create_dir_all(home.join(directory)).unwrap();
    }
    for file in [".ssh/id", ".ssh/known_hosts", ".config/gh/hosts", ".netrc", "elsewhere/aws/credentials"] {
        fs::write(home.join(file), "secret\n").unwrap();
    }
    fs::write(home.join(".config/git/config"), "free\n").unwrap();
    symlink("elsewhere/aws", home.join(".aws")).unwrap();
    let hidden = [".ssh", ".config/gh", ".netrc", ".aws", ".later"].map(|name| home.join(name)).to_vec();
    let readable = vec![home.join(".ssh/known_hosts")];
    Policy {
        workspace: home.join("work"),
        protected: Vec::new(),
        kept: Vec::new(),
        hidden,
        readable,
        ..place.policy(access)
    }
}

fn sandboxes(policy: &Policy) -> Vec<(Mechanism, Processes)> {
    let with = |mechanism| Sandbox::with(mechanism, policy.clone(), helper(), &Environment::inherited());
    let both = [Mechanism::Bubblewrap, Mechanism::Landlock].into_iter();
    both.filter_map(|kind| Some((kind, Processes::new().in_sandbox(with(kind).ok()?)))).collect()
}

#[tokio::test]
async fn what_is_hidden_cannot_be_read_and_all_else_can() {
    for access in [Access::WorkspaceWrite, Access::ReadOnly] {
        let place = Place::new();
        let policy = home_policy(&place, access);
        let look = "cd ..; cat .ssh/id .config/gh/hosts .netrc .aws/credentials elsewhere/aws/credentials .later; \
                    flock -n .ssh/id echo locked; cat .ssh/known_hosts .config/git/config; ls > $TMPDIR/x && echo listed; true";
        for (mechanism, sandboxed) in sandboxes(&policy) {
            // What comes into being is hidden from the next command on.
            fs::write(place.path("home/.later"), "secret\n").unwrap();
            let found = text(&run(&sandboxed, &command_in(&policy.workspace, &place, look)).await);
            let seen: Vec<&str> =
                found.lines().filter(|line| ["secret", "free", "listed", "locked"].contains(line)).collect();
            assert_eq!(seen, ["secret", "free", "listed"], "{mechanism:?} {access:?}: {found}");
            fs::remove_file(place.path("home/.later")).unwrap();
        }
        let found = text(&run(&Processes::new(), &command_in(&policy.workspace, &place, look)).await);
        assert_eq!(found.matches("secret").count(), 6, "without a sandbox: {found}");
        assert!(found.contains("locked"), "without a sandbox: {found}");
    }
}

/// A home in `/tmp` is shown because it is named, and its keys are not.
#[tokio::test]
async fn what_is_hidden_in_a_home_that_is_named_stays_hidden() {
    let home = tempfile::tempdir_in("/tmp").unwrap();
    fs::create_dir(home.path().join(".ssh")).unwrap();
    fs::write(home.path().join(".ssh/id"), "secret\n").unwrap();
    fs::write(home.path().join("settings"), "free\n").unwrap();
    let variables = [("HOME".into(), home.path().into()), ("PATH".into(), std::env::var_os("PATH").unwrap())];
    let environment = Environment::filtered(variables);
    let place = Place::new();
    for access in [Access::WorkspaceWrite, Access::ReadOnly] {
        fs::write(place.path("work/own"), "secret\n").unwrap();
        let hidden = vec![home.path().join(".ssh"), place.path("work/own")];
        let policy = Policy { hidden, ..place.policy(access) };
        for mechanism in [Mechanism::Bubblewrap, Mechanism::Landlock] {
            let Ok(sandbox) = Sandbox::with(mechanism, policy.clone(), helper(), &environment) else { continue };
            let not_hidden = sandbox.not_hidden().len();
            let processes = Processes::with_environment(environment.clone()).in_sandbox(sandbox);
            let found = text(&run(&processes, &place.command("cat ~/settings ~/.ssh/id own; true")).await);
            assert_eq!(found.matches("free\n").count(), 1, "{mechanism:?} {access:?}: {found}");
            // Landlock alone takes nothing out of what may be written, and says so.
            assert_eq!(found.matches("secret\n").count(), not_hidden, "{mechanism:?} {access:?}: {found}");
            let is_open = mechanism == Mechanism::Landlock && access == Access::WorkspaceWrite;
            assert_eq!(not_hidden, usize::from(is_open), "{mechanism:?} {access:?}");
        }
    }
}

/// A workspace in a hidden directory is seen, and nothing else there.
#[tokio::test]
async fn a_workspace_within_something_hidden_is_seen_alone() {
    for access in [Access::WorkspaceWrite, Access::ReadOnly] {
        let place = Place::new();
        let policy = Policy { hidden: vec![place.path("home")], ..home_policy(&place, access) };
        fs::write(policy.workspace.join("own"), "own\n").unwrap();
        for (mechanism, sandboxed) in sandboxes(&policy) {
            let look = "cat own; cat ../.netrc ../.config/git/config; echo x > made; echo x > ../made; true";
            let found = text(&run(&sandboxed, &command_in(&policy.workspace, &place, look)).await);
            assert!(found.starts_with("own\n"), "{mechanism:?} {access:?}: {found}");
            assert!(!found.contains("secret\n") && !found.contains("free\n"), "{mechanism:?} {access:?}: {found}");
            let made = policy.workspace.join("made");
            assert_eq!(made.exists(), access == Access::WorkspaceWrite, "{mechanism:?}");
            assert!(!place.path("home/made").exists(), "{mechanism:?}");
            let _ = fs::remove_file(made);
        }
    }
}

/// A home directory as the workspace: what is hidden in it stays so, whatever a command moves.
#[tokio::test]
async fn what_is_hidden_in_the_workspace_cannot_be_moved_to_be_read() {
    let place = Place::new();
    let home = home_policy(&place, Access::WorkspaceWrite);
    let policy = Policy { workspace: place.path("home"), readable: Vec::new(), ..home };
    let moves = "mv .config c; mv .ssh s; mv .netrc n; ln .netrc l; rm .aws; mv elsewhere e; rm -rf .ssh; echo x > .config/new; true";
    let look = "cat c/gh/hosts s/id n l e/aws/credentials elsewhere/aws/credentials .config/gh/hosts .ssh/id .netrc; cat .config/new";
    for (mechanism, sandboxed) in sandboxes(&policy) {
        let not_hidden = sandboxed.sandbox().unwrap().not_hidden();
        if mechanism != Mechanism::Bubblewrap {
            let said = sandboxed.sandbox().unwrap().to_string();
            assert!(
                not_hidden.contains(&place.path("home/.ssh")) && said.contains("hidden files in the workspace"),
                "{said}"
            );
            continue;
        }
        assert_eq!(not_hidden, [""; 0].map(std::path::PathBuf::from));
        run(&sandboxed, &command_in(&policy.workspace, &place, moves)).await;
        let found = text(&run(&sandboxed, &command_in(&policy.workspace, &place, look)).await);
        assert!(!found.contains("secret\n") && found.ends_with("x\n"), "{found}");
        assert_eq!(fs::read_to_string(place.path("home/.ssh/id")).unwrap(), "secret\n", "and is not lost");
        let control = Place::new();
        home_policy(&control, Access::WorkspaceWrite);
        run(&Processes::new(), &command_in(&control.path("home"), &control, moves)).await;
        let found = text(&run(&Processes::new(), &command_in(&control.path("home"), &control, look)).await);
        assert!(found.contains("secret\n"), "without a sandbox: {found}");
    }
}

fn command_in(directory: &Path, place: &Place, text: &str) -> agent_types::ports::Command {
    agent_types::ports::Command { directory: directory.display().to_string(), ..place.command(text) }
}

/// A compiler finds itself, its settings and its cache in a home whose keys are hidden.
#[tokio::test]
async fn a_build_works_with_a_home_as_usual() {
    let Some(home) = std::env::home_dir() else { return };
    let build = "cargo new -q c --vcs none && cd c && cargo build -q --offline && ./target/debug/c";
    let control = Place::new();
    let without = run(&Processes::new(), &control.command(build)).await;
    if without.exit != Exit::Code(0) {
        println!("skipped: there is no cargo: {}", text(&without));
        return;
    }
    let hidden =
        [".ssh", ".npmrc", ".bash_history", ".cargo/credentials.toml", ".config/gh"].map(|name| home.join(name));
    for mechanism in [Mechanism::Bubblewrap, Mechanism::Landlock] {
        let place = Place::new();
        // Something is hidden in any case, beside what the build reads.
        let beside = place.path("outside/file");
        let policy =
            Policy { hidden: [hidden.to_vec(), vec![beside]].concat(), ..place.policy(Access::WorkspaceWrite) };
        let Ok(sandbox) = Sandbox::with(mechanism, policy, helper(), &Environment::inherited()) else { continue };
        let finished = run(&Processes::new().in_sandbox(sandbox), &place.command(build)).await;
        assert!(text(&finished).ends_with("Hello, world!\n"), "{mechanism:?}: {}", text(&finished));
    }
}
