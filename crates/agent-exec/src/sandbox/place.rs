//! A path with what was found there, so that another thing in its place is noticed.
//!
//! Commands run beside each other, and one may put a link or another directory where the next one's mounts are about to be made. So a place
//! is looked at when the sandbox decides about it, and compared when the sandbox is made: by device and number, from within.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// A path without links, and what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub(crate) path: PathBuf,
    device: u64,
    number: u64,
}

impl Place {
    /// What is at a path now. Nothing where there is a link, or nothing that can be seen.
    #[must_use]
    pub fn at(path: &Path) -> Option<Self> {
        let status = fs::symlink_metadata(path).ok().filter(|status| !status.is_symlink())?;
        Some(Self { path: path.to_path_buf(), device: status.dev(), number: status.ino() })
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Device and number of what it was.
    #[must_use]
    pub const fn mark(&self) -> (u64, u64) {
        (self.device, self.number)
    }

    /// The names in the directory that it was; none if it was no directory.
    ///
    /// # Errors
    /// When it cannot be read, or something else is there now.
    pub fn entries(&self) -> std::io::Result<Vec<OsString>> {
        use rustix::fs::{Dir, FileType, Mode, OFlags, fstat, open};
        if !fs::symlink_metadata(&self.path)?.is_dir() {
            return Ok(Vec::new());
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = open(&self.path, flags, Mode::empty())?;
        let status = fstat(&directory)?;
        let is_it = FileType::from_raw_mode(status.st_mode).is_dir()
            && (status.st_dev, status.st_ino) == (self.device, self.number);
        if !is_it {
            return Err(std::io::Error::other("something else is there now"));
        }
        let names = Dir::new(directory)?.map(|entry| Ok(OsStr::from_bytes(entry?.file_name().to_bytes()).to_owned()));
        names.filter(|name| !name.as_ref().is_ok_and(|name| name == "." || name == "..")).collect()
    }

    /// A path as what it leads to is going to be there.
    pub(crate) fn led_to_by(path: &Path) -> Option<Self> {
        let status = fs::metadata(path).ok()?;
        Some(Self { path: path.to_path_buf(), device: status.dev(), number: status.ino() })
    }

    /// Opens it for nothing but its name. Nothing where it is not there any more.
    #[cfg(target_os = "linux")]
    pub(crate) fn open(&self) -> Option<std::os::fd::OwnedFd> {
        use rustix::fs::{Mode, OFlags, fstat, open};
        let opened = open(&self.path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()).ok()?;
        let status = fstat(&opened).ok()?;
        ((status.st_dev, status.st_ino) == (self.device, self.number)).then_some(opened)
    }

    /// A place that nothing is.
    pub(crate) fn of_nothing(path: &Path) -> Self {
        Self { path: path.to_path_buf(), device: 0, number: 0 }
    }

    /// Whether it is still that.
    pub(crate) fn is_there(&self) -> bool {
        Self::at(&self.path).as_ref() == Some(self)
    }

    /// Whether another path leads to the same thing.
    pub(crate) fn is_same_as(&self, other: &Self) -> bool {
        (self.device, self.number) == (other.device, other.number)
    }

    /// As an argument of a helper.
    pub(crate) fn to_argument(&self) -> OsString {
        let mut argument = OsString::from(format!("{}:{}:", self.device, self.number));
        argument.push(&self.path);
        argument
    }

    /// What [`to_argument`](Self::to_argument) wrote.
    pub(crate) fn read(argument: &OsStr) -> Option<Self> {
        let mut parts = argument.as_bytes().splitn(3, |&byte| byte == b':');
        let mut number = || std::str::from_utf8(parts.next()?).ok()?.parse().ok();
        let (device, number) = (number()?, number()?);
        let path = OsString::from_vec(parts.next()?.to_vec()).into();
        Some(Self { path, device, number })
    }
}

/// What a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Led {
    /// To this, through whatever links.
    To(PathBuf),
    /// To nothing.
    Nowhere,
    /// It cannot be seen; the nearest directory that can. A command closes one to have what lies in it taken for absent.
    Behind(PathBuf),
}

/// Follows a path as far as it can be seen.
pub(super) fn led(path: &Path) -> Led {
    led_by(path, MOST_LINKS)
}

fn led_by(path: &Path, links_left: u32) -> Led {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    let error = match path.canonicalize() {
        Ok(real) => return closed_above(&real).map_or(Led::To(real), Led::Behind),
        Err(error) => error,
    };
    let is_a_loop = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    if links_left == 0 || is_a_loop || matches!(error.kind(), NotFound | NotADirectory) {
        return Led::Nowhere;
    }
    let seen = path.ancestors().skip(1).find_map(|above| Some((above, above.canonicalize().ok()?)));
    let Some((above, visible)) = seen else { return Led::Behind(PathBuf::from("/")) };
    // A link that leads into what is closed is closed where it leads.
    let mut rest = path.strip_prefix(above).unwrap_or(Path::new("")).iter();
    let target = rest.next().and_then(|name| fs::read_link(visible.join(name)).ok());
    match target {
        Some(target) => led_by(&visible.join(target).join(rest.as_path()), links_left - 1),
        None => Led::Behind(visible),
    }
}

/// Root passes what keeps an owner out; in the sandbox it does not, so nothing behind it could be looked at there.
fn closed_above(real: &Path) -> Option<PathBuf> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let is_closed = |path: &&Path| {
        fs::symlink_metadata(path).is_ok_and(|found| found.uid() == 0 && found.mode() & OWNER_MAY_ENTER == 0)
    };
    real.ancestors().skip(1).filter(is_closed).last().map(Path::to_path_buf)
}

const OWNER_MAY_ENTER: u32 = 0o100;
/// As many as the kernel follows.
const MOST_LINKS: u32 = 40;

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn another_thing_in_its_place_is_noticed() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let path = root.join("a:b");
        fs::create_dir(&path).unwrap();
        let place = Place::at(&path).unwrap();
        assert_eq!(Place::read(&place.to_argument()), Some(place.clone()));
        assert!(place.is_there());
        fs::rename(&path, root.join("c")).unwrap();
        assert!(!place.is_there());
        fs::create_dir(&path).unwrap();
        assert!(!place.is_there());
        fs::remove_dir(&path).unwrap();
        symlink(root.join("c"), &path).unwrap();
        assert!(!place.is_there());
        assert_eq!(led(&path), Led::To(root.join("c")));
        assert_eq!(led(&root.join("none/at/all")), Led::Nowhere);
        symlink("loop", root.join("loop")).unwrap();
        assert_eq!(led(&root.join("loop")), Led::Nowhere);
    }
}
