//! What must neither come into being nor be replaced while commands run, such as `.git` where there is none.
//!
//! Nothing can be mounted over what is not there, and something put there for that is in the way of others: a `.git` that is no repository
//! stops builds. So it is looked at instead. What came is set aside under a name on which nobody acts; nothing of it is lost.
//!
//! ```text
//! the first command begins   what is there is noted
//! any command ends           what is there and was not is set aside; a link that was replaced is made again
//! the last command ends      the note is dropped: what changes from now on, no command did
//! ```

use super::guard::named;
use crate::rename::rename_to_free;
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, ResolveFlags, StatxFlags, chmod, open, openat2, readlinkat, statx, symlinkat,
};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::ffi::{CString, OsStr, OsString};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// The paths that are kept, all within one directory.
#[derive(Debug)]
pub(super) struct Kept {
    directory: PathBuf,
    /// Relative to the directory.
    paths: Vec<PathBuf>,
    note: Mutex<Note>,
}

/// What was there when the first of the commands began that run now.
#[derive(Debug, Default)]
struct Note {
    running: usize,
    begun: Option<SystemTime>,
    /// When commands ran before.
    ran: Vec<(SystemTime, SystemTime)>,
    /// What is kept, and what was there.
    before: Vec<(PathBuf, Was)>,
    /// The links on the way to what is kept.
    links: Vec<PathBuf>,
}

/// What a path led to, not through a link at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Was {
    Nothing,
    Link(CString),
    /// Device, number and birth: a number is given again.
    Other {
        device: (u32, u32),
        number: u64,
        born: (i64, u32),
    },
    /// It could not be looked at.
    Unknown,
}

impl Kept {
    /// What does not lie in the directory is left out: no command can write it.
    pub(super) fn new(directory: &Path, paths: &[PathBuf]) -> Self {
        let within = |path: &PathBuf| path.strip_prefix(directory).ok().map(Path::to_path_buf);
        let mut paths: Vec<PathBuf> = paths.iter().filter_map(within).collect();
        paths.sort();
        paths.dedup();
        Self { directory: directory.to_path_buf(), paths, note: Mutex::default() }
    }

    /// A command begins. Whether no other one runs.
    pub(super) fn begin(&self) -> bool {
        let mut note = self.note.lock().unwrap_or_else(PoisonError::into_inner);
        if note.running == 0 {
            note.before = self.paths.iter().map(|path| (path.clone(), self.look(path))).collect();
            note.links = self.paths.iter().filter_map(|path| self.link_on_the_way(path)).collect();
            note.begun = Some(SystemTime::now());
        }
        note.running += 1;
        note.running == 1
    }

    /// While the commands run that run now, these are kept, too, as they are at this moment.
    pub(super) fn also(&self, paths: &[PathBuf]) {
        let mut note = self.note.lock().unwrap_or_else(PoisonError::into_inner);
        let known: BTreeSet<&Path> = note.before.iter().map(|(path, _)| &**path).collect();
        let within = paths.iter().filter_map(|path| path.strip_prefix(&self.directory).ok());
        let new: BTreeSet<&Path> =
            within.filter(|path| !path.as_os_str().is_empty() && !known.contains(path)).collect();
        let new: Vec<_> = new.into_iter().map(|path| (path.to_path_buf(), self.look(path))).collect();
        let links: Vec<_> = new.iter().filter_map(|(path, _)| self.link_on_the_way(path)).collect();
        note.before.extend(new);
        note.links.extend(links);
    }

    /// Whether a command ran at that time.
    pub(super) fn ran_at(&self, time: SystemTime) -> bool {
        let note = self.note.lock().unwrap_or_else(PoisonError::into_inner);
        let now = note.begun.filter(|_| note.running > 0).map(|begun| (begun, SystemTime::now()));
        note.ran.iter().copied().chain(now).any(|(from, to)| time + COARSENESS >= from && time <= to + COARSENESS)
    }

    /// A command has ended. What had to be done, as sentences.
    pub(super) fn end(&self) -> Vec<String> {
        let mut note = self.note.lock().unwrap_or_else(PoisonError::into_inner);
        note.running = note.running.saturating_sub(1);
        if note.running == 0
            && let Some(begun) = note.begun
        {
            note.ran.push((begun, SystemTime::now()));
            // Two that are near each other are one: it is a matter of who made what, and pauses between commands are short.
            if note.ran.len() > MOST_RUNS {
                let (_, to) = note.ran.remove(1);
                note.ran[0].1 = to;
            }
        }
        let mut remarks = Vec::new();
        for (path, _) in &note.before {
            // A new one leads to another thing of that name.
            if let Some(link) = self.link_on_the_way(path).filter(|link| !note.links.contains(link)) {
                remarks.push(self.set_aside(&link));
            }
        }
        for (path, before) in &note.before {
            let now = self.look(path);
            if now == *before {
                continue;
            }
            // What could not be looked at may have been there, and what cannot be now has not come.
            if *before == Was::Unknown || now == Was::Unknown {
                remarks
                    .push(format!("`{}` could not be watched all the time: inspect it before you use it", named(path)));
                continue;
            }
            if now != Was::Nothing {
                remarks.push(self.set_aside(path));
            }
            if let Was::Link(target) = before
                && self.link_again(path, target).is_ok()
            {
                remarks.push(format!("the link `{}` was replaced and has been restored", named(path)));
            }
        }
        remarks
    }

    /// Gives what lies at a relative path another name, and says so.
    pub(super) fn set_aside(&self, path: &Path) -> String {
        let shown = named(path);
        match self.rename(path) {
            Ok(name) => format!(
                "`{shown}` was created or replaced while commands ran, which the sandbox forbids: it is now `{}`. If you want it there, \
                 create it outside the sandbox",
                named(&path.with_file_name(name))
            ),
            Err(error) => format!(
                "`{shown}` was created or replaced while commands ran, which the sandbox forbids, and could not be renamed ({error}): \
                 other programs act on it automatically, so remove it first"
            ),
        }
    }

    fn look(&self, path: &Path) -> Was {
        let found = self.within_parent(path, |parent, name| {
            let asked = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
            let status = statx(parent, name, AtFlags::SYMLINK_NOFOLLOW, asked)?;
            if FileType::from_raw_mode(status.stx_mode.into()).is_symlink() {
                return Ok(Was::Link(readlinkat(parent, name, Vec::new())?));
            }
            let device = (status.stx_dev_major, status.stx_dev_minor);
            let born = (status.stx_btime.tv_sec, status.stx_btime.tv_nsec);
            Ok(Was::Other { device, number: status.stx_ino, born })
        });
        match found {
            Ok(found) => found,
            // A link on the way leads to another path, which is none of these.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Was::Nothing,
            Err(_) => Was::Unknown,
        }
    }

    fn link_on_the_way(&self, path: &Path) -> Option<PathBuf> {
        let mut above: Vec<&Path> = path.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty()).collect();
        above.reverse();
        above.into_iter().find(|path| self.directory.join(path).is_symlink()).map(Path::to_path_buf)
    }

    fn rename(&self, path: &Path) -> rustix::io::Result<OsString> {
        self.within_parent(path, |parent, name| {
            for _ in 0..MOST_TRIES {
                // A command that knew the name could take it first.
                let random = RandomState::new().build_hasher().finish();
                let mut aside = name.to_owned();
                aside.push(format!("{ASIDE}-{random:016x}"));
                match rename_to_free(parent, name, parent, &*aside) {
                    Err(Errno::EXIST) => {}
                    renamed => return renamed.map(|()| aside),
                }
            }
            Err(Errno::EXIST)
        })
    }

    fn link_again(&self, path: &Path, target: &CString) -> rustix::io::Result<()> {
        self.within_parent(path, |parent, name| symlinkat(target, parent, name))
    }

    /// Does something in the directory that a path lies in. No link on the way is followed, whoever puts one there meanwhile; and a command
    /// that has closed that directory to keep us out has not.
    fn within_parent<T>(
        &self,
        path: &Path,
        action: impl Fn(&OwnedFd, &OsStr) -> rustix::io::Result<T>,
    ) -> rustix::io::Result<T> {
        let name = path.file_name().ok_or(Errno::INVAL)?;
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = open(&self.directory, flags, Mode::empty())?;
        let parent = match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            Some(parent) => {
                let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
                openat2(&root, parent, flags, Mode::empty(), resolve)?
            }
            None => root,
        };
        match action(&parent, name) {
            Err(Errno::ACCESS) => {}
            done => return done,
        }
        let mode = Mode::from_raw_mode(rustix::fs::fstat(&parent)?.st_mode);
        let itself = format!("/proc/self/fd/{}", parent.as_raw_fd());
        chmod(&itself, mode | Mode::RWXU)?;
        let done = action(&parent, name);
        // It was its owner's will, and may be so for other reasons.
        let _ = chmod(&itself, mode);
        done
    }
}

/// Behind the name of what was set aside.
const ASIDE: &str = ".set-aside";
/// The clock of a file system may be behind by so much.
const COARSENESS: Duration = Duration::from_millis(20);
/// Times of commands that are told apart.
const MOST_RUNS: usize = 1_000;
/// Of names that nobody can guess, the first is free.
const MOST_TRIES: u32 = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn kept(names: &[&str]) -> (tempfile::TempDir, PathBuf, Kept) {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().canonicalize().unwrap();
        let paths: Vec<PathBuf> = names.iter().map(|name| path.join(name)).collect();
        let kept = Kept::new(&path, &paths);
        (root, path, kept)
    }

    fn set_aside(directory: &Path) -> Vec<PathBuf> {
        let paths = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        paths.filter(|path| path.to_string_lossy().contains(".git.set-aside-")).collect()
    }

    #[test]
    fn what_came_is_set_aside_and_what_was_there_stays() {
        let (_root, path, kept) = kept(&[".git", ".agent", "sub/.git"]);
        fs::create_dir(path.join(".agent")).unwrap();
        kept.begin();
        fs::create_dir(path.join(".git")).unwrap();
        fs::write(path.join(".git/config"), "mine").unwrap();
        fs::write(path.join(".agent/config.toml"), "").unwrap();
        let remarks = kept.end();
        assert_eq!(remarks.len(), 1, "{remarks:?}");
        let aside = set_aside(&path);
        assert!(remarks[0].contains(aside[0].file_name().unwrap().to_str().unwrap()), "{remarks:?}");
        assert_eq!(fs::read_to_string(aside[0].join("config")).unwrap(), "mine");
        assert!(!path.join(".git").exists() && path.join(".agent/config.toml").exists());

        kept.begin();
        fs::write(path.join(".git"), "gitdir: elsewhere").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o500)).unwrap();
        assert_eq!(kept.end().len(), 1);
        assert!(set_aside(&path).iter().any(|path| path.is_file()), "the directory was closed");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o500);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();

        // Between commands it is somebody else's doing.
        fs::create_dir(path.join(".git")).unwrap();
        kept.begin();
        assert_eq!(kept.end(), Vec::<String>::new());
        assert!(path.join(".git").exists());
    }

    #[test]
    fn what_took_the_place_of_another_is_set_aside() {
        let (_root, path, kept) = kept(&[".git", "sub/.git"]);
        fs::create_dir_all(path.join("sub/.git")).unwrap();
        fs::write(path.join("sub/.git/config"), "first").unwrap();
        symlink("sub/.git", path.join(".git")).unwrap();
        kept.begin();
        fs::remove_file(path.join(".git")).unwrap();
        fs::create_dir(path.join(".git")).unwrap();
        fs::rename(path.join("sub"), path.join("moved")).unwrap();
        fs::create_dir_all(path.join("sub/.git")).unwrap();
        let remarks = kept.end();
        assert_eq!(remarks.len(), 3, "{remarks:?}");
        assert_eq!(fs::read_link(path.join(".git")).unwrap(), Path::new("sub/.git"));
        assert!(set_aside(&path)[0].is_dir() && set_aside(&path.join("sub"))[0].is_dir());
        assert!(!path.join("sub/.git").exists());
        assert_eq!(fs::read_to_string(path.join("moved/.git/config")).unwrap(), "first");
    }

    #[test]
    fn what_is_kept_besides_is_kept_while_commands_run() {
        let (_root, path, kept) = kept(&[]);
        symlink("dev/rc", path.join(".bashrc")).unwrap();
        let more = [path.join(".bashrc"), path.join("absent"), path.clone(), PathBuf::from("/etc/elsewhere")];
        kept.begin();
        kept.also(&more);
        kept.also(&more);
        fs::remove_file(path.join(".bashrc")).unwrap();
        fs::write(path.join(".bashrc"), "mine").unwrap();
        fs::write(path.join("absent"), "").unwrap();
        let remarks = kept.end();
        assert_eq!(remarks.len(), 3, "{remarks:?}");
        assert_eq!(fs::read_link(path.join(".bashrc")).unwrap(), Path::new("dev/rc"));
        assert!(!path.join("absent").exists());
        // The next time only what is named again.
        kept.begin();
        fs::remove_file(path.join(".bashrc")).unwrap();
        assert_eq!(kept.end(), Vec::<String>::new());
    }

    /// A command that still runs has not made what another one is asked about at its end.
    #[test]
    fn commands_side_by_side_share_what_was_there_before() {
        let (_root, path, kept) = kept(&[".git"]);
        kept.begin();
        fs::create_dir(path.join(".git")).unwrap();
        kept.begin();
        assert_eq!(kept.end().len(), 1);
        assert!(!path.join(".git").exists());
        fs::create_dir(path.join(".git")).unwrap();
        assert_eq!(kept.end().len(), 1);
        assert!(!path.join(".git").exists());
    }

    #[test]
    fn a_link_in_the_place_of_a_directory_is_set_aside() {
        let (_root, path, kept) = kept(&["a/b/hooks", "a/absent"]);
        fs::create_dir_all(path.join("a/b/hooks")).unwrap();
        kept.begin();
        fs::rename(path.join("a"), path.join("moved")).unwrap();
        fs::create_dir_all(path.join("evil/b/hooks")).unwrap();
        symlink("evil", path.join("a")).unwrap();
        let remarks = kept.end();
        assert_eq!(remarks.len(), 1, "{remarks:?}");
        assert!(!path.join("a").is_symlink() && path.join("evil/b/hooks").exists());
    }

    #[test]
    fn a_link_on_the_way_is_set_aside_and_not_followed() {
        let (_root, path, kept) = kept(&["sub/.git"]);
        let outside = tempfile::tempdir().unwrap();
        fs::create_dir(outside.path().join(".git")).unwrap();
        kept.begin();
        symlink(outside.path(), path.join("sub")).unwrap();
        assert_eq!(kept.end().len(), 1);
        assert!(!path.join("sub").is_symlink() && outside.path().join(".git").exists());
        // One that comes later is nobody's way either.
        symlink(outside.path(), path.join("sub")).unwrap();
        let (message, there) = (kept.set_aside(Path::new("sub/.git")), outside.path().join(".git"));
        assert!(message.contains("could not be renamed") && there.exists(), "{message}");
    }
}
