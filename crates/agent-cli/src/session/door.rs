//! The door of a running session: a socket by which other programs of the same user reach its agents.
//!
//! 1. It is `ROOT.d/door` beside the session's journal, for its user alone (folder 0700, socket 0600), and answers only programs of that
//!    user. It is there while a program runs the session; one that a killed program left leads nowhere, and the next program replaces it.
//! 2. A line of JSON comes in, an order of a person to one agent; a line goes out when the session has taken it, or with why it has not.
//! 3. Nothing is polled. What comes in is bounded in size, number and time.
//! 4. Absent: answers to questions about permission. A program can say and stop, and allows nothing.
//!
//! In the sandbox a command has no sockets, so the model reaches no agent by it.

use crate::failure::Failure;
use crate::screen::terminal::inline;
use agent_runner::journal::{SessionStore, check_own};
use agent_runner::{Handle, Order};
use serde::{Deserialize, Serialize};
use std::fs::{File, Permissions};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream as Blocking;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

/// What is asked of an agent at a place below the session's own; without a number, of that one.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "order", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Request {
    Stop { place: Vec<u32> },
    Say { place: Vec<u32>, text: String },
}

/// What comes back.
#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    /// Why it was not taken; nothing if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

/// The door, as long as this is kept.
pub(crate) struct Door {
    path: PathBuf,
    task: JoinHandle<()>,
}

impl Door {
    /// Opens the door of a session that this program runs.
    ///
    /// # Errors
    /// When the socket cannot be made; the session can run without it.
    pub(crate) fn open(store: &SessionStore, id: &str, handle: &Handle) -> Result<Self, Failure> {
        let folder = store.make_folder_below(id).map_err(|error| Failure::internal(error.to_string()))?;
        let path = folder.join(DOOR);
        let listener = bound(&folder, &path).map_err(|error| {
            let shown = inline(&path.display().to_string());
            Failure::internal(format!(
                "cannot make the socket {shown}, so no other program reaches its agents: {error}"
            ))
        })?;
        let task = tokio::spawn(listen(listener, handle.clone()));
        Ok(Self { path, task })
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.task.abort();
        // Where it cannot be removed it leads nowhere.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn bound(folder: &Path, path: &Path) -> io::Result<UnixListener> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        // The journal's lock says that no other program runs the session.
        Ok(()) | Err(_) => {}
    }
    let opened = File::open(folder)?;
    let listener = UnixListener::bind(short(&opened))?;
    std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// The socket by an open folder: the name of a socket may have a hundred bytes, and a folder's is often longer.
fn short(folder: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}/{DOOR}", folder.as_raw_fd()))
}

async fn listen(listener: UnixListener, handle: Handle) {
    let room = Arc::new(Semaphore::new(MOST_AT_ONCE));
    loop {
        let Ok(permit) = room.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let handle = handle.clone();
                tokio::spawn(async move {
                    let _permit = permit;
                    // Whoever asks and does not go on is let go; what it asked has no effect then.
                    let _ = tokio::time::timeout(PATIENCE, serve(stream, handle)).await;
                });
            }
            // No descriptor is free, most likely. Those who wait are heard later.
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

async fn serve(stream: UnixStream, handle: Handle) -> io::Result<()> {
    let refused = match stream.peer_cred() {
        Ok(peer) if peer.uid() == rustix::process::geteuid().as_raw() => None,
        Ok(_) => Some(String::from("the session is another user's")),
        Err(error) => Some(error.to_string()),
    };
    let (read, mut write) = stream.into_split();
    let refused = match refused {
        None => {
            let mut line = Vec::new();
            tokio::io::BufReader::new(read.take(MOST_BYTES)).read_until(b'\n', &mut line).await?;
            taken(&line, &handle).await.err()
        }
        refused => refused,
    };
    let mut answer = serde_json::to_vec(&Answer { refused })?;
    answer.push(b'\n');
    write.write_all(&answer).await
}

async fn taken(line: &[u8], handle: &Handle) -> Result<(), String> {
    if line.last() != Some(&b'\n') {
        return Err(format!("an order is one line of at most {MOST_BYTES} bytes"));
    }
    let request: Request = serde_json::from_slice(line).map_err(|error| format!("it is no order: {error}"))?;
    let (place, order) = match request {
        Request::Stop { place } => (place, Order::Stop),
        Request::Say { place, text } => (place, Order::Say(text)),
    };
    handle.order(&place, order).await.map_err(|error| error.to_string())
}

/// Why an order did not get through.
#[derive(Debug)]
pub(crate) enum Unheard {
    /// No program runs the session, or it has no door.
    Nobody,
    /// The session did not take it, and why.
    Refused(String),
    /// It is not known whether the session took it.
    Failed(io::Error),
}

/// Asks something of an agent of a session that another program runs, and waits until it was taken.
///
/// # Errors
/// [`Unheard`] with what stood in the way.
pub(crate) fn ask(store: &SessionStore, id: &str, request: &Request) -> Result<(), Unheard> {
    let refused = |error: &dyn std::fmt::Display| Unheard::Refused(error.to_string());
    let folder = store.folder_below(id).map_err(|error| refused(&error))?;
    check_own(&folder).map_err(|error| refused(&error))?;
    let Ok(opened) = File::open(&folder) else { return Err(Unheard::Nobody) };
    let stream = match Blocking::connect(short(&opened)) {
        Ok(stream) => stream,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
            return Err(Unheard::Nobody);
        }
        Err(error) => return Err(Unheard::Refused(error.to_string())),
    };
    let answer = asked(stream, request).map_err(Unheard::Failed)?;
    answer.refused.map_or(Ok(()), |why| Err(Unheard::Refused(why)))
}

fn asked(mut stream: Blocking, request: &Request) -> io::Result<Answer> {
    stream.set_read_timeout(Some(2 * PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = serde_json::to_vec(request)?;
    line.push(b'\n');
    stream.write_all(&line)?;
    let mut answer = Vec::new();
    BufReader::new(stream.take(MOST_BYTES)).read_until(b'\n', &mut answer)?;
    serde_json::from_slice(&answer).map_err(io::Error::from)
}

/// The socket's name in the folder.
const DOOR: &str = "door";
const MOST_AT_ONCE: usize = 8;
/// Of an order, with its text.
pub(crate) const MOST_BYTES: u64 = 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(15);
const PAUSE: Duration = Duration::from_millis(100);
