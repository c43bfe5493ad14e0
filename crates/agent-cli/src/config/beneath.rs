//! Reads a small text file below a folder: opened once, on a way without links, so that what is checked is what is read.

use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat2};
use rustix::io::Errno;
use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::path::Path;

/// The text of a regular file and what is known of it, or nothing where there is none.
///
/// # Errors
/// A link is on the way, the path leads out of the folder, it is no regular file of text, or it has more bytes than that.
pub(crate) fn read_beneath(folder: &Path, inside: &Path, most_bytes: u64) -> io::Result<Option<(Metadata, String)>> {
    let folder = open(folder, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let way = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let file = match openat2(&folder, inside, flags, Mode::empty(), way) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(Errno::LOOP) => return Err(io::Error::other("it is a link, or lies behind one")),
        Err(Errno::XDEV) => return Err(io::Error::other("it leads out of its folder")),
        Err(error) => return Err(error.into()),
    };
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if found.len() > most_bytes {
        return Err(io::Error::other(format!("it has {} bytes, but the limit is {most_bytes}", found.len())));
    }
    // With room for all of it and for the end, one call reads it.
    let mut text = String::with_capacity(usize::try_from(found.len()).map_or(0, |length| length + 1));
    file.take(most_bytes).read_to_string(&mut text)?;
    Ok(Some((found, text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_a_small_file_on_a_way_without_links_is_read() {
        let place = tempfile::tempdir().unwrap();
        let at = |path: &str| place.path().join(path);
        fs::create_dir_all(at("folder/sub")).unwrap();
        for (path, text) in
            [("out", "outside"), ("folder/a", "text"), ("folder/sub/b", "below"), ("folder/long", "12345678")]
        {
            fs::write(at(path), text).unwrap();
        }
        fs::write(at("folder/bytes"), [0xff]).unwrap();
        symlink("a", at("folder/link")).unwrap();
        symlink("sub", at("folder/linked")).unwrap();
        let read = |path: &str| read_beneath(&at("folder"), Path::new(path), 6).map(|read| read.map(|(_, text)| text));
        assert_eq!(read("a").unwrap().as_deref(), Some("text"));
        assert_eq!(read("sub/../sub/b").unwrap().as_deref(), Some("below"));
        assert_eq!(read("nothing").unwrap(), None);
        for path in ["../out", "sub/../../out", "/etc/hostname", "link", "linked/b", "sub", "long", "bytes"] {
            assert!(read(path).is_err(), "{path}");
        }
    }
}
