//! What is at a path at one moment.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Larger files are not remembered, and so neither formatted nor committed.
const FILE_LIMIT_BYTES: u64 = 8 * 1024 * 1024;

/// What is at a path at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Image {
    /// Nothing.
    Absent,
    /// A file.
    File {
        /// Its content.
        bytes: Arc<[u8]>,
        /// Whether its owner may execute it.
        executable: bool,
    },
    /// A symbolic link to this path.
    Link(Arc<[u8]>),
    /// Something that is not looked at; why.
    Opaque(&'static str),
}

impl Image {
    /// Looks at a path, without following a link in its last part.
    pub(crate) fn take(path: &Path) -> Self {
        let found = match path.symlink_metadata() {
            Ok(found) => found,
            Err(error) if is_absence(&error) => return Self::Absent,
            Err(_) => return Self::Opaque("it cannot be read"),
        };
        if found.is_symlink() {
            return match fs::read_link(path) {
                Ok(target) => Self::Link(target.as_os_str().as_encoded_bytes().into()),
                Err(_) => Self::Opaque("it cannot be read"),
            };
        }
        if !found.is_file() {
            return Self::Opaque("it is not a regular file");
        }
        if found.len() > FILE_LIMIT_BYTES {
            return Self::Opaque("it is too large");
        }
        let mut bytes = Vec::new();
        let read = fs::File::open(path).and_then(|file| file.take(FILE_LIMIT_BYTES + 1).read_to_end(&mut bytes));
        match read {
            Ok(length) if length as u64 > FILE_LIMIT_BYTES => Self::Opaque("it is too large"),
            Ok(_) => Self::File { bytes: bytes.into(), executable: is_executable(&found) },
            Err(_) => Self::Opaque("it cannot be read"),
        }
    }

    /// The bytes that git would keep for it.
    pub(crate) fn bytes(&self) -> Option<&Arc<[u8]>> {
        match self {
            Self::File { bytes, .. } | Self::Link(bytes) => Some(bytes),
            Self::Absent | Self::Opaque(_) => None,
        }
    }

    /// A short stand-in, enough to notice that something changed.
    pub(crate) fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash(&mut hasher);
        hasher.finish()
    }
}

fn is_absence(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

#[cfg(unix)]
fn is_executable(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    found.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_found: &fs::Metadata) -> bool {
    false
}
