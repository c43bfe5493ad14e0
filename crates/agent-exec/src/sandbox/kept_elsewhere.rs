//! Where there is no sandbox, nothing is kept.

use std::path::{Path, PathBuf};

#[derive(Debug)]
pub(super) struct Kept;

impl Kept {
    pub(super) fn new(_directory: &Path, _paths: &[PathBuf]) -> Self {
        Self
    }

    pub(super) fn begin(&self) -> bool {
        true
    }

    pub(super) fn also(&self, _paths: &[PathBuf]) {}

    pub(super) fn ran_at(&self, _time: std::time::SystemTime) -> bool {
        false
    }

    pub(super) fn end(&self) -> Vec<String> {
        Vec::new()
    }

    pub(super) fn set_aside(&self, _path: &Path) -> String {
        String::new()
    }
}
