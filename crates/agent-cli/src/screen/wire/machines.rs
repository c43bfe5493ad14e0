//! A machine's transition as a line.

use super::Line;
use agent_core::table::Label;
use agent_core::trace::Transition;

impl Line {
    pub(super) fn moved<S: Label, T: Label>(
        machine: Option<&'static str>,
        child: Option<u32>,
        row: &Transition<S, T>,
    ) -> Self {
        let (from, to, trigger) = (row.from.name().to_owned(), row.to.name().to_owned(), row.on.name().to_owned());
        Self::Transition { machine, agent: None, child, from, to, trigger, at_ms: row.at_ms }
    }

    /// The same of another agent than the session's own, where the line does not say so yet.
    pub(super) fn by(self, id: &str) -> Self {
        match self {
            Self::Transition { machine, child, from, to, trigger, at_ms, .. } => {
                Self::Transition { machine, agent: Some(id.to_owned()), child, from, to, trigger, at_ms }
            }
            other => other,
        }
    }
}
