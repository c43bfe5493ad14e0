//! The mutants of `agent-core`, of `agent-types` and of the kernel: cargo-mutants reads the code and says what it would change.

use serde::Deserialize;
use std::env;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

/// One small change of the code.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Mutant {
    /// Of the form `file:line:column: what`.
    pub(super) name: String,
    /// The file's path in the workspace.
    pub(super) file: String,
    span: Span,
    /// What is in place of what the span has.
    pub(super) replacement: String,
}

#[derive(Clone, Debug, Deserialize)]
struct Span {
    start: Place,
    end: Place,
}

/// Line and column, both counted from 1, columns in characters.
#[derive(Clone, Debug, Deserialize)]
struct Place {
    line: usize,
    column: usize,
}

impl Mutant {
    /// Where in the file's text the change is; `None` if the text is too short.
    pub(super) fn bytes(&self, text: &str) -> Option<Range<usize>> {
        Some(self.span.start.byte(text)?..self.span.end.byte(text)?)
    }
}

impl Place {
    fn byte(&self, text: &str) -> Option<usize> {
        let before: usize = text.split_inclusive('\n').take(self.line - 1).map(str::len).sum();
        let line = text.get(before..)?;
        let column = line.char_indices().map(|(at, _)| at).chain([line.len()]).nth(self.column - 1)?;
        Some(before + column)
    }
}

/// All mutants, in the order of the code.
///
/// # Errors
/// When cargo-mutants cannot be run or understood.
pub(super) fn all(root: &Path) -> Result<Vec<Mutant>, String> {
    let output = cargo_mutants(root).args(["--list", "--json"]).output();
    let output = output.map_err(|error| format!("run cargo mutants: {error} ({INSTALL})"))?;
    let mutants: Vec<Mutant> = serde_json::from_slice(&output.stdout).map_err(|error| {
        format!("list the mutants: {error} ({INSTALL}): {}", String::from_utf8_lossy(&output.stderr))
    })?;
    if mutants.is_empty() { Err(format!("list the mutants: there are none ({INSTALL})")) } else { Ok(mutants) }
}

/// The command to be given its work.
pub(super) fn cargo_mutants(root: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args(["mutants", "--package", "agent-core", "--package", "agent-types", "--package", "statetable"])
        .args(["--no-times", "--colors", "never"])
        .current_dir(root);
    command
}

pub(super) const INSTALL: &str = "install it with `cargo install cargo-mutants --locked`";

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A mutant whose span covers the only place of `what` in the text.
    pub(in crate::mutants) fn mutant(text: &str, what: &str, replacement: &str) -> Mutant {
        let at = text.find(what).unwrap();
        let place = |byte: usize| {
            let line = text[..byte].rsplit('\n').next().unwrap();
            Place { line: text[..byte].matches('\n').count() + 1, column: line.chars().count() + 1 }
        };
        let span = Span { start: place(at), end: place(at + what.len()) };
        Mutant { name: format!("replace {what}"), file: String::new(), span, replacement: replacement.to_owned() }
    }

    #[test]
    fn a_place_is_found_behind_other_letters() {
        let text = "// äöü\nlet ä = 1 + 2;\n";
        let found = mutant(text, "+", "-").bytes(text).unwrap();
        assert_eq!(&text[found], "+");
        let missing = Place { line: 9, column: 1 };
        assert_eq!(missing.byte(text), Some(text.len()));
        assert_eq!(Place { line: 9, column: 2 }.byte(text), None);
    }
}
