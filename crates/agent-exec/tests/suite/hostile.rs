//! Hostile and unlucky commands, each without a sandbox and in every sandbox that works here. Those that a careless runner does not cope with
//! are given to [`naive`], too, and must not hold there: a check that could not fail would prove nothing.

use crate::naive;
use crate::sandbox::{Place, everywhere};
use crate::support::{Switch, odd_sleep, sleepers, wait_for_sleepers};
use agent_core::ports::Exit;
use agent_exec::{Access, Finished, Processes, StartError, Streams};
use std::time::{Duration, Instant};

struct Case {
    name: &'static str,
    command: String,
    /// Milliseconds; what needs the time-out gets a short one.
    timeout_ms: u64,
    check: fn(&Finished) -> bool,
}

/// What a careless runner copes with as well, or what it needs more for than this test has: a terminal, a group of its own not to be killed
/// with, limits that others have set.
const WITHOUT_CONTROL: [&str; 10] = [
    "asks at the terminal",
    "changes the terminal",
    "says nothing",
    "kills its group",
    "deletes where it is",
    "out of memory",
    "dumps no core",
    "has a limit of processes",
    "zombies",
    // Its control stands in the test.
    "no descriptor of ours",
];

fn output(finished: &Finished) -> String {
    String::from_utf8_lossy(&finished.stdout.clone().into_bytes()).into_owned()
}

fn case(name: &'static str, command: &str, timeout_ms: u64, check: fn(&Finished) -> bool) -> Case {
    Case { name, command: command.to_owned(), timeout_ms, check }
}

fn cases() -> Vec<Case> {
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
        case("asks at the terminal", "(cat < /dev/tty) 2>/dev/null || echo none", 20_000, |f| output(f) == "none\n"),
        case("changes the terminal", "(stty raw < /dev/tty) 2>/dev/null || echo none", 20_000, |f| {
            output(f) == "none\n"
        }),
        case("ends with errors only", "echo wrong >&2", 20_000, |f| f.exit == Exit::Code(0) && output(f) == "wrong\n"),
        case("keeps the pipe", "sleep 2.5 & echo on", 20_000, |f| f.exit == Exit::Code(0) && output(f) == "on\n"),
        case("says nothing", "true", 20_000, |f| f.exit == Exit::Code(0) && output(f).is_empty()),
        case("ends by a signal", "kill -SEGV $$", 20_000, |f| matches!(f.exit, Exit::Signal(11) | Exit::Code(139))),
        case("kills its group", "trap '' TERM; kill -TERM 0; echo alive", 20_000, |f| output(f).contains("alive")),
        case("deletes where it is", "mkdir d && cd d && rmdir ../d && echo gone", 20_000, |f| output(f) == "gone\n"),
        case("out of memory", "ulimit -v 200000; tail /dev/zero; echo $?", 20_000, |f| !output(f).ends_with("\n0\n")),
        case("is preferred by the out-of-memory killer", "sleep 0.1; cat /proc/self/oom_score_adj", 20_000, |f| {
            let own = std::fs::read_to_string("/proc/self/oom_score_adj").unwrap();
            let number = |text: &str| text.trim().parse::<i32>().unwrap();
            number(&output(f)) > number(&own) || number(&own) == 1_000
        }),
        case("dumps no core", "sleep 0.1; bash -c 'ulimit -c'", 20_000, |f| output(f) == "0\n"),
        case("has a limit of processes", "sleep 0.1; bash -c 'ulimit -u'", 20_000, |f| {
            output(f).trim().parse::<u64>().is_ok()
        }),
        case("ignores what asks it to end", "trap '' TERM INT HUP; while :; do sleep 0.05; done", 1_500, |f| {
            f.exit == Exit::TimedOut && f.survivors == 0
        }),
        case("stops itself", "kill -STOP $$; echo on", 1_500, |f| f.exit == Exit::TimedOut && f.survivors == 0),
        case("zombies", "for i in $(seq 100); do (true &); done; echo done", 20_000, |f| output(f) == "done\n"),
        case("no descriptor of ours", "echo /proc/self/fd/*", 20_000, |f| !has_descriptor_of_ours(&output(f))),
    ]
}

fn has_descriptor_of_ours(list: &str) -> bool {
    list.split_whitespace().any(|path| path.rsplit('/').next().is_some_and(|fd| matches!(fd.parse(), Ok(600..=699))))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_is_handled_and_leaves_nothing() {
    // Something to be inherited by mistake.
    let open = std::fs::File::open("/dev/null").unwrap();
    let kept = rustix::io::fcntl_dupfd_cloexec(&open, 600).unwrap();
    let mut all = vec![("no sandbox".to_owned(), Place::new(), Processes::new())];
    for (mechanism, place, processes) in everywhere(Access::WorkspaceWrite) {
        all.push((mechanism.name().to_owned(), place, processes));
    }
    for (kind, place, processes) in &all {
        for case in cases() {
            let mut command = place.command(&case.command);
            command.timeout_ms = case.timeout_ms;
            let begun = Instant::now();
            let finished = processes.run_streaming(&command, Streams::Merged, &Switch::new(), &|_| {}).await.unwrap();
            assert!((case.check)(&finished), "{kind}: {}: {finished:?}", case.name);
            assert!(begun.elapsed() < Duration::from_secs(10), "{kind}: {}", case.name);
        }
        // From here on it would be inherited; without a sandbox that is up to the host.
        rustix::io::fcntl_setfd(&kept, rustix::io::FdFlags::empty()).unwrap();
    }
    let control = std::process::Command::new("sh").args(["-c", "echo /proc/self/fd/*"]).output().unwrap();
    assert!(has_descriptor_of_ours(&String::from_utf8_lossy(&control.stdout)), "it is inherited otherwise");
}

#[test]
fn a_careless_runner_copes_with_none_of_them() {
    let place = Place::new();
    let known = cases();
    assert!(WITHOUT_CONTROL.iter().all(|name| known.iter().any(|case| case.name == *name)));
    for case in known.iter().filter(|case| !WITHOUT_CONTROL.contains(&case.name)) {
        let mut command = place.command(&case.command);
        command.timeout_ms = case.timeout_ms;
        let finished = naive::run(&command);
        let holds = finished.as_ref().is_some_and(|finished| (case.check)(finished));
        assert!(!holds, "{} proves nothing: {finished:?}", case.name);
    }
}

/// A bomb that stops at 256 processes: the machine is others', too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bomb_is_ended_by_the_time_out() {
    let mut all = vec![(Place::new(), Processes::new())];
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
    let mut all = vec![Processes::new()];
    all.extend(everywhere(Access::WorkspaceWrite).into_iter().map(|(_, _, processes)| processes));
    for processes in &all {
        let place = Place::new();
        let error = |command: agent_core::ports::Command| async move {
            processes.run_streaming(&command, Streams::Merged, &Switch::new(), &|_| {}).await.unwrap_err()
        };
        let gone = agent_core::ports::Command { directory: "/nowhere/at/all".into(), ..place.command("true") };
        assert!(matches!(error(gone).await, StartError::NoDirectory { .. }));
        let absent = agent_core::ports::Command { program: "surely-not-there".into(), ..place.command("true") };
        assert!(matches!(error(absent).await, StartError::NotFound));
        assert!(matches!(error(place.command("a\0b")).await, StartError::NulByte));
        assert!(matches!(error(place.command(&"x".repeat(3_000_000))).await, StartError::TooLong));
    }
}
