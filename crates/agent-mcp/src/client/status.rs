//! Where a server stands, for those who look at it.

use agent_core::server::State;
use std::collections::BTreeMap;

/// Where a server stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The machine's state.
    pub state: State,
    /// What was found last: why it does not run, or why its tools could not be had.
    pub found: Option<String>,
    /// What it calls itself, with its version and the protocol's, once it has answered.
    pub peer: Option<String>,
    /// Tools that are withheld or cannot be offered, each with the reason.
    pub withheld: BTreeMap<String, String>,
    /// How many of its tools are offered.
    pub offered: usize,
    /// How many of those are not declared before the model searches for them.
    pub searched: usize,
    /// The last lines of its standard error.
    pub log: String,
}

impl Default for Status {
    fn default() -> Self {
        Self {
            state: State::Configured,
            found: None,
            peer: None,
            withheld: BTreeMap::new(),
            offered: 0,
            searched: 0,
            log: String::new(),
        }
    }
}

impl Status {
    /// The state in a word, for people.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self.state {
            State::Configured | State::Wanted => "waits",
            State::Trusting => "needs review",
            State::Starting => "starting",
            State::Late => "starting, late",
            State::Ready => "ready",
            State::Restarting => "restarting",
            State::Stopping => "stopping",
            State::Failed => "failed",
            State::Stopped => "stopped",
            // A state that this version does not know.
            _ => "unknown",
        }
    }

    /// Whether it takes calls.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.state == State::Ready
    }

    /// Whether nothing has to be waited for at the beginning of a turn.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        matches!(self.state, State::Ready | State::Late | State::Trusting | State::Failed | State::Stopped)
    }
}
