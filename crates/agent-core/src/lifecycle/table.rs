//! The lifecycle machine as data: every row. Its words are in `labels.rs`.
//!
//! Everything that affects transitions is here. What does *not*: which trigger an event is (`classify`), what happens to its data
//! (`absorb`), what an action carries (`render`). What is done on entering or leaving a state is an action of the rows that do so: every
//! row that leaves `Idle`, `Working`, `Waiting` or `Verifying` stops the timer, every row that enters one starts it, and every row that
//! enters a resting state reports the outcome.
//!
//! Each state with its rows, wired to where they lead; dashed states decide at once, thick ones are the end, a loop stays. Generated from
//! the table, as is the full grid of states and triggers in `docs/machines`.
//!
#![doc = include_str!("table.svg")]

pub use super::labels::{ActionKind, State, Trigger};

use crate::table::{Proved, Table};
use crate::{prove, rows};

/// The lifecycle's table.
pub type LifecycleTable = Table<State, Trigger, ActionKind>;

/// The same with its proof: what a machine runs on.
pub type ProvedTable = Proved<State, Trigger, ActionKind>;

/// The table that drives every lifecycle.
pub const TABLE: LifecycleTable =
    Table { name: "lifecycle", initial: State::Idle, terminal: &[State::Ended], passing: &[], rows: ROWS };

#[rustfmt::skip]
const ROWS: &[crate::table::Row<State, Trigger, ActionKind>] = rows! { State, Trigger, ActionKind;
    Idle + InputReceived   => Working [StopTimer, SendInput, StartWorkTimer];
    Idle + WorkResumed     => Working [StopTimer, StartWorkTimer];
    Idle + CommitmentAdded => Idle    [];
    Idle + CancelRequested => Idle    [];
    Idle + TimedOut        => Reaped  [ReportOutcome, CleanUp];
    Idle + BudgetExceeded  => Reaped  [StopTimer, ReportOutcome, CleanUp];
    Idle + SessionEnded    => Reaped  [StopTimer, ReportOutcome, CleanUp];
    Idle + Dismissed       => Reaped  [StopTimer, ReportOutcome, CleanUp];

    Working + InputReceived            => Working   [SendInput];
    Working + CommitmentAdded          => Working   [];
    Working + ModeChanged              => Working   [];
    Working + Signalled                => Working   [];
    Working + CancelRequested          => Working   [CancelTurn];
    Working + TurnEnded                => Idle      [StopTimer, ReportOutcome, StartIdleTimer];
    Working + TurnFailed               => Idle      [StopTimer, ReportOutcome, StartIdleTimer];
    Working + TurnOutOfBudget          => Reaped    [StopTimer, ReportOutcome, CleanUp];
    Working + WaitingSignalled         => Waiting   [StopTimer, ReportOutcome, StartWaitTimer];
    Working + CompletionClaimed        => Verifying [StopTimer, RunChecks, StartCheckTimer];
    Working + CompletionClaimedUnbound => Done      [StopTimer, ReportOutcome];
    Working + TimedOut                 => Reaped    [CancelTurn, ReportOutcome, CleanUp];
    Working + BudgetExceeded           => Reaped    [StopTimer, CancelTurn, ReportOutcome, CleanUp];
    Working + SessionEnded             => Reaped    [StopTimer, ReportOutcome, CleanUp];
    Working + Dismissed                => Reaped    [StopTimer, CancelTurn, ReportOutcome, CleanUp];

    Waiting + InputReceived   => Working [StopTimer, SendInput, StartWorkTimer];
    Waiting + WorkResumed     => Working [StopTimer, StartWorkTimer];
    Waiting + CommitmentAdded => Waiting [];
    Waiting + CancelRequested => Waiting [];
    Waiting + TimedOut        => Reaped  [ReportOutcome, CleanUp];
    Waiting + BudgetExceeded  => Reaped  [StopTimer, ReportOutcome, CleanUp];
    Waiting + SessionEnded    => Reaped  [StopTimer, ReportOutcome, CleanUp];
    Waiting + Dismissed       => Reaped  [StopTimer, ReportOutcome, CleanUp];

    Verifying + InputReceived          => Working   [CancelChecks, StopTimer, SendInput, StartWorkTimer];
    Verifying + CommitmentAdded        => Verifying [CancelChecks, RunChecks];
    Verifying + BudgetExceeded         => Reaped    [CancelChecks, StopTimer, ReportOutcome, CleanUp];
    Verifying + CheckCompletedMoreLeft => Verifying [];
    Verifying + ChecksPassed           => Done      [StopTimer, ReportOutcome];
    Verifying + ChecksStale            => Verifying [RunChecks];
    Verifying + ChecksFailed           => Working   [StopTimer, SendGapReport, StartWorkTimer];
    Verifying + ChecksFailedResting    => Idle      [StopTimer, ReportOutcome, StartIdleTimer];
    Verifying + ChecksFailedForGood    => Reaped    [StopTimer, ReportOutcome, CleanUp];
    Verifying + ChecksImpossible       => Reaped    [StopTimer, ReportOutcome, CleanUp];
    Verifying + CancelRequested        => Idle      [CancelChecks, StopTimer, ReportOutcome, StartIdleTimer];
    Verifying + SessionEnded           => Reaped    [CancelChecks, StopTimer, ReportOutcome, CleanUp];
    Verifying + Dismissed              => Reaped    [CancelChecks, StopTimer, ReportOutcome, CleanUp];

    Done + SessionEnded => Ended [];
    Done + Dismissed    => Ended [ReleaseSession];

    Reaped + SessionEnded     => Reaped [];
    Reaped + CleanupCompleted => Ended  [];
};

prove! {
    /// The table with its proof, on which every agent runs.
    pub const PROVED of TABLE: State, Trigger, ActionKind;
    action RunChecks only from [Working, Verifying];
    action CancelChecks only from [Verifying];
    action SendGapReport only from [Verifying];
    action CancelTurn only from [Working];
    action StartCheckTimer only from [Working];
    action ReleaseSession only from [Done];
    state Done only through Verifying unless [CompletionClaimedUnbound];
    state Verifying only through Working;
    state Waiting only through Working;
}

/// For what is read back: the table is not kept.
pub(super) const fn proved() -> ProvedTable {
    PROVED
}
