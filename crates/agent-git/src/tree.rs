//! A directory that is held by a descriptor: its files are read, made, replaced and removed beneath it, and no symbolic link is followed.
//!
//! Whatever a path names is entered from the descriptor, name by name. So a directory that becomes a link in the very moment in which it is
//! used leads nowhere, and a pipe in place of a file is not waited for.

mod folder;
mod put;
mod read;

pub use read::{open_path, read_path};

use crate::image::{FILE_LIMIT_BYTES, Image};
use folder::Folder;
use put::Spot;
use read::{read_at_most, regular};
use rustix::fs::{
    self, AtFlags, FallocateFlags, FileType, Mode, OFlags, Stat, fallocate, fstat, linkat, mkdirat, open, openat,
    readlinkat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A directory that is held by a descriptor, in which no path follows a symbolic link. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Tree {
    path: PathBuf,
    root: Arc<OwnedFd>,
}

/// Which file it is, whatever is in it and whatever its name: device and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity(u64, u64);

impl Tree {
    /// Holds the directory that has this path now.
    ///
    /// # Errors
    /// When there is no directory, or it may not be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        let root = open(path, DIRECTORY.difference(OFlags::NOFOLLOW), Mode::empty())?;
        Ok(Self { path: path.to_path_buf(), root: Arc::new(root) })
    }

    /// The path that it had when it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which directory it is.
    pub(crate) fn identity(&self) -> io::Result<Identity> {
        Ok(Identity::of(&fstat(&*self.root)?))
    }

    /// Whether the path that it had still leads to it.
    pub(crate) fn is_in_place(&self) -> bool {
        let named = fs::stat(&self.path).map(|found| Identity::of(&found));
        matches!((named, self.identity()), (Ok(named), Ok(held)) if named == held)
    }

    /// The metadata of a file or link.
    pub(crate) fn stat(&self, path: impl AsRef<Path>) -> io::Result<Stat> {
        let (parent, name) = self.parent(path.as_ref())?;
        Ok(statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// What kind of thing is at a path; `None` if nothing is there.
    pub(crate) fn kind(&self, path: impl AsRef<Path>) -> io::Result<Option<FileType>> {
        match self.stat(path) {
            Ok(found) => Ok(Some(FileType::from_raw_mode(found.st_mode))),
            Err(error) if is_absence(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// How a path is at this moment.
    pub fn image(&self, path: impl AsRef<Path>) -> Image {
        match self.parent(path.as_ref()).and_then(|(parent, name)| look(parent.as_fd(), name)) {
            Ok(image) => image,
            Err(error) if is_absence(&error) => Image::Absent,
            Err(error) if is_link_on_the_way(&error) => Image::Opaque("its path leads through a symbolic link"),
            Err(_) => Image::Opaque("it cannot be read"),
        }
    }

    /// The content of a regular file, if it is not longer than this; nothing when there is no file.
    pub(crate) fn read(&self, path: impl AsRef<Path>, limit_bytes: u64) -> io::Result<Option<Vec<u8>>> {
        let file = match self.file(path.as_ref(), OFlags::RDONLY, Mode::empty()) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        read_at_most(file, limit_bytes).map(Some)
    }

    /// A regular file, opened in this way.
    pub(crate) fn file(&self, path: &Path, flags: OFlags, mode: Mode) -> io::Result<File> {
        let (parent, name) = self.parent(path)?;
        regular(openat(&parent, name, flags | FILE, mode)?)
    }

    /// A new file that only this user may read and write; an existing one is an error.
    pub(crate) fn make_private(&self, path: &Path) -> io::Result<File> {
        self.file(path, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL, Mode::RUSR | Mode::WUSR)
    }

    /// Adds to a private file, creating it if needed, by one write: all of it or, on a full disk, nothing. What is reserved
    /// behind it is there for what is added later with no reserve of its own.
    pub(crate) fn append(&self, path: &Path, bytes: &[u8], reserve_bytes: u64) -> io::Result<()> {
        let mut file = self.file(path, OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE, Mode::RUSR | Mode::WUSR)?;
        let found = file.metadata()?;
        if found.nlink() > 1 {
            return Err(io::Error::other("it has another name (a hard link), so writing would change another file"));
        }
        let length = found.len();
        // Also without a reserve of its own: to find out by writing would give up what is reserved.
        let written = match reserve(&file, length, bytes.len() as u64 + reserve_bytes) {
            // What was reserved before stays.
            Err(error) if length > 0 => return Err(error),
            reserved => reserved.and_then(|()| file.write_all(bytes)),
        };
        if written.is_err() {
            // A part of a record would make the records before it unreadable.
            file.set_len(length)?;
            if length == 0 {
                self.remove(path)?;
            }
        }
        written
    }

    /// The directory at this path, which is made if it is not there.
    pub(crate) fn make_directory(&self, path: &Path) -> io::Result<OwnedFd> {
        self.enter(path, true)
    }

    /// The names in a directory; none when it is not there.
    pub(crate) fn names(&self, path: &Path) -> io::Result<Vec<OsString>> {
        use std::os::unix::ffi::OsStringExt as _;
        let directory = match self.enter(path, false) {
            Ok(directory) => directory,
            Err(error) if is_absence(&error) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut names = Vec::new();
        for entry in listing(&directory)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name));
            }
        }
        Ok(names)
    }

    /// The first name in a directory of something of such a kind; none when it is not there.
    pub(crate) fn first_that_is(
        &self,
        path: &Path,
        is_meant: impl Fn(FileType) -> bool,
    ) -> io::Result<Option<OsString>> {
        use std::os::unix::ffi::OsStrExt as _;
        let directory = self.enter(path, false)?;
        for entry in listing(&directory)? {
            let entry = entry?;
            if is_meant(entry.file_type()) {
                return Ok(Some(OsStr::from_bytes(entry.file_name().to_bytes()).to_owned()));
            }
        }
        Ok(None)
    }

    /// Gives a file another name, where there may be one already.
    pub(crate) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let ((old, name), (new, new_name)) = (self.parent(from)?, self.parent(to)?);
        Ok(renameat(&old, name, &new, new_name)?)
    }

    /// Gives a file a second name.
    pub(crate) fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let ((old, name), (new, new_name)) = (self.parent(from)?, self.parent(to)?);
        Ok(linkat(&old, name, &new, new_name, AtFlags::empty())?)
    }

    /// Removes a file or a link.
    pub(crate) fn remove(&self, path: &Path) -> io::Result<()> {
        let (parent, name) = self.parent(path)?;
        Ok(unlinkat(&parent, name, AtFlags::empty())?)
    }

    /// Replaces a file at once, with the permissions it has, if it is still as expected.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn replace(&self, path: &Path, expected: &Image, content: &[u8]) -> io::Result<Replaced> {
        let (parent, name) = self.parent(path)?;
        Spot { parent: parent.as_fd(), name, staging: None }.put(expected, content, |mode| mode)
    }

    /// Makes a path be as it was, with these permissions if they are known, if it still is as expected. Missing directories are made, and
    /// what is new in the staging directory.
    pub(crate) fn restore(
        &self,
        staging: Option<BorrowedFd<'_>>,
        path: &Path,
        expected: &Image,
        target: &Image,
        mode: Option<u32>,
    ) -> io::Result<Replaced> {
        let (folder, name) = split(path)?;
        let parent = self.enter(folder, matches!(target, Image::File { .. } | Image::Link(_)))?;
        let parent = parent.as_fd();
        let spot = Spot { parent, name, staging };
        match target {
            Image::File { bytes, executable } => {
                spot.put(expected, bytes, |found| permissions(found, *executable, mode))
            }
            _ if look(parent, name)? != *expected => Ok(Replaced::No),
            Image::Absent => Ok(unlinkat(parent, name, AtFlags::empty())?).map(|()| Replaced::Yes),
            Image::Link(to) => spot.relink(to).map(|()| Replaced::Yes),
            Image::Opaque(_) => Ok(Replaced::No),
        }
    }

    /// The directory that a path is in, and its name there.
    fn parent<'a>(&self, path: &'a Path) -> io::Result<(Folder<'_>, &'a OsStr)> {
        let (folder, name) = split(path)?;
        if folder.as_os_str().is_empty() {
            return Ok((Folder::Root(self.root.as_fd()), name));
        }
        Ok((Folder::Entered(self.enter(folder, false)?), name))
    }

    fn enter(&self, folder: &Path, make: bool) -> io::Result<OwnedFd> {
        #[cfg(target_os = "linux")]
        if !make && let Some(entered) = self.enter_at_once(folder) {
            return entered;
        }
        self.enter_by_names(folder, make)
    }

    /// By one call, where the kernel has it and nothing forbids it.
    #[cfg(target_os = "linux")]
    fn enter_at_once(&self, folder: &Path) -> Option<io::Result<OwnedFd>> {
        use rustix::fs::{ResolveFlags, openat2};
        if folder.components().any(|part| !matches!(part, Component::Normal(_) | Component::CurDir)) {
            return Some(Err(Errno::XDEV.into()));
        }
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match openat2(&*self.root, folder, DIRECTORY, Mode::empty(), resolve) {
            // The last name may be a link: names tell it from a file.
            Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN | Errno::NOTDIR) => None,
            entered => Some(entered.map_err(io::Error::from)),
        }
    }

    /// Name by name.
    fn enter_by_names(&self, folder: &Path, make: bool) -> io::Result<OwnedFd> {
        let mut at = openat(&*self.root, ".", DIRECTORY, Mode::empty())?;
        for part in folder.components() {
            let name = match part {
                Component::Normal(name) => name,
                Component::CurDir => continue,
                _ => return Err(Errno::XDEV.into()),
            };
            at = match openat(&at, name, DIRECTORY, Mode::empty()) {
                Err(Errno::NOENT) if make => {
                    match mkdirat(&at, name, Mode::from_raw_mode(0o777)) {
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    openat(&at, name, DIRECTORY, Mode::empty())?
                }
                // A link is not a directory to this open.
                Err(Errno::NOTDIR) if is_link(&at, name) => return Err(Errno::LOOP.into()),
                entered => entered?,
            };
        }
        Ok(at)
    }
}

/// Whether a path was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replaced {
    /// It was.
    Yes,
    /// It was not as expected, and stays as it is.
    No,
}

impl Identity {
    #[expect(clippy::useless_conversion, reason = "the types of these numbers differ from system to system")]
    pub(crate) fn of(found: &Stat) -> Self {
        Self(u64::try_from(found.st_dev).unwrap_or_default(), u64::try_from(found.st_ino).unwrap_or_default())
    }
}

/// When the content of a file was last changed.
#[allow(clippy::unnecessary_cast, reason = "the types of these numbers differ from system to system")]
pub(crate) fn modified(found: &Stat) -> SystemTime {
    let seconds = Duration::from_secs(u64::try_from(found.st_mtime as i64).unwrap_or_default());
    let nanos = u32::try_from(found.st_mtime_nsec as i64).unwrap_or_default();
    UNIX_EPOCH + seconds + Duration::from_nanos(u64::from(nanos))
}

/// Whether an error says that nothing is at the path.
pub(crate) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn listing(directory: &OwnedFd) -> io::Result<fs::Dir> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(fs::Dir::new(openat(directory, ".", flags, Mode::empty())?)?)
}

/// Has the system keep room for so many bytes of a file, where its file system can do that.
fn reserve(file: &File, from: u64, bytes: u64) -> io::Result<()> {
    match fallocate(file, FallocateFlags::KEEP_SIZE, from, bytes) {
        Err(error @ (Errno::NOSPC | Errno::DQUOT)) => Err(error.into()),
        _ => Ok(()),
    }
}

fn split(path: &Path) -> io::Result<(&Path, &OsStr)> {
    let name = path.file_name().ok_or_else(|| io::Error::from(Errno::INVAL))?;
    Ok((path.parent().unwrap_or(Path::new("")), name))
}

fn look(parent: BorrowedFd<'_>, name: &OsStr) -> io::Result<Image> {
    let found = match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(Image::Absent),
        found => found?,
    };
    match FileType::from_raw_mode(found.st_mode) {
        FileType::Symlink => return Ok(Image::Link(readlinkat(parent, name, Vec::new())?.into_bytes().into())),
        FileType::RegularFile => {}
        _ => return Ok(Image::Opaque("it is not a regular file")),
    }
    let file = regular(openat(parent, name, OFlags::RDONLY | FILE, Mode::empty())?)?;
    let executable = fstat(&file)?.st_mode & 0o100 != 0;
    match read_at_most(file, FILE_LIMIT_BYTES) {
        Ok(bytes) => Ok(Image::File { bytes: bytes.into(), executable }),
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            Ok(Image::Opaque("it is too large (more than 8 MiB)"))
        }
        Err(error) => Err(error),
    }
}

/// These permissions, where they are known. Else whoever may read may execute, or no one may; if the owner's bits agree already, all stay.
const fn permissions(mode: u32, executable: bool, known: Option<u32>) -> u32 {
    match known {
        Some(known) => known & 0o777,
        None if (mode & 0o100 != 0) == executable => mode,
        None if executable => mode | (mode & 0o444) >> 2,
        None => mode & !0o111,
    }
}

fn is_link(parent: &OwnedFd, name: &OsStr) -> bool {
    let found = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW);
    found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode).is_symlink())
}

fn is_link_on_the_way(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

const DIRECTORY: OFlags = ENTER.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
/// A directory that may be entered and not listed is one, too.
#[cfg(target_os = "linux")]
const ENTER: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const ENTER: OFlags = OFlags::RDONLY;
/// A pipe without a writer is not waited for.
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

#[cfg(test)]
mod tests;
