//! What an import changed and left out, counted.

use crate::screen::counted::counted;

/// How often each was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    /// Calls without a result.
    pub(super) unanswered: u64,
    /// Results without a call, second ones, and those that came after the model went on.
    pub(super) stray_results: u64,
    /// Reasoning, which only the service that sealed it takes back.
    pub(super) thinking: u64,
    pub(super) images: u64,
    /// Blocks that are not known; kept as text.
    pub(super) unknown: u64,
    /// Instructions, and what the program put in by itself.
    pub(super) own: u64,
    /// Lines before the last summary, of other branches, and of sub-agents.
    pub(super) elsewhere: u64,
    /// Lines that hold no record, and how many have more bytes than are read.
    pub(super) damaged: u64,
    pub(super) too_long: u64,
    pub(super) duplicates: u64,
    /// Lines whose predecessor is missing or stands behind them.
    pub(super) misplaced: u64,
    /// Texts of which only the beginning was kept.
    pub(super) cut: u64,
    /// Names of tools and arguments that no service would take.
    pub(super) renamed: u64,
    pub(super) rewritten: u64,
    /// Answers that followed another answer.
    pub(super) fillers: u64,
    /// Calls of answers that were given up: they were never run.
    pub(super) void: u64,
    /// Lines and items before the newest ones that fit the limit.
    pub(super) older: u64,
}

impl Changes {
    /// A phrase for each that was done.
    pub(super) fn told(&self) -> Vec<String> {
        let all = [
            (self.unanswered, "call", "without a result answered \"interrupted, outcome unknown\""),
            (self.void, "call", "of answers that were given up left out"),
            (self.stray_results, "result", "without an open call left out"),
            (self.thinking, "thinking block", "left out"),
            (self.images, "image", "left out"),
            (self.unknown, "unknown block", "kept as text"),
            (self.own, "message", "of the program itself (instructions, notices) left out"),
            (self.elsewhere, "line", "before the last summary, of other branches and of sub-agents left out"),
            (self.damaged, "line", "without a record left out"),
            (self.too_long, "line", "beyond the limit of 16 MiB left out"),
            (self.duplicates, "line", "that occurs again left out"),
            (self.misplaced, "line", "without its predecessor put behind the line before it"),
            (self.cut, "long text", "cut"),
            (self.renamed, "tool name", "changed to a valid one"),
            (self.rewritten, "call", "with its arguments put into an object"),
            (self.fillers, "answer", "without a message before it separated by \"[continued]\""),
            (self.older, "older message", "beyond the limits of 4 MiB, and of 512 KiB without results, left out"),
        ];
        let done = all.iter().filter(|(count, ..)| *count > 0);
        done.map(|(count, noun, what)| format!("{} {what}", counted(*count, noun))).collect()
    }
}
