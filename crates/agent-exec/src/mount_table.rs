//! What is mounted where, and by which other paths the same directory is reached.
//!
//! A directory can be mounted twice: a bind mount, the top of a file system beside one of its subvolumes. Then two paths lead to one thing,
//! and no link tells. The system's table of mounts does: paths with one location in one file system are the same thing. A file system that
//! shows another one's files (an overlay, FUSE, the network) has locations of its own, so what is reached through it is not found.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The mounts that this process sees.
#[derive(Clone, Debug, Default)]
pub struct MountTable(Arc<[Mounted]>);

#[derive(Debug, PartialEq, Eq)]
struct Mounted {
    id: u64,
    parent: u64,
    /// Major and minor number. Subvolumes have the one of their file system.
    device: OsString,
    /// What of the file system is seen.
    root: PathBuf,
    at: PathBuf,
}

/// Where a path lies in its file system.
#[derive(Debug, PartialEq, Eq)]
pub struct Location<'a> {
    mount: &'a Mounted,
    path: PathBuf,
}

impl Location<'_> {
    /// Whether it is, or lies in, what lies at another location.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        self.within(other).is_some()
    }

    /// Where in what lies at another location it lies.
    #[must_use]
    pub fn within(&self, other: &Self) -> Option<&Path> {
        let is_one_system = self.mount.device == other.mount.device;
        self.path.strip_prefix(&other.path).ok().filter(|_| is_one_system)
    }

    /// Whether both are reached by the same mount.
    #[must_use]
    pub fn is_by_mount_of(&self, other: &Self) -> bool {
        self.mount.id == other.mount.id
    }

    /// Its path in the file system, whatever of that is mounted.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl MountTable {
    /// The mounts as they are now.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn now() -> io::Result<Self> {
        if cfg!(not(target_os = "linux")) {
            return Ok(Self::default());
        }
        // It is read each time: the kernel tells of mounts (proc(5)), and not that a directory above one was renamed.
        let text = text()?;
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_ref().is_none_or(|(before, _)| *before != text) {
            let table = Self::read(&text);
            *known = Some((text, table));
        }
        Ok(known.as_ref().map(|(_, table)| table.clone()).unwrap_or_default())
    }

    fn read(text: &[u8]) -> Self {
        Self(text.split(|byte| *byte == b'\n').filter_map(Mounted::read).collect())
    }

    /// Where an absolute path without links lies. Nothing has to be there.
    #[must_use]
    pub fn location(&self, path: &Path) -> Option<Location<'_>> {
        let is_on_the_way = |mount: &&Mounted| path.starts_with(&mount.at);
        let nearest = |mounts: &mut dyn Iterator<Item = &'_ Mounted>| -> Option<u64> {
            mounts.min_by_key(|mount| mount.at.components().count()).map(|mount| mount.id)
        };
        let is_first = |mount: &&Mounted| !self.0.iter().any(|above| above.id == mount.parent && above != *mount);
        let mut at = nearest(&mut self.0.iter().filter(is_on_the_way).filter(is_first))?;
        // What is mounted on a mount hides what lies there, so the way goes from mount to mount.
        for _ in self.0.iter() {
            let next = |mount: &&Mounted| mount.parent == at && mount.id != at;
            let Some(next) = nearest(&mut self.0.iter().filter(next).filter(is_on_the_way)) else { break };
            at = next;
        }
        let mount = self.0.iter().find(|mount| mount.id == at)?;
        Some(Location { mount, path: joined(&mount.root, path.strip_prefix(&mount.at).ok()?) })
    }

    /// Whether something is mounted in a directory, at whatever depth. The path has no links.
    #[must_use]
    pub fn has_mount_in(&self, directory: &Path) -> bool {
        self.0.iter().any(|mount| mount.at != directory && mount.at.starts_with(directory))
    }

    /// What is mounted in a directory, at whatever depth. The path has no links.
    pub(crate) fn mounted_in<'a>(&'a self, directory: &'a Path) -> impl Iterator<Item = &'a Path> {
        self.0.iter().map(|mount| mount.at.as_path()).filter(move |at| *at != directory && at.starts_with(directory))
    }

    /// Whether something is mounted there.
    pub(crate) fn has_mount_at(&self, path: &Path) -> bool {
        self.0.iter().any(|mount| mount.at == path)
    }

    /// The other paths at which what lies at a path, or a part of it, is mounted; also what is mounted in it and somewhere else. The path
    /// has no links.
    #[must_use]
    pub fn aliases(&self, path: &Path) -> Vec<PathBuf> {
        let mut found = self.aliases_of(path);
        let within = self.0.iter().filter(|mount| mount.at != path && mount.at.starts_with(path));
        let others = within.filter(|mount| self.is_seen(mount, &mount.at)).flat_map(|mount| self.aliases_of(&mount.at));
        found.extend(others.filter(|alias| !alias.starts_with(path)));
        found.sort();
        found.dedup();
        found
    }

    /// The other paths at which all that lies at a path is mounted. The path has no links.
    #[must_use]
    pub fn other_names(&self, path: &Path) -> Vec<PathBuf> {
        let Some(location) = self.location(path) else { return Vec::new() };
        let name = |mount: &Mounted| {
            let name = joined(&mount.at, location.path.strip_prefix(&mount.root).ok()?);
            (self.is_seen(mount, &name) && name != path).then_some(name)
        };
        self.0.iter().filter(|mount| mount.device == location.mount.device).filter_map(name).collect()
    }

    /// The other names that a path below a root has, each below the root: where else it is mounted there, and where it was mounted from, in
    /// the root or else in its file system. Neither path has links.
    #[must_use]
    pub fn names(&self, root: &Path, path: &Path) -> Vec<PathBuf> {
        let Some((there, root_itself)) = self.location(path).zip(self.location(root)) else { return Vec::new() };
        let origin = match there.is_by_mount_of(&root_itself) {
            true => None,
            false => there.within(&root_itself).or_else(|| there.path().strip_prefix("/").ok()),
        };
        let others = self.other_names(path);
        let below = others.iter().filter_map(|name| name.strip_prefix(root).ok());
        let mut names: Vec<PathBuf> = origin.into_iter().chain(below).map(Path::to_path_buf).collect();
        names.dedup();
        names
    }

    /// Where else something is mounted that is mounted below a root, outside of that. Nothing where the root's own mount leads there.
    /// Neither path has links.
    #[must_use]
    pub fn names_outside(&self, root: &Path, path: &Path) -> Vec<PathBuf> {
        match self.location(path).zip(self.location(root)) {
            Some((there, root_itself)) if !there.is_by_mount_of(&root_itself) => {
                self.other_names(path).into_iter().filter(|name| !name.starts_with(root)).collect()
            }
            Some(_) | None => Vec::new(),
        }
    }

    fn aliases_of(&self, path: &Path) -> Vec<PathBuf> {
        let Some(location) = self.location(path) else { return Vec::new() };
        let same = self.0.iter().filter(|mount| mount.device == location.mount.device);
        let alias = |mount: &Mounted| {
            let alias = match location.path.strip_prefix(&mount.root) {
                Ok(rest) => joined(&mount.at, rest),
                Err(_) if mount.root.starts_with(&location.path) => mount.at.clone(),
                Err(_) => return None,
            };
            (self.is_seen(mount, &alias) && !alias.starts_with(path)).then_some(alias)
        };
        same.filter_map(alias).collect()
    }

    /// Whether a path leads to a mount. Another one may lie over it.
    fn is_seen(&self, mount: &Mounted, path: &Path) -> bool {
        self.location(path).is_some_and(|found| found.mount.id == mount.id)
    }
}

impl Mounted {
    /// `id parent major:minor root at …`
    fn read(line: &[u8]) -> Option<Self> {
        let mut fields = line.split(|byte| *byte == b' ');
        let mut number = || std::str::from_utf8(fields.next()?).ok()?.parse().ok();
        let (id, parent) = (number()?, number()?);
        let device = OsString::from_vec(fields.next()?.to_vec());
        Some(Self { id, parent, device, root: unescaped(fields.next()?), at: unescaped(fields.next()?) })
    }
}

/// Without a separator at the end where nothing is added.
fn joined(path: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { path.to_path_buf() } else { path.join(rest) }
}

/// A blank is `\040`.
fn unescaped(field: &[u8]) -> PathBuf {
    let (mut bytes, mut rest) = (Vec::with_capacity(field.len()), field);
    while let Some((&first, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|_| first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match octal.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    std::ffi::OsStr::from_bytes(&bytes).into()
}

/// The system's table. The file has no length: room that is made before takes fewer calls than room that grows.
fn text() -> io::Result<Vec<u8>> {
    let mut file = File::open(TABLE)?;
    let (mut text, mut length) = (vec![0; ROOM_BYTES], 0);
    loop {
        match file.read(text.get_mut(length..).unwrap_or_default()) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if length == text.len() {
            text.resize(2 * length, 0);
        }
    }
    text.truncate(length);
    Ok(text)
}

const TABLE: &str = "/proc/self/mountinfo";
const ROOM_BYTES: usize = 16 * 1024;
/// The table as it was read last, and what it says.
static KNOWN: Mutex<Option<(Vec<u8>, MountTable)>> = Mutex::new(None);

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
20 1 8:1 / / rw - ext4 /dev/sda1 rw
21 20 0:30 /@home /home rw - btrfs /dev/sdb rw
22 20 0:30 / /mnt/top rw - btrfs /dev/sdb rw
23 20 0:30 /@home/me/keys/old /srv/old\\040keys rw - btrfs /dev/sdb rw
24 20 8:1 / /sysroot rw - ext4 /dev/sda1 rw
25 24 0:40 / /sysroot/etc rw - tmpfs tmpfs rw
26 22 0:41 / /mnt/top/@home/you rw - tmpfs tmpfs rw
";

    fn aliases(path: &str) -> Vec<String> {
        let table = MountTable::read(MOUNTS.as_bytes());
        table.aliases(Path::new(path)).iter().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn every_other_way_to_a_directory_and_to_its_parts_is_found() {
        assert_eq!(aliases("/home/me/keys"), ["/mnt/top/@home/me/keys", "/srv/old keys"]);
        assert_eq!(aliases("/home/me/keys/old/x"), ["/mnt/top/@home/me/keys/old/x", "/srv/old keys/x"]);
        assert_eq!(aliases("/mnt/top/@home/me/keys"), ["/home/me/keys", "/srv/old keys"]);
        assert_eq!(aliases("/root/.ssh"), ["/sysroot/root/.ssh"]);
        // Something else is mounted over the other name.
        assert_eq!(aliases("/etc/shadow"), Vec::<String>::new());
        assert_eq!(aliases("/home/you"), Vec::<String>::new());
        assert_eq!(aliases("/home"), ["/mnt/top/@home", "/srv/old keys"]);
        let table = MountTable::read(MOUNTS.as_bytes());
        assert_eq!(table.other_names(Path::new("/home/me/keys")), [Path::new("/mnt/top/@home/me/keys")]);
    }

    #[test]
    fn what_is_mounted_in_a_directory_is_found_where_else_it_is_mounted() {
        let mounts = "\
1 1 8:1 / / rw
2 1 0:50 / /home/me/.keys/vault rw
3 1 0:50 /in /srv/v rw
4 1 0:51 / /home/me/.keys/tmp rw
";
        let table = MountTable::read(mounts.as_bytes());
        assert_eq!(table.aliases(Path::new("/home/me/.keys")), [Path::new("/srv/v")]);
        assert!(table.other_names(Path::new("/home/me/.keys")).is_empty());
    }

    #[test]
    fn a_mount_hides_what_lies_below_it() {
        let table = MountTable::read(b"1 1 8:1 / / rw\n2 1 8:2 / /a/b rw\n3 1 8:3 / /a rw\n4 3 8:4 /r /a rw\n");
        let location = table.location(Path::new("/a/b/c")).unwrap();
        assert_eq!((location.mount.id, location.path), (4, PathBuf::from("/r/b/c")));
        assert!(MountTable::read(b"").location(Path::new("/a")).is_none());
        assert!(MountTable::read(b"nonsense\n1 2\n").0.is_empty());
        if cfg!(target_os = "linux") {
            assert!(MountTable::now().unwrap().location(Path::new("/proc/self")).is_some());
        }
    }
}
