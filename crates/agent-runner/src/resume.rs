//! Resuming an agent that was rebuilt from its journal: performs what is still outstanding.

use crate::member::Member;
use crate::notice::Notice;
use agent_core::journal::ActionStarted;
use agent_core::lifecycle::{self, Lifecycle};
use agent_core::ports::JournalError;
use agent_core::session::Action;

impl Member {
    pub(crate) fn prompt(&self, is_new: bool) {
        let session = self.agent.session();
        let (ledger, limit) = (*session.ledger(), session.limit_reached());
        self.notify(Notice::Prompt { outcome: self.agent.outcome(), is_new, ledger, limit });
    }

    /// Performs what was in flight and still is, and notes it before it begins. `asked` is what the lifecycle waited for when it was left;
    /// what it does not wait for any more, or another one does, is passed over.
    pub(crate) async fn go_on(&mut self, asked: Vec<lifecycle::Action>) -> Result<(), JournalError> {
        let mut repeated: Vec<Action> = self.agent.outstanding().into_iter().map(|open| open.action).collect();
        // What was asked since it was resumed is in flight.
        repeated.retain(|action| !self.performer.is_in_flight(action));
        for started in repeated.iter().filter_map(ActionStarted::of) {
            self.note(started).await?;
        }
        self.sync().await?;
        for action in repeated {
            self.performer.perform(action, self.agent.session());
        }
        let open = self.agent.lifecycle().map(Lifecycle::outstanding).unwrap_or_default();
        for action in asked.into_iter().filter(|action| open.contains(action)) {
            self.oversight.perform(action, &self.agent);
        }
        Ok(())
    }
}
