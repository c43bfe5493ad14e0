//! Diagrams: one edge for all triggers that lead from one state to another.

use super::Kind;
use crate::table::{Label, Table};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A mermaid state diagram. Passing states are dashed.
#[must_use]
pub fn mermaid<S: Label, T: Label, A: Label>(table: &Table<S, T, A>) -> String {
    let mut out = format!("stateDiagram-v2\n    [*] --> {}\n", table.initial.name());
    for Edge { from, to, triggers } in edges(table) {
        out.push_str(&format!("    {} --> {} : {}\n", from.name(), to.name(), triggers.join(" / ")));
    }
    for state in table.terminal {
        out.push_str(&format!("    {} --> [*]\n", state.name()));
    }
    if !table.passing.is_empty() {
        let passing: Vec<&str> = table.passing.iter().map(|state| state.name()).collect();
        out.push_str(&format!("    classDef passing stroke-dasharray: 5 5\n    class {} passing\n", passing.join(",")));
    }
    out
}

/// A Graphviz graph. Passing states are dashed, terminal ones have a double line.
#[must_use]
pub fn dot<S: Label, T: Label, A: Label>(table: &Table<S, T, A>) -> String {
    let mut out = format!("digraph \"{}\" {{\n    rankdir=TB;\n    node [shape=box, style=rounded];\n", table.name);
    out.push_str("    \"*\" [shape=point];\n");
    for state in S::ALL {
        let style = match Kind::of(table, *state) {
            Kind::Waiting => "",
            Kind::Passing => ", style=\"rounded,dashed\"",
            Kind::Terminal => ", peripheries=2",
        };
        out.push_str(&format!("    {} [tooltip=\"{}\"{style}];\n", state.name(), escaped(state.meaning())));
    }
    out.push_str(&format!("    \"*\" -> {};\n", table.initial.name()));
    for Edge { from, to, triggers } in edges(table) {
        out.push_str(&format!("    {} -> {} [label=\"{}\"];\n", from.name(), to.name(), triggers.join("\\n")));
    }
    out.push_str("}\n");
    out
}

/// All rows that lead from one state to another.
pub(super) struct Edge<S> {
    pub(super) from: S,
    pub(super) to: S,
    pub(super) triggers: Vec<&'static str>,
}

/// The edges in the order in which the table first mentions them.
pub(super) fn edges<S: Label, T: Label, A: Label>(table: &Table<S, T, A>) -> Vec<Edge<S>> {
    let mut edges: Vec<Edge<S>> = Vec::new();
    for row in table.rows {
        match edges.iter_mut().find(|edge| edge.from == row.from && edge.to == row.to) {
            Some(edge) => edge.triggers.push(T::name(row.on)),
            None => edges.push(Edge { from: row.from, to: row.to, triggers: alloc::vec![row.on.name()] }),
        }
    }
    edges
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
