//! What must hold after every event beside what `agent_check::observed` looks at: the session's invariants, by their numbers in its
//! documentation.

use super::request::check_history;
use agent_check::session::ticket;
use agent_core::conversation::{Arguments, CallId, Item, NO_OUTPUT};
use agent_core::hook::HookOccasion;
use agent_core::llm::{LlmResponse, Purpose, RawCall, ResponseBlock};
use agent_core::permission::ApprovalAnswer;
use agent_core::session::table::TABLE;
use agent_core::session::{Action, Event, LeftCall, Outstanding, Reason, Rejected, Session, State, Step, Ticket};
use agent_core::tool::{ToolOutcome, ToolStatus};
use std::collections::{BTreeMap, BTreeSet};

/// What was seen of a session.
#[derive(Default)]
pub(super) struct Seen {
    /// Calls that were given to the driver, and what they came to.
    executed: BTreeSet<CallId>,
    outcomes: BTreeMap<CallId, ToolOutcome>,
    /// With which arguments they ran, and for which of them a person had set those.
    ran_with: BTreeMap<CallId, Arguments>,
    changed_by_person: BTreeSet<CallId>,
    /// Calls whose arguments were cut or are no object.
    unusable: BTreeSet<CallId>,
    tickets: Vec<Ticket>,
    /// Model calls that failed in a row, as the last `ScheduleRetry` said.
    failed_attempts: u32,
}

impl Seen {
    /// Tickets that were ever given, for answers that come too late.
    pub(super) fn tickets(&self) -> &[Ticket] {
        &self.tickets
    }

    pub(super) fn note_tickets(&mut self, step: &Step) {
        self.tickets.extend(step.actions.iter().filter_map(ticket));
    }

    /// 5. A refusal leaves the session as it was. 3. But a message is never refused. 4. And what was open is not stale.
    pub(super) fn check_refusal(&self, before: &Session, after: &Session, event: &Event, rejected: &Rejected) {
        assert_eq!(after, before, "a refusal changed the session");
        assert_eq!((rejected.state, rejected.event.as_ref()), (before.state(), event.name()));
        assert_eq!(rejected.trigger.is_some(), rejected.reason == Reason::NoRow, "{rejected:?}");
        if let Some(trigger) = rejected.trigger {
            assert!(!rejected.accepted.contains(&trigger), "{rejected:?} would have been accepted");
        }
        let is_message = event.message().is_some_and(|text| !text.trim().is_empty());
        let takes_messages = !matches!(before.state(), State::Ready | State::ShuttingDown);
        assert!(!(is_message && takes_messages), "a message was refused in {:?}", before.state());
        if let Event::RetryTimeout { ticket } | Event::DeadlineReached { ticket } = event {
            let is_late = self.tickets.contains(ticket) && !before.is_open(*ticket);
            assert!(!is_late, "a late timer is refused: {event:?}");
        }
        if rejected.reason == Reason::StaleTicket && !matches!(event, Event::DeadlineReached { .. }) {
            let is_asked = event.ticket().is_some_and(|ticket| is_asked(before, ticket));
            assert!(!is_asked, "an answer to what is asked is stale: {event:?}");
        }
    }

    pub(super) fn check_step(&mut self, before: &Session, after: &Session, event: &Event, step: &Step) {
        if step.is_empty() && !event.is_transient() {
            return self.check_late(before, after, event);
        }
        assert!(before.state() != State::ShuttingDown, "9. a step after the end");
        let is_open = event.ticket().is_none_or(|ticket| before.is_open(ticket));
        assert!(is_open, "4. an answer to nothing was taken: {event:?}");
        check_rows(before, after, event, step);
        self.take_in(before, event, step);
        let is_prompt = matches!(step.actions.last(), Some(Action::PromptForInput));
        if is_prompt && before.state() != State::Ready && !is_leaving(before) {
            assert!(after.outcome().is_some(), "a run ended without an outcome");
        }
        for action in &step.actions {
            self.check_action(after, action);
        }
        self.check_repetition(after, step);
    }

    /// 4. A timer that nothing waits for any more changes nothing. Its ticket was given, and is open for nothing else.
    fn check_late(&self, before: &Session, after: &Session, event: &Event) {
        let (Event::RetryTimeout { ticket } | Event::DeadlineReached { ticket }) = event else {
            panic!("{event:?} is no timer, and changes nothing");
        };
        assert!(self.tickets.contains(ticket), "a timer that was never started is no error: {event:?}");
        let is_over = before.state() == State::ShuttingDown;
        assert!(is_over || !before.is_open(*ticket), "a timer that is waited for changes nothing: {event:?}");
        assert_eq!(after, before, "a late timer changed the session");
    }

    /// What holds of a session at any time.
    pub(super) fn check_session(&self, session: &Session) {
        let state = session.state();
        assert!(!TABLE.is_passing(state), "the session rests in {state:?}");
        let is_call = |open: &Outstanding| matches!(open.action, Action::SendLlmRequest { .. });
        let calls_model = matches!(state, State::CallingLlm | State::SendingToolResults | State::Compacting);
        assert_eq!(session.outstanding().iter().any(is_call), calls_model, "4. a model call in {state:?}");
        check_history(session.conversation());
        self.check_results(session);
    }

    /// What the event itself says, once it was taken.
    fn take_in(&mut self, before: &Session, event: &Event, step: &Step) {
        match event {
            Event::ToolCompleted { call, outcome, .. } => {
                let twice = self.outcomes.insert(call.clone(), outcome.clone());
                assert_eq!(twice, None, "4. {call} ended twice");
                assert!(self.executed.contains(call), "{call} ended and was never run");
            }
            Event::SessionResumed { calls, .. } => self.note_lost(before, calls),
            Event::ApprovalAnswered { call, answer: ApprovalAnswer::Allow { arguments: Some(_), .. }, .. } => {
                self.changed_by_person.insert(call.clone());
            }
            Event::LlmCompleted { response, .. } => self.note_unusable(response, step),
            Event::CancelRequested if before.is_cancel_pending() => {
                assert!(step.actions.is_empty(), "a second cancel does something: {:?}", step.actions);
            }
            _ => {}
        }
    }

    /// Calls that ran and end because another program resumed the session.
    fn note_lost(&mut self, before: &Session, calls: &[LeftCall]) {
        let outstanding = before.outstanding();
        let Some(Outstanding { action: Action::ExecuteTools { calls: running, .. }, is_cancelled, .. }) =
            outstanding.first()
        else {
            return;
        };
        for call in running {
            let left = calls.iter().find(|left| left.call == call.id && !left.only_reads);
            let outcome = match left {
                _ if *is_cancelled => ToolOutcome::interrupted(""),
                Some(left) if left.begun => ToolOutcome::interrupted(""),
                Some(_) => ToolOutcome::not_run(""),
                None => continue,
            };
            assert_eq!(self.outcomes.insert(call.id.clone(), outcome), None, "4. {} ended twice", call.id);
        }
    }

    /// 11. Remembers the calls whose arguments did not arrive complete, or are no object.
    fn note_unusable(&mut self, response: &LlmResponse, step: &Step) {
        let Some(Action::PrepareTools { calls, .. }) = step.actions.last() else { return };
        let raw: Vec<&RawCall> = response.blocks.iter().filter_map(as_call).collect();
        assert_eq!(raw.len(), calls.len(), "every call is prepared, usable or not");
        let is_unusable = |raw: &RawCall| !raw.complete || Arguments::parse(&raw.arguments).is_err();
        let unusable = raw.iter().zip(calls).filter(|(raw, _)| is_unusable(raw));
        self.unusable.extend(unusable.map(|(_, call)| call.id.clone()));
    }

    fn check_action(&mut self, session: &Session, action: &Action) {
        if let Some(ticket) = ticket(action) {
            assert!(!self.tickets.contains(&ticket), "4. {ticket} is used twice");
            self.tickets.push(ticket);
        }
        match action {
            Action::SendLlmRequest { request, .. } => {
                let is_summary = request.purpose == Purpose::Compaction;
                assert_eq!(is_summary, session.state() == State::Compacting);
            }
            Action::ExecuteTools { calls, .. } => {
                for call in calls {
                    assert!(self.executed.insert(call.id.clone()), "{} is run twice", call.id);
                    self.ran_with.insert(call.id.clone(), call.arguments.clone());
                    assert!(!self.unusable.contains(&call.id), "11. {call:?} did not arrive as an object");
                }
            }
            _ => {}
        }
    }

    /// 7. Repetitions are counted.
    fn check_repetition(&mut self, session: &Session, step: &Step) {
        let scheduled = step.actions.iter().find_map(|action| match action {
            Action::ScheduleRetry { failed_attempts, .. } => Some(*failed_attempts),
            _ => None,
        });
        if let Some(failed_attempts) = scheduled {
            let most = session.config().retry.max_retries;
            assert!((1..=most).contains(&failed_attempts), "7. attempt {failed_attempts} failed");
            let is_next = failed_attempts == self.failed_attempts + 1 || failed_attempts == 1;
            assert!(is_next, "7. {} failed, then {failed_attempts}", self.failed_attempts);
            self.failed_attempts = failed_attempts;
        }
    }

    /// The result without the line that says which arguments a person gave the call, which stands there for no other call and names those
    /// it ran with.
    fn without_change<'r>(&self, call: &CallId, content: &'r str) -> &'r str {
        let Some(rest) = content.strip_prefix(CHANGED) else { return content };
        assert!(self.changed_by_person.contains(call), "1. nobody changed the arguments of {call}: {content}");
        let ran_with = self.ran_with.get(call).unwrap_or_else(|| panic!("1. {call} never ran: {content}"));
        let rest = rest.strip_prefix(ran_with.as_str()).and_then(|rest| rest.strip_prefix("]\n"));
        rest.unwrap_or_else(|| panic!("1. {call} ran with {}: {content}", ran_with.as_str()))
    }

    /// 1. What ran is in the history as it was, and what did not run is not there as if it had.
    fn check_results(&self, session: &Session) {
        for item in session.conversation().iter() {
            let Item::Round(round) = item.as_ref() else { continue };
            for result in round.results() {
                let call = result.call();
                let content = self.without_change(call, result.content());
                let ran = self.executed.contains(call);
                let outcome = self.outcomes.get(call);
                let says_not_run = outcome.is_some_and(|outcome| outcome.status == ToolStatus::NotRun);
                assert!(!ran || content.starts_with("not run") == says_not_run, "1. {call} ran: {result:?}");
                match outcome {
                    Some(outcome) if outcome.status == ToolStatus::NotRun => {
                        assert!(result.is_error(), "1. {result:?}");
                    }
                    Some(outcome) if outcome.status == ToolStatus::Interrupted => {
                        assert!(content.starts_with("interrupted, outcome unknown"), "1. {result:?}");
                    }
                    Some(outcome) => {
                        let told = if outcome.content.trim().is_empty() { NO_OUTPUT } else { outcome.content.as_str() };
                        assert_eq!(content, told, "1. {call}");
                        assert_eq!(result.is_error(), outcome.status != ToolStatus::Ok, "1. {call}");
                    }
                    None if ran => assert!(content.starts_with("interrupted, outcome unknown"), "1. {result:?}"),
                    None => assert!(result.is_error(), "1. {call} never ran: {result:?}"),
                }
            }
        }
    }
}

/// Whether the hooks of the session's end run, which may be before its first run.
fn is_leaving(session: &Session) -> bool {
    let outstanding = session.outstanding();
    let asked = outstanding.first().map(|open| &open.action);
    matches!(asked, Some(Action::RunHooks { occasion, .. }) if **occasion == HookOccasion::SessionEnd)
}

/// The step's transitions are rows of the table, one after the other, from where the session stood to where it stands.
fn check_rows(before: &Session, after: &Session, event: &Event, step: &Step) {
    let mut at = before.state();
    for done in &step.transitions {
        assert_eq!(done.from, at, "{step:?}");
        assert_eq!(TABLE.row(done.from, done.on).map(|row| row.to), Some(done.to), "{step:?}");
        at = done.to;
    }
    assert_eq!((at, step.transitions.is_empty()), (after.state(), event.is_transient()), "{step:?}");
}

/// Whether the ticket is that of what the state waits for, not the deadline's, which only its own event answers.
fn is_asked(session: &Session, asked: Ticket) -> bool {
    let is_it = |action: &Action| ticket(action) == Some(asked) && !matches!(action, Action::StartDeadline { .. });
    session.outstanding().iter().any(|o| is_it(&o.action) && !matches!(o.action, Action::StartDeadline { .. }))
}

fn as_call(block: &ResponseBlock) -> Option<&RawCall> {
    match block {
        ResponseBlock::Call(raw) => Some(raw),
        ResponseBlock::Text(_)
        | ResponseBlock::Thinking { .. }
        | ResponseBlock::RedactedThinking { .. }
        | ResponseBlock::Opaque { .. } => None,
    }
}

/// How a result begins where a person changed the arguments.
const CHANGED: &str = "[The user changed the arguments; it ran with ";
