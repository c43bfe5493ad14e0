//! `grep`: lines by a regular expression.

use crate::file_tool::{Operation, Stop};
use crate::glob::PathPattern;
use crate::text::{first_chars, lossy};
use crate::walk::walk;
use crate::workspace::Workspace;
use agent_core::tool::{Effect, ToolOutcome};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkFinish, SinkMatch,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::io;

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
        `path-line-text`. At most 200 matches are shown, 50 of a file. Binary files and what `.gitignore` names are left out.";
    const EFFECT: Effect = Effect::Reads;
    type Arguments = GrepArguments;

    fn path(arguments: &Self::Arguments) -> &str {
        arguments.path.as_deref().unwrap_or(".")
    }

    fn check(arguments: &Self::Arguments) -> Result<(), String> {
        matcher(arguments)?;
        file_pattern(arguments)?;
        Ok(())
    }

    fn perform(workspace: &Workspace, arguments: &Self::Arguments, stop: &Stop) -> ToolOutcome {
        search(workspace, arguments, stop).unwrap_or_else(ToolOutcome::failed)
    }
}

fn search(workspace: &Workspace, arguments: &GrepArguments, stop: &Stop) -> Result<ToolOutcome, String> {
    let matcher = matcher(arguments)?;
    let pattern = file_pattern(arguments)?;
    let say = |error: crate::workspace::FileError| error.to_string();
    let start = workspace.relative(Grep::path(arguments)).map_err(say)?;
    let base = workspace.existing(&start).map_err(say)?;
    let mut searcher = searcher(arguments);
    let mut report = Report::new(arguments.files_only.unwrap_or(false), stop);
    let walked = walk(workspace, &start, None, stop, |path, entry| {
        let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
        let is_wanted = pattern.as_ref().is_none_or(|pattern| pattern.matches(path, base.as_path()));
        if !is_file || !is_wanted {
            return;
        }
        let opened = workspace.relative(path).and_then(|path| workspace.open_file(&path));
        let searched = opened.is_ok_and(|opened| {
            let file = opened.file.into_std();
            let sink = report.for_file(path);
            searcher.search_file(&matcher, &file, sink).is_ok()
        });
        report.end_of_file(searched);
    })
    .map_err(say)?;
    let text = report.finish() + &walked.notice();
    Ok(match walked.is_stopped || stop.is_set() {
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

fn searcher(arguments: &GrepArguments) -> Searcher {
    let context = usize::from(arguments.context.unwrap_or(0).min(MOST_CONTEXT));
    SearcherBuilder::new()
        .line_number(true)
        .before_context(context)
        .after_context(context)
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(LINE_MEMORY_BYTES))
        .build()
}

/// Takes matches, file by file.
struct Report<'a> {
    text: String,
    files_only: bool,
    stop: &'a Stop,
    path: String,
    in_file: usize,
    shown: usize,
    hidden: usize,
    binary: usize,
    unreadable: usize,
    is_binary: bool,
}

impl<'a> Report<'a> {
    fn new(files_only: bool, stop: &'a Stop) -> Self {
        Self {
            text: String::new(),
            files_only,
            stop,
            path: String::new(),
            in_file: 0,
            shown: 0,
            hidden: 0,
            binary: 0,
            unreadable: 0,
            is_binary: false,
        }
    }

    fn for_file(&mut self, path: &str) -> &mut Self {
        self.path = path.replace('\n', "\\n");
        self.in_file = 0;
        self.is_binary = false;
        self
    }

    fn end_of_file(&mut self, was_searched: bool) {
        self.binary += usize::from(self.is_binary);
        self.unreadable += usize::from(!was_searched);
    }

    fn is_full(&self) -> bool {
        self.shown >= MOST_SHOWN || self.text.len() >= MOST_BYTES
    }

    fn push(&mut self, line: &[u8], number: Option<u64>, sign: char) {
        let line = lossy(line);
        let line = line.trim_end_matches(['\n', '\r']);
        let shown = first_chars(line, LINE_CHARS);
        let cut = if shown.len() < line.len() { "…" } else { "" };
        let number = number.unwrap_or_default();
        self.text.push_str(&format!("{}{sign}{number}{sign}{shown}{cut}\n", self.path));
    }

    fn finish(mut self) -> String {
        if self.shown == 0 {
            self.text.push_str("[no match]\n");
        }
        let notices = [
            (self.hidden, "more matches not shown: narrow it down"),
            (self.binary, "binary files not searched to their end"),
            (self.unreadable, "files could not be searched"),
        ];
        for (count, what) in notices {
            if count > 0 {
                self.text.push_str(&format!("[{count} {what}]\n"));
            }
        }
        self.text
    }
}

impl Sink for &mut Report<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.in_file += 1;
        if self.is_full() || self.in_file > MOST_OF_A_FILE {
            self.hidden += 1;
        } else if self.files_only {
            self.shown += 1;
            let line = format!("{}\n", self.path);
            self.text.push_str(&line);
        } else {
            self.shown += 1;
            self.push(found.bytes(), found.line_number(), ':');
        }
        Ok(!self.files_only && !self.stop.is_set())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let is_after_hidden = *context.kind() == SinkContextKind::After && self.in_file > MOST_OF_A_FILE;
        if !self.files_only && !self.is_full() && !is_after_hidden {
            self.push(context.bytes(), context.line_number(), '-');
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        if !self.files_only && !self.is_full() {
            self.text.push_str("--\n");
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.is_binary = true;
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.is_binary |= finish.binary_byte_offset().is_some();
        Ok(())
    }
}

const MOST_SHOWN: usize = 200;
const MOST_OF_A_FILE: usize = 50;
const MOST_BYTES: usize = 64 * 1024;
const MOST_CONTEXT: u8 = 20;
const LINE_CHARS: usize = 500;
const REGEX_BYTES: usize = 4 * 1024 * 1024;
const LINE_MEMORY_BYTES: usize = 64 * 1024 * 1024;
