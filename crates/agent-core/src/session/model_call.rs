//! What becomes of a model call: an answer, a summary, a failure, an abort.

use super::batch::Batch;
use super::compaction::{self, Cause};
use super::outcome::Ending;
use super::reply::{self, Kept, Reply};
use super::table::Trigger;
use super::{Context, Session, SessionConfig, Summarised};
use crate::budget::Price;
use crate::conversation::{Answer, Block, Conversation};
use crate::llm::{LlmError, LlmErrorKind, LlmResponse, PartialAnswer, Usage};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

impl Session {
    /// The model answered, or made a summary.
    pub(super) fn absorb_response(&mut self, trigger: Trigger, response: LlmResponse) {
        let cost_nano_usd = self.charge(&response);
        if self.is_compacting() {
            self.absorb_summary(trigger, &response, cost_nano_usd);
            return;
        }
        self.keep_usage(response.usage);
        let used = &self.used_ids;
        let mut notes = Vec::new();
        let judged = reply::judge(response, &mut self.next_call, |id| !used.contains(id), &mut notes);
        notes.into_iter().for_each(|text| self.trace.note(self.now_ms, text));
        let is_last_chance = match &judged {
            Reply::Paused(_) => !self.calls.may_pause(),
            Reply::Unusable { .. } => self.config.retry.delay_ms(self.calls.attempt(), None, 0).is_none(),
            Reply::Calls { .. } | Reply::Done(_) | Reply::UnusableForGood { .. } => false,
        };
        self.reply = Some(Box::new(if is_last_chance { judged.given_up() } else { judged }));
    }

    /// Uses what was answered.
    pub(super) fn take_reply(&mut self) {
        let Some(reply) = self.reply.take() else { return };
        match *reply {
            Reply::Calls { answer, unusable } => {
                self.accept(&answer);
                self.calls.complete();
                answer.calls().for_each(|call| self.used_ids.add(call.id.clone()));
                answer.text_into(self.run.current().text_mut());
                self.batch = Some(Box::new(Batch::new(answer, unusable)));
            }
            Reply::Paused(answer) => {
                self.accept(&answer);
                self.calls.pause();
                // It follows the input that was just committed, so it always fits.
                let _ = self.conversation.push_answer(answer);
            }
            Reply::Done(answer) => {
                self.accept(&answer);
                self.calls.complete();
                answer.text_into(self.run.current().text_mut());
                let _ = self.conversation.push_answer(answer);
            }
            Reply::Unusable { reason } => {
                self.fail(None, 0, reason);
            }
            Reply::UnusableForGood { reason, keep, hand_back, .. } => self.give_up_on(reason, keep, hand_back),
        }
    }

    /// Under a cancel: a message that is complete is kept, one that cannot be used counts as aborted and its text is kept.
    pub(super) fn keep_reply(&mut self) {
        match self.reply.take().map(|reply| *reply) {
            Some(reply @ (Reply::Calls { .. } | Reply::Paused(_) | Reply::Done(_))) => {
                self.reply = Some(Box::new(reply));
                self.take_reply();
            }
            Some(Reply::UnusableForGood { keep: Some(kept), .. }) => self.keep_partial(kept),
            Some(Reply::UnusableForGood { reason, keep: None, hand_back: true, .. }) => self.hand_back_refused(reason),
            Some(Reply::UnusableForGood { keep: None, hand_back: false, .. } | Reply::Unusable { .. }) | None => {}
        }
    }

    /// The model call failed.
    pub(super) fn absorb_failure(&mut self, trigger: Trigger, error: &LlmError, chance_permille: u16) {
        if let Some(partial) = error.partial.as_deref() {
            self.charge_partial(*partial);
        }
        if trigger == Trigger::LlmFailedRetryable {
            self.fail(error.retry_after_ms, chance_permille, error.message.clone());
        } else if trigger == Trigger::LlmFailedFallback {
            self.fall_back(error);
        } else if trigger == Trigger::ContextOverflowed {
            self.shorten();
        } else if trigger == Trigger::CompactionFailedWorkDue {
            self.go_on_without_summary(self.final_message(error));
        } else if trigger == Trigger::LlmAborted {
            if self.is_hopeless(error) {
                self.hand_back_refused(error.message.clone());
            }
            self.end_summary(false);
        } else {
            self.fail_for_good(error);
        }
    }

    /// The progress of the model call is unknown: its request counts as used, and its purpose stays due.
    pub(super) fn absorb_interruption(&mut self, trigger: Trigger) {
        self.charge_partial(PartialAnswer::default());
        if trigger == Trigger::LlmAborted {
            self.end_summary(false);
        }
    }

    /// The model call was stopped: text that had come stays.
    pub(super) fn absorb_abort(&mut self, partial_text: String) {
        self.cancel.ask(super::stop::Reason::Requested);
        self.charge_partial(PartialAnswer { usage: None, bytes: partial_text.len() as u64 });
        if self.is_compacting() {
            self.end_summary(false);
            return;
        }
        if let Some(kept) = reply::kept(vec![Block::Text(partial_text)], "was interrupted") {
            self.keep_partial(kept);
        }
    }

    /// Appends the kept part of an answer to the history, after the messages that led to it.
    fn keep_partial(&mut self, kept: Kept) {
        self.commit_input();
        self.push_kept(kept);
    }

    /// Appends an answer without a proper end to the history. The next message has a note about it for the model.
    fn push_kept(&mut self, Kept { answer, note }: Kept) {
        answer.text_into(self.run.current().text_mut());
        let _ = self.conversation.push_answer(answer);
        self.outbox.note(note);
    }

    /// The messages were answered: they become history, and what counted failures begins anew.
    fn accept(&mut self, answer: &Answer) {
        self.commit_input();
        if let Some(usage) = self.reply_usage.as_deref() {
            let bytes = self.conversation.bytes().saturating_add(answer.bytes());
            self.context.measure(usage.total_tokens(), bytes);
        }
        self.calls.succeed();
        if !self.config.hooks.is_empty() {
            self.hooks.model_answered();
        }
        self.compaction.answered();
    }

    /// The whole configuration is another. A call in flight stays what it was, and that of the model it was made to.
    pub(super) fn absorb_config(&mut self, config: SessionConfig) {
        let is_called = self.is_model_called();
        let asked = is_called.then(|| self.calls.take_replaced().unwrap_or_else(|| Box::new(self.replaceable())));
        self.calls.reconfigure(asked.filter(|asked| !asked.is_of(&config)));
        if config.limits != self.config.limits {
            self.held.refuse_calls(false);
        }
        self.reconfigure_instructions(&config.instructions);
        self.config = config;
        self.context = Context::new(self.config.fixed_tokens());
        self.hooks.start_again();
    }

    /// Where the next model stands that would be asked instead of the one that was.
    pub(super) fn next_model(&self) -> usize {
        if self.calls.replaced().is_some_and(|replaced| replaced.model.as_ref() != self.config.models.first()) {
            0
        } else {
            self.calls.model_index().saturating_add(1)
        }
    }

    /// Whether a model was asked, has not answered, and may ask money for it: more is spent than the ledger says.
    #[must_use]
    pub fn has_open_cost(&self) -> bool {
        self.is_model_called() && !self.called_price().is_some_and(Price::is_nothing)
    }

    /// The session ends while the model is called: its answer will not be taken, and its request counts as used.
    pub(super) fn charge_open_call(&mut self) {
        if self.is_model_called() {
            self.charge_partial(PartialAnswer::default());
        }
    }

    fn fall_back(&mut self, error: &LlmError) {
        let from = self.called_id();
        self.calls.fall_back(self.next_model());
        self.context.forget();
        let to = self.config.model_id(self.calls.model_index());
        // The turn continues: this is not an error of the run.
        let message = format!("{}; continuing with model {to} instead of {from}", error.message);
        self.notice.say(message, Vec::new());
    }

    /// What repetition may cure stays pending; what it cannot cure goes back to the user.
    fn fail_for_good(&mut self, error: &LlmError) {
        let message = self.final_message(error);
        // What waits for a limit was not sent with the request for a summary.
        let was_sent = self.end_summary(false) != Some(Cause::Requested);
        if error.kind.is_retryable() || !was_sent {
            self.notify(message);
        } else {
            self.notify_handing_back(message);
        }
        self.run.current().end(Ending::Llm(error.kind));
    }

    fn give_up_on(&mut self, reason: String, keep: Option<Kept>, hand_back: bool) {
        match keep {
            Some(kept) => {
                self.accept(&kept.answer);
                self.notify(reason);
                self.push_kept(kept);
            }
            None if hand_back => self.notify_handing_back(reason),
            None => self.notify(reason),
        }
        self.run.current().end(Ending::Unusable);
    }

    /// What an answer to the request for a summary is good for, as its row says. Under a cancel, one that is of no use ends it silently.
    fn absorb_summary(&mut self, trigger: Trigger, response: &LlmResponse, cost_nano_usd: Option<u64>) {
        let summary = compaction::summary(response);
        if trigger == Trigger::CompactionFailedWorkDue {
            self.go_on_without_summary(no_use(summary));
        } else if trigger == Trigger::CompactionFailedForGood {
            self.end_summary(false);
            self.notify(no_use(summary));
            self.run.current().end(Ending::Unusable);
        } else if trigger == Trigger::LlmAborted {
            self.end_summary(false);
        } else if let Some(shorter) = summary.ok().and_then(|text| self.shorter(&text, response)) {
            let cause = self.take_summary(shorter, response, cost_nano_usd);
            if trigger == Trigger::CompactionCompletedWorkDue && cause == Some(Cause::Requested) {
                self.gather_unless_cancelled();
            }
        }
    }

    /// The conversation with the summary in an answer, or `None` if it is not much shorter.
    pub(super) fn shorter(&self, summary: &str, response: &LlmResponse) -> Option<Conversation> {
        let model = self.author(response);
        compaction::replaced(&self.conversation, self.is_continuing(), summary, &model, &self.config.summaries)
    }

    /// The model that answered, as the provider named it; else as it was called.
    fn author(&self, response: &LlmResponse) -> Arc<str> {
        if response.model.is_empty() { self.called_id() } else { Arc::from(response.model.as_str()) }
    }

    /// A summary takes the place of what was said before. Returns why it was made.
    fn take_summary(
        &mut self,
        shorter: Conversation,
        response: &LlmResponse,
        cost_nano_usd: Option<u64>,
    ) -> Option<Cause> {
        let before_tokens = self.context_estimate();
        let after_tokens = self.context.shrunk(before_tokens, self.conversation.bytes(), shorter.bytes());
        self.conversation = shorter;
        self.forget_instructions();
        self.context.forget();
        self.calls.succeed();
        let cause = self.end_summary(true);
        self.summarised = Some(Box::new(Summarised {
            before_tokens,
            after_tokens,
            model: self.author(response),
            cost_nano_usd,
            is_requested: cause == Some(Cause::Requested),
            in_turn: self.compaction.in_turn(),
        }));
        cause
    }

    /// The summary is made, or will not be. Returns why it was to be.
    pub(super) fn end_summary(&mut self, is_made: bool) -> Option<Cause> {
        self.hooks.summary_ended();
        self.compaction.end(is_made)
    }

    /// Input that came while a requested summary was made goes out next, and so does what a limit had stopped; under a cancel input is
    /// handed back instead.
    fn gather_unless_cancelled(&mut self) {
        if !self.cancel.is_pending() {
            self.turn_is_work();
            self.outbox.take_up_all();
        }
    }

    /// There is no summary, which is no error of the work: it continues, also what a limit had stopped that was raised meanwhile.
    fn go_on_without_summary(&mut self, why: String) {
        self.end_summary(false);
        self.notice.say(why, Vec::new());
        if self.held.is_raised() {
            self.turn_is_work();
            self.outbox.take_up_queue();
        }
    }

    /// Whether repetition cannot cure what the provider says to the messages of a request.
    fn is_hopeless(&self, error: &LlmError) -> bool {
        let may_be_mended = error.kind == LlmErrorKind::ContextOverflow && self.can_shorten();
        !self.is_compacting() && !error.kind.is_retryable() && !may_be_mended
    }

    /// Under a cancel, what the provider does not take is handed back all the same: it would take the next message down with it.
    fn hand_back_refused(&mut self, why: String) {
        if !self.outbox.pending().is_empty() {
            self.hand_back(why);
        }
    }

    /// After an overflow: summarise first, then clip the last round.
    fn shorten(&mut self) {
        let by_summary = self.compaction.overflows == 0 && self.may_summarise(true);
        self.compaction.overflows = self.compaction.overflows.saturating_add(1);
        self.context.forget();
        if by_summary {
            self.compaction.due = Some(Cause::TooLong);
        } else if let Some(shorter) = compaction::last_round_clipped(&self.conversation) {
            self.conversation = shorter;
        }
    }

    /// The call is repeated after a while.
    fn fail(&mut self, retry_after_ms: Option<u64>, chance_permille: u16, reason: String) {
        let delay_ms = self.config.retry.delay_ms(self.calls.attempt(), retry_after_ms, chance_permille);
        self.calls.fail(delay_ms.unwrap_or_default(), reason);
    }

    /// Kept in the room of the last one, where there is one.
    fn keep_usage(&mut self, usage: Option<Usage>) {
        match (&mut self.reply_usage, usage) {
            (Some(place), Some(usage)) => **place = usage,
            (place, usage) => *place = usage.map(Box::new),
        }
    }

    /// What is known to have come of an answer that was never whole.
    pub(super) fn charge_partial(&mut self, partial: PartialAnswer) {
        let usage = partial.usage_or(self.context_estimate());
        let price = self.called_price().copied();
        self.ledger.charge(&usage, true, price.as_ref());
    }

    /// Returns what it cost, when the price is known.
    fn charge(&mut self, response: &LlmResponse) -> Option<u64> {
        let usage = response.usage.unwrap_or_else(|| Usage {
            input_tokens: self.context_estimate(),
            output_tokens: response.blocks.iter().map(reply::bytes).sum::<u64>() / 4,
            ..Usage::default()
        });
        let price = self.called_price().copied();
        self.ledger.charge(&usage, response.usage.is_none(), price.as_ref());
        price.map(|price| price.cost_nano_usd(&usage))
    }

    /// Why it is not tried again.
    fn final_message(&self, error: &LlmError) -> String {
        let why = self.final_reason(error);
        let most = self.config.summaries.max_per_turn.filter(|most| self.compaction.in_turn() >= *most);
        match most {
            _ if self.is_compacting() => no_use(Err(why)),
            Some(most) if error.kind == LlmErrorKind::ContextOverflow => {
                format!("{why}; the conversation was summarised {most} times in this turn, which is the limit")
            }
            Some(_) | None => why,
        }
    }

    fn final_reason(&self, error: &LlmError) -> String {
        let attempts = self.calls.attempt();
        let (longest_ms, is_deadline) = self.longest_retry_after_ms(self.now_ms);
        match error.retry_after_ms {
            Some(asked_ms) if error.kind.is_retryable() && asked_ms > longest_ms => format!(
                "{}; the provider asks to wait {} s, which is longer than the {} s {}",
                error.message,
                asked_ms.div_ceil(1_000),
                longest_ms / 1_000,
                if is_deadline { "left in the turn" } else { "allowed" }
            ),
            _ if error.kind.is_retryable() && attempts > 1 => {
                format!("{}; gave up after {attempts} attempts", error.message)
            }
            _ => error.message.clone(),
        }
    }
}

/// Why an answer is no summary that helps.
fn no_use(summary: Result<String, String>) -> String {
    let why = summary.err().unwrap_or_else(|| "the summary is not much shorter".to_string());
    format!("summarising the conversation failed: {why}")
}
