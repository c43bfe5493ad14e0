//! The session machine: one conversation between a user, a model and its tools.
//!
//! A driver reports [`Event`]s and performs the [`Action`]s that [`Session::step`] returns; nothing else decides what the agent does.
//! What moves where is in [`table`]. One step is five moves:
//!
//! ```text
//! event -> classify (read data, decide guards) -> Trigger | Rejected
//!       -> the table's row                     -> Row     | Rejected
//!       -> absorb (move the event's data in)
//!       -> render (give the row's actions their data)
//!       -> automatic rows, until a waiting state
//! ```
//!
//! 1. Every tool call in history is answered exactly once, in the next message, in call order.
//! 2. Every request is valid for every provider: roles alternate, the first is user, nothing is empty.
//! 3. A user's message is in history once, or pending once, or handed back once.
//! 4. At most one model call is in flight; late, repeated and unknown answers are refused, and late timers change nothing.
//! 5. A refusal leaves the session as it was.
//! 6. No model call starts beyond a limit.
//! 7. Repetitions are bounded, and what cannot succeed by repetition is never repeated.
//! 8. A cancel leads to `WaitingForUserInput` and a shutdown to `ShuttingDown`, given that the driver answers.
//! 9. After `ShuttingDown` there are no actions; the conversation stays readable.
//! 10. Same events, same actions, same session.
//! 11. A call runs only if its arguments arrived complete and are a JSON object.
//! 12. `step` never panics.
//!
//! Absent on purpose: clock, randomness, I/O, knowledge of particular tools and providers. A step's cost does not grow with the history.

mod absorb;
mod action;
mod asked;
mod batch;
mod calls;
mod changes;
mod classify;
mod clock;
mod compaction;
mod config;
mod context;
mod durability;
mod event;
mod family;
mod held;
mod instructed;
mod kept;
mod labels;
mod loops;
mod model_call;
mod outbox;
mod outcome;
mod preceding;
mod render;
mod replaced;
mod reply;
mod resumed;
mod sparse;
mod step;
mod stepping;
mod stop;
pub mod table;
mod tool_calls;
mod turn;
mod used_ids;
mod user_hooks;
mod word_for_word;

pub use action::Action;
pub use action::Summarised;
pub use batch::Denial;
pub use config::{KeptResults, ModelConfig, SessionConfig, Summaries};
pub use durability::Durability;
pub use event::{Event, LeftCall};
pub use outcome::{Evidence, Outcome, OutcomeKind};
pub use preceding::HistoryError;
pub use statetable::Ticket;
pub use step::{Notes, Objection, Reason, Rejected, Step, Trace, Transition};
pub use table::{ActionKind, ProvedTable, SessionTable, State, Trigger};

use crate::budget::{Ledger, LimitReached};
use crate::conversation::{Answer, CallId, Conversation, UserMessage};
use crate::hook::HookPoint;
use crate::llm::Usage;
use crate::permission::{Basis, Exclusions, Ruling};
use crate::snapshot::FormatVersion;
use crate::tool::{Effect, Inspection, Subject};
use alloc::boxed::Box;
use alloc::vec::Vec;
use asked::{Asked, Tickets};
use batch::Batch;
use calls::ModelCalls;
use changes::Changes;
use clock::Deadline;
use compaction::Compaction;
use context::Context;
use held::Held;
use instructed::Instructed;
use loops::Repetition;
use outbox::Outbox;
use outcome::{LastRun, Run};
use reply::Reply;
use serde::{Deserialize, Serialize};
use sparse::Sparse;
use statetable::{Machine, Proved, Rendering};
use step::note;
use stop::{Notice, Stop};
use used_ids::UsedIds;
use user_hooks::HookState;

/// A session. See the [module](self) for how to drive it.
///
/// What only some states need is boxed: a host may keep thousands of sessions, and most of them are idle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self")]
pub struct Session {
    format_version: FormatVersion,
    #[serde(skip, default = "table::proved")]
    table: ProvedTable,
    config: SessionConfig,
    state: State,
    now_ms: u64,

    conversation: Conversation,
    #[serde(flatten)]
    outbox: Outbox,

    /// The one thing that the current waiting state waits for.
    asked: Asked,
    /// The model's answer while it is being looked at.
    reply: Option<Box<Reply>>,
    reply_usage: Option<Box<Usage>>,
    batch: Option<Box<Batch>>,
    changes: Changes,
    used_ids: UsedIds,

    ledger: Ledger,
    #[serde(flatten)]
    calls: ModelCalls,
    compaction: Compaction,
    #[serde(flatten)]
    context: Context,
    repetition: Repetition,
    deadline: Deadline,
    hooks: HookState,

    cancel: Stop,
    /// What the next `DisplayError` says.
    notice: Notice,
    /// What the next `DisplaySummary` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    summarised: Option<Box<Summarised>>,
    #[serde(default, skip_serializing_if = "Sparse::is_default")]
    instructed: Sparse<Instructed>,
    #[serde(flatten)]
    held: Held,
    run: LastRun,
    next_ticket: Tickets,
    next_call: u64,
    trace: Trace,
}

impl Session {
    /// A session in `Ready`: the first event is [`Event::Started`].
    #[must_use]
    pub fn new(config: SessionConfig) -> Self {
        Self::on(config, table::PROVED)
    }

    /// A session on another table, for tests that change rows and look for the difference.
    #[doc(hidden)]
    #[must_use]
    pub fn with_table(config: SessionConfig, table: &'static SessionTable) -> Self {
        Self::on(config, Proved::unproved_for_tests(table))
    }

    fn on(config: SessionConfig, table: ProvedTable) -> Self {
        Self {
            format_version: FormatVersion,
            state: table.table().initial,
            table,
            now_ms: 0,
            conversation: Conversation::new(),
            outbox: Outbox::default(),
            asked: Asked::default(),
            reply: None,
            reply_usage: None,
            batch: None,
            changes: Changes::default(),
            used_ids: UsedIds::default(),
            ledger: Ledger::default(),
            calls: ModelCalls::default(),
            compaction: Compaction::default(),
            context: Context::new(config.fixed_tokens()),
            repetition: Repetition::default(),
            deadline: Deadline::default(),
            hooks: HookState::default(),
            cancel: Stop::default(),
            notice: Notice::default(),
            summarised: None,
            instructed: Sparse::default(),
            held: Held::default(),
            run: LastRun::default(),
            next_ticket: Tickets::default(),
            next_call: 0,
            trace: Trace::new(None),
            config,
        }
    }

    /// Takes one event in. `at_ms` is the time of the event in milliseconds since the Unix epoch; time that runs backwards is held.
    ///
    /// A timer that fires just before it is withdrawn is not an error: the step [is empty](Step::is_empty), and the session is as it was.
    /// Late answers to anything else are refused, because what they carry is lost.
    ///
    /// # Errors
    /// [`Rejected`] when the event does not fit; the session is then as it was before.
    pub fn step(&mut self, at_ms: u64, event: Event) -> Result<Step, Rejected> {
        let source = event.source();
        let mut step = Machine::step(self, at_ms, event)?;
        note(source, &mut step);
        Ok(step)
    }

    /// The same with a step that was used before. Without actions its notes have no effect either.
    pub(crate) fn step_into(
        &mut self,
        at_ms: u64,
        event: Event,
        step: &mut Step,
        rendering: Rendering,
    ) -> Result<(), Rejected> {
        let source = event.source();
        Machine::step_into(self, at_ms, event, step, rendering)?;
        note(source, step);
        Ok(())
    }

    /// Every requested action that has no answer yet, with its ticket, so that a driver can continue after a restart. What was asked
    /// before a cancel is marked as cancelled: the driver answers that it was stopped, and starts nothing.
    #[must_use]
    pub fn outstanding(&self) -> Vec<Outstanding> {
        self.render_outstanding()
    }

    /// Whether something with this ticket was asked and is not answered.
    #[must_use]
    pub fn is_open(&self, ticket: Ticket) -> bool {
        let deadline = self.deadline.ticket();
        self.asked.ticket() == Some(ticket) || deadline == Some(ticket)
    }

    /// What a call of [`ExecuteTools`](Action::ExecuteTools) must leave out of what it shows, as the deny rules stand. The driver hands it
    /// to the tool with the call.
    #[must_use]
    pub fn exclusions(&self, call: &CallId) -> Exclusions {
        self.batch.as_ref().map(|batch| batch.exclusions(call, &self.config.permissions)).unwrap_or_default()
    }

    /// As what a call of [`ExecuteTools`](Action::ExecuteTools) was judged. The driver hands that to the tool and to the hook, also when
    /// another program had the call looked at.
    #[must_use]
    pub fn judged(&self, call: &CallId) -> Inspection {
        let judged = self.batch.as_ref().and_then(|batch| batch.judged(call));
        judged.unwrap_or(Inspection { effect: Effect::Changes, subject: Subject::None })
    }

    /// The session's state.
    #[must_use]
    pub const fn state(&self) -> State {
        self.state
    }

    /// Whether the session took [`Event::Started`]. Before that it takes nothing else but its end.
    #[must_use]
    pub fn is_started(&self) -> bool {
        self.state != self.table.table().initial
    }

    /// Whether the session waits for the user's next message.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.state == State::WaitingForUserInput
    }

    /// Whether a run is going on that is to end by itself: it is neither a summary that was asked for nor being stopped.
    pub(crate) fn is_at_work(&self) -> bool {
        self.run.is_at_work() && !self.cancel.is_pending()
    }

    /// Whether the session has ended for good.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.table.table().is_terminal(self.state)
    }

    /// The history.
    #[must_use]
    pub const fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// The answer whose calls do not all have results yet. The history gets it with them.
    #[must_use]
    pub fn open_answer(&self) -> Option<&Answer> {
        self.batch.as_ref().map(|batch| batch.answer())
    }

    /// What the user said that is in no answered request yet, in the order in which it goes out.
    pub fn pending_input(&self) -> impl Iterator<Item = &str> {
        self.outbox.messages()
    }

    /// The messages that [can be taken back](Event::InputWithdrawn), in the order in which they go out: those that go with the next
    /// results, and those that wait for the end of the turn.
    #[must_use]
    pub fn waiting_input(&self) -> (&[UserMessage], &[UserMessage]) {
        self.outbox.waiting()
    }

    /// What has been used.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The session's configuration.
    #[must_use]
    pub const fn config(&self) -> &SessionConfig {
        &self.config
    }

    /// The last transitions and the time spent in each state.
    #[must_use]
    pub const fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Whether a stop was asked for and is not complete.
    #[must_use]
    pub const fn is_cancel_pending(&self) -> bool {
        self.cancel.is_pending()
    }

    /// How the last run ended: from the input that started it to the prompt. `None` while it is in progress, or before the first.
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        self.run.finished().map(Run::outcome)
    }

    /// The limit that stands in the way of another model call, if any; at rest, of the first one of another turn.
    #[must_use]
    pub fn limit_reached(&self) -> Option<LimitReached> {
        self.limit_ahead()
    }

    /// Whether hooks run when the host leaves now: then it reports [`Event::LeaveRequested`] first. They run once, until another turn.
    #[must_use]
    pub fn runs_hooks_on_leave(&self) -> bool {
        self.end_hooks_due() && self.table.row(self.state, Trigger::LeaveRequested).is_some()
    }

    /// Whether the hooks of the session's end run.
    #[must_use]
    pub fn is_leaving(&self) -> bool {
        self.hooks.run_on(HookPoint::SessionEnd)
    }

    /// Empties the trace, which decides nothing: a checker that keeps sessions by the million needs its room.
    #[doc(hidden)]
    pub fn forget_trace(&mut self) {
        self.trace = Trace::new(None);
    }

    /// That reading runs goes without saying.
    fn note_rulings(&mut self, rulings: &[Ruling]) {
        for ruling in rulings.iter().filter(|ruling| *ruling.decision.basis() != Basis::Reads) {
            self.trace.note(self.now_ms, ruling.sentence());
        }
    }
}

/// Something asked and not answered.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outstanding {
    /// The requested action.
    pub action: Action,
    /// Whether it has been cancelled.
    pub is_cancelled: bool,
}
