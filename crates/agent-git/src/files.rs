//! How the files that git tracks are at a moment, without reading them and without a process.

use crate::config::HooksConfig;
use crate::index::Index;
use crate::index_lock;
use crate::objects::{ObjectFormat, hex};
use crate::repository::Repository;
use crate::stat::FileStat;
use agent_types::hook::FilesSeen;
use rustix::fs::Stat;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;

/// How they are now. `None` where that is not known: the index is one that only git reads, or has more than [`MOST_FILES`] files.
pub(crate) fn seen(repository: &Repository, config: &HooksConfig) -> Option<FilesSeen> {
    let bytes = index_lock::read(repository).ok()?.unwrap_or_default();
    let formats = [ObjectFormat::Sha1, ObjectFormat::Sha256];
    let index = formats.into_iter().find_map(|format| Index::read(&bytes, format));
    let paths: Vec<&[u8]> = match (&index, bytes.is_empty()) {
        (Some(index), _) => index.files().collect(),
        (None, true) => Vec::new(),
        (None, false) => return None,
    };
    if paths.len() > MOST_FILES {
        return None;
    }
    let mut whole = Vec::new();
    let mut named = BTreeMap::new();
    for path in paths {
        let bytes = match repository.files.stat(OsStr::from_bytes(path)) {
            Ok(stat) => of_file(&stat),
            // One that is gone, or cannot be reached, is a state like any other.
            Err(error) => of_absent(&error),
        };
        let digest = ObjectFormat::Sha1.digest(&[path, &[0], &bytes]);
        whole.extend_from_slice(&digest);
        let name = str::from_utf8(path).ok().filter(|name| {
            let absolute = repository.top.join(name);
            !config.hidden.iter().any(|hidden| absolute.starts_with(hidden))
        });
        if let (Some(name), Some(number)) = (name, digest.first_chunk()) {
            named.insert(name.to_owned(), u64::from_be_bytes(*number));
        }
    }
    Some(FilesSeen::new(hex(&ObjectFormat::Sha1.digest(&[&whole])), named))
}

fn of_file(stat: &Stat) -> Vec<u8> {
    let (before, behind) = FileStat::from(stat).parts();
    [before, behind, stat.st_mode.to_be_bytes().to_vec()].concat()
}

fn of_absent(error: &io::Error) -> Vec<u8> {
    error.raw_os_error().unwrap_or_default().to_be_bytes().to_vec()
}

/// Most files of which it is looked how they are: looking takes some microseconds for each.
const MOST_FILES: usize = 200_000;
