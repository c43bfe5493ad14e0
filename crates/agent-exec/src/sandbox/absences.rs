//! Paths that are not there, and are not looked for again while the directory in which they, or the first part of them, would be made is
//! unchanged.
//!
//! Of a list of some hundred usual places most are not there, and a look at the few directories tells.

use crate::stamp::Stamp;
use std::collections::HashMap;
use std::io::ErrorKind;
use std::mem;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

#[derive(Debug, Default)]
pub(super) struct Absences {
    /// What may be there.
    open: Vec<PathBuf>,
    /// What is not, by the nearest directory above that is, with what that was when the paths were not there. One look at it tells of all.
    known: HashMap<PathBuf, Group>,
}

#[derive(Debug)]
struct Group {
    stamp: Stamp,
    absent: Vec<PathBuf>,
}

impl Absences {
    pub(super) fn new(paths: Vec<PathBuf>) -> Self {
        Self { open: paths, known: HashMap::new() }
    }

    /// The paths that may be there.
    pub(super) fn without_known(&mut self) -> Vec<&Path> {
        let changed = self.known.extract_if(|above, group| Stamp::of(above) != Some(group.stamp));
        self.open.extend(changed.flat_map(|(_, group)| group.absent));
        let mut may_be_there = Vec::new();
        for path in mem::take(&mut self.open) {
            match Absence::of(&path) {
                Absent::Known(absence) => self.note(path, absence),
                Absent::Yes => self.open.push(path),
                Absent::No => may_be_there.push(path),
            }
        }
        may_be_there.sort();
        let at = self.open.len();
        self.open.extend(may_be_there);
        self.open.iter().skip(at).map(PathBuf::as_path).collect()
    }

    /// Where the directory has changed since the others were looked for, they are looked for again.
    fn note(&mut self, path: PathBuf, Absence { above, stamp }: Absence) {
        let group = self.known.entry(above).or_insert_with(|| Group { stamp, absent: Vec::new() });
        if group.stamp == stamp {
            group.absent.push(path);
        } else {
            self.open.extend(mem::replace(&mut group.absent, vec![path]));
            group.stamp = stamp;
        }
    }
}

/// The nearest directory above a path that is there, and what it was when the path was not.
struct Absence {
    above: PathBuf,
    stamp: Stamp,
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
        let Some(stamp) = Stamp::of(above).filter(|stamp| !stamp.may_stay(read_at)) else { return Absent::Yes };
        if !is_absent(path) {
            return Absent::No;
        }
        Absent::Known(Self { above: above.to_path_buf(), stamp })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::thread::sleep;
    use std::time::Duration;

    /// Longer than the clocks of file systems of tests are behind.
    const A_WHILE: Duration = Duration::from_millis(120);

    #[test]
    fn what_comes_into_being_is_found_wherever_its_path_begins_to_be() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        fs::create_dir(root.join("home")).unwrap();
        fs::create_dir(root.join("elsewhere")).unwrap();
        symlink(root.join("home"), root.join("link")).unwrap();
        let paths = ["home/key", "home/.config/gh/token", "link/other", "none/x"].map(|path| root.join(path));
        let mut absences = Absences::new(paths.to_vec());
        let mut found = |expected: &[&str]| {
            let found = absences.without_known();
            let found: Vec<_> = found.into_iter().map(|path| path.strip_prefix(root).unwrap()).collect();
            assert_eq!(found, expected.iter().map(Path::new).collect::<Vec<_>>());
            absences.known.values().map(|group| group.absent.len()).sum::<usize>()
        };
        assert_eq!(found(&[]), 0, "directories that have just changed are looked at again");
        sleep(A_WHILE);
        assert_eq!((found(&[]), found(&[])), (4, 4));
        fs::create_dir_all(root.join("home/.config/gh")).unwrap();
        assert_eq!(found(&[]), 1, "the directory of three paths changed");
        fs::write(root.join("home/.config/gh/token"), "").unwrap();
        fs::write(root.join("home/key"), "").unwrap();
        found(&["home/.config/gh/token", "home/key"]);
        fs::write(root.join("elsewhere/other"), "").unwrap();
        sleep(A_WHILE);
        found(&["home/.config/gh/token", "home/key"]);
        fs::remove_file(root.join("link")).unwrap();
        symlink(root.join("elsewhere"), root.join("link")).unwrap();
        found(&["home/.config/gh/token", "home/key", "link/other"]);
        fs::remove_file(root.join("home/key")).unwrap();
        fs::rename(root.join("elsewhere"), root.join("none")).unwrap();
        fs::write(root.join("none/x"), "").unwrap();
        found(&["home/.config/gh/token", "none/x"]);
    }
}
