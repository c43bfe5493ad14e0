//! What waits to be sent to the model: messages of the user, and what the session must say besides.

use super::sparse::Sparse;
use crate::conversation::{Input, UserMessage, non_blank};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::mem;
use serde::{Deserialize, Serialize};

/// Messages and notes that are in no answered request yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Outbox {
    /// Messages that go out with the next request, oldest first.
    pending: Vec<UserMessage>,
    /// Messages that came while the session was busy. They go out when the model is asked for something new, or with results.
    queue: Vec<UserMessage>,
    /// Messages that wait for the end of the turn.
    #[serde(default, skip_serializing_if = "Sparse::is_default")]
    waiting: Sparse<Vec<UserMessage>>,
    /// The message that this step takes back.
    #[serde(skip)]
    withdrawn: Sparse<UserMessage>,
    /// What the model must know besides, such as what a formatter changed. It goes out before the messages.
    notes: Vec<UserMessage>,
}

impl Outbox {
    /// Adds a message that goes out with the next request, after all that are there.
    pub(super) fn add(&mut self, said: UserMessage) {
        self.take_up_all();
        // The messages become the history's, which has no use for more room.
        self.pending.reserve_exact(1);
        self.pending.push(said);
    }

    /// Adds a message that waits until the session takes up the queue.
    pub(super) fn queue(&mut self, said: UserMessage) {
        self.queue.push(said);
    }

    /// Adds a message that waits for the end of the turn.
    pub(super) fn wait(&mut self, said: UserMessage) {
        self.waiting.change(|waiting| waiting.push(said));
    }

    /// Whether such a message can be taken back.
    pub(super) fn waits(&self, text: &str) -> bool {
        let (queue, waiting) = self.waiting();
        queue.iter().chain(waiting).any(|said| said.text == text)
    }

    /// Hands such a message back: one that waits for the end of the turn before one that is queued, the newest of them.
    pub(super) fn withdraw(&mut self, text: &str) {
        let newest = |messages: &[UserMessage]| messages.iter().rposition(|said| said.text == text);
        let (in_queue, in_waiting) = (newest(&self.queue), newest(self.waiting().1));
        let Self { queue, waiting, withdrawn, .. } = self;
        withdrawn.change(|place| {
            if let Some(at) = in_waiting {
                waiting.change(|waiting| *place = waiting.remove(at));
            } else if let Some(at) = in_queue {
                *place = queue.remove(at);
            }
        });
    }

    /// Adds a note.
    pub(super) fn note(&mut self, note: impl Into<UserMessage>) {
        self.notes.push(note.into());
    }

    /// Sends the queued messages with the next request.
    pub(super) fn take_up_queue(&mut self) {
        self.pending.append(&mut self.queue);
    }

    /// Sends all messages with the next request.
    pub(super) fn take_up_all(&mut self) {
        self.take_up_queue();
        self.pending.append(&mut self.waiting.take());
    }

    /// Whether messages wait for the end of the turn.
    pub(super) const fn has_waiting(&self) -> bool {
        self.waiting.get().is_some()
    }

    /// The messages that can be taken back: those that are queued, and those that wait for the end of the turn.
    pub(super) fn waiting(&self) -> (&[UserMessage], &[UserMessage]) {
        (&self.queue, self.waiting.get().map_or(&[], Vec::as_slice))
    }

    /// Whether messages are queued.
    pub(super) const fn has_queue(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Whether the next request has a message or a note to send.
    pub(super) const fn has_unsent(&self) -> bool {
        !self.pending.is_empty() || !self.notes.is_empty()
    }

    /// The messages that go out with the next request.
    pub(super) fn pending(&self) -> &[UserMessage] {
        &self.pending
    }

    /// All messages, in the order in which they go out.
    pub(super) fn messages(&self) -> impl Iterator<Item = &str> {
        let (queue, waiting) = self.waiting();
        self.pending.iter().chain(queue).chain(waiting).map(|said| said.text.as_str())
    }

    /// Size of what the next request sends, in bytes; pictures count as much as they are worth.
    pub(super) fn unsent_bytes(&self) -> u64 {
        self.notes.iter().chain(&self.pending).map(UserMessage::weight).sum()
    }

    /// What the next request sends.
    pub(super) fn unsent(&self) -> Option<Input> {
        Input::new(self.notes.iter().chain(&self.pending).cloned().collect()).ok()
    }

    /// Takes out what the last request sent. An idle session holds no room for messages.
    pub(super) fn take_unsent(&mut self) -> Option<Input> {
        let (notes, pending) = (mem::take(&mut self.notes), mem::take(&mut self.pending));
        // Most requests have no notes, and then the messages need no copy.
        let messages = if notes.is_empty() { pending } else { notes.into_iter().chain(pending).collect() };
        Input::new(messages).ok()
    }

    /// Takes out the texts of the messages of the next request from one of them on.
    pub(super) fn take_pending_from(&mut self, first: usize) -> Vec<String> {
        texts(self.pending.split_off(first.min(self.pending.len())))
    }

    /// Takes out the texts of the messages of the next request.
    pub(super) fn take_pending(&mut self) -> Vec<String> {
        texts(mem::take(&mut self.pending))
    }

    /// Takes out the texts that are handed back: the message that is taken back, or else all that the next request does not send.
    pub(super) fn take_returned(&mut self) -> Vec<String> {
        if !self.withdrawn.is_default() {
            return vec![self.withdrawn.take().text];
        }
        let mut messages = mem::take(&mut self.queue);
        messages.append(&mut self.waiting.take());
        texts(messages)
    }

    /// Queues every message: no further request is made.
    pub(super) fn queue_all(&mut self) {
        self.take_up_all();
        self.queue = mem::take(&mut self.pending);
    }

    /// Whether every message says something.
    pub(super) fn is_non_blank(&self) -> bool {
        self.messages().all(non_blank)
    }
}

/// What was typed. It names its pictures, so that they are found again when it is sent again.
fn texts(messages: Vec<UserMessage>) -> Vec<String> {
    messages.into_iter().map(|said| said.text).collect()
}

#[cfg(test)]
mod tests {
    use super::Outbox;
    use alloc::string::String;
    use alloc::vec::Vec;

    fn messages(outbox: &Outbox) -> Vec<&str> {
        outbox.messages().collect()
    }

    #[test]
    fn notes_go_out_before_messages_and_queued_ones_when_they_are_taken_up() {
        let mut outbox = Outbox::default();
        outbox.queue("first".into());
        assert!(outbox.has_queue() && !outbox.has_unsent());
        outbox.add("second".into());
        outbox.note(String::from("note"));
        outbox.queue("third".into());
        assert_eq!(messages(&outbox), ["first", "second", "third"]);
        assert_eq!(outbox.unsent_bytes(), "notefirstsecond".len() as u64);
        let unsent = outbox.unsent();
        assert_eq!(outbox.take_unsent(), unsent);
        assert_eq!(unsent.unwrap().texts(), ["note", "first", "second"]);
        assert_eq!(messages(&outbox), ["third"]);
        assert_eq!(outbox.take_unsent(), None);
    }

    #[test]
    fn an_ended_session_hands_back_every_message_in_order() {
        let mut outbox = Outbox::default();
        outbox.add("first".into());
        outbox.queue("second".into());
        outbox.wait("third".into());
        outbox.queue_all();
        assert!(outbox.pending().is_empty());
        assert_eq!(outbox.take_returned(), ["first", "second", "third"]);
        assert_eq!(messages(&outbox), [""; 0]);
    }

    #[test]
    fn a_message_that_waits_goes_out_last_and_is_withdrawn_first() {
        let mut outbox = Outbox::default();
        ["same", "other"].into_iter().for_each(|text| outbox.wait(text.into()));
        outbox.queue("same".into());
        outbox.take_up_queue();
        outbox.queue("same".into());
        assert_eq!(messages(&outbox), ["same", "same", "same", "other"]);
        assert!(outbox.waits("same") && outbox.waits("other") && !outbox.waits("sam"));
        outbox.withdraw("same");
        assert_eq!(messages(&outbox), ["same", "same", "other"]);
        assert_eq!(outbox.take_returned(), ["same"]);
        outbox.withdraw("same");
        // What goes out with the next request is not waiting any more.
        assert!(!outbox.waits("same"));
        assert_eq!(outbox.take_returned(), ["same"]);
        outbox.take_up_all();
        assert_eq!(outbox.pending(), ["same", "other"]);
    }

    #[test]
    fn what_was_not_looked_at_is_taken_out_alone() {
        let mut outbox = Outbox::default();
        ["first", "second", "third"].into_iter().for_each(|text| outbox.add(text.into()));
        assert_eq!(outbox.take_pending_from(2), ["third"]);
        assert_eq!(outbox.take_pending_from(7), [""; 0]);
        assert_eq!(outbox.pending(), ["first", "second"]);
    }
}
