//! Opens files that are there, and nothing else: a path may name a pipe, which blocks whoever opens it, or a device
//! without end.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a regular file as the options say, without waiting. The opened file itself is checked, so no pipe can be put in its place in
/// between.
///
/// # Errors
/// What the system says, or that it is not a regular file.
pub fn open_regular(path: &Path, options: &OpenOptions) -> io::Result<File> {
    let file = without_waiting(options).open(path).map_err(|error| match error.raw_os_error() {
        // A pipe without a reader.
        Some(NO_READER) => not_regular(),
        _ => error,
    })?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_regular()) }
}

/// Opens a regular file for reading.
///
/// # Errors
/// As for [`open_regular`].
pub fn read_regular(path: &Path) -> io::Result<File> {
    open_regular(path, OpenOptions::new().read(true))
}

fn not_regular() -> io::Error {
    io::Error::other("it is not a regular file")
}

/// For a regular file this makes no difference.
#[cfg(unix)]
fn without_waiting(options: &OpenOptions) -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = options.clone();
    options.custom_flags(O_NONBLOCK);
    options
}

#[cfg(not(unix))]
fn without_waiting(options: &OpenOptions) -> OpenOptions {
    options.clone()
}

#[cfg(target_os = "linux")]
const O_NONBLOCK: i32 = 0o4000;
#[cfg(all(unix, not(target_os = "linux")))]
const O_NONBLOCK: i32 = 0x0004;
/// `ENXIO`.
const NO_READER: i32 = 6;

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_is_refused_at_once_whatever_it_is_opened_for() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, file) = (folder.path().join("pipe"), folder.path().join("file"));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::fs::write(&file, "x").unwrap();
        for options in [
            OpenOptions::new().read(true),
            OpenOptions::new().append(true),
            OpenOptions::new().read(true).write(true),
            OpenOptions::new().read(true).append(true).create(true),
        ] {
            assert_eq!(open_regular(&pipe, options).unwrap_err().to_string(), "it is not a regular file");
            assert!(open_regular(&file, options).is_ok(), "the control");
        }
        assert!(read_regular(folder.path()).is_err() && read_regular(Path::new("/dev/zero")).is_err());
        assert_eq!(read_regular(&folder.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
