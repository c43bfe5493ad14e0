//! Shows that a record of a turn is the agent's: a digest over all of it, with a key that commands cannot read.
//!
//! A record lies among git's own files, which commands can write where Landlock alone holds them. What they put there must not be what
//! `undo` writes into the user's files.
//!
//! ```text
//! Contents   every entry of the record, with a digest of what is in it
//! Key        HMAC-SHA-256 (RFC 2104) over the turn's name and the entries
//! ```
//!
//! Absent: that nothing was taken away. Who can write the repository can remove a record, or put an earlier one of the same turn in its
//! place.

use super::stream::{Entry, entries};
use crate::objects::hex;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

/// What is in a record: the mode and the digest of every entry, by its name in the tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents(BTreeMap<String, (String, [u8; 32])>);

impl Contents {
    /// Notes an entry.
    pub(super) fn put(&mut self, name: &str, mode: &str, bytes: &[u8]) {
        self.0.insert(name.to_owned(), (mode.to_owned(), Sha256::digest(bytes).into()));
    }

    /// Notes what a part of a record adds and removes.
    pub(super) fn add(&mut self, part: &[u8]) {
        for entry in entries(part) {
            match entry {
                Entry::Stored { mode, name, bytes } => self.put(name, mode, bytes),
                Entry::Removed(name) => drop(self.0.remove(name)),
            }
        }
    }
}

/// The key of this user's records.
pub(super) struct Key([u8; BYTES]);

impl Key {
    /// Reads the key, or makes one if none exists.
    pub(super) fn load(file: &Path) -> io::Result<Self> {
        match read(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make(file)?;
                read(file)
            }
            read => read,
        }
        .map_err(|error| io::Error::new(error.kind(), format!("the key {}: {error}", file.display())))
    }

    /// What shows that a record of this turn with this content is the agent's, as a name in the tree.
    pub(super) fn seal(&self, turn: &str, contents: &Contents) -> String {
        let mut text = Vec::new();
        let mut part = |bytes: &[u8]| {
            text.extend_from_slice(&(bytes.len() as u64).to_be_bytes());
            text.extend_from_slice(bytes);
        };
        part(b"record of a turn 1");
        part(turn.as_bytes());
        for (name, (mode, digest)) in &contents.0 {
            part(name.as_bytes());
            part(mode.as_bytes());
            part(digest);
        }
        hex(&keyed_digest(&self.0, &text))
    }
}

/// HMAC-SHA-256, for keys that are no longer than a block.
fn keyed_digest(key: &[u8], text: &[u8]) -> [u8; 32] {
    let padded = |pad: u8| {
        let mut block = [pad; BLOCK_BYTES];
        block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        block
    };
    let inner = Sha256::new().chain_update(padded(0x36)).chain_update(text).finalize();
    Sha256::new().chain_update(padded(0x5c)).chain_update(inner).finalize().into()
}

fn read(file: &Path) -> io::Result<Key> {
    let opened = OpenOptions::new().read(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32).open(file)?;
    if !opened.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    opened.take(BYTES as u64 + 1).read_to_end(&mut bytes)?;
    let found = bytes.len();
    let key =
        bytes.try_into().map_err(|_| io::Error::other(format!("it has {found} bytes, not {BYTES}; remove it")))?;
    Ok(Key(key))
}

/// Two agents that begin at the same time come to have the same key: the first that is there stays.
fn make(file: &Path) -> io::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut key = [0; BYTES];
    fs::File::open("/dev/urandom")?.read_exact(&mut key)?;
    let mut new = tempfile::Builder::new().prefix(".key-").tempfile_in(folder)?;
    new.write_all(&key)?;
    new.as_file().sync_all()?;
    match new.persist_noclobber(file) {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error.error),
    }
}

const BYTES: usize = 32;
const BLOCK_BYTES: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_that_of_the_standard() {
        // RFC 4231, test case 2.
        let digest = hex(&keyed_digest(b"Jefe", b"what do ya want for nothing?"));
        assert_eq!(digest, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    #[test]
    fn a_key_is_made_once_and_for_its_owner_only() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state/key");
        let first = Key::load(&file).unwrap();
        assert_eq!(first.0, Key::load(&file).unwrap().0);
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_ne!(first.0, Key::load(&folder.path().join("other")).unwrap().0);
        fs::write(&file, "short").unwrap();
        let why = Key::load(&file).err().unwrap().to_string();
        assert!(why.contains("it has 5 bytes, not 32"), "{why}");
    }

    #[test]
    fn a_seal_is_of_all_that_stands_in_the_record() {
        let key = Key([7; BYTES]);
        let contents = |change: (&str, &str, &[u8])| {
            let mut contents = Contents::default();
            contents.put("before/a", "100644", b"x");
            contents.put(change.0, change.1, change.2);
            contents
        };
        let seal = |turn: &str, contents| key.seal(turn, &contents);
        let genuine = seal("1-1", contents(("after/a", "100644", b"y")));
        assert_eq!(genuine, seal("1-1", contents(("after/a", "100644", b"y"))));
        for other in [
            seal("1-2", contents(("after/a", "100644", b"y"))),
            seal("1-1", contents(("after/b", "100644", b"y"))),
            seal("1-1", contents(("after/a", "100755", b"y"))),
            seal("1-1", contents(("after/a", "100644", b"z"))),
            Key([8; BYTES]).seal("1-1", &contents(("after/a", "100644", b"y"))),
        ] {
            assert_ne!(genuine, other);
        }
    }
}
