//! Broken tables do not compile. Each differs from the sound one in a row or a claim; that it is refused for the right reason is
//! tested beside the proofs.

macro_rules! table {
    ($(#[doc = $title:literal])* $name:ident: $fence:literal, [$($rows:tt)*] $($claims:tt)*) => {
        $(#[doc = $title])*
        #[doc = concat!("```", $fence, "
use agent_core::table::Table;
use agent_core::{labels, prove, rows};

labels! {
    enum Place {
        /// Waiting, initial.
        Idle,
        /// Passing.
        Choosing,
        /// Waiting.
        Busy,
        /// Terminal.
        Over,
    }
}

labels! {
    enum Cause {
        /// An event.
        Went,
        /// Another.
        Ended,
        /// The last.
        Stopped,
        /// Automatic.
        AutoBusy,
        /// Automatic too.
        AutoIdle,
    }
}

labels! {
    enum Deed {
        /// First.
        Begin,
        /// Last.
        Finish,
    }
}

const TABLE: Table<Place, Cause, Deed> = Table {
    name: \"test\",
    initial: Place::Idle,
    terminal: &[Place::Over],
    passing: &[Place::Choosing],
    rows: rows! { Place, Cause, Deed; ", stringify!($($rows)*), " },
};

prove! { TABLE: Place, Cause, Deed; ", stringify!($($claims)*), " }
```")]
        mod $name {}
    };
}

table! {
    /// The sound table, without which the others would prove nothing.
    sound: "", [
        Idle + Went => Choosing [Begin]; Choosing + AutoBusy => Busy []; Choosing + AutoIdle => Idle [];
        Busy + Ended => Idle []; Busy + Stopped => Over [Finish]
    ]
    action Finish only from [Busy];
    order Finish in Busy after [Ended];
    state Busy only through Choosing;
}

table! {
    /// Two rows fill one cell.
    duplicate_cell: "compile_fail,E0080", [
        Idle + Went => Choosing [Begin]; Idle + Went => Busy []; Choosing + AutoBusy => Busy []; Choosing + AutoIdle => Idle [];
        Busy + Ended => Idle []; Busy + Stopped => Over [Finish]
    ]
}

table! {
    /// A row leaves the terminal state.
    exit_from_terminal: "compile_fail,E0080", [
        Idle + Went => Choosing [Begin]; Choosing + AutoBusy => Busy []; Choosing + AutoIdle => Idle [];
        Busy + Ended => Idle []; Busy + Stopped => Over [Finish]; Over + Went => Idle []
    ]
}

table! {
    /// Nothing leads to a state.
    unreachable_state: "compile_fail,E0080", [
        Idle + Went => Choosing [Begin]; Choosing + AutoBusy => Busy []; Choosing + AutoIdle => Idle [];
        Busy + Ended => Idle []; Busy + Stopped => Idle [Finish]
    ]
}

table! {
    /// Nothing leads out of a state.
    dead_end: "compile_fail,E0080", [
        Idle + Went => Choosing [Begin]; Choosing + AutoBusy => Busy []; Choosing + AutoIdle => Idle [];
        Idle + Stopped => Over []; Busy + Ended => Busy [Finish]
    ]
}

table! {
    /// A trigger stands on no row.
    unused_trigger: "compile_fail,E0080", [
        Idle + Went => Choosing [Begin]; Choosing + AutoBusy => Busy []; Choosing + AutoIdle => Idle [];
        Busy + Stopped => Over [Finish]
    ]
}

table! {
    /// An action stands on no row.
    unused_action: "compile_fail,E0080", [
        Idle + Went => Choosing [Begin]; Choosing + AutoBusy => Busy []; Choosing + AutoIdle => Idle [];
        Busy + Ended => Idle []; Busy + Stopped => Over []
    ]
}

table! {
    /// Automatic rows lead round in a circle.
    automatic_cycle: "compile_fail,E0080", [
        Idle + Went => Choosing [Begin]; Choosing + AutoBusy => Busy []; Choosing + AutoIdle => Choosing [];
        Busy + Ended => Idle []; Busy + Stopped => Over [Finish]
    ]
}

table! {
    /// A passing state takes an event.
    event_in_passing: "compile_fail,E0080", [
        Idle + Went => Choosing [Begin]; Choosing + AutoBusy => Busy []; Choosing + AutoIdle => Idle [];
        Choosing + Ended => Idle []; Busy + Ended => Idle []; Busy + Stopped => Over [Finish]
    ]
}

table! {
    /// A waiting state decides by itself.
    automatic_in_waiting: "compile_fail,E0080", [
        Idle + Went => Choosing [Begin]; Choosing + AutoBusy => Busy []; Choosing + AutoIdle => Idle [];
        Busy + AutoIdle => Idle []; Busy + Ended => Idle []; Busy + Stopped => Over [Finish]
    ]
}

table! {
    /// An action stands where a claim says it does not.
    false_claim_about_an_action: "compile_fail,E0080", [
        Idle + Went => Choosing [Begin]; Idle + Ended => Choosing [Finish];
        Choosing + AutoBusy => Busy []; Choosing + AutoIdle => Idle [];
        Busy + Ended => Idle []; Busy + Stopped => Over [Finish]
    ]
    action Finish only from [Busy];
}

table! {
    /// There is a way around the state that a claim says is the only one.
    false_claim_about_a_way: "compile_fail,E0080", [
        Idle + Went => Choosing [Begin]; Idle + Ended => Busy [];
        Choosing + AutoBusy => Busy []; Choosing + AutoIdle => Idle [];
        Busy + Ended => Idle []; Busy + Stopped => Over [Finish]
    ]
    state Busy only through Choosing;
}

table! {
    /// There is a way around, and not only by the rows that the claim excepts.
    false_claim_about_an_exception: "compile_fail,E0080", [
        Idle + Went => Choosing [Begin]; Idle + Ended => Busy []; Idle + Stopped => Busy [];
        Choosing + AutoBusy => Busy []; Choosing + AutoIdle => Idle [];
        Busy + Ended => Idle []; Busy + Stopped => Over [Finish]
    ]
    state Busy only through Choosing unless [Stopped];
}

table! {
    /// An action stands before a row that has to come first.
    false_claim_about_an_order: "compile_fail,E0080", [
        Idle + Went => Choosing [Begin]; Choosing + AutoBusy => Busy []; Choosing + AutoIdle => Idle [];
        Busy + Stopped => Over [Finish]; Busy + Ended => Idle []
    ]
    order Finish in Busy after [Ended];
}

table! {
    /// A row leaves its state on a trigger that a claim says stays.
    false_claim_about_staying: "compile_fail,E0080", [
        Idle + Went => Choosing [Begin]; Choosing + AutoBusy => Busy []; Choosing + AutoIdle => Idle [];
        Busy + Ended => Idle []; Busy + Stopped => Over [Finish]
    ]
    trigger Ended stays;
}
