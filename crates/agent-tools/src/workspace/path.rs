//! Paths relative to the workspace, normalised by their text.

use super::error::FileError;
use std::fmt;
use std::path::Path;

/// A path below the root, without `.`, `..` and empty parts. The root itself is `.`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RelativePath(String);

impl RelativePath {
    /// Reads what a model wrote. Absolute paths below one of the roots are taken, too. Nothing is expanded: `~` and `$HOME` are names.
    pub(crate) fn parse(given: &str, roots: &[&Path]) -> Result<Self, FileError> {
        if given.is_empty() {
            return Err(FileError::EmptyPath);
        }
        if given.contains('\0') {
            return Err(FileError::NulInPath);
        }
        if given.len() > LONGEST_BYTES {
            return Err(FileError::PathTooLong);
        }
        let outside = || FileError::Outside { path: given.to_string() };
        if !given.starts_with('/') {
            return normalise(given).ok_or_else(outside);
        }
        let absolute = normalise(given).ok_or_else(outside)?;
        let absolute = Path::new("/").join(absolute.as_path());
        roots.iter().find_map(|root| absolute.strip_prefix(root).ok()).and_then(Self::from_real).ok_or_else(outside)
    }

    /// Takes a relative path as the file system gave it. Nothing if its name is not Unicode.
    pub(crate) fn from_real(path: &Path) -> Option<Self> {
        normalise(path.to_str()?)
    }

    pub(crate) fn as_path(&self) -> &Path {
        Path::new(&self.0)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_root(&self) -> bool {
        self.0 == "."
    }

    /// The directory it is in, which may be `.`, and its name. Nothing for the root.
    pub(crate) fn split(&self) -> Option<(&str, &str)> {
        if self.is_root() {
            return None;
        }
        Some(self.0.rsplit_once('/').unwrap_or((".", &self.0)))
    }
}

impl fmt::Display for RelativePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn normalise(path: &str) -> Option<RelativePath> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(RelativePath(if parts.is_empty() { String::from(".") } else { parts.join("/") }))
}

/// The longest path that Linux takes.
const LONGEST_BYTES: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_are_taken_or_refused_by_their_text() {
        let cases = [
            ("a/b", Some("a/b")),
            ("a//b///c", Some("a/b/c")),
            ("./a/./b/", Some("a/b")),
            ("a/../b", Some("b")),
            (".", Some(".")),
            ("/repo", Some(".")),
            ("/repo/x", Some("x")),
            ("/repo/../repo/x", Some("x")),
            ("~/x", Some("~/x")),
            ("$HOME/x", Some("$HOME/x")),
            ("C:\\x", Some("C:\\x")),
            ("file:///x", Some("file:/x")),
            ("a\nb", Some("a\nb")),
            ("x ", Some("x ")),
            ("x.", Some("x.")),
            ("..", None),
            ("../x", None),
            ("a/../../b", None),
            ("./a/../../b", None),
            ("/", None),
            ("/etc/passwd", None),
            ("/repo-evil/x", None),
            ("/repo/../etc", None),
            ("", None),
            ("a\0b", None),
        ];
        for (given, expected) in cases {
            let found = RelativePath::parse(given, &[Path::new("/repo")]);
            let found = found.ok().map(|path| path.to_string());
            assert_eq!(found.as_deref(), expected, "{given:?}");
        }
        assert!(RelativePath::parse(&"a/".repeat(3_000), &[]).is_err());
    }

    proptest! {
        #[test]
        fn what_is_taken_has_no_way_up(given in "[a./~ ]{0,20}") {
            if let Ok(path) = RelativePath::parse(&given, &[Path::new("/a")]) {
                let text = path.to_string();
                prop_assert!(!text.starts_with('/'));
                prop_assert!(text.split('/').all(|part| !part.is_empty() && part != ".."));
            }
        }
    }
}
