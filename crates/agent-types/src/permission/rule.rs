//! Permission rules: `tool` or `tool(pattern)`.

use super::glob;
use crate::protected::folded;
use crate::tool::{DOORS, Subject};
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Names calls: a tool, or a tool and a pattern over what the call is about.
///
/// The tool is named, or a family to which it says that it belongs ([`Subject::Files`]): `edit(src/**)` is about every tool that changes
/// files.
///
/// For files the pattern is a glob (`edit_file(src/**)`). For commands it is the exact command (`bash(git status)`) or, with `:*`, every
/// command that starts with these words (`bash(git status:*)`).
///
/// An allow rule matches a command only when all of it is known to be plain commands. A deny rule matches when it might: also `/bin/rm` for
/// `bash(rm:*)`, and whatever is not known to be plain commands. One about files holds for every tool that does the same with them, and one
/// that ends in a plain name covers what is below, too.
///
/// A call that asks to have the sandbox opened is covered only by allow rules that name what is opened, `bash+network(git fetch:*)`, and
/// by every deny rule without such names. A deny rule with them covers calls that open one of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    tool: String,
    /// The doors of the sandbox that it names.
    doors: Vec<String>,
    pattern: Option<String>,
    source: RuleSource,
}

/// Where a rule comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RuleSource {
    /// The host, without further detail.
    #[default]
    Host,
    /// The user's configuration.
    User,
    /// The command line.
    CommandLine,
    /// The repository's configuration.
    Repository,
    /// An answer to a question in this session.
    Session,
}

impl RuleSource {
    /// The words after a rule that name its source; empty for the host.
    #[must_use]
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Host => "",
            Self::User => " of the user's configuration",
            Self::CommandLine => " of the command line",
            Self::Repository => " of the repository's configuration",
            Self::Session => " of an answer in this session",
        }
    }
}

impl Rule {
    /// The tool it names.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The doors of the sandbox that it names, as in `bash+network+git`.
    #[must_use]
    pub fn doors(&self) -> &[String] {
        &self.doors
    }

    /// Where it comes from.
    #[must_use]
    pub const fn source(&self) -> RuleSource {
        self.source
    }

    /// The same rule with this source.
    #[must_use]
    pub const fn said_by(mut self, source: RuleSource) -> Self {
        self.source = source;
        self
    }

    /// Why its pattern, taken as one over files, covers less than it says, and what to write instead: a sign of other globs, or a path as
    /// no path is written. To be asked about deny rules: there it would let pass what was meant.
    #[must_use]
    pub fn flaw_over_files(&self) -> Option<&'static str> {
        let pattern = self.pattern.as_deref()?;
        let has_odd_part = of_files(pattern).split('/').any(|part| matches!(part, "" | "." | ".."));
        if pattern.trim() != pattern {
            Some("it begins or ends with a blank; remove the blank or write `?` for it")
        } else if pattern.contains(['{', '}']) {
            Some("`{…}` does not list alternatives here; write one rule for each, or `?` for a brace in a name")
        } else if pattern.contains(['[', ']']) {
            Some("`[…]` is not a character class here; write `?` for one character")
        } else if pattern.contains('\\') {
            Some("`\\` does not escape here; write `?` for the character after it, or `/` between directories")
        } else if pattern.starts_with('!') {
            Some("`!` does not negate here; write `?` for a `!` in a name")
        } else if pattern.starts_with("~/") || pattern == "~" || pattern.starts_with('/') {
            Some("it is not below the directory; write the path relative to it, without `/` or `~` in front")
        } else if has_odd_part && pattern != "." && pattern != "./" {
            Some("`//`, `.` and `..` match no path; write the path relative to the directory without them")
        } else {
            None
        }
    }

    /// A deny rule that was written in a folder, for a reader in a directory below it (`sub/dir`, as paths are written): rules that
    /// together cover there what it covers from the folder. The rule itself is among them, so that nothing is loosened.
    #[must_use]
    pub fn from_above(&self, directory: &str) -> Vec<Self> {
        let mut rules = vec![self.clone()];
        if let Some(pattern) = self.pattern.as_deref().filter(|_| !directory.is_empty()) {
            let mut add = |pattern: &str| {
                let rule = Self { pattern: Some(pattern.to_string()), ..self.clone() };
                if !rules.contains(&rule) {
                    rules.push(rule);
                }
            };
            if self.names_way_to(directory) {
                add("**");
            }
            glob::below(of_files(pattern), directory).into_iter().for_each(&mut add);
        }
        rules
    }

    /// Whether it ends in a plain name and names this directory or one that it is in: then it covers all of it.
    fn names_way_to(&self, directory: &str) -> bool {
        let pattern = of_files(self.pattern.as_deref().unwrap_or_default());
        let is_plain = !pattern.rsplit('/').next().unwrap_or_default().contains(['*', '?']);
        let ends = directory.match_indices('/').map(|(end, _)| end).chain([directory.len()]);
        is_plain && ends.into_iter().any(|end| directory.get(..end).is_some_and(|way| glob::matches(pattern, way)))
    }

    /// Whether it names some calls of its tool only.
    #[must_use]
    pub const fn has_pattern(&self) -> bool {
        self.pattern.is_some()
    }

    /// Whether it is about files that such a call must not show.
    #[must_use]
    pub fn is_about_files_of(&self, tool: &str, subject: &Subject) -> bool {
        self.has_pattern() && self.may_name(tool, subject)
    }

    /// Whether a deny rule covers a file, or a directory that the file is in, by this name or by another that some file system takes for
    /// it.
    pub(super) fn may_cover(&self, path: &str) -> bool {
        let Some(pattern) = &self.pattern else { return true };
        let pattern = of_files(pattern);
        if covers(pattern, path) {
            return true;
        }
        let (folded_pattern, folded_path) = (folded::letters(pattern), folded::path(path));
        if (folded_pattern != pattern || folded_path != path) && covers(&folded_pattern, &folded_path) {
            return true;
        }
        folded_path.contains('~') && covers(&folded_pattern, &in_long_names(&folded_pattern, &folded_path))
    }

    fn names(&self, tool: &str, subject: &Subject) -> bool {
        self.tool == tool || subject.is_of(&self.tool)
    }

    /// A rule about files is about what is done with them, by whichever tool. One without a pattern also holds a tool that is about no
    /// files: what such a tool is akin to is all that a rule can name.
    fn may_name(&self, tool: &str, subject: &Subject) -> bool {
        let is_about_none = subject.paths().is_some_and(<[String]>::is_empty);
        self.names(tool, subject) || (self.has_pattern() || is_about_none) && subject.is_akin(&self.tool)
    }

    /// Whether an allow rule covers the call: everything the call is about matches, and all of it is known.
    #[must_use]
    pub fn matches(&self, tool: &str, subject: &Subject) -> bool {
        let opens = match subject.opening() {
            Some(opening) => opening.is_within(&self.doors),
            None => self.doors.is_empty(),
        };
        if !opens || !self.names(tool, subject) {
            return false;
        }
        let Some(pattern) = &self.pattern else {
            return true;
        };
        match subject {
            Subject::None | Subject::Command { plain: None, .. } => false,
            Subject::Paths(paths) | Subject::Files { paths, .. } => {
                !paths.is_empty() && paths.iter().all(|path| glob::matches(of_files(pattern), path))
            }
            Subject::Command { plain: Some(plain), text, carries_over, beyond_reading: _, walls: _ } => {
                let each = || !carries_over && plain.iter().all(|command| command_matches(pattern, command));
                !plain.is_empty() && (text == pattern || each())
            }
        }
    }

    /// Whether a deny rule covers the call: something it is about matches, or may match.
    #[must_use]
    pub fn may_match(&self, tool: &str, subject: &Subject) -> bool {
        let opens = |word: &String| subject.opening().is_some_and(|opening| opening.may_open(word));
        if !self.doors.is_empty() && !self.doors.iter().any(opens) || !self.may_name(tool, subject) {
            return false;
        }
        let Some(pattern) = &self.pattern else {
            return true;
        };
        match subject {
            Subject::None | Subject::Command { plain: None, .. } => true,
            // What it may be about is not known.
            Subject::Files { paths, .. } if paths.is_empty() => true,
            Subject::Paths(paths) | Subject::Files { paths, .. } => paths.iter().any(|path| self.may_cover(path)),
            Subject::Command { plain: Some(plain), .. } => {
                let may = |command: &String| {
                    command_matches(pattern, command) || command_matches(pattern, without_directory(command))
                };
                plain.iter().any(may)
            }
        }
    }
}

/// Whether a pattern matches a path, or ends in a plain name and matches a directory above it.
fn covers(pattern: &str, path: &str) -> bool {
    let is_plain = !pattern.rsplit('/').next().unwrap_or_default().contains(['*', '?']);
    let is_below = |directory: &str| glob::matches(pattern, directory);
    glob::matches(pattern, path)
        || is_plain && path.match_indices('/').any(|(end, _)| path.get(..end).is_some_and(is_below))
}

/// The path with the pattern's names in place of what may be their short names (`SECRET~1`).
fn in_long_names(pattern: &str, path: &str) -> String {
    let long =
        |name: &str| pattern.split('/').find(|known| folded::is_short_for(name, known)).unwrap_or(name).to_string();
    path.split('/').map(long).collect::<Vec<String>>().join("/")
}

/// A pattern over paths as the paths are written: from the workspace, without a `.` at the beginning or a slash at the end.
fn of_files(pattern: &str) -> &str {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    pattern.strip_suffix('/').unwrap_or(pattern)
}

/// The command as if its program had been named without the directory that it is in.
fn without_directory(command: &str) -> &str {
    let program = command.split(' ').next().unwrap_or_default();
    let name_at = program.rfind('/').map_or(0, |slash| slash + 1);
    command.get(name_at..).unwrap_or(command)
}

fn command_matches(pattern: &str, command: &str) -> bool {
    match pattern.strip_suffix(":*") {
        Some(prefix) => match command.strip_prefix(prefix) {
            Some(rest) => rest.is_empty() || rest.starts_with(' ') || prefix.is_empty(),
            None => false,
        },
        None => pattern == command,
    }
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let wrong = || RuleError { rule: text.to_string() };
        let (tool, pattern) = match text.split_once('(') {
            None => (text, None),
            Some((tool, rest)) => (tool, Some(rest.strip_suffix(')').ok_or_else(wrong)?)),
        };
        let mut words = tool.split('+');
        let tool = words.next().unwrap_or_default();
        let doors: Vec<String> = words.map(ToString::to_string).collect();
        let are_known = doors.iter().all(|door| DOORS.contains(&door.as_str()));
        let is_name =
            !tool.is_empty() && tool.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
        if !is_name || !are_known || pattern.is_some_and(str::is_empty) {
            return Err(wrong());
        }
        Ok(Self { tool: tool.to_string(), doors, pattern: pattern.map(ToString::to_string), source: RuleSource::Host })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.tool)?;
        self.doors.iter().try_for_each(|door| write!(f, "+{door}"))?;
        match &self.pattern {
            Some(pattern) => write!(f, "({pattern})"),
            None => Ok(()),
        }
    }
}

/// A rule as it is kept: its text alone, or with who said it.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Said { rule: String, source: RuleSource },
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (rule, source) = (self.to_string(), self.source);
        let written = if source == RuleSource::Host { Written::Text(rule) } else { Written::Said { rule, source } };
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (text, source) = match Written::deserialize(deserializer)? {
            Written::Text(text) => (text, RuleSource::Host),
            Written::Said { rule, source } => (rule, source),
        };
        text.parse().map(|rule: Self| rule.said_by(source)).map_err(D::Error::custom)
    }
}

impl TryFrom<String> for Rule {
    type Error = RuleError;

    fn try_from(text: String) -> Result<Self, RuleError> {
        text.parse()
    }
}

impl From<Rule> for String {
    fn from(rule: Rule) -> Self {
        rule.to_string()
    }
}

/// A rule that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "read the rule `{rule}`: expected `tool` or `tool(pattern)`, and after `tool` perhaps `+network`, `+git`, `+write`, `+outside`"
)]
#[non_exhaustive]
pub struct RuleError {
    /// The rule as it was written.
    pub rule: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Such a tool may be left out of what allow rules call its family.
    #[test]
    fn a_deny_rule_without_a_pattern_holds_a_tool_that_is_about_no_files() {
        let rule: Rule = "mcp__s".parse().unwrap();
        let akin = |paths: &[&str]| Subject::Files {
            paths: paths.iter().map(ToString::to_string).collect(),
            families: vec![],
            akin: vec!["mcp__s".to_string()],
        };
        assert!(rule.may_match("mcp__s__raze", &akin(&[])) && !rule.matches("mcp__s__raze", &akin(&[])));
        assert!(!rule.may_match("grep", &akin(&["a"])), "a tool about files is named by its own name, or with files");
        assert!(!"mcp__t".parse::<Rule>().unwrap().may_match("mcp__s__raze", &akin(&[])));
    }

    #[test]
    fn a_deny_rule_covers_a_file_by_every_name_that_a_file_system_takes_for_it() {
        let covers = |rule: &str, path: &str| rule.parse::<Rule>().unwrap().may_cover(path);
        for path in [
            "secrets/key",
            "SECRETS/key",
            "Secrets/Key",
            "ſecrets/key",
            "sec\u{200b}rets/key",
            "secrets./key",
            "secrets /key",
            "secrets::$INDEX_ALLOCATION/key",
            "SECRET~1/key",
            "secret~12/key",
        ] {
            assert_eq!(covers("read(secrets/**)", path), !path.ends_with("12/key"), "{path}");
        }
        for (rule, path) in [
            ("read(Secrets/**)", "secrets/x"),
            ("read(**/*.PEM)", "a/key.pem"),
            ("read(a/.env)", "A/.ENV"),
            ("read(private)", "PRIVAT~1/x/y"),
            ("read(.env)", "ENV~1"),
        ] {
            assert!(covers(rule, path), "{rule} {path}");
        }
        for (rule, path) in
            [("read(secrets/**)", "public/key"), ("read(.env)", "env~1x"), ("read(**/*.pem)", "a~1/b.txt")]
        {
            assert!(!covers(rule, path), "the control: {rule} {path}");
        }
        let allow: Rule = "read(src/**)".parse().unwrap();
        let subject = Subject::Paths(vec!["SRC/x".to_string()]);
        assert!(!allow.matches("read", &subject), "an allow rule holds as it is written");
    }
}
