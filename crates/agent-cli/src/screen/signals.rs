//! Signals as the program understands them.

use crate::failure::Failure;
use crate::screen::terminal::{self, say};
use crate::screen::threads;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use tokio::sync::mpsc;

/// What was asked for from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// The system or a supervisor wants the program to end, Ctrl-\ was pressed, the terminal is gone, or an alarm or a limit ran out.
    Terminate,
}

impl Signal {
    /// As the end of the program.
    pub(crate) fn failure(self) -> Failure {
        let (code, message) = match self {
            Self::Interrupt => (130, "interrupted"),
            Self::Terminate => (143, "terminated"),
        };
        Failure { code, message: message.to_owned() }
    }
}

/// The signals that come, in their order. What nobody took of them is there for the next one who listens.
pub(crate) struct Signals {
    /// Nothing where nobody listens: then signals do to the program what they do to any.
    coming: Option<mpsc::UnboundedReceiver<Signal>>,
}

impl Signals {
    /// Goes on listening, where it was begun.
    pub(crate) fn again() -> Self {
        Self { coming: LEFT.lock().unwrap_or_else(PoisonError::into_inner).take() }
    }

    /// The next one.
    pub(crate) async fn recv(&mut self) -> Option<Signal> {
        match &mut self.coming {
            Some(coming) => coming.recv().await,
            None => std::future::pending().await,
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        if let Some(coming) = self.coming.take() {
            *LEFT.lock().unwrap_or_else(PoisonError::into_inner) = Some(coming);
        }
    }
}

/// Whether somebody listens, or did.
static IS_HEARD: AtomicBool = AtomicBool::new(false);
/// Whether a session listens, or did: a question before it no longer ends the program.
static IS_TAKEN_OVER: AtomicBool = AtomicBool::new(false);
static LEFT: Mutex<Option<mpsc::UnboundedReceiver<Signal>>> = Mutex::new(None);

/// Listens from now on. Signals that come while nobody looks are kept. From now on they no longer end the program by themselves, so nothing
/// that is written may hold up the thread that answers them.
pub(crate) fn listen() -> Result<Signals, Failure> {
    terminal::queue()?;
    IS_HEARD.store(true, Ordering::Relaxed);
    IS_TAKEN_OVER.store(true, Ordering::Relaxed);
    let coming = streams().map_err(|error| Failure::internal(format!("cannot listen for signals: {error}")))?;
    Ok(Signals { coming: Some(coming) })
}

/// Signals go on to end the program as they end any, from now on with the terminal given back: for a question outside of a session. Where
/// somebody listens already, nothing changes.
///
/// # Errors
/// When the system gives no thread.
pub(crate) fn end_in_order() -> Result<(), Failure> {
    if IS_HEARD.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    let (ready, is_ready) = std::sync::mpsc::channel();
    threads::start("signals", move || {
        let Ok(runtime) = threads::runtime() else { return };
        runtime.block_on(async {
            let Ok(mut coming) = streams() else { return };
            let _ = ready.send(());
            if let Some(signal) = coming.recv().await
                && !IS_TAKEN_OVER.load(Ordering::Relaxed)
            {
                terminal::give_back();
                std::process::exit(i32::from(signal.failure().code));
            }
        });
    })?;
    // Where it cannot listen, signals do what they did.
    let _ = is_ready.recv();
    Ok(())
}

/// Has the system refuse a write beyond the limit on file size (`ulimit -f`), as it does with a full disk, instead of ending the program
/// with no word about the work. A handler does that and not the mark "ignored", because programs that the agent starts inherit the mark,
/// and not a handler: theirs is the default again.
#[cfg(unix)]
pub(crate) fn outlive_large_files() -> Result<(), Failure> {
    use tokio::signal::unix::{SignalKind, signal};
    let too_large = rustix::process::Signal::XFSZ.as_raw();
    if ignored() & bit(too_large) != 0 {
        return Ok(());
    }
    // The handler stays when its stream goes.
    let listening = signal(SignalKind::from_raw(too_large));
    listening.map(drop).map_err(|error| Failure::internal(format!("cannot prepare for the file size limit: {error}")))
}

#[cfg(not(unix))]
pub(crate) fn outlive_large_files() -> Result<(), Failure> {
    Ok(())
}

/// What was to be ignored when the program was started (`nohup`, a script's `agent run … &`) stays ignored, where the system says what that
/// is.
#[cfg(unix)]
fn streams() -> std::io::Result<mpsc::UnboundedReceiver<Signal>> {
    use rustix::process::Signal as System;
    use tokio::signal::unix::{SignalKind, signal};
    let (sender, receiver) = mpsc::unbounded_channel();
    let ignored = ignored();
    for (number, meaning) in meanings() {
        if ignored & bit(number) != 0 {
            continue;
        }
        let mut stream = signal(SignalKind::from_raw(number))?;
        let sender = sender.clone();
        tokio::spawn(async move {
            while stream.recv().await.is_some() {
                if number == System::XCPU.as_raw() {
                    say("agent: the processor time limit (`ulimit -t`) is reached");
                }
                if sender.send(meaning).is_err() {
                    return;
                }
            }
        });
    }
    Ok(receiver)
}

/// Every signal whose default would end the program without a result, but for those that tell of a fault in it and the system's real-time
/// ones.
#[cfg(unix)]
fn meanings() -> Vec<(i32, Signal)> {
    use rustix::process::Signal as System;
    let mut ending = vec![
        System::TERM,
        System::HUP,
        // Ctrl-\ at a terminal: to end at once would leave what commands made where it is.
        System::QUIT,
        // Timers of whoever started the program outlive its start.
        System::ALARM,
        System::VTALARM,
        System::PROF,
        // Batch systems announce the end of the time with one of these.
        System::USR1,
        System::USR2,
        System::XCPU,
    ];
    #[cfg(target_os = "linux")]
    ending.extend([System::IO, System::POWER]);
    let ending = ending.into_iter().map(|signal| (signal.as_raw(), Signal::Terminate));
    std::iter::once((System::INT.as_raw(), Signal::Interrupt)).chain(ending).collect()
}

/// A signal's place in a mask.
#[cfg(unix)]
const fn bit(number: i32) -> u64 {
    1 << (number - 1)
}

/// The signals that are ignored, a bit each, the first one lowest. Nothing but Linux tells it without unsafe code.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}

#[cfg(not(unix))]
fn streams() -> std::io::Result<mpsc::UnboundedReceiver<Signal>> {
    let (sender, receiver) = mpsc::unbounded_channel();
    tokio::spawn(
        async move { while tokio::signal::ctrl_c().await.is_ok() && sender.send(Signal::Interrupt).is_ok() {} },
    );
    Ok(receiver)
}
