//! Hostile and unlucky commands, each without a sandbox and in every sandbox that works here. Those that a careless runner does not cope
//! with are given to [`naive`], too, and must not hold there: a check that could not fail would prove nothing.

use crate::apart::{self, FIRST_OF_OURS};
use crate::naive;
use crate::sandbox::{Place, everywhere};
use crate::support::{Switch, helper, odd_sleep, sleepers, wait_for_sleepers};
use agent_exec::{Access, Finished, Processes, StartError, Streams};
use agent_types::ports::Exit;
use rustix::process::{Resource, getrlimit};
use std::time::{Duration, Instant};

struct Case {
    name: &'static str,
    command: String,
    /// Milliseconds; what needs the time-out gets a short one.
    timeout_ms: u64,
    check: fn(&Finished) -> bool,
    /// It says nothing where there is no terminal, no high limit and nothing to inherit, or ends the runner that it shows to be careless.
    needs: Needs,
}

/// Where a case is run so that it can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Needs {
    Nothing,
    /// A process of its own.
    Apart,
}

fn output(finished: &Finished) -> String {
    String::from_utf8_lossy(&finished.stdout.clone().into_bytes()).into_owned()
}

fn case(name: &'static str, command: &str, timeout_ms: u64, check: fn(&Finished) -> bool) -> Case {
    Case { name, command: command.to_owned(), timeout_ms, check, needs: Needs::Nothing }
}

fn apart(name: &'static str, command: &str, check: fn(&Finished) -> bool) -> Case {
    Case { needs: Needs::Apart, ..case(name, command, 20_000, check) }
}

/// All of them, but those that could not fail on this machine.
fn cases() -> Vec<Case> {
    let most = |resource| getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let mut cases = all_cases();
    cases.retain(|case| match case.name {
        "dumps no core" => most(Resource::Core) > 0,
        "has a limit of processes" => most(Resource::Nproc) > 20_000,
        _ => true,
    });
    cases
}

fn all_cases() -> Vec<Case> {
    vec![
        case("invalid UTF-8", r"printf '\377\376x'", 20_000, |f| f.stdout.head == b"\xff\xfex"),
        case("no end of line", "printf x; sleep 0.1; printf y", 20_000, |f| f.stdout.head == b"xy"),
        case("endless text", "echo first; exec yes", 1_500, |f| {
            f.exit == Exit::TimedOut && f.stdout.head.starts_with(b"first\n") && f.stdout.dropped_bytes > 100_000
        }),
        case("endless zeros", "exec cat /dev/zero", 1_500, |f| {
            f.exit == Exit::TimedOut && f.stdout.dropped_bytes > 100_000
        }),
        case("many small pieces", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo; done", 20_000, |f| {
            f.exit == Exit::Code(0) && f.stdout.dropped_bytes == 10_000
        }),
        case("reads input", "cat; read -r line || echo none", 20_000, |f| output(f) == "none\n"),
        apart("asks at the terminal", "(cat < /dev/tty) 2>/dev/null || echo none", |f| output(f) == "none\n"),
        apart("changes the terminal", "(stty raw < /dev/tty) 2>/dev/null || echo none", |f| output(f) == "none\n"),
        case("ends with errors only", "echo wrong >&2", 20_000, |f| f.exit == Exit::Code(0) && output(f) == "wrong\n"),
        case("keeps the pipe", "sleep 2.5 & echo on", 20_000, |f| f.exit == Exit::Code(0) && output(f) == "on\n"),
        case("says nothing", "true", 20_000, |f| f.exit == Exit::Code(0) && output(f).is_empty()),
        case("ends by a signal", "kill -SEGV $$", 20_000, |f| matches!(f.exit, Exit::Signal(11) | Exit::Code(139))),
        apart("kills its group", "trap '' TERM; kill -TERM 0; echo alive", |f| output(f).contains("alive")),
        case("deletes where it is", "mkdir d && cd d && rmdir ../d && echo gone", 20_000, |f| {
            f.exit == Exit::Code(0) && output(f) == "gone\n"
        }),
        // Whoever wrote the command has to learn what went wrong.
        case("out of memory", "ulimit -v 200000; LC_ALL=C exec tail /dev/zero", 20_000, |f| {
            f.exit != Exit::Code(0) && output(f).contains("memory")
        }),
        case("is preferred by the out-of-memory killer", "sleep 0.1; cat /proc/self/oom_score_adj", 20_000, |f| {
            let own = std::fs::read_to_string("/proc/self/oom_score_adj").unwrap();
            let number = |text: &str| text.trim().parse::<i32>().unwrap();
            number(&output(f)) > number(&own) || number(&own) == 1_000
        }),
        apart("dumps no core", "sleep 0.1; bash -c 'ulimit -c'", |f| output(f) == "0\n"),
        apart("has a limit of processes", "sleep 0.1; bash -c 'ulimit -u'", |f| {
            let own = getrlimit(Resource::Nproc).current.unwrap_or(u64::MAX);
            output(f).trim().parse::<u64>().is_ok_and(|limit| limit < own)
        }),
        case("ignores what asks it to end", "trap '' TERM INT HUP; while :; do sleep 0.05; done", 1_500, |f| {
            f.exit == Exit::TimedOut && f.survivors == 0
        }),
        case("stops itself", "kill -STOP $$; echo on", 1_500, |f| f.exit == Exit::TimedOut && f.survivors == 0),
        case("zombies", "for i in $(seq 100); do (true &); done; sleep 0.1; echo $$", 20_000, |f| {
            output(f).trim().parse().is_ok_and(|group: i32| zombies(group) == 0)
        }),
        apart("no descriptor of ours", "echo /proc/self/fd/*", |f| {
            output(f).contains("/fd/1") && !has_descriptor_of_ours(&output(f))
        }),
    ]
}

/// Processes of a group that have ended and whose status nobody took.
fn zombies(group: i32) -> usize {
    let stats = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = stats.filter_map(|entry| std::fs::read_to_string(entry.path().join("stat")).ok());
    let is_one = |stat: &String| {
        let fields: Vec<_> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        fields.first() == Some(&"Z") && fields.get(2) == Some(&&*group.to_string())
    };
    stats.filter(is_one).count()
}

fn has_descriptor_of_ours(list: &str) -> bool {
    let is_ours = |fd: &str| fd.parse().is_ok_and(|fd: i32| (FIRST_OF_OURS..FIRST_OF_OURS + 100).contains(&fd));
    list.split_whitespace().any(|path| path.rsplit('/').next().is_some_and(is_ours))
}

fn everywhere_and_without() -> Vec<(String, Place, Processes)> {
    let kept = Processes::new().watched_by(helper());
    let mut all =
        vec![("no sandbox".to_owned(), Place::new(), Processes::new()), (WITH_HELPER.to_owned(), Place::new(), kept)];
    for (mechanism, place, processes) in everywhere(Access::WorkspaceWrite) {
        all.push((mechanism.name().to_owned(), place, processes));
    }
    all
}

/// Another command, which runs until this is dropped: only beside one a command has a keeper.
async fn another(processes: &Processes) -> AbortOnDrop {
    let (sleep, processes) = (odd_sleep(), processes.clone());
    let command = crate::support::shell(&format!("sleep {sleep}"));
    let command = agent_types::ports::Command { timeout_ms: 600_000, ..command };
    let task = tokio::spawn(async move {
        let _ = processes.run_streaming(&command, Streams::Merged, &Switch::new(), &|_| {}).await;
    });
    wait_for_sleepers(&sleep, 1).await;
    AbortOnDrop(task)
}

struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn hold(all: &[(String, Place, Processes)], needs: Needs) {
    for (kind, place, processes) in all {
        let _other = match &**kind {
            WITH_HELPER => Some(another(processes).await),
            _ => None,
        };
        for case in cases().iter().filter(|case| case.needs == needs) {
            let mut command = place.command(&case.command);
            command.timeout_ms = case.timeout_ms;
            let begun = Instant::now();
            let finished = processes.run_streaming(&command, Streams::Merged, &Switch::new(), &|_| {}).await.unwrap();
            assert!((case.check)(&finished), "{kind}: {}: {finished:?}", case.name);
            assert!(begun.elapsed() < Duration::from_secs(60), "{kind}: {}", case.name);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_is_handled_and_leaves_nothing() {
    hold(&everywhere_and_without(), Needs::Nothing).await;
}

/// What is to be handled at a terminal, and with something to lose.
#[test]
fn each_is_handled_at_a_terminal_too() {
    let Some(apart) = apart::run("hostile::apart_from_the_others", OURS) else { return };
    assert!(apart.succeeded && apart.printed.contains(HOLDS), "{}", apart.printed);
    assert!(apart.kept_terminal, "its modes have changed");
}

#[test]
fn a_careless_runner_copes_with_none_of_them() {
    // Whoever has orphans come to them has their zombies, too.
    let _ = Processes::new();
    for case in cases() {
        let (holds, seen) = match case.needs {
            Needs::Nothing => carelessly(&case, naive::Group::Own),
            Needs::Apart => {
                let Some(apart) = apart::run("hostile::apart_from_the_others", case.name) else { continue };
                assert!(apart.kept_terminal == (case.name != "changes the terminal"), "{}", case.name);
                // One of them ends it before it can say anything.
                assert!(apart.printed.contains(HOLDS_NOT) || case.name == "kills its group", "{}", apart.printed);
                (apart.printed.contains(HOLDS), apart.printed)
            }
        };
        assert!(!holds, "{} proves nothing: {seen}", case.name);
    }
}

/// Only something in a process of its own, which another test starts: ours, or one case of the careless runner.
#[tokio::test]
async fn apart_from_the_others() {
    let Some(duty) = apart::duty() else { return };
    assert!(std::fs::File::open("/dev/tty").is_ok(), "there is no terminal");
    let inherited = apart::surroundings();
    if duty == OURS {
        let all = everywhere_and_without();
        let (without, sandboxed) = all.split_at(2);
        hold(sandboxed, Needs::Apart).await;
        // Without a sandbox what is inherited is up to the host.
        rustix::io::fcntl_setfd(&inherited, rustix::io::FdFlags::CLOEXEC).unwrap();
        hold(without, Needs::Apart).await;
        println!("{HOLDS}");
        return;
    }
    let case = cases().into_iter().find(|case| case.name == duty).unwrap();
    let (holds, seen) = carelessly(&case, naive::Group::OfTheRunner);
    println!("{}: {seen}", if holds { HOLDS } else { HOLDS_NOT });
}

fn carelessly(case: &Case, group: naive::Group) -> (bool, String) {
    let place = Place::new();
    let mut command = place.command(&case.command);
    command.timeout_ms = case.timeout_ms;
    let finished = naive::run(&command, group);
    let holds = finished.as_ref().is_some_and(|finished| (case.check)(finished));
    (holds, format!("{finished:?}"))
}

const OURS: &str = "ours";
const WITH_HELPER: &str = "no sandbox, with a helper";
const HOLDS: &str = "it holds";
const HOLDS_NOT: &str = "it does not";

/// A bomb that stops at 256 processes: the machine is others', too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bomb_is_ended_by_the_time_out() {
    let mut all = vec![(Place::new(), Processes::new()), (Place::new(), Processes::new().watched_by(helper()))];
    all.extend(everywhere(Access::WorkspaceWrite).into_iter().map(|(_, place, processes)| (place, processes)));
    for (place, processes) in &all {
        let sleep = odd_sleep();
        let bomb = format!(
            "cat > bomb <<'END'\nif [ $1 -gt 0 ]; then setsid sh bomb $(($1-1)) & setsid sh bomb $(($1-1)) & wait\nelse exec sleep {sleep}\nfi\nEND\nsh bomb 7"
        );
        let mut command = place.command(&bomb);
        command.timeout_ms = 8_000;
        let switch = Switch::new();
        let running = processes.run_streaming(&command, Streams::Merged, &switch, &|_| {});
        let cancel = async {
            wait_for_sleepers(&sleep, 128).await;
            switch.fire();
        };
        let (finished, ()) = tokio::join!(running, cancel);
        assert_eq!(finished.unwrap().exit, Exit::Cancelled);
        assert_eq!(sleepers(&sleep), 0);
    }
}

#[tokio::test]
async fn a_start_that_fails_is_one_clear_error() {
    let mut all = vec![Processes::new(), Processes::new().watched_by(helper())];
    all.extend(everywhere(Access::WorkspaceWrite).into_iter().map(|(_, _, processes)| processes));
    for processes in &all {
        let place = Place::new();
        let error = |command: agent_types::ports::Command| async move {
            processes.run_streaming(&command, Streams::Merged, &Switch::new(), &|_| {}).await.unwrap_err()
        };
        let gone = agent_types::ports::Command { directory: "/nowhere/at/all".into(), ..place.command("true") };
        assert!(matches!(error(gone).await, StartError::NoDirectory { .. }));
        let absent = agent_types::ports::Command { program: "surely-not-there".into(), ..place.command("true") };
        assert!(matches!(error(absent).await, StartError::NotFound));
        assert!(matches!(error(place.command("a\0b")).await, StartError::NulByte));
        assert!(matches!(error(place.command(&"x".repeat(3_000_000))).await, StartError::TooLong));
    }
}
