//! Writing a journal.

use super::disk_wait::DiskWait;
use super::line;
use super::own::{NotOwn, check_own};
use super::read::{ReadError, Reader, Recovered, read, with_begun};
use super::regular::open_regular;
use super::siblings::{Counted, Identity, Siblings, open_again};
use agent_core::journal::{Format, Rebuilt, Record, Replayer};
use agent_core::ports::{Journal, JournalError};
use async_trait::async_trait;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A journal in a file that this process alone writes.
///
/// A record is handed to the system at once, which takes microseconds. A disk that has been answering within a millisecond is waited for
/// here and now, and any other one on tokio's threads for blocking work, so that a slow disk holds up nothing but this session.
#[derive(Debug)]
pub struct FileJournal {
    path: PathBuf,
    file: Slot,
    /// What it shares with others, where it is that of an agent below a session.
    siblings: Option<Siblings>,
    wait: DiskWait,
    buffer: Vec<u8>,
    /// Whether the file's name may not be on the disk yet.
    is_new: bool,
    /// Whether written records may not be on the disk yet.
    is_behind: bool,
    /// Whether the content of the file is unknown: then nothing may follow.
    is_broken: bool,
}

#[derive(Debug)]
enum Slot {
    Open(Arc<Open>),
    /// It is closed until the next record.
    Closed(Identity),
}

#[derive(Debug)]
struct Open {
    file: File,
    /// Held as long as the journal is open; the system lets go of it when the process ends, however it ends. That of an agent below has
    /// none: who writes the session's journal writes it.
    _lock: Option<File>,
    _counted: Option<Counted>,
}

impl FileJournal {
    /// Makes a new journal, readable by its owner only. Missing folders are made.
    ///
    /// # Errors
    /// [`OpenError`] when the file exists or cannot be made.
    pub fn create(path: &Path) -> Result<Self, OpenError> {
        Self::create_as(path, None)
    }

    /// The same for an agent below a session, whose journal the caller writes.
    pub(super) fn create_as(path: &Path, siblings: Option<&Siblings>) -> Result<Self, OpenError> {
        if let Some(folder) = path.parent() {
            make_private_folder(folder).map_err(|source| OpenError::io(folder, source))?;
        }
        let lock = lock_as(path, siblings)?;
        let file = private(OpenOptions::new().append(true).create_new(true))
            .open(path)
            .map_err(|source| OpenError::io(path, source))?;
        Ok(Self { is_new: true, ..Self::new(path, file, lock, siblings) })
    }

    /// Opens a journal to continue it. A record that was cut by a crash is moved to a separate file, in a file that ends in `.torn`. A
    /// journal of an earlier format is written anew in today's, and kept beside as it was, in a file that ends in `.v` and the format.
    ///
    /// # Errors
    /// [`OpenError`] when another process writes it, or it cannot be read.
    pub fn resume(path: &Path) -> Result<(Self, Recovered), OpenError> {
        let lock = lock(path)?;
        let recovered = read(path).map_err(OpenError::Read)?;
        let Recovered { format, good_bytes, torn_bytes, .. } = recovered;
        let cut = Cut { format, good_bytes, torn_bytes };
        let journal = Self::go_on(path, Some(lock), None, cut, || Ok(recovered.records.clone()))?;
        Ok((journal, recovered))
    }

    /// Opens a journal to resume its session, which is rebuilt while the records are read: at most one of them is in memory.
    /// Everything else is as with [`resume`](Self::resume).
    ///
    /// # Errors
    /// As with [`resume`](Self::resume), also when a record does not fit the ones before; the file is left as it is then.
    pub fn rebuild(path: &Path) -> Result<Reopened, OpenError> {
        Self::rebuild_as(path, None)
    }

    /// The same for an agent below a session, whose journal the caller writes.
    pub(super) fn rebuild_as(path: &Path, siblings: Option<&Siblings>) -> Result<Reopened, OpenError> {
        let lock = lock_as(path, siblings)?;
        let mut reader = Reader::open(path).map_err(OpenError::Read)?;
        let mut replayer: Option<Replayer> = None;
        while let Some(record) = reader.next() {
            let record = record.map_err(OpenError::Read)?;
            let taken = match &mut replayer {
                Some(replayer) => replayer.advance(record),
                None => Replayer::new(record).map(|new| replayer = Some(new)),
            };
            taken.map_err(|error| OpenError::Read(reader.misplaced(&error)))?;
        }
        let (format, good_bytes, torn_bytes) = (reader.format(), reader.good_bytes(), reader.torn_bytes());
        // Closed before it is written.
        drop(reader);
        let journal = Self::go_on(path, lock, siblings, Cut { format, good_bytes, torn_bytes }, || {
            read(path).map(|all| all.records).map_err(OpenError::Read)
        })?;
        let rebuilt = replayer.map(|replayer| with_begun(replayer.finish(), format));
        Ok(Reopened { journal, rebuilt, torn_bytes })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes of a file whatever today's program appends to.
    fn go_on(
        path: &Path,
        lock: Option<File>,
        siblings: Option<&Siblings>,
        cut: Cut,
        records: impl FnOnce() -> Result<Vec<Record>, OpenError>,
    ) -> Result<Self, OpenError> {
        let failed = |source| OpenError::io(path, source);
        if cut.torn_bytes > 0 {
            keep_torn(path, cut.good_bytes).map_err(failed)?;
        }
        if let Some(old) = cut.format.filter(|format| *format != Format::TODAY) {
            write_anew(path, old, &records()?).map_err(failed)?;
        }
        let file = open_regular(path, OpenOptions::new().append(true)).map_err(failed)?;
        Ok(Self::new(path, file, lock, siblings))
    }

    fn new(path: &Path, file: File, lock: Option<File>, siblings: Option<&Siblings>) -> Self {
        let open = Open { file, _lock: lock, _counted: siblings.map(Siblings::count) };
        Self {
            path: path.to_owned(),
            file: Slot::Open(Arc::new(open)),
            siblings: siblings.cloned(),
            wait: siblings.map(Siblings::wait).unwrap_or_default(),
            buffer: Vec::new(),
            is_new: false,
            is_behind: false,
            is_broken: false,
        }
    }

    pub(super) fn write(&mut self, record: &Record) -> io::Result<()> {
        self.check()?;
        self.buffer.clear();
        line::write(record, &mut self.buffer)?;
        // Taken back only when the record is known to be whole.
        self.is_broken = true;
        let open = self.opened()?;
        (&open.file).write_all(&self.buffer)?;
        // A large record is rare, and its room is not kept: a session may rest for days.
        self.buffer.clear();
        self.buffer.shrink_to(KEPT_BUFFER_BYTES);
        (self.is_broken, self.is_behind) = (false, true);
        Ok(())
    }

    async fn flush(&mut self) -> io::Result<()> {
        self.check()?;
        if !self.is_behind {
            return Ok(());
        }
        // Taken back only when the disk has said so: not after an error, nor when this future is dropped halfway.
        self.is_broken = true;
        let (open, new) = (self.opened()?, self.is_new.then(|| self.path.clone()));
        self.wait.run(move || to_disk(&open.file, new.as_deref())).await?;
        (self.is_broken, self.is_behind, self.is_new) = (false, false, false);
        self.close_among_many()
    }

    /// The file, which may have been closed.
    fn opened(&mut self) -> io::Result<Arc<Open>> {
        let known = match &self.file {
            Slot::Open(open) => return Ok(open.clone()),
            Slot::Closed(known) => *known,
        };
        let file = open_again(&self.path, known)?;
        let open = Arc::new(Open { file, _lock: None, _counted: self.siblings.as_ref().map(Siblings::count) });
        self.file = Slot::Open(open.clone());
        Ok(open)
    }

    /// Everything is on the disk: where many are open, this one is closed.
    fn close_among_many(&mut self) -> io::Result<()> {
        if self.siblings.as_ref().is_some_and(Siblings::are_many)
            && let Slot::Open(open) = &self.file
        {
            self.file = Slot::Closed(Identity::of(&open.file)?);
        }
        Ok(())
    }

    /// Waits for the disk here and now.
    pub(super) fn sync_now(&mut self) -> io::Result<()> {
        self.check()?;
        self.is_broken = true;
        let open = self.opened()?;
        to_disk(&open.file, self.is_new.then_some(&self.path))?;
        (self.is_broken, self.is_behind, self.is_new) = (false, false, false);
        Ok(())
    }

    fn check(&self) -> io::Result<()> {
        if self.is_broken { Err(io::Error::other("an earlier record could not be written")) } else { Ok(()) }
    }

    fn failed(&self, error: &io::Error) -> JournalError {
        let limit = match error.kind() {
            io::ErrorKind::FileTooLarge => ": raise the file size limit (`ulimit -f`) and resume the session",
            _ => "",
        };
        JournalError { place: self.path.display().to_string(), found: format!("{error}{limit}") }
    }
}

/// A journal that is continued.
#[derive(Debug)]
#[non_exhaustive]
pub struct Reopened {
    /// The journal, open for appending.
    pub journal: FileJournal,
    /// The session, and what a runner needs to resume it; `None` if not even the first record is whole.
    pub rebuilt: Option<Rebuilt>,
    /// Bytes of a record that a crash cut, which were removed.
    pub torn_bytes: u64,
}

/// How a file ends.
#[derive(Clone, Copy)]
struct Cut {
    format: Option<Format>,
    good_bytes: u64,
    torn_bytes: u64,
}

#[async_trait]
impl Journal for FileJournal {
    async fn append(&mut self, record: &Record) -> Result<(), JournalError> {
        self.write(record).map_err(|error| self.failed(&error))
    }

    async fn sync(&mut self) -> Result<(), JournalError> {
        let flushed = self.flush().await;
        flushed.map_err(|error| self.failed(&error))
    }
}

/// Why a journal cannot be opened for writing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Another process writes it.
    #[error("open the session {path}: it is in use by process {pid}")]
    InUse {
        /// The journal.
        path: PathBuf,
        /// The process, as far as known.
        pid: String,
    },
    /// It cannot be read.
    #[error(transparent)]
    Read(ReadError),
    /// It, its lock or its directory is not this user's alone.
    #[error(transparent)]
    NotOwn(#[from] NotOwn),
    /// The system does not let us.
    #[error("open the journal {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl OpenError {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}

/// Takes a lock that may be held for a moment more: a program that another thread starts has this process's descriptors until its `exec`.
fn try_lock(lock: &File) -> Result<(), TryLockError> {
    for _ in 0..LOCK_TRIES {
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            taken_or_failed => return taken_or_failed,
        }
    }
    lock.try_lock()
}

/// The lock of a session's journal. That of an agent below has none, which would be another descriptor.
fn lock_as(path: &Path, siblings: Option<&Siblings>) -> Result<Option<File>, OpenError> {
    match siblings {
        None => lock(path).map(Some),
        Some(_) => {
            let mut own = path.parent().into_iter().chain([path]).filter(|own| !own.as_os_str().is_empty());
            own.try_for_each(check_own)?;
            Ok(None)
        }
    }
}

/// Makes what was written survive a crash of the machine, and the name of a new file: after its content, so that both cost once.
fn to_disk(file: &File, new: Option<&Path>) -> io::Result<()> {
    file.sync_data()?;
    new.map_or(Ok(()), sync_folder_of)
}

/// Takes the lock beside the journal. The lock's file says who holds it.
pub(super) fn lock(path: &Path) -> Result<File, OpenError> {
    let lock_path = path.with_extension("lock");
    for own in path.parent().into_iter().chain([path, &lock_path]).filter(|own| !own.as_os_str().is_empty()) {
        check_own(own)?;
    }
    // Writing through a link would overwrite another file.
    if std::fs::symlink_metadata(&lock_path).is_ok_and(|found| !found.is_file()) {
        return Err(OpenError::io(&lock_path, io::Error::other("it is not a regular file")));
    }
    let mut options = OpenOptions::new();
    let options = private(options.read(true).write(true).create(true).truncate(false));
    let mut lock = open_regular(&lock_path, options).map_err(|source| OpenError::io(&lock_path, source))?;
    match try_lock(&lock) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut pid = String::new();
            // The name of the holder is a courtesy; the refusal stands without it.
            let _ = lock.read_to_string(&mut pid);
            return Err(OpenError::InUse { path: path.to_owned(), pid: pid.trim().to_owned() });
        }
        Err(TryLockError::Error(source)) => return Err(OpenError::io(&lock_path, source)),
    }
    let note = || -> io::Result<()> {
        lock.set_len(0)?;
        (&lock).write_all(std::process::id().to_string().as_bytes())
    };
    note().map_err(|source| OpenError::io(&lock_path, source))?;
    Ok(lock)
}

/// Whether the lock beside the journal is held. Takes it for a moment; one that wants it meanwhile tries again.
pub(super) fn is_locked(path: &Path) -> Result<bool, OpenError> {
    let path = path.with_extension("lock");
    check_own(&path)?;
    let lock = match open_regular(&path, OpenOptions::new().read(true)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        opened => opened.map_err(|source| OpenError::io(&path, source))?,
    };
    match lock.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(source)) => Err(OpenError::io(&path, source)),
    }
}

fn keep_torn(path: &Path, good_bytes: u64) -> io::Result<()> {
    let mut file = open_regular(path, OpenOptions::new().read(true).write(true))?;
    file.seek(SeekFrom::Start(good_bytes))?;
    let mut beside = open_regular(&path.with_extension("torn"), private(OpenOptions::new().append(true).create(true)))?;
    io::copy(&mut file, &mut beside)?;
    beside.sync_data()?;
    file.set_len(good_bytes)?;
    file.sync_data()
}

/// Whenever it is interrupted, either file is whole under the journal's name.
fn write_anew(path: &Path, old: Format, records: &[Record]) -> io::Result<()> {
    let (kept, new) = (path.with_extension(format!("v{}", old.version())), path.with_extension("new"));
    let mut lines = Vec::new();
    for record in records {
        line::write(record, &mut lines)?;
    }
    let mut file = private(OpenOptions::new().write(true).create(true).truncate(true)).open(&new)?;
    file.write_all(&lines)?;
    file.sync_data()?;
    if !kept.exists() {
        std::fs::copy(path, &kept)?;
        File::open(&kept)?.sync_data()?;
    }
    std::fs::rename(&new, path)?;
    sync_folder_of(path)
}

/// Journals hold whole conversations: only their owner may read them.
#[cfg(unix)]
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600)
}

#[cfg(not(unix))]
pub(crate) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

pub(crate) fn make_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder)
}

/// Makes a new file's name survive a crash of the machine, as its content does.
#[cfg(unix)]
pub(super) fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder)?.sync_all()
}

/// Other systems keep names without being asked, and open no folders.
#[cfg(not(unix))]
pub(super) fn sync_folder_of(_path: &Path) -> io::Result<()> {
    Ok(())
}

const KEPT_BUFFER_BYTES: usize = 1024;
const LOCK_TRIES: u32 = 25;
const LOCK_PAUSE: Duration = Duration::from_millis(10);
