//! Lines as events: with `commands.rs` the one place that spells the events of a session.

use super::commands;
use super::tables::{FAILURES, STOPS};
use crate::notation::{Unreadable, pair, parsed, words};
use agent_core::conversation::{Arguments, CallId, ToolCall};
use agent_core::hook::{CommitReport, FormatReport, GitReport, HookEnd, HookPoint, HookReport, HookRun};
use agent_core::llm::{Delta, LlmError, LlmResponse, RawCall, ResponseBlock, StopReason, Usage};
use agent_core::permission::{ApprovalAnswer, ApprovalScope};
use agent_core::session::{Action, Event, SessionConfig, Ticket};
use agent_core::tool::{CallFacts, Effect, Finding, HookVerdict, Inspection, Subject, ToolOutcome};

/// What a line leaves unsaid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context<'a> {
    /// What an answer is to, where the line names no ticket: the newest of its kind.
    pub(super) tickets: &'a Tickets,
    /// The calls that are spoken of by their numbers.
    pub(super) calls: &'a [ToolCall],
    /// The number of a model's answer, for the ids of calls that have none of their own.
    pub(super) answer: u64,
    /// What limits are raised from.
    pub(super) config: &'a SessionConfig,
}

/// The newest ticket of each kind of question.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tickets {
    pub(super) model: Ticket,
    pub(super) facts: Ticket,
    pub(super) approval: Ticket,
    pub(super) tools: Ticket,
    pub(super) hooks: Ticket,
    pub(super) retry: Ticket,
    pub(super) deadline: Ticket,
}

impl Tickets {
    /// The same for each.
    pub(super) const fn all(ticket: Ticket) -> Self {
        let [model, facts, approval, tools, hooks, retry, deadline] = [ticket; 7];
        Self { model, facts, approval, tools, hooks, retry, deadline }
    }

    /// That of what an action asks.
    pub(super) const fn of(&mut self, action: &Action) -> &mut Ticket {
        match action {
            Action::SendLlmRequest { .. } => &mut self.model,
            Action::PrepareTools { .. } => &mut self.facts,
            Action::RequestApproval { .. } => &mut self.approval,
            Action::ExecuteTools { .. } => &mut self.tools,
            Action::ScheduleRetry { .. } => &mut self.retry,
            Action::StartDeadline { .. } => &mut self.deadline,
            _ => &mut self.hooks,
        }
    }
}

/// A line as an event.
pub(super) fn event(line: &str, context: &Context<'_>) -> Result<Event, Unreadable> {
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    let mut words = words(rest)?;
    let named = words.iter().position(|word| word.starts_with('@')).map(|at| words.remove(at));
    let named = named.map(|word| parsed(&word[1..], "a ticket").map(Ticket)).transpose()?;
    let read = Reader { line, words: &words, context };
    if let Some(event) = commands::read(&read, verb, rest)? {
        return Ok(event);
    }
    let tickets = context.tickets;
    let newest = match verb {
        "delta" | "answer" | "fail" | "aborted" | "interrupted" => tickets.model,
        "timer" => tickets.retry,
        "deadline" => tickets.deadline,
        "prepared" => tickets.facts,
        "allow" | "deny" | "nobody" => tickets.approval,
        "progress" | "tool" => tickets.tools,
        _ => tickets.hooks,
    };
    read.answer(verb, named.unwrap_or(newest))
}

/// A line that is being read.
pub(super) struct Reader<'a> {
    line: &'a str,
    pub(super) words: &'a [&'a str],
    pub(super) context: &'a Context<'a>,
}

impl Reader<'_> {
    fn answer(&self, verb: &str, ticket: Ticket) -> Result<Event, Unreadable> {
        Ok(match verb {
            "delta" => Event::LlmDelta { ticket, delta: Delta::Text(self.first()) },
            "answer" => Event::LlmCompleted { ticket, response: self.response()? },
            "fail" => {
                let (error, chance_permille) = self.failure()?;
                Event::LlmFailed { ticket, error, chance_permille }
            }
            "aborted" => Event::LlmAborted { ticket, partial_text: self.first() },
            "interrupted" => Event::LlmInterrupted { ticket },
            "timer" => Event::RetryTimeout { ticket },
            "deadline" => Event::DeadlineReached { ticket },
            "prepared" => Event::ToolsPrepared { ticket, facts: self.facts()? },
            "allow" => self.approval(ticket, self.allowed()?)?,
            "deny" => {
                let reason = self.words.get(1).copied().unwrap_or_default().to_owned();
                self.approval(ticket, ApprovalAnswer::Deny { reason })?
            }
            "nobody" => self.approval(ticket, ApprovalAnswer::Nobody)?,
            "progress" => {
                Event::ToolProgress { ticket, call: self.call(self.word(0)?)?, text: self.word(1)?.to_owned() }
            }
            "tool" => Event::ToolCompleted { ticket, call: self.call(self.word(0)?)?, outcome: self.outcome()? },
            "git" => {
                let report = GitReport {
                    formatting_due: self.has("formatting"),
                    commit_due: self.has("commit"),
                    ..GitReport::default()
                };
                Event::GitChecked { ticket, report }
            }
            "formatted" => {
                let paths = self.words.iter().filter(|word| **word != "commit").map(ToString::to_string);
                let report =
                    FormatReport { changed_paths: paths.collect(), commit_due: self.has("commit"), notes: Vec::new() };
                Event::FormattersFinished { ticket, report }
            }
            "committed" => Event::ChangesCommitted { ticket, report: CommitReport::default() },
            "hooks" => Event::HooksFinished { ticket, report: Box::new(report(self.words.iter().copied())?) },
            "hook-failed" => Event::HookFailed { ticket, message: self.first() },
            "hook-stop" => Event::HooksStoppedTurn { ticket, reason: self.first() },
            _ => return Err(Unreadable::new(self.line, "something that happens to a session")),
        })
    }

    pub(super) fn word(&self, at: usize) -> Result<&str, Unreadable> {
        self.words.get(at).copied().ok_or_else(|| Unreadable::new(self.line, "a line with more words"))
    }

    pub(super) fn first(&self) -> String {
        self.words.first().copied().unwrap_or_default().to_owned()
    }

    fn has(&self, word: &str) -> bool {
        self.words.contains(&word)
    }

    /// The value of the first word with a key.
    fn value(&self, key: &str) -> Option<&str> {
        self.words.iter().find_map(|word| word.strip_prefix(key))
    }

    /// `"text" thinking long=100 calls read{} change#id{"x":1} cut:change{"x stop=max-tokens usage=100,10`
    fn response(&self) -> Result<LlmResponse, Unreadable> {
        let (mut blocks, mut calls, mut stop, mut usage) = (Vec::new(), 0, None, None);
        for word in self.words {
            if let Some(reason) = word.strip_prefix("stop=") {
                stop = Some(stop_reason(reason));
            } else if let Some(numbers) = word.strip_prefix("usage=") {
                let (input, output) = numbers.split_once(',').ok_or_else(|| Unreadable::new(word, "IN,OUT"))?;
                let (input_tokens, output_tokens) = (parsed(input, "tokens")?, parsed(output, "tokens")?);
                usage = Some(Usage { input_tokens, output_tokens, ..Usage::default() });
            } else if let Some(times) = word.strip_prefix("long=") {
                blocks.push(ResponseBlock::Text("word ".repeat(parsed(times, "a number of words")?)));
            } else if *word == "thinking" {
                blocks.push(ResponseBlock::Thinking { text: "hm".into(), signature: None });
            } else if *word == "calls" {
                calls = 1;
            } else if calls > 0 {
                blocks.push(ResponseBlock::Call(raw_call(word, || format!("c{}-{calls}", self.context.answer))));
                calls += 1;
            } else {
                blocks.push(ResponseBlock::Text((*word).to_owned()));
            }
        }
        let stop = stop.unwrap_or(if calls > 0 { StopReason::ToolUse } else { StopReason::EndTurn });
        Ok(LlmResponse { blocks, stop, usage, model: String::new() })
    }

    /// `rate-limited "what the provider said" retry-after=50 chance=1000`
    fn failure(&self) -> Result<(LlmError, u16), Unreadable> {
        let name = self.word(0)?;
        let known = FAILURES.iter().find(|(word, _)| *word == name);
        let (_, kind) = known.ok_or_else(|| Unreadable::new(name, "a failure of the model"))?;
        let is_message = |word: &&&str| !word.starts_with("retry-after=") && !word.starts_with("chance=");
        let message = self.words.get(1).filter(is_message).copied().unwrap_or(name);
        let retry_after_ms = self.value("retry-after=").map(|ms| parsed(ms, "milliseconds")).transpose()?;
        let chance_permille = self.value("chance=").map_or(Ok(0), |chance| parsed(chance, "thousandths"))?;
        Ok((LlmError { retry_after_ms, ..LlmError::new(*kind, message) }, chance_permille))
    }

    /// Facts about every call by its name, but for those named here: `2=deny`; one too few or too many: `missing`, `twice`, `foreign`.
    fn facts(&self) -> Result<Vec<CallFacts>, Unreadable> {
        let calls = self.context.calls;
        let mut facts: Vec<CallFacts> = calls.iter().map(|call| fact(call, call.name.as_ref())).collect();
        for word in self.words {
            match *word {
                "missing" => drop(facts.pop()),
                "twice" => facts.extend(facts.first().cloned()),
                "foreign" => {
                    let nobody = Finding::UnknownTool { message: "?".into() };
                    facts.push(CallFacts::new(CallId::new("nobody"), nobody));
                }
                _ => {
                    let (number, what) = pair(word)?;
                    let at = parsed::<usize>(number, "the number of a call")?.wrapping_sub(1);
                    if let (Some(call), Some(fact)) = (calls.get(at), facts.get_mut(at)) {
                        *fact = hooked(call, what)?;
                    }
                }
            }
        }
        Ok(facts)
    }

    /// A call by its place in the answer, or by its id: `id:x`.
    pub(super) fn call(&self, word: &str) -> Result<CallId, Unreadable> {
        if let Some(id) = word.strip_prefix("id:") {
            return Ok(CallId::new(id));
        }
        let at = parsed::<usize>(word, "the number of a call, or id:ID")?.wrapping_sub(1);
        let call = self.context.calls.get(at);
        call.map(|call| call.id.clone()).ok_or_else(|| Unreadable::new(word, "the number of a call that there is"))
    }

    /// `looks=change`: what the changed arguments are found to do.
    fn approval(&self, ticket: Ticket, answer: ApprovalAnswer) -> Result<Event, Unreadable> {
        let call = self.call(self.word(0)?)?;
        let changed = self.value("looks=").and_then(|what| {
            let call = self.context.calls.iter().find(|known| known.id == call)?;
            Some(Box::new(fact(call, what)))
        });
        Ok(Event::ApprovalAnswered { ticket, call, answer, changed })
    }

    /// `always=change edit={"y":2}`
    fn allowed(&self) -> Result<ApprovalAnswer, Unreadable> {
        let scope = match self.value("always=") {
            Some(rule) => ApprovalScope::Session(vec![parsed(rule, "a rule")?]),
            None => ApprovalScope::Once,
        };
        let arguments = self.value("edit=").map(arguments).transpose()?;
        Ok(ApprovalAnswer::Allow { scope, arguments })
    }

    /// `1 ok|failed|interrupted|not-run "text" changed=a.rs`
    fn outcome(&self) -> Result<ToolOutcome, Unreadable> {
        let text = self.words.get(2).filter(|word| !word.starts_with("changed=")).copied().unwrap_or_default();
        let text = match text.strip_prefix("long=") {
            Some(times) => "x".repeat(parsed(times, "a number of letters")?),
            None => text.to_owned(),
        };
        let outcome = match self.word(1)? {
            "ok" => ToolOutcome::ok(text),
            "failed" => ToolOutcome::failed(text),
            "interrupted" => ToolOutcome::interrupted(text),
            "not-run" => ToolOutcome::not_run(text),
            other => return Err(Unreadable::new(other, "the end of a call")),
        };
        let changed = self.words.iter().filter_map(|word| word.strip_prefix("changed=")).map(String::from).collect();
        Ok(outcome.with_changed_paths(changed))
    }
}

/// A call is `name{…}`, with an id of its own `name#id{…}`, and cut `cut:name{…`.
fn raw_call(word: &str, id: impl FnOnce() -> String) -> RawCall {
    let complete = !word.starts_with("cut:");
    let word = word.strip_prefix("cut:").unwrap_or(word);
    let (name, arguments) = word.split_at(word.find(['{', '[', '!']).unwrap_or(word.len()));
    let (name, id) = name.split_once('#').map_or_else(|| (name, id()), |(name, id)| (name, id.to_owned()));
    RawCall { id, name: name.into(), arguments: arguments.into(), complete }
}

/// What is known of a call, in a word: `read`, `change`, `change:secret/key`, `ask:a.rs`, `fails:a.rs`. What a model or a person is told
/// of it may follow: `unknown there is no such tool`.
fn fact(call: &ToolCall, what: &str) -> CallFacts {
    let (word, told) = what.split_once(' ').unwrap_or((what, ""));
    let told = |usual: &str| if told.is_empty() { usual.to_owned() } else { told.to_owned() };
    let (word, path) = word.split_once(':').map_or((word, None), |(word, path)| (word, Some(path)));
    let runnable = |effect, subject| Finding::Runnable(Inspection { effect, subject });
    let reads = || runnable(Effect::Reads, Subject::None);
    let paths = || Subject::Paths(vec![path.unwrap_or("a.rs").into()]);
    let changes = || runnable(Effect::Changes, paths());
    let either = || if path.is_some() { changes() } else { reads() };
    let (finding, verdict) = match word {
        "read" if path.is_some() => (runnable(Effect::Reads, paths()), HookVerdict::None),
        "read" | "signal" => (reads(), HookVerdict::None),
        "change" | "fails" => (changes(), HookVerdict::None),
        "deny" => (either(), HookVerdict::Deny { reason: told("forbidden") }),
        "allow" => (changes(), HookVerdict::Allow { reason: told("known") }),
        "ask" => (either(), HookVerdict::Ask { reason: told("sure?") }),
        "invalid" => (Finding::InvalidArguments { message: told("`path` is missing") }, HookVerdict::None),
        _ => {
            let message = told(&format!("there is no tool `{}`", call.name));
            (Finding::UnknownTool { message }, HookVerdict::None)
        }
    };
    let foreseen = (word == "fails").then(|| told("it does not fit"));
    CallFacts { verdict, foreseen, ..CallFacts::new(call.id.clone(), finding) }
}

/// `2=change,input={"x":1},context=mind,stop=enough`: what is known of the call, and what else its hooks say.
fn hooked(call: &ToolCall, what: &str) -> Result<CallFacts, Unreadable> {
    let (what, said) = what.split_once(',').unwrap_or((what, ""));
    let mut fact = fact(call, what);
    if !said.is_empty() {
        fact.hooks = Some(Box::new(report(said.split(','))?));
    }
    Ok(fact)
}

/// What the user's hooks say: `block=no stop=enough context=mind input={"x":1} ran=ls`.
fn report<'a>(words: impl Iterator<Item = &'a str>) -> Result<HookReport, Unreadable> {
    let mut report = HookReport::default();
    for word in words {
        let (key, value) = pair(word)?;
        match key {
            "block" => report.block = Some(value.into()),
            "stop" => report.stop = Some(value.into()),
            "context" => report.context.push(value.into()),
            "input" => report.arguments = Some(arguments(value)?),
            "ran" => report.runs.push(HookRun {
                point: HookPoint::PostToolUse,
                command: value.into(),
                call: None,
                took_ms: 12,
                end: HookEnd::Passed,
                message: String::new(),
            }),
            _ => return Err(Unreadable::new(word, "something that hooks say")),
        }
    }
    Ok(report)
}

fn arguments(text: &str) -> Result<Arguments, Unreadable> {
    Arguments::parse(text).map_err(|_| Unreadable::new(text, "the arguments of a call"))
}

fn stop_reason(word: &str) -> StopReason {
    let known = STOPS.iter().find(|(known, _)| *known == word);
    known.map_or_else(|| StopReason::Other(word.into()), |(_, stop)| stop.clone())
}
