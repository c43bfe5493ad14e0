//! Where a path leads, link by link.

use crate::first_line::is_script;
use crate::mount_table::MountTable;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Whether a path lies in one of these places, or goes through one: a link there can be led elsewhere, wherever it ends now. The places are
/// compared as they are given, so each should be given by its name and by where it really is; and by what they are, so a second mount of a
/// place, or of a directory in it, is that place.
///
/// A path that is not absolute, goes round in a circle or cannot be looked at counts as one that does. So does one through a link of procfs
/// (`/proc/self/cwd`, `/dev/fd/3`), which leads each process elsewhere, or through a process that is not there yet. What else is not there
/// leads nowhere.
#[must_use]
pub fn leads_into<P: AsRef<Path>>(path: &Path, places: &[P]) -> bool {
    Places::of(places).are_on_the_way_of(path)
}

/// Whether a file has several names, of which another one may lie where commands write: what is written under that name is written here.
/// Programs of the system have some of old, and count as ones that have none. So do those that the machine's owner has installed
/// (`/usr/local`; git gives one file a hundred names there), but for scripts.
#[must_use]
pub fn has_another_name(path: &Path) -> bool {
    if !fs::metadata(path).is_ok_and(|file| file.is_file() && file.nlink() > 1) {
        return false;
    }
    match path.canonicalize() {
        Ok(real) if real.starts_with(LOCAL) => is_script(&real),
        Ok(real) => !SYSTEM.iter().any(|system| real.starts_with(system)),
        Err(_) => true,
    }
}

/// Whether the directory of an entry is one of procfs, wherever that is mounted.
#[cfg(target_os = "linux")]
fn is_in_procfs(entry: &Path) -> bool {
    let system = entry.parent().map(rustix::fs::statfs);
    system.is_some_and(|system| system.is_ok_and(|system| system.f_type == rustix::fs::PROC_SUPER_MAGIC))
}

#[cfg(not(target_os = "linux"))]
fn is_in_procfs(entry: &Path) -> bool {
    entry.starts_with("/proc") || entry.starts_with("/dev/fd")
}

/// Places, by all that tells them: read once for several paths that are judged at the same time.
pub(crate) struct Places<'a> {
    names: Vec<&'a Path>,
    identities: Vec<(u64, u64)>,
    /// Without one, names and identities have to do.
    mounts: MountTable,
}

impl<'a> Places<'a> {
    pub(crate) fn of<P: AsRef<Path>>(places: &'a [P]) -> Self {
        let names: Vec<&Path> = places.iter().map(AsRef::as_ref).collect();
        let identities = names.iter().filter_map(|place| identity(&fs::metadata(place).ok()?)).collect();
        Self { names, identities, mounts: MountTable::now().unwrap_or_default() }
    }

    /// Whether a path lies in one of them, or goes through one: [`leads_into`].
    pub(crate) fn are_on_the_way_of(&self, path: &Path) -> bool {
        let parts =
            |path: &Path| path.components().map(|part| part.as_os_str().to_owned()).collect::<VecDeque<OsString>>();
        let (mut to_go, mut at, mut links) = (parts(path), PathBuf::from("/"), 0);
        if !path.is_absolute() {
            return true;
        }
        while let Some(part) = to_go.pop_front() {
            if part == ".." {
                at.pop();
                continue;
            }
            // The root begins anew.
            at.push(&part);
            if self.hold(&at) {
                return true;
            }
            match at.read_link() {
                Ok(target) => {
                    links += 1;
                    if links > MOST_LINKS || is_in_procfs(&at) {
                        return true;
                    }
                    at.pop();
                    parts(&target).into_iter().rev().for_each(|part| to_go.push_front(part));
                }
                // A process or a descriptor may be there by then.
                Err(error) if error.kind() == ErrorKind::NotFound && is_in_procfs(&at) => return true,
                // It is no link, or there is nothing.
                Err(error)
                    if matches!(
                        error.kind(),
                        ErrorKind::InvalidInput | ErrorKind::NotFound | ErrorKind::NotADirectory
                    ) => {}
                Err(_) => return true,
            }
        }
        false
    }

    /// Whether what is written in one of them may change the file at this path: [`leads_into`] one, or [`has_another_name`].
    pub(crate) fn may_change(&self, path: &Path) -> bool {
        self.are_on_the_way_of(path) || !self.names.is_empty() && has_another_name(path)
    }

    /// Whether one of them is at a path without links, or above it.
    fn hold(&self, path: &Path) -> bool {
        let identity = fs::symlink_metadata(path).ok().and_then(|status| identity(&status));
        self.names.iter().any(|place| path.starts_with(place))
            || identity.is_some_and(|identity| self.identities.contains(&identity))
            || self.hold_mount(path)
    }

    /// What is mounted there may be a part of a place, which nothing above it tells.
    fn hold_mount(&self, path: &Path) -> bool {
        let Some(location) = self.mounts.location(path).filter(|_| self.mounts.has_mount_at(path)) else {
            return false;
        };
        let places = self.names.iter().filter_map(|place| self.mounts.location(place));
        places.into_iter().any(|place| location.is_within(&place))
    }
}

/// A file may have other names that are no mounts; a directory has none.
fn identity(status: &fs::Metadata) -> Option<(u64, u64)> {
    status.is_dir().then(|| (status.dev(), status.ino()))
}

/// Where a distribution keeps its programs.
const SYSTEM: [&str; 9] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/snap"];
/// Of these, what the owner of the machine installs.
const LOCAL: &str = "/usr/local";
/// As many as the kernel follows.
const MOST_LINKS: usize = 40;

#[cfg(test)]
mod tests {
    use super::{has_another_name, leads_into};
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    #[test]
    fn every_step_counts() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for name in ["ws", "bin", "elsewhere"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        fs::write(root.join("elsewhere/real"), "").unwrap();
        fs::write(root.join("ws/own"), "").unwrap();
        for (link, to) in [
            ("ws/back", "../elsewhere/real"),
            ("bin/end", "../ws/own"),
            ("bin/through", "../ws/back"),
            ("bin/twice", "through"),
            ("bin/folder", "../ws"),
            ("bin/circle", "circle"),
            ("bin/later", "../ws/not-yet"),
            ("bin/fine", "../elsewhere/real"),
            ("bin/broken", "../elsewhere/absent"),
        ] {
            symlink(to, root.join(link)).unwrap();
        }
        let places = [root.join("ws")];
        for path in [
            "ws",
            "ws/own",
            "bin/end",
            "bin/through",
            "bin/twice",
            "bin/folder/own",
            "bin/circle",
            "bin/later",
            "bin/../ws/x",
        ] {
            assert!(leads_into(&root.join(path), &places), "{path}");
        }
        for path in ["bin/fine", "bin/broken", "elsewhere/real", "bin/absent", "wsx", "bin/fine/x"] {
            assert!(!leads_into(&root.join(path), &places), "the control {path}");
        }
        assert!(leads_into("bin/fine".as_ref(), &places), "a relative path is one of any directory");
    }
    #[cfg(target_os = "linux")]
    #[test]
    fn what_leads_each_process_elsewhere_counts() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        symlink("/proc/self/cwd", root.join("here")).unwrap();
        let places = [root.join("ws")];
        let own = std::process::id();
        for path in [
            "/proc/self/cwd/x".to_owned(),
            "/proc/thread-self/cwd/x".to_owned(),
            "/proc/self/root/x".to_owned(),
            "/proc/self/fd/0".to_owned(),
            "/proc/self/../self/cwd".to_owned(),
            "/dev/fd/3/x".to_owned(),
            "/dev/fd/../cwd/x".to_owned(),
            format!("/proc/{own}/cwd/x"),
            format!("/proc/{own}/task/{own}/cwd/x"),
            // No process has a number as large as this.
            "/proc/4194305/cwd/x".to_owned(),
            root.join("here/x").display().to_string(),
        ] {
            assert!(leads_into(path.as_ref(), &places), "{path}");
        }
        for path in ["/proc/uptime", "/proc/sys/kernel/ostype", "/proc/..", "/dev/null"] {
            assert!(!leads_into(path.as_ref(), &places), "the control {path}");
        }
    }

    #[test]
    fn names_elsewhere_count_and_those_of_the_system_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        fs::write(&one, "").unwrap();
        assert!(!has_another_name(&one) && !has_another_name(&folder.path().join("absent")));
        fs::hard_link(&one, &other).unwrap();
        assert!(has_another_name(&one) && has_another_name(&other));
        // Where this machine has git from its sources, most of its commands are names of one file.
        for program in ["/usr/bin/perl", "/usr/local/bin/git"] {
            assert!(!has_another_name(Path::new(program)), "{program}");
        }
    }
}
