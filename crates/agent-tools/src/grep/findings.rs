//! What was found in one file.

use super::report::{MOST_BYTES, MOST_OF_A_FILE};
use crate::file_tool::Watch;
use crate::text::{first_chars, lossy};
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkFinish, SinkMatch};
use std::fmt::Write as _;
use std::io;

/// The matches of a file, as they will be shown.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) text: String,
    /// Where the part of each match begins in the text, its context before it included.
    pub(super) starts: Vec<usize>,
    /// All matches, those that are not in the text included.
    pub(super) matches: usize,
    pub(super) is_binary: bool,
    pub(super) is_unreadable: bool,
}

/// Takes the matches of one file as they are found.
pub(super) struct Collector<'a> {
    path: String,
    files_only: bool,
    watch: &'a Watch,
    findings: Findings,
    /// Where the context before the next match begins.
    open: Option<usize>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(path: &str, files_only: bool, watch: &'a Watch) -> Self {
        Self { path: path.replace('\n', "\\n"), files_only, watch, findings: Findings::default(), open: None }
    }

    pub(super) fn finish(self, was_searched: bool) -> Findings {
        Findings { is_unreadable: !was_searched, ..self.findings }
    }

    fn has_room(&self) -> bool {
        self.findings.starts.len() < MOST_OF_A_FILE && self.findings.text.len() < MOST_BYTES
    }

    fn push(&mut self, line: &[u8], number: Option<u64>, sign: char) {
        // Much more than is shown need not be decoded.
        let line = lossy(line.get(..LINE_CHARS * 4 + 4).unwrap_or(line));
        let line = line.trim_end_matches(['\n', '\r']);
        let shown = first_chars(line, LINE_CHARS);
        let cut = if shown.len() < line.len() { "…" } else { "" };
        let number = number.unwrap_or_default();
        let _ = writeln!(self.findings.text, "{}{sign}{number}{sign}{shown}{cut}", self.path);
    }
}

impl Sink for &mut Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        self.findings.matches += 1;
        let start = self.open.take().unwrap_or(self.findings.text.len());
        if self.has_room() {
            self.findings.starts.push(start);
            if self.files_only {
                let _ = writeln!(self.findings.text, "{}", self.path);
            } else {
                self.push(found.bytes(), found.line_number(), ':');
            }
        }
        Ok(!self.files_only && !self.watch.is_stopped())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let is_after = *context.kind() == SinkContextKind::After;
        let is_of_shown = self.has_room() || (is_after && self.findings.starts.len() == self.findings.matches);
        if !self.files_only && is_of_shown {
            if !is_after {
                self.open.get_or_insert(self.findings.text.len());
            }
            self.push(context.bytes(), context.line_number(), '-');
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> io::Result<bool> {
        if !self.files_only && self.has_room() {
            self.open.get_or_insert(self.findings.text.len());
            self.findings.text.push_str("--\n");
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.findings.is_binary = true;
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.findings.is_binary |= finish.binary_byte_offset().is_some();
        Ok(())
    }
}

const LINE_CHARS: usize = 500;
