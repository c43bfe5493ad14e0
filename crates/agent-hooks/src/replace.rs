//! Puts content in place of what is at a path, at once or not at all.

use crate::image::Image;
use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::path::Path;

/// Replaces a file at once, with the permissions it has.
pub(crate) fn replace(target: &Path, content: &[u8]) -> io::Result<()> {
    replace_with(target, content, |_| {})
}

fn replace_with(target: &Path, content: &[u8], change: impl FnOnce(&mut Permissions)) -> io::Result<()> {
    let directory = target.parent().unwrap_or(target);
    let mut file = new_builder().tempfile_in(directory)?;
    file.write_all(content)?;
    let found = target.symlink_metadata().ok().filter(fs::Metadata::is_file);
    let mut permissions = match found {
        Some(found) => found.permissions(),
        None => file.as_file().metadata()?.permissions(),
    };
    change(&mut permissions);
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

/// These permissions, where they are known. Else who may read may execute, or nobody; and where that holds for the owner already, all stay.
#[cfg(unix)]
fn set_permissions(permissions: &mut Permissions, executable: bool, known: Option<u32>) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = permissions.mode();
    permissions.set_mode(match known {
        Some(known) => known,
        None if (mode & 0o100 != 0) == executable => mode,
        None if executable => mode | (mode & 0o444) >> 2,
        None => mode & !0o111,
    });
}

#[cfg(not(unix))]
fn new_builder() -> tempfile::Builder<'static, 'static> {
    tempfile::Builder::new()
}

#[cfg(not(unix))]
fn set_permissions(_permissions: &mut Permissions, _executable: bool, _known: Option<u32>) {}

/// Makes a path be as it was, with these permissions if they are known. Missing directories are made.
pub(crate) fn restore(path: &Path, target: &Image, mode: Option<u32>) -> io::Result<()> {
    if let (Image::File { .. } | Image::Link(_), Some(parent)) = (target, path.parent()) {
        fs::create_dir_all(parent)?;
    }
    match target {
        Image::Absent => fs::remove_file(path),
        Image::File { bytes, executable } => {
            replace_with(path, bytes, |permissions| set_permissions(permissions, *executable, mode))
        }
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
