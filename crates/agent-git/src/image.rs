//! What is at a path at one moment. A [`Tree`](crate::tree::Tree) looks.

use crate::tree::Tree;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

/// Larger files are not remembered, and so neither formatted nor committed.
pub(crate) const FILE_LIMIT_BYTES: u64 = 8 * 1024 * 1024;

/// What is at a path at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Image {
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
    #[must_use]
    pub fn take(path: &Path) -> Self {
        let (folder, name) = (path.parent().unwrap_or(path), path.file_name().unwrap_or_default());
        Tree::open(folder).map_or(Self::Absent, |tree| tree.image(name))
    }

    /// The bytes that git would keep for it.
    #[must_use]
    pub fn bytes(&self) -> Option<&Arc<[u8]>> {
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
