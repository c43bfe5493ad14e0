//! The child machine as data: every row. Its words are in `labels.rs`.
//!
//! A begin is decided at one place: `Wanted` decides at once whether a stop, a limit or an empty budget stands in the way, in this order,
//! for the first begin as for a restart. Whatever the parent asks for holds as a level: a child that begins after a stop is stopped.
//!
//! Each state with its rows, wired to where they lead; dashed states decide at once, thick ones are the end, a loop stays. Generated from
//! the table, as is the full grid of states and triggers in `docs/machines`.
//!
#![doc = include_str!("table.svg")]

pub use super::labels::{ActionKind, State, Trigger};

use crate::table::{Proved, Table};
use crate::{prove, rows};

/// The child machine's table.
pub type ChildTable = Table<State, Trigger, ActionKind>;

/// The same with its proof: what a machine runs on.
pub type ProvedTable = Proved<State, Trigger, ActionKind>;

/// The table that drives every child.
pub const TABLE: ChildTable = Table {
    name: "child",
    initial: State::Planned,
    terminal: &[State::Told, State::Detached],
    passing: &[State::Wanted],
    rows: ROWS,
};

#[rustfmt::skip]
const ROWS: &[crate::table::Row<State, Trigger, ActionKind>] = rows! { State, Trigger, ActionKind;
    Planned + Assigned => Wanted [];

    Wanted + AutoStopped => Ended    [];
    Wanted + AutoLimit   => Ended    [];
    Wanted + AutoNoLease => Ended    [];
    Wanted + AutoClear   => Starting [BeginChild];

    Starting + Begun            => Working  [];
    Starting + BeginFailed      => Ended    [];
    Starting + BeginFailedApart => Clearing [ClearWorkspace];
    Starting + StopRequested    => Stopping [WithdrawBegin];
    Starting + Lost             => Stopping [InheritChildren];

    Working + MessageSent      => Working  [SendMessage];
    Working + MessageTaken     => Working  [];
    Working + Asked            => Asking   [];
    Working + StopRequested    => Stopping [StopChild];
    Working + Rested           => Ended    [];
    Working + RestedApart      => Clearing [ClearWorkspace];
    Working + RestedRestarting => Wanted   [];
    Working + Lost             => Stopping [InheritChildren];
    Working + TakenOver        => Detached [HandOver];

    Asking + MessageSent      => Working  [SendMessage];
    Asking + MessageTaken     => Asking   [];
    Asking + WentOn           => Working  [];
    Asking + StopRequested    => Stopping [StopChild];
    Asking + Rested           => Ended    [];
    Asking + RestedApart      => Clearing [ClearWorkspace];
    Asking + RestedRestarting => Wanted   [];
    Asking + Lost             => Stopping [InheritChildren];
    Asking + TakenOver        => Detached [HandOver];

    Stopping + Begun            => Stopping [StopChild];
    Stopping + BeginFailed      => Ended    [];
    Stopping + BeginFailedApart => Clearing [ClearWorkspace];
    Stopping + MessageTaken     => Stopping [];
    Stopping + Asked            => Stopping [];
    Stopping + StopRequested    => Stopping [];
    Stopping + Rested           => Ended    [];
    Stopping + RestedApart      => Clearing [ClearWorkspace];
    Stopping + Lost             => Stopping [InheritChildren];

    Clearing + Cleared       => Ended    [];
    Clearing + StopRequested => Clearing [];

    Ended + StopRequested => Ended [];
    Ended + OutcomeTold   => Told  [];
};

prove! {
    /// The table with its proof, on which every child runs.
    pub const PROVED of TABLE: State, Trigger, ActionKind;
    action BeginChild only from [Wanted];
    action WithdrawBegin only from [Starting];
    action SendMessage only from [Working, Asking];
    action HandOver only from [Working, Asking];
    action StopChild only from [Working, Asking, Stopping];
    action ClearWorkspace only from [Starting, Working, Asking, Stopping];
    action InheritChildren only from [Starting, Working, Asking, Stopping];
    order BeginChild in Wanted after [AutoStopped, AutoLimit, AutoNoLease];
    state Working only through Starting;
    state Asking only through Working;
    state Detached only through Working;
    state Told only through Ended;
}

/// For what is read back: the table is not kept.
pub(super) const fn proved() -> ProvedTable {
    PROVED
}
