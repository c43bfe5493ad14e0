//! What was said before a session, in another program: part of how the session is made, as its configuration is.

use super::Session;
use crate::conversation::{Conversation, ConversationError, Item};
use alloc::sync::Arc;

impl Session {
    /// Appends the next item of it. Nothing has happened to the session yet.
    pub(crate) fn precede(&mut self, item: &Arc<Item>) -> Result<(), HistoryError> {
        if self.is_started() {
            return Err(HistoryError::Begun);
        }
        let mut longer: Conversation = self.conversation.clone();
        longer.push_shared(item.clone())?;
        if let Item::Round(round) = item.as_ref() {
            let calls = || round.answer().calls();
            if calls().any(|call| self.used_ids.contains(call.id.as_str())) {
                return Err(HistoryError::RepeatedCall);
            }
            calls().for_each(|call| self.used_ids.add(call.id.clone()));
        }
        self.conversation = longer;
        Ok(())
    }
}

/// Why something cannot have been said before a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// The session has begun.
    #[error("put history before a session that has begun")]
    Begun,
    /// It does not follow what is there.
    #[error(transparent)]
    Item(#[from] ConversationError),
    /// A call has the id of an earlier one.
    #[error("append a round: one of its calls has the id of an earlier call")]
    RepeatedCall,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::{Answer, Arguments, Block, CallId, Input, Round, ToolCall, ToolResult};
    use crate::llm::LlmResponse;
    use crate::session::{Action, Event, ModelConfig, SessionConfig, State};
    use alloc::vec;

    fn input(text: &str) -> Arc<Item> {
        Arc::new(Item::Input(Input::new(vec![text.into()]).unwrap()))
    }

    fn round(id: &str) -> Arc<Item> {
        let call = ToolCall { id: CallId::new(id), name: "Read".into(), arguments: Arguments::empty() };
        let results = vec![ToolResult::new(call.id.clone(), "ok", false)];
        Arc::new(Item::Round(Round::new(Answer::new(vec![Block::Call(call)]).unwrap(), results).unwrap()))
    }

    #[test]
    fn a_session_goes_on_from_what_was_said_before_it() {
        let mut session = Session::new(SessionConfig::new(ModelConfig::new("m")));
        session.precede(&input("Mend it.")).unwrap();
        session.precede(&round("c1")).unwrap();
        let _ = session.step(1, Event::Started).unwrap();
        assert_eq!(session.state(), State::WaitingForUserInput);
        let step = session.step(2, Event::UserInput { text: "And now?".into() }).unwrap();
        let Some(Action::SendLlmRequest { ticket, request }) = step.actions.into_iter().next() else { panic!() };
        assert_eq!(request.conversation.len(), 3);
        let _ = session.step(3, Event::LlmCompleted { ticket, response: LlmResponse::text("Done.") }).unwrap();
        assert_eq!(session.conversation().len(), 4);
        assert_eq!(session.ledger().model_calls, 1, "what others used is not counted");
    }

    #[test]
    fn what_does_not_follow_is_refused_and_changes_nothing() {
        let mut session = Session::new(SessionConfig::new(ModelConfig::new("m")));
        assert_eq!(session.precede(&round("c1")), Err(HistoryError::Item(ConversationError::NoUserContent)));
        session.precede(&input("Mend it.")).unwrap();
        session.precede(&round("c1")).unwrap();
        let before = session.clone();
        assert_eq!(session.precede(&round("c1")), Err(HistoryError::RepeatedCall));
        assert_eq!(session, before);
        let _ = session.step(1, Event::Started).unwrap();
        let before = session.clone();
        assert_eq!(session.precede(&input("late")), Err(HistoryError::Begun));
        assert_eq!(session, before);
    }
}
