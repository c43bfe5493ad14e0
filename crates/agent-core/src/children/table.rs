//! What an agent does about its children, as data: every row. Its words are in `labels.rs`.
//!
//! An agent rests only in `Resting`, and nothing leads there while a child is alive: a turn that ends gathers, and one that is ended stops
//! what is below.
//!
//! Each state with its rows, wired to where they lead; dashed states decide at once, thick ones are the end, a loop stays. Generated from
//! the table, as is the full grid of states and triggers in `docs/machines`.
//!
#![doc = include_str!("table.svg")]

pub use super::labels::{ActionKind, State, Trigger};

use crate::table::{Proved, Table};
use crate::{prove, rows};

/// The table of an agent's children.
pub type ChildrenTable = Table<State, Trigger, ActionKind>;

/// The same with its proof: what a machine runs on.
pub type ProvedTable = Proved<State, Trigger, ActionKind>;

/// The table that every agent with children runs on.
pub const TABLE: ChildrenTable =
    Table { name: "children", initial: State::Resting, terminal: &[], passing: &[], rows: ROWS };

#[rustfmt::skip]
const ROWS: &[crate::table::Row<State, Trigger, ActionKind>] = rows! { State, Trigger, ActionKind;
    Resting + TurnBegan       => Working [];
    Resting + CancelRequested => Resting [];

    Working + TurnEnded              => Resting   [];
    Working + TurnEndedReportsDue    => Working   [SendReports];
    Working + TurnEndedChildrenLeft  => Gathering [];
    Working + TurnEndedUnanswered    => Gathering [StopUnanswered];
    Working + TurnLeasedOut          => Gathering [];
    Working + TurnFailed             => Resting   [KeepReports];
    Working + TurnFailedChildrenLeft => Stopping  [StopChildren];
    Working + CallsStopped           => Working   [StopChildren];
    Working + ChildMoved             => Working   [];
    Working + CancelRequested        => Working   [];

    Gathering + TurnBegan       => Working   [];
    Gathering + ReportsDue      => Working   [SendReports];
    Gathering + Unanswered      => Gathering [StopUnanswered];
    Gathering + ChildMoved      => Gathering [];
    Gathering + NoneLeft        => Resting   [];
    Gathering + CancelRequested => Stopping  [StopChildren];

    Stopping + TurnBegan       => Working  [];
    Stopping + ChildMoved      => Stopping [];
    Stopping + NoneLeft        => Resting  [KeepReports];
    Stopping + CancelRequested => Stopping [];
};

prove! {
    /// The table with its proof, on which every agent with children runs.
    pub const PROVED of TABLE: State, Trigger, ActionKind;
    action SendReports only from [Working, Gathering];
    action KeepReports only from [Working, Stopping];
    action StopChildren only from [Working, Gathering];
    action StopUnanswered only from [Working, Gathering];
    state Gathering only through Working;
    trigger ChildMoved stays;
}

/// For what is read back: the table is not kept.
pub(super) const fn proved() -> ProvedTable {
    PROVED
}
