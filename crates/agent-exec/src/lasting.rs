//! A thread that lasts as long as this process.
//!
//! "End with your parent" means, to Linux, with the *thread* that started you. A thread of a runtime's pool may end while its process goes
//! on; this one does not.

use std::io;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Does something on that thread and waits for it.
///
/// # Errors
/// When there can be no such thread.
pub(crate) fn on_lasting_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    let (answer, answered) = channel();
    hand_over(Box::new(move || {
        // It has no reader only if the waiting thread is gone.
        let _ = answer.send(work());
    }))?;
    answered.recv().map_err(|_| io::Error::other("the thread that starts programs has failed"))
}

/// Does something on that thread when it comes to it.
///
/// # Errors
/// When there can be no such thread.
pub(crate) fn hand_over(work: Work) -> io::Result<()> {
    let mut thread = THREAD.lock().unwrap_or_else(PoisonError::into_inner);
    let sender = match thread.take() {
        Some(sender) => sender,
        None => start()?,
    };
    let sent = match sender.send(work) {
        Ok(()) => Ok(sender),
        // What it was given before made it panic.
        Err(unsent) => start().inspect(|sender| drop(sender.send(unsent.0))),
    };
    *thread = Some(sent?);
    Ok(())
}

fn start() -> io::Result<Sender<Work>> {
    let (sender, receiver) = channel::<Work>();
    let run = move || receiver.into_iter().for_each(|work| work());
    thread::Builder::new().name("agent-exec".to_owned()).stack_size(STACK_BYTES).spawn(run)?;
    Ok(sender)
}

type Work = Box<dyn FnOnce() + Send>;

static THREAD: Mutex<Option<Sender<Work>>> = Mutex::new(None);
const STACK_BYTES: usize = 256 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_it_happens_on_one_thread_and_a_panic_is_not_the_end() {
        let id = || thread::current().id();
        let first = on_lasting_thread(id).unwrap();
        assert_eq!(thread::spawn(move || on_lasting_thread(id).unwrap()).join().unwrap(), first);
        assert!(on_lasting_thread(|| panic!("on purpose")).is_err());
        // The thread may take a moment to be gone.
        assert!((0..100).any(|_| on_lasting_thread(id).is_ok()));
    }
}
