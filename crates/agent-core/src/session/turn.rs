//! The course of a turn: how it begins, is stopped and ends, and what becomes of the user's messages then.

use super::compaction::Cause;
use super::outcome::Ending;
use super::user_hooks::HookState;
use super::{Deadline, Repetition, Session, stop};
use crate::budget::LimitKind;
use crate::conversation::UserMessage;
use alloc::format;
use alloc::string::String;

impl Session {
    /// A message came. While nothing is in flight it starts a turn and takes along what was left over.
    pub(super) fn absorb_input(&mut self, said: UserMessage) {
        if self.asked.is_open() {
            self.outbox.queue(said);
            // The hooks of the session's end run outside of a run: what is typed there begins one.
            self.run.begin();
            return;
        }
        self.begin_work();
        self.outbox.add(said);
    }

    /// The same with a message that waits for the end of the turn, if one is going on.
    pub(super) fn absorb_input_after_turn(&mut self, said: UserMessage) {
        if !self.asked.is_open() {
            return self.absorb_input(said);
        }
        self.outbox.wait(said);
        self.run.begin();
    }

    /// The agent's own message continues the work on the one before it, in what is left of its time.
    pub(super) fn absorb_follow_up(&mut self, text: String, used_ms: u64) {
        let begins = !self.asked.is_open();
        self.absorb_input(UserMessage::of_agent(text));
        if begins {
            self.deadline.go_on(used_ms);
        }
    }

    /// Starts a turn: its counters begin anew.
    fn begin_turn(&mut self) {
        self.deadline = Deadline::of_turn();
        self.calls.begin_turn();
        self.repetition = Repetition::default();
        self.held.refuse_calls(false);
        self.ledger.failures_in_row = 0;
        self.compaction.begin_turn();
        self.hooks.turn_began();
        self.run.begin();
    }

    /// Starts a turn that sends what is unsent.
    pub(super) fn begin_work(&mut self) {
        self.begin_turn();
        self.turn_is_work();
    }

    /// Starts a turn for a summary. Work that a limit stopped still waits for the limit, whatever becomes of the summary.
    pub(super) fn begin_summary(&mut self, focus: Option<String>) {
        self.begin_turn();
        self.run.current().is_for_summary();
        self.compaction.request(focus);
    }

    /// Continues what a limit had stopped.
    pub(super) fn resume(&mut self) {
        self.begin_work();
        // A paused answer is continued first, as it would have been without the limit.
        if !self.conversation.is_paused() {
            self.outbox.take_up_queue();
        }
    }

    /// What is unsent goes out in this turn, whatever the turn was begun for.
    pub(super) fn turn_is_work(&mut self) {
        self.held.let_go();
        self.run.current().go_on();
    }

    /// A stop was asked for. It counts only while something is in flight, and only once.
    pub(super) fn absorb_cancel(&mut self, reason: stop::Reason) {
        if self.asked.is_open() {
            self.cancel.ask(reason);
        }
    }

    /// The cancelled turn has come to rest.
    pub(super) fn settle_cancel(&mut self) {
        let reason = self.cancel.settle();
        // A question and a wait are withdrawn; a withdrawal has no answer.
        self.asked.close();
        self.calls.end_wait();
        self.close_batch("cancelled");
        self.drop_requested_compaction();
        let ending = match reason {
            Some(stop::Reason::DeadlineReached) => {
                let limit_ms = self.config.limits.max_wall_time_ms.unwrap_or_default();
                self.notify(format!("time limit of the turn reached: {limit_ms} ms"));
                Ending::Limit(LimitKind::WallTime)
            }
            Some(stop::Reason::Requested) | None => Ending::Cancelled,
        };
        // Only the hooks of the session's end run outside of a run; the last one has ended as it did.
        if let Some(run) = self.run.unfinished() {
            run.end(ending);
        }
    }

    /// The session ends for good: open calls are answered, unsent messages go back to the user.
    pub(super) fn absorb_shutdown(&mut self) {
        self.charge_open_call();
        self.close_batch("the session was ended");
        self.reply = None;
        self.hooks = HookState::default();
        self.outbox.queue_all();
        if let Some(run) = self.run.unfinished() {
            run.end(Ending::Cancelled);
            run.finish(0);
        }
    }

    /// A limit allows no further model call. What is unsent stays, and goes out when the limit is raised.
    pub(super) fn stop_by_limit(&mut self) {
        let Some(reached) = self.blocking_limit() else { return };
        self.notify(format!("{reached}"));
        self.run.current().limit(&reached);
        self.drop_requested_compaction();
    }

    pub(super) fn drop_requested_compaction(&mut self) {
        if self.compaction.due == Some(Cause::Requested) {
            self.end_summary(false);
        }
    }

    /// The turn ended and the user is prompted.
    pub(super) fn end_turn(&mut self) {
        let used_ms = self.time_used_ms();
        self.deadline = Deadline::default();
        // No hook asks any more: an idle session holds nothing for them but the paths that none has dealt with.
        self.changes.forget_batch();
        self.calls.end_turn();
        self.hooks.summary_ended();
        self.held.end_turn(self.run.unfinished().and_then(|run| run.finish(used_ms)));
        if !self.held.is_stopped() {
            self.conversation.close_pause();
        }
    }

    /// Whether the next request continues a paused answer. A new message or note closes that answer.
    pub(super) fn is_continuing(&self) -> bool {
        self.conversation.is_paused() && !self.outbox.has_unsent()
    }

    /// The model has answered what was sent: it becomes history.
    pub(super) fn commit_input(&mut self) {
        self.hooks.messages_left();
        if let Some(input) = self.outbox.take_unsent() {
            self.conversation.push_input(input);
        }
    }

    /// What the next `DisplayError` says.
    pub(super) fn notify(&mut self, message: String) {
        self.run.current().fail(message.clone());
        // What is handed back and not shown yet is not lost when the time is up, too.
        self.notice.say_also(message);
    }

    /// The same, handing the unanswered message back because sending it again is no use.
    pub(super) fn notify_handing_back(&mut self, message: String) {
        self.run.current().fail(message.clone());
        self.hand_back(message);
    }

    /// Hands the unanswered message back.
    pub(super) fn hand_back(&mut self, message: String) {
        let returned_input = self.outbox.take_pending();
        self.hooks.messages_left();
        self.notice.say(message, returned_input);
    }
}
