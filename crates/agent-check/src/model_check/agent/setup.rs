//! The set-ups of the explored agents, and how often their environment may do what could continue forever.

use crate::session::alphabet::MESSAGES;
use crate::session::commands::{Bound, bound};
use agent_core::agent::Event;
use agent_core::lifecycle;
use agent_core::llm::ResponseBlock;
use agent_core::session;

/// How an agent and its session are set up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    pub(crate) name: &'static str,
    /// The session's configuration, in the words of the scenarios.
    pub(crate) config: &'static str,
    /// Whether it is bound from the start.
    pub(crate) is_bound: bool,
    pub(crate) commitments: u8,
    pub(crate) max_rounds: u32,
    /// Whether it continues by itself, and the end of a turn is a claim.
    pub(crate) is_headless: bool,
    /// Whether a message after its end begins another life.
    pub(crate) is_renewed: bool,
    /// How messages come and are taken back.
    pub(crate) messages: &'static [&'static str],
    pub(crate) left: Left,
    pub(crate) smoke: Left,
}

/// How often what could continue forever may still happen. Failures, timers, checks, dismissals, late and repeated answers are not
/// counted: the machines have to bound those.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Left {
    /// Messages of the host.
    pub(crate) messages: u8,
    /// Answers with tool calls.
    pub(crate) rounds: u8,
    /// Tool calls of one answer.
    pub(crate) calls: u8,
    /// Added commitments.
    pub(crate) commitments: u8,
    /// Times that the host asks to stop.
    pub(crate) cancels: u8,
    /// Sessions that are ended, and budgets that are spent.
    pub(crate) ends: u8,
    /// Raised limits.
    pub(crate) raises: u8,
    /// Requested summaries.
    pub(crate) summaries: u8,
    /// Times that the agent is bound anew, released, or attended from there on.
    pub(crate) binds: u8,
    /// Programs that end while the model answers, so that another one continues.
    pub(crate) deaths: u8,
}

/// The set-ups that are explored.
pub(crate) const SETUPS: &[Setup] = &[
    Setup {
        name: "bound-alone",
        commitments: 2,
        left: Left { messages: 2, rounds: 1, calls: 1, commitments: 1, cancels: 1, ends: 1, ..NONE },
        smoke: Left { cancels: 1, ..FEW },
        ..ALONE
    },
    Setup {
        name: "bound-attended",
        is_headless: false,
        left: Left { messages: 3, rounds: 2, calls: 2, cancels: 2, ends: 1, ..NONE },
        smoke: Left { messages: 2, cancels: 1, ..FEW },
        ..ALONE
    },
    Setup {
        name: "unbound",
        config: "mode=bypass retries=0 model-calls=3",
        commitments: 0,
        left: Left { messages: 3, rounds: 2, calls: 2, commitments: 1, cancels: 2, ends: 1, ..NONE },
        smoke: Left { messages: 2, cancels: 1, ..FEW },
        ..ALONE
    },
    Setup {
        name: "asked-and-hooked",
        config: "mode=default retries=1 hooks=UserPromptSubmit,Stop,SessionEnd model-calls=4",
        left: Left { messages: 1, rounds: 1, calls: 1, cancels: 1, ends: 1, ..NONE },
        smoke: FEW,
        ..ALONE
    },
    // At a prompt: lives follow one another, limits are raised, summaries are asked for.
    Setup {
        name: "prompt",
        config: "mode=bypass retries=0 model-calls=2",
        is_headless: false,
        is_renewed: true,
        left: Left { messages: 3, rounds: 1, calls: 1, cancels: 1, raises: 1, summaries: 1, ..NONE },
        smoke: Left { messages: 2, raises: 1, summaries: 1, ..FEW },
        ..ALONE
    },
    // Messages that wait for the end of a turn while commitments bind, and are taken back.
    Setup {
        name: "bound-waits",
        is_renewed: true,
        messages: MESSAGES,
        left: Left { messages: 3, rounds: 1, calls: 1, cancels: 1, ends: 1, ..NONE },
        smoke: Left { messages: 2, ..FEW },
        ..ALONE
    },
    // The checks and the reports of what is missing share the time of their message.
    Setup {
        name: "timed",
        config: "mode=bypass retries=0 wall-ms=60000 model-calls=5",
        max_rounds: 2,
        left: Left { messages: 2, rounds: 1, calls: 1, cancels: 1, ends: 1, deaths: 1, ..NONE },
        smoke: FEW,
        ..ALONE
    },
    // Bound and released at any moment, also while the session works.
    Setup {
        name: "bound-midway",
        config: "mode=bypass retries=0 model-calls=3",
        is_bound: false,
        is_renewed: true,
        left: Left { messages: 1, rounds: 1, calls: 1, cancels: 1, raises: 1, summaries: 1, binds: 3, ..NONE },
        smoke: Left { binds: 2, ..FEW },
        ..ALONE
    },
];

const NONE: Left = Left {
    messages: 0,
    rounds: 0,
    calls: 0,
    commitments: 0,
    cancels: 0,
    ends: 0,
    raises: 0,
    summaries: 0,
    binds: 0,
    deaths: 0,
};
const FEW: Left = Left { messages: 1, rounds: 1, calls: 1, ..NONE };

const ALONE: Setup = Setup {
    name: "",
    config: "mode=bypass retries=0 model-calls=6",
    is_bound: true,
    commitments: 1,
    max_rounds: 1,
    is_headless: true,
    is_renewed: false,
    messages: &["input NEW"],
    left: FEW,
    smoke: FEW,
};

impl Left {
    /// What an event takes from what may still happen.
    pub(super) fn spend(&mut self, event: &Event) {
        let one = |left: &mut u8| *left = left.saturating_sub(1);
        match event {
            Event::Bound(_) | Event::Released | Event::Attended => one(&mut self.binds),
            Event::Child { .. } | Event::Ordered(_) | Event::HeldBelow(_) => {}
            Event::Lifecycle(event) => match event {
                lifecycle::Event::CommitmentAdded { .. } => one(&mut self.commitments),
                lifecycle::Event::CancelRequested => one(&mut self.cancels),
                lifecycle::Event::BudgetExceeded => one(&mut self.ends),
                _ => {}
            },
            Event::Session(event) => match bound(event) {
                Some(Bound::Messages) => one(&mut self.messages),
                Some(Bound::Cancels) => one(&mut self.cancels),
                Some(Bound::Ends) => one(&mut self.ends),
                Some(Bound::Raises) => one(&mut self.raises),
                Some(Bound::Summaries) => one(&mut self.summaries),
                Some(Bound::Deaths) => one(&mut self.deaths),
                Some(Bound::Changes) => {}
                None => {
                    if let session::Event::LlmCompleted { response, .. } = event
                        && response.blocks.iter().any(|block| matches!(block, ResponseBlock::Call(_)))
                    {
                        one(&mut self.rounds);
                    }
                }
            },
        }
    }

    /// All of it, in a fixed order.
    pub(super) const fn all(self) -> [u8; 9] {
        let Self { messages, rounds, calls: _, commitments, cancels, ends, raises, summaries, binds, deaths } = self;
        [messages, rounds, commitments, cancels, ends, raises, summaries, binds, deaths]
    }

    /// One of it by name.
    pub(crate) fn field(&mut self, name: &str) -> Option<&mut u8> {
        Some(match name {
            "messages" => &mut self.messages,
            "rounds" => &mut self.rounds,
            "calls" => &mut self.calls,
            "commitments" => &mut self.commitments,
            "cancels" => &mut self.cancels,
            "ends" => &mut self.ends,
            "raises" => &mut self.raises,
            "summaries" => &mut self.summaries,
            "binds" => &mut self.binds,
            "deaths" => &mut self.deaths,
            _ => return None,
        })
    }
}
