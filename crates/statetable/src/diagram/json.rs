//! A table as JSON, for other tools.
//!
//! ```text
//! {
//!   "format_version": 1, "name": string, "initial": state,
//!   "states":   [{"name": string, "meaning": string, "kind": "waiting" | "passing" | "terminal"}],
//!   "triggers": [{"name": string, "meaning": string, "automatic": bool}],
//!   "actions":  [{"name": string, "meaning": string}],
//!   "rows":     [{"from": state, "on": trigger, "to": state, "actions": [action]}]
//! }
//! ```
//!
//! `docs/machines/schema.json` says the same as a JSON Schema, and every machine's JSON is held to it by a test. States, triggers and
//! actions are referred to by name. The order is the table's: automatic rows of a state are tried in it. The version goes up with every
//! change of the schema, be it only a new field: the schema allows no fields that it does not know.

use super::Kind;
use crate::table::proof::is_automatic;
use crate::table::{Label, Table};
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;

/// The whole table as an indented JSON object.
#[must_use]
pub fn json<S: Label, T: Label, A: Label>(table: &Table<S, T, A>) -> String {
    let states = S::ALL.iter().map(|state| StateEntry {
        name: state.name(),
        meaning: state.meaning(),
        kind: Kind::of(table, *state).name(),
    });
    let triggers = T::ALL.iter().map(|trigger| TriggerEntry {
        name: trigger.name(),
        meaning: trigger.meaning(),
        automatic: is_automatic(trigger.name()),
    });
    let actions = A::ALL.iter().map(|action| ActionEntry { name: action.name(), meaning: action.meaning() });
    let rows = table.rows.iter().map(|row| RowEntry {
        from: row.from.name(),
        on: row.on.name(),
        to: row.to.name(),
        actions: row.actions.iter().map(|action| action.name()).collect(),
    });
    let machine = Machine {
        format_version: FORMAT_VERSION,
        name: table.name,
        initial: table.initial.name(),
        states: states.collect(),
        triggers: triggers.collect(),
        actions: actions.collect(),
        rows: rows.collect(),
    };
    // Text in lists of structs always serialises; the newline ends the file.
    let mut out = serde_json::to_string_pretty(&machine).unwrap_or_default();
    out.push('\n');
    out
}

#[derive(Serialize)]
struct Machine {
    format_version: u32,
    name: &'static str,
    initial: &'static str,
    states: Vec<StateEntry>,
    triggers: Vec<TriggerEntry>,
    actions: Vec<ActionEntry>,
    rows: Vec<RowEntry>,
}

#[derive(Serialize)]
struct StateEntry {
    name: &'static str,
    meaning: &'static str,
    kind: &'static str,
}

#[derive(Serialize)]
struct TriggerEntry {
    name: &'static str,
    meaning: &'static str,
    automatic: bool,
}

#[derive(Serialize)]
struct ActionEntry {
    name: &'static str,
    meaning: &'static str,
}

#[derive(Serialize)]
struct RowEntry {
    from: &'static str,
    on: &'static str,
    to: &'static str,
    actions: Vec<&'static str>,
}

/// The version of the JSON that the schema describes.
const FORMAT_VERSION: u32 = 1;
