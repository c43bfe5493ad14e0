//! What a person sees of a run: the model's text as it comes, and a line for everything else that matters.

mod agents;

mod answer;
mod calls;
mod lines;

use crate::screen::change::Changes;
use crate::screen::counted::{counted, usd};
use crate::screen::folded::Folded;
use crate::screen::letters::Letters;
use crate::screen::markdown::{Markdown, Marks};
use crate::screen::terminal::{Style, inline, is_behind, judged, lost_output, one_line, put_aside, unmistakable};
use agent_core::budget::{Ledger, Limits, Near};
use agent_core::conversation::{Author, Block, CallId, Conversation, Item, ToolCall, UserMessage};
use agent_core::hook::{CommitInfo, FormatReport, HookRun};
use agent_core::llm::Delta;
use agent_core::tool::DOORS;
use agent_runner::{Notice, Notices};
use lines::summarised_line;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Writes for a person.
pub(crate) struct View {
    style: Style,
    /// The model's text goes to standard output while it comes.
    is_live: bool,
    level: Level,
    /// Whether the cursor stands behind text that has no line end yet.
    in_line: bool,
    /// Whether pieces of the answer that is being written were shown.
    showed_pieces: bool,
    /// Calls of this round that were seen to start.
    started: BTreeMap<CallId, Started>,
    /// The call whose line is the last that was written.
    last_started: Option<CallId>,
    /// The call that reported last, and the last line of that, where rows at the bottom show it.
    reported: Option<(CallId, String)>,
    /// Whether the next round was begun before this program was.
    is_resumed: bool,
    /// Limits that are said to come near.
    near: Near,
    /// Where the paths of calls begin, if what they change is shown.
    directory: Option<PathBuf>,
    /// What calls that the model asked for change, until they have run or it was shown.
    changes: BTreeMap<CallId, Changes>,
    /// Calls that the person changed, as they are shown, until they have run.
    edited: BTreeMap<CallId, String>,
    /// What was shown in part, where a key shows all of it.
    folded: Option<Folded>,
    /// The answer that comes, where it is shown as Markdown.
    markdown: Option<Markdown>,
    letters: Letters,
    /// What the model has thought since it was last said.
    thinking: String,
    /// The error that was shown last.
    told_error: Option<String>,
}

/// A call that runs.
struct Started {
    /// As it was shown.
    line: String,
    tool: String,
    /// When something was last told of it.
    told: Instant,
}

/// How much is said beside the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Errors only.
    Quiet,
    /// What the agent does.
    Normal,
    /// The machine's transitions too.
    Verbose,
}

impl Level {
    pub(crate) const fn of(quiet: bool, verbose: bool) -> Self {
        match (quiet, verbose) {
            (true, _) => Self::Quiet,
            (false, true) => Self::Verbose,
            (false, false) => Self::Normal,
        }
    }
}

impl View {
    pub(crate) fn new(is_live: bool, level: Level) -> Self {
        Self {
            style: Style::for_stderr(),
            is_live,
            level,
            in_line: false,
            showed_pieces: false,
            started: BTreeMap::new(),
            last_started: None,
            reported: None,
            is_resumed: false,
            near: Near::default(),
            directory: None,
            changes: BTreeMap::new(),
            edited: BTreeMap::new(),
            folded: None,
            told_error: None,
            markdown: None,
            letters: Letters::default(),
            thinking: String::new(),
        }
    }

    /// Shows from now on what calls change in files; paths begin here.
    pub(crate) fn show_changes_in(&mut self, directory: &Path) {
        self.directory = Some(directory.to_owned());
    }

    /// From now on answers are shown as Markdown, and what is shown in part is kept: a person sits at a capable terminal.
    pub(crate) fn show_all_it_can(&mut self) {
        let marks = if self.style.is_on() { Marks::Looks } else { Marks::Stay };
        (self.folded, self.markdown) = (Some(Folded::default()), Some(Markdown::new(marks)));
    }

    /// The person was shown what this call changes.
    pub(crate) fn change_was_shown(&mut self, call: &CallId) {
        self.changes.remove(call);
    }

    /// The person gave the call other arguments: it changes what these say.
    pub(crate) fn change_is_another(&mut self, call: &ToolCall) {
        self.changes.remove(&call.id);
        self.edited.insert(call.id.clone(), call_line(call));
        self.look_ahead(&[Block::Call(call.clone())]);
    }

    /// Shows all of what was shown in part: the newest first, then the one before.
    pub(crate) fn unfold(&mut self) {
        let Some((title, rows)) = self.folded.as_mut().and_then(Folded::next) else {
            return self.tell("nothing more was left out");
        };
        let (title, rows) = (format!("all of: {title}"), rows.to_vec());
        self.tell(&title);
        self.rows(&rows);
    }

    pub(crate) fn notice(&mut self, notice: &Notice) {
        match notice {
            Notice::Delta(Delta::Text(text)) if self.is_live => self.piece(text),
            Notice::Prompt { .. } => self.rested(),
            Notice::Discarded if self.showed_pieces => {
                self.showed_pieces = false;
                self.end_answer();
                self.thinking.clear();
                self.tell("(the text above is discarded)");
            }
            Notice::Delta(Delta::Thinking(text)) if self.folded.is_some() => self.think(text),
            Notice::Message { blocks, .. } => {
                self.message(blocks);
                self.look_ahead(blocks);
            }
            Notice::ToolStarted(call) => {
                let line = call_line(call);
                self.tell(&format!("• {line}"));
                let tool = call.name.to_string();
                self.started.insert(call.id.clone(), Started { line, tool, told: Instant::now() });
                self.last_started = Some(call.id.clone());
            }
            Notice::RoundClosed { round, .. } => self.round_closed(round),
            // What a long call prints would fill the memory where nobody reads it; its result holds what matters.
            Notice::ToolProgress { .. } if is_behind() => {}
            Notice::ToolProgress { text, .. } if self.level == Level::Verbose => self.tell(text),
            Notice::ToolProgress { call, text } => self.still_running(call, text),
            Notice::ToolFinished { call, outcome } => self.finished(call, outcome),
            Notice::HookRan(run) => self.hook_ran(run),
            Notice::GitChecked(report) => {
                report.commits.iter().for_each(|commit| self.new_commit(commit));
                self.notes(&report.notes);
            }
            Notice::Formatted(report) => self.formatted(report),
            Notice::Committed(report) => {
                if let Some(commit) = &report.commit {
                    self.tell(&format!("committed {} {}", short(&commit.id), one_line(&commit.subject, 80)));
                }
                self.notes(&report.notes);
            }
            Notice::Spent(ledger) => self.say_what_is_near(ledger),
            Notice::TimeNear { used_ms, limit_ms } => self.time_is_near(*used_ms, *limit_ms),
            Notice::RetryScheduled { delay_ms, reason, .. } => {
                let seconds = delay_ms.div_ceil(1_000);
                self.tell(&format!("retrying in {seconds} s: {}", inline(reason)));
            }
            Notice::Error { message, .. } => self.error(message),
            Notice::Summarised(summarised) => self.tell(&summarised_line(summarised)),
            Notice::AgentBegun { agent, task, .. } => self.agent_began(agent, task),
            Notice::AgentEnded { agent, outcome, .. } => self.agent_ended(agent, outcome),
            Notice::OfAgent { agent, notice } => self.of_agent(agent, notice),
            Notice::Ordered { agent, order } => self.ordered(agent.as_deref(), order),
            Notice::CheckStarted { command } => self.tell(&format!("checking: {}", one_line(command, 100))),
            Notice::CheckFinished { report, .. } => {
                let verdict = if report.is_kept() { "kept" } else { "not kept" };
                self.tell(&format!("  {verdict}: the command {}", report.end));
            }
            Notice::GapReport { text, .. } => self.tell(text),
            other if self.level == Level::Verbose => self.machines(other),
            _ => {}
        }
    }

    /// What the machines do, and decide.
    fn machines(&mut self, notice: &Notice) {
        match notice {
            Notice::Ruled(ruling) => self.tell(&format!("permission: {}", inline(&ruling.to_string()))),
            Notice::Transition(step) => self.tell(&format!("{:?} + {:?} => {:?}", step.from, step.on, step.to)),
            Notice::ChildMoved { number, transition: step } => {
                self.tell(&format!("child {number}: {:?} + {:?} => {:?}", step.from, step.on, step.to));
            }
            Notice::ChildrenMoved(step) => {
                self.tell(&format!("children: {:?} + {:?} => {:?}", step.from, step.on, step.to));
            }
            Notice::Refused(rejected) => self.tell(&rejected.to_string()),
            Notice::Lifecycle(step) => {
                self.tell(&format!("lifecycle: {:?} + {:?} => {:?}", step.from, step.on, step.to));
            }
            _ => {}
        }
    }

    /// One that only passes is told to those who want to know everything.
    fn hook_ran(&mut self, run: &HookRun) {
        if !run.message.is_empty() || self.level == Level::Verbose {
            self.tell(&one_line(&run.to_string(), 300));
        }
    }

    /// What the hooks at the session's end came to, and what came back, once it is left.
    pub(crate) fn last_words(&mut self, notices: &mut Notices) {
        while let Ok(notice) = notices.try_recv() {
            match notice {
                Notice::HookRan(run) => self.hook_ran(&run),
                Notice::InputReturned(texts) => texts.iter().for_each(|text| self.tell(&format!("not sent: {text}"))),
                _ => {}
            }
        }
    }

    fn formatted(&mut self, report: &FormatReport) {
        for path in &report.changed_paths {
            self.tell(&format!("formatted {}", inline(path)));
        }
        self.notes(&report.notes);
    }

    /// Whether the model's text is shown while it comes.
    pub(crate) const fn is_live(&self) -> bool {
        self.is_live
    }

    /// Says from now on when these limits come near.
    pub(crate) fn watch(&mut self, limits: Limits) {
        self.near = Near::new(limits);
    }

    fn new_commit(&mut self, commit: &CommitInfo) {
        let stat = commit.stat.map(|stat| format!(" ({stat})")).unwrap_or_default();
        self.tell(&format!("new commit {} {}{stat}", short(&commit.id), one_line(&commit.subject, 80)));
    }

    fn time_is_near(&mut self, used_ms: u64, limit_ms: u64) {
        self.tell(&format!("{} of {} of time used", duration(used_ms), duration(limit_ms)));
    }

    fn say_what_is_near(&mut self, ledger: &Ledger) {
        for text in self.near.due(ledger) {
            self.tell(&text.to_string());
        }
    }

    /// What was used, in one line.
    pub(crate) fn spent(&mut self, ledger: &Ledger, has_open_cost: bool) {
        let usage = ledger.usage;
        let cost = match (ledger.unpriced_calls > 0 || has_open_cost, ledger.cost_nano_usd) {
            (true, _) => String::from(", cost unknown"),
            // A server on this machine, or nothing yet.
            (false, 0) => String::new(),
            (false, cost) => format!(", cost {} USD", usd(cost)),
        };
        self.tell(&format!(
            "{}, {}, {} tokens in ({} cached), {} out{cost}",
            counted(ledger.model_calls, "model call"),
            counted(ledger.tool_calls, "tool call"),
            usage.context_tokens(),
            usage.cache_read_tokens,
            usage.output_tokens
        ));
    }

    /// A prompt: the cursor stays behind it, and what is shown next begins a line of its own.
    pub(crate) fn prompt(&mut self, text: &str) {
        self.end_line();
        put_aside(text);
        self.in_line = true;
    }

    /// What the person said stays on the screen.
    pub(crate) fn said(&mut self, line: &str) {
        self.end_line();
        put_aside(&format!("{line}\n"));
    }

    /// The person has ended the line by typing.
    pub(crate) fn line_was_typed(&mut self) {
        self.in_line = false;
    }

    /// Ends the line that streamed text left open.
    pub(crate) fn end_line(&mut self) {
        self.end_letter();
        if let Some(markdown) = &mut self.markdown {
            let spans = markdown.pause();
            let _ = self.style.put(&spans);
            self.in_line |= !spans.is_empty();
        }
        if self.in_line {
            put_aside("\n");
            self.in_line = false;
        }
    }

    /// A whole message: shown in pieces already, or now.
    fn message(&mut self, blocks: &[Block]) {
        self.thought();
        if self.is_live && !self.showed_pieces {
            for block in blocks {
                if let Block::Text(text) = block {
                    self.piece(text);
                }
            }
        }
        self.showed_pieces = false;
        self.end_answer();
        self.end_line();
    }

    /// Where a conversation stood when it was left: the last thing said by either side, in that order. What was sent and is in no answered
    /// request was said last.
    pub(crate) fn recap(&mut self, conversation: &Conversation, unanswered: Option<&str>) {
        let (mut said, mut answered) = (None, None);
        for (at, item) in conversation.iter().enumerate() {
            let (who, text) = match item.as_ref() {
                Item::Input(input) => {
                    (&mut said, input.messages().iter().rev().find(is_of_user).map(|said| said.text.clone()))
                }
                Item::Summary(summary) => (&mut said, summary.said().last().cloned()),
                Item::Answer(answer) => (&mut answered, Some(answer.text())),
                Item::Round(round) => (&mut answered, Some(round.answer().text())),
            };
            if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
                *who = Some((at, text));
            }
        }
        if let Some(text) = unanswered.filter(|text| !text.trim().is_empty()) {
            said = Some((conversation.len(), text.to_owned()));
        }
        self.is_resumed = said.is_some();
        let mut lines: Vec<_> =
            [("you", said), ("agent", answered)].into_iter().filter_map(|(who, line)| Some((line?, who))).collect();
        lines.sort();
        for ((_, text), who) in lines {
            self.tell(&format!("{who}: {}", one_line(text.trim(), 300)));
        }
    }

    fn notes(&mut self, notes: &[String]) {
        for note in notes {
            self.tell(&format!("note: {}", inline(note)));
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "an iterator of references asks by reference")]
fn is_of_user(said: &&UserMessage) -> bool {
    said.author == Author::User
}

/// A call in one line: the tool, and what of its arguments tells most.
pub(crate) fn call_line(call: &ToolCall) -> String {
    let arguments: serde_json::Value = serde_json::from_str(call.arguments.as_str()).unwrap_or_default();
    let opened = doors(&arguments).map(|doors| format!(" [opens the sandbox: {doors}]")).unwrap_or_default();
    let name = judged(&call.name);
    match telling(&arguments) {
        Some(text) => {
            let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            format!("{name} {}{}{opened}", one_line(&unmistakable(first), 100), more_lines(text))
        }
        None => format!("{name}{opened}"),
    }
}

/// What of the sandbox a call asks to have opened.
fn doors(arguments: &serde_json::Value) -> Option<String> {
    let asked = arguments.get("sandbox")?.as_object()?;
    let is_open = |value: &serde_json::Value| *value == true || value.as_array().is_some_and(|paths| !paths.is_empty());
    let doors: Vec<&str> = DOORS.into_iter().filter(|door| asked.get(*door).is_some_and(is_open)).collect();
    (!doors.is_empty()).then(|| doors.join(", "))
}

/// That a text goes on behind its first line.
fn more_lines(text: &str) -> String {
    match text.lines().filter(|line| !line.trim().is_empty()).count() {
        0 | 1 => String::new(),
        lines => format!(" … ({lines} lines)"),
    }
}

/// What of a call's arguments tells most.
pub(crate) fn telling(arguments: &serde_json::Value) -> Option<&str> {
    ["command", "path", "pattern", "name"].iter().find_map(|name| arguments.get(name).and_then(|value| value.as_str()))
}

/// Why some of the output was lost on its way out, if it was: whoever pays for it may not want more of it.
pub(crate) fn lost() -> Option<String> {
    lost_output().map(|error| why_lost(&error))
}

fn why_lost(error: &io::Error) -> String {
    match (error.kind(), error.raw_os_error()) {
        (io::ErrorKind::BrokenPipe, _) => String::from("cannot write the output: its reader is gone"),
        (kind, Some(_)) => format!("cannot write the output: {kind}"),
        (_, None) => format!("cannot write the output: {error}"),
    }
}

fn duration(ms: u64) -> String {
    match ms {
        0..10_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        10_000..600_000 => format!("{} s", ms / 1_000),
        _ => format!("{} min", ms / 60_000),
    }
}

fn short(id: &str) -> &str {
    id.get(..10).unwrap_or(id)
}
