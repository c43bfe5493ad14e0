//! What limits hold back, and what continues once they are raised.

use serde::{Deserialize, Serialize};

/// What only a limit keeps from going on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Held {
    /// Whether nothing but a limit keeps what is unsent from going out: the last turn that sends something ended so.
    stopped_by_limit: bool,
    /// Whether the limits were raised since, while a summary was made or the hooks of the session's end ran.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    raised: bool,
    /// Whether calls of this turn were refused because of the limit on them.
    tool_calls_refused: bool,
}

impl Held {
    /// Whether only a limit holds back what is unsent.
    pub(super) const fn is_stopped(self) -> bool {
        self.stopped_by_limit
    }

    /// Whether work that a limit stopped continues after the work in progress, because the limits were raised.
    pub(super) const fn is_raised(self) -> bool {
        self.stopped_by_limit && self.raised
    }

    /// Whether calls were refused because of their limit.
    pub(super) const fn refuses_calls(self) -> bool {
        self.tool_calls_refused
    }

    /// Whether the limit on calls refused some of these.
    pub(super) const fn refuse_calls(&mut self, refuses: bool) {
        self.tool_calls_refused = refuses;
    }

    /// Limits are others now.
    pub(super) const fn raise(&mut self) {
        (self.tool_calls_refused, self.raised) = (false, self.stopped_by_limit);
    }

    /// What is unsent goes out.
    pub(super) const fn let_go(&mut self) {
        (self.stopped_by_limit, self.raised) = (false, false);
    }

    /// A turn ended. Whether a limit ended it counts if it was to send something.
    pub(super) fn end_turn(&mut self, by_limit: Option<bool>) {
        (self.tool_calls_refused, self.raised) = (false, false);
        self.stopped_by_limit = by_limit.unwrap_or(self.stopped_by_limit);
    }
}
