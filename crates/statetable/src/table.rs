//! The kernel: a machine's table as data, and its proofs at compile time.
//!
//! A [`Table`] lists [`Row`]s over three fieldless enums, made with [`labels!`](crate::labels) and [`rows!`](crate::rows), so that a row
//! reads like the documentation:
//!
//! ```
//! use statetable::Table;
//! use statetable::{labels, prove, rows};
//!
//! labels! {
//!     enum State {
//!         /// Closed, and no one is at the door.
//!         Shut,
//!         /// One visitor may enter; it falls shut after that.
//!         Open,
//!         /// For good.
//!         WalledUp,
//!     }
//! }
//! labels! {
//!     enum Trigger {
//!         /// A visitor wants to enter.
//!         Knocked,
//!         /// The visitor entered.
//!         Entered,
//!         /// A mason was here.
//!         BricksLaid,
//!     }
//! }
//! labels! {
//!     enum Action {
//!         /// Make a noise.
//!         Creak,
//!     }
//! }
//!
//! const DOOR: Table<State, Trigger, Action> = Table {
//!     name: "door",
//!     initial: State::Shut,
//!     terminal: &[State::WalledUp],
//!     passing: &[],
//!     rows: rows! { State, Trigger, Action;
//!         Shut + Knocked => Open [Creak];
//!         Shut + BricksLaid => WalledUp [];
//!         Open + Entered => Shut [];
//!     },
//! };
//! prove! { const PROVED of DOOR: State, Trigger, Action; state WalledUp only through Shut; }
//!
//! let row = PROVED.row(State::Shut, Trigger::Knocked).unwrap();
//! assert_eq!((row.to, row.actions), (State::Open, &[Action::Creak][..]));
//! assert!(PROVED.row(State::Open, Trigger::BricksLaid).is_none(), "a cell that is not listed is a refusal");
//! ```
//!
//! [`prove!`](crate::prove) next to a table makes a broken one a compile error that says what is wrong and where: one more row out of
//! `WalledUp`, and this one is refused with ``a row leaves a terminal state: WalledUp + Knocked => Shut``. What is proved stands with
//! [`proof::prove`]. Everything that affects transitions is in the table: a machine's code decides which trigger an event is, never
//! where it leads. A *waiting* state rests until an event; a *passing* state decides at once by its automatic rows (triggers named
//! `Auto…`), tried in the written order.

pub mod proof;
mod proved;

pub use proved::{Evidence, Proved};

use core::fmt::Debug;

/// A fieldless enum that can list and name itself. Implemented by [`labels!`](crate::labels).
pub trait Label: Copy + Eq + Debug + 'static {
    /// Every value, in declaration order; the position of a value is its discriminant.
    const ALL: &'static [Self];
    /// The values' names as they are in the table, in the same order.
    const NAMES: &'static [&'static str];

    /// The value's position in [`ALL`](Self::ALL).
    fn index(self) -> usize;

    /// The value's name, as it is in the table.
    fn name(self) -> &'static str;

    /// One line on what the value means.
    fn meaning(self) -> &'static str;
}

/// One cell of the table that is filled in: what happens in a state on a trigger.
#[derive(Clone, Copy, Debug)]
pub struct Row<S: 'static, T: 'static, A: 'static> {
    /// State the machine is in.
    pub from: S,
    /// What happened, guards included: at most one row for a state and a trigger.
    pub on: T,
    /// State the machine goes to.
    pub to: S,
    /// What the driver is asked to do, in order.
    pub actions: &'static [A],
}

/// A machine as data.
#[derive(Clone, Copy, Debug)]
pub struct Table<S: 'static, T: 'static, A: 'static> {
    /// Title of diagrams and documents.
    pub name: &'static str,
    /// The initial state of a machine.
    pub initial: S,
    /// States that nothing leaves.
    pub terminal: &'static [S],
    /// States that decide at once by automatic rows.
    pub passing: &'static [S],
    /// The filled cells. A cell that is not listed is a refusal.
    pub rows: &'static [Row<S, T, A>],
}

impl<S: Label, T: Label, A: Label> Table<S, T, A> {
    /// The row for a state and a trigger, if that cell is filled.
    #[must_use]
    pub fn row(&self, from: S, on: T) -> Option<&'static Row<S, T, A>> {
        self.rows_from(from).find(|row| row.on == on)
    }

    /// The rows that leave or keep a state, in the written order.
    pub fn rows_from(&self, from: S) -> impl Iterator<Item = &'static Row<S, T, A>> + use<S, T, A> {
        self.rows.iter().filter(move |row| row.from == from)
    }

    /// Whether the state decides at once.
    #[must_use]
    pub fn is_passing(&self, state: S) -> bool {
        self.passing.contains(&state)
    }

    /// Whether nothing leaves the state.
    #[must_use]
    pub fn is_terminal(&self, state: S) -> bool {
        self.terminal.contains(&state)
    }
}

/// Declares a fieldless enum and its [`Label`] listing. Every value needs a documentation line.
#[macro_export]
macro_rules! labels {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $(#[doc = $doc:literal] $value:ident),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $name { $(#[doc = $doc] $value),+ }

        impl $crate::table::Label for $name {
            const ALL: &'static [Self] = &[$(Self::$value),+];
            const NAMES: &'static [&'static str] = &[$(stringify!($value)),+];

            fn index(self) -> usize {
                self as usize
            }

            fn name(self) -> &'static str {
                match self { $(Self::$value => stringify!($value)),+ }
            }

            fn meaning(self) -> &'static str {
                match self { $(Self::$value => $doc.trim_ascii()),+ }
            }
        }
    };
}

/// Writes rows as `From + Trigger => To [Action, …];`.
#[macro_export]
macro_rules! rows {
    ($state:ident, $trigger:ident, $action:ident; $($from:ident + $on:ident => $to:ident [$($act:ident),*]);+ $(;)?) => {
        &[$($crate::table::Row {
            from: $state::$from,
            on: $trigger::$on,
            to: $state::$to,
            actions: &[$($action::$act),*],
        }),+]
    };
}

/// Proves a table at compile time (see [`proof::prove`] for what) and names what a machine can run on, a [`Proved`]:
///
/// ```text
/// prove! { pub const PROVED of TABLE: State, Trigger, Action; claims… }
/// ```
///
/// What the machine claims about itself is proved together with the table:
///
/// * `action A only from [S, …];`: the action stands only on rows out of these states,
/// * `order A in S after [T, …];`: out of this state, it stands only after the rows on these triggers,
/// * `state S only through G;`: the first cannot be reached when the second is removed; with `unless [T, …]` but by rows on these triggers,
/// * `trigger T stays;`: its rows keep the state.
///
/// The claims are in this order, each kind together: another order is a syntax error (``no rules expected `action` ``).
#[macro_export]
macro_rules! prove {
    ($(#[$meta:meta])* $vis:vis const $proved:ident of $table:ident: $state:ident, $trigger:ident, $action:ident; $($claim:tt)*) => {
        $(#[$meta])*
        #[allow(clippy::indexing_slicing, reason = "evaluated at compile time, where a wrong index is a compile error")]
        $vis const $proved: $crate::table::Proved<$state, $trigger, $action> = {
            use $crate::table::{Label, Evidence, Proved, proof};
            const ROWS: usize = $table.rows.len();
            const CELLS: [proof::Cell; ROWS] = {
                let mut rows = [proof::Cell { from: 0, on: 0, to: 0, actions: 0, repeats_action: false }; ROWS];
                let mut i = 0;
                while i < ROWS {
                    let row = &$table.rows[i];
                    let actions = $crate::label_set!(row.actions);
                    let repeats_action = actions.count_ones() as usize != row.actions.len();
                    rows[i] = proof::Cell { from: row.from as u8, on: row.on as u8, to: row.to as u8, actions, repeats_action };
                    i += 1;
                }
                rows
            };
            const CLAIMS: &[proof::Claim] = $crate::claims!($state, $trigger, $action; $($claim)*);
            const SHAPE: proof::Shape<'static> = proof::Shape {
                states: <$state as Label>::NAMES,
                triggers: <$trigger as Label>::NAMES,
                actions: <$action as Label>::NAMES,
                initial: $table.initial as u8,
                terminal: $crate::label_set!($table.terminal),
                passing: $crate::label_set!($table.passing),
                rows: &CELLS,
            };
            const EVIDENCE: &Evidence = &Evidence::of(proof::prove(&SHAPE, CLAIMS), PLACES, CLAIMS);
            const PLACES: &[core::ops::Range<u8>] = &proof::places::<{ <$state as Label>::NAMES.len() }>(&CELLS);
            Proved::with_evidence(&$table, EVIDENCE)
        };
        // A table that no machine runs on is proved as well.
        const _: $crate::table::Proved<$state, $trigger, $action> = $proved;
    };
}

/// A list of labels as a bit mask, in a `const`.
#[doc(hidden)]
#[macro_export]
macro_rules! label_set {
    ($labels:expr) => {{
        let (mut set, mut i) = (0u128, 0);
        while i < $labels.len() {
            set |= $crate::table::proof::bit($labels[i] as u8);
            i += 1;
        }
        set
    }};
}

/// The claims of [`prove!`](crate::prove) as a list of [`proof::Claim`]s.
#[doc(hidden)]
#[macro_export]
macro_rules! claims {
    ($state:ident, $trigger:ident, $action:ident;
     $(action $act:ident only from [$($from:ident),+];)*
     $(order $late:ident in $place:ident after [$($first:ident),+];)*
     $(state $goal:ident only through $gate:ident $(unless [$($but:ident),+])?;)*
     $(trigger $kept:ident stays;)*) => {
        &[
            $($crate::table::proof::Claim::ActionOnlyFrom {
                action: $action::$act as u8,
                states: 0 $(| $crate::table::proof::bit($state::$from as u8))+,
            },)*
            $($crate::table::proof::Claim::ActionAfter {
                action: $action::$late as u8,
                state: $state::$place as u8,
                triggers: 0 $(| $crate::table::proof::bit($trigger::$first as u8))+,
            },)*
            $($crate::table::proof::Claim::OnlyThrough {
                goal: $state::$goal as u8,
                gate: $state::$gate as u8,
                unless: 0 $($(| $crate::table::proof::bit($trigger::$but as u8))+)?,
            },)*
            $($crate::table::proof::Claim::Stays { trigger: $trigger::$kept as u8 },)*
        ]
    };
}

#[cfg(test)]
mod tests;
