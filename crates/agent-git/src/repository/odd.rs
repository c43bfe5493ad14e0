//! What does not belong among git's own files: links that lead out of the repository, and pipes that are never written.

use super::{REFERENCE_LIMIT_BYTES, Repository, read_small, symbolic_target};
use crate::index_lock;
use crate::tree::Tree;
use rustix::fs::FileType;
use rustix::io::Errno;
use std::io;
use std::path::Path;

impl Repository {
    /// What of the files that git and this crate write or read in it is neither a plain file nor a plain directory, as a sentence.
    pub(super) fn odd(&self) -> Option<String> {
        let branch = read_small(&self.git_dir.join("HEAD")).and_then(|text| symbolic_target(&text));
        let log = branch.as_ref().map(|branch| format!("logs/{branch}"));
        let branch = [branch.as_deref(), log.as_deref()].into_iter().flatten();
        let own = OWN_DIRECTORIES.iter().map(|path| (&self.own, *path, FileType::Directory));
        let own = own.chain(OWN_FILES.iter().map(|path| (&self.own, *path, FileType::RegularFile)));
        let common = COMMON_DIRECTORIES.iter().map(|path| (&self.common, *path, FileType::Directory));
        let common = common
            .chain(COMMON_FILES.iter().copied().chain(branch).map(|path| (&self.common, path, FileType::RegularFile)));
        // Where references are in tables, a file says so in place of the directory.
        let has_tables = self.common.kind("reftable").is_ok_and(|kind| kind == Some(FileType::Directory));
        let is_meant = |path: &str| !(has_tables && path.starts_with("refs/heads"));
        let all = own.chain(common).filter(|(_, path, _)| is_meant(path));
        let odd = { all }.find_map(|(tree, path, kind)| found_instead(tree, path, kind));
        odd.or_else(|| self.odd_folder()).or_else(|| self.odd_shared_index())
    }

    /// What git reads and writes as entries of a folder, whatever their names are: objects in folders of two letters, tables of references,
    /// the agent's own references.
    fn odd_folder(&self) -> Option<String> {
        // Git leaves files there, too, when it is stopped. A file system that does not tell kinds says so.
        let leads_out =
            |kind: FileType| !matches!(kind, FileType::Directory | FileType::RegularFile | FileType::Unknown);
        let common = COMMON_FOLDERS.iter().map(|folder| (&self.common, *folder));
        let own = OWN_FOLDERS.iter().map(|folder| (&self.own, *folder));
        { common.chain(own) }.find_map(|(tree, folder)| {
            let odd = tree.first_that_is(Path::new(folder), leads_out).ok().flatten()?;
            Some(refused(tree, &format!("{folder}/{}", odd.display()), "is neither a file nor a directory"))
        })
    }

    /// The part of an index that several have in common, which git reads with it.
    fn odd_shared_index(&self) -> Option<String> {
        let names = self.own.names(Path::new("")).ok()?;
        let shared = names.iter().filter_map(|name| name.to_str()).filter(|name| name.starts_with("sharedindex."));
        { shared }.find_map(|name| found_instead(&self.own, name, FileType::RegularFile))
    }
}

fn found_instead(tree: &Tree, path: &str, expected: FileType) -> Option<String> {
    let stat = tree.stat(path);
    let bytes = stat.as_ref().map_or(0, |found| u64::try_from(found.st_size).unwrap_or(u64::MAX));
    let names = stat.as_ref().map_or(1, |found| found.st_nlink);
    let found = match stat.map(|found| FileType::from_raw_mode(found.st_mode)) {
        Ok(FileType::RegularFile) if expected == FileType::RegularFile && bytes > most_bytes(path) => {
            return Some(refused(tree, path, &format!("has {bytes} bytes, more than git ever writes")));
        }
        Ok(FileType::RegularFile) if expected == FileType::RegularFile && path.starts_with("logs/") && names > 1 => {
            return Some(refused(
                tree,
                path,
                "has another name, a hard link, and git would write to both; copy it over itself",
            ));
        }
        Ok(kind) if kind == expected => return None,
        Ok(FileType::Symlink) => "is a symbolic link",
        Ok(FileType::Fifo) => "is a named pipe",
        Ok(_) if expected == FileType::Directory => "is not a directory",
        Ok(_) => "is not a regular file",
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) if is_loop(&error) => "is reached through a symbolic link",
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => "is below something that is not a directory",
        Err(_) => "cannot be examined",
    };
    Some(refused(tree, path, found))
}

/// Git reads most of these as a whole, whatever their size is, and a file with holes costs its author nothing.
fn most_bytes(path: &str) -> u64 {
    match path {
        "HEAD" | "commondir" | "gitdir" => REFERENCE_LIMIT_BYTES,
        _ if path.starts_with("refs/") => REFERENCE_LIMIT_BYTES,
        "index" => index_lock::LIMIT_BYTES,
        _ if path.starts_with("sharedindex.") => index_lock::LIMIT_BYTES,
        // These are mapped and not read, or only added to.
        "packed-refs" | "objects/info/commit-graph" | "objects/pack/multi-pack-index" => u64::MAX,
        _ if path.starts_with("logs/") => u64::MAX,
        _ => TEXT_LIMIT_BYTES,
    }
}

fn refused(tree: &Tree, path: &str, found: &str) -> String {
    format!("`{}` {found}: the agent does not write in such a repository", tree.path().join(path).display())
}

fn is_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

/// Of configurations and of lists that people write.
const TEXT_LIMIT_BYTES: u64 = 16 * 1024 * 1024;
/// What is there of these in a working tree's own part, and in the part that working trees share. A path stands for what it leads through,
/// too.
const OWN_DIRECTORIES: &[&str] = &[
    "agent/locks",
    "refs/worktree/agent/turns",
    "refs/worktree/agent/drafts",
    "logs/refs/worktree/agent/turns",
    "logs/refs/worktree/agent/drafts",
];
const OWN_FILES: &[&str] = &["HEAD", "index", "config.worktree", "commondir", "gitdir", "logs/HEAD"];
const COMMON_DIRECTORIES: &[&str] =
    &["objects/pack", "objects/info", "refs/heads", "logs/refs/heads", "info", "reftable"];
const COMMON_FILES: &[&str] = &[
    "config",
    "packed-refs",
    "shallow",
    "objects/info/alternates",
    "objects/info/commit-graph",
    "objects/pack/multi-pack-index",
    "info/exclude",
    "info/attributes",
    "info/grafts",
];
/// Folders of which every entry is looked at.
const COMMON_FOLDERS: &[&str] = &["objects", "objects/pack", "objects/info", "objects/info/commit-graphs", "reftable"];
const OWN_FOLDERS: &[&str] = &["refs/worktree/agent/turns", "refs/worktree/agent/drafts"];
