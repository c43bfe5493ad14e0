//! Finds a program by name.
//!
//! Done here and not by the spawn call: with a search path of its own the standard library falls back from `posix_spawn` to `fork`, whose
//! cost grows with the memory of the agent; and a relative entry of the search path would run a program of the workspace by accident.

use crate::error::StartError;
use crate::search_path::SearchPath;
use rustix::fs::{Access, access};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The absolute path of a program. A host that has a search path of its own for its programs looks there.
pub(crate) fn find_in(
    programs: Option<&SearchPath>,
    program: &str,
    search_path: Option<&OsStr>,
) -> Result<PathBuf, StartError> {
    match programs.filter(|_| !program.contains(['/', '\0']) && !program.is_empty()) {
        Some(programs) => programs.find(program),
        None => find(program, search_path),
    }
}

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
    let search_path = search_path.unwrap_or(OsStr::new(USUAL_PATH));
    if let Some(file) = remembered(program, search_path) {
        return Ok(file);
    }
    let file = search(program, search_path, |_| true)?;
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    found.insert(program.to_owned(), (search_path.to_owned(), file.clone()));
    Ok(file)
}

/// Where the program was the last time, as shells remember it, if it is still there.
fn remembered(program: &str, search_path: &OsStr) -> Option<PathBuf> {
    let found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    let (_, file) = found.get(program).filter(|(searched, _)| searched == search_path)?;
    is_program(file).then(|| file.clone())
}

/// The first that is meant and may be executed.
pub(crate) fn search(
    program: &str,
    search_path: &OsStr,
    is_meant: impl Fn(&Path) -> bool,
) -> Result<PathBuf, StartError> {
    let mut unusable = None;
    for directory in std::env::split_paths(search_path).filter(|directory| directory.is_absolute()) {
        let file = directory.join(program);
        if !file.is_file() || !is_meant(&file) {
            continue;
        }
        if may_execute(&file) {
            return Ok(file);
        }
        unusable.get_or_insert(file);
    }
    Err(unusable.map_or(StartError::NotFound, |file| StartError::NotExecutable { file }))
}

pub(crate) fn is_program(file: &Path) -> bool {
    file.is_file() && may_execute(file)
}

fn may_execute(file: &Path) -> bool {
    access(file, Access::EXEC_OK).is_ok()
}

/// By name: the search path and what it led to. A search path has dozens of directories, and every command starts the same shell.
static FOUND: Mutex<BTreeMap<String, (OsString, PathBuf)>> = Mutex::new(BTreeMap::new());

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

    #[test]
    fn looks_again_when_a_program_went_or_the_search_path_is_another() {
        let [first, second] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let program = |directory: &tempfile::TempDir| {
            let file = directory.path().join("wanders");
            fs::write(&file, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
            file
        };
        let both = std::env::join_paths([first.path(), second.path()]).unwrap();
        let (before, after) = (program(&first), program(&second));
        assert_eq!(find("wanders", Some(&both)).unwrap(), before);
        assert_eq!(find("wanders", Some(second.path().as_os_str())).unwrap(), after);
        assert_eq!(find("wanders", Some(&both)).unwrap(), before);
        fs::remove_file(&before).unwrap();
        assert_eq!(find("wanders", Some(&both)).unwrap(), after);
        fs::remove_file(&after).unwrap();
        assert!(matches!(find("wanders", Some(&both)), Err(StartError::NotFound)));
    }
}
