//! The worlds that a session is put into: how it is set up, what its environment may do, and how often.
//!
//! Each world is explored in full within its bounds. What is bounded is what could go on for ever: messages, rounds of tools, pauses,
//! raised limits, requested summaries, programs that die. Failures, cancels, shutdowns, late and repeated answers are not: the machine has to bound those.

use super::notation;
use agent_core::session::SessionConfig;

/// A world, and the bounds within which it is explored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct World {
    pub(crate) name: &'static str,
    /// How the session is set up, in the words of the scenarios.
    pub(crate) config: &'static str,
    pub(crate) bounds: Bounds,
    /// The bounds of the smoke run.
    pub(crate) smoke: Bounds,
    /// Which answers the model gives beside tool calls.
    pub(crate) answers: Variety,
    /// Which failures a model call may end with.
    pub(crate) failures: Variety,
    /// What is found out about calls.
    pub(crate) facts: &'static [&'static str],
    /// What calls come to.
    pub(crate) outcomes: &'static [&'static str],
    /// What the model reports to have used.
    pub(crate) usages: &'static [Option<(u64, u64)>],
    /// Whether sizes decide something, so that they belong to the state.
    pub(crate) sizes_count: bool,
}

/// How often the environment may do what could go on for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Messages of the user.
    pub(crate) inputs: u8,
    /// Answers with tool calls.
    pub(crate) rounds: u8,
    /// Tool calls of one answer.
    pub(crate) calls: u8,
    /// Up to how many calls every combination of facts is tried; beyond, a choice of them.
    pub(crate) mixed: u8,
    /// Paused answers.
    pub(crate) pauses: u8,
    /// Raised limits.
    pub(crate) raises: u8,
    /// Other configurations.
    pub(crate) changes: u8,
    /// Requested summaries.
    pub(crate) summaries: u8,
    /// Programs that end while the model answers, so that another one goes on.
    pub(crate) deaths: u8,
}

/// How many kinds of something there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variety {
    /// One that ends well, one that may be repeated, one that may not.
    Few,
    /// One of each class that the machine tells apart.
    All,
}

impl World {
    pub(crate) fn session_config(&self) -> Result<SessionConfig, String> {
        notation::config(self.config)
    }
}

const SMALL: Bounds =
    Bounds { inputs: 2, rounds: 1, calls: 2, mixed: 2, pauses: 0, raises: 0, changes: 0, summaries: 0, deaths: 0 };

pub(crate) const PLAIN: World = World {
    name: "",
    config: "",
    bounds: SMALL,
    smoke: SMALL,
    answers: Variety::All,
    failures: Variety::Few,
    facts: &["read", "change"],
    outcomes: &["ok", "failed"],
    usages: &[None],
    sizes_count: false,
};

/// The worlds.
pub(crate) const WORLDS: &[World] = &[
    World {
        name: "tools",
        config: "mode=bypass retries=1",
        bounds: Bounds { inputs: 3, rounds: 2, calls: 4, mixed: 3, pauses: 1, ..SMALL },
        smoke: Bounds { calls: 4, pauses: 1, ..SMALL },
        facts: &["read", "change", "unknown"],
        outcomes: &["ok", "failed", "interrupted", "changed"],
        ..PLAIN
    },
    World {
        name: "approvals",
        config: "mode=default retries=1 wall-ms=60000",
        bounds: Bounds { inputs: 3, rounds: 2, calls: 4, mixed: 3, ..SMALL },
        smoke: Bounds { calls: 3, ..SMALL },
        facts: &["read", "change", "ask", "deny"],
        ..PLAIN
    },
    World {
        name: "limits",
        config: "mode=bypass retries=1 model-calls=2 tool-calls=3 failures=2 repetitions=2",
        bounds: Bounds { inputs: 3, rounds: 2, calls: 3, raises: 1, deaths: 2, ..SMALL },
        smoke: Bounds { calls: 3, raises: 1, deaths: 1, ..SMALL },
        facts: &["read", "change", "invalid"],
        ..PLAIN
    },
    World {
        name: "money",
        config: "mode=bypass retries=1 price=1000 max-output=50 cost=200000 tokens=600",
        bounds: Bounds { rounds: 2, calls: 1, raises: 1, ..SMALL },
        smoke: Bounds { inputs: 1, calls: 1, raises: 1, ..SMALL },
        outcomes: &["ok"],
        answers: Variety::Few,
        usages: &[Some((20, 10)), Some((300, 400))],
        sizes_count: true,
        ..PLAIN
    },
    World {
        name: "retries",
        config: "mode=bypass retries=2 fallback=second wall-ms=60000",
        bounds: Bounds { inputs: 3, calls: 1, pauses: 9, changes: 1, ..SMALL },
        smoke: Bounds { inputs: 1, calls: 1, pauses: 9, changes: 1, ..SMALL },
        failures: Variety::All,
        facts: &["read"],
        outcomes: &["ok"],
        ..PLAIN
    },
    World {
        name: "hooks",
        config: "mode=default retries=0 hooks=PreToolUse,PostToolUse,UserPromptSubmit,Stop,SessionStart,SessionEnd",
        bounds: Bounds { inputs: 3, rounds: 2, calls: 3, ..SMALL },
        smoke: Bounds { inputs: 1, calls: 1, ..SMALL },
        answers: Variety::Few,
        facts: &["read", "allow", "deny"],
        outcomes: &["ok", "not-run"],
        ..PLAIN
    },
    World {
        name: "summary-hooks",
        config: "mode=bypass retries=0 hooks=UserPromptSubmit,Stop,SessionStart,PreCompact",
        bounds: Bounds { calls: 1, summaries: 1, deaths: 1, ..SMALL },
        smoke: Bounds { inputs: 1, rounds: 0, summaries: 1, ..SMALL },
        answers: Variety::Few,
        facts: &["read"],
        outcomes: &["ok"],
        ..PLAIN
    },
    World {
        name: "window",
        config: "mode=bypass retries=1 fallback=second window=120",
        bounds: Bounds { rounds: 2, summaries: 1, ..SMALL },
        smoke: Bounds { inputs: 1, summaries: 1, deaths: 1, ..SMALL },
        failures: Variety::All,
        facts: &["read"],
        answers: Variety::Few,
        outcomes: &["ok", "long"],
        sizes_count: true,
        ..PLAIN
    },
];
