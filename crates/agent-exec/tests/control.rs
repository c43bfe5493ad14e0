//! The control for what ends trees of processes: without it they stay. In a test program of its own, because the runs of other tests would
//! end what is left here.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[expect(dead_code, reason = "other tests need the rest")]
mod support;

use crate::support::{ESCAPES, escape_command, odd_sleep, sleepers, wait_for_sleepers};
use std::process::{Command, Stdio};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killing_the_program_alone_ends_none_of_them() {
    for (name, escape) in ESCAPES {
        let sleep = odd_sleep();
        let command = escape_command(escape, &sleep, "exec sleep 1000");
        let mut program = Command::new(&command.program);
        let mut program = program.args(&command.arguments).stdout(Stdio::null()).spawn().unwrap();
        wait_for_sleepers(&sleep, 2).await;
        program.kill().unwrap();
        program.wait().unwrap();
        assert_eq!(sleepers(&sleep), 2, "{name}");
        // With the shells around them, whose command lines have the number, too.
        let ended = Command::new("pkill").args(["-KILL", "-f", &format!("sleep {sleep}")]).status();
        assert!(ended.unwrap().success(), "{name}");
    }
}
