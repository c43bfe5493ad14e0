//! The worlds that a session is put into: how it is set up, what its environment may do, and how often.
//!
//! Each world is explored in full within its bounds. Bounds limit what could continue forever: messages, rounds of tools, pauses,
//! raised limits, requested summaries, programs that die. Failures, cancels, shutdowns, late and repeated answers are not: the machine has
//! to bound those.

use crate::session as notation;
use crate::session::alphabet::MESSAGES;
use agent_core::session::SessionConfig;

/// A world, and the bounds within which it is explored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct World {
    pub(crate) name: &'static str,
    /// How the session is set up, in the words of the scenarios.
    pub(crate) config: &'static str,
    /// The configurations that may be given instead, in the same words. Each limits what the first one limits, because the key of a state
    /// tells how far it is from the limits that there are.
    pub(crate) others: &'static [&'static str],
    /// How messages come and are taken back, in the same words.
    pub(crate) messages: &'static [&'static str],
    pub(crate) bounds: Bounds,
    /// The bounds of the smoke run.
    pub(crate) smoke: Bounds,
    /// Which answers the model gives beside tool calls.
    pub(crate) answers: Variety,
    /// Which failures a model call may end with.
    pub(crate) failures: Variety,
    /// What is found out about calls, in the words of the scenarios.
    pub(crate) facts: &'static [&'static str],
    /// How calls end, in the same words.
    pub(crate) outcomes: &'static [&'static str],
    /// What the model reports to have used.
    pub(crate) usages: &'static [Option<(u64, u64)>],
    /// Whether sizes decide something, so that they belong to the state.
    pub(crate) sizes_count: bool,
}

/// How often the environment may do what could continue forever.
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
    /// Configurations that are given, at any moment: each of [`World::others`]. `retries` tries the one that it has, which goes back to the
    /// first model; `reconfigured` tries another model without a fallback, other limits, other tools, permissions and hooks, and
    /// the way back to the first. Not tried is a lower limit of tool calls: calls that were let through before it run, by design.
    pub(crate) changes: u8,
    /// Requested summaries.
    pub(crate) summaries: u8,
    /// Programs that end while the model answers, so that another one continues.
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
        Ok(notation::config(self.config)?)
    }

    pub(crate) fn other_configs(&self) -> impl Iterator<Item = Result<SessionConfig, String>> {
        self.others.iter().map(|words| Ok(notation::config(words)?))
    }
}

const SMALL: Bounds =
    Bounds { inputs: 2, rounds: 1, calls: 2, mixed: 2, pauses: 0, raises: 0, changes: 0, summaries: 0, deaths: 0 };

pub(crate) const PLAIN: World = World {
    name: "",
    config: "",
    others: &[],
    messages: &["input NEW"],
    bounds: SMALL,
    smoke: SMALL,
    answers: Variety::All,
    failures: Variety::Few,
    facts: &["read", "change"],
    outcomes: &["ok out", "failed \"it broke\""],
    usages: &[None],
    sizes_count: false,
};

const RETRIES: &str = "mode=bypass retries=2 fallback=second wall-ms=60000";
const RECONFIGURED: &str = "mode=bypass retries=1 fallback=second model-calls=3 tool-calls=3 wall-ms=60000";

const TOGETHER: &str = "mode=bypass retries=0 window=80 model-calls=3 tool-calls=0 \
    hooks=PostToolUse,UserPromptSubmit,Stop,SessionStart,SessionEnd,PreCompact";
const TOGETHER_LATER: &str =
    "mode=bypass retries=0 window=100000 model-calls=5 tool-calls=1 hooks=UserPromptSubmit,SessionStart,SessionEnd";

const MESSAGES_WAIT: &str = "mode=default retries=0 hooks=UserPromptSubmit,Stop,SessionEnd";

/// The worlds.
pub(crate) const WORLDS: &[World] = &[
    World {
        name: "tools",
        config: "mode=bypass retries=1",
        bounds: Bounds { inputs: 3, rounds: 2, calls: 4, mixed: 3, pauses: 1, ..SMALL },
        smoke: Bounds { calls: 4, pauses: 1, ..SMALL },
        facts: &["read", "change", "unknown there is no such tool"],
        outcomes: &["ok out", "failed \"it broke\"", "interrupted", "ok out changed=a.rs"],
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
        outcomes: &["ok out"],
        answers: Variety::Few,
        usages: &[Some((20, 10)), Some((300, 400))],
        sizes_count: true,
        ..PLAIN
    },
    World {
        name: "retries",
        config: RETRIES,
        others: &[RETRIES],
        bounds: Bounds { inputs: 3, calls: 1, pauses: 9, changes: 1, ..SMALL },
        smoke: Bounds { inputs: 1, calls: 1, pauses: 9, changes: 1, ..SMALL },
        failures: Variety::All,
        facts: &["read"],
        outcomes: &["ok out"],
        ..PLAIN
    },
    World {
        name: "reconfigured",
        config: RECONFIGURED,
        others: &[
            "mode=default model=third retries=0 model-calls=2 tool-calls=3 wall-ms=90000 tools=read hooks=UserPromptSubmit,Stop",
            RECONFIGURED,
        ],
        bounds: Bounds { rounds: 2, changes: 2, ..SMALL },
        smoke: Bounds { inputs: 1, calls: 1, changes: 1, ..SMALL },
        answers: Variety::Few,
        outcomes: &["ok out"],
        ..PLAIN
    },
    World {
        name: "hooks",
        config: "mode=default retries=0 hooks=PreToolUse,PostToolUse,UserPromptSubmit,Stop,SessionStart,SessionEnd",
        bounds: Bounds { inputs: 3, rounds: 2, calls: 3, ..SMALL },
        smoke: Bounds { inputs: 1, calls: 1, ..SMALL },
        answers: Variety::Few,
        facts: &["read", "allow", "deny"],
        outcomes: &["ok out", "not-run gone"],
        ..PLAIN
    },
    World {
        name: "summary-hooks",
        config: "mode=bypass retries=0 hooks=UserPromptSubmit,Stop,SessionStart,PreCompact",
        bounds: Bounds { calls: 1, summaries: 1, deaths: 1, ..SMALL },
        smoke: Bounds { inputs: 1, rounds: 0, summaries: 1, ..SMALL },
        answers: Variety::Few,
        facts: &["read"],
        outcomes: &["ok out"],
        ..PLAIN
    },
    // Everything that the other worlds have apart from each other: what waits for a limit, summaries that are asked for or due, hooks at
    // every point, another configuration, and a host that leaves.
    World {
        name: "together",
        config: TOGETHER,
        others: &[TOGETHER_LATER],
        bounds: Bounds { inputs: 1, calls: 1, raises: 1, changes: 1, summaries: 1, ..SMALL },
        smoke: Bounds { inputs: 1, rounds: 0, raises: 1, changes: 1, summaries: 1, ..SMALL },
        answers: Variety::Few,
        facts: &["read"],
        outcomes: &["ok out"],
        sizes_count: true,
        ..PLAIN
    },
    // Messages that wait for the end of the turn, wherever one can be, and are taken back.
    World {
        name: "messages-wait",
        config: MESSAGES_WAIT,
        messages: MESSAGES,
        bounds: Bounds { inputs: 4, calls: 1, ..SMALL },
        smoke: Bounds { calls: 1, ..SMALL },
        answers: Variety::Few,
        facts: &["read", "ask"],
        outcomes: &["ok out"],
        ..PLAIN
    },
    // The same around a summary, which takes the place of the history.
    World {
        name: "summary-waits",
        config: MESSAGES_WAIT,
        messages: MESSAGES,
        bounds: Bounds { calls: 1, summaries: 1, ..SMALL },
        smoke: Bounds { inputs: 1, calls: 1, summaries: 1, ..SMALL },
        answers: Variety::Few,
        facts: &["read", "ask"],
        outcomes: &["ok out"],
        ..PLAIN
    },
    World {
        name: "window",
        config: "mode=bypass retries=1 fallback=second window=120 summaries=1",
        bounds: Bounds { rounds: 2, summaries: 1, ..SMALL },
        smoke: Bounds { inputs: 1, summaries: 1, deaths: 1, ..SMALL },
        failures: Variety::All,
        facts: &["read"],
        answers: Variety::Few,
        outcomes: &["ok out", "ok long=600"],
        sizes_count: true,
        ..PLAIN
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use agent_core::budget::Limits;

    /// Where a limit came or went, the key would have to tell what was spent while there was none.
    #[test]
    fn configurations_of_a_world_limit_the_same() {
        let limited = |limits: Limits| {
            let Limits { max_model_calls, max_tool_calls, max_total_tokens, max_cost_nano_usd, .. } = limits;
            let counts = [max_model_calls, max_tool_calls, max_total_tokens, max_cost_nano_usd];
            let rows = [limits.max_failures_in_row, limits.max_repetitions];
            (counts.map(|limit| limit.is_some()), rows.map(|limit| limit.is_some()), limits.max_wall_time_ms.is_some())
        };
        for world in WORLDS {
            let first = limited(world.session_config().unwrap().limits);
            for other in world.other_configs() {
                assert_eq!(limited(other.unwrap().limits), first, "{}", world.name);
            }
            for bounds in [world.bounds, world.smoke] {
                assert_eq!(bounds.changes > 0, !world.others.is_empty(), "{}", world.name);
            }
        }
    }
}
