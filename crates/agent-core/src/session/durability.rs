//! When the record of an event must be durable.
//!
//! The rule: before anything acts on the record outside the program, and before the event is acknowledged. A record that asks for nothing
//! but a look at calls, or for nothing at all because other calls of its group still run, is written at once and made durable together with
//! the next one. So a round of a model's answer and a call that runs costs two syncs, not three; the notes about what begins cost none.
//!
//! | Event | What it asks for | Synced |
//! |---|---|---|
//! | any from the user or the host | anything, or nothing | at once: it is acknowledged |
//! | `LlmCompleted` with calls | `PrepareTools` | with `ToolsPrepared`, unless hooks act before tools |
//! | `ToolsPrepared` | `ExecuteTools`, `RequestApproval`, … | at once |
//! | `ToolCompleted`, others of the group still run | nothing | with the last one of the group |
//! | everything else | a model call, a hook, a timer, a prompt | at once |
//!
//! A crash of the computer can therefore lose an answer that was shown and on which nothing was done, or the result of a call that only
//! read: both are asked for again.

use super::Action;
use super::event::Source;
use serde::{Deserialize, Serialize};

/// When the record of an event must be durable: what a driver ensures before it performs a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Durability {
    /// Before anything of the step is performed.
    #[default]
    Now,
    /// Now if the driver's own hooks act before tools run; with a later record otherwise.
    NowIfHooksAct,
    /// With a later record.
    Later,
}

impl Durability {
    /// The sooner of two.
    pub(super) fn sooner(self, other: Self) -> Self {
        if (other as u8) < (self as u8) { other } else { self }
    }

    /// Of a step that this event brought about.
    pub(super) fn of(event: Source, actions: &[Action]) -> Self {
        match event {
            Source::Acknowledged | Source::Timer => Self::Now,
            Source::AskedAgain => {
                actions.iter().map(of_action).min_by_key(|durability| *durability as u8).unwrap_or(Self::Later)
            }
            Source::Transient => Self::Later,
        }
    }
}

/// What an action asks of the records before it.
const fn of_action(action: &Action) -> Durability {
    match action {
        // It only looks, unless hooks act on what it finds.
        Action::PrepareTools { .. } => Durability::NowIfHooksAct,
        // It can be shown again.
        Action::DisplayMessage { .. } => Durability::Later,
        Action::SendLlmRequest { .. }
        | Action::CancelLlmRequest { .. }
        | Action::RequestApproval { .. }
        | Action::WithdrawApproval { .. }
        | Action::ExecuteTools { .. }
        | Action::CancelTools { .. }
        | Action::CheckGitCommits { .. }
        | Action::RunAutoformatters { .. }
        | Action::CommitChanges { .. }
        | Action::RunHooks { .. }
        | Action::CancelHooks { .. }
        | Action::ScheduleRetry { .. }
        | Action::CancelRetry { .. }
        | Action::StartDeadline { .. }
        | Action::HoldDeadline { .. }
        | Action::DisplayText { .. }
        | Action::DisplayProgress { .. }
        | Action::DisplayError { .. }
        | Action::DisplaySummary { .. }
        | Action::DiscardPartial
        | Action::PromptForInput
        | Action::ReturnQueuedInput { .. }
        | Action::Shutdown => Durability::Now,
    }
}
