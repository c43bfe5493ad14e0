//! Whatever a command does to get away, nothing of it is alive when the call is over.

use crate::support::{ESCAPES, Switch, escape_command, odd_sleep, shell, sleepers, text, wait_for_sleepers};
use agent_exec::{Processes, Streams};
use agent_types::ports::Exit;
use std::time::{Duration, Instant};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_time_out_ends_all() {
    for (name, escape) in ESCAPES {
        let sleep = odd_sleep();
        let mut command = escape_command(escape, &sleep, "exec sleep 1000");
        command.timeout_ms = 3_000;
        let running = crate::support::run(&command);
        let (finished, ()) = tokio::join!(running, wait_for_sleepers(&sleep, 2));
        let finished = finished.unwrap();
        assert_eq!(finished.exit, Exit::TimedOut, "{name}");
        assert_eq!(sleepers(&sleep), 0, "{name}");
        assert!(finished.left_behind >= 2, "{name}: {finished:?}");
        assert_eq!(finished.survivors, 0, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_ends_all() {
    for (name, escape) in ESCAPES {
        let sleep = odd_sleep();
        let command = escape_command(escape, &sleep, "echo ready; exec sleep 1000");
        let switch = Switch::new();
        let processes = Processes::new();
        let running = processes.run_streaming(&command, Streams::Merged, &switch, &|_| {});
        let cancel = async {
            wait_for_sleepers(&sleep, 2).await;
            tokio::time::sleep(Duration::from_millis(200)).await;
            switch.fire();
            Instant::now()
        };
        let (finished, cancelled_at) = tokio::join!(running, cancel);
        let took = cancelled_at.elapsed();
        println!("{name}: {took:?}");
        let finished = finished.unwrap();
        assert_eq!(finished.exit, Exit::Cancelled, "{name}");
        assert_eq!(text(&finished).lines().last(), Some("ready"), "{name}");
        assert_eq!(sleepers(&sleep), 0, "{name}");
        assert!(took < Duration::from_secs(60), "{name}: {took:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropping_the_future_ends_all_at_once() {
    for (name, escape) in ESCAPES {
        let sleep = odd_sleep();
        let command = escape_command(escape, &sleep, "exec sleep 1000");
        tokio::select! {
            _ = crate::support::run(&command) => panic!("{name}: it must not end"),
            () = wait_for_sleepers(&sleep, 2) => {}
        }
        assert_eq!(sleepers(&sleep), 0, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_ends_by_itself_leaves_nothing() {
    for (name, escape) in ESCAPES {
        let sleep = odd_sleep();
        let ready = format!("until [ $(pgrep -cfx 'sleep {sleep}') = 2 ]; do :; done; echo ready; exit 3");
        let command = escape_command(escape, &sleep, &ready);
        let begun = Instant::now();
        let finished = crate::support::run(&command).await.unwrap();
        assert_eq!(finished.exit, Exit::Code(3), "{name}");
        assert_eq!(text(&finished).lines().last(), Some("ready"), "{name}");
        assert_eq!(sleepers(&sleep), 0, "{name}");
        assert!(finished.left_behind >= 2, "{name}: {finished:?}");
        assert!(begun.elapsed() < Duration::from_secs(60), "{name}: {:?}", begun.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_without_background_leaves_nothing_to_end() {
    let finished = crate::support::run(&shell("sleep 0.01; echo done")).await.unwrap();
    assert_eq!(finished.left_behind, 0);
    assert_eq!(text(&finished), "done\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn orphans_that_ended_are_reaped() {
    let storm = "for i in $(seq 200); do (true &); done; echo $$; sleep 0.05";
    let finished = crate::support::run(&shell(storm)).await.unwrap();
    let group = text(&finished).trim().to_string();
    let left = std::fs::read_dir("/proc").unwrap().filter(|entry| {
        let stat = std::fs::read_to_string(entry.as_ref().unwrap().path().join("stat"));
        let stat = stat.unwrap_or_default();
        let fields = stat.rsplit(')').next().unwrap_or_default();
        fields.split_whitespace().nth(2) == Some(&group)
    });
    assert_eq!(left.count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn children_of_the_host_are_neither_ended_nor_reaped() {
    let _ = Processes::new();
    let spawn = |program: &str, argument: &str| {
        std::process::Command::new(program)
            .args(["-c", argument])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut before = (spawn("sh", "exec sleep 1000"), spawn("sh", "exit 7"));
    let sleep = odd_sleep();
    let mut command = escape_command("(setsid S &) ; S & ", &sleep, "sleep 0.1");
    for timeout_ms in [50, 20_000] {
        command.timeout_ms = timeout_ms;
        let during = async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            (spawn("sh", "exec sleep 1000"), spawn("sh", "exit 8"))
        };
        let (finished, mut during) = tokio::join!(crate::support::run(&command), during);
        finished.unwrap();
        assert_eq!(sleepers(&sleep), 0);
        assert_eq!(during.0.try_wait().unwrap(), None);
        assert_eq!(during.1.wait().unwrap().code(), Some(8));
        during.0.kill().unwrap();
        during.0.wait().unwrap();
    }
    assert_eq!(before.0.try_wait().unwrap(), None);
    assert_eq!(before.1.wait().unwrap().code(), Some(7));
    before.0.kill().unwrap();
    before.0.wait().unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_side_by_side_do_not_disturb_each_other() {
    let runs: Vec<_> = (0..12)
        .map(|index| {
            tokio::spawn(async move {
                let sleep = odd_sleep();
                let then = format!("sleep 0.2; echo {index}; exit {index}");
                let command = escape_command("(setsid S &) ; S & ", &sleep, &then);
                let finished = crate::support::run(&command).await.unwrap();
                assert_eq!(finished.exit, Exit::Code(index));
                assert_eq!(text(&finished), format!("{index}\n"));
                assert_eq!(finished.left_behind, 2);
                assert_eq!(sleepers(&sleep), 0);
            })
        })
        .collect();
    for run in runs {
        run.await.unwrap();
    }
}
