//! Whether attributes could make git keep other bytes than a file has. Where they could not, git need not be asked.

use crate::query::Settings;
use crate::repository::Repository;
use crate::tree::read_path;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The words of attributes that change any content, or that can hide others.
const WORDS: &[&str] = &["filter", "ident", "working-tree-encoding", "[attr]"];
/// A longer file is left to git.
const LIMIT_BYTES: u64 = 1024 * 1024;

/// Whether attributes could convert these files. Says yes too often rather than too seldom.
///
/// `staged` are the paths of attribute files in the index: git reads those where the file itself is not there.
pub(crate) fn may_convert(
    repository: &Repository,
    settings: &Settings,
    paths: &[&str],
    staged: impl Fn(&str) -> bool,
    has_carriage_returns: bool,
) -> bool {
    let folders: BTreeSet<&Path> = paths.iter().flat_map(|path| Path::new(*path).ancestors().skip(1)).collect();
    let names = folders.into_iter().map(|folder| folder.join(NAME));
    let (mut files, mut is_hidden) = (Vec::new(), false);
    for name in names {
        let file = repository.top.join(&name);
        is_hidden |= file.symlink_metadata().is_err() && name.to_str().is_none_or(&staged);
        files.push(file);
    }
    files.push(repository.common_dir.join("info/attributes"));
    files.extend(settings.attributes_file.clone());
    files.push(PathBuf::from("/etc/gitattributes"));
    is_hidden || settings.asks_for_attributes || files.iter().any(|file| converts(file, has_carriage_returns))
}

/// The files of this name that count for these paths, relative to the top.
pub(crate) fn names(paths: &[&str], name: &str) -> BTreeSet<String> {
    let folders = paths.iter().flat_map(|path| Path::new(*path).ancestors().skip(1));
    folders.filter_map(|folder| folder.join(name).to_str().map(str::to_owned)).collect()
}

/// Without a carriage return there are no line ends to convert.
fn converts(file: &Path, has_carriage_returns: bool) -> bool {
    let Ok(found) = file.symlink_metadata() else { return false };
    if !found.is_file() || found.len() > LIMIT_BYTES {
        return true;
    }
    match read_path(file, LIMIT_BYTES) {
        Some(text) if text.is_empty() => false,
        Some(text) => {
            let text = String::from_utf8_lossy(&text);
            has_carriage_returns || WORDS.iter().any(|word| text.contains(word))
        }
        None => true,
    }
}

/// How a file with attributes is called.
pub(crate) const NAME: &str = ".gitattributes";
