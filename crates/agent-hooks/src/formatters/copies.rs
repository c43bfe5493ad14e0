//! A directory of copies, laid out like the repository, in which a formatter may do what it likes.
//!
//! What configures the formatter is found by walking up from a file, so links to those files are beside the copies.

use super::config::SettingsFile;
use agent_git::{Image, Tree};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Copies of some files of a repository. They go when this goes.
#[derive(Debug)]
pub(crate) struct Copies {
    directory: TempDir,
}

impl Copies {
    /// Makes copies below `scratch` of texts that belong to these paths, which are relative to `root`.
    pub(crate) fn make(
        scratch: Option<&Path>,
        root: &Path,
        texts: &[(&Path, &[u8])],
        settings: &[SettingsFile],
    ) -> io::Result<Self> {
        let scratch = scratch.map_or_else(std::env::temp_dir, Path::to_path_buf);
        let directory = tempfile::Builder::new().prefix("agent-hooks-").tempdir_in(scratch)?;
        agent_exec::leftovers::note_path(&directory.path().canonicalize()?);
        let copies = Self { directory };
        for (path, text) in texts {
            let copy = copies.of(path);
            fs::create_dir_all(copy.parent().unwrap_or(&copy))?;
            fs::write(&copy, text)?;
        }
        if let Some(file) = settings.iter().find(|file| !SettingsFile::is_name(&file.name)) {
            return Err(io::Error::other(format!("the settings file `{}` is not the name of a file", file.name)));
        }
        let folders: BTreeSet<&Path> = texts.iter().flat_map(|(path, _)| path.ancestors().skip(1)).collect();
        for folder in folders {
            settings.iter().try_for_each(|file| copies.link(root, &folder.join(&file.name)))?;
        }
        Ok(copies)
    }

    /// The directory that stands for the root.
    pub(crate) fn root(&self) -> &Path {
        self.directory.path()
    }

    /// Where the copy of a path is.
    pub(crate) fn of(&self, path: &Path) -> PathBuf {
        self.directory.path().join(path)
    }

    /// What became of a copy: its text, or `None` if it is not a file with something in it any more.
    pub(crate) fn text(&self, path: &Path) -> Option<Vec<u8>> {
        // The formatter may have put links there.
        let copies = Tree::open(self.directory.path()).ok()?;
        match copies.image(path) {
            Image::File { bytes, .. } if !bytes.is_empty() => Some(bytes.to_vec()),
            _ => None,
        }
    }

    /// A copy of the same name stays: the file itself is formatted.
    fn link(&self, root: &Path, path: &Path) -> io::Result<()> {
        let (original, link) = (root.join(path), self.of(path));
        if original.symlink_metadata().is_err() || link.symlink_metadata().is_ok() {
            return Ok(());
        }
        make_link(&original, &link)
    }
}

#[cfg(unix)]
fn make_link(original: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(original, link)
}

/// Without links it is a copy, of a file only.
#[cfg(not(unix))]
fn make_link(original: &Path, link: &Path) -> io::Result<()> {
    if original.is_file() { fs::copy(original, link).map(drop) } else { Ok(()) }
}
