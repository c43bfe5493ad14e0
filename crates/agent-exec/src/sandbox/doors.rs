//! The sandbox of one command, where it differs from that of the others: narrower, or with doors open.
//!
//! 1. What is hidden stays hidden, and the filter stays, whatever is opened.
//! 2. A place is opened as it is when that is asked for; what is put in its place later is not opened.
//! 3. Nothing is tried again: what cannot be enforced for a command ends that command.

use super::place::Place;
use super::scratch::Scratch;
use super::{Access, Mechanism, Sandbox};
use crate::mount_table::MountTable;
use std::path::{Path, PathBuf};

/// What is opened for one command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Doors {
    /// Whether it has the network of this machine, and what listens there. Sockets with names in the file system stay closed.
    pub network: bool,
    /// Files and directories that may be written, with what is in them, as they were when that was decided. They are there, and none is
    /// hidden or protected.
    pub writable: Vec<Place>,
    /// A protected directory that may be written all the same, but for `sealed`. What is protected and has the same name elsewhere is
    /// hidden meanwhile: what goes on from one to another would obey what a command may have made there.
    pub records: Option<PathBuf>,
    /// What stays as it is in what is opened.
    pub sealed: Vec<PathBuf>,
}

/// Why a door is not opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DoorError {
    /// There is no such file or directory.
    #[error("`{}` does not exist or cannot be seen: name a directory that exists", .0.display())]
    Absent(PathBuf),
    /// Something else is there than when that was decided.
    #[error("`{}` is not what was there when the call was looked at: call again, and look at what is there now", .0.display())]
    Replaced(PathBuf),
    /// It is hidden from commands, or lies on the way to something hidden.
    #[error("`{}` holds, or lies in, what is hidden from commands: name a directory further down", .0.display())]
    Hidden(PathBuf),
    /// It lies in something protected, or holds what starts commands.
    #[error("`{}` stays protected from commands", .0.display())]
    Protected(PathBuf),
    /// Landlock takes nothing out of what it gives.
    #[error("`{}` cannot be opened: without bubblewrap, what other programs run in it could not stay protected", .0.display())]
    NotSealed(PathBuf),
}

/// How the sandbox of one command differs.
#[derive(Clone, Debug, Default)]
pub(super) struct Difference {
    /// What it may write, where that is not the policy's to say.
    pub(super) access: Option<Access>,
    pub(super) network: Network,
    pub(super) opened: Vec<Place>,
    pub(super) sealed: Vec<PathBuf>,
    pub(super) records: Option<PathBuf>,
}

/// Which network a command has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Network {
    #[default]
    None,
    OfTheMachine,
}

impl Sandbox {
    /// The same, in which nothing but temporary files can be written.
    #[must_use]
    pub fn reading(&self) -> Self {
        let difference = Difference { access: Some(Access::ReadOnly), ..Difference::default() };
        Self(self.0.clone(), Some(difference.into()))
    }

    /// The same with doors open.
    ///
    /// # Errors
    /// [`DoorError`] when one of them cannot be opened; then none is.
    pub fn opened(&self, doors: &Doors) -> Result<Self, DoorError> {
        let mounts = MountTable::now().unwrap_or_default();
        let mut hidden = self.0.hidden.now(&mounts);
        hidden.extend(self.0.policy.hidden.iter().cloned());
        let mut opened = Vec::new();
        let mut sealed = doors.sealed.clone();
        for wanted in &doors.writable {
            let path = &wanted.path;
            let place = there(path)?;
            if !place.is_same_as(wanted) {
                return Err(DoorError::Replaced(path.clone()));
            }
            let touches = |other: &PathBuf| other.starts_with(&place.path) || place.path.starts_with(other);
            if hidden.iter().any(touches) {
                return Err(DoorError::Hidden(path.clone()));
            }
            let is_within = |known: &PathBuf| known.canonicalize().is_ok_and(|known| place.path.starts_with(known));
            if Scratch::are_near(&place.path) || self.0.policy.protected.iter().any(is_within) {
                return Err(DoorError::Protected(path.clone()));
            }
            sealed.extend(self.found_in(&place));
            if self.mechanism() != Mechanism::Bubblewrap && sealed.iter().any(|sealed| is_beneath(sealed, &place.path))
            {
                return Err(DoorError::NotSealed(path.clone()));
            }
            opened.push(place);
        }
        if let Some(path) = &doors.records {
            if self.mechanism() != Mechanism::Bubblewrap {
                return Err(DoorError::NotSealed(path.clone()));
            }
            opened.push(there(path)?);
        }
        let network = if doors.network { Network::OfTheMachine } else { Network::None };
        let records = doors.records.clone();
        let difference = Difference { access: None, network, opened, sealed, records };
        Ok(Self(self.0.clone(), Some(difference.into())))
    }

    /// What other programs act on in a place, which therefore stays as it is.
    fn found_in(&self, place: &Place) -> Vec<PathBuf> {
        let Some(by) = self.0.watch.get().filter(|_| place.path.is_dir()) else { return Vec::new() };
        by.find_in(&place.path).paths.iter().flat_map(|path| by.protects(path)).collect()
    }

    /// The directories that this command has open, but for records.
    pub(super) fn opened_directories(&self) -> impl Iterator<Item = &Place> {
        let difference = self.difference().into_iter();
        let all = difference.flat_map(|difference| difference.opened.iter().map(|place| (place, &difference.records)));
        let others = all.filter(|(place, records)| records.as_ref() != Some(&place.path) && place.path.is_dir());
        others.map(|(place, _)| place)
    }

    pub(super) fn difference(&self) -> Option<&Difference> {
        self.1.as_deref()
    }

    /// What may be written, by this command.
    pub(super) fn access(&self) -> Access {
        self.difference().and_then(|difference| difference.access).unwrap_or(self.0.policy.access)
    }

    /// How much memory each of its processes may have: only what nobody was asked about has a bound.
    pub(super) fn bound(&self) -> Option<u64> {
        #[cfg(target_os = "linux")]
        let bound = crate::limits::bound_of_reading();
        #[cfg(not(target_os = "linux"))]
        let bound = 0;
        self.difference().is_some_and(|difference| difference.access == Some(Access::ReadOnly)).then_some(bound)
    }

    pub(super) fn network(&self) -> Network {
        self.difference().map(|difference| difference.network).unwrap_or_default()
    }

    /// What is hidden while records are open, of what was found protected.
    pub(super) fn like_records(&self, found: &[PathBuf]) -> Vec<PathBuf> {
        let Some(records) = self.difference().and_then(|difference| difference.records.as_ref()) else {
            return Vec::new();
        };
        let is_like = |path: &&PathBuf| path.file_name() == records.file_name() && *path != records;
        let all = self.0.policy.protected.iter().chain(found).filter(is_like);
        // A link is hidden where it leads, which is not the records themselves.
        let real = all.filter_map(|path| path.canonicalize().ok());
        let own = records.canonicalize().ok();
        real.filter(|path| Some(path) != own.as_ref()).collect()
    }

    /// The places that this command may write, but for the temporary directory.
    pub(super) fn given(&self) -> Vec<Place> {
        let is_narrowed = self.difference().is_some_and(|difference| difference.access.is_some());
        let of_all = self.0.fixed.writable.iter().filter(|_| !is_narrowed);
        let opened = self.difference().into_iter().flat_map(|difference| &difference.opened);
        of_all.chain(opened).cloned().collect()
    }
}

fn is_beneath(path: &Path, place: &Path) -> bool {
    path.starts_with(place) && path != place
}

/// What is at a path now, whatever links lead there.
fn there(path: &Path) -> Result<Place, DoorError> {
    let real = path.canonicalize().ok();
    real.and_then(|real| Place::at(&real)).ok_or_else(|| DoorError::Absent(path.to_path_buf()))
}

/// Where names of machines are looked up: the file may lie where the sandbox has nothing.
pub(super) fn of_the_network() -> Option<PathBuf> {
    Path::new("/etc/resolv.conf").canonicalize().ok()
}
