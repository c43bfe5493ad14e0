//! Files of the user's that git opens for any question. Git waits for a named pipe and reads some devices without end, and then every call
//! takes until its time is up: so they are looked at before.

use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// The first of these files that git would wait for, as a sentence: its configuration and lists of the user's and the system's, and `more`
/// that the environment names.
#[must_use]
pub fn odd_users_file(home: Option<&Path>, config_home: Option<&Path>, more: &[PathBuf]) -> Option<String> {
    let of_home = home.map(|home| home.join(".gitconfig"));
    let folder = config_home.map(Path::to_path_buf).or_else(|| Some(home?.join(".config")));
    let of_folder = folder.into_iter().flat_map(|folder| IN_FOLDER.map(|name| folder.join("git").join(name)));
    let of_system = OF_SYSTEM.iter().map(PathBuf::from);
    let all = of_home.into_iter().chain(of_folder).chain(of_system).chain(more.iter().cloned());
    { all }.find(|file| file.metadata().is_ok_and(|found| is_waited_for(&found))).map(|file| {
        format!(
            "git would wait for `{}`, which is neither a file nor `/dev/null`: replace it by a file",
            file.display()
        )
    })
}

fn is_waited_for(found: &Metadata) -> bool {
    let kind = found.file_type();
    // The null device says in many places that there is nothing.
    let is_null = kind.is_char_device() && found.rdev() == rustix::fs::makedev(1, 3);
    kind.is_fifo() || kind.is_char_device() && !is_null
}

const IN_FOLDER: [&str; 3] = ["config", "ignore", "attributes"];
const OF_SYSTEM: &[&str] = &["/etc/gitconfig", "/etc/gitattributes"];

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_pipe_in_the_place_of_a_file_of_git_is_told_and_what_git_reads_is_not() {
        for name in [".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes"] {
            let home = tempfile::tempdir().unwrap();
            let file = home.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            let odd = || odd_users_file(Some(home.path()), None, &[]);
            assert_eq!(odd(), None, "{name}: nothing is there");
            fs::write(&file, "").unwrap();
            assert_eq!(odd(), None, "{name}: a file");
            for (target, is_odd) in [("/dev/null", false), ("/dev/zero", true), ("/dev/tty", true), ("/nowhere", false)]
            {
                fs::remove_file(&file).unwrap();
                symlink(target, &file).unwrap();
                assert_eq!(odd().is_some(), is_odd, "{name} leads to {target}");
            }
            fs::remove_file(&file).unwrap();
            assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
            assert!(odd().unwrap().contains(&*file.to_string_lossy()), "{name}");
            let elsewhere = Path::new("/nowhere");
            assert_eq!(
                odd_users_file(Some(home.path()), Some(elsewhere), &[]).is_some(),
                name == ".gitconfig",
                "{name}"
            );
            assert!(odd_users_file(None, None, std::slice::from_ref(&file)).is_some(), "{name}");
        }
    }
}
