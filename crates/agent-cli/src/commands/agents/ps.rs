//! `agent ps`: a session and the agents below it, as their journals have them. It needs no lock, so it shows a session that is in use.

use super::tree::{Row, Tree};
use crate::commands::agents::args::Ps;
use crate::config::project::working_directory;
use crate::failure::Failure;
use crate::screen::counted::usd;
use crate::screen::terminal::{inline, print, print_json};
use crate::session::kept::{failed, newest, store};

/// Prints a line an agent, parents before their children.
pub(crate) fn run(arguments: &Ps) -> Result<u8, Failure> {
    let directory = working_directory(arguments.place.directory.as_deref())?;
    let store = store(&directory)?;
    let root = match &arguments.id {
        Some(id) => store.id_of(id).map_err(|error| failed(&error))?,
        None => newest(&store, &directory)?,
    };
    let rows = Tree::open(store, root)?.rows();
    let written = if arguments.json {
        print_json(&(serde_json::to_string(&rows).map_err(Failure::internal)? + "\n"))
    } else {
        print(&(shown(&rows).join("\n") + "\n"))
    };
    written.map_err(|error| Failure::internal(format!("cannot list the agents: {error}")))?;
    Ok(0)
}

/// The list, its head first, a line each.
pub(super) fn shown(rows: &[Row]) -> Vec<String> {
    let widest = |of: fn(&Row) -> &str, least: usize| rows.iter().map(|row| of(row).len()).fold(least, usize::max);
    let (ids, names, states) = (widest(|row| &row.id, 2), widest(|row| &row.name, 4), widest(|row| row.state, 5));
    let ends: Vec<String> = rows.iter().map(ended).collect();
    let outcomes = ends.iter().map(String::len).fold(7, usize::max);
    let line = |id: &str, name: &str, state: &str, outcome: &str, calls: &str, cost: &str, task: &str| {
        format!("{id:<ids$}  {name:<names$}  {state:<states$}  {outcome:<outcomes$}  {calls:>7}  {cost:>8}  {task}")
    };
    let of = |(row, outcome): (&Row, &String)| {
        let calls = format!("{}+{}", row.model_calls, row.tool_calls);
        let (id, name, task) = (inline(&row.id), inline(&row.name), inline(&row.task));
        line(&id, &name, row.state, outcome, &calls, &usd(row.cost_nano_usd), &task)
    };
    let head = line("ID", "NAME", "STATE", "OUTCOME", "CALLS", "USD", "TASK");
    std::iter::once(head).chain(rows.iter().zip(&ends).map(of)).collect()
}

/// How it ended, and how far its work is checked.
fn ended(row: &Row) -> String {
    [row.outcome.as_deref(), row.verification].into_iter().flatten().collect::<Vec<_>>().join(", ")
}
