//! Patterns over names: `*` for anything, `edit_file|write_file` for one of several, `mcp_*` with a star for any letters.

/// Which names are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matcher {
    /// One of these; without any, everything.
    alternatives: Vec<String>,
}

impl Matcher {
    /// Reads a pattern. An empty one means everything.
    ///
    /// # Errors
    /// [`MatcherError`] when it uses letters that no name has: it is meant as something else, such as a regular expression.
    pub fn parse(pattern: &str) -> Result<Self, MatcherError> {
        let pattern = pattern.trim();
        if pattern.is_empty() || pattern == "*" {
            return Ok(Self::default());
        }
        let alternatives: Vec<String> = pattern.split('|').map(|name| name.trim().to_owned()).collect();
        let is_usable = |name: &String| {
            !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '*'))
        };
        if alternatives.iter().all(is_usable) {
            Ok(Self { alternatives })
        } else {
            Err(MatcherError { pattern: pattern.to_owned() })
        }
    }

    /// Whether it matches every name.
    #[must_use]
    pub const fn is_any(&self) -> bool {
        self.alternatives.is_empty()
    }

    /// Whether it matches this name.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        self.is_any() || self.alternatives.iter().any(|pattern| fits(pattern, name))
    }

    /// The patterns that none of these names fits.
    pub(super) fn unfit<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'a str> {
        let fits_none = |pattern: &&String| !names.iter().any(|name| fits(pattern, name));
        self.alternatives.iter().filter(fits_none).map(String::as_str)
    }

    /// The names that are written in full, to check that they are known.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.alternatives.iter().map(String::as_str).filter(|name| !name.contains('*'))
    }
}

/// Takes the pieces between the stars one after the other, each as early as it comes.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut name) = name.strip_prefix(start) else { return false };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    for piece in middle.split('*') {
        match name.split_once(piece) {
            Some((_, behind)) => name = behind,
            None => return false,
        }
    }
    name.ends_with(end)
}

/// Why a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is not a list of names separated by `|`, with `*` for any characters")]
pub struct MatcherError {
    /// The pattern as written.
    pub pattern: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lists_and_stars() {
        for (pattern, meant, not_meant) in [
            ("", &["bash", ""][..], &[][..]),
            ("*", &["bash"], &[]),
            ("bash", &["bash"], &["bash2", "Bash", ""]),
            ("edit_file | write_file", &["edit_file", "write_file"], &["read_file"]),
            ("mcp_*", &["mcp_x", "mcp_"], &["mcp", "xmcp_y"]),
            ("*_file", &["edit_file", "_file"], &["file", "edit_files"]),
            ("a*b*c", &["abc", "a1b2c", "abbcc"], &["acb", "ab", "bc"]),
        ] {
            let matcher = Matcher::parse(pattern).unwrap();
            assert!(meant.iter().all(|name| matcher.matches(name)), "{pattern}");
            assert!(!not_meant.iter().any(|name| matcher.matches(name)), "{pattern}");
        }
        for wrong in ["Edit|", "mcp__.+", "^bash$", "bash(git:*)", "a,b"] {
            assert!(Matcher::parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Matcher::parse("bash|mcp_*").unwrap().names().collect::<Vec<_>>(), ["bash"]);
    }
}
