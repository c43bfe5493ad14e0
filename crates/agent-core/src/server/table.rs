//! The server machine as data: every row. Its words are in `labels.rs`.
//!
//! A start is decided at one place: `Wanted` decides at once whether the configuration or a change stands in the way, for the first start
//! as for every other one. A call waits for a server that is on its way, and is answered in its place by one that will not come.
//!
//! Each state with its rows, wired to where they lead; dashed states decide at once, thick ones are the end, a loop stays. Generated from
//! the table, as is the full grid of states and triggers in `docs/machines`.
//!
#![doc = include_str!("table.svg")]

pub use super::labels::{ActionKind, State, Trigger};

use crate::table::{Proved, Table};
use crate::{prove, rows};

/// The server machine's table.
pub type ServerTable = Table<State, Trigger, ActionKind>;

/// The same with its proof: what a machine runs on.
pub type ProvedTable = Proved<State, Trigger, ActionKind>;

/// The table that drives every server.
pub const TABLE: ServerTable = Table {
    name: "server",
    initial: State::Configured,
    terminal: &[State::Stopped],
    passing: &[State::Wanted],
    rows: ROWS,
};

#[rustfmt::skip]
const ROWS: &[crate::table::Row<State, Trigger, ActionKind>] = rows! { State, Trigger, ActionKind;
    Configured + Considered    => Wanted     [];
    Configured + CallAsked     => Configured [ArmCall];
    Configured + CallTimedOut  => Configured [AnswerCall];
    Configured + CallCancelled => Configured [AnswerCall];
    Configured + StopRequested => Stopped    [AnswerOpen];

    Wanted + AutoDisabled  => Stopped  [AnswerOpen];
    Wanted + AutoUntrusted => Trusting [AnswerOpen, AskReview];
    Wanted + AutoClear     => Starting [StartServer, ArmTimer];

    Trusting + CallAsked        => Trusting   [AnswerCall];
    Trusting + RestartRequested => Configured [ConsiderServer];
    Trusting + StopRequested    => Stopped    [];

    Starting + Came            => Ready      [OfferTools, SendHeld];
    Starting + StartFailed     => Failed     [AnswerOpen, EndServer];
    Starting + Ended           => Failed     [AnswerOpen];
    Starting + EndedRestarting => Restarting [ArmTimer];
    Starting + TimerFired      => Late       [ArmTimer];
    Starting + CallAsked       => Starting   [ArmCall];
    Starting + CallTimedOut    => Starting   [AnswerCall];
    Starting + CallCancelled   => Starting   [AnswerCall];
    Starting + StopRequested   => Stopping   [AnswerOpen, EndServer];

    Late + Came            => Ready      [OfferTools, SendHeld];
    Late + StartFailed     => Failed     [AnswerOpen, EndServer];
    Late + Ended           => Failed     [AnswerOpen];
    Late + EndedRestarting => Restarting [ArmTimer];
    Late + TimerFired      => Failed     [AnswerOpen, EndServer];
    Late + CallAsked       => Late       [ArmCall];
    Late + CallTimedOut    => Late       [AnswerCall];
    Late + CallCancelled   => Late       [AnswerCall];
    Late + StopRequested   => Stopping   [AnswerOpen, EndServer];

    Ready + CallAsked        => Ready      [SendCall, ArmCall];
    Ready + CallAnswered     => Ready      [WithdrawInputs, DeliverAnswer];
    Ready + CallProgressed   => Ready      [ArmCall];
    Ready + CallTimedOut     => Ready      [WithdrawInputs, WithdrawCall, AnswerCall];
    Ready + CallCancelled    => Ready      [WithdrawInputs, WithdrawCall, AnswerCall];
    Ready + InputAsked       => Ready      [AskPerson, ArmCall];
    Ready + InputUnwelcome   => Ready      [RefuseInput];
    Ready + InputAnswered    => Ready      [SendInput, ArmCall];
    Ready + InputWithdrawn   => Ready      [WithdrawInputs, ArmCall];
    Ready + ListChanged      => Ready      [ListTools];
    Ready + ListChangedAgain => Ready      [];
    Ready + Listed           => Ready      [OfferTools];
    Ready + ListedStale      => Ready      [ListTools];
    Ready + ListFailed       => Ready      [];
    Ready + Ended            => Failed     [WithdrawInputs, AnswerOpen];
    Ready + EndedRestarting  => Restarting [WithdrawInputs, AnswerLost, ArmTimer];
    Ready + StopRequested    => Stopping   [WithdrawInputs, AnswerOpen, EndServer];

    Restarting + TimerFired    => Configured [ConsiderServer];
    Restarting + CallAsked     => Restarting [ArmCall];
    Restarting + CallTimedOut  => Restarting [AnswerCall];
    Restarting + CallCancelled => Restarting [AnswerCall];
    Restarting + StopRequested => Stopped    [AnswerOpen];

    Failed + CallAsked        => Failed     [AnswerCall];
    Failed + Ended            => Failed     [];
    Failed + RestartRequested => Configured [ConsiderServer];
    Failed + StopRequested    => Stopped    [];

    Stopping + CallAsked     => Stopping [AnswerCall];
    Stopping + StopRequested => Stopping [];
    Stopping + Ended         => Stopped  [];
};

prove! {
    /// The table with its proof, on which every server runs.
    pub const PROVED of TABLE: State, Trigger, ActionKind;
    action StartServer only from [Wanted];
    action AskReview only from [Wanted];
    action SendCall only from [Ready];
    action DeliverAnswer only from [Ready];
    action ListTools only from [Ready];
    action AskPerson only from [Ready];
    action SendInput only from [Ready];
    action SendHeld only from [Starting, Late];
    action OfferTools only from [Starting, Late, Ready];
    action AnswerLost only from [Ready];
    action EndServer only from [Starting, Late, Ready];
    order StartServer in Wanted after [AutoDisabled, AutoUntrusted];
    state Late only through Starting;
    state Ready only through Starting;
    state Restarting only through Starting;
    state Stopping only through Starting;
}
