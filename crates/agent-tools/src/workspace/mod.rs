//! The workspace: one directory that no file tool leaves.
//!
//! A path is first made relative and normalised by its text alone, so that the permission policy and the file system judge the same path.
//! Links are resolved beneath a descriptor of the root, which gives a path without links. That path is judged, and then entered from the
//! root name by name, following nothing: what is opened, replaced or made is what was judged, even if names are moved meanwhile.

mod change;
mod closed;
mod descend;
mod error;
mod open;
mod path;
mod places;
mod protected;
mod record;
mod spellings;
mod temporary;

pub(crate) use change::{Done, Staged};
pub(crate) use descend::{For, Identity, descend, open_directory};
pub(crate) use error::FileError;
pub use open::Look;
pub(crate) use open::{OpenedFile, open_regular};
pub(crate) use path::RelativePath;
pub(crate) use places::Judge;
use places::{Places, What};
use protected::Protected;

use agent_types::ports::PictureKeeper;
use agent_types::redact::Redactor;
use cap_std::ambient_authority;
use cap_std::fs::Dir;
use descend::identity;
use record::Record;
use rustix::fd::{AsFd as _, BorrowedFd};
use rustix::fs::{AtFlags, statat};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A directory, and what a model has seen of its files.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    /// The root as it was given, which may be another name for it.
    root_as_given: PathBuf,
    directory: Dir,
    protected: Vec<Protected>,
    closed: Vec<RelativePath>,
    places: Places,
    record: Record,
    secrets: Redactor,
    pictures: Option<Arc<dyn PictureKeeper>>,
}

impl Workspace {
    /// Opens a directory.
    ///
    /// # Errors
    /// [`OpenError`] when it is not there, is not a directory, or has a name that is not Unicode.
    pub fn open(root: impl AsRef<Path>) -> Result<Self, OpenError> {
        let given = root.as_ref();
        let wrong = |source| OpenError::System { root: given.to_path_buf(), source };
        let root = given.canonicalize().map_err(wrong)?;
        if root.to_str().is_none() {
            return Err(OpenError::NotUnicode { root });
        }
        let directory = Dir::open_ambient_dir(&root, ambient_authority()).map_err(wrong)?;
        let root_as_given = given.to_path_buf();
        Ok(Self {
            root,
            root_as_given,
            directory,
            protected: Vec::new(),
            closed: Vec::new(),
            places: Places::default(),
            record: Record::default(),
            secrets: Redactor::default(),
            pictures: None,
        })
    }

    /// Protects more files or directories than those that always are (`.git`, for one): no tool writes them. They are meant by what they
    /// are, wherever they lie: a link on the way may lead into the workspace, now or later, and a directory may be mounted there.
    #[must_use]
    pub fn protecting<P: AsRef<Path>>(self, paths: impl IntoIterator<Item = P>) -> Self {
        self.protecting_as(paths, "belongs to the agent's own configuration", true)
    }

    /// Protects directories in the same way whose files git runs as hooks (`core.hooksPath`).
    #[must_use]
    pub fn protecting_hooks<P: AsRef<Path>>(self, paths: impl IntoIterator<Item = P>) -> Self {
        self.protecting_as(paths, "can make git run commands (`core.hooksPath` names it)", false)
    }

    /// Protects repositories in the same way that have other names than `.git`, and files that git's configuration names.
    #[must_use]
    pub fn protecting_repositories<P: AsRef<Path>>(self, paths: impl IntoIterator<Item = P>) -> Self {
        self.protecting_as(paths, "belongs to a git repository or its configuration", false)
    }

    /// Protects in the same way what links with protected names lead to.
    #[must_use]
    pub fn protecting_linked<P: AsRef<Path>>(self, paths: impl IntoIterator<Item = P>) -> Self {
        self.protecting_as(paths, "has a protected name through a link", false)
    }

    /// Tells the tools what the model is shown as [`REDACTED`](agent_types::redact::REDACTED): a file that holds such a
    /// secret is not written back whole as it was shown.
    #[must_use]
    pub fn knowing(mut self, secrets: Redactor) -> Self {
        self.secrets = secrets;
        self
    }

    /// Keeps the pictures that are read for the model. Without this, a picture is told of and not shown.
    #[must_use]
    pub fn keeping(mut self, pictures: Arc<dyn PictureKeeper>) -> Self {
        self.pictures = Some(pictures);
        self
    }

    pub(crate) fn pictures(&self) -> Option<&dyn PictureKeeper> {
        self.pictures.as_deref()
    }

    /// Whether what a model was shown of this text differs from the text.
    pub(crate) fn was_shown_redacted(&self, text: &[u8]) -> bool {
        !self.secrets.is_empty() && self.secrets.finds(&String::from_utf8_lossy(text))
    }

    /// Closes more directories than those that always are (`.git/agent`): no tool reads, lists or searches them, by whatever path.
    #[must_use]
    pub fn closing<P: AsRef<Path>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        for path in paths {
            self.places.add(path.as_ref(), What::Closed, true);
            let Some(path) = path.as_ref().to_str().and_then(|path| self.relative(path).ok()) else { continue };
            let real = self.real_path(&path).filter(|real| *real != path);
            self.closed.extend(real.into_iter().chain([path]));
        }
        self
    }

    /// Whether no tool shows what is at a path without links.
    pub(crate) fn is_closed(&self, real: impl AsRef<Path>) -> bool {
        closed::is_closed(real.as_ref(), &self.closed)
    }

    /// The same by what was passed on the way there: the root first.
    fn is_closed_place(&self, judge: &Judge<'_>, real: &Path, passed: &[Identity]) -> bool {
        judge.of(real, passed).contains(&What::Closed)
            || judge.other_names(real).iter().any(|name| closed::is_closed(name, &self.closed))
    }

    /// The same for an entry of a directory that is walked.
    pub(crate) fn is_closed_entry(&self, path: &str, name: &[u8]) -> bool {
        closed::begins_here(Path::new(path), name, &self.closed)
    }

    /// What judges the directories of a walk, or one path.
    pub(crate) fn judge(&self) -> Judge<'_> {
        self.places.now(&self.root)
    }

    fn protecting_as<P: AsRef<Path>>(
        mut self,
        paths: impl IntoIterator<Item = P>,
        reason: &'static str,
        is_own: bool,
    ) -> Self {
        for path in paths {
            let path = path.as_ref();
            let relative = path.to_str().and_then(|path| self.relative(path).ok());
            // There may be very many in the workspace, and those have their names.
            self.places.add(path, What::Protected(reason), is_own || relative.is_none());
            let Some(path) = relative else { continue };
            let real = self.real_path(&path).filter(|real| *real != path);
            self.protected.extend(real.into_iter().chain([path]).map(|path| Protected { path, reason }));
        }
        self
    }

    /// Its absolute path, without links.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Takes note that a file was changed on the agent's behalf (by a formatter, say), so that it does not count as changed behind the
    /// model's back. Without effect on a file that the model has not seen.
    pub fn note_changed(&self, path: &str) {
        let Ok(path) = self.relative(path) else {
            return;
        };
        if let Ok(opened) = self.open_file(&path) {
            self.record.refresh(&opened.real, opened.stamp());
        }
    }

    /// A path as a model gives it, relative to the root.
    pub(crate) fn relative(&self, given: &str) -> Result<RelativePath, FileError> {
        RelativePath::parse(given, &[&self.root, &self.root_as_given])
    }

    /// The paths that a permission rule must see: the one that was named and, where links lead elsewhere, the one that is meant.
    pub(crate) fn subjects(&self, given: &str) -> Result<Vec<String>, FileError> {
        self.subjects_by(&self.judge(), given)
    }

    fn subjects_by(&self, judge: &Judge<'_>, given: &str) -> Result<Vec<String>, FileError> {
        let path = self.relative(given)?;
        let mut paths = vec![path.to_string()];
        if let Some(real) = self.real_path(&path)
            && real != path
        {
            paths.push(real.to_string());
        }
        // A rule over files holds for them wherever they are mounted.
        let meant = self.real_path(&path).unwrap_or_else(|| path.clone());
        let others = judge.other_names(meant.as_path()).into_iter();
        paths.extend(others.filter_map(|name| name.into_os_string().into_string().ok()));
        let spellings: Vec<String> = paths.iter().flat_map(|path| spellings::of(&self.root, path)).collect();
        paths.extend(spellings);
        let is_closed = |path: &String| {
            self.is_closed(path) || self.is_closed_place(judge, Path::new(path), &self.passed_by(Path::new(path)))
        };
        match paths.iter().any(is_closed) {
            true => Err(FileError::Closed { path: path.to_string() }),
            false => Ok(paths),
        }
    }

    /// Refuses what no tool writes, by the path that was given and by the one that is meant.
    pub(crate) fn must_be_writable(&self, path: &RelativePath) -> Result<(), FileError> {
        let refuse = |reason| Err(FileError::Protected { path: path.to_string(), reason });
        if let Some(reason) = protected::reason(path, &self.protected) {
            return refuse(reason);
        }
        let Some(real) = self.real_path(path) else { return Ok(()) };
        if let Some(reason) = protected::reason(&real, &self.protected) {
            return refuse(reason);
        }
        self.must_lead_past(path, &real, &self.passed_by(real.as_path()))
    }

    /// Refuses a path without links by what was passed on the way there: the root first, perhaps the file last.
    fn must_lead_past(&self, path: &RelativePath, real: &RelativePath, passed: &[Identity]) -> Result<(), FileError> {
        let judge = self.judge();
        let host = judge.of(real.as_path(), passed).into_iter().find_map(|what| match what {
            What::Protected(reason) => Some(reason),
            What::Closed => None,
        });
        let by_name = || {
            let names = judge.other_names(real.as_path()).into_iter().chain(judge.names_outside(real.as_path()));
            let reason = |name: &Path| protected::reason(&RelativePath::from_real(name)?, &self.protected);
            { names }.find_map(|name| reason(name.strip_prefix("/").unwrap_or(&name)))
        };
        match host.or_else(by_name) {
            Some(reason) => Err(FileError::Protected { path: path.to_string(), reason }),
            None => Ok(()),
        }
    }

    /// What is passed on the way to a path without links, as far as something is there.
    fn passed_by(&self, real: &Path) -> Vec<Identity> {
        let mut ways: Vec<&Path> = real.ancestors().filter(|way| !way.as_os_str().is_empty() && *way != ".").collect();
        ways.push(Path::new("."));
        let status = |way: &Path| statat(&self.directory, way, AtFlags::SYMLINK_NOFOLLOW).ok();
        ways.into_iter().rev().map_while(|way| status(way).as_ref().map(identity)).collect()
    }

    /// The root itself, to enter other directories from.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// Where a path leads when links are followed; of a file that is not there yet, where it would be made.
    pub(crate) fn real_path(&self, path: &RelativePath) -> Option<RelativePath> {
        let mut ancestor = path.as_path();
        loop {
            match self.directory.canonicalize(ancestor) {
                Ok(real) => {
                    // The root is no prefix of the names below it.
                    let rest = path.as_path().strip_prefix(ancestor).unwrap_or(path.as_path());
                    return RelativePath::from_real(&real.join(rest));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    ancestor = match ancestor.parent()? {
                        parent if parent.as_os_str().is_empty() => Path::new("."),
                        parent => parent,
                    };
                }
                Err(_) => return None,
            }
        }
    }
}

/// Why a workspace could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// What the system said.
    #[error("open the workspace `{}`: {source}", .root.display())]
    System {
        /// The directory.
        root: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Commands could not be given a directory to run in.
    #[error("open the workspace `{}`: its name is not Unicode", .root.display())]
    NotUnicode {
        /// The directory.
        root: PathBuf,
    },
}
