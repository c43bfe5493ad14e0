//! Patches in the form that models know: a list of sections, each about one file.
//!
//! ```text
//! *** Begin Patch
//! *** Add File: new.txt            the file must not exist
//! +its lines
//! *** Delete File: old.txt
//! *** Update File: src/main.rs
//! *** Move to: src/lib.rs          optional
//! @@ fn main() {                   optional: a line above the change
//!  a line that stays
//! -a line that goes
//! +a line that comes
//! *** End of File                  optional: the change is at the end
//! *** End Patch
//! ```

mod apply;
mod parse;

pub(crate) use apply::{Applied, apply};
pub(crate) use parse::parse;

/// One file's part of a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    pub(crate) path: String,
    pub(crate) change: Change,
}

/// What happens to the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Add { content: String },
    Delete,
    Update { move_to: Option<String>, hunks: Vec<Hunk> },
}

/// One place that changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// Lines above it. Each narrows the search.
    pub(crate) anchors: Vec<String>,
    pub(crate) lines: Vec<Line>,
    pub(crate) is_at_end: bool,
}

/// A line of a hunk, without its mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Keep(String),
    Remove(String),
    Add(String),
}
