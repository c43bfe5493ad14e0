//! Where the submodules of a repository are, as its index says: also far below the root, and where none is checked out.

use crate::index::Index;
use crate::index_lock;
use crate::objects::ObjectFormat;
use crate::repository::Discovery;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// The directories of the submodules in the repository that a directory is in, as absolute paths. No process is started.
///
/// # Errors
/// A sentence when the index is one that only git reads.
pub fn submodules(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let Discovery::Found(repository) = Discovery::look(directory) else { return Ok(Vec::new()) };
    let bytes = match index_lock::read(&repository) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(Vec::new()),
        Err(error) => return Err(format!("the index cannot be read: {error}")),
    };
    let formats = [ObjectFormat::Sha1, ObjectFormat::Sha256];
    let index = formats.into_iter().find_map(|format| Index::read(&bytes, format));
    let index = index.ok_or("the index has a format that only git reads")?;
    Ok(index.submodules().map(|path| repository.top.join(OsStr::from_bytes(path))).collect())
}
