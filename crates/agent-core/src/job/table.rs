//! The job machine as data: its words and every row.
//!
//! Everything that affects transitions is here. What does *not*: which trigger an event is (`classify`), what happens to its data
//! (`absorb`), what an action carries (`render`). A cancel stops what is in flight and waits for its answer, because only the answer knows
//! what was spent; then the record is written like that of any other job.
//!
//! Each state with its rows, wired to where they lead; dashed states decide at once, thick ones are the end, a loop stays. Generated from
//! the table, as is the full grid of states and triggers in `docs/machines`.
//!
#![doc = include_str!("table.svg")]

use crate::table::{Proved, Table};
use crate::{labels, prove, rows};
use serde::{Deserialize, Serialize};

labels! {
    /// The states of a job.
    #[derive(Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum State {
        /// Not started.
        Pending,
        /// The job is being validated.
        Init,
        /// Its skill and model are being chosen.
        DefineAgent,
        /// An agent works on it.
        Process,
        /// An attempt failed; waiting for the next one.
        RetryWait,
        /// The work is done; its audit record is being written.
        End,
        /// The work is not done; the audit record that says why is being written.
        Recording,
        /// The work is done and recorded.
        Completed,
        /// The work is not done, or could not be recorded.
        Failed,
    }
}

labels! {
    /// What happened, with the guards decided.
    #[derive(Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum Trigger {
        /// The host started the job.
        Started,
        /// The user asked to stop it.
        CancelRequested,
        /// The job is valid.
        ValidationPassed,
        /// The job is invalid.
        ValidationFailed,
        /// The skill and the model are chosen.
        AgentDefined,
        /// No agent could be chosen.
        RoutingFailed,
        /// The agent did the work.
        AttemptSucceeded,
        /// The attempt failed, and a retry follows.
        AttemptFailedRetryable,
        /// The attempt failed, and no retry is left or would help.
        AttemptFailedForGood,
        /// The wait before the next attempt is over.
        RetryDue,
        /// The work in flight ended after a cancel.
        WorkStopped,
        /// The audit record was saved.
        RecordWritten,
        /// The audit record could not be saved.
        RecordNotWritten,
    }
}

labels! {
    /// What the driver is asked to do, without its data.
    #[derive(Serialize, Deserialize)]
    #[non_exhaustive]
    pub enum ActionKind {
        /// Find out whether the job is valid.
        ValidateJob,
        /// Choose a skill and a model.
        DefineAgent,
        /// Run an agent on the job.
        RunAgent,
        /// Stop the work in flight.
        StopWork,
        /// Report back after a wait.
        ScheduleRetry,
        /// Cancel the wait.
        CancelRetry,
        /// Save the audit record.
        WriteAuditRecord,
    }
}

/// The job's table.
pub type JobTable = Table<State, Trigger, ActionKind>;

/// The same with its proof: what a machine runs on.
pub type ProvedTable = Proved<State, Trigger, ActionKind>;

/// The table that drives every job.
pub const TABLE: JobTable = Table {
    name: "job",
    initial: State::Pending,
    terminal: &[State::Completed, State::Failed],
    passing: &[],
    rows: ROWS,
};

#[rustfmt::skip]
const ROWS: &[crate::table::Row<State, Trigger, ActionKind>] = rows! { State, Trigger, ActionKind;
    Pending + Started         => Init      [ValidateJob];
    Pending + CancelRequested => Recording [WriteAuditRecord];

    Init + ValidationPassed => DefineAgent [DefineAgent];
    Init + ValidationFailed => Recording   [WriteAuditRecord];
    Init + CancelRequested  => Init        [StopWork];
    Init + WorkStopped      => Recording   [WriteAuditRecord];

    DefineAgent + AgentDefined    => Process     [RunAgent];
    DefineAgent + RoutingFailed   => Recording   [WriteAuditRecord];
    DefineAgent + CancelRequested => DefineAgent [StopWork];
    DefineAgent + WorkStopped     => Recording   [WriteAuditRecord];

    Process + AttemptSucceeded       => End       [WriteAuditRecord];
    Process + AttemptFailedRetryable => RetryWait [ScheduleRetry];
    Process + AttemptFailedForGood   => Recording [WriteAuditRecord];
    Process + CancelRequested        => Process   [StopWork];
    Process + WorkStopped            => Recording [WriteAuditRecord];

    RetryWait + RetryDue        => Process   [RunAgent];
    RetryWait + CancelRequested => Recording [CancelRetry, WriteAuditRecord];

    End + RecordWritten    => Completed [];
    End + RecordNotWritten => Failed    [];
    End + CancelRequested  => End       [];

    Recording + RecordWritten    => Failed    [];
    Recording + RecordNotWritten => Failed    [];
    Recording + CancelRequested  => Recording [];
};

prove! {
    /// The table with its proof, on which every job runs.
    pub const PROVED of TABLE: State, Trigger, ActionKind;
    action ValidateJob only from [Pending];
    action DefineAgent only from [Init];
    action RunAgent only from [DefineAgent, RetryWait];
    action ScheduleRetry only from [Process];
    action WriteAuditRecord only from [Pending, Init, DefineAgent, Process, RetryWait];
    state DefineAgent only through Init;
    state Process only through DefineAgent;
    state RetryWait only through Process;
    state End only through Process;
    state Completed only through End;
}

/// For what is read back: the table is not kept.
pub(super) const fn proved() -> ProvedTable {
    PROVED
}
