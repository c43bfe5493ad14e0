//! What a running call reports, and that it ended.

use crate::inbox::{Inbox, Message, send};
use crate::pieces::Pieces;
use crate::redact::Redactor;
use agent_core::conversation::CallId;
use agent_core::ports::ProgressSink;
use agent_core::session::{Event, Ticket};
use agent_core::tool::ToolOutcome;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;

/// One call's way into the inbox.
pub(crate) struct Progress {
    ticket: Ticket,
    call: CallId,
    pieces: Mutex<Pieces>,
    /// Room for reports that the runner has not seen: a call that prints faster than the host reads must not fill the memory.
    room: Arc<Semaphore>,
    inbox: Inbox,
}

impl Progress {
    pub(crate) fn new(ticket: Ticket, call: CallId, redactor: &Redactor, inbox: Inbox) -> Self {
        let (pieces, room) = (Mutex::new(Pieces::new(redactor)), Arc::new(Semaphore::new(MOST_UNSEEN)));
        Self { ticket, call, pieces, room, inbox }
    }

    /// Reports the result of the call.
    pub(crate) fn end(&self, outcome: ToolOutcome) {
        let rest = self.pieces.lock().unwrap_or_else(PoisonError::into_inner).rest();
        self.send(rest);
        send(&self.inbox, Event::ToolCompleted { ticket: self.ticket, call: self.call.clone(), outcome });
    }

    fn send(&self, text: String) {
        if text.is_empty() {
            return;
        }
        // Without room the report is dropped: the call's result holds what matters.
        if let Ok(room) = self.room.clone().try_acquire_owned() {
            let event = Event::ToolProgress { ticket: self.ticket, call: self.call.clone(), text };
            self.inbox.send(Message::Progress(event, room));
        }
    }
}

impl ProgressSink for Progress {
    fn report(&self, text: &str) {
        let settled = self.pieces.lock().unwrap_or_else(PoisonError::into_inner).push(text);
        self.send(settled);
    }
}

/// Reports of one call that may wait for the runner.
const MOST_UNSEEN: usize = 256;
