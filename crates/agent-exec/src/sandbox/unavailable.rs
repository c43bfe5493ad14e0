//! Why there is no sandbox.

use std::path::Path;

/// Why no sandbox can be enforced on this machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no sandbox can be enforced here: {bubblewrap}; {landlock}")]
pub struct Unavailable {
    /// Why not with `bwrap`.
    pub bubblewrap: String,
    /// Why not with Landlock.
    pub landlock: String,
    /// The machine has the stronger way, and the policy asks for more than it can hold. What is in a workspace must not choose a weaker
    /// one.
    pub is_for_size: bool,
}

/// Why one way does not work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("{0}")]
    NotHere(String),
    #[error("{0}")]
    TooMuch(String),
}

impl Refusal {
    /// A mount would not protect what it covers there.
    pub(super) fn several_spellings(place: &Path) -> Self {
        Self::TooMuch(format!(
            "the file system of {} takes several spellings for one file, and a mount protects one of them: commands could reach `.GIT` \
             for `.git`",
            place.display()
        ))
    }
}

impl From<String> for Refusal {
    fn from(why: String) -> Self {
        Self::NotHere(why)
    }
}
