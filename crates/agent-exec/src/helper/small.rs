//! A small program that is a helper, too, beside the host's own: what is started with every sandboxed command should start quickly.
//!
//! It is read once and run from a copy, so what happens to its file later does not matter. It is run outside of what confines commands, so
//! it counts only when it belongs to the host's program: in the same directory, of the same owner, writable by no other user, of the same
//! build, and not where commands may write.

use rustix::fs::{Mode, OFlags, open};
use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::Read as _;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The small program of that name beside this very program.
pub(super) fn beside_own(name: &OsStr, untrusted: &[&Path]) -> Option<Vec<u8>> {
    let own = File::open(OWN).ok()?.metadata().ok()?;
    let path = fs::read_link(OWN).ok()?.with_file_name(name);
    trusted(&path, &own, untrusted)
}

/// A program of any owner, if it is small.
pub(super) fn content(path: &Path) -> Option<Vec<u8>> {
    let file = File::open(path).ok()?;
    let found = file.metadata().ok()?;
    read(file, &found, MOST_BYTES)
}

fn trusted(path: &Path, own: &Metadata, untrusted: &[&Path]) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(open(path, flags, Mode::empty()).ok()?);
    let found = file.metadata().ok()?;
    if found.uid() != own.uid() || found.mode() & WRITTEN_BY_OTHERS & !own.mode() != 0 {
        return None;
    }
    let real = fs::read_link(itself(&file)).ok()?;
    let is_untrusted = |place: &&Path| place.canonicalize().is_ok_and(|place| real.starts_with(place));
    if untrusted.iter().any(is_untrusted) {
        return None;
    }
    let content = read(file, &found, MOST_BYTES_BESIDE)?;
    memchr::memmem::find(&content, BUILD.as_bytes())?;
    Some(content)
}

fn read(mut file: File, found: &Metadata, most: u64) -> Option<Vec<u8>> {
    if !found.is_file() || found.mode() & EXECUTED == 0 || found.len() > most {
        return None;
    }
    let mut content = Vec::new();
    file.read_to_end(&mut content).ok()?;
    Some(content)
}

fn itself(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Stands in every program that is a helper. Programs of other sources are called in other ways.
pub(super) const BUILD: &str = concat!("agent-exec helper of the sources ", env!("AGENT_EXEC_SOURCES"));
const OWN: &str = "/proc/self/exe";
const WRITTEN_BY_OTHERS: u32 = 0o022;
const EXECUTED: u32 = 0o100;
/// More takes longer to copy than it saves.
const MOST_BYTES: u64 = 12 * 1024 * 1024;
/// What is made for this is small, but for what a debugger needs.
const MOST_BYTES_BESIDE: u64 = 32 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn only_what_belongs_to_this_program_is_taken() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        let made = |name: &str, content: &str, mode: u32| {
            fs::write(at(name), content).unwrap();
            fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).unwrap();
        };
        made("own", "", 0o755);
        let own = fs::metadata(at("own")).unwrap();
        let content = format!("before{BUILD}after");
        made("good", &content, 0o755);
        made("other-build", "agent-exec helper of the sources 0123456789abcdef", 0o755);
        made("of-all", &content, 0o777);
        made("no-program", &content, 0o644);
        symlink("good", at("link")).unwrap();
        fs::create_dir(at("directory")).unwrap();
        File::create(at("large")).unwrap().set_len(MOST_BYTES_BESIDE + 1).unwrap();
        fs::set_permissions(at("large"), fs::Permissions::from_mode(0o755)).unwrap();
        let is_taken = |name: &str, untrusted: &[&Path]| trusted(&at(name), &own, untrusted).is_some();
        assert!(is_taken("good", &[]) && is_taken("good", &[Path::new("/usr"), Path::new("/absent")]));
        for name in ["other-build", "of-all", "no-program", "link", "directory", "large", "absent"] {
            assert!(!is_taken(name, &[]), "{name}");
        }
        assert!(!is_taken("good", &[root.path()]), "commands could write it");
        symlink(root.path(), at("to-here")).unwrap();
        assert!(!is_taken("good", &[&at("to-here")]));
    }
}
