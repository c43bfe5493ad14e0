//! Signals as the program understands them.

use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle};

/// What was asked for from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// The system or a supervisor wants the program to end, Ctrl-\ was pressed, or the terminal is gone.
    Terminate,
}

/// Listens from now on. Signals that come while nobody looks are kept. What whoever started the program wants to be ignored (`nohup`, a script's
/// `agent run … &`) stays ignored, where the system says what that is.
#[cfg(unix)]
pub(crate) fn listen() -> std::io::Result<mpsc::UnboundedReceiver<Signal>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (sender, receiver) = mpsc::unbounded_channel();
    let ignored = ignored();
    let kinds = [
        (SignalKind::interrupt(), Signal::Interrupt),
        (SignalKind::terminate(), Signal::Terminate),
        (SignalKind::hangup(), Signal::Terminate),
        // Ctrl-\ at a terminal: to end at once would leave what commands made where it is.
        (SignalKind::quit(), Signal::Terminate),
    ];
    for (kind, meaning) in kinds {
        if ignored & (1 << (kind.as_raw_value() - 1)) != 0 {
            continue;
        }
        let mut stream = signal(kind)?;
        let sender = sender.clone();
        tokio::spawn(async move {
            while stream.recv().await.is_some() {
                if sender.send(meaning).is_err() {
                    return;
                }
            }
        });
    }
    Ok(receiver)
}

/// The signals that are ignored, a bit each, the first one lowest. Nothing but Linux tells it without unsafe code.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

#[cfg(not(unix))]
pub(crate) fn listen() -> std::io::Result<mpsc::UnboundedReceiver<Signal>> {
    let (sender, receiver) = mpsc::unbounded_channel();
    tokio::spawn(
        async move { while tokio::signal::ctrl_c().await.is_ok() && sender.send(Signal::Interrupt).is_ok() {} },
    );
    Ok(receiver)
}

/// Waits until a session has ended that is being left. A first signal has the hooks at its end cut short; after a second nobody waits: then there
/// is no end to tell. The signal is the last one.
pub(crate) async fn ended<T>(
    mut task: JoinHandle<T>,
    signals: &mut mpsc::UnboundedReceiver<Signal>,
    mut cut_short: impl FnMut(),
) -> (Option<Result<T, JoinError>>, Option<Signal>) {
    let mut signalled = None;
    loop {
        tokio::select! {
            biased;
            ended = &mut task => return (Some(ended), signalled),
            Some(signal) = signals.recv() => {
                if signalled.replace(signal).is_some() {
                    task.abort();
                    return (None, signalled);
                }
                cut_short();
            }
        }
    }
}
