//! What model, tools and hooks may answer: a few words of each kind that the session tells apart.

use super::world::{Variety, World};
use agent_core::conversation::ToolCall;
use agent_core::llm::{LlmError, LlmErrorKind, LlmResponse, RawCall, ResponseBlock, StopReason, Usage};
use agent_core::tool::{CallFacts, Effect, Finding, HookVerdict, Inspection, Subject, ToolOutcome};

/// What the answers of a moment may contain.
pub(crate) struct Allowed<'a> {
    pub(crate) world: &'a World,
    /// Most tool calls of the answer; none when there may be no more rounds.
    pub(crate) calls: u8,
    pub(crate) may_pause: bool,
    /// Makes ids that no call has had.
    pub(crate) fresh: u64,
    /// An id that a call of the history has.
    pub(crate) used: Option<String>,
}

/// Answers of the model in a turn.
pub(crate) fn answers(allowed: &Allowed<'_>) -> Vec<LlmResponse> {
    let words = || ResponseBlock::Text(WORDS.to_owned());
    let mut out = vec![
        response(vec![words()], StopReason::EndTurn),
        response(Vec::new(), StopReason::EndTurn),
        response(vec![words()], StopReason::MaxTokens),
    ];
    if allowed.world.answers == Variety::All {
        let silent = ResponseBlock::Thinking { text: "hm".to_owned(), signature: None };
        out.extend([
            response(vec![silent], StopReason::EndTurn),
            response(vec![allowed.cut(1)], StopReason::MaxTokens),
            response(vec![words(), allowed.good(1)], StopReason::Refusal),
            response(vec![words()], StopReason::ContextWindow),
            response(vec![words()], StopReason::Other("new".to_owned())),
            response(Vec::new(), StopReason::Other("new".to_owned())),
        ]);
    }
    if allowed.may_pause {
        out.push(response(vec![words()], StopReason::Paused));
    }
    for calls in 1..=u64::from(allowed.calls) {
        out.push(response((1..=calls).map(|number| allowed.good(number)).collect(), StopReason::ToolUse));
    }
    if allowed.calls >= 1 {
        out.push(response(vec![allowed.bad(1)], StopReason::ToolUse));
        out.push(response(vec![call("", "read", "", true)], StopReason::EndTurn));
        let stops = [StopReason::ToolUse, StopReason::Paused];
        out.extend(allowed.again().flat_map(|again| stops.clone().map(|stop| response(vec![again.clone()], stop))));
    }
    if allowed.calls >= 2 {
        out.push(response(vec![words(), allowed.good(1), allowed.cut(2)], StopReason::MaxTokens));
        out.push(response(vec![allowed.bad(1), allowed.good(2)], StopReason::ToolUse));
        out.push(response(vec![allowed.good(1), allowed.good(1)], StopReason::ToolUse));
        let beside = |again| response(vec![allowed.good(1), again], StopReason::ToolUse);
        out.extend(allowed.again().map(beside));
    }
    each_usage(allowed.world, out)
}

/// Answers of the model to the request for a summary.
pub(crate) fn summaries(world: &World) -> Vec<LlmResponse> {
    let long = "word ".repeat(2_000);
    let text = |text: &str| vec![ResponseBlock::Text(text.to_owned())];
    let out = vec![
        response(text("in short"), StopReason::EndTurn),
        response(text(&long), StopReason::EndTurn),
        response(Vec::new(), StopReason::EndTurn),
        response(text("in sh"), StopReason::MaxTokens),
        response(vec![call("s", "read", "{}", true)], StopReason::ToolUse),
    ];
    each_usage(world, out)
}

/// Failures of a model call.
pub(crate) fn failures(world: &World) -> Vec<LlmError> {
    let plain = |kind: LlmErrorKind| LlmError::new(kind, "model trouble");
    let limited = |retry_after_ms| LlmError { retry_after_ms, ..plain(LlmErrorKind::RateLimited) };
    let mut out = vec![limited(None), plain(LlmErrorKind::Authentication)];
    if world.failures == Variety::All {
        // Shorter than everything, longer than a turn of a minute, longer than anybody waits.
        out.extend([Some(50), Some(100_000), Some(999_000)].map(limited));
        out.extend([LlmErrorKind::Overloaded, LlmErrorKind::InvalidRequest].map(plain));
    }
    if world.sizes_count {
        out.push(plain(LlmErrorKind::ContextOverflow));
    }
    out
}

/// What is found out about calls: every combination while there are few of them, then a choice.
pub(crate) fn facts(world: &World, calls: &[ToolCall]) -> Vec<Vec<CallFacts>> {
    let words = world.facts;
    let combinations: Vec<Vec<&str>> = if calls.len() <= usize::from(world.bounds.mixed) {
        let one_more = |done: Vec<Vec<&'static str>>, _: &ToolCall| {
            let longer = done.iter().flat_map(|begun| {
                words.iter().map(move |word| begun.iter().copied().chain([*word]).collect::<Vec<_>>())
            });
            longer.collect()
        };
        calls.iter().fold(vec![Vec::new()], one_more)
    } else {
        // All alike, and all beginnings of the words in turn: each word stands before and behind each of its neighbours.
        let alike = words.iter().map(|word| vec![*word; calls.len()]);
        let turns = (0..words.len()).map(|from| words.iter().copied().cycle().skip(from).take(calls.len()).collect());
        alike.chain(turns).collect()
    };
    let each = |words: &Vec<&str>| calls.iter().zip(words).map(|(call, word)| fact(call, word)).collect();
    combinations.iter().map(each).collect()
}

/// What one call comes to.
pub(crate) fn outcome(word: &str) -> ToolOutcome {
    match word {
        "failed" => ToolOutcome::failed("it broke"),
        "interrupted" => ToolOutcome::interrupted(""),
        "not-run" => ToolOutcome::not_run("gone"),
        "changed" => ToolOutcome::ok("out").with_changed_paths(vec!["a.rs".to_owned()]),
        "long" => ToolOutcome::ok("x".repeat(600)),
        _ => ToolOutcome::ok("out"),
    }
}

/// What is known about a call, in the word that the scenarios have for it.
pub(crate) fn fact(call: &ToolCall, word: &str) -> CallFacts {
    let reads = || Finding::Runnable(Inspection { effect: Effect::Reads, subject: Subject::None });
    let (finding, verdict) = match word {
        "change" => {
            let subject = Subject::Paths(vec!["a.rs".to_owned()]);
            (Finding::Runnable(Inspection { effect: Effect::Changes, subject }), HookVerdict::None)
        }
        "deny" => (reads(), HookVerdict::Deny { reason: "forbidden".to_owned() }),
        "allow" => {
            let subject = Subject::Paths(vec!["a.rs".to_owned()]);
            let changes = Finding::Runnable(Inspection { effect: Effect::Changes, subject });
            (changes, HookVerdict::Allow { reason: "known".to_owned() })
        }
        "ask" => (reads(), HookVerdict::Ask { reason: "sure?".to_owned() }),
        "unknown" => (Finding::UnknownTool { message: "there is no such tool".to_owned() }, HookVerdict::None),
        "invalid" => (Finding::InvalidArguments { message: "`path` is missing".to_owned() }, HookVerdict::None),
        _ => (reads(), HookVerdict::None),
    };
    CallFacts { verdict, ..CallFacts::new(call.id.clone(), finding) }
}

/// Names of calls that must never run: their arguments are no object, or did not arrive.
pub(crate) const UNUSABLE: &[&str] = &["bad", "cut"];

/// An answer, unmetered.
pub(crate) fn response(blocks: Vec<ResponseBlock>, stop: StopReason) -> LlmResponse {
    LlmResponse { blocks, stop, usage: None, model: String::new() }
}

/// A call as a model writes it.
pub(crate) fn call(id: &str, name: &str, arguments: &str, complete: bool) -> ResponseBlock {
    let (id, name, arguments) = (id.to_owned(), name.to_owned(), arguments.to_owned());
    ResponseBlock::Call(RawCall { id, name, arguments, complete })
}

impl Allowed<'_> {
    fn good(&self, number: u64) -> ResponseBlock {
        call(&self.id(number), "read", "{}", true)
    }

    /// A call with the id of an earlier round.
    fn again(&self) -> impl Iterator<Item = ResponseBlock> {
        self.used.iter().map(|id| call(id, "read", "{}", true))
    }

    fn bad(&self, number: u64) -> ResponseBlock {
        call(&self.id(number), "bad", "[1]", true)
    }

    fn cut(&self, number: u64) -> ResponseBlock {
        call(&self.id(number), "cut", "{\"path\":\"a", false)
    }

    fn id(&self, number: u64) -> String {
        format!("c{}-{number}", self.fresh)
    }
}

fn each_usage(world: &World, answers: Vec<LlmResponse>) -> Vec<LlmResponse> {
    let metered = answers.into_iter().flat_map(|answer| {
        world.usages.iter().map(move |usage| {
            let usage =
                usage.map(|(input_tokens, output_tokens)| Usage { input_tokens, output_tokens, ..Usage::default() });
            LlmResponse { usage, ..answer.clone() }
        })
    });
    metered.collect()
}

const WORDS: &str = "some words of the model";
