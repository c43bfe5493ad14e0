//! Puts content in place of what is at a path, at once or not at all.

use crate::image::Image;
use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::path::Path;

/// Replaces a file at once, with the permissions it has; `executable` sets whether it may be executed.
pub(crate) fn replace(target: &Path, content: &[u8], executable: Option<bool>) -> io::Result<()> {
    let directory = target.parent().unwrap_or(target);
    let mut file = new_builder().tempfile_in(directory)?;
    file.write_all(content)?;
    let found = target.symlink_metadata().ok().filter(fs::Metadata::is_file);
    let mut permissions = match found {
        Some(found) => found.permissions(),
        None => file.as_file().metadata()?.permissions(),
    };
    if let Some(executable) = executable {
        set_executable(&mut permissions, executable);
    }
    file.as_file().set_permissions(permissions)?;
    file.as_file().sync_all()?;
    file.persist(target)?;
    Ok(())
}

/// A new file may be read by whom the user's mask lets read.
#[cfg(unix)]
fn new_builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}

/// Who may read may execute, or nobody.
#[cfg(unix)]
fn set_executable(permissions: &mut Permissions, executable: bool) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = permissions.mode();
    permissions.set_mode(if executable { mode | (mode & 0o444) >> 2 } else { mode & !0o111 });
}

#[cfg(not(unix))]
fn new_builder() -> tempfile::Builder<'static, 'static> {
    tempfile::Builder::new()
}

#[cfg(not(unix))]
fn set_executable(_permissions: &mut Permissions, _executable: bool) {}

/// Makes a path be as it was. Missing directories are made.
pub(crate) fn restore(path: &Path, target: &Image) -> io::Result<()> {
    if let (Image::File { .. } | Image::Link(_), Some(parent)) = (target, path.parent()) {
        fs::create_dir_all(parent)?;
    }
    match target {
        Image::Absent => fs::remove_file(path),
        Image::File { bytes, executable } => replace(path, bytes, Some(*executable)),
        Image::Link(to) => relink(path, to),
        Image::Opaque(_) => Ok(()),
    }
}

#[cfg(unix)]
fn relink(path: &Path, to: &[u8]) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt as _;
    // The link takes the place at once, so that there is always something there.
    let folder = path.parent().unwrap_or(path);
    let scratch = tempfile::Builder::new().prefix(".agent-undo-").tempdir_in(folder)?;
    let link = scratch.path().join("link");
    std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(to), &link)?;
    fs::rename(&link, path)
}

#[cfg(not(unix))]
fn relink(_path: &Path, _to: &[u8]) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "symbolic links are not made here"))
}
