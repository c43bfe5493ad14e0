//! What is known of the paths that are to be committed: from the index, the attributes and the rules for ignored files.

use crate::commit::{Candidate, CommitError, Work};
use crate::decide::{Decision, Facts, Version, conversion_of, decide};
use crate::git::Git;
use crate::image::Image;
use crate::index::Index;
use crate::index_lock;
use crate::query::{self, Conversion, Entry, Settings, Staged};
use crate::repository::Repository;
use rustix::fs::FileType;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What is known of the candidates, but for what `HEAD` has.
pub(crate) struct Found {
    /// The bytes of the index that it was read from.
    index: Option<Vec<u8>>,
    staged: BTreeMap<String, Staged>,
    /// Candidates below which something is staged.
    covering: BTreeSet<String>,
    conversions: BTreeMap<String, Conversion>,
    ignored: BTreeSet<String>,
}

impl Found {
    pub(crate) async fn look(git: &Git<'_>, repository: &Repository, work: &Work<'_>) -> Result<Self, CommitError> {
        let paths: Vec<&str> = work.candidates.iter().map(|candidate| candidate.git_path.as_str()).collect();
        // Git would wait for a pipe to be written.
        if let Some(odd) = files_of_rules(&paths).into_iter().find(|file| is_odd(repository, file)) {
            return Err(CommitError::Odd(odd));
        }
        let wanted: BTreeSet<&str> = with_parents(&paths).into_iter().collect();
        let index = index_lock::read(repository)?;
        let mut covering: BTreeSet<String> = BTreeSet::new();
        let staged = match &index {
            None => BTreeMap::new(),
            Some(bytes) => match Index::read(bytes, work.settings.format) {
                Some(index) => {
                    covering.extend(paths.iter().filter(|path| index.has_below(path)).map(|path| (*path).to_owned()));
                    index.at(&wanted)
                }
                None => {
                    // Git also reports what is below a path.
                    let found = query::in_index(git, &wanted.into_iter().collect::<Vec<_>>()).await?;
                    let covers =
                        |path: &&&str| found.keys().any(|staged| parents(staged).any(|parent| parent == **path));
                    covering.extend(paths.iter().filter(covers).map(|path| (*path).to_owned()));
                    found
                }
            },
        };
        let conversions = query::conversions(git, &paths).await?;
        // Git does not judge what is below a submodule or a link, and that is left out anyway.
        let is_new =
            |path: &&str| !staged.contains_key(*path) && !parents(path).any(|parent| staged.contains_key(parent));
        let new: Vec<&str> = paths.iter().copied().filter(is_new).collect();
        let ignored = query::ignored(git, &new).await?;
        Ok(Self { index, staged, covering, conversions, ignored })
    }

    /// What `HEAD` has if nothing is staged.
    pub(crate) fn taken_for_head(&self) -> BTreeMap<String, Entry> {
        let entries = self.staged.iter().filter_map(|(path, staged)| match staged {
            Staged::Entry(entry) => Some((path.clone(), entry.clone())),
            Staged::Special => None,
        });
        entries.collect()
    }

    /// The paths whose entry in `HEAD` is needed.
    pub(crate) fn asked<'a>(&self, work: &Work<'a>) -> Vec<&'a str> {
        with_parents(&work.candidates.iter().map(|candidate| candidate.git_path.as_str()).collect::<Vec<_>>())
    }

    pub(crate) fn decide_all(&self, work: &Work<'_>, in_head: &BTreeMap<String, Entry>) -> Vec<Decision> {
        work.candidates.iter().map(|candidate| self.decide_one(work.settings, in_head, candidate)).collect()
    }

    fn decide_one(&self, settings: &Settings, in_head: &BTreeMap<String, Entry>, candidate: &Candidate) -> Decision {
        let path = candidate.git_path.as_str();
        if path.split('/').any(is_refused_by_git) {
            return Decision::LeaveOut("git does not allow this name");
        }
        let head = in_head.get(path);
        let conversion = self.conversions.get(path).copied().unwrap_or_default();
        // What is staged and not in `HEAD` may be nowhere else.
        let is_entry = |parent: &str| {
            self.staged.contains_key(parent) || in_head.get(parent).is_some_and(|entry| entry.mode != DIRECTORY)
        };
        let below_entry = parents(path).any(is_entry) || self.covering.contains(path);
        decide(&Facts {
            head: head.cloned(),
            staged: self.staged.get(path).cloned(),
            before: candidate.before.iter().map(|image| version_of(image, head, settings)).collect(),
            now: version_of(&candidate.now, head, settings),
            below_entry,
            ignored: self.ignored.contains(path),
            conversion: candidate.images().find_map(|image| conversion_of(image.bytes()?, conversion, settings)),
        })
    }

    /// Whether the index, read anew, still has at these paths what was found.
    pub(crate) fn still_holds(
        &self,
        index: Option<&Index<'_>>,
        bytes: Option<&Vec<u8>>,
        paths: &BTreeSet<&str>,
    ) -> bool {
        match index {
            _ if bytes == self.index.as_ref() => true,
            Some(index) => {
                let now = index.at(paths);
                paths.iter().all(|path| now.get(*path) == self.staged.get(*path))
            }
            None => false,
        }
    }
}

/// The files with attributes and with rules for ignored files that git reads for these paths, relative to the top.
fn files_of_rules(paths: &[&str]) -> BTreeSet<String> {
    let folders = paths.iter().flat_map(|path| Path::new(*path).ancestors().skip(1));
    let files = folders.flat_map(|folder| [".gitattributes", ".gitignore"].map(|name| folder.join(name)));
    files.filter_map(|file| file.to_str().map(str::to_owned)).collect()
}

/// What git would keep of an image. Where the executable bit does not count, it stays as in `HEAD`.
fn version_of(image: &Image, head: Option<&Entry>, settings: &Settings) -> Version {
    let kept_mode = head.map_or(Entry::FILE, |head| head.mode);
    let mode = match image {
        Image::Absent => return Version::Absent,
        Image::Opaque(reason) => return Version::Opaque(reason),
        Image::Link(_) => Entry::LINK,
        Image::File { .. } if !settings.executable_bit && kept_mode != Entry::LINK => kept_mode,
        Image::File { executable: true, .. } => Entry::EXECUTABLE,
        Image::File { executable: false, .. } => Entry::FILE,
    };
    let id = image.bytes().map(|bytes| settings.format.blob(bytes));
    id.map_or(Version::Absent, |id| Version::Entry(Entry { mode, id }))
}

/// Whether something is there that is neither a file nor a directory nor a link.
fn is_odd(repository: &Repository, path: &str) -> bool {
    let kind = repository.files.kind(path);
    let is_usual = |kind: FileType| matches!(kind, FileType::RegularFile | FileType::Directory | FileType::Symlink);
    kind.is_ok_and(|kind| kind.is_some_and(|kind| !is_usual(kind)))
}

/// A directory in `HEAD`.
const DIRECTORY: u32 = 0o040_000;

/// Whether git takes a name for its own directory's on some file system, and would not check it out (`verify_path` in its sources).
fn is_refused_by_git(name: &str) -> bool {
    // What HFS+ leaves out when it compares names.
    let is_left_out = |c: &char| matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let name: String = name.chars().filter(|c| !is_left_out(c)).collect::<String>().to_ascii_lowercase();
    let name = name.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    name == ".git" || name.strip_prefix("git~").is_some_and(|rest| rest.parse::<u8>().is_ok())
}

fn parents(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

fn with_parents<'a>(paths: &[&'a str]) -> Vec<&'a str> {
    let mut all: Vec<&str> = paths.iter().flat_map(|path| parents(path).chain([*path])).collect();
    all.sort_unstable();
    all.dedup();
    all
}
