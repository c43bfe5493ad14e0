//! Resuming an agent that was rebuilt from its journal: performs what the core wants repeated.

use crate::notice::Notice;
use crate::runner::Runner;
use agent_core::journal::{ActionStarted, Resumption};
use agent_core::lifecycle::{self, Lifecycle};
use agent_core::ports::JournalError;
use agent_core::session::Event;

impl Runner {
    /// An idle agent prompts again, so that a host sees the same as after a start.
    pub(crate) fn prompt_again(&self) {
        if self.agent.is_idle() {
            self.prompt();
        }
    }

    pub(crate) fn prompt(&self) {
        self.notify(Notice::Prompt { outcome: self.agent.outcome(), ledger: *self.agent.session().ledger() });
    }

    /// Repeats what can be repeated, and notes it before it begins. Returns the answers to what cannot.
    /// `asked` is what the lifecycle waited for when it was left; what it does not wait for any more, or another one does, is passed over.
    pub(crate) async fn go_on(&mut self, asked: Vec<lifecycle::Action>) -> Result<Vec<Event>, JournalError> {
        let performer = &self.performer;
        let may_be_repeated = |call: &_| performer.toolbox.may_be_repeated(call);
        let Resumption { mut repeated, answers, .. } =
            Resumption::of(self.agent.session(), &self.begun, may_be_repeated);
        // What was asked since it was resumed is in flight.
        repeated.retain(|action| !performer.is_in_flight(action));
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
        Ok(answers)
    }
}
