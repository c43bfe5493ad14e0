//! The workspace: one directory that no file tool leaves.
//!
//! A path is first made relative and normalised by its text alone, so that the permission policy and the file system judge the same path.
//! Then everything is opened relative to a descriptor of the root, and the system refuses to resolve a link that leads outside: there is
//! no moment between a check and its use.

mod error;
mod open;
mod path;
mod record;
mod replace;

pub(crate) use error::FileError;
pub(crate) use open::{OpenedFile, Target};
pub(crate) use path::RelativePath;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use record::Record;
use std::io;
use std::path::{Path, PathBuf};

/// A directory, and what a model has seen of its files.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    /// The root as it was given, which may be another name for it.
    root_as_given: PathBuf,
    directory: Dir,
    record: Record,
}

impl Workspace {
    /// Opens a directory.
    ///
    /// # Errors
    /// [`OpenError`] when it is not there, is no directory, or has a name that is not Unicode.
    pub fn open(root: impl AsRef<Path>) -> Result<Self, OpenError> {
        let given = root.as_ref();
        let wrong = |source| OpenError::System { root: given.to_path_buf(), source };
        let root = given.canonicalize().map_err(wrong)?;
        if root.to_str().is_none() {
            return Err(OpenError::NotUnicode { root });
        }
        let directory = Dir::open_ambient_dir(&root, ambient_authority()).map_err(wrong)?;
        Ok(Self { root, root_as_given: given.to_path_buf(), directory, record: Record::default() })
    }

    /// Its absolute path, without links.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Takes note that a file was changed on the agent's behalf (by a formatter, say), so that it does not count as changed behind the
    /// model's back. Without effect on a file that the model has not seen.
    pub fn note_changed(&self, path: &str) {
        let Ok(path) = self.relative(path) else {
            return;
        };
        if let Ok(real) = self.directory.canonicalize(path.as_path())
            && let Ok(metadata) = self.directory.metadata(&real)
        {
            self.record.refresh(&real, &metadata);
        }
    }

    /// A path as a model gives it, relative to the root.
    pub(crate) fn relative(&self, given: &str) -> Result<RelativePath, FileError> {
        RelativePath::parse(given, &[&self.root, &self.root_as_given])
    }

    /// The paths that a permission rule must see: the one that was named and, where links lead elsewhere, the one that is meant.
    pub(crate) fn subjects(&self, given: &str) -> Result<Vec<String>, FileError> {
        let path = self.relative(given)?;
        let mut paths = vec![path.to_string()];
        if let Some(real) = self.real_path(&path)
            && real != path
        {
            paths.push(real.to_string());
        }
        Ok(paths)
    }

    /// Where a path leads when links are followed; of a file that is not there yet, where it would be made.
    pub(crate) fn real_path(&self, path: &RelativePath) -> Option<RelativePath> {
        let mut ancestor = path.as_path();
        loop {
            match self.directory.canonicalize(ancestor) {
                Ok(real) => {
                    let rest = path.as_path().strip_prefix(ancestor).ok()?;
                    return RelativePath::from_real(&real.join(rest));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    ancestor = match ancestor.parent()? {
                        parent if parent.as_os_str().is_empty() => Path::new("."),
                        parent => parent,
                    };
                }
                Err(_) => return None,
            }
        }
    }
}

/// Why a workspace could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// What the system said.
    #[error("open the workspace `{}`: {source}", .root.display())]
    System {
        /// The directory.
        root: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Commands could not be told where to run.
    #[error("open the workspace `{}`: its name is not Unicode", .root.display())]
    NotUnicode {
        /// The directory.
        root: PathBuf,
    },
}
