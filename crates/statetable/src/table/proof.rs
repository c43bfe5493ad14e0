//! Structural proofs of a table, evaluated at compile time by [`prove!`](crate::prove). Sets of labels are bit masks, so a machine has
//! at most 128 states, triggers and actions. What is wrong is said with the names of the row or the label at fault.

#![expect(clippy::indexing_slicing, reason = "evaluated at compile time, where a wrong index is a compile error")]

use core::ops::Range;

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
    /// Whether an action is on the row more than once, which a set does not tell.
    pub repeats_action: bool,
}

/// A table with its labels as numbers, and what the numbers stand for.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    /// Names of the states.
    pub states: &'a [&'a str],
    /// Names of the triggers.
    pub triggers: &'a [&'a str],
    /// Names of the actions.
    pub actions: &'a [&'a str],
    /// The initial state.
    pub initial: u8,
    /// Set of terminal states.
    pub terminal: u128,
    /// Set of passing states.
    pub passing: u128,
    /// The rows.
    pub rows: &'a [Cell],
}

/// What a machine claims about its own table, with labels as numbers and sets of them as bit masks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Claim {
    /// The action stands only on rows out of these states.
    ActionOnlyFrom {
        /// The action.
        action: u8,
        /// Set of the states that its rows may leave.
        states: u128,
    },
    /// Out of the state, the action stands only after the rows on all of these triggers.
    ActionAfter {
        /// The action.
        action: u8,
        /// The state whose rows are ordered.
        state: u8,
        /// Set of the triggers whose rows come first.
        triggers: u128,
    },
    /// The goal cannot be reached when the gate is removed, and the rows on some triggers with it.
    OnlyThrough {
        /// The state that is reached.
        goal: u8,
        /// The state on every way there.
        gate: u8,
        /// Set of triggers whose rows are excepted.
        unless: u128,
    },
    /// The rows on the trigger keep the state.
    Stays {
        /// The trigger.
        trigger: u8,
    },
}

/// Evidence that a table was proved. Only [`prove`] makes one.
#[derive(Debug)]
#[must_use]
pub struct Proof(());

/// Checks that no cell is filled twice, no action is on a row twice, nothing leaves a terminal state, every state is reachable and
/// every other one has a way out (and one to an end, when there is an end), every trigger and action is used, passing states have automatic
/// rows only and waiting states none, and automatic rows cannot cycle; then what the machine claims.
///
/// # Panics
/// When the table is broken or a claim does not hold; in a `const` this is a compile error with the message.
pub const fn prove(shape: &Shape<'_>, claims: &[Claim]) -> Proof {
    if shape.states.len() > 128 || shape.triggers.len() > 128 || shape.actions.len() > 128 {
        Message::new("a machine has at most 128 labels of a kind").raise();
    }
    check_cells(shape);
    check_ways(shape);
    check_passing(shape);
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
    Proof(())
}

/// By state: the positions from its first row to its last.
#[doc(hidden)]
#[must_use]
pub const fn places<const STATES: usize>(rows: &[Cell]) -> [Range<u8>; STATES] {
    if rows.len() > u8::MAX as usize {
        Message::new("a table has at most 255 rows").raise();
    }
    let (mut places, mut at) = ([const { 0..0 }; STATES], 0);
    while at < rows.len() {
        let place = &mut places[rows[at].from as usize];
        if place.end == 0 {
            place.start = at as u8;
        }
        at += 1;
        place.end = at as u8;
    }
    places
}

/// The set of one label. One that no set has room for is left out: [`prove`] says that there are too many, which a shift that overflows
/// would not.
#[doc(hidden)]
#[must_use]
pub const fn bit(label: u8) -> u128 {
    if label < 128 { 1 << label } else { 0 }
}

/// Whether a trigger's name marks it as automatic.
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
            if row.from == shape.rows[j].from && row.on == shape.rows[j].on {
                Message::new("two rows fill one cell, the second is ").row(shape, row).raise();
            }
            j += 1;
        }
        if row.repeats_action {
            Message::new("an action stands twice on the row ").row(shape, row).raise();
        }
        triggers |= 1 << row.on;
        actions |= row.actions;
        i += 1;
    }
    all_in(triggers, shape.triggers, "no row uses the trigger ");
    all_in(actions, shape.actions, "no row uses the action ");
}

const fn check_ways(shape: &Shape<'_>) {
    let (mut leaves, mut i) = (shape.terminal, 0);
    while i < shape.rows.len() {
        let row = shape.rows[i];
        if has(shape.terminal, row.from) {
            Message::new("a row leaves a terminal state: ").row(shape, row).raise();
        }
        if row.from != row.to {
            leaves |= 1 << row.from;
        }
        i += 1;
    }
    all_in(leaves, shape.states, "no row leaves the state ");
    all_in(reachable(shape, shape.initial, 0, 0), shape.states, "no way leads to the state ");
    let (mut ending, mut state) = (0u128, 0);
    while state < shape.states.len() {
        if shape.terminal == 0 || reachable(shape, state as u8, 0, 0) & shape.terminal != 0 {
            ending |= 1 << state;
        }
        state += 1;
    }
    all_in(ending, shape.states, "no way leads to an end from the state ");
}

const fn check_passing(shape: &Shape<'_>) {
    all_in(!(shape.passing & shape.terminal), shape.states, "a terminal state cannot be passing: ");
    let mut i = 0;
    while i < shape.rows.len() {
        let row = shape.rows[i];
        match (has(shape.passing, row.from), is_automatic(shape.triggers[row.on as usize])) {
            (true, false) => Message::new("a passing state has an event row: ").row(shape, row).raise(),
            (false, true) => Message::new("a waiting state has an automatic row: ").row(shape, row).raise(),
            (true, true) | (false, false) => {}
        }
        i += 1;
    }
    // Peel off passing states whose rows lead only to states that rest; from what cannot be peeled a cycle is reached.
    let (mut resting, mut round) = (!shape.passing, 0);
    while round < shape.states.len() {
        let (mut restless, mut i) = (0u128, 0);
        while i < shape.rows.len() {
            if !has(resting, shape.rows[i].to) {
                restless |= 1 << shape.rows[i].from;
            }
            i += 1;
        }
        resting |= !restless;
        round += 1;
    }
    all_in(resting, shape.states, "automatic rows can cycle, from the state ");
}

const fn action_only_from(shape: &Shape<'_>, action: u8, states: u128) {
    let mut i = 0;
    while i < shape.rows.len() {
        let row = shape.rows[i];
        if has(row.actions, action) && !has(states, row.from) {
            let action = shape.actions[action as usize];
            Message::new(FALSE_CLAIM)
                .and(action)
                .and(" stands on a row out of another state: ")
                .row(shape, row)
                .raise();
        }
        i += 1;
    }
}

const fn action_after(shape: &Shape<'_>, action: u8, state: u8, triggers: u128) {
    let (mut passed, mut i) = (0u128, 0);
    while i < shape.rows.len() {
        let row = shape.rows[i];
        if row.from == state {
            if has(row.actions, action) && passed & triggers != triggers {
                let action = shape.actions[action as usize];
                let message =
                    Message::new(FALSE_CLAIM).and(action).and(" stands before a row that has to come first: ");
                message.row(shape, row).raise();
            }
            passed |= 1 << row.on;
        }
        i += 1;
    }
}

const fn only_through(shape: &Shape<'_>, goal: u8, gate: u8, unless: u128) {
    if goal != gate && has(reachable(shape, shape.initial, 1 << gate, unless), goal) {
        let (goal, gate) = (shape.states[goal as usize], shape.states[gate as usize]);
        Message::new(FALSE_CLAIM).and(goal).and(" is reached by another way than through ").and(gate).raise();
    }
}

const fn stays(shape: &Shape<'_>, trigger: u8) {
    let mut i = 0;
    while i < shape.rows.len() {
        let row = shape.rows[i];
        if row.on == trigger && row.from != row.to {
            Message::new(FALSE_CLAIM).and("a row on a trigger that stays leaves its state: ").row(shape, row).raise();
        }
        i += 1;
    }
}

/// The states that can be reached from one, itself included, without entering a removed one and without the rows on some triggers.
const fn reachable(shape: &Shape<'_>, from: u8, removed: u128, without: u128) -> u128 {
    let (mut seen, mut before) = ((1u128 << from) & !removed, 0);
    while seen != before {
        before = seen;
        let mut i = 0;
        while i < shape.rows.len() {
            let row = shape.rows[i];
            if has(seen, row.from) && !has(removed, row.to) && !has(without, row.on) {
                seen |= 1 << row.to;
            }
            i += 1;
        }
    }
    seen
}

const fn all_in(set: u128, names: &[&str], fault: &str) {
    let mut i = 0;
    while i < names.len() {
        if !has(set, i as u8) {
            Message::new(fault).and(names[i]).raise();
        }
        i += 1;
    }
}

const fn has(set: u128, label: u8) -> bool {
    set & (1 << label) != 0
}

/// What is wrong. A `const` cannot format: the parts are put together byte by byte.
struct Message {
    text: [u8; 1024],
    length: usize,
}

impl Message {
    const fn new(what: &str) -> Self {
        Self { text: [0; 1024], length: 0 }.and(what)
    }

    const fn and(mut self, part: &str) -> Self {
        let mut i = 0;
        while i < part.len() && self.length < self.text.len() {
            self.text[self.length] = part.as_bytes()[i];
            self.length += 1;
            i += 1;
        }
        self
    }

    const fn row(self, shape: &Shape<'_>, row: Cell) -> Self {
        let (from, to) = (shape.states[row.from as usize], shape.states[row.to as usize]);
        self.and(from).and(" + ").and(shape.triggers[row.on as usize]).and(" => ").and(to)
    }

    const fn raise(&self) -> ! {
        match core::str::from_utf8(self.text.split_at(self.length).0) {
            Ok(text) => panic!("{}", text),
            Err(_) => panic!("a table is broken, and names in it are very long"),
        }
    }
}

const FALSE_CLAIM: &str = "a claim does not hold: ";
