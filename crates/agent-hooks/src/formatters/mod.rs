//! Formatters: which one handles a file, and which texts they left formatted.

mod config;
mod copies;
mod each;
mod edition;
mod format;
mod recipes;

pub use config::{FormatterConfig, FormatterInput, SettingsFile};
pub use recipes::{recipe_programs, recipes};

use agent_git::{ChangedFile, ChangedFiles, Formatted, Formatting};
use agent_types::ports::{CancelSignal, CommandRunner};
use async_trait::async_trait;
use each::{Changed, Made, format_all, is_configured};
use format::{FormatError, Formatter};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The formatters of a session.
pub struct Formatters {
    formatters: Vec<FormatterConfig>,
    runner: Arc<dyn CommandRunner>,
    scratch: Option<PathBuf>,
    /// Texts that a formatter left or found formatted, as digests, by the path of the file.
    known: Mutex<BTreeMap<String, BTreeSet<u64>>>,
}

impl std::fmt::Debug for Formatters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Formatters").field("formatters", &self.formatters).finish_non_exhaustive()
    }
}

impl Formatters {
    /// Of the formatters that handle a file, uses the first that the repository configures, else the first.
    #[must_use]
    pub fn new(formatters: Vec<FormatterConfig>, runner: Arc<dyn CommandRunner>) -> Self {
        Self { formatters, runner, scratch: None, known: Mutex::default() }
    }

    /// Makes copies in this directory. A runner with a sandbox must be able to write it, under the same path.
    #[must_use]
    pub fn with_scratch(mut self, scratch: PathBuf) -> Self {
        self.scratch = Some(scratch);
        self
    }

    /// The formatter of a file, by its number.
    fn formatter_of(&self, root: &Path, file: &ChangedFile) -> Option<usize> {
        let handling = || (0..self.formatters.len()).filter(|at| self.formatters[*at].handles(&file.path));
        handling().find(|at| is_configured(&self.formatters[*at], root, &file.root_path)).or_else(|| handling().next())
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<String, BTreeSet<u64>>> {
        // A panic elsewhere leaves it whole: each change is one call.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn know(&self, path: &str, texts: &[u64]) {
        let mut known = self.known();
        let known = known.entry(path.to_owned()).or_default();
        if known.len() > KNOWN_TEXTS {
            known.clear();
        }
        known.extend(texts);
    }

    fn outcome(&self, path: &str, made: Result<Made, FormatError>) -> Formatted {
        match made {
            Ok(Made::Skipped) => Formatted::Unchanged,
            Ok(Made::Unchanged { known }) => {
                self.know(path, &[known]);
                Formatted::Unchanged
            }
            Ok(Made::Changed { known }) => {
                self.know(path, &known);
                Formatted::Changed
            }
            Err(FormatError::Cancelled) => Formatted::Cancelled,
            Err(error) => Formatted::Left(error.to_string()),
        }
    }
}

#[async_trait]
impl Formatting for Formatters {
    fn handles(&self, path: &str) -> bool {
        self.formatters.iter().any(|formatter| formatter.handles(path))
    }

    /// Runs one formatter after the other, each over all of its files.
    async fn format(&self, files: &ChangedFiles<'_>, cancel: &dyn CancelSignal) -> Vec<Formatted> {
        let mut groups: BTreeMap<usize, Vec<(usize, Changed<'_>)>> = BTreeMap::new();
        for (number, file) in files.files.iter().enumerate() {
            let Some(at) = self.formatter_of(files.root.path(), file) else { continue };
            let known = self.known().get(&file.path).cloned().unwrap_or_default();
            groups.entry(at).or_default().push((number, Changed { file, known }));
        }
        let mut results = vec![Formatted::Unchanged; files.files.len()];
        for (at, group) in groups {
            let formatter = Formatter {
                config: &self.formatters[at],
                runner: &*self.runner,
                scratch: self.scratch.as_deref(),
                files: files.root,
                workspace: files.workspace,
                cancel,
            };
            let (numbers, group): (Vec<usize>, Vec<Changed<'_>>) = group.into_iter().unzip();
            for (number, made) in numbers.into_iter().zip(format_all(&formatter, &group).await) {
                results[number] = self.outcome(&files.files[number].path, made);
            }
        }
        results
    }
}

/// Digests of formatted texts that are remembered of one file.
const KNOWN_TEXTS: usize = 32;
