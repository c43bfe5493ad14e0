//! Writing a journal.

use super::read::{ReadError, Recovered, read};
use agent_core::journal::Record;
use agent_core::ports::{Journal, JournalError};
use async_trait::async_trait;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A journal in a file that this process alone writes.
///
/// Records are written on tokio's threads for blocking work, so that a slow disk holds up nothing but this session.
#[derive(Debug)]
pub struct FileJournal {
    path: PathBuf,
    open: Arc<Open>,
    /// Whether nobody knows what the file ends with: then nothing may follow.
    is_broken: bool,
}

#[derive(Debug)]
struct Open {
    file: File,
    /// Held as long as the journal is open; the system lets go of it when the process ends, however it ends.
    _lock: File,
}

impl FileJournal {
    /// Makes a new journal, readable by its owner only. Missing folders are made.
    ///
    /// # Errors
    /// [`OpenError`] when the file exists or cannot be made.
    pub fn create(path: &Path) -> Result<Self, OpenError> {
        if let Some(folder) = path.parent() {
            make_private_folder(folder).map_err(|source| OpenError::io(folder, source))?;
        }
        let lock = lock(path)?;
        let file = private(OpenOptions::new().append(true).create_new(true))
            .open(path)
            .map_err(|source| OpenError::io(path, source))?;
        if let Some(folder) = path.parent() {
            sync_folder(folder).map_err(|source| OpenError::io(folder, source))?;
        }
        Ok(Self::new(path, file, lock))
    }

    /// Opens a journal to go on with it. A record that was cut by a crash is taken off and kept beside, in a file that ends in `.torn`.
    ///
    /// # Errors
    /// [`OpenError`] when another process writes it, or it cannot be read.
    pub fn resume(path: &Path) -> Result<(Self, Recovered), OpenError> {
        let lock = lock(path)?;
        let recovered = read(path).map_err(OpenError::Read)?;
        let mut file = OpenOptions::new().read(true).write(true).open(path).map_err(|e| OpenError::io(path, e))?;
        if recovered.torn_bytes > 0 {
            keep_torn(path, &mut file, recovered.good_bytes).map_err(|source| OpenError::io(path, source))?;
        }
        file.seek(SeekFrom::End(0)).map_err(|source| OpenError::io(path, source))?;
        Ok((Self::new(path, file, lock), recovered))
    }

    fn new(path: &Path, file: File, lock: File) -> Self {
        Self { path: path.to_owned(), open: Arc::new(Open { file, _lock: lock }), is_broken: false }
    }

    async fn write(&mut self, record: &Record) -> io::Result<()> {
        if self.is_broken {
            return Err(io::Error::other("an earlier record could not be written"));
        }
        let mut line = serde_json::to_vec(record)?;
        line.push(b'\n');
        // Taken back only when the record is known to be whole: not after an error, nor when this future is dropped halfway.
        self.is_broken = true;
        let open = self.open.clone();
        tokio::task::spawn_blocking(move || open.write(&line)).await??;
        self.is_broken = false;
        Ok(())
    }
}

impl Open {
    fn write(&self, line: &[u8]) -> io::Result<()> {
        (&self.file).write_all(line)?;
        self.file.sync_data()
    }
}

#[async_trait]
impl Journal for FileJournal {
    async fn append(&mut self, record: &Record) -> Result<(), JournalError> {
        let written = self.write(record).await;
        written.map_err(|error| JournalError { place: self.path.display().to_string(), found: error.to_string() })
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

/// Takes the lock beside the journal. The lock's file says who holds it.
fn lock(path: &Path) -> Result<File, OpenError> {
    let lock_path = path.with_extension("lock");
    // Writing through a link would overwrite somebody else's file.
    if std::fs::symlink_metadata(&lock_path).is_ok_and(|found| !found.is_file()) {
        return Err(OpenError::io(&lock_path, io::Error::other("it is not a regular file")));
    }
    let mut lock = private(OpenOptions::new().read(true).write(true).create(true).truncate(false))
        .open(&lock_path)
        .map_err(|source| OpenError::io(&lock_path, source))?;
    match lock.try_lock() {
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

fn keep_torn(path: &Path, file: &mut File, good_bytes: u64) -> io::Result<()> {
    let mut torn = Vec::new();
    file.seek(SeekFrom::Start(good_bytes))?;
    file.read_to_end(&mut torn)?;
    let mut beside = private(OpenOptions::new().append(true).create(true)).open(path.with_extension("torn"))?;
    beside.write_all(&torn)?;
    beside.sync_data()?;
    file.set_len(good_bytes)?;
    file.sync_data()
}

/// Journals hold whole conversations: nobody but their owner reads them.
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
fn sync_folder(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    File::open(folder)?.sync_all()
}

/// Other systems keep names without being asked, and open no folders.
#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}
