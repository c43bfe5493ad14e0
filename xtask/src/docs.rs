//! Documents made from the tables: `docs/machines`, and the drawings in the crate's own documentation, say what the code does because
//! the code wrote them.

use agent_check::witness;
use agent_core::child::table::TABLE as CHILD;
use agent_core::children::table::TABLE as CHILDREN;
use agent_core::diagram::{dot, grid, json, markdown, mermaid, svg};
use agent_core::job::table::TABLE as JOB;
use agent_core::lifecycle::table::TABLE as LIFECYCLE;
use agent_core::server::table::TABLE as SERVER;
use agent_core::session::table::{State, TABLE as SESSION};
use agent_core::table::{Label, Table};
use std::fs;
use std::path::{Path, PathBuf};

/// Writes the generated documents, or with `check` only compares them and names those that are stale.
pub(crate) fn run(check: bool) -> Result<(), String> {
    let mut documents = of_tables()?;
    documents.extend(of_witnesses()?);
    keep(&documents, check, "cargo xtask docs")
}

/// Writes documents, or with `check` only names those that are stale and the command that makes them.
pub(crate) fn keep(documents: &[(String, String)], check: bool, command: &str) -> Result<(), String> {
    let mut stale = Vec::new();
    for (name, text) in documents {
        let path = root().join(name);
        if fs::read_to_string(&path).is_ok_and(|found| found == *text) {
            continue;
        }
        if check {
            stale.push(name.as_str());
        } else {
            write(&path, text)?;
        }
    }
    if stale.is_empty() { Ok(()) } else { Err(format!("stale, run `{command}`: {}", stale.join(", "))) }
}

/// The documents that are made from the tables alone, by their paths from the root of the workspace.
fn of_tables() -> Result<Vec<(String, String)>, String> {
    let mut out = vec![with_numbers("README.md")?];
    add(&mut out, &SESSION);
    add(&mut out, &LIFECYCLE);
    add(&mut out, &CHILD);
    add(&mut out, &CHILDREN);
    add(&mut out, &JOB);
    add(&mut out, &SERVER);
    Ok(out)
}

/// A page that people write, with the numbers in it that follow from the tables.
fn with_numbers(name: &str) -> Result<(String, String), String> {
    let text = fs::read_to_string(root().join(name)).map_err(|error| format!("read {name}: {error}"))?;
    let size = format!("{} states and {} rows", State::ALL.len(), SESSION.rows.len());
    let filled = fill(&text, "session-size", &size).ok_or_else(|| format!("{name} has no place for `session-size`"))?;
    Ok((name.to_owned(), filled))
}

/// Replaces what stands between a mark and its end.
fn fill(text: &str, mark: &str, with: &str) -> Option<String> {
    let (before, rest) = text.split_once(&format!("<!-- {mark} -->"))?;
    let (_, after) = rest.split_once(&format!("<!-- /{mark} -->"))?;
    Some(format!("{before}<!-- {mark} -->{with}<!-- /{mark} -->{after}"))
}

/// The pages of witnesses, and what the tests replay.
fn of_witnesses() -> Result<Vec<(String, String)>, String> {
    let kept = |found: witness::Found| {
        let name = found.name;
        [
            (format!("docs/machines/{name}.witnesses.md"), found.page),
            (format!("crates/agent-core/tests/witnesses/{name}.json"), found.golden),
        ]
    };
    Ok(witness::all()?.into_iter().flat_map(kept).collect())
}

fn add<S: Label, T: Label, A: Label>(out: &mut Vec<(String, String)>, table: &Table<S, T, A>) {
    let name = table.name;
    out.push((format!("docs/machines/{name}.md"), page(table)));
    out.push((format!("docs/machines/{name}.dot"), dot(table)));
    out.push((format!("docs/machines/{name}.json"), json(table)));
    // Beside the table: a vendored crate has no `docs`.
    out.push((format!("crates/agent-core/src/{name}/table.svg"), drawing(table)));
}

/// A drawing as it is in documentation: a block of HTML ends at a blank line, so it has none.
fn drawing<S: Label, T: Label, A: Label>(table: &Table<S, T, A>) -> String {
    format!("<div style=\"overflow-x: auto\">\n{}</div>\n", svg(table))
}

fn page<S: Label, T: Label, A: Label>(table: &Table<S, T, A>) -> String {
    let name = table.name;
    let labels = [("Triggers", listed::<T>()), ("Actions", listed::<A>())];
    let mut out = format!(
        "<!-- Generated from the table by `cargo xtask docs`. Do not edit: change the table. -->\n\n# The {name} machine\n\n\
         A *waiting* state rests until an event. A *passing* state decides at once by its automatic rows, tried in the written order.\n\n\
         ```mermaid\n{}```\n\n## States and rows\n\n{}",
        mermaid(table),
        markdown(table)
    );
    for (title, list) in labels {
        out.push_str(&format!("\n## {title}\n\n{list}"));
    }
    out.push_str(&format!("\n## The full grid\n\nEvery state with every trigger.\n\n{}", grid(table)));
    out
}

fn listed<L: Label>() -> String {
    L::ALL.iter().map(|label| format!("* `{}`: {}\n", label.name(), label.meaning())).collect()
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let shown = path.display();
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(|error| format!("create the directory of {shown}: {error}"))?;
    }
    fs::write(path, text).map_err(|error| format!("write {shown}: {error}"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_mark_is_filled_and_a_missing_one_is_noticed() {
        let text = "It has <!-- n -->2 rows<!-- /n -->.";
        assert_eq!(super::fill(text, "n", "3 rows").as_deref(), Some("It has <!-- n -->3 rows<!-- /n -->."));
        assert_eq!(super::fill(text, "m", "3"), None);
    }

    /// Those of the witnesses are compared by `cargo xtask docs --check`: without optimisation the search takes half a minute.
    #[test]
    fn the_documents_of_the_tables_are_up_to_date() {
        super::keep(&super::of_tables().unwrap(), true, "cargo xtask docs").unwrap();
    }
}
