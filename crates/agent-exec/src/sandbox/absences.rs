//! Paths that are not there, and are not looked for again while the directory in which they, or the first part of them, would be made is unchanged.
//!
//! Of a list of some two hundred usual places most are not there. A new entry changes the time of its directory's last change, which no program
//! can set, so a look at the few directories tells.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[derive(Debug, Default)]
pub(super) struct Absences(HashMap<PathBuf, Absence>);

/// The nearest directory above a path that is there, and what it was when the path was not.
#[derive(Debug)]
struct Absence {
    above: PathBuf,
    stamp: Stamp,
}

/// Device, number and last change, in seconds and nanoseconds.
type Stamp = (u64, u64, i64, i64);

impl Absences {
    /// The paths that may be there.
    pub(super) fn without_known<'a>(&mut self, paths: &'a [PathBuf]) -> Vec<&'a Path> {
        let mut stamps: HashMap<PathBuf, Option<Stamp>> = HashMap::new();
        let mut stamp_of = |above: &Path| match stamps.get(above) {
            Some(stamp) => *stamp,
            None => *stamps.entry(above.to_path_buf()).or_insert_with(|| stamp(above)),
        };
        let mut may_be_there = Vec::new();
        for path in paths {
            if self.0.get(path).is_some_and(|known| stamp_of(&known.above) == Some(known.stamp)) {
                continue;
            }
            match Absence::of(path) {
                Absent::Known(absence) => drop(self.0.insert(path.clone(), absence)),
                Absent::Yes => drop(self.0.remove(path)),
                Absent::No => {
                    self.0.remove(path);
                    may_be_there.push(path.as_path());
                }
            }
        }
        may_be_there
    }
}

enum Absent {
    No,
    Yes,
    Known(Absence),
}

impl Absence {
    fn of(path: &Path) -> Absent {
        let is_absent = |path: &Path| path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound);
        if !is_absent(path) {
            return Absent::No;
        }
        // What follows is in this order: a path that is made after the last look changes the directory after its time was read.
        let Some(above) = path.ancestors().skip(1).find(|above| !is_absent(above)) else { return Absent::Yes };
        let read_at = SystemTime::now();
        let Some(stamp) = stamp(above).filter(|stamp| !is_racy(*stamp, read_at)) else { return Absent::Yes };
        if !is_absent(path) {
            return Absent::No;
        }
        Absent::Known(Self { above: above.to_path_buf(), stamp })
    }
}

fn stamp(directory: &Path) -> Option<Stamp> {
    let found = directory.metadata().ok().filter(std::fs::Metadata::is_dir)?;
    Some((found.dev(), found.ino(), found.ctime(), found.ctime_nsec()))
}

/// Whether an entry that is made now could leave the time as it is: a file system's clock goes in steps.
fn is_racy((_, _, seconds, nanos): Stamp, read_at: SystemTime) -> bool {
    let changed = Duration::from_secs(u64::try_from(seconds).unwrap_or_default())
        + Duration::from_nanos(u64::try_from(nanos).unwrap_or_default());
    read_at.duration_since(UNIX_EPOCH).is_ok_and(|read_at| changed + COARSENESS >= read_at)
}

/// The clock of a file system may be behind by so much.
const COARSENESS: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::thread::sleep;

    #[test]
    fn what_comes_into_being_is_found_wherever_its_path_begins_to_be() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        fs::create_dir(root.join("home")).unwrap();
        fs::create_dir(root.join("elsewhere")).unwrap();
        symlink(root.join("home"), root.join("link")).unwrap();
        let paths = ["home/key", "home/.config/gh/token", "link/other", "none/x"].map(|path| root.join(path));
        let mut absences = Absences::default();
        let mut found = |expected: &[&str]| {
            let found = absences.without_known(&paths);
            let found: Vec<_> = found.into_iter().map(|path| path.strip_prefix(root).unwrap()).collect();
            assert_eq!(found, expected.iter().map(Path::new).collect::<Vec<_>>());
            absences.0.len()
        };
        assert_eq!(found(&[]), 0, "directories that have just changed are looked at again");
        sleep(2 * COARSENESS);
        assert_eq!((found(&[]), found(&[])), (4, 4));
        fs::create_dir_all(root.join("home/.config/gh")).unwrap();
        assert_eq!(found(&[]), 1, "the directory of three paths changed");
        fs::write(root.join("home/.config/gh/token"), "").unwrap();
        fs::write(root.join("home/key"), "").unwrap();
        found(&["home/key", "home/.config/gh/token"]);
        fs::write(root.join("elsewhere/other"), "").unwrap();
        sleep(2 * COARSENESS);
        found(&["home/key", "home/.config/gh/token"]);
        fs::remove_file(root.join("link")).unwrap();
        symlink(root.join("elsewhere"), root.join("link")).unwrap();
        found(&["home/key", "home/.config/gh/token", "link/other"]);
        fs::remove_file(root.join("home/key")).unwrap();
        fs::rename(root.join("elsewhere"), root.join("none")).unwrap();
        fs::write(root.join("none/x"), "").unwrap();
        found(&["home/.config/gh/token", "none/x"]);
    }
}
