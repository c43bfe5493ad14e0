//! What git knows about some paths: in `HEAD`, in the index, by attributes and by configuration.
//!
//! All paths here are relative to the root of the working tree.

use crate::config::Identity;
use crate::git::{Git, GitError};
use crate::objects::ObjectFormat;
use crate::repository::Repository;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Takes paths as names, not as patterns. Commands that read paths from standard input do so anyway.
const LITERAL: &str = "--literal-pathspecs";
/// Paths on one command line.
const PATHS_PER_CALL: usize = 200;
/// Attributes that make git keep other bytes than the file has.
const ATTRIBUTES: &[&str] = &["filter", "ident", "working-tree-encoding", "text", "crlf", "eol"];

/// A file as git keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Kind and executable bit.
    pub(crate) mode: u32,
    /// Object id.
    pub(crate) id: String,
}

impl Entry {
    /// A file.
    pub(crate) const FILE: u32 = 0o100_644;
    /// A file that may be executed.
    pub(crate) const EXECUTABLE: u32 = 0o100_755;
    /// A symbolic link.
    pub(crate) const LINK: u32 = 0o120_000;

    /// Whether it is a file or a symbolic link, not a directory or a submodule.
    pub(crate) fn is_blob(&self) -> bool {
        matches!(self.mode, Self::FILE | Self::EXECUTABLE | Self::LINK)
    }
}

/// A path in the user's index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Staged {
    /// An ordinary entry.
    Entry(Entry),
    /// One in conflict, or with a mark that git would lose if the entry were replaced.
    Special,
}

/// What the configuration says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// Who is configured to commit.
    pub(crate) identity: Option<Identity>,
    /// How objects are named.
    pub(crate) format: ObjectFormat,
    /// Whether commits are to be signed.
    pub(crate) wants_signatures: bool,
    /// Whether line ends are converted without an attribute.
    pub(crate) converts_line_ends: bool,
    /// Whether the executable bit counts.
    pub(crate) executable_bit: bool,
}

/// How git would change the bytes of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Conversion {
    /// By a filter program or another encoding: whatever the bytes are.
    pub(crate) always: bool,
    /// By converting line ends: `Some(false)` where an attribute forbids it.
    pub(crate) line_ends: Option<bool>,
}

/// What `HEAD` has at the paths. A directory or a submodule is an entry too.
pub(crate) async fn in_commit(
    git: &Git<'_>,
    commit: &str,
    paths: &[&str],
) -> Result<BTreeMap<String, Entry>, GitError> {
    let mut entries = BTreeMap::new();
    for chunk in paths.chunks(PATHS_PER_CALL) {
        let mut arguments = vec![LITERAL, "ls-tree", "-z", "--full-tree", commit, "--"];
        arguments.extend(chunk);
        let output = git.run(&arguments, Vec::new()).await?;
        // <mode> SP <type> SP <id> TAB <path>
        for (fields, path) in records(&output) {
            let mut fields = fields.split(' ');
            if let (Some(mode), Some(_), Some(id)) = (fields.next(), fields.next(), fields.next()) {
                entries.insert(path, entry(mode, id));
            }
        }
    }
    Ok(entries)
}

/// What the user's index has at the paths.
pub(crate) async fn in_index(git: &Git<'_>, paths: &[&str]) -> Result<BTreeMap<String, Staged>, GitError> {
    let mut entries = BTreeMap::new();
    for chunk in paths.chunks(PATHS_PER_CALL) {
        let mut arguments = vec![LITERAL, "ls-files", "-z", "--stage", "-v", "--full-name", "--"];
        arguments.extend(chunk);
        let output = git.run(&arguments, Vec::new()).await?;
        // <tag> SP <mode> SP <id> SP <stage> TAB <path>
        for (fields, path) in records(&output) {
            let fields: Vec<&str> = fields.split(' ').collect();
            let staged = match fields.as_slice() {
                ["H", mode, id, "0"] => Staged::Entry(entry(mode, id)),
                _ => Staged::Special,
            };
            entries.insert(path, staged);
        }
    }
    Ok(entries)
}

/// Those of the paths that the user lets git ignore.
pub(crate) async fn ignored(git: &Git<'_>, paths: &[&str]) -> Result<BTreeSet<String>, GitError> {
    if paths.is_empty() {
        return Ok(BTreeSet::new());
    }
    // A name that looks like a pattern's magic (`:(top)`) is a name again after `./`.
    let named: Vec<String> = paths.iter().map(|path| format!("./{path}")).collect();
    let named: Vec<&str> = named.iter().map(String::as_str).collect();
    let answer = git.ask(&["check-ignore", "-z", "--stdin"], terminated(&named)).await?;
    let answer = answer.unwrap_or_default();
    Ok(fields(&answer).filter_map(|path| path.strip_prefix("./").map(str::to_owned)).collect())
}

/// How git would change the bytes of the files.
pub(crate) async fn conversions(git: &Git<'_>, paths: &[&str]) -> Result<BTreeMap<String, Conversion>, GitError> {
    let mut arguments = vec!["check-attr", "-z", "--stdin"];
    arguments.extend(ATTRIBUTES);
    let output = git.run(&arguments, terminated(paths)).await?;
    let mut found: BTreeMap<String, Conversion> = BTreeMap::new();
    let mut values = fields(&output);
    while let (Some(path), Some(attribute), Some(value)) = (values.next(), values.next(), values.next()) {
        let conversion = found.entry(path).or_default();
        match (attribute.as_str(), value.as_str()) {
            (_, "unspecified") => {}
            ("text", "unset") => conversion.line_ends = Some(false),
            // `text` decides; the older and the finer attribute count where it is not there.
            ("text", _) => conversion.line_ends = Some(true),
            ("crlf", "unset") => conversion.line_ends = conversion.line_ends.or(Some(false)),
            ("crlf" | "eol", _) => conversion.line_ends = conversion.line_ends.or(Some(true)),
            (_, "unset") => {}
            _ => conversion.always = true,
        }
    }
    Ok(found)
}

/// What the configuration of user and repository says, by one call of git.
///
/// # Errors
/// [`SettingsError::Elsewhere`] when git takes another repository, or another working tree, for that of this directory.
pub(crate) async fn settings(git: &Git<'_>, repository: &Repository) -> Result<Settings, SettingsError> {
    let pattern = concat!(
        r"^(user\.(name|email)|commit\.gpgsign|extensions\.objectformat|core\.(autocrlf|filemode|bare|worktree",
        r"|repositoryformatversion))$"
    );
    let answer = git.ask(&["config", "-z", "--show-origin", "--get-regexp", pattern], Vec::new()).await?;
    let answer = answer.unwrap_or_default();
    let mut values = BTreeMap::new();
    let mut is_ours = false;
    let ours = repository.common_dir.join("config");
    let mut fields = fields(&answer);
    // file:<path> NUL <name> LF <value> NUL; a name alone means true.
    while let (Some(origin), Some(pair)) = (fields.next(), fields.next()) {
        is_ours |= origin
            .strip_prefix("file:")
            .is_some_and(|file| repository.top.join(file).canonicalize().is_ok_and(|file| file == ours));
        let (name, value) = pair.split_once('\n').unwrap_or((&pair, "true"));
        // What this program itself says is not what is configured.
        if origin == COMMAND_LINE {
            continue;
        }
        values.insert(name.to_owned(), value.to_owned());
    }
    let value = |name: &str| values.get(name).map(String::as_str).filter(|value| !value.trim().is_empty());
    let is_true =
        |name: &str| values.get(name).is_some_and(|value| !FALSE.contains(&value.to_ascii_lowercase().as_str()));
    let is_linked = repository.git_dir != repository.common_dir;
    let is_here = value("core.worktree")
        .is_none_or(|named| repository.git_dir.join(named).canonicalize().ok() == repository.top.canonicalize().ok());
    if !is_ours || !is_here || (is_true("core.bare") && !is_linked) {
        check_same(git, repository).await?;
    }
    Ok(Settings {
        identity: value("user.name")
            .zip(value("user.email"))
            .map(|(name, email)| Identity { name: name.to_owned(), email: email.to_owned() }),
        format: match value("extensions.objectformat") {
            Some("sha256") => ObjectFormat::Sha256,
            _ => ObjectFormat::Sha1,
        },
        wants_signatures: is_true("commit.gpgsign"),
        converts_line_ends: is_true("core.autocrlf"),
        executable_bit: !values.contains_key("core.filemode") || is_true("core.filemode"),
    })
}

/// Where the configuration does not show that it is this repository's, git itself says where it is, or why it will not work here.
async fn check_same(git: &Git<'_>, repository: &Repository) -> Result<(), SettingsError> {
    let found = git.line(&["rev-parse", "--absolute-git-dir", "--show-toplevel"], Vec::new()).await?;
    let same = |line: Option<&str>, expected: &Path| {
        let expected = expected.canonicalize().ok();
        expected.is_some() && line.and_then(|line| Path::new(line).canonicalize().ok()) == expected
    };
    let mut lines = found.lines();
    if same(lines.next(), &repository.git_dir) && same(lines.next(), &repository.top) {
        return Ok(());
    }
    let expected = repository.top.display().to_string();
    Err(SettingsError::Elsewhere { found: found.replace('\n', " with "), expected })
}

/// Why nothing is known of the configuration.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingsError {
    /// By git.
    #[error("{0}")]
    Git(#[from] GitError),
    /// Git would work in another repository than the files say.
    #[error("git uses {found} as the repository of {expected}")]
    Elsewhere {
        /// What git named.
        found: String,
        /// What the files name.
        expected: String,
    },
}

/// How git writes "no".
/// Where git says that a setting comes from, if it was given with the call.
const COMMAND_LINE: &str = "command line:";
const FALSE: &[&str] = &["false", "no", "off", "0", ""];

fn entry(mode: &str, id: &str) -> Entry {
    Entry { mode: u32::from_str_radix(mode, 8).unwrap_or(0), id: id.to_owned() }
}

fn terminated(paths: &[&str]) -> Vec<u8> {
    paths.iter().flat_map(|path| path.bytes().chain([0])).collect()
}

fn fields(output: &[u8]) -> impl Iterator<Item = String> {
    let output = output.strip_suffix(&[0]).unwrap_or(output);
    let empty = output.is_empty();
    output.split(|byte| *byte == 0).filter(move |_| !empty).map(|field| String::from_utf8_lossy(field).into_owned())
}

fn records(output: &[u8]) -> impl Iterator<Item = (String, String)> {
    fields(output).filter_map(|record| {
        let (fields, path) = record.split_once('\t')?;
        Some((fields.to_owned(), path.to_owned()))
    })
}
