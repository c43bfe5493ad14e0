//! `grep`: lines by a regular expression, searched by several threads and shown in the order of the paths.
//!
//! ```text
//! walk (this thread)  -> waiting files, in order -> threads, this one too when many wait -> findings, put in order -> the report
//! ```

mod findings;
mod report;
mod search;

use crate::file_tool::{FileKind, Operation, Watch};
use crate::glob::PathPattern;
use crate::workspace::Workspace;
use agent_types::tool::ToolOutcome;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use schemars::JsonSchema;
use search::Search;
use serde::Deserialize;

pub(crate) struct Grep;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GrepArguments {
    /// Regular expression, in the syntax of Rust's `regex` (no look-around, no back references). It is matched within lines.
    pattern: String,
    /// File or directory to search, relative to the workspace. Default: the workspace itself.
    path: Option<String>,
    /// Only files whose path matches this glob, such as `*.rs`.
    glob: Option<String>,
    /// Ignore case. Default: false.
    ignore_case: Option<bool>,
    /// How many lines to show before and after each match, at most 20. Default: 0.
    context: Option<u8>,
    /// Show only the paths of the files that match. Default: false.
    files_only: Option<bool>,
}

impl Operation for Grep {
    const NAME: &'static str = "grep";
    const DESCRIPTION: &'static str = "Searches files for a regular expression. A match is shown as `path:line:text`, a line of context as \
        `path-line-text`. At most 200 matches are shown, 50 per file. Binary files and files ignored by `.gitignore` are left out.";
    const KIND: FileKind = FileKind::Searches;
    type Arguments = GrepArguments;

    fn paths(arguments: &Self::Arguments) -> Vec<&str> {
        vec![arguments.path.as_deref().unwrap_or(".")]
    }

    fn check(arguments: &Self::Arguments) -> Result<(), String> {
        matcher(arguments)?;
        file_pattern(arguments)?;
        Ok(())
    }

    fn perform(workspace: &Workspace, arguments: &Self::Arguments, watch: &Watch) -> ToolOutcome {
        search(workspace, arguments, watch).unwrap_or_else(ToolOutcome::failed)
    }
}

fn search(workspace: &Workspace, arguments: &GrepArguments, watch: &Watch) -> Result<ToolOutcome, String> {
    let search = Search {
        matcher: matcher(arguments)?,
        files: file_pattern(arguments)?,
        context: usize::from(arguments.context.unwrap_or(0).min(MOST_CONTEXT)),
        files_only: arguments.files_only.unwrap_or(false),
        watch,
    };
    let start = arguments.path.as_deref().unwrap_or(".");
    let start = workspace.relative(start).map_err(|error| error.to_string())?;
    let (report, walked) = search.run(workspace, &start).map_err(|error| error.to_string())?;
    let text = report.finish() + &walked.notice();
    Ok(match walked.is_stopped || watch.is_stopped() {
        true => ToolOutcome::interrupted(text),
        false => ToolOutcome::ok(text),
    })
}

fn matcher(arguments: &GrepArguments) -> Result<RegexMatcher, String> {
    if arguments.pattern.is_empty() {
        return Err("the pattern is empty".into());
    }
    RegexMatcherBuilder::new()
        .case_insensitive(arguments.ignore_case.unwrap_or(false))
        .line_terminator(Some(b'\n'))
        .size_limit(REGEX_BYTES)
        .dfa_size_limit(REGEX_BYTES)
        .build(&arguments.pattern)
        .map_err(|error| format!("the pattern cannot be used as a regular expression: {error}"))
}

fn file_pattern(arguments: &GrepArguments) -> Result<Option<PathPattern>, String> {
    arguments.glob.as_deref().map(PathPattern::new).transpose()
}

const MOST_CONTEXT: u8 = 20;
const REGEX_BYTES: usize = 4 * 1024 * 1024;
