//! What happens in a session as `session/update` tells it. Nothing is decided here: a notice has its updates, or none.

use crate::client::Client;
use crate::host::{Change, Insight};
use crate::text::{inline, one_line};
use agent_core::budget::Ledger;
use agent_core::conversation::{Block, CallId, Item, Round, ToolCall, UserMessage};
use agent_core::llm::Delta;
use agent_core::tool::{ToolOutcome, ToolStatus};
use agent_runner::Notice;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Tells the client of one session.
pub(crate) struct Telling {
    client: Arc<Client>,
    session: String,
    insight: Arc<dyn Insight>,
    /// Pieces of text that follow each other and are not written yet: so many at once arrive as one.
    piece: Option<(&'static str, String)>,
    /// Calls that were announced and have no result yet.
    open: BTreeMap<CallId, Call>,
    /// Calls of the round that is open whose results were told.
    ended: BTreeSet<CallId>,
    /// Size of the context window, where it is known, and what of it the last answer used, in tokens.
    window_tokens: Option<u64>,
    used_tokens: u64,
    /// How many summaries there were, for their ids.
    summaries: u32,
}

/// A call without a result.
#[derive(Default)]
struct Call {
    changes: Vec<Change>,
    plan: Option<Value>,
    /// The end of what it has reported.
    report: String,
    /// Whether some of that is not written yet.
    is_news: bool,
}

impl Telling {
    pub(crate) fn new(client: Arc<Client>, session: String, insight: Arc<dyn Insight>) -> Self {
        let (piece, open, ended) = (None, BTreeMap::new(), BTreeSet::new());
        Self { client, session, insight, piece, open, ended, window_tokens: None, used_tokens: 0, summaries: 0 }
    }

    /// The size of the present model's context window.
    pub(crate) const fn window(&mut self, tokens: Option<u64>) {
        self.window_tokens = tokens;
    }

    /// Tells one thing. What may be told together with what follows is held back until [`flush`](Self::flush).
    pub(crate) fn notice(&mut self, notice: &Notice) {
        match notice {
            Notice::Delta(Delta::Text(text)) => self.piece("agent_message_chunk", text),
            Notice::Delta(Delta::Thinking(text)) => self.piece("agent_thought_chunk", text),
            Notice::Discarded => self.remark("warning", "the answer was cut off; what was shown of it does not count"),
            Notice::Message { blocks, usage } => {
                if let Some(usage) = usage {
                    self.used_tokens = usage.context_tokens() + usage.output_tokens;
                }
                calls(blocks).for_each(|call| self.announce(call, "pending"));
            }
            Notice::Spent(ledger) => self.usage(ledger),
            Notice::ToolStarted(call) => self.started(call),
            Notice::ToolProgress { call, text } => self.progress(call, text),
            Notice::ToolFinished { call, outcome } => self.finished(call, outcome),
            Notice::RoundClosed { round } => {
                if let Item::Round(round) = round.as_ref() {
                    self.closed(round);
                }
            }
            Notice::Summarised(_) => self.summarised(),
            Notice::RetryScheduled { delay_ms, reason, .. } => {
                self.remark("warning", &format!("retrying in {} s: {reason}", delay_ms.div_ceil(1_000)));
            }
            Notice::Error { message, .. } => self.remark("error", message),
            Notice::TimeNear { used_ms, limit_ms } => {
                let (used, limit) = (used_ms / 1_000, limit_ms / 1_000);
                self.remark("warning", &format!("{used} s of {limit} s of the turn's time are used"));
            }
            Notice::HookRan(run) if !run.message.is_empty() => self.remark("info", &run.to_string()),
            Notice::Committed(report) => {
                if let Some(commit) = &report.commit {
                    self.remark("info", &format!("committed {}", commit.subject));
                }
            }
            Notice::AgentBegun { agent, task, .. } => {
                let task = task.lines().next().unwrap_or_default();
                self.remark("info", &format!("the agent `{}` has begun: {task}", agent.name));
            }
            Notice::AgentEnded { agent, .. } => self.remark("info", &format!("the agent `{}` has ended", agent.name)),
            Notice::GapReport { text, .. } => self.remark("info", text),
            _ => {}
        }
    }

    /// Writes what was held back.
    pub(crate) fn flush(&mut self) {
        self.flush_piece();
        // Of what a call reports the end counts, and its result has the rest.
        if !self.client.has_room() {
            return;
        }
        for (id, call) in self.open.iter_mut().filter(|(_, call)| call.is_news) {
            call.is_news = false;
            let update = update_of(id, json!({ "status": "in_progress", "content": [text_content(&call.report)] }));
            self.client.update(&self.session, &update);
        }
    }

    /// A remark of the program: a notice where the client shows them, else a thought. Nothing that a person should see is lost.
    pub(crate) fn remark(&mut self, severity: &str, text: &str) {
        self.flush_piece();
        let text = one_line(text);
        let update = match self.client.abilities().notices {
            true => json!({ "sessionUpdate": "notice", "severity": severity, "title": non_empty(&text) }),
            false => chunk("agent_thought_chunk", &format!("[{text}]\n")),
        };
        self.update(&update);
    }

    /// Writes an update behind what was held back.
    pub(crate) fn update(&mut self, update: &Value) {
        self.flush_piece();
        self.client.update(&self.session, update);
    }

    /// All that was said, as it was said. The same conversation gives the same updates.
    pub(crate) fn history(&mut self, items: &[Arc<Item>]) {
        for item in items {
            match item.as_ref() {
                Item::Input(input) => input.messages().iter().for_each(|said| self.said(said)),
                Item::Answer(answer) => self.answered(answer.blocks()),
                Item::Round(round) => {
                    self.answered(round.answer().blocks());
                    self.closed(round);
                }
                Item::Summary(summary) => {
                    let text = format!("[summary of what was said before]\n{}\n", summary.text());
                    self.update(&chunk("agent_thought_chunk", &text));
                }
            }
        }
        self.flush();
    }

    fn said(&mut self, said: &UserMessage) {
        let kind = match said.author {
            agent_core::conversation::Author::User => "user_message_chunk",
            agent_core::conversation::Author::Agent => "agent_thought_chunk",
        };
        self.update(&chunk(kind, &said.text));
        for file in &said.attached {
            let resource = json!({ "uri": uri_of(&file.name), "text": file.text });
            let content = json!({ "type": "resource", "resource": resource });
            self.update(&json!({ "sessionUpdate": kind, "content": content }));
        }
        for picture in &said.pictures {
            self.update(&chunk(kind, &format!("[picture {}: {picture}]", picture.name)));
        }
    }

    fn answered(&mut self, blocks: &[Block]) {
        for block in blocks {
            match block {
                Block::Text(text) => self.update(&chunk("agent_message_chunk", text)),
                Block::Thinking { text, .. } => self.update(&chunk("agent_thought_chunk", text)),
                Block::Call(call) => self.announce(call, "pending"),
                Block::RedactedThinking { .. } | Block::Opaque { .. } => {}
            }
        }
    }

    fn piece(&mut self, kind: &'static str, text: &str) {
        match &mut self.piece {
            Some((of, piece)) if *of == kind => piece.push_str(text),
            _ => {
                self.flush_piece();
                self.piece = Some((kind, text.to_owned()));
            }
        }
    }

    fn flush_piece(&mut self) {
        if let Some((kind, text)) = self.piece.take() {
            self.client.update(&self.session, &chunk(kind, &text));
        }
    }

    fn announce(&mut self, call: &ToolCall, status: &str) {
        let mut fields = self.described(call);
        fields.insert("sessionUpdate".into(), "tool_call".into());
        fields.insert("status".into(), status.into());
        self.update(&Value::Object(fields));
        let plan = self.insight.plan(call).map(|entries| plan_of(&entries));
        self.open.insert(call.id.clone(), Call { plan, ..Call::default() });
    }

    /// What is known of a call from its arguments.
    pub(crate) fn described(&self, call: &ToolCall) -> Map<String, Value> {
        let about = self.insight.about(call);
        let arguments: Value = serde_json::from_str(call.arguments.as_str()).unwrap_or_default();
        let locations = about.locations.iter().map(|(path, line)| match line {
            Some(line) => json!({ "path": path, "line": line }),
            None => json!({ "path": path }),
        });
        let mut fields = Map::new();
        fields.insert("toolCallId".into(), call.id.to_string().into());
        fields.insert("title".into(), inline(&about.title).into());
        fields.insert("name".into(), inline(&call.name).into());
        fields.insert("kind".into(), about.kind.word().into());
        fields.insert("locations".into(), locations.collect());
        fields.insert("rawInput".into(), arguments);
        fields
    }

    fn started(&mut self, call: &ToolCall) {
        if !self.open.contains_key(&call.id) {
            self.announce(call, "pending");
        }
        let changes = self.insight.changes(call);
        let content: Vec<Value> = changes.iter().map(diff_content).collect();
        let fields = match content.is_empty() {
            true => json!({ "status": "in_progress" }),
            false => json!({ "status": "in_progress", "content": content }),
        };
        self.update(&update_of(&call.id, fields));
        self.open.entry(call.id.clone()).or_default().changes = changes;
    }

    fn progress(&mut self, id: &CallId, text: &str) {
        let Some(call) = self.open.get_mut(id) else { return };
        call.report.push_str(text);
        let excess = call.report.len().saturating_sub(MOST_REPORTED_BYTES);
        let cut = (excess..=call.report.len()).find(|at| call.report.is_char_boundary(*at)).unwrap_or_default();
        call.report.drain(..cut);
        call.is_news = true;
    }

    fn finished(&mut self, id: &CallId, outcome: &ToolOutcome) {
        let is_ok = outcome.status == ToolStatus::Ok;
        let Call { changes, plan, .. } = self.open.remove(id).unwrap_or_default();
        let content: Vec<Value> = match is_ok && !changes.is_empty() {
            true => changes.iter().map(diff_content).collect(),
            false => vec![text_content(&outcome.content)],
        };
        self.ended.insert(id.clone());
        self.result(id, is_ok, &content, &outcome.content);
        if let Some(plan) = plan.filter(|_| is_ok) {
            self.update(&plan);
        }
    }

    /// Calls that never ran have their results here. One that was asked for before the session was opened is announced first.
    fn closed(&mut self, round: &Round) {
        let ended = std::mem::take(&mut self.ended);
        for call in round.answer().calls().filter(|call| !ended.contains(&call.id)) {
            if !self.open.contains_key(&call.id) {
                self.announce(call, "pending");
            }
        }
        for result in round.results() {
            if let Some(Call { plan, .. }) = self.open.remove(result.call()) {
                self.result(result.call(), !result.is_error(), &[text_content(result.content())], result.content());
                if let Some(plan) = plan.filter(|_| !result.is_error()) {
                    self.update(&plan);
                }
            }
        }
    }

    fn result(&mut self, id: &CallId, is_ok: bool, content: &[Value], raw: &str) {
        let status = if is_ok { "completed" } else { "failed" };
        self.update(&update_of(id, json!({ "status": status, "content": content, "rawOutput": raw })));
    }

    fn usage(&mut self, ledger: &Ledger) {
        let Some(size) = self.window_tokens else { return };
        let mut update = json!({ "sessionUpdate": "usage_update", "used": self.used_tokens, "size": size });
        if ledger.unpriced_calls == 0 {
            #[expect(
                clippy::cast_precision_loss,
                reason = "an amount for people, far below the numbers a double has exactly"
            )]
            let amount = ledger.whole().cost_nano_usd as f64 / 1e9;
            update["cost"] = json!({ "amount": amount, "currency": "USD" });
        }
        self.update(&update);
    }

    fn summarised(&mut self) {
        self.summaries += 1;
        if self.client.abilities().compaction {
            let id = format!("summary-{}", self.summaries);
            let update = json!({ "sessionUpdate": "compaction_update", "compactionId": id, "status": "completed" });
            self.update(&update);
        } else {
            self.remark("info", "a summary has taken the place of what was said before");
        }
    }
}

fn calls(blocks: &[Block]) -> impl Iterator<Item = &ToolCall> {
    blocks.iter().filter_map(|block| match block {
        Block::Call(call) => Some(call),
        Block::Text(_) | Block::Thinking { .. } | Block::RedactedThinking { .. } | Block::Opaque { .. } => None,
    })
}

/// A piece of what somebody says.
pub(crate) fn chunk(kind: &str, text: &str) -> Value {
    json!({ "sessionUpdate": kind, "content": { "type": "text", "text": text } })
}

fn update_of(id: &CallId, fields: Value) -> Value {
    let mut update = fields;
    update["sessionUpdate"] = "tool_call_update".into();
    update["toolCallId"] = id.to_string().into();
    update
}

fn text_content(text: &str) -> Value {
    json!({ "type": "content", "content": { "type": "text", "text": text } })
}

/// A change as the client draws it.
pub(crate) fn diff_content(change: &Change) -> Value {
    json!({ "type": "diff", "path": change.path, "oldText": change.old, "newText": change.new })
}

fn plan_of(entries: &[crate::host::PlanEntry]) -> Value {
    let entry = |entry: &crate::host::PlanEntry| json!({ "content": inline(&entry.content), "priority": "medium", "status": entry.status });
    json!({ "sessionUpdate": "plan", "entries": entries.iter().map(entry).collect::<Vec<_>>() })
}

fn uri_of(name: &str) -> String {
    if name.starts_with('/') { format!("file://{name}") } else { name.to_owned() }
}

fn non_empty(text: &str) -> &str {
    if text.is_empty() { "(nothing)" } else { text }
}

/// Of what a running call reports the client sees the end.
const MOST_REPORTED_BYTES: usize = 8 * 1024;
