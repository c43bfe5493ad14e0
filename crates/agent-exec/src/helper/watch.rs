//! Waits for the end of the host, however it ends, and ends the commands that it leaves behind.
//!
//! Only the host holds one end of a pipe: when it closes, the host is gone, also by `kill -9`. Then everything that carries
//! the marker of the host's runs is killed, with its descendants. In a sandbox with a pid namespace the kernel does this, without a helper.

use super::{Helper, WATCH, arguments::Arguments};
use crate::lasting::hand_over;
use crate::tree;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};

/// Starts the watch of this process, once, without waiting for it. Where there can be none, runs are what they were.
pub(crate) fn begin(helper: &Helper) {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| {
        let helper = helper.clone();
        // Now and not when the thread comes to it: by then the first command may be running.
        let born = tree::ticks_since_boot();
        // Without the thread there are no programs that hang on it either.
        let _ = hand_over(Box::new(move || {
            let watch = start(&helper, born).ok();
            IS_THERE.store(watch.is_some(), Ordering::Release);
            *WATCHING.lock().unwrap_or_else(PoisonError::into_inner) = watch;
        }));
    });
}

/// Whether the watch runs already. Before that, only a keeper ends a program when this process is killed.
pub(crate) fn is_there() -> bool {
    IS_THERE.load(Ordering::Acquire)
}

fn start(helper: &Helper, born: u64) -> std::io::Result<Child> {
    let mut command = helper.command(WATCH);
    command.arg0("agent-watch").args([tree::marker_of_process(), &born.to_string()]);
    command.env_clear().current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    tree::spawn_beside(|| command.spawn())
}

/// The helper's side.
pub(crate) fn run(mut arguments: Arguments) -> ExitCode {
    let (Some(marker), Some(born)) = (arguments.parse::<String>(), arguments.parse()) else {
        return ExitCode::from(2);
    };
    // What the terminal sends to the host must not end the watch.
    let _ = rustix::process::setsid();
    #[cfg(target_os = "linux")]
    close_fds::set_fds_cloexec(3, &[]);
    let mut nothing = [0; 1];
    while matches!(std::io::stdin().read(&mut nothing), Ok(1..)) {}
    tree::end_marked(marker, born);
    ExitCode::SUCCESS
}

/// Holds the pipe open until this process ends.
static WATCHING: Mutex<Option<Child>> = Mutex::new(None);
static IS_THERE: AtomicBool = AtomicBool::new(false);
