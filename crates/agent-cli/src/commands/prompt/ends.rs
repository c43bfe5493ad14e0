//! What turns, and with them the session, come to.

use super::Screen;
use crate::screen::terminal::inline;
use agent_core::lifecycle;
use agent_core::session::{Outcome, OutcomeKind};

impl Screen {
    /// Tells how the checks of a message ended. What a turn itself failed for was told before.
    pub(super) fn rested(&mut self, agent: &lifecycle::Outcome, run: Option<&Outcome>) {
        let is_told = matches!(
            agent,
            lifecycle::Outcome::NotKept { .. }
                | lifecycle::Outcome::Uncheckable { .. }
                | lifecycle::Outcome::Waiting { .. }
                | lifecycle::Outcome::TimedOut { .. }
                | lifecycle::Outcome::BudgetExceeded
        );
        if let Some(error) = run.and_then(|run| run.error.as_deref()).filter(|_| is_told) {
            self.view.tell(&inline(error));
        }
    }

    /// A turn came to this.
    pub(super) fn ended(&mut self, outcome: &Outcome) {
        if matches!(outcome.kind, OutcomeKind::Budget | OutcomeKind::CallLimit) {
            self.view.tell("/more raises the limits by their initial amounts and continues");
        }
        self.turns.add(outcome);
    }

    /// What leaving in order means. A person saw what happened; a script sees only this.
    pub(super) fn exit_code(&self) -> u8 {
        if self.is_typed {
            return 0;
        }
        match self.turns.gravest() {
            Some(kind) if kind != OutcomeKind::Success => kind.exit_code(),
            _ if self.had_unusable_line => UNUSABLE_INPUT,
            _ => 0,
        }
    }
}

const UNUSABLE_INPUT: u8 = 42;
