//! Paths as the session names them: relative to the workspace, `/` between the parts.

use std::path::Path;

/// The path without `.` parts, or why it does not name a file of this workspace.
///
/// An absolute path is accepted when it is in the workspace.
pub(crate) fn normalize(workspace: &Path, path: &str) -> Result<String, &'static str> {
    let relative = match Path::new(path).strip_prefix(workspace) {
        Ok(inside) => inside.to_str().unwrap_or(path),
        Err(_) => path,
    };
    if relative.starts_with('/') {
        return Err("it is outside the workspace");
    }
    if relative.contains(['\0', '\n']) {
        return Err("its name contains a line break or a NUL byte");
    }
    let mut parts = Vec::new();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => return Err("its path contains `..`"),
            part if part.eq_ignore_ascii_case(".git") => return Err("it belongs to git"),
            part => parts.push(part),
        }
    }
    if parts.is_empty() {
        return Err("it is the workspace itself");
    }
    Ok(parts.join("/"))
}

/// Whether the directories above the file are plain directories of the same repository; else the reason.
///
/// A symbolic link would lead the agent's change to another place than git's record of it, and a directory with its own `.git` is
/// another repository (a submodule or a clone).
pub(crate) fn check_parents(workspace: &Path, normalized: &str) -> Result<(), &'static str> {
    let mut directory = workspace.to_path_buf();
    let Some((parents, _)) = normalized.rsplit_once('/') else {
        return Ok(());
    };
    for part in parents.split('/') {
        directory.push(part);
        match directory.symlink_metadata() {
            Ok(found) if found.is_symlink() => {
                return Err("its path leads through a symbolic link");
            }
            Ok(_) => {}
            // A directory that is gone cannot lead anywhere: the file was deleted with it.
            Err(_) => return Ok(()),
        }
        if directory.join(".git").symlink_metadata().is_ok() {
            return Err("it is in a repository of its own (a submodule?)");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normalized_or_refused() {
        let workspace = Path::new("/home/u/project");
        for (path, expected) in [
            ("src/a.rs", Ok("src/a.rs")),
            ("./src//a.rs", Ok("src/a.rs")),
            ("/home/u/project/src/a.rs", Ok("src/a.rs")),
            ("-m", Ok("-m")),
            (":(top)", Ok(":(top)")),
            ("/etc/passwd", Err("it is outside the workspace")),
            ("a/../../b", Err("its path contains `..`")),
            (".git/hooks/pre-commit", Err("it belongs to git")),
            ("a/.GIT/config", Err("it belongs to git")),
            ("a\nb", Err("its name contains a line break or a NUL byte")),
            (".", Err("it is the workspace itself")),
            ("", Err("it is the workspace itself")),
        ] {
            assert_eq!(normalize(workspace, path), expected.map(str::to_owned), "{path:?}");
        }
    }
}
