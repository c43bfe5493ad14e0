//! Formats what the agent changed, with one formatter.
//!
//! A file is formatted only when it was formatted before, or is new: otherwise the agent's small change would carry a rewrite of the
//! whole file.
//!
//! ```text
//! now       what the formatter makes of the changed files                    (one process, where it takes many files)
//! before    what it makes of those that it would change, as they were        (one more, unless that is known)
//! replace   each at once, or not at all
//! ```

use super::config::FormatterConfig;
use super::format::{FormatError, Formatter, Text};
use agent_git::{ChangedFile, Image, Replaced, Tree, open_path};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

/// Of a settings file only the beginning is looked at.
const SETTINGS_LIMIT_BYTES: u64 = 256 * 1024;

/// A file that the agent changed.
#[derive(Debug)]
pub(crate) struct Changed<'a> {
    pub(crate) file: &'a ChangedFile,
    /// Digests of its texts that this formatter left or found formatted.
    pub(crate) known: BTreeSet<u64>,
}

/// What became of one file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Made {
    /// There was nothing to do.
    Skipped,
    /// It was formatted already.
    Unchanged {
        /// Digest of its text, which is formatted.
        known: u64,
    },
    /// It was rewritten.
    Changed {
        /// Digests of its texts now and before, which are formatted.
        known: Vec<u64>,
    },
}

/// Formats the files. The results are in their order.
pub(crate) async fn format_all<'a>(
    formatter: &Formatter<'a>,
    files: &'a [Changed<'a>],
) -> Vec<Result<Made, FormatError>> {
    let mut results: Vec<Option<Result<Made, FormatError>>> = Vec::new();
    let mut open: Vec<Open<'a>> = Vec::new();
    for (at, file) in files.iter().enumerate() {
        match Open::look(formatter, at, file) {
            Ok(Some(found)) => {
                open.push(found);
                results.push(None);
            }
            Ok(None) => results.push(Some(Ok(Made::Skipped))),
            Err(error) => results.push(Some(Err(error))),
        }
    }

    let texts: Vec<Text<'_>> = open.iter().map(|one| (&*one.file.root_path, &*one.now)).collect();
    let made = formatter.texts(&texts).await;
    let mut due = Vec::new();
    for (one, made) in open.into_iter().zip(made) {
        match made {
            Ok(text) if text[..] == one.now[..] => {
                results[one.at] = Some(Ok(Made::Unchanged { known: digest(&text) }));
            }
            Ok(text) => due.push((one, text)),
            Err(error) => results[one.at] = Some(Err(error)),
        }
    }

    let asked: Vec<&Open<'_>> = due.iter().map(|(one, _)| one).filter(|one| one.before_to_check().is_some()).collect();
    let texts: Vec<Text<'_>> =
        asked.iter().filter_map(|one| Some((&*one.file.root_path, one.before_to_check()?))).collect();
    let mut before = formatter.texts(&texts).await.into_iter();
    for (one, text) in due {
        let allowed = match one.before_to_check() {
            None => Ok(()),
            Some(was) => match before.next() {
                Some(Ok(formatted)) if formatted[..] == *was => Ok(()),
                // What the formatter refuses was not formatted.
                Some(Ok(_) | Err(FormatError::Failed { .. })) | None => Err(FormatError::NotFormattedBefore),
                Some(Err(error)) => Err(error),
            },
        };
        results[one.at] = Some(allowed.and_then(|()| one.put(&text)));
    }
    results.into_iter().map(|result| result.unwrap_or(Err(FormatError::Unknown))).collect()
}

/// A file that may be formatted.
struct Open<'a> {
    at: usize,
    file: &'a ChangedFile,
    known: &'a BTreeSet<u64>,
    files: &'a Tree,
    image: Image,
    now: Arc<[u8]>,
}

impl<'a> Open<'a> {
    /// Nothing when there is nothing to format.
    fn look(formatter: &Formatter<'a>, at: usize, changed: &'a Changed<'a>) -> Result<Option<Self>, FormatError> {
        let Changed { file, known } = changed;
        if !formatter.config.program.is_absolute() {
            return Err(FormatError::NotAbsolute(formatter.config.program.clone()));
        }
        let image = formatter.files.image(&file.root_path);
        let now = match &image {
            Image::File { bytes, .. } if !bytes.is_empty() => bytes.clone(),
            Image::File { .. } | Image::Absent => return Ok(None),
            Image::Link(_) => return Err(FormatError::Unfit("it is a symbolic link")),
            Image::Opaque(reason) => return Err(FormatError::Unfit(reason)),
        };
        match file.before.first() {
            None | Some(Image::Opaque(_)) => return Err(FormatError::Unknown),
            Some(Image::Link(_)) => return Err(FormatError::Unfit("it was a symbolic link")),
            Some(Image::Absent) => {
                let config = formatter.config;
                if !config.new_files && !is_configured(config, formatter.files.path(), &file.root_path) {
                    return Ok(None);
                }
            }
            Some(Image::File { .. }) => {}
        }
        Ok(Some(Self { at, file, known, files: formatter.files, image, now }))
    }

    /// The text that may or may not have been formatted.
    fn before_to_check(&self) -> Option<&[u8]> {
        match self.file.before.first() {
            Some(Image::File { bytes, .. }) if !bytes.is_empty() && !self.known.contains(&digest(bytes)) => Some(bytes),
            _ => None,
        }
    }

    fn put(&self, text: &[u8]) -> Result<Made, FormatError> {
        if agent_types::protected::reason(&self.file.root_path.to_string_lossy()).is_some() {
            return Err(FormatError::Unfit("it is protected: no tool may write it"));
        }
        if self.files.replace(&self.file.root_path, &self.image, text)? == Replaced::No {
            return Err(FormatError::Unfit("it changed meanwhile"));
        }
        Ok(Made::Changed { known: self.before_to_check().into_iter().chain([text]).map(digest).collect() })
    }
}

impl FormatterConfig {
    /// Whether it handles the file.
    pub(crate) fn handles(&self, path: &str) -> bool {
        let extension = Path::new(path).extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| self.extensions.iter().any(|known| known == extension))
    }
}

/// Whether a settings file in a folder above the path says that this formatter is used.
pub(crate) fn is_configured(config: &FormatterConfig, root: &Path, path: &Path) -> bool {
    let says = |folder: &Path| {
        let signs =
            config.settings.iter().filter_map(|file| Some((root.join(folder).join(&file.name), file.sign.as_ref()?)));
        signs.into_iter().any(|(file, sign)| beginning(&file).is_some_and(|text| text.contains(&**sign)))
    };
    path.ancestors().skip(1).any(says)
}

/// The beginning of a regular file.
fn beginning(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    open_path(path)?.take(SETTINGS_LIMIT_BYTES).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn digest(text: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
