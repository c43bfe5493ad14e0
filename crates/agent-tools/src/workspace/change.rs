//! Changes of files: prepared first, then put in place at once, and taken back if a later one of the same call fails.
//!
//! ```text
//! stage    the new content is a finished file beside the old one; the old one is untouched; whatever can fail has failed by now
//! commit   the two change names in one step; what has come out must be what the model saw, or they change back
//! drop     a change that was committed is final: the old content goes.   undo: it comes back
//! ```

use super::descend::{Entered, MadeDirectories, descend_making};
use super::record::Stamp;
use super::temporary::{FillError, Swap, Temporary};
use super::{FileError, OpenedFile, RelativePath, Workspace};
use agent_exec::leftovers::Leftover;
use rustix::fs::{AtFlags, FileType, statat};
use rustix::io::Errno;
use std::path::Path;

/// A change that is ready and has changed nothing yet.
#[derive(Debug)]
pub(crate) struct Staged<'w> {
    workspace: &'w Workspace,
    /// As it was given, for messages.
    path: RelativePath,
    real: RelativePath,
    temporary: Temporary,
    /// Emptied before they go, because it comes after what is in them.
    made: MadeDirectories,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// A file in this state is replaced by one in that state.
    Replace { old: Stamp, new: Stamp },
    /// It does not exist yet.
    Create,
    /// A file in this state goes.
    Remove { old: Stamp },
}

/// A change that was made. It is final when this is dropped.
#[derive(Debug)]
pub(crate) struct Done<'w> {
    staged: Staged<'w>,
    /// Whether the old content is still there.
    can_undo: bool,
}

impl Workspace {
    /// Prepares the replacement of an existing file. Its permission bits stay; set-user-id and its like do not, and a hard link elsewhere
    /// keeps the old content.
    pub(crate) fn stage_replacement(
        &self,
        path: &RelativePath,
        target: OpenedFile,
        content: &[u8],
    ) -> Result<Staged<'_>, FileError> {
        let old = target.stamp();
        let mut temporary = Temporary::named(target.directory);
        let new = temporary.fill(content, Some(&target.status)).map_err(|error| not_filled(path, error))?;
        temporary.note(Leftover::Old(&target.status));
        Ok(self.staged(path, target.real, temporary, Kind::Replace { old, new: Stamp::of(&new) }))
    }

    /// Prepares a new file, perhaps with the permissions of another one, and makes the directories above it.
    pub(crate) fn stage_creation(
        &self,
        path: &RelativePath,
        content: &[u8],
        like: Option<&OpenedFile>,
    ) -> Result<Staged<'_>, FileError> {
        self.must_be_writable(path)?;
        let real = self.real_path(path).ok_or_else(|| FileError::Outside { path: path.to_string() })?;
        let Some((parent, _)) = real.split() else {
            return Err(FileError::Directory { path: path.to_string() });
        };
        let wrong = |error: Errno| FileError::new(path, error.into());
        // Judged again as the path that is really entered: the links may have changed.
        self.must_be_writable(&real)?;
        let entered = descend_making(self.descriptor(), Path::new(parent)).map_err(wrong)?;
        let Entered { directory, passed, made } = entered;
        // And by what was entered. Directories that were made go again.
        self.must_lead_past(path, &real, &passed)?;
        let mut temporary = Temporary::named(directory);
        temporary.fill(content, like.map(|like| &like.status)).map_err(|error| not_filled(path, error))?;
        Ok(Staged { made, ..self.staged(path, real.clone(), temporary, Kind::Create) })
    }

    /// Prepares the removal of a file.
    pub(crate) fn stage_removal(&self, path: &RelativePath, target: OpenedFile) -> Staged<'_> {
        let kind = Kind::Remove { old: target.stamp() };
        let temporary = Temporary::named(target.directory);
        temporary.note(Leftover::Old(&target.status));
        self.staged(path, target.real, temporary, kind)
    }

    fn staged(&self, path: &RelativePath, real: RelativePath, temporary: Temporary, kind: Kind) -> Staged<'_> {
        Staged { workspace: self, path: path.clone(), real, temporary, made: MadeDirectories::default(), kind }
    }
}

impl<'w> Staged<'w> {
    /// Where the change is made, without links.
    pub(crate) fn real(&self) -> &RelativePath {
        &self.real
    }

    /// Makes the change.
    pub(crate) fn commit(mut self) -> Result<Done<'w>, FileError> {
        let name = self.real.split().map(|(_, name)| name.to_owned()).unwrap_or_default();
        let can_undo = match self.kind {
            Kind::Create => {
                self.temporary.swap_with(&name, Swap::PutNew).map_err(|error| self.occupied(error))?;
                true
            }
            Kind::Replace { old, new } => self.exchange(&name, old, new)?,
            Kind::Remove { old } => {
                self.temporary.swap_with(&name, Swap::Take).map_err(|error| self.wrong(error))?;
                if !self.holds(old) {
                    return Err(self.put_back(&name));
                }
                true
            }
        };
        match (self.kind, self.status_of(&name)) {
            (Kind::Create | Kind::Replace { .. }, Some(stamp)) => self.workspace.record.note(&self.real, stamp),
            _ => self.workspace.record.forget(&self.real),
        }
        self.made.keep();
        Ok(Done { staged: self, can_undo })
    }

    /// Puts the new file in place of the old one, which is kept under the temporary name where the file system can do that.
    fn exchange(&mut self, name: &str, old: Stamp, new: Stamp) -> Result<bool, FileError> {
        match self.temporary.swap_with(name, Swap::Exchange) {
            Ok(()) if self.holds(old) => Ok(true),
            Ok(()) => Err(self.exchange_back(name, new)),
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                if self.status_of(name) != Some(old) {
                    return Err(self.stale());
                }
                self.temporary.swap_with(name, Swap::PutOver).map_err(|error| self.wrong(error))?;
                Ok(false)
            }
            Err(Errno::NOENT) => Err(self.stale()),
            Err(error) => Err(self.wrong(error)),
        }
    }

    /// The file that came out is the work of others, and is put back. If the name is free by now, they have removed it.
    fn exchange_back(&mut self, name: &str, new: Stamp) -> FileError {
        for _ in 0..MOST_EXCHANGES {
            match self.temporary.swap_with(name, Swap::Exchange) {
                // They have put yet another one there: that is the one that counts.
                Ok(()) if !self.holds(new) => {}
                Ok(()) | Err(Errno::NOENT) => return self.stale(),
                Err(_) => break,
            }
        }
        // Better an odd name than a loss.
        self.temporary.keep();
        self.stale()
    }

    fn put_back(&mut self, name: &str) -> FileError {
        if self.temporary.swap_with(name, Swap::PutNew).is_err() {
            self.temporary.keep();
        }
        self.stale()
    }

    /// Whether under the temporary name there is what the model saw.
    fn holds(&self, old: Stamp) -> bool {
        self.status_of(&self.temporary.name).is_some_and(|now| now.has_content_of(&old))
    }

    fn status_of(&self, name: &str) -> Option<Stamp> {
        let status = statat(&self.temporary.directory, name, AtFlags::SYMLINK_NOFOLLOW);
        status.ok().map(|status| Stamp::of(&status))
    }

    fn occupied(&self, error: Errno) -> FileError {
        let path = self.path.to_string();
        let status = statat(
            &self.temporary.directory,
            self.real.split().map_or("", |(_, name)| name),
            AtFlags::SYMLINK_NOFOLLOW,
        );
        let is_link = status.is_ok_and(|status| FileType::from_raw_mode(status.st_mode).is_symlink());
        match error {
            Errno::EXIST if is_link => FileError::DanglingLink { path },
            Errno::EXIST => FileError::Exists { path },
            error => self.wrong(error),
        }
    }

    fn stale(&self) -> FileError {
        FileError::Stale { path: self.path.to_string() }
    }

    fn wrong(&self, error: Errno) -> FileError {
        FileError::new(&self.path, error.into())
    }
}

impl Done<'_> {
    /// Takes the change back. Says whether that was possible.
    pub(crate) fn undo(mut self) -> bool {
        let staged = &mut self.staged;
        let name = staged.real.split().map(|(_, name)| name.to_owned()).unwrap_or_default();
        let swap = match staged.kind {
            Kind::Replace { .. } => Swap::Exchange,
            Kind::Create => Swap::Take,
            Kind::Remove { .. } => Swap::PutNew,
        };
        let undone = self.can_undo && staged.temporary.swap_with(&name, swap).is_ok();
        if undone {
            // The model has not seen what is there now under this stamp.
            staged.workspace.record.forget(&staged.real);
            staged.made.let_go();
        }
        undone
    }
}

fn not_filled(path: &RelativePath, error: FillError) -> FileError {
    let shown = path.to_string();
    match error {
        FillError::Limit(limit) => FileError::TooLarge { path: shown, limit },
        FillError::Make(error @ (Errno::ACCESS | Errno::PERM)) => {
            FileError::DirectoryNotWritable { path: shown, source: error.into() }
        }
        FillError::Make(error) => FileError::new(path, error.into()),
        FillError::Write(error) => FileError::new(path, error),
    }
}

const MOST_EXCHANGES: usize = 16;
