//! Makes a commit, and does not publish it: everything that git must write, and what it must say, by one process.
//!
//! ```text
//! the record of the turn, if there is one     for undo
//! the commit                                  on a reference of its own, which goes when it is published
//! what HEAD has at the paths                  to be compared with what it was taken to have
//! ```

use crate::checkpoint::{self, KEPT_EVERYWHERE};
use crate::config::Identity;
use crate::git::{Git, GitError};
use crate::image::Image;
use crate::query::Entry;
use crate::repository::Repository;
use crate::tree::modified;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where commits are until they are published; references of this working tree. Each has a name of its own: one whose lock a killed git
/// left over is in no one's way.
const DRAFTS: &str = "refs/worktree/agent/drafts/";
/// No commit takes this long.
const ABANDONED_AFTER: Duration = Duration::from_secs(600);

/// What will be written.
pub(crate) struct Draft<'a> {
    /// The commit that it builds on.
    pub(crate) head: Option<&'a str>,
    pub(crate) message: &'a str,
    pub(crate) author: &'a Identity,
    /// Content and kind at each path, or its deletion.
    pub(crate) files: Vec<(&'a str, Option<(u32, &'a Image)>)>,
    /// Paths whose entry in `head` is needed.
    pub(crate) asked: Vec<&'a str>,
    /// The record of the turn, as git imports it.
    pub(crate) record: Option<&'a [u8]>,
}

/// What was written.
#[derive(Debug)]
pub(crate) struct Written {
    /// The commit.
    pub(crate) id: String,
    /// The reference that it has until it is published.
    pub(crate) draft: String,
    /// What `head` has at the paths that were asked for; a directory or a submodule is an entry too.
    pub(crate) in_head: BTreeMap<String, Entry>,
    /// Whether the record is stored.
    pub(crate) is_recorded: bool,
}

/// Writes it.
pub(crate) async fn write(git: &Git<'_>, draft: &Draft<'_>) -> Result<Written, GitError> {
    let is_recorded = draft.record.is_some();
    let mut stream = draft.record.unwrap_or_default().to_vec();
    draft.ask(&mut stream);
    let name = format!("{DRAFTS}{}", checkpoint::new_name());
    draft.commit(&mut stream, &name);
    // Names are as they are on the disk; folded, they would be others in the commit than in the index.
    let import = ["fast-import", "--quiet", "--force", "--done", "--date-format=now"];
    let arguments = [&["-c", "core.ignorecase=false"], &KEPT_EVERYWHERE[..], &import].concat();
    let output = git.run(&arguments, stream).await?;
    let output = String::from_utf8_lossy(&output);
    let mut lines = output.lines();
    let mut in_head = BTreeMap::new();
    for path in draft.asked.iter().filter(|_| draft.head.is_some()) {
        // <mode> SP <type> SP <id> TAB <path>, or: missing SP <path>
        let mut words = lines.next().unwrap_or_default().split([' ', '\t']);
        if let (Some(mode), Some(_), Some(id)) =
            (words.next().filter(|word| *word != "missing"), words.next(), words.next())
        {
            let mode = u32::from_str_radix(mode, 8).unwrap_or(0);
            in_head.insert((*path).to_owned(), Entry { mode, id: id.to_owned() });
        }
    }
    let id = lines.next().unwrap_or_default().trim().to_owned();
    Ok(Written { id, draft: name, in_head, is_recorded })
}

/// Removes what agents that were killed left of theirs.
pub(crate) fn remove_abandoned(repository: &Repository) {
    let own = &repository.own;
    let remove_if_old = |path: PathBuf| {
        let age = own.stat(&path).ok().and_then(|found| modified(&found).elapsed().ok());
        if age.is_some_and(|age| age > ABANDONED_AFTER) {
            // Where it cannot be removed it is only one more.
            drop(own.remove(&path));
        }
    };
    for folder in [PathBuf::from(DRAFTS), Path::new("logs").join(DRAFTS)] {
        own.names(&folder).unwrap_or_default().iter().for_each(|name| remove_if_old(folder.join(name)));
    }
    // Copies of the index, and git's locks of them.
    let folder = Path::new("agent");
    let is_copy = |name: &str| {
        let stem = name.strip_suffix(".lock").unwrap_or(name).strip_suffix(".index");
        stem.is_some_and(checkpoint::is_name)
    };
    for name in own.names(folder).unwrap_or_default().iter().filter(|name| name.to_str().is_some_and(is_copy)) {
        remove_if_old(folder.join(name));
    }
}

impl Draft<'_> {
    fn ask(&self, stream: &mut Vec<u8>) {
        for (head, path) in self.head.into_iter().flat_map(|head| self.asked.iter().map(move |path| (head, path))) {
            stream.extend_from_slice(format!("ls {head} {}\n", quoted(path)).as_bytes());
        }
    }

    fn commit(&self, stream: &mut Vec<u8>, reference: &str) {
        let Identity { name, email } = self.author;
        let who = format!("{} <{}> now", plain(name), plain(email));
        let message = self.message;
        let head =
            format!("commit {reference}\nmark :1\nauthor {who}\ncommitter {who}\ndata {}\n{message}\n", message.len());
        stream.extend_from_slice(head.as_bytes());
        if let Some(parent) = self.head {
            stream.extend_from_slice(format!("from {parent}\n").as_bytes());
        }
        // Deletions first: a directory may take the place of a file.
        for (path, _) in self.files.iter().filter(|(_, file)| file.is_none()) {
            stream.extend_from_slice(format!("D {}\n", quoted(path)).as_bytes());
        }
        for (path, file) in &self.files {
            let Some((mode, image)) = file else { continue };
            let Some(bytes) = image.bytes() else { continue };
            stream.extend_from_slice(format!("M {mode:o} inline {}\ndata {}\n", quoted(path), bytes.len()).as_bytes());
            stream.extend_from_slice(bytes);
            stream.push(b'\n');
        }
        stream.extend_from_slice(b"\nget-mark :1\ndone\n");
    }
}

/// What an identity may not have.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '<' | '>' | '\n' | '\0')).collect::<String>().trim().to_owned()
}

/// A path between quotes, as git reads it.
fn quoted(path: &str) -> String {
    let mut out = String::from("\"");
    for c in path.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_ascii_control() => out.push_str(&format!("\\{:03o}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_as_git_reads_them() {
        assert_eq!(quoted("a b"), "\"a b\"");
        assert_eq!(quoted("ü\"\\\t"), "\"ü\\\"\\\\\\011\"");
        assert_eq!(plain("A <b>\n "), "A b");
    }
}
