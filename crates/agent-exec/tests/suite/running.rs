//! Starting, feeding, reading and judging one program.

use crate::support::{Switch, run, shell, text};
use agent_exec::{Finished, Processes, StartError, Streams};
use agent_types::ports::{Command, CommandRunner as _, Exit};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

#[tokio::test]
async fn exits_are_told_apart() {
    let cases = [
        ("true", Exit::Code(0)),
        ("exit 42", Exit::Code(42)),
        ("kill -KILL $$", Exit::Signal(9)),
        ("kill -SEGV $$", Exit::Signal(11)),
    ];
    for (command, exit) in cases {
        assert_eq!(run(&shell(command)).await.unwrap().exit, exit, "{command}");
    }
}

#[tokio::test]
async fn input_is_given_and_closed() {
    assert_eq!(run(&shell("cat; echo end")).await.unwrap().stdout.head, b"end\n");
    let mut command = shell("wc -c");
    command.stdin = vec![b'x'; 1_000_000];
    assert_eq!(text(&run(&command).await.unwrap()).trim(), "1000000");
    command.arguments = vec!["-c".into(), "exec <&-; sleep 0.05; echo deaf".into()];
    assert_eq!(text(&run(&command).await.unwrap()), "deaf\n");
}

#[tokio::test]
async fn outputs_are_separate_or_in_order() {
    let command = shell("echo 1; echo 2 >&2; echo 3; echo 4 >&2");
    let merged = run(&command).await.unwrap();
    assert_eq!(text(&merged), "1\n2\n3\n4\n");
    let separate = Processes::new().run(&command, &Switch::new()).await.unwrap();
    assert_eq!(separate.stdout, b"1\n3\n");
    assert_eq!(separate.stderr, b"2\n4\n");
    assert_eq!(separate.dropped_bytes, 0);
}

#[tokio::test]
async fn output_is_reported_as_it_comes() {
    let seen = Mutex::new(Vec::new());
    let begun = Instant::now();
    let report = |chunk: &[u8]| seen.lock().unwrap().push((begun.elapsed(), chunk.to_vec()));
    Processes::new()
        .run_streaming(&shell("echo a; sleep 0.3; echo b"), Streams::Merged, &Switch::new(), &report)
        .await
        .unwrap();
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.len(), 2);
    assert!(seen[1].0 - seen[0].0 > Duration::from_millis(200));
}

#[tokio::test]
async fn endless_output_is_bounded() {
    for endless in ["yes", "cat /dev/zero"] {
        let mut command = shell(&format!("echo first; exec {endless}"));
        command.timeout_ms = 300;
        // Other tests of this process take memory, too, but not each time.
        let mut is_bounded = false;
        for _ in 0..5 {
            let before = resident_bytes();
            let finished = run(&command).await.unwrap();
            assert_eq!(finished.exit, Exit::TimedOut);
            assert!(finished.stdout.head.starts_with(b"first\n"));
            assert_eq!(finished.stdout.head.len() + finished.stdout.tail.len(), 10_000);
            assert!(finished.stdout.dropped_bytes > 1_000_000, "{endless}");
            is_bounded = resident_bytes() < before + 20_000_000;
            if is_bounded {
                break;
            }
        }
        assert!(is_bounded, "{endless}");
    }
    let finished = run(&shell("seq 100000")).await.unwrap();
    assert!(finished.stdout.head.starts_with(b"1\n2\n"));
    assert!(finished.stdout.tail.ends_with(b"99999\n100000\n"));
}

#[tokio::test]
async fn a_survivor_that_keeps_the_pipe_does_not_keep_the_caller() {
    let begun = Instant::now();
    let finished = run(&shell("sleep 1000 & echo done")).await.unwrap();
    assert_eq!(finished.exit, Exit::Code(0));
    assert_eq!(text(&finished), "done\n");
    assert_eq!(finished.left_behind, 1);
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[tokio::test]
async fn a_cancelled_command_is_not_started() {
    let switch = Switch::new();
    switch.fire();
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("made");
    let command = shell(&format!("touch {}", file.display()));
    let output = Processes::new().run(&command, &switch).await.unwrap();
    assert_eq!(output.exit, Exit::Cancelled);
    assert!(!file.exists());
    run(&command).await.unwrap();
    assert!(file.exists());
}

#[tokio::test]
async fn the_environment_is_clean() {
    let mut command = shell("env; tty; cat /dev/tty");
    command.environment = vec![("EXTRA".into(), "given".into())];
    let output = text(&run(&command).await.unwrap());
    let names: Vec<&str> = output.lines().filter_map(|line| line.split_once('=').map(|(name, _)| name)).collect();
    assert!(output.contains("\nEXTRA=given\n") || output.starts_with("EXTRA=given\n"));
    assert!(output.contains("TERM=dumb\n"));
    assert!(names.contains(&"PATH"));
    // Cargo sets dozens of these for every test.
    assert!(std::env::var_os("CARGO_PKG_NAME").is_some());
    assert!(!names.iter().any(|name| name.starts_with("CARGO_PKG")));
}

#[tokio::test]
async fn a_session_of_its_own_has_no_terminal() {
    let processes = Processes::new().in_new_sessions();
    let command = shell("read -r line < /proc/$$/stat; set -- $line; echo $1 $5 $6");
    let finished = processes.run_streaming(&command, Streams::Merged, &Switch::new(), &|_| {}).await.unwrap();
    let output = text(&finished);
    let numbers: Vec<&str> = output.split_whitespace().collect();
    assert_eq!(numbers[0], numbers[1], "leads its group");
    assert_eq!(numbers[0], numbers[2], "leads its session");
    assert_eq!(finished.left_behind, 0);
}

#[tokio::test]
async fn a_start_that_fails_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str, mode: u32| {
        let path = directory.path().join(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path.to_str().unwrap().to_string()
    };
    let program = |program: &str| Command { program: program.into(), arguments: Vec::new(), ..shell("") };
    let not_there = Command { directory: "/nowhere/at/all".into(), ..shell("true") };
    let cases: Vec<(&str, Command)> = vec![
        ("no such program", program("surely-not-installed")),
        ("no such program", program("/nowhere/program")),
        ("is not executable", program(&file("plain", "", 0o644))),
        ("is not executable", program("/tmp/")),
        ("interpreter", program(&file("lost", "#!/nowhere/sh\n", 0o755))),
        ("interpreter", program(&file("odd", "\x01\x02\x03\x04", 0o755))),
        ("does not exist", not_there),
        ("NUL", shell("echo a\0b")),
        ("longer than", shell(&format!("# {}", "x".repeat(3_000_000)))),
    ];
    for (expected, command) in cases {
        let error = when_written(&command).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{expected}: {error}");
    }
    assert!(matches!(run(&program("absent")).await, Err(StartError::NotFound)));
    let fine = program(&file("fine", "#!/bin/sh\necho fine\n", 0o755));
    assert_eq!(text(&when_written(&fine).await.unwrap()), "fine\n");
}

/// A process that another test starts at this moment holds the new file open for writing until it is another program (`ETXTBSY`).
async fn when_written(command: &Command) -> Result<Finished, StartError> {
    loop {
        match run(command).await {
            Err(StartError::System(error)) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            ended => return ended,
        }
    }
}

#[tokio::test]
async fn a_small_command_is_cheap() {
    let processes = Processes::new();
    let command = Command { program: "true".into(), arguments: Vec::new(), ..shell("") };
    let (mut times, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..30 {
        let begun = Instant::now();
        processes.run(&command, &Switch::new()).await.unwrap();
        times.push(begun.elapsed());
        let begun = Instant::now();
        std::process::Command::new("true").status().unwrap();
        plain.push(begun.elapsed());
    }
    times.sort();
    plain.sort();
    println!("median {:?}, of a plain start {:?}", times[15], plain[15]);
    assert!(times[15] < 10 * plain[15], "{:?} against {:?}", times[15], plain[15]);
}

fn resident_bytes() -> usize {
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    pages.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4096
}
