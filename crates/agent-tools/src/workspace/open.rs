//! Opening files: regular ones only, never blocking, and exactly the one that was checked.

use super::descend::{For, Identity, descend, descend_noting, identity};
use super::places::Judge;
use super::record::Stamp;
use super::{FileError, RelativePath, Workspace};
use crate::file_tool::FileKind;
use agent_types::tool::{Effect, Inspection};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, fstatfs, openat, statat};
use rustix::path::Arg;
use std::fs::File;
use std::io;
use std::path::Path;

/// A regular file, open for reading.
#[derive(Debug)]
pub(crate) struct OpenedFile {
    pub(crate) file: File,
    pub(crate) status: Stat,
    /// Its path without links.
    pub(crate) real: RelativePath,
    /// The directory that it is in.
    pub(crate) directory: OwnedFd,
    /// What was passed: the root first, the file itself last.
    passed: Vec<Identity>,
}

impl OpenedFile {
    pub(crate) fn size(&self) -> u64 {
        u64::try_from(self.status.st_size).unwrap_or_default()
    }

    pub(crate) fn stamp(&self) -> Stamp {
        Stamp::of(&self.status)
    }
}

impl Workspace {
    /// Opens a regular file for reading.
    ///
    /// Links are resolved to a path without links, and that path is entered name by name: whatever happens to the links meanwhile, the file
    /// is the one at the path that is returned, or there is an error.
    pub(crate) fn open_file(&self, path: &RelativePath) -> Result<OpenedFile, FileError> {
        let opened = self.open_existing(path, self.existing(path)?)?;
        self.opened_by(&self.judge(), path, opened)
    }

    /// Opens the file at a path without links, which is not judged yet.
    fn open_existing(&self, path: &RelativePath, real: RelativePath) -> Result<OpenedFile, FileError> {
        let Some((parent, name)) = real.split() else {
            return Err(FileError::Directory { path: path.to_string() });
        };
        let wrong = |error: rustix::io::Errno| FileError::new(path, error.into());
        let entered = descend_noting(self.directory.as_fd(), Path::new(parent), For::Entering);
        let (directory, mut passed) = entered.map_err(wrong)?;
        let (file, status) = open_regular(directory.as_fd(), name).map_err(|refusal| refusal.about(path))?;
        passed.push(identity(&status));
        Ok(OpenedFile { file, status, real, directory, passed })
    }

    /// Judges a file by what was passed on the way to it.
    fn opened_by(&self, judge: &Judge<'_>, path: &RelativePath, opened: OpenedFile) -> Result<OpenedFile, FileError> {
        match self.is_closed_place(judge, opened.real.as_path(), &opened.passed) {
            true => Err(FileError::Closed { path: path.to_string() }),
            false => Ok(opened),
        }
    }

    /// Looks at the places that no tool reads, for several files that are opened before anything else runs.
    #[must_use]
    pub fn look(&self) -> Look<'_> {
        Look { workspace: self, judge: self.judge() }
    }

    /// Opens a file as `read_file` would, for a host that shows it to the model itself. `may_be_read` is asked about the call that the tool
    /// would be: first about every name of the file, then about the file that was opened, whatever happened to links meanwhile.
    ///
    /// # Errors
    /// What the tool would say: the path leads out of the workspace, to nothing, or to what is closed or no regular file. Or that it may
    /// not be read.
    pub fn open_to_show(&self, given: &str, may_be_read: impl Fn(&Inspection) -> bool) -> Result<File, String> {
        let said = |error: FileError| error.to_string();
        let judged = |paths: Vec<String>| may_be_shown(given, paths, &may_be_read);
        judged(self.subjects(given).map_err(said)?)?;
        let opened = self.relative(given).and_then(|path| self.open_file(&path)).map_err(said)?;
        judged(vec![opened.real.to_string()])?;
        Ok(opened.file)
    }

    /// The names in a directory, for a host that shows them to the model itself: in order, directories with a slash, at most `most` of
    /// them, and how many more there are. What the model may not read without asking is left out.
    ///
    /// # Errors
    /// The path leads out of the workspace, to what is closed, or to no directory that can be read. Or it may not be read.
    pub fn entries_to_show(
        &self,
        given: &str,
        most: usize,
        may_be_read: impl Fn(&Inspection) -> bool,
    ) -> Result<(Vec<String>, usize), String> {
        let said = |error: FileError| error.to_string();
        let judge = self.judge();
        let is_open = |path: &str| {
            let subject = |paths| Inspection { effect: Effect::Reads, subject: FileKind::Reads.subject(paths) };
            self.subjects_by(&judge, path).is_ok_and(|paths| may_be_read(&subject(paths)))
        };
        let path = self.relative(given).map_err(said)?;
        let real = self.existing(&path).map_err(said)?;
        if !(real.is_root() || is_open(given) && is_open(real.as_str())) {
            return Err(format!("`{given}` may not be read without asking"));
        }
        let failed = |error: rustix::io::Errno| said(FileError::new(&path, error.into()));
        let directory = descend(self.descriptor(), real.as_path(), For::Listing).map_err(failed)?;
        let mut names = Vec::new();
        for entry in Dir::read_from(&directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            // One with another name is none that the model could give.
            let Ok(name) = entry.file_name().to_str() else { continue };
            let place = if real.is_root() { name.to_owned() } else { format!("{real}/{name}") };
            if !matches!(name, "." | "..") && is_open(&place) {
                let slash = if entry.file_type() == FileType::Directory { "/" } else { "" };
                names.push(format!("{name}{slash}"));
            }
        }
        names.sort_unstable();
        let more = names.len().saturating_sub(most);
        names.truncate(most);
        Ok((names, more))
    }

    /// Opens a file that is to be replaced or removed: it must be writable, as the model last saw it, and not protected.
    pub(crate) fn open_target(&self, path: &RelativePath) -> Result<OpenedFile, FileError> {
        self.must_be_writable(path)?;
        let opened = self.open_file(path)?;
        // Again, for the path that was really entered.
        self.must_be_writable(&opened.real)?;
        self.must_lead_past(path, &opened.real, &opened.passed)?;
        let name = opened.real.split().map_or("", |(_, name)| name);
        // Replacing a file does not ask for its own permission; its owner may have taken it away on purpose.
        let writable = openat(&opened.directory, name, OFlags::WRONLY | flags(), Mode::empty());
        writable.map_err(|error| FileError::new(path, error.into()))?;
        match self.record.last_seen(&opened.real) {
            Some(seen) if seen != opened.stamp() => Err(FileError::Stale { path: path.to_string() }),
            Some(_) | None => Ok(opened),
        }
    }

    /// Where an existing file or directory really is.
    pub(crate) fn existing(&self, path: &RelativePath) -> Result<RelativePath, FileError> {
        self.existing_by(&self.judge(), path)
    }

    fn existing_by(&self, judge: &Judge<'_>, path: &RelativePath) -> Result<RelativePath, FileError> {
        let real = self.directory.canonicalize(path.as_path()).map_err(|error| self.say(path, error))?;
        if self.is_closed(&real) || self.is_closed_place(judge, &real, &self.passed_by(&real)) {
            return Err(FileError::Closed { path: path.to_string() });
        }
        RelativePath::from_real(&real).ok_or_else(|| FileError::NotUnicode { path: path.to_string() })
    }

    /// Notes that the model has seen this state of a file.
    pub(crate) fn note_seen(&self, opened: &OpenedFile) {
        self.record.note(&opened.real, opened.stamp());
    }

    pub(crate) fn was_seen(&self, opened: &OpenedFile) -> bool {
        self.record.last_seen(&opened.real).is_some()
    }

    /// Says what went wrong, telling a link to nowhere from nothing.
    pub(crate) fn say(&self, path: &RelativePath, error: io::Error) -> FileError {
        let is_link = || self.directory.symlink_metadata(path.as_path()).is_ok_and(|metadata| metadata.is_symlink());
        if error.kind() == io::ErrorKind::NotFound && is_link() {
            return FileError::DanglingLink { path: path.to_string() };
        }
        FileError::new(path, error)
    }
}

/// A workspace at one moment, see [`Workspace::look`].
pub struct Look<'a> {
    workspace: &'a Workspace,
    judge: Judge<'a>,
}

impl Look<'_> {
    /// Its root.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.workspace.root()
    }

    /// Opens a file as [`Workspace::open_to_show`] does. What is closed was looked up once for all files.
    ///
    /// # Errors
    /// As there.
    pub fn open_to_show(&self, given: &str, may_be_read: impl Fn(&Inspection) -> bool) -> Result<File, String> {
        let Self { workspace, judge } = self;
        let said = |error: FileError| error.to_string();
        let judged = |paths: Vec<String>| may_be_shown(given, paths, &may_be_read);
        judged(workspace.subjects_by(judge, given).map_err(said)?)?;
        let open = |path: RelativePath| {
            let opened = workspace.open_existing(&path, workspace.existing_by(judge, &path)?)?;
            workspace.opened_by(judge, &path, opened)
        };
        let opened = workspace.relative(given).and_then(open).map_err(said)?;
        judged(vec![opened.real.to_string()])?;
        Ok(opened.file)
    }
}

fn may_be_shown(given: &str, paths: Vec<String>, may_be_read: &dyn Fn(&Inspection) -> bool) -> Result<(), String> {
    let read = Inspection { effect: Effect::Reads, subject: FileKind::Reads.subject(paths) };
    if may_be_read(&read) { Ok(()) } else { Err(format!("`{given}` may not be read without asking")) }
}

/// Opens one regular file of a directory, following no link.
pub(crate) fn open_regular(directory: BorrowedFd<'_>, name: impl Arg + Copy) -> Result<(File, Stat), Refusal> {
    // Looked at first, because opening a device may do something; and again after, because it may have been swapped.
    must_be_regular(&statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?)?;
    let file = openat(directory, name, OFlags::RDONLY | flags(), Mode::empty())?;
    let status = fstat(&file)?;
    must_be_regular(&status)?;
    if is_the_kernels(file.as_fd()) {
        return Err(Refusal::Kind("one of the system's own files"));
    }
    Ok((File::from(file), status))
}

/// Why a file is not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Directory,
    /// What it is.
    Kind(&'static str),
    System(rustix::io::Errno),
}

impl From<rustix::io::Errno> for Refusal {
    fn from(error: rustix::io::Errno) -> Self {
        Self::System(error)
    }
}

impl Refusal {
    pub(crate) fn about(self, path: &RelativePath) -> FileError {
        let shown = path.to_string();
        match self {
            Self::Directory => FileError::Directory { path: shown },
            Self::Kind(kind) => FileError::Special { path: shown, kind },
            Self::System(error) => FileError::new(path, error.into()),
        }
    }
}

fn must_be_regular(status: &Stat) -> Result<(), Refusal> {
    match FileType::from_raw_mode(status.st_mode) {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(Refusal::Directory),
        FileType::Fifo => Err(Refusal::Kind("a named pipe")),
        FileType::Socket => Err(Refusal::Kind("a socket")),
        FileType::BlockDevice | FileType::CharacterDevice => Err(Refusal::Kind("a device")),
        // The path was free of links when it was resolved.
        FileType::Symlink => Err(Refusal::Kind("a symbolic link that was just created there")),
        _ => Err(Refusal::Kind("a special file")),
    }
}

/// Whether a file is made up by the kernel, as below `/proc`: these say that they are regular, and tell secrets.
fn is_the_kernels(file: BorrowedFd<'_>) -> bool {
    fstatfs(file).is_ok_and(|system| KERNEL_FILE_SYSTEMS.iter().any(|magic| i128::from(system.f_type) == *magic))
}

fn flags() -> OFlags {
    OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC
}

/// proc, sysfs, debugfs, tracefs, securityfs, selinuxfs, pstore, control groups.
const KERNEL_FILE_SYSTEMS: &[i128] =
    &[0x9fa0, 0x6265_6572, 0x6462_6720, 0x7472_6163, 0x7363_6673, 0xf97c_ff8c, 0x6165_676c, 0x0027_e0eb, 0x6367_7270];
