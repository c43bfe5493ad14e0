//! The seam to formatters. This crate knows which files the agent changed and how they were before; it knows no formatter.

use crate::image::Image;
use crate::tree::Tree;
use agent_types::ports::CancelSignal;
use async_trait::async_trait;
use std::path::{Path, PathBuf};

/// Formats what the agent changed.
#[async_trait]
pub trait Formatting: Send + Sync {
    /// Whether it handles a file, by its path.
    fn handles(&self, path: &str) -> bool;

    /// Formats files that it handles: each is replaced at once, or left. Returns one outcome per file, in their order.
    async fn format(&self, files: &ChangedFiles<'_>, cancel: &dyn CancelSignal) -> Vec<Formatted>;
}

/// Files that the agent changed.
#[derive(Debug)]
pub struct ChangedFiles<'a> {
    /// The working tree, or the workspace where there is no repository.
    pub root: &'a Tree,
    /// The workspace.
    pub workspace: &'a Path,
    /// The files, all of them beneath the root.
    pub files: Vec<ChangedFile>,
}

/// A file that the agent changed.
#[derive(Debug)]
pub struct ChangedFile {
    /// Relative to the workspace.
    pub path: String,
    /// Relative to the root.
    pub root_path: PathBuf,
    /// How it was before the agent's changes.
    pub before: Vec<Image>,
}

/// The outcome for one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Formatted {
    /// There was nothing to do.
    Unchanged,
    /// It was rewritten.
    Changed,
    /// It was not formatted, for this reason.
    Left(String),
    /// Stopped before it was formatted.
    Cancelled,
}
