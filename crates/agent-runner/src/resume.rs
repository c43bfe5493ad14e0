//! Resuming a session that was rebuilt from its journal: performs what the core says is to be repeated.

use crate::notice::Notice;
use crate::runner::Runner;
use agent_core::journal::{ActionStarted, Resumption};
use agent_core::ports::JournalError;
use agent_core::session::Event;

impl Runner {
    /// An idle session prompts again, so that a host sees the same as after a start.
    pub(crate) fn prompt_again(&self) {
        if self.session.is_idle() {
            let session = &self.session;
            self.notify(Notice::Prompt { outcome: session.outcome(), ledger: *session.ledger() });
        }
    }

    /// Repeats what can be repeated, and notes it before it begins. Returns the answers to what cannot.
    pub(crate) async fn go_on(&mut self) -> Result<Vec<Event>, JournalError> {
        let toolbox = &self.performer.toolbox;
        let Resumption { repeated, answers, .. } =
            Resumption::of(&self.session, &self.begun, |call| toolbox.may_be_repeated(call));
        for started in repeated.iter().filter_map(ActionStarted::of) {
            self.note(started).await?;
        }
        self.sync().await?;
        for action in repeated {
            self.performer.perform(action, &self.session);
        }
        Ok(answers)
    }
}
