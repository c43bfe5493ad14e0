//! The note beside a worktree.

use super::Making;
use std::fs;
use std::io::{self, Write as _};

impl Making<'_> {
    /// What is done with the worktree, and the commit that it is made of.
    pub(super) fn noted(&self) -> io::Result<Option<(String, String)>> {
        match fs::read_to_string(self.place.folder.join(NOTE)) {
            Ok(text) => {
                let words = text.trim().split_once(' ').map(|(phase, base)| (phase.to_owned(), base.to_owned()));
                words.map(Some).ok_or_else(|| io::Error::other("the note beside it cannot be read"))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Written in one piece, and on the disk before anything follows.
    pub(super) fn note(&self, phase: &str, base: &str) -> io::Result<()> {
        let new = self.place.folder.join(NEW_NOTE);
        let mut file = fs::File::create(&new)?;
        file.write_all(format!("{phase} {base}\n").as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, self.place.folder.join(NOTE))?;
        fs::File::open(&self.place.folder)?.sync_all()
    }
}

pub(super) const NOTE: &str = "state";
pub(super) const NEW_NOTE: &str = "state.new";
pub(super) const MAKING: &str = "making";
pub(super) const MADE: &str = "made";
pub(super) const REMOVING: &str = "removing";
