//! When records have to be on the disk.
//!
//! The rule: before anything acts on a record outside the program, and before anybody is told that it was taken. A record that asks for
//! nothing but looking at calls, or for nothing at all because other calls of its group still run, is written at once and made durable
//! together with the next one. So a round of a model's answer and a call that runs costs two syncs, not three; the notes about what
//! begins cost none.
//!
//! | Event | What it asks for | Synced |
//! |---|---|---|
//! | whatever the user or the host says | anything, or nothing | at once: it is acknowledged |
//! | `LlmCompleted` with calls | `PrepareTools` | with `ToolsPrepared`, unless hooks act before tools |
//! | `ToolsPrepared` | `ExecuteTools`, `RequestApproval`, … | at once |
//! | `ToolCompleted`, others of the group still run | nothing | with the last one of the group |
//! | everything else | a model call, a hook, a timer, a prompt | at once |
//!
//! What a crash of the machine can take is therefore an answer that was shown and on which nothing was done, or the result of a call that
//! only read: both are asked again.

use agent_core::session::{Action, Event};

/// Whether an event may wait for the disk at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Somebody said it who may forget it as soon as it is taken.
    No,
    /// It was asked for, and would be asked for again.
    Perhaps,
    /// It is not recorded.
    Transient,
}

impl Wait {
    pub(crate) const fn of(event: &Event) -> Self {
        match event {
            Event::LlmCompleted { .. } | Event::ToolCompleted { .. } => Self::Perhaps,
            Event::LlmDelta { .. } | Event::ToolProgress { .. } => Self::Transient,
            Event::Started
            | Event::UserInput { .. }
            | Event::BudgetRaised { .. }
            | Event::Reconfigured { .. }
            | Event::CompactionRequested
            | Event::CancelRequested
            | Event::LeaveRequested
            | Event::ShutdownRequested
            | Event::LlmFailed { .. }
            | Event::LlmAborted { .. }
            | Event::LlmInterrupted { .. }
            | Event::RetryTimeout { .. }
            | Event::DeadlineReached { .. }
            | Event::ToolsPrepared { .. }
            | Event::ApprovalAnswered { .. }
            | Event::GitChecked { .. }
            | Event::FormattersFinished { .. }
            | Event::ChangesCommitted { .. }
            | Event::HooksFinished { .. }
            | Event::HookFailed { .. }
            | Event::HooksStoppedTurn { .. } => Self::No,
        }
    }
}

/// Whether what was recorded has to be on the disk before these actions are performed.
pub(crate) fn is_due(wait: Wait, actions: &[Action], hooks_act: bool) -> bool {
    match wait {
        Wait::No => true,
        Wait::Perhaps => !actions.iter().all(|action| stays_inside(action, hooks_act)),
        Wait::Transient => false,
    }
}

/// Whether an action does nothing but look, or show what may be shown again.
const fn stays_inside(action: &Action, hooks_act: bool) -> bool {
    match action {
        Action::PrepareTools { .. } => !hooks_act,
        Action::DisplayMessage { .. } => true,
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
        | Action::DiscardPartial
        | Action::PromptForInput
        | Action::ReturnQueuedInput { .. }
        | Action::Shutdown => false,
    }
}
