//! Which directories the user trusts: there, programs may be run that the repository names, brings along or configures.
//!
//! ```text
//! Place::at(directory)    which directory that is                    (before the user is asked)
//! TrustStore::trust       a record of it, outside of the directory   (after the user said so)
//! TrustStore::standing    what holds for it now
//! ```
//!
//! 1. Nothing in a directory can make it trusted: the record is in the user's own files.
//! 2. Another directory that is put in the same place is not trusted: the record names the directory's identity, not only its path.
//! 3. Whatever cannot be read, or is not as it was written, is no trust.
//!
//! 4. What the user was shown is what is trusted: the record holds it, and other programs, or the same ones called otherwise, are not.
//!
//! Absent: what the programs are, and what they do. Both are up to those who ask.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// What a directory runs where it is trusted: by the place that names it, such as a file of the directory, lines that say all of it.
pub type Programs = BTreeMap<String, Vec<String>>;

/// A directory, such as the root of a repository, as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    path: PathBuf,
    identity: String,
}

impl Place {
    /// Looks at a directory. Links in its path are followed.
    ///
    /// # Errors
    /// When it is not there, or the system cannot tell it from another one that would be in its place.
    pub fn at(directory: &Path) -> io::Result<Self> {
        let path = directory.canonicalize()?;
        let found = path.symlink_metadata()?;
        if !found.is_dir() {
            return Err(io::Error::from(io::ErrorKind::NotADirectory));
        }
        let identity = identity(&found).ok_or(io::ErrorKind::Unsupported)?;
        Ok(Self { path, identity })
    }

    /// Its path, absolute and without links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The identity, the programs as one line, and then the path, which may have any bytes.
    fn record(&self, programs: &Programs) -> Vec<u8> {
        let programs = serde_json::to_string(programs).unwrap_or_default();
        let mut record = format!("{HEAD}{}\n{programs}\n", self.identity).into_bytes();
        record.extend_from_slice(self.path.as_os_str().as_encoded_bytes());
        record
    }
}

/// The trust in a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Standing {
    /// It is trusted, with these programs.
    Trusted,
    /// It is trusted, with other programs.
    Changed,
    /// It was trusted in a time in which it was not kept with which programs.
    Outdated,
    /// Another directory was trusted that had this path.
    Replaced,
    /// It is not trusted.
    Untrusted,
}

/// The user's records of trust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustStore {
    folder: PathBuf,
}

impl TrustStore {
    /// Records in this directory of the user, which need not be there yet.
    #[must_use]
    pub const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The trust in a directory that would run these programs. A place that names none, and is not known, changes nothing.
    #[must_use]
    pub fn standing(&self, place: &Place, programs: &Programs) -> Standing {
        let Some(found) = self.read(place) else { return Standing::Untrusted };
        let path = place.path.as_os_str().as_encoded_bytes();
        match self.programs(place) {
            Some(trusted) if differing(&trusted, programs).next().is_none() => Standing::Trusted,
            Some(_) => Standing::Changed,
            None if found == [OLD_HEAD.as_bytes(), place.identity.as_bytes(), b"\n", path].concat() => {
                Standing::Outdated
            }
            None if found.strip_suffix(path).is_some_and(|head| head.ends_with(b"\n")) => Standing::Replaced,
            None => Standing::Untrusted,
        }
    }

    /// The programs with which a directory is trusted; `None` if it is not.
    #[must_use]
    pub fn programs(&self, place: &Place) -> Option<Programs> {
        let found = self.read(place)?;
        let rest = found.strip_prefix(format!("{HEAD}{}\n", place.identity).as_bytes())?;
        let line = rest.split(|byte| *byte == b'\n').next()?;
        let programs: Programs = serde_json::from_slice(line).ok()?;
        (place.record(&programs) == found).then_some(programs)
    }

    /// Trusts a directory, the one that was looked at, even if there is another one by now: with these programs, and with those that it is
    /// trusted with already in other places.
    ///
    /// # Errors
    /// When the record cannot be written, or would be so long that it could not be read again.
    pub fn trust(&self, place: &Place, programs: &Programs) -> io::Result<()> {
        let mut all = self.programs(place).unwrap_or_default();
        all.extend(programs.clone());
        let record = place.record(&all);
        if record.len() as u64 > RECORD_LIMIT_BYTES {
            return Err(io::Error::other("it names more programs than can be recorded"));
        }
        make_private(&self.folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        agent_exec::leftovers::note_path(file.path());
        file.write_all(&record)?;
        file.as_file().sync_all()?;
        file.persist(self.record_of(place))?;
        Ok(())
    }

    /// Trusts a directory no longer, nor others that had its path. Whether there was a record.
    ///
    /// # Errors
    /// When the record cannot be removed.
    pub fn revoke(&self, place: &Place) -> io::Result<bool> {
        match fs::remove_file(self.record_of(place)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn read(&self, place: &Place) -> Option<Vec<u8>> {
        read_record(&self.record_of(place))
    }

    /// A file a path, so that two programs never write the same one with something else in it.
    fn record_of(&self, place: &Place) -> PathBuf {
        self.folder.join(format!("{:016x}", number(place.path.as_os_str().as_encoded_bytes())))
    }
}

/// The places whose programs are others now: all of those that are asked about, whatever is trusted elsewhere.
fn differing<'a>(trusted: &'a Programs, now: &'a Programs) -> impl Iterator<Item = &'a String> {
    let lines = |programs: &'a Programs, place: &str| programs.get(place).map_or(&[][..], Vec::as_slice);
    now.keys().filter(move |place| lines(trusted, place) != lines(now, place))
}

/// A record, if it is one: a small regular file.
fn read_record(path: &Path) -> Option<Vec<u8>> {
    let found = path.symlink_metadata().ok()?;
    let fits = found.is_file() && found.len() <= RECORD_LIMIT_BYTES && is_own(&found);
    let bytes = fits.then(|| fs::read(path).ok()).flatten()?;
    let is_one = [HEAD, OLD_HEAD].iter().any(|head| bytes.starts_with(head.as_bytes()));
    is_one.then_some(bytes)
}

/// Whether no other user made it or could have changed it.
#[cfg(unix)]
fn is_own(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o022 == 0
}

#[cfg(not(unix))]
fn is_own(_found: &fs::Metadata) -> bool {
    true
}

/// What distinguishes a directory from another one in its place. Numbers of files are used again, so the time of its making belongs to it;
/// where the file system does not keep that, the device has to do.
#[cfg(unix)]
fn identity(found: &fs::Metadata) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    Some(match born(found) {
        Some(born) => format!("inode {} made {born}", found.ino()),
        None => format!("inode {} device {}", found.ino(), found.dev()),
    })
}

#[cfg(not(unix))]
fn identity(found: &fs::Metadata) -> Option<String> {
    born(found).map(|born| format!("made {born}"))
}

/// Nanoseconds, as text.
fn born(found: &fs::Metadata) -> Option<String> {
    let since = found.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
    (!since.is_zero()).then(|| since.as_nanos().to_string())
}

/// Other users need not know what the user trusts.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// A number for a path, the same in every version of this program. Two paths with the same number cannot both be trusted, because the
/// record has the path.
fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |number, byte| (number ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

const HEAD: &str = "trusted directory, version 2: ";
/// Without programs.
const OLD_HEAD: &str = "trusted directory, version 1: ";
const RECORD_LIMIT_BYTES: u64 = 4 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    struct Home {
        root: tempfile::TempDir,
        store: TrustStore,
    }

    impl Home {
        fn new() -> Self {
            let root = tempfile::tempdir().unwrap();
            let store = TrustStore::new(root.path().join("state/trust"));
            fs::create_dir(root.path().join("work")).unwrap();
            Self { root, store }
        }

        fn work(&self) -> PathBuf {
            self.root.path().join("work")
        }

        fn place(&self) -> Place {
            Place::at(&self.work()).unwrap()
        }

        fn trust(&self, place: &Place) {
            self.store.trust(place, &programs()).unwrap();
        }

        fn standing(&self, directory: &Path) -> Standing {
            Place::at(directory).map_or(Standing::Untrusted, |place| self.store.standing(&place, &programs()))
        }

        fn is_trusted(&self, directory: &Path) -> bool {
            self.standing(directory) == Standing::Trusted
        }
    }

    fn programs() -> Programs {
        named([("config.toml", &["run one", "run two"])])
    }

    fn named<const N: usize, const M: usize>(places: [(&str, &[&str; M]); N]) -> Programs {
        places.into_iter().map(|(place, lines)| (place.to_owned(), lines.map(str::to_owned).to_vec())).collect()
    }

    #[test]
    fn only_the_programs_that_were_shown_are_trusted() {
        let home = Home::new();
        let place = home.place();
        home.trust(&place);
        let standing = |programs: &Programs| home.store.standing(&place, programs);
        assert_eq!(standing(&programs()), Standing::Trusted);
        for (changed, what) in [
            (named([("config.toml", &["run one"])]), "one is gone"),
            (named([("config.toml", &["run two", "run one"])]), "in another order"),
            (named([("config.toml", &["run one", "run 2"])]), "called otherwise"),
            (named([("inner/config.toml", &["run one"])]), "in another place"),
            (named::<1, 0>([("config.toml", &[])]), "all are gone"),
        ] {
            assert_eq!(standing(&changed), Standing::Changed, "{what}");
        }
        assert_eq!(
            standing(&named::<1, 0>([("inner/config.toml", &[])])),
            Standing::Trusted,
            "nothing to run is nothing new"
        );
        // What is trusted in one place stays when another is added.
        let inner = named([("inner/config.toml", &["run 3"])]);
        home.store.trust(&place, &inner).unwrap();
        assert_eq!((standing(&programs()), standing(&inner)), (Standing::Trusted, Standing::Trusted));
        assert_eq!(home.store.programs(&place).unwrap().len(), 2);
        let huge = named([("config.toml", &[&*"x".repeat(5_000_000)])]);
        assert!(home.store.trust(&place, &huge).is_err());
    }

    /// It does not say what the user was shown.
    #[test]
    fn a_record_of_an_older_version_is_no_trust_and_is_known_for_what_it_is() {
        let home = Home::new();
        let place = home.place();
        home.trust(&place);
        let old =
            [OLD_HEAD.as_bytes(), place.identity.as_bytes(), b"\n", place.path.as_os_str().as_encoded_bytes()].concat();
        fs::write(home.store.record_of(&place), old).unwrap();
        assert_eq!(home.standing(&home.work()), Standing::Outdated);
        home.trust(&place);
        assert_eq!(home.standing(&home.work()), Standing::Trusted);
    }

    #[test]
    fn trust_is_given_and_revoked_and_is_for_one_directory() {
        let home = Home::new();
        assert_eq!(home.standing(&home.work()), Standing::Untrusted);
        home.trust(&home.place());
        assert_eq!(home.standing(&home.work()), Standing::Trusted);
        let inner = home.work().join("inner");
        fs::create_dir(&inner).unwrap();
        assert!(home.is_trusted(&home.work()) && !home.is_trusted(&inner));
        assert!(!home.is_trusted(home.root.path()));
        assert!(home.store.revoke(&home.place()).unwrap());
        assert_eq!(home.standing(&home.work()), Standing::Untrusted);
        assert!(!home.store.revoke(&home.place()).unwrap(), "once is enough");
    }

    #[test]
    fn another_directory_in_the_same_place_is_not_trusted() {
        for by_rename in [false, true] {
            let home = Home::new();
            let before = home.place();
            home.trust(&before);
            if by_rename {
                fs::rename(home.work(), home.root.path().join("elsewhere")).unwrap();
                assert!(!home.is_trusted(&home.root.path().join("elsewhere")), "nor is it in another place");
            } else {
                // The number of a removed directory is often used again at once.
                fs::remove_dir(home.work()).unwrap();
            }
            assert!(!home.is_trusted(&home.work()), "nothing is there");
            // Longer than the clock of any file system ticks.
            std::thread::sleep(std::time::Duration::from_millis(30));
            fs::create_dir(home.work()).unwrap();
            assert_eq!(home.standing(&home.work()), Standing::Replaced, "{by_rename}");
            // The content that the user saw is trusted, not a replacement made while they decided.
            home.trust(&before);
            assert!(!home.is_trusted(&home.work()));
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_to_what_is_trusted_and_names_of_any_bytes_are_names() {
        use std::os::unix::ffi::OsStrExt as _;
        let home = Home::new();
        home.trust(&home.place());
        let link = home.root.path().join("link");
        std::os::unix::fs::symlink(home.work(), &link).unwrap();
        assert!(home.is_trusted(&link));
        let odd = home.root.path().join(std::ffi::OsStr::from_bytes(b"a\n\xff"));
        fs::create_dir(&odd).unwrap();
        home.trust(&Place::at(&odd).unwrap());
        assert!(home.is_trusted(&odd) && !home.is_trusted(&home.root.path().join("a")));
    }

    #[test]
    fn a_record_that_is_not_as_it_was_written_is_no_trust() {
        let home = Home::new();
        let place = home.place();
        home.trust(&place);
        let path = home.store.record_of(&place);
        let good = fs::read(&path).unwrap();
        for cut in 0..good.len() {
            fs::write(&path, &good[..cut]).unwrap();
            assert_ne!(home.standing(&home.work()), Standing::Trusted, "{cut} bytes");
        }
        for at in 0..good.len() {
            let mut changed = good.clone();
            changed[at] ^= 1;
            fs::write(&path, &changed).unwrap();
            assert_ne!(home.standing(&home.work()), Standing::Trusted, "byte {at}");
        }
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(home.standing(&home.work()), Standing::Untrusted);
        assert!(
            home.store.revoke(&place).is_err() && home.store.trust(&place, &programs()).is_err(),
            "it is said, not passed over"
        );
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_reads_the_records() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = Home::new();
        home.trust(&home.place());
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&home.store.folder), 0o700);
        assert_eq!(mode(&home.store.record_of(&home.place())), 0o600);
    }
}
