//! Whole results of servers, where the model can read them: in `.agent/mcp` of the workspace, where no command writes and git looks for
//! nothing.

use agent_core::redact::Redactor;
use agent_mcp::ResultKeeper;
use rustix::fs::{AtFlags, Dir, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::io::Errno;
use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// Keeps results in a workspace, without secrets.
pub(super) struct InWorkspace(pub(super) PathBuf, pub(super) Redactor);

impl ResultKeeper for InWorkspace {
    fn keep(&self, server: &str, text: &str) -> Result<String, String> {
        self.write(server, text).map_err(|error| error.to_string())
    }
}

impl InWorkspace {
    fn write(&self, server: &str, text: &str) -> std::io::Result<String> {
        let folder = self.folder()?;
        let plain: String = server.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // In the order of time, and each its own.
        let mut nanos = since.as_nanos();
        let (name, file) = loop {
            let name = format!("{nanos}-{plain}.txt");
            match create(&folder, &name) {
                Err(Errno::EXIST) => nanos += 1,
                made => break (name, made?),
            }
        };
        if let Err(error) = File::from(file).write_all(self.1.redacted(text).as_bytes()) {
            // Half of a result is none.
            let _ = unlinkat(&folder, &name, AtFlags::empty());
            return Err(error);
        }
        prune(&folder);
        Ok(format!(".agent/mcp/{name}"))
    }

    /// The folder, made where it is not there. Links are not followed: the workspace is the repository's.
    fn folder(&self) -> std::io::Result<OwnedFd> {
        let directory = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut folder = rustix::fs::open(&self.0, directory, Mode::empty())?;
        for name in [".agent", "mcp"] {
            match mkdirat(&folder, name, Mode::from_raw_mode(0o755)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            folder = openat(&folder, name, directory | OFlags::NOFOLLOW, Mode::empty())?;
        }
        match create(&folder, ".gitignore") {
            Ok(file) => File::from(file).write_all(b"*\n")?,
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(folder)
    }
}

fn create(folder: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(folder, name, flags, Mode::from_raw_mode(0o600))
}

/// Removes all but the newest. What cannot be removed stays.
fn prune(folder: &OwnedFd) {
    let Ok(entries) = Dir::read_from(folder) else { return };
    let name = |entry: rustix::fs::DirEntry| entry.file_name().to_str().ok().map(str::to_owned);
    let is_result = |name: &String| {
        let number = name.split_once('-').map_or("", |(number, _)| number);
        name.ends_with(".txt") && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut names: Vec<String> = entries.flatten().filter_map(name).filter(is_result).collect();
    names.sort();
    let excess = names.len().saturating_sub(KEPT);
    for name in names.iter().take(excess) {
        let _ = unlinkat(folder, name, AtFlags::empty());
    }
}

/// How many whole results stay.
const KEPT: usize = 20;

#[cfg(test)]
mod tests {
    use super::{InWorkspace, KEPT, Redactor, ResultKeeper};
    use std::fs;

    #[test]
    fn results_are_kept_out_of_gits_sight_and_the_oldest_go() {
        let root = tempfile::tempdir().unwrap();
        let keeper = InWorkspace(root.path().to_path_buf(), Redactor::new(["some-secret"]));
        let kept: Vec<String> = (0..KEPT + 5).map(|n| keeper.keep("a/b", &format!("result {n}")).unwrap()).collect();
        assert!(kept[0].starts_with(".agent/mcp/") && kept[0].ends_with("-a_b.txt"), "{}", kept[0]);
        assert!(!root.path().join(&kept[4]).exists());
        assert_eq!(fs::read_to_string(root.path().join(&kept[5])).unwrap(), "result 5");
        let kept = keeper.keep("s", "it said some-secret").unwrap();
        assert_eq!(fs::read_to_string(root.path().join(kept)).unwrap(), "it said [redacted]");
        assert_eq!(fs::read_to_string(root.path().join(".agent/mcp/.gitignore")).unwrap(), "*\n");
    }

    #[test]
    fn a_link_in_the_way_is_not_followed() {
        for link in [".agent", ".agent/mcp"] {
            let (root, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            if link != ".agent" {
                fs::create_dir(root.path().join(".agent")).unwrap();
            }
            std::os::unix::fs::symlink(elsewhere.path(), root.path().join(link)).unwrap();
            assert!(InWorkspace(root.path().to_path_buf(), Redactor::default()).keep("s", "x").is_err(), "{link}");
            assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0, "{link}");
        }
    }
}
