//! Finds a program by name.
//!
//! Done here and not by the spawn call: with a search path of its own the standard library falls back from `posix_spawn` to `fork`, whose
//! cost grows with the memory of the agent; and a relative entry of the search path would run a program of the workspace by accident.

use crate::error::StartError;
use rustix::fs::{Access, access};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The absolute path of a program.
pub(crate) fn find(program: &str, search_path: Option<&OsStr>) -> Result<PathBuf, StartError> {
    if program.contains('\0') {
        return Err(StartError::NulByte);
    }
    if program.is_empty() {
        return Err(StartError::NotFound);
    }
    if program.contains('/') {
        let file = PathBuf::from(program);
        return match is_program(&file) {
            true => Ok(file),
            false if file.exists() => Err(StartError::NotExecutable { file }),
            false => Err(StartError::NotFound),
        };
    }
    let mut unusable = None;
    for directory in std::env::split_paths(search_path.unwrap_or(OsStr::new(USUAL_PATH))) {
        if !directory.is_absolute() {
            continue;
        }
        let file = directory.join(program);
        if is_program(&file) {
            return Ok(file);
        }
        if unusable.is_none() && file.is_file() {
            unusable = Some(file);
        }
    }
    Err(unusable.map_or(StartError::NotFound, |file| StartError::NotExecutable { file }))
}

fn is_program(file: &Path) -> bool {
    file.is_file() && access(file, Access::EXEC_OK).is_ok()
}

const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn finds_programs_and_says_what_is_wrong_with_others() {
        let directory = tempfile::tempdir().unwrap();
        let plain = directory.path().join("plain");
        let program = directory.path().join("program");
        fs::write(&plain, "").unwrap();
        fs::write(&program, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let path = Some(directory.path().as_os_str());

        assert_eq!(find("program", path).unwrap(), program);
        assert_eq!(find(program.to_str().unwrap(), None).unwrap(), program);
        assert!(matches!(find("plain", path), Err(StartError::NotExecutable { .. })));
        assert!(matches!(find("absent", path), Err(StartError::NotFound)));
        assert!(matches!(find("", path), Err(StartError::NotFound)));
        assert!(matches!(find("a\0b", path), Err(StartError::NulByte)));
        assert!(matches!(find("program", Some(OsStr::new(".:relative"))), Err(StartError::NotFound)));
        assert!(find("sh", None).is_ok());
    }
}
