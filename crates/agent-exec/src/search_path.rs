//! Where a host finds the programs that it runs by itself.
//!
//! `PATH` often names directories of the workspace: an active virtual environment, `node_modules/.bin` in a script. What commands may write
//! there must not become the host's `git`. So the directories are taken once, without those, and a program that a link leads to or through
//! such a place is passed over, and so is a script that names something there.

use crate::error::StartError;
use crate::first_line;
use crate::leads::{Places, leads_into};
use crate::program::{is_program, search};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The directories of a search path in which no command can have put a program. Cheap to clone.
#[derive(Clone, Debug)]
pub struct SearchPath(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    directories: OsString,
    left_out: Vec<PathBuf>,
    untrusted: Vec<PathBuf>,
    /// What was found, by name: what was found once stays.
    found: Mutex<BTreeMap<String, PathBuf>>,
}

impl SearchPath {
    /// The absolute directories of a search path that do not lie in any of these, by their names and by where links lead. Without a search
    /// path the usual directories of the system.
    #[must_use]
    pub fn outside<P: AsRef<Path>>(search_path: Option<&OsStr>, untrusted: impl IntoIterator<Item = P>) -> Self {
        let untrusted: Vec<PathBuf> = untrusted.into_iter().flat_map(|path| both(path.as_ref())).collect();
        let search_path = search_path.unwrap_or(OsStr::new(USUAL_PATH));
        let is_outside = |path: &PathBuf| {
            let is_inside = |path: &PathBuf| untrusted.iter().any(|root| path.starts_with(root));
            path.is_absolute() && !both(path).iter().any(is_inside) && !leads_into(path, &untrusted)
        };
        let (kept, left_out): (Vec<_>, Vec<_>) = std::env::split_paths(search_path).partition(is_outside);
        let directories = joined(kept);
        Self(Arc::new(Parts { directories, left_out, untrusted, found: Mutex::default() }))
    }

    /// The absolute path of a program, the same for as long as it is there.
    ///
    /// # Errors
    /// [`StartError`] when there is none, or none that may be executed.
    pub fn find(&self, program: &str) -> Result<PathBuf, StartError> {
        let mut found = self.0.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = found.get(program).filter(|file| is_program(file)) {
            return Ok(file.clone());
        }
        let untrusted = Places::of(&self.0.untrusted);
        let file = search(program, &self.0.directories, |file| !self.is_led(file, &untrusted))?;
        found.insert(program.to_owned(), file.clone());
        Ok(file)
    }

    /// The directories, as a value of `PATH`.
    #[must_use]
    pub fn directories(&self) -> &OsStr {
        &self.0.directories
    }

    /// The directories, as a value of `PATH` in which a shell that looks for one of these programs finds none that a link leads to or
    /// through what was not trusted: without the directories in which such a link has its name.
    #[must_use]
    pub fn directories_for<'a>(&self, programs: impl IntoIterator<Item = &'a str>) -> OsString {
        let programs: Vec<&str> = programs.into_iter().collect();
        let untrusted = Places::of(&self.0.untrusted);
        // The directories were judged when they were taken, so a name that is not there leads nowhere.
        let is_absent = |file: &Path| file.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound);
        let is_unfit = |file: &Path| !is_absent(file) && self.is_led(file, &untrusted);
        let is_fit = |folder: &PathBuf| !programs.iter().any(|program| is_unfit(&folder.join(program)));
        joined(std::env::split_paths(&self.0.directories).filter(is_fit))
    }

    fn is_led(&self, file: &Path, untrusted: &Places<'_>) -> bool {
        untrusted.may_change(file) || first_line::leads_into(file, &self.0.directories, untrusted)
    }

    /// Whether what was not trusted could change what runs when this file does: by its place, by a link, by another name of it, or by what
    /// it names if it is a script.
    #[must_use]
    pub fn is_changeable(&self, file: &Path) -> bool {
        self.is_led(file, &Places::of(&self.0.untrusted))
    }

    /// What was left out of the search path.
    #[must_use]
    pub fn left_out(&self) -> &[PathBuf] {
        &self.0.left_out
    }
}

/// The usual directories of the system.
impl Default for SearchPath {
    fn default() -> Self {
        Self::outside::<&Path>(None, [])
    }
}

/// As a value of `PATH`. An empty one would mean the current directory.
fn joined(directories: impl IntoIterator<Item = PathBuf>) -> OsString {
    // None of them has a separator in its name: they were parts of such a list.
    let joined = std::env::join_paths(directories).unwrap_or_default();
    if joined.is_empty() { OsString::from(NO_DIRECTORY) } else { joined }
}

/// A path without `.` and `..`, and where it leads.
fn both(path: &Path) -> Vec<PathBuf> {
    let mut named = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => drop(named.pop()),
            std::path::Component::CurDir => {}
            part => named.push(part),
        }
    }
    let real = path.ancestors().find_map(|there| {
        let rest = path.strip_prefix(there).unwrap_or(Path::new(""));
        Some(there.canonicalize().ok()?.join(rest))
    });
    real.into_iter().filter(|real| *real != named).chain([named.clone()]).collect()
}

/// Nothing can be put there.
const NO_DIRECTORY: &str = "/dev/null";
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn program(directory: &Path, name: &str) -> PathBuf {
        fs::create_dir_all(directory).unwrap();
        let file = directory.join(name);
        fs::write(&file, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        file
    }

    #[test]
    fn programs_of_the_workspace_are_passed_over_by_every_way_to_them() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (workspace, system) = (root.join("workspace"), root.join("system"));
        program(&workspace.join(".venv/bin"), "git");
        let real = program(&system, "git");
        symlink(workspace.join(".venv/bin"), root.join("link")).unwrap();
        symlink(&workspace, root.join("other-name")).unwrap();
        // These end in the user's programs, by a step that a command can lead elsewhere.
        symlink(&system, workspace.join("step")).unwrap();
        symlink(workspace.join("step"), root.join("through")).unwrap();
        fs::create_dir(root.join("steps")).unwrap();
        symlink(workspace.join("step/git"), root.join("steps/git")).unwrap();
        fs::create_dir(root.join("links")).unwrap();
        symlink(workspace.join(".venv/bin/git"), root.join("links/git")).unwrap();
        for (entry, is_left_out) in [
            (workspace.join(".venv/bin"), true),
            (workspace.join("absent/bin"), true),
            (root.join("system/../workspace/.venv/bin"), true),
            (root.join("link"), true),
            (root.join("other-name/.venv/bin"), true),
            (PathBuf::from("node_modules/.bin"), true),
            (PathBuf::from("."), true),
            (PathBuf::new(), true),
            (root.join("through"), true),
            // The directory is the user's; the link in it leads to the workspace, or through it.
            (root.join("links"), false),
            (root.join("steps"), false),
        ] {
            let path = std::env::join_paths([&entry, &system]).unwrap();
            let search = SearchPath::outside(Some(&path), [root.join("other-name")]);
            assert_eq!(search.find("git").unwrap(), real, "{}", entry.display());
            assert_eq!(search.left_out().len(), usize::from(is_left_out), "{}", entry.display());
            let for_git = search.directories_for(["absent", "git"]);
            assert_eq!(for_git, system.as_os_str(), "{}: none of the workspace's is found first", entry.display());
            // The control: another program's name leaves the directory in.
            assert_eq!(search.directories_for(["absent"]) == path, !is_left_out, "{}", entry.display());
            // The control: without the workspace as a reason, the first that is there is found.
            let all = SearchPath::outside(Some(&path), [root.join("elsewhere")]);
            assert!(all.find("git").unwrap() != real || !entry.join("git").is_absolute() || !entry.exists());
        }
    }

    #[test]
    fn a_script_is_passed_over_whose_interpreter_lies_in_the_workspace() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (workspace, first, second) = (root.join("workspace"), root.join("first"), root.join("second"));
        program(&workspace, "python");
        let real = program(&second, "git");
        let script = program(&first, "git");
        let here = |path: &str| format!("#!{}/{path}\n", root.display());
        let inner = program(&root.join("third"), "inner");
        symlink(workspace.join("python"), first.join("link-python")).unwrap();
        fs::write(program(&first, "script-python"), here("workspace/python")).unwrap();
        let path = std::env::join_paths([&first, &second]).unwrap();
        fs::write(&inner, here("workspace/python")).unwrap();
        for (line, is_passed_over) in [
            (here("workspace/python"), true),
            (here("workspace/absent"), true),
            (format!("#! {}/workspace/python -W ignore\n", root.display()), true),
            (format!("#!/usr/bin/env {}/workspace/python\n", root.display()), true),
            (here("third/inner"), true),
            ("#!./python\n".to_owned(), true),
            (here("first/git"), true),
            ("#!/bin/sh\n".to_owned(), false),
            ("#!/usr/bin/env python3\n".to_owned(), false),
            ("#!/usr/bin/env link-python\n".to_owned(), true),
            ("#!/usr/bin/env -S A=1 script-python -W ignore\n".to_owned(), true),
            (format!("#!/bin/sh\n'''exec' \"{}/workspace/python\" \"$0\" \"$@\"\n", root.display()), true),
            (format!("#!/bin/sh\nexec {}/elsewhere/python\n", root.display()), false),
            ("no script\n".to_owned(), false),
        ] {
            fs::write(&script, &line).unwrap();
            let search = SearchPath::outside(Some(&path), [&workspace]);
            let expected = if is_passed_over { &real } else { &script };
            assert_eq!(&search.find("git").unwrap(), expected, "{line}");
            let directories = search.directories_for(["git"]);
            assert_eq!(directories == path, !is_passed_over, "{line}");
        }
    }

    #[test]
    fn where_nothing_is_left_the_current_directory_is_not_searched() {
        let root = tempfile::tempdir().unwrap();
        let search = SearchPath::outside(Some(root.path().as_os_str()), [root.path()]);
        assert!(!search.directories().is_empty() && !search.directories_for(["seq"]).is_empty());
        assert!(matches!(search.find("sh"), Err(StartError::NotFound)));
    }

    #[test]
    fn what_was_found_stays_though_another_comes_before_it() {
        let root = tempfile::tempdir().unwrap();
        let (first, second) = (root.path().join("first"), root.path().join("second"));
        let found = program(&second, "tool");
        let path = std::env::join_paths([&first, &second]).unwrap();
        let search = SearchPath::outside(Some(&path), [root.path().join("workspace")]);
        assert_eq!(search.find("tool").unwrap(), found);
        program(&first, "tool");
        assert_eq!(search.find("tool").unwrap(), found);
        assert!(matches!(search.find("absent"), Err(StartError::NotFound)));
        assert!(SearchPath::outside(None, [root.path()]).find("sh").is_ok());
    }
}
