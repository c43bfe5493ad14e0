//! `agent sessions lint`: what is wrong in a session file, ours or another program's, and a copy without it.
//!
//! ```text
//! line -> dialect (what it says, in no program's own form) -> check: findings, and edits that mend them -> repair: a copy beside
//! ```
//!
//! Calls and results are matched by their ids over the whole file: branches of a session share what came before them. A file is read line
//! by line and only ids are kept of it, so its size does not matter. Nothing is ever written but a new file.

mod check;
mod claude;
mod codex;
pub(super) mod dialect;
pub(super) mod lines;
mod own;
mod pi;
mod repair;
mod rings;

use super::args::Lint;
use super::{write, write_json};
use crate::failure::Failure;
use crate::screen::counted::counted;
use crate::screen::terminal::{inline, say};
use dialect::Format;
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    /// Counted from 1.
    line: usize,
    kind: Kind,
    severity: Severity,
    message: String,
}

/// In the words of the JSON form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// The last line has no end.
    Torn,
    /// A line that holds no record.
    Damaged,
    /// A line that stands there already.
    DuplicateMessage,
    /// A call without a result.
    Unanswered,
    /// A second result of a call.
    DuplicateResult,
    /// A result without a call.
    UnknownResult,
    /// A result behind what the model said next.
    LateResult,
    /// Two speak in a row who take turns.
    Alternation,
    /// What a line stands behind is not there.
    MissingMessage,
    /// Lines that stand behind each other, in a ring.
    Cycle,
    /// A picture that is not beside the session, or is not as it was.
    MissingPicture,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Severity {
    /// Something is lost, or a provider refuses the history.
    Error,
    /// Unusual; the program that resumes the session copes.
    Note,
}

impl Finding {
    fn error(line: usize, kind: Kind, message: impl Into<String>) -> Self {
        Self { line, kind, severity: Severity::Error, message: message.into() }
    }

    fn note(line: usize, kind: Kind, message: impl Into<String>) -> Self {
        Self { line, kind, severity: Severity::Note, message: message.into() }
    }
}

/// What was found in a file, in the names of the JSON form.
#[derive(Serialize)]
struct Report {
    file: String,
    format: Format,
    lines: usize,
    findings: Vec<Finding>,
    /// The copy, and what is still wrong with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    repaired: Option<Repaired>,
}

#[derive(Serialize)]
struct Repaired {
    file: String,
    findings: Vec<Finding>,
}

/// Exit code 0 when nothing is wrong, or nothing is with the repaired copy; 1 when something is.
pub(super) fn lint(arguments: &Lint) -> Result<u8, Failure> {
    let mut report = look(&arguments.file)?;
    let mut is_bad = has_errors(&report.findings);
    if let Some(out) = &arguments.repair {
        repair(&arguments.file, report.format, out)?;
        let findings = look(out)?.findings;
        is_bad = has_errors(&findings);
        report.repaired = Some(Repaired { file: out.display().to_string(), findings });
    }
    if arguments.json {
        let text = serde_json::to_string(&report).map_err(Failure::internal)?;
        write_json(&format!("{text}\n"))?;
    } else {
        tell(&report)?;
    }
    Ok(u8::from(is_bad))
}

fn look(path: &Path) -> Result<Report, Failure> {
    let format = Format::of(path)?;
    let (lines, findings) = match format {
        Format::Agent => own::look(path)?,
        Format::ClaudeCode | Format::Codex | Format::Pi => {
            let checked = check::check(format, path)?;
            (checked.lines, checked.findings)
        }
    };
    Ok(Report { file: path.display().to_string(), format, lines, findings, repaired: None })
}

fn repair(path: &Path, format: Format, out: &Path) -> Result<(), Failure> {
    match format {
        Format::Agent => own::repair(path, out),
        Format::ClaudeCode | Format::Codex | Format::Pi => {
            repair::write(format, path, &check::check(format, path)?, out)
        }
    }
}

fn has_errors(findings: &[Finding]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}

fn tell(report: &Report) -> Result<(), Failure> {
    write(&told(&report.file, &report.findings)?)?;
    if let Some(Repaired { file, findings }) = &report.repaired {
        say(&format!("agent: wrote the repaired copy to {}", inline(file)));
        write(&told(file, findings)?)?;
    }
    let errors = report.findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let notes = report.findings.len() - errors;
    let (lines, format) = (report.lines, serde_json::to_string(&report.format).map_err(Failure::internal)?);
    say(&format!(
        "agent: {} of {}: {}, {}",
        counted(lines as u64, "line"),
        format.trim_matches('"'),
        counted(errors as u64, "error"),
        counted(notes as u64, "note")
    ));
    Ok(())
}

fn told(file: &str, findings: &[Finding]) -> Result<String, Failure> {
    let mut out = String::new();
    for Finding { line, kind, severity, message } in findings {
        let kind = serde_json::to_string(kind).map_err(Failure::internal)?;
        let word = if *severity == Severity::Note { "note, " } else { "" };
        let _ = writeln!(out, "{}:{line}: {word}{}: {}", inline(file), kind.trim_matches('"'), inline(message));
    }
    Ok(out)
}

#[cfg(test)]
mod tests;
