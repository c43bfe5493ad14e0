//! What is shown of calls: that they run, what came of them, what they change; and of thinking.

use super::{Level, View, call_line};
use crate::screen::change::Changes;
use crate::screen::counted::counted;
use crate::screen::results::{self, Shown};
use crate::screen::sheet::{Row, wrapped};
use crate::screen::terminal::{Tint, inline, last_line, one_line, size};
use agent_core::agents::AgentCall;
use agent_core::conversation::{Block, CallId, Item, Round};
use agent_core::tool::{ToolOutcome, ToolStatus};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

impl View {
    /// What a long call has reported last, now and then: in a row of its own only where none at the bottom shows it.
    pub(super) fn still_running(&mut self, call: &CallId, text: &str) {
        let is_drawn = self.folded.is_some();
        let between = if is_drawn { BETWEEN_DRAWN_REPORTS } else { BETWEEN_REPORTS };
        let started = self.started.get_mut(call).filter(|started| started.told.elapsed() >= between);
        if let Some(started) = started
            && !text.trim().is_empty()
        {
            started.told = Instant::now();
            let line = last_line(text, 100);
            if is_drawn {
                self.reported = Some((call.clone(), line));
            } else {
                self.last_started = None;
                self.tell(&format!("  … {line}"));
            }
        }
    }

    /// What the call reports that reported last, for a row at the bottom.
    pub(crate) fn reported(&self) -> Option<String> {
        let (call, line) = self.reported.as_ref()?;
        let others = self.started.len() > 1;
        let name =
            self.started.get(call).filter(|_| others).map_or(String::new(), |started| format!("{}: ", started.line));
        Some(format!("  … {name}{line}"))
    }

    pub(super) fn round_closed(&mut self, round: &Item) {
        if let Item::Round(round) = round {
            self.not_run(round);
        }
        self.started.clear();
        self.reported = None;
        self.changes.clear();
        self.edited.clear();
        self.is_resumed = false;
    }

    /// Calls of the model that never ran, and why.
    fn not_run(&mut self, round: &Round) {
        for (call, result) in round.answer().calls().zip(round.results()) {
            if !self.started.contains_key(&call.id) {
                let when = if self.is_resumed { "before the interruption: " } else { "" };
                // What a person made of it was refused, not what the model had asked for.
                let line = self.edited.remove(&call.id).unwrap_or_else(|| call_line(call));
                self.tell(&format!("• {when}{line}"));
                let failed = if result.is_error() && !result.content().starts_with(NOT_RUN) { "failed: " } else { "" };
                self.tell(&format!("  {failed}{}", one_line(result.content(), 300)));
            }
        }
    }

    pub(super) fn finished(&mut self, call: &CallId, outcome: &ToolOutcome) {
        let changes = self.changes.remove(call);
        self.reported.take_if(|(reporting, _)| reporting == call);
        let (tool, line) = match self.started.get(call) {
            Some(started) => (started.tool.clone(), started.line.clone()),
            None => (String::new(), String::new()),
        };
        // A line of its own says how an agent ended.
        if AgentCall::is_tool(&tool) && outcome.status == ToolStatus::Ok {
            return;
        }
        let width = if self.folded.is_some() { size().0.saturating_sub(6).max(20) } else { 100 };
        let more = if self.folded.is_some() { "; Ctrl-O shows all" } else { "" };
        let Shown { head, rows, left_out } = results::shown(&tool, outcome, changes.as_ref(), width, more);
        let head = self.whose(call) + &head;
        if !(head.is_empty() && rows.len() > 1) {
            self.tell(format!("  {head}").trim_end());
        }
        let rows: Vec<Row> = rows.into_iter().map(|(tint, row)| (tint, format!("  {row}"))).collect();
        self.rows(&rows);
        for file in &outcome.instructions {
            self.rows(&[(Tint::Dim, format!("  instructions: {}", file.path))]);
        }
        if let Some(folded) = &mut self.folded {
            if changes.is_some() && left_out > 0 {
                self.style.say(Tint::Dim, &format!("    … {} more; Ctrl-O shows all", counted(left_out, "row")));
            }
            let plain = |line: &str| (Tint::Dim, format!("  | {line}"));
            let content = || outcome.content.lines().map(plain).collect();
            folded.add(line, changes.map_or_else(content, |changes| changes.rows()));
        }
    }

    /// Rows of a result. None of them begins with what a tool wrote.
    pub(super) fn rows(&mut self, rows: &[Row]) {
        if self.level > Level::Quiet {
            self.end_line();
            let columns = if self.folded.is_some() { size().0 } else { usize::MAX };
            for (tint, row) in rows {
                wrapped(&inline(row), columns).iter().for_each(|row| self.style.say(*tint, row));
            }
        }
    }

    /// What the calls of an answer will change, as long as it did not happen.
    pub(super) fn look_ahead(&mut self, blocks: &[Block]) {
        let Some(directory) = &self.directory else { return };
        let mut texts = BTreeMap::new();
        for block in blocks {
            if let Block::Call(call) = block
                && let Some(changes) = Changes::after(call, directory, &texts)
            {
                texts.extend(changes.texts());
                self.changes.insert(call.id.clone(), changes);
            }
        }
    }

    /// What the model thinks is told in one line once it says something, and kept.
    pub(super) fn think(&mut self, text: &str) {
        if self.thinking.len() < MOST_THINKING_BYTES {
            self.thinking.push_str(text);
        }
    }

    pub(super) fn thought(&mut self) {
        let text = std::mem::take(&mut self.thinking);
        if text.trim().is_empty() {
            return;
        }
        self.tell(&format!(
            "thought: {} (Ctrl-O shows all)",
            one_line(text.trim(), size().0.saturating_sub(30).max(20))
        ));
        let rows = text.trim().lines().map(|line| (Tint::Dim, format!("  | {line}"))).collect();
        if let Some(folded) = &mut self.folded {
            folded.add(String::from("what the model thought"), rows);
        }
    }

    /// Whose result it is, where that is not the line above.
    fn whose(&mut self, call: &CallId) -> String {
        let is_above = self.last_started.take().is_some_and(|last| last == *call);
        let started = self.started.get(call).filter(|_| !is_above);
        started.map_or_else(String::new, |started| format!("{}: ", started.line))
    }
}

/// How long a call must have been silent before a report of it is shown, in a row that stays or in one that is drawn anew.
const BETWEEN_REPORTS: Duration = Duration::from_secs(1);
const BETWEEN_DRAWN_REPORTS: Duration = Duration::from_millis(250);
/// How the result of a call begins that did not run.
const NOT_RUN: &str = "not run";
/// Of what a model thinks, no more is kept.
const MOST_THINKING_BYTES: usize = 256 * 1024;
