//! Writing files: as a whole, or not at all.

use super::record::Stamp;
use super::{FileError, RelativePath, Target, Workspace};
use cap_std::fs::{Dir, File, Metadata, MetadataExt as _, OpenOptions, Permissions, PermissionsExt as _};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

impl Workspace {
    /// Replaces an existing file. Its permission bits stay; set-user-id and its like do not, and a hard link elsewhere keeps the old content.
    pub(crate) fn replace(&self, path: &RelativePath, target: &Target, content: &[u8]) -> Result<(), FileError> {
        let real = &target.opened.real;
        self.write(path, real, content, Some(&target.opened.metadata), || {
            let now = self.directory.metadata(real);
            now.is_ok_and(|metadata| Stamp::of(&metadata) == target.stamp)
        })
    }

    /// Makes a new file, and the directories above it.
    pub(crate) fn create(&self, path: &RelativePath, content: &[u8]) -> Result<(), FileError> {
        self.must_not_be_git(path)?;
        let wrong = |error| self.say(path, error);
        if path.is_root() {
            return Err(FileError::Directory { path: path.to_string() });
        }
        let parent = parent_of(path.as_path());
        self.directory.create_dir_all(parent).map_err(wrong)?;
        let parent = self.directory.canonicalize(parent).map_err(wrong)?;
        let real = parent.join(path.as_path().file_name().unwrap_or_default());
        if self.directory.symlink_metadata(&real).is_ok() {
            return Err(FileError::DanglingLink { path: path.to_string() });
        }
        self.write(path, &real, content, None, || self.directory.symlink_metadata(&real).is_err())
    }

    /// Writes beside the file and renames; nothing is left behind on failure.
    fn write(
        &self,
        path: &RelativePath,
        real: &Path,
        content: &[u8],
        like: Option<&Metadata>,
        is_unchanged: impl Fn() -> bool,
    ) -> Result<(), FileError> {
        let wrong = |error| self.say(path, error);
        let name = real.file_name().unwrap_or_default();
        let directory = match parent_of(real) {
            parent if parent == Path::new(".") => self.directory.try_clone(),
            parent => self.directory.open_dir(parent),
        };
        let mut temporary =
            Temporary::create(directory.map_err(wrong)?).map_err(|source| not_writable(path, source))?;
        temporary.fill(content, like).map_err(wrong)?;
        if !is_unchanged() {
            return Err(FileError::Stale { path: path.to_string() });
        }
        let metadata = temporary.become_file(Path::new(name)).map_err(wrong)?;
        self.record.note(real, &metadata);
        Ok(())
    }
}

/// A file that is removed unless it takes its place.
struct Temporary {
    directory: Dir,
    file: File,
    name: String,
    is_placed: bool,
}

impl Temporary {
    fn create(directory: Dir) -> io::Result<Self> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!(".agent-{}-{number}.tmp", std::process::id());
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let file = directory.open_with(&name, &options)?;
        Ok(Self { directory, file, name, is_placed: false })
    }

    fn fill(&mut self, content: &[u8], like: Option<&Metadata>) -> io::Result<()> {
        self.file.write_all(content)?;
        if let Some(like) = like {
            let own = self.file.metadata()?;
            if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
                // Only root may give files away; for others a file in a shared directory becomes theirs, as with every editor.
                let owner = rustix::fs::Uid::from_raw(like.uid());
                let group = rustix::fs::Gid::from_raw(like.gid());
                let _ = rustix::fs::fchown(&self.file, Some(owner), Some(group));
            }
            let mode = like.permissions().mode() & PERMISSION_BITS;
            self.file.set_permissions(Permissions::from_mode(mode))?;
        }
        self.file.sync_all()
    }

    fn become_file(&mut self, name: &Path) -> io::Result<Metadata> {
        self.directory.rename(&self.name, &self.directory, name)?;
        self.is_placed = true;
        self.file.metadata()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.is_placed {
            // If it cannot be removed nothing more can be done here.
            let _ = self.directory.remove_file(&self.name);
        }
    }
}

fn not_writable(path: &RelativePath, source: io::Error) -> FileError {
    let path = path.to_string();
    match source.kind() {
        io::ErrorKind::PermissionDenied => FileError::DirectoryNotWritable { path, source },
        _ => FileError::System { path, source },
    }
}

fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    }
}

/// Read, write, execute for all three; not set-user-id, set-group-id, sticky.
const PERMISSION_BITS: u32 = 0o777;
