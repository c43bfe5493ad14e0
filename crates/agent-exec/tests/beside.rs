//! Where there is a helper, what a command leaves is known also when other commands run beside it and nothing tells whose it is. In a test
//! program of its own, because runs of other tests would find it, too. One command at a time has no keeper: here that is always another
//! one.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests need the rest")]
mod support;

use crate::support::{ESCAPES, Switch, escape_command, helper, odd_sleep, shell, sleepers, text, wait_for_sleepers};
use agent_exec::{Finished, Processes, StartError, Streams};
use agent_types::ports::{Command, Exit};
use std::time::{Duration, Instant};

/// What nothing is known by: neither parents nor session nor environment are left, or the environment says that it is another's.
const STRAYS: &[(&str, &str)] = &[
    ("stray", "(env -i setsid sh -c '(S &); S' >/dev/null 2>&1 &) ; "),
    ("stray of nobody", "(AGENT_EXEC_RUN=made-up setsid sh -c '(S &); S' >/dev/null 2>&1 &) ; "),
    ("stray in the session", "(env -i sh -c 'set -m; (S &); S' >/dev/null 2>&1 &) ; "),
];

async fn run(processes: &Processes, command: &Command) -> Result<Finished, StartError> {
    processes.run_streaming(command, Streams::Merged, &Switch::new(), &|_| {}).await
}

/// With the watch of this process running: until then every command has a keeper, because only that would end it after a `kill -9`.
async fn watched() -> Processes {
    let processes = Processes::new().watched_by(helper());
    let parent = shell("tr '\\0' ' ' < /proc/$PPID/cmdline");
    while text(&run(&processes, &parent).await.unwrap()).starts_with("agent-keeper") {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    processes
}

/// Does something while another command runs, which is not disturbed by it.
async fn beside<T>(processes: &Processes, work: impl Future<Output = T>) -> T {
    let sleep = odd_sleep();
    let switch = Switch::new();
    let other = shell(&format!("sleep {sleep}"));
    let other = processes.run_streaming(&other, Streams::Merged, &switch, &|_| {});
    let work = async {
        wait_for_sleepers(&sleep, 1).await;
        let done = work.await;
        assert_eq!(sleepers(&sleep), 1, "the other command goes on");
        switch.fire();
        done
    };
    let (other, done) = tokio::join!(other, work);
    assert_eq!(other.unwrap().exit, Exit::Cancelled);
    done
}

async fn all_ways(processes: &Processes, name: &str, escape: &str) {
    let sleep = odd_sleep();
    let mut command = escape_command(escape, &sleep, "exec sleep 1000");
    command.timeout_ms = 3_000;
    let (finished, ()) = tokio::join!(run(processes, &command), wait_for_sleepers(&sleep, 2));
    let finished = finished.unwrap();
    assert_eq!((finished.exit, finished.survivors), (Exit::TimedOut, 0), "{name}");
    assert_eq!(sleepers(&sleep), 0, "{name}: {finished:?}");
    assert!(finished.left_behind >= 2, "{name}: {finished:?}");

    let sleep = odd_sleep();
    let ready = format!("until [ $(pgrep -cfx 'sleep {sleep}') = 2 ]; do :; done; exit 3");
    let finished = run(processes, &escape_command(escape, &sleep, &ready)).await.unwrap();
    assert_eq!(finished.exit, Exit::Code(3), "{name}");
    assert_eq!(sleepers(&sleep), 0, "{name}: {finished:?}");
    assert!(finished.left_behind >= 2, "{name}: {finished:?}");

    let sleep = odd_sleep();
    let command = escape_command(escape, &sleep, "exec sleep 1000");
    tokio::select! {
        _ = run(processes, &command) => panic!("{name}: it must not end"),
        () = wait_for_sleepers(&sleep, 2) => {}
    }
    assert_eq!(sleepers(&sleep), 0, "{name}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_although_another_command_runs() {
    let processes = watched().await;
    for (name, escape) in STRAYS.iter().chain(ESCAPES) {
        beside(&processes, all_ways(&processes, name, escape)).await;
    }
    // Without a helper it cannot be told.
    let (_, escape) = STRAYS[0];
    let sleep = odd_sleep();
    let ready = format!("until [ $(pgrep -cfx 'sleep {sleep}') = 2 ]; do :; done; exit 3");
    let command = escape_command(escape, &sleep, &ready);
    let without = Processes::new();
    beside(&without, async {
        run(&without, &command).await.unwrap();
        assert_ne!(sleepers(&sleep), 0, "the check can fail");
    })
    .await;
}

/// Whoever ends the one that adopts orphans is found as without it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn to_kill_or_stop_the_keeper_is_no_way_out() {
    let processes = watched().await;
    for deed in ["kill -KILL $PPID; sleep 0.1; ", "kill -STOP $PPID; sleep 0.1; "] {
        let sleep = odd_sleep();
        let mut command = escape_command(&format!("{deed} (setsid S &) ; S & "), &sleep, "exec sleep 1000");
        command.timeout_ms = 3_000;
        let finished = beside(&processes, run(&processes, &command)).await.unwrap();
        assert!(matches!(finished.exit, Exit::Signal(9) | Exit::TimedOut), "{deed}: {finished:?}");
        assert_eq!(sleepers(&sleep), 0, "{deed}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_are_what_they_are_without_a_keeper() {
    let processes = watched().await;
    beside(&processes, as_without_a_keeper(&processes)).await;
    let nowhere = agent_exec::Helper::program("/no/such/helper".into(), Vec::new());
    let without = Processes::new().watched_by(nowhere);
    let finished = beside(&without, run(&without, &shell("exit 5"))).await;
    assert_eq!(finished.unwrap().exit, Exit::Code(5), "a helper that is not there");
}

async fn as_without_a_keeper(processes: &Processes) {
    for (line, exit, said) in [
        ("cat; exit 7", Exit::Code(7), "some input"),
        ("tr '\\0' ' ' < /proc/$PPID/cmdline | cut -c 1-12", Exit::Code(0), "agent-keeper\n"),
        ("kill -SEGV $$", Exit::Signal(11), ""),
        ("kill -PIPE $$", Exit::Signal(13), ""),
        ("kill -KILL $$", Exit::Signal(9), ""),
        ("echo $AGENT_EXEC_RUN | grep -c /; echo /proc/self/fd/*", Exit::Code(0), "1\n/proc/self/fd/0"),
    ] {
        let stdin = if line.starts_with("cat") { said.into() } else { Vec::new() };
        let finished = run(processes, &Command { stdin, ..shell(line) }).await.unwrap();
        assert_eq!(finished.exit, exit, "{line}: {finished:?}");
        assert!(text(&finished).starts_with(said), "{line}: {finished:?}");
        assert_eq!((finished.left_behind, finished.survivors), (0, 0), "{line}");
    }
    let much = Command { stdin: vec![b'x'; 1_000_000], ..shell("head -c 10 > /dev/null; exit 4") };
    assert_eq!(run(processes, &much).await.unwrap().exit, Exit::Code(4), "input that nobody reads");
    let script = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(script.path(), "#!/no/such/interpreter\n").unwrap();
    std::fs::set_permissions(script.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = script.into_temp_path();
    let wrong = Command { program: path.display().to_string(), arguments: Vec::new(), ..shell("") };
    assert!(matches!(run(processes, &wrong).await, Err(StartError::WrongFormat { .. })));
    let gone = Command { directory: "/no/such/directory".into(), ..shell("true") };
    assert!(matches!(run(processes, &gone).await, Err(StartError::NoDirectory { .. })));
    // The quickest of some: the machine may be busy with other tests.
    let mut quickest = Duration::MAX;
    for _ in 0..10 {
        let begun = Instant::now();
        run(processes, &shell("true")).await.unwrap();
        quickest = quickest.min(begun.elapsed());
    }
    assert!(quickest < Duration::from_millis(500), "{quickest:?}");
}
