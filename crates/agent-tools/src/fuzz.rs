//! The parsers of what a model writes, for the fuzz targets in `fuzz/`.

pub use crate::plain_commands::plain_commands;

use crate::plain_commands::Plain;
use crate::{edit, glob, patch};
use std::path::Path;

/// Whether a command only reads, as far as its words tell.
#[must_use]
pub fn only_reads(command: &str) -> bool {
    Plain::of(command).is_some_and(|plain| plain.only_reads())
}

/// A text after an update, with the number of added and of removed lines.
pub type Patched = (String, usize, usize);

/// Applies every update of a patch to the same text.
///
/// # Errors
/// When the text is not a patch.
pub fn patched(patch: &str, text: &str) -> Result<Vec<Result<Patched, String>>, String> {
    let updates = patch::parse(patch)?.into_iter().filter_map(|section| match section.change {
        patch::Change::Update { hunks, .. } => Some(hunks),
        patch::Change::Add { .. } | patch::Change::Delete => None,
    });
    let apply = |hunks: Vec<patch::Hunk>| {
        patch::apply(text, &hunks, &|| false).map(|applied| (applied.text, applied.added, applied.removed))
    };
    Ok(updates.map(apply).collect())
}

/// Replaces text in a text, and counts the replacements.
///
/// # Errors
/// When nothing was replaced.
pub fn edited(text: &str, old: &str, new: &str, all: bool) -> Result<(String, usize), String> {
    let edited = edit::edit(text, old, new, all).map_err(|error| error.to_string())?;
    Ok((edited.text, edited.replacements))
}

/// Whether a search pattern matches a path of the workspace.
///
/// # Errors
/// When the pattern is refused.
pub fn matches(pattern: &str, path: &str) -> Result<bool, String> {
    Ok(glob::PathPattern::new(pattern)?.matches(path, Path::new("")))
}
