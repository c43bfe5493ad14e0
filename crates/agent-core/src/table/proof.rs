//! Structural proofs of a table, evaluated at compile time by [`prove!`](crate::prove). Sets of labels are bit masks, so a machine has
//! at most 128 states, triggers and actions.

#![expect(clippy::indexing_slicing, reason = "evaluated at compile time, where a wrong index is a compile error")]

/// A row with its labels as numbers.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// State the row belongs to.
    pub from: u8,
    /// Trigger of the row.
    pub on: u8,
    /// State the row leads to.
    pub to: u8,
    /// Set of the row's actions.
    pub actions: u128,
}

/// A table with its labels as numbers.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    /// Number of states.
    pub states: usize,
    /// Number of triggers.
    pub triggers: usize,
    /// Number of actions.
    pub actions: usize,
    /// The initial state.
    pub initial: u8,
    /// Set of terminal states.
    pub terminal: u128,
    /// Set of passing states.
    pub passing: u128,
    /// Set of automatic triggers.
    pub automatic: u128,
    /// The rows.
    pub rows: &'a [Cell],
}

/// What a machine claims about its own table, with labels as numbers and sets of them as bit masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Claim {
    /// See [`action_only_from`].
    ActionOnlyFrom {
        /// The action.
        action: u8,
        /// Set of the states that its rows may leave.
        states: u128,
    },
    /// See [`action_after`].
    ActionAfter {
        /// The action.
        action: u8,
        /// The state whose rows are ordered.
        state: u8,
        /// Set of the triggers whose rows come first.
        triggers: u128,
    },
    /// See [`only_through`].
    OnlyThrough {
        /// The state that is reached.
        goal: u8,
        /// The state on every way there.
        gate: u8,
        /// Set of triggers whose rows are excepted.
        unless: u128,
    },
    /// See [`stays`].
    Stays {
        /// The trigger.
        trigger: u8,
    },
}

/// Checks a table's structure, then what its machine claims.
///
/// # Panics
/// When the table is broken or a claim does not hold; in a `const` this is a compile error with the message.
pub const fn prove(shape: &Shape<'_>, claims: &[Claim]) {
    check(shape);
    let mut i = 0;
    while i < claims.len() {
        match claims[i] {
            Claim::ActionOnlyFrom { action, states } => action_only_from(shape, action, states),
            Claim::ActionAfter { action, state, triggers } => action_after(shape, action, state, triggers),
            Claim::OnlyThrough { goal, gate, unless } => only_through(shape, goal, gate, unless),
            Claim::Stays { trigger } => stays(shape, trigger),
        }
        i += 1;
    }
}

/// Checks that no cell is filled twice, nothing leaves a terminal state, every state is reachable and every other one has a way out,
/// every trigger and action is used, passing states have automatic rows only and waiting states none, and automatic rows cannot cycle.
///
/// # Panics
/// When the table is broken; in a `const` this is a compile error with the message.
pub const fn check(shape: &Shape<'_>) {
    assert!(
        shape.states <= 128 && shape.triggers <= 128 && shape.actions <= 128,
        "a machine has at most 128 labels of a kind"
    );
    check_cells(shape);
    check_ways(shape);
    check_passing(shape);
}

/// Checks that an action stands only on rows out of the given set of states.
///
/// # Panics
/// When it stands elsewhere.
pub const fn action_only_from(shape: &Shape<'_>, action: u8, states: u128) {
    let mut i = 0;
    while i < shape.rows.len() {
        let row = shape.rows[i];
        assert!(
            !has(row.actions, action) || has(states, row.from),
            "a claim does not hold: an action stands on a row out of another state"
        );
        i += 1;
    }
}

/// Checks that a state cannot be reached when another is removed, and the rows on a set of triggers with it.
///
/// # Panics
/// When there is a way around.
pub const fn only_through(shape: &Shape<'_>, goal: u8, gate: u8, unless: u128) {
    assert!(
        goal == gate || !has(reachable(shape, 1 << gate, unless), goal),
        "a claim does not hold: a state is reached by another way"
    );
}

/// Checks that an action stands only on rows out of a state that come after that state's rows on the given triggers.
///
/// # Panics
/// When it stands before one of them, or one of them is missing.
pub const fn action_after(shape: &Shape<'_>, action: u8, state: u8, triggers: u128) {
    let (mut passed, mut i) = (0u128, 0);
    while i < shape.rows.len() {
        let row = shape.rows[i];
        if row.from == state {
            assert!(
                !has(row.actions, action) || passed & triggers == triggers,
                "a claim does not hold: an action stands before a row that has to come first"
            );
            passed |= 1 << row.on;
        }
        i += 1;
    }
}

/// Checks that the rows on a trigger keep the state.
///
/// # Panics
/// When one leaves it.
pub const fn stays(shape: &Shape<'_>, trigger: u8) {
    let mut i = 0;
    while i < shape.rows.len() {
        let row = shape.rows[i];
        assert!(
            row.on != trigger || row.from == row.to,
            "a claim does not hold: a row leaves the state on a trigger that stays"
        );
        i += 1;
    }
}

/// Whether a trigger's name says that it is automatic.
#[must_use]
pub const fn is_automatic(name: &str) -> bool {
    matches!(name.as_bytes(), [b'A', b'u', b't', b'o', ..])
}

const fn check_cells(shape: &Shape<'_>) {
    let (mut triggers, mut actions, mut i) = (0u128, 0u128, 0);
    while i < shape.rows.len() {
        let row = shape.rows[i];
        let mut j = 0;
        while j < i {
            assert!(row.from != shape.rows[j].from || row.on != shape.rows[j].on, "two rows fill the same cell");
            j += 1;
        }
        triggers |= 1 << row.on;
        actions |= row.actions;
        i += 1;
    }
    assert!(triggers == all(shape.triggers), "a trigger is used by no row");
    assert!(actions == all(shape.actions), "an action is used by no row");
}

const fn check_ways(shape: &Shape<'_>) {
    let (mut leaves, mut i) = (0u128, 0);
    while i < shape.rows.len() {
        let row = shape.rows[i];
        assert!(!has(shape.terminal, row.from), "a terminal state has a way out");
        if row.from != row.to {
            leaves |= 1 << row.from;
        }
        i += 1;
    }
    assert!(leaves | shape.terminal == all(shape.states), "a state that is not terminal has no way out");
    assert!(reachable(shape, 0, 0) == all(shape.states), "a state cannot be reached");
}

const fn check_passing(shape: &Shape<'_>) {
    assert!(shape.passing & shape.terminal == 0, "a terminal state cannot be passing");
    let mut i = 0;
    while i < shape.rows.len() {
        let row = shape.rows[i];
        let (passing, automatic) = (has(shape.passing, row.from), has(shape.automatic, row.on));
        assert!(!passing || automatic, "a passing state has an event row");
        assert!(passing || !automatic, "a waiting state has an automatic row");
        i += 1;
    }
    // Peel off passing states whose rows lead only to states that rest; what cannot be peeled lies on a cycle.
    let (mut resting, mut round) = (all(shape.states) & !shape.passing, 0);
    while round < shape.states {
        let mut state = 0;
        while state < shape.states {
            if !has(resting, state as u8) && leads_only_to(shape, state as u8, resting) {
                resting |= 1 << state;
            }
            state += 1;
        }
        round += 1;
    }
    assert!(resting == all(shape.states), "automatic rows can cycle");
}

const fn leads_only_to(shape: &Shape<'_>, from: u8, set: u128) -> bool {
    let mut i = 0;
    while i < shape.rows.len() {
        let row = shape.rows[i];
        if row.from == from && !has(set, row.to) {
            return false;
        }
        i += 1;
    }
    true
}

/// The states that can be reached without entering a removed one, and without the rows on some triggers.
const fn reachable(shape: &Shape<'_>, removed: u128, without: u128) -> u128 {
    let (mut seen, mut round) = ((1u128 << shape.initial) & !removed, 0);
    while round < shape.states {
        let mut i = 0;
        while i < shape.rows.len() {
            let row = shape.rows[i];
            if has(seen, row.from) && !has(removed, row.to) && !has(without, row.on) {
                seen |= 1 << row.to;
            }
            i += 1;
        }
        round += 1;
    }
    seen
}

const fn has(set: u128, label: u8) -> bool {
    set & (1 << label) != 0
}

const fn all(count: usize) -> u128 {
    if count == 128 { u128::MAX } else { (1 << count) - 1 }
}
