//! A thread that can write in some directories only, and so can whatever it starts.
//!
//! A sandbox for programs of the host's own, which are trusted not to attack and may be led astray: they run nothing and need no network.
//! It costs nothing when a program starts, because Landlock holds threads and is inherited. It holds writing, making, removing and
//! renaming; not permissions and times.

#[cfg(target_os = "linux")]
use crate::sandbox::landlock;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// Starts programs that write in some directories only. Cheap to clone; the thread ends with the last clone.
#[derive(Clone)]
pub struct Fence(Arc<Mutex<Sender<Work>>>);

type Work = Box<dyn FnOnce() + Send>;

impl Fence {
    /// A fence around these directories, with what is beneath them.
    ///
    /// # Errors
    /// Why there can be none: no Landlock, or no thread.
    pub fn around(writable: impl IntoIterator<Item = PathBuf>) -> Result<Self, String> {
        let writable: Vec<OsString> = writable.into_iter().map(OsString::from).collect();
        let (sender, receiver) = channel::<Work>();
        let (answer, answered) = channel();
        let run = move || {
            #[cfg(target_os = "linux")]
            let is_confined = landlock::fence(&writable);
            #[cfg(not(target_os = "linux"))]
            let is_confined: Result<(), String> = Err(format!("Landlock is a part of Linux, asked for {writable:?}"));
            let goes_on = is_confined.is_ok();
            if answer.send(is_confined).is_ok() && goes_on {
                receiver.into_iter().for_each(|work| work());
            }
        };
        let thread = std::thread::Builder::new().name("agent-fence".to_owned()).stack_size(STACK_BYTES).spawn(run);
        thread.map_err(|error| format!("start a thread: {error}"))?;
        answered.recv().map_err(|_| "the thread has failed".to_owned())??;
        Ok(Self(Arc::new(Mutex::new(sender))))
    }

    /// Does something behind the fence and waits for it.
    pub(crate) fn within<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
        let (answer, answered) = channel();
        let work: Work = Box::new(move || {
            // It has no reader only if the waiting thread is gone.
            let _ = answer.send(work());
        });
        let failed = || io::Error::other("the thread that starts programs has failed");
        self.0.lock().unwrap_or_else(PoisonError::into_inner).send(work).map_err(|_| failed())?;
        answered.recv().map_err(|_| failed())
    }
}

impl std::fmt::Debug for Fence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fence").finish_non_exhaustive()
    }
}

const STACK_BYTES: usize = 256 * 1024;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn what_is_started_behind_it_writes_there_only() {
        let root = tempfile::tempdir().unwrap();
        let (inside, outside) = (root.path().join("inside"), root.path().join("outside"));
        fs::create_dir(&inside).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("old"), "old").unwrap();
        std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
        if let Err(why) = landlock::available() {
            eprintln!("skipped: {why}");
            return;
        }
        let fence = Fence::around([inside.clone()]).unwrap();
        let shell = |script: String| {
            let mut command = std::process::Command::new("/bin/sh");
            command.arg("-c").arg(script).current_dir(root.path());
            command.stdin(std::process::Stdio::null()).stderr(std::process::Stdio::null());
            command
        };
        let tries = "echo x > outside/new; echo x > inside/link/new; echo x >> outside/old; rm outside/old; mv outside/old inside/; \
                     echo x > inside/new; cat outside/old > inside/read";
        let mut command = shell(tries.to_owned());
        assert!(fence.within(move || command.status()).unwrap().unwrap().success());
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
        assert_eq!(fs::read_to_string(outside.join("old")).unwrap(), "old");
        assert_eq!(fs::read_to_string(inside.join("new")).unwrap(), "x\n");
        assert_eq!(fs::read_to_string(inside.join("read")).unwrap(), "old", "reading is free");
        // The control: this thread has no fence.
        assert!(shell("echo x > outside/new".to_owned()).status().unwrap().success() && outside.join("new").exists());
    }
}
