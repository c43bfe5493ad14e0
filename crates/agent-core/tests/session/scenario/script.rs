//! The lines of a scenario as events. Answers carry the newest ticket of what they answer, or an older one: `answer "late" @1`.

use super::hook_words::{point, report};
use super::show;
use agent_core::budget::{Limits, Price};
use agent_core::conversation::{Arguments, CallId, ToolCall};
use agent_core::hook::{CommitReport, FormatReport, GitReport};
use agent_core::llm::{Delta, LlmError, LlmErrorKind, LlmResponse, RawCall, ResponseBlock, StopReason, Usage};
use agent_core::permission::{ApprovalAnswer, ApprovalScope, PermissionMode};
use agent_core::session::table::TABLE;
use agent_core::session::{Action, Event, ModelConfig, Session, SessionConfig, SessionTable, Ticket};
use agent_core::tool::{CallFacts, Effect, Finding, HookVerdict, Inspection, Subject, ToolOutcome, ToolSpec};
use serde_json::json;
use std::sync::Arc;

/// A session and what a driver of it would remember.
#[derive(Clone)]
pub(crate) struct Script {
    pub(crate) session: Session,
    pub(crate) now_ms: u64,
    table: &'static SessionTable,
    calls: Vec<ToolCall>,
    answers: u32,
    llm: Ticket,
    prepare: Ticket,
    approval: Ticket,
    tools: Ticket,
    hook: Ticket,
    retry: Ticket,
    pub(crate) deadline: Ticket,
    /// The newest of all.
    pub(crate) newest: Ticket,
}

pub(crate) enum Command {
    Nothing,
    Show(String),
    Take(Event),
}

impl Default for Script {
    fn default() -> Self {
        Self::on(&TABLE)
    }
}

impl Script {
    /// A started session on a table.
    pub(crate) fn on(table: &'static SessionTable) -> Self {
        let mut script = Self::made(config(&[]), table);
        let _ = script.session.step(0, Event::Started).unwrap();
        script
    }

    fn made(config: SessionConfig, table: &'static SessionTable) -> Self {
        let none = Ticket(0);
        let session = Session::with_table(config, table);
        let (now_ms, calls, answers) = (0, Vec::new(), 0);
        Self {
            session,
            now_ms,
            table,
            calls,
            answers,
            llm: none,
            prepare: none,
            approval: none,
            tools: none,
            hook: none,
            retry: none,
            deadline: none,
            newest: none,
        }
    }

    /// The calls of the last answer that had some.
    pub(crate) fn calls(&self) -> &[ToolCall] {
        &self.calls
    }

    /// Takes the events of these lines; what the last one asks for.
    pub(crate) fn play(&mut self, lines: &[&str]) -> Vec<Action> {
        let mut actions = Vec::new();
        for line in lines {
            if let Command::Take(event) = self.read(line) {
                actions = self.session.step(self.now_ms, event).unwrap().actions;
                self.note(&actions);
            }
        }
        actions
    }

    /// Remembers the tickets of what was asked.
    pub(crate) fn note(&mut self, actions: &[Action]) {
        for action in actions {
            let Some(ticket) = ticket(action) else { continue };
            self.newest = self.newest.max(ticket);
            match action {
                Action::SendLlmRequest { .. } => self.llm = ticket,
                Action::PrepareTools { calls, .. } => {
                    self.prepare = ticket;
                    self.calls.clone_from(calls);
                }
                Action::RequestApproval { .. } => self.approval = ticket,
                Action::ExecuteTools { .. } => self.tools = ticket,
                Action::CheckGitCommits { .. }
                | Action::RunAutoformatters { .. }
                | Action::CommitChanges { .. }
                | Action::RunHooks { .. } => {
                    self.hook = ticket;
                }
                Action::ScheduleRetry { .. } => self.retry = ticket,
                Action::StartDeadline { .. } => self.deadline = ticket,
                _ => {}
            }
        }
    }

    pub(crate) fn read(&mut self, line: &str) -> Command {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let mut words = words(rest);
        let older = words.iter().position(|word| word.starts_with('@')).map(|at| words.remove(at));
        let older = older.map(|word| Ticket(word[1..].parse().unwrap()));
        let or = |newest: Ticket| older.unwrap_or(newest);
        match verb {
            "config" => {
                *self = Self::made(config(&words), self.table);
                let _ = self.session.step(0, Event::Started).unwrap();
                return Command::Nothing;
            }
            "not-started" => {
                *self = Self::made(config(&words), self.table);
                return Command::Nothing;
            }
            "wait" => {
                self.now_ms += words[0].parse::<u64>().unwrap();
                return Command::Nothing;
            }
            "history" => return Command::Show(show::history(&self.session)),
            "ledger" => return Command::Show(show::ledger(&self.session)),
            "outstanding" => return Command::Show(show::outstanding(&self.session)),
            _ => {}
        }
        Command::Take(match verb {
            "start" => Event::Started,
            "follow-up" => Event::FollowUp { used_ms: words[0].parse().unwrap(), text: words[1].clone() },
            "input" => Event::UserInput { text: if rest.starts_with('"') { first(&words) } else { rest.into() } },
            "reconfigure" => Event::Reconfigured { config: Box::new(config(&words)) },
            "raise" => Event::BudgetRaised { limits: limits(self.session.config().limits, &words) },
            "compact" => Event::CompactionRequested,
            "cancel" => Event::CancelRequested,
            "shutdown" => Event::ShutdownRequested,
            "delta" => Event::LlmDelta { ticket: or(self.llm), delta: Delta::Text(first(&words)) },
            "answer" => Event::LlmCompleted { ticket: or(self.llm), response: self.response(&words) },
            "fail" => fail(or(self.llm), &words),
            "aborted" => Event::LlmAborted { ticket: or(self.llm), partial_text: first(&words) },
            "interrupted" => Event::LlmInterrupted { ticket: or(self.llm) },
            "timer" => Event::RetryTimeout { ticket: or(self.retry) },
            "deadline" => Event::DeadlineReached { ticket: or(self.deadline) },
            "prepared" => Event::ToolsPrepared { ticket: or(self.prepare), facts: self.facts(&words) },
            "allow" => self.approval(or(self.approval), &words, allowed(&words)),
            "deny" => {
                let reason = words.get(1).cloned().unwrap_or_default();
                self.approval(or(self.approval), &words, ApprovalAnswer::Deny { reason })
            }
            "nobody" => self.approval(or(self.approval), &words, ApprovalAnswer::Nobody),
            "progress" => {
                Event::ToolProgress { ticket: or(self.tools), call: self.call(&words[0]), text: words[1].clone() }
            }
            "tool" => Event::ToolCompleted {
                ticket: or(self.tools),
                call: self.call(&words[0]),
                outcome: outcome(&words[1..]),
            },
            "git" => Event::GitChecked { ticket: or(self.hook), report: git(&words) },
            "formatted" => Event::FormattersFinished { ticket: or(self.hook), report: formatted(&words) },
            "committed" => Event::ChangesCommitted { ticket: or(self.hook), report: CommitReport::default() },
            "leave" => Event::LeaveRequested,
            "hooks" => Event::HooksFinished { ticket: or(self.hook), report: Box::new(report(&words)) },
            "hook-failed" => Event::HookFailed { ticket: or(self.hook), message: first(&words) },
            "hook-stop" => Event::HooksStoppedTurn { ticket: or(self.hook), reason: first(&words) },
            other => panic!("no such command: {other}"),
        })
    }

    /// `"text" thinking calls read{} change#id{"x":1} cut:change{"x stop=max-tokens usage=100,10`
    fn response(&mut self, words: &[String]) -> LlmResponse {
        self.answers += 1;
        let (mut blocks, mut calls, mut stop, mut usage) = (Vec::new(), 0, None, None);
        for word in words {
            if let Some(reason) = word.strip_prefix("stop=") {
                stop = Some(stop_reason(reason));
            } else if let Some(numbers) = word.strip_prefix("usage=") {
                let (input, output) = numbers.split_once(',').unwrap();
                let (input_tokens, output_tokens) = (input.parse().unwrap(), output.parse().unwrap());
                usage = Some(Usage { input_tokens, output_tokens, ..Usage::default() });
            } else if let Some(times) = word.strip_prefix("long=") {
                blocks.push(ResponseBlock::Text("word ".repeat(times.parse().unwrap())));
            } else if word == "thinking" {
                blocks.push(ResponseBlock::Thinking { text: "hm".into(), signature: None });
            } else if word == "calls" {
                calls = 1;
            } else if calls > 0 {
                blocks.push(ResponseBlock::Call(raw_call(word, &format!("c{}-{calls}", self.answers))));
                calls += 1;
            } else {
                blocks.push(ResponseBlock::Text(word.clone()));
            }
        }
        let stop = stop.unwrap_or(if calls > 0 { StopReason::ToolUse } else { StopReason::EndTurn });
        LlmResponse { blocks, stop, usage, model: String::new() }
    }

    /// Facts about every call by its name, but for those named here: `2=deny`; one too few or too many: `missing`, `twice`, `foreign`.
    fn facts(&self, words: &[String]) -> Vec<CallFacts> {
        let mut facts: Vec<CallFacts> = self.calls.iter().map(|call| fact(call, call.name.as_ref())).collect();
        for word in words {
            match word.as_str() {
                "missing" => drop(facts.pop()),
                "twice" => facts.extend(facts.first().cloned()),
                "foreign" => {
                    let nobody = Finding::UnknownTool { message: "?".into() };
                    facts.push(CallFacts::new(CallId::new("nobody"), nobody));
                }
                _ => {
                    let (number, what) = word.split_once('=').unwrap();
                    let at = number.parse::<usize>().unwrap() - 1;
                    if let Some(call) = self.calls.get(at) {
                        facts[at] = hooked(call, what);
                    }
                }
            }
        }
        facts
    }

    /// A call by its place in the answer, or by its id: `id:x`.
    fn call(&self, word: &str) -> CallId {
        match word.strip_prefix("id:") {
            Some(id) => CallId::new(id),
            None => self.calls[word.parse::<usize>().unwrap() - 1].id.clone(),
        }
    }

    fn approval(&self, ticket: Ticket, words: &[String], answer: ApprovalAnswer) -> Event {
        let call = self.call(&words[0]);
        let looks = words.iter().find_map(|word| word.strip_prefix("looks="));
        let changed = looks.and_then(|what| {
            let call = self.calls.iter().find(|known| known.id == call)?;
            Some(Box::new(fact(call, what)))
        });
        Event::ApprovalAnswered { ticket, call, answer, changed }
    }
}

/// `mode=bypass|default|plan|accept-edits deny=change(x) retries=1 fallback=second window=1000 result-bytes=100 price=3000 wall-ms=…
/// system=… tools=read models=none` and limits.
fn config(words: &[String]) -> SessionConfig {
    let mut config = SessionConfig::new(ModelConfig::new("first"));
    config.permissions.mode = PermissionMode::Bypass;
    for word in words {
        let (key, value) = word.split_once('=').unwrap();
        match key {
            "mode" => config.permissions.mode = serde_json::from_str(&format!("\"{value}\"")).unwrap(),
            "deny" => config.permissions.deny.push(value.parse().unwrap()),
            "retries" => config.retry.max_retries = value.parse().unwrap(),
            "fallback" => config.models.push(ModelConfig::new(value)),
            "window" => config.models[0].context_window_tokens = Some(value.parse().unwrap()),
            "result-bytes" => config.max_result_bytes = value.parse().unwrap(),
            "price" => {
                let price = value.parse().unwrap();
                config.models[0].price = Some(Price {
                    input_nano_usd: price,
                    output_nano_usd: price,
                    cache_read_nano_usd: price,
                    cache_write_nano_usd: price,
                });
            }
            "hooks" => config.hooks = value.split(',').map(point).collect(),
            "system" => config.system = value.into(),
            "tools" => config.tools = value.split(',').map(tool).collect(),
            "models" => config.models.clear(),
            "max-output" => config.models[0].max_output_tokens = value.parse().unwrap(),
            _ => config.limits = limits(config.limits, std::slice::from_ref(word)),
        }
    }
    config
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec { name: name.into(), description: name.into(), input_schema: Arc::new(json!({"type": "object"})) }
}

fn limits(mut limits: Limits, words: &[String]) -> Limits {
    for word in words {
        let (key, value) = word.split_once('=').unwrap();
        let value = (value != "none").then(|| value.parse::<u64>().unwrap());
        let small = value.map(|value| u32::try_from(value).unwrap());
        match key {
            "model-calls" => limits.max_model_calls = value,
            "tool-calls" => limits.max_tool_calls = value,
            "tokens" => limits.max_total_tokens = value,
            "cost" => limits.max_cost_nano_usd = value,
            "wall-ms" => limits.max_wall_time_ms = value,
            "failures" => limits.max_failures_in_row = small,
            "repetitions" => limits.max_repetitions = small,
            other => panic!("no such setting: {other}"),
        }
    }
    limits
}

/// A call is `name{…}`, with an id of its own `name#id{…}`, and cut `cut:name{…`.
fn raw_call(word: &str, id: &str) -> RawCall {
    let complete = !word.starts_with("cut:");
    let word = word.strip_prefix("cut:").unwrap_or(word);
    let (name, arguments) = word.split_at(word.find(['{', '[', '!']).unwrap_or(word.len()));
    let (name, id) = name.split_once('#').unwrap_or((name, id));
    RawCall { id: id.into(), name: name.into(), arguments: arguments.into(), complete }
}

fn fact(call: &ToolCall, what: &str) -> CallFacts {
    let reads = Finding::Runnable(Inspection { effect: Effect::Reads, subject: Subject::None });
    let (finding, verdict) = match what {
        "read" | "signal" => (reads, HookVerdict::None),
        "change" => {
            let subject = Subject::Paths(vec!["a.rs".into()]);
            (Finding::Runnable(Inspection { effect: Effect::Changes, subject }), HookVerdict::None)
        }
        "deny" => (reads, HookVerdict::Deny { reason: "forbidden".into() }),
        "allow" => {
            let subject = Subject::Paths(vec!["a.rs".into()]);
            let changes = Finding::Runnable(Inspection { effect: Effect::Changes, subject });
            (changes, HookVerdict::Allow { reason: "known".into() })
        }
        "ask" => (reads, HookVerdict::Ask { reason: "sure?".into() }),
        "invalid" => (Finding::InvalidArguments { message: "`path` is missing".into() }, HookVerdict::None),
        _ => (Finding::UnknownTool { message: format!("there is no tool `{}`", call.name) }, HookVerdict::None),
    };
    CallFacts { verdict, ..CallFacts::new(call.id.clone(), finding) }
}

/// `2=change,input={"x":1},context=mind,stop=enough`: what is known of the call, and what else its hooks say.
fn hooked(call: &ToolCall, what: &str) -> CallFacts {
    let (what, said) = what.split_once(',').unwrap_or((what, ""));
    let mut fact = fact(call, what);
    if !said.is_empty() {
        let words: Vec<String> = said.split(',').map(String::from).collect();
        fact.hooks = Some(Box::new(report(&words)));
    }
    fact
}

/// `rate-limited retry-after=50 chance=1000`, in the words of the error kinds.
fn fail(ticket: Ticket, words: &[String]) -> Event {
    let kind = match words[0].as_str() {
        "authentication" => LlmErrorKind::Authentication,
        "permission" => LlmErrorKind::Permission,
        "not-found" => LlmErrorKind::NotFound,
        "invalid" => LlmErrorKind::InvalidRequest,
        "overflow" => LlmErrorKind::ContextOverflow,
        "rate-limited" => LlmErrorKind::RateLimited,
        "overloaded" => LlmErrorKind::Overloaded,
        "server" => LlmErrorKind::Server,
        "network" => LlmErrorKind::Network,
        "billing" => LlmErrorKind::Billing,
        "timeout" => LlmErrorKind::Timeout,
        "protocol" => LlmErrorKind::Protocol,
        other => panic!("no such failure: {other}"),
    };
    let number = |key: &str| words.iter().find_map(|word| word.strip_prefix(key)).map(|text| text.parse().unwrap());
    let error = LlmError { retry_after_ms: number("retry-after="), ..LlmError::new(kind, words[0].clone()) };
    let chance_permille = u16::try_from(number("chance=").unwrap_or(0)).unwrap();
    Event::LlmFailed { ticket, error, chance_permille }
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "end" => StopReason::EndTurn,
        "max-tokens" => StopReason::MaxTokens,
        "paused" => StopReason::Paused,
        "refusal" => StopReason::Refusal,
        "context" => StopReason::ContextWindow,
        "tool-use" => StopReason::ToolUse,
        "sequence" => StopReason::StopSequence,
        other => StopReason::Other(other.into()),
    }
}

/// `ok|failed|interrupted "text" changed=a.rs`
fn outcome(words: &[String]) -> ToolOutcome {
    let mut text = words.get(1).filter(|word| !word.starts_with("changed=")).cloned().unwrap_or_default();
    if let Some(times) = text.strip_prefix("long=") {
        text = "x".repeat(times.parse().unwrap());
    }
    let outcome = match words[0].as_str() {
        "ok" => ToolOutcome::ok(text),
        "failed" => ToolOutcome::failed(text),
        "interrupted" => ToolOutcome::interrupted(text),
        "not-run" => ToolOutcome::not_run(text),
        other => panic!("no such outcome: {other}"),
    };
    let changed = words.iter().filter_map(|word| word.strip_prefix("changed=")).map(String::from).collect();
    outcome.with_changed_paths(changed)
}

fn allowed(words: &[String]) -> ApprovalAnswer {
    let rule = words.iter().find_map(|word| word.strip_prefix("always="));
    let scope = rule.map_or(ApprovalScope::Once, |rule| ApprovalScope::Session(rule.parse().unwrap()));
    let arguments = words.iter().find_map(|word| word.strip_prefix("edit="));
    ApprovalAnswer::Allow { scope, arguments: arguments.map(|text| Arguments::parse(text).unwrap()) }
}

fn git(words: &[String]) -> GitReport {
    let has = |word: &str| words.iter().any(|w| w == word);
    GitReport { formatting_due: has("formatting"), commit_due: has("commit"), ..GitReport::default() }
}

fn formatted(words: &[String]) -> FormatReport {
    let (commit, paths): (Vec<String>, Vec<String>) = words.iter().cloned().partition(|word| word == "commit");
    FormatReport { changed_paths: paths, commit_due: !commit.is_empty(), notes: vec![] }
}

fn first(words: &[String]) -> String {
    words.first().cloned().unwrap_or_default()
}

/// Words, of which those in quotes may have spaces.
fn words(mut text: &str) -> Vec<String> {
    let mut out = Vec::new();
    loop {
        text = text.trim_start();
        if text.is_empty() {
            return out;
        }
        let (word, rest) = match text.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap(),
            None => text.split_once(' ').unwrap_or((text, "")),
        };
        out.push(word.into());
        text = rest;
    }
}

/// The ticket of an action that expects an answer.
pub(crate) fn ticket(action: &Action) -> Option<Ticket> {
    match action {
        Action::SendLlmRequest { ticket, .. }
        | Action::PrepareTools { ticket, .. }
        | Action::RequestApproval { ticket, .. }
        | Action::ExecuteTools { ticket, .. }
        | Action::CheckGitCommits { ticket, .. }
        | Action::RunAutoformatters { ticket, .. }
        | Action::CommitChanges { ticket, .. }
        | Action::RunHooks { ticket, .. }
        | Action::ScheduleRetry { ticket, .. }
        | Action::StartDeadline { ticket, .. } => Some(*ticket),
        _ => None,
    }
}
