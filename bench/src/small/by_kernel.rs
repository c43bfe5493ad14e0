//! By the kernel that the session, the lifecycle and the job run on: a table, proved when it is compiled.

use super::{Event, Tally, events};
use agent_core::table::Table;
use agent_core::{labels, prove, rows};

labels! {
    enum State {
        /// Nothing is going on.
        Idle,
        /// The model is called.
        Calling,
        /// A tool runs.
        Running,
        /// A stopped tool is waited for.
        Waiting,
        /// The end.
        Done,
    }
}

labels! {
    enum Trigger {
        /// Go.
        Start,
        /// The model is done.
        Answer,
        /// The model wants a tool.
        Tool,
        /// The tool is done.
        Result,
        /// Stop.
        Cancel,
        /// Never again.
        Finish,
    }
}

labels! {
    enum Action {
        /// Count a call.
        Count,
    }
}

const TABLE: Table<State, Trigger, Action> = Table {
    name: "small",
    initial: State::Idle,
    terminal: &[State::Done],
    passing: &[],
    rows: rows! { State, Trigger, Action;
        Idle + Start => Calling [Count];
        Idle + Finish => Done [];
        Calling + Tool => Running [];
        Calling + Answer => Idle [];
        Calling + Cancel => Idle [];
        Running + Result => Calling [Count];
        Running + Cancel => Waiting [];
        Waiting + Result => Idle [];
    },
};

prove! { const PROVED of TABLE: State, Trigger, Action; action Count only from [Idle, Running]; }

pub(super) fn run(count: usize) -> Tally {
    let (mut state, mut tally) = (TABLE.initial, Tally::default());
    for event in events(count) {
        let trigger = match event {
            Event::Start => Trigger::Start,
            Event::Answer => Trigger::Answer,
            Event::Tool => Trigger::Tool,
            Event::Result => Trigger::Result,
            Event::Cancel => Trigger::Cancel,
        };
        let Some(row) = PROVED.row(state, trigger) else { continue };
        state = row.to;
        tally.accepted += 1;
        for action in row.actions {
            match action {
                Action::Count => tally.calls += 1,
            }
        }
    }
    tally.state = state as u8;
    tally
}
