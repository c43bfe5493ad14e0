//! The file of a workspace that a hook's command begins with.
//!
//! Commands of the model write files of the workspace. So a script counts as what was trusted only as long as its bytes do. This is a look
//! at the file before the hook runs, and no more: a hook for which it must hold runs in the sandbox, or is a
//! [`PinnedScript`](super::PinnedScript).
//!
//! Absent: what the script calls, and files that a command names elsewhere than at its beginning.

use agent_git::Image;
use sha2::{Digest as _, Sha256};
use std::path::{Path, PathBuf};

/// A file as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    path: PathBuf,
    content: String,
}

impl Script {
    /// The file below `root` that a command begins with when it is run in a directory: by its path, or after the name of an interpreter.
    /// Nothing when it begins otherwise.
    #[must_use]
    pub fn named(command: &str, directory: &Path, root: &Path) -> Option<Self> {
        let mut words = command.split_ascii_whitespace().skip_while(|word| is_before_program(word));
        let first = words.next()?;
        let at = |word: &str| Self::at(&directory.join(plain(word, directory)?), root);
        if let Some(script) = Some(first).filter(|first| first.contains('/')).and_then(at) {
            return Some(script);
        }
        let is_interpreter = INTERPRETERS.contains(&first.rsplit('/').next()?);
        is_interpreter.then(|| words.find(|word| !word.starts_with('-'))).flatten().and_then(at)
    }

    /// A file below `root`.
    #[must_use]
    pub fn at(path: &Path, root: &Path) -> Option<Self> {
        let is_inside = |path: &Path| path.starts_with(root);
        let is_ours = is_inside(path) || path.canonicalize().is_ok_and(|path| is_inside(&path));
        is_ours.then(|| Self { path: path.to_path_buf(), content: content(path) })
    }

    /// A file with a content that is known.
    pub(super) const fn with_content(path: PathBuf, content: String) -> Self {
        Self { path, content }
    }

    /// The same file with the content that it must have.
    #[must_use]
    pub fn expecting(self, content: String) -> Self {
        Self { content, ..self }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What was in it, as a digest; or that nothing could be read.
    #[must_use]
    pub fn content(&self) -> &str {
        &self.content
    }

    pub(super) fn is_unchanged(&self) -> bool {
        content(&self.path) == self.content
    }
}

/// What is run is what a link leads to.
fn content(path: &Path) -> String {
    match Image::take(&path.canonicalize().unwrap_or_else(|_| path.to_path_buf())) {
        Image::File { bytes, .. } => digest(&bytes),
        Image::Absent | Image::Link(_) => String::from("it is not there"),
        Image::Opaque(why) => why.to_owned(),
    }
}

pub(super) fn digest(bytes: &[u8]) -> String {
    let digits: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}

fn is_before_program(word: &str) -> bool {
    let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    matches!(word, "exec" | "env" | "command") || word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// A word without its quotes, and with the one variable that hooks have; `None` if a shell would make something else of it.
fn plain(word: &str, directory: &Path) -> Option<String> {
    let word = word.trim_end_matches(';');
    let unquoted = ['"', '\''].into_iter().find_map(|quote| word.strip_prefix(quote)?.strip_suffix(quote));
    let word = unquoted.unwrap_or(word);
    let rest = ["$AGENT_PROJECT_DIR", "${AGENT_PROJECT_DIR}"].into_iter().find_map(|name| word.strip_prefix(name));
    let path = match rest {
        Some(rest) => format!("{}{rest}", directory.to_str()?),
        None => word.to_owned(),
    };
    (!rest.unwrap_or(word).contains(ODD)).then_some(path)
}

const INTERPRETERS: &[&str] = &["sh", "bash", "dash", "zsh", "python", "python3", "node", "ruby", "perl", "."];
const ODD: [char; 19] =
    ['$', '`', '*', '?', '[', ']', '{', '}', '(', ')', '|', '&', ';', '<', '>', '\\', '"', '\'', '~'];

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_script_of_a_command_is_found_where_it_is_plain() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("tools/deep")).unwrap();
        fs::write(root.join("tools/check"), "x").unwrap();
        let named = |command: &str| Script::named(command, &root, &root).map(|script| script.path().to_path_buf());
        for command in [
            "tools/check",
            "./tools/check --all; true",
            "A=1 exec ./tools/check",
            "sh tools/check",
            "/usr/bin/python3 -u tools/check x",
            "\"$AGENT_PROJECT_DIR/tools/check\" x",
            "${AGENT_PROJECT_DIR}/tools/check;",
        ] {
            let found = named(command).and_then(|path| path.canonicalize().ok());
            assert_eq!(found, Some(root.join("tools/check")), "{command}");
        }
        for command in ["make lint", "/bin/true", "sh -c", "echo tools/check", "$HOME/x", "tools/ch*", "~/x", ""] {
            assert_eq!(named(command), None, "{command}");
        }
        let from_below = Script::named("../check", &root.join("tools/deep"), &root).unwrap();
        assert_eq!(from_below.content(), Script::named("tools/check", &root, &root).unwrap().content());
    }

    #[test]
    fn another_content_is_another_script() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("check");
        let missing = Script::named("./check", root.path(), root.path()).unwrap();
        assert!(missing.is_unchanged());
        fs::write(&path, "one").unwrap();
        assert!(!missing.is_unchanged());
        let script = Script::named("./check", root.path(), root.path()).unwrap();
        assert!(script.is_unchanged());
        fs::write(&path, "two").unwrap();
        assert!(!script.is_unchanged());
    }
}
