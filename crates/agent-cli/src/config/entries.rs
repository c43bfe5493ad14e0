//! Entries of a configuration file that name programs, each with the place where it stands.

use crate::config::file::{FormatterEntry, HookEntry};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// An entry, and where it stands.
#[derive(Debug)]
pub(crate) struct Named<T> {
    pub(crate) file: PathBuf,
    /// Counted from 1.
    pub(crate) line: usize,
    pub(crate) entry: T,
}

impl<T> Named<T> {
    /// For people: where it stands.
    pub(crate) fn place(&self) -> String {
        format!("{}, line {}", self.file.display(), self.line)
    }

    /// The folder that the configuration is for.
    pub(crate) fn folder(&self) -> &Path {
        self.file.parent().and_then(Path::parent).unwrap_or(Path::new("/"))
    }
}

/// The formatters of a file, or why they cannot be used.
pub(crate) fn formatters(file: &Path, text: &str) -> Result<Vec<Named<FormatterEntry>>, String> {
    read(file, text, "formatters", |found: Formatters| found.formatters)
}

/// The hooks of a file, or why they cannot be used.
pub(crate) fn hooks(file: &Path, text: &str) -> Result<Vec<Named<HookEntry>>, String> {
    read(file, text, "hooks", |found: Hooks| found.hooks)
}

#[derive(Deserialize)]
struct Formatters {
    formatters: Vec<Spanned<FormatterEntry>>,
}

#[derive(Deserialize)]
struct Hooks {
    hooks: Vec<Spanned<HookEntry>>,
}

/// Reads the text once more, because only in it an entry has a place.
fn read<T: DeserializeOwned, E>(
    file: &Path,
    text: &str,
    key: &str,
    entries: impl FnOnce(T) -> Vec<Spanned<E>>,
) -> Result<Vec<Named<E>>, String> {
    let line = |at: usize| text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
    let found: T = toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| format!(", line {}", line(span.start))).unwrap_or_default();
        format!("cannot use `{key}` of {}{line}: {}", file.display(), error.message())
    })?;
    let named = |entry: Spanned<E>| Named {
        file: file.to_path_buf(),
        line: line(entry.span().start),
        entry: entry.into_inner(),
    };
    Ok(entries(found).into_iter().map(named).collect())
}
