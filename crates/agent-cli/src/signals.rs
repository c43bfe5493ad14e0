//! Signals as the program understands them.

use tokio::sync::mpsc;

/// What was asked for from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// The system or a supervisor wants the program to end, or the terminal is gone.
    Terminate,
}

/// Listens from now on. Signals that come while nobody looks are kept.
#[cfg(unix)]
pub(crate) fn listen() -> std::io::Result<mpsc::UnboundedReceiver<Signal>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (sender, receiver) = mpsc::unbounded_channel();
    let kinds = [
        (SignalKind::interrupt(), Signal::Interrupt),
        (SignalKind::terminate(), Signal::Terminate),
        (SignalKind::hangup(), Signal::Terminate),
    ];
    for (kind, meaning) in kinds {
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

#[cfg(not(unix))]
pub(crate) fn listen() -> std::io::Result<mpsc::UnboundedReceiver<Signal>> {
    let (sender, receiver) = mpsc::unbounded_channel();
    tokio::spawn(
        async move { while tokio::signal::ctrl_c().await.is_ok() && sender.send(Signal::Interrupt).is_ok() {} },
    );
    Ok(receiver)
}
