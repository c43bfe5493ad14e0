//! Places that nobody picked: for each waiting state, everything that can differ there, each with each. A combination that was never
//! thought of stands here all the same, and the rules have to hold in it.

use super::Place;
use agent_core::session::State::{self, *};

/// One way in which something can differ: words, configuration, events.
type Choice = (&'static str, &'static str, &'static str);

/// A state, the point of the hooks that run there, and what can differ, in the order of its events. After every event of the ways the
/// user's hooks let everything pass; [`TAIL`] comes last, as it is.
type Product = (State, &'static str, &'static [&'static [Choice]]);

/// All combinations, as places. They live as long as the process.
pub(super) fn places(states: &[State]) -> Vec<Place> {
    let products = PRODUCTS.iter().filter(|product| states.contains(&product.0));
    products.flat_map(|product| combinations(product).into_iter().map(|choices| place(product, &choices))).collect()
}

fn combinations((_, _, dimensions): &Product) -> Vec<Vec<Choice>> {
    dimensions.iter().fold(vec![Vec::new()], |all, dimension| {
        let with = |choices: &Vec<Choice>, choice: &Choice| choices.iter().copied().chain([*choice]).collect();
        all.iter().flat_map(|choices| dimension.iter().map(move |choice| with(choices, choice))).collect()
    })
}

fn place((state, point, _): &Product, choices: &[Choice]) -> Place {
    let joined =
        |parts: Vec<&str>, between| parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(between);
    let words = joined(choices.iter().map(|choice| choice.0).collect(), " ");
    let config = joined(choices.iter().map(|choice| choice.1).collect(), " ");
    let (way, tail) = choices.split_at(choices.len() - 1);
    let way = joined(way.iter().map(|choice| choice.2).collect(), "; ").replace("; ", "; pass; ");
    let settled = if *state == RunningHooks { format!("until {point}") } else { String::from("pass") };
    // Another configuration differs in what is named, and in nothing else.
    let tail = tail[0].2.replace("reconfigure", &format!("reconfigure {config}"));
    let way = way.replace("reconfigure", &format!("reconfigure {config}"));
    let lines = joined(vec![&format!("config {config}"), &way, &settled, &tail], "; ");
    (*state, words.leak(), lines.leak())
}

const TAIL: &[Choice] = &[
    ("", "", ""),
    ("queued", "", "input more"),
    ("waits", "", "later more"),
    ("cancelled", "", "cancel"),
    ("queued cancelled", "", "input more; cancel"),
];
const FALLBACK: &[Choice] = &[("", "", ""), ("fallback", "fallback=second", "")];
const TRIES: &[Choice] = &[("", "", ""), ("last-try", "retries=0", "")];
const CLOCK: &[Choice] = &[("", "", ""), ("deadline-near", "wall-ms=10000", "")];
const FAILURES: &[Choice] = &[("", "", ""), ("failure-limit", "failures=1", "")];
const LOOPS: &[Choice] = &[("", "", ""), ("loops", "repetitions=1", "")];
/// All of the user's hooks, but for those of the session's start.
const EVERY_HOOK: &str = "hooks=UserPromptSubmit,PostToolUse,Stop,PreCompact,SessionEnd";
/// The user's hooks, but for those of the session's start: they have run before all of this.
const HOOKS: &[Choice] = &[("", "", ""), ("prompt-hooks call-hooks stop-hooks sum-hooks end-hooks", EVERY_HOOK, "")];

#[rustfmt::skip]
const PRODUCTS: &[Product] = &[
    (CallingLlm, "", &[FALLBACK, TRIES, CLOCK, HOOKS, &[
        ("", "", "input go"),
        ("spent", "model-calls=1", "input go"),
        ("history shortens summarises", "", "input go; answer long=100; input more"),
        ("history shortens summarises spent", "model-calls=2", "input go; answer long=100; input more"),
    ], TAIL]),
    (SendingToolResults, "", &[FALLBACK, TRIES, CLOCK, HOOKS, &[
        ("history results", "", "input go; answer calls read{}; prepared; tool 1 ok x"),
        ("history results spent", "model-calls=2", "input go; answer calls read{}; prepared; tool 1 ok x"),
        ("history results shortens", "", "input go; answer calls read{}; prepared; tool 1 ok long=5000"),
        ("history results shortens summarises", "", "input go; answer long=100; input more; answer calls read{}; prepared; tool 1 ok x"),
    ], TAIL]),
    (PreparingTools, "", &[FAILURES, LOOPS, HOOKS, &[
        ("", "", "input go"), ("spent", "model-calls=1", "input go"), ("tool-limit", "tool-calls=0", "input go"),
        ("spent tool-limit", "model-calls=1 tool-calls=0", "input go"),
    ], &[
        ("history shortens summarises batch single", "", "answer calls read{}"),
        ("history shortens summarises batch", "", "answer calls read{} change{}"),
        ("history shortens summarises batch asks", "mode=default", "answer calls read{} change{}"),
        ("history shortens summarises batch unusable", "", "answer calls read[1]"),
    ], TAIL]),
    (AwaitingApproval, "", &[FAILURES, LOOPS, HOOKS, &[
        ("", "mode=default", "input go"), ("spent", "mode=default model-calls=1", "input go"),
    ], &[
        ("history shortens summarises batch asked", "", "answer calls change{}; prepared"),
        ("history shortens summarises batch asked two-asked", "", "answer calls change{} change{}; prepared"),
        ("history shortens summarises batch asked cleared", "", "answer calls read{} change{}; prepared"),
        ("history shortens summarises batch asked denied", "", "answer calls change{} change{}; prepared; deny 1 no"),
    ], &[("", "", ""), ("forbidden", "", "reconfigure mode=plan")], &[("", "", ""), ("queued", "", "input more")]]),
    (ExecutingTools, "", &[FAILURES, LOOPS, HOOKS, &[
        ("", "", "input go"), ("spent", "model-calls=1", "input go"),
    ], &[
        ("history shortens summarises batch running", "", "answer calls read{}; prepared"),
        ("history shortens summarises batch running two-running", "", "answer calls read{} read{}; prepared"),
        ("history shortens summarises batch running group-left", "", "answer calls read{} change{}; prepared"),
        ("history shortens summarises batch running two-running group-left", "", "answer calls read{} read{} change{}; prepared"),
        ("history shortens summarises batch running changing", "", "answer calls change{}; prepared"),
        ("history shortens summarises batch running changing group-left", "", "answer calls change{} read{}; prepared"),
    ], TAIL]),
    // With a limit of one repetition there is no second group.
    (ExecutingTools, "", &[FAILURES, HOOKS, &[("", "", "input go"), ("spent", "model-calls=1", "input go")], &[
        ("history shortens summarises batch running changing changed", "", "answer calls change{} read{}; prepared; tool 1 ok x"),
    ], TAIL]),
    (CheckingGitCommits, "", &[FAILURES, LOOPS, HOOKS, CHANGED, TAIL]),
    (RunningAutoformatters, "", &[FAILURES, LOOPS, HOOKS, CHANGED, &[("", "", "git formatting")], TAIL]),
    (CommittingChanges, "", &[FAILURES, LOOPS, HOOKS, CHANGED, &[
        ("", "", "git commit"), ("", "", "git formatting; formatted a.rs commit"),
    ], TAIL]),
    (Compacting, "", &[FALLBACK, TRIES, CLOCK, HOOKS, &[
        ("history summary requested", "", "input go; answer long=100; compact"),
        ("history summary requested spent", "model-calls=2", "input go; answer long=100; compact"),
        ("history summary", "", "input go; answer long=100; input more; fail overflow"),
        ("history summary spent", "model-calls=3", "input go; answer long=100; input more; fail overflow"),
        ("history summary results", "", "input go; answer long=100; input more; answer calls read{}; prepared; tool 1 ok x; fail overflow"),
    ], TAIL]),
    (Error, "", &[FALLBACK, &[("", "", ""), ("last-try", "retries=1", "")], CLOCK, HOOKS, &[
        ("", "", "input go; fail network"),
        ("spent", "model-calls=1", "input go; fail network"),
        ("history shortens summarises", "", "input go; answer long=100; input more; fail network"),
        ("history results", "", "input go; answer calls read{}; prepared; tool 1 ok x; fail network"),
        ("history summary requested", "", "input go; answer long=100; compact; fail network"),
        ("history summary", "", "input go; answer long=100; input more; fail overflow; fail network"),
    ], &[("", "", ""), ("queued", "", "input more")]]),
    (RunningHooks, "UserPromptSubmit", &[PROMPT_HOOKS, &[
        ("hooking on-prompt prompt-hooks", "", "input go"),
    ], TAIL]),
    (RunningHooks, "PostToolUse", &[FAILURES, LOOPS, &[
        ("history hooking on-calls call-hooks", "hooks=PostToolUse", ""),
        ("history hooking on-calls call-hooks prompt-hooks stop-hooks sum-hooks end-hooks", EVERY_HOOK, ""),
    ], &[("", "", "input go"), ("spent", "model-calls=1", "input go")], &[
        ("", "", "answer calls read{}; prepared; tool 1 ok x"),
        ("changed", "", "answer calls change{}; prepared; tool 1 ok x"),
    ], TAIL]),
    (RunningHooks, "Stop", &[&[
        ("hooking stopping stop-hooks", "hooks=Stop", ""),
        ("hooking stopping stop-hooks call-hooks prompt-hooks sum-hooks end-hooks", EVERY_HOOK, ""),
    ], &[("history shortens summarises", "", "input go; answer hi"), ("history shortens summarises spent", "model-calls=1", "input go; answer hi")], TAIL]),
    (RunningHooks, "PreCompact", &[&[
        ("hooking summing sum-hooks", "hooks=PreCompact", ""),
        ("hooking summing sum-hooks stop-hooks call-hooks prompt-hooks end-hooks", EVERY_HOOK, ""),
    ], &[
        ("history summary requested due", "", "input go; answer long=100; compact"),
        ("history shortens summarises", "window=60", "input go; answer long=100; input more"),
    ], TAIL]),
    (RunningHooks, "SessionEnd", &[&[
        ("hooking leaving left end-hooks", "hooks=SessionEnd", ""),
        ("hooking leaving left end-hooks sum-hooks stop-hooks call-hooks prompt-hooks", EVERY_HOOK, ""),
        ("hooking leaving left end-hooks start-hooks", "hooks=SessionStart,SessionEnd", ""),
    ], &[("", "", "leave"), ("history shortens summarises", "", "input go; answer hi; leave")], TAIL]),
];

const PROMPT_HOOKS: &[Choice] =
    &[("", "hooks=UserPromptSubmit", ""), ("call-hooks stop-hooks sum-hooks end-hooks", EVERY_HOOK, "")];
const CHANGED: &[Choice] = &[
    ("history", "", "input go; answer calls change{}; prepared; tool 1 ok x changed=a.rs"),
    ("history spent", "model-calls=1", "input go; answer calls change{}; prepared; tool 1 ok x changed=a.rs"),
];
