//! What the tests share: commands, a switch for cancelling, a look at the process table.

use agent_exec::{Finished, Helper, Processes, StartError, Streams};
use agent_types::ports::{CancelSignal, Command};
use async_trait::async_trait;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::sync::watch;

/// How processes try to get away. `S` stands for the sleep; each starts two of them.
pub(crate) const ESCAPES: &[(&str, &str)] = &[
    ("children", "S & S & "),
    ("grandchildren", "(S & (S & wait) & wait) & "),
    ("orphans", "(S &) ; (S &) ; "),
    ("own group", "set -m; S & S & set +m; "),
    ("own session", "setsid S & setsid S & "),
    ("daemons", "(setsid sh -c '(S &); S' &) ; "),
    ("silent daemons", "(setsid sh -c '(S &); S' >/dev/null 2>&1 &) ; "),
    ("deaf to TERM", "sh -c 'trap \"\" TERM; S & S' & "),
    ("stopped", "S & sleep 0.05; kill -STOP $!; S & sleep 0.05; kill -STOP $!; "),
    (
        "stopped daemons",
        "(setsid sh -c 'S & sleep 0.05; kill -STOP $!; S & sleep 0.05; kill -STOP $!; kill -STOP $$' &) ; ",
    ),
];

/// A shell command with generous limits.
pub(crate) fn shell(text: &str) -> Command {
    Command {
        program: "sh".into(),
        arguments: vec!["-c".into(), text.into()],
        directory: "/".into(),
        environment: Vec::new(),
        stdin: Vec::new(),
        timeout_ms: 20_000,
        output_limit_bytes: 10_000,
    }
}

pub(crate) async fn run(command: &Command) -> Result<Finished, StartError> {
    let processes = Processes::new();
    processes.run_streaming(command, Streams::Merged, &Switch::new(), &|_| {}).await
}

pub(crate) fn text(finished: &Finished) -> String {
    String::from_utf8(finished.stdout.clone().into_bytes()).unwrap()
}

/// A cancel signal that a test fires.
#[derive(Clone)]
pub(crate) struct Switch(watch::Sender<bool>);

impl Switch {
    pub(crate) fn new() -> Self {
        Self(watch::Sender::new(false))
    }

    pub(crate) fn fire(&self) {
        self.0.send_replace(true);
    }
}

#[async_trait]
impl CancelSignal for Switch {
    fn is_cancelled(&self) -> bool {
        *self.0.borrow()
    }

    async fn cancelled(&self) {
        let mut receiver = self.0.subscribe();
        receiver.wait_for(|fired| *fired).await.unwrap();
    }
}

/// An odd number of seconds to sleep: finds the sleepers of one test in the process table.
pub(crate) fn odd_sleep() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let own = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{}.{own}", 100_000 + std::process::id())
}

/// Processes alive whose command line is exactly `sleep TIME`.
pub(crate) fn sleepers(time: &str) -> usize {
    let wanted = format!("sleep\0{time}\0");
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| std::fs::read(entry.unwrap().path().join("cmdline")).ok())
        .filter(|line| line == wanted.as_bytes())
        .count()
}

/// Waits until so many sleepers are there.
pub(crate) async fn wait_for_sleepers(time: &str, count: usize) {
    for _ in 0..500 {
        if sleepers(time) >= count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{count} sleepers never came, there are {}", sleepers(time));
}

/// A command that starts sleepers. `S` as a word of its own stands for the sleep.
pub(crate) fn escape_command(escape: &str, sleep: &str, then: &str) -> Command {
    let words: Vec<String> = escape
        .split_inclusive(|c: char| !c.is_ascii_alphanumeric())
        .map(|word| match word.strip_prefix('S') {
            Some(rest) if rest.chars().all(|c| !c.is_ascii_alphanumeric()) => {
                format!("sleep {sleep}{rest}")
            }
            _ => word.to_string(),
        })
        .collect();
    shell(&(words.concat() + then))
}

/// The helper, as a program by itself; a copy of it where the environment names one.
pub(crate) fn helper() -> Helper {
    let copy = std::env::var_os(HELPER_COPY);
    Helper::program(copy.map_or_else(|| env!("CARGO_BIN_EXE_agent-exec-helper").into(), PathBuf::from), Vec::new())
}

/// A variable for users who may not go where the programs are built.
pub(crate) const HELPER_COPY: &str = "AGENT_EXEC_TEST_HELPER";
