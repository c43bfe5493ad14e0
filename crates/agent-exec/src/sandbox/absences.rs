//! Paths that are not there, and are not looked for again while the directory in which they, or the first part of them, would be made is unchanged.
//!
//! Of a list of some two hundred usual places most are not there, and a look at the few directories tells.

use crate::stamp::Stamp;
use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

#[derive(Debug, Default)]
pub(super) struct Absences(HashMap<PathBuf, Absence>);

/// The nearest directory above a path that is there, and what it was when the path was not.
#[derive(Debug)]
struct Absence {
    above: PathBuf,
    stamp: Stamp,
}

impl Absences {
    /// The paths that may be there.
    pub(super) fn without_known<'a>(&mut self, paths: &'a [PathBuf]) -> Vec<&'a Path> {
        let mut stamps: HashMap<PathBuf, Option<Stamp>> = HashMap::new();
        let mut stamp_of = |above: &Path| match stamps.get(above) {
            Some(stamp) => *stamp,
            None => *stamps.entry(above.to_path_buf()).or_insert_with(|| Stamp::of(above)),
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
        let mut absences = Absences::default();
        let mut found = |expected: &[&str]| {
            let found = absences.without_known(&paths);
            let found: Vec<_> = found.into_iter().map(|path| path.strip_prefix(root).unwrap()).collect();
            assert_eq!(found, expected.iter().map(Path::new).collect::<Vec<_>>());
            absences.0.len()
        };
        assert_eq!(found(&[]), 0, "directories that have just changed are looked at again");
        sleep(A_WHILE);
        assert_eq!((found(&[]), found(&[])), (4, 4));
        fs::create_dir_all(root.join("home/.config/gh")).unwrap();
        assert_eq!(found(&[]), 1, "the directory of three paths changed");
        fs::write(root.join("home/.config/gh/token"), "").unwrap();
        fs::write(root.join("home/key"), "").unwrap();
        found(&["home/key", "home/.config/gh/token"]);
        fs::write(root.join("elsewhere/other"), "").unwrap();
        sleep(A_WHILE);
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
