//! What happens to the terminal of the line editor: Ctrl-Z, `fg`, another size.

use rustix::process::Signal as System;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// The program is to stop until it is continued.
    Stopped,
    /// It was stopped, by whatever, and goes on.
    Continued,
    Resized,
}

/// Hears of changes, where there is a line editor.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    streams: Option<[Signal; 3]>,
}

impl Changes {
    /// From now on Ctrl-Z waits for the terminal to be given back.
    pub(crate) fn listen() -> Self {
        let of = |system: System| signal(SignalKind::from_raw(system.as_raw())).ok();
        let streams = || Some([of(System::TSTP)?, of(System::CONT)?, of(System::WINCH)?]);
        Self { streams: streams() }
    }

    /// The next one.
    pub(crate) async fn next(&mut self) -> Change {
        let Some([stopped, continued, resized]) = &mut self.streams else { return std::future::pending().await };
        tokio::select! {
            biased;
            Some(()) = continued.recv() => Change::Continued,
            Some(()) = stopped.recv() => Change::Stopped,
            Some(()) = resized.recv() => Change::Resized,
            else => std::future::pending().await,
        }
    }
}
